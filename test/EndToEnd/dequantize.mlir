// Kernels that dequantise, bit for bit: every element format and scale that
// instructions read, every type of result, blocks of 16 and 32, scales in tiles and in
// rows, ends of rows inside of an atom of scales, matrices in batches. All codes of
// elements and scales come, NaNs, infinities, zeros of both signs and subnormals among
// them; products that no f32, or no f16, holds are bounded.

// REQUIRES: mlir
// RUN: blockscale verify %s | FileCheck %s
// RUN: blockscale verify %s --target=sm_103a --data=random --seed=7 --conditions=harsh | FileCheck %s --check-prefix=ONCE
// RUN: blockscale verify %s --target=sm_107a --data=random --seed=9 | FileCheck %s --check-prefix=ONCE
// RUN: blockscale verify %s --target=sm_110a --data=random --seed=5 | FileCheck %s --check-prefix=ONCE
// RUN: blockscale verify %s --target=sm_120a --data=exact --seed=3 | FileCheck %s --check-prefix=ONCE
// RUN: blockscale verify %s --tiles=2 --data=random --seed=3 | FileCheck %s --check-prefix=ONCE

// CHECK-NOT: FAIL
// CHECK-COUNT-50: pass
// CHECK-NOT: {{FAIL|pass}}

// ONCE-NOT: FAIL
// ONCE-COUNT-25: pass
// ONCE-NOT: {{FAIL|pass}}

!e4m3 = !blockscale.tensor<133x352xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @e4m3_bf16(%a: !e4m3) -> tensor<133x352xbf16> {
  %0 = blockscale.dequantize %a : !e4m3 to tensor<133x352xbf16>
  return %0 : tensor<133x352xbf16>
}
func.func @e4m3_f32(%a: !e4m3) -> tensor<133x352xf32> {
  %0 = blockscale.dequantize %a : !e4m3 to tensor<133x352xf32>
  return %0 : tensor<133x352xf32>
}
func.func @e4m3_f16(%a: !e4m3) -> tensor<133x352xf16> {
  %0 = blockscale.dequantize %a : !e4m3 to tensor<133x352xf16>
  return %0 : tensor<133x352xf16>
}

!e5m2 = !blockscale.tensor<2x40x96xf8E5M2, "e8m0_t32", layout = tiled_128x4>
func.func @e5m2_bf16(%a: !e5m2) -> tensor<2x40x96xbf16> {
  %0 = blockscale.dequantize %a : !e5m2 to tensor<2x40x96xbf16>
  return %0 : tensor<2x40x96xbf16>
}
func.func @e5m2_f32(%a: !e5m2) -> tensor<2x40x96xf32> {
  %0 = blockscale.dequantize %a : !e5m2 to tensor<2x40x96xf32>
  return %0 : tensor<2x40x96xf32>
}
func.func @e5m2_f16(%a: !e5m2) -> tensor<2x40x96xf16> {
  %0 = blockscale.dequantize %a : !e5m2 to tensor<2x40x96xf16>
  return %0 : tensor<2x40x96xf16>
}

!e2m3 = !blockscale.tensor<2x20x160xf6E2M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @e2m3_bf16(%a: !e2m3) -> tensor<2x20x160xbf16> {
  %0 = blockscale.dequantize %a : !e2m3 to tensor<2x20x160xbf16>
  return %0 : tensor<2x20x160xbf16>
}
func.func @e2m3_f32(%a: !e2m3) -> tensor<2x20x160xf32> {
  %0 = blockscale.dequantize %a : !e2m3 to tensor<2x20x160xf32>
  return %0 : tensor<2x20x160xf32>
}

!e3m2 = !blockscale.tensor<130x128xf6E3M2FN, "e8m0_t32", layout = tiled_128x4>
func.func @e3m2_f16(%a: !e3m2) -> tensor<130x128xf16> {
  %0 = blockscale.dequantize %a : !e3m2 to tensor<130x128xf16>
  return %0 : tensor<130x128xf16>
}
func.func @e3m2_f32(%a: !e3m2) -> tensor<130x128xf32> {
  %0 = blockscale.dequantize %a : !e3m2 to tensor<130x128xf32>
  return %0 : tensor<130x128xf32>
}

!mxfp4 = !blockscale.tensor<257x192xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
func.func @mxfp4_bf16(%a: !mxfp4) -> tensor<257x192xbf16> {
  %0 = blockscale.dequantize %a : !mxfp4 to tensor<257x192xbf16>
  return %0 : tensor<257x192xbf16>
}
func.func @mxfp4_f32(%a: !mxfp4) -> tensor<257x192xf32> {
  %0 = blockscale.dequantize %a : !mxfp4 to tensor<257x192xf32>
  return %0 : tensor<257x192xf32>
}

// Lines of 24 bytes are padded to 32.
!short = !blockscale.tensor<50x48xf4E2M1FN, "e8m0_t16", layout = tiled_128x4>
func.func @short_bf16(%a: !short) -> tensor<50x48xbf16> {
  %0 = blockscale.dequantize %a : !short to tensor<50x48xbf16>
  return %0 : tensor<50x48xbf16>
}
func.func @short_f32(%a: !short) -> tensor<50x48xf32> {
  %0 = blockscale.dequantize %a : !short to tensor<50x48xf32>
  return %0 : tensor<50x48xf32>
}

!one_level = !blockscale.tensor<130x80xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @one_level_f16(%a: !one_level) -> tensor<130x80xf16> {
  %0 = blockscale.dequantize %a : !one_level to tensor<130x80xf16>
  return %0 : tensor<130x80xf16>
}
func.func @one_level_f32(%a: !one_level) -> tensor<130x80xf32> {
  %0 = blockscale.dequantize %a : !one_level to tensor<130x80xf32>
  return %0 : tensor<130x80xf32>
}

!nvfp4 = !blockscale.tensor<7x33x144xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
func.func @nvfp4_bf16(%a: !nvfp4) -> tensor<7x33x144xbf16> {
  %0 = blockscale.dequantize %a : !nvfp4 to tensor<7x33x144xbf16>
  return %0 : tensor<7x33x144xbf16>
}
func.func @nvfp4_f32(%a: !nvfp4) -> tensor<7x33x144xf32> {
  %0 = blockscale.dequantize %a : !nvfp4 to tensor<7x33x144xf32>
  return %0 : tensor<7x33x144xf32>
}
func.func @nvfp4_f16(%a: !nvfp4) -> tensor<7x33x144xf16> {
  %0 = blockscale.dequantize %a : !nvfp4 to tensor<7x33x144xf16>
  return %0 : tensor<7x33x144xf16>
}

!two_powers = !blockscale.tensor<7x20x96xf8E5M2, "multi_float32_e8m0_t32", layout = tiled_128x4>
func.func @two_powers_f32(%a: !two_powers) -> tensor<7x20x96xf32> {
  %0 = blockscale.dequantize %a : !two_powers to tensor<7x20x96xf32>
  return %0 : tensor<7x20x96xf32>
}
func.func @two_powers_bf16(%a: !two_powers) -> tensor<7x20x96xbf16> {
  %0 = blockscale.dequantize %a : !two_powers to tensor<7x20x96xbf16>
  return %0 : tensor<7x20x96xbf16>
}

!squares = !blockscale.tensor<70x64xf8E4M3FN, "e8m0_t32_t32", layout = tiled_128x4>
func.func @squares_bf16(%a: !squares) -> tensor<70x64xbf16> {
  %0 = blockscale.dequantize %a : !squares to tensor<70x64xbf16>
  return %0 : tensor<70x64xbf16>
}

!rows = !blockscale.tensor<3x37x224xf8E4M3FN, "e8m0_t32">
func.func @rows_bf16(%a: !rows) -> tensor<3x37x224xbf16> {
  %0 = blockscale.dequantize %a : !rows to tensor<3x37x224xbf16>
  return %0 : tensor<3x37x224xbf16>
}
func.func @rows_f32(%a: !rows) -> tensor<3x37x224xf32> {
  %0 = blockscale.dequantize %a : !rows to tensor<3x37x224xf32>
  return %0 : tensor<3x37x224xf32>
}

!rows_nvfp4 = !blockscale.tensor<3x37x96xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = plain>
func.func @rows_nvfp4_f16(%a: !rows_nvfp4) -> tensor<3x37x96xf16> {
  %0 = blockscale.dequantize %a : !rows_nvfp4 to tensor<3x37x96xf16>
  return %0 : tensor<3x37x96xf16>
}
