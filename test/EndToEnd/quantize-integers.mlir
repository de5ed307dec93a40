// Kernels that quantise to int8 under one float scale for each row or for each matrix,
// bit for bit: every type of input, each rounding, dynamic sizes, matrices in batches
// with zeros, NaNs and infinities, a transpose and both ways.

// REQUIRES: mlir
// RUN: blockscale verify %s --m=133 --k=352 | FileCheck %s
// RUN: blockscale verify %s --m=37 --k=1120 --data=random --seed=7 --conditions=harsh | FileCheck %s --check-prefix=ONCE
// RUN: blockscale verify %s --m=64 --k=64 --target=sm_120a --data=exact --seed=3 | FileCheck %s --check-prefix=ONCE

// CHECK-NOT: FAIL
// CHECK-COUNT-14: pass
// CHECK-NOT: {{FAIL|pass}}

// ONCE-NOT: FAIL
// ONCE-COUNT-7: pass
// ONCE-NOT: {{FAIL|pass}}

!token = !blockscale.tensor<?x?xi8, "float32_t0">
func.func @tokens(%x: tensor<?x?xbf16>) -> !token {
  %0 = blockscale.quantize %x : tensor<?x?xbf16> to !token
  return %0 : !token
}

!batch = !blockscale.tensor<3x70x?xi8, "float32_t0">
func.func @random(%x: tensor<3x70x?xf32>) -> !batch {
  %0 = blockscale.quantize %x rounding(stochastic, seed = 5) : tensor<3x70x?xf32> to !batch
  return %0 : !batch
}

!two = !blockscale.tensor<2x?x1056xi8, "float32_t0">
func.func @away(%x: tensor<2x?x1056xf16>) -> !two {
  %0 = blockscale.quantize %x rounding(away) : tensor<2x?x1056xf16> to !two
  return %0 : !two
}

func.func @zero(%x: tensor<?x?xf32>) -> !token {
  %0 = blockscale.quantize %x rounding(zero) : tensor<?x?xf32> to !token
  return %0 : !token
}

!whole = !blockscale.tensor<6x?x?xi8, "float32">
func.func @tensor(%x: tensor<6x?x?xbf16>) -> !whole {
  %0 = blockscale.quantize %x : tensor<6x?x?xbf16> to !whole
  return %0 : !whole
}

!columns = !blockscale.tensor<7x96x64xi8, "float32">
func.func @columns(%x: tensor<7x64x96xf32>) -> !columns {
  %e = tensor.empty() : tensor<7x96x64xf32>
  %t = linalg.transpose ins(%x : tensor<7x64x96xf32>) outs(%e : tensor<7x96x64xf32>) permutation = [0, 2, 1]
  %0 = blockscale.quantize %t : tensor<7x96x64xf32> to !columns
  return %0 : !columns
}

!rows = !blockscale.tensor<6x96x160xi8, "float32">
!turned = !blockscale.tensor<6x160x96xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @both(%x: tensor<6x96x160xf16>) -> (!rows, !turned) {
  %e = tensor.empty() : tensor<6x160x96xf16>
  %t = linalg.transpose ins(%x : tensor<6x96x160xf16>) outs(%e : tensor<6x160x96xf16>) permutation = [0, 2, 1]
  %0 = blockscale.quantize %x : tensor<6x96x160xf16> to !rows
  %1 = blockscale.quantize %t : tensor<6x160x96xf16> to !turned
  return %0, %1 : !rows, !turned
}
