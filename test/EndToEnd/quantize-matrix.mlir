// Kernels that quantise under one float scale for each matrix, which all CTAs find
// together, bit for bit: every element and type of input, each rounding, dynamic sizes,
// matrices in batches with zeros, NaNs and infinities, transposes and both ways.

// REQUIRES: mlir
// RUN: blockscale verify %s --m=133 --k=352 | FileCheck %s
// RUN: blockscale verify %s --m=37 --k=1120 --target=sm_103a --data=random --seed=7 --conditions=harsh | FileCheck %s --check-prefix=ONCE
// RUN: blockscale verify %s --m=64 --k=64 --target=sm_120a --data=exact --seed=3 | FileCheck %s --check-prefix=ONCE

// CHECK-NOT: FAIL
// CHECK-COUNT-12: pass
// CHECK-NOT: {{FAIL|pass}}

// ONCE-NOT: FAIL
// ONCE-COUNT-6: pass
// ONCE-NOT: {{FAIL|pass}}

!whole = !blockscale.tensor<?x?xf8E4M3FN, "float32">
func.func @tensor(%x: tensor<?x?xbf16>) -> !whole {
  %0 = blockscale.quantize %x : tensor<?x?xbf16> to !whole
  return %0 : !whole
}

!batch = !blockscale.tensor<6x70x?xf8E5M2, "float32">
func.func @batches(%x: tensor<6x70x?xf32>) -> !batch {
  %0 = blockscale.quantize %x rounding(stochastic, seed = 5) : tensor<6x70x?xf32> to !batch
  return %0 : !batch
}

!low = !blockscale.tensor<2x?x1056xf6E2M3FN, "float32">
func.func @low(%x: tensor<2x?x1056xf16>) -> !low {
  %0 = blockscale.quantize %x rounding(away) : tensor<2x?x1056xf16> to !low
  return %0 : !low
}

!flat = !blockscale.tensor<?x?xf4E2M1FN, "float32">
func.func @flat(%x: tensor<?x?xbf16>) -> !flat {
  %0 = blockscale.quantize %x rounding(zero) : tensor<?x?xbf16> to !flat
  return %0 : !flat
}

!columns = !blockscale.tensor<7x96x64xf8E4M3FN, "float32">
func.func @columns(%x: tensor<7x64x96xbf16>) -> !columns {
  %e = tensor.empty() : tensor<7x96x64xbf16>
  %t = linalg.transpose ins(%x : tensor<7x64x96xbf16>) outs(%e : tensor<7x96x64xbf16>) permutation = [0, 2, 1]
  %0 = blockscale.quantize %t : tensor<7x96x64xbf16> to !columns
  return %0 : !columns
}

!rows = !blockscale.tensor<6x96x160xf8E4M3FN, "float32">
!turned = !blockscale.tensor<6x160x96xf8E5M2, "float32">
func.func @both(%x: tensor<6x96x160xf16>) -> (!rows, !turned) {
  %e = tensor.empty() : tensor<6x160x96xf16>
  %t = linalg.transpose ins(%x : tensor<6x96x160xf16>) outs(%e : tensor<6x160x96xf16>) permutation = [0, 2, 1]
  %0 = blockscale.quantize %x : tensor<6x96x160xf16> to !rows
  %1 = blockscale.quantize %t : tensor<6x160x96xf16> to !turned
  return %0, %1 : !rows, !turned
}
