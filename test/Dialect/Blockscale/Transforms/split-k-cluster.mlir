// How a kernel looks whose clusters compute all parts of K of a tile: no workspace,
// and what the epilogue does.

// RUN: blockscale-opt %s -blockscale-form-kernels | FileCheck %s --check-prefix=FORM
// RUN: blockscale-opt %s -blockscale-form-kernels -blockscale-expand-kernels -canonicalize -cse | FileCheck %s

// Two tiles of 128 x 64: two clusters of four CTAs.
// FORM: gpu.func @split(
// FORM-NOT: workspace
// FORM-SAME: blockscale.kernel = #blockscale.kernel<grid = ()[s0, s1, s2, s3, s4, s5] -> (8, (s4 floordiv 4) * 4, s5 * 4), block = 192, cluster = 4>
// FORM: blockscale.kernel_matmul
// FORM-NOT: workspace
// FORM-SAME: split_k = 4, cluster_k = 4

// Eight stages: parts of 2. A slice is 16 columns.
// CHECK-LABEL: gpu.func @split
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : i32
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : i32
// CHECK-DAG: %[[C4:.*]] = arith.constant 4 : i32
// CHECK-DAG: %[[C16:.*]] = arith.constant 16 : i32
// CHECK: %[[RANK:.*]] = blockscale.cluster_rank
// CHECK: %[[ALLOCATED:.*]] = blockscale.barrier_alloc arrivals(1) : <1>
// CHECK: %[[FULL:.*]] = blockscale.barrier_alloc arrivals(1) : <1>
// CHECK: %[[EMPTY:.*]] = blockscale.barrier_alloc arrivals(16) : <1>
// Nobody but those who send sums waits for the other CTAs.
// CHECK: nvvm.cluster.arrive {aligned}
// CHECK-NEXT: gpu.barrier
// CHECK: blockscale.warps "producer"
// CHECK: scf.for
// CHECK: nvvm.cluster.wait {aligned}
// CHECK: blockscale.warps "epilogue"
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[C0]], %{{.*}} = %[[C0]], %[[PARITY:.*]] = %[[C0]])
// CHECK: blockscale.wait %[[EMPTY]][%[[C0]]]
// CHECK: scf.if
// CHECK-NEXT: blockscale.arrive_expect %[[FULL]][%[[C0]]] bytes(24576)
// Its own slice, which comes first in its order, a CTA does not send.
// CHECK: scf.for {{.*}} = %[[C1:.*]] to %[[C4]] step %[[C1]]
// CHECK: blockscale.load_accumulator {{.*}} -> vector<16xf32>
// CHECK: blockscale.send_sums %{{.*}} to %[[INBOX:.*]][%{{.*}}, %{{.*}}, %{{.*}}] of %{{.*}} signal %[[FULL]] : vector<16xf32> to <3x4x128x4xf32, container = 32>, <1>
// CHECK: %[[MORE:.*]] = arith.cmpi ult
// CHECK: blockscale.wait %[[FULL]][%[[C0]]] parity %[[PARITY]]
// CHECK: %[[OWN:.*]] = blockscale.load_accumulator {{.*}} -> vector<16xf32>
// CHECK: %[[SENT:.*]] = blockscale.receive_sums %[[INBOX]]
// CHECK: %[[IS_FIRST:.*]] = arith.cmpi eq, %[[RANK]], %[[C0]]
// CHECK: arith.select %[[IS_FIRST]], %[[OWN]], %[[SENT]]
// CHECK-COUNT-3: blockscale.receive_sums %[[INBOX]]
// CHECK: blockscale.store_row
// Where nothing follows nobody waits for the release, nor for its coming.
// CHECK: scf.if %[[MORE]] {
// CHECK-NEXT: blockscale.release_sums %[[EMPTY]] of %[[C0]] count 4 step 1
// CHECK-NOT: cluster
// CHECK: gpu.barrier
// CHECK-NEXT: blockscale.warps "mma"

!a = !blockscale.tensor<128x2048xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!b = !blockscale.tensor<128x2048xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @split(%a: !a, %b: !b) -> tensor<128x128xf32> {
  %0 = blockscale.matmul %a, %b mma(<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 64, k = 64>) schedule(#blockscale.schedule<tile_m = 128, tile_n = 64, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8, split_k = 4, cluster_k = 4>) : !a, !b -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}
