// The kinds that multiply operands without scales.

// RUN: blockscale-opt %s -blockscale-legalize-scales | FileCheck %s
// RUN: blockscale-opt %s -blockscale-legalize-scales=dense-fallback | FileCheck %s
// RUN: blockscale-opt %s -blockscale-attach-target=target=sm_110a -blockscale-legalize-scales | FileCheck %s

!f16_a = !blockscale.tensor<?x256xf16, "n2m4", layout = tiled_128x4>
!f16_b = !blockscale.tensor<128x256xf16>
!bf16_a = !blockscale.tensor<2x64x256xbf16, "n2m4", layout = tiled_128x4>
!bf16_b = !blockscale.tensor<2x128x256xbf16>
!tf32_a = !blockscale.tensor<64x256xtf32, "n1m2", layout = tiled_128x4>
!tf32_b = !blockscale.tensor<128x256xtf32>
!e2m1_a = !blockscale.tensor<64x256xf4E2M1FN, "n2m4", layout = tiled_128x4>
!e4m3_a = !blockscale.tensor<64x256xf8E4M3FN, "n1m2", layout = tiled_128x4, order = mn_major>
!e3m2_b = !blockscale.tensor<128x256xf6E3M2FN>
!e5m2_b = !blockscale.tensor<128x256xf8E5M2, order = mn_major>
!s8_a = !blockscale.tensor<64x256xi8, "n2m4", layout = tiled_128x4>
!u8_a = !blockscale.tensor<64x256xui8, "n2m4", layout = tiled_128x4>
!s8_b = !blockscale.tensor<128x256xi8>
!u8_b = !blockscale.tensor<128x256xui8>

// CHECK-LABEL: func.func @f16(
// CHECK: mma(<kind = f16, a = f16, b = f16, sparse = true>)
func.func @f16(%a: !f16_a, %b: !f16_b) -> tensor<?x128xf16> {
  %0 = blockscale.matmul %a, %b : !f16_a, !f16_b -> tensor<?x128xf16>
  return %0 : tensor<?x128xf16>
}

// CHECK-LABEL: func.func @bf16(
// CHECK: mma(<kind = f16, a = bf16, b = bf16, sparse = true>)
func.func @bf16(%a: !bf16_a, %b: !bf16_b) -> tensor<2x64x128xf32> {
  %0 = blockscale.matmul %a, %b mma(<kind = f16, a = bf16, b = bf16>) : !bf16_a, !bf16_b -> tensor<2x64x128xf32>
  return %0 : tensor<2x64x128xf32>
}

// CHECK-LABEL: func.func @tf32(
// CHECK: mma(<kind = tf32, a = tf32, b = tf32, sparse = true>)
func.func @tf32(%a: !tf32_a, %b: !tf32_b) -> tensor<64x128xf32> {
  %0 = blockscale.matmul %a, %b : !tf32_a, !tf32_b -> tensor<64x128xf32>
  return %0 : tensor<64x128xf32>
}

// CHECK-LABEL: func.func @narrow(
// CHECK: mma(<kind = f8f6f4, a = e2m1, b = e3m2, sparse = true>)
func.func @narrow(%a: !e2m1_a, %b: !e3m2_b) -> tensor<64x128xf32> {
  %0 = blockscale.matmul %a, %b : !e2m1_a, !e3m2_b -> tensor<64x128xf32>
  return %0 : tensor<64x128xf32>
}

// 1 of 2 is stored as 2 of 4.
// CHECK-LABEL: func.func @mn_major(
// CHECK: mma(<kind = f8f6f4, a = e4m3, b = e5m2, a_mn_major = true, b_mn_major = true, sparse = true>)
func.func @mn_major(%a: !e4m3_a, %b: !e5m2_b) -> tensor<64x128xf32> {
  %0 = blockscale.matmul %a, %b : !e4m3_a, !e5m2_b -> tensor<64x128xf32>
  return %0 : tensor<64x128xf32>
}

// CHECK-LABEL: func.func @integers(
// CHECK: mma(<kind = i8, a = int8, b = int8, sparse = true>)
// CHECK: mma(<kind = i8, a = int8, b = uint8, sparse = true>)
// CHECK: mma(<kind = i8, a = uint8, b = int8, sparse = true>)
// CHECK: mma(<kind = i8, a = uint8, b = uint8, sparse = true>)
func.func @integers(%sa: !s8_a, %ua: !u8_a, %sb: !s8_b, %ub: !u8_b) -> (tensor<64x128xi32>, tensor<64x128xi32>, tensor<64x128xi32>, tensor<64x128xf32>) {
  %0 = blockscale.matmul %sa, %sb : !s8_a, !s8_b -> tensor<64x128xi32>
  %1 = blockscale.matmul %sa, %ub : !s8_a, !u8_b -> tensor<64x128xi32>
  %2 = blockscale.matmul %ua, %sb : !u8_a, !s8_b -> tensor<64x128xi32>
  %3 = blockscale.matmul %ua, %ub : !u8_a, !u8_b -> tensor<64x128xf32>
  return %0, %1, %2, %3 : tensor<64x128xi32>, tensor<64x128xi32>, tensor<64x128xi32>, tensor<64x128xf32>
}

// Scales that cover all of K are no operands of an instruction.
!tensor_scale = !blockscale.tensor<64x256xf8E4M3FN, "float32">
!row_scales = !blockscale.tensor<128x256xf8E5M2, "e8m0_t32_t0">
// CHECK-LABEL: func.func @scales_of_k(
// CHECK: mma(<kind = f8f6f4, a = e4m3, b = e5m2>)
func.func @scales_of_k(%a: !tensor_scale, %b: !row_scales) -> tensor<64x128xf32> {
  %0 = blockscale.matmul %a, %b : !tensor_scale, !row_scales -> tensor<64x128xf32>
  return %0 : tensor<64x128xf32>
}

!token_scales = !blockscale.tensor<64x256xi8, "float32_t0">
!channel_scales = !blockscale.tensor<128x256xi8, "float32_t0">
// CHECK-LABEL: func.func @integer_scales_of_k(
// CHECK: mma(<kind = i8, a = int8, b = int8>)
func.func @integer_scales_of_k(%a: !token_scales, %b: !channel_scales) -> tensor<64x128xbf16> {
  %0 = blockscale.matmul %a, %b : !token_scales, !channel_scales -> tensor<64x128xbf16>
  return %0 : tensor<64x128xbf16>
}

// Without an instruction of kind i8 bytes are bf16, where f32 has every sum.
module attributes {blockscale.target = #blockscale.target<sm_103a>} {
  // CHECK-LABEL: func.func @bytes_by_half(
  // CHECK: mma(<kind = f16, a = bf16, b = bf16>)
  // CHECK: mma(<kind = f16, a = bf16, b = bf16>)
  func.func @bytes_by_half(%a: !blockscale.tensor<64x1024xi8, "float32_t0">, %b: !blockscale.tensor<128x1024xi8, "float32_t0">, %u: !blockscale.tensor<64x514xui8>, %s: !blockscale.tensor<128x514xi8>) -> (tensor<64x128xbf16>, tensor<64x128xf32>) {
    %0 = blockscale.matmul %a, %b : !blockscale.tensor<64x1024xi8, "float32_t0">, !blockscale.tensor<128x1024xi8, "float32_t0"> -> tensor<64x128xbf16>
    %1 = blockscale.matmul %u, %s : !blockscale.tensor<64x514xui8>, !blockscale.tensor<128x514xi8> -> tensor<64x128xf32>
    return %0, %1 : tensor<64x128xbf16>, tensor<64x128xf32>
  }
}
