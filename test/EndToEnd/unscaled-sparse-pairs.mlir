// A structured-sparse A without scales on pairs and clusters of CTAs.

// REQUIRES: mlir
// RUN: blockscale verify %s --data=exact --num-sms=4 | FileCheck %s
// RUN: blockscale verify %s --data=exact --num-sms=8 --completion=random | FileCheck %s

// CHECK-NOT: FAIL
// CHECK-COUNT-12: pass
// CHECK-NOT: {{FAIL|pass}}

!half_a = !blockscale.tensor<300x296xf16, "n2m4", layout = tiled_128x4>
!half_b = !blockscale.tensor<264x296xf16>
func.func @half(%a: !half_a, %b: !half_b) -> tensor<300x264xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 2, tile_n = 128>) : !half_a, !half_b -> tensor<300x264xf32>
  return %0 : tensor<300x264xf32>
}

!wide_a = !blockscale.tensor<600x264xbf16, "n2m4", layout = tiled_128x4>
!wide_b = !blockscale.tensor<520x264xbf16>
func.func @wide(%a: !wide_a, %b: !wide_b) -> tensor<600x520xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 2, tile_n = 256>) : !wide_a, !wide_b -> tensor<600x520xf32>
  return %0 : tensor<600x520xf32>
}

!single_a = !blockscale.tensor<300x148xtf32, "n1m2", layout = tiled_128x4>
!single_b = !blockscale.tensor<136x148xtf32>
func.func @single(%a: !single_a, %b: !single_b) -> tensor<300x136xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 2, tile_n = 160>) : !single_a, !single_b -> tensor<300x136xf32>
  return %0 : tensor<300x136xf32>
}

!bytes_a = !blockscale.tensor<300x448xf8E4M3FN, "n2m4", layout = tiled_128x4>
!bytes_b = !blockscale.tensor<264x448xf8E5M2>
func.func @bytes(%a: !bytes_a, %b: !bytes_b) -> tensor<300x264xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 2, tile_n = 128>) : !bytes_a, !bytes_b -> tensor<300x264xf32>
  return %0 : tensor<300x264xf32>
}

!mixed_a = !blockscale.tensor<300x328xf4E2M1FN, "n2m4", layout = tiled_128x4>
!mixed_b = !blockscale.tensor<136x328xf6E2M3FN>
func.func @mixed(%a: !mixed_a, %b: !mixed_b) -> tensor<300x136xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 2, tile_n = 96>) : !mixed_a, !mixed_b -> tensor<300x136xf32>
  return %0 : tensor<300x136xf32>
}

!integer_a = !blockscale.tensor<300x448xi8, "n2m4", layout = tiled_128x4>
!integer_b = !blockscale.tensor<200x448xui8>
func.func @integer(%a: !integer_a, %b: !integer_b) -> tensor<300x200xi32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 2, tile_n = 224>) : !integer_a, !integer_b -> tensor<300x200xi32>
  return %0 : tensor<300x200xi32>
}

!batched_a = !blockscale.tensor<3x130x136xf16, "n2m4", layout = tiled_128x4>
!batched_b = !blockscale.tensor<3x72x136xf16>
func.func @batched(%a: !batched_a, %b: !batched_b) -> tensor<3x130x72xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 2, tile_n = 64>) : !batched_a, !batched_b -> tensor<3x130x72xf32>
  return %0 : tensor<3x130x72xf32>
}

!c2x2_a = !blockscale.tensor<390x264xf16, "n2m4", layout = tiled_128x4>
!c2x2_b = !blockscale.tensor<392x264xf16>
func.func @c2x2(%a: !c2x2_a, %b: !c2x2_b) -> tensor<390x392xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cluster_m = 2, cluster_n = 2, cta_group = 1, tile_n = 128>) : !c2x2_a, !c2x2_b -> tensor<390x392xf32>
  return %0 : tensor<390x392xf32>
}

!c4x1_a = !blockscale.tensor<130x264xi8, "n2m4", layout = tiled_128x4>
!c4x1_b = !blockscale.tensor<392x264xi8>
func.func @c4x1(%a: !c4x1_a, %b: !c4x1_b) -> tensor<130x392xi32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cluster_m = 4, cluster_n = 1, cta_group = 1, tile_n = 128>) : !c4x1_a, !c4x1_b -> tensor<130x392xi32>
  return %0 : tensor<130x392xi32>
}

!c1x2_a = !blockscale.tensor<300x132xtf32, "n1m2", layout = tiled_128x4>
!c1x2_b = !blockscale.tensor<392x132xtf32>
func.func @c1x2(%a: !c1x2_a, %b: !c1x2_b) -> tensor<300x392xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cluster_m = 1, cluster_n = 2, cta_group = 1, tile_n = 96>) : !c1x2_a, !c1x2_b -> tensor<300x392xf32>
  return %0 : tensor<300x392xf32>
}

!pair_2x2_a = !blockscale.tensor<600x448xf8E4M3FN, "n2m4", layout = tiled_128x4>
!pair_2x2_b = !blockscale.tensor<520x448xf8E4M3FN>
func.func @pair_2x2(%a: !pair_2x2_a, %b: !pair_2x2_b) -> tensor<600x520xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cluster_m = 2, cluster_n = 2, cta_group = 2, tile_n = 128>) : !pair_2x2_a, !pair_2x2_b -> tensor<600x520xf32>
  return %0 : tensor<600x520xf32>
}

!pair_4x1_a = !blockscale.tensor<600x264xbf16, "n2m4", layout = tiled_128x4>
!pair_4x1_b = !blockscale.tensor<264x264xbf16>
func.func @pair_4x1(%a: !pair_4x1_a, %b: !pair_4x1_b) -> tensor<600x264xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cluster_m = 4, cluster_n = 1, cta_group = 2, tile_n = 128>) : !pair_4x1_a, !pair_4x1_b -> tensor<600x264xf32>
  return %0 : tensor<600x264xf32>
}
