// What passes of MLIR may do with the ops of kernels, and what not.
// RUN: blockscale-opt %s -cse | FileCheck %s --check-prefix=CSE
// RUN: blockscale-opt %s -canonicalize | FileCheck %s --check-prefix=DEAD
// RUN: blockscale-opt %s -loop-invariant-code-motion | FileCheck %s --check-prefix=LICM
// RUN: blockscale-opt %s -control-flow-sink | FileCheck %s --check-prefix=SINK

!ring = !blockscale.shared<4x128x256xf4E2M1FN, container = 4, swizzle = "128B">
!scales = !blockscale.shared<4x1x4x512xi8, container = 8>
!responses = !blockscale.shared<2x16xi8, container = 8>
!bytes = !blockscale.shared<2x128x128xf8E4M3FN, container = 8, swizzle = "128B">
!slot = !blockscale.shared<1x1xi32, container = 32>
!acc = !blockscale.tmem<2x128x128xf32, #blockscale.tmem_accumulator>
!sf = !blockscale.tmem<128x16xi8, #blockscale.tmem_scales<word_stride = 4>>
!row = !blockscale.tensor_map<u4x16_align8b, dims = ()[m, n, k, l] -> (k, m), strides = ()[m, n, k, l] -> (k), box = [256, 1], swizzle = "128B">
!data = !blockscale.tensor_map<u4x16_align8b, dims = ()[m, n, k, l] -> (k, m, l), strides = ()[m, n, k, l] -> (k floordiv 2, m * (k floordiv 2)), box = [256, 128, 1], swizzle = "128B">
#mma = #blockscale.mma<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 128, k = 64>
#warp = #blockscale.mma<kind = mxf8f6f4, a = e4m3, b = e2m1, scale = ue8m0, block = 32, m = 16, n = 8, k = 32>

// Users of what ops give.
func.func private @use(i1)
func.func private @use_index(i32)
func.func private @use_row(vector<32xf32>)
func.func private @use_sums(vector<4xf32>)
func.func private @use_operand(vector<4xi32>)

//===----------------------------------------------------------------------===//
// What two equal ops are
//===----------------------------------------------------------------------===//

// Two rings are two places; so are two sets of barriers, and two regions of
// tensor memory, such as those of the scales of both operands.
// CSE-LABEL: func.func @storage
// CSE-COUNT-2: blockscale.shared_alloc
// CSE-COUNT-2: blockscale.barrier_alloc
// CSE-COUNT-2: blockscale.tmem_view
func.func @storage() -> (!slot, !slot, !blockscale.barrier<1>, !blockscale.barrier<1>, !sf, !sf) {
  %0 = blockscale.shared_alloc : !slot
  %1 = blockscale.shared_alloc : !slot
  %2 = blockscale.barrier_alloc arrivals(1) : !blockscale.barrier<1>
  %3 = blockscale.barrier_alloc arrivals(1) : !blockscale.barrier<1>
  %4 = blockscale.tmem_view %0 : !slot -> !sf
  %5 = blockscale.tmem_view %0 : !slot -> !sf
  return %0, %1, %2, %3, %4, %5 : !slot, !slot, !blockscale.barrier<1>, !blockscale.barrier<1>, !sf, !sf
}

// Nothing is written between the first two loads. A wait lets another warp
// write, an MMA writes itself, what TMA brings is in another memory.
// CSE-LABEL: func.func @accumulator_is_read_again
// CSE: %[[FIRST:.*]] = blockscale.load_accumulator
// CSE-NOT: load_accumulator
// CSE: blockscale.wait
// CSE: %[[SECOND:.*]] = blockscale.load_accumulator
// CSE: blockscale.mma
// CSE: %[[THIRD:.*]] = blockscale.load_accumulator
// CSE: return %[[FIRST]], %[[FIRST]], %[[SECOND]], %[[THIRD]]
func.func @accumulator_is_read_again(%acc: !acc, %a: !ring, %b: !ring, %sfa: !sf, %sfb: !sf, %full: !blockscale.barrier<4>, %i: i32, %t: i1)
    -> (vector<32xf32>, vector<32xf32>, vector<32xf32>, vector<32xf32>) {
  %0 = blockscale.load_accumulator %acc[%i] column %i : !acc -> vector<32xf32>
  %1 = blockscale.load_accumulator %acc[%i] column %i : !acc -> vector<32xf32>
  blockscale.wait %full[%i] parity %i : !blockscale.barrier<4>
  %2 = blockscale.load_accumulator %acc[%i] column %i : !acc -> vector<32xf32>
  blockscale.mma #mma %acc[%i], %a, %b stage %i scales %sfa, %sfb accumulate %t : !acc, !ring, !ring scales !sf, !sf
  %3 = blockscale.load_accumulator %acc[%i] column %i : !acc -> vector<32xf32>
  return %0, %1, %2, %3 : vector<32xf32>, vector<32xf32>, vector<32xf32>, vector<32xf32>
}

// The result's row is written between the loads.
// CSE-LABEL: func.func @memory_is_read_again
// CSE: blockscale.load_row
// CSE: blockscale.store_row
// CSE: blockscale.load_row
// CSE: blockscale.await_dependencies
// CSE: blockscale.load_row
func.func @memory_is_read_again(%c: !blockscale.global<f32>, %d: !blockscale.global<f32>, %at: i64, %n: i32)
    -> (vector<4xf32>, vector<4xf32>, vector<4xf32>) {
  %0 = blockscale.load_row %c[%at] count %n : !blockscale.global<f32> -> vector<4xf32>
  blockscale.store_row %0 to %d[%at] count %n : vector<4xf32> to !blockscale.global<f32>
  %1 = blockscale.load_row %c[%at] count %n : !blockscale.global<f32> -> vector<4xf32>
  blockscale.await_dependencies
  %2 = blockscale.load_row %c[%at] count %n : !blockscale.global<f32> -> vector<4xf32>
  return %0, %1, %2 : vector<4xf32>, vector<4xf32>, vector<4xf32>
}

// CSE-LABEL: func.func @fragments_are_read_again
// CSE-COUNT-1: blockscale.load_a_fragment
// CSE-NOT: blockscale.load_a_fragment
// CSE: blockscale.sync_warp
// CSE: blockscale.load_a_fragment
// CSE: return
func.func @fragments_are_read_again(%a: !bytes, %i: i32) -> (vector<4xi32>, vector<4xi32>, vector<4xi32>) {
  %0 = blockscale.load_a_fragment %a[%i] row %i tile 0 step 0 : !bytes
  %1 = blockscale.load_a_fragment %a[%i] row %i tile 0 step 0 : !bytes
  blockscale.sync_warp
  %2 = blockscale.load_a_fragment %a[%i] row %i tile 0 step 0 : !bytes
  return %0, %1, %2 : vector<4xi32>, vector<4xi32>, vector<4xi32>
}

// The same lane is elected every time, and the rank stays.
// CSE-LABEL: func.func @who_am_i
// CSE-COUNT-1: blockscale.elect
// CSE-NOT: blockscale.elect
// CSE-COUNT-1: blockscale.cluster_rank
// CSE-NOT: blockscale.cluster_rank
// CSE: return
func.func @who_am_i() -> (i1, i1, i32, i32) {
  %0 = blockscale.elect
  %1 = blockscale.elect
  %2 = blockscale.cluster_rank
  %3 = blockscale.cluster_rank
  return %0, %1, %2, %3 : i1, i1, i32, i32
}

//===----------------------------------------------------------------------===//
// What may go away
//===----------------------------------------------------------------------===//

// What only reads, and storage that nobody uses.
// DEAD-LABEL: func.func @unused
// DEAD-NEXT: return
func.func @unused(%acc: !acc, %a: !bytes, %r: !responses, %slot: !slot, %c: !blockscale.global<f32>, %at: i64, %i: i32) {
  %0 = blockscale.load_accumulator %acc[%i] column %i : !acc -> vector<32xf32>
  %1 = blockscale.load_a_fragment %a[%i] row %i tile 0 step 0 : !bytes
  %2, %3 = blockscale.query_cancel %r[%i] : !responses
  %4 = blockscale.load_row %c[%at] count %i : !blockscale.global<f32> -> vector<4xf32>
  %5 = blockscale.tmem_view %slot : !slot -> !acc
  %6 = blockscale.shared_alloc : !slot
  %7 = blockscale.barrier_alloc arrivals(1) : !blockscale.barrier<1>
  %8 = blockscale.elect
  %9:3 = blockscale.tile_coordinates %i of (%i, %i) group 8
  blockscale.warps "nothing" 0 to 4 {
    %10 = blockscale.cluster_rank
  }
  return
}

// What has an effect stays, though nothing uses a result.
// DEAD-LABEL: func.func @used
// DEAD: blockscale.tmem_alloc
// DEAD: blockscale.tma_load
// DEAD: blockscale.tma_gather
// DEAD: blockscale.mask_scales
// DEAD: blockscale.copy_scales
// DEAD: blockscale.mma
// DEAD: blockscale.try_cancel
// DEAD: blockscale.warps "mma"
// DEAD-NEXT: blockscale.commit
// DEAD: blockscale.arrive
// DEAD: blockscale.arrive_expect
// DEAD: blockscale.wait
// DEAD: blockscale.tensor_fence
// DEAD: blockscale.cluster_barrier
// DEAD: blockscale.sync_warp
// DEAD: blockscale.launch_dependents
// DEAD: blockscale.await_dependencies
// DEAD: blockscale.store_row
// DEAD: blockscale.tmem_dealloc
func.func @used(%map: !data, %acc: !acc, %a: !ring, %s: !scales, %sf: !sf, %r: !responses, %slot: !slot, %d: !blockscale.global<f32>,
                %bar: !blockscale.barrier<4>, %pair: !blockscale.barrier<2>, %v: vector<4xf32>, %row: !row, %four: vector<4xi32>, %at: i64, %i: i32, %t: i1) {
  blockscale.tmem_alloc %slot : !slot
  blockscale.tma_load %map[%i, %i, %i] to %a signal %bar stage %i : !data to !ring, !blockscale.barrier<4>
  blockscale.tma_gather %row[%i] rows %four to %a signal %bar stage %i place %i : !row to !ring, !blockscale.barrier<4>, vector<4xi32>
  blockscale.mask_scales %s[%i] valid %i : !scales
  blockscale.copy_scales %s[%i] to %sf : !scales to !sf
  blockscale.mma #mma %acc[%i], %a, %a stage %i scales %sf, %sf accumulate %t : !acc, !ring, !ring scales !sf, !sf
  blockscale.try_cancel %r[%i] signal %pair : !responses, !blockscale.barrier<2>
  blockscale.warps "mma" 5 to 6 {
    blockscale.commit %bar[%i] : !blockscale.barrier<4>
  }
  blockscale.arrive %bar[%i] : !blockscale.barrier<4>
  blockscale.arrive_expect %bar[%i] bytes(16) : !blockscale.barrier<4>
  blockscale.wait %bar[%i] parity %i : !blockscale.barrier<4>
  blockscale.tensor_fence after
  blockscale.cluster_barrier
  blockscale.sync_warp
  blockscale.launch_dependents
  blockscale.await_dependencies
  blockscale.store_row %v to %d[%at] count %i : vector<4xf32> to !blockscale.global<f32>
  blockscale.tmem_dealloc %slot : !slot
  return
}

//===----------------------------------------------------------------------===//
// Where ops may move
//===----------------------------------------------------------------------===//

// Addresses of the cluster leave the loop; what reads memory that the loop's
// waits order does not, nor what a whole warp must execute.
// LICM-LABEL: func.func @loop
// LICM: blockscale.cluster_rank
// LICM: blockscale.remote_barrier
// LICM: blockscale.fragment_position
// LICM: scf.for
// LICM-NEXT: blockscale.wait
// LICM: blockscale.elect
// LICM: blockscale.load_accumulator
// LICM: blockscale.warp_mma
func.func @loop(%acc: !acc, %full: !blockscale.barrier<4>, %a: vector<4xi32>, %b: vector<2xi32>, %c: vector<4xf32>, %sf: i32,
                %i: i32, %n: i32) {
  %one = arith.constant 1 : i32
  scf.for %k = %i to %n step %one : i32 {
    blockscale.wait %full[%i] parity %k : !blockscale.barrier<4>
    %rank = blockscale.cluster_rank
    %led = blockscale.remote_barrier %full of %rank : !blockscale.barrier<4>
    blockscale.arrive %led[%k] : !blockscale.barrier<4, remote = true>
    %row, %column = blockscale.fragment_position
    %t = blockscale.elect
    func.call @use(%t) : (i1) -> ()
    %v = blockscale.load_accumulator %acc[%i] column %row : !acc -> vector<32xf32>
    func.call @use_row(%v) : (vector<32xf32>) -> ()
    %d = blockscale.warp_mma #warp %a, %b, %c scales %sf, %column tile 0, 0 step 0
    func.call @use_sums(%d) : (vector<4xf32>) -> ()
  }
  return
}

// A condition of some lanes: what a whole warp executes stays outside.
// SINK-LABEL: func.func @some_lanes
// SINK: blockscale.elect
// SINK: blockscale.warp_mma
// SINK: blockscale.load_a_fragment
// SINK: blockscale.finish_fragments
// SINK: scf.if
// SINK-NEXT: blockscale.fragment_position
func.func @some_lanes(%some: i1, %ring: !bytes, %a: vector<4xi32>, %b: vector<2xi32>, %c: vector<4xf32>, %sf: i32, %i: i32) {
  %t = blockscale.elect
  %d = blockscale.warp_mma #warp %a, %b, %c scales %sf, %sf tile 0, 0 step 0
  %f = blockscale.load_a_fragment %ring[%i] row %i tile 0 step 0 : !bytes
  %e = blockscale.finish_fragments %d : vector<4xf32> -> vector<4xf32>
  %row, %column = blockscale.fragment_position
  scf.if %some {
    func.call @use(%t) : (i1) -> ()
    func.call @use_sums(%e) : (vector<4xf32>) -> ()
    func.call @use_operand(%f) : (vector<4xi32>) -> ()
    func.call @use_index(%row) : (i32) -> ()
  }
  return
}
