// A structured-sparse A without scales of every kind and every mix of element
// types, with tails of M, N and K: exact data bit for bit, random data within the
// tight bound, integers exactly; other seeds put other places into the metadata.

// REQUIRES: mlir
// RUN: blockscale verify %s --num-sms=4 | FileCheck %s
// RUN: blockscale verify %s --num-sms=2 --data=exact --seed=7 --completion=latest | FileCheck %s --check-prefix=ONCE

// CHECK-NOT: FAIL
// CHECK-COUNT-72: pass
// CHECK-NOT: {{FAIL|pass}}

// ONCE-NOT: FAIL
// ONCE-COUNT-36: pass
// ONCE-NOT: {{FAIL|pass}}

!e4m3_e4m3_a = !blockscale.tensor<130x328xf8E4M3FN, "n2m4", layout = tiled_128x4>
!e4m3_e4m3_b = !blockscale.tensor<144x328xf8E4M3FN>
func.func @e4m3_e4m3(%a: !e4m3_e4m3_a, %b: !e4m3_e4m3_b) -> tensor<130x144xf32> {
  %0 = blockscale.matmul %a, %b : !e4m3_e4m3_a, !e4m3_e4m3_b -> tensor<130x144xf32>
  return %0 : tensor<130x144xf32>
}

!e4m3_e5m2_a = !blockscale.tensor<130x328xf8E4M3FN, "n2m4", layout = tiled_128x4>
!e4m3_e5m2_b = !blockscale.tensor<144x328xf8E5M2>
func.func @e4m3_e5m2(%a: !e4m3_e5m2_a, %b: !e4m3_e5m2_b) -> tensor<130x144xf32> {
  %0 = blockscale.matmul %a, %b : !e4m3_e5m2_a, !e4m3_e5m2_b -> tensor<130x144xf32>
  return %0 : tensor<130x144xf32>
}

!e4m3_e2m3_a = !blockscale.tensor<130x328xf8E4M3FN, "n2m4", layout = tiled_128x4>
!e4m3_e2m3_b = !blockscale.tensor<144x328xf6E2M3FN>
func.func @e4m3_e2m3(%a: !e4m3_e2m3_a, %b: !e4m3_e2m3_b) -> tensor<130x144xf32> {
  %0 = blockscale.matmul %a, %b : !e4m3_e2m3_a, !e4m3_e2m3_b -> tensor<130x144xf32>
  return %0 : tensor<130x144xf32>
}

!e4m3_e3m2_a = !blockscale.tensor<130x328xf8E4M3FN, "n2m4", layout = tiled_128x4>
!e4m3_e3m2_b = !blockscale.tensor<144x328xf6E3M2FN>
func.func @e4m3_e3m2(%a: !e4m3_e3m2_a, %b: !e4m3_e3m2_b) -> tensor<130x144xf32> {
  %0 = blockscale.matmul %a, %b : !e4m3_e3m2_a, !e4m3_e3m2_b -> tensor<130x144xf32>
  return %0 : tensor<130x144xf32>
}

!e4m3_e2m1_a = !blockscale.tensor<130x328xf8E4M3FN, "n2m4", layout = tiled_128x4>
!e4m3_e2m1_b = !blockscale.tensor<144x328xf4E2M1FN>
func.func @e4m3_e2m1(%a: !e4m3_e2m1_a, %b: !e4m3_e2m1_b) -> tensor<130x144xf32> {
  %0 = blockscale.matmul %a, %b : !e4m3_e2m1_a, !e4m3_e2m1_b -> tensor<130x144xf32>
  return %0 : tensor<130x144xf32>
}

!e5m2_e4m3_a = !blockscale.tensor<130x328xf8E5M2, "n2m4", layout = tiled_128x4>
!e5m2_e4m3_b = !blockscale.tensor<144x328xf8E4M3FN>
func.func @e5m2_e4m3(%a: !e5m2_e4m3_a, %b: !e5m2_e4m3_b) -> tensor<130x144xf32> {
  %0 = blockscale.matmul %a, %b : !e5m2_e4m3_a, !e5m2_e4m3_b -> tensor<130x144xf32>
  return %0 : tensor<130x144xf32>
}

!e5m2_e5m2_a = !blockscale.tensor<130x328xf8E5M2, "n2m4", layout = tiled_128x4>
!e5m2_e5m2_b = !blockscale.tensor<144x328xf8E5M2>
func.func @e5m2_e5m2(%a: !e5m2_e5m2_a, %b: !e5m2_e5m2_b) -> tensor<130x144xf32> {
  %0 = blockscale.matmul %a, %b : !e5m2_e5m2_a, !e5m2_e5m2_b -> tensor<130x144xf32>
  return %0 : tensor<130x144xf32>
}

!e5m2_e2m3_a = !blockscale.tensor<130x328xf8E5M2, "n2m4", layout = tiled_128x4>
!e5m2_e2m3_b = !blockscale.tensor<144x328xf6E2M3FN>
func.func @e5m2_e2m3(%a: !e5m2_e2m3_a, %b: !e5m2_e2m3_b) -> tensor<130x144xf32> {
  %0 = blockscale.matmul %a, %b : !e5m2_e2m3_a, !e5m2_e2m3_b -> tensor<130x144xf32>
  return %0 : tensor<130x144xf32>
}

!e5m2_e3m2_a = !blockscale.tensor<130x328xf8E5M2, "n2m4", layout = tiled_128x4>
!e5m2_e3m2_b = !blockscale.tensor<144x328xf6E3M2FN>
func.func @e5m2_e3m2(%a: !e5m2_e3m2_a, %b: !e5m2_e3m2_b) -> tensor<130x144xf32> {
  %0 = blockscale.matmul %a, %b : !e5m2_e3m2_a, !e5m2_e3m2_b -> tensor<130x144xf32>
  return %0 : tensor<130x144xf32>
}

!e5m2_e2m1_a = !blockscale.tensor<130x328xf8E5M2, "n2m4", layout = tiled_128x4>
!e5m2_e2m1_b = !blockscale.tensor<144x328xf4E2M1FN>
func.func @e5m2_e2m1(%a: !e5m2_e2m1_a, %b: !e5m2_e2m1_b) -> tensor<130x144xf32> {
  %0 = blockscale.matmul %a, %b : !e5m2_e2m1_a, !e5m2_e2m1_b -> tensor<130x144xf32>
  return %0 : tensor<130x144xf32>
}

!e2m3_e4m3_a = !blockscale.tensor<130x328xf6E2M3FN, "n2m4", layout = tiled_128x4>
!e2m3_e4m3_b = !blockscale.tensor<144x328xf8E4M3FN>
func.func @e2m3_e4m3(%a: !e2m3_e4m3_a, %b: !e2m3_e4m3_b) -> tensor<130x144xf32> {
  %0 = blockscale.matmul %a, %b : !e2m3_e4m3_a, !e2m3_e4m3_b -> tensor<130x144xf32>
  return %0 : tensor<130x144xf32>
}

!e2m3_e5m2_a = !blockscale.tensor<130x328xf6E2M3FN, "n2m4", layout = tiled_128x4>
!e2m3_e5m2_b = !blockscale.tensor<144x328xf8E5M2>
func.func @e2m3_e5m2(%a: !e2m3_e5m2_a, %b: !e2m3_e5m2_b) -> tensor<130x144xf32> {
  %0 = blockscale.matmul %a, %b : !e2m3_e5m2_a, !e2m3_e5m2_b -> tensor<130x144xf32>
  return %0 : tensor<130x144xf32>
}

!e2m3_e2m3_a = !blockscale.tensor<130x328xf6E2M3FN, "n2m4", layout = tiled_128x4>
!e2m3_e2m3_b = !blockscale.tensor<144x328xf6E2M3FN>
func.func @e2m3_e2m3(%a: !e2m3_e2m3_a, %b: !e2m3_e2m3_b) -> tensor<130x144xf32> {
  %0 = blockscale.matmul %a, %b : !e2m3_e2m3_a, !e2m3_e2m3_b -> tensor<130x144xf32>
  return %0 : tensor<130x144xf32>
}

!e2m3_e3m2_a = !blockscale.tensor<130x328xf6E2M3FN, "n2m4", layout = tiled_128x4>
!e2m3_e3m2_b = !blockscale.tensor<144x328xf6E3M2FN>
func.func @e2m3_e3m2(%a: !e2m3_e3m2_a, %b: !e2m3_e3m2_b) -> tensor<130x144xf32> {
  %0 = blockscale.matmul %a, %b : !e2m3_e3m2_a, !e2m3_e3m2_b -> tensor<130x144xf32>
  return %0 : tensor<130x144xf32>
}

!e2m3_e2m1_a = !blockscale.tensor<130x328xf6E2M3FN, "n2m4", layout = tiled_128x4>
!e2m3_e2m1_b = !blockscale.tensor<144x328xf4E2M1FN>
func.func @e2m3_e2m1(%a: !e2m3_e2m1_a, %b: !e2m3_e2m1_b) -> tensor<130x144xf32> {
  %0 = blockscale.matmul %a, %b : !e2m3_e2m1_a, !e2m3_e2m1_b -> tensor<130x144xf32>
  return %0 : tensor<130x144xf32>
}

!e3m2_e4m3_a = !blockscale.tensor<130x328xf6E3M2FN, "n2m4", layout = tiled_128x4>
!e3m2_e4m3_b = !blockscale.tensor<144x328xf8E4M3FN>
func.func @e3m2_e4m3(%a: !e3m2_e4m3_a, %b: !e3m2_e4m3_b) -> tensor<130x144xf32> {
  %0 = blockscale.matmul %a, %b : !e3m2_e4m3_a, !e3m2_e4m3_b -> tensor<130x144xf32>
  return %0 : tensor<130x144xf32>
}

!e3m2_e5m2_a = !blockscale.tensor<130x328xf6E3M2FN, "n2m4", layout = tiled_128x4>
!e3m2_e5m2_b = !blockscale.tensor<144x328xf8E5M2>
func.func @e3m2_e5m2(%a: !e3m2_e5m2_a, %b: !e3m2_e5m2_b) -> tensor<130x144xf32> {
  %0 = blockscale.matmul %a, %b : !e3m2_e5m2_a, !e3m2_e5m2_b -> tensor<130x144xf32>
  return %0 : tensor<130x144xf32>
}

!e3m2_e2m3_a = !blockscale.tensor<130x328xf6E3M2FN, "n2m4", layout = tiled_128x4>
!e3m2_e2m3_b = !blockscale.tensor<144x328xf6E2M3FN>
func.func @e3m2_e2m3(%a: !e3m2_e2m3_a, %b: !e3m2_e2m3_b) -> tensor<130x144xf32> {
  %0 = blockscale.matmul %a, %b : !e3m2_e2m3_a, !e3m2_e2m3_b -> tensor<130x144xf32>
  return %0 : tensor<130x144xf32>
}

!e3m2_e3m2_a = !blockscale.tensor<130x328xf6E3M2FN, "n2m4", layout = tiled_128x4>
!e3m2_e3m2_b = !blockscale.tensor<144x328xf6E3M2FN>
func.func @e3m2_e3m2(%a: !e3m2_e3m2_a, %b: !e3m2_e3m2_b) -> tensor<130x144xf32> {
  %0 = blockscale.matmul %a, %b : !e3m2_e3m2_a, !e3m2_e3m2_b -> tensor<130x144xf32>
  return %0 : tensor<130x144xf32>
}

!e3m2_e2m1_a = !blockscale.tensor<130x328xf6E3M2FN, "n2m4", layout = tiled_128x4>
!e3m2_e2m1_b = !blockscale.tensor<144x328xf4E2M1FN>
func.func @e3m2_e2m1(%a: !e3m2_e2m1_a, %b: !e3m2_e2m1_b) -> tensor<130x144xf32> {
  %0 = blockscale.matmul %a, %b : !e3m2_e2m1_a, !e3m2_e2m1_b -> tensor<130x144xf32>
  return %0 : tensor<130x144xf32>
}

!e2m1_e4m3_a = !blockscale.tensor<130x328xf4E2M1FN, "n2m4", layout = tiled_128x4>
!e2m1_e4m3_b = !blockscale.tensor<144x328xf8E4M3FN>
func.func @e2m1_e4m3(%a: !e2m1_e4m3_a, %b: !e2m1_e4m3_b) -> tensor<130x144xf32> {
  %0 = blockscale.matmul %a, %b : !e2m1_e4m3_a, !e2m1_e4m3_b -> tensor<130x144xf32>
  return %0 : tensor<130x144xf32>
}

!e2m1_e5m2_a = !blockscale.tensor<130x328xf4E2M1FN, "n2m4", layout = tiled_128x4>
!e2m1_e5m2_b = !blockscale.tensor<144x328xf8E5M2>
func.func @e2m1_e5m2(%a: !e2m1_e5m2_a, %b: !e2m1_e5m2_b) -> tensor<130x144xf32> {
  %0 = blockscale.matmul %a, %b : !e2m1_e5m2_a, !e2m1_e5m2_b -> tensor<130x144xf32>
  return %0 : tensor<130x144xf32>
}

!e2m1_e2m3_a = !blockscale.tensor<130x328xf4E2M1FN, "n2m4", layout = tiled_128x4>
!e2m1_e2m3_b = !blockscale.tensor<144x328xf6E2M3FN>
func.func @e2m1_e2m3(%a: !e2m1_e2m3_a, %b: !e2m1_e2m3_b) -> tensor<130x144xf32> {
  %0 = blockscale.matmul %a, %b : !e2m1_e2m3_a, !e2m1_e2m3_b -> tensor<130x144xf32>
  return %0 : tensor<130x144xf32>
}

!e2m1_e3m2_a = !blockscale.tensor<130x328xf4E2M1FN, "n2m4", layout = tiled_128x4>
!e2m1_e3m2_b = !blockscale.tensor<144x328xf6E3M2FN>
func.func @e2m1_e3m2(%a: !e2m1_e3m2_a, %b: !e2m1_e3m2_b) -> tensor<130x144xf32> {
  %0 = blockscale.matmul %a, %b : !e2m1_e3m2_a, !e2m1_e3m2_b -> tensor<130x144xf32>
  return %0 : tensor<130x144xf32>
}

!e2m1_e2m1_a = !blockscale.tensor<130x328xf4E2M1FN, "n2m4", layout = tiled_128x4>
!e2m1_e2m1_b = !blockscale.tensor<144x328xf4E2M1FN>
func.func @e2m1_e2m1(%a: !e2m1_e2m1_a, %b: !e2m1_e2m1_b) -> tensor<130x144xf32> {
  %0 = blockscale.matmul %a, %b : !e2m1_e2m1_a, !e2m1_e2m1_b -> tensor<130x144xf32>
  return %0 : tensor<130x144xf32>
}

!f16_f16_a = !blockscale.tensor<130x168xf16, "n2m4", layout = tiled_128x4>
!f16_f16_b = !blockscale.tensor<144x168xf16>
func.func @f16_f16(%a: !f16_f16_a, %b: !f16_f16_b) -> tensor<130x144xf32> {
  %0 = blockscale.matmul %a, %b : !f16_f16_a, !f16_f16_b -> tensor<130x144xf32>
  return %0 : tensor<130x144xf32>
}

!bf16_bf16_a = !blockscale.tensor<130x168xbf16, "n2m4", layout = tiled_128x4>
!bf16_bf16_b = !blockscale.tensor<144x168xbf16>
func.func @bf16_bf16(%a: !bf16_bf16_a, %b: !bf16_bf16_b) -> tensor<130x144xf32> {
  %0 = blockscale.matmul %a, %b : !bf16_bf16_a, !bf16_bf16_b -> tensor<130x144xf32>
  return %0 : tensor<130x144xf32>
}

!tf32_tf32_a = !blockscale.tensor<130x84xtf32, "n1m2", layout = tiled_128x4>
!tf32_tf32_b = !blockscale.tensor<144x84xtf32>
func.func @tf32_tf32(%a: !tf32_tf32_a, %b: !tf32_tf32_b) -> tensor<130x144xf32> {
  %0 = blockscale.matmul %a, %b : !tf32_tf32_a, !tf32_tf32_b -> tensor<130x144xf32>
  return %0 : tensor<130x144xf32>
}

!int8_int8_i32_a = !blockscale.tensor<130x328xi8, "n2m4", layout = tiled_128x4>
!int8_int8_i32_b = !blockscale.tensor<144x328xi8>
func.func @int8_int8_i32(%a: !int8_int8_i32_a, %b: !int8_int8_i32_b) -> tensor<130x144xi32> {
  %0 = blockscale.matmul %a, %b : !int8_int8_i32_a, !int8_int8_i32_b -> tensor<130x144xi32>
  return %0 : tensor<130x144xi32>
}

!int8_int8_f32_a = !blockscale.tensor<130x328xi8, "n2m4", layout = tiled_128x4>
!int8_int8_f32_b = !blockscale.tensor<144x328xi8>
func.func @int8_int8_f32(%a: !int8_int8_f32_a, %b: !int8_int8_f32_b) -> tensor<130x144xf32> {
  %0 = blockscale.matmul %a, %b : !int8_int8_f32_a, !int8_int8_f32_b -> tensor<130x144xf32>
  return %0 : tensor<130x144xf32>
}

!int8_uint8_i32_a = !blockscale.tensor<130x328xi8, "n2m4", layout = tiled_128x4>
!int8_uint8_i32_b = !blockscale.tensor<144x328xui8>
func.func @int8_uint8_i32(%a: !int8_uint8_i32_a, %b: !int8_uint8_i32_b) -> tensor<130x144xi32> {
  %0 = blockscale.matmul %a, %b : !int8_uint8_i32_a, !int8_uint8_i32_b -> tensor<130x144xi32>
  return %0 : tensor<130x144xi32>
}

!int8_uint8_f32_a = !blockscale.tensor<130x328xi8, "n2m4", layout = tiled_128x4>
!int8_uint8_f32_b = !blockscale.tensor<144x328xui8>
func.func @int8_uint8_f32(%a: !int8_uint8_f32_a, %b: !int8_uint8_f32_b) -> tensor<130x144xf32> {
  %0 = blockscale.matmul %a, %b : !int8_uint8_f32_a, !int8_uint8_f32_b -> tensor<130x144xf32>
  return %0 : tensor<130x144xf32>
}

!uint8_int8_i32_a = !blockscale.tensor<130x328xui8, "n2m4", layout = tiled_128x4>
!uint8_int8_i32_b = !blockscale.tensor<144x328xi8>
func.func @uint8_int8_i32(%a: !uint8_int8_i32_a, %b: !uint8_int8_i32_b) -> tensor<130x144xi32> {
  %0 = blockscale.matmul %a, %b : !uint8_int8_i32_a, !uint8_int8_i32_b -> tensor<130x144xi32>
  return %0 : tensor<130x144xi32>
}

!uint8_int8_f32_a = !blockscale.tensor<130x328xui8, "n2m4", layout = tiled_128x4>
!uint8_int8_f32_b = !blockscale.tensor<144x328xi8>
func.func @uint8_int8_f32(%a: !uint8_int8_f32_a, %b: !uint8_int8_f32_b) -> tensor<130x144xf32> {
  %0 = blockscale.matmul %a, %b : !uint8_int8_f32_a, !uint8_int8_f32_b -> tensor<130x144xf32>
  return %0 : tensor<130x144xf32>
}

!uint8_uint8_i32_a = !blockscale.tensor<130x328xui8, "n2m4", layout = tiled_128x4>
!uint8_uint8_i32_b = !blockscale.tensor<144x328xui8>
func.func @uint8_uint8_i32(%a: !uint8_uint8_i32_a, %b: !uint8_uint8_i32_b) -> tensor<130x144xi32> {
  %0 = blockscale.matmul %a, %b : !uint8_uint8_i32_a, !uint8_uint8_i32_b -> tensor<130x144xi32>
  return %0 : tensor<130x144xi32>
}

!uint8_uint8_f32_a = !blockscale.tensor<130x328xui8, "n2m4", layout = tiled_128x4>
!uint8_uint8_f32_b = !blockscale.tensor<144x328xui8>
func.func @uint8_uint8_f32(%a: !uint8_uint8_f32_a, %b: !uint8_uint8_f32_b) -> tensor<130x144xf32> {
  %0 = blockscale.matmul %a, %b : !uint8_uint8_f32_a, !uint8_uint8_f32_b -> tensor<130x144xf32>
  return %0 : tensor<130x144xf32>
}
