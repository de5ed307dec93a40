// RUN: blockscale-opt %s --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @tiles
// CHECK: blockscale.tile_sums %{{.*}} tile = 128 : !blockscale.tensor<?x?xf8E4M3FN, "float32_t128"> to tensor<?x?xf32>
!tiles = !blockscale.tensor<?x?xf8E4M3FN, "float32_t128">
func.func @tiles(%a: !tiles) -> tensor<?x?xf32> {
  %0 = blockscale.tile_sums %a tile = 128 : !tiles to tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @rows
// CHECK: blockscale.tile_sums %{{.*}} : !blockscale.tensor<3x70x200xbf16> to tensor<3x1x70xf32>
func.func @rows(%a: !blockscale.tensor<3x70x200xbf16>) -> tensor<3x1x70xf32> {
  %0 = blockscale.tile_sums %a : !blockscale.tensor<3x70x200xbf16> to tensor<3x1x70xf32>
  return %0 : tensor<3x1x70xf32>
}

// -----

func.func @tile(%a: !blockscale.tensor<70x200xbf16>) -> tensor<9x70xf32> {
  // expected-error@+1 {{has tiles of 24 elements along K; expected a multiple of 16}}
  %0 = blockscale.tile_sums %a tile = 24 : !blockscale.tensor<70x200xbf16> to tensor<9x70xf32>
  return %0 : tensor<9x70xf32>
}

// -----

func.func @shape(%a: !blockscale.tensor<70x200xbf16>) -> tensor<70x2xf32> {
  // expected-error@+1 {{expected a result of 'tensor<2x70xf32>', a row of sums for each tile along K, found 'tensor<70x2xf32>'}}
  %0 = blockscale.tile_sums %a tile = 128 : !blockscale.tensor<70x200xbf16> to tensor<70x2xf32>
  return %0 : tensor<70x2xf32>
}

// -----

!a = !blockscale.tensor<64x256xui4, "float32_float32_t0">
func.func @zeros(%a: !a) -> tensor<1x64xf32> {
  // expected-error@+1 {{adds up elements without zero points, but 'float32_float32_t0' has some}}
  %0 = blockscale.tile_sums %a : !a to tensor<1x64xf32>
  return %0 : tensor<1x64xf32>
}

// -----

!a = !blockscale.tensor<64x256xf8E4M3FN, "float32_t64n2m4">
func.func @sparse(%a: !a) -> tensor<1x64xf32> {
  // expected-error@+1 {{adds up dense elements, but those of 'float32_t64n2m4' are pruned}}
  %0 = blockscale.tile_sums %a : !a to tensor<1x64xf32>
  return %0 : tensor<1x64xf32>
}

// -----

!a = !blockscale.tensor<64x256xf8E4M3FN, "float32_t8">
func.func @short(%a: !a) -> tensor<1x64xf32> {
  // expected-error@+1 {{adds up pieces of 16 elements along K under one scale each, but those of 'float32_t8' are for 8}}
  %0 = blockscale.tile_sums %a : !a to tensor<1x64xf32>
  return %0 : tensor<1x64xf32>
}
