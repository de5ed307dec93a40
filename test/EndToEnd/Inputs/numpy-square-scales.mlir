!a = !blockscale.tensor<?x?x?xf8E4M3FN, "e8m0_t64", layout = tiled_128x4>
!b = !blockscale.tensor<?x?x?xf8E5M2, "e8m0_t128_t128", layout = tiled_128x4>
func.func @product(%a: !a, %b: !b) -> tensor<?x?x?xf32> {
  %0 = blockscale.matmul %a, %b : !a, !b -> tensor<?x?x?xf32>
  return %0 : tensor<?x?x?xf32>
}
