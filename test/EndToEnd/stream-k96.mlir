// Shares that begin and end at groups of three stages, for instructions of K = 96.
// Any cluster may have a part of a tile, so that a sample runs all of them.

// REQUIRES: mlir
// RUN: blockscale verify %s --target=sm_103a --data=exact --num-sms=4 | FileCheck %s
// RUN: blockscale verify %s --target=sm_103a --data=exact --tiles=1 --completion=latest | FileCheck %s

// CHECK-NOT: FAIL
// CHECK-COUNT-2: pass
// CHECK-NOT: {{FAIL|pass}}

// Three tiles of six groups, the last of which is no whole one, in shares of 5, 5, 4
// and 4 groups.
!single_a = !blockscale.tensor<300x4000xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!single_b = !blockscale.tensor<40x4000xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @single(%a: !single_a, %b: !single_b) -> tensor<300x40xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 1, cluster_m = 1, cluster_n = 1, swap_operands = false, mma_k = 96, tile_n = 64, stream_k = 4>) : !single_a, !single_b -> tensor<300x40xf32>
  return %0 : tensor<300x40xf32>
}

!pair_a = !blockscale.tensor<300x1632xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
!pair_b = !blockscale.tensor<264x1632xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
func.func @pair(%a: !pair_a, %b: !pair_b) -> tensor<300x264xbf16> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 2, cluster_m = 2, cluster_n = 1, swap_operands = false, mma_k = 96, tile_n = 128, stream_k = 5>) : !pair_a, !pair_b -> tensor<300x264xbf16>
  return %0 : tensor<300x264xbf16>
}
