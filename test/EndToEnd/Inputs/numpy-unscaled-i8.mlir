!a = !blockscale.tensor<?x?xi8, "n2m4", layout = tiled_128x4>
!b = !blockscale.tensor<?x?xui8>
func.func @product(%a: !a, %b: !b) -> tensor<?x?xi32> {
  %0 = blockscale.matmul %a, %b : !a, !b -> tensor<?x?xi32>
  return %0 : tensor<?x?xi32>
}
