!a = !blockscale.tensor<200x136xtf32, "n1m2", layout = tiled_128x4>
!b = !blockscale.tensor<72x136xtf32>
func.func @product(%a: !a, %b: !b) -> tensor<200x72xbf16> {
  %0 = blockscale.matmul %a, %b : !a, !b -> tensor<200x72xbf16>
  return %0 : tensor<200x72xbf16>
}
