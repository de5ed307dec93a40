func.func @nvfp4(%gx: tensor<f32>, %w: tensor<128x64xf4E2M1FN>, %sw: tensor<8x64xf8E4M3FN>, %gw: tensor<f32>, %x: tensor<?x128xf4E2M1FN>, %sx: tensor<?x8xf8E4M3FN>) -> (tensor<?x64xf32>) {
    %.1 = arith.constant 0 : index
    %.2 = tensor.dim %sx, %.1 : tensor<?x8xf8E4M3FN>
    %.3 = tensor.empty(%.2) : tensor<?x8xf32>
    %.4 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> ()>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%sx, %gx : tensor<?x8xf8E4M3FN>, tensor<f32>) outs(%.3 : tensor<?x8xf32>) {
    ^bb0(%.x: f8E4M3FN, %.s: f32, %.before: f32):
      %.xw = arith.extf %.x : f8E4M3FN to f32
      %.product = arith.mulf %.xw, %.s : f32
      linalg.yield %.product : f32
    } -> tensor<?x8xf32>
    %.5 = arith.constant 0 : index
    %.6 = tensor.dim %x, %.5 : tensor<?x128xf4E2M1FN>
    %.7 = tensor.empty(%.6) : tensor<?x128xf32>
    %.8 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1 floordiv 16)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x, %.4 : tensor<?x128xf4E2M1FN>, tensor<?x8xf32>) outs(%.7 : tensor<?x128xf32>) {
    ^bb0(%.x: f4E2M1FN, %.s: f32, %.before: f32):
      %.xw = arith.extf %.x : f4E2M1FN to f32
      %.product = arith.mulf %.xw, %.s : f32
      linalg.yield %.product : f32
    } -> tensor<?x128xf32>
    %.9 = tensor.empty() : tensor<8x64xf32>
    %.10 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> ()>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%sw, %gw : tensor<8x64xf8E4M3FN>, tensor<f32>) outs(%.9 : tensor<8x64xf32>) {
    ^bb0(%.x: f8E4M3FN, %.s: f32, %.before: f32):
      %.xw = arith.extf %.x : f8E4M3FN to f32
      %.product = arith.mulf %.xw, %.s : f32
      linalg.yield %.product : f32
    } -> tensor<8x64xf32>
    %.11 = tensor.empty() : tensor<128x64xf32>
    %.12 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0 floordiv 16, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%w, %.10 : tensor<128x64xf4E2M1FN>, tensor<8x64xf32>) outs(%.11 : tensor<128x64xf32>) {
    ^bb0(%.x: f4E2M1FN, %.s: f32, %.before: f32):
      %.xw = arith.extf %.x : f4E2M1FN to f32
      %.product = arith.mulf %.xw, %.s : f32
      linalg.yield %.product : f32
    } -> tensor<128x64xf32>
    %.13 = arith.constant 0 : index
    %.14 = tensor.dim %.8, %.13 : tensor<?x128xf32>
    %.15 = tensor.empty(%.14) : tensor<?x64xf32>
    %.16 = arith.constant 0.0 : f32
    %.17 = linalg.fill ins(%.16 : f32) outs(%.15 : tensor<?x64xf32>) -> tensor<?x64xf32>
    %.18 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%.8, %.12 : tensor<?x128xf32>, tensor<128x64xf32>) outs(%.17 : tensor<?x64xf32>) {
    ^bb0(%.x: f32, %.y: f32, %.sum: f32):
      %.product = arith.mulf %.x, %.y : f32
      %.next = arith.addf %.sum, %.product : f32
      linalg.yield %.next : f32
    } -> tensor<?x64xf32>
    return %.18 : tensor<?x64xf32>
}
