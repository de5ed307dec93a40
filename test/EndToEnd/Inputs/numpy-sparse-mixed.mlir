!a = !blockscale.tensor<3x?x?xf6E3M2FN, "e8m0_t32n2m4", layout = tiled_128x4>
!b = !blockscale.tensor<3x?x?xf8E5M2, "e8m0_t64", layout = tiled_128x4>
func.func @product(%a: !a, %b: !b) -> tensor<3x?x?xbf16> {
  %0 = blockscale.matmul %a, %b : !a, !b -> tensor<3x?x?xbf16>
  return %0 : tensor<3x?x?xbf16>
}
