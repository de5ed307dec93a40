// Kernels that quantise under a float scale for each tile, bit for bit: DeepSeek's for
// 128 elements of a row and for 128 x 128, shorter and longer ones; of rows, of
// transposes, and both in one pass; every element that products take so, the smaller of
// two errors, rounding at random; tiles that are cut off along both, dynamic sizes,
// matrices in batches.

// REQUIRES: mlir
// RUN: blockscale verify %s --m=133 --k=352 | FileCheck %s
// RUN: blockscale verify %s --m=300 --k=608 --target=sm_103a --data=random --seed=7 --conditions=harsh | FileCheck %s --check-prefix=ONCE
// RUN: blockscale verify %s --m=1 --k=128 --target=sm_120a --data=exact --seed=3 | FileCheck %s --check-prefix=ONCE

// CHECK-NOT: FAIL
// CHECK-COUNT-18: pass
// CHECK-NOT: {{FAIL|pass}}

// ONCE-NOT: FAIL
// ONCE-COUNT-9: pass
// ONCE-NOT: {{FAIL|pass}}

!row = !blockscale.tensor<?x?xf8E4M3FN, "float32_t128">
func.func @activations(%x: tensor<?x?xbf16>) -> !row {
  %0 = blockscale.quantize %x : tensor<?x?xbf16> to !row
  return %0 : !row
}

!square = !blockscale.tensor<?x?xf8E4M3FN, "float32_t128_t128">
func.func @weights(%x: tensor<?x?xbf16>) -> !square {
  %0 = blockscale.quantize %x : tensor<?x?xbf16> to !square
  return %0 : !square
}

!batch = !blockscale.tensor<3x70x?xf8E5M2, "float32_t64">
func.func @batches(%x: tensor<3x70x?xf32>) -> !batch {
  %0 = blockscale.quantize %x rounding(stochastic, seed = 5) : tensor<3x70x?xf32> to !batch
  return %0 : !batch
}

!longest = !blockscale.tensor<2x?x?xf6E2M3FN, "float32_t256">
func.func @longest(%x: tensor<2x?x?xf16>) -> !longest {
  %0 = blockscale.quantize %x rule(min_error) : tensor<2x?x?xf16> to !longest
  return %0 : !longest
}

!short = !blockscale.tensor<2x?x?xf4E2M1FN, "float32_t32">
func.func @short(%x: tensor<2x?x?xbf16>) -> !short {
  %0 = blockscale.quantize %x rounding(away) : tensor<2x?x?xbf16> to !short
  return %0 : !short
}

!tall = !blockscale.tensor<?x?xf6E3M2FN, "float32_t256_t32">
func.func @tall(%x: tensor<?x?xf32>) -> !tall {
  %0 = blockscale.quantize %x rounding(zero) : tensor<?x?xf32> to !tall
  return %0 : !tall
}

!columns = !blockscale.tensor<2x133x384xf8E4M3FN, "float32_t128">
func.func @columns(%x: tensor<2x384x133xbf16>) -> !columns {
  %e = tensor.empty() : tensor<2x133x384xbf16>
  %t = linalg.transpose ins(%x : tensor<2x384x133xbf16>) outs(%e : tensor<2x133x384xbf16>) permutation = [0, 2, 1]
  %0 = blockscale.quantize %t : tensor<2x133x384xbf16> to !columns
  return %0 : !columns
}

!turned = !blockscale.tensor<133x384xf8E4M3FN, "float32_t128_t128">
func.func @square_columns(%x: tensor<384x133xf32>) -> !turned {
  %e = tensor.empty() : tensor<133x384xf32>
  %t = linalg.transpose ins(%x : tensor<384x133xf32>) outs(%e : tensor<133x384xf32>) permutation = [1, 0]
  %0 = blockscale.quantize %t : tensor<133x384xf32> to !turned
  return %0 : !turned
}

!both = !blockscale.tensor<2x384x160xf8E4M3FN, "float32_t64_t32">
!rows = !blockscale.tensor<2x160x384xf8E4M3FN, "float32_t128">
func.func @both(%x: tensor<2x160x384xbf16>) -> (!rows, !both) {
  %e = tensor.empty() : tensor<2x384x160xbf16>
  %t = linalg.transpose ins(%x : tensor<2x160x384xbf16>) outs(%e : tensor<2x384x160xbf16>) permutation = [0, 2, 1]
  %0 = blockscale.quantize %x : tensor<2x160x384xbf16> to !rows
  %1 = blockscale.quantize %t : tensor<2x384x160xbf16> to !both
  return %0, %1 : !rows, !both
}
