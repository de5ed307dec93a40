// Every single edit of what is sparse in a correct kernel is noticed.

// REQUIRES: mlir
// RUN: rm -rf %t && mkdir %t
// RUN: blockscale compile %s --no-cubin -o %t
// RUN: %python %S/Inputs/mutate_sparse.py %s %t/sparse-mutations.ptx %t | FileCheck %s

// CHECK-NOT: missed:
// CHECK: missed 0 of {{[2-9][0-9]}} edits, 2 equivalent

!a = !blockscale.tensor<300x512xf4E2M1FN, "e4m3fn_t16n4m8", layout = tiled_128x4>
!b = !blockscale.tensor<128x512xf4E2M1FN, "e4m3fn_t32", layout = tiled_128x4>

func.func @product(%a: !a, %b: !b) -> tensor<300x128xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 128, cta_group = 1>) : !a, !b -> tensor<300x128xf32>
  return %0 : tensor<300x128xf32>
}
