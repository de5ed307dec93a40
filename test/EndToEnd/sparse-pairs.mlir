// A structured-sparse A on pairs and clusters of CTAs: metadata goes where the
// scales of A go.

// REQUIRES: mlir
// RUN: blockscale verify %s --data=exact --num-sms=4 | FileCheck %s
// RUN: blockscale verify %s --data=exact --num-sms=8 --completion=random | FileCheck %s --check-prefix=ONCE

// CHECK-NOT: FAIL
// CHECK-COUNT-7: pass
// CHECK-NOT: {{FAIL|pass}}

// ONCE-NOT: FAIL
// ONCE-COUNT-7: pass
// ONCE-NOT: {{FAIL|pass}}

!mxfp8_a = !blockscale.tensor<300x448xf8E4M3FN, "e8m0_t32n2m4", layout = tiled_128x4>
!mxfp8_b = !blockscale.tensor<264x448xf8E5M2, "e8m0_t64", layout = tiled_128x4>
func.func @mxfp8(%a: !mxfp8_a, %b: !mxfp8_b) -> tensor<300x264xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 2, tile_n = 128, swap_operands = false>) : !mxfp8_a, !mxfp8_b -> tensor<300x264xf32>
  return %0 : tensor<300x264xf32>
}

!mixed_a = !blockscale.tensor<300x320xf4E2M1FN, "e8m0_t32n2m4", layout = tiled_128x4>
!mixed_b = !blockscale.tensor<136x320xf6E2M3FN, "e8m0_t64", layout = tiled_128x4>
func.func @mixed(%a: !mixed_a, %b: !mixed_b) -> tensor<300x136xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 2, tile_n = 144, swap_operands = false>) : !mixed_a, !mixed_b -> tensor<300x136xf32>
  return %0 : tensor<300x136xf32>
}

!mxf4_a = !blockscale.tensor<300x576xf4E2M1FN, "e8m0_t32n4m8", layout = tiled_128x4>
!mxf4_b = !blockscale.tensor<200x576xf4E2M1FN, "e8m0_t64", layout = tiled_128x4>
func.func @mxf4(%a: !mxf4_a, %b: !mxf4_b) -> tensor<300x200xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 2, tile_n = 64, swap_operands = false>) : !mxf4_a, !mxf4_b -> tensor<300x200xf32>
  return %0 : tensor<300x200xf32>
}

!nvf4_a = !blockscale.tensor<600x544xf4E2M1FN, "e4m3fn_t16n4m8", layout = tiled_128x4>
!nvf4_b = !blockscale.tensor<520x544xf4E2M1FN, "e4m3fn_t32", layout = tiled_128x4>
func.func @nvf4(%a: !nvf4_a, %b: !nvf4_b) -> tensor<600x520xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 2, tile_n = 256, swap_operands = false>) : !nvf4_a, !nvf4_b -> tensor<600x520xf32>
  return %0 : tensor<600x520xf32>
}

!batched_a = !blockscale.tensor<3x130x320xf8E4M3FN, "e8m0_t32n2m4", layout = tiled_128x4>
!batched_b = !blockscale.tensor<3x72x320xf8E4M3FN, "e8m0_t64", layout = tiled_128x4>
func.func @batched(%a: !batched_a, %b: !batched_b) -> tensor<3x130x72xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 2, tile_n = 64, swap_operands = false>) : !batched_a, !batched_b -> tensor<3x130x72xf32>
  return %0 : tensor<3x130x72xf32>
}

!c2x2_a = !blockscale.tensor<390x288xf4E2M1FN, "e4m3fn_t16n4m8", layout = tiled_128x4>
!c2x2_b = !blockscale.tensor<392x288xf4E2M1FN, "e4m3fn_t32", layout = tiled_128x4>
func.func @c2x2(%a: !c2x2_a, %b: !c2x2_b) -> tensor<390x392xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cluster_m = 2, cluster_n = 2, tile_n = 128, swap_operands = false>) : !c2x2_a, !c2x2_b -> tensor<390x392xf32>
  return %0 : tensor<390x392xf32>
}

!pair_2x2_a = !blockscale.tensor<600x448xf8E4M3FN, "e8m0_t32n2m4", layout = tiled_128x4>
!pair_2x2_b = !blockscale.tensor<520x448xf8E4M3FN, "e8m0_t64", layout = tiled_128x4>
func.func @pair_2x2(%a: !pair_2x2_a, %b: !pair_2x2_b) -> tensor<600x520xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 2, cluster_m = 2, cluster_n = 2, tile_n = 64, scheduler = dynamic, swap_operands = false>) : !pair_2x2_a, !pair_2x2_b -> tensor<600x520xf32>
  return %0 : tensor<600x520xf32>
}
