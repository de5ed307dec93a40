// Operands that the host packs as elements of another format: arguments, constants
// and what the host quantises, against the same functions by linalg on the CPU.

// REQUIRES: mlir
// RUN: blockscale verify %s --conditions=plain --data=exact > %t.txt
// RUN: FileCheck %s < %t.txt
// CHECK: function
// CHECK-DAG: {{^}}arguments exact - 1 4096 0 0 0 pass
// CHECK-DAG: {{^}}constant exact - 1 256 0 0 0 pass
// CHECK-DAG: {{^}}tiles exact - 1 4096 0 0 0 pass
// CHECK-DAG: {{^}}fnuz exact - 1 4096 0 0 0 pass
// CHECK-DAG: {{^}}quantised exact - 1 4096 0 0 0 pass
// CHECK-DAG: {{^}}largest exact - 1 4096 0 {{[^ ]+}} 0 pass

!x = !blockscale.tensor<64x128xi4, "e8m0_t32", layout = tiled_128x4>
func.func @arguments(%x: !x, %w: !x, %y: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = blockscale.matmul %x, %w : !x, !x -> tensor<64x64xf32>
  %1 = tensor.empty() : tensor<64x64xf32>
  %2 = linalg.transpose ins(%0 : tensor<64x64xf32>) outs(%1 : tensor<64x64xf32>) permutation = [1, 0]
  return %2 : tensor<64x64xf32>
}

!v = !blockscale.tensor<64x32xi4, "e8m0_t32", layout = tiled_128x4>
!c = !blockscale.tensor<4x32xi4, "e8m0_t32", layout = tiled_128x4>
func.func @constant(%x: !v, %y: tensor<64x4xf32>) -> tensor<64x4xf32> {
  %0 = arith.constant dense<[
      [-3.5, -1.0, 1.5, -3.5, -1.0, 1.5, -3.5, -1.0, 1.5, -3.5, -1.0, 1.5, -3.5, -1.0, 1.5, -3.5, -1.0, 1.5, -3.5, -1.0, 1.5, -3.5, -1.0, 1.5, -3.5, -1.0, 1.5, -3.5, -1.0, 1.5, -3.5, -1.0],
      [-4.0, 1.0, 6.0, -4.0, 1.0, 6.0, -4.0, 1.0, 6.0, -4.0, 1.0, 6.0, -4.0, 1.0, 6.0, -4.0, 1.0, 6.0, -4.0, 1.0, 6.0, -4.0, 1.0, 6.0, -4.0, 1.0, 6.0, -4.0, 1.0, 6.0, -4.0, 1.0],
      [-2.0, 8.0, -12.0, -2.0, 8.0, -12.0, -2.0, 8.0, -12.0, -2.0, 8.0, -12.0, -2.0, 8.0, -12.0, -2.0, 8.0, -12.0, -2.0, 8.0, -12.0, -2.0, 8.0, -12.0, -2.0, 8.0, -12.0, -2.0, 8.0, -12.0, -2.0, 8.0],
      [8.0, 28.0, -12.0, 8.0, 28.0, -12.0, 8.0, 28.0, -12.0, 8.0, 28.0, -12.0, 8.0, 28.0, -12.0, 8.0, 28.0, -12.0, 8.0, 28.0, -12.0, 8.0, 28.0, -12.0, 8.0, 28.0, -12.0, 8.0, 28.0, -12.0, 8.0, 28.0]]> : tensor<4x32xf32>
  %w = blockscale.quantize %0 : tensor<4x32xf32> to !c
  %1 = blockscale.matmul %x, %w : !v, !c -> tensor<64x4xf32>
  %2 = arith.addf %1, %1 : tensor<64x4xf32>
  return %2 : tensor<64x4xf32>
}

func.func @quantised(%x: tensor<64x128xf32>, %w: !x) -> tensor<64x64xf32> {
  %0 = blockscale.quantize %x : tensor<64x128xf32> to !x
  %1 = blockscale.matmul %0, %w : !x, !x -> tensor<64x64xf32>
  return %1 : tensor<64x64xf32>
}

!f = !blockscale.tensor<64x256xf8E4M3FN, "float32_t128">
!i = !blockscale.tensor<64x256xi4, "float32_t128">
func.func @tiles(%x: !f, %w: !i) -> tensor<64x64xf32> {
  %0 = blockscale.matmul %x, %w : !f, !i -> tensor<64x64xf32>
  %1 = arith.addf %0, %0 : tensor<64x64xf32>
  %2 = math.absf %1 : tensor<64x64xf32>
  return %2 : tensor<64x64xf32>
}

!n = !blockscale.tensor<64x128xf8E4M3FNUZ, "e8m0_t32", layout = tiled_128x4>
func.func @fnuz(%x: !x, %w: tensor<64x128xf8E4M3FN>, %s: tensor<1x1x32x16xf8E8M0FNU>) -> tensor<64x64xf32> {
  %bits = arith.bitcast %w : tensor<64x128xf8E4M3FN> to tensor<64x128xi8>
  %mask = arith.constant dense<0x3f> : tensor<64x128xi8>
  %small = arith.andi %bits, %mask : tensor<64x128xi8>
  %n = arith.bitcast %small : tensor<64x128xi8> to tensor<64x128xf8E4M3FNUZ>
  %v = blockscale.assemble %n, %s : tensor<64x128xf8E4M3FNUZ>, tensor<1x1x32x16xf8E8M0FNU> to !n
  %0 = blockscale.matmul %x, %v : !x, !n -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// Under scales of m / 240 the largest of each tile is code 0x7f, which 8 bits of OCP lack.
!lq = !blockscale.tensor<64x256xf8E4M3FNUZ, "float32_t128">
func.func @largest(%x: tensor<64x256xf32>, %w: !f) -> tensor<64x64xf32> {
  %0 = blockscale.quantize %x : tensor<64x256xf32> to !lq
  %1 = blockscale.matmul %0, %w : !lq, !f -> tensor<64x64xf32>
  return %1 : tensor<64x64xf32>
}
