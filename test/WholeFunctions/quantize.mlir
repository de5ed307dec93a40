// What quantises operands of products as kernels: their results stay on the device
// where they are packed alike for both kernels.

// REQUIRES: emulated-driver
// RUN: blockscale compile --emit=host-memref --quantize-on-device %s -o %t.memref.mlir
// RUN: blockscale-opt %t.memref.mlir --convert-blockscale-to-runtime | FileCheck %s --check-prefix=CALLS
// RUN: blockscale compile --emit=host-llvm --quantize-on-device %s -o %t.mlir
// RUN: env LD_LIBRARY_PATH=%cuda_driver_dir %mlir-runner %t.mlir -e main -entry-point-result=void \
// RUN:   -shared-libs=%mlir_runner_libs,%blockscale_runtime | FileCheck %s
// RUN: blockscale-opt %s --blockscale-to-host="gpu-launch quantize-operands" -o %t.gpu.mlir
// RUN: env LD_LIBRARY_PATH=%cuda_driver_dir %mlir-runner %t.gpu.mlir -e main -entry-point-result=void \
// RUN:   -shared-libs=%mlir_runner_libs,%blockscale_runtime,%gpu_runtime | FileCheck %s

// The host's way for all that quantises gives the same.
// RUN: blockscale compile --emit=host-llvm %s -o %t.host.mlir
// RUN: env LD_LIBRARY_PATH=%cuda_driver_dir %mlir-runner %t.host.mlir -e main -entry-point-result=void \
// RUN:   -shared-libs=%mlir_runner_libs,%blockscale_runtime | FileCheck %s

// Row m of x is (m + 1) / 2 in block m of 4 and 0 elsewhere; in that block row n of
// w is n + 2 * m: 32 products of (m + 1) / 2 * (n + 2 * m).
// CHECK: {{\[}}[0,   16,   32,   48,   64,   80,   96,   112],
// CHECK-NEXT: [64,   96,   128,   160,   192,   224,   256,   288],
// CHECK-NEXT: [192,   240,   288,   336,   384,   432,   480,   528],
// CHECK-NEXT: [384,   448,   512,   576,   640,   704,   768,   832]]
// Codes of e2m1 of 0, 0.5, ..., 6: what the host reads comes to it.
// CHECK: {{\[}}0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10,  11,  12,  13,  14,  15,

// CALLS-LABEL: func.func @product
// CALLS-COUNT-2: llvm.call @blockscaleRuntimeAllocate
// CALLS-COUNT-2: llvm.call @blockscaleRuntimeRun
// CALLS-COUNT-2: llvm.call @blockscaleRuntimeFree
// CALLS-LABEL: func.func @codes
// CALLS-NOT: blockscaleRuntimeAllocate
// CALLS: llvm.call @blockscaleRuntimeRun

!x = !blockscale.tensor<?x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!w = !blockscale.tensor<8x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!q = !blockscale.tensor<1x32xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>

func.func private @printMemrefF32(tensor<*xf32>)

func.func @product(%x: tensor<?x128xbf16>, %w: !w) -> tensor<?x8xf32> {
  %q = blockscale.quantize %x : tensor<?x128xbf16> to !x
  %y = blockscale.matmul %q, %w : !x, !w -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

func.func @codes(%x: tensor<1x32xf32>) -> !q {
  %q = blockscale.quantize %x : tensor<1x32xf32> to !q
  return %q : !q
}

func.func @main() {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %m = arith.constant 4 : index
  %half = arith.constant 0.5 : f32
  %zero = arith.constant 0.0 : f32
  %x = tensor.generate %m {
  ^bb0(%i: index, %k: index):
    %block = arith.divui %k, %c32 : index
    %isIt = arith.cmpi eq, %block, %i : index
    %next = arith.addi %i, %c1 : index
    %int = arith.index_cast %next : index to i32
    %real = arith.sitofp %int : i32 to f32
    %value = arith.mulf %real, %half : f32
    %chosen = arith.select %isIt, %value, %zero : f32
    %narrow = arith.truncf %chosen : f32 to bf16
    tensor.yield %narrow : bf16
  } : tensor<?x128xbf16>
  %w = tensor.generate {
  ^bb0(%n: index, %k: index):
    %block = arith.divui %k, %c32 : index
    %twice = arith.muli %block, %c2 : index
    %sum = arith.addi %n, %twice : index
    %int = arith.index_cast %sum : index to i32
    %real = arith.sitofp %int : i32 to f32
    tensor.yield %real : f32
  } : tensor<8x128xf32>
  %wq = blockscale.quantize %w : tensor<8x128xf32> to !w
  %y = func.call @product(%x, %wq) : (tensor<?x128xbf16>, !w) -> tensor<?x8xf32>
  %any = tensor.cast %y : tensor<?x8xf32> to tensor<*xf32>
  func.call @printMemrefF32(%any) : (tensor<*xf32>) -> ()
  %numbers = arith.constant dense<[[0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, -0.0, -0.5, -1.0, -1.5, -2.0, -3.0, -4.0, -6.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]]> : tensor<1x32xf32>
  %q = func.call @codes(%numbers) : (tensor<1x32xf32>) -> !q
  %data, %scales = blockscale.disassemble %q : !q
  %c0 = arith.constant 0 : index
  %seen = tensor.generate {
  ^bb0(%i: index):
    %element = tensor.extract %data[%c0, %i] : tensor<1x32xf4E2M1FN>
    %code = arith.bitcast %element : f4E2M1FN to i4
    %number = arith.uitofp %code : i4 to f32
    tensor.yield %number : f32
  } : tensor<32xf32>
  %all = tensor.cast %seen : tensor<32xf32> to tensor<*xf32>
  func.call @printMemrefF32(%all) : (tensor<*xf32>) -> ()
  return
}
