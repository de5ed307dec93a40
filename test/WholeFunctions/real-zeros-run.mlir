// Zero points in real units through the runtime and the driver: the terms of constant
// weights stay on the device from one launch to the next, those of rows are made anew.
// Each of three products multiplies a row by 64 * (3 * 0.5 - 1.25) = 16.

// REQUIRES: mlir
// RUN: blockscale compile --emit=host-llvm %s -o %t.mlir
// RUN: env LD_LIBRARY_PATH=%cuda_driver_dir %mlir-runner %t.mlir -e main -entry-point-result=void \
// RUN:   -shared-libs=%mlir_runner_libs,%blockscale_runtime | FileCheck %s
// RUN: blockscale-opt %s --blockscale-to-host="gpu-launch" -o %t.gpu.mlir
// RUN: env LD_LIBRARY_PATH=%cuda_driver_dir %mlir-runner %t.gpu.mlir -e main -entry-point-result=void \
// RUN:   -shared-libs=%mlir_runner_libs,%blockscale_runtime,%gpu_runtime | FileCheck %s

// CHECK: {{\[}}[4096,   4096],
// CHECK-NEXT: [8192,   8192],
// CHECK-NEXT: [12288,   12288],
// CHECK-NEXT: [16384,   16384]]

!x = !blockscale.tensor<4x64xbf16>
!w = !blockscale.tensor<64x64xui4, "float32_float32_t0">

func.func private @printMemrefF32(%memory: tensor<*xf32>)

func.func @layers(%x: tensor<4x64xbf16>) -> tensor<4x64xbf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %codes = arith.constant dense<3> : tensor<64x64xi4>
  %scales = arith.constant dense<0.5> : tensor<64x1xf32>
  %zeros = arith.constant dense<1.25> : tensor<64x1xf32>
  %w = blockscale.assemble %codes, %scales zeros(%zeros : tensor<64x1xf32>) : tensor<64x64xi4>, tensor<64x1xf32> to !w
  %0 = scf.for %i = %c0 to %c3 step %c1 iter_args(%y = %x) -> tensor<4x64xbf16> {
    %1 = blockscale.assemble %y : tensor<4x64xbf16> to !x
    %2 = blockscale.matmul %1, %w : !x, !w -> tensor<4x64xbf16>
    scf.yield %2 : tensor<4x64xbf16>
  }
  return %0 : tensor<4x64xbf16>
}

func.func @main() {
  %x = tensor.generate {
  ^bb0(%row: index, %k: index):
    %c1 = arith.constant 1 : index
    %0 = arith.addi %row, %c1 : index
    %1 = arith.index_cast %0 : index to i32
    %2 = arith.sitofp %1 : i32 to bf16
    tensor.yield %2 : bf16
  } : tensor<4x64xbf16>
  %y = call @layers(%x) : (tensor<4x64xbf16>) -> tensor<4x64xbf16>
  %wide = arith.extf %y : tensor<4x64xbf16> to tensor<4x64xf32>
  %two = tensor.extract_slice %wide[0, 3] [4, 2] [1, 1] : tensor<4x64xf32> to tensor<4x2xf32>
  %any = tensor.cast %two : tensor<4x2xf32> to tensor<*xf32>
  call @printMemrefF32(%any) : (tensor<*xf32>) -> ()
  return
}
