// What the host quantises and what kernels do is the same: int8 with a scale for each
// row, and FP8 under one for all of a matrix, which its kernel finds.

// REQUIRES: emulated-driver
// RUN: blockscale compile --emit=host-llvm %s -o %t.host.mlir
// RUN: env LD_LIBRARY_PATH=%cuda_driver_dir %mlir-runner %t.host.mlir -e main -entry-point-result=void \
// RUN:   -shared-libs=%mlir_runner_libs,%blockscale_runtime | grep -v Unranked > %t.host
// RUN: blockscale compile --emit=host-llvm --quantize-on-device %s -o %t.mlir
// RUN: env LD_LIBRARY_PATH=%cuda_driver_dir %mlir-runner %t.mlir -e main -entry-point-result=void \
// RUN:   -shared-libs=%mlir_runner_libs,%blockscale_runtime | grep -v Unranked > %t.runtime
// RUN: diff %t.host %t.runtime
// RUN: FileCheck %s < %t.runtime

// Row m has 2^m and zeros, w has ones: exact in either format.
// CHECK: {{\[}}[1,   1
// CHECK-NEXT: [2,   2
// CHECK-NEXT: [4,   4
// CHECK: {{\[}}[1,   1
// CHECK-NEXT: [2,   2
// CHECK-NEXT: [4,   4

!i = !blockscale.tensor<?x128xi8, "float32_t0">
!iw = !blockscale.tensor<8x128xi8, "float32_t0">
!f = !blockscale.tensor<?x128xf8E4M3FN, "float32">
!fw = !blockscale.tensor<8x128xf8E4M3FN, "float32">

func.func private @printMemrefF32(tensor<*xf32>)

func.func @integers(%x: tensor<?x128xbf16>, %w: tensor<8x128xbf16>) -> tensor<?x8xf32> {
  %a = blockscale.quantize %x : tensor<?x128xbf16> to !i
  %b = blockscale.quantize %w : tensor<8x128xbf16> to !iw
  %y = blockscale.matmul %a, %b : !i, !iw -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

func.func @floats(%x: tensor<?x128xbf16>, %w: tensor<8x128xbf16>) -> tensor<?x8xf32> {
  %a = blockscale.quantize %x : tensor<?x128xbf16> to !f
  %b = blockscale.quantize %w : tensor<8x128xbf16> to !fw
  %y = blockscale.matmul %a, %b : !f, !fw -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

func.func @main() {
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %m = arith.constant 3 : index
  %zero = arith.constant 0.0 : bf16
  %x = tensor.generate %m {
  ^bb0(%i: index, %k: index):
    %both = arith.shli %c1, %i : index
    %int = arith.index_cast %both : index to i32
    %real = arith.sitofp %int : i32 to bf16
    %isThere = arith.cmpi eq, %k, %c5 : index
    %chosen = arith.select %isThere, %real, %zero : bf16
    tensor.yield %chosen : bf16
  } : tensor<?x128xbf16>
  %w = arith.constant dense<1.0> : tensor<8x128xbf16>
  %0 = func.call @integers(%x, %w) : (tensor<?x128xbf16>, tensor<8x128xbf16>) -> tensor<?x8xf32>
  %1 = tensor.cast %0 : tensor<?x8xf32> to tensor<*xf32>
  func.call @printMemrefF32(%1) : (tensor<*xf32>) -> ()
  %2 = func.call @floats(%x, %w) : (tensor<?x128xbf16>, tensor<8x128xbf16>) -> tensor<?x8xf32>
  %3 = tensor.cast %2 : tensor<?x8xf32> to tensor<*xf32>
  func.call @printMemrefF32(%3) : (tensor<*xf32>) -> ()
  return
}
