// Without tensor memory kinds with scales multiply narrow floats without them:
// the instruction has a scale format, the kernel no scales. Everywhere they do so
// beside scales of the other operand, and multiply sums by float scales of tiles there.

// RUN: blockscale-opt %s -pass-pipeline='builtin.module(blockscale-attach-target{target=sm_120a},blockscale-legalize-scales{dense-fallback})' | FileCheck %s
// RUN: blockscale-opt %s -pass-pipeline='builtin.module(blockscale-attach-target{target=sm_100a},blockscale-legalize-scales{dense-fallback},blockscale-select-schedule,blockscale-form-kernels)' | FileCheck %s --check-prefix=BESIDE
// RUN: blockscale-opt %s -pass-pipeline='builtin.module(blockscale-attach-target{target=sm_121a},blockscale-legalize-scales{dense-fallback},blockscale-select-schedule,blockscale-form-kernels)' | FileCheck %s --check-prefix=KERNEL

!rows = !blockscale.tensor<64x256xf8E4M3FN, "float32_t0">
!plain = !blockscale.tensor<128x256xf6E2M3FN>
// CHECK-LABEL: func.func @rows(
// CHECK: mma(<kind = mxf8f6f4, a = e4m3, b = e2m3, scale = ue8m0, block = 32>)
// KERNEL-LABEL: gpu.func @rows(
// KERNEL: blockscale.kernel_matmul a(%{{.*}}) b(%{{.*}}) d(%{{.*}}) row_scales(%{{.*}}) sizes
func.func @rows(%a: !rows, %b: !plain) -> tensor<64x128xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = false>) : !rows, !plain -> tensor<64x128xf32>
  return %0 : tensor<64x128xf32>
}

!four_a = !blockscale.tensor<64x256xf4E2M1FN>
!four_b = !blockscale.tensor<128x256xf4E2M1FN, "float32">
// CHECK-LABEL: func.func @four(
// CHECK: mma(<kind = mxf4, a = e2m1, b = e2m1, scale = ue8m0, block = 32>)
// KERNEL-LABEL: gpu.func @four(
// KERNEL: blockscale.kernel_matmul a(%{{.*}}) b(%{{.*}}) d(%{{.*}}) tensor_scales(%{{.*}}) sizes
func.func @four(%a: !four_a, %b: !four_b) -> tensor<64x128xf32> {
  %0 = blockscale.matmul %a, %b : !four_a, !four_b -> tensor<64x128xf32>
  return %0 : tensor<64x128xf32>
}

// Pairs of what has no scales nothing skips.
!pairs = !blockscale.tensor<64x256xf4E2M1FN, "n4m8", layout = tiled_128x4>
// CHECK-LABEL: func.func @pairs(
// CHECK: %[[DENSE:.*]] = blockscale.densify %{{.*}} to !blockscale.tensor<64x256xf4E2M1FN>
// CHECK: blockscale.matmul %[[DENSE]], {{.*}} mma(<kind = mxf4, a = e2m1, b = e2m1, scale = ue8m0, block = 32>)
func.func @pairs(%a: !pairs, %b: !four_b) -> tensor<64x128xf32> {
  %0 = blockscale.matmul %a, %b : !pairs, !four_b -> tensor<64x128xf32>
  return %0 : tensor<64x128xf32>
}

!sparse = !blockscale.tensor<64x256xf8E4M3FN, "n2m4", layout = tiled_128x4>
!bytes = !blockscale.tensor<128x256xf8E5M2>
// CHECK-LABEL: func.func @sparse(
// CHECK: mma(<kind = mxf8f6f4, a = e4m3, b = e5m2, scale = ue8m0, block = 32, sparse = true>)
func.func @sparse(%a: !sparse, %b: !bytes) -> tensor<64x128xf32> {
  %0 = blockscale.matmul %a, %b : !sparse, !bytes -> tensor<64x128xf32>
  return %0 : tensor<64x128xf32>
}

!mxfp4 = !blockscale.tensor<128x256xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
// CHECK-LABEL: func.func @beside_rows(
// CHECK: mma(<kind = mxf8f6f4, a = e4m3, b = e2m1, scale = ue8m0, block = 32>)
// KERNEL-LABEL: gpu.func @beside_rows(
// KERNEL: blockscale.kernel_matmul a(%{{.*}}) b(%{{.*}}) scales(none, %{{.*}}) d(%{{.*}}) row_scales(%{{.*}}) sizes
// BESIDE-LABEL: gpu.func @beside_rows(
// BESIDE: blockscale.kernel_matmul a(%{{.*}}) b(%{{.*}}) scales(none, %{{.*}}) d(%{{.*}}) row_scales(%{{.*}}) sizes
func.func @beside_rows(%a: !rows, %b: !mxfp4) -> tensor<64x128xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = false>) : !rows, !mxfp4 -> tensor<64x128xf32>
  return %0 : tensor<64x128xf32>
}

!tiles = !blockscale.tensor<64x256xf8E4M3FN, "float32_t128">
// CHECK-LABEL: func.func @beside_tiles(
// CHECK: mma(<kind = mxf8f6f4, a = e4m3, b = e2m1, scale = ue8m0, block = 32>)
// KERNEL-LABEL: gpu.func @beside_tiles(
// KERNEL: blockscale.kernel_matmul a(%{{.*}}) b(%{{.*}}) scales(none, %{{.*}}) d(%{{.*}}) row_scales(%{{.*}}) sizes({{.*}}row_block = 128 : i64
// BESIDE-LABEL: gpu.func @beside_tiles(
// BESIDE: blockscale.kernel_matmul a(%{{.*}}) b(%{{.*}}) scales(none, %{{.*}}) d(%{{.*}}) row_scales(%{{.*}}) sizes({{.*}}row_block = 128 : i64
func.func @beside_tiles(%a: !tiles, %b: !mxfp4) -> tensor<64x128xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = false>) : !tiles, !mxfp4 -> tensor<64x128xf32>
  return %0 : tensor<64x128xf32>
}

// The operands change sides, and so do their scales.
// BESIDE-LABEL: gpu.func @swapped(
// BESIDE: blockscale.kernel_matmul a(%{{.*}}) b(%{{.*}}) scales(%{{.*}}, none) d(%{{.*}}) row_scales(%{{.*}}) sizes
func.func @swapped(%a: !tiles, %b: !mxfp4) -> tensor<64x128xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = true>) : !tiles, !mxfp4 -> tensor<64x128xf32>
  return %0 : tensor<64x128xf32>
}

// Elements of 16 bits have no such kind.
!half = !blockscale.tensor<64x256xbf16>
!weights = !blockscale.tensor<128x256xf4E2M1FN, "e8m0_t32">
// CHECK-LABEL: func.func @half(
// CHECK: mma(<kind = f16, a = bf16, b = bf16>)
// BESIDE-LABEL: gpu.func @half(
// BESIDE: blockscale.kernel_matmul a(%{{.*}}) b(%{{.*}}) d(%{{.*}}) column_scales(%{{.*}}) sizes({{.*}}column_block = 32 : i64
func.func @half(%a: !half, %b: !weights) -> tensor<64x128xf32> {
  %0 = blockscale.matmul %a, %b : !half, !weights -> tensor<64x128xf32>
  return %0 : tensor<64x128xf32>
}
