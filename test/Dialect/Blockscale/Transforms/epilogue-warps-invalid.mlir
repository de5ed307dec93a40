// Epilogues of eight warps that are refused, each with the reason.

// RUN: blockscale-opt %s -blockscale-fuse-quantization -blockscale-legalize-scales -blockscale-select-schedule -split-input-file -verify-diagnostics

!a = !blockscale.tensor<256x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!b = !blockscale.tensor<32x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @columns(%a: !a, %b: !b) -> tensor<256x32xbf16> {
  // expected-error @below {{'epilogue_warps' of 8 share the columns of a tile by 32, so that 'tile_n' must be a multiple of 64, found 32; nearest legal: 4}}
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = false, tile_n = 32, epilogue_warps = 8>) : !a, !b -> tensor<256x32xbf16>
  return %0 : tensor<256x32xbf16>
}

// -----

!a = !blockscale.tensor<256x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!b = !blockscale.tensor<256x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @split(%a: !a, %b: !b) -> tensor<256x256xbf16> {
  // expected-error @below {{'epilogue_warps' of 8 are not lowered with 'split_k', where a thread has all sums of its row; nearest legal: 4}}
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = false, tile_n = 64, split_k = 2, epilogue_warps = 8>) : !a, !b -> tensor<256x256xbf16>
  return %0 : tensor<256x256xbf16>
}

// -----

!a = !blockscale.tensor<256x512xf8E4M3FN, "float32_t128">
!b = !blockscale.tensor<256x512xf8E4M3FN, "float32_t128_t128">
func.func @promoted(%a: !a, %b: !b) -> tensor<256x256xbf16> {
  // expected-error @below {{'epilogue_warps' of 8 are not lowered with scales that are applied in registers, which take as many warps as they need; nearest legal: 4}}
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = false, tile_n = 128, epilogue_warps = 8>) : !a, !b -> tensor<256x256xbf16>
  return %0 : tensor<256x256xbf16>
}

// -----

!a = !blockscale.tensor<256x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!b = !blockscale.tensor<256x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @warps(%a: !a, %b: !b) -> tensor<256x256xbf16> {
  // expected-error @below {{'epilogue_warps' of 8 are not lowered for sm_120a, whose warps multiply and store in registers; nearest legal: none}}
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<epilogue_warps = 8>) {blockscale.target = #blockscale.target<sm_120a>} : !a, !b -> tensor<256x256xbf16>
  return %0 : tensor<256x256xbf16>
}

// -----

// Pairs of columns that make blocks of 32: 192 columns are three of them.
!a = !blockscale.tensor<256x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!b = !blockscale.tensor<384x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!d = !blockscale.tensor<256x192xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @blocks(%a: !a, %b: !b) -> !d {
  // expected-error @below {{a result is quantised in blocks of 64 columns, of which 8 'epilogue_warps' need a multiple of 128 as 'tile_n', found 192; nearest legal: 4}}
  %y = blockscale.matmul %a, %b pairs epilogue(%g, %up) {
    %1 = arith.mulf %g, %up : f32
    blockscale.yield %1
  } schedule(#blockscale.schedule<tile_n = 192, epilogue_warps = 8>) : !a, !b -> tensor<256x192xbf16>
  %0 = blockscale.quantize %y : tensor<256x192xbf16> to !d
  return %0 : !d
}

// -----

!a = !blockscale.tensor<256x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!b = !blockscale.tensor<256x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @number(%a: !a, %b: !b) -> tensor<256x256xbf16> {
  // expected-error @below {{expected 'epilogue_warps' of 4 to 8 in steps of 4, found 6}}
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<epilogue_warps = 6>) : !a, !b -> tensor<256x256xbf16>
  return %0 : tensor<256x256xbf16>
}
