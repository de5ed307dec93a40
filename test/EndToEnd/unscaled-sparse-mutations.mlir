// Every single edit of what is sparse in a correct kernel without scales is
// noticed: here with the metadata of two instructions in a pair of columns, told
// apart by the selector.

// REQUIRES: mlir
// RUN: rm -rf %t && mkdir %t
// RUN: blockscale compile %s --no-cubin -o %t
// RUN: %python %S/Inputs/mutate_sparse.py %s %t/unscaled-sparse-mutations.ptx %t | FileCheck %s

// CHECK-NOT: missed:
// CHECK: missed 0 of {{[3-9][0-9]}} edits

!a = !blockscale.tensor<300x256xf16, "n2m4", layout = tiled_128x4>
!b = !blockscale.tensor<128x256xf16>

func.func @product(%a: !a, %b: !b) -> tensor<300x128xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 128, cta_group = 1>) : !a, !b -> tensor<300x128xf32>
  return %0 : tensor<300x128xf32>
}
