func.func @mxfp8(%x: tensor<48x128xf8E4M3FN>, %scale_x: tensor<512xf8E8M0FNU>, %w: tensor<64x128xf8E4M3FN>, %scale_w: tensor<512xf8E8M0FNU>, %bias: tensor<64xbf16>) -> (tensor<48x64xbf16>) {
    %.1 = tensor.expand_shape %scale_x [[0, 1, 2, 3]] output_shape [1, 1, 32, 16] : tensor<512xf8E8M0FNU> into tensor<1x1x32x16xf8E8M0FNU>
    %.2 = blockscale.assemble %x, %.1 : tensor<48x128xf8E4M3FN>, tensor<1x1x32x16xf8E8M0FNU> to !blockscale.tensor<48x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
    %.3 = tensor.expand_shape %scale_w [[0, 1, 2, 3]] output_shape [1, 1, 32, 16] : tensor<512xf8E8M0FNU> into tensor<1x1x32x16xf8E8M0FNU>
    %.4 = blockscale.assemble %w, %.3 : tensor<64x128xf8E4M3FN>, tensor<1x1x32x16xf8E8M0FNU> to !blockscale.tensor<64x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
    %.5 = blockscale.matmul %.2, %.4 bias(%bias) : !blockscale.tensor<48x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>, !blockscale.tensor<64x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>, tensor<64xbf16> -> tensor<48x64xbf16>
    return %.5 : tensor<48x64xbf16>
}
