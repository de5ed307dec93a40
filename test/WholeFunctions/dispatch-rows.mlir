// A product with kernels of their own for few rows, which our runtime chooses by the
// rows of each call. Where upstream launches it, it is the one for any number.

// REQUIRES: emulated-driver
// RUN: blockscale-opt %s --blockscale-to-host="dispatch-rows=16,64" -o %t.mlir
// RUN: env LD_LIBRARY_PATH=%cuda_driver_dir BLOCKSCALE_REPORT=1 %mlir-runner %t.mlir -e main -entry-point-result=void \
// RUN:   -shared-libs=%mlir_runner_libs,%blockscale_runtime > %t.txt 2> %t.launches
// RUN: FileCheck %s < %t.txt
// RUN: FileCheck %s --check-prefix=LAUNCHES < %t.launches
// RUN: blockscale-opt %s --blockscale-to-host="gpu-launch dispatch-rows=16,64" -o %t.gpu.mlir
// RUN: env LD_LIBRARY_PATH=%cuda_driver_dir BLOCKSCALE_REPORT=1 %mlir-runner %t.gpu.mlir -e main -entry-point-result=void \
// RUN:   -shared-libs=%mlir_runner_libs,%blockscale_runtime,%gpu_runtime > %t.gpu.txt 2> %t.gpu.launches
// RUN: FileCheck %s < %t.gpu.txt
// RUN: FileCheck %s --check-prefix=ONE < %t.gpu.launches

// The last of 4, 17 and 65 rows m: 256 * (m % 7 + 1) * (n + 1).
// CHECK: {{\[}}[1024,   2048,   3072,   4096,   5120,   6144,   7168,   8192]]
// CHECK: {{\[}}[768,   1536,   2304,   3072,   3840,   4608,   5376,   6144]]
// CHECK: {{\[}}[512,   1024,   1536,   2048,   2560,   3072,   3584,   4096]]

// LAUNCHES: product_m16
// LAUNCHES: product_m64
// LAUNCHES: product{{[^_]}}
// ONE-NOT: product_m
// ONE-COUNT-3: product{{[^_]}}

!x = !blockscale.tensor<?x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!w = !blockscale.tensor<8x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>

func.func private @printMemrefF32(tensor<*xf32>)

func.func @product(%x: !x, %w: !w) -> tensor<?x8xf32> {
  %y = blockscale.matmul %x, %w : !x, !w -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

func.func @printLast(%m: index, %w: !w) {
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %x = tensor.generate %m {
  ^bb0(%i: index, %k: index):
    %rest = arith.remui %i, %c7 : index
    %next = arith.addi %rest, %c1 : index
    %int = arith.index_cast %next : index to i32
    %value = arith.sitofp %int : i32 to f32
    tensor.yield %value : f32
  } : tensor<?x256xf32>
  %qx = blockscale.quantize %x : tensor<?x256xf32> to !x
  %y = call @product(%qx, %w) : (!x, !w) -> tensor<?x8xf32>
  %last = arith.subi %m, %c1 : index
  %row = tensor.extract_slice %y[%last, 0] [1, 8] [1, 1] : tensor<?x8xf32> to tensor<1x8xf32>
  %any = tensor.cast %row : tensor<1x8xf32> to tensor<*xf32>
  call @printMemrefF32(%any) : (tensor<*xf32>) -> ()
  return
}

func.func @main() {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c17 = arith.constant 17 : index
  %c65 = arith.constant 65 : index
  %w = tensor.generate {
  ^bb0(%n: index, %k: index):
    %next = arith.addi %n, %c1 : index
    %int = arith.index_cast %next : index to i32
    %value = arith.sitofp %int : i32 to f32
    tensor.yield %value : f32
  } : tensor<8x256xf32>
  %qw = blockscale.quantize %w : tensor<8x256xf32> to !w
  call @printLast(%c4, %qw) : (index, !w) -> ()
  call @printLast(%c17, %qw) : (index, !w) -> ()
  call @printLast(%c65, %qw) : (index, !w) -> ()
  return
}
