// Products that cannot be tiled, in words.

// RUN: not blockscale-opt %s -split-input-file \
// RUN:   --transform-preload-library=transform-library-paths=%S/../../../Conversion/BlockscaleToLinalg/Inputs/tile-matmul.mlir \
// RUN:   --transform-interpreter 2>&1 | FileCheck %s

!a = !blockscale.tensor<8x64xbf16>
!b = !blockscale.tensor<3x4x64xbf16>
// CHECK: error: 'blockscale.matmul' op has groups and cannot be tiled
func.func @groups(%a: !a, %b: !b, %ends: tensor<3xi32>) -> tensor<8x4xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<3xi32>) {tile} : !a, !b -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

!a = !blockscale.tensor<8x64xbf16>
!b = !blockscale.tensor<8x64xbf16>
// CHECK: error: 'blockscale.matmul' op has pairs of columns and cannot be tiled
func.func @pairs(%a: !a, %b: !b) -> tensor<8x4xf32> {
  %0 = blockscale.matmul %a, %b pairs epilogue(%x, %up) {
    blockscale.yield %up
  } {tile} : !a, !b -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
