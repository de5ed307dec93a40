// Kernels that quantise, bit for bit: every element format and scale that
// instructions read, every type of input, rule and rounding, blocks of 16 and 32,
// ends of rows inside of an atom of scales, matrices in batches. The data have
// NaNs, infinities, zeros of both signs, subnormals and ties.

// REQUIRES: mlir
// RUN: blockscale verify %s | FileCheck %s
// RUN: blockscale verify %s --target=sm_103a --data=random --seed=7 --conditions=harsh | FileCheck %s --check-prefix=ONCE
// RUN: blockscale verify %s --target=sm_120a --data=exact --seed=3 | FileCheck %s --check-prefix=ONCE

// CHECK-NOT: FAIL
// CHECK-COUNT-36: pass
// CHECK-NOT: {{FAIL|pass}}

// ONCE-NOT: FAIL
// ONCE-COUNT-18: pass
// ONCE-NOT: {{FAIL|pass}}

!e4m3 = !blockscale.tensor<133x352xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @e4m3_floor(%x: tensor<133x352xbf16>) -> !e4m3 {
  %0 = blockscale.quantize %x : tensor<133x352xbf16> to !e4m3
  return %0 : !e4m3
}
func.func @e4m3_round_up(%x: tensor<133x352xf32>) -> !e4m3 {
  %0 = blockscale.quantize %x rule(round_up) : tensor<133x352xf32> to !e4m3
  return %0 : !e4m3
}
func.func @e4m3_ceil(%x: tensor<133x352xf16>) -> !e4m3 {
  %0 = blockscale.quantize %x rule(ceil) : tensor<133x352xf16> to !e4m3
  return %0 : !e4m3
}
func.func @e4m3_stochastic(%x: tensor<133x352xbf16>) -> !e4m3 {
  %0 = blockscale.quantize %x rule(mid_max) rounding(stochastic, seed = -7) : tensor<133x352xbf16> to !e4m3
  return %0 : !e4m3
}

!e5m2 = !blockscale.tensor<40x96xf8E5M2, "e8m0_t32", layout = tiled_128x4>
func.func @e5m2_round_up(%x: tensor<40x96xf16>) -> !e5m2 {
  %0 = blockscale.quantize %x rule(round_up) : tensor<40x96xf16> to !e5m2
  return %0 : !e5m2
}
func.func @e5m2_away(%x: tensor<40x96xf32>) -> !e5m2 {
  %0 = blockscale.quantize %x rule(rounded_max) rounding(away) : tensor<40x96xf32> to !e5m2
  return %0 : !e5m2
}

!e2m3 = !blockscale.tensor<2x20x160xf6E2M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @e2m3_top_binade(%x: tensor<2x20x160xbf16>) -> !e2m3 {
  %0 = blockscale.quantize %x rule(top_binade) : tensor<2x20x160xbf16> to !e2m3
  return %0 : !e2m3
}
func.func @e2m3_zero(%x: tensor<2x20x160xf32>) -> !e2m3 {
  %0 = blockscale.quantize %x rounding(zero) : tensor<2x20x160xf32> to !e2m3
  return %0 : !e2m3
}

!e3m2 = !blockscale.tensor<130x128xf6E3M2FN, "e8m0_t32", layout = tiled_128x4>
func.func @e3m2_floor_plus_one(%x: tensor<130x128xf16>) -> !e3m2 {
  %0 = blockscale.quantize %x rule(floor_plus_one) : tensor<130x128xf16> to !e3m2
  return %0 : !e3m2
}

// The smaller of two errors: of a row, and of 16 rows over lanes.
!searched = !blockscale.tensor<130x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @e4m3_min_error(%x: tensor<130x128xbf16>) -> !searched {
  %0 = blockscale.quantize %x rule(min_error) : tensor<130x128xbf16> to !searched
  return %0 : !searched
}
!squares = !blockscale.tensor<130x128xf4E2M1FN, "multi_float32_e4m3fn_t16_t16", layout = tiled_128x4>
func.func @nvfp4_min_error(%x: tensor<130x128xf32>, %t: tensor<f32>) -> !squares {
  %0 = blockscale.quantize %x tensor_scale(%t : tensor<f32>) rule(min_error) : tensor<130x128xf32> to !squares
  return %0 : !squares
}

!mxfp4 = !blockscale.tensor<257x192xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
func.func @mxfp4_rounded_max(%x: tensor<257x192xbf16>) -> !mxfp4 {
  %0 = blockscale.quantize %x rule(rounded_max) : tensor<257x192xbf16> to !mxfp4
  return %0 : !mxfp4
}
func.func @mxfp4_stochastic(%x: tensor<257x192xf32>) -> !mxfp4 {
  %0 = blockscale.quantize %x rounding(stochastic, seed = 81985529216486895) : tensor<257x192xf32> to !mxfp4
  return %0 : !mxfp4
}

// Lines of 24 bytes are padded to 32.
!short = !blockscale.tensor<50x48xf4E2M1FN, "e8m0_t16", layout = tiled_128x4>
func.func @mxfp4_t16(%x: tensor<50x48xf32>) -> !short {
  %0 = blockscale.quantize %x rule(mid_max) : tensor<50x48xf32> to !short
  return %0 : !short
}

!one_level = !blockscale.tensor<130x80xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @nvfp4_one_level(%x: tensor<130x80xbf16>) -> !one_level {
  %0 = blockscale.quantize %x : tensor<130x80xbf16> to !one_level
  return %0 : !one_level
}

!nvfp4 = !blockscale.tensor<3x33x144xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
func.func @nvfp4(%x: tensor<3x33x144xbf16>, %t: tensor<3xf32>) -> !nvfp4 {
  %0 = blockscale.quantize %x tensor_scale(%t : tensor<3xf32>) : tensor<3x33x144xbf16> to !nvfp4
  return %0 : !nvfp4
}
func.func @nvfp4_f16(%x: tensor<3x33x144xf16>, %t: tensor<3xf32>) -> !nvfp4 {
  %0 = blockscale.quantize %x tensor_scale(%t : tensor<3xf32>) rounding(away) : tensor<3x33x144xf16> to !nvfp4
  return %0 : !nvfp4
}

!two_powers = !blockscale.tensor<2x20x96xf8E4M3FN, "multi_float32_e8m0_t32", layout = tiled_128x4>
func.func @two_powers(%x: tensor<2x20x96xf32>, %t: tensor<2xf32>) -> !two_powers {
  %0 = blockscale.quantize %x tensor_scale(%t : tensor<2xf32>) rule(ceil) : tensor<2x20x96xf32> to !two_powers
  return %0 : !two_powers
}
