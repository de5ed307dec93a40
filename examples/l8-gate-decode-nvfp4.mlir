// Llama-3-8B, gate projection of one decoded token: M = 1. The operands change
// sides, so that the weights' rows fill the 128 lanes of the tensor core.

!activations = !blockscale.tensor<1x4096xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!weights = !blockscale.tensor<14336x4096xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>

func.func @l8_gate(%x: !activations, %w: !weights) -> tensor<1x14336xbf16> {
  %y = blockscale.matmul %x, %w activation(silu)
      : !activations, !weights -> tensor<1x14336xbf16>
  return %y : tensor<1x14336xbf16>
}
