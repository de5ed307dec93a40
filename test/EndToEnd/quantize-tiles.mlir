// Kernels that quantise with a scale for tiles of several rows, bit for bit: tiles
// of 4, 8, 16 and 32 rows, the last of which are cut off, every kind of scale and
// type of input, dynamic sizes, matrices in batches. The data have tiles with NaNs
// and infinities in any row; each tile has its own largest magnitude.

// REQUIRES: mlir
// RUN: blockscale verify %s --m=1,133 --k=96 | FileCheck %s
// RUN: blockscale verify %s --m=70 --k=352 --target=sm_103a --data=random --seed=7 --conditions=harsh | FileCheck %s --check-prefix=ONCE
// RUN: blockscale verify %s --m=161 --k=160 --target=sm_120a --data=exact --seed=3 | FileCheck %s --check-prefix=ONCE

// CHECK-NOT: FAIL
// CHECK-COUNT-16: pass
// CHECK-NOT: {{FAIL|pass}}

// ONCE-NOT: FAIL
// ONCE-COUNT-6: pass
// ONCE-NOT: {{FAIL|pass}}

!square = !blockscale.tensor<?x?xf8E4M3FN, "e8m0_t32_t32", layout = tiled_128x4>
func.func @mxfp8(%x: tensor<?x?xbf16>) -> !square {
  %0 = blockscale.quantize %x rule(round_up) : tensor<?x?xbf16> to !square
  return %0 : !square
}

!low = !blockscale.tensor<2x133x352xf6E3M2FN, "e8m0_t8_t32", layout = tiled_128x4>
func.func @mxfp6(%x: tensor<2x133x352xf16>) -> !low {
  %0 = blockscale.quantize %x rounding(away) : tensor<2x133x352xf16> to !low
  return %0 : !low
}

!flat = !blockscale.tensor<3x62x160xf4E2M1FN, "e8m0_t4_t32", layout = tiled_128x4>
func.func @mxfp4(%x: tensor<3x62x160xf32>) -> !flat {
  %0 = blockscale.quantize %x rule(mid_max) rounding(stochastic, seed = 5) : tensor<3x62x160xf32> to !flat
  return %0 : !flat
}

!one_level = !blockscale.tensor<140x80xf4E2M1FN, "e4m3fn_t16_t16", layout = tiled_128x4>
func.func @nvfp4_one_level(%x: tensor<140x80xbf16>) -> !one_level {
  %0 = blockscale.quantize %x : tensor<140x80xbf16> to !one_level
  return %0 : !one_level
}

!nvfp4 = !blockscale.tensor<4x?x144xf4E2M1FN, "multi_float32_e4m3fn_t16_t16", layout = tiled_128x4>
func.func @nvfp4(%x: tensor<4x?x144xbf16>, %t: tensor<4xf32>) -> !nvfp4 {
  %0 = blockscale.quantize %x tensor_scale(%t : tensor<4xf32>) : tensor<4x?x144xbf16> to !nvfp4
  return %0 : !nvfp4
}

!two_powers = !blockscale.tensor<2x40x96xf8E5M2, "multi_float32_e8m0_t32_t32", layout = tiled_128x4>
func.func @two_powers(%x: tensor<2x40x96xf32>, %t: tensor<2xf32>) -> !two_powers {
  %0 = blockscale.quantize %x tensor_scale(%t : tensor<2xf32>) rule(ceil) : tensor<2x40x96xf32> to !two_powers
  return %0 : !two_powers
}
