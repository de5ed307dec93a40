// RUN: blockscale-opt %s | blockscale-opt | FileCheck %s
// RUN: blockscale-opt %s --mlir-print-op-generic | blockscale-opt | FileCheck %s

// CHECK-LABEL: func.func @largest(
// CHECK-SAME: %[[X:.*]]: f32, %[[Y:.*]]: f32)
func.func @largest(%x: f32, %y: f32) -> f32 {
  // CHECK: blockscale.largest_magnitude %[[X]], %[[Y]], %[[Y]]
  %0 = blockscale.largest_magnitude %x, %y, %y
  return %0 : f32
}

// CHECK-LABEL: func.func @pairs(
// CHECK-SAME: %[[X:.*]]: f32, %[[Y:.*]]: f32)
func.func @pairs(%x: f32, %y: f32) -> (i32, i32, i32) {
  // CHECK: blockscale.encode_pair %[[X]], %[[Y]] as f8E4M3FN
  %0 = blockscale.encode_pair %x, %y as f8E4M3FN
  // CHECK: blockscale.encode_pair %[[Y]], %[[X]] as f6E3M2FN
  %1 = blockscale.encode_pair %y, %x as f6E3M2FN
  // CHECK: blockscale.encode_pair %[[X]], %[[X]] as f4E2M1FN
  %2 = blockscale.encode_pair %x, %x as f4E2M1FN
  return %0, %1, %2 : i32, i32, i32
}

// CHECK-LABEL: func.func @word(
// CHECK-SAME: %[[X:.*]]: f32, %[[Y:.*]]: f32)
func.func @word(%x: f32, %y: f32) -> i32 {
  // CHECK: blockscale.encode_word %[[X]], %[[Y]], %[[X]], %[[Y]], %[[X]], %[[X]], %[[Y]], %[[Y]] as f4E2M1FN
  %0 = blockscale.encode_word %x, %y, %x, %y, %x, %x, %y, %y as f4E2M1FN
  return %0 : i32
}

// CHECK-LABEL: func.func @random_words(
// CHECK-SAME: %[[X:.*]]: f32, %[[Y:.*]]: f32, %[[R:.*]]: i32, %[[S:.*]]: i32)
func.func @random_words(%x: f32, %y: f32, %r: i32, %s: i32) -> (i32, i32) {
  // CHECK: blockscale.encode_stochastic %[[X]], %[[Y]], %[[Y]], %[[X]] by %[[R]] as f6E3M2FN
  %0 = blockscale.encode_stochastic %x, %y, %y, %x by %r as f6E3M2FN
  // CHECK: blockscale.encode_stochastic %[[X]], %[[X]], %[[X]], %[[Y]], %[[Y]], %[[Y]], %[[Y]], %[[X]] by %[[R]], %[[S]] as f4E2M1FN
  %1 = blockscale.encode_stochastic %x, %x, %x, %y, %y, %y, %y, %x by %r, %s as f4E2M1FN
  return %0, %1 : i32, i32
}

// CHECK-LABEL: func.func @random(
// CHECK-SAME: %[[X:.*]]: f32, %[[U:.*]]: i32)
func.func @random(%x: f32, %u: i32) -> f32 {
  // CHECK: blockscale.dither %[[X]], %[[U]] as f8E5M2
  %0 = blockscale.dither %x, %u as f8E5M2
  return %0 : f32
}

// CHECK: gpu.func @kernel
// CHECK-SAME: blockscale.quantization = #blockscale.quantization<source = "f", x = bf16, d = <?x64xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>, rounding = stochastic, seed = 5 : i64>
gpu.module @kernels {
  gpu.func @kernel(%x: !blockscale.global<bf16> {blockscale.parameter = #blockscale.parameter<x>}) kernel attributes {
      blockscale.kernel = #blockscale.kernel<grid = ()[s0, s1, s2, s3, s4, s5] -> (s0), block = 128>,
      blockscale.quantization = #blockscale.quantization<source = "f", x = bf16, d = !blockscale.tensor<?x64xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>, rounding = stochastic, seed = 5>} {
    gpu.return
  }
}

// CHECK-LABEL: func.func @values(
// CHECK-SAME: %[[C:.*]]: i32)
func.func @values(%c: i32) -> (vector<2xf16>, vector<2xf16>) {
  // CHECK: blockscale.decode_pair %[[C]] as f8E5M2
  %0 = blockscale.decode_pair %c as f8E5M2
  // CHECK: blockscale.decode_pair %[[C]] as f4E2M1FN
  %1 = blockscale.decode_pair %c as f4E2M1FN
  return %0, %1 : vector<2xf16>, vector<2xf16>
}

// CHECK: gpu.func @converts
// CHECK-SAME: blockscale.conversion = #blockscale.conversion<source = "f", op = "dequantize", a = !blockscale.tensor<?x64xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>, d = tensor<?x64xbf16>>
gpu.module @conversions {
  gpu.func @converts(%d: !blockscale.global<bf16> {blockscale.parameter = #blockscale.parameter<d>}) kernel attributes {
      blockscale.kernel = #blockscale.kernel<grid = ()[s0, s1, s2, s3, s4, s5] -> (s0), block = 128>,
      blockscale.conversion = #blockscale.conversion<source = "f", op = "dequantize", a = !blockscale.tensor<?x64xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>, d = tensor<?x64xbf16>>} {
    gpu.return
  }
}
