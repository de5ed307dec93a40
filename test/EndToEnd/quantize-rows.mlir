// Kernels that quantise under one float scale for each row, as activations have one for
// each token, bit for bit: rows that are shorter and longer than a warp reads at once,
// every element and type of input, each rounding, dynamic sizes, matrices in batches.

// REQUIRES: mlir
// RUN: blockscale verify %s --m=133 --k=352 | FileCheck %s
// RUN: blockscale verify %s --m=37 --k=1120 --target=sm_103a --data=random --seed=7 --conditions=harsh | FileCheck %s --check-prefix=ONCE
// RUN: blockscale verify %s --m=1 --k=64 --target=sm_120a --data=exact --seed=3 | FileCheck %s --check-prefix=ONCE

// CHECK-NOT: FAIL
// CHECK-COUNT-8: pass
// CHECK-NOT: {{FAIL|pass}}

// ONCE-NOT: FAIL
// ONCE-COUNT-4: pass
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
