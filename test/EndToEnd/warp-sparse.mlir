// A structured-sparse A on chips without tensor memory: every kind, all five
// element types on both sides, tails of M, N and K, batches and sizes known at
// run time only; the metadata of a tail, and scales, lie beside padding that is
// not a number.

// REQUIRES: mlir
// RUN: blockscale verify %s --target=sm_120a --num-sms=2 --m=129 --n=72 --k=128,640 --batch=2 --completion=random | FileCheck %s

// CHECK-NOT: FAIL
// CHECK-COUNT-28: pass
// CHECK-NOT: {{FAIL|pass}}

!e4m3_e5m2_a = !blockscale.tensor<130x64xf8E4M3FN, "e8m0_t32n2m4", layout = tiled_128x4>
!e4m3_e5m2_b = !blockscale.tensor<136x64xf8E5M2, "e8m0_t64", layout = tiled_128x4>
func.func @e4m3_e5m2(%a: !e4m3_e5m2_a, %b: !e4m3_e5m2_b) -> tensor<130x136xf32> {
  %0 = blockscale.matmul %a, %b : !e4m3_e5m2_a, !e4m3_e5m2_b -> tensor<130x136xf32>
  return %0 : tensor<130x136xf32>
}

!e5m2_e3m2_a = !blockscale.tensor<130x320xf8E5M2, "e8m0_t32n2m4", layout = tiled_128x4>
!e5m2_e3m2_b = !blockscale.tensor<136x320xf6E3M2FN, "e8m0_t64", layout = tiled_128x4>
func.func @e5m2_e3m2(%a: !e5m2_e3m2_a, %b: !e5m2_e3m2_b) -> tensor<130x136xf32> {
  %0 = blockscale.matmul %a, %b : !e5m2_e3m2_a, !e5m2_e3m2_b -> tensor<130x136xf32>
  return %0 : tensor<130x136xf32>
}

!e2m3_e4m3_a = !blockscale.tensor<130x704xf6E2M3FN, "e8m0_t32n2m4", layout = tiled_128x4>
!e2m3_e4m3_b = !blockscale.tensor<136x704xf8E4M3FN, "e8m0_t64", layout = tiled_128x4>
func.func @e2m3_e4m3(%a: !e2m3_e4m3_a, %b: !e2m3_e4m3_b) -> tensor<130x136xf32> {
  %0 = blockscale.matmul %a, %b : !e2m3_e4m3_a, !e2m3_e4m3_b -> tensor<130x136xf32>
  return %0 : tensor<130x136xf32>
}

!e3m2_e2m3_a = !blockscale.tensor<130x256xf6E3M2FN, "e8m0_t32n2m4", layout = tiled_128x4>
!e3m2_e2m3_b = !blockscale.tensor<136x256xf6E2M3FN, "e8m0_t64", layout = tiled_128x4>
func.func @e3m2_e2m3(%a: !e3m2_e2m3_a, %b: !e3m2_e2m3_b) -> tensor<130x136xf32> {
  %0 = blockscale.matmul %a, %b : !e3m2_e2m3_a, !e3m2_e2m3_b -> tensor<130x136xf32>
  return %0 : tensor<130x136xf32>
}

!e2m1_e2m1_a = !blockscale.tensor<130x192xf4E2M1FN, "e8m0_t32n2m4", layout = tiled_128x4>
!e2m1_e2m1_b = !blockscale.tensor<136x192xf4E2M1FN, "e8m0_t64", layout = tiled_128x4>
func.func @e2m1_e2m1(%a: !e2m1_e2m1_a, %b: !e2m1_e2m1_b) -> tensor<130x136xf32> {
  %0 = blockscale.matmul %a, %b : !e2m1_e2m1_a, !e2m1_e2m1_b -> tensor<130x136xf32>
  return %0 : tensor<130x136xf32>
}

!mxf4_a = !blockscale.tensor<130x640xf4E2M1FN, "e8m0_t32n4m8", layout = tiled_128x4>
!mxf4_b = !blockscale.tensor<136x640xf4E2M1FN, "e8m0_t64", layout = tiled_128x4>
func.func @mxf4(%a: !mxf4_a, %b: !mxf4_b) -> tensor<130x136xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 64>) : !mxf4_a, !mxf4_b -> tensor<130x136xf32>
  return %0 : tensor<130x136xf32>
}

!mxf4_tail_a = !blockscale.tensor<130x448xf4E2M1FN, "e8m0_t32n4m8", layout = tiled_128x4>
!mxf4_tail_b = !blockscale.tensor<40x448xf4E2M1FN, "e8m0_t64", layout = tiled_128x4>
func.func @mxf4_tail(%a: !mxf4_tail_a, %b: !mxf4_tail_b) -> tensor<130x40xf32> {
  %0 = blockscale.matmul %a, %b : !mxf4_tail_a, !mxf4_tail_b -> tensor<130x40xf32>
  return %0 : tensor<130x40xf32>
}

!nvfp4_a = !blockscale.tensor<200x1056xf4E2M1FN, "e4m3fn_t16n4m8", layout = tiled_128x4>
!nvfp4_b = !blockscale.tensor<264x1056xf4E2M1FN, "e4m3fn_t32", layout = tiled_128x4>
func.func @nvfp4(%a: !nvfp4_a, %b: !nvfp4_b) -> tensor<200x264xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 128>) : !nvfp4_a, !nvfp4_b -> tensor<200x264xf32>
  return %0 : tensor<200x264xf32>
}

!nvfp4_two_level_a = !blockscale.tensor<66x96xf4E2M1FN, "multi_float32_e4m3fn_t16n4m8", layout = tiled_128x4>
!nvfp4_two_level_b = !blockscale.tensor<24x96xf4E2M1FN, "multi_float32_e4m3fn_t32", layout = tiled_128x4>
func.func @nvfp4_two_level(%a: !nvfp4_two_level_a, %b: !nvfp4_two_level_b) -> tensor<66x24xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 16>) : !nvfp4_two_level_a, !nvfp4_two_level_b -> tensor<66x24xf32>
  return %0 : tensor<66x24xf32>
}

!batch_a = !blockscale.tensor<3x130x320xf8E4M3FN, "e8m0_t32n2m4", layout = tiled_128x4>
!batch_b = !blockscale.tensor<3x72x320xf6E3M2FN, "e8m0_t64", layout = tiled_128x4>
func.func @batch(%a: !batch_a, %b: !batch_b) -> tensor<3x130x72xf32> {
  %0 = blockscale.matmul %a, %b : !batch_a, !batch_b -> tensor<3x130x72xf32>
  return %0 : tensor<3x130x72xf32>
}

!dynamic_a = !blockscale.tensor<?x?xf4E2M1FN, "e8m0_t32n2m4", layout = tiled_128x4>
!dynamic_b = !blockscale.tensor<?x?xf8E5M2, "e8m0_t64", layout = tiled_128x4>
func.func @dynamic(%a: !dynamic_a, %b: !dynamic_b) -> tensor<?x?xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 32>) : !dynamic_a, !dynamic_b -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

!dynamic_nvfp4_a = !blockscale.tensor<?x?x?xf4E2M1FN, "e4m3fn_t16n4m8", layout = tiled_128x4>
!dynamic_nvfp4_b = !blockscale.tensor<?x?x?xf4E2M1FN, "e4m3fn_t32", layout = tiled_128x4>
func.func @dynamic_nvfp4(%a: !dynamic_nvfp4_a, %b: !dynamic_nvfp4_b) -> tensor<?x?x?xf32> {
  %0 = blockscale.matmul %a, %b : !dynamic_nvfp4_a, !dynamic_nvfp4_b -> tensor<?x?x?xf32>
  return %0 : tensor<?x?x?xf32>
}
