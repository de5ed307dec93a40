// Results that only kernels read stay on the device, constants are copied once.

// REQUIRES: emulated-driver
// RUN: blockscale compile --emit=host-memref %s -o %t.memref.mlir
// RUN: blockscale-opt %t.memref.mlir --convert-blockscale-to-runtime | FileCheck %s --check-prefix=CALLS
// RUN: blockscale compile --emit=host-llvm %s -o %t.mlir
// RUN: env LD_LIBRARY_PATH=%cuda_driver_dir %mlir-runner %t.mlir -e main -entry-point-result=void \
// RUN:   -shared-libs=%mlir_runner_libs,%blockscale_runtime | FileCheck %s
// RUN: blockscale-opt %s --blockscale-to-host="gpu-launch" -o %t.gpu.mlir
// RUN: env LD_LIBRARY_PATH=%cuda_driver_dir %mlir-runner %t.gpu.mlir -e main -entry-point-result=void \
// RUN:   -shared-libs=%mlir_runner_libs,%blockscale_runtime,%gpu_runtime | FileCheck %s

// Row m of x is m + 1 in its first place, that of v in its second; w is n + 1 in
// both: (m + 1) * (n + 1) twice, and a third time.
// CHECK: {{\[}}[3,   6,   9,   12,
// CHECK: [6,   12,   18,   24,
// CHECK: {{\[}}[2,   2,   2,
// CHECK-NEXT: [4,   4,   4,
// CHECK: {{\[}}[2,   2,   2,
// CHECK-NEXT: [4,   4,   4,

// The second of three sums never comes to the host; the first shares its memory
// with the last, which does.
// CALLS-LABEL: func.func @sums
// CALLS: memref.alloc
// CALLS: llvm.call @blockscaleRuntimeRun
// CALLS: %[[FOUR:.*]] = llvm.mlir.constant(4 : i64) : i64
// CALLS-NEXT: %[[BYTES:.*]] = llvm.mul %{{.*}}, %[[FOUR]] : i64
// CALLS: %[[Z:.*]] = llvm.call @blockscaleRuntimeAllocate(%[[BYTES]]) : (i64) -> !llvm.ptr
// CALLS: llvm.call @blockscaleRuntimeRun
// CALLS: llvm.call @blockscaleRuntimeRun
// CALLS-NOT: memref.dealloc
// CALLS: llvm.call @blockscaleRuntimeFree
// CALLS-NOT: memref.dealloc
// CALLS: return
// The host reads both results.
// CALLS-LABEL: func.func @read
// CALLS-NOT: blockscaleRuntimeAllocate
// CALLS: return

// B is a constant, A is not.
// CALLS-LABEL: func.func @weights
// CALLS: llvm.mlir.addressof @blockscale_a_data :
// CALLS-NEXT: %[[FLAGS:.*]] = llvm.mlir.constant(0 : i64) : i64
// CALLS: llvm.insertvalue %[[FLAGS]], %{{.*}}[6]
// CALLS: llvm.mlir.addressof @blockscale_a_scales :
// CALLS-NEXT: %[[FLAGS:.*]] = llvm.mlir.constant(0 : i64) : i64
// CALLS: llvm.insertvalue %[[FLAGS]], %{{.*}}[6]
// CALLS: llvm.mlir.addressof @blockscale_b_data :
// CALLS-NEXT: %[[FLAGS:.*]] = llvm.mlir.constant(1 : i64) : i64
// CALLS: llvm.insertvalue %[[FLAGS]], %{{.*}}[6]
// CALLS: llvm.mlir.addressof @blockscale_b_scales :
// CALLS-NEXT: %[[FLAGS:.*]] = llvm.mlir.constant(1 : i64) : i64
// CALLS: llvm.insertvalue %[[FLAGS]], %{{.*}}[6]
// CALLS: llvm.mlir.addressof @blockscale_d :
// CALLS-NEXT: %[[FLAGS:.*]] = llvm.mlir.constant(0 : i64) : i64
// CALLS: llvm.insertvalue %[[FLAGS]], %{{.*}}[6]
// CALLS: llvm.call @blockscaleRuntimeRun

!x = !blockscale.tensor<?x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!w = !blockscale.tensor<8x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>

func.func private @printMemrefF32(tensor<*xf32>)

func.func @sums(%x: !x, %v: !x, %w: !w) -> tensor<?x8xf32> {
  %y = blockscale.matmul %x, %w : !x, !w -> tensor<?x8xf32>
  %z = blockscale.matmul %v, %w c(%y) : !x, !w, tensor<?x8xf32> -> tensor<?x8xf32>
  %r = blockscale.matmul %x, %w c(%z) : !x, !w, tensor<?x8xf32> -> tensor<?x8xf32>
  return %r : tensor<?x8xf32>
}

func.func @read(%x: !x, %w: !w) -> tensor<?x8xf32> {
  %y = blockscale.matmul %x, %w : !x, !w -> tensor<?x8xf32>
  %z = blockscale.matmul %x, %w c(%y) : !x, !w, tensor<?x8xf32> -> tensor<?x8xf32>
  %r = arith.addf %y, %z : tensor<?x8xf32>
  return %r : tensor<?x8xf32>
}

func.func @weights(%x: !x) -> tensor<?x8xf32> {
  %data = arith.constant dense<1.0> : tensor<8x128xf8E4M3FN>
  %scales = arith.constant dense<2.0> : tensor<1x1x32x16xf8E8M0FNU>
  %w = blockscale.assemble %data, %scales : tensor<8x128xf8E4M3FN>, tensor<1x1x32x16xf8E8M0FNU> to !w
  %y = blockscale.matmul %x, %w : !x, !w -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

func.func private @first(%rows: index, %place: index) -> tensor<?x128xf32> {
  %zero = arith.constant 0.0 : f32
  %c1 = arith.constant 1 : index
  %x = tensor.generate %rows {
  ^bb0(%i: index, %k: index):
    %is = arith.cmpi eq, %k, %place : index
    %next = arith.addi %i, %c1 : index
    %int = arith.index_cast %next : index to i32
    %value = arith.sitofp %int : i32 to f32
    %chosen = arith.select %is, %value, %zero : f32
    tensor.yield %chosen : f32
  } : tensor<?x128xf32>
  return %x : tensor<?x128xf32>
}

func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %m = arith.constant 4 : index
  %fx = call @first(%m, %c0) : (index, index) -> tensor<?x128xf32>
  %fv = call @first(%m, %c1) : (index, index) -> tensor<?x128xf32>
  %x = blockscale.quantize %fx : tensor<?x128xf32> to !x
  %v = blockscale.quantize %fv : tensor<?x128xf32> to !x
  %fw = tensor.generate {
  ^bb0(%n: index, %k: index):
    %next = arith.addi %n, %c1 : index
    %int = arith.index_cast %next : index to i32
    %value = arith.sitofp %int : i32 to f32
    tensor.yield %value : f32
  } : tensor<8x128xf32>
  %w = blockscale.quantize %fw : tensor<8x128xf32> to !w
  %y = call @sums(%x, %v, %w) : (!x, !x, !w) -> tensor<?x8xf32>
  %any = tensor.cast %y : tensor<?x8xf32> to tensor<*xf32>
  call @printMemrefF32(%any) : (tensor<*xf32>) -> ()
  // One element of each row of x is not 0.
  scf.for %i = %c0 to %m step %c2 {
    %z = func.call @weights(%x) : (!x) -> tensor<?x8xf32>
    %all = tensor.cast %z : tensor<?x8xf32> to tensor<*xf32>
    func.call @printMemrefF32(%all) : (tensor<*xf32>) -> ()
  }
  return
}
