!a = !blockscale.tensor<?x64x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @product(%a: !a, %b: !a) -> tensor<?x64x64xf32> {
  %0 = blockscale.matmul %a, %b : !a, !a -> tensor<?x64x64xf32>
  return %0 : tensor<?x64x64xf32>
}
func.func @quantized(%x: tensor<?x64x256xbf16>) -> !a {
  %0 = blockscale.quantize %x : tensor<?x64x256xbf16> to !a
  return %0 : !a
}
