// Patterns that no instruction skips, and sparse operands whose tile scales are applied
// in registers, multiplied densely when asked.

// REQUIRES: mlir
// RUN: not blockscale verify %s 2>&1 | FileCheck %s --check-prefix=REFUSED
// RUN: blockscale verify %s --dense-fallback --host-duties | FileCheck %s

// REFUSED: error: 'blockscale.matmul' op operand 'a' keeps 2:4, but kind 'mxf4nvf4', which has its scales, skips 4:8 in pairs
// REFUSED-SAME: or multiply it densely with 'dense-fallback'

// CHECK-NOT: FAIL
// CHECK-COUNT-8: pass
// CHECK-NOT: {{FAIL|pass}}

!two_a = !blockscale.tensor<130x320xf4E2M1FN, "e4m3fn_t16n2m4", layout = tiled_128x4>
!two_b = !blockscale.tensor<136x320xf4E2M1FN, "e4m3fn_t32", layout = tiled_128x4>
func.func @two_of_four(%a: !two_a, %b: !two_b) -> tensor<130x136xf32> {
  %0 = blockscale.matmul %a, %b : !two_a, !two_b -> tensor<130x136xf32>
  return %0 : tensor<130x136xf32>
}

!side_a = !blockscale.tensor<130x320xf8E5M2, "e8m0_t64", layout = tiled_128x4>
!side_b = !blockscale.tensor<136x320xf8E4M3FN, "e8m0_t32n2m4", layout = tiled_128x4>
func.func @sparse_b(%a: !side_a, %b: !side_b) -> tensor<130x136xf32> {
  %0 = blockscale.matmul %a, %b : !side_a, !side_b -> tensor<130x136xf32>
  return %0 : tensor<130x136xf32>
}

!floats_a = !blockscale.tensor<130x512xf8E4M3FN, "float32_t64n2m4">
!floats_b = !blockscale.tensor<136x512xf8E4M3FN, "float32_t128_t128">
func.func @float_tiles(%a: !floats_a, %b: !floats_b) -> tensor<130x136xf32> {
  %0 = blockscale.matmul %a, %b : !floats_a, !floats_b -> tensor<130x136xf32>
  return %0 : tensor<130x136xf32>
}

!beside_a = !blockscale.tensor<130x512xbf16, "n2m4", layout = tiled_128x4>
!beside_b = !blockscale.tensor<136x512xi4, "bfloat16_t32">
func.func @beside_float_tiles(%a: !beside_a, %b: !beside_b) -> tensor<130x136xf32> {
  %0 = blockscale.matmul %a, %b : !beside_a, !beside_b -> tensor<130x136xf32>
  return %0 : tensor<130x136xf32>
}
