// Gradient accumulation in MXFP6, alpha * A * B + beta * C, with the tile chosen
// by the user.

!a = !blockscale.tensor<4096x2048xf6E3M2FN, "e8m0_t32", layout = tiled_128x4>
!b = !blockscale.tensor<1024x2048xf6E2M3FN, "e8m0_t32", layout = tiled_128x4>

func.func @accumulate(%a: !a, %b: !b, %c: tensor<4096x1024xf32>, %alpha: f32,
                      %beta: f32) -> tensor<4096x1024xf32> {
  %d = blockscale.matmul %a, %b alpha(%alpha) beta(%beta) c(%c)
      schedule(#blockscale.schedule<tile_n = 128, group_m = 4>)
      : !a, !b, tensor<4096x1024xf32> -> tensor<4096x1024xf32>
  return %d : tensor<4096x1024xf32>
}
