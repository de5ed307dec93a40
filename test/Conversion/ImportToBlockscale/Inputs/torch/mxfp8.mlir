module {
  func.func @mxfp8(%arg0: tensor<48x128xf8E4M3FN>, %arg1: tensor<512xf8E8M0FNU>, %arg2: tensor<64x128xf8E4M3FN>, %arg3: tensor<512xf8E8M0FNU>, %arg4: tensor<64xbf16>) -> tensor<48x64xbf16> {
    %expanded = tensor.expand_shape %arg1 [[0, 1, 2, 3]] output_shape [1, 1, 32, 16] : tensor<512xf8E8M0FNU> into tensor<1x1x32x16xf8E8M0FNU>
    %0 = blockscale.assemble %arg0, %expanded : tensor<48x128xf8E4M3FN>, tensor<1x1x32x16xf8E8M0FNU> to !blockscale.tensor<48x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
    %expanded_0 = tensor.expand_shape %arg3 [[0, 1, 2, 3]] output_shape [1, 1, 32, 16] : tensor<512xf8E8M0FNU> into tensor<1x1x32x16xf8E8M0FNU>
    %1 = blockscale.assemble %arg2, %expanded_0 : tensor<64x128xf8E4M3FN>, tensor<1x1x32x16xf8E8M0FNU> to !blockscale.tensor<64x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
    %2 = blockscale.matmul %0, %1 bias(%arg4)   : !blockscale.tensor<48x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>, !blockscale.tensor<64x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>, tensor<64xbf16> -> tensor<48x64xbf16>
    return %2 : tensor<48x64xbf16>
  }
}

