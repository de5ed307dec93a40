!a = !blockscale.tensor<?x800xf4E2M1FN, "multi_float32_e4m3fn_t16n4m8", layout = tiled_128x4>
!b = !blockscale.tensor<264x800xf4E2M1FN, "multi_float32_e4m3fn_t32", layout = tiled_128x4>
func.func @product(%a: !a, %b: !b) -> tensor<?x264xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 2, tile_n = 128>) : !a, !b -> tensor<?x264xf32>
  return %0 : tensor<?x264xf32>
}
