!a = !blockscale.tensor<?x512xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!b = !blockscale.tensor<256x512xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @cluster(%a: !a, %b: !b) -> tensor<?x256xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 2, cluster_m = 8, cluster_n = 2, tile_n = 128, swap_operands = false, dependent_launch = true>) : !a, !b -> tensor<?x256xf32>
  return %0 : tensor<?x256xf32>
}
