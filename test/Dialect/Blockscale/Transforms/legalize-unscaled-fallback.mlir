// Operands without scales that are multiplied densely: because they are dense,
// or because nothing skips what they drop.

// RUN: blockscale-opt %s -blockscale-legalize-scales=dense-fallback | FileCheck %s

!dense = !blockscale.tensor<128x256xf16>
!sparse = !blockscale.tensor<128x256xf16, "n2m4", layout = tiled_128x4>
!pairs = !blockscale.tensor<64x256xf4E2M1FN, "n4m8", layout = tiled_128x4>
!bytes = !blockscale.tensor<128x256xf8E5M2>
!s8 = !blockscale.tensor<64x256xi8>
!u8 = !blockscale.tensor<128x256xui8>

// CHECK-LABEL: func.func @dense(
// CHECK-NOT: densify
// CHECK: mma(<kind = i8, a = int8, b = uint8>)
func.func @dense(%a: !s8, %b: !u8) -> tensor<64x128xi32> {
  %0 = blockscale.matmul %a, %b : !s8, !u8 -> tensor<64x128xi32>
  return %0 : tensor<64x128xi32>
}

// CHECK-LABEL: func.func @sparse_b(
// CHECK-NOT: densify
// CHECK: blockscale.matmul %arg0, %arg1 mma(<kind = f16, a = f16, b = f16, sparse = true>)
func.func @sparse_b(%a: !dense, %b: !sparse) -> tensor<128x128xf32> {
  %0 = blockscale.matmul %a, %b : !dense, !sparse -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// CHECK-LABEL: func.func @pairs(
// CHECK: %[[A:.*]] = blockscale.densify %arg0 : !blockscale.tensor<64x256xf4E2M1FN, "n4m8", layout = tiled_128x4> to !blockscale.tensor<64x256xf4E2M1FN>
// CHECK: blockscale.matmul %[[A]], %arg1 mma(<kind = f8f6f4, a = e2m1, b = e5m2>)
func.func @pairs(%a: !pairs, %b: !bytes) -> tensor<64x128xf32> {
  %0 = blockscale.matmul %a, %b : !pairs, !bytes -> tensor<64x128xf32>
  return %0 : tensor<64x128xf32>
}

// What was compressed a moment ago is taken as it was.
// CHECK-LABEL: func.func @uncompressed(
// CHECK-NOT: densify
// CHECK: blockscale.matmul %arg1, %arg1 mma(<kind = f16, a = f16, b = f16>)
func.func @uncompressed(%a: !dense, %x: !dense) -> tensor<128x128xf32> {
  %b = blockscale.compress %x : !dense to !sparse
  %0 = blockscale.matmul %b, %b : !sparse, !sparse -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// Scales of float tiles, beside metadata that no instruction reads as they lie.
!float_tiles = !blockscale.tensor<128x256xf8E4M3FN, "float32_t64n2m4">
!other_tiles = !blockscale.tensor<64x256xf8E4M3FN, "float32_t128">
// CHECK-LABEL: func.func @float_tiles(
// CHECK: %[[A:.*]] = blockscale.densify %arg0 : !blockscale.tensor<128x256xf8E4M3FN, "float32_t64n2m4"> to !blockscale.tensor<128x256xf8E4M3FN, "float32_t128">
// CHECK: blockscale.matmul %[[A]], %arg1 mma(<kind = f8f6f4, a = e4m3, b = e4m3>)
func.func @float_tiles(%a: !float_tiles, %b: !other_tiles) -> tensor<128x64xf32> {
  %0 = blockscale.matmul %a, %b : !float_tiles, !other_tiles -> tensor<128x64xf32>
  return %0 : tensor<128x64xf32>
}
