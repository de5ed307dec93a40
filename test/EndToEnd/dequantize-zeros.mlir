// Kernels that dequantise integers with zero points, bit for bit: those that count in
// steps of the scale and those in real units, of tiles, rows and matrices, under scales
// of every type, to every type of result. Scales and zero points are infinite, NaN,
// subnormal and at the ends of f32, too.

// REQUIRES: mlir
// RUN: blockscale verify %s --m=133 --k=352 | FileCheck %s
// RUN: blockscale verify %s --m=37 --k=608 --target=sm_120a --data=random --seed=7 --conditions=harsh | FileCheck %s --check-prefix=ONCE

// CHECK-NOT: FAIL
// CHECK-COUNT-20: pass
// CHECK-NOT: {{FAIL|pass}}

// ONCE-NOT: FAIL
// ONCE-COUNT-10: pass
// ONCE-NOT: {{FAIL|pass}}

!awq = !blockscale.tensor<?x?xui4, "float16_int8_t128">
func.func @awq(%a: !awq) -> tensor<?x?xbf16> {
  %0 = blockscale.dequantize %a : !awq to tensor<?x?xbf16>
  return %0 : tensor<?x?xbf16>
}

!bytes = !blockscale.tensor<2x?x?xui8, "float32_int16_t32">
func.func @bytes(%a: !bytes) -> tensor<2x?x?xf32> {
  %0 = blockscale.dequantize %a : !bytes to tensor<2x?x?xf32>
  return %0 : tensor<2x?x?xf32>
}

!wide = !blockscale.tensor<2x?x?xui8, "bfloat16_int32_t4_t64">
func.func @wide(%a: !wide) -> tensor<2x?x?xf16> {
  %0 = blockscale.dequantize %a : !wide to tensor<2x?x?xf16>
  return %0 : tensor<2x?x?xf16>
}

!rows = !blockscale.tensor<2x?x?xui8, "float32_int16_t0">
func.func @rows(%a: !rows) -> tensor<2x?x?xbf16> {
  %0 = blockscale.dequantize %a : !rows to tensor<2x?x?xbf16>
  return %0 : tensor<2x?x?xbf16>
}

!whole = !blockscale.tensor<40x5x?xui4, "float32_int8">
func.func @matrices(%a: !whole) -> tensor<40x5x?xf32> {
  %0 = blockscale.dequantize %a : !whole to tensor<40x5x?xf32>
  return %0 : tensor<40x5x?xf32>
}

!real = !blockscale.tensor<?x?xui4, "float32_float32_t32">
func.func @real(%a: !real) -> tensor<?x?xf32> {
  %0 = blockscale.dequantize %a : !real to tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

!half = !blockscale.tensor<2x?x?xui8, "float16_float16_t64">
func.func @half(%a: !half) -> tensor<2x?x?xf16> {
  %0 = blockscale.dequantize %a : !half to tensor<2x?x?xf16>
  return %0 : tensor<2x?x?xf16>
}

!mixed = !blockscale.tensor<2x?x?xui8, "float32_bfloat16_t0">
func.func @mixed(%a: !mixed) -> tensor<2x?x?xbf16> {
  %0 = blockscale.dequantize %a : !mixed to tensor<2x?x?xbf16>
  return %0 : tensor<2x?x?xbf16>
}

!one = !blockscale.tensor<40x5x?xui8, "bfloat16_float32">
func.func @one(%a: !one) -> tensor<40x5x?xf16> {
  %0 = blockscale.dequantize %a : !one to tensor<40x5x?xf16>
  return %0 : tensor<40x5x?xf16>
}

!short = !blockscale.tensor<2x?x?xui4, "float32_float16_t8_t16">
func.func @short(%a: !short) -> tensor<2x?x?xf32> {
  %0 = blockscale.dequantize %a : !short to tensor<2x?x?xf32>
  return %0 : tensor<2x?x?xf32>
}
