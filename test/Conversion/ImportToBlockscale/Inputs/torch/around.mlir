#map = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d2)>
#map2 = affine_map<(d0, d1) -> (d0, d1)>
module {
  func.func @around(%arg0: tensor<?x128xf8E4M3FN>, %arg1: tensor<?x4xf8E8M0FNU>, %arg2: tensor<64x128xf8E4M3FN>, %arg3: tensor<64x4xf8E8M0FNU>, %arg4: tensor<64xf32>) -> tensor<?x32xf32> {
    %0 = blockscale.assemble %arg0, %arg1 : tensor<?x128xf8E4M3FN>, tensor<?x4xf8E8M0FNU> to !blockscale.tensor<?x128xf8E4M3FN, "e8m0_t32">
    %1 = blockscale.relayout %0 : !blockscale.tensor<?x128xf8E4M3FN, "e8m0_t32"> to !blockscale.tensor<?x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
    %2 = blockscale.assemble %arg2, %arg3 : tensor<64x128xf8E4M3FN>, tensor<64x4xf8E8M0FNU> to !blockscale.tensor<64x128xf8E4M3FN, "e8m0_t32">
    %3 = blockscale.relayout %2 : !blockscale.tensor<64x128xf8E4M3FN, "e8m0_t32"> to !blockscale.tensor<64x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
    %c0 = arith.constant 0 : index
    %dim = tensor.dim %arg0, %c0 : tensor<?x128xf8E4M3FN>
    %4 = blockscale.matmul %1, %3 bias(%arg4) epilogue(%x, %bias) {
      %15 = arith.mulf %x, %bias : f32
      %cst_6 = arith.constant 2.000000e+00 : f32
      %16 = arith.addf %15, %cst_6 : f32
      %cst_7 = arith.constant 0.000000e+00 : f32
      %17 = arith.maximumf %16, %cst_7 : f32
      blockscale.yield %17
    }  : !blockscale.tensor<?x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>, !blockscale.tensor<64x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>, tensor<64xf32> -> tensor<?x64xf32>
    %expanded = tensor.expand_shape %4 [[0], [1, 2]] output_shape [%dim, 2, 32] : tensor<?x64xf32> into tensor<?x2x32xf32>
    %c0_0 = arith.constant 0 : index
    %5 = tensor.empty(%dim) : tensor<?x32xf32>
    %cst = arith.constant 0.000000e+00 : f32
    %6 = linalg.fill ins(%cst : f32) outs(%5 : tensor<?x32xf32>) -> tensor<?x32xf32>
    %7 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction", "parallel"]} ins(%expanded : tensor<?x2x32xf32>) outs(%6 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %15 = arith.addf %out, %in : f32
      linalg.yield %15 : f32
    } -> tensor<?x32xf32>
    %expanded_1 = tensor.expand_shape %7 [[0], [1, 2]] output_shape [%dim, 1, 32] : tensor<?x32xf32> into tensor<?x1x32xf32>
    %8 = tensor.empty(%dim) : tensor<?x1x32xf32>
    %9 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_1 : tensor<?x1x32xf32>) outs(%8 : tensor<?x1x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %cst_6 = arith.constant 2.000000e+00 : f32
      %15 = arith.divf %in, %cst_6 : f32
      linalg.yield %15 : f32
    } -> tensor<?x1x32xf32>
    %collapsed = tensor.collapse_shape %9 [[0], [1, 2]] : tensor<?x1x32xf32> into tensor<?x32xf32>
    %c0_2 = arith.constant 0 : index
    %10 = tensor.empty(%dim) : tensor<?x32xf32>
    %cst_3 = arith.constant 0xFF800000 : f32
    %11 = linalg.fill ins(%cst_3 : f32) outs(%10 : tensor<?x32xf32>) -> tensor<?x32xf32>
    %12 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction", "parallel"]} ins(%expanded : tensor<?x2x32xf32>) outs(%11 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %15 = arith.maximumf %out, %in : f32
      linalg.yield %15 : f32
    } -> tensor<?x32xf32>
    %expanded_4 = tensor.expand_shape %12 [[0], [1, 2]] output_shape [%dim, 1, 32] : tensor<?x32xf32> into tensor<?x1x32xf32>
    %collapsed_5 = tensor.collapse_shape %expanded_4 [[0], [1, 2]] : tensor<?x1x32xf32> into tensor<?x32xf32>
    %13 = tensor.empty(%dim) : tensor<?x32xf32>
    %14 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel"]} ins(%collapsed, %collapsed_5 : tensor<?x32xf32>, tensor<?x32xf32>) outs(%13 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %15 = arith.subf %in, %in_6 : f32
      linalg.yield %15 : f32
    } -> tensor<?x32xf32>
    return %14 : tensor<?x32xf32>
  }
}

