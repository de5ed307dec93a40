// A structured-sparse A in pairs and clusters of CTAs: each CTA has the metadata
// of its own rows, and CTAs that share rows of A share its metadata.

// REQUIRES: mlir
// RUN: blockscale verify %s --num-sms=8 | FileCheck %s

// CHECK-NOT: FAIL
// CHECK-COUNT-28: pass
// CHECK-NOT: {{FAIL|pass}}

!pair_fp8_a = !blockscale.tensor<300x320xf8E4M3FN, "e8m0_t32n2m4", layout = tiled_128x4>
!pair_fp8_b = !blockscale.tensor<200x320xf8E5M2, "e8m0_t64", layout = tiled_128x4>
func.func @pair_fp8(%a: !pair_fp8_a, %b: !pair_fp8_b) -> tensor<300x200xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 64, cta_group = 2>) : !pair_fp8_a, !pair_fp8_b -> tensor<300x200xf32>
  return %0 : tensor<300x200xf32>
}

!pair_fp6_fp4_a = !blockscale.tensor<300x576xf6E3M2FN, "e8m0_t32n2m4", layout = tiled_128x4>
!pair_fp6_fp4_b = !blockscale.tensor<264x576xf4E2M1FN, "e8m0_t64", layout = tiled_128x4>
func.func @pair_fp6_fp4(%a: !pair_fp6_fp4_a, %b: !pair_fp6_fp4_b) -> tensor<300x264xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 128, cta_group = 2>) : !pair_fp6_fp4_a, !pair_fp6_fp4_b -> tensor<300x264xf32>
  return %0 : tensor<300x264xf32>
}

!pair_fp4_fp6_a = !blockscale.tensor<130x320xf4E2M1FN, "e8m0_t32n2m4", layout = tiled_128x4>
!pair_fp4_fp6_b = !blockscale.tensor<136x320xf6E2M3FN, "e8m0_t64", layout = tiled_128x4>
func.func @pair_fp4_fp6(%a: !pair_fp4_fp6_a, %b: !pair_fp4_fp6_b) -> tensor<130x136xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 64, cta_group = 2>) : !pair_fp4_fp6_a, !pair_fp4_fp6_b -> tensor<130x136xf32>
  return %0 : tensor<130x136xf32>
}

!pair_mxf4_a = !blockscale.tensor<300x320xf4E2M1FN, "e8m0_t32n4m8", layout = tiled_128x4>
!pair_mxf4_b = !blockscale.tensor<264x320xf4E2M1FN, "e8m0_t64", layout = tiled_128x4>
func.func @pair_mxf4(%a: !pair_mxf4_a, %b: !pair_mxf4_b) -> tensor<300x264xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 256, cta_group = 2>) : !pair_mxf4_a, !pair_mxf4_b -> tensor<300x264xf32>
  return %0 : tensor<300x264xf32>
}

!pair_nvfp4_a = !blockscale.tensor<300x544xf4E2M1FN, "multi_float32_e4m3fn_t16n4m8", layout = tiled_128x4>
!pair_nvfp4_b = !blockscale.tensor<392x544xf4E2M1FN, "multi_float32_e4m3fn_t32", layout = tiled_128x4>
func.func @pair_nvfp4(%a: !pair_nvfp4_a, %b: !pair_nvfp4_b) -> tensor<300x392xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 192, cta_group = 2>) : !pair_nvfp4_a, !pair_nvfp4_b -> tensor<300x392xf32>
  return %0 : tensor<300x392xf32>
}

!pair_t16_a = !blockscale.tensor<257x352xf4E2M1FN, "e8m0_t16n4m8", layout = tiled_128x4>
!pair_t16_b = !blockscale.tensor<72x352xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
func.func @pair_t16(%a: !pair_t16_a, %b: !pair_t16_b) -> tensor<257x72xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 64, cta_group = 2>) : !pair_t16_a, !pair_t16_b -> tensor<257x72xf32>
  return %0 : tensor<257x72xf32>
}

!pair_batched_a = !blockscale.tensor<3x200x416xf4E2M1FN, "e4m3fn_t16n4m8", layout = tiled_128x4>
!pair_batched_b = !blockscale.tensor<3x136x416xf4E2M1FN, "e4m3fn_t32", layout = tiled_128x4>
func.func @pair_batched(%a: !pair_batched_a, %b: !pair_batched_b) -> tensor<3x200x136xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 128, cta_group = 2>) : !pair_batched_a, !pair_batched_b -> tensor<3x200x136xf32>
  return %0 : tensor<3x200x136xf32>
}

!pair_small_m_a = !blockscale.tensor<17x512xf4E2M1FN, "e4m3fn_t16n4m8", layout = tiled_128x4>
!pair_small_m_b = !blockscale.tensor<264x512xf4E2M1FN, "e4m3fn_t32", layout = tiled_128x4>
func.func @pair_small_m(%a: !pair_small_m_a, %b: !pair_small_m_b) -> tensor<17x264xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 128, cta_group = 2>) : !pair_small_m_a, !pair_small_m_b -> tensor<17x264xf32>
  return %0 : tensor<17x264xf32>
}

!pair_m_major_a = !blockscale.tensor<512x320xf8E4M3FN, "e8m0_t32n2m4", layout = tiled_128x4, order = mn_major>
!pair_m_major_b = !blockscale.tensor<256x320xf8E5M2, "e8m0_t64", layout = tiled_128x4, order = mn_major>
func.func @pair_m_major(%a: !pair_m_major_a, %b: !pair_m_major_b) -> tensor<512x256xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 128, cta_group = 2>) : !pair_m_major_a, !pair_m_major_b -> tensor<512x256xf32>
  return %0 : tensor<512x256xf32>
}

!cluster_rows_a = !blockscale.tensor<600x320xf8E4M3FN, "e8m0_t32n2m4", layout = tiled_128x4>
!cluster_rows_b = !blockscale.tensor<136x320xf8E4M3FN, "e8m0_t64", layout = tiled_128x4>
func.func @cluster_rows(%a: !cluster_rows_a, %b: !cluster_rows_b) -> tensor<600x136xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 64, cluster_m = 2>) : !cluster_rows_a, !cluster_rows_b -> tensor<600x136xf32>
  return %0 : tensor<600x136xf32>
}

!cluster_columns_a = !blockscale.tensor<300x544xf4E2M1FN, "e4m3fn_t16n4m8", layout = tiled_128x4>
!cluster_columns_b = !blockscale.tensor<264x544xf4E2M1FN, "e4m3fn_t32", layout = tiled_128x4>
func.func @cluster_columns(%a: !cluster_columns_a, %b: !cluster_columns_b) -> tensor<300x264xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 64, cluster_n = 2>) : !cluster_columns_a, !cluster_columns_b -> tensor<300x264xf32>
  return %0 : tensor<300x264xf32>
}

!cluster_padded_a = !blockscale.tensor<300x576xf6E2M3FN, "e8m0_t32n2m4", layout = tiled_128x4>
!cluster_padded_b = !blockscale.tensor<264x576xf4E2M1FN, "e8m0_t64", layout = tiled_128x4>
func.func @cluster_padded(%a: !cluster_padded_a, %b: !cluster_padded_b) -> tensor<300x264xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 64, cluster_m = 2, cluster_n = 2>) : !cluster_padded_a, !cluster_padded_b -> tensor<300x264xf32>
  return %0 : tensor<300x264xf32>
}

!pair_cluster_a = !blockscale.tensor<600x544xf4E2M1FN, "e4m3fn_t16n4m8", layout = tiled_128x4>
!pair_cluster_b = !blockscale.tensor<392x544xf4E2M1FN, "e4m3fn_t32", layout = tiled_128x4>
func.func @pair_cluster(%a: !pair_cluster_a, %b: !pair_cluster_b) -> tensor<600x392xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 128, cta_group = 2, cluster_m = 4, cluster_n = 2>) : !pair_cluster_a, !pair_cluster_b -> tensor<600x392xf32>
  return %0 : tensor<600x392xf32>
}

!dynamic_scheduler_a = !blockscale.tensor<300x544xf4E2M1FN, "e4m3fn_t16n4m8", layout = tiled_128x4>
!dynamic_scheduler_b = !blockscale.tensor<264x544xf4E2M1FN, "e4m3fn_t32", layout = tiled_128x4>
func.func @dynamic_scheduler(%a: !dynamic_scheduler_a, %b: !dynamic_scheduler_b) -> tensor<300x264xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 64, cta_group = 2, scheduler = dynamic>) : !dynamic_scheduler_a, !dynamic_scheduler_b -> tensor<300x264xf32>
  return %0 : tensor<300x264xf32>
}
