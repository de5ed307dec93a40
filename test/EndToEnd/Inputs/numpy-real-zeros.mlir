!a = !blockscale.tensor<?x?x?xui4, "float32_float32_t0">
!b = !blockscale.tensor<?x?x?xui4, "bfloat16_float16_t8_t64">

func.func @real_zeros(%a: !a, %b: !b) -> tensor<?x?x?xf32> {
  %0 = blockscale.matmul %a, %b : !a, !b -> tensor<?x?x?xf32>
  return %0 : tensor<?x?x?xf32>
}
