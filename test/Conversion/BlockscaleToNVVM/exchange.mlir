// Sums that the CTAs of a cluster send each other.

// RUN: blockscale-opt %s -pass-pipeline='builtin.module(gpu.module(convert-blockscale-to-nvvm,canonicalize,cse))' | FileCheck %s

#kernel = #blockscale.kernel<grid = ()[m, n, k, l, sms, clusters] -> (sms), block = 192, cluster = 4>
!inbox = !blockscale.shared<4x2x128x4xf32, container = 32>

gpu.module @kernels {
  // CHECK-LABEL: llvm.func @exchange(
  // CHECK-SAME: %[[PART:.*]]: i32, %[[COLUMN:.*]]: i32, %[[ROW:.*]]: i32, %[[RANK:.*]]: i32)
  gpu.func @exchange(%part: i32, %column: i32, %row: i32, %rank: i32) kernel attributes {blockscale.kernel = #kernel} {
    // CHECK-DAG: %[[BLOCK:.*]] = arith.constant 4096 : i32
    // CHECK-DAG: %[[STRIDE:.*]] = arith.constant 512 : i32
    // CHECK-DAG: %[[BYTES:.*]] = arith.constant 16 : i32
    // CHECK-DAG: %[[FOUR:.*]] = arith.constant 4 : i32
    // CHECK-DAG: %[[NEXT:.*]] = arith.constant 2048 : i32
    %inbox = blockscale.shared_alloc offset(1024) : !inbox
    %full = blockscale.barrier_alloc arrivals(1) offset(0) : !blockscale.barrier<1>
    %empty = blockscale.barrier_alloc arrivals(16) offset(8) : !blockscale.barrier<1>
    %sums = arith.constant dense<1.5> : vector<8xf32>
    // Eight columns are two times 16 bytes; barrier and sums are in the same CTA.
    // CHECK: %[[OF_BLOCK:.*]] = arith.muli %[[PART]], %[[BLOCK]]
    // CHECK: %[[OF_COLUMN:.*]] = arith.muli %[[COLUMN]], %[[STRIDE]]
    // CHECK: %[[OF_ROW:.*]] = arith.muli %[[ROW]], %[[BYTES]]
    // CHECK: nvvm.mapa %{{.*}}, %[[RANK]]
    // CHECK: nvvm.mapa %{{.*}}, %[[RANK]]
    // CHECK-COUNT-2: llvm.inline_asm has_side_effects {{.*}}"st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [$0], {$1,$2,$3,$4}, [$5];", "r,f,f,f,f,r,~{memory}"
    blockscale.send_sums %sums to %inbox[%part, %column, %row] of %rank signal %full : vector<8xf32> to !inbox, !blockscale.barrier<1>
    // CHECK-COUNT-2: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xf32>
    %0 = blockscale.receive_sums %inbox[%part, %column, %row] : !inbox -> vector<8xf32>
    blockscale.send_sums %0 to %inbox[%part, %column, %row] of %rank signal %full : vector<8xf32> to !inbox, !blockscale.barrier<1>
    // A lane for each of four CTAs, once all lanes are done.
    // CHECK: nvvm.bar.warp.sync
    // CHECK: %[[LANE:.*]] = nvvm.read.ptx.sreg.laneid
    // CHECK: %[[ARRIVES:.*]] = arith.cmpi ult, %[[LANE]], %[[FOUR]]
    // CHECK: scf.if %[[ARRIVES]] {
    // CHECK: arith.muli %[[LANE]]
    // CHECK: nvvm.mapa
    // CHECK: nvvm.mbarrier.arrive %{{.*}} {scope = #nvvm.mem_scope<cluster>}
    // CHECK: }
    blockscale.release_sums %empty of %rank count 4 step 2 : !blockscale.barrier<1>
    gpu.return
  }
}
