// Scales of long tiles and of several rows: the instruction reads one for each row
// and block, and the host repeats them.

// RUN: blockscale-opt %s -blockscale-legalize-scales | FileCheck %s
// RUN: blockscale-opt %s -blockscale-attach-target=target=sm_120a -blockscale-legalize-scales | FileCheck %s

!t64 = !blockscale.tensor<128x256xf8E4M3FN, "e8m0_t64", layout = tiled_128x4>
!t128 = !blockscale.tensor<128x256xf6E2M3FN, "e8m0_t128", layout = tiled_128x4>
!t256 = !blockscale.tensor<128x256xf4E2M1FN, "e8m0_t256", layout = tiled_128x4>
!square = !blockscale.tensor<128x256xf8E5M2, "e8m0_t32_t32", layout = tiled_128x4>

// CHECK-LABEL: func.func @long_tiles(
// CHECK: mma(<kind = mxf8f6f4, a = e4m3, b = e2m3, scale = ue8m0, block = 32>
func.func @long_tiles(%a: !t64, %b: !t128) -> tensor<128x128xf32> {
  %0 = blockscale.matmul %a, %b : !t64, !t128 -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// CHECK-LABEL: func.func @square(
// CHECK: mma(<kind = mxf8f6f4, a = e2m1, b = e5m2, scale = ue8m0, block = 32>
func.func @square(%a: !t256, %b: !square) -> tensor<128x128xf32> {
  %0 = blockscale.matmul %a, %b : !t256, !square -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// The shorter tile decides.
!fp4_16 = !blockscale.tensor<128x256xf4E2M1FN, "e8m0_t16", layout = tiled_128x4>
// CHECK-LABEL: func.func @mixed(
// CHECK: mma(<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue8m0, block = 16>
func.func @mixed(%a: !fp4_16, %b: !t256) -> tensor<128x128xf32> {
  %0 = blockscale.matmul %a, %b : !fp4_16, !t256 -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

!rows = !blockscale.tensor<128x256xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!weights = !blockscale.tensor<128x256xf4E2M1FN, "multi_float32_e4m3fn_t16_t16", layout = tiled_128x4>
!fine = !blockscale.tensor<128x256xf4E2M1FN, "e4m3_t0_t32", layout = tiled_128x4>
// CHECK-LABEL: func.func @nvfp4(
// CHECK: mma(<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16>
func.func @nvfp4(%a: !rows, %b: !weights) -> tensor<128x128xf32> {
  %0 = blockscale.matmul %a, %b : !rows, !weights -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// One for all rows, and for 32 elements where instructions have 16.
// CHECK-LABEL: func.func @all_rows(
// CHECK: mma(<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16>
func.func @all_rows(%a: !fine, %b: !fine) -> tensor<128x128xf32> {
  %0 = blockscale.matmul %a, %b : !fine, !fine -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// A scale of a sparse A covers what is pruned, too, so that its instruction has
// blocks of 64.
!sparse = !blockscale.tensor<128x256xf8E4M3FN, "e8m0_t64n2m4", layout = tiled_128x4>
!beside = !blockscale.tensor<128x256xf8E4M3FN, "e8m0_t32_t64", layout = tiled_128x4>
// CHECK-LABEL: func.func @sparse(
// CHECK: mma(<kind = mxf8f6f4, a = e4m3, b = e4m3, scale = ue8m0, block = 32, sparse = true>
func.func @sparse(%a: !sparse, %b: !beside) -> tensor<128x128xf32> {
  %0 = blockscale.matmul %a, %b : !sparse, !beside -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}
