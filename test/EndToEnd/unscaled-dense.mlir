// Products of dense operands without scales: each kind with tails of M, N and K,
// batched, MN-major, by pairs and clusters of CTAs.

// REQUIRES: mlir
// RUN: blockscale verify %s --num-sms=4 | FileCheck %s
// RUN: blockscale verify %s --num-sms=8 --data=exact --seed=5 --completion=latest | FileCheck %s --check-prefix=ONCE
// RUN: blockscale verify %s --target=sm_110a --data=exact | FileCheck %s --check-prefix=ONCE

// CHECK-NOT: FAIL
// CHECK-COUNT-22: pass
// CHECK-NOT: {{FAIL|pass}}

// ONCE-NOT: FAIL
// ONCE-COUNT-11: pass
// ONCE-NOT: {{FAIL|pass}}

!f16_a = !blockscale.tensor<130x328xf16>
!f16_b = !blockscale.tensor<144x328xf16>
func.func @f16(%a: !f16_a, %b: !f16_b) -> tensor<130x144xf16> {
  %0 = blockscale.matmul %a, %b : !f16_a, !f16_b -> tensor<130x144xf16>
  return %0 : tensor<130x144xf16>
}

!bf16_batch_a = !blockscale.tensor<3x70x136xbf16>
!bf16_batch_b = !blockscale.tensor<3x200x136xbf16>
func.func @bf16_batch(%a: !bf16_batch_a, %b: !bf16_batch_b) -> tensor<3x70x200xf32> {
  %0 = blockscale.matmul %a, %b : !bf16_batch_a, !bf16_batch_b -> tensor<3x70x200xf32>
  return %0 : tensor<3x70x200xf32>
}

!tf32_a = !blockscale.tensor<130x100xtf32>
!tf32_b = !blockscale.tensor<144x100xtf32>
func.func @tf32(%a: !tf32_a, %b: !tf32_b) -> tensor<130x144xbf16> {
  %0 = blockscale.matmul %a, %b : !tf32_a, !tf32_b -> tensor<130x144xbf16>
  return %0 : tensor<130x144xbf16>
}

!narrow_a = !blockscale.tensor<130x384xf4E2M1FN>
!narrow_b = !blockscale.tensor<144x384xf8E5M2>
func.func @narrow(%a: !narrow_a, %b: !narrow_b) -> tensor<130x144xf32> {
  %0 = blockscale.matmul %a, %b : !narrow_a, !narrow_b -> tensor<130x144xf32>
  return %0 : tensor<130x144xf32>
}

!six_a = !blockscale.tensor<129x256xf6E3M2FN>
!six_b = !blockscale.tensor<72x256xf6E2M3FN>
func.func @six(%a: !six_a, %b: !six_b) -> tensor<129x72xf32> {
  %0 = blockscale.matmul %a, %b : !six_a, !six_b -> tensor<129x72xf32>
  return %0 : tensor<129x72xf32>
}

!mn_major_a = !blockscale.tensor<144x300xf8E4M3FN, order = mn_major>
!mn_major_b = !blockscale.tensor<160x300xf8E5M2, order = mn_major>
func.func @mn_major(%a: !mn_major_a, %b: !mn_major_b) -> tensor<144x160xf32> {
  %0 = blockscale.matmul %a, %b : !mn_major_a, !mn_major_b -> tensor<144x160xf32>
  return %0 : tensor<144x160xf32>
}

!s8_u8_a = !blockscale.tensor<130x336xi8>
!s8_u8_b = !blockscale.tensor<144x336xui8>
func.func @s8_u8(%a: !s8_u8_a, %b: !s8_u8_b) -> tensor<130x144xi32> {
  %0 = blockscale.matmul %a, %b : !s8_u8_a, !s8_u8_b -> tensor<130x144xi32>
  return %0 : tensor<130x144xi32>
}

!u8_s8_a = !blockscale.tensor<128x272xui8, order = mn_major>
!u8_s8_b = !blockscale.tensor<96x272xi8>
func.func @u8_s8(%a: !u8_s8_a, %b: !u8_s8_b) -> tensor<128x96xf32> {
  %0 = blockscale.matmul %a, %b : !u8_s8_a, !u8_s8_b -> tensor<128x96xf32>
  return %0 : tensor<128x96xf32>
}

!pair_a = !blockscale.tensor<300x200xf16>
!pair_b = !blockscale.tensor<264x200xf16>
func.func @pair(%a: !pair_a, %b: !pair_b) -> tensor<300x264xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 2, tile_n = 128>) : !pair_a, !pair_b -> tensor<300x264xf32>
  return %0 : tensor<300x264xf32>
}

!cluster_a = !blockscale.tensor<300x72xtf32>
!cluster_b = !blockscale.tensor<264x72xtf32>
func.func @cluster(%a: !cluster_a, %b: !cluster_b) -> tensor<300x264xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 64, cluster_m = 2, cluster_n = 2>) : !cluster_a, !cluster_b -> tensor<300x264xf32>
  return %0 : tensor<300x264xf32>
}

// K ends inside the 128 elements that are loaded at a time.
!narrow_tail_a = !blockscale.tensor<130x100xf6E3M2FN>
!narrow_tail_b = !blockscale.tensor<144x100xf4E2M1FN>
func.func @narrow_tail(%a: !narrow_tail_a, %b: !narrow_tail_b) -> tensor<130x144xf32> {
  %0 = blockscale.matmul %a, %b : !narrow_tail_a, !narrow_tail_b -> tensor<130x144xf32>
  return %0 : tensor<130x144xf32>
}
