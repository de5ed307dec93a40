// Scales that instructions read, but not beside what the other operand is: powers of two and
// e4m3 beside elements of 16 bits (gpt-oss's bf16 activations by MXFP4 weights), e4m3 beside
// FP8 and FP6 (NVFP4 weights), powers of two beside MXINT8, int8 and tiles of 16, all of
// which are stored in 16 bits, tiles of 16 of e2m1 beside FP8 and FP6, and either beside the
// other (MXFP8 activations by NVFP4 weights). Sums of tiles are multiplied by them in registers: tiles of
// 16, 32 and more, of several rows, under tensor scales, batches, groups of rows.

// REQUIRES: mlir
// RUN: blockscale verify %s --num-sms=3 --m=70 | FileCheck %s
// RUN: blockscale verify %s --num-sms=3 --m=33 --data=random --seed=3 --completion=latest --target=sm_103a | FileCheck %s --check-prefix=ONCE
// RUN: blockscale verify %s --num-sms=3 --m=70 --data=exact --seed=5 --completion=random --target=sm_120a | FileCheck %s --check-prefix=ONCE

// CHECK-NOT: FAIL
// CHECK-COUNT-30: pass
// CHECK-NOT: {{FAIL|pass}}

// ONCE-NOT: FAIL
// ONCE-COUNT-15: pass
// ONCE-NOT: {{FAIL|pass}}

!x = !blockscale.tensor<?x352xbf16>
!mxfp4 = !blockscale.tensor<136x352xf4E2M1FN, "e8m0_t32">
func.func @w4a16(%a: !x, %b: !mxfp4) -> tensor<?x136xbf16> {
  %0 = blockscale.matmul %a, %b : !x, !mxfp4 -> tensor<?x136xbf16>
  return %0 : tensor<?x136xbf16>
}

!nvfp4 = !blockscale.tensor<136x352xf4E2M1FN, "multi_float32_e4m3fn_t16">
func.func @nvfp4(%a: !x, %b: !nvfp4) -> tensor<?x136xf32> {
  %0 = blockscale.matmul %a, %b : !x, !nvfp4 -> tensor<?x136xf32>
  return %0 : tensor<?x136xf32>
}

!fp8 = !blockscale.tensor<?x352xf8E4M3FN, "float32">
!square = !blockscale.tensor<136x352xf4E2M1FN, "multi_float32_e4m3_t16_t16">
func.func @beside_fp8(%a: !fp8, %b: !square) -> tensor<?x136xf32> {
  %0 = blockscale.matmul %a, %b : !fp8, !square -> tensor<?x136xf32>
  return %0 : tensor<?x136xf32>
}

!mxfp8 = !blockscale.tensor<2x37x256xf8E5M2, "e8m0_t128">
!half = !blockscale.tensor<2x136x256xf16>
func.func @mxfp8(%a: !mxfp8, %b: !half, %bias: tensor<136xf32>) -> tensor<2x37x136xbf16> {
  %0 = blockscale.matmul %a, %b bias(%bias) activation(relu) schedule(#blockscale.schedule<swap_operands = true>) : !mxfp8, !half, tensor<136xf32> -> tensor<2x37x136xbf16>
  return %0 : tensor<2x37x136xbf16>
}

!mxint4 = !blockscale.tensor<136x352xi4, "e8m0_t32_t32">
func.func @mxint4(%a: !x, %b: !mxint4) -> tensor<?x136xf32> {
  %0 = blockscale.matmul %a, %b : !x, !mxint4 -> tensor<?x136xf32>
  return %0 : tensor<?x136xf32>
}

!e4m3 = !blockscale.tensor<?x352xf6E2M3FN, "e4m3_t32">
func.func @scales_of_both(%a: !e4m3, %b: !nvfp4) -> tensor<?x136xf32> {
  %0 = blockscale.matmul %a, %b : !e4m3, !nvfp4 -> tensor<?x136xf32>
  return %0 : tensor<?x136xf32>
}

!experts = !blockscale.tensor<3x136x352xf4E2M1FN, "e8m0_t32">
func.func @experts(%a: !x, %b: !experts, %ends: tensor<3xi32>) -> tensor<?x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<3xi32>) : !x, !experts -> tensor<?x136xf32>
  return %0 : tensor<?x136xf32>
}

!mxint8 = !blockscale.tensor<?x352xi8, "e8m0_t32">
!plain_mxfp8 = !blockscale.tensor<136x352xf8E4M3FN, "e8m0_t32">
func.func @beside_mxint8(%a: !mxint8, %b: !plain_mxfp8) -> tensor<?x136xf32> {
  %0 = blockscale.matmul %a, %b : !mxint8, !plain_mxfp8 -> tensor<?x136xf32>
  return %0 : tensor<?x136xf32>
}

!int8 = !blockscale.tensor<?x352xi8, "float32_t0">
func.func @beside_int8(%a: !int8, %b: !mxfp4) -> tensor<?x136xf32> {
  %0 = blockscale.matmul %a, %b : !int8, !mxfp4 -> tensor<?x136xf32>
  return %0 : tensor<?x136xf32>
}

!sixteens = !blockscale.tensor<?x352xf8E5M2, "e8m0_t16">
func.func @beside_sixteens(%a: !sixteens, %b: !plain_mxfp8) -> tensor<?x136xf32> {
  %0 = blockscale.matmul %a, %b : !sixteens, !plain_mxfp8 -> tensor<?x136xf32>
  return %0 : tensor<?x136xf32>
}

!mxfp8_rows = !blockscale.tensor<?x352xf8E4M3FN, "e8m0_t32">
func.func @mxfp8_by_nvfp4(%a: !mxfp8_rows, %b: !nvfp4) -> tensor<?x136xf32> {
  %0 = blockscale.matmul %a, %b : !mxfp8_rows, !nvfp4 -> tensor<?x136xf32>
  return %0 : tensor<?x136xf32>
}

!mxfp4_rows = !blockscale.tensor<?x352xf4E2M1FN, "e8m0_t32">
func.func @mxfp4_by_nvfp4(%a: !mxfp4_rows, %b: !nvfp4) -> tensor<?x136xf32> {
  %0 = blockscale.matmul %a, %b : !mxfp4_rows, !nvfp4 -> tensor<?x136xf32>
  return %0 : tensor<?x136xf32>
}

// Tiles as long as those of instructions: one side's scales are read by these.
!mxfp6_read = !blockscale.tensor<?x448xf6E3M2FN, "e8m0_t32", layout = tiled_128x4>
!fractions = !blockscale.tensor<136x448xf4E2M1FN, "multi_float32_e4m3_t64">
func.func @mxfp6_by_fractions(%a: !mxfp6_read, %b: !fractions) -> tensor<?x136xf32> {
  %0 = blockscale.matmul %a, %b : !mxfp6_read, !fractions -> tensor<?x136xf32>
  return %0 : tensor<?x136xf32>
}

!fp4_sixteens = !blockscale.tensor<?x352xf4E2M1FN, "e8m0_t16">
!mxfp6 = !blockscale.tensor<136x352xf6E2M3FN, "e8m0_t32_t32">
func.func @short_by_mxfp6(%a: !fp4_sixteens, %b: !mxfp6) -> tensor<?x136xf32> {
  %0 = blockscale.matmul %a, %b : !fp4_sixteens, !mxfp6 -> tensor<?x136xf32>
  return %0 : tensor<?x136xf32>
}

!int4 = !blockscale.tensor<?x352xi4, "float32_t0">
func.func @int4_by_nvfp4(%a: !int4, %b: !nvfp4) -> tensor<?x136xf32> {
  %0 = blockscale.matmul %a, %b : !int4, !nvfp4 -> tensor<?x136xf32>
  return %0 : tensor<?x136xf32>
}
