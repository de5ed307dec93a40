!a = !blockscale.tensor<2x144x512xf4E2M1FN, "n2m4", layout = tiled_128x4>
!b = !blockscale.tensor<2x96x512xf6E3M2FN>
func.func @product(%a: !a, %b: !b) -> tensor<2x144x96xf32> {
  %0 = blockscale.matmul %a, %b : !a, !b -> tensor<2x144x96xf32>
  return %0 : tensor<2x144x96xf32>
}
