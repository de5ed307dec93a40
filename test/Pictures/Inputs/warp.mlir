!a = !blockscale.tensor<?x384xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!b = !blockscale.tensor<80x384xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>

module attributes {blockscale.target = #blockscale.target<sm_120a>} {
  func.func @small(%x: !a, %y: !b) -> tensor<?x80xbf16> {
    %d = blockscale.matmul %x, %y : !a, !b -> tensor<?x80xbf16>
    return %d : tensor<?x80xbf16>
  }
}
