// gpt-oss-120b, first layer of one expert on Trainium3: N = 5760, K = 2880, which
// is five tiles of 512 and a rest of 320. MXFP8 activations by MXFP4 weights, 64
// tokens, with a bias. Shapes of an NKI kernel are constants.

!activations = !blockscale.tensor<64x2880xf8E4M3FN, "e8m0_t32">
!weights = !blockscale.tensor<5760x2880xf4E2M1FN, "e8m0_t32">

func.func @oss_m1(%x: !activations, %w: !weights, %bias: tensor<5760xbf16>)
    -> tensor<64x5760xbf16> {
  %y = blockscale.matmul %x, %w bias(%bias)
      : !activations, !weights, tensor<5760xbf16> -> tensor<64x5760xbf16>
  return %y : tensor<64x5760xbf16>
}
