// RUN: blockscale-opt %s -pass-pipeline='builtin.module(gpu.module(convert-blockscale-to-nvvm,canonicalize,cse))' | FileCheck %s

#kernel = #blockscale.kernel<grid = ()[m, n, k, l, sms, clusters] -> (sms), block = 192, cluster = 4>
!map = !blockscale.tensor_map<u8, dims = ()[m, n, k, l] -> (k, m, l), strides = ()[m, n, k, l] -> (k, m * k), box = [128, 64, 1], swizzle = "128B">
!ring = !blockscale.shared<4x128x128xf8E4M3FN, container = 8, swizzle = "128B">
!scales = !blockscale.shared<4x1x1x512xi8, container = 8>
!slot = !blockscale.shared<1x1xi32, container = 32>
!responses = !blockscale.shared<2x16xi8, container = 8>

gpu.module @kernels {
  // The kernel says its cluster, so that a launch with another one fails.
  // CHECK-LABEL: llvm.func @barriers(
  // CHECK-SAME: %[[BARRIER:[a-z0-9]+]]: i32, %[[I:[a-z0-9]+]]: i32)
  // CHECK-SAME: nvvm.cluster_dim = array<i32: 4, 1, 1>
  gpu.func @barriers(%barrier: !blockscale.barrier<4>, %i: i32) kernel attributes {blockscale.kernel = #kernel} {
    // CHECK: nvvm.cluster.arrive {aligned}
    // CHECK-NEXT: nvvm.cluster.wait {aligned}
    blockscale.cluster_barrier
    // CHECK: %[[RANK:.*]] = nvvm.read.ptx.sreg.cluster.ctarank : i32
    %rank = blockscale.cluster_rank
    // CHECK: %[[OWN:.*]] = llvm.inttoptr %[[BARRIER]] : i32 to !llvm.ptr<3>
    // CHECK: %[[MAPPED:.*]] = nvvm.mapa %[[OWN]], %[[RANK]] : !llvm.ptr<3> -> !llvm.ptr<7>
    // CHECK: %[[FIRST:.*]] = llvm.ptrtoint %[[MAPPED]] : !llvm.ptr<7> to i32
    %led = blockscale.remote_barrier %barrier of %rank : !blockscale.barrier<4>
    // CHECK: %[[AT:.*]] = arith.addi %[[FIRST]], %{{.*}} : i32
    // CHECK: %[[P:.*]] = llvm.inttoptr %[[AT]] : i32 to !llvm.ptr<7>
    // CHECK: nvvm.mbarrier.arrive %[[P]] {scope = #nvvm.mem_scope<cluster>} : !llvm.ptr<7>
    blockscale.arrive %led[%i] : !blockscale.barrier<4, remote = true>
    // Other CTAs arrive at the kernel's barriers.
    // CHECK: nvvm.mbarrier.try_wait {{.*}} {scope = #nvvm.mem_scope<cluster>}
    blockscale.wait %barrier[%i] parity %i : !blockscale.barrier<4>
    // CHECK: nvvm.mbarrier.arrive.expect_tx {{.*}} {scope = #nvvm.mem_scope<cluster>}
    blockscale.arrive_expect %barrier[%i] bytes(16) : !blockscale.barrier<4>
    gpu.return
  }

  // A box of 64 rows of 128 bytes is a slice of 8192.
  // CHECK-LABEL: llvm.func @loads(
  // CHECK-SAME: %[[I:[a-z0-9]+]]: i32, %[[MASK:[a-z0-9]+]]: i32)
  gpu.func @loads(%map: !map, %ring: !ring, %full: !blockscale.barrier<4>, %i: i32, %mask: i32) kernel attributes {blockscale.kernel = #kernel} {
    // CHECK-DAG: %[[SLICE:.*]] = arith.constant 8192 : i32
    // CHECK: %[[OFFSET:.*]] = arith.muli %[[I]], %[[SLICE]] : i32
    // CHECK: %[[TARGET:.*]] = arith.addi %{{.*}}, %[[OFFSET]] : i32
    // CHECK: %[[TARGET_P:.*]] = llvm.inttoptr %[[TARGET]] : i32 to !llvm.ptr<7>
    // CHECK: %[[BITS:.*]] = arith.trunci %[[MASK]] : i32 to i16
    // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %[[TARGET_P]], {{.*}} multicast_mask = %[[BITS]] : !llvm.ptr<7>
    blockscale.tma_load %map[%i, %i, %i] to %ring signal %full stage %i slice %i multicast %mask : !map to !ring, !blockscale.barrier<4>
    %rank = blockscale.cluster_rank
    %led = blockscale.remote_barrier %full of %rank : !blockscale.barrier<4>
    // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}} {group = #nvvm.cta_group<cta_2>
    blockscale.tma_load %map[%i, %i, %i] to %ring signal %led stage %i : !map to !ring, !blockscale.barrier<4, remote = true>
    gpu.return
  }

  // CHECK-LABEL: llvm.func @pair(
  gpu.func @pair(%slot: !slot, %ring: !scales, %sf: !blockscale.tmem<128x4xi8, #blockscale.tmem_scales<word_stride = 4>>, %empty: !blockscale.barrier<4>, %i: i32) kernel attributes {blockscale.kernel = #kernel} {
    // CHECK: nvvm.tcgen05.alloc {{.*}} {group = #nvvm.cta_group<cta_2>}
    // CHECK: nvvm.tcgen05.relinquish_alloc_permit {group = #nvvm.cta_group<cta_2>}
    blockscale.tmem_alloc %slot columns(32) pair : !slot
    // The other CTA's scales are cleared where they lie.
    // CHECK: %[[RANK:.*]] = nvvm.read.ptx.sreg.cluster.ctarank
    // CHECK: nvvm.mapa %{{.*}}, %[[RANK]] : !llvm.ptr<3> -> !llvm.ptr<7>
    // CHECK: llvm.load %[[ROW:.*]] {alignment = 16 : i64} : !llvm.ptr<7> -> vector<4xi32>
    // CHECK: llvm.store %{{.*}}, %[[ROW]] {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<7>
    // CHECK: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cluster>}
    %rank = blockscale.cluster_rank
    blockscale.mask_scales %ring[%i] valid %i rank %rank : !scales
    // CHECK: nvvm.tcgen05.cp {{.*}}group = #nvvm.cta_group<cta_2>
    blockscale.copy_scales %ring[%i] to %sf pair : !scales to !blockscale.tmem<128x4xi8, #blockscale.tmem_scales<word_stride = 4>>
    // CHECK: nvvm.tcgen05.commit %{{.*}}, multicast_mask = %{{.*}} {group = #nvvm.cta_group<cta_2>}
    blockscale.commit %empty[%i] multicast %i pair : !blockscale.barrier<4>
    // CHECK: nvvm.tcgen05.dealloc {{.*}} {group = #nvvm.cta_group<cta_2>}
    blockscale.tmem_dealloc %slot columns(32) pair : !slot
    gpu.return
  }

  // CHECK-LABEL: llvm.func @launches(
  gpu.func @launches(%responses: !responses, %full: !blockscale.barrier<2>, %empty: !blockscale.barrier<2>, %i: i32) kernel attributes {blockscale.kernel = #kernel} {
    // CHECK: nvvm.griddepcontrol wait
    blockscale.await_dependencies
    // CHECK: nvvm.clusterlaunchcontrol.try.cancel multicast,
    blockscale.try_cancel %responses[%i] signal %full multicast : !responses, !blockscale.barrier<2>
    // A response that found nothing has no first CTA to ask for.
    // CHECK: %[[RESPONSE:.*]] = llvm.load volatile %[[P:.*]] {alignment = 16 : i64} : !llvm.ptr<3> -> i128
    // CHECK: %[[FOUND:.*]] = nvvm.clusterlaunchcontrol.query.cancel query = is_canceled, %[[RESPONSE]] : i1
    // CHECK: %[[CTA:.*]] = scf.if %[[FOUND]] -> (i32) {
    // CHECK: %[[AGAIN:.*]] = llvm.load volatile %[[P]]
    // CHECK: nvvm.clusterlaunchcontrol.query.cancel query = get_first_cta_id_x, %[[AGAIN]] : i32
    // CHECK: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>
    %cta, %found = blockscale.query_cancel %responses[%i] : !responses
    scf.if %found {
      blockscale.arrive %empty[%cta] : !blockscale.barrier<2>
    }
    // CHECK: nvvm.griddepcontrol launch_dependents
    blockscale.launch_dependents
    gpu.return
  }
}
