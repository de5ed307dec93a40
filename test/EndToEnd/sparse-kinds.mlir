// A structured-sparse A of every kind and every mix of element types, with tails
// of M, N and K: exact data bit for bit, random data within the tight bound.

// REQUIRES: mlir
// RUN: blockscale verify %s --num-sms=4 | FileCheck %s

// CHECK-NOT: FAIL
// CHECK-COUNT-62: pass
// CHECK-NOT: {{FAIL|pass}}

!e4m3_e4m3_a = !blockscale.tensor<130x320xf8E4M3FN, "e8m0_t32n2m4", layout = tiled_128x4>
!e4m3_e4m3_b = !blockscale.tensor<136x320xf8E4M3FN, "e8m0_t64", layout = tiled_128x4>
func.func @e4m3_e4m3(%a: !e4m3_e4m3_a, %b: !e4m3_e4m3_b) -> tensor<130x136xf32> {
  %0 = blockscale.matmul %a, %b : !e4m3_e4m3_a, !e4m3_e4m3_b -> tensor<130x136xf32>
  return %0 : tensor<130x136xf32>
}

!e4m3_e5m2_a = !blockscale.tensor<130x320xf8E4M3FN, "e8m0_t32n2m4", layout = tiled_128x4>
!e4m3_e5m2_b = !blockscale.tensor<136x320xf8E5M2, "e8m0_t64", layout = tiled_128x4>
func.func @e4m3_e5m2(%a: !e4m3_e5m2_a, %b: !e4m3_e5m2_b) -> tensor<130x136xf32> {
  %0 = blockscale.matmul %a, %b : !e4m3_e5m2_a, !e4m3_e5m2_b -> tensor<130x136xf32>
  return %0 : tensor<130x136xf32>
}

!e4m3_e2m3_a = !blockscale.tensor<130x320xf8E4M3FN, "e8m0_t32n2m4", layout = tiled_128x4>
!e4m3_e2m3_b = !blockscale.tensor<136x320xf6E2M3FN, "e8m0_t64", layout = tiled_128x4>
func.func @e4m3_e2m3(%a: !e4m3_e2m3_a, %b: !e4m3_e2m3_b) -> tensor<130x136xf32> {
  %0 = blockscale.matmul %a, %b : !e4m3_e2m3_a, !e4m3_e2m3_b -> tensor<130x136xf32>
  return %0 : tensor<130x136xf32>
}

!e4m3_e3m2_a = !blockscale.tensor<130x320xf8E4M3FN, "e8m0_t32n2m4", layout = tiled_128x4>
!e4m3_e3m2_b = !blockscale.tensor<136x320xf6E3M2FN, "e8m0_t64", layout = tiled_128x4>
func.func @e4m3_e3m2(%a: !e4m3_e3m2_a, %b: !e4m3_e3m2_b) -> tensor<130x136xf32> {
  %0 = blockscale.matmul %a, %b : !e4m3_e3m2_a, !e4m3_e3m2_b -> tensor<130x136xf32>
  return %0 : tensor<130x136xf32>
}

!e4m3_e2m1_a = !blockscale.tensor<130x320xf8E4M3FN, "e8m0_t32n2m4", layout = tiled_128x4>
!e4m3_e2m1_b = !blockscale.tensor<136x320xf4E2M1FN, "e8m0_t64", layout = tiled_128x4>
func.func @e4m3_e2m1(%a: !e4m3_e2m1_a, %b: !e4m3_e2m1_b) -> tensor<130x136xf32> {
  %0 = blockscale.matmul %a, %b : !e4m3_e2m1_a, !e4m3_e2m1_b -> tensor<130x136xf32>
  return %0 : tensor<130x136xf32>
}

!e5m2_e4m3_a = !blockscale.tensor<130x320xf8E5M2, "e8m0_t32n2m4", layout = tiled_128x4>
!e5m2_e4m3_b = !blockscale.tensor<136x320xf8E4M3FN, "e8m0_t64", layout = tiled_128x4>
func.func @e5m2_e4m3(%a: !e5m2_e4m3_a, %b: !e5m2_e4m3_b) -> tensor<130x136xf32> {
  %0 = blockscale.matmul %a, %b : !e5m2_e4m3_a, !e5m2_e4m3_b -> tensor<130x136xf32>
  return %0 : tensor<130x136xf32>
}

!e5m2_e5m2_a = !blockscale.tensor<130x320xf8E5M2, "e8m0_t32n2m4", layout = tiled_128x4>
!e5m2_e5m2_b = !blockscale.tensor<136x320xf8E5M2, "e8m0_t64", layout = tiled_128x4>
func.func @e5m2_e5m2(%a: !e5m2_e5m2_a, %b: !e5m2_e5m2_b) -> tensor<130x136xf32> {
  %0 = blockscale.matmul %a, %b : !e5m2_e5m2_a, !e5m2_e5m2_b -> tensor<130x136xf32>
  return %0 : tensor<130x136xf32>
}

!e5m2_e2m3_a = !blockscale.tensor<130x320xf8E5M2, "e8m0_t32n2m4", layout = tiled_128x4>
!e5m2_e2m3_b = !blockscale.tensor<136x320xf6E2M3FN, "e8m0_t64", layout = tiled_128x4>
func.func @e5m2_e2m3(%a: !e5m2_e2m3_a, %b: !e5m2_e2m3_b) -> tensor<130x136xf32> {
  %0 = blockscale.matmul %a, %b : !e5m2_e2m3_a, !e5m2_e2m3_b -> tensor<130x136xf32>
  return %0 : tensor<130x136xf32>
}

!e5m2_e3m2_a = !blockscale.tensor<130x320xf8E5M2, "e8m0_t32n2m4", layout = tiled_128x4>
!e5m2_e3m2_b = !blockscale.tensor<136x320xf6E3M2FN, "e8m0_t64", layout = tiled_128x4>
func.func @e5m2_e3m2(%a: !e5m2_e3m2_a, %b: !e5m2_e3m2_b) -> tensor<130x136xf32> {
  %0 = blockscale.matmul %a, %b : !e5m2_e3m2_a, !e5m2_e3m2_b -> tensor<130x136xf32>
  return %0 : tensor<130x136xf32>
}

!e5m2_e2m1_a = !blockscale.tensor<130x320xf8E5M2, "e8m0_t32n2m4", layout = tiled_128x4>
!e5m2_e2m1_b = !blockscale.tensor<136x320xf4E2M1FN, "e8m0_t64", layout = tiled_128x4>
func.func @e5m2_e2m1(%a: !e5m2_e2m1_a, %b: !e5m2_e2m1_b) -> tensor<130x136xf32> {
  %0 = blockscale.matmul %a, %b : !e5m2_e2m1_a, !e5m2_e2m1_b -> tensor<130x136xf32>
  return %0 : tensor<130x136xf32>
}

!e2m3_e4m3_a = !blockscale.tensor<130x320xf6E2M3FN, "e8m0_t32n2m4", layout = tiled_128x4>
!e2m3_e4m3_b = !blockscale.tensor<136x320xf8E4M3FN, "e8m0_t64", layout = tiled_128x4>
func.func @e2m3_e4m3(%a: !e2m3_e4m3_a, %b: !e2m3_e4m3_b) -> tensor<130x136xf32> {
  %0 = blockscale.matmul %a, %b : !e2m3_e4m3_a, !e2m3_e4m3_b -> tensor<130x136xf32>
  return %0 : tensor<130x136xf32>
}

!e2m3_e5m2_a = !blockscale.tensor<130x320xf6E2M3FN, "e8m0_t32n2m4", layout = tiled_128x4>
!e2m3_e5m2_b = !blockscale.tensor<136x320xf8E5M2, "e8m0_t64", layout = tiled_128x4>
func.func @e2m3_e5m2(%a: !e2m3_e5m2_a, %b: !e2m3_e5m2_b) -> tensor<130x136xf32> {
  %0 = blockscale.matmul %a, %b : !e2m3_e5m2_a, !e2m3_e5m2_b -> tensor<130x136xf32>
  return %0 : tensor<130x136xf32>
}

!e2m3_e2m3_a = !blockscale.tensor<130x320xf6E2M3FN, "e8m0_t32n2m4", layout = tiled_128x4>
!e2m3_e2m3_b = !blockscale.tensor<136x320xf6E2M3FN, "e8m0_t64", layout = tiled_128x4>
func.func @e2m3_e2m3(%a: !e2m3_e2m3_a, %b: !e2m3_e2m3_b) -> tensor<130x136xf32> {
  %0 = blockscale.matmul %a, %b : !e2m3_e2m3_a, !e2m3_e2m3_b -> tensor<130x136xf32>
  return %0 : tensor<130x136xf32>
}

!e2m3_e3m2_a = !blockscale.tensor<130x320xf6E2M3FN, "e8m0_t32n2m4", layout = tiled_128x4>
!e2m3_e3m2_b = !blockscale.tensor<136x320xf6E3M2FN, "e8m0_t64", layout = tiled_128x4>
func.func @e2m3_e3m2(%a: !e2m3_e3m2_a, %b: !e2m3_e3m2_b) -> tensor<130x136xf32> {
  %0 = blockscale.matmul %a, %b : !e2m3_e3m2_a, !e2m3_e3m2_b -> tensor<130x136xf32>
  return %0 : tensor<130x136xf32>
}

!e2m3_e2m1_a = !blockscale.tensor<130x320xf6E2M3FN, "e8m0_t32n2m4", layout = tiled_128x4>
!e2m3_e2m1_b = !blockscale.tensor<136x320xf4E2M1FN, "e8m0_t64", layout = tiled_128x4>
func.func @e2m3_e2m1(%a: !e2m3_e2m1_a, %b: !e2m3_e2m1_b) -> tensor<130x136xf32> {
  %0 = blockscale.matmul %a, %b : !e2m3_e2m1_a, !e2m3_e2m1_b -> tensor<130x136xf32>
  return %0 : tensor<130x136xf32>
}

!e3m2_e4m3_a = !blockscale.tensor<130x320xf6E3M2FN, "e8m0_t32n2m4", layout = tiled_128x4>
!e3m2_e4m3_b = !blockscale.tensor<136x320xf8E4M3FN, "e8m0_t64", layout = tiled_128x4>
func.func @e3m2_e4m3(%a: !e3m2_e4m3_a, %b: !e3m2_e4m3_b) -> tensor<130x136xf32> {
  %0 = blockscale.matmul %a, %b : !e3m2_e4m3_a, !e3m2_e4m3_b -> tensor<130x136xf32>
  return %0 : tensor<130x136xf32>
}

!e3m2_e5m2_a = !blockscale.tensor<130x320xf6E3M2FN, "e8m0_t32n2m4", layout = tiled_128x4>
!e3m2_e5m2_b = !blockscale.tensor<136x320xf8E5M2, "e8m0_t64", layout = tiled_128x4>
func.func @e3m2_e5m2(%a: !e3m2_e5m2_a, %b: !e3m2_e5m2_b) -> tensor<130x136xf32> {
  %0 = blockscale.matmul %a, %b : !e3m2_e5m2_a, !e3m2_e5m2_b -> tensor<130x136xf32>
  return %0 : tensor<130x136xf32>
}

!e3m2_e2m3_a = !blockscale.tensor<130x320xf6E3M2FN, "e8m0_t32n2m4", layout = tiled_128x4>
!e3m2_e2m3_b = !blockscale.tensor<136x320xf6E2M3FN, "e8m0_t64", layout = tiled_128x4>
func.func @e3m2_e2m3(%a: !e3m2_e2m3_a, %b: !e3m2_e2m3_b) -> tensor<130x136xf32> {
  %0 = blockscale.matmul %a, %b : !e3m2_e2m3_a, !e3m2_e2m3_b -> tensor<130x136xf32>
  return %0 : tensor<130x136xf32>
}

!e3m2_e3m2_a = !blockscale.tensor<130x320xf6E3M2FN, "e8m0_t32n2m4", layout = tiled_128x4>
!e3m2_e3m2_b = !blockscale.tensor<136x320xf6E3M2FN, "e8m0_t64", layout = tiled_128x4>
func.func @e3m2_e3m2(%a: !e3m2_e3m2_a, %b: !e3m2_e3m2_b) -> tensor<130x136xf32> {
  %0 = blockscale.matmul %a, %b : !e3m2_e3m2_a, !e3m2_e3m2_b -> tensor<130x136xf32>
  return %0 : tensor<130x136xf32>
}

!e3m2_e2m1_a = !blockscale.tensor<130x320xf6E3M2FN, "e8m0_t32n2m4", layout = tiled_128x4>
!e3m2_e2m1_b = !blockscale.tensor<136x320xf4E2M1FN, "e8m0_t64", layout = tiled_128x4>
func.func @e3m2_e2m1(%a: !e3m2_e2m1_a, %b: !e3m2_e2m1_b) -> tensor<130x136xf32> {
  %0 = blockscale.matmul %a, %b : !e3m2_e2m1_a, !e3m2_e2m1_b -> tensor<130x136xf32>
  return %0 : tensor<130x136xf32>
}

!e2m1_e4m3_a = !blockscale.tensor<130x320xf4E2M1FN, "e8m0_t32n2m4", layout = tiled_128x4>
!e2m1_e4m3_b = !blockscale.tensor<136x320xf8E4M3FN, "e8m0_t64", layout = tiled_128x4>
func.func @e2m1_e4m3(%a: !e2m1_e4m3_a, %b: !e2m1_e4m3_b) -> tensor<130x136xf32> {
  %0 = blockscale.matmul %a, %b : !e2m1_e4m3_a, !e2m1_e4m3_b -> tensor<130x136xf32>
  return %0 : tensor<130x136xf32>
}

!e2m1_e5m2_a = !blockscale.tensor<130x320xf4E2M1FN, "e8m0_t32n2m4", layout = tiled_128x4>
!e2m1_e5m2_b = !blockscale.tensor<136x320xf8E5M2, "e8m0_t64", layout = tiled_128x4>
func.func @e2m1_e5m2(%a: !e2m1_e5m2_a, %b: !e2m1_e5m2_b) -> tensor<130x136xf32> {
  %0 = blockscale.matmul %a, %b : !e2m1_e5m2_a, !e2m1_e5m2_b -> tensor<130x136xf32>
  return %0 : tensor<130x136xf32>
}

!e2m1_e2m3_a = !blockscale.tensor<130x320xf4E2M1FN, "e8m0_t32n2m4", layout = tiled_128x4>
!e2m1_e2m3_b = !blockscale.tensor<136x320xf6E2M3FN, "e8m0_t64", layout = tiled_128x4>
func.func @e2m1_e2m3(%a: !e2m1_e2m3_a, %b: !e2m1_e2m3_b) -> tensor<130x136xf32> {
  %0 = blockscale.matmul %a, %b : !e2m1_e2m3_a, !e2m1_e2m3_b -> tensor<130x136xf32>
  return %0 : tensor<130x136xf32>
}

!e2m1_e3m2_a = !blockscale.tensor<130x320xf4E2M1FN, "e8m0_t32n2m4", layout = tiled_128x4>
!e2m1_e3m2_b = !blockscale.tensor<136x320xf6E3M2FN, "e8m0_t64", layout = tiled_128x4>
func.func @e2m1_e3m2(%a: !e2m1_e3m2_a, %b: !e2m1_e3m2_b) -> tensor<130x136xf32> {
  %0 = blockscale.matmul %a, %b : !e2m1_e3m2_a, !e2m1_e3m2_b -> tensor<130x136xf32>
  return %0 : tensor<130x136xf32>
}

!e2m1_e2m1_a = !blockscale.tensor<130x320xf4E2M1FN, "e8m0_t32n2m4", layout = tiled_128x4>
!e2m1_e2m1_b = !blockscale.tensor<136x320xf4E2M1FN, "e8m0_t64", layout = tiled_128x4>
func.func @e2m1_e2m1(%a: !e2m1_e2m1_a, %b: !e2m1_e2m1_b) -> tensor<130x136xf32> {
  %0 = blockscale.matmul %a, %b mma(<kind = mxf8f6f4, a = e2m1, b = e2m1, scale = ue8m0, block = 32>) : !e2m1_e2m1_a, !e2m1_e2m1_b -> tensor<130x136xf32>
  return %0 : tensor<130x136xf32>
}

!mxf4_a = !blockscale.tensor<130x320xf4E2M1FN, "e8m0_t32n4m8", layout = tiled_128x4>
!mxf4_b = !blockscale.tensor<136x320xf4E2M1FN, "e8m0_t64", layout = tiled_128x4>
func.func @mxf4(%a: !mxf4_a, %b: !mxf4_b) -> tensor<130x136xf32> {
  %0 = blockscale.matmul %a, %b : !mxf4_a, !mxf4_b -> tensor<130x136xf32>
  return %0 : tensor<130x136xf32>
}

!e2m1_mxf4nvf4_a = !blockscale.tensor<130x320xf4E2M1FN, "e8m0_t32n4m8", layout = tiled_128x4>
!e2m1_mxf4nvf4_b = !blockscale.tensor<136x320xf4E2M1FN, "e8m0_t64", layout = tiled_128x4>
func.func @e2m1_mxf4nvf4(%a: !e2m1_mxf4nvf4_a, %b: !e2m1_mxf4nvf4_b) -> tensor<130x136xf32> {
  %0 = blockscale.matmul %a, %b mma(<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue8m0, block = 32>) : !e2m1_mxf4nvf4_a, !e2m1_mxf4nvf4_b -> tensor<130x136xf32>
  return %0 : tensor<130x136xf32>
}

!e2m1_t16_a = !blockscale.tensor<130x352xf4E2M1FN, "e8m0_t16n4m8", layout = tiled_128x4>
!e2m1_t16_b = !blockscale.tensor<136x352xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
func.func @e2m1_t16(%a: !e2m1_t16_a, %b: !e2m1_t16_b) -> tensor<130x136xf32> {
  %0 = blockscale.matmul %a, %b : !e2m1_t16_a, !e2m1_t16_b -> tensor<130x136xf32>
  return %0 : tensor<130x136xf32>
}

!nvfp4_a = !blockscale.tensor<130x352xf4E2M1FN, "e4m3fn_t16n4m8", layout = tiled_128x4>
!nvfp4_b = !blockscale.tensor<136x352xf4E2M1FN, "e4m3fn_t32", layout = tiled_128x4>
func.func @nvfp4(%a: !nvfp4_a, %b: !nvfp4_b) -> tensor<130x136xf32> {
  %0 = blockscale.matmul %a, %b : !nvfp4_a, !nvfp4_b -> tensor<130x136xf32>
  return %0 : tensor<130x136xf32>
}

!nvfp4_two_level_a = !blockscale.tensor<130x352xf4E2M1FN, "multi_float32_e4m3fn_t16n4m8", layout = tiled_128x4>
!nvfp4_two_level_b = !blockscale.tensor<136x352xf4E2M1FN, "multi_float32_e4m3fn_t32", layout = tiled_128x4>
func.func @nvfp4_two_level(%a: !nvfp4_two_level_a, %b: !nvfp4_two_level_b) -> tensor<130x136xf32> {
  %0 = blockscale.matmul %a, %b : !nvfp4_two_level_a, !nvfp4_two_level_b -> tensor<130x136xf32>
  return %0 : tensor<130x136xf32>
}

!one_of_two_a = !blockscale.tensor<130x320xf8E4M3FN, "e8m0_t32n1m2", layout = tiled_128x4>
!one_of_two_b = !blockscale.tensor<136x320xf8E5M2, "e8m0_t64", layout = tiled_128x4>
func.func @one_of_two(%a: !one_of_two_a, %b: !one_of_two_b) -> tensor<130x136xf32> {
  %0 = blockscale.matmul %a, %b : !one_of_two_a, !one_of_two_b -> tensor<130x136xf32>
  return %0 : tensor<130x136xf32>
}
