// A schedule that was written whole, or edited, is held to what a chip without tensor
// memory has, as one is whose fields are asked for.

// RUN: blockscale-opt %s -split-input-file -verify-diagnostics -blockscale-form-kernels

!cluster = !blockscale.tensor<128x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @cluster(%a: !cluster, %b: !cluster) -> tensor<128x128xf32> {
  // expected-error @below {{on sm_120a the legal cluster is 1x1, found 2x1}}
  %0 = blockscale.matmul %a, %b mma(<kind = mxf8f6f4, a = e4m3, b = e4m3, scale = ue8m0, block = 32, m = 16, n = 8, k = 32>) schedule(#blockscale.schedule<tile_m = 128, tile_n = 32, tile_k = 128, stages = 2, accumulators = 1, swap_operands = false, group_m = 8, cluster_m = 2>) {blockscale.target = #blockscale.target<sm_120a>} : !cluster, !cluster -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// -----

!parts = !blockscale.tensor<128x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @parts(%a: !parts, %b: !parts) -> tensor<128x128xf32> {
  // expected-error @below {{on sm_120a the legal cluster is 1x1, found 1x1 and 'cluster_k' of 2}}
  %0 = blockscale.matmul %a, %b mma(<kind = mxf8f6f4, a = e4m3, b = e4m3, scale = ue8m0, block = 32, m = 16, n = 8, k = 32>) schedule(#blockscale.schedule<tile_m = 128, tile_n = 32, tile_k = 128, stages = 2, accumulators = 1, swap_operands = false, group_m = 8, split_k = 2, cluster_k = 2>) {blockscale.target = #blockscale.target<sm_120a>} : !parts, !parts -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// -----

!accumulators = !blockscale.tensor<128x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @accumulators(%a: !accumulators, %b: !accumulators) -> tensor<128x128xf32> {
  // expected-error @below {{sm_120a keeps accumulators in registers; the legal number of 'accumulators' is 1, found 2}}
  %0 = blockscale.matmul %a, %b mma(<kind = mxf8f6f4, a = e4m3, b = e4m3, scale = ue8m0, block = 32, m = 16, n = 8, k = 32>) schedule(#blockscale.schedule<tile_m = 128, tile_n = 32, tile_k = 128, stages = 2, accumulators = 2, swap_operands = false, group_m = 8>) {blockscale.target = #blockscale.target<sm_120a>} : !accumulators, !accumulators -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}
