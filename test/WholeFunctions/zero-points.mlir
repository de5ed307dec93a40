// Operands whose zero points the host subtracts where it packs them: arguments,
// constants and what the host quantises, against the same functions by linalg on the
// CPU; and such that it stores in 16 bits.

// REQUIRES: mlir
// RUN: blockscale verify %s --conditions=plain --data=exact > %t.txt
// RUN: FileCheck %s < %t.txt
// RUN: blockscale verify %s --target=sm_120a --conditions=plain --data=exact > %t.txt
// RUN: FileCheck %s < %t.txt
// CHECK: function
// CHECK-DAG: {{^}}rows exact - 1 6144 0 0 0 pass
// CHECK-DAG: {{^}}groups exact - 1 3072 0 0 0 pass
// CHECK-DAG: {{^}}constants exact - 2 256 0 0 0 pass
// CHECK-DAG: {{^}}awq exact - 1 3072 0 0 0 pass
// CHECK-DAG: {{^}}gptq8 exact - 1 3072 0 {{.*}} 0 pass
// CHECK-DAG: {{^}}gptq2 exact - 1 3072 0 {{.*}} 0 pass
// CHECK-DAG: {{^}}gptq3 exact - 1 3072 0 {{.*}} 0 pass
// CHECK-DAG: {{^}}mxint8 exact - 1 3072 0 {{.*}} 0 pass
// CHECK-DAG: {{^}}squares exact - 1 17920 0 {{.*}} 0 pass

!rows_x = !blockscale.tensor<2x64x256xf8E4M3FN, "float32_t0">
!rows_w = !blockscale.tensor<2x48x256xui4, "float32_int8_t0">
func.func @rows(%x: tensor<2x64x256xf32>, %w: tensor<2x48x256xf32>) -> tensor<2x64x48xf32> {
  %0 = blockscale.quantize %x : tensor<2x64x256xf32> to !rows_x
  %1 = blockscale.quantize %w : tensor<2x48x256xf32> to !rows_w
  %2 = blockscale.matmul %0, %1 : !rows_x, !rows_w -> tensor<2x64x48xf32>
  return %2 : tensor<2x64x48xf32>
}

!groups_x = !blockscale.tensor<64x256xf8E4M3FN, "float32_t128">
!groups_w = !blockscale.tensor<48x256xui4, "bfloat16_int8_t128">
func.func @groups(%x: !groups_x, %w: tensor<48x256xf32>) -> tensor<64x48xf32> {
  %0 = blockscale.quantize %w : tensor<48x256xf32> to !groups_w
  %1 = blockscale.matmul %x, %0 : !groups_x, !groups_w -> tensor<64x48xf32>
  return %1 : tensor<64x48xf32>
}

!squares_x = !blockscale.tensor<70x256xf8E4M3FN, "float32_t128">
!squares_w = !blockscale.tensor<256x256xui4, "float32_int16_t128_t128">
func.func @squares(%x: !squares_x, %w: tensor<256x256xf32>) -> tensor<70x256xf32> {
  %0 = blockscale.quantize %w : tensor<256x256xf32> to !squares_w
  %1 = blockscale.matmul %x, %0 : !squares_x, !squares_w -> tensor<70x256xf32>
  return %1 : tensor<70x256xf32>
}

// Beside elements of 16 bits, in which the differences are stored.
!f16 = !blockscale.tensor<64x256xf16>
!awq_w = !blockscale.tensor<48x256xui4, "float16_int8_t128">
func.func @awq(%x: !f16, %w: tensor<48x256xf32>) -> tensor<64x48xf32> {
  %0 = blockscale.quantize %w : tensor<48x256xf32> to !awq_w
  %1 = blockscale.matmul %x, %0 : !f16, !awq_w -> tensor<64x48xf32>
  return %1 : tensor<64x48xf32>
}

!bf16 = !blockscale.tensor<64x256xbf16>
!gptq8_w = !blockscale.tensor<48x256xui8, "float32_int16_t32">
func.func @gptq8(%x: !bf16, %w: tensor<48x256xf32>) -> tensor<64x48xf32> {
  %0 = blockscale.quantize %w : tensor<48x256xf32> to !gptq8_w
  %1 = blockscale.matmul %x, %0 : !bf16, !gptq8_w -> tensor<64x48xf32>
  return %1 : tensor<64x48xf32>
}

!gptq2_w = !blockscale.tensor<48x256xui2, "float16_int8_t128">
func.func @gptq2(%x: !bf16, %w: tensor<48x256xf32>) -> tensor<64x48xf32> {
  %0 = blockscale.quantize %w : tensor<48x256xf32> to !gptq2_w
  %1 = blockscale.matmul %x, %0 : !bf16, !gptq2_w -> tensor<64x48xf32>
  return %1 : tensor<64x48xf32>
}

!gptq3_x = !blockscale.tensor<64x256xf8E4M3FN>
!gptq3_w = !blockscale.tensor<48x256xui3, "float32_int5_t0">
func.func @gptq3(%x: !gptq3_x, %w: tensor<48x256xf32>) -> tensor<64x48xf32> {
  %0 = blockscale.quantize %w : tensor<48x256xf32> to !gptq3_w
  %1 = blockscale.matmul %x, %0 : !gptq3_x, !gptq3_w -> tensor<64x48xf32>
  return %1 : tensor<64x48xf32>
}

!mxint8_x = !blockscale.tensor<64x256xi8, "e8m0_t32">
!mxint8_w = !blockscale.tensor<48x256xi8, "e8m0_t64">
func.func @mxint8(%x: !mxint8_x, %w: tensor<48x256xf32>) -> tensor<64x48xf32> {
  %0 = blockscale.quantize %w : tensor<48x256xf32> to !mxint8_w
  %1 = blockscale.matmul %x, %0 : !mxint8_x, !mxint8_w -> tensor<64x48xf32>
  return %1 : tensor<64x48xf32>
}

// The same codes less other zero points are another operand, whatever is on the
// device already.
!constant_x = !blockscale.tensor<64x8xf8E4M3FN>
!constant_w = !blockscale.tensor<4x8xui4, "float32_int8_t0">
func.func @constants(%x: !constant_x) -> tensor<64x4xf32> {
  %codes = arith.constant dense<[
      [0, 1, 2, 3, 4, 5, 6, 7], [8, 9, 10, 11, 12, 13, 14, 15],
      [3, 1, 4, 1, 5, 9, 2, 6], [15, 0, 15, 0, 7, 7, 0, 1]]> : tensor<4x8xi4>
  %scales = arith.constant dense<[[1.0], [2.0], [0.5], [4.0]]> : tensor<4x1xf32>
  %zeros = arith.constant dense<[[0], [15], [8], [1]]> : tensor<4x1xi8>
  %others = arith.constant dense<[[7], [3], [0], [15]]> : tensor<4x1xi8>
  %w = blockscale.assemble %codes, %scales zeros(%zeros : tensor<4x1xi8>) : tensor<4x8xi4>, tensor<4x1xf32> to !constant_w
  %v = blockscale.assemble %codes, %scales zeros(%others : tensor<4x1xi8>) : tensor<4x8xi4>, tensor<4x1xf32> to !constant_w
  %0 = blockscale.matmul %x, %w : !constant_x, !constant_w -> tensor<64x4xf32>
  %1 = blockscale.matmul %x, %v : !constant_x, !constant_w -> tensor<64x4xf32>
  %2 = arith.constant dense<3.0> : tensor<64x4xf32>
  %3 = arith.mulf %1, %2 : tensor<64x4xf32>
  %4 = arith.addf %0, %3 : tensor<64x4xf32>
  return %4 : tensor<64x4xf32>
}
