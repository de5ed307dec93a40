!a = !blockscale.tensor<3x70x160xi4, "e8m0_t32", layout = tiled_128x4>
!b = !blockscale.tensor<3x40x160xi4, "e8m0_t32", layout = tiled_128x4>

func.func @mxint4(%a: !a, %b: !b) -> tensor<3x70x40xf32> {
  %d = blockscale.matmul %a, %b : !a, !b -> tensor<3x70x40xf32>
  return %d : tensor<3x70x40xf32>
}
