func.func @around(%x: tensor<?x128xf8E4M3FN>, %scale_x: tensor<?x4xf8E8M0FNU>, %w: tensor<64x128xf8E4M3FN>, %scale_w: tensor<64x4xf8E8M0FNU>, %gain: tensor<64xf32>) -> (tensor<?x32xf32>) {
    %.1 = blockscale.assemble %x, %scale_x : tensor<?x128xf8E4M3FN>, tensor<?x4xf8E8M0FNU> to !blockscale.tensor<?x128xf8E4M3FN, "e8m0_t32">
    %.2 = blockscale.relayout %.1 : !blockscale.tensor<?x128xf8E4M3FN, "e8m0_t32"> to !blockscale.tensor<?x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
    %.3 = blockscale.assemble %w, %scale_w : tensor<64x128xf8E4M3FN>, tensor<64x4xf8E8M0FNU> to !blockscale.tensor<64x128xf8E4M3FN, "e8m0_t32">
    %.4 = blockscale.relayout %.3 : !blockscale.tensor<64x128xf8E4M3FN, "e8m0_t32"> to !blockscale.tensor<64x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
    %.5 = blockscale.matmul %.2, %.4 : !blockscale.tensor<?x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>, !blockscale.tensor<64x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4> -> tensor<?x64xf32>
    %.6 = arith.constant 0 : index
    %.7 = tensor.dim %x, %.6 : tensor<?x128xf8E4M3FN>
    %.8 = tensor.empty(%.7) : tensor<?x64xf32>
    %.9 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%.5, %gain : tensor<?x64xf32>, tensor<64xf32>) outs(%.8 : tensor<?x64xf32>) {
    ^bb0(%.e0: f32, %.e1: f32, %.before: f32):
      %.10 = arith.mulf %.e0, %.e1 : f32
      linalg.yield %.10 : f32
    } -> tensor<?x64xf32>
    %.11 = tensor.empty(%.7) : tensor<?x64xf32>
    %.12 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%.9 : tensor<?x64xf32>) outs(%.11 : tensor<?x64xf32>) {
    ^bb0(%.e0: f32, %.before: f32):
      %.13 = arith.constant 2.000000000e+00 : f32
      %.14 = arith.addf %.e0, %.13 : f32
      linalg.yield %.14 : f32
    } -> tensor<?x64xf32>
    %.15 = tensor.empty(%.7) : tensor<?x64xf32>
    %.16 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%.12 : tensor<?x64xf32>) outs(%.15 : tensor<?x64xf32>) {
    ^bb0(%.e0: f32, %.before: f32):
      %.17 = arith.constant 0.000000000e+00 : f32
      %.18 = arith.maximumf %.e0, %.17 : f32
      linalg.yield %.18 : f32
    } -> tensor<?x64xf32>
    %.19 = tensor.expand_shape %.16 [[0], [1, 2]] output_shape [%.7, 2, 32] : tensor<?x64xf32> into tensor<?x2x32xf32>
    %.20 = arith.constant 0 : index
    %.21 = tensor.dim %.19, %.20 : tensor<?x2x32xf32>
    %.22 = tensor.empty(%.21) : tensor<?x32xf32>
    %.23 = arith.constant 0.000000000e+00 : f32
    %.24 = linalg.fill ins(%.23 : f32) outs(%.22 : tensor<?x32xf32>) -> tensor<?x32xf32>
    %.25 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d2)>], iterator_types = ["parallel", "reduction", "parallel"]} ins(%.19 : tensor<?x2x32xf32>) outs(%.24 : tensor<?x32xf32>) {
    ^bb0(%.e: f32, %.so_far: f32):
      %.next = arith.addf %.so_far, %.e : f32
      linalg.yield %.next : f32
    } -> tensor<?x32xf32>
    %.26 = tensor.expand_shape %.25 [[0], [1, 2]] output_shape [%.7, 1, 32] : tensor<?x32xf32> into tensor<?x1x32xf32>
    %.27 = tensor.empty(%.7) : tensor<?x1x32xf32>
    %.28 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%.26 : tensor<?x1x32xf32>) outs(%.27 : tensor<?x1x32xf32>) {
    ^bb0(%.e0: f32, %.before: f32):
      %.29 = arith.constant 2.000000000e+00 : f32
      %.30 = arith.divf %.e0, %.29 : f32
      linalg.yield %.30 : f32
    } -> tensor<?x1x32xf32>
    %.31 = tensor.collapse_shape %.28 [[0], [1, 2]] : tensor<?x1x32xf32> into tensor<?x32xf32>
    %.32 = arith.constant 0 : index
    %.33 = tensor.dim %.19, %.32 : tensor<?x2x32xf32>
    %.34 = tensor.empty(%.33) : tensor<?x32xf32>
    %.35 = arith.constant 0xFF800000 : f32
    %.36 = linalg.fill ins(%.35 : f32) outs(%.34 : tensor<?x32xf32>) -> tensor<?x32xf32>
    %.37 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d2)>], iterator_types = ["parallel", "reduction", "parallel"]} ins(%.19 : tensor<?x2x32xf32>) outs(%.36 : tensor<?x32xf32>) {
    ^bb0(%.e: f32, %.so_far: f32):
      %.next = arith.maximumf %.so_far, %.e : f32
      linalg.yield %.next : f32
    } -> tensor<?x32xf32>
    %.38 = tensor.expand_shape %.37 [[0], [1, 2]] output_shape [%.7, 1, 32] : tensor<?x32xf32> into tensor<?x1x32xf32>
    %.39 = tensor.collapse_shape %.38 [[0], [1, 2]] : tensor<?x1x32xf32> into tensor<?x32xf32>
    %.40 = tensor.empty(%.7) : tensor<?x32xf32>
    %.41 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%.31, %.39 : tensor<?x32xf32>, tensor<?x32xf32>) outs(%.40 : tensor<?x32xf32>) {
    ^bb0(%.e0: f32, %.e1: f32, %.before: f32):
      %.42 = arith.subf %.e0, %.e1 : f32
      linalg.yield %.42 : f32
    } -> tensor<?x32xf32>
    return %.41 : tensor<?x32xf32>
}
