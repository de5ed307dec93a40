// Groups along K under scales of longer tiles or of more rows than instructions have one
// for, which the host repeats for each group, and under scales of one side alone. Groups
// begin and end with whole tiles.

// REQUIRES: mlir
// RUN: blockscale verify %s --data=exact --num-sms=4 --k=256,1152 | FileCheck %s
// RUN: blockscale verify %s --num-sms=148 --k=1280 --seed=3 --conditions=harsh --completion=latest --target=sm_103a | FileCheck %s --check-prefix=ONCE
// RUN: blockscale verify %s --num-sms=5 --k=1152 --seed=4 --target=sm_107a | FileCheck %s --check-prefix=ONCE
// RUN: blockscale verify %s --num-sms=7 --k=1152 --seed=5 --target=sm_120a | FileCheck %s --check-prefix=ONCE

// CHECK-NOT: FAIL
// CHECK-COUNT-14: pass
// CHECK-NOT: {{FAIL|pass}}

// ONCE-NOT: FAIL
// ONCE-COUNT-14: pass
// ONCE-NOT: {{FAIL|pass}}

!long_a = !blockscale.tensor<200x?xf8E4M3FN, "e8m0_t64", layout = grouped_128x4>
!long_b = !blockscale.tensor<136x?xf8E5M2, "e8m0_t64", layout = grouped_128x4>
func.func @long(%a: !long_a, %b: !long_b, %ends: tensor<5xi32>) -> tensor<5x200x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<5xi32>) : !long_a, !long_b -> tensor<5x200x136xf32>
  return %0 : tensor<5x200x136xf32>
}

!square_a = !blockscale.tensor<200x?xf8E4M3FN, "e8m0_t32_t32", layout = grouped_128x4>
!longest_b = !blockscale.tensor<136x?xf4E2M1FN, "e8m0_t128_t128", layout = grouped_128x4>
func.func @squares(%a: !square_a, %b: !longest_b, %ends: tensor<5xi32>, %bias: tensor<5x136xf32>) -> tensor<5x200x136xbf16> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<5xi32>) bias(%bias) : !square_a, !longest_b, tensor<5x136xf32> -> tensor<5x200x136xbf16>
  return %0 : tensor<5x200x136xbf16>
}

!nvfp4_a = !blockscale.tensor<200x?xf4E2M1FN, "multi_float32_e4m3fn_t16_t16", layout = grouped_128x4>
!nvfp4_b = !blockscale.tensor<136x?xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = grouped_128x4>
func.func @nvfp4(%a: !nvfp4_a, %b: !nvfp4_b, %ends: tensor<4xi32>) -> tensor<4x200x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) : !nvfp4_a, !nvfp4_b -> tensor<4x200x136xf32>
  return %0 : tensor<4x200x136xf32>
}

// One side has scales of 1.
!mxfp8_a = !blockscale.tensor<200x?xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
!plain_b = !blockscale.tensor<136x?xf8E4M3FN>
func.func @of_a(%a: !mxfp8_a, %b: !plain_b, %ends: tensor<5xi32>) -> tensor<5x200x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<5xi32>) : !mxfp8_a, !plain_b -> tensor<5x200x136xf32>
  return %0 : tensor<5x200x136xf32>
}

!plain_a = !blockscale.tensor<200x?xf6E2M3FN>
func.func @of_b(%a: !plain_a, %b: !longest_b, %ends: tensor<5xi32>) -> tensor<5x200x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<5xi32>) : !plain_a, !longest_b -> tensor<5x200x136xf32>
  return %0 : tensor<5x200x136xf32>
}

!factors_a = !blockscale.tensor<200x?xf8E4M3FN, "float32_t0", layout = grouped>
!mxfp8_b = !blockscale.tensor<136x?xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
func.func @beside_factors(%a: !factors_a, %b: !mxfp8_b, %ends: tensor<4xi32>, %alpha: f32) -> tensor<4x200x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) alpha(%alpha) : !factors_a, !mxfp8_b -> tensor<4x200x136xf32>
  return %0 : tensor<4x200x136xf32>
}

// Tiles of two lengths, which instructions take as the shorter one.
!two_a = !blockscale.tensor<200x?xf4E2M1FN, "e8m0_t16", layout = grouped_128x4>
!two_b = !blockscale.tensor<136x?xf4E2M1FN, "e8m0_t32", layout = grouped_128x4>
func.func @two(%a: !two_a, %b: !two_b, %ends: tensor<5xi32>) -> tensor<5x200x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<5xi32>) : !two_a, !two_b -> tensor<5x200x136xf32>
  return %0 : tensor<5x200x136xf32>
}
