#mA = affine_map<(m, n, k, b) -> (m, k, b)>
#mB = affine_map<(m, n, k, b) -> (n, k, b)>
#mSA = affine_map<(m, n, k, b) -> (m, k)>
#mSB = affine_map<(m, n, k, b) -> (n, k)>
#mO = affine_map<(m, n, k, b) -> (m, n)>
func.func @iree(%a: tensor<48x4x32xf4E2M1FN>, %b: tensor<64x4x32xf4E2M1FN>, %sa: tensor<48x4xf8E8M0FNU>, %sb: tensor<64x4xf8E8M0FNU>) -> tensor<48x64xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<48x64xf32>
  %i = linalg.fill ins(%z : f32) outs(%e : tensor<48x64xf32>) -> tensor<48x64xf32>
  %r = linalg.generic {indexing_maps = [#mA, #mB, #mSA, #mSB, #mO], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
    ins(%a, %b, %sa, %sb : tensor<48x4x32xf4E2M1FN>, tensor<64x4x32xf4E2M1FN>, tensor<48x4xf8E8M0FNU>, tensor<64x4xf8E8M0FNU>) outs(%i : tensor<48x64xf32>) {
  ^bb0(%x: f4E2M1FN, %y: f4E2M1FN, %s: f8E8M0FNU, %t: f8E8M0FNU, %o: f32):
    %1 = arith.scaling_extf %x, %s : f4E2M1FN, f8E8M0FNU to f32
    %2 = arith.scaling_extf %y, %t : f4E2M1FN, f8E8M0FNU to f32
    %3 = arith.mulf %1, %2 : f32
    %4 = arith.addf %o, %3 : f32
    linalg.yield %4 : f32
  } -> tensor<48x64xf32>
  return %r : tensor<48x64xf32>
}
// scaled_contract, generalised: A, SA, B, SB, semi-affine maps, B [K, N], NVFP4 scales by mulf.
func.func @contract(%a: tensor<?x128xf8E4M3FN>, %b: tensor<128x64xf8E4M3FN>, %sa: tensor<?x4xf8E8M0FNU>, %sb: tensor<4x64xf8E8M0FNU>, %c: tensor<?x64xf32>, %alpha: f32) -> tensor<?x64xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (m, k floordiv 32)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (k floordiv 32, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %sa, %b, %sb : tensor<?x128xf8E4M3FN>, tensor<?x4xf8E8M0FNU>, tensor<128x64xf8E4M3FN>, tensor<4x64xf8E8M0FNU>) outs(%c : tensor<?x64xf32>) {
  ^bb0(%x: f8E4M3FN, %s: f8E8M0FNU, %y: f8E4M3FN, %t: f8E8M0FNU, %o: f32):
    %1 = arith.extf %x : f8E4M3FN to f32
    %2 = arith.extf %s : f8E8M0FNU to f32
    %3 = arith.mulf %1, %2 : f32
    %4 = arith.extf %y : f8E4M3FN to f32
    %5 = arith.extf %t : f8E8M0FNU to f32
    %6 = arith.mulf %4, %5 : f32
    %7 = arith.mulf %3, %6 : f32
    %9 = arith.mulf %7, %alpha : f32
    %8 = arith.addf %9, %o : f32
    linalg.yield %8 : f32
  } -> tensor<?x64xf32>
  return %r : tensor<?x64xf32>
}
// Dequantised first, NVFP4, then a named matmul.
func.func @dequantised(%a: tensor<48x8x16xf4E2M1FN>, %sa: tensor<48x8xf8E4M3FN>, %b: tensor<64x8x16xf4E2M1FN>, %sb: tensor<64x8xf8E4M3FN>, %ga: tensor<f32>, %gb: tensor<f32>) -> tensor<48x64xf32> {
  %z = arith.constant 0.0 : f32
  %ea = tensor.empty() : tensor<48x8x16xf32>
  %eb = tensor.empty() : tensor<64x8x16xf32>
  %da = linalg.generic {indexing_maps = [affine_map<(m, k, b) -> (m, k, b)>, affine_map<(m, k, b) -> (m, k)>, affine_map<(m, k, b) -> ()>, affine_map<(m, k, b) -> (m, k, b)>], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%a, %sa, %ga : tensor<48x8x16xf4E2M1FN>, tensor<48x8xf8E4M3FN>, tensor<f32>) outs(%ea : tensor<48x8x16xf32>) {
  ^bb0(%x: f4E2M1FN, %s: f8E4M3FN, %g: f32, %o: f32):
    %1 = arith.extf %x : f4E2M1FN to f32
    %2 = arith.extf %s : f8E4M3FN to f32
    %3 = arith.mulf %2, %g : f32
    %4 = arith.mulf %1, %3 : f32
    linalg.yield %4 : f32
  } -> tensor<48x8x16xf32>
  %db = linalg.generic {indexing_maps = [affine_map<(m, k, b) -> (m, k, b)>, affine_map<(m, k, b) -> (m, k)>, affine_map<(m, k, b) -> ()>, affine_map<(m, k, b) -> (m, k, b)>], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%b, %sb, %gb : tensor<64x8x16xf4E2M1FN>, tensor<64x8xf8E4M3FN>, tensor<f32>) outs(%eb : tensor<64x8x16xf32>) {
  ^bb0(%x: f4E2M1FN, %s: f8E4M3FN, %g: f32, %o: f32):
    %1 = arith.extf %x : f4E2M1FN to f32
    %2 = arith.extf %s : f8E4M3FN to f32
    %3 = arith.mulf %2, %g : f32
    %4 = arith.mulf %1, %3 : f32
    linalg.yield %4 : f32
  } -> tensor<64x8x16xf32>
  %ca = tensor.collapse_shape %da [[0], [1, 2]] : tensor<48x8x16xf32> into tensor<48x128xf32>
  %cb = tensor.collapse_shape %db [[0], [1, 2]] : tensor<64x8x16xf32> into tensor<64x128xf32>
  %e = tensor.empty() : tensor<48x64xf32>
  %i = linalg.fill ins(%z : f32) outs(%e : tensor<48x64xf32>) -> tensor<48x64xf32>
  %r = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] ins(%ca, %cb : tensor<48x128xf32>, tensor<64x128xf32>) outs(%i : tensor<48x64xf32>) -> tensor<48x64xf32>
  return %r : tensor<48x64xf32>
}
// Elementwise arith on broadcast scales, bf16, batch_matmul with B [B, K, N].
func.func @elementwise(%a: tensor<3x48x256xf8E5M2>, %sa: tensor<3x48x8xf8E8M0FNU>, %b: tensor<3x8x32x128xf8E4M3FN>, %sb: tensor<3x8x128xf8E8M0FNU>) -> tensor<3x48x128xf32> {
  %z = arith.constant 0.0 : f32
  %es = tensor.empty() : tensor<3x48x8x32xf8E8M0FNU>
  %s4 = linalg.broadcast ins(%sa : tensor<3x48x8xf8E8M0FNU>) outs(%es : tensor<3x48x8x32xf8E8M0FNU>) dimensions = [3]
  %s = tensor.collapse_shape %s4 [[0], [1], [2, 3]] : tensor<3x48x8x32xf8E8M0FNU> into tensor<3x48x256xf8E8M0FNU>
  %da = arith.scaling_extf %a, %s : tensor<3x48x256xf8E5M2>, tensor<3x48x256xf8E8M0FNU> to tensor<3x48x256xbf16>
  %et = tensor.empty() : tensor<3x8x32x128xf8E8M0FNU>
  %t4 = linalg.broadcast ins(%sb : tensor<3x8x128xf8E8M0FNU>) outs(%et : tensor<3x8x32x128xf8E8M0FNU>) dimensions = [2]
  %tf = arith.extf %t4 : tensor<3x8x32x128xf8E8M0FNU> to tensor<3x8x32x128xbf16>
  %bf = arith.extf %b : tensor<3x8x32x128xf8E4M3FN> to tensor<3x8x32x128xbf16>
  %db4 = arith.mulf %bf, %tf : tensor<3x8x32x128xbf16>
  %db = tensor.collapse_shape %db4 [[0], [1, 2], [3]] : tensor<3x8x32x128xbf16> into tensor<3x256x128xbf16>
  %e = tensor.empty() : tensor<3x48x128xf32>
  %i = linalg.fill ins(%z : f32) outs(%e : tensor<3x48x128xf32>) -> tensor<3x48x128xf32>
  %r = linalg.batch_matmul ins(%da, %db : tensor<3x48x256xbf16>, tensor<3x256x128xbf16>) outs(%i : tensor<3x48x128xf32>) -> tensor<3x48x128xf32>
  return %r : tensor<3x48x128xf32>
}
