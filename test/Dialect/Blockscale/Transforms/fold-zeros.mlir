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

// What was pruned is 0, and what is kept less its zero point: codes less 5, 200, -3 and
// 7 under 2, 1/2, 4 and 1.
// CHECK-LABEL: @sparse
// CHECK: arith.constant dense<{{\[}}[-8.000000e+00, 0.000000e+00, 1.000000e+01, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, -1.000000e+01, -5.000000e+01, 0.000000e+00, 0.000000e+00, 2.750000e+01, 5.000000e-01, -1.000000e+02, 0.000000e+00, 0.000000e+00],
// CHECK-SAME: [0.000000e+00, 0.000000e+00, 1.200000e+01, 1.600000e+01, 2.000000e+01, 0.000000e+00, 0.000000e+00, 2.400000e+01, 0.000000e+00, -7.000000e+00, 0.000000e+00, 2.480000e+02, 0.000000e+00, 0.000000e+00, 1.000000e+00, 0.000000e+00]]>
// CHECK-NOT: blockscale.dequantize
func.func @sparse() -> tensor<2x16xf32> {
  %m = arith.constant dense<[[216, 76], [206, 157]]> : tensor<2x2xi8>
  %s = arith.constant dense<[[2.0, 0.5], [4.0, 1.0]]> : tensor<2x2xf32>
  %d = arith.constant dense<[[1, 10, 5, 0, 100, 255, 201, 0], [0, 1, 2, 3, 0, 255, 7, 8]]> : tensor<2x8xi8>
  %z = arith.constant dense<[[5, 200], [-3, 7]]> : tensor<2x2xi16>
  %x = blockscale.assemble %d, %s zeros(%z : tensor<2x2xi16>) metadata(%m : tensor<2x2xi8>) : tensor<2x8xi8>, tensor<2x2xf32> to !blockscale.tensor<2x16xui8, "float32_int16_t4n2m4">
  %0 = blockscale.dequantize %x : !blockscale.tensor<2x16xui8, "float32_int16_t4n2m4"> to tensor<2x16xf32>
  return %0 : tensor<2x16xf32>
}

// In real units: 2 * 1 - 1/4, and so on.
// CHECK-LABEL: @sparse_real
// CHECK: arith.constant dense<{{\[}}[1.750000e+00, 0.000000e+00, 1.975000e+01, 0.000000e+00, 0.000000e+00, 9.750000e+00, 0.000000e+00, -2.500000e-01]]>
func.func @sparse_real() -> tensor<1x8xf32> {
  %m = arith.constant dense<[[216]]> : tensor<1x1xi8>
  %s = arith.constant dense<[[2.0]]> : tensor<1x1xf32>
  %d = arith.constant dense<[[1, 10, 5, 0]]> : tensor<1x4xi4>
  %z = arith.constant dense<[[0.25]]> : tensor<1x1xf32>
  %x = blockscale.assemble %d, %s zeros(%z : tensor<1x1xf32>) metadata(%m : tensor<1x1xi8>) : tensor<1x4xi4>, tensor<1x1xf32> to !blockscale.tensor<1x8xui4, "float32_float32_t4n2m4">
  %0 = blockscale.dequantize %x : !blockscale.tensor<1x8xui4, "float32_float32_t4n2m4"> to tensor<1x8xf32>
  return %0 : tensor<1x8xf32>
}

// What is its zero point is dropped, and nothing else: 0 is kept in the first tile. The
// last tile has two elements of a group that are none.
// CHECK-LABEL: @compressed
// CHECK-DAG: arith.constant dense<{{\[}}[0, 7, 9, 5, 0, -55, -57, -56], [1, 2, 3, 4, 8, 7, 0, 9]]> : tensor<2x8xi8>
// CHECK-DAG: arith.constant dense<{{\[}}[-40, -24], [-50, -52]]> : tensor<2x2xi8>
// CHECK-NOT: blockscale.compress
func.func @compressed() -> !blockscale.tensor<2x16xui8, "float32_int16_t4n2m4"> {
  %s = arith.constant dense<[[2.0, 0.5], [4.0, 1.0]]> : tensor<2x2xf32>
  %d = arith.constant dense<[[0, 5, 7, 5, 5, 9, 5, 5, 0, 200, 201, 200, 200, 200, 199, 200], [3, 3, 1, 2, 3, 3, 3, 4, 8, 7, 7, 7, 0, 7, 7, 9]]> : tensor<2x16xi8>
  %z = arith.constant dense<[[5, 200], [3, 7]]> : tensor<2x2xi16>
  %x = blockscale.assemble %d, %s zeros(%z : tensor<2x2xi16>) : tensor<2x16xi8>, tensor<2x2xf32> to !blockscale.tensor<2x16xui8, "float32_int16_t8">
  %0 = blockscale.compress %x : !blockscale.tensor<2x16xui8, "float32_int16_t8"> to !blockscale.tensor<2x16xui8, "float32_int16_t4n2m4">
  return %0 : !blockscale.tensor<2x16xui8, "float32_int16_t4n2m4">
}

// Pruned to -3 and 12, 2 and -1, then from -3 to 12 in steps of 1 about 3.
// CHECK-LABEL: @pruned
// CHECK-DAG: arith.constant dense<{{\[}}[0, -1, 5, 2]]> : tensor<1x4xi4>
// CHECK-DAG: arith.constant dense<3> : tensor<1x1xi8>
// CHECK-DAG: arith.constant dense<-108> : tensor<1x1xi8>
func.func @pruned() -> !blockscale.tensor<1x8xui4, "float32_int8_t4n2m4"> {
  %0 = arith.constant dense<[[-3.0, 12.0, 1.0, 0.5, 0.5, 2.0, -1.0, 0.0]]> : tensor<1x8xf32>
  %1 = blockscale.quantize %0 : tensor<1x8xf32> to !blockscale.tensor<1x8xui4, "float32_int8_t4n2m4">
  return %1 : !blockscale.tensor<1x8xui4, "float32_int8_t4n2m4">
}
