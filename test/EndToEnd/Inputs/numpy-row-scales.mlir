!a = !blockscale.tensor<?x?x?xf8E4M3FN, "float32_t0">
!b = !blockscale.tensor<?x?x?xf8E5M2, "e8m0_t32_t0">
func.func @product(%a: !a, %b: !b) -> tensor<?x?x?xf32> {
  %0 = blockscale.matmul %a, %b : !a, !b -> tensor<?x?x?xf32>
  return %0 : tensor<?x?x?xf32>
}
