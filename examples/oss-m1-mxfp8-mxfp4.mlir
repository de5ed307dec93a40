// gpt-oss-120b, first layer of one expert: N = 5760, K = 2880, which ends in the
// middle of a K tile. MXFP8 activations by MXFP4 weights, with a bias.

!activations = !blockscale.tensor<?x2880xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!weights = !blockscale.tensor<5760x2880xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>

func.func @oss_m1(%x: !activations, %w: !weights, %bias: tensor<5760xbf16>)
    -> tensor<?x5760xbf16> {
  %y = blockscale.matmul %x, %w bias(%bias)
      : !activations, !weights, tensor<5760xbf16> -> tensor<?x5760xbf16>
  return %y : tensor<?x5760xbf16>
}
