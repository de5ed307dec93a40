// A function that only dequantizes as a kernel: codes and scales are copied to the
// device, packed as the plan says, and the numbers come back. Inside of other functions
// the host dequantizes.

// REQUIRES: emulated-driver
// RUN: blockscale compile --emit=host-linalg --quantize-on-device %s | FileCheck %s --check-prefix=LAUNCHES
// RUN: blockscale compile --emit=host-llvm --quantize-on-device %s -o %t.mlir
// RUN: env LD_LIBRARY_PATH=%cuda_driver_dir %mlir-runner %t.mlir -e main -entry-point-result=void \
// RUN:   -shared-libs=%mlir_runner_libs,%blockscale_runtime | FileCheck %s

// RUN: blockscale-opt %s --blockscale-to-host="gpu-launch quantize-operands" -o %t.gpu.mlir
// RUN: env LD_LIBRARY_PATH=%cuda_driver_dir %mlir-runner %t.gpu.mlir -e main -entry-point-result=void \
// RUN:   -shared-libs=%mlir_runner_libs,%blockscale_runtime,%gpu_runtime | FileCheck %s

// The host's way gives the same.
// RUN: blockscale compile --emit=host-llvm %s -o %t.host.mlir
// RUN: env LD_LIBRARY_PATH=%cuda_driver_dir %mlir-runner %t.host.mlir -e main -entry-point-result=void \
// RUN:   -shared-libs=%mlir_runner_libs,%blockscale_runtime | FileCheck %s

// LAUNCHES-LABEL: func.func @values
// LAUNCHES: launch_into {{.*}} ["a_data", "a_scales"]
// LAUNCHES-LABEL: func.func @more
// LAUNCHES-NOT: launch_into
// LAUNCHES-LABEL: func.func @squares
// LAUNCHES-NOT: launch_into
// LAUNCHES-LABEL: func.func @two_levels
// LAUNCHES: launch_into {{.*}} ["a_data", "a_scales", "a_tensor_scale"]
// LAUNCHES-LABEL: gpu.module

// Row m is the codes of e2m1 under a scale of 2^m, twice: in 32 elements.
// CHECK: {{\[}}[0,   0.5,   1,   1.5,   2,   3,   4,   6,   0,   -0.5,   -1,   -1.5,   -2,   -3,   -4,   -6,   0,
// CHECK: [0,   1,   2,   3,   4,   6,   8,   12,   0,   -1,   -2,   -3,   -4,   -6,   -8,   -12,   0,
// CHECK: [0,   2,   4,   6,   8,   12,   16,   24,   0,   -2,   -4,   -6,   -8,   -12,   -16,   -24,   0,

!q = !blockscale.tensor<?x32xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
!s = !blockscale.tensor<64x32xf8E4M3FN, "e8m0_t32_t32", layout = tiled_128x4>

func.func private @printMemrefF32(tensor<*xf32>)

func.func @values(%a: !q) -> tensor<?x32xf32> {
  %0 = blockscale.dequantize %a : !q to tensor<?x32xf32>
  return %0 : tensor<?x32xf32>
}

func.func @more(%a: !q) -> tensor<?x32xf32> {
  %0 = blockscale.dequantize %a : !q to tensor<?x32xf32>
  %1 = math.absf %0 : tensor<?x32xf32>
  return %1 : tensor<?x32xf32>
}

// Of tiles of several rows the host has a scale once.
func.func @squares(%a: !s) -> tensor<64x32xf32> {
  %0 = blockscale.dequantize %a : !s to tensor<64x32xf32>
  return %0 : tensor<64x32xf32>
}

!n = !blockscale.tensor<2x?x32xf4E2M1FN, "multi_float32_e4m3fn_t16">
func.func @two_levels(%a: !n) -> tensor<2x?x32xbf16> {
  %0 = blockscale.dequantize %a : !n to tensor<2x?x32xbf16>
  return %0 : tensor<2x?x32xbf16>
}

func.func @main() {
  %m = arith.constant 3 : index
  %values = arith.constant dense<[0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 0.0, -0.5, -1.0, -1.5, -2.0, -3.0, -4.0, -6.0, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 0.0, -0.5, -1.0, -1.5, -2.0, -3.0, -4.0, -6.0]> : tensor<32xf32>
  %x = tensor.generate %m {
  ^bb0(%i: index, %k: index):
    %value = tensor.extract %values[%k] : tensor<32xf32>
    %int = arith.index_cast %i : index to i32
    %real = arith.sitofp %int : i32 to f32
    %factor = math.exp2 %real : f32
    %product = arith.mulf %value, %factor : f32
    tensor.yield %product : f32
  } : tensor<?x32xf32>
  %q = blockscale.quantize %x : tensor<?x32xf32> to !q
  %y = func.call @values(%q) : (!q) -> tensor<?x32xf32>
  %any = tensor.cast %y : tensor<?x32xf32> to tensor<*xf32>
  func.call @printMemrefF32(%any) : (tensor<*xf32>) -> ()
  return
}
