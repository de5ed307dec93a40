// RUN: blockscale-opt %s --blockscale-fold-constants=largest-result=64 \
// RUN:   --split-input-file | FileCheck %s

// 1.5 and 7 under 2^0: e2m1 ends at 6.
// CHECK-LABEL: @quantize
// CHECK-DAG: %[[DATA:.*]] = arith.constant dense<{{\[}}[1.500000e+00, 6.000000e+00, 0.000000e+00, -5.000000e-01,
// CHECK-DAG: %[[SCALES:.*]] = arith.constant dense<1.000000e+00> : tensor<1x1xf8E8M0FNU>
// CHECK: %[[RESULT:.*]] = blockscale.assemble %[[DATA]], %[[SCALES]]
// CHECK: return %[[RESULT]]
func.func @quantize() -> !blockscale.tensor<1x32xf4E2M1FN, "e8m0_t32"> {
  %0 = arith.constant dense<[[1.5, 7.0, 0.2, -0.6, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]]> : tensor<1x32xf32>
  %1 = blockscale.quantize %0 : tensor<1x32xf32> to !blockscale.tensor<1x32xf4E2M1FN, "e8m0_t32">
  return %1 : !blockscale.tensor<1x32xf4E2M1FN, "e8m0_t32">
}

// -----

// The scale 2^-7 brings 3 to 384; rows beyond the second are padding.
// CHECK-LABEL: @relayout
// CHECK: arith.constant dense<"0x78790000000000
// CHECK-NOT: relayout
func.func @relayout() -> !blockscale.tensor<1x64xf8E4M3FN, "e8m0_t32", layout = tiled_128x4> {
  %data = arith.constant dense<384.0> : tensor<1x64xf8E4M3FN>
  %scales = arith.constant dense<[[0.0078125, 0.015625]]> : tensor<1x2xf8E8M0FNU>
  %0 = blockscale.assemble %data, %scales : tensor<1x64xf8E4M3FN>, tensor<1x2xf8E8M0FNU> to !blockscale.tensor<1x64xf8E4M3FN, "e8m0_t32">
  %1 = blockscale.relayout %0 : !blockscale.tensor<1x64xf8E4M3FN, "e8m0_t32"> to !blockscale.tensor<1x64xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
  return %1 : !blockscale.tensor<1x64xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
}

// -----

// CHECK-LABEL: @dequantize
// CHECK: arith.constant dense<6.000000e+00> : tensor<1x64xbf16>
// CHECK-NOT: dequantize
func.func @dequantize() -> tensor<1x64xbf16> {
  %data = arith.constant dense<384.0> : tensor<1x64xf8E4M3FN>
  %scales = arith.constant dense<0.015625> : tensor<1x2xf8E8M0FNU>
  %0 = blockscale.assemble %data, %scales : tensor<1x64xf8E4M3FN>, tensor<1x2xf8E8M0FNU> to !blockscale.tensor<1x64xf8E4M3FN, "e8m0_t32">
  %1 = blockscale.dequantize %0 : !blockscale.tensor<1x64xf8E4M3FN, "e8m0_t32"> to tensor<1x64xbf16>
  return %1 : tensor<1x64xbf16>
}

// -----

// Larger than asked for.
// CHECK-LABEL: @large
// CHECK: blockscale.dequantize
func.func @large() -> tensor<2x64xbf16> {
  %data = arith.constant dense<384.0> : tensor<2x64xf8E4M3FN>
  %scales = arith.constant dense<0.015625> : tensor<2x2xf8E8M0FNU>
  %0 = blockscale.assemble %data, %scales : tensor<2x64xf8E4M3FN>, tensor<2x2xf8E8M0FNU> to !blockscale.tensor<2x64xf8E4M3FN, "e8m0_t32">
  %1 = blockscale.dequantize %0 : !blockscale.tensor<2x64xf8E4M3FN, "e8m0_t32"> to tensor<2x64xbf16>
  return %1 : tensor<2x64xbf16>
}

// -----

// CHECK-LABEL: @sparse
// CHECK-DAG: %[[DATA:.*]] = arith.constant dense<4.480000e+02> : tensor<1x64xf8E4M3FN>
// CHECK-DAG: %[[INDICES:.*]] = arith.constant dense<68> : tensor<1x16xi8>
// CHECK: blockscale.assemble %[[DATA]], {{.*}} metadata(%[[INDICES]]
func.func @sparse() -> !blockscale.tensor<1x128xf8E4M3FN, "e8m0_t32n2m4"> {
  %0 = arith.constant dense<500.0> : tensor<1x128xf32>
  %1 = blockscale.quantize %0 : tensor<1x128xf32> to !blockscale.tensor<1x128xf8E4M3FN, "e8m0_t32n2m4">
  return %1 : !blockscale.tensor<1x128xf8E4M3FN, "e8m0_t32n2m4">
}

// -----

// The scale of a matrix that is given: its magnitude, rounded up to powers of two.
// What it does not reach saturates, and a NaN leaves others as they are.
// CHECK-LABEL: @given
// CHECK-DAG: %[[CODES:.*]] = arith.constant dense<{{\[}}[2.000000e+00, -4.480000e+02, 0x7F, -0.000000e+00]]> : tensor<1x4xf8E4M3FN>
// CHECK-DAG: %[[SCALE:.*]] = arith.constant dense<5.000000e-01> : tensor<1x1xf32>
// CHECK-DAG: %[[INTEGERS:.*]] = arith.constant dense<{{\[}}[1, -127, 0, 0]]> : tensor<1x4xi8>
// CHECK-DAG: %[[HALF:.*]] = arith.constant dense<7.500000e-01> : tensor<1x1xf16>
// CHECK-DAG: %[[POWER:.*]] = arith.constant dense<1.000000e+00> : tensor<1x1xf8E8M0FNU>
// CHECK-DAG: blockscale.assemble %[[CODES]], %[[SCALE]] :
// CHECK-DAG: blockscale.assemble %[[INTEGERS]], %[[HALF]] :
// CHECK-DAG: blockscale.assemble %{{.*}}, %[[POWER]] :
func.func @given() -> (!blockscale.tensor<1x4xf8E4M3FN, "float32">, !blockscale.tensor<1x4xi8, "float16">, !blockscale.tensor<1x4xf8E4M3FN, "e8m0">) {
  %x = arith.constant dense<[[1.0, -300.0, 0x7FC00000, -0.0]]> : tensor<1x4xf32>
  %t = arith.constant dense<-0.5> : tensor<f32>
  %u = arith.constant dense<0.75> : tensor<f32>
  %0 = blockscale.quantize %x tensor_scale(%t : tensor<f32>) : tensor<1x4xf32> to !blockscale.tensor<1x4xf8E4M3FN, "float32">
  %1 = blockscale.quantize %x tensor_scale(%u : tensor<f32>) : tensor<1x4xf32> to !blockscale.tensor<1x4xi8, "float16">
  %2 = blockscale.quantize %x tensor_scale(%u : tensor<f32>) : tensor<1x4xf32> to !blockscale.tensor<1x4xf8E4M3FN, "e8m0">
  return %0, %1, %2 : !blockscale.tensor<1x4xf8E4M3FN, "float32">, !blockscale.tensor<1x4xi8, "float16">, !blockscale.tensor<1x4xf8E4M3FN, "e8m0">
}

// -----

// CHECK-LABEL: @stays
// CHECK-COUNT-3: blockscale.quantize
func.func @stays(%x: tensor<1x32xf32>, %t: tensor<f32>) -> (!blockscale.tensor<1x32xf8E4M3FN, "e8m0_t32">, !blockscale.tensor<1x32xf4E2M1FN, "multi_float32_e4m3fn_t16">, !blockscale.tensor<?x32xf8E4M3FN, "e8m0_t32">) {
  %c = arith.constant dense<1.0> : tensor<1x32xf32>
  %d = tensor.cast %c : tensor<1x32xf32> to tensor<?x32xf32>
  %0 = blockscale.quantize %x : tensor<1x32xf32> to !blockscale.tensor<1x32xf8E4M3FN, "e8m0_t32">
  %1 = blockscale.quantize %c tensor_scale(%t : tensor<f32>) : tensor<1x32xf32> to !blockscale.tensor<1x32xf4E2M1FN, "multi_float32_e4m3fn_t16">
  %2 = blockscale.quantize %d : tensor<?x32xf32> to !blockscale.tensor<?x32xf8E4M3FN, "e8m0_t32">
  return %0, %1, %2 : !blockscale.tensor<1x32xf8E4M3FN, "e8m0_t32">, !blockscale.tensor<1x32xf4E2M1FN, "multi_float32_e4m3fn_t16">, !blockscale.tensor<?x32xf8E4M3FN, "e8m0_t32">
}

// -----

// There is nothing to fold where there are no elements.
// CHECK-LABEL: @empty
// CHECK-COUNT-4: blockscale.quantize
// CHECK: blockscale.dequantize
func.func @empty() -> (!blockscale.tensor<0x32xf4E2M1FN, "multi_float32_e4m3fn_t16">, tensor<3x0xf32>, !blockscale.tensor<0x2x32xui8, "float32_int16_t0">, !blockscale.tensor<0x128xf8E4M3FN, "e8m0_t32n2m4">) {
  %0 = arith.constant dense<> : tensor<0x32xf32>
  %1 = arith.constant dense<> : tensor<3x0xf32>
  %2 = arith.constant dense<> : tensor<0x2x32xf32>
  %3 = arith.constant dense<> : tensor<0x128xf32>
  %4 = blockscale.quantize %0 : tensor<0x32xf32> to !blockscale.tensor<0x32xf4E2M1FN, "multi_float32_e4m3fn_t16">
  %5 = blockscale.quantize %1 : tensor<3x0xf32> to !blockscale.tensor<3x0xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
  %6 = blockscale.quantize %2 : tensor<0x2x32xf32> to !blockscale.tensor<0x2x32xui8, "float32_int16_t0">
  %7 = blockscale.quantize %3 : tensor<0x128xf32> to !blockscale.tensor<0x128xf8E4M3FN, "e8m0_t32n2m4">
  %8 = blockscale.dequantize %5 : !blockscale.tensor<3x0xf8E4M3FN, "e8m0_t32", layout = tiled_128x4> to tensor<3x0xf32>
  return %4, %8, %6, %7 : !blockscale.tensor<0x32xf4E2M1FN, "multi_float32_e4m3fn_t16">, tensor<3x0xf32>, !blockscale.tensor<0x2x32xui8, "float32_int16_t0">, !blockscale.tensor<0x128xf8E4M3FN, "e8m0_t32n2m4">
}
