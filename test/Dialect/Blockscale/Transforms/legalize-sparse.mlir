// Sparse operands that are executed as they are, and as dense ones when asked.

// RUN: blockscale-opt %s -blockscale-legalize-scales=dense-fallback | FileCheck %s

!pairs = !blockscale.tensor<?x256xf4E2M1FN, "multi_float32_e4m3fn_t16n4m8", layout = tiled_128x4>
!pairs_b = !blockscale.tensor<128x256xf4E2M1FN, "multi_float32_e4m3fn_t32", layout = tiled_128x4>
!two = !blockscale.tensor<128x256xf4E2M1FN, "e8m0_t32n2m4", layout = tiled_128x4>
!one = !blockscale.tensor<128x256xf6E3M2FN, "e8m0_t32n1m2", layout = tiled_128x4>
!wide = !blockscale.tensor<128x256xf4E2M1FN, "e8m0_t64", layout = tiled_128x4>
!two_nvfp4 = !blockscale.tensor<128x256xf4E2M1FN, "e4m3fn_t16n2m4", layout = tiled_128x4>
!wide_nvfp4 = !blockscale.tensor<128x256xf4E2M1FN, "e4m3fn_t32", layout = tiled_128x4>

// CHECK-LABEL: func.func @pairs(
// CHECK-NOT: densify
// CHECK: mma(<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, sparse = true>)
func.func @pairs(%a: !pairs, %b: !pairs_b) -> tensor<?x128xf32> {
  %0 = blockscale.matmul %a, %b : !pairs, !pairs_b -> tensor<?x128xf32>
  return %0 : tensor<?x128xf32>
}

// Single elements of 2 of 4 are skipped in bytes only.
// CHECK-LABEL: func.func @fp4_2_of_4(
// CHECK: mma(<kind = mxf8f6f4, a = e2m1, b = e2m1, scale = ue8m0, block = 32, sparse = true>)
func.func @fp4_2_of_4(%a: !two, %b: !wide) -> tensor<128x128xf32> {
  %0 = blockscale.matmul %a, %b : !two, !wide -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// CHECK-LABEL: func.func @one_of_two(
// CHECK: mma(<kind = mxf8f6f4, a = e3m2, b = e2m1, scale = ue8m0, block = 32, sparse = true>)
func.func @one_of_two(%a: !one, %b: !wide) -> tensor<128x128xf32> {
  %0 = blockscale.matmul %a, %b : !one, !wide -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// No FP4 kind skips 2 of 4: both operands take the blocks of a dense one.
// CHECK-LABEL: func.func @fallback(
// CHECK: %[[A:.*]] = blockscale.densify %arg0 : {{.*}} to !blockscale.tensor<128x256xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
// CHECK: %[[B:.*]] = blockscale.densify %arg1 : {{.*}} to !blockscale.tensor<128x256xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
// CHECK: blockscale.matmul %[[A]], %[[B]] mma(<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16>)
func.func @fallback(%a: !two_nvfp4, %b: !wide_nvfp4) -> tensor<128x128xf32> {
  %0 = blockscale.matmul %a, %b : !two_nvfp4, !wide_nvfp4 -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// Scales of tiles by which sums are multiplied go with metadata in tiles.
!float_tiles = !blockscale.tensor<128x256xf8E4M3FN, "float32_t64n2m4", layout = tiled_128x4>
!float_tiles_b = !blockscale.tensor<128x256xf8E4M3FN, "float32_t128_t128">
// CHECK-LABEL: func.func @float_tiles(
// CHECK-NOT: densify
// CHECK: mma(<kind = f8f6f4, a = e4m3, b = e4m3, sparse = true>)
func.func @float_tiles(%a: !float_tiles, %b: !float_tiles_b) -> tensor<128x128xf32> {
  %0 = blockscale.matmul %a, %b : !float_tiles, !float_tiles_b -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// One instruction adds up more than what has the same scales.
!short_tiles = !blockscale.tensor<128x256xf8E4M3FN, "float32_t16n2m4", layout = tiled_128x4>
// CHECK-LABEL: func.func @short_tiles(
// CHECK: %[[A:.*]] = blockscale.densify %arg0 : {{.*}} to !blockscale.tensor<128x256xf8E4M3FN, "float32_t32">
// CHECK: blockscale.matmul %[[A]], %arg1 mma(<kind = f8f6f4, a = e4m3, b = e4m3>)
func.func @short_tiles(%a: !short_tiles, %b: !float_tiles_b) -> tensor<128x128xf32> {
  %0 = blockscale.matmul %a, %b : !short_tiles, !float_tiles_b -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// Operands are exchanged when there is a schedule.
// CHECK-LABEL: func.func @sparse_b(
// CHECK-NOT: densify
// CHECK: mma(<kind = mxf8f6f4, a = e2m1, b = e2m1, scale = ue8m0, block = 32, sparse = true>)
func.func @sparse_b(%a: !wide, %b: !two) -> tensor<128x128xf32> {
  %0 = blockscale.matmul %a, %b : !wide, !two -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// CHECK-LABEL: func.func @both_sparse(
// CHECK: blockscale.densify %arg0 : {{.*}} to !blockscale.tensor<128x256xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
// CHECK: blockscale.densify %arg1 : {{.*}} to !blockscale.tensor<128x256xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
// CHECK: mma(<kind = mxf4, a = e2m1, b = e2m1, scale = ue8m0, block = 32>)
func.func @both_sparse(%a: !two, %b: !two) -> tensor<128x128xf32> {
  %0 = blockscale.matmul %a, %b : !two, !two -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// What was compressed a moment ago is taken as it was.
// CHECK-LABEL: func.func @uncompressed(
// CHECK: blockscale.densify %arg0 : !blockscale.tensor<128x256xf4E2M1FN, "e4m3fn_t32", layout = tiled_128x4>
func.func @uncompressed(%x: !wide_nvfp4, %b: !wide_nvfp4) -> tensor<128x128xf32> {
  %a = blockscale.compress %x : !wide_nvfp4 to !two_nvfp4
  %0 = blockscale.matmul %a, %b : !two_nvfp4, !wide_nvfp4 -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}
