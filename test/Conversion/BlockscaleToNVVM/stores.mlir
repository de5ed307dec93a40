// Boxes of D in shared memory, and their stores by TMA.

// RUN: blockscale-opt %s -pass-pipeline='builtin.module(gpu.module(convert-blockscale-to-nvvm,canonicalize,cse))' | FileCheck %s

#kernel = #blockscale.kernel<grid = ()[m, n, k, l, sms, clusters] -> (sms), block = 192>
!map = !blockscale.tensor_map<bf16, dims = ()[m, n, k, l] -> (n, m, l), strides = ()[m, n, k, l] -> (n * 2, (m * n) * 2), box = [32, 32, 1], swizzle = "64B">
!ring = !blockscale.shared<8x32x32xbf16, container = 16, swizzle = "64B">

gpu.module @kernels {
  // CHECK-LABEL: llvm.func @boxes(
  // CHECK-SAME: %[[MAP:.*]]: !llvm.ptr {{.*}}, %[[BOX:.*]]: i32, %[[C0:.*]]: i32, %[[C1:.*]]: i32)
  gpu.func @boxes(%map: !map, %box: i32, %c0: i32, %c1: i32) kernel attributes {blockscale.kernel = #kernel} {
    // CHECK-DAG: %[[BYTES:.*]] = arith.constant 2048 : i32
    // CHECK-DAG: %[[ROW_BYTES:.*]] = arith.constant 64 : i32
    // CHECK-DAG: %[[SEVEN:.*]] = arith.constant 7 : i32
    // CHECK-DAG: %[[THREE:.*]] = arith.constant 3 : i32
    // CHECK-DAG: %[[FOUR:.*]] = arith.constant 4 : i32
    // CHECK-DAG: %[[P1:.*]] = arith.constant 16 : i32
    // CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : i32
    %ring = blockscale.shared_alloc offset(1024) : !ring
    %row = arith.constant dense<1.5> : vector<32xbf16>
    // One lane waits, and the others for it.
    // CHECK: %[[LANE:.*]] = nvvm.read.ptx.sreg.laneid
    // CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[LANE]], %[[ZERO]]
    // CHECK: scf.if %[[FIRST]] {
    // CHECK-NEXT: nvvm.cp.async.bulk.wait_group 1 {read}
    // CHECK-NEXT: }
    // CHECK: nvvm.bar.warp.sync
    blockscale.await_stores pending 1
    // Bits 7 and 8 of the address of a row go to bits 4 and 5.
    // CHECK: %[[INSIDE:.*]] = arith.muli %[[BOX]], %[[BYTES]]
    // CHECK: %[[START:.*]] = arith.addi %{{.*}}, %[[INSIDE]]
    // CHECK: %[[OF_LANE:.*]] = arith.muli %{{.*}}, %[[ROW_BYTES]]
    // CHECK: %[[ROW:.*]] = arith.addi %[[START]], %[[OF_LANE]]
    // CHECK: %[[HIGH:.*]] = arith.shrui %[[ROW]], %[[SEVEN]]
    // CHECK: %[[KEPT:.*]] = arith.andi %[[HIGH]], %[[THREE]]
    // CHECK: %[[MOVED:.*]] = arith.shli %[[KEPT]], %[[FOUR]]
    // CHECK: %[[PIECE:.*]] = arith.xori %[[ROW]], %[[MOVED]]
    // CHECK: llvm.inttoptr %[[PIECE]] : i32 to !llvm.ptr<3>
    // CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<8xbf16>, !llvm.ptr<3>
    // CHECK: arith.xori %[[PIECE]], %[[P1]]
    // CHECK-COUNT-3: llvm.store %{{.*}} {alignment = 16 : i64} : vector<8xbf16>, !llvm.ptr<3>
    blockscale.stage_row %row to %ring stage %box : vector<32xbf16> to !ring
    // Each lane's writes are made visible before one of them starts the store.
    // CHECK: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
    // CHECK-NEXT: nvvm.bar.warp.sync
    // CHECK: scf.if
    // CHECK: nvvm.cp.async.bulk.tensor.global.shared.cta %[[MAP]], %{{.*}}, box[%[[C0]], %[[C1]], %[[C0]]]
    // CHECK-NEXT: nvvm.cp.async.bulk.commit.group
    // CHECK-NEXT: }
    blockscale.tma_store %ring stage %box to %map[%c0, %c1, %c0] : !ring to !map
    // CHECK: nvvm.cp.async.bulk.wait_group 0 {read}
    blockscale.await_stores pending 0
    gpu.return
  }

  // Rows of a box that TMA has brought.
  // CHECK-LABEL: llvm.func @addends(
  gpu.func @addends(%box: i32, %d: !blockscale.global<f32>, %o: i64) kernel attributes {blockscale.kernel = #kernel} {
    %ring = blockscale.shared_alloc offset(1024) : !blockscale.shared<16x32x8xf32, container = 32, swizzle = "32B">
    // Bit 7 of the address of a row goes to bit 4.
    // CHECK: arith.shrui %{{.*}}, %{{.*}} : i32
    // CHECK: arith.andi
    // CHECK: arith.shli
    // CHECK: %[[PIECE:.*]] = arith.xori
    // CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xf32>
    // CHECK: arith.xori %[[PIECE]], %{{.*}}
    // CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xf32>
    %0 = blockscale.load_staged_row %ring stage %box : !blockscale.shared<16x32x8xf32, container = 32, swizzle = "32B"> -> vector<8xf32>
    blockscale.store_row %0 to %d[%o] count %box : vector<8xf32> to !blockscale.global<f32>
    gpu.return
  }

  // Elements as they lie in shared memory.
  // CHECK-LABEL: llvm.func @exchange(
  gpu.func @exchange(%value: vector<8xbf16>, %i: i32, %d: !blockscale.global<bf16>, %o: i64) kernel attributes {blockscale.kernel = #kernel} {
    // CHECK-DAG: %[[TWO:.*]] = arith.constant 2 : i32
    %ring = blockscale.shared_alloc offset(256) : !blockscale.shared<1x64xbf16, container = 16, swizzle = "none">
    // CHECK: %[[BYTE:.*]] = arith.muli %{{.*}}, %[[TWO]] : i32
    // CHECK: %[[PLACE:.*]] = arith.addi %{{.*}}, %[[BYTE]]
    // CHECK: %[[ADDRESS:.*]] = llvm.inttoptr %[[PLACE]] : i32 to !llvm.ptr<3>
    // CHECK: llvm.store %{{.*}}, %[[ADDRESS]] {alignment = 16 : i64} : vector<8xbf16>, !llvm.ptr<3>
    blockscale.store_shared %value to %ring[%i] : vector<8xbf16> to !blockscale.shared<1x64xbf16, container = 16, swizzle = "none">
    // CHECK: nvvm.barrier0
    gpu.barrier
    // CHECK: llvm.load %{{.*}} {alignment = 2 : i64} : !llvm.ptr<3> -> vector<1xbf16>
    %0 = blockscale.load_shared %ring[%i] : !blockscale.shared<1x64xbf16, container = 16, swizzle = "none"> -> vector<1xbf16>
    blockscale.store_row %0 to %d[%o] count %i : vector<1xbf16> to !blockscale.global<bf16>
    gpu.return
  }
}
