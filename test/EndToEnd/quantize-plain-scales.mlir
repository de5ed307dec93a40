// Kernels that quantise under scales of float16 and bfloat16, and of powers of two for
// whole rows and matrices by each rule, bit for bit: rows, matrices, tiles, transposes
// and both ways, every element and type of input, dynamic sizes.

// REQUIRES: mlir
// RUN: blockscale verify %s --m=133 --k=352 | FileCheck %s
// RUN: blockscale verify %s --m=64 --k=64 --target=sm_120a --data=random --seed=7 --conditions=harsh | FileCheck %s --check-prefix=ONCE

// CHECK-NOT: FAIL
// CHECK-COUNT-24: pass
// CHECK-NOT: {{FAIL|pass}}

// ONCE-NOT: FAIL
// ONCE-COUNT-12: pass
// ONCE-NOT: {{FAIL|pass}}

!half = !blockscale.tensor<?x?xf8E4M3FN, "float16_t0">
func.func @tokens(%x: tensor<?x?xf16>) -> !half {
  %0 = blockscale.quantize %x : tensor<?x?xf16> to !half
  return %0 : !half
}

!batch = !blockscale.tensor<3x70x?xf8E5M2, "bfloat16_t0">
func.func @batches(%x: tensor<3x70x?xf32>) -> !batch {
  %0 = blockscale.quantize %x rounding(stochastic, seed = 5) : tensor<3x70x?xf32> to !batch
  return %0 : !batch
}

!integers = !blockscale.tensor<2x?x96xi8, "float16_t0">
func.func @integers(%x: tensor<2x?x96xbf16>) -> !integers {
  %0 = blockscale.quantize %x : tensor<2x?x96xbf16> to !integers
  return %0 : !integers
}

!power = !blockscale.tensor<2x?x?xf4E2M1FN, "e8m0_t0">
func.func @powers(%x: tensor<2x?x?xbf16>) -> !power {
  %0 = blockscale.quantize %x rule(round_up) rounding(zero) : tensor<2x?x?xbf16> to !power
  return %0 : !power
}

!six = !blockscale.tensor<2x?x96xf6E2M3FN, "e8m0_t0">
func.func @rounded(%x: tensor<2x?x96xf32>) -> !six {
  %0 = blockscale.quantize %x rule(rounded_max) rounding(away) : tensor<2x?x96xf32> to !six
  return %0 : !six
}

!whole = !blockscale.tensor<6x?x?xf8E4M3FN, "bfloat16">
func.func @matrices(%x: tensor<6x?x?xbf16>) -> !whole {
  %0 = blockscale.quantize %x : tensor<6x?x?xbf16> to !whole
  return %0 : !whole
}

!square = !blockscale.tensor<6x?x96xf6E3M2FN, "e8m0">
func.func @mid(%x: tensor<6x?x96xf16>) -> !square {
  %0 = blockscale.quantize %x rule(mid_max) : tensor<6x?x96xf16> to !square
  return %0 : !square
}

!counts = !blockscale.tensor<6x?x96xi8, "bfloat16">
func.func @counts(%x: tensor<6x?x96xf32>) -> !counts {
  %0 = blockscale.quantize %x rounding(stochastic, seed = 9) : tensor<6x?x96xf32> to !counts
  return %0 : !counts
}

!tile = !blockscale.tensor<2x?x?xf8E4M3FN, "bfloat16_t32">
func.func @tiles(%x: tensor<2x?x?xbf16>) -> !tile {
  %0 = blockscale.quantize %x rule(min_error) : tensor<2x?x?xbf16> to !tile
  return %0 : !tile
}

!tall = !blockscale.tensor<2x?x128xf8E5M2, "float16_t8_t64">
func.func @tall(%x: tensor<2x?x128xf32>) -> !tall {
  %0 = blockscale.quantize %x : tensor<2x?x128xf32> to !tall
  return %0 : !tall
}

!columns = !blockscale.tensor<3x70x160xf8E4M3FN, "e8m0_t0">
func.func @columns(%x: tensor<3x160x70xbf16>) -> !columns {
  %e = tensor.empty() : tensor<3x70x160xbf16>
  %t = linalg.transpose ins(%x : tensor<3x160x70xbf16>) outs(%e : tensor<3x70x160xbf16>) permutation = [0, 2, 1]
  %0 = blockscale.quantize %t rule(ceil) : tensor<3x70x160xbf16> to !columns
  return %0 : !columns
}

!rows = !blockscale.tensor<6x96x160xf8E4M3FN, "float16">
!turned = !blockscale.tensor<6x160x96xf8E5M2, "e8m0">
func.func @both(%x: tensor<6x96x160xf16>) -> (!rows, !turned) {
  %e = tensor.empty() : tensor<6x160x96xf16>
  %t = linalg.transpose ins(%x : tensor<6x96x160xf16>) outs(%e : tensor<6x160x96xf16>) permutation = [0, 2, 1]
  %0 = blockscale.quantize %x : tensor<6x96x160xf16> to !rows
  %1 = blockscale.quantize %t rule(top_binade) : tensor<6x160x96xf16> to !turned
  return %0, %1 : !rows, !turned
}
