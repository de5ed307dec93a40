!a = !blockscale.tensor<?x320xi8, "float16_t0">
!b = !blockscale.tensor<72x320xi8, "bfloat16">
func.func @product(%a: !a, %b: !b) -> tensor<?x72xf32> {
  %0 = blockscale.matmul %a, %b : !a, !b -> tensor<?x72xf32>
  return %0 : tensor<?x72xf32>
}
