!a = !blockscale.tensor<256x768xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
!b = !blockscale.tensor<192x768xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
!s = !blockscale.tensor<256x512xf8E4M3FN, "e8m0_t32n2m4", layout = tiled_128x4>
!t = !blockscale.tensor<128x512xf8E5M2, "e8m0_t64", layout = tiled_128x4>

module {
  func.func @wish(%x: !a, %y: !b) -> tensor<256x192xf32> {
    %d = blockscale.matmul %x, %y schedule(#blockscale.schedule<tile_n = 64, swap_operands = false>)
        : !a, !b -> tensor<256x192xf32>
    return %d : tensor<256x192xf32>
  }
  func.func @relu(%x: !a, %y: !b) -> tensor<256x192xbf16> {
    %d = blockscale.matmul %x, %y epilogue(%p) {
      %zero = arith.constant 0.0 : f32
      %r = arith.maximumf %p, %zero : f32
      blockscale.yield %r
    } : !a, !b -> tensor<256x192xbf16>
    return %d : tensor<256x192xbf16>
  }
  func.func @sparse(%x: !s, %y: !t) -> tensor<256x128xf32> {
    %d = blockscale.matmul %x, %y : !s, !t -> tensor<256x128xf32>
    return %d : tensor<256x128xf32>
  }
}
