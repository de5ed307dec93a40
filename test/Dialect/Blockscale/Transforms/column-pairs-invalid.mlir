// What kernels do not do with pairs of columns is refused by name.

// RUN: blockscale-opt %s -split-input-file -verify-diagnostics --blockscale-legalize-scales --blockscale-select-schedule

!a = !blockscale.tensor<96x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!b = !blockscale.tensor<128x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @swap(%a: !a, %b: !b) -> tensor<96x64xf32> {
  // expected-error @below {{with 'swap_operands' sums are brought to rows of D 32 at once, of which the slice of 48 that 'tile_n' of 96 leaves each CTA with 'cluster_k' of 2 is no multiple; nearest legal: 128}}
  %0 = blockscale.matmul %a, %b pairs epilogue(%x, %up) {
    blockscale.yield %up
  } schedule(#blockscale.schedule<swap_operands = true, tile_n = 96, split_k = 2, cluster_k = 2>) : !a, !b -> tensor<96x64xf32>
  return %0 : tensor<96x64xf32>
}

// -----

!a = !blockscale.tensor<128x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!b = !blockscale.tensor<128x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @swap_in_registers(%a: !a, %b: !b) -> tensor<128x64xf32> {
  // expected-error @below {{with 'swap_operands' sums are brought to rows of D where a warp has 32 of them, of which 'tile_n' of 32 leaves it fewer on sm_120a; nearest legal: 64}}
  %0 = blockscale.matmul %a, %b pairs epilogue(%x, %up) {
    blockscale.yield %up
  } schedule(#blockscale.schedule<swap_operands = true, tile_n = 32>) {blockscale.target = #blockscale.target<sm_120a>} : !a, !b -> tensor<128x64xf32>
  return %0 : tensor<128x64xf32>
}

// -----

!a = !blockscale.tensor<128x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!b = !blockscale.tensor<128x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @tma(%a: !a, %b: !b) -> tensor<128x64xf32> {
  // expected-error @below {{'stores' of 'tma' are not lowered with 'pairs', whose pieces of a row may be shorter than TMA's 16 bytes; nearest legal: 'direct'}}
  %0 = blockscale.matmul %a, %b pairs epilogue(%x, %up) {
    blockscale.yield %up
  } schedule(#blockscale.schedule<stores = tma>) : !a, !b -> tensor<128x64xf32>
  return %0 : tensor<128x64xf32>
}

// -----

!a = !blockscale.tensor<128x256xbf16>
!b = !blockscale.tensor<128x256xbf16>
!q = !blockscale.tensor<128x64xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @block(%a: !a, %b: !b) -> !q {
  // expected-error @below {{a result is quantised in blocks of 64 columns that lie in one tile, found 'tile_n' of 96; nearest legal: 128}}
  %0 = blockscale.matmul %a, %b pairs epilogue(%x, %up) {
    blockscale.yield %up
  } schedule(#blockscale.schedule<tile_n = 96>) {blockscale.quantized} : !a, !b -> tensor<128x64xf32>
  %1 = blockscale.quantize %0 : tensor<128x64xf32> to !q
  return %1 : !q
}
