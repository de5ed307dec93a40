// Kernels that dequantise what kernels that quantise write, bit for bit: scales for tiles
// of several rows and blocks, float scales of tiles, rows and matrices, powers of two of
// the last two, int8, to every type of result. Scales are infinite, NaN, subnormal and negative, too.

// REQUIRES: mlir
// RUN: blockscale verify %s --m=133 --k=352 | FileCheck %s
// RUN: blockscale verify %s --m=37 --k=608 --target=sm_120a --data=random --seed=7 --conditions=harsh | FileCheck %s --check-prefix=ONCE

// CHECK-NOT: FAIL
// CHECK-COUNT-28: pass
// CHECK-NOT: {{FAIL|pass}}

// ONCE-NOT: FAIL
// ONCE-COUNT-14: pass
// ONCE-NOT: {{FAIL|pass}}

!long = !blockscale.tensor<?x?xf8E4M3FN, "e8m0_t128", layout = tiled_128x4>
func.func @long(%a: !long) -> tensor<?x?xbf16> {
  %0 = blockscale.dequantize %a : !long to tensor<?x?xbf16>
  return %0 : tensor<?x?xbf16>
}

!square = !blockscale.tensor<2x?x?xf6E3M2FN, "e8m0_t128_t128", layout = tiled_128x4>
func.func @square(%a: !square) -> tensor<2x?x?xf32> {
  %0 = blockscale.dequantize %a : !square to tensor<2x?x?xf32>
  return %0 : tensor<2x?x?xf32>
}

!sparse = !blockscale.tensor<3x70x160xf4E2M1FN, "multi_float32_e4m3fn_t32", layout = tiled_128x4>
func.func @two_levels(%a: !sparse) -> tensor<3x70x160xf16> {
  %0 = blockscale.dequantize %a : !sparse to tensor<3x70x160xf16>
  return %0 : tensor<3x70x160xf16>
}

!float = !blockscale.tensor<2x?x?xf8E4M3FN, "float32_t128">
func.func @float(%a: !float) -> tensor<2x?x?xbf16> {
  %0 = blockscale.dequantize %a : !float to tensor<2x?x?xbf16>
  return %0 : tensor<2x?x?xbf16>
}

!floats = !blockscale.tensor<2x?x?xf8E5M2, "float32_t32_t64">
func.func @floats(%a: !floats) -> tensor<2x?x?xf16> {
  %0 = blockscale.dequantize %a : !floats to tensor<2x?x?xf16>
  return %0 : tensor<2x?x?xf16>
}

!rows = !blockscale.tensor<2x?x?xf4E2M1FN, "float32_t0">
func.func @rows(%a: !rows) -> tensor<2x?x?xf32> {
  %0 = blockscale.dequantize %a : !rows to tensor<2x?x?xf32>
  return %0 : tensor<2x?x?xf32>
}

!whole = !blockscale.tensor<17x5x?xf8E5M2, "float32">
func.func @matrices(%a: !whole) -> tensor<17x5x?xbf16> {
  %0 = blockscale.dequantize %a : !whole to tensor<17x5x?xbf16>
  return %0 : tensor<17x5x?xbf16>
}

!integers = !blockscale.tensor<?x?xi8, "float32_t0">
func.func @integers(%a: !integers) -> tensor<?x?xbf16> {
  %0 = blockscale.dequantize %a : !integers to tensor<?x?xbf16>
  return %0 : tensor<?x?xbf16>
}

!all = !blockscale.tensor<17x5x?xi8, "float32">
func.func @all_integers(%a: !all) -> tensor<17x5x?xf32> {
  %0 = blockscale.dequantize %a : !all to tensor<17x5x?xf32>
  return %0 : tensor<17x5x?xf32>
}

!halves = !blockscale.tensor<2x?x?xf8E4M3FN, "float16_t0">
func.func @halves(%a: !halves) -> tensor<2x?x?xf16> {
  %0 = blockscale.dequantize %a : !halves to tensor<2x?x?xf16>
  return %0 : tensor<2x?x?xf16>
}

!short = !blockscale.tensor<2x?x?xf6E3M2FN, "bfloat16_t8_t32">
func.func @short(%a: !short) -> tensor<2x?x?xf32> {
  %0 = blockscale.dequantize %a : !short to tensor<2x?x?xf32>
  return %0 : tensor<2x?x?xf32>
}

!powers = !blockscale.tensor<2x?x?xf8E5M2, "e8m0_t0">
func.func @powers(%a: !powers) -> tensor<2x?x?xbf16> {
  %0 = blockscale.dequantize %a : !powers to tensor<2x?x?xbf16>
  return %0 : tensor<2x?x?xbf16>
}

!power = !blockscale.tensor<33x5x?xf8E4M3FN, "e8m0">
func.func @power(%a: !power) -> tensor<33x5x?xf32> {
  %0 = blockscale.dequantize %a : !power to tensor<33x5x?xf32>
  return %0 : tensor<33x5x?xf32>
}

// Rows that end inside of 32 elements.
!part = !blockscale.tensor<7x40xf8E5M2, "bfloat16_t0">
func.func @part(%a: !part) -> tensor<7x40xbf16> {
  %0 = blockscale.dequantize %a : !part to tensor<7x40xbf16>
  return %0 : tensor<7x40xbf16>
}
