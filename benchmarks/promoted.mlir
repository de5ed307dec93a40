// FP8 4096 cubed without scales and with float scales of tiles along K, which the
// epilogue applies in registers: benchmarks/README.md.

!plain = !blockscale.tensor<4096x4096xf8E4M3FN>
func.func @without_scales(%a: !plain, %b: !plain) -> tensor<4096x4096xbf16> {
  %0 = blockscale.matmul %a, %b : !plain, !plain -> tensor<4096x4096xbf16>
  return %0 : tensor<4096x4096xbf16>
}

!rows = !blockscale.tensor<4096x4096xf8E4M3FN, "float32_t128">
!blocks = !blockscale.tensor<4096x4096xf8E4M3FN, "float32_t128_t128">
func.func @rows_by_blocks(%a: !rows, %b: !blocks) -> tensor<4096x4096xbf16> {
  %0 = blockscale.matmul %a, %b : !rows, !blocks -> tensor<4096x4096xbf16>
  return %0 : tensor<4096x4096xbf16>
}

func.func @rows_by_rows(%a: !rows, %b: !rows) -> tensor<4096x4096xbf16> {
  %0 = blockscale.matmul %a, %b : !rows, !rows -> tensor<4096x4096xbf16>
  return %0 : tensor<4096x4096xbf16>
}

!long = !blockscale.tensor<4096x4096xf8E4M3FN, "float32_t256">
!long_blocks = !blockscale.tensor<4096x4096xf8E4M3FN, "float32_t128_t256">
func.func @blocks_of_256(%a: !long, %b: !long_blocks) -> tensor<4096x4096xbf16> {
  %0 = blockscale.matmul %a, %b : !long, !long_blocks -> tensor<4096x4096xbf16>
  return %0 : tensor<4096x4096xbf16>
}
