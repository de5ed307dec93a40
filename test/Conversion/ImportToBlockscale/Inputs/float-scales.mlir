// Products of linalg whose scales are f32, f16 or bf16: of tiles along K, of several
// rows, of whole rows, of one side; of floats, of integers and of bf16 beside them.

#m = affine_map<(m, n, k) -> (m, k)>
#n = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

// DeepSeek's: 1 x 128 by 128 x 128, the last tile of B's rows not whole.
func.func @deepseek(%a: tensor<48x256xf8E4M3FN>, %s: tensor<48x2xf32>, %b: tensor<200x256xf8E4M3FN>, %t: tensor<2x2xf32>) -> tensor<48x200xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<48x200xf32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<48x200xf32>) -> tensor<48x200xf32>
  %r = linalg.generic {indexing_maps = [#m, affine_map<(m, n, k) -> (m, k floordiv 128)>, #n, affine_map<(m, n, k) -> (n floordiv 128, k floordiv 128)>, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %s, %b, %t : tensor<48x256xf8E4M3FN>, tensor<48x2xf32>, tensor<200x256xf8E4M3FN>, tensor<2x2xf32>) outs(%c : tensor<48x200xf32>) {
  ^bb0(%x: f8E4M3FN, %p: f32, %y: f8E4M3FN, %q: f32, %o: f32):
    %0 = arith.extf %x : f8E4M3FN to f32
    %1 = arith.extf %y : f8E4M3FN to f32
    %2 = arith.mulf %0, %p : f32
    %3 = arith.mulf %1, %q : f32
    %4 = arith.mulf %2, %3 : f32
    %5 = arith.addf %o, %4 : f32
    linalg.yield %5 : f32
  } -> tensor<48x200xf32>
  return %r : tensor<48x200xf32>
}

// Scales as tensors of their own loops, stretched and joined before the product, B
// with K first and in tiles of two loops.
func.func @joined(%a: tensor<?x2x64xf8E5M2>, %s: tensor<?x2xf16>, %b: tensor<2x64x3x32xf8E4M3FN>, %t: tensor<2x3xbf16>, %c: tensor<?x96xf32>) -> tensor<?x96xf32> {
  %zero = arith.constant 0 : index
  %rows = tensor.dim %a, %zero : tensor<?x2x64xf8E5M2>
  %ea = tensor.empty(%rows) : tensor<?x2x64xf32>
  %left = linalg.generic {indexing_maps = [affine_map<(m, i, j) -> (m, i, j)>, affine_map<(m, i, j) -> (m, i)>, affine_map<(m, i, j) -> (m, i, j)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%a, %s : tensor<?x2x64xf8E5M2>, tensor<?x2xf16>) outs(%ea : tensor<?x2x64xf32>) {
  ^bb0(%x: f8E5M2, %p: f16, %o: f32):
    %0 = arith.extf %x : f8E5M2 to f32
    %1 = arith.extf %p : f16 to f32
    %2 = arith.mulf %0, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<?x2x64xf32>
  %eb = tensor.empty() : tensor<2x64x3x32xf32>
  %right = linalg.generic {indexing_maps = [affine_map<(i, j, p, q) -> (i, j, p, q)>, affine_map<(i, j, p, q) -> (i, p)>, affine_map<(i, j, p, q) -> (i, j, p, q)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%b, %t : tensor<2x64x3x32xf8E4M3FN>, tensor<2x3xbf16>) outs(%eb : tensor<2x64x3x32xf32>) {
  ^bb0(%x: f8E4M3FN, %p: bf16, %o: f32):
    %0 = arith.extf %x : f8E4M3FN to f32
    %1 = arith.extf %p : bf16 to f32
    %2 = arith.mulf %0, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<2x64x3x32xf32>
  %l = tensor.collapse_shape %left [[0], [1, 2]] : tensor<?x2x64xf32> into tensor<?x128xf32>
  %r = tensor.collapse_shape %right [[0, 1], [2, 3]] : tensor<2x64x3x32xf32> into tensor<128x96xf32>
  %p = linalg.matmul ins(%l, %r : tensor<?x128xf32>, tensor<128x96xf32>) outs(%c : tensor<?x96xf32>) -> tensor<?x96xf32>
  return %p : tensor<?x96xf32>
}

// Cut before the scales are multiplied and joined behind.
func.func @cut(%a: tensor<40x256xf8E4M3FN>, %s: tensor<40x2xf32>, %b: tensor<72x256xf8E4M3FN>, %t: tensor<72xf32>) -> tensor<40x72xf32> {
  %wide = arith.extf %a : tensor<40x256xf8E4M3FN> to tensor<40x256xf32>
  %blocks = tensor.expand_shape %wide [[0], [1, 2]] output_shape [40, 2, 128] : tensor<40x256xf32> into tensor<40x2x128xf32>
  %ea = tensor.empty() : tensor<40x2x128xf32>
  %scaled = linalg.generic {indexing_maps = [affine_map<(m, i, j) -> (m, i, j)>, affine_map<(m, i, j) -> (m, i)>, affine_map<(m, i, j) -> (m, i, j)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%blocks, %s : tensor<40x2x128xf32>, tensor<40x2xf32>) outs(%ea : tensor<40x2x128xf32>) {
  ^bb0(%x: f32, %p: f32, %o: f32):
    %0 = arith.mulf %x, %p : f32
    linalg.yield %0 : f32
  } -> tensor<40x2x128xf32>
  %l = tensor.collapse_shape %scaled [[0], [1, 2]] : tensor<40x2x128xf32> into tensor<40x256xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<40x72xf32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<40x72xf32>) -> tensor<40x72xf32>
  %r = linalg.generic {indexing_maps = [#m, #n, affine_map<(m, n, k) -> (n)>, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%l, %b, %t : tensor<40x256xf32>, tensor<72x256xf8E4M3FN>, tensor<72xf32>) outs(%c : tensor<40x72xf32>) {
  ^bb0(%x: f32, %y: f8E4M3FN, %q: f32, %o: f32):
    %0 = arith.extf %y : f8E4M3FN to f32
    %1 = arith.mulf %0, %q : f32
    %2 = arith.mulf %x, %1 : f32
    %3 = arith.addf %o, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<40x72xf32>
  return %r : tensor<40x72xf32>
}

// The two loops of K are summed, nothing joins them: the data are cut.
func.func @loops(%a: tensor<40x256xf8E4M3FN>, %s: tensor<40x4xf32>, %b: tensor<72x4x64xf8E4M3FN>, %t: tensor<72x4xf32>, %c: tensor<40x72xf32>) -> tensor<40x72xf32> {
  %blocks = tensor.expand_shape %a [[0], [1, 2]] output_shape [40, 4, 64] : tensor<40x256xf8E4M3FN> into tensor<40x4x64xf8E4M3FN>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, i, j) -> (m, i, j)>, affine_map<(m, n, i, j) -> (m, i)>, affine_map<(m, n, i, j) -> (n, i, j)>, affine_map<(m, n, i, j) -> (n, i)>, affine_map<(m, n, i, j) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%blocks, %s, %b, %t : tensor<40x4x64xf8E4M3FN>, tensor<40x4xf32>, tensor<72x4x64xf8E4M3FN>, tensor<72x4xf32>) outs(%c : tensor<40x72xf32>) {
  ^bb0(%x: f8E4M3FN, %p: f32, %y: f8E4M3FN, %q: f32, %o: f32):
    %0 = arith.extf %x : f8E4M3FN to f32
    %1 = arith.extf %y : f8E4M3FN to f32
    %2 = arith.mulf %0, %p : f32
    %3 = arith.mulf %1, %q : f32
    %4 = arith.mulf %2, %3 : f32
    %5 = arith.addf %o, %4 : f32
    linalg.yield %5 : f32
  } -> tensor<40x72xf32>
  return %r : tensor<40x72xf32>
}

// Weights of int4 in groups for activations that nobody has quantised; K first.
func.func @int4(%a: tensor<40x128xbf16>, %b: tensor<128x72xi4>, %t: tensor<4x72xbf16>, %c: tensor<40x72xf32>) -> tensor<40x72xf32> {
  %r = linalg.generic {indexing_maps = [#m, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (k floordiv 32, n)>, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b, %t : tensor<40x128xbf16>, tensor<128x72xi4>, tensor<4x72xbf16>) outs(%c : tensor<40x72xf32>) {
  ^bb0(%x: bf16, %y: i4, %q: bf16, %o: f32):
    %0 = arith.extf %x : bf16 to f32
    %1 = arith.sitofp %y : i4 to f32
    %2 = arith.extf %q : bf16 to f32
    %3 = arith.mulf %1, %2 : f32
    %4 = arith.mulf %0, %3 : f32
    %5 = arith.addf %o, %4 : f32
    linalg.yield %5 : f32
  } -> tensor<40x72xf32>
  return %r : tensor<40x72xf32>
}

// AWQ's: zero points that count in steps of their scales.
func.func @zeros(%a: tensor<40x256xf16>, %b: tensor<72x256xi4>, %t: tensor<72x2xf16>, %z: tensor<72x2xi4>, %c: tensor<40x72xf32>) -> tensor<40x72xf32> {
  %r = linalg.generic {indexing_maps = [#m, #n, affine_map<(m, n, k) -> (n, k floordiv 128)>, affine_map<(m, n, k) -> (n, k floordiv 128)>, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b, %t, %z : tensor<40x256xf16>, tensor<72x256xi4>, tensor<72x2xf16>, tensor<72x2xi4>) outs(%c : tensor<40x72xf32>) {
  ^bb0(%x: f16, %y: i4, %q: f16, %w: i4, %o: f32):
    %0 = arith.extf %x : f16 to f32
    %1 = arith.uitofp %y : i4 to f32
    %2 = arith.uitofp %w : i4 to f32
    %3 = arith.subf %1, %2 : f32
    %4 = arith.extf %q : f16 to f32
    %5 = arith.mulf %3, %4 : f32
    %6 = arith.mulf %0, %5 : f32
    %7 = arith.addf %o, %6 : f32
    linalg.yield %7 : f32
  } -> tensor<40x72xf32>
  return %r : tensor<40x72xf32>
}

// Scales of blocks of K that all rows share, beside some of rows.
func.func @shared(%a: tensor<40x256xf8E4M3FN>, %s: tensor<16xf32>, %b: tensor<72x256xi8>, %t: tensor<72xf32>, %c: tensor<40x72xf32>) -> tensor<40x72xf32> {
  %r = linalg.generic {indexing_maps = [#m, affine_map<(m, n, k) -> (k floordiv 16)>, #n, affine_map<(m, n, k) -> (n)>, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %s, %b, %t : tensor<40x256xf8E4M3FN>, tensor<16xf32>, tensor<72x256xi8>, tensor<72xf32>) outs(%c : tensor<40x72xf32>) {
  ^bb0(%x: f8E4M3FN, %p: f32, %y: i8, %q: f32, %o: f32):
    %0 = arith.extf %x : f8E4M3FN to f32
    %1 = arith.sitofp %y : i8 to f32
    %2 = arith.mulf %0, %p : f32
    %3 = arith.mulf %1, %q : f32
    %4 = arith.mulf %2, %3 : f32
    %5 = arith.addf %o, %4 : f32
    linalg.yield %5 : f32
  } -> tensor<40x72xf32>
  return %r : tensor<40x72xf32>
}

// Bytes as they are, and a factor for each column behind the sum.
func.func @bytes(%a: tensor<40x256xbf16>, %b: tensor<72x256xi8>, %t: tensor<72xf32>) -> tensor<40x72xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<40x72xf32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<40x72xf32>) -> tensor<40x72xf32>
  %r = linalg.generic {indexing_maps = [#m, #n, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<40x256xbf16>, tensor<72x256xi8>) outs(%c : tensor<40x72xf32>) {
  ^bb0(%x: bf16, %y: i8, %o: f32):
    %0 = arith.extf %x : bf16 to f32
    %1 = arith.sitofp %y : i8 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %o, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<40x72xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]} ins(%r, %t : tensor<40x72xf32>, tensor<72xf32>) outs(%e : tensor<40x72xf32>) {
  ^bb0(%x: f32, %p: f32, %o: f32):
    %0 = arith.mulf %x, %p : f32
    linalg.yield %0 : f32
  } -> tensor<40x72xf32>
  return %s : tensor<40x72xf32>
}
