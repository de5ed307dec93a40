module {
  func.func @rows(%arg0: tensor<48x128xf8E4M3FN>, %arg1: tensor<48x1xf32>, %arg2: tensor<64x128xf8E4M3FN>, %arg3: tensor<1x64xf32>) -> tensor<48x64xbf16> {
    %0 = blockscale.assemble %arg0, %arg1 : tensor<48x128xf8E4M3FN>, tensor<48x1xf32> to !blockscale.tensor<48x128xf8E4M3FN, "float32_t0">
    %collapsed = tensor.collapse_shape %arg3 [[0, 1]] : tensor<1x64xf32> into tensor<64xf32>
    %expanded = tensor.expand_shape %collapsed [[0, 1]] output_shape [64, 1] : tensor<64xf32> into tensor<64x1xf32>
    %1 = blockscale.assemble %arg2, %expanded : tensor<64x128xf8E4M3FN>, tensor<64x1xf32> to !blockscale.tensor<64x128xf8E4M3FN, "float32_t0">
    %2 = blockscale.matmul %0, %1    : !blockscale.tensor<48x128xf8E4M3FN, "float32_t0">, !blockscale.tensor<64x128xf8E4M3FN, "float32_t0"> -> tensor<48x64xbf16>
    return %2 : tensor<48x64xbf16>
  }
}

