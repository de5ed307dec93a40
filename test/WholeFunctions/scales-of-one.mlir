// Products of whole functions where instructions read the scales of one operand alone, or
// not beside the other one's elements, against the same functions by linalg on the CPU: the
// host quantises, lays scales out in tiles or leaves them in rows, and launches. Scales of
// longer tiles and of several rows are repeated, as such kernels read them.

// REQUIRES: mlir
// RUN: blockscale verify %s --conditions=plain --data=exact > %t.txt
// RUN: FileCheck %s < %t.txt
// CHECK: function
// CHECK-DAG: {{^}}w4a8 exact - 1 3072 0 {{.*}} 0 pass
// CHECK-DAG: {{^}}of_tiles exact - 1 3072 0 {{.*}} 0 pass
// CHECK-DAG: {{^}}w4a16 exact - 1 3072 0 {{.*}} 0 pass
// CHECK-DAG: {{^}}of_fractions exact - 1 3072 0 {{.*}} 0 pass
// CHECK-DAG: {{^}}of_two_formats exact - 1 3072 0 {{.*}} 0 pass

// Without tensor memory one operand has scales of 1 beside those in registers.
// RUN: blockscale verify %s --conditions=plain --data=exact --target=sm_120a | FileCheck %s

!tokens = !blockscale.tensor<64x256xf8E4M3FN, "float32_t0">
!mxfp4 = !blockscale.tensor<48x256xf4E2M1FN, "e8m0_t64", layout = tiled_128x4>
func.func @w4a8(%x: tensor<64x256xf32>, %w: tensor<48x256xf32>) -> tensor<64x48xf32> {
  %0 = blockscale.quantize %x : tensor<64x256xf32> to !tokens
  %1 = blockscale.quantize %w : tensor<48x256xf32> to !mxfp4
  %2 = blockscale.matmul %0, %1 : !tokens, !mxfp4 -> tensor<64x48xf32>
  return %2 : tensor<64x48xf32>
}

!tiles = !blockscale.tensor<64x256xf8E4M3FN, "float32_t128">
!squares = !blockscale.tensor<48x256xf4E2M1FN, "e8m0_t16_t32", layout = tiled_128x4>
func.func @of_tiles(%x: !tiles, %w: tensor<48x256xf32>) -> tensor<64x48xf32> {
  %0 = blockscale.quantize %w : tensor<48x256xf32> to !squares
  %1 = blockscale.matmul %x, %0 : !tiles, !squares -> tensor<64x48xf32>
  return %1 : tensor<64x48xf32>
}

!half = !blockscale.tensor<64x256xbf16>
!rows = !blockscale.tensor<48x256xf4E2M1FN, "e8m0_t32">
func.func @w4a16(%x: !half, %w: tensor<48x256xf32>) -> tensor<64x48xf32> {
  %0 = blockscale.quantize %w : tensor<48x256xf32> to !rows
  %1 = blockscale.matmul %x, %0 : !half, !rows -> tensor<64x48xf32>
  return %1 : tensor<64x48xf32>
}

!fractions = !blockscale.tensor<48x256xf4E2M1FN, "e4m3fn_t64">
func.func @of_fractions(%x: tensor<64x256xf32>, %w: tensor<48x256xf32>) -> tensor<64x48xf32> {
  %0 = blockscale.quantize %x : tensor<64x256xf32> to !tokens
  %1 = blockscale.quantize %w : tensor<48x256xf32> to !fractions
  %2 = blockscale.matmul %0, %1 : !tokens, !fractions -> tensor<64x48xf32>
  return %2 : tensor<64x48xf32>
}

!mxfp8 = !blockscale.tensor<64x256xf8E4M3FN, "e8m0_t64", layout = tiled_128x4>
func.func @of_two_formats(%x: tensor<64x256xf32>, %w: tensor<48x256xf32>) -> tensor<64x48xf32> {
  %0 = blockscale.quantize %x : tensor<64x256xf32> to !mxfp8
  %1 = blockscale.quantize %w : tensor<48x256xf32> to !fractions
  %2 = blockscale.matmul %0, %1 : !mxfp8, !fractions -> tensor<64x48xf32>
  return %2 : tensor<64x48xf32>
}
