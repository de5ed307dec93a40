// Tiles of two instructions beside each other that read words of scales which the
// hardware finds by itself: K = 96, and wide K with blocks of 16. Each instruction has a
// region of scales of its own.

// REQUIRES: mlir
// RUN: blockscale verify %s --target=sm_103a --data=exact --num-sms=8 --m=300 --n=1000 --k=96,832,1568 --completion=random | FileCheck %s
// RUN: blockscale verify %s --target=sm_107a --data=exact --num-sms=8 --m=300 --n=776 --k=1056 --completion=latest | FileCheck %s --check-prefix=ONCE

// CHECK-NOT: FAIL
// CHECK-COUNT-14: pass
// CHECK-NOT: {{FAIL|pass}}

// ONCE-NOT: FAIL
// ONCE-COUNT-6: pass
// ONCE-NOT: {{FAIL|pass}}

!nvfp4 = !blockscale.tensor<?x?xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!mxfp4 = !blockscale.tensor<?x?xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>

func.func @nvfp4(%a: !nvfp4, %b: !nvfp4) -> tensor<?x?xbf16> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 384, cta_group = 2, cluster_m = 2, cluster_n = 1, mma_k = 96, swap_operands = false>) : !nvfp4, !nvfp4 -> tensor<?x?xbf16>
  return %0 : tensor<?x?xbf16>
}

func.func @mxfp4(%a: !mxfp4, %b: !mxfp4) -> tensor<?x?xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 384, cta_group = 2, cluster_m = 2, cluster_n = 1, mma_k = 96, swap_operands = true, epilogue_warps = 8>) : !mxfp4, !mxfp4 -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// Pairs that share both operands, scales in a ring of their own.
func.func @cluster(%a: !nvfp4, %b: !nvfp4) -> tensor<?x?xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 384, cta_group = 2, cluster_m = 4, cluster_n = 2, mma_k = 96, swap_operands = false, stages = 4, scale_stages = 3>) : !nvfp4, !nvfp4 -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// The scales of the schedule's own K.
func.func @wide_k(%a: !nvfp4, %b: !nvfp4) -> tensor<?x?xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 384, cta_group = 2, cluster_m = 2, cluster_n = 1, swap_operands = false>) : !nvfp4, !nvfp4 -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

!split_a = !blockscale.tensor<300x1632xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!split_b = !blockscale.tensor<840x1632xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @split(%a: !split_a, %b: !split_b) -> tensor<300x840xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 384, cta_group = 2, mma_k = 96, cluster_m = 2, cluster_n = 1, split_k = 2, cluster_k = 1, swap_operands = false>) : !split_a, !split_b -> tensor<300x840xf32>
  return %0 : tensor<300x840xf32>
}

!rows = !blockscale.tensor<?x1120xf4E2M1FN, "e4m3fn_t16", layout = grouped_128x4>
!experts = !blockscale.tensor<3x776x1120xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @rows(%a: !rows, %b: !experts, %ends: tensor<3xi32>) -> tensor<?x776xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<3xi32>) schedule(#blockscale.schedule<tile_n = 384, cta_group = 2, mma_k = 96, cluster_m = 2, cluster_n = 1, swap_operands = false>) : !rows, !experts -> tensor<?x776xf32>
  return %0 : tensor<?x776xf32>
}
