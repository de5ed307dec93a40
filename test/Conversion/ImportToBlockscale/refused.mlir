// RUN: blockscale-opt %s --allow-unregistered-dialect --blockscale-import --split-input-file --verify-diagnostics

func.func @int8(%a: tensor<1x8x64x!tosa.mxint8>, %s: tensor<1x8x2xf8E8M0FNU>) -> tensor<1x8x8xf32> {
  // expected-error @below {{has elements of '!tosa.mxint8', which no instruction multiplies; float elements are taken}}
  %0 = tosa.matmul_t_block_scaled %a, %s, %a, %s {block_size = BLOCK_SIZE_32} : (tensor<1x8x64x!tosa.mxint8>, tensor<1x8x2xf8E8M0FNU>, tensor<1x8x64x!tosa.mxint8>, tensor<1x8x2xf8E8M0FNU>) -> tensor<1x8x8xf32>
  return %0 : tensor<1x8x8xf32>
}

// -----

func.func @unranked(%a: tensor<*xf8E5M2>, %s: tensor<*xf8E8M0FNU>) -> tensor<1x8x8xf32> {
  // expected-error @below {{has a tensor without a rank, 'tensor<*xf8E5M2>'; infer the shapes first (tosa-infer-shapes)}}
  %0 = tosa.matmul_t_block_scaled %a, %s, %a, %s {block_size = BLOCK_SIZE_32} : (tensor<*xf8E5M2>, tensor<*xf8E8M0FNU>, tensor<*xf8E5M2>, tensor<*xf8E8M0FNU>) -> tensor<1x8x8xf32>
  return %0 : tensor<1x8x8xf32>
}

// -----

// What a scale of e4m3 means in this op is not settled upstream.
#m = affine_map<(m, n, k) -> (m, k)>
#n = affine_map<(m, n, k) -> (n, k)>
func.func @unsettled(%a: tensor<48x128xf4E2M1FN>, %s: tensor<48x8xf8E4M3FN>, %c: tensor<48x48xf32>) -> tensor<48x48xf32> {
  %r = linalg.generic {indexing_maps = [#m, affine_map<(m, n, k) -> (m, k floordiv 16)>, #n, affine_map<(m, n, k) -> (n, k floordiv 16)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %s, %a, %s : tensor<48x128xf4E2M1FN>, tensor<48x8xf8E4M3FN>, tensor<48x128xf4E2M1FN>, tensor<48x8xf8E4M3FN>) outs(%c : tensor<48x48xf32>) {
  ^bb0(%x: f4E2M1FN, %p: f8E4M3FN, %y: f4E2M1FN, %q: f8E4M3FN, %o: f32):
    %0 = arith.scaling_extf %x, %p : f4E2M1FN, f8E4M3FN to f32
    // expected-error @below {{scales of another type than f8E8M0FNU have no settled meaning in 'arith.scaling_extf'; write extensions and a multiplication}}
    %1 = arith.scaling_extf %y, %q : f4E2M1FN, f8E4M3FN to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %o, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<48x48xf32>
  return %r : tensor<48x48xf32>
}

// -----

#m = affine_map<(m, n, k) -> (m, k)>
#n = affine_map<(m, n, k) -> (n, k)>
func.func @odd_block(%a: tensor<48x120xf8E4M3FN>, %s: tensor<48x5xf8E8M0FNU>, %c: tensor<48x48xf32>) -> tensor<48x48xf32> {
  // expected-error @below {{has a scale for 24 elements: }}
  %r = linalg.generic {indexing_maps = [#m, affine_map<(m, n, k) -> (m, k floordiv 24)>, #n, affine_map<(m, n, k) -> (n, k floordiv 24)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %s, %a, %s : tensor<48x120xf8E4M3FN>, tensor<48x5xf8E8M0FNU>, tensor<48x120xf8E4M3FN>, tensor<48x5xf8E8M0FNU>) outs(%c : tensor<48x48xf32>) {
  ^bb0(%x: f8E4M3FN, %p: f8E8M0FNU, %y: f8E4M3FN, %q: f8E8M0FNU, %o: f32):
    %0 = arith.scaling_extf %x, %p : f8E4M3FN, f8E8M0FNU to f32
    %1 = arith.scaling_extf %y, %q : f8E4M3FN, f8E8M0FNU to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %o, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<48x48xf32>
  return %r : tensor<48x48xf32>
}

// -----

// Scales that change within a block of elements that share them.
#m = affine_map<(m, n, k, b) -> (m, k, b)>
#n = affine_map<(m, n, k, b) -> (n, k, b)>
func.func @interleaved(%a: tensor<48x4x32xf8E4M3FN>, %s: tensor<48x32xf8E8M0FNU>, %c: tensor<48x48xf32>) -> tensor<48x48xf32> {
  // expected-error @below {{has scales that change within a block of elements that share them}}
  %r = linalg.generic {indexing_maps = [#m, affine_map<(m, n, k, b) -> (m, b)>, #n, affine_map<(m, n, k, b) -> (n, b)>, affine_map<(m, n, k, b) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%a, %s, %a, %s : tensor<48x4x32xf8E4M3FN>, tensor<48x32xf8E8M0FNU>, tensor<48x4x32xf8E4M3FN>, tensor<48x32xf8E8M0FNU>) outs(%c : tensor<48x48xf32>) {
  ^bb0(%x: f8E4M3FN, %p: f8E8M0FNU, %y: f8E4M3FN, %q: f8E8M0FNU, %o: f32):
    %0 = arith.scaling_extf %x, %p : f8E4M3FN, f8E8M0FNU to f32
    %1 = arith.scaling_extf %y, %q : f8E4M3FN, f8E8M0FNU to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %o, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<48x48xf32>
  return %r : tensor<48x48xf32>
}

// -----

#m = affine_map<(m, n, k, b) -> (m, k, b)>
#n = affine_map<(m, n, k, b) -> (n, k, b)>
func.func @unknown_block(%a: tensor<48x4x?xf8E4M3FN>, %s: tensor<48x4xf8E8M0FNU>, %c: tensor<48x48xf32>) -> tensor<48x48xf32> {
  // expected-error @below {{has blocks of a size that is not known before run time; the extent of their loop must be static}}
  %r = linalg.generic {indexing_maps = [#m, affine_map<(m, n, k, b) -> (m, k)>, #n, affine_map<(m, n, k, b) -> (n, k)>, affine_map<(m, n, k, b) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%a, %s, %a, %s : tensor<48x4x?xf8E4M3FN>, tensor<48x4xf8E8M0FNU>, tensor<48x4x?xf8E4M3FN>, tensor<48x4xf8E8M0FNU>) outs(%c : tensor<48x48xf32>) {
  ^bb0(%x: f8E4M3FN, %p: f8E8M0FNU, %y: f8E4M3FN, %q: f8E8M0FNU, %o: f32):
    %0 = arith.scaling_extf %x, %p : f8E4M3FN, f8E8M0FNU to f32
    %1 = arith.scaling_extf %y, %q : f8E4M3FN, f8E8M0FNU to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %o, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<48x48xf32>
  return %r : tensor<48x48xf32>
}

// -----

// Scales that all matrices of a batch share.
#m = affine_map<(b, m, n, k) -> (b, m, k)>
#n = affine_map<(b, m, n, k) -> (b, n, k)>
func.func @shared_scales(%a: tensor<2x48x128xf8E4M3FN>, %s: tensor<2x48x4xf8E8M0FNU>, %t: tensor<48x4xf8E8M0FNU>, %c: tensor<2x48x48xf32>) -> tensor<2x48x48xf32> {
  // expected-error @below {{has scales that all matrices share; each of them has scales of its own}}
  %r = linalg.generic {indexing_maps = [#m, affine_map<(b, m, n, k) -> (b, m, k floordiv 32)>, #n, affine_map<(b, m, n, k) -> (n, k floordiv 32)>, affine_map<(b, m, n, k) -> (b, m, n)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%a, %s, %a, %t : tensor<2x48x128xf8E4M3FN>, tensor<2x48x4xf8E8M0FNU>, tensor<2x48x128xf8E4M3FN>, tensor<48x4xf8E8M0FNU>) outs(%c : tensor<2x48x48xf32>) {
  ^bb0(%x: f8E4M3FN, %p: f8E8M0FNU, %y: f8E4M3FN, %q: f8E8M0FNU, %o: f32):
    %0 = arith.scaling_extf %x, %p : f8E4M3FN, f8E8M0FNU to f32
    %1 = arith.scaling_extf %y, %q : f8E4M3FN, f8E8M0FNU to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %o, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<2x48x48xf32>
  return %r : tensor<2x48x48xf32>
}

// -----

// Tiles of three rows.
#m = affine_map<(m, n, k) -> (m, k)>
#n = affine_map<(m, n, k) -> (n, k)>
func.func @three_rows(%a: tensor<48x128xf8E4M3FN>, %s: tensor<16x1xf32>, %c: tensor<48x48xf32>) -> tensor<48x48xf32> {
  // expected-error @below {{has a scale for 3 x 128 elements: }}
  %r = linalg.generic {indexing_maps = [#m, affine_map<(m, n, k) -> (m floordiv 3, k floordiv 128)>, #n, affine_map<(m, n, k) -> (n floordiv 3, k floordiv 128)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %s, %a, %s : tensor<48x128xf8E4M3FN>, tensor<16x1xf32>, tensor<48x128xf8E4M3FN>, tensor<16x1xf32>) outs(%c : tensor<48x48xf32>) {
  ^bb0(%x: f8E4M3FN, %p: f32, %y: f8E4M3FN, %q: f32, %o: f32):
    %0 = arith.extf %x : f8E4M3FN to f32
    %1 = arith.extf %y : f8E4M3FN to f32
    %2 = arith.mulf %0, %p : f32
    %3 = arith.mulf %1, %q : f32
    %4 = arith.mulf %2, %3 : f32
    %5 = arith.addf %o, %4 : f32
    linalg.yield %5 : f32
  } -> tensor<48x48xf32>
  return %r : tensor<48x48xf32>
}

// -----

func.func @numbers(%a: tensor<48x128xf8E4M3FN>, %s: tensor<48x4xf8E8M0FNU>) -> tensor<48x48xf32> {
  // expected-error @below {{the dimension numbers of a scaled dot product name no dimensions of its operands, or one of them twice}}
  %0 = "stablehlo.composite"(%a, %a, %s, %s) <{composite_attributes = {dimension_numbers = [[[2], [1]], [[], []]]}, decomposition = @xla.scaled_dot, name = "xla.scaled_dot"}> : (tensor<48x128xf8E4M3FN>, tensor<48x128xf8E4M3FN>, tensor<48x4xf8E8M0FNU>, tensor<48x4xf8E8M0FNU>) -> tensor<48x48xf32>
  return %0 : tensor<48x48xf32>
}

// -----

func.func @no_numbers(%a: tensor<48x128xf8E4M3FN>, %s: tensor<48x4xf8E8M0FNU>) -> tensor<48x48xf32> {
  // expected-error @below {{'xla.scaled_dot' needs 'dimension_numbers': [[contracting of lhs, of rhs], [batch of lhs, of rhs]]}}
  %0 = "stablehlo.composite"(%a, %a, %s, %s) <{composite_attributes = {}, name = "xla.scaled_dot"}> : (tensor<48x128xf8E4M3FN>, tensor<48x128xf8E4M3FN>, tensor<48x4xf8E8M0FNU>, tensor<48x4xf8E8M0FNU>) -> tensor<48x48xf32>
  return %0 : tensor<48x48xf32>
}

// -----

func.func @result(%a: tensor<48x128xf8E4M3FN>, %s: tensor<48x4xf8E8M0FNU>) -> tensor<48xf32> {
  // expected-error @below {{the result 'tensor<48xf32>' does not have the rank that follows from the dimension numbers}}
  %0 = "stablehlo.composite"(%a, %a, %s, %s) <{composite_attributes = {dimension_numbers = [[[1], [1]], [[], []]]}, name = "xla.scaled_dot"}> : (tensor<48x128xf8E4M3FN>, tensor<48x128xf8E4M3FN>, tensor<48x4xf8E8M0FNU>, tensor<48x4xf8E8M0FNU>) -> tensor<48xf32>
  return %0 : tensor<48xf32>
}

// -----

func.func @operands(%a: tensor<48x128xf8E4M3FN>) -> tensor<48x48xf32> {
  // expected-error @below {{a scaled dot product has three or four operands and one result, all tensors with ranks}}
  %0 = "stablehlo.composite"(%a, %a) <{composite_attributes = {dimension_numbers = [[[1], [1]], [[], []]]}, name = "xla.scaled_dot"}> : (tensor<48x128xf8E4M3FN>, tensor<48x128xf8E4M3FN>) -> tensor<48x48xf32>
  return %0 : tensor<48x48xf32>
}

// -----

func.func @ranks(%a: tensor<48x128xf8E4M3FN>, %s: tensor<4xf8E8M0FNU>) -> tensor<48x48xf32> {
  // expected-error @below {{operand 'lhs' is 'tensor<48x128xf8E4M3FN>' and its scales are 'tensor<4xf8E8M0FNU>': their ranks differ}}
  %0 = "stablehlo.composite"(%a, %a, %s, %s) <{composite_attributes = {dimension_numbers = [[[1], [1]], [[], []]]}, name = "xla.scaled_dot"}> : (tensor<48x128xf8E4M3FN>, tensor<48x128xf8E4M3FN>, tensor<4xf8E8M0FNU>, tensor<4xf8E8M0FNU>) -> tensor<48x48xf32>
  return %0 : tensor<48x48xf32>
}

// -----

func.func @divide(%a: tensor<48x128xf8E4M3FN>, %s: tensor<48x5xf8E8M0FNU>) -> tensor<48x48xf32> {
  // expected-error @below {{5 scales do not divide 128 elements of the contracted dimension}}
  %0 = "stablehlo.composite"(%a, %a, %s, %s) <{composite_attributes = {dimension_numbers = [[[1], [1]], [[], []]]}, name = "xla.scaled_dot"}> : (tensor<48x128xf8E4M3FN>, tensor<48x128xf8E4M3FN>, tensor<48x5xf8E8M0FNU>, tensor<48x5xf8E8M0FNU>) -> tensor<48x48xf32>
  return %0 : tensor<48x48xf32>
}

// -----

func.func @unknown_k(%a: tensor<48x?xf8E4M3FN>, %s: tensor<48x?xf8E8M0FNU>) -> tensor<48x48xf32> {
  // expected-error @below {{the contracted dimension must be static, since the block size follows from it}}
  %0 = "stablehlo.composite"(%a, %a, %s, %s) <{composite_attributes = {dimension_numbers = [[[1], [1]], [[], []]]}, name = "xla.scaled_dot"}> : (tensor<48x?xf8E4M3FN>, tensor<48x?xf8E4M3FN>, tensor<48x?xf8E8M0FNU>, tensor<48x?xf8E8M0FNU>) -> tensor<48x48xf32>
  return %0 : tensor<48x48xf32>
}

// -----

func.func @rows(%a: tensor<48x128xf8E4M3FN>, %s: tensor<40x4xf8E8M0FNU>, %t: tensor<48x4xf8E8M0FNU>) -> tensor<48x48xf32> {
  // expected-error @below {{operand 'a' is 'tensor<48x128xf8E4M3FN>' and its scales are 'tensor<40x4xf8E8M0FNU>': there are 40 scales for 48 rows or matrices}}
  %0 = "stablehlo.composite"(%a, %a, %s, %t) <{composite_attributes = {dimension_numbers = [[[1], [1]], [[], []]]}, name = "xla.scaled_dot"}> : (tensor<48x128xf8E4M3FN>, tensor<48x128xf8E4M3FN>, tensor<40x4xf8E8M0FNU>, tensor<48x4xf8E8M0FNU>) -> tensor<48x48xf32>
  return %0 : tensor<48x48xf32>
}

// -----

func.func @inner(%a: tensor<48x128xf8E4M3FN>, %b: tensor<48x64xf8E4M3FN>, %s: tensor<48x4xf8E8M0FNU>, %t: tensor<48x2xf8E8M0FNU>) -> tensor<48x48xf32> {
  // expected-error @below {{has operands of K = 128 and K = 64}}
  %0 = "stablehlo.composite"(%a, %b, %s, %t) <{composite_attributes = {dimension_numbers = [[[1], [1]], [[], []]]}, name = "xla.scaled_dot"}> : (tensor<48x128xf8E4M3FN>, tensor<48x64xf8E4M3FN>, tensor<48x4xf8E8M0FNU>, tensor<48x2xf8E8M0FNU>) -> tensor<48x48xf32>
  return %0 : tensor<48x48xf32>
}

// -----

func.func @matrices(%a: tensor<3x48x128xf8E4M3FN>, %b: tensor<2x48x128xf8E4M3FN>, %s: tensor<3x48x4xf8E8M0FNU>, %t: tensor<2x48x4xf8E8M0FNU>) -> tensor<3x48x48xf32> {
  // expected-error @below {{has 3 matrices on one side and 2 on the other}}
  %0 = "stablehlo.composite"(%a, %b, %s, %t) <{composite_attributes = {dimension_numbers = [[[2], [2]], [[0], [0]]]}, name = "xla.scaled_dot"}> : (tensor<3x48x128xf8E4M3FN>, tensor<2x48x128xf8E4M3FN>, tensor<3x48x4xf8E8M0FNU>, tensor<2x48x4xf8E8M0FNU>) -> tensor<3x48x48xf32>
  return %0 : tensor<3x48x48xf32>
}

// -----

func.func @vector(%a: tensor<128xf8E4M3FN>, %b: tensor<48x128xf8E4M3FN>, %s: tensor<4xf8E8M0FNU>, %t: tensor<48x4xf8E8M0FNU>) -> tensor<48xf32> {
  // expected-error @below {{has a vector for an operand; a product has rows on both sides}}
  %0 = "stablehlo.composite"(%a, %b, %s, %t) <{composite_attributes = {dimension_numbers = [[[0], [1]], [[], []]]}, name = "xla.scaled_dot"}> : (tensor<128xf8E4M3FN>, tensor<48x128xf8E4M3FN>, tensor<4xf8E8M0FNU>, tensor<48x4xf8E8M0FNU>) -> tensor<48xf32>
  return %0 : tensor<48xf32>
}

// -----

func.func @float_scales(%a: tensor<48x128xf8E4M3FN>, %s: tensor<48x4xi8>) -> tensor<48x48xf32> {
  // expected-error @below {{has scales of 'i8'; scales are floats, such as f8E8M0FNU}}
  %0 = "stablehlo.composite"(%a, %a, %s, %s) <{composite_attributes = {dimension_numbers = [[[1], [1]], [[], []]]}, name = "xla.scaled_dot"}> : (tensor<48x128xf8E4M3FN>, tensor<48x128xf8E4M3FN>, tensor<48x4xi8>, tensor<48x4xi8>) -> tensor<48x48xf32>
  return %0 : tensor<48x48xf32>
}

// -----

func.func @configuration(%a: tensor<1x48x128xf8E4M3FN>, %s: tensor<1x48x4xf8E8M0FNU>) -> tensor<1x48x48xf32> {
  // expected-error @below {{'__op$block_scaled_dot' needs a 'backend_config' with 'scaled_dot_backend_config' in JSON}}
  %0 = "stablehlo.custom_call"(%a, %a, %s, %s) <{call_target_name = "__op$block_scaled_dot", backend_config = "{]"}> : (tensor<1x48x128xf8E4M3FN>, tensor<1x48x128xf8E4M3FN>, tensor<1x48x4xf8E8M0FNU>, tensor<1x48x4xf8E8M0FNU>) -> tensor<1x48x48xf32>
  return %0 : tensor<1x48x48xf32>
}

// -----

func.func @unknown_batch(%a: tensor<4x8x64xf8E4M3FN>, %s: tensor<4x8x2xf8E8M0FNU>, %b: tensor<?x8x64xf8E4M3FN>, %t: tensor<?x8x2xf8E8M0FNU>) -> tensor<4x8x8xf32> {
  // expected-error @below {{has an unknown number of matrices in 'b_data': one serves all of 'a_data', so that it must be static}}
  %0 = tosa.matmul_t_block_scaled %a, %s, %b, %t {block_size = BLOCK_SIZE_32} : (tensor<4x8x64xf8E4M3FN>, tensor<4x8x2xf8E8M0FNU>, tensor<?x8x64xf8E4M3FN>, tensor<?x8x2xf8E8M0FNU>) -> tensor<4x8x8xf32>
  return %0 : tensor<4x8x8xf32>
}

// -----

func.func @double(%a: tensor<48x128xf8E4M3FN>, %s: tensor<48x4xf8E8M0FNU>) -> tensor<48x48xf64> {
  // expected-error @below {{has a result of 'f64'; products give f32, bf16 or f16}}
  %0 = "stablehlo.composite"(%a, %a, %s, %s) <{composite_attributes = {dimension_numbers = [[[1], [1]], [[], []]]}, name = "xla.scaled_dot"}> : (tensor<48x128xf8E4M3FN>, tensor<48x128xf8E4M3FN>, tensor<48x4xf8E8M0FNU>, tensor<48x4xf8E8M0FNU>) -> tensor<48x48xf64>
  return %0 : tensor<48x48xf64>
}

// -----

// A broadcast to a dimension that there is not.
func.func @places(%a: tensor<8x64xf8E4M3FN>, %s: tensor<8x2xf8E8M0FNU>, %b: tensor<8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = "stablehlo.composite"(%a, %a, %s, %s) <{composite_attributes = {dimension_numbers = [[[1], [1]], [[], []]]}, name = "xla.scaled_dot"}> : (tensor<8x64xf8E4M3FN>, tensor<8x64xf8E4M3FN>, tensor<8x2xf8E8M0FNU>, tensor<8x2xf8E8M0FNU>) -> tensor<8x8xf32>
  // expected-error @below {{has no 'broadcast_dimensions' that fits its operands and result}}
  %1 = "stablehlo.broadcast_in_dim"(%b) <{broadcast_dimensions = array<i64: 7>}> : (tensor<8xf32>) -> tensor<8x8xf32>
  return %0, %1 : tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

func.func @stretch(%a: tensor<8x64xf8E4M3FN>, %s: tensor<8x2xf8E8M0FNU>, %b: tensor<8xf32>) -> (tensor<8x8xf32>, tensor<8x9xf32>) {
  %0 = "stablehlo.composite"(%a, %a, %s, %s) <{composite_attributes = {dimension_numbers = [[[1], [1]], [[], []]]}, name = "xla.scaled_dot"}> : (tensor<8x64xf8E4M3FN>, tensor<8x64xf8E4M3FN>, tensor<8x2xf8E8M0FNU>, tensor<8x2xf8E8M0FNU>) -> tensor<8x8xf32>
  // expected-error @below {{has no 'broadcast_dimensions' that fits its operands and result}}
  %1 = "stablehlo.broadcast_in_dim"(%b) <{broadcast_dimensions = array<i64: 1>}> : (tensor<8xf32>) -> tensor<8x9xf32>
  return %0, %1 : tensor<8x8xf32>, tensor<8x9xf32>
}

// -----

func.func @permutation(%a: tensor<8x64xf8E4M3FN>, %s: tensor<8x2xf8E8M0FNU>, %b: tensor<8x9xf32>) -> (tensor<8x8xf32>, tensor<9x8xf32>) {
  %0 = "stablehlo.composite"(%a, %a, %s, %s) <{composite_attributes = {dimension_numbers = [[[1], [1]], [[], []]]}, name = "xla.scaled_dot"}> : (tensor<8x64xf8E4M3FN>, tensor<8x64xf8E4M3FN>, tensor<8x2xf8E8M0FNU>, tensor<8x2xf8E8M0FNU>) -> tensor<8x8xf32>
  // expected-error @below {{has no 'permutation' that fits its operands and result}}
  %1 = "stablehlo.transpose"(%b) <{permutation = array<i64: 1, 1>}> : (tensor<8x9xf32>) -> tensor<9x8xf32>
  return %0, %1 : tensor<8x8xf32>, tensor<9x8xf32>
}

// -----

func.func @slice(%a: tensor<8x64xf8E4M3FN>, %s: tensor<8x2xf8E8M0FNU>, %b: tensor<8x9xf32>) -> (tensor<8x8xf32>, tensor<8x4xf32>) {
  %0 = "stablehlo.composite"(%a, %a, %s, %s) <{composite_attributes = {dimension_numbers = [[[1], [1]], [[], []]]}, name = "xla.scaled_dot"}> : (tensor<8x64xf8E4M3FN>, tensor<8x64xf8E4M3FN>, tensor<8x2xf8E8M0FNU>, tensor<8x2xf8E8M0FNU>) -> tensor<8x8xf32>
  // expected-error @below {{has no 'start_indices' that fits its operands and result}}
  %1 = "stablehlo.slice"(%b) <{limit_indices = array<i64: 8, 10>, start_indices = array<i64: 0, 6>, strides = array<i64: 1, 1>}> : (tensor<8x9xf32>) -> tensor<8x4xf32>
  return %0, %1 : tensor<8x8xf32>, tensor<8x4xf32>
}

// -----

func.func @join(%a: tensor<8x64xf8E4M3FN>, %s: tensor<8x2xf8E8M0FNU>, %b: tensor<8x9xf32>) -> (tensor<8x8xf32>, tensor<8x12xf32>) {
  %0 = "stablehlo.composite"(%a, %a, %s, %s) <{composite_attributes = {dimension_numbers = [[[1], [1]], [[], []]]}, name = "xla.scaled_dot"}> : (tensor<8x64xf8E4M3FN>, tensor<8x64xf8E4M3FN>, tensor<8x2xf8E8M0FNU>, tensor<8x2xf8E8M0FNU>) -> tensor<8x8xf32>
  // expected-error @below {{has no 'dimension' that fits its operands and result}}
  %1 = "stablehlo.concatenate"(%b) <{dimension = 1 : i64}> : (tensor<8x9xf32>) -> tensor<8x12xf32>
  return %0, %1 : tensor<8x8xf32>, tensor<8x12xf32>
}

// -----

func.func @elements(%a: tensor<8x64xf8E4M3FN>, %s: tensor<8x2xf8E8M0FNU>, %b: tensor<8x9xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = "stablehlo.composite"(%a, %a, %s, %s) <{composite_attributes = {dimension_numbers = [[[1], [1]], [[], []]]}, name = "xla.scaled_dot"}> : (tensor<8x64xf8E4M3FN>, tensor<8x64xf8E4M3FN>, tensor<8x2xf8E8M0FNU>, tensor<8x2xf8E8M0FNU>) -> tensor<8x8xf32>
  // expected-error @below {{changes how many elements there are}}
  %1 = "stablehlo.reshape"(%b) : (tensor<8x9xf32>) -> tensor<8x8xf32>
  return %0, %1 : tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

func.func @value(%a: tensor<8x64xf8E4M3FN>, %s: tensor<8x2xf8E8M0FNU>, %b: tensor<8xf32>) -> (tensor<8x8xf32>, tensor<4xf32>) {
  %0 = "stablehlo.composite"(%a, %a, %s, %s) <{composite_attributes = {dimension_numbers = [[[1], [1]], [[], []]]}, name = "xla.scaled_dot"}> : (tensor<8x64xf8E4M3FN>, tensor<8x64xf8E4M3FN>, tensor<8x2xf8E8M0FNU>, tensor<8x2xf8E8M0FNU>) -> tensor<8x8xf32>
  // expected-error @below {{has no 'value' that fits its operands and result}}
  %1 = "stablehlo.constant"() <{value = dense<1.0> : tensor<8xf32>}> : () -> tensor<4xf32>
  return %0, %1 : tensor<8x8xf32>, tensor<4xf32>
}

// -----

func.func @iota(%a: tensor<8x64xf8E4M3FN>, %s: tensor<8x2xf8E8M0FNU>, %b: tensor<8xf32>) -> (tensor<8x8xf32>, tensor<4xf32>) {
  %0 = "stablehlo.composite"(%a, %a, %s, %s) <{composite_attributes = {dimension_numbers = [[[1], [1]], [[], []]]}, name = "xla.scaled_dot"}> : (tensor<8x64xf8E4M3FN>, tensor<8x64xf8E4M3FN>, tensor<8x2xf8E8M0FNU>, tensor<8x2xf8E8M0FNU>) -> tensor<8x8xf32>
  // expected-error @below {{has no 'iota_dimension' that fits its operands and result}}
  %1 = "stablehlo.iota"() <{iota_dimension = 3 : i64}> : () -> tensor<4xf32>
  return %0, %1 : tensor<8x8xf32>, tensor<4xf32>
}

// -----

func.func @sums(%a: tensor<8x64xf8E4M3FN>, %s: tensor<8x2xf8E8M0FNU>, %b: tensor<8x9xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = "stablehlo.composite"(%a, %a, %s, %s) <{composite_attributes = {dimension_numbers = [[[1], [1]], [[], []]]}, name = "xla.scaled_dot"}> : (tensor<8x64xf8E4M3FN>, tensor<8x64xf8E4M3FN>, tensor<8x2xf8E8M0FNU>, tensor<8x2xf8E8M0FNU>) -> tensor<8x8xf32>
  // expected-error @below {{has no 'dot_dimension_numbers' that fits its operands and result}}
  %1 = "stablehlo.dot_general"(%b, %b) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<8x9xf32>, tensor<8x9xf32>) -> tensor<8x8xf32>
  return %0, %1 : tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

func.func @mixed(%a: tensor<8x64xf8E4M3FN>, %s: tensor<8x2xf8E8M0FNU>, %b: tensor<8x9xi8>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = "stablehlo.composite"(%a, %a, %s, %s) <{composite_attributes = {dimension_numbers = [[[1], [1]], [[], []]]}, name = "xla.scaled_dot"}> : (tensor<8x64xf8E4M3FN>, tensor<8x64xf8E4M3FN>, tensor<8x2xf8E8M0FNU>, tensor<8x2xf8E8M0FNU>) -> tensor<8x8xf32>
  // expected-error @below {{takes floats for floats and integers for integers, not wider than those of its result}}
  %1 = "stablehlo.dot_general"(%b, %b) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>}> : (tensor<8x9xi8>, tensor<8x9xi8>) -> tensor<8x8xf32>
  return %0, %1 : tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

func.func @direction(%a: tensor<8x64xf8E4M3FN>, %s: tensor<8x2xf8E8M0FNU>, %b: tensor<8xf32>) -> (tensor<8x8xf32>, tensor<8xi1>) {
  %0 = "stablehlo.composite"(%a, %a, %s, %s) <{composite_attributes = {dimension_numbers = [[[1], [1]], [[], []]]}, name = "xla.scaled_dot"}> : (tensor<8x64xf8E4M3FN>, tensor<8x64xf8E4M3FN>, tensor<8x2xf8E8M0FNU>, tensor<8x2xf8E8M0FNU>) -> tensor<8x8xf32>
  // expected-error @below {{has no known comparison_direction}}
  %1 = "stablehlo.compare"(%b, %b) <{comparison_direction = #stablehlo<comparison_direction TOTAL>}> : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xi1>
  return %0, %1 : tensor<8x8xf32>, tensor<8xi1>
}

// -----

func.func @infinities(%a: tensor<8x64xf8E4M3FN>, %s: tensor<8x2xf8E8M0FNU>, %b: tensor<8xf32>) -> (tensor<8x8xf32>, tensor<8xf8E4M3>) {
  %0 = "stablehlo.composite"(%a, %a, %s, %s) <{composite_attributes = {dimension_numbers = [[[1], [1]], [[], []]]}, name = "xla.scaled_dot"}> : (tensor<8x64xf8E4M3FN>, tensor<8x64xf8E4M3FN>, tensor<8x2xf8E8M0FNU>, tensor<8x2xf8E8M0FNU>) -> tensor<8x8xf32>
  // expected-error @below {{a conversion to 'f8E4M3', which has infinities, is not taken}}
  %1 = "stablehlo.convert"(%b) : (tensor<8xf32>) -> tensor<8xf8E4M3>
  return %0, %1 : tensor<8x8xf32>, tensor<8xf8E4M3>
}

// -----

func.func @gather_beyond(%a: tensor<8x64xf8E4M3FN>, %s: tensor<8x2xf8E8M0FNU>, %b: tensor<8x9xf32>, %i: tensor<4x1xi32>) -> (tensor<8x8xf32>, tensor<4x9xf32>) {
  %0 = "stablehlo.composite"(%a, %a, %s, %s) <{composite_attributes = {dimension_numbers = [[[1], [1]], [[], []]]}, name = "xla.scaled_dot"}> : (tensor<8x64xf8E4M3FN>, tensor<8x64xf8E4M3FN>, tensor<8x2xf8E8M0FNU>, tensor<8x2xf8E8M0FNU>) -> tensor<8x8xf32>
  // expected-error @below {{has no 'dimension_numbers' and 'slice_sizes' that fit its operands and result}}
  %1 = "stablehlo.gather"(%b, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [2], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 9>}> : (tensor<8x9xf32>, tensor<4x1xi32>) -> tensor<4x9xf32>
  return %0, %1 : tensor<8x8xf32>, tensor<4x9xf32>
}

// -----

func.func @gather_too_large(%a: tensor<8x64xf8E4M3FN>, %s: tensor<8x2xf8E8M0FNU>, %b: tensor<8x9xf32>, %i: tensor<4x1xi32>) -> (tensor<8x8xf32>, tensor<4x9xf32>) {
  %0 = "stablehlo.composite"(%a, %a, %s, %s) <{composite_attributes = {dimension_numbers = [[[1], [1]], [[], []]]}, name = "xla.scaled_dot"}> : (tensor<8x64xf8E4M3FN>, tensor<8x64xf8E4M3FN>, tensor<8x2xf8E8M0FNU>, tensor<8x2xf8E8M0FNU>) -> tensor<8x8xf32>
  // expected-error @below {{has no 'dimension_numbers' and 'slice_sizes' that fit its operands and result}}
  %1 = "stablehlo.gather"(%b, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 10>}> : (tensor<8x9xf32>, tensor<4x1xi32>) -> tensor<4x9xf32>
  return %0, %1 : tensor<8x8xf32>, tensor<4x9xf32>
}

// -----

func.func @gather_components(%a: tensor<8x64xf8E4M3FN>, %s: tensor<8x2xf8E8M0FNU>, %b: tensor<8x9xf32>, %i: tensor<4x1xi32>) -> (tensor<8x8xf32>, tensor<4x9xf32>) {
  %0 = "stablehlo.composite"(%a, %a, %s, %s) <{composite_attributes = {dimension_numbers = [[[1], [1]], [[], []]]}, name = "xla.scaled_dot"}> : (tensor<8x64xf8E4M3FN>, tensor<8x64xf8E4M3FN>, tensor<8x2xf8E8M0FNU>, tensor<8x2xf8E8M0FNU>) -> tensor<8x8xf32>
  // expected-error @below {{has no 'dimension_numbers' and 'slice_sizes' that fit its operands and result}}
  %1 = "stablehlo.gather"(%b, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 9>}> : (tensor<8x9xf32>, tensor<4x1xi32>) -> tensor<4x9xf32>
  return %0, %1 : tensor<8x8xf32>, tensor<4x9xf32>
}

// -----

func.func @gather_vector(%a: tensor<8x64xf8E4M3FN>, %s: tensor<8x2xf8E8M0FNU>, %b: tensor<8x9xf32>, %i: tensor<4x1xi32>) -> (tensor<8x8xf32>, tensor<4x9xf32>) {
  %0 = "stablehlo.composite"(%a, %a, %s, %s) <{composite_attributes = {dimension_numbers = [[[1], [1]], [[], []]]}, name = "xla.scaled_dot"}> : (tensor<8x64xf8E4M3FN>, tensor<8x64xf8E4M3FN>, tensor<8x2xf8E8M0FNU>, tensor<8x2xf8E8M0FNU>) -> tensor<8x8xf32>
  // expected-error @below {{has no 'dimension_numbers' and 'slice_sizes' that fit its operands and result}}
  %1 = "stablehlo.gather"(%b, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 3>, slice_sizes = array<i64: 1, 9>}> : (tensor<8x9xf32>, tensor<4x1xi32>) -> tensor<4x9xf32>
  return %0, %1 : tensor<8x8xf32>, tensor<4x9xf32>
}

// -----

func.func @body(%a: tensor<8x64xf8E4M3FN>, %s: tensor<8x2xf8E8M0FNU>, %b: tensor<8x9xf32>) -> (tensor<8x8xf32>, tensor<8xf32>) {
  %0 = "stablehlo.composite"(%a, %a, %s, %s) <{composite_attributes = {dimension_numbers = [[[1], [1]], [[], []]]}, name = "xla.scaled_dot"}> : (tensor<8x64xf8E4M3FN>, tensor<8x64xf8E4M3FN>, tensor<8x2xf8E8M0FNU>, tensor<8x2xf8E8M0FNU>) -> tensor<8x8xf32>
  %1 = arith.constant dense<0.0> : tensor<f32>
  %2 = "stablehlo.reduce"(%b, %1) <{dimensions = array<i64: 1>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    // expected-error @below {{in the body of a reduction is not taken}}
    %3 = "stablehlo.sine"(%y) : (tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%3) : (tensor<f32>) -> ()
  }) : (tensor<8x9xf32>, tensor<f32>) -> tensor<8xf32>
  return %0, %2 : tensor<8x8xf32>, tensor<8xf32>
}

// -----

func.func @body_gives_none(%a: tensor<8x64xf8E4M3FN>, %s: tensor<8x2xf8E8M0FNU>, %b: tensor<8x9xf32>) -> (tensor<8x8xf32>, tensor<8xf32>) {
  %0 = "stablehlo.composite"(%a, %a, %s, %s) <{composite_attributes = {dimension_numbers = [[[1], [1]], [[], []]]}, name = "xla.scaled_dot"}> : (tensor<8x64xf8E4M3FN>, tensor<8x64xf8E4M3FN>, tensor<8x2xf8E8M0FNU>, tensor<8x2xf8E8M0FNU>) -> tensor<8x8xf32>
  %1 = arith.constant dense<0.0> : tensor<f32>
  // expected-error @below {{has a body that gives other numbers than it takes}}
  %2 = "stablehlo.reduce"(%b, %1) <{dimensions = array<i64: 1>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    "stablehlo.return"() : () -> ()
  }) : (tensor<8x9xf32>, tensor<f32>) -> tensor<8xf32>
  return %0, %2 : tensor<8x8xf32>, tensor<8xf32>
}

// -----

func.func @body_shapes(%a: tensor<8x64xf8E4M3FN>, %s: tensor<8x2xf8E8M0FNU>, %b: tensor<8x9xf32>) -> (tensor<8x8xf32>, tensor<9xf32>) {
  %0 = "stablehlo.composite"(%a, %a, %s, %s) <{composite_attributes = {dimension_numbers = [[[1], [1]], [[], []]]}, name = "xla.scaled_dot"}> : (tensor<8x64xf8E4M3FN>, tensor<8x64xf8E4M3FN>, tensor<8x2xf8E8M0FNU>, tensor<8x2xf8E8M0FNU>) -> tensor<8x8xf32>
  %1 = arith.constant dense<0.0> : tensor<f32>
  // expected-error @below {{of several tensors: their shapes differ, or they have integers without a sign}}
  %2 = "stablehlo.reduce"(%b, %1) <{dimensions = array<i64: 1>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %3 = "stablehlo.multiply"(%y, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %4 = "stablehlo.add"(%x, %3) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%4) : (tensor<f32>) -> ()
  }) : (tensor<8x9xf32>, tensor<f32>) -> tensor<9xf32>
  return %0, %2 : tensor<8x8xf32>, tensor<9xf32>
}

// -----

func.func @loop_without_condition(%a: tensor<8x64xf8E4M3FN>, %s: tensor<8x2xf8E8M0FNU>, %b: tensor<8x9xf32>, %i: tensor<i32>) -> (tensor<8x8xf32>, tensor<8x9xf32>) {
  %0 = "stablehlo.composite"(%a, %a, %s, %s) <{composite_attributes = {dimension_numbers = [[[1], [1]], [[], []]]}, name = "xla.scaled_dot"}> : (tensor<8x64xf8E4M3FN>, tensor<8x64xf8E4M3FN>, tensor<8x2xf8E8M0FNU>, tensor<8x2xf8E8M0FNU>) -> tensor<8x8xf32>
  // expected-error @below {{has a condition or a body that does not take and give what goes through the loop}}
  %1 = "stablehlo.while"(%b) ({
  ^bb0(%x: tensor<8x9xf32>):
    "stablehlo.return"(%x) : (tensor<8x9xf32>) -> ()
  }, {
  ^bb0(%x: tensor<8x9xf32>):
    "stablehlo.return"(%x) : (tensor<8x9xf32>) -> ()
  }) : (tensor<8x9xf32>) -> tensor<8x9xf32>
  return %0, %1 : tensor<8x8xf32>, tensor<8x9xf32>
}

// -----

func.func @loop_without_regions(%a: tensor<8x64xf8E4M3FN>, %s: tensor<8x2xf8E8M0FNU>, %b: tensor<8x9xf32>, %i: tensor<i32>) -> (tensor<8x8xf32>, tensor<8x9xf32>) {
  %0 = "stablehlo.composite"(%a, %a, %s, %s) <{composite_attributes = {dimension_numbers = [[[1], [1]], [[], []]]}, name = "xla.scaled_dot"}> : (tensor<8x64xf8E4M3FN>, tensor<8x64xf8E4M3FN>, tensor<8x2xf8E8M0FNU>, tensor<8x2xf8E8M0FNU>) -> tensor<8x8xf32>
  // expected-error @below {{has a condition or a body that does not take}}
  %1 = "stablehlo.while"(%b) : (tensor<8x9xf32>) -> tensor<8x9xf32>
  return %0, %1 : tensor<8x8xf32>, tensor<8x9xf32>
}

// -----

func.func @slice_starts(%a: tensor<8x64xf8E4M3FN>, %s: tensor<8x2xf8E8M0FNU>, %b: tensor<8x9xf32>, %i: tensor<i32>) -> (tensor<8x8xf32>, tensor<2x3xf32>, tensor<8x9xf32>) {
  %0 = "stablehlo.composite"(%a, %a, %s, %s) <{composite_attributes = {dimension_numbers = [[[1], [1]], [[], []]]}, name = "xla.scaled_dot"}> : (tensor<8x64xf8E4M3FN>, tensor<8x64xf8E4M3FN>, tensor<8x2xf8E8M0FNU>, tensor<8x2xf8E8M0FNU>) -> tensor<8x8xf32>
  // expected-error @below {{has starts that do not fit its operand and result}}
  %1 = "stablehlo.dynamic_slice"(%b, %i) <{slice_sizes = array<i64: 2, 3>}> : (tensor<8x9xf32>, tensor<i32>) -> tensor<2x3xf32>
  %2 = arith.constant dense<0.0> : tensor<9x9xf32>
  // expected-error @below {{has starts that do not fit its operands}}
  %3 = "stablehlo.dynamic_update_slice"(%b, %2, %i, %i) : (tensor<8x9xf32>, tensor<9x9xf32>, tensor<i32>, tensor<i32>) -> tensor<8x9xf32>
  return %0, %1, %3 : tensor<8x8xf32>, tensor<2x3xf32>, tensor<8x9xf32>
}

// -----

func.func @reverse_dimensions(%a: tensor<8x64xf8E4M3FN>, %s: tensor<8x2xf8E8M0FNU>, %b: tensor<8x9xf32>) -> (tensor<8x8xf32>, tensor<8x9xf32>) {
  %0 = "stablehlo.composite"(%a, %a, %s, %s) <{composite_attributes = {dimension_numbers = [[[1], [1]], [[], []]]}, name = "xla.scaled_dot"}> : (tensor<8x64xf8E4M3FN>, tensor<8x64xf8E4M3FN>, tensor<8x2xf8E8M0FNU>, tensor<8x2xf8E8M0FNU>) -> tensor<8x8xf32>
  // expected-error @below {{has no 'dimensions' that fits its operands and result}}
  %1 = "stablehlo.reverse"(%b) <{dimensions = array<i64: 2>}> : (tensor<8x9xf32>) -> tensor<8x9xf32>
  return %0, %1 : tensor<8x8xf32>, tensor<8x9xf32>
}

// -----

func.func @largest(%a: tensor<8x64xf8E4M3FN>, %s: tensor<8x2xf8E8M0FNU>, %b: tensor<8x9xf32>) -> (tensor<8x8xf32>, tensor<8x10xf32>, tensor<8x10xi32>) {
  %0 = "stablehlo.composite"(%a, %a, %s, %s) <{composite_attributes = {dimension_numbers = [[[1], [1]], [[], []]]}, name = "xla.scaled_dot"}> : (tensor<8x64xf8E4M3FN>, tensor<8x64xf8E4M3FN>, tensor<8x2xf8E8M0FNU>, tensor<8x2xf8E8M0FNU>) -> tensor<8x8xf32>
  // expected-error @below {{has no 'k' that fits its operands and result}}
  %1:2 = "chlo.top_k"(%b) <{k = 10 : i64}> : (tensor<8x9xf32>) -> (tensor<8x10xf32>, tensor<8x10xi32>)
  return %0, %1#0, %1#1 : tensor<8x8xf32>, tensor<8x10xf32>, tensor<8x10xi32>
}

// -----

func.func @sort_dimension(%a: tensor<8x64xf8E4M3FN>, %s: tensor<8x2xf8E8M0FNU>, %b: tensor<8x9xf32>) -> (tensor<8x8xf32>, tensor<8x9xf32>) {
  %0 = "stablehlo.composite"(%a, %a, %s, %s) <{composite_attributes = {dimension_numbers = [[[1], [1]], [[], []]]}, name = "xla.scaled_dot"}> : (tensor<8x64xf8E4M3FN>, tensor<8x64xf8E4M3FN>, tensor<8x2xf8E8M0FNU>, tensor<8x2xf8E8M0FNU>) -> tensor<8x8xf32>
  // expected-error @below {{has no 'dimension' that fits its operands and result}}
  %1 = "stablehlo.sort"(%b) <{dimension = 2 : i64}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %2 = "stablehlo.compare"(%x, %y) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
    "stablehlo.return"(%2) : (tensor<i1>) -> ()
  }) : (tensor<8x9xf32>) -> tensor<8x9xf32>
  return %0, %1 : tensor<8x8xf32>, tensor<8x9xf32>
}

// -----

func.func @sort_comparison(%a: tensor<8x64xf8E4M3FN>, %s: tensor<8x2xf8E8M0FNU>, %b: tensor<8x9xf32>) -> (tensor<8x8xf32>, tensor<8x9xf32>) {
  %0 = "stablehlo.composite"(%a, %a, %s, %s) <{composite_attributes = {dimension_numbers = [[[1], [1]], [[], []]]}, name = "xla.scaled_dot"}> : (tensor<8x64xf8E4M3FN>, tensor<8x64xf8E4M3FN>, tensor<8x2xf8E8M0FNU>, tensor<8x2xf8E8M0FNU>) -> tensor<8x8xf32>
  // expected-error @below {{has tensors of different shapes, or no comparison of two numbers of each}}
  %1 = "stablehlo.sort"(%b) <{dimension = 1 : i64}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    "stablehlo.return"(%x) : (tensor<f32>) -> ()
  }) : (tensor<8x9xf32>) -> tensor<8x9xf32>
  return %0, %1 : tensor<8x8xf32>, tensor<8x9xf32>
}

// -----

func.func @sort_body(%a: tensor<8x64xf8E4M3FN>, %s: tensor<8x2xf8E8M0FNU>, %b: tensor<8x9xf32>) -> (tensor<8x8xf32>, tensor<8x9xf32>) {
  %0 = "stablehlo.composite"(%a, %a, %s, %s) <{composite_attributes = {dimension_numbers = [[[1], [1]], [[], []]]}, name = "xla.scaled_dot"}> : (tensor<8x64xf8E4M3FN>, tensor<8x64xf8E4M3FN>, tensor<8x2xf8E8M0FNU>, tensor<8x2xf8E8M0FNU>) -> tensor<8x8xf32>
  %1 = "stablehlo.sort"(%b) <{dimension = 1 : i64}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    // expected-error @below {{in the comparison of a sort is not taken}}
    %2 = "stablehlo.custom_call"(%x, %y) <{call_target_name = "before"}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
    "stablehlo.return"(%2) : (tensor<i1>) -> ()
  }) : (tensor<8x9xf32>) -> tensor<8x9xf32>
  return %0, %1 : tensor<8x8xf32>, tensor<8x9xf32>
}

// -----

func.func @branches(%a: tensor<8x64xf8E4M3FN>, %s: tensor<8x2xf8E8M0FNU>, %b: tensor<8x9xf32>, %i: tensor<i32>) -> (tensor<8x8xf32>, tensor<8x9xf32>, tensor<8x9xf32>) {
  %0 = "stablehlo.composite"(%a, %a, %s, %s) <{composite_attributes = {dimension_numbers = [[[1], [1]], [[], []]]}, name = "xla.scaled_dot"}> : (tensor<8x64xf8E4M3FN>, tensor<8x64xf8E4M3FN>, tensor<8x2xf8E8M0FNU>, tensor<8x2xf8E8M0FNU>) -> tensor<8x8xf32>
  // expected-error @below {{has no number to choose by, or a branch that does not give its results}}
  %1 = "stablehlo.case"(%i) ({
    "stablehlo.return"(%b) : (tensor<8x9xf32>) -> ()
  }, {
    "stablehlo.return"() : () -> ()
  }) : (tensor<i32>) -> tensor<8x9xf32>
  // expected-error @below {{has no number to choose by}}
  %2 = "stablehlo.if"(%i) ({
    "stablehlo.return"(%b) : (tensor<8x9xf32>) -> ()
  }, {
    "stablehlo.return"(%b) : (tensor<8x9xf32>) -> ()
  }) : (tensor<i32>) -> tensor<8x9xf32>
  return %0, %1, %2 : tensor<8x8xf32>, tensor<8x9xf32>, tensor<8x9xf32>
}
