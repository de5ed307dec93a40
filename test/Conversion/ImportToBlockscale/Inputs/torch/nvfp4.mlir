#map = affine_map<(d0, d1) -> (d0, d1 floordiv 2)>
#map1 = affine_map<(d0, d1) -> (d0, d1)>
module {
  func.func @nvfp4(%arg0: tensor<48x64xi8>, %arg1: tensor<1024xf8E4M3FN>, %arg2: tensor<1xf32>, %arg3: tensor<64x64xi8>, %arg4: tensor<1024xf8E4M3FN>, %arg5: tensor<1xf32>) -> tensor<48x64xf32> {
    %c48 = arith.constant 48 : index
    %0 = tensor.empty() : tensor<48x128xf4E2M1FN>
    %1 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg0 : tensor<48x64xi8>) outs(%0 : tensor<48x128xf4E2M1FN>) {
    ^bb0(%in: i8, %out: f4E2M1FN):
      %8 = linalg.index 1 : index
      %9 = arith.index_cast %8 : index to i8
      %c1_i8 = arith.constant 1 : i8
      %c4_i8 = arith.constant 4 : i8
      %10 = arith.andi %9, %c1_i8 : i8
      %11 = arith.muli %10, %c4_i8 : i8
      %12 = arith.shrui %in, %11 : i8
      %13 = arith.trunci %12 : i8 to i4
      %14 = arith.bitcast %13 : i4 to f4E2M1FN
      linalg.yield %14 : f4E2M1FN
    } -> tensor<48x128xf4E2M1FN>
    %expanded = tensor.expand_shape %arg1 [[0, 1, 2, 3]] output_shape [1, 2, 32, 16] : tensor<1024xf8E4M3FN> into tensor<1x2x32x16xf8E4M3FN>
    %2 = blockscale.assemble %1, %expanded : tensor<48x128xf4E2M1FN>, tensor<1x2x32x16xf8E4M3FN> to !blockscale.tensor<48x128xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
    %c64 = arith.constant 64 : index
    %3 = tensor.empty() : tensor<64x128xf4E2M1FN>
    %4 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg3 : tensor<64x64xi8>) outs(%3 : tensor<64x128xf4E2M1FN>) {
    ^bb0(%in: i8, %out: f4E2M1FN):
      %8 = linalg.index 1 : index
      %9 = arith.index_cast %8 : index to i8
      %c1_i8 = arith.constant 1 : i8
      %c4_i8 = arith.constant 4 : i8
      %10 = arith.andi %9, %c1_i8 : i8
      %11 = arith.muli %10, %c4_i8 : i8
      %12 = arith.shrui %in, %11 : i8
      %13 = arith.trunci %12 : i8 to i4
      %14 = arith.bitcast %13 : i4 to f4E2M1FN
      linalg.yield %14 : f4E2M1FN
    } -> tensor<64x128xf4E2M1FN>
    %expanded_0 = tensor.expand_shape %arg4 [[0, 1, 2, 3]] output_shape [1, 2, 32, 16] : tensor<1024xf8E4M3FN> into tensor<1x2x32x16xf8E4M3FN>
    %5 = blockscale.assemble %4, %expanded_0 : tensor<64x128xf4E2M1FN>, tensor<1x2x32x16xf8E4M3FN> to !blockscale.tensor<64x128xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
    %collapsed = tensor.collapse_shape %arg2 [] : tensor<1xf32> into tensor<f32>
    %extracted = tensor.extract %collapsed[] : tensor<f32>
    %collapsed_1 = tensor.collapse_shape %arg5 [] : tensor<1xf32> into tensor<f32>
    %extracted_2 = tensor.extract %collapsed_1[] : tensor<f32>
    %6 = arith.mulf %extracted, %extracted_2 : f32
    %7 = blockscale.matmul %2, %5 alpha(%6)    : !blockscale.tensor<48x128xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>, !blockscale.tensor<64x128xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4> -> tensor<48x64xf32>
    return %7 : tensor<48x64xf32>
  }
}

