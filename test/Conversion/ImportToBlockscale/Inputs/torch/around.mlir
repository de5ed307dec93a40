func.func @around(%x: tensor<?x128xf8E4M3FN>, %scale_x: tensor<?x4xf8E8M0FNU>, %w: tensor<64x128xf8E4M3FN>, %scale_w: tensor<64x4xf8E8M0FNU>, %gain: tensor<64xf32>) -> (tensor<?x32xf32>) {
    %.1 = blockscale.assemble %x, %scale_x : tensor<?x128xf8E4M3FN>, tensor<?x4xf8E8M0FNU> to !blockscale.tensor<?x128xf8E4M3FN, "e8m0_t32">
    %.2 = blockscale.relayout %.1 : !blockscale.tensor<?x128xf8E4M3FN, "e8m0_t32"> to !blockscale.tensor<?x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
    %.3 = blockscale.assemble %w, %scale_w : tensor<64x128xf8E4M3FN>, tensor<64x4xf8E8M0FNU> to !blockscale.tensor<64x128xf8E4M3FN, "e8m0_t32">
    %.4 = blockscale.relayout %.3 : !blockscale.tensor<64x128xf8E4M3FN, "e8m0_t32"> to !blockscale.tensor<64x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
    %.5 = blockscale.matmul %.2, %.4 : !blockscale.tensor<?x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>, !blockscale.tensor<64x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4> -> tensor<?x64xf32>
    %.6 = tensor.expand_shape %gain [[0, 1]] output_shape [1, 64] : tensor<64xf32> into tensor<1x64xf32>
    %.7 = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
    %.8 = tosa.mul %.5, %.6, %.7 : (tensor<?x64xf32>, tensor<1x64xf32>, tensor<1xi8>) -> tensor<?x64xf32>
    %.9 = "tosa.const"() <{values = dense<2.000000000e+00> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
    %.10 = tosa.add %.8, %.9 : (tensor<?x64xf32>, tensor<1x1xf32>) -> tensor<?x64xf32>
    %.11 = "tosa.const"() <{values = dense<0.000000000e+00> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
    %.12 = tosa.maximum %.10, %.11 : (tensor<?x64xf32>, tensor<1x1xf32>) -> tensor<?x64xf32>
    %.13 = arith.constant 0 : index
    %.14 = tensor.dim %.12, %.13 : tensor<?x64xf32>
    %.15 = tensor.expand_shape %.12 [[0], [1, 2]] output_shape [%.14, 2, 32] : tensor<?x64xf32> into tensor<?x2x32xf32>
    %.16 = tosa.reduce_sum %.15 {axis = 1 : i32} : (tensor<?x2x32xf32>) -> tensor<?x1x32xf32>
    %.17 = "tosa.const"() <{values = dense<5.000000000e-01> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
    %.18 = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
    %.19 = tosa.mul %.16, %.17, %.18 : (tensor<?x1x32xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<?x1x32xf32>
    %.20 = tensor.collapse_shape %.19 [[0], [1, 2]] : tensor<?x1x32xf32> into tensor<?x32xf32>
    %.21 = tosa.reduce_max %.15 {axis = 1 : i32} : (tensor<?x2x32xf32>) -> tensor<?x1x32xf32>
    %.22 = tensor.collapse_shape %.21 [[0], [1, 2]] : tensor<?x1x32xf32> into tensor<?x32xf32>
    %.23 = tosa.sub %.20, %.22 : (tensor<?x32xf32>, tensor<?x32xf32>) -> tensor<?x32xf32>
    return %.23 : tensor<?x32xf32>
}
