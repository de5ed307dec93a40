// Groups along K of elements of 6 and 4 bits that are multiplied as bytes, on chips
// without tensor memory: they begin and end at multiples of 128, which are whole stages.

// REQUIRES: mlir
// RUN: blockscale verify %s --target=sm_120a --data=exact --num-sms=3 --k=128,640,1152 | FileCheck %s
// RUN: blockscale verify %s --target=sm_121a --num-sms=48 --k=1280 --seed=3 --conditions=harsh --completion=latest | FileCheck %s --check-prefix=ONCE

// CHECK-NOT: FAIL
// CHECK-COUNT-18: pass
// CHECK-NOT: {{FAIL|pass}}

// ONCE-NOT: FAIL
// ONCE-COUNT-12: pass
// ONCE-NOT: {{FAIL|pass}}

!e2m3_a = !blockscale.tensor<200x?xf6E2M3FN, "e8m0_t32", layout = grouped_128x4>
!e2m3_b = !blockscale.tensor<136x?xf6E2M3FN, "e8m0_t32", layout = grouped_128x4>
!e3m2_b = !blockscale.tensor<136x?xf6E3M2FN, "e8m0_t32", layout = grouped_128x4>
!e4m3_a = !blockscale.tensor<200x?xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
!e2m1_a = !blockscale.tensor<200x?xf4E2M1FN, "e8m0_t32", layout = grouped_128x4>
!e2m1_b = !blockscale.tensor<136x?xf4E2M1FN, "e8m0_t32", layout = grouped_128x4>
func.func @mxfp6(%a: !e2m3_a, %b: !e2m3_b, %ends: tensor<5xi32>) -> tensor<5x200x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<5xi32>) schedule(#blockscale.schedule<swap_operands = false, tile_n = 64>) : !e2m3_a, !e2m3_b -> tensor<5x200x136xf32>
  return %0 : tensor<5x200x136xf32>
}

func.func @mxfp6_swapped(%a: !e2m3_a, %b: !e3m2_b, %ends: tensor<5xi32>, %bias: tensor<5x136xf32>) -> tensor<5x200x136xbf16> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<5xi32>) bias(%bias) schedule(#blockscale.schedule<swap_operands = true, tile_n = 32>) : !e2m3_a, !e3m2_b, tensor<5x136xf32> -> tensor<5x200x136xbf16>
  return %0 : tensor<5x200x136xbf16>
}

func.func @mxfp8_mxfp4(%a: !e4m3_a, %b: !e2m1_b, %ends: tensor<4xi32>) -> tensor<4x200x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) : !e4m3_a, !e2m1_b -> tensor<4x200x136xf32>
  return %0 : tensor<4x200x136xf32>
}

func.func @mxfp4_mxfp6(%a: !e2m1_a, %b: !e3m2_b, %ends: tensor<?xi32>, %alpha: f32, %c: tensor<?x200x136xbf16>, %beta: f32) -> tensor<?x200x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<?xi32>) alpha(%alpha) beta(%beta) c(%c) : !e2m1_a, !e3m2_b, tensor<?x200x136xbf16> -> tensor<?x200x136xf32>
  return %0 : tensor<?x200x136xf32>
}

!plain_a = !blockscale.tensor<200x?xf6E3M2FN>
!plain_b = !blockscale.tensor<136x?xf4E2M1FN>
func.func @unscaled(%a: !plain_a, %b: !plain_b, %ends: tensor<5xi32>) -> tensor<5x200x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<5xi32>) : !plain_a, !plain_b -> tensor<5x200x136xf32>
  return %0 : tensor<5x200x136xf32>
}

!rows_a = !blockscale.tensor<200x?xf8E5M2, "float32_t0", layout = grouped>
!rows_b = !blockscale.tensor<136x?xf6E2M3FN, "bfloat16_t0", layout = grouped>
func.func @factors(%a: !rows_a, %b: !rows_b, %ends: tensor<4xi32>) -> tensor<4x200x136xf16> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) : !rows_a, !rows_b -> tensor<4x200x136xf16>
  return %0 : tensor<4x200x136xf16>
}
