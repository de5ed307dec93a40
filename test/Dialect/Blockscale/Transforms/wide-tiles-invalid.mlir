// Tiles of two instructions beside each other that are refused, each with the reason.

// RUN: blockscale-opt %s -blockscale-legalize-scales -blockscale-select-schedule -split-input-file -verify-diagnostics

!a = !blockscale.tensor<512x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!b = !blockscale.tensor<1024x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @one_cta(%a: !a, %b: !b) -> tensor<512x1024xbf16> {
  // expected-error @below {{'tile_n' of 320 is two instructions beside each other that share A, which are not lowered in one CTA; 'cta_group' of 2 has them; nearest legal: 256}}
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 320, cta_group = 1>) : !a, !b -> tensor<512x1024xbf16>
  return %0 : tensor<512x1024xbf16>
}

// -----

!a = !blockscale.tensor<512x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!b = !blockscale.tensor<1024x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @too_many(%a: !a, %b: !b) -> tensor<512x1024xbf16> {
  // expected-error @below {{1 accumulators of 512 columns and the scales need 532 columns, sm_100a has 512 (PTX ISA 9.4, tcgen05.alloc [T]); nearest legal: a smaller 'tile_n'}}
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 512, cta_group = 2>) : !a, !b -> tensor<512x1024xbf16>
  return %0 : tensor<512x1024xbf16>
}

// -----

// The next 64 columns would lie behind the last one.
!a = !blockscale.tensor<512x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!b = !blockscale.tensor<1024x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @two_accumulators(%a: !a, %b: !b) -> tensor<512x1024xbf16> {
  // expected-error @below {{2 accumulators of 448 columns and the scales need 916 columns, sm_100a has 512 (PTX ISA 9.4, tcgen05.alloc [T]); nearest legal: 'accumulators' of 1}}
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 448, cta_group = 2, accumulators = 2>) : !a, !b -> tensor<512x1024xbf16>
  return %0 : tensor<512x1024xbf16>
}

// -----

!a = !blockscale.tensor<512x512xbf16>
!b = !blockscale.tensor<1024x512xbf16>
func.func @without_scales(%a: !a, %b: !b) -> tensor<512x1024xbf16> {
  // expected-error @below {{share A, which are not lowered without scales of blocks; nearest legal: 256}}
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 320, cta_group = 2>) : !a, !b -> tensor<512x1024xbf16>
  return %0 : tensor<512x1024xbf16>
}

// -----

!a = !blockscale.tensor<512x512xf8E4M3FN, "e8m0_t32n2m4", layout = tiled_128x4>
!b = !blockscale.tensor<1024x512xf8E4M3FN, "e8m0_t64", layout = tiled_128x4>
func.func @sparse(%a: !a, %b: !b) -> tensor<512x1024xbf16> {
  // expected-error @below {{share A, which are not lowered with a sparse 'a'; nearest legal: 256}}
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 384, cta_group = 2>) : !a, !b -> tensor<512x1024xbf16>
  return %0 : tensor<512x1024xbf16>
}

// -----

!a = !blockscale.tensor<512x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!b = !blockscale.tensor<1024x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4, order = mn_major>
func.func @mn_major(%a: !a, %b: !b) -> tensor<512x1024xbf16> {
  // expected-error @below {{share A, which are not lowered with a B whose columns lie together in memory; nearest legal: 256}}
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 384, cta_group = 2, swap_operands = false>) : !a, !b -> tensor<512x1024xbf16>
  return %0 : tensor<512x1024xbf16>
}

// -----

!a = !blockscale.tensor<512x768xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!b = !blockscale.tensor<1024x768xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @k96(%a: !a, %b: !b) -> tensor<512x1024xbf16> {
  // expected-error @below {{'tile_n' of 320 would begin in the middle of 128 rows of scales, and instructions of K = 96 read words that lie as far apart as their own rows take; nearest legal: 384}}
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 320, cta_group = 2, mma_k = 96>) {blockscale.target = #blockscale.target<sm_103a>} : !a, !b -> tensor<512x1024xbf16>
  return %0 : tensor<512x1024xbf16>
}

// -----

!a = !blockscale.tensor<512x768xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!b = !blockscale.tensor<1024x768xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @above(%a: !a, %b: !b) -> tensor<512x1024xbf16> {
  // expected-error @below {{share A, which are not lowered with 'tile_m' of 512, two instructions above each other; nearest legal: 256}}
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_m = 512, tile_n = 320, cta_group = 2>) {blockscale.target = #blockscale.target<sm_107a>} : !a, !b -> tensor<512x1024xbf16>
  return %0 : tensor<512x1024xbf16>
}

// -----

!rows = !blockscale.tensor<?x576xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
!experts = !blockscale.tensor<3x840x576xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @gathered(%a: !rows, %b: !experts, %ends: tensor<3xi32>, %ids: tensor<?xi32>) -> tensor<?x840xf32> {
  // expected-error @below {{share A, which are not lowered with rows that are gathered; nearest legal: 256}}
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<3xi32>) rows(%ids : tensor<?xi32>) schedule(#blockscale.schedule<tile_n = 320, cta_group = 2, swap_operands = false>) : !rows, !experts -> tensor<?x840xf32>
  return %0 : tensor<?x840xf32>
}
