!a = !blockscale.tensor<?x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!b = !blockscale.tensor<128x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>

func.func @right(%a: !a, %b: !b) -> tensor<?x128xf32> {
  %d = blockscale.matmul %a, %b : !a, !b -> tensor<?x128xf32>
  return %d : tensor<?x128xf32>
}

func.func @right_too(%a: !a, %b: !b) -> tensor<?x128xbf16> {
  %d = blockscale.matmul %a, %b : !a, !b -> tensor<?x128xbf16>
  return %d : tensor<?x128xbf16>
}

func.func @host_work(%a: !a, %b: !b) -> tensor<?x128xf32> {
  %d = blockscale.matmul %a, %b : !a, !b -> tensor<?x128xf32>
  // Which no kernel does.
  %e = math.absf %d : tensor<?x128xf32>
  return %e : tensor<?x128xf32>
}
