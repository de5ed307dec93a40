// Without tensor memory kinds with scales multiply narrow floats without them:
// the instruction has a scale format, the kernel no scales.

// RUN: blockscale-opt %s -pass-pipeline='builtin.module(blockscale-attach-target{target=sm_120a},blockscale-legalize-scales{dense-fallback})' | FileCheck %s
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
