!a = !blockscale.tensor<128x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!b = !blockscale.tensor<64x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>

func.func @product(%a: !a, %b: !b) -> tensor<128x64xf32> {
  %d = blockscale.matmul %a, %b : !a, !b -> tensor<128x64xf32>
  return %d : tensor<128x64xf32>
}
