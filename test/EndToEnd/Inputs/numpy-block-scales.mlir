!a = !blockscale.tensor<?x?x?xf8E4M3FN, "float32_t128">
!b = !blockscale.tensor<?x?x?xf8E4M3FN, "bfloat16_t64_t128">

func.func @blocks(%a: !a, %b: !b) -> tensor<?x?x?xf32> {
  %0 = blockscale.matmul %a, %b : !a, !b -> tensor<?x?x?xf32>
  return %0 : tensor<?x?x?xf32>
}
