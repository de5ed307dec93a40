// Tiles in halves that are refused, each with the reason.

// RUN: blockscale-opt %s -blockscale-legalize-scales -blockscale-select-schedule -split-input-file -verify-diagnostics

!a = !blockscale.tensor<512x512xbf16>
!b = !blockscale.tensor<1024x512xbf16>
func.func @without_scales(%a: !a, %b: !b) -> tensor<512x1024xbf16> {
  // expected-error @below {{'accumulators' of 3 are of half a tile each, which are not lowered without scales of blocks; nearest legal: 2}}
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 256, cta_group = 2, accumulators = 3>) : !a, !b -> tensor<512x1024xbf16>
  return %0 : tensor<512x1024xbf16>
}

// -----

!a = !blockscale.tensor<512x512xf8E4M3FN, "e8m0_t32n2m4", layout = tiled_128x4>
!b = !blockscale.tensor<1024x512xf8E4M3FN, "e8m0_t64", layout = tiled_128x4>
func.func @sparse(%a: !a, %b: !b) -> tensor<512x1024xbf16> {
  // expected-error @below {{not lowered with a sparse 'a'; nearest legal: 2}}
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 256, cta_group = 2, accumulators = 3>) : !a, !b -> tensor<512x1024xbf16>
  return %0 : tensor<512x1024xbf16>
}

// -----

// One CTA has no halves at all.
!a = !blockscale.tensor<512x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!b = !blockscale.tensor<1024x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @one_cta(%a: !a, %b: !b) -> tensor<512x1024xbf16> {
  // expected-error @below {{'accumulators' of 3: more than 2 are for scales of tiles along K that are applied in registers, and 3 for tiles of 256 columns of a pair of CTAs in halves; nearest legal: 2}}
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 256, cta_group = 1, accumulators = 3>) : !a, !b -> tensor<512x1024xbf16>
  return %0 : tensor<512x1024xbf16>
}

// -----

!a = !blockscale.tensor<512x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!b = !blockscale.tensor<1024x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4, order = mn_major>
func.func @mn_major(%a: !a, %b: !b) -> tensor<512x1024xbf16> {
  // expected-error @below {{not lowered with a B whose columns lie together in memory; nearest legal: 2}}
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 256, cta_group = 2, accumulators = 3, swap_operands = false>) : !a, !b -> tensor<512x1024xbf16>
  return %0 : tensor<512x1024xbf16>
}

// -----

!a = !blockscale.tensor<512x768xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!b = !blockscale.tensor<1024x768xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @k96(%a: !a, %b: !b) -> tensor<512x1024xbf16> {
  // expected-error @below {{not lowered with K = 96, which reads words of scales that lie as far apart as its own rows take; nearest legal: 2}}
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 256, cta_group = 2, mma_k = 96, accumulators = 3>) {blockscale.target = #blockscale.target<sm_103a>} : !a, !b -> tensor<512x1024xbf16>
  return %0 : tensor<512x1024xbf16>
}

// -----

!a = !blockscale.tensor<512x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!b = !blockscale.tensor<1024x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @parts_of_k(%a: !a, %b: !b) -> tensor<512x1024xbf16> {
  // expected-error @below {{not lowered with 'split_k'; nearest legal: 2}}
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 256, cta_group = 2, split_k = 2, cluster_k = 1, accumulators = 3>) : !a, !b -> tensor<512x1024xbf16>
  return %0 : tensor<512x1024xbf16>
}

// -----

!a = !blockscale.tensor<512x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!b = !blockscale.tensor<1024x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @boxes(%a: !a, %b: !b) -> tensor<512x1024xbf16> {
  // expected-error @below {{not lowered with 'stores' of 'tma'; nearest legal: 2}}
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 256, cta_group = 2, stores = tma, swap_operands = false, accumulators = 3>) : !a, !b -> tensor<512x1024xbf16>
  return %0 : tensor<512x1024xbf16>
}

// -----

!a = !blockscale.tensor<512x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!b = !blockscale.tensor<1024x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @boxes_of_c(%a: !a, %b: !b, %c: tensor<512x1024xbf16>) -> tensor<512x1024xbf16> {
  // expected-error @below {{not lowered with 'c_loads' of 'tma'; nearest legal: 2}}
  %0 = blockscale.matmul %a, %b c(%c) schedule(#blockscale.schedule<tile_n = 256, cta_group = 2, c_loads = tma, swap_operands = false, accumulators = 3>) : !a, !b, tensor<512x1024xbf16> -> tensor<512x1024xbf16>
  return %0 : tensor<512x1024xbf16>
}

// -----

!a = !blockscale.tensor<512x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!b = !blockscale.tensor<1024x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @one_stage(%a: !a, %b: !b) -> tensor<512x1024xbf16> {
  // expected-error @below {{'accumulators' of 3 are of half a tile each, of which the first instructions read two stages; found one; nearest legal: 2 'stages', and 2 of scales}}
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 256, cta_group = 2, stages = 1, accumulators = 3>) : !a, !b -> tensor<512x1024xbf16>
  return %0 : tensor<512x1024xbf16>
}

// -----

!rows = !blockscale.tensor<?x576xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
!experts = !blockscale.tensor<3x840x576xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @gathered(%a: !rows, %b: !experts, %ends: tensor<3xi32>, %ids: tensor<?xi32>) -> tensor<?x840xf32> {
  // expected-error @below {{not lowered with rows that are gathered; nearest legal: 2}}
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<3xi32>) rows(%ids : tensor<?xi32>) schedule(#blockscale.schedule<tile_n = 256, cta_group = 2, swap_operands = false, accumulators = 3>) : !rows, !experts -> tensor<?x840xf32>
  return %0 : tensor<?x840xf32>
}

// -----

!along_a = !blockscale.tensor<200x?xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
!along_b = !blockscale.tensor<840x?xf8E5M2, "e8m0_t32", layout = grouped_128x4>
func.func @along_k(%a: !along_a, %b: !along_b, %ends: tensor<3xi32>) -> tensor<3x200x840xf32> {
  // expected-error @below {{not lowered with groups along K; nearest legal: 2}}
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<3xi32>) schedule(#blockscale.schedule<tile_n = 256, cta_group = 2, swap_operands = false, accumulators = 3>) : !along_a, !along_b -> tensor<3x200x840xf32>
  return %0 : tensor<3x200x840xf32>
}
