// Single edits of a kernel with K = 96 are noticed, those of straddling
// descriptors, of the walk of scale ids and of the words of scales among them.

// REQUIRES: mlir
// RUN: rm -rf %t && mkdir %t
// RUN: blockscale compile %s --no-cubin -o %t
// RUN: %python %S/Inputs/mutate.py %s %t/mutations-k96.ptx %t | FileCheck %s

// CHECK-NOT: missed:
// CHECK: missed 0 of 65 edits

!a = !blockscale.tensor<300x1536xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!b = !blockscale.tensor<264x1536xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>

func.func @product(%a: !a, %b: !b) -> tensor<300x264xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 256, mma_k = 96, cta_group = 1>) {blockscale.target = #blockscale.target<sm_103a>} : !a, !b -> tensor<300x264xf32>
  return %0 : tensor<300x264xf32>
}
