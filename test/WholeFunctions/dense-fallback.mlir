// Sparse operands that no instruction multiplies as such: the host makes them dense, by
// an op of its own, where that is asked for. Patterns that no kind skips, a sparse B,
// float scales of tiles.

// REQUIRES: mlir
// RUN: not blockscale verify %s 2>&1 | FileCheck %s --check-prefix=REFUSED
// RUN: blockscale verify %s --dense-fallback --conditions=plain --data=exact > %t.txt
// RUN: FileCheck %s < %t.txt
// RUN: blockscale-opt %s --blockscale-legalize-scales=dense-fallback | FileCheck %s --check-prefix=OPS

// REFUSED: operand 'a' keeps 2:4, but kind 'mxf4nvf4', which has its scales, skips 4:8 in pairs{{.*}}'dense-fallback'

// CHECK: function
// CHECK-DAG: {{^}}pattern exact - 1 {{.*}} 0 pass
// CHECK-DAG: {{^}}second exact - 1 {{.*}} 0 pass
// CHECK-DAG: {{^}}float_tiles exact - 1 {{.*}} 0 pass

// OPS-COUNT-3: blockscale.densify

!pattern_x = !blockscale.tensor<64x256xf4E2M1FN, "e4m3fn_t16n2m4", layout = tiled_128x4>
!pattern_w = !blockscale.tensor<48x256xf4E2M1FN, "e4m3fn_t32", layout = tiled_128x4>
func.func @pattern(%x: tensor<64x256xf32>, %w: !pattern_w) -> tensor<64x48xf32> {
  %0 = blockscale.quantize %x : tensor<64x256xf32> to !pattern_x
  %1 = blockscale.matmul %0, %w : !pattern_x, !pattern_w -> tensor<64x48xf32>
  return %1 : tensor<64x48xf32>
}

!second_x = !blockscale.tensor<64x256xf8E5M2, "e8m0_t64", layout = tiled_128x4>
!second_w = !blockscale.tensor<48x256xf8E4M3FN, "e8m0_t32n2m4", layout = tiled_128x4>
func.func @second(%x: tensor<64x256xf32>, %w: !second_w) -> tensor<64x48xf32> {
  %0 = blockscale.quantize %x : tensor<64x256xf32> to !second_x
  %1 = blockscale.matmul %0, %w : !second_x, !second_w -> tensor<64x48xf32>
  return %1 : tensor<64x48xf32>
}

!tiles_x = !blockscale.tensor<64x256xf8E4M3FN, "float32_t64n2m4">
!tiles_w = !blockscale.tensor<48x256xf8E4M3FN, "float32_t128">
func.func @float_tiles(%x: tensor<64x256xf32>, %w: !tiles_w) -> tensor<64x48xf32> {
  %0 = blockscale.quantize %x : tensor<64x256xf32> to !tiles_x
  %1 = blockscale.matmul %0, %w : !tiles_x, !tiles_w -> tensor<64x48xf32>
  return %1 : tensor<64x48xf32>
}
