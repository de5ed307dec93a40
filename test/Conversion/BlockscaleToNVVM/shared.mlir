// RUN: blockscale-opt %s -pass-pipeline='builtin.module(gpu.module(convert-blockscale-to-nvvm,canonicalize,cse))' | FileCheck %s

#kernel = #blockscale.kernel<grid = ()[m, n, k, l, sms, clusters] -> (sms), block = 192>
!map = !blockscale.tensor_map<u8, dims = ()[m, n, k, l] -> (m, k, l), strides = ()[m, n, k, l] -> (m, m * k), box = [128, 64, 1], swizzle = "128B">
!ring = !blockscale.shared<3x2x64x128xf8E4M3FN, container = 8, swizzle = "128B">
!scales = !blockscale.shared<4x2x2x512xi8, container = 8>
!slot = !blockscale.shared<1x1xi32, container = 32>

// CHECK: llvm.mlir.global external @blockscale_shared_memory() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
gpu.module @kernels {
  // CHECK-LABEL: llvm.func @storage(
  // CHECK-SAME: %[[D:.*]]: !llvm.ptr<1>
  gpu.func @storage(%d: !blockscale.global<f32>) kernel attributes {blockscale.kernel = #kernel} {
    // CHECK-DAG: %[[OFFSET:.*]] = arith.constant 4096 : i32
    // CHECK-DAG: %[[ARRIVALS:.*]] = arith.constant 128 : i32
    // CHECK-DAG: %[[EIGHT:.*]] = arith.constant 8 : i32
    // CHECK-DAG: %[[COUNT:.*]] = arith.constant 2 : i32
    // CHECK: %[[MEMORY:.*]] = llvm.mlir.addressof @blockscale_shared_memory : !llvm.ptr<3>
    // CHECK: %[[START:.*]] = llvm.ptrtoint %[[MEMORY]] : !llvm.ptr<3> to i32
    // CHECK: %[[SLOT:.*]] = arith.addi %[[START]], %[[OFFSET]] : i32
    %slot = blockscale.shared_alloc offset(4096) : !slot
    // Barriers are 8 bytes each; a thread initialises each of them.
    // CHECK: %[[FIRST:.*]] = arith.addi %{{.*}}, %{{.*}} : i32
    // CHECK: %[[TID:.*]] = nvvm.read.ptx.sreg.tid.x : i32
    // CHECK: %[[HAS:.*]] = arith.cmpi ult, %[[TID]], %[[COUNT]] : i32
    // CHECK: scf.if %[[HAS]] {
    // CHECK: %[[DISTANCE:.*]] = arith.muli %[[TID]], %[[EIGHT]] : i32
    // CHECK: %[[OWN:.*]] = arith.addi %[[FIRST]], %[[DISTANCE]] : i32
    // CHECK: %[[P:.*]] = llvm.inttoptr %[[OWN]] : i32 to !llvm.ptr<3>
    // CHECK: nvvm.mbarrier.init %[[P]], %[[ARRIVALS]] : !llvm.ptr<3>, i32
    // CHECK-NOT: nvvm.mbarrier.init
    // CHECK: nvvm.fence.mbarrier.init
    // CHECK: }
    %barrier = blockscale.barrier_alloc arrivals(128) offset(8192) : !blockscale.barrier<2>
    // CHECK: nvvm.barrier0
    gpu.barrier
    // CHECK: %[[SLOT_P:.*]] = llvm.inttoptr %[[SLOT]] : i32 to !llvm.ptr<3>
    // CHECK: %[[WORD:.*]] = llvm.load %[[SLOT_P]] : !llvm.ptr<3> -> i32
    // CHECK: arith.addi %[[WORD]], %[[ARRIVALS]] : i32
    %acc = blockscale.tmem_view %slot column(128) : !slot -> !blockscale.tmem<1x128x8xf32, #blockscale.tmem_accumulator>
    %c0 = arith.constant 0 : i32
    %at = arith.constant 0 : i64
    blockscale.arrive %barrier[%c0] : !blockscale.barrier<2>
    %0 = blockscale.load_accumulator %acc[%c0] column %c0 : !blockscale.tmem<1x128x8xf32, #blockscale.tmem_accumulator> -> vector<8xf32>
    blockscale.store_row %0 to %d[%at] count %c0 : vector<8xf32> to !blockscale.global<f32>
    gpu.return
  }

  // CHECK-LABEL: llvm.func @barriers(
  // CHECK-SAME: %[[BARRIER:[a-z0-9]+]]: i32, %[[I:[a-z0-9]+]]: i32, %[[PARITY:[a-z0-9]+]]: i32)
  gpu.func @barriers(%barrier: !blockscale.barrier<4>, %i: i32, %parity: i32) kernel attributes {blockscale.kernel = #kernel} {
    // CHECK-DAG: %[[EIGHT:.*]] = arith.constant 8 : i32
    // CHECK-DAG: %[[BYTES:.*]] = arith.constant 36864 : i32
    // CHECK: %[[OFFSET:.*]] = arith.muli %[[I]], %[[EIGHT]] : i32
    // CHECK: %[[AT:.*]] = arith.addi %[[BARRIER]], %[[OFFSET]] : i32
    // CHECK: %[[P:.*]] = llvm.inttoptr %[[AT]] : i32 to !llvm.ptr<3>
    // CHECK: scf.while : () -> () {
    // CHECK: %[[OVER:.*]] = nvvm.mbarrier.try_wait %[[P]], %[[PARITY]] : !llvm.ptr<3>, i32 -> i1
    // CHECK: %[[RUNNING:.*]] = arith.xori %[[OVER]], %true : i1
    // CHECK: scf.condition(%[[RUNNING]])
    // CHECK: } do {
    blockscale.wait %barrier[%i] parity %parity : !blockscale.barrier<4>
    // CHECK: nvvm.mbarrier.arrive %{{.*}} : !llvm.ptr<3>{{$}}
    blockscale.arrive %barrier[%i] : !blockscale.barrier<4>
    // CHECK: nvvm.mbarrier.arrive.expect_tx %{{.*}}, %[[BYTES]] : !llvm.ptr<3>, i32{{$}}
    blockscale.arrive_expect %barrier[%i] bytes(36864) : !blockscale.barrier<4>
    gpu.return
  }

  // A stage is 2x64x128 bytes, box 1 starts 64x128 bytes behind it; the barrier
  // is that of the stage.
  // CHECK-LABEL: llvm.func @load(
  // CHECK-SAME: %[[MAP:[a-z0-9]+]]: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant}, %[[RING:[a-z0-9]+]]: i32, %[[BARRIER:[a-z0-9]+]]: i32, %[[STAGE:[a-z0-9]+]]: i32, %[[X:[a-z0-9]+]]: i32, %[[Y:[a-z0-9]+]]: i32, %[[Z:[a-z0-9]+]]: i32)
  gpu.func @load(%map: !map, %ring: !ring, %barrier: !blockscale.barrier<3>, %stage: i32, %x: i32, %y: i32, %z: i32) kernel attributes {blockscale.kernel = #kernel} {
    // CHECK-DAG: %[[STAGE_BYTES:.*]] = arith.constant 16384 : i32
    // CHECK-DAG: %[[BOX_BYTES:.*]] = arith.constant 8192 : i32
    // CHECK-DAG: %[[EIGHT:.*]] = arith.constant 8 : i32
    // CHECK: %[[SO:.*]] = arith.muli %[[STAGE]], %[[STAGE_BYTES]] : i32
    // CHECK: %[[S:.*]] = arith.addi %[[RING]], %[[SO]] : i32
    // CHECK: %[[T:.*]] = arith.addi %[[S]], %[[BOX_BYTES]] : i32
    // CHECK: %[[BO:.*]] = arith.muli %[[STAGE]], %[[EIGHT]] : i32
    // CHECK: %[[B:.*]] = arith.addi %[[BARRIER]], %[[BO]] : i32
    // CHECK-DAG: %[[BP:.*]] = llvm.inttoptr %[[B]] : i32 to !llvm.ptr<3>
    // CHECK-DAG: %[[TP:.*]] = llvm.inttoptr %[[T]] : i32 to !llvm.ptr<7>
    // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %[[TP]], %[[MAP]], %[[BP]], box[%[[X]], %[[Y]], %[[Z]]] : !llvm.ptr<7>, !llvm.ptr
    blockscale.tma_load %map[%x, %y, %z] to %ring signal %barrier stage %stage box 1 : !map to !ring, !blockscale.barrier<3>
    // CHECK: nvvm.cp.async.bulk.tensor.prefetch %[[MAP]], box[%[[X]], %[[Y]], %[[Z]]] : !llvm.ptr
    blockscale.tma_prefetch %map[%x, %y, %z] : !map
    gpu.return
  }

  // Lane l owns 16 bytes of each of the four atoms, which are 512 bytes apart.
  // Both groups of rows share the mask of a word.
  // CHECK-LABEL: llvm.func @mask(
  // CHECK-SAME: %[[SCALES:[a-z0-9]+]]: i32, %[[STAGE:[a-z0-9]+]]: i32, %[[VALID:[a-z0-9]+]]: i32)
  gpu.func @mask(%scales: !scales, %stage: i32, %valid: i32) kernel attributes {blockscale.kernel = #kernel} {
    // CHECK-DAG: %[[C0:.*]] = arith.constant 0 : i32
    // CHECK-DAG: %[[C1:.*]] = arith.constant 1 : i32
    // CHECK-DAG: %[[C3:.*]] = arith.constant 3 : i32
    // CHECK-DAG: %[[C4:.*]] = arith.constant 4 : i32
    // CHECK-DAG: %[[C8:.*]] = arith.constant 8 : i32
    // CHECK-DAG: %[[C16:.*]] = arith.constant 16 : i32
    // CHECK-DAG: %[[C512:.*]] = arith.constant 512 : i32
    // CHECK-DAG: %[[C1024:.*]] = arith.constant 1024 : i32
    // CHECK-DAG: %[[C1536:.*]] = arith.constant 1536 : i32
    // CHECK-DAG: %[[ALL:.*]] = arith.constant -1 : i32
    // CHECK: %[[LANE:.*]] = nvvm.read.ptx.sreg.laneid : i32
    // CHECK: %[[LO:.*]] = arith.muli %[[LANE]], %[[C16]] : i32
    // CHECK: %[[ROW:.*]] = arith.addi %{{.*}}, %[[LO]] : i32
    // CHECK: %[[P:.*]] = arith.maxsi %[[VALID]], %[[C0]] : i32
    // CHECK: %[[Q:.*]] = arith.minsi %[[P]], %[[C3]] : i32
    // CHECK: %[[BITS:.*]] = arith.muli %[[Q]], %[[C8]] : i32
    // CHECK: %[[TOP:.*]] = arith.shli %[[C1]], %[[BITS]] : i32
    // CHECK: %[[BELOW:.*]] = arith.subi %[[TOP]], %[[C1]] : i32
    // CHECK: %[[WHOLE:.*]] = arith.cmpi sge, %[[VALID]], %[[C4]] : i32
    // CHECK: %[[KEEP:.*]] = arith.select %[[WHOLE]], %[[ALL]], %[[BELOW]] : i32
    // CHECK: %[[P0:.*]] = llvm.inttoptr %[[ROW]] : i32 to !llvm.ptr<3>
    // CHECK: %[[OLD:.*]] = llvm.load %[[P0]] {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xi32>
    // CHECK: %[[MASK:.*]] = vector.broadcast %[[KEEP]] : i32 to vector<4xi32>
    // CHECK: %[[NEW:.*]] = arith.andi %[[OLD]], %[[MASK]] : vector<4xi32>
    // CHECK: llvm.store %[[NEW]], %[[P0]] {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<3>
    // CHECK: arith.addi %[[ROW]], %[[C1024]] : i32
    // CHECK: llvm.store
    // CHECK: arith.subi %[[VALID]], %[[C4]] : i32
    // CHECK: arith.addi %[[ROW]], %[[C512]] : i32
    // CHECK: llvm.store
    // CHECK: arith.addi %[[ROW]], %[[C1536]] : i32
    // CHECK: llvm.store
    // CHECK-NOT: llvm.store
    // CHECK: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
    // CHECK: nvvm.bar.warp.sync %[[ALL]] : i32
    blockscale.mask_scales %scales[%stage] valid %valid : !scales
    gpu.return
  }
}
