// Scales in a ring of their own, of one stage or of some, with all that a kernel may
// be besides: rings that go round at different stages, from tile to tile.

// REQUIRES: mlir
// RUN: blockscale verify %s --target=sm_103a --data=exact --num-sms=8 --m=1,300 --n=200 --k=96,1568 --completion=random | FileCheck %s
// RUN: blockscale verify %s --target=sm_103a --data=exact --num-sms=8 --m=300 --n=328 --k=1056 --completion=latest | FileCheck %s --check-prefix=ONCE

// CHECK-NOT: FAIL
// CHECK-COUNT-33: pass
// CHECK-NOT: {{FAIL|pass}}

// ONCE-NOT: FAIL
// ONCE-COUNT-12: pass
// ONCE-NOT: {{FAIL|pass}}

!nvfp4 = !blockscale.tensor<?x?xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!mxfp8 = !blockscale.tensor<?x?xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>

// As the default of large products is.
func.func @k96_pair(%a: !nvfp4, %b: !nvfp4) -> tensor<?x?xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 256, cta_group = 2, mma_k = 96, stages = 6, scale_stages = 5>) : !nvfp4, !nvfp4 -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// An instruction that starts in the stage before reads scales that are released.
func.func @k96(%a: !nvfp4, %b: !nvfp4) -> tensor<?x?xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 192, cta_group = 1, cluster_m = 1, cluster_n = 1, swap_operands = false, mma_k = 96, stages = 2, scale_stages = 1>) : !nvfp4, !nvfp4 -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

func.func @one(%a: !mxfp8, %b: !mxfp8) -> tensor<?x?xbf16> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 64, cta_group = 1, cluster_m = 1, cluster_n = 1, swap_operands = true, stages = 5, scale_stages = 3>) : !mxfp8, !mxfp8 -> tensor<?x?xbf16>
  return %0 : tensor<?x?xbf16>
}

// CTAs that share scales of A, of B and of both.
func.func @cluster(%a: !mxfp8, %b: !mxfp8) -> tensor<?x?xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 64, cta_group = 1, cluster_m = 2, cluster_n = 2, swap_operands = false, stages = 3, scale_stages = 1>) : !mxfp8, !mxfp8 -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

func.func @cluster_of_pairs(%a: !nvfp4, %b: !nvfp4) -> tensor<?x?xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 64, cta_group = 2, cluster_m = 4, cluster_n = 2, mma_k = 64, swap_operands = false, stages = 3, scale_stages = 2>) : !nvfp4, !nvfp4 -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

func.func @dynamic(%a: !mxfp8, %b: !mxfp8) -> tensor<?x?xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 64, cta_group = 2, cluster_m = 2, cluster_n = 1, swap_operands = false, scheduler = dynamic, dependent_launch = true, stages = 4, scale_stages = 3>) : !mxfp8, !mxfp8 -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// Metadata stay with A and B.
!sparse_a = !blockscale.tensor<300x448xf8E4M3FN, "e8m0_t32n2m4", layout = tiled_128x4>
!sparse_b = !blockscale.tensor<136x448xf8E5M2, "e8m0_t64", layout = tiled_128x4>
func.func @sparse(%a: !sparse_a, %b: !sparse_b) -> tensor<300x136xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 128, cta_group = 2, swap_operands = false, stages = 3, scale_stages = 2>) : !sparse_a, !sparse_b -> tensor<300x136xf32>
  return %0 : tensor<300x136xf32>
}

!split = !blockscale.tensor<136x1152xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @split(%a: !split, %b: !split) -> tensor<136x136xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 64, cta_group = 1, mma_k = 64, cluster_m = 1, cluster_n = 1, split_k = 2, cluster_k = 2, swap_operands = false, stages = 3, scale_stages = 2>) : !split, !split -> tensor<136x136xf32>
  return %0 : tensor<136x136xf32>
}

func.func @workspace(%a: !split, %b: !split) -> tensor<136x136xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 64, cta_group = 1, mma_k = 96, cluster_m = 1, cluster_n = 1, split_k = 2, cluster_k = 1, swap_operands = false, stages = 3, scale_stages = 2>) : !split, !split -> tensor<136x136xf32>
  return %0 : tensor<136x136xf32>
}

// Groups of rows, gathered ones, whose producer is a warp, and groups along K.
!rows = !blockscale.tensor<?x576xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
!experts = !blockscale.tensor<3x136x576xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @rows(%a: !rows, %b: !experts, %ends: tensor<3xi32>) -> tensor<?x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<3xi32>) schedule(#blockscale.schedule<tile_n = 128, cta_group = 1, cluster_m = 1, cluster_n = 1, swap_operands = false, stages = 3, scale_stages = 2>) : !rows, !experts -> tensor<?x136xf32>
  return %0 : tensor<?x136xf32>
}

func.func @gathered(%a: !rows, %b: !experts, %ends: tensor<3xi32>, %ids: tensor<?xi32>) -> tensor<?x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<3xi32>) rows(%ids : tensor<?xi32>) schedule(#blockscale.schedule<tile_n = 64, cta_group = 2, cluster_m = 2, cluster_n = 1, swap_operands = false, stages = 3, scale_stages = 2>) : !rows, !experts -> tensor<?x136xf32>
  return %0 : tensor<?x136xf32>
}

!along_a = !blockscale.tensor<200x?xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
!along_b = !blockscale.tensor<136x?xf8E5M2, "e8m0_t32", layout = grouped_128x4>
func.func @along_k(%a: !along_a, %b: !along_b, %ends: tensor<3xi32>) -> tensor<3x200x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<3xi32>) schedule(#blockscale.schedule<tile_n = 64, cta_group = 2, cluster_m = 2, cluster_n = 1, swap_operands = false, stages = 3, scale_stages = 1>) : !along_a, !along_b -> tensor<3x200x136xf32>
  return %0 : tensor<3x200x136xf32>
}
