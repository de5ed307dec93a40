!a = !blockscale.tensor<3x70x160xf6E3M2FN, "e8m0_t32", layout = tiled_128x4>
!b = !blockscale.tensor<3x40x160xf6E2M3FN, "e8m0_t32", layout = tiled_128x4>

func.func @mxfp6(%a: !a, %b: !b) -> tensor<3x70x40xf16> {
  %d = blockscale.matmul %a, %b : !a, !b -> tensor<3x70x40xf16>
  return %d : tensor<3x70x40xf16>
}
