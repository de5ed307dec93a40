!a = !blockscale.tensor<?x400xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!b = !blockscale.tensor<200x400xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>

func.func @nvfp4(%a: !a, %b: !b) -> tensor<?x200xbf16> {
  %d = blockscale.matmul %a, %b : !a, !b -> tensor<?x200xbf16>
  return %d : tensor<?x200xbf16>
}
