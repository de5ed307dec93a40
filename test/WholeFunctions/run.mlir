// A whole function in upstream's JIT, with our runtime, on the emulator's CUDA
// driver: quantization on the host, products in a loop on the device.

// REQUIRES: emulated-driver
// RUN: blockscale compile --emit=host-llvm %s -o %t.mlir
// RUN: env LD_LIBRARY_PATH=%cuda_driver_dir %mlir-runner %t.mlir -e main -entry-point-result=void \
// RUN:   -shared-libs=%mlir_runner_libs,%blockscale_runtime | FileCheck %s

// Without a driver the error has its name, and the program ends.
// RUN: not --crash env LD_LIBRARY_PATH=/nowhere %mlir-runner %t.mlir -e main -entry-point-result=void \
// RUN:   -shared-libs=%mlir_runner_libs,%blockscale_runtime 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: blockscale: error: cannot load the CUDA driver: libcuda.so.1

// The same kernels launched by upstream's ops, whose calls are these.
// RUN: blockscale-opt %s --blockscale-to-host="gpu-launch" -o %t.gpu.mlir
// RUN: FileCheck %s --check-prefix=GPU < %t.gpu.mlir
// RUN: mlir-translate --mlir-to-llvmir %t.gpu.mlir | FileCheck %s --check-prefix=IR
// GPU: llvm.call @blockscaleRuntimePrepare
// GPU: gpu.launch_func @kernels::@product clusters in {{.*}} blocks in {{.*}} threads in {{.*}} dynamic_shared_memory_size {{.*}} args(%{{[0-9]+}} : !llvm.array<16 x i64>, %{{[0-9]+}} : !llvm.array<16 x i64>
// GPU: llvm.call @blockscaleRuntimeFinish
// GPU: gpu.binary @kernels
// IR-DAG: call ptr @blockscaleRuntimePrepare
// IR-DAG: call ptr @mgpuModuleLoad
// IR-DAG: call void @mgpuLaunchClusterKernel
// RUN: env LD_LIBRARY_PATH=%cuda_driver_dir %mlir-runner %t.gpu.mlir -e main -entry-point-result=void \
// RUN:   -shared-libs=%mlir_runner_libs,%blockscale_runtime,%gpu_runtime | FileCheck %s

// A row of x has one number, in block i; in that block row n of w is n + 2 * i.
// Twice (i + 1) * (n + 2 * i):
// CHECK: {{\[}}[0,   2,   4,   6,   8,   10,   12,   14],
// CHECK-NEXT: [8,   12,   16,   20,   24,   28,   32,   36],
// CHECK-NEXT: [24,   30,   36,   42,   48,   54,   60,   66],
// CHECK-NEXT: [48,   56,   64,   72,   80,   88,   96,   104]]

!x = !blockscale.tensor<?x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!w = !blockscale.tensor<8x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>

func.func private @printMemrefF32(tensor<*xf32>)

func.func @product(%x: !x, %w: !w, %n: index) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %m = blockscale.dim %x, 0 : !x
  %empty = tensor.empty(%m) : tensor<?x8xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x8xf32>) -> tensor<?x8xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> tensor<?x8xf32> {
    %y = blockscale.matmul %x, %w : !x, !w -> tensor<?x8xf32>
    %sum = arith.addf %acc, %y : tensor<?x8xf32>
    scf.yield %sum : tensor<?x8xf32>
  }
  return %r : tensor<?x8xf32>
}

func.func @main() {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %m = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  %x = tensor.generate %m {
  ^bb0(%i: index, %k: index):
    %place = arith.muli %i, %c32 : index
    %is = arith.cmpi eq, %k, %place : index
    %next = arith.addi %i, %c1 : index
    %int = arith.index_cast %next : index to i32
    %value = arith.sitofp %int : i32 to f32
    %chosen = arith.select %is, %value, %zero : f32
    tensor.yield %chosen : f32
  } : tensor<?x128xf32>
  %w = tensor.generate {
  ^bb0(%n: index, %k: index):
    %block = arith.divui %k, %c32 : index
    %twice = arith.muli %block, %c2 : index
    %sum = arith.addi %n, %twice : index
    %int = arith.index_cast %sum : index to i32
    %value = arith.sitofp %int : i32 to f32
    tensor.yield %value : f32
  } : tensor<8x128xf32>
  %qx = blockscale.quantize %x : tensor<?x128xf32> to !x
  %qw = blockscale.quantize %w : tensor<8x128xf32> to !w
  %y = call @product(%qx, %qw, %c2) : (!x, !w, index) -> tensor<?x8xf32>
  %any = tensor.cast %y : tensor<?x8xf32> to tensor<*xf32>
  call @printMemrefF32(%any) : (tensor<*xf32>) -> ()
  return
}
