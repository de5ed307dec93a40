// Schedules of chips without tensor memory.

// RUN: blockscale-opt %s -blockscale-attach-target=target=sm_120a -blockscale-select-schedule | FileCheck %s
// RUN: blockscale-opt %s -blockscale-attach-target=target=sm_120a -blockscale-select-schedule -o %t.once.mlir
// RUN: blockscale-opt %t.once.mlir -blockscale-attach-target=target=sm_120a -blockscale-select-schedule -o %t.twice.mlir
// RUN: diff %t.once.mlir %t.twice.mlir

// Big products take the tile that runs at the full rate; two stages of 16384 +
// 16384 + 2048 + 2048 bytes fit 101376.
!big = !blockscale.tensor<8192x8192xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
// CHECK-LABEL: func.func @big
func.func @big(%a: !big, %b: !big) -> tensor<8192x8192xbf16> {
  // CHECK: mma(<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 16, n = 8, k = 64>)
  // CHECK-SAME: schedule(#blockscale.schedule<tile_m = 128, tile_n = 128, tile_k = 256, stages = 2, accumulators = 1, swap_operands = false, group_m = 8, cta_group = 1, cluster_m = 1, cluster_n = 1, mma_k = 64, dependent_launch = true>)
  %0 = blockscale.matmul %a, %b mma(<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16>) : !big, !big -> tensor<8192x8192xbf16>
  return %0 : tensor<8192x8192xbf16>
}

// Few rows become columns, and the operands' types change sides.
!few_a = !blockscale.tensor<5x4096xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!few_b = !blockscale.tensor<8192x4096xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
// CHECK-LABEL: func.func @few
func.func @few(%a: !few_a, %b: !few_b) -> tensor<5x8192xf32> {
  // CHECK: mma(<kind = mxf8f6f4, a = e2m1, b = e4m3, scale = ue8m0, block = 32, m = 16, n = 8, k = 32>)
  // CHECK-SAME: tile_m = 128, tile_n = 16, tile_k = 128, stages = 5, accumulators = 1, swap_operands = true
  %0 = blockscale.matmul %a, %b mma(<kind = mxf8f6f4, a = e4m3, b = e2m1, scale = ue8m0, block = 32>) : !few_a, !few_b -> tensor<5x8192xf32>
  return %0 : tensor<5x8192xf32>
}

// What the user wrote stays.
!wish = !blockscale.tensor<8192x4096xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
// CHECK-LABEL: func.func @wish
func.func @wish(%a: !wish, %b: !wish) -> tensor<8192x8192xf32> {
  // CHECK: schedule<tile_m = 128, tile_n = 32, tile_k = 256, stages = 3, accumulators = 1, swap_operands = true, group_m = 2
  %0 = blockscale.matmul %a, %b mma(<kind = mxf4, a = e2m1, b = e2m1, scale = ue8m0, block = 32>) schedule(#blockscale.schedule<tile_n = 32, stages = 3, swap_operands = true, group_m = 2>) {blockscale.target = #blockscale.target<sm_121a>} : !wish, !wish -> tensor<8192x8192xf32>
  return %0 : tensor<8192x8192xf32>
}
