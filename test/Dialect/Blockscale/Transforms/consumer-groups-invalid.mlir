// Where groups of warps take no tiles in turns, and what is legal there.

// RUN: blockscale-opt %s -split-input-file -blockscale-attach-target=target=sm_100a -blockscale-legalize-scales -blockscale-fuse-quantization -blockscale-select-schedule -verify-diagnostics

!a = !blockscale.tensor<256x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!b = !blockscale.tensor<256x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @tensor_memory(%a: !a, %b: !b) -> tensor<256x256xbf16> {
  // expected-error @below {{'consumer_groups' of 2 are not lowered for sm_100a, whose epilogue stores a tile out of tensor memory while the next one is multiplied; nearest legal: 1}}
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<consumer_groups = 2>) : !a, !b -> tensor<256x256xbf16>
  return %0 : tensor<256x256xbf16>
}

// -----

!a = !blockscale.tensor<256x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!b = !blockscale.tensor<256x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @split(%a: !a, %b: !b) -> tensor<256x256xbf16> {
  // expected-error @below {{'consumer_groups' of 2 are not lowered with 'split_k', where all warps of a CTA add up the parts of a tile together; nearest legal: 1}}
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<split_k = 2, consumer_groups = 2>) {blockscale.target = #blockscale.target<sm_120a>} : !a, !b -> tensor<256x256xbf16>
  return %0 : tensor<256x256xbf16>
}

// -----

!a = !blockscale.tensor<256x512xf8E4M3FN, "float32_t128">
!b = !blockscale.tensor<256x512xf8E4M3FN, "float32_t128_t128">
func.func @promoted(%a: !a, %b: !b) -> tensor<256x256xbf16> {
  // expected-error @below {{keep the sums of a stage beside those of all of K; 'tile_n' of 128 is too many, nearest legal: 64}}
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = false, tile_n = 128, consumer_groups = 2>) {blockscale.target = #blockscale.target<sm_120a>} : !a, !b -> tensor<256x256xbf16>
  return %0 : tensor<256x256xbf16>
}

// -----

!a = !blockscale.tensor<256x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!b = !blockscale.tensor<256x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @three(%a: !a, %b: !b) -> tensor<256x256xbf16> {
  // expected-error @below {{expected 'consumer_groups' of 1 to 2, found 3}}
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<consumer_groups = 3>) : !a, !b -> tensor<256x256xbf16>
  return %0 : tensor<256x256xbf16>
}

// -----

!a = !blockscale.tensor<256x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!b = !blockscale.tensor<256x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!q = !blockscale.tensor<256x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @quantized(%a: !a, %b: !b) -> !q {
  // expected-error @below {{with 'consumer_groups' of 2 warps have registers to quantise tiles of 64 columns, found 'tile_n' of 128; nearest legal: 64}}
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = false, tile_n = 128, consumer_groups = 2>) {blockscale.target = #blockscale.target<sm_120a>} : !a, !b -> tensor<256x256xf32>
  %1 = blockscale.quantize %0 {blockscale.target = #blockscale.target<sm_120a>} : tensor<256x256xf32> to !q
  return %1 : !q
}

// -----

!a = !blockscale.tensor<256x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!b = !blockscale.tensor<256x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @floats(%a: !a, %b: !b) -> tensor<256x256xf32> {
  // expected-error @below {{'consumer_groups' of 2 have registers to store f32 of tiles of 64 columns, found 'tile_n' of 128; nearest legal: 64}}
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = false, tile_n = 128, consumer_groups = 2>) {blockscale.target = #blockscale.target<sm_120a>} : !a, !b -> tensor<256x256xf32>
  return %0 : tensor<256x256xf32>
}
