!x = !blockscale.tensor<?x4096xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!w = !blockscale.tensor<1024x4096xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>

func.func @layer(%x: !x, %w: !w) -> tensor<?x1024xbf16> {
  %y = acme.linear %x, %w : !x, !w -> tensor<?x1024xbf16>
  return %y : tensor<?x1024xbf16>
}
