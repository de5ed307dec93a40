// Scales of e5m3 (ue5m3), which sm_107a reads.

// REQUIRES: mlir
// RUN: blockscale verify %s --target=sm_107a | FileCheck %s

// CHECK-NOT: FAIL
// CHECK-COUNT-6: pass
// CHECK-NOT: {{FAIL|pass}}

!wide = !blockscale.tensor<37x96xf4E2M1FN, "e5m3fn_t16", layout = tiled_128x4>
func.func @wide(%a: !wide) -> tensor<37x96xbf16> {
  %0 = blockscale.dequantize %a : !wide to tensor<37x96xbf16>
  return %0 : tensor<37x96xbf16>
}
func.func @wide_f16(%a: !wide) -> tensor<37x96xf16> {
  %0 = blockscale.dequantize %a : !wide to tensor<37x96xf16>
  return %0 : tensor<37x96xf16>
}

!two = !blockscale.tensor<3x37x96xf4E2M1FN, "multi_float32_e5m3fn_t16", layout = tiled_128x4>
func.func @two(%a: !two) -> tensor<3x37x96xf32> {
  %0 = blockscale.dequantize %a : !two to tensor<3x37x96xf32>
  return %0 : tensor<3x37x96xf32>
}
