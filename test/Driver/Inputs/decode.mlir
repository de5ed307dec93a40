// Two products of few rows; the second is asked to be a pair's.
!a = !blockscale.tensor<?x512xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!b = !blockscale.tensor<2048x512xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>

func.func @decode(%a: !a, %b: !b, %c: !b)
    -> (tensor<?x2048xbf16>, tensor<?x2048xbf16>) {
  %d = blockscale.matmul %a, %b : !a, !b -> tensor<?x2048xbf16>
  %e = blockscale.matmul %a, %c schedule(#blockscale.schedule<tile_m = 256>)
      : !a, !b -> tensor<?x2048xbf16>
  return %d, %e : tensor<?x2048xbf16>, tensor<?x2048xbf16>
}
