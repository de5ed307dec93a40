func.func @around(%x: tensor<?x128xf8E4M3FN>, %scale_x: tensor<?x4xf8E8M0FNU>, %w: tensor<64x128xf8E4M3FN>, %scale_w: tensor<64x4xf8E8M0FNU>, %gain: tensor<64xf32>) -> (tensor<?x32xf32>) {
    %v1 = blockscale.assemble %x, %scale_x : tensor<?x128xf8E4M3FN>, tensor<?x4xf8E8M0FNU> to !blockscale.tensor<?x128xf8E4M3FN, "e8m0_t32">
    %v2 = blockscale.relayout %v1 : !blockscale.tensor<?x128xf8E4M3FN, "e8m0_t32"> to !blockscale.tensor<?x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
    %v3 = blockscale.assemble %w, %scale_w : tensor<64x128xf8E4M3FN>, tensor<64x4xf8E8M0FNU> to !blockscale.tensor<64x128xf8E4M3FN, "e8m0_t32">
    %v4 = blockscale.relayout %v3 : !blockscale.tensor<64x128xf8E4M3FN, "e8m0_t32"> to !blockscale.tensor<64x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
    %v5 = blockscale.matmul %v2, %v4 : !blockscale.tensor<?x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>, !blockscale.tensor<64x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4> -> tensor<?x64xf32>
    %v6 = tensor.expand_shape %gain [[0, 1]] output_shape [1, 64] : tensor<64xf32> into tensor<1x64xf32>
    %v7 = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
    %v8 = tosa.mul %v5, %v6, %v7 : (tensor<?x64xf32>, tensor<1x64xf32>, tensor<1xi8>) -> tensor<?x64xf32>
    %v9 = "tosa.const"() <{values = dense<2.000000000e+00> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
    %v10 = tosa.add %v8, %v9 : (tensor<?x64xf32>, tensor<1x1xf32>) -> tensor<?x64xf32>
    %v11 = "tosa.const"() <{values = dense<0.000000000e+00> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
    %v12 = tosa.maximum %v10, %v11 : (tensor<?x64xf32>, tensor<1x1xf32>) -> tensor<?x64xf32>
    %v13 = arith.constant 0 : index
    %v14 = tensor.dim %v12, %v13 : tensor<?x64xf32>
    %v15 = tensor.expand_shape %v12 [[0], [1, 2]] output_shape [%v14, 2, 32] : tensor<?x64xf32> into tensor<?x2x32xf32>
    %v16 = tosa.reduce_sum %v15 {axis = 1 : i32} : (tensor<?x2x32xf32>) -> tensor<?x1x32xf32>
    %v17 = "tosa.const"() <{values = dense<5.000000000e-01> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
    %v18 = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
    %v19 = tosa.mul %v16, %v17, %v18 : (tensor<?x1x32xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<?x1x32xf32>
    %v20 = tensor.collapse_shape %v19 [[0], [1, 2]] : tensor<?x1x32xf32> into tensor<?x32xf32>
    %v21 = tosa.reduce_max %v15 {axis = 1 : i32} : (tensor<?x2x32xf32>) -> tensor<?x1x32xf32>
    %v22 = tensor.collapse_shape %v21 [[0], [1, 2]] : tensor<?x1x32xf32> into tensor<?x32xf32>
    %v23 = tosa.sub %v20, %v22 : (tensor<?x32xf32>, tensor<?x32xf32>) -> tensor<?x32xf32>
    return %v23 : tensor<?x32xf32>
}
