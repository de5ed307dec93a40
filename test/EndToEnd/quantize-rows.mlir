// Kernels that quantise under one float scale for each row, as activations have one for
// each token, and of transposes, as weights have one for each channel, bit for bit: rows that are shorter and longer than a warp reads at once,
// every element and type of input, each rounding, dynamic sizes, matrices in batches.

// REQUIRES: mlir
// RUN: blockscale verify %s --m=133 --k=352 | FileCheck %s
// RUN: blockscale verify %s --m=37 --k=1120 --target=sm_110a --data=random --seed=7 --conditions=harsh | FileCheck %s --check-prefix=ONCE
// RUN: blockscale verify %s --m=1 --k=64 --target=sm_120a --data=exact --seed=3 | FileCheck %s --check-prefix=ONCE

// CHECK-NOT: FAIL
// CHECK-COUNT-12: pass
// CHECK-NOT: {{FAIL|pass}}

// ONCE-NOT: FAIL
// ONCE-COUNT-6: pass
// ONCE-NOT: {{FAIL|pass}}

!row = !blockscale.tensor<?x?xf8E4M3FN, "float32_t0">
func.func @tokens(%x: tensor<?x?xbf16>) -> !row {
  %0 = blockscale.quantize %x : tensor<?x?xbf16> to !row
  return %0 : !row
}

!batch = !blockscale.tensor<3x70x?xf8E5M2, "float32_t0">
func.func @batches(%x: tensor<3x70x?xf32>) -> !batch {
  %0 = blockscale.quantize %x rounding(stochastic, seed = 5) : tensor<3x70x?xf32> to !batch
  return %0 : !batch
}

!low = !blockscale.tensor<2x?x1056xf6E2M3FN, "float32_t0">
func.func @low(%x: tensor<2x?x1056xf16>) -> !low {
  %0 = blockscale.quantize %x rounding(away) : tensor<2x?x1056xf16> to !low
  return %0 : !low
}

!flat = !blockscale.tensor<?x?xf4E2M1FN, "float32_t0">
func.func @flat(%x: tensor<?x?xbf16>) -> !flat {
  %0 = blockscale.quantize %x rounding(zero) : tensor<?x?xbf16> to !flat
  return %0 : !flat
}

func.func @channels(%x: tensor<?x?xbf16>) -> !row {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %k = tensor.dim %x, %c0 : tensor<?x?xbf16>
  %m = tensor.dim %x, %c1 : tensor<?x?xbf16>
  %e = tensor.empty(%m, %k) : tensor<?x?xbf16>
  %t = linalg.transpose ins(%x : tensor<?x?xbf16>) outs(%e : tensor<?x?xbf16>) permutation = [1, 0]
  %0 = blockscale.quantize %t : tensor<?x?xbf16> to !row
  return %0 : !row
}

!columns = !blockscale.tensor<3x70x1056xi8, "float32_t0">
func.func @columns(%x: tensor<3x1056x70xf32>) -> !columns {
  %e = tensor.empty() : tensor<3x70x1056xf32>
  %t = linalg.transpose ins(%x : tensor<3x1056x70xf32>) outs(%e : tensor<3x70x1056xf32>) permutation = [0, 2, 1]
  %0 = blockscale.quantize %t rounding(stochastic, seed = 5) : tensor<3x70x1056xf32> to !columns
  return %0 : !columns
}
