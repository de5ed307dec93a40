!a = !blockscale.tensor<?x400xbf16, "n2m4", layout = tiled_128x4>
!b = !blockscale.tensor<264x400xbf16>
func.func @product(%a: !a, %b: !b) -> tensor<?x264xf32> {
  %0 = blockscale.matmul %a, %b : !a, !b -> tensor<?x264xf32>
  return %0 : tensor<?x264xf32>
}
