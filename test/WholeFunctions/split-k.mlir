// Products that split K, each launch of which gets a workspace from our runtime:
// two kernels, launched in turns in a loop.

// REQUIRES: emulated-driver
// RUN: blockscale compile --emit=host-llvm %s -o %t.mlir
// RUN: env LD_LIBRARY_PATH=%cuda_driver_dir %mlir-runner %t.mlir -e main -entry-point-result=void \
// RUN:   -shared-libs=%mlir_runner_libs,%blockscale_runtime | FileCheck %s
// RUN: blockscale-opt %s --blockscale-to-host="gpu-launch" -o %t.gpu.mlir
// RUN: env LD_LIBRARY_PATH=%cuda_driver_dir %mlir-runner %t.gpu.mlir -e main -entry-point-result=void \
// RUN:   -shared-libs=%mlir_runner_libs,%blockscale_runtime,%gpu_runtime | FileCheck %s

// A row of x has one number, in block i of 192; in that block row n of w is
// n + 2 * i. Four times (i + 1) * (n + 2 * i):
// CHECK: {{\[}}[0,   4,   8,   12,   16,   20,   24,   28],
// CHECK-NEXT: [16,   24,   32,   40,   48,   56,   64,   72],
// CHECK-NEXT: [48,   60,   72,   84,   96,   108,   120,   132],
// CHECK-NEXT: [96,   112,   128,   144,   160,   176,   192,   208]]

// The same function in 'verify', its two kernels one after the other.
// RUN: sed -e '/@printMemrefF32/d' -e '/@main/,$d' %s > %t.product.mlir
// RUN: blockscale verify %t.product.mlir --m=4 --data=exact | FileCheck %s --check-prefix=VERIFY
// VERIFY-NOT: FAIL
// VERIFY: pass

!x = !blockscale.tensor<?x768xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!w = !blockscale.tensor<8x768xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>

func.func private @printMemrefF32(tensor<*xf32>)

func.func @product(%x: !x, %w: !w, %n: index) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %m = blockscale.dim %x, 0 : !x
  %empty = tensor.empty(%m) : tensor<?x8xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x8xf32>) -> tensor<?x8xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> tensor<?x8xf32> {
    %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<split_k = 3, cluster_k = 1>) : !x, !w -> tensor<?x8xf32>
    %z = blockscale.matmul %x, %w schedule(#blockscale.schedule<split_k = 5, cluster_k = 1, swap_operands = false>) : !x, !w -> tensor<?x8xf32>
    %both = arith.addf %y, %z : tensor<?x8xf32>
    %sum = arith.addf %acc, %both : tensor<?x8xf32>
    scf.yield %sum : tensor<?x8xf32>
  }
  return %r : tensor<?x8xf32>
}

func.func @main() {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c192 = arith.constant 192 : index
  %m = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  %x = tensor.generate %m {
  ^bb0(%i: index, %k: index):
    %place = arith.muli %i, %c192 : index
    %is = arith.cmpi eq, %k, %place : index
    %next = arith.addi %i, %c1 : index
    %int = arith.index_cast %next : index to i32
    %value = arith.sitofp %int : i32 to f32
    %chosen = arith.select %is, %value, %zero : f32
    tensor.yield %chosen : f32
  } : tensor<?x768xf32>
  %w = tensor.generate {
  ^bb0(%n: index, %k: index):
    %block = arith.divui %k, %c192 : index
    %twice = arith.muli %block, %c2 : index
    %sum = arith.addi %n, %twice : index
    %int = arith.index_cast %sum : index to i32
    %value = arith.sitofp %int : i32 to f32
    tensor.yield %value : f32
  } : tensor<8x768xf32>
  %qx = blockscale.quantize %x : tensor<?x768xf32> to !x
  %qw = blockscale.quantize %w : tensor<8x768xf32> to !w
  %y = call @product(%qx, %qw, %c2) : (!x, !w, index) -> tensor<?x8xf32>
  %any = tensor.cast %y : tensor<?x8xf32> to tensor<*xf32>
  call @printMemrefF32(%any) : (tensor<*xf32>) -> ()
  return
}
