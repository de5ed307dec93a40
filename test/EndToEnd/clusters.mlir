// Clusters of up to four CTAs, with and without pairs, that share operands. The
// numbers of tiles are no multiples of the cluster's, so that CTAs without a tile
// of their own still load for their neighbours.

// REQUIRES: mlir
// RUN: blockscale verify %s --data=exact --num-sms=4 --m=1,390 --n=72,328 --k=32,416 | FileCheck %s
// RUN: blockscale verify %s --data=exact --num-sms=12 --m=300 --n=200 --k=160 --completion=random | FileCheck %s --check-prefix=ONCE
// RUN: blockscale verify %s --data=exact --num-sms=4 --m=129 --n=392 --k=288 --completion=latest | FileCheck %s --check-prefix=ONCE

// CHECK-NOT: FAIL
// CHECK-COUNT-19: pass
// CHECK-NOT: {{FAIL|pass}}

// ONCE-NOT: FAIL
// ONCE-COUNT-12: pass
// ONCE-NOT: {{FAIL|pass}}

!c2x1_a = !blockscale.tensor<390x288xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!c2x1_b = !blockscale.tensor<200x288xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @c2x1(%a: !c2x1_a, %b: !c2x1_b) -> tensor<390x200xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = false, cluster_m = 2, cluster_n = 1, tile_n = 64>) : !c2x1_a, !c2x1_b -> tensor<390x200xf32>
  return %0 : tensor<390x200xf32>
}

!c1x2_a = !blockscale.tensor<390x288xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!c1x2_b = !blockscale.tensor<200x288xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @c1x2(%a: !c1x2_a, %b: !c1x2_b) -> tensor<390x200xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = false, cluster_m = 1, cluster_n = 2, tile_n = 64>) : !c1x2_a, !c1x2_b -> tensor<390x200xf32>
  return %0 : tensor<390x200xf32>
}

!c3x1_a = !blockscale.tensor<390x160xf6E3M2FN, "e8m0_t32", layout = tiled_128x4>
!c3x1_b = !blockscale.tensor<392x160xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
func.func @c3x1(%a: !c3x1_a, %b: !c3x1_b) -> tensor<390x392xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = false, cluster_m = 3, cluster_n = 1, tile_n = 64>) : !c3x1_a, !c3x1_b -> tensor<390x392xf32>
  return %0 : tensor<390x392xf32>
}

!c4x1_a = !blockscale.tensor<390x608xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!c4x1_b = !blockscale.tensor<200x608xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @c4x1(%a: !c4x1_a, %b: !c4x1_b) -> tensor<390x200xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = false, cluster_m = 4, cluster_n = 1, tile_n = 128>) : !c4x1_a, !c4x1_b -> tensor<390x200xf32>
  return %0 : tensor<390x200xf32>
}

!c1x4_a = !blockscale.tensor<130x304xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!c1x4_b = !blockscale.tensor<840x304xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @c1x4(%a: !c1x4_a, %b: !c1x4_b) -> tensor<130x840xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = false, cluster_m = 1, cluster_n = 4, tile_n = 128>) : !c1x4_a, !c1x4_b -> tensor<130x840xf32>
  return %0 : tensor<130x840xf32>
}

!c2x2_a = !blockscale.tensor<260x608xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!c2x2_b = !blockscale.tensor<584x608xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @c2x2(%a: !c2x2_a, %b: !c2x2_b) -> tensor<260x584xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = false, cluster_m = 2, cluster_n = 2, tile_n = 192>) : !c2x2_a, !c2x2_b -> tensor<260x584xf32>
  return %0 : tensor<260x584xf32>
}

!pair_2x2_a = !blockscale.tensor<390x608xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!pair_2x2_b = !blockscale.tensor<1032x608xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
func.func @pair_2x2(%a: !pair_2x2_a, %b: !pair_2x2_b) -> tensor<390x1032xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = false, cta_group = 2, cluster_m = 2, cluster_n = 2, tile_n = 256>) : !pair_2x2_a, !pair_2x2_b -> tensor<390x1032xf32>
  return %0 : tensor<390x1032xf32>
}

!pair_4x1_a = !blockscale.tensor<600x288xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!pair_4x1_b = !blockscale.tensor<264x288xf8E5M2, "e8m0_t32", layout = tiled_128x4>
func.func @pair_4x1(%a: !pair_4x1_a, %b: !pair_4x1_b) -> tensor<600x264xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = false, cta_group = 2, cluster_m = 4, cluster_n = 1, tile_n = 128>) : !pair_4x1_a, !pair_4x1_b -> tensor<600x264xf32>
  return %0 : tensor<600x264xf32>
}

!mn_major_a = !blockscale.tensor<390x160xf8E4M3FN, "e8m0_t32", layout = tiled_128x4, order = mn_major>
!mn_major_b = !blockscale.tensor<336x160xf8E4M3FN, "e8m0_t32", layout = tiled_128x4, order = mn_major>
func.func @mn_major(%a: !mn_major_a, %b: !mn_major_b) -> tensor<390x336xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = false, cluster_m = 2, cluster_n = 2, tile_n = 128>) : !mn_major_a, !mn_major_b -> tensor<390x336xf32>
  return %0 : tensor<390x336xf32>
}

!batched_a = !blockscale.tensor<3x130x288xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!batched_b = !blockscale.tensor<3x72x288xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @batched(%a: !batched_a, %b: !batched_b) -> tensor<3x130x72xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = false, cluster_m = 2, cluster_n = 2, tile_n = 64>) : !batched_a, !batched_b -> tensor<3x130x72xf32>
  return %0 : tensor<3x130x72xf32>
}

!swapped_a = !blockscale.tensor<100x512xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!swapped_b = !blockscale.tensor<600x512xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @swapped(%a: !swapped_a, %b: !swapped_b) -> tensor<100x600xbf16> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 2, cluster_m = 2, cluster_n = 2, swap_operands = true, tile_n = 64>) : !swapped_a, !swapped_b -> tensor<100x600xbf16>
  return %0 : tensor<100x600xbf16>
}

!dynamic_a = !blockscale.tensor<?x?xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!dynamic_b = !blockscale.tensor<?x?xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @dynamic(%a: !dynamic_a, %b: !dynamic_b) -> tensor<?x?xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = false, cta_group = 2, cluster_m = 2, cluster_n = 2, tile_n = 64>) : !dynamic_a, !dynamic_b -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
