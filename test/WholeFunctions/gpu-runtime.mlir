// What upstream's gpu dialect calls beside launches: memory, streams and events of
// our stand-in for LLVM's runtime, on the emulator's CUDA driver.

// REQUIRES: emulated-driver
// RUN: blockscale-opt %s --gpu-to-llvm --convert-func-to-llvm --reconcile-unrealized-casts -o %t.mlir
// RUN: env LD_LIBRARY_PATH=%cuda_driver_dir %mlir-runner %t.mlir -e main -entry-point-result=void \
// RUN:   -shared-libs=%mlir_runner_libs,%gpu_runtime | FileCheck %s

// Every function that upstream calls here is one of ours.
// RUN: FileCheck %s --check-prefix=CALLS < %t.mlir
// CALLS-DAG: llvm.call @mgpuStreamCreate() : () -> !llvm.ptr
// CALLS-DAG: llvm.call @mgpuStreamWaitEvent(%{{.*}}, %{{.*}}) : (!llvm.ptr, !llvm.ptr) -> ()
// CALLS-DAG: llvm.call @mgpuEventCreate() : () -> !llvm.ptr
// CALLS-DAG: llvm.call @mgpuEventRecord(%{{.*}}, %{{.*}}) : (!llvm.ptr, !llvm.ptr) -> ()
// CALLS-DAG: llvm.call @mgpuEventDestroy(%{{.*}}) : (!llvm.ptr) -> ()
// CALLS-DAG: llvm.call @mgpuMemAlloc(%{{.*}}, %{{.*}}, %{{.*}}) : (i64, !llvm.ptr, i8) -> !llvm.ptr
// CALLS-DAG: llvm.call @mgpuMemcpy(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) : (!llvm.ptr, !llvm.ptr, i64, !llvm.ptr) -> ()
// CALLS-DAG: llvm.call @mgpuMemset16(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) : (!llvm.ptr, i16, i64, !llvm.ptr) -> ()
// CALLS-DAG: llvm.call @mgpuMemset32(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) : (!llvm.ptr, i32, i64, !llvm.ptr) -> ()
// CALLS-DAG: llvm.call @mgpuMemFree(%{{.*}}, %{{.*}}) : (!llvm.ptr, !llvm.ptr) -> ()
// CALLS-DAG: llvm.call @mgpuSetDefaultDevice(%{{.*}}) : (i32) -> ()

// 0x4049 twice is 0x40494049.
// CHECK: [2.5,  2.5,  2.5,  7]
// CHECK: [1078542409,  1078542409]

module attributes {gpu.container_module} {
  func.func private @printMemrefF32(memref<*xf32>)
  func.func private @printMemrefI32(memref<*xi32>)

  func.func @main() {
    %device = arith.constant 0 : i32
    %n = arith.constant 4 : index
    %c3 = arith.constant 3 : index
    %x = arith.constant 2.5 : f32
    %y = arith.constant 7.0 : f32
    %half = arith.constant 3.140625 : bf16
    gpu.set_default_device %device
    %t0 = gpu.wait async
    %a, %t1 = gpu.alloc async [%t0] (%n) : memref<?xf32>
    %t2 = gpu.memset async [%t1] %a, %x : memref<?xf32>, f32
    %u0 = gpu.wait async
    %b, %u1 = gpu.alloc async [%u0] () : memref<4xbf16>
    %u2 = gpu.memset async [%u1] %b, %half : memref<4xbf16>, bf16
    // A stream that waits for the two by events.
    %v0 = gpu.wait async [%t2, %u2]
    %h, %v1 = gpu.alloc async [%v0] (%n) : memref<?xf32>
    %v2 = gpu.memcpy async [%v1] %h, %a : memref<?xf32>, memref<?xf32>
    gpu.wait [%v2]
    %s = memref.alloc(%n) : memref<?xf32>
    %w0 = gpu.wait async
    %w1 = gpu.memcpy async [%w0] %s, %h : memref<?xf32>, memref<?xf32>
    %w2 = gpu.dealloc async [%w1] %a : memref<?xf32>
    %w3 = gpu.dealloc async [%w2] %h : memref<?xf32>
    gpu.wait [%w3]
    memref.store %y, %s[%c3] : memref<?xf32>
    %any = memref.cast %s : memref<?xf32> to memref<*xf32>
    call @printMemrefF32(%any) : (memref<*xf32>) -> ()
    %c0 = arith.constant 0 : index
    %bytes = memref.alloc() : memref<8xi8>
    %asBf16 = memref.view %bytes[%c0][] : memref<8xi8> to memref<4xbf16>
    %asI32 = memref.view %bytes[%c0][] : memref<8xi8> to memref<2xi32>
    %z0 = gpu.wait async
    %z1 = gpu.memcpy async [%z0] %asBf16, %b : memref<4xbf16>, memref<4xbf16>
    gpu.wait [%z1]
    %ints = memref.cast %asI32 : memref<2xi32> to memref<*xi32>
    call @printMemrefI32(%ints) : (memref<*xi32>) -> ()
    return
  }
}
