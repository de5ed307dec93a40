// Tiles handed out by cluster launch control, few and many clusters running at
// once, and kernels that wait for the grid before them.

// REQUIRES: mlir
// RUN: blockscale verify %s --data=exact --num-sms=4 --m=1,600 --n=200 --k=32,288 | FileCheck %s
// RUN: blockscale verify %s --data=exact --num-sms=12 --m=600 --n=328 --k=160 --completion=random | FileCheck %s --check-prefix=ONCE
// RUN: blockscale verify %s --data=exact --num-sms=4 --m=513 --n=264 --k=288 --completion=latest | FileCheck %s --check-prefix=ONCE
// RUN: blockscale verify %s --data=exact --num-sms=148 --m=600 --n=200 --k=32 | FileCheck %s --check-prefix=ONCE

// CHECK-NOT: FAIL
// CHECK-COUNT-13: pass
// CHECK-NOT: {{FAIL|pass}}

// ONCE-NOT: FAIL
// ONCE-COUNT-10: pass
// ONCE-NOT: {{FAIL|pass}}

!single_a = !blockscale.tensor<390x288xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!single_b = !blockscale.tensor<200x288xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @single(%a: !single_a, %b: !single_b) -> tensor<390x200xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = false, tile_n = 64, scheduler = dynamic>) : !single_a, !single_b -> tensor<390x200xf32>
  return %0 : tensor<390x200xf32>
}

!overlap_a = !blockscale.tensor<600x304xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!overlap_b = !blockscale.tensor<1032x304xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @overlap(%a: !overlap_a, %b: !overlap_b) -> tensor<600x1032xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = false, tile_n = 256, scheduler = dynamic>) : !overlap_a, !overlap_b -> tensor<600x1032xf32>
  return %0 : tensor<600x1032xf32>
}

!pair_a = !blockscale.tensor<600x608xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!pair_b = !blockscale.tensor<1032x608xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
func.func @pair(%a: !pair_a, %b: !pair_b) -> tensor<600x1032xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 2, swap_operands = false, tile_n = 256, scheduler = dynamic>) : !pair_a, !pair_b -> tensor<600x1032xf32>
  return %0 : tensor<600x1032xf32>
}

!c2x2_a = !blockscale.tensor<390x288xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!c2x2_b = !blockscale.tensor<584x288xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @c2x2(%a: !c2x2_a, %b: !c2x2_b) -> tensor<390x584xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = false, cluster_m = 2, cluster_n = 2, tile_n = 64, scheduler = dynamic>) : !c2x2_a, !c2x2_b -> tensor<390x584xf32>
  return %0 : tensor<390x584xf32>
}

!pair_4x1_a = !blockscale.tensor<1100x160xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!pair_4x1_b = !blockscale.tensor<264x160xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
func.func @pair_4x1(%a: !pair_4x1_a, %b: !pair_4x1_b) -> tensor<1100x264xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = false, cta_group = 2, cluster_m = 4, cluster_n = 1, tile_n = 128, scheduler = dynamic>) : !pair_4x1_a, !pair_4x1_b -> tensor<1100x264xf32>
  return %0 : tensor<1100x264xf32>
}

!pair_2x2_a = !blockscale.tensor<390x320xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
!pair_2x2_b = !blockscale.tensor<1032x320xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
func.func @pair_2x2(%a: !pair_2x2_a, %b: !pair_2x2_b) -> tensor<390x1032xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = false, cta_group = 2, cluster_m = 2, cluster_n = 2, tile_n = 192, scheduler = dynamic>) : !pair_2x2_a, !pair_2x2_b -> tensor<390x1032xf32>
  return %0 : tensor<390x1032xf32>
}

!batched_a = !blockscale.tensor<5x130x288xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!batched_b = !blockscale.tensor<5x72x288xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @batched(%a: !batched_a, %b: !batched_b) -> tensor<5x130x72xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 2, swap_operands = false, tile_n = 64, scheduler = dynamic>) : !batched_a, !batched_b -> tensor<5x130x72xf32>
  return %0 : tensor<5x130x72xf32>
}

!dependent_a = !blockscale.tensor<600x288xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!dependent_b = !blockscale.tensor<264x288xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @dependent(%a: !dependent_a, %b: !dependent_b) -> tensor<600x264xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = false, tile_n = 128, dependent_launch = true>) : !dependent_a, !dependent_b -> tensor<600x264xf32>
  return %0 : tensor<600x264xf32>
}

!dependent_pair_a = !blockscale.tensor<600x288xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
!dependent_pair_b = !blockscale.tensor<520x288xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
func.func @dependent_pair(%a: !dependent_pair_a, %b: !dependent_pair_b) -> tensor<600x520xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 2, swap_operands = false, tile_n = 128, dependent_launch = true, scheduler = dynamic>) : !dependent_pair_a, !dependent_pair_b -> tensor<600x520xf32>
  return %0 : tensor<600x520xf32>
}

!dynamic_a = !blockscale.tensor<?x?xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!dynamic_b = !blockscale.tensor<?x?xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @dynamic(%a: !dynamic_a, %b: !dynamic_b) -> tensor<?x?xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = false, cta_group = 2, cluster_m = 2, cluster_n = 1, tile_n = 64, scheduler = dynamic>) : !dynamic_a, !dynamic_b -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
