// Zero points: (high - low) / 15 is 1 in the first row, from -3 to 12, a half in
// the second, from 0 to 7.5, and 0 in the last. Ties go to even.

// RUN: blockscale-opt %s --blockscale-fold-constants \
// RUN:   --mlir-print-elementsattrs-with-hex-if-larger=-1 | FileCheck %s

// round(x / s) + z: -3, 12, 0.5, 1.5, 2.6, and so on.
// CHECK-LABEL: @integers
// CHECK-DAG: arith.constant dense<{{\[}}[0, -1, 3, 5, 6, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3], [-1, 0, 2, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]]> : tensor<3x16xi4>
// CHECK-DAG: arith.constant dense<{{\[}}[1.000000e+00], [5.000000e-01], [0.000000e+00]]> : tensor<3x1xf32>
// CHECK-DAG: arith.constant dense<{{\[}}[3], [0], [0]]> : tensor<3x1xi8>
// CHECK-DAG: arith.constant dense<{{\[}}[-3.000000e+00, 1.200000e+01, 0.000000e+00, 2.000000e+00, 3.000000e+00, 0.000000e+00,
// CHECK-DAG: [7.500000e+00, 0.000000e+00, 1.000000e+00, 1.000000e+00, 5.000000e-01,
func.func @integers() -> (!blockscale.tensor<3x16xui4, "float32_int8_t16">, tensor<3x16xf32>) {
  %0 = arith.constant dense<[[-3.0, 12.0, 0.5, 1.5, 2.6, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], [7.5, 0.0, 0.75, 1.25, 0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]]> : tensor<3x16xf32>
  %1 = blockscale.quantize %0 : tensor<3x16xf32> to !blockscale.tensor<3x16xui4, "float32_int8_t16">
  %2 = blockscale.dequantize %1 : !blockscale.tensor<3x16xui4, "float32_int8_t16"> to tensor<3x16xf32>
  return %1, %2 : !blockscale.tensor<3x16xui4, "float32_int8_t16">, tensor<3x16xf32>
}

// round((x + z) / s): 3.5 is 4, 4.5 is 4. The zero point -2.9 in bf16 is 2.90625.
// CHECK-LABEL: @real
// CHECK-DAG: arith.constant dense<{{\[}}[0, -1, 4, 4, 6, 3, 3,
// CHECK-DAG: arith.constant dense<{{\[}}[3.000000e+00], [2.906250e+00]]> : tensor<2x1xbf16>
// CHECK-DAG: arith.constant dense<{{\[}}[-3.000000e+00, 1.200000e+01, 1.000000e+00, 1.000000e+00, 3.000000e+00, 0.000000e+00,
func.func @real() -> (!blockscale.tensor<2x16xui4, "float32_bfloat16_t16">, tensor<2x16xf32>) {
  %0 = arith.constant dense<[[-3.0, 12.0, 0.5, 1.5, 2.6, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], [-2.9, 12.1, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]]> : tensor<2x16xf32>
  %1 = blockscale.quantize %0 : tensor<2x16xf32> to !blockscale.tensor<2x16xui4, "float32_bfloat16_t16">
  %2 = blockscale.dequantize %1 : !blockscale.tensor<2x16xui4, "float32_bfloat16_t16"> to tensor<2x16xf32>
  return %1, %2 : !blockscale.tensor<2x16xui4, "float32_bfloat16_t16">, tensor<2x16xf32>
}
