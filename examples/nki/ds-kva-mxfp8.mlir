// DeepSeek-V3, down projection of keys and values on Trainium3: N = 576, K = 7168,
// MXFP8 x MXFP8, 128 tokens. The activations are bfloat16; the chip quantises
// them.

!weights = !blockscale.tensor<576x7168xf8E4M3FN, "e8m0_t32">
!quantized = !blockscale.tensor<128x7168xf8E4M3FN, "e8m0_t32">

func.func @ds_kva(%x: tensor<128x7168xbf16>, %w: !weights) -> tensor<128x576xf32> {
  %q = blockscale.quantize %x rule(floor_plus_one)
      : tensor<128x7168xbf16> to !quantized
  %y = blockscale.matmul %q, %w : !quantized, !weights -> tensor<128x576xf32>
  return %y : tensor<128x576xf32>
}
