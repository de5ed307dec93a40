// Every mix of element types and every scale type that the pipeline takes, on
// chips with tensor memory and without.

// REQUIRES: mlir
// RUN: blockscale verify %s | FileCheck %s
// RUN: blockscale verify %s --target=sm_107a | FileCheck %s
// RUN: blockscale verify %s --target=sm_120a | FileCheck %s

// CHECK-NOT: FAIL
// CHECK-COUNT-58: pass
// CHECK-NOT: {{FAIL|pass}}

!e4m3_e4m3_a = !blockscale.tensor<130x288xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!e4m3_e4m3_b = !blockscale.tensor<136x288xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @e4m3_e4m3(%a: !e4m3_e4m3_a, %b: !e4m3_e4m3_b) -> tensor<130x136xf32> {
  %0 = blockscale.matmul %a, %b : !e4m3_e4m3_a, !e4m3_e4m3_b -> tensor<130x136xf32>
  return %0 : tensor<130x136xf32>
}

!e4m3_e5m2_a = !blockscale.tensor<130x288xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!e4m3_e5m2_b = !blockscale.tensor<136x288xf8E5M2, "e8m0_t32", layout = tiled_128x4>
func.func @e4m3_e5m2(%a: !e4m3_e5m2_a, %b: !e4m3_e5m2_b) -> tensor<130x136xf32> {
  %0 = blockscale.matmul %a, %b : !e4m3_e5m2_a, !e4m3_e5m2_b -> tensor<130x136xf32>
  return %0 : tensor<130x136xf32>
}

!e4m3_e2m3_a = !blockscale.tensor<130x288xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!e4m3_e2m3_b = !blockscale.tensor<136x288xf6E2M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @e4m3_e2m3(%a: !e4m3_e2m3_a, %b: !e4m3_e2m3_b) -> tensor<130x136xf32> {
  %0 = blockscale.matmul %a, %b : !e4m3_e2m3_a, !e4m3_e2m3_b -> tensor<130x136xf32>
  return %0 : tensor<130x136xf32>
}

!e4m3_e3m2_a = !blockscale.tensor<130x288xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!e4m3_e3m2_b = !blockscale.tensor<136x288xf6E3M2FN, "e8m0_t32", layout = tiled_128x4>
func.func @e4m3_e3m2(%a: !e4m3_e3m2_a, %b: !e4m3_e3m2_b) -> tensor<130x136xf32> {
  %0 = blockscale.matmul %a, %b : !e4m3_e3m2_a, !e4m3_e3m2_b -> tensor<130x136xf32>
  return %0 : tensor<130x136xf32>
}

!e4m3_e2m1_a = !blockscale.tensor<130x288xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!e4m3_e2m1_b = !blockscale.tensor<136x288xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
func.func @e4m3_e2m1(%a: !e4m3_e2m1_a, %b: !e4m3_e2m1_b) -> tensor<130x136xf32> {
  %0 = blockscale.matmul %a, %b : !e4m3_e2m1_a, !e4m3_e2m1_b -> tensor<130x136xf32>
  return %0 : tensor<130x136xf32>
}

!e5m2_e4m3_a = !blockscale.tensor<130x288xf8E5M2, "e8m0_t32", layout = tiled_128x4>
!e5m2_e4m3_b = !blockscale.tensor<136x288xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @e5m2_e4m3(%a: !e5m2_e4m3_a, %b: !e5m2_e4m3_b) -> tensor<130x136xf32> {
  %0 = blockscale.matmul %a, %b : !e5m2_e4m3_a, !e5m2_e4m3_b -> tensor<130x136xf32>
  return %0 : tensor<130x136xf32>
}

!e5m2_e5m2_a = !blockscale.tensor<130x288xf8E5M2, "e8m0_t32", layout = tiled_128x4>
!e5m2_e5m2_b = !blockscale.tensor<136x288xf8E5M2, "e8m0_t32", layout = tiled_128x4>
func.func @e5m2_e5m2(%a: !e5m2_e5m2_a, %b: !e5m2_e5m2_b) -> tensor<130x136xf32> {
  %0 = blockscale.matmul %a, %b : !e5m2_e5m2_a, !e5m2_e5m2_b -> tensor<130x136xf32>
  return %0 : tensor<130x136xf32>
}

!e5m2_e2m3_a = !blockscale.tensor<130x288xf8E5M2, "e8m0_t32", layout = tiled_128x4>
!e5m2_e2m3_b = !blockscale.tensor<136x288xf6E2M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @e5m2_e2m3(%a: !e5m2_e2m3_a, %b: !e5m2_e2m3_b) -> tensor<130x136xf32> {
  %0 = blockscale.matmul %a, %b : !e5m2_e2m3_a, !e5m2_e2m3_b -> tensor<130x136xf32>
  return %0 : tensor<130x136xf32>
}

!e5m2_e3m2_a = !blockscale.tensor<130x288xf8E5M2, "e8m0_t32", layout = tiled_128x4>
!e5m2_e3m2_b = !blockscale.tensor<136x288xf6E3M2FN, "e8m0_t32", layout = tiled_128x4>
func.func @e5m2_e3m2(%a: !e5m2_e3m2_a, %b: !e5m2_e3m2_b) -> tensor<130x136xf32> {
  %0 = blockscale.matmul %a, %b : !e5m2_e3m2_a, !e5m2_e3m2_b -> tensor<130x136xf32>
  return %0 : tensor<130x136xf32>
}

!e5m2_e2m1_a = !blockscale.tensor<130x288xf8E5M2, "e8m0_t32", layout = tiled_128x4>
!e5m2_e2m1_b = !blockscale.tensor<136x288xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
func.func @e5m2_e2m1(%a: !e5m2_e2m1_a, %b: !e5m2_e2m1_b) -> tensor<130x136xf32> {
  %0 = blockscale.matmul %a, %b : !e5m2_e2m1_a, !e5m2_e2m1_b -> tensor<130x136xf32>
  return %0 : tensor<130x136xf32>
}

!e2m3_e4m3_a = !blockscale.tensor<130x288xf6E2M3FN, "e8m0_t32", layout = tiled_128x4>
!e2m3_e4m3_b = !blockscale.tensor<136x288xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @e2m3_e4m3(%a: !e2m3_e4m3_a, %b: !e2m3_e4m3_b) -> tensor<130x136xf32> {
  %0 = blockscale.matmul %a, %b : !e2m3_e4m3_a, !e2m3_e4m3_b -> tensor<130x136xf32>
  return %0 : tensor<130x136xf32>
}

!e2m3_e5m2_a = !blockscale.tensor<130x288xf6E2M3FN, "e8m0_t32", layout = tiled_128x4>
!e2m3_e5m2_b = !blockscale.tensor<136x288xf8E5M2, "e8m0_t32", layout = tiled_128x4>
func.func @e2m3_e5m2(%a: !e2m3_e5m2_a, %b: !e2m3_e5m2_b) -> tensor<130x136xf32> {
  %0 = blockscale.matmul %a, %b : !e2m3_e5m2_a, !e2m3_e5m2_b -> tensor<130x136xf32>
  return %0 : tensor<130x136xf32>
}

!e2m3_e2m3_a = !blockscale.tensor<130x288xf6E2M3FN, "e8m0_t32", layout = tiled_128x4>
!e2m3_e2m3_b = !blockscale.tensor<136x288xf6E2M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @e2m3_e2m3(%a: !e2m3_e2m3_a, %b: !e2m3_e2m3_b) -> tensor<130x136xf32> {
  %0 = blockscale.matmul %a, %b : !e2m3_e2m3_a, !e2m3_e2m3_b -> tensor<130x136xf32>
  return %0 : tensor<130x136xf32>
}

!e2m3_e3m2_a = !blockscale.tensor<130x288xf6E2M3FN, "e8m0_t32", layout = tiled_128x4>
!e2m3_e3m2_b = !blockscale.tensor<136x288xf6E3M2FN, "e8m0_t32", layout = tiled_128x4>
func.func @e2m3_e3m2(%a: !e2m3_e3m2_a, %b: !e2m3_e3m2_b) -> tensor<130x136xf32> {
  %0 = blockscale.matmul %a, %b : !e2m3_e3m2_a, !e2m3_e3m2_b -> tensor<130x136xf32>
  return %0 : tensor<130x136xf32>
}

!e2m3_e2m1_a = !blockscale.tensor<130x288xf6E2M3FN, "e8m0_t32", layout = tiled_128x4>
!e2m3_e2m1_b = !blockscale.tensor<136x288xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
func.func @e2m3_e2m1(%a: !e2m3_e2m1_a, %b: !e2m3_e2m1_b) -> tensor<130x136xf32> {
  %0 = blockscale.matmul %a, %b : !e2m3_e2m1_a, !e2m3_e2m1_b -> tensor<130x136xf32>
  return %0 : tensor<130x136xf32>
}

!e3m2_e4m3_a = !blockscale.tensor<130x288xf6E3M2FN, "e8m0_t32", layout = tiled_128x4>
!e3m2_e4m3_b = !blockscale.tensor<136x288xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @e3m2_e4m3(%a: !e3m2_e4m3_a, %b: !e3m2_e4m3_b) -> tensor<130x136xf32> {
  %0 = blockscale.matmul %a, %b : !e3m2_e4m3_a, !e3m2_e4m3_b -> tensor<130x136xf32>
  return %0 : tensor<130x136xf32>
}

!e3m2_e5m2_a = !blockscale.tensor<130x288xf6E3M2FN, "e8m0_t32", layout = tiled_128x4>
!e3m2_e5m2_b = !blockscale.tensor<136x288xf8E5M2, "e8m0_t32", layout = tiled_128x4>
func.func @e3m2_e5m2(%a: !e3m2_e5m2_a, %b: !e3m2_e5m2_b) -> tensor<130x136xf32> {
  %0 = blockscale.matmul %a, %b : !e3m2_e5m2_a, !e3m2_e5m2_b -> tensor<130x136xf32>
  return %0 : tensor<130x136xf32>
}

!e3m2_e2m3_a = !blockscale.tensor<130x288xf6E3M2FN, "e8m0_t32", layout = tiled_128x4>
!e3m2_e2m3_b = !blockscale.tensor<136x288xf6E2M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @e3m2_e2m3(%a: !e3m2_e2m3_a, %b: !e3m2_e2m3_b) -> tensor<130x136xf32> {
  %0 = blockscale.matmul %a, %b : !e3m2_e2m3_a, !e3m2_e2m3_b -> tensor<130x136xf32>
  return %0 : tensor<130x136xf32>
}

!e3m2_e3m2_a = !blockscale.tensor<130x288xf6E3M2FN, "e8m0_t32", layout = tiled_128x4>
!e3m2_e3m2_b = !blockscale.tensor<136x288xf6E3M2FN, "e8m0_t32", layout = tiled_128x4>
func.func @e3m2_e3m2(%a: !e3m2_e3m2_a, %b: !e3m2_e3m2_b) -> tensor<130x136xf32> {
  %0 = blockscale.matmul %a, %b : !e3m2_e3m2_a, !e3m2_e3m2_b -> tensor<130x136xf32>
  return %0 : tensor<130x136xf32>
}

!e3m2_e2m1_a = !blockscale.tensor<130x288xf6E3M2FN, "e8m0_t32", layout = tiled_128x4>
!e3m2_e2m1_b = !blockscale.tensor<136x288xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
func.func @e3m2_e2m1(%a: !e3m2_e2m1_a, %b: !e3m2_e2m1_b) -> tensor<130x136xf32> {
  %0 = blockscale.matmul %a, %b : !e3m2_e2m1_a, !e3m2_e2m1_b -> tensor<130x136xf32>
  return %0 : tensor<130x136xf32>
}

!e2m1_e4m3_a = !blockscale.tensor<130x288xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
!e2m1_e4m3_b = !blockscale.tensor<136x288xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @e2m1_e4m3(%a: !e2m1_e4m3_a, %b: !e2m1_e4m3_b) -> tensor<130x136xf32> {
  %0 = blockscale.matmul %a, %b : !e2m1_e4m3_a, !e2m1_e4m3_b -> tensor<130x136xf32>
  return %0 : tensor<130x136xf32>
}

!e2m1_e5m2_a = !blockscale.tensor<130x288xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
!e2m1_e5m2_b = !blockscale.tensor<136x288xf8E5M2, "e8m0_t32", layout = tiled_128x4>
func.func @e2m1_e5m2(%a: !e2m1_e5m2_a, %b: !e2m1_e5m2_b) -> tensor<130x136xf32> {
  %0 = blockscale.matmul %a, %b : !e2m1_e5m2_a, !e2m1_e5m2_b -> tensor<130x136xf32>
  return %0 : tensor<130x136xf32>
}

!e2m1_e2m3_a = !blockscale.tensor<130x288xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
!e2m1_e2m3_b = !blockscale.tensor<136x288xf6E2M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @e2m1_e2m3(%a: !e2m1_e2m3_a, %b: !e2m1_e2m3_b) -> tensor<130x136xf32> {
  %0 = blockscale.matmul %a, %b : !e2m1_e2m3_a, !e2m1_e2m3_b -> tensor<130x136xf32>
  return %0 : tensor<130x136xf32>
}

!e2m1_e3m2_a = !blockscale.tensor<130x288xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
!e2m1_e3m2_b = !blockscale.tensor<136x288xf6E3M2FN, "e8m0_t32", layout = tiled_128x4>
func.func @e2m1_e3m2(%a: !e2m1_e3m2_a, %b: !e2m1_e3m2_b) -> tensor<130x136xf32> {
  %0 = blockscale.matmul %a, %b : !e2m1_e3m2_a, !e2m1_e3m2_b -> tensor<130x136xf32>
  return %0 : tensor<130x136xf32>
}

!e2m1_e2m1_a = !blockscale.tensor<130x288xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
!e2m1_e2m1_b = !blockscale.tensor<136x288xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
func.func @e2m1_e2m1(%a: !e2m1_e2m1_a, %b: !e2m1_e2m1_b) -> tensor<130x136xf32> {
  %0 = blockscale.matmul %a, %b : !e2m1_e2m1_a, !e2m1_e2m1_b -> tensor<130x136xf32>
  return %0 : tensor<130x136xf32>
}

!nvfp4_a = !blockscale.tensor<130x320xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!nvfp4_b = !blockscale.tensor<136x320xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @nvfp4(%a: !nvfp4_a, %b: !nvfp4_b) -> tensor<130x136xf32> {
  %0 = blockscale.matmul %a, %b : !nvfp4_a, !nvfp4_b -> tensor<130x136xf32>
  return %0 : tensor<130x136xf32>
}

!nvfp4_two_level_a = !blockscale.tensor<130x320xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!nvfp4_two_level_b = !blockscale.tensor<136x320xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
func.func @nvfp4_two_level(%a: !nvfp4_two_level_a, %b: !nvfp4_two_level_b) -> tensor<130x136xf32> {
  %0 = blockscale.matmul %a, %b : !nvfp4_two_level_a, !nvfp4_two_level_b -> tensor<130x136xf32>
  return %0 : tensor<130x136xf32>
}

// Kinds that the types alone would not choose.
!named_kind_a = !blockscale.tensor<130x288xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
!named_kind_b = !blockscale.tensor<136x288xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
func.func @e2m1_mxf4nvf4(%a: !named_kind_a, %b: !named_kind_b) -> tensor<130x136xf32> {
  %0 = blockscale.matmul %a, %b mma(<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue8m0, block = 32>) : !named_kind_a, !named_kind_b -> tensor<130x136xf32>
  return %0 : tensor<130x136xf32>
}

func.func @e2m1_mxf8f6f4(%a: !named_kind_a, %b: !named_kind_b) -> tensor<130x136xf32> {
  %0 = blockscale.matmul %a, %b mma(<kind = mxf8f6f4, a = e2m1, b = e2m1, scale = ue8m0, block = 32>) : !named_kind_a, !named_kind_b -> tensor<130x136xf32>
  return %0 : tensor<130x136xf32>
}
