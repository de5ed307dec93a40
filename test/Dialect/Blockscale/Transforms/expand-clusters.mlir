// RUN: blockscale-opt %s -blockscale-form-kernels -blockscale-expand-kernels -canonicalize -cse | FileCheck %s

// Each CTA of a pair loads half of the rows of A and of B; the first one loads the
// scales of B for both, and issues MMAs.
!pair_a = !blockscale.tensor<8192x336xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!pair_b = !blockscale.tensor<7168x336xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @pair(%a: !pair_a, %b: !pair_b) -> tensor<8192x7168xbf16> {
  %0 = blockscale.matmul %a, %b mma(<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 256, n = 256, k = 64, cta_group = 2>) schedule(#blockscale.schedule<tile_m = 256, tile_n = 256, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8, cta_group = 2>) : !pair_a, !pair_b -> tensor<8192x7168xbf16>
  return %0 : tensor<8192x7168xbf16>
}

// Along the columns four CTAs share A, along the rows two share B: each loads a
// slice of 32, or 64, rows for all of them.
!cluster_a = !blockscale.tensor<8192x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!cluster_b = !blockscale.tensor<7168x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @cluster(%a: !cluster_a, %b: !cluster_b) -> tensor<8192x7168xbf16> {
  %0 = blockscale.matmul %a, %b mma(<kind = mxf8f6f4, a = e4m3, b = e4m3, scale = ue8m0, block = 32, m = 128, n = 128, k = 32>) schedule(#blockscale.schedule<tile_m = 128, tile_n = 128, tile_k = 128, stages = 4, accumulators = 2, swap_operands = false, group_m = 8, cluster_m = 2, cluster_n = 4>) : !cluster_a, !cluster_b -> tensor<8192x7168xbf16>
  return %0 : tensor<8192x7168xbf16>
}

// A seventh warp asks for tiles; threads of both CTAs read what it is told.
func.func @dynamic(%a: !cluster_a, %b: !cluster_b) -> tensor<8192x7168xbf16> {
  %0 = blockscale.matmul %a, %b mma(<kind = mxf8f6f4, a = e4m3, b = e4m3, scale = ue8m0, block = 32, m = 256, n = 128, k = 32, cta_group = 2>) schedule(#blockscale.schedule<tile_m = 256, tile_n = 128, tile_k = 128, stages = 4, accumulators = 2, swap_operands = false, group_m = 8, cta_group = 2, scheduler = dynamic, dependent_launch = true>) : !cluster_a, !cluster_b -> tensor<8192x7168xbf16>
  return %0 : tensor<8192x7168xbf16>
}

// CHECK-LABEL: gpu.module @kernels

// CHECK-LABEL: gpu.func @pair(
// CHECK-SAME: cluster = 2>
// CHECK: %[[RANK:.*]] = blockscale.cluster_rank
// CHECK: %[[HALF:.*]] = arith.remui %[[RANK]], %c2_i32
// CHECK: %[[A:.*]] = blockscale.shared_alloc : <4x128x256xf4E2M1FN, container = 4, swizzle = "128B">
// CHECK: %[[B:.*]] = blockscale.shared_alloc : <4x128x256xf4E2M1FN, container = 4, swizzle = "128B">
// CHECK: %[[SFA:.*]] = blockscale.shared_alloc : <4x1x4x512xi8, container = 8>
// CHECK: %[[SFB:.*]] = blockscale.shared_alloc : <4x2x4x512xi8, container = 8>
// CHECK: %[[FULL:.*]] = blockscale.barrier_alloc arrivals(1) : <4>
// CHECK: %[[EMPTY:.*]] = blockscale.barrier_alloc arrivals(1) : <4>
// CHECK: %[[SLOT:.*]] = blockscale.shared_alloc : <1x1xi32, container = 32>
// CHECK: %[[THERE:.*]] = blockscale.barrier_alloc arrivals(1) : <1>
// CHECK: %[[DONE:.*]] = blockscale.barrier_alloc arrivals(1) : <2>
// CHECK: %[[FREE:.*]] = blockscale.barrier_alloc arrivals(8) : <1>
// Both CTAs run before either allocates or loads, and know their barriers.
// CHECK: blockscale.cluster_barrier
// CHECK: blockscale.tmem_alloc %[[SLOT]] pair
// CHECK: blockscale.arrive %[[THERE]]
// CHECK-NOT: blockscale.cluster_barrier
// CHECK: %[[LEADER:.*]] = arith.subi %[[RANK]], %[[HALF]]
// CHECK: %[[LED_FULL:.*]] = blockscale.remote_barrier %[[FULL]] of %[[LEADER]]
// CHECK: %[[LED_FREE:.*]] = blockscale.remote_barrier %[[FREE]] of %[[LEADER]]
// CHECK: blockscale.warps "producer"
// CHECK: %[[BOTH:.*]] = arith.shli %c3_i32
// CHECK: blockscale.tile_coordinates {{.*}} of(%c32_i32, %c28_i32)
// CHECK: %[[TILE_ROW:.*]] = arith.muli %{{.*}}, %c256_i32
// CHECK: %[[OFFSET:.*]] = arith.muli %[[HALF]], %c128_i32
// CHECK: %[[ROW:.*]] = arith.addi %[[TILE_ROW]], %[[OFFSET]]
// CHECK: %[[COLUMN:.*]] = arith.muli %{{.*}}, %c256_i32
// CHECK: %[[ROW_OF_B:.*]] = arith.addi %[[COLUMN]], %[[OFFSET]]
// CHECK: blockscale.wait %[[EMPTY]]
// CHECK: %[[LEADS:.*]] = arith.cmpi eq, %[[HALF]], %c0_i32
// 2 * (16384 + 16384 + 2048 + 4096) bytes.
// CHECK: scf.if %[[LEADS]] {
// CHECK-NEXT: blockscale.arrive_expect %[[FULL]][%{{.*}}] bytes(77824)
// CHECK: blockscale.tma_load %{{.*}}[%{{.*}}, %[[ROW]], %{{.*}}] to %[[A]] signal %[[LED_FULL]] stage %{{[a-z0-9]+}} :
// CHECK: blockscale.tma_load %{{.*}}[%{{.*}}, %[[ROW_OF_B]], %{{.*}}] to %[[B]] signal %[[LED_FULL]] stage %{{[a-z0-9]+}} :
// CHECK: %[[GROUP:.*]] = arith.divui %[[ROW]], %c128_i32
// CHECK: blockscale.tma_load %{{.*}}[%{{.*}}, %{{.*}}, %[[GROUP]], %{{.*}}] to %[[SFA]] signal %[[LED_FULL]] stage %{{[a-z0-9]+}} :
// CHECK: scf.if %[[LEADS]] {
// CHECK: %[[GROUP_OF_B:.*]] = arith.divui %[[COLUMN]], %c128_i32
// CHECK: blockscale.tma_load %{{.*}}[%{{.*}}, %{{.*}}, %[[GROUP_OF_B]], %{{.*}}] to %[[SFB]] signal %[[LED_FULL]] stage %{{[a-z0-9]+}} multicast %[[BOTH]] :
// No MMA signals a CTA that has ended.
// CHECK: scf.for %{{.*}} = %c0_i32 to %c4_i32
// CHECK: blockscale.wait %[[EMPTY]]
// CHECK: blockscale.wait %[[THERE]]
// CHECK: -> <2x128x256xf32, #blockscale.tmem_accumulator<copy_stride = 208>>
// CHECK: blockscale.warps "mma"
// CHECK: %[[LEADS:.*]] = arith.cmpi eq, %[[HALF]], %c0_i32
// CHECK: scf.if %[[LEADS]] {
// CHECK: %[[READ:.*]] = arith.ori
// CHECK: %[[PAIR:.*]] = arith.shli %c3_i32, %[[RANK]]
// CHECK: blockscale.copy_scales %[[SFA]]{{.*}} pair
// CHECK: blockscale.copy_scales %[[SFB]]{{.*}} pair
// CHECK: blockscale.mma <{{.*}}m = 256, n = 256, k = 64, cta_group = 2>
// CHECK: blockscale.commit %[[EMPTY]][%{{.*}}] multicast %[[READ]] pair
// K ends 5 scales behind the last whole tile, in both CTAs.
// CHECK: %[[OTHER:.*]] = arith.addi %[[RANK]], %c1_i32
// CHECK: blockscale.mask_scales %[[SFA]][%{{.*}}] valid %c5_i32 :
// CHECK: blockscale.mask_scales %[[SFB]][%{{.*}}] valid %c5_i32 :
// CHECK: blockscale.mask_scales %[[SFA]][%{{.*}}] valid %c5_i32 rank %[[OTHER]]
// CHECK: blockscale.mask_scales %[[SFB]][%{{.*}}] valid %c5_i32 rank %[[OTHER]]
// CHECK: blockscale.commit %[[DONE]][%{{.*}}] multicast %[[PAIR]] pair
// CHECK: blockscale.warps "epilogue"
// CHECK: blockscale.wait %[[DONE]]
// CHECK: blockscale.arrive %[[LED_FREE]]
// With its last sums in registers the epilogue waits for nobody any more.
// CHECK: %[[LAST_CHUNK:.*]] = arith.cmpi eq, %{{.*}}, %c7_i32
// CHECK: %[[LAST_TILE:.*]] = arith.cmpi uge
// CHECK: %[[LAST:.*]] = arith.andi %[[LAST_CHUNK]], %[[LAST_TILE]]
// CHECK: scf.if %[[LAST]] {
// CHECK: nvvm.cluster.arrive {aligned}
// CHECK: arith.muli %[[HALF]], %c128_i32
// CHECK: blockscale.store_row
// CHECK: blockscale.warps "end" 4 to 6 {
// CHECK-NEXT: nvvm.cluster.arrive {aligned}
// CHECK: nvvm.cluster.wait {aligned}
// CHECK: blockscale.tmem_dealloc %[[SLOT]] pair

// CHECK-LABEL: gpu.func @cluster(
// CHECK-SAME: box = [128, 32, 1]
// CHECK-SAME: box = [128, 64, 1]
// CHECK-SAME: cluster = 8>
// CHECK: %[[RANK:.*]] = blockscale.cluster_rank
// CHECK: %[[M:.*]] = arith.remui %[[RANK]], %c2_i32
// CHECK: %[[N:.*]] = arith.divui %[[RANK]], %c2_i32
// CHECK: %[[FULL:.*]] = blockscale.barrier_alloc arrivals(1) : <4>
// What a CTA loads is read by two MMAs above and four beside, its own in both.
// CHECK: %[[EMPTY:.*]] = blockscale.barrier_alloc arrivals(5) : <4>
// CHECK: blockscale.warps "producer"
// CHECK: %[[BESIDE:.*]] = arith.shli %c85_i32, %[[M]]
// CHECK: %[[FIRST:.*]] = arith.muli %[[N]], %c2_i32
// CHECK: %[[ABOVE:.*]] = arith.shli %c3_i32, %[[FIRST]]
// CHECK: %[[ROWS:.*]], %[[COLUMNS:.*]], %{{.*}} = blockscale.tile_coordinates %{{.*}} of(%c32_i32, %c14_i32) group 4
// CHECK: %[[TWO:.*]] = arith.muli %[[ROWS]], %c2_i32
// CHECK: arith.addi %[[TWO]], %[[M]]
// CHECK: %[[FOUR:.*]] = arith.muli %[[COLUMNS]], %c4_i32
// CHECK: arith.addi %[[FOUR]], %[[N]]
// CHECK: bytes(33792)
// CHECK: %[[SLICE:.*]] = arith.muli %[[N]], %c32_i32
// CHECK: %[[ROW:.*]] = arith.addi %{{.*}}, %[[SLICE]]
// CHECK: blockscale.tma_load %{{.*}}[%{{.*}}, %[[ROW]], %{{.*}}] to {{.*}} slice %[[N]] multicast %[[BESIDE]]
// CHECK: %[[SLICE:.*]] = arith.muli %[[M]], %c64_i32
// CHECK: %[[ROW:.*]] = arith.addi %{{.*}}, %[[SLICE]]
// CHECK: blockscale.tma_load %{{.*}}[%{{.*}}, %[[ROW]], %{{.*}}] to {{.*}} slice %[[M]] multicast %[[ABOVE]]
// CHECK: %[[IS_FIRST:.*]] = arith.cmpi eq, %[[N]], %c0_i32
// CHECK: scf.if %[[IS_FIRST]] {
// CHECK: blockscale.tma_load {{.*}} multicast %[[BESIDE]]
// CHECK: %[[IS_FIRST:.*]] = arith.cmpi eq, %[[M]], %c0_i32
// CHECK: scf.if %[[IS_FIRST]] {
// CHECK: blockscale.tma_load {{.*}} multicast %[[ABOVE]]
// CHECK: blockscale.warps "mma"
// CHECK: %[[READ:.*]] = arith.ori
// CHECK: blockscale.commit %[[EMPTY]][%{{.*}}] multicast %[[READ]] :
// CHECK: blockscale.commit %{{.*}}[%{{.*}}] : <2>

// CHECK-LABEL: gpu.func @dynamic(
// CHECK-SAME: grid = ()[s0, s1, s2, s3, s4, s5] -> (3584), block = 224, cluster = 2, dependent_launch = true>
// CHECK: %[[RANK:.*]] = blockscale.cluster_rank
// CHECK: %[[RESPONSES:.*]] = blockscale.shared_alloc : <2x16xi8, container = 8>
// CHECK: %[[THERE:.*]] = blockscale.barrier_alloc arrivals(1) : <2>
// 2 * (128 + 2) threads, and 32 that issue MMAs.
// CHECK: %[[READ:.*]] = blockscale.barrier_alloc arrivals(292) : <2>
// CHECK: %[[FIRST_READ:.*]] = blockscale.remote_barrier %[[READ]] of %c0_i32
// CHECK: blockscale.await_dependencies
// CHECK: blockscale.warps "scheduler" 6 to 7
// CHECK: %[[ASKS:.*]] = arith.cmpi eq, %[[RANK]], %c0_i32
// CHECK: scf.while
// CHECK: blockscale.arrive_expect %[[THERE]][%{{.*}}] bytes(16)
// CHECK: scf.if %[[ASKS]] {
// CHECK: blockscale.wait %[[READ]]
// CHECK: blockscale.try_cancel %[[RESPONSES]][%{{.*}}] signal %[[THERE]] multicast
// CHECK: blockscale.wait %[[THERE]]
// CHECK: %{{.*}}, %[[FOUND:.*]] = blockscale.query_cancel %[[RESPONSES]]
// CHECK: blockscale.arrive %[[FIRST_READ]]
// CHECK: scf.yield %[[FOUND]]
// CHECK: blockscale.warps "producer"
// CHECK: scf.while
// CHECK: blockscale.tile_coordinates
// CHECK: blockscale.wait %[[THERE]]
// CHECK: %[[CTA:.*]], %[[FOUND:.*]] = blockscale.query_cancel
// CHECK: blockscale.arrive %[[FIRST_READ]]
// CHECK: %[[NEXT:.*]] = arith.divui %[[CTA]], %c2_i32
// CHECK: scf.yield %[[FOUND]], %[[NEXT]]
// CHECK: blockscale.launch_dependents
