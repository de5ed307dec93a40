// What follows the sum, and the types of the result.

// REQUIRES: mlir
// RUN: blockscale verify %s --num-sms=3 --completion=random | FileCheck %s
// RUN: blockscale verify %s --target=sm_120a --num-sms=3 --completion=random | FileCheck %s

// CHECK-NOT: FAIL
// CHECK-COUNT-22: pass
// CHECK-NOT: {{FAIL|pass}}

!bf16_a = !blockscale.tensor<130x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!bf16_b = !blockscale.tensor<136x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @bf16(%a: !bf16_a, %b: !bf16_b) -> tensor<130x136xbf16> {
  %0 = blockscale.matmul %a, %b : !bf16_a, !bf16_b -> tensor<130x136xbf16>
  return %0 : tensor<130x136xbf16>
}

!f16_a = !blockscale.tensor<130x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!f16_b = !blockscale.tensor<136x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @f16(%a: !f16_a, %b: !f16_b) -> tensor<130x136xf16> {
  %0 = blockscale.matmul %a, %b : !f16_a, !f16_b -> tensor<130x136xf16>
  return %0 : tensor<130x136xf16>
}

!alpha_a = !blockscale.tensor<130x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!alpha_b = !blockscale.tensor<136x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @alpha(%a: !alpha_a, %b: !alpha_b, %s: f32) -> tensor<130x136xf32> {
  %0 = blockscale.matmul %a, %b alpha(%s) : !alpha_a, !alpha_b -> tensor<130x136xf32>
  return %0 : tensor<130x136xf32>
}

!bias_a = !blockscale.tensor<130x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!bias_b = !blockscale.tensor<136x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @bias(%a: !bias_a, %b: !bias_b, %v: tensor<136xf32>) -> tensor<130x136xf32> {
  %0 = blockscale.matmul %a, %b bias(%v) : !bias_a, !bias_b, tensor<136xf32> -> tensor<130x136xf32>
  return %0 : tensor<130x136xf32>
}

!bias_bf16_a = !blockscale.tensor<130x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!bias_bf16_b = !blockscale.tensor<136x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @bias_bf16(%a: !bias_bf16_a, %b: !bias_bf16_b, %v: tensor<136xbf16>) -> tensor<130x136xbf16> {
  %0 = blockscale.matmul %a, %b bias(%v) : !bias_bf16_a, !bias_bf16_b, tensor<136xbf16> -> tensor<130x136xbf16>
  return %0 : tensor<130x136xbf16>
}

!bias_row_a = !blockscale.tensor<130x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!bias_row_b = !blockscale.tensor<136x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @bias_row(%a: !bias_row_a, %b: !bias_row_b, %v: tensor<130xf32>) -> tensor<130x136xf32> {
  %0 = blockscale.matmul %a, %b bias(%v) row : !bias_row_a, !bias_row_b, tensor<130xf32> -> tensor<130x136xf32>
  return %0 : tensor<130x136xf32>
}

!beta_a = !blockscale.tensor<130x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!beta_b = !blockscale.tensor<136x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @beta(%a: !beta_a, %b: !beta_b, %s: f32, %c: tensor<130x136xf32>) -> tensor<130x136xf32> {
  %0 = blockscale.matmul %a, %b beta(%s) c(%c) : !beta_a, !beta_b, tensor<130x136xf32> -> tensor<130x136xf32>
  return %0 : tensor<130x136xf32>
}

!plain_c_a = !blockscale.tensor<130x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!plain_c_b = !blockscale.tensor<136x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @plain_c(%a: !plain_c_a, %b: !plain_c_b, %c: tensor<130x136xf32>) -> tensor<130x136xf32> {
  %0 = blockscale.matmul %a, %b c(%c) : !plain_c_a, !plain_c_b, tensor<130x136xf32> -> tensor<130x136xf32>
  return %0 : tensor<130x136xf32>
}

!relu_a = !blockscale.tensor<130x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!relu_b = !blockscale.tensor<136x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @relu(%a: !relu_a, %b: !relu_b) -> tensor<130x136xf32> {
  %0 = blockscale.matmul %a, %b activation(relu) : !relu_a, !relu_b -> tensor<130x136xf32>
  return %0 : tensor<130x136xf32>
}

!all_a = !blockscale.tensor<130x256xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!all_b = !blockscale.tensor<136x256xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
func.func @all(%a: !all_a, %b: !all_b, %s: f32, %t: f32, %c: tensor<130x136xbf16>, %v: tensor<136xf32>) -> tensor<130x136xbf16> {
  %0 = blockscale.matmul %a, %b alpha(%s) beta(%t) c(%c) bias(%v) activation(relu) : !all_a, !all_b, tensor<130x136xbf16>, tensor<136xf32> -> tensor<130x136xbf16>
  return %0 : tensor<130x136xbf16>
}

// An odd number of rows in the columns of the accumulator: of the last pair of
// registers one is never written.
!odd_a = !blockscale.tensor<17x320xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!odd_b = !blockscale.tensor<300x320xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @odd(%a: !odd_a, %b: !odd_b) -> tensor<17x300xbf16> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = true, tile_n = 32>) : !odd_a, !odd_b -> tensor<17x300xbf16>
  return %0 : tensor<17x300xbf16>
}
