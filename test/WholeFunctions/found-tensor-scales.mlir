// Activations in NVFP4 whose tensor scale a kernel finds: nobody hands in a number, and
// what it writes stays on the device for the product.

// REQUIRES: emulated-driver
// RUN: blockscale compile --emit=host-memref --quantize-on-device %s -o %t.memref.mlir
// RUN: blockscale-opt %t.memref.mlir --convert-blockscale-to-runtime | FileCheck %s --check-prefix=CALLS
// RUN: blockscale compile --emit=host-llvm %s -o %t.host.mlir
// RUN: env LD_LIBRARY_PATH=%cuda_driver_dir %mlir-runner %t.host.mlir -e main -entry-point-result=void \
// RUN:   -shared-libs=%mlir_runner_libs,%blockscale_runtime | grep -v Unranked > %t.host
// RUN: blockscale compile --emit=host-llvm --quantize-on-device %s -o %t.mlir
// RUN: env LD_LIBRARY_PATH=%cuda_driver_dir %mlir-runner %t.mlir -e main -entry-point-result=void \
// RUN:   -shared-libs=%mlir_runner_libs,%blockscale_runtime | grep -v Unranked > %t.runtime
// RUN: blockscale-opt %s --blockscale-to-host="gpu-launch quantize-operands" -o %t.gpu.mlir
// RUN: env LD_LIBRARY_PATH=%cuda_driver_dir %mlir-runner %t.gpu.mlir -e main -entry-point-result=void \
// RUN:   -shared-libs=%mlir_runner_libs,%blockscale_runtime,%gpu_runtime | grep -v Unranked > %t.gpu
// RUN: diff %t.host %t.runtime
// RUN: diff %t.host %t.gpu
// RUN: FileCheck %s < %t.gpu

// CALLS-LABEL: func.func @product
// CALLS-COUNT-2: llvm.call @blockscaleRuntimeRun

// A block of row m has one number, 2^m times 1, 2, 4 to 128, and w has ones.
// CHECK: {{\[}}[255,   255
// CHECK-NEXT: [510,   510
// CHECK-NEXT: [1020,   1020
// CHECK-NEXT: [2040,   2040

!x = !blockscale.tensor<?x128xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!w = !blockscale.tensor<8x128xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>

func.func private @printMemrefF32(tensor<*xf32>)

func.func @product(%x: tensor<?x128xbf16>, %w: !w) -> tensor<?x8xf32> {
  %q = blockscale.quantize %x : tensor<?x128xbf16> to !x
  %y = blockscale.matmul %q, %w : !x, !w -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

func.func @main() {
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %m = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  %x = tensor.generate %m {
  ^bb0(%i: index, %k: index):
    %block = arith.divui %k, %c16 : index
    %rest = arith.remui %k, %c16 : index
    %isFirst = arith.cmpi eq, %rest, %block : index
    %exponent = arith.addi %i, %block : index
    %both = arith.shli %c1, %exponent : index
    %int = arith.index_cast %both : index to i32
    %real = arith.sitofp %int : i32 to f32
    %chosen = arith.select %isFirst, %real, %zero : f32
    %narrow = arith.truncf %chosen : f32 to bf16
    tensor.yield %narrow : bf16
  } : tensor<?x128xbf16>
  %one = arith.constant dense<1.0> : tensor<8x128xf32>
  %wq = blockscale.quantize %one : tensor<8x128xf32> to !w
  %y = func.call @product(%x, %wq) : (tensor<?x128xbf16>, !w) -> tensor<?x8xf32>
  %any = tensor.cast %y : tensor<?x8xf32> to tensor<*xf32>
  func.call @printMemrefF32(%any) : (tensor<*xf32>) -> ()
  return
}
