// Scales of e4m3 for tiles of elements beside which no instruction reads them, FP8 and
// FP6, and of integers: sums are multiplied by them in registers. Tiles of 16 elements are bf16, longer
// ones stay as they are; the other operand has tiles of its own, or none.

// REQUIRES: mlir
// RUN: blockscale verify %s --m=70 | FileCheck %s
// RUN: blockscale verify %s --m=70 --target=sm_103a --data=random --conditions=harsh | FileCheck %s --check-prefix=ONCE
// RUN: blockscale verify %s --m=70 --target=sm_120a | FileCheck %s
// RUN: blockscale verify %s --m=70 --target=sm_107a --data=random | FileCheck %s --check-prefix=ONCE

// CHECK-NOT: FAIL
// CHECK-COUNT-10: pass
// CHECK-NOT: {{FAIL|pass}}

// ONCE-NOT: FAIL
// ONCE-COUNT-5: pass
// ONCE-NOT: {{FAIL|pass}}

!short_a = !blockscale.tensor<130x256xf8E4M3FN, "multi_float32_e4m3_t16">
!short_b = !blockscale.tensor<72x256xf6E2M3FN, "e4m3fn_t16">
func.func @short(%a: !short_a, %b: !short_b, %alpha: f32) -> tensor<130x72xf32> {
  %0 = blockscale.matmul %a, %b alpha(%alpha) : !short_a, !short_b -> tensor<130x72xf32>
  return %0 : tensor<130x72xf32>
}

!long_a = !blockscale.tensor<2x70x384xf8E4M3FN, "e4m3fn_t32">
!long_b = !blockscale.tensor<2x136x384xf8E5M2, "float32_t64">
func.func @long(%a: !long_a, %b: !long_b) -> tensor<2x70x136xbf16> {
  %0 = blockscale.matmul %a, %b : !long_a, !long_b -> tensor<2x70x136xbf16>
  return %0 : tensor<2x70x136xbf16>
}

!tall_a = !blockscale.tensor<?x256xf8E4M3FN, "e4m3fn_t128">
!tall_b = !blockscale.tensor<264x256xf8E4M3FNUZ, "e4m3fn_t128_t128">
func.func @tall(%a: !tall_a, %b: !tall_b) -> tensor<?x264xf32> {
  %0 = blockscale.matmul %a, %b : !tall_a, !tall_b -> tensor<?x264xf32>
  return %0 : tensor<?x264xf32>
}

!rows_b = !blockscale.tensor<136x384xf8E4M3FN, "float32_t0">
!rows_a = !blockscale.tensor<70x384xf6E3M2FN, "e4m3fn_t0_t64">
func.func @rows(%a: !rows_a, %b: !rows_b) -> tensor<70x136xf32> {
  %0 = blockscale.matmul %a, %b : !rows_a, !rows_b -> tensor<70x136xf32>
  return %0 : tensor<70x136xf32>
}

!whole_a = !blockscale.tensor<70x384xi8, "multi_float32_e4m3fn_t64">
!whole_b = !blockscale.tensor<136x384xi4, "e4m3_t16">
func.func @whole(%a: !whole_a, %b: !whole_b) -> tensor<70x136xf32> {
  %0 = blockscale.matmul %a, %b : !whole_a, !whole_b -> tensor<70x136xf32>
  return %0 : tensor<70x136xf32>
}
