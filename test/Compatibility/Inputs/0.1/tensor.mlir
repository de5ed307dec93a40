// Every op of the tensor level, and its types with each parameter, as version 0.1
// reads them.
!nv = !blockscale.tensor<?x4096xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!nw = !blockscale.tensor<1024x4096xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!mx = !blockscale.tensor<256x512xf8E4M3FN, "e8m0_t32">
!mn = !blockscale.tensor<256x512xf8E5M2, "e8m0_t32", order = mn_major>
!sp = !blockscale.tensor<256x512xf16, "n2m4", layout = tiled_128x4>
!un = !blockscale.tensor<128x512xf16>

module attributes {blockscale.target = #blockscale.target<sm_103a>} {
  func.func @product(%x: !nv, %w: !nw, %bias: tensor<1024xf32>, %alpha: f32) -> tensor<?x1024xbf16> {
    %y = blockscale.matmul %x, %w alpha(%alpha) bias(%bias) : !nv, !nw, tensor<1024xf32> -> tensor<?x1024xbf16>
    return %y : tensor<?x1024xbf16>
  }
  func.func @scheduled(%x: !mx, %w: !mx) -> tensor<256x256xf32> {
    %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<tile_n = 128, stages = 4>) : !mx, !mx -> tensor<256x256xf32>
    return %y : tensor<256x256xf32>
  }
  func.func @sparse(%x: !sp, %w: !un) -> tensor<256x128xf32> {
    %y = blockscale.matmul %x, %w : !sp, !un -> tensor<256x128xf32>
    return %y : tensor<256x128xf32>
  }
  func.func @numbers(%x: tensor<256x512xbf16>) -> tensor<256x512xf32> {
    %q = blockscale.quantize %x rule(round_up) : tensor<256x512xbf16> to !mx
    %y = blockscale.dequantize %q : !mx to tensor<256x512xf32>
    return %y : tensor<256x512xf32>
  }
  func.func private @order(!mn)
}
