func.func @rows(%x: tensor<48x128xf8E4M3FN>, %scale_x: tensor<48x1xf32>, %w: tensor<64x128xf8E4M3FN>, %scale_w: tensor<1x64xf32>) -> (tensor<48x64xbf16>) {
    %.1 = blockscale.assemble %x, %scale_x : tensor<48x128xf8E4M3FN>, tensor<48x1xf32> to !blockscale.tensor<48x128xf8E4M3FN, "float32_t0">
    %.2 = tensor.collapse_shape %scale_w [[0, 1]] : tensor<1x64xf32> into tensor<64xf32>
    %.3 = tensor.expand_shape %.2 [[0, 1]] output_shape [64, 1] : tensor<64xf32> into tensor<64x1xf32>
    %.4 = blockscale.assemble %w, %.3 : tensor<64x128xf8E4M3FN>, tensor<64x1xf32> to !blockscale.tensor<64x128xf8E4M3FN, "float32_t0">
    %.5 = blockscale.matmul %.1, %.4 : !blockscale.tensor<48x128xf8E4M3FN, "float32_t0">, !blockscale.tensor<64x128xf8E4M3FN, "float32_t0"> -> tensor<48x64xbf16>
    return %.5 : tensor<48x64xbf16>
}
