// Parts of K in groups of three stages, for instructions of K = 96.

// REQUIRES: mlir
// RUN: blockscale verify %s --target=sm_103a --num-sms=4 --m=130 | FileCheck %s
// RUN: blockscale verify %s --target=sm_103a --num-sms=148 --m=130 --completion=random | FileCheck %s

// CHECK-NOT: FAIL
// CHECK-COUNT-8: pass
// CHECK-NOT: {{FAIL|pass}}

// The last part has two whole groups, and what is left over.
!single_a = !blockscale.tensor<?x4000xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!single_b = !blockscale.tensor<72x4000xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @single(%a: !single_a, %b: !single_b) -> tensor<?x72xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 1, mma_k = 96, tile_n = 64, split_k = 2, cluster_k = 1>) : !single_a, !single_b -> tensor<?x72xf32>
  return %0 : tensor<?x72xf32>
}

// The last part is nothing but a rest.
!pair_a = !blockscale.tensor<300x1632xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
!pair_b = !blockscale.tensor<264x1632xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
func.func @pair(%a: !pair_a, %b: !pair_b) -> tensor<300x264xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 2, swap_operands = false, mma_k = 96, split_k = 3, cluster_k = 1>) : !pair_a, !pair_b -> tensor<300x264xf32>
  return %0 : tensor<300x264xf32>
}

!whole_a = !blockscale.tensor<100x1536xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
!whole_b = !blockscale.tensor<72x1536xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
func.func @whole(%a: !whole_a, %b: !whole_b) -> tensor<100x72xbf16> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 1, mma_k = 96, split_k = 2, cluster_k = 1>) : !whole_a, !whole_b -> tensor<100x72xbf16>
  return %0 : tensor<100x72xbf16>
}

// The parts are those of one cluster; the last one is nothing but a rest.
!cluster_a = !blockscale.tensor<100x1632xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
!cluster_b = !blockscale.tensor<72x1632xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
func.func @cluster(%a: !cluster_a, %b: !cluster_b) -> tensor<100x72xbf16> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 1, mma_k = 96, tile_n = 64, split_k = 3, cluster_k = 3>) : !cluster_a, !cluster_b -> tensor<100x72xbf16>
  return %0 : tensor<100x72xbf16>
}
