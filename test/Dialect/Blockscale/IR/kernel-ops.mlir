// RUN: blockscale-opt %s | blockscale-opt | FileCheck %s
// RUN: blockscale-opt %s -mlir-print-op-generic | blockscale-opt | FileCheck %s
// RUN: blockscale-opt %s -o %t.mlir
// RUN: blockscale-opt %s -emit-bytecode | blockscale-opt -o %t.back.mlir
// RUN: diff %t.mlir %t.back.mlir

!data = !blockscale.tensor_map<u4x16_align8b, dims = ()[m, n, k, l] -> (k, m, l), strides = ()[m, n, k, l] -> (k floordiv 2, m * (k floordiv 2)), box = [256, 128, 1], swizzle = "128B">
!scales = !blockscale.tensor_map<u32, dims = ()[m, n, k, l] -> (128, k ceildiv 64, m ceildiv 128, l), strides = ()[m, n, k, l] -> (512, (k ceildiv 64) * 512, (m ceildiv 128) * ((k ceildiv 64) * 512)), box = [128, 4, 1, 1], swizzle = "none">
!ring = !blockscale.shared<4x128x256xf4E2M1FN, container = 4, swizzle = "128B">
!scaleRing = !blockscale.shared<4x1x4x512xi8, container = 8>
!slot = !blockscale.shared<1x1xi32, container = 32>
!acc = !blockscale.tmem<2x128x128xf32, #blockscale.tmem_accumulator>
!sf = !blockscale.tmem<128x16xi8, #blockscale.tmem_scales<word_stride = 4>>
#instruction = #blockscale.mma<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 128, k = 64>
#complete = #blockscale.schedule<tile_m = 128, tile_n = 128, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8>

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func private @tensor_map_types
// CHECK-SAME: !blockscale.tensor_map<u8, dims = ()[s0, s1, s2, s3] -> (s2), strides = ()[s0, s1, s2, s3] -> (), box = [64], swizzle = "64B">
// CHECK-SAME: !blockscale.tensor_map<u4x16_align16b, dims = ()[s0, s1, s2, s3] -> (s2, s0), strides = ()[s0, s1, s2, s3] -> (s2 floordiv 2), box = [128, 8], swizzle = "128B">
// CHECK-SAME: !blockscale.tensor_map<u6x16_align16b, {{.*}}, swizzle = "128B">
func.func private @tensor_map_types(
  !blockscale.tensor_map<u8, dims = ()[m, n, k, l] -> (k), strides = ()[m, n, k, l] -> (), box = [64], swizzle = "64B">,
  !blockscale.tensor_map<u4x16_align16b, dims = ()[m, n, k, l] -> (k, m), strides = ()[m, n, k, l] -> (k floordiv 2), box = [128, 8], swizzle = "128B">,
  !blockscale.tensor_map<u6x16_align16b, dims = ()[m, n, k, l] -> (k, m), strides = ()[m, n, k, l] -> (k), box = [128, 8], swizzle = "128B">)

// CHECK-LABEL: func.func private @memory_types
// CHECK-SAME: !blockscale.global<bf16>, !blockscale.shared<3x64x128xf8E5M2, container = 8, swizzle = "32B">, !blockscale.shared<1x16xi8, container = 8>, !blockscale.barrier<7>
func.func private @memory_types(!blockscale.global<bf16>,
  !blockscale.shared<3x64x128xf8E5M2, container = 8, swizzle = "32B">,
  !blockscale.shared<1x16xi8, container = 8>, !blockscale.barrier<7>)

// CHECK-LABEL: func.func private @tensor_memory_types
// CHECK-SAME: !blockscale.tmem<2x128x256xf32, #blockscale.tmem_accumulator<copy_stride = 208>>, !blockscale.tmem<256x4xi8, #blockscale.tmem_scales<word_stride = 8>>
func.func private @tensor_memory_types(
  !blockscale.tmem<2x128x256xf32, #blockscale.tmem_accumulator<copy_stride = 208>>,
  !blockscale.tmem<256x4xi8, #blockscale.tmem_scales<word_stride = 8>>)

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func private @attributes
func.func private @attributes() attributes {
  // CHECK-SAME: test.empty = #blockscale.schedule,
  test.empty = #blockscale.schedule,
  // CHECK-SAME: test.kinds = [#blockscale.mma<kind = mxf8f6f4, a = e4m3, b = e2m3, scale = ue8m0, block = 32>, #blockscale.mma<kind = mxf4, a = e2m1, b = e2m1, scale = ue8m0, block = 32, m = 128, n = 8, k = 64>, #blockscale.mma<kind = mxf8f6f4, a = e5m2, b = e3m2, scale = ue8m0, block = 32, a_mn_major = true, b_mn_major = false>]
  test.kinds = [#blockscale.mma<kind = mxf8f6f4, a = e4m3, b = e2m3, scale = ue8m0, block = 32>,
    #blockscale.mma<kind = mxf4, a = e2m1, b = e2m1, scale = ue8m0, block = 32, m = 128, n = 8, k = 64>,
    #blockscale.mma<kind = mxf8f6f4, a = e5m2, b = e3m2, scale = ue8m0, block = 32, a_mn_major = true, b_mn_major = false>],
  // CHECK-SAME: test.schedule = #blockscale.schedule<tile_m = 128, tile_n = 192, tile_k = 128, stages = 16, accumulators = 1, swap_operands = true, group_m = 65536>
  test.schedule = #blockscale.schedule<tile_m = 128, tile_n = 192, tile_k = 128, stages = 16, accumulators = 1, swap_operands = true, group_m = 65536>,
  // CHECK-SAME: test.step = #blockscale.step<a = 96, b = 64, sfa_column = 4, sfa_id = 2, sfb_column = 8, sfb_id = 3>
  test.step = #blockscale.step<a = 96, b = 64, sfa_column = 4, sfa_id = 2, sfb_column = 8, sfb_id = 3>}

// CHECK-LABEL: func.func private @roles
// CHECK-SAME: a_data{{.*}}b_data{{.*}}a_scales{{.*}}b_scales{{.*}}<d>{{.*}}<c>{{.*}}bias{{.*}}alpha{{.*}}beta{{.*}}a_tensor_scale{{.*}}b_tensor_scale{{.*}}size_m{{.*}}size_n{{.*}}size_k{{.*}}batch
func.func private @roles(
  i32 {blockscale.parameter = #blockscale.parameter<a_data>}, i32 {blockscale.parameter = #blockscale.parameter<b_data>},
  i32 {blockscale.parameter = #blockscale.parameter<a_scales>}, i32 {blockscale.parameter = #blockscale.parameter<b_scales>},
  i32 {blockscale.parameter = #blockscale.parameter<d>}, i32 {blockscale.parameter = #blockscale.parameter<c>},
  i32 {blockscale.parameter = #blockscale.parameter<bias>}, i32 {blockscale.parameter = #blockscale.parameter<alpha>},
  i32 {blockscale.parameter = #blockscale.parameter<beta>}, i32 {blockscale.parameter = #blockscale.parameter<a_tensor_scale>},
  i32 {blockscale.parameter = #blockscale.parameter<b_tensor_scale>}, i32 {blockscale.parameter = #blockscale.parameter<size_m>},
  i32 {blockscale.parameter = #blockscale.parameter<size_n>}, i32 {blockscale.parameter = #blockscale.parameter<size_k>},
  i32 {blockscale.parameter = #blockscale.parameter<batch>})

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @launch
func.func @launch(%a: tensor<?x4096xf32>, %b: tensor<64xf32>) -> tensor<?x64xf32> {
  // CHECK: blockscale.launch @kernels::@kernel(%{{.*}}, %{{.*}}) : (tensor<?x4096xf32>, tensor<64xf32>) -> tensor<?x64xf32>
  %0 = blockscale.launch @kernels::@kernel(%a, %b) : (tensor<?x4096xf32>, tensor<64xf32>) -> tensor<?x64xf32>
  return %0 : tensor<?x64xf32>
}

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @kernel(
  // CHECK-SAME: blockscale.kernel = #blockscale.kernel<grid = ()[s0, s1, s2, s3, s4, s5] -> (s0 ceildiv 128, s4), block = 192, shared_bytes = 1024, tensor_columns = 512>
  gpu.func @kernel(%a: !data, %sfa: !scales, %b: !data, %sfb: !scales, %d: !blockscale.global<bf16>) kernel
      attributes {blockscale.kernel = #blockscale.kernel<grid = ()[m, n, k, l, sms, clusters] -> (m ceildiv 128, sms), block = 192, shared_bytes = 1024, tensor_columns = 512>} {
    gpu.return
  }
}

// CHECK-LABEL: func.func @kernel_matmul
func.func @kernel_matmul(%a: !data, %sfa: !scales, %b: !data, %sfb: !scales, %d: !blockscale.global<bf16>,
    %c: !blockscale.global<f32>, %bias: !blockscale.global<f16>, %s: f32, %ts: !blockscale.global<f32>, %i: i32) {
  // CHECK: blockscale.kernel_matmul a(%[[A:.*]]) b(%[[B:.*]]) scales(%[[SFA:.*]], %[[SFB:.*]]) d(%[[D:.*]]) sizes(%[[I:.*]], %[[I]], %[[I]], %[[I]]) mma <kind = mxf4nvf4, {{.*}}, k = 64> schedule<{{.*}}, group_m = 8> :
  blockscale.kernel_matmul a(%a) b(%b) scales(%sfa, %sfb) d(%d) sizes(%i, %i, %i, %i)
    mma #instruction schedule #complete : !data, !data, !blockscale.global<bf16> scales !scales, !scales
  // CHECK: blockscale.kernel_matmul a(%[[A]]) b(%[[B]]) scales(none, %[[SFB]]) d(%[[D]])
  // CHECK-SAME: scales {{!?}}{{.*}}<u32, {{.*}}, swizzle = "none">
  blockscale.kernel_matmul a(%a) b(%b) scales(none, %sfb) d(%d) sizes(%i, %i, %i, %i)
    mma #instruction schedule #complete : !data, !data, !blockscale.global<bf16> scales !scales
  // CHECK: blockscale.kernel_matmul a(%[[A]]) b(%[[B]]) scales(%[[SFA]], none) d(%[[D]])
  blockscale.kernel_matmul a(%a) b(%b) scales(%sfa, none) d(%d) sizes(%i, %i, %i, %i)
    mma #instruction schedule #complete : !data, !data, !blockscale.global<bf16> scales !scales
  // CHECK: blockscale.kernel_matmul a(%[[A]]) b(%[[B]]) scales(%[[SFA]], %[[SFB]]) d(%[[D]]) c(%[[C:.*]]) bias(%[[V:.*]]) alpha(%[[S:.*]]) beta(%[[S]]) tensor_scales(%[[T:.*]], %[[T]]) sizes
  // CHECK-SAME: activation(silu) mma
  // CHECK-SAME: {bias_kind = {{.*}}row
  // CHECK-SAME: c !blockscale.global<f32> bias !blockscale.global<f16> tensor_scales !blockscale.global<f32>, !blockscale.global<f32>
  blockscale.kernel_matmul a(%a) b(%b) scales(%sfa, %sfb) d(%d) c(%c) bias(%bias) alpha(%s) beta(%s) tensor_scales(%ts, %ts) sizes(%i, %i, %i, %i)
    activation(silu) mma #instruction schedule #complete {bias_kind = #blockscale<bias_kind row>} :
    !data, !data, !blockscale.global<bf16> scales !scales, !scales c !blockscale.global<f32> bias !blockscale.global<f16> tensor_scales !blockscale.global<f32>, !blockscale.global<f32>
  // CHECK: blockscale.kernel_matmul {{.*}} row_scales(%[[T]]) column_scales(%[[C]]) sizes({{.*}} {row_group = 32 : i64}
  // CHECK-SAME: row_scales !blockscale.global<f32> column_scales !blockscale.global<f32>
  blockscale.kernel_matmul a(%a) b(%b) scales(%sfa, %sfb) d(%d) row_scales(%ts) column_scales(%c) sizes(%i, %i, %i, %i)
    mma #instruction schedule #complete {row_group = 32 : i64} :
    !data, !data, !blockscale.global<bf16> scales !scales, !scales row_scales !blockscale.global<f32> column_scales !blockscale.global<f32>
  // CHECK: blockscale.kernel_matmul {{.*}} terms(%[[T]], %[[C]] of %{{.*}}) sizes(
  // CHECK-SAME: terms !blockscale.global<f32>, !blockscale.global<f32>
  blockscale.kernel_matmul a(%a) b(%b) scales(%sfa, %sfb) d(%d) terms(%ts, %c of %i) sizes(%i, %i, %i, %i)
    mma #instruction schedule #complete :
    !data, !data, !blockscale.global<bf16> scales !scales, !scales terms !blockscale.global<f32>, !blockscale.global<f32>
  return
}

// CHECK-LABEL: func.func @storage
func.func @storage() {
  // CHECK: blockscale.shared_alloc : <4x128x256xf4E2M1FN, container = 4, swizzle = "128B">
  %0 = blockscale.shared_alloc : !ring
  // CHECK: blockscale.shared_alloc offset(1024) : <4x128x256xf4E2M1FN
  %1 = blockscale.shared_alloc offset(1024) : !ring
  // CHECK: %[[SLOT:.*]] = blockscale.shared_alloc offset(128) : <1x1xi32, container = 32>
  %slot = blockscale.shared_alloc offset(128) : !slot
  // CHECK: blockscale.barrier_alloc arrivals(128) : <2>
  %2 = blockscale.barrier_alloc arrivals(128) : !blockscale.barrier<2>
  // CHECK: blockscale.barrier_alloc arrivals(1) offset(8) : <2>
  %3 = blockscale.barrier_alloc arrivals(1) offset(8) : !blockscale.barrier<2>
  // CHECK: blockscale.warps "mma" 5 to 6 {
  blockscale.warps "mma" 5 to 6 {
    // CHECK: blockscale.tmem_alloc %[[SLOT]] : <1x1xi32, container = 32>
    blockscale.tmem_alloc %slot : !slot
    // CHECK: blockscale.tmem_alloc %[[SLOT]] columns(256) : <1x1xi32
    blockscale.tmem_alloc %slot columns(256) : !slot
    // CHECK: blockscale.tmem_dealloc %[[SLOT]] : <1x1xi32
    blockscale.tmem_dealloc %slot : !slot
    // CHECK: blockscale.tmem_dealloc %[[SLOT]] columns(32) : <1x1xi32
    blockscale.tmem_dealloc %slot columns(32) : !slot
  }
  // CHECK: blockscale.tmem_view %[[SLOT]] : <1x1xi32, container = 32> -> <2x128x128xf32, #blockscale.tmem_accumulator>
  %4 = blockscale.tmem_view %slot : !slot -> !acc
  // CHECK: blockscale.tmem_view %[[SLOT]] column(496) : <1x1xi32, container = 32> -> <128x16xi8, #blockscale.tmem_scales<word_stride = 4>>
  %5 = blockscale.tmem_view %slot column(496) : !slot -> !sf
  return
}

// CHECK-LABEL: func.func @control
func.func @control(%full: !blockscale.barrier<4>, %i: i32) {
  // CHECK: blockscale.elect
  %leader = blockscale.elect
  // CHECK: blockscale.tile_coordinates %[[I:.*]] of(%[[I]], %[[I]]) group 8
  %row, %column, %batch = blockscale.tile_coordinates %i of (%i, %i) group 8
  // CHECK: blockscale.wait %[[FULL:.*]][%[[I]]] parity %[[I]] : <4>
  blockscale.wait %full[%i] parity %i : !blockscale.barrier<4>
  // CHECK: blockscale.arrive %[[FULL]][%[[I]]] : <4>
  blockscale.arrive %full[%i] : !blockscale.barrier<4>
  // CHECK: blockscale.arrive_expect %[[FULL]][%[[I]]] bytes(36864) : <4>
  blockscale.arrive_expect %full[%i] bytes(36864) : !blockscale.barrier<4>
  // CHECK: blockscale.commit %[[FULL]][%[[I]]] : <4>
  blockscale.commit %full[%i] : !blockscale.barrier<4>
  // CHECK: blockscale.tensor_fence {{ *}}before
  blockscale.tensor_fence before
  // CHECK: blockscale.tensor_fence {{ *}}after
  blockscale.tensor_fence after
  return
}

// CHECK-LABEL: func.func @main_loop
func.func @main_loop(%map: !data, %ring: !ring, %sr: !scaleRing, %full: !blockscale.barrier<4>, %sf: !sf, %acc: !acc, %i: i32, %first: i1) {
  // CHECK: blockscale.tma_load %[[MAP:.*]][%[[I:.*]], %[[I]], %[[I]]] to %[[RING:.*]] signal %{{.*}} stage %[[I]] : <u4x16_align8b, {{.*}}> to <4x128x256xf4E2M1FN, container = 4, swizzle = "128B">, <4>
  blockscale.tma_load %map[%i, %i, %i] to %ring signal %full stage %i : !data to !ring, !blockscale.barrier<4>
  // CHECK: blockscale.tma_prefetch %[[MAP]][%[[I]], %[[I]], %[[I]]] : <u4x16_align8b, {{.*}}>
  blockscale.tma_prefetch %map[%i, %i, %i] : !data
  // CHECK: blockscale.tma_load {{.*}} to %[[RING]] signal %{{.*}} stage %[[I]] at %[[I]] :
  blockscale.tma_load %map[%i, %i, %i] to %ring signal %full stage %i at %i : !data to !ring, !blockscale.barrier<4>
  // CHECK: blockscale.mask_scales %[[SR:.*]][%[[I]]] valid %[[I]] : <4x1x4x512xi8, container = 8>
  blockscale.mask_scales %sr[%i] valid %i : !scaleRing
  // CHECK: blockscale.copy_scales %[[SR]][%[[I]]] to %[[SF:.*]] : <4x1x4x512xi8, container = 8> to <128x16xi8, #blockscale.tmem_scales<word_stride = 4>>
  blockscale.copy_scales %sr[%i] to %sf : !scaleRing to !sf
  // CHECK: blockscale.mma <kind = mxf4nvf4, {{.*}}> %[[ACC:.*]][%[[I]]], %[[RING]], %[[RING]] stage %[[I]] scales %[[SF]], %[[SF]] accumulate %[[FIRST:.*]] : <2x128x128xf32
  blockscale.mma #instruction %acc[%i], %ring, %ring stage %i scales %sf, %sf accumulate %first : !acc, !ring, !ring scales !sf, !sf
  // CHECK: blockscale.mma <kind = {{.*}} accumulate %[[FIRST]] valid %[[I]] shift %[[I]] steps [#blockscale.step<a = 32, b = 32, sfa_column = 4, sfa_id = 0, sfb_column = 4, sfb_id = 0>] :
  blockscale.mma #instruction %acc[%i], %ring, %ring stage %i scales %sf, %sf accumulate %first valid %i shift %i
    steps [#blockscale.step<a = 32, b = 32, sfa_column = 4, sfa_id = 0, sfb_column = 4, sfb_id = 0>] : !acc, !ring, !ring scales !sf, !sf
  return
}

// An MN-major stage holds a box for each group of 128 rows.
// CHECK-LABEL: func.func @second_box
func.func @second_box(%map: !blockscale.tensor_map<u8, dims = ()[m, n, k, l] -> (k, m, l), strides = ()[m, n, k, l] -> (k floordiv 2, m * (k floordiv 2)), box = [128, 128, 1], swizzle = "128B">,
    %ring: !blockscale.shared<2x2x128x128xf8E4M3FN, container = 8, swizzle = "128B">, %full: !blockscale.barrier<2>, %i: i32) {
  // CHECK: stage %{{.*}} box 1 :
  blockscale.tma_load %map[%i, %i, %i] to %ring signal %full stage %i box 1
    : !blockscale.tensor_map<u8, dims = ()[m, n, k, l] -> (k, m, l), strides = ()[m, n, k, l] -> (k floordiv 2, m * (k floordiv 2)), box = [128, 128, 1], swizzle = "128B"> to !blockscale.shared<2x2x128x128xf8E4M3FN, container = 8, swizzle = "128B">, !blockscale.barrier<2>
  return
}

// Four rows by number.
!row = !blockscale.tensor_map<u8, dims = ()[m, n, k, l, s, c, t] -> (k, t), strides = ()[m, n, k, l, s, c, t] -> (k), box = [128, 1], swizzle = "128B">
!rows = !blockscale.shared<4x128x128xf8E4M3FN, container = 8, swizzle = "128B">
// CHECK-LABEL: func.func @gather
func.func @gather(%map: !row, %ring: !rows, %full: !blockscale.barrier<4>, %i: i32, %v: vector<4xi32>) {
  // CHECK: blockscale.tma_gather %{{.*}}[%[[I:.*]]] rows %{{.*}} to %{{.*}} signal %{{.*}} stage %[[I]] place %[[I]] : <u8, {{.*}}> to <4x128x128xf8E4M3FN, container = 8, swizzle = "128B">, <4>, vector<4xi32>
  blockscale.tma_gather %map[%i] rows %v to %ring signal %full stage %i place %i : !row to !rows, !blockscale.barrier<4>, vector<4xi32>
  // CHECK: blockscale.tma_gather {{.*}} place %[[I]] multicast %[[I]] :
  blockscale.tma_gather %map[%i] rows %v to %ring signal %full stage %i place %i multicast %i : !row to !rows, !blockscale.barrier<4>, vector<4xi32>
  return
}

// CHECK-LABEL: func.func @pair
func.func @pair(%slot: !slot, %full: !blockscale.barrier<4>, %map: !data, %ring: !ring, %sr: !scaleRing, %sf: !sf, %i: i32) {
  // CHECK: blockscale.tmem_alloc %[[SLOT:.*]] columns(256) pair : <1x1xi32
  blockscale.tmem_alloc %slot columns(256) pair : !slot
  // CHECK: %[[RANK:.*]] = blockscale.cluster_rank
  %rank = blockscale.cluster_rank
  // CHECK: blockscale.cluster_barrier
  blockscale.cluster_barrier
  // CHECK: %[[LED:.*]] = blockscale.remote_barrier %[[FULL:.*]] of %[[RANK]] : <4>
  %led = blockscale.remote_barrier %full of %rank : !blockscale.barrier<4>
  // CHECK: blockscale.arrive %[[LED]][%[[I:.*]]] : <4, remote = true>
  blockscale.arrive %led[%i] : !blockscale.barrier<4, remote = true>
  // CHECK: blockscale.tma_load %{{.*}} signal %[[LED]] stage %[[I]] slice %[[I]] multicast %[[I]] :
  blockscale.tma_load %map[%i, %i, %i] to %ring signal %led stage %i slice %i multicast %i : !data to !ring, !blockscale.barrier<4, remote = true>
  // CHECK: blockscale.mask_scales %[[SR:.*]][%[[I]]] valid %[[I]] rank %[[RANK]] : <4x1x4x512xi8
  blockscale.mask_scales %sr[%i] valid %i rank %rank : !scaleRing
  // CHECK: blockscale.copy_scales %[[SR]][%[[I]]] to %[[SF:.*]] pair :
  blockscale.copy_scales %sr[%i] to %sf pair : !scaleRing to !sf
  // CHECK: blockscale.commit %[[FULL]][%[[I]]] multicast %[[I]] pair : <4>
  blockscale.commit %full[%i] multicast %i pair : !blockscale.barrier<4>
  // CHECK: blockscale.tmem_dealloc %[[SLOT]] columns(256) pair : <1x1xi32
  blockscale.tmem_dealloc %slot columns(256) pair : !slot
  return
}

// CHECK-LABEL: func.func @launches
func.func @launches(%responses: !blockscale.shared<2x16xi8, container = 8>, %full: !blockscale.barrier<2>, %i: i32) {
  // CHECK: blockscale.try_cancel %[[R:.*]][%[[I:.*]]] signal %[[FULL:.*]] : <2x16xi8, container = 8>, <2>
  blockscale.try_cancel %responses[%i] signal %full : !blockscale.shared<2x16xi8, container = 8>, !blockscale.barrier<2>
  // CHECK: blockscale.try_cancel %[[R]][%[[I]]] signal %[[FULL]] multicast :
  blockscale.try_cancel %responses[%i] signal %full multicast : !blockscale.shared<2x16xi8, container = 8>, !blockscale.barrier<2>
  // CHECK: %{{.*}}, %{{.*}} = blockscale.query_cancel %[[R]][%[[I]]] : <2x16xi8, container = 8>
  %cta, %found = blockscale.query_cancel %responses[%i] : !blockscale.shared<2x16xi8, container = 8>
  // CHECK: blockscale.await_dependencies
  blockscale.await_dependencies
  // CHECK: blockscale.launch_dependents
  blockscale.launch_dependents
  return
}

// CHECK-LABEL: func.func @epilogue
func.func @epilogue(%acc: !acc, %d: !blockscale.global<bf16>, %i: i32, %at: i64) {
  // CHECK: blockscale.load_accumulator %{{.*}}[%{{.*}}] column %{{.*}} : <2x128x128xf32, #blockscale.tmem_accumulator> -> vector<32xf32>
  %0 = blockscale.load_accumulator %acc[%i] column %i : !acc -> vector<32xf32>
  // CHECK: blockscale.load_row %[[D:.*]][%[[AT:.*]]] count %[[N:.*]] : <bf16> -> vector<8xbf16>
  %1 = blockscale.load_row %d[%at] count %i : !blockscale.global<bf16> -> vector<8xbf16>
  // CHECK: blockscale.load_row %[[D]][%[[AT]]] count %[[N]] stride %[[AT]] : <bf16> -> vector<8xbf16>
  %2 = blockscale.load_row %d[%at] count %i stride %at : !blockscale.global<bf16> -> vector<8xbf16>
  // CHECK: blockscale.store_row %{{.*}} to %[[D]][%[[AT]]] count %[[N]] : vector<8xbf16> to <bf16>
  blockscale.store_row %1 to %d[%at] count %i : vector<8xbf16> to !blockscale.global<bf16>
  // CHECK: blockscale.store_row %{{.*}} to %[[D]][%[[AT]]] count %[[N]] stride %[[AT]] : vector<8xbf16> to <bf16>
  blockscale.store_row %2 to %d[%at] count %i stride %at : vector<8xbf16> to !blockscale.global<bf16>
  // CHECK: blockscale.load_row %[[D]][%[[AT]]] count %[[N]] aligned : <bf16> -> vector<8xbf16>
  %3 = blockscale.load_row %d[%at] count %i aligned : !blockscale.global<bf16> -> vector<8xbf16>
  // CHECK: blockscale.store_row %{{.*}} to %[[D]][%[[AT]]] count %[[N]] aligned : vector<8xbf16> to <bf16>
  blockscale.store_row %3 to %d[%at] count %i aligned : vector<8xbf16> to !blockscale.global<bf16>
  return
}

// CHECK-LABEL: func.func @arrival
func.func @arrival(%work: !blockscale.global<f32>, %tile: i64, %parts: i32, %first: i1) -> i1 {
  // CHECK: blockscale.count_arrival %{{.*}}[%{{.*}}] count %{{.*}} threads 128 arrives %{{.*}} : <f32>
  %last = blockscale.count_arrival %work[%tile] count %parts threads 128 arrives %first : !blockscale.global<f32>
  return %last : i1
}

// CHECK-LABEL: func.func @grid
func.func @grid(%work: !blockscale.global<i32>, %at: i64, %bits: i32, %ctas: i32) -> i1 {
  // CHECK: blockscale.raise_largest %[[WORK:.*]][%[[AT:.*]]], %{{.*}} : <i32>
  blockscale.raise_largest %work[%at], %bits : !blockscale.global<i32>
  // CHECK: blockscale.meet_grid %[[WORK]][%[[AT]]] count %[[CTAS:.*]] : <i32>
  blockscale.meet_grid %work[%at] count %ctas : !blockscale.global<i32>
  // CHECK: blockscale.leave_grid %[[WORK]][%[[AT]]] count %[[CTAS]] : <i32>
  %last = blockscale.leave_grid %work[%at] count %ctas : !blockscale.global<i32>
  return %last : i1
}

// CHECK: func.func private @cooperative() attributes {blockscale.kernel = #blockscale.kernel<grid = ()[s0, s1, s2, s3, s4, s5] -> (s0, s5), block = 512, workspace = ()[s0, s1, s2, s3, s4, s5] -> (s3, s3, 1), cooperative = true>}
func.func private @cooperative() attributes {blockscale.kernel = #blockscale.kernel<grid = ()[m, n, k, l, sms, clusters] -> (m, clusters), block = 512, workspace = ()[m, n, k, l, sms, clusters] -> (l, l, 1), cooperative = true>}
