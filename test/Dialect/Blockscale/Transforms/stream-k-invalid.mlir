// Products whose tiles are not shared out, each with the reason.

// RUN: blockscale-opt %s -blockscale-fuse-quantization -blockscale-legalize-scales -blockscale-select-schedule -split-input-file -verify-diagnostics

!a = !blockscale.tensor<512x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!b = !blockscale.tensor<256x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @whole_rounds(%a: !a, %b: !b) -> tensor<512x256xbf16> {
  // expected-error @below {{'stream_k' of 4 leaves nothing to share out: 16 tiles are whole rounds of 4; nearest legal: 1}}
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 1, cluster_m = 1, cluster_n = 1, swap_operands = false, tile_n = 64, stream_k = 4>) : !a, !b -> tensor<512x256xbf16>
  return %0 : tensor<512x256xbf16>
}

// -----

!a = !blockscale.tensor<512x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!b = !blockscale.tensor<64x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @empty(%a: !a, %b: !b) -> tensor<512x64xbf16> {
  // expected-error @below {{'stream_k' of 9 leaves shares empty: 4 tiles of 2 units of K are shared out; nearest legal: 8}}
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 1, cluster_m = 1, cluster_n = 1, swap_operands = false, tile_n = 64, stream_k = 9>) : !a, !b -> tensor<512x64xbf16>
  return %0 : tensor<512x64xbf16>
}

// -----

!a = !blockscale.tensor<512x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!b = !blockscale.tensor<256x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @split(%a: !a, %b: !b) -> tensor<512x256xbf16> {
  // expected-error @below {{'stream_k' of 3 shares out tiles, and 'split_k' of 2 splits all of them alike; expected one of the two}}
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<split_k = 2, stream_k = 3>) : !a, !b -> tensor<512x256xbf16>
  return %0 : tensor<512x256xbf16>
}

// -----

!a = !blockscale.tensor<512x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!b = !blockscale.tensor<256x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @dynamic(%a: !a, %b: !b) -> tensor<512x256xbf16> {
  // expected-error @below {{'stream_k' of 3 is not lowered with the dynamic scheduler, which hands out tiles; nearest legal: 'static'}}
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<scheduler = dynamic, stream_k = 3>) : !a, !b -> tensor<512x256xbf16>
  return %0 : tensor<512x256xbf16>
}

// -----

!a = !blockscale.tensor<?x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!b = !blockscale.tensor<256x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @rows(%a: !a, %b: !b) -> tensor<?x256xbf16> {
  // expected-error @below {{'stream_k' of 3 needs static sizes, from which the shares follow, found a dynamic M; nearest legal: 1}}
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<stream_k = 3>) : !a, !b -> tensor<?x256xbf16>
  return %0 : tensor<?x256xbf16>
}

// -----

!a = !blockscale.tensor<512x?xbf16>
!b = !blockscale.tensor<256x?xbf16>
func.func @groups_along_k(%a: !a, %b: !b, %ends: tensor<4xi32>) -> tensor<4x512x256xbf16> {
  // expected-error @below {{'stream_k' of 3 is not lowered with groups along K, each of which has a K of its own that only the launch knows; nearest legal: 1}}
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) schedule(#blockscale.schedule<stream_k = 3>) : !a, !b -> tensor<4x512x256xbf16>
  return %0 : tensor<4x512x256xbf16>
}

// -----

!a = !blockscale.tensor<?x134217728xbf16>
!b = !blockscale.tensor<4x256x134217728xbf16>
func.func @units_of_groups(%a: !a, %b: !b, %ends: tensor<4xi32>) -> tensor<?x256xbf16> {
  // expected-error @below {{'stream_k' of 1024 counts the units of K of tiles that are shared out, of which each has 2097152, at most 1049088 are counted; nearest legal: 1}}
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) schedule(#blockscale.schedule<stream_k = 1024>) : !a, !b -> tensor<?x256xbf16>
  return %0 : tensor<?x256xbf16>
}

// -----

!a = !blockscale.tensor<512x512xf8E4M3FN, "float32_t128">
!b = !blockscale.tensor<256x512xf8E4M3FN, "float32_t128_t128">
func.func @promoted(%a: !a, %b: !b) -> tensor<512x256xbf16> {
  // expected-error @below {{scales of tiles along K that are applied in registers keep the sums of all of K in one CTA; 'stream_k' of 3 is not lowered with them, nearest legal: 1}}
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 1, swap_operands = false, tile_n = 64, stream_k = 3>) : !a, !b -> tensor<512x256xbf16>
  return %0 : tensor<512x256xbf16>
}

// -----

!a = !blockscale.tensor<512x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!b = !blockscale.tensor<256x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @eight_warps(%a: !a, %b: !b) -> tensor<512x256xbf16> {
  // expected-error @below {{'epilogue_warps' of 8 are not lowered with 'stream_k', where a thread has all sums of its row; nearest legal: 4}}
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 1, swap_operands = false, tile_n = 64, epilogue_warps = 8, stream_k = 3>) : !a, !b -> tensor<512x256xbf16>
  return %0 : tensor<512x256xbf16>
}

// -----

!a = !blockscale.tensor<512x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!b = !blockscale.tensor<256x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @warps(%a: !a, %b: !b) -> tensor<512x256xbf16> {
  // expected-error @below {{'stream_k' of 3 is not lowered for sm_120a, whose warps multiply and store in registers; nearest legal: 1}}
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<stream_k = 3>) {blockscale.target = #blockscale.target<sm_120a>} : !a, !b -> tensor<512x256xbf16>
  return %0 : tensor<512x256xbf16>
}
