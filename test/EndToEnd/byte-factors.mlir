// Scales of e5m3, which hardware reads beside e2m1 of one family alone, and of e5m2: of
// tiles along K sums are multiplied by them in registers, and of all of K they are
// factors of the epilogue, as those of e4m3 are; in groups, of sparse operands, of
// integers less zero points, beside scales that instructions read.

// REQUIRES: mlir
// RUN: blockscale verify %s --m=70 | FileCheck %s
// RUN: blockscale verify %s --m=70 --target=sm_120a --data=random --conditions=harsh | FileCheck %s --check-prefix=ONCE

// CHECK-NOT: FAIL
// CHECK-COUNT-24: pass
// CHECK-NOT: {{FAIL|pass}}

// ONCE-NOT: FAIL
// ONCE-COUNT-12: pass
// ONCE-NOT: {{FAIL|pass}}

!short_a = !blockscale.tensor<70x256xf8E4M3FN, "multi_float32_e5m3fn_t16">
!short_b = !blockscale.tensor<72x256xf4E2M1FN, "e5m3fn_t16">
func.func @short(%a: !short_a, %b: !short_b, %alpha: f32) -> tensor<70x72xf32> {
  %0 = blockscale.matmul %a, %b alpha(%alpha) : !short_a, !short_b -> tensor<70x72xf32>
  return %0 : tensor<70x72xf32>
}

!long_a = !blockscale.tensor<2x70x384xf6E2M3FN, "e5m3fn_t32">
!long_b = !blockscale.tensor<2x136x384xf8E5M2, "e5m2_t64">
func.func @long(%a: !long_a, %b: !long_b) -> tensor<2x70x136xbf16> {
  %0 = blockscale.matmul %a, %b : !long_a, !long_b -> tensor<2x70x136xbf16>
  return %0 : tensor<2x70x136xbf16>
}

!tall_a = !blockscale.tensor<?x256xf8E4M3FN, "e5m2_t128">
!tall_b = !blockscale.tensor<136x256xf8E4M3FNUZ, "e5m3fn_t128_t128">
func.func @tall(%a: !tall_a, %b: !tall_b) -> tensor<?x136xf32> {
  %0 = blockscale.matmul %a, %b : !tall_a, !tall_b -> tensor<?x136xf32>
  return %0 : tensor<?x136xf32>
}

// Two formats of e2m1, and powers of two that instructions read.
!fractions = !blockscale.tensor<70x256xf4E2M1FN, "e4m3fn_t16">
func.func @formats(%a: !fractions, %b: !short_b) -> tensor<70x72xf32> {
  %0 = blockscale.matmul %a, %b : !fractions, !short_b -> tensor<70x72xf32>
  return %0 : tensor<70x72xf32>
}

// Of both, in rows, which no instruction of any chip reads.
!narrow_a = !blockscale.tensor<70x256xf4E2M1FN, "multi_float32_e5m3fn_t16">
func.func @narrow(%a: !narrow_a, %b: !short_b) -> tensor<70x72xf32> {
  %0 = blockscale.matmul %a, %b : !narrow_a, !short_b -> tensor<70x72xf32>
  return %0 : tensor<70x72xf32>
}

!narrow_wide = !blockscale.tensor<?x256xf4E2M1FN, "e5m3fn_t4_t64">
!narrow_rows = !blockscale.tensor<72x256xf4E2M1FN, "e5m3fn_t32">
func.func @narrow_rows(%a: !narrow_wide, %b: !narrow_rows) -> tensor<?x72xf32> {
  %0 = blockscale.matmul %a, %b : !narrow_wide, !narrow_rows -> tensor<?x72xf32>
  return %0 : tensor<?x72xf32>
}

!powers = !blockscale.tensor<72x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!wide = !blockscale.tensor<70x256xf8E4M3FN, "e5m3fn_t64">
func.func @powers(%a: !wide, %b: !powers) -> tensor<70x72xf32> {
  %0 = blockscale.matmul %a, %b : !wide, !powers -> tensor<70x72xf32>
  return %0 : tensor<70x72xf32>
}

!experts = !blockscale.tensor<3x72x256xf8E4M3FN, "e5m3fn_t128_t128">
func.func @groups(%a: !wide, %b: !experts, %ends: tensor<3xi32>) -> tensor<70x72xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<3xi32>) : !wide, !experts -> tensor<70x72xf32>
  return %0 : tensor<70x72xf32>
}

// For all of K: of rows, of some rows, of matrices.
!rows_a = !blockscale.tensor<70x160xf8E4M3FN, "e4m3_t0">
!rows_b = !blockscale.tensor<72x160xf8E5M2, "e5m3fn_t4_t0">
func.func @rows(%a: !rows_a, %b: !rows_b) -> tensor<70x72xf32> {
  %0 = blockscale.matmul %a, %b : !rows_a, !rows_b -> tensor<70x72xf32>
  return %0 : tensor<70x72xf32>
}

!matrix_a = !blockscale.tensor<2x70x160xi8, "e4m3fn">
!matrix_b = !blockscale.tensor<2x72x160xi8, "e5m2_t0">
func.func @matrices(%a: !matrix_a, %b: !matrix_b) -> tensor<2x70x72xf32> {
  %0 = blockscale.matmul %a, %b : !matrix_a, !matrix_b -> tensor<2x70x72xf32>
  return %0 : tensor<2x70x72xf32>
}

!zeros_a = !blockscale.tensor<70x160xf8E4M3FN, "e5m3fn">
!zeros_b = !blockscale.tensor<72x160xui4, "e4m3_int8_t0">
func.func @zeros(%a: !zeros_a, %b: !zeros_b) -> tensor<70x72xf32> {
  %0 = blockscale.matmul %a, %b : !zeros_a, !zeros_b -> tensor<70x72xf32>
  return %0 : tensor<70x72xf32>
}

!real_a = !blockscale.tensor<70x160xf8E4M3FN, "e5m2">
!real_b = !blockscale.tensor<72x160xui4, "e5m3fn_float16_t32">
func.func @real_zeros(%a: !real_a, %b: !real_b) -> tensor<70x72xf32> {
  %0 = blockscale.matmul %a, %b : !real_a, !real_b -> tensor<70x72xf32>
  return %0 : tensor<70x72xf32>
}
