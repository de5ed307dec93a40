// DeepSeek-V3, down projection of keys and values: N = 576, which is no multiple
// of 128, K = 7168, MXFP8 x MXFP8 with an f32 result.

!activations = !blockscale.tensor<?x7168xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!weights = !blockscale.tensor<576x7168xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>

func.func @ds_kva(%x: !activations, %w: !weights) -> tensor<?x576xf32> {
  %y = blockscale.matmul %x, %w : !activations, !weights -> tensor<?x576xf32>
  return %y : tensor<?x576xf32>
}
