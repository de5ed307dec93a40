func.func @mxfp8(%w: tensor<64x128xf8E4M3FN>, %sw: tensor<64x4xf8E8M0FNU>, %bias: tensor<64xf32>, %x: tensor<?x128xf8E4M3FN>, %sx: tensor<?x4xf8E8M0FNU>) -> (tensor<?x64xf32>) {
    %.1 = arith.constant 0 : index
    %.2 = tensor.dim %x, %.1 : tensor<?x128xf8E4M3FN>
    %.3 = tensor.empty(%.2) : tensor<?x128xf32>
    %.4 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1 floordiv 32)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x, %sx : tensor<?x128xf8E4M3FN>, tensor<?x4xf8E8M0FNU>) outs(%.3 : tensor<?x128xf32>) {
    ^bb0(%.x: f8E4M3FN, %.s: f8E8M0FNU, %.before: f32):
      %.xw = arith.extf %.x : f8E4M3FN to f32
      %.sw = arith.extf %.s : f8E8M0FNU to f32
      %.product = arith.mulf %.xw, %.sw : f32
      linalg.yield %.product : f32
    } -> tensor<?x128xf32>
    %.5 = tensor.empty() : tensor<64x128xf32>
    %.6 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1 floordiv 32)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%w, %sw : tensor<64x128xf8E4M3FN>, tensor<64x4xf8E8M0FNU>) outs(%.5 : tensor<64x128xf32>) {
    ^bb0(%.x: f8E4M3FN, %.s: f8E8M0FNU, %.before: f32):
      %.xw = arith.extf %.x : f8E4M3FN to f32
      %.sw = arith.extf %.s : f8E8M0FNU to f32
      %.product = arith.mulf %.xw, %.sw : f32
      linalg.yield %.product : f32
    } -> tensor<64x128xf32>
    %.7 = tensor.empty() : tensor<128x64xf32>
    %.8 = linalg.transpose ins(%.6 : tensor<64x128xf32>) outs(%.7 : tensor<128x64xf32>) permutation = [1, 0]
    %.9 = arith.constant 0 : index
    %.10 = tensor.dim %.4, %.9 : tensor<?x128xf32>
    %.11 = tensor.empty(%.10) : tensor<?x64xf32>
    %.12 = arith.constant 0.0 : f32
    %.13 = linalg.fill ins(%.12 : f32) outs(%.11 : tensor<?x64xf32>) -> tensor<?x64xf32>
    %.14 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%.4, %.8 : tensor<?x128xf32>, tensor<128x64xf32>) outs(%.13 : tensor<?x64xf32>) {
    ^bb0(%.x: f32, %.y: f32, %.sum: f32):
      %.product = arith.mulf %.x, %.y : f32
      %.next = arith.addf %.sum, %.product : f32
      linalg.yield %.next : f32
    } -> tensor<?x64xf32>
    %.15 = tensor.expand_shape %bias [[0, 1]] output_shape [1, 64] : tensor<64xf32> into tensor<1x64xf32>
    %.16 = tosa.add %.14, %.15 : (tensor<?x64xf32>, tensor<1x64xf32>) -> tensor<?x64xf32>
    %.17 = "tosa.const"() <{values = dense<0.0> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
    %.18 = tosa.maximum %.16, %.17 : (tensor<?x64xf32>, tensor<1x1xf32>) -> tensor<?x64xf32>
    return %.18 : tensor<?x64xf32>
}
