func.func @nvfp4(%x: tensor<48x64xi8>, %scale_x: tensor<1024xf8E4M3FN>, %factor_x: tensor<1xf32>, %w: tensor<64x64xi8>, %scale_w: tensor<1024xf8E4M3FN>, %factor_w: tensor<1xf32>) -> (tensor<48x64xf32>) {
    %.1 = arith.constant 48 : index
    %.2 = tensor.empty() : tensor<48x128xf4E2M1FN>
    %.3 = linalg.generic {indexing_maps = [affine_map<(m, k) -> (m, k floordiv 2)>, affine_map<(m, k) -> (m, k)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<48x64xi8>) outs(%.2 : tensor<48x128xf4E2M1FN>) {
    ^bb0(%.pair: i8, %.before: f4E2M1FN):
      %.k = linalg.index 1 : index
      %.k8 = arith.index_cast %.k : index to i8
      %.one = arith.constant 1 : i8
      %.four = arith.constant 4 : i8
      %.odd = arith.andi %.k8, %.one : i8
      %.shift = arith.muli %.odd, %.four : i8
      %.half = arith.shrui %.pair, %.shift : i8
      %.code = arith.trunci %.half : i8 to i4
      %.element = arith.bitcast %.code : i4 to f4E2M1FN
      linalg.yield %.element : f4E2M1FN
    } -> tensor<48x128xf4E2M1FN>
    %.4 = tensor.expand_shape %scale_x [[0, 1, 2, 3]] output_shape [1, 2, 32, 16] : tensor<1024xf8E4M3FN> into tensor<1x2x32x16xf8E4M3FN>
    %.5 = blockscale.assemble %.3, %.4 : tensor<48x128xf4E2M1FN>, tensor<1x2x32x16xf8E4M3FN> to !blockscale.tensor<48x128xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
    %.6 = arith.constant 64 : index
    %.7 = tensor.empty() : tensor<64x128xf4E2M1FN>
    %.8 = linalg.generic {indexing_maps = [affine_map<(m, k) -> (m, k floordiv 2)>, affine_map<(m, k) -> (m, k)>], iterator_types = ["parallel", "parallel"]} ins(%w : tensor<64x64xi8>) outs(%.7 : tensor<64x128xf4E2M1FN>) {
    ^bb0(%.pair: i8, %.before: f4E2M1FN):
      %.k = linalg.index 1 : index
      %.k8 = arith.index_cast %.k : index to i8
      %.one = arith.constant 1 : i8
      %.four = arith.constant 4 : i8
      %.odd = arith.andi %.k8, %.one : i8
      %.shift = arith.muli %.odd, %.four : i8
      %.half = arith.shrui %.pair, %.shift : i8
      %.code = arith.trunci %.half : i8 to i4
      %.element = arith.bitcast %.code : i4 to f4E2M1FN
      linalg.yield %.element : f4E2M1FN
    } -> tensor<64x128xf4E2M1FN>
    %.9 = tensor.expand_shape %scale_w [[0, 1, 2, 3]] output_shape [1, 2, 32, 16] : tensor<1024xf8E4M3FN> into tensor<1x2x32x16xf8E4M3FN>
    %.10 = blockscale.assemble %.8, %.9 : tensor<64x128xf4E2M1FN>, tensor<1x2x32x16xf8E4M3FN> to !blockscale.tensor<64x128xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
    %.11 = tensor.collapse_shape %factor_x [] : tensor<1xf32> into tensor<f32>
    %.12 = tensor.extract %.11[] : tensor<f32>
    %.13 = tensor.collapse_shape %factor_w [] : tensor<1xf32> into tensor<f32>
    %.14 = tensor.extract %.13[] : tensor<f32>
    %.15 = arith.mulf %.12, %.14 : f32
    %.16 = blockscale.matmul %.5, %.10 alpha(%.15) : !blockscale.tensor<48x128xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>, !blockscale.tensor<64x128xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4> -> tensor<48x64xf32>
    return %.16 : tensor<48x64xf32>
}
