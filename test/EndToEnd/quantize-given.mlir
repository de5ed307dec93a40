// Kernels that quantise under one scale for each matrix that is given, as static
// activation scales of checkpoints are, bit for bit: every element and type of input,
// each rounding, dynamic sizes, transposes and both ways, scales of float32, float16,
// bfloat16 and powers of two, that are tiny, huge, 0, infinite and NaN too.

// REQUIRES: mlir
// RUN: blockscale verify %s --m=133 --k=352 | FileCheck %s
// RUN: blockscale verify %s --m=64 --k=64 --target=sm_120a --data=random --seed=7 --conditions=harsh | FileCheck %s --check-prefix=ONCE

// CHECK-NOT: FAIL
// CHECK-COUNT-20: pass
// CHECK-NOT: {{FAIL|pass}}

// ONCE-NOT: FAIL
// ONCE-COUNT-10: pass
// ONCE-NOT: {{FAIL|pass}}

!whole = !blockscale.tensor<9x?x?xf8E4M3FN, "float32">
func.func @static(%x: tensor<9x?x?xbf16>, %t: tensor<9xf32>) -> !whole {
  %0 = blockscale.quantize %x tensor_scale(%t : tensor<9xf32>) : tensor<9x?x?xbf16> to !whole
  return %0 : !whole
}

!one = !blockscale.tensor<?x?xf8E5M2, "float32">
func.func @random(%x: tensor<?x?xf32>, %t: tensor<f32>) -> !one {
  %0 = blockscale.quantize %x tensor_scale(%t : tensor<f32>) rounding(stochastic, seed = 5) : tensor<?x?xf32> to !one
  return %0 : !one
}

!bits = !blockscale.tensor<8x?x96xf6E3M2FN, "bfloat16">
func.func @instruction(%x: tensor<8x?x96xf32>, %t: tensor<8xf32>) -> !bits {
  %0 = blockscale.quantize %x tensor_scale(%t : tensor<8xf32>) rounding(stochastic_rs, seed = 5) : tensor<8x?x96xf32> to !bits
  return %0 : !bits
}

!low = !blockscale.tensor<8x?x96xf6E2M3FN, "float16">
func.func @low(%x: tensor<8x?x96xf16>, %t: tensor<8xf32>) -> !low {
  %0 = blockscale.quantize %x tensor_scale(%t : tensor<8xf32>) rounding(away) : tensor<8x?x96xf16> to !low
  return %0 : !low
}

!flat = !blockscale.tensor<8x?x96xf4E2M1FN, "e8m0">
func.func @flat(%x: tensor<8x?x96xbf16>, %t: tensor<8xf32>) -> !flat {
  %0 = blockscale.quantize %x tensor_scale(%t : tensor<8xf32>) rounding(zero) : tensor<8x?x96xbf16> to !flat
  return %0 : !flat
}

!integers = !blockscale.tensor<9x?x?xi8, "float32">
func.func @integers(%x: tensor<9x?x?xbf16>, %t: tensor<9xf32>) -> !integers {
  %0 = blockscale.quantize %x tensor_scale(%t : tensor<9xf32>) : tensor<9x?x?xbf16> to !integers
  return %0 : !integers
}

!chance = !blockscale.tensor<8x70x?xi8, "float16">
func.func @chance(%x: tensor<8x70x?xf16>, %t: tensor<8xf32>) -> !chance {
  %0 = blockscale.quantize %x tensor_scale(%t : tensor<8xf32>) rounding(stochastic, seed = -3) : tensor<8x70x?xf16> to !chance
  return %0 : !chance
}

!near = !blockscale.tensor<8x70x?xi8, "bfloat16">
func.func @away(%x: tensor<8x70x?xf32>, %t: tensor<8xf32>) -> !near {
  %0 = blockscale.quantize %x tensor_scale(%t : tensor<8xf32>) rounding(away) : tensor<8x70x?xf32> to !near
  return %0 : !near
}

!columns = !blockscale.tensor<7x96x64xf8E4M3FN, "float32">
func.func @columns(%x: tensor<7x64x96xbf16>, %t: tensor<7xf32>) -> !columns {
  %e = tensor.empty() : tensor<7x96x64xbf16>
  %y = linalg.transpose ins(%x : tensor<7x64x96xbf16>) outs(%e : tensor<7x96x64xbf16>) permutation = [0, 2, 1]
  %0 = blockscale.quantize %y tensor_scale(%t : tensor<7xf32>) : tensor<7x96x64xbf16> to !columns
  return %0 : !columns
}

!rows = !blockscale.tensor<6x96x160xf8E4M3FN, "float32">
!turned = !blockscale.tensor<6x160x96xi8, "bfloat16">
func.func @both(%x: tensor<6x96x160xf16>, %t: tensor<6xf32>) -> (!rows, !turned) {
  %e = tensor.empty() : tensor<6x160x96xf16>
  %y = linalg.transpose ins(%x : tensor<6x96x160xf16>) outs(%e : tensor<6x160x96xf16>) permutation = [0, 2, 1]
  %0 = blockscale.quantize %x tensor_scale(%t : tensor<6xf32>) : tensor<6x96x160xf16> to !rows
  %1 = blockscale.quantize %y tensor_scale(%t : tensor<6xf32>) : tensor<6x160x96xf16> to !turned
  return %0, %1 : !rows, !turned
}
