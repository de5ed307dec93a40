// Llama-3.3-70B, fused query, key and value projection: N = 10240, K = 8192,
// NVFP4 x NVFP4, any number of tokens. Each operand brings one f32 scale per
// tensor; the kernel multiplies them in its epilogue.

!activations = !blockscale.tensor<?x8192xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!weights = !blockscale.tensor<10240x8192xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>

func.func @l70_qkv(%x: !activations, %w: !weights) -> tensor<?x10240xbf16> {
  %y = blockscale.matmul %x, %w : !activations, !weights -> tensor<?x10240xbf16>
  return %y : tensor<?x10240xbf16>
}
