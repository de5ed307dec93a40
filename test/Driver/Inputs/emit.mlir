// One small tile of MXFP4; the schedule is fixed so that every stage can be
// compared.

!activations = !blockscale.tensor<128x64x768xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
!weights = !blockscale.tensor<128x2048x768xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>

func.func @q30_w2(%x: !activations, %w: !weights) -> tensor<128x64x2048xbf16> {
  %y = blockscale.matmul %x, %w
      schedule(#blockscale.schedule<tile_n = 64, swap_operands = true, cta_group = 1>)
      : !activations, !weights -> tensor<128x64x2048xbf16>
  return %y : tensor<128x64x2048xbf16>
}
