// A product that quantises its result through MLIR's own launches and through ours, on
// the emulated driver: what the host makes of its codes is what it makes of its own.

// REQUIRES: emulated-driver
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

// Row m of x is m + 1; row n of w is n - 8 in the first element and 0 elsewhere, which
// is kept to four significant bits, 15 as 14, the largest under its scale. So are the
// sums, where 120 becomes 112.
// CHECK: {{\[}}[-8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 14, 16, 16, 18, 20, 20, 20, 22, 24]
// CHECK: [-40, -36, -30, -24, -20, -15, -10, -5, 0, 5, 10, 15, 20, 24, 30, 36, 40, 44, 48, 56, 60, 64, 72, 72, 80, 80, 88, 96, 96, 96, 112, 112]

!x = !blockscale.tensor<?x32xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!w = !blockscale.tensor<32x32xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!h = !blockscale.tensor<?x32xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>

func.func private @printMemrefF32(tensor<*xf32>)

func.func @product(%x: tensor<?x32xf32>, %w: !w) -> tensor<?x32xf32> {
  %q = blockscale.quantize %x : tensor<?x32xf32> to !x
  %y = blockscale.matmul %q, %w : !x, !w -> tensor<?x32xf32>
  %h = blockscale.quantize %y : tensor<?x32xf32> to !h
  %z = blockscale.dequantize %h : !h to tensor<?x32xf32>
  return %z : tensor<?x32xf32>
}

func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %m = arith.constant 5 : index
  %zero = arith.constant 0.0 : f32
  %x = tensor.generate %m {
  ^bb0(%i: index, %k: index):
    %next = arith.addi %i, %c1 : index
    %int = arith.index_cast %next : index to i32
    %real = arith.sitofp %int : i32 to f32
    tensor.yield %real : f32
  } : tensor<?x32xf32>
  %w = tensor.generate {
  ^bb0(%n: index, %k: index):
    %first = arith.cmpi eq, %k, %c0 : index
    %less = arith.subi %n, %c8 : index
    %int = arith.index_cast %less : index to i32
    %real = arith.sitofp %int : i32 to f32
    %value = arith.select %first, %real, %zero : f32
    tensor.yield %value : f32
  } : tensor<32x32xf32>
  %wq = blockscale.quantize %w : tensor<32x32xf32> to !w
  %y = func.call @product(%x, %wq) : (tensor<?x32xf32>, !w) -> tensor<?x32xf32>
  %any = tensor.cast %y : tensor<?x32xf32> to tensor<*xf32>
  func.call @printMemrefF32(%any) : (tensor<*xf32>) -> ()
  return
}
