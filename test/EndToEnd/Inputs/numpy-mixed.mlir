!a = !blockscale.tensor<?x?xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!b = !blockscale.tensor<?x?xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>

func.func @mixed(%a: !a, %b: !b) -> tensor<?x?xf32> {
  %d = blockscale.matmul %a, %b : !a, !b -> tensor<?x?xf32>
  return %d : tensor<?x?xf32>
}
