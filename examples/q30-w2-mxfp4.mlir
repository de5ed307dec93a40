// Qwen3-30B-A3B, second layer of all 128 experts as a batch: N = 2048, K = 768,
// MXFP4 x MXFP4, 64 tokens for each expert.

!activations = !blockscale.tensor<128x64x768xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
!weights = !blockscale.tensor<128x2048x768xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>

func.func @q30_w2(%x: !activations, %w: !weights) -> tensor<128x64x2048xbf16> {
  %y = blockscale.matmul %x, %w
      : !activations, !weights -> tensor<128x64x2048xbf16>
  return %y : tensor<128x64x2048xbf16>
}
