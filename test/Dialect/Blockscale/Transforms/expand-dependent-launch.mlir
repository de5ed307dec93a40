// RUN: blockscale-opt %s -blockscale-form-kernels -blockscale-expand-kernels -canonicalize -cse | FileCheck %s

// A kernel that may start before the grid before it has ended asks the L2 cache for the
// first stages of its weights, then waits, and loads the same boxes.

!a = !blockscale.tensor<128x1024xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
!w = !blockscale.tensor<256x1024xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
#mma = #blockscale.mma<kind = mxf4, a = e2m1, b = e2m1, scale = ue8m0, block = 32, m = 128, n = 128, k = 64>
#schedule = #blockscale.schedule<tile_m = 128, tile_n = 128, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8, cta_group = 1, cluster_m = 1, cluster_n = 1, mma_k = 64, dependent_launch = true>
#swapped = #blockscale.schedule<tile_m = 128, tile_n = 128, tile_k = 256, stages = 2, accumulators = 2, swap_operands = true, group_m = 8, cta_group = 1, cluster_m = 1, cluster_n = 1, mma_k = 64, dependent_launch = true>
#mma_of_pair = #blockscale.mma<kind = mxf4, a = e2m1, b = e2m1, scale = ue8m0, block = 32, m = 256, n = 128, k = 64, cta_group = 2>
#halves = #blockscale.schedule<tile_m = 256, tile_n = 256, tile_k = 256, stages = 4, accumulators = 3, swap_operands = false, group_m = 8, cta_group = 2, cluster_m = 2, cluster_n = 1, mma_k = 64, dependent_launch = true>
#alone = #blockscale.schedule<tile_m = 128, tile_n = 128, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8, cta_group = 1, cluster_m = 1, cluster_n = 1, mma_k = 64, dependent_launch = false>

// Two stages of 16 KiB are what memory brings to an SM of B200 in its latency, each with
// two words of scales.
// CHECK-LABEL: gpu.func @weights(
// CHECK: blockscale.warps "prefetch" 0 to 1 {
// CHECK: %row, %[[COLUMN:.*]], %[[BATCH:.*]] = blockscale.tile_coordinates %[[NUMBER:.*]] of(
// CHECK: %[[FIRST:.*]] = arith.muli %[[COLUMN]], %c128_i32
// CHECK: tma_prefetch %[[B:.*]][%c0_i32, %[[FIRST]], %[[BATCH]]]
// CHECK: %[[ATOM:.*]] = arith.divui %[[FIRST]], %c128_i32
// CHECK: tma_prefetch %[[SFB:.*]][%c0_i32, %c0_i32, %[[ATOM]], %[[BATCH]]]
// CHECK: tma_prefetch %[[B]][%c256_i32, %[[FIRST]], %[[BATCH]]]
// CHECK: tma_prefetch %[[SFB]][%c0_i32, %c2_i32, %[[ATOM]], %[[BATCH]]]
// CHECK-NOT: tma_prefetch
// CHECK: blockscale.await_dependencies
// CHECK: blockscale.warps "producer"
// CHECK: scf.for %[[TILE:.*]] = %[[NUMBER]] to
// CHECK: %row, %[[COLUMN:.*]], %[[BATCH:.*]] = blockscale.tile_coordinates %[[TILE]] of(
// CHECK: %[[FIRST:.*]] = arith.muli %[[COLUMN]], %c128_i32
// CHECK: scf.for %[[STAGE:[a-z0-9]+]] = %c0_i32
// CHECK: %[[K:.*]] = arith.muli %[[STAGE]], %c256_i32
// CHECK: tma_load %[[B]][%[[K]], %[[FIRST]], %[[BATCH]]]
// CHECK: %[[WORD:.*]] = arith.muli %[[STAGE]], %c2_i32
// CHECK: %[[ATOM:.*]] = arith.divui %[[FIRST]], %c128_i32
// CHECK: tma_load %[[SFB]][%c0_i32, %[[WORD]], %[[ATOM]], %[[BATCH]]]
// CHECK: blockscale.launch_dependents
func.func @weights(%a: !a, %w: !w) -> tensor<128x256xf32> {
  %0 = blockscale.matmul %a, %w mma(#mma) schedule(#schedule) {blockscale.target = #blockscale.target<sm_100a>} : !a, !w -> tensor<128x256xf32>
  return %0 : tensor<128x256xf32>
}

// Where operands are exchanged the weights are the rows of the instruction.
// CHECK-LABEL: gpu.func @swapped(
// CHECK: blockscale.warps "prefetch" 0 to 1 {
// CHECK: %[[ROW:.*]], %column, %batch = blockscale.tile_coordinates
// CHECK: %[[FIRST:.*]] = arith.muli %[[ROW]], %c128_i32
// CHECK: tma_prefetch %[[W:.*]][%c0_i32, %[[FIRST]], %batch]
// CHECK: tma_prefetch %[[W]][%c256_i32, %[[FIRST]], %batch]
// CHECK: blockscale.await_dependencies
// CHECK: tma_load %[[W]][
func.func @swapped(%a: !a, %w: !w) -> tensor<128x256xf32> {
  %0 = blockscale.matmul %a, %w mma(#mma) schedule(#swapped) {blockscale.target = #blockscale.target<sm_100a>} : !a, !w -> tensor<128x256xf32>
  return %0 : tensor<128x256xf32>
}

// A tile in halves has both in a stage, so that two of them are as many bytes.
// CHECK-LABEL: gpu.func @halves(
// CHECK: blockscale.warps "prefetch" 0 to 1 {
// CHECK-COUNT-8: tma_prefetch
// CHECK-NOT: tma_prefetch
// CHECK: blockscale.await_dependencies
func.func @halves(%a: !a, %w: !w) -> tensor<128x256xf32> {
  %0 = blockscale.matmul %a, %w mma(#mma_of_pair) schedule(#halves) {blockscale.target = #blockscale.target<sm_100a>} : !a, !w -> tensor<128x256xf32>
  return %0 : tensor<128x256xf32>
}

// CHECK-LABEL: gpu.func @alone(
// CHECK-NOT: {{tma_prefetch|await_dependencies|launch_dependents}}
func.func @alone(%a: !a, %w: !w) -> tensor<128x256xf32> {
  %0 = blockscale.matmul %a, %w mma(#mma) schedule(#alone) {blockscale.target = #blockscale.target<sm_100a>} : !a, !w -> tensor<128x256xf32>
  return %0 : tensor<128x256xf32>
}
