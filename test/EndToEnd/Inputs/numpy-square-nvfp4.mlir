!a = !blockscale.tensor<?x256xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!b = !blockscale.tensor<200x256xf4E2M1FN, "multi_float32_e4m3fn_t16_t16", layout = tiled_128x4>
func.func @product(%a: !a, %b: !b) -> tensor<?x200xf32> {
  %0 = blockscale.matmul %a, %b : !a, !b -> tensor<?x200xf32>
  return %0 : tensor<?x200xf32>
}
