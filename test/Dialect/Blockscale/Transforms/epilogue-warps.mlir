// An epilogue of eight warps: threads of the kernel, arrivals that release an
// accumulator, and which rows and chunks of columns a thread has.

// RUN: blockscale-opt %s -blockscale-legalize-scales -blockscale-select-schedule -blockscale-form-kernels | FileCheck %s --check-prefix=FORM
// RUN: blockscale-opt %s -blockscale-legalize-scales -blockscale-select-schedule -blockscale-form-kernels -blockscale-expand-kernels -canonicalize -cse | FileCheck %s

// Eight of the epilogue, one that loads and one that multiplies.
// FORM: gpu.func @matmul
// FORM-SAME: block = 320
// FORM: epilogue_warps = 8

// CHECK-LABEL: gpu.func @matmul
// The accumulators empty when all eight have read what they share.
// CHECK: %[[EMPTY:.*]] = blockscale.barrier_alloc arrivals(8) : <1>
// CHECK: blockscale.warps "producer" 8 to 9
// CHECK: blockscale.warps "mma" 9 to 10
// Two boxes for each of eight warps.
// CHECK: %[[RING:.*]] = blockscale.shared_alloc : <16x32x32xbf16
// CHECK: blockscale.warps "epilogue" 0 to 8
// CHECK: %[[THREAD:.*]] = arith.index_castui
// CHECK: %[[FIRST:.*]] = arith.divui %[[THREAD]], %c128_i32
// Each second chunk is the warp's own.
// CHECK: scf.for %[[CHUNK:[a-z0-9]+]] = %[[FIRST]] to %c8_i32 step %c2_i32
// CHECK: blockscale.load_accumulator
// The two chunks that overlap are the first round.
// CHECK: %[[ROUND:.*]] = arith.divui %[[CHUNK]], %c2_i32
// CHECK: arith.cmpi eq, %[[ROUND]], %c0_i32
// CHECK: blockscale.arrive %[[EMPTY]]
// CHECK: %[[WARP:.*]] = arith.divui %[[THREAD]], %c32_i32
// CHECK: %[[TURN:.*]] = arith.remui %[[ROUND]], %c2_i32
// CHECK: %[[FIRST_BOX:.*]] = arith.muli %[[TURN]], %c8_i32
// CHECK: %[[BOX:.*]] = arith.addi %[[FIRST_BOX]], %[[WARP]]
// CHECK: %[[QUARTER:.*]] = arith.remui %[[WARP]], %c4_i32
// CHECK: arith.muli %[[QUARTER]], %c32_i32
// CHECK: blockscale.tma_store %[[RING]] stage %[[BOX]]

!a = !blockscale.tensor<?x2048xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!b = !blockscale.tensor<512x2048xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @matmul(%a: !a, %b: !b) -> tensor<?x512xbf16> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 1, tile_n = 256, swap_operands = false, stores = tma, epilogue_warps = 8>) : !a, !b -> tensor<?x512xbf16>
  return %0 : tensor<?x512xbf16>
}
