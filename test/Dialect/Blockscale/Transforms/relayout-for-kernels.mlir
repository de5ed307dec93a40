// RUN: blockscale-opt %s --blockscale-relayout-for-kernels | FileCheck %s
// RUN: blockscale-opt %s --blockscale-relayout-for-kernels | blockscale-opt --blockscale-relayout-for-kernels | FileCheck %s

!across = !blockscale.tensor<128x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4, order = mn_major>
!along = !blockscale.tensor<128x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!stored = !blockscale.tensor<128x256xf8E4M3FN, "e8m0_t32n2m4", layout = tiled_128x4, order = mn_major>
!weights = !blockscale.tensor<64x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>

// All of a function.
// CHECK-LABEL: func.func @values
// CHECK: %[[K:.*]] = blockscale.relayout %{{.*}} order = mn_major> to !blockscale.tensor<128x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
// CHECK-NEXT: blockscale.dequantize %[[K]]
func.func @values(%x: !across) -> tensor<128x256xbf16> {
  %v = blockscale.dequantize %x : !across to tensor<128x256xbf16>
  return %v : tensor<128x256xbf16>
}

// CHECK-LABEL: func.func @written
// CHECK: %[[Q:.*]] = blockscale.quantize %{{.*}} rule(round_up) rounding(stochastic, seed = 7) : tensor<128x256xf32> to !blockscale.tensor<128x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
// CHECK-NEXT: %[[R:.*]] = blockscale.relayout %[[Q]]
// CHECK-NEXT: return %[[R]]
func.func @written(%x: tensor<128x256xf32>) -> !across {
  %q = blockscale.quantize %x rule(round_up) rounding(stochastic, seed = 7) : tensor<128x256xf32> to !across
  return %q : !across
}

// What one made in the other order the next one reads as it was, and nobody
// turns it.
// CHECK-LABEL: func.func @between
// CHECK-COUNT-1: blockscale.relayout
// CHECK-NOT: blockscale.relayout
// CHECK: %[[D:.*]] = blockscale.densify
// CHECK-NEXT: blockscale.dequantize %[[D]]
func.func @between(%x: !stored) -> tensor<128x256xbf16> {
  %d = blockscale.densify %x : !stored to !across
  %v = blockscale.dequantize %d : !across to tensor<128x256xbf16>
  return %v : tensor<128x256xbf16>
}

// CHECK-LABEL: func.func @product
// CHECK: %[[Q:.*]] = blockscale.quantize
// CHECK: %[[R:.*]] = blockscale.relayout %[[Q]]
// CHECK: blockscale.matmul %[[R]],
func.func @product(%x: tensor<128x256xbf16>, %w: !weights) -> tensor<128x64xf32> {
  %q = blockscale.quantize %x : tensor<128x256xbf16> to !across
  %y = blockscale.matmul %q, %w : !across, !weights -> tensor<128x64xf32>
  return %y : tensor<128x64xf32>
}

// The host reads and makes what is beside it.
// CHECK-LABEL: func.func @host
// CHECK-NOT: blockscale.relayout
func.func @host(%x: !across) -> tensor<128x256xf32> {
  %v = blockscale.dequantize %x : !across to tensor<128x256xf32>
  %y = math.sqrt %v : tensor<128x256xf32>
  return %y : tensor<128x256xf32>
}

!half = !blockscale.tensor<128x256xf16, "n2m4", layout = tiled_128x4, order = mn_major>
!dense_half = !blockscale.tensor<128x256xf16, order = mn_major>
!squares = !blockscale.tensor<128x256xf8E4M3FN, "e8m0_t32_t32", order = mn_major>

// No kernel changes the order of 16 bits, or repeats scales in whole functions.
// CHECK-LABEL: func.func @refused
// CHECK-NOT: blockscale.relayout
func.func @refused(%x: !half, %y: !squares) -> (!dense_half, tensor<128x256xf32>) {
  %d = blockscale.densify %x : !half to !dense_half
  %v = blockscale.dequantize %y : !squares to tensor<128x256xf32>
  return %d, %v : !dense_half, tensor<128x256xf32>
}
