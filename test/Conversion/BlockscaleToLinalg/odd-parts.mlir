// A tensor without rows or columns has no tiles either: its parts have the sizes that
// its ops compute.

// RUN: blockscale-opt %s --blockscale-to-linalg | FileCheck %s

// CHECK-LABEL: func.func @rows
// CHECK-SAME: -> (tensor<0x64xf8E4M3FN>, tensor<0x1x32x16xf8E8M0FNU>)
func.func @rows(%x: tensor<0x64xf32>) -> !blockscale.tensor<0x64xf8E4M3FN, "e8m0_t32", layout = tiled_128x4> {
  %q = blockscale.quantize %x : tensor<0x64xf32> to !blockscale.tensor<0x64xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
  return %q : !blockscale.tensor<0x64xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
}

// CHECK-LABEL: func.func @columns
// CHECK-SAME: -> (tensor<130x0xf8E4M3FN>, tensor<2x0x128x16xf8E8M0FNU>)
func.func @columns(%x: tensor<130x0xf32>) -> !blockscale.tensor<130x0xf8E4M3FN, "e8m0_t32", layout = tiled_128x16> {
  %q = blockscale.quantize %x : tensor<130x0xf32> to !blockscale.tensor<130x0xf8E4M3FN, "e8m0_t32">
  %r = blockscale.relayout %q : !blockscale.tensor<130x0xf8E4M3FN, "e8m0_t32"> to !blockscale.tensor<130x0xf8E4M3FN, "e8m0_t32", layout = tiled_128x16>
  return %r : !blockscale.tensor<130x0xf8E4M3FN, "e8m0_t32", layout = tiled_128x16>
}

// CHECK-LABEL: func.func @metadata
// CHECK-SAME: tensor<0x32xf8E4M3FN>, %{{.*}}: tensor<0x1x32x16xf8E8M0FNU>, %{{.*}}: tensor<1x0x128x16xi8>) -> tensor<0x64xf32>
func.func @metadata(%q: !blockscale.tensor<0x64xf8E4M3FN, "e8m0_t32n2m4", layout = tiled_128x4>) -> tensor<0x64xf32> {
  %d = blockscale.dequantize %q : !blockscale.tensor<0x64xf8E4M3FN, "e8m0_t32n2m4", layout = tiled_128x4> to tensor<0x64xf32>
  return %d : tensor<0x64xf32>
}

// Zero points of 32 bits, which nothing widens or narrows.
// CHECK-LABEL: func.func @wide_zeros
// CHECK-SAME: -> (tensor<4x32xi8>, tensor<4x1xf32>, tensor<4x1xi32>, tensor<4x32xf32>)
func.func @wide_zeros(%x: tensor<4x32xf32>) -> (!blockscale.tensor<4x32xui8, "float32_int32_t32">, tensor<4x32xf32>) {
  %q = blockscale.quantize %x : tensor<4x32xf32> to !blockscale.tensor<4x32xui8, "float32_int32_t32">
  %d = blockscale.dequantize %q : !blockscale.tensor<4x32xui8, "float32_int32_t32"> to tensor<4x32xf32>
  return %q, %d : !blockscale.tensor<4x32xui8, "float32_int32_t32">, tensor<4x32xf32>
}
