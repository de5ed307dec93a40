// Two groups of warps that take tiles in turns: threads of the kernel, arrivals, whose tile
// one is, when the turn passes, and what is loaded between the instructions of a step.

// RUN: blockscale-opt %s -blockscale-attach-target=target=sm_120a -blockscale-legalize-scales -blockscale-select-schedule -blockscale-form-kernels | FileCheck %s --check-prefix=FORM
// RUN: blockscale-opt %s -blockscale-attach-target=target=sm_120a -blockscale-legalize-scales -blockscale-select-schedule -blockscale-form-kernels -blockscale-expand-kernels -canonicalize -cse | FileCheck %s

// Eight consumers, one that loads, and three that are there to pass on registers.
// FORM: gpu.func @matmul
// FORM-SAME: block = 384
// FORM: consumer_groups = 2

// CHECK-LABEL: gpu.func @matmul
// A stage is read when the four warps of a group have read it.
// CHECK: blockscale.barrier_alloc arrivals(1) : <2>
// CHECK: %[[EMPTY:.*]] = blockscale.barrier_alloc arrivals(4) : <2>
// CHECK: %[[TURNS:.*]] = blockscale.barrier_alloc arrivals(4) : <2>
// CHECK: blockscale.warps "producer" 8 to 9
// CHECK: blockscale.warps "consumer" 0 to 8
// CHECK: %[[WARP:.*]] = arith.divui %[[THREAD:.*]], %c32_i32
// CHECK: %[[GROUP:.*]] = arith.divui %[[THREAD]], %c128_i32
// CHECK: arith.remui %[[WARP]], %c4_i32
// CHECK: scf.for
// Both groups count all tiles, and every other one is theirs.
// CHECK: %[[WHOSE:.*]] = arith.remui %[[NUMBER:[a-z0-9_]+]], %c2_i32
// CHECK: %[[MINE:.*]] = arith.cmpi eq, %[[WHOSE]], %[[GROUP]]
// CHECK: scf.if %[[MINE]]
// The first group does not wait for its first turn.
// CHECK: %[[ROUND:.*]] = arith.divui %[[NUMBER]], %c2_i32
// CHECK: %[[EVEN:.*]] = arith.remui %[[ROUND]], %c2_i32
// CHECK: %[[XOR:.*]] = arith.xori %[[EVEN]], %[[GROUP]]
// CHECK: %[[PARITY:.*]] = arith.xori %[[XOR]], %c1_i32
// CHECK: blockscale.wait %[[TURNS]][%[[GROUP]]] parity %[[PARITY]]
// CHECK: scf.for %[[K:[a-z0-9_]+]] =
// CHECK: blockscale.wait
// CHECK: %[[BEHIND:.*]] = arith.addi %[[K]], %c1_i32
// CHECK: %[[LAST:.*]] = arith.cmpi eq, %[[BEHIND]], %c4_i32
// CHECK: scf.if %[[LAST]]
// CHECK: blockscale.sync_warp
// CHECK: %[[OTHER:.*]] = arith.xori %[[GROUP]], %c1_i32
// CHECK: blockscale.arrive %[[TURNS]][%[[OTHER]]]
// What a step reads is loaded between the instructions of the one before.
// CHECK: blockscale.load_b_fragments {{.*}} step 0
// CHECK: blockscale.load_a_fragment {{.*}} tile 3 step 0
// CHECK-NOT: blockscale.load_a_fragment
// CHECK: blockscale.warp_mma {{.*}} tile 0, 0 step 0
// CHECK: blockscale.warp_mma {{.*}} tile 0, 7 step 0
// CHECK: blockscale.load_a_fragment {{.*}} tile 0 step 1
// CHECK: blockscale.load_b_fragments {{.*}} tile 0 step 1
// CHECK: blockscale.warp_mma {{.*}} tile 1, 0 step 0
// CHECK: blockscale.load_b_fragments {{.*}} tile 3 step 1
// CHECK: blockscale.warp_mma {{.*}} tile 0, 0 step 1
// CHECK: blockscale.sync_warp
// CHECK: blockscale.arrive %[[EMPTY]]
// The ring behind the other group's tile of four stages.
// CHECK: } else {
// CHECK: arith.addi %{{.*}}, %c4_i32
// CHECK: arith.remui %{{.*}}, %c2_i32

!a = !blockscale.tensor<?x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!b = !blockscale.tensor<512x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @matmul(%a: !a, %b: !b) -> tensor<?x512xbf16> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 128, stages = 2, swap_operands = false, consumer_groups = 2>) : !a, !b -> tensor<?x512xbf16>
  return %0 : tensor<?x512xbf16>
}
