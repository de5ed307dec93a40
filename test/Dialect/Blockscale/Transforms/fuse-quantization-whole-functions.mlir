// Results in tiles of several rows or blocks, of which functions have a scale once and
// kernels store it for each row and block.

// RUN: blockscale-opt %s --verify-diagnostics --blockscale-attach-target=target=sm_100a --blockscale-fuse-quantization=whole-functions=true | FileCheck %s

!a = !blockscale.tensor<64x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!b = !blockscale.tensor<128x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!q = !blockscale.tensor<64x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!blocks = !blockscale.tensor<64x128xf8E4M3FN, "e8m0_t64", layout = tiled_128x4>
!rows = !blockscale.tensor<64x128xf8E4M3FN, "e8m0_t32_t32", layout = tiled_128x4>

// CHECK-LABEL: @one_block
// CHECK: blockscale.matmul {{.*}} {blockscale.quantized}
func.func @one_block(%a: !a, %b: !b) -> !q {
  %0 = blockscale.matmul %a, %b : !a, !b -> tensor<64x128xbf16>
  %1 = blockscale.quantize %0 : tensor<64x128xbf16> to !q
  return %1 : !q
}

// CHECK-LABEL: @two_blocks
// CHECK-NOT: blockscale.quantized
func.func @two_blocks(%a: !a, %b: !b) -> !blocks {
  %0 = blockscale.matmul %a, %b : !a, !b -> tensor<64x128xbf16>
  // expected-remark@+1 {{stays an op of its own: a kernel stores a scale of the result for each row and block of a tile, of which whole functions have one}}
  %1 = blockscale.quantize %0 : tensor<64x128xbf16> to !blocks
  return %1 : !blocks
}

// CHECK-LABEL: @two_rows
// CHECK-NOT: blockscale.quantized
func.func @two_rows(%a: !a, %b: !b) -> !rows {
  %0 = blockscale.matmul %a, %b : !a, !b -> tensor<64x128xbf16>
  // expected-remark@+1 {{stays an op of its own: a kernel stores a scale of the result for each row and block of a tile, of which whole functions have one}}
  %1 = blockscale.quantize %0 : tensor<64x128xbf16> to !rows
  return %1 : !rows
}
