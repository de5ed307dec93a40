// Clusters of 6 to 16 CTAs; sizes above 8 are not portable.

// REQUIRES: mlir
// RUN: blockscale verify %s --data=exact --num-sms=16 --m=1,600 --n=200 --k=288 | FileCheck %s
// RUN: blockscale verify %s --data=exact --num-sms=16 --m=300 --n=328 --k=160 --completion=random | FileCheck %s --check-prefix=ONCE

// CHECK-NOT: FAIL
// CHECK-COUNT-13: pass
// CHECK-NOT: {{FAIL|pass}}

// ONCE-NOT: FAIL
// ONCE-COUNT-12: pass
// ONCE-NOT: {{FAIL|pass}}

!c2x4_a = !blockscale.tensor<390x304xf4E2M1FN, "e8m0_t16", layout = tiled_128x4>
!c2x4_b = !blockscale.tensor<1032x304xf4E2M1FN, "e8m0_t16", layout = tiled_128x4>
func.func @c2x4(%a: !c2x4_a, %b: !c2x4_b) -> tensor<390x1032xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = false, cluster_m = 2, cluster_n = 4, tile_n = 128>) : !c2x4_a, !c2x4_b -> tensor<390x1032xf32>
  return %0 : tensor<390x1032xf32>
}

!c4x2_a = !blockscale.tensor<700x160xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!c4x2_b = !blockscale.tensor<328x160xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
func.func @c4x2(%a: !c4x2_a, %b: !c4x2_b) -> tensor<700x328xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = false, cluster_m = 4, cluster_n = 2, tile_n = 64>) : !c4x2_a, !c4x2_b -> tensor<700x328xf32>
  return %0 : tensor<700x328xf32>
}

!c3x2_a = !blockscale.tensor<790x160xf6E3M2FN, "e8m0_t32", layout = tiled_128x4>
!c3x2_b = !blockscale.tensor<328x160xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
func.func @c3x2(%a: !c3x2_a, %b: !c3x2_b) -> tensor<790x328xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = false, cluster_m = 3, cluster_n = 2, tile_n = 64>) : !c3x2_a, !c3x2_b -> tensor<790x328xf32>
  return %0 : tensor<790x328xf32>
}

!c1x8_a = !blockscale.tensor<260x288xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!c1x8_b = !blockscale.tensor<584x288xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @c1x8(%a: !c1x8_a, %b: !c1x8_b) -> tensor<260x584xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = false, cluster_m = 1, cluster_n = 8, tile_n = 64>) : !c1x8_a, !c1x8_b -> tensor<260x584xf32>
  return %0 : tensor<260x584xf32>
}

!c8x1_a = !blockscale.tensor<1100x304xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!c8x1_b = !blockscale.tensor<72x304xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @c8x1(%a: !c8x1_a, %b: !c8x1_b) -> tensor<1100x72xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = false, cluster_m = 8, cluster_n = 1, tile_n = 72>) : !c8x1_a, !c8x1_b -> tensor<1100x72xf32>
  return %0 : tensor<1100x72xf32>
}

!c4x4_a = !blockscale.tensor<1100x352xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
!c4x4_b = !blockscale.tensor<328x352xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
func.func @c4x4(%a: !c4x4_a, %b: !c4x4_b) -> tensor<1100x328xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = false, cluster_m = 4, cluster_n = 4, tile_n = 64>) : !c4x4_a, !c4x4_b -> tensor<1100x328xf32>
  return %0 : tensor<1100x328xf32>
}

!c2x8_a = !blockscale.tensor<390x96xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!c2x8_b = !blockscale.tensor<1032x96xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @c2x8(%a: !c2x8_a, %b: !c2x8_b) -> tensor<390x1032xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = false, cluster_m = 2, cluster_n = 8, tile_n = 64>) : !c2x8_a, !c2x8_b -> tensor<390x1032xf32>
  return %0 : tensor<390x1032xf32>
}

!pair_4x2_a = !blockscale.tensor<600x448xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
!pair_4x2_b = !blockscale.tensor<328x448xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
func.func @pair_4x2(%a: !pair_4x2_a, %b: !pair_4x2_b) -> tensor<600x328xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = false, cta_group = 2, cluster_m = 4, cluster_n = 2, tile_n = 64>) : !pair_4x2_a, !pair_4x2_b -> tensor<600x328xf32>
  return %0 : tensor<600x328xf32>
}

!pair_2x4_a = !blockscale.tensor<600x160xf6E2M3FN, "e8m0_t32", layout = tiled_128x4>
!pair_2x4_b = !blockscale.tensor<1032x160xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @pair_2x4(%a: !pair_2x4_a, %b: !pair_2x4_b) -> tensor<600x1032xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = false, cta_group = 2, cluster_m = 2, cluster_n = 4, tile_n = 192>) : !pair_2x4_a, !pair_2x4_b -> tensor<600x1032xf32>
  return %0 : tensor<600x1032xf32>
}

!pair_8x2_a = !blockscale.tensor<2100x288xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!pair_8x2_b = !blockscale.tensor<136x288xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @pair_8x2(%a: !pair_8x2_a, %b: !pair_8x2_b) -> tensor<2100x136xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = false, cta_group = 2, cluster_m = 8, cluster_n = 2, tile_n = 64>) : !pair_8x2_a, !pair_8x2_b -> tensor<2100x136xf32>
  return %0 : tensor<2100x136xf32>
}

!pair_mn_major_a = !blockscale.tensor<600x96xf8E4M3FN, "e8m0_t32", layout = tiled_128x4, order = mn_major>
!pair_mn_major_b = !blockscale.tensor<336x96xf8E4M3FN, "e8m0_t32", layout = tiled_128x4, order = mn_major>
func.func @pair_mn_major(%a: !pair_mn_major_a, %b: !pair_mn_major_b) -> tensor<600x336xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = false, cta_group = 2, cluster_m = 4, cluster_n = 2, tile_n = 192>) : !pair_mn_major_a, !pair_mn_major_b -> tensor<600x336xf32>
  return %0 : tensor<600x336xf32>
}

!dynamic_a = !blockscale.tensor<?x?xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!dynamic_b = !blockscale.tensor<?x?xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @dynamic(%a: !dynamic_a, %b: !dynamic_b) -> tensor<?x?xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = false, cta_group = 2, cluster_m = 4, cluster_n = 2, tile_n = 64>) : !dynamic_a, !dynamic_b -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
