// RUN: blockscale-opt %s --split-input-file --verify-diagnostics --blockscale-attach-target=target=sm_100a --blockscale-form-kernels

!q = !blockscale.tensor<16x64xf8E4M3FN, "e8m0_t32">
func.func @plain(%x: tensor<16x64xf32>) -> !q {
  // expected-error@+1 {{a kernel writes scales in layout 'tiled_128x4', as the tensor core reads them, but the result has 'plain'}}
  %0 = blockscale.quantize %x : tensor<16x64xf32> to !q
  return %0 : !q
}

// -----

!q = !blockscale.tensor<16x64xf8E4M3FN>
func.func @unscaled(%x: tensor<16x64xf32>) -> !q {
  // expected-error@+1 {{a kernel quantises to elements with scales of tiles along K, but the result has none}}
  %0 = blockscale.quantize %x : tensor<16x64xf32> to !q
  return %0 : !q
}

// -----

!q = !blockscale.tensor<64x256xf8E4M3FN, "e8m0_t256_t256", layout = tiled_128x4>
func.func @tall(%x: tensor<64x256xf32>) -> !q {
  // expected-error@+1 {{a CTA of a kernel finds scales of at most 1024 blocks of 32 elements, but tiles of 'e8m0_t256_t256' have 2048; nearest legal: tiles of 128 rows}}
  %0 = blockscale.quantize %x : tensor<64x256xf32> to !q
  return %0 : !q
}

// -----

!q = !blockscale.tensor<64x256xf8E4M3FN, "e8m0_t256", layout = tiled_128x4>
func.func @long_columns(%x: tensor<256x64xf32>) -> !q {
  %e = tensor.empty() : tensor<64x256xf32>
  %t = linalg.transpose ins(%x : tensor<256x64xf32>) outs(%e : tensor<64x256xf32>) permutation = [1, 0]
  // expected-error@+1 {{a kernel that quantises a transpose has tiles of at most 128 rows and 128 elements along K, but those of 'e8m0_t256' have 1 and 256}}
  %0 = blockscale.quantize %t : tensor<64x256xf32> to !q
  return %0 : !q
}

// -----

!q = !blockscale.tensor<64x128xf8E4M3FN, "e8m0_t32_t128", layout = tiled_128x4>
func.func @compared_long(%x: tensor<64x128xf32>) -> !q {
  // expected-error@+1 {{a kernel adds up the errors of at most 2048 elements under the rule 'min_error', but tiles of 'e8m0_t32_t128' have 4096; nearest legal: tiles of 16 rows}}
  %0 = blockscale.quantize %x rule(min_error) : tensor<64x128xf32> to !q
  return %0 : !q
}

// -----

!q = !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t128_t32", layout = tiled_128x4>
func.func @compared(%x: tensor<64x64xf32>) -> !q {
  // expected-error@+1 {{a kernel adds up the errors of at most 2048 elements under the rule 'min_error', but tiles of 'e8m0_t128_t32' have 4096; nearest legal: tiles of 64 rows}}
  %0 = blockscale.quantize %x rule(min_error) : tensor<64x64xf32> to !q
  return %0 : !q
}

// -----

!q = !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t0_t32", layout = tiled_128x4>
func.func @columns_share(%x: tensor<64x64xf32>) -> !q {
  // expected-error@+1 {{a kernel chooses scales for tiles along K of one row or several, but those of 'e8m0_t0_t32' are for all rows or all of K; nearest legal: 'e8m0_t32', 'e8m0_t32_t32', 'float32_t0' or 'float32'}}
  %0 = blockscale.quantize %x : tensor<64x64xf32> to !q
  return %0 : !q
}

// -----

!q = !blockscale.tensor<64x128xf8E4M3FN, "e8m0_t32_t16", layout = tiled_128x4>
func.func @short(%x: tensor<64x128xf32>) -> !q {
  // expected-error@+1 {{no instruction of 'sm_100a' reads elements of f8E4M3FN with scales as 'e8m0_t32_t16' says}}
  %0 = blockscale.quantize %x : tensor<64x128xf32> to !q
  return %0 : !q
}

// -----

!q = !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32", layout = tiled_128x4, order = mn_major>
func.func @columns(%x: tensor<64x64xf32>) -> !q {
  // expected-error@+1 {{a kernel writes elements along K, but the result is in order 'mn_major'; nearest legal: 'k_major', from and to which a kernel of 'blockscale.relayout' brings it, as whole functions do by themselves ('--emit=host-llvm --quantize-on-device')}}
  %0 = blockscale.quantize %x : tensor<64x64xf32> to !q
  return %0 : !q
}

// -----

!q = !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32n2m4", layout = tiled_128x4>
func.func @sparse(%x: tensor<64x64xf32>) -> !q {
  // expected-error@+1 {{a kernel writes dense elements, but 'e8m0_t32n2m4' prunes; nearest legal: 'e8m0_t64', of which kernels of 'blockscale.prune' before and of 'blockscale.compress' behind make the other}}
  %0 = blockscale.quantize %x : tensor<64x64xf32> to !q
  return %0 : !q
}

// -----

!q = !blockscale.tensor<64x64xi8, "e8m0_t32", layout = tiled_128x4>
func.func @integers(%x: tensor<64x64xf32>) -> !q {
  // expected-error@+1 {{a kernel quantises elements as products read them, but i8 under 'e8m0_t32' is stored as another format when it is packed; nearest legal: 'float32_t0' or 'float32', or a whole function ('--emit=host-llvm'), whose host quantises}}
  %0 = blockscale.quantize %x : tensor<64x64xf32> to !q
  return %0 : !q
}

// -----

!q = !blockscale.tensor<64x64xf8E4M3FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @no_scheme(%x: tensor<64x64xf32>) -> !q {
  // expected-error@+1 {{no instruction of 'sm_100a' reads elements of f8E4M3FN with scales as 'e4m3fn_t16' says}}
  %0 = blockscale.quantize %x : tensor<64x64xf32> to !q
  return %0 : !q
}

// -----

!q = !blockscale.tensor<64x64xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
func.func @found_and_given(%x: tensor<64x64xf32>, %s: tensor<f32>) -> (!q, !q) {
  %e = tensor.empty() : tensor<64x64xf32>
  %t = linalg.transpose ins(%x : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) permutation = [1, 0]
  %0 = blockscale.quantize %x : tensor<64x64xf32> to !q
  // expected-error@+1 {{a kernel that quantises a matrix and its transpose finds the tensor scale of both or of none, but one has a 'tensor_scale'; nearest legal: the same for the other}}
  %1 = blockscale.quantize %t tensor_scale(%s : tensor<f32>) : tensor<64x64xf32> to !q
  return %0, %1 : !q, !q
}

// -----

!q = !blockscale.tensor<64x64xf4E2M1FN, "multi_bfloat16_e4m3fn_t16", layout = tiled_128x4>
func.func @narrow_factor(%x: tensor<64x64xf32>, %t: tensor<f32>) -> !q {
  // expected-error@+1 {{a kernel writes tensor scales of float32, but those of 'multi_bfloat16_e4m3fn_t16' are others}}
  %0 = blockscale.quantize %x tensor_scale(%t : tensor<f32>) : tensor<64x64xf32> to !q
  return %0 : !q
}

// -----

!q = !blockscale.tensor<4000000000x32xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @tall(%x: tensor<4000000000x32xf32>) -> !q {
  // expected-error@+1 {{its size of 4000000000 exceeds}}
  %0 = blockscale.quantize %x : tensor<4000000000x32xf32> to !q
  return %0 : !q
}

// -----

!q = !blockscale.tensor<1000000000x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @many(%x: tensor<1000000000x128xf32>) -> !q {
  // expected-error@+1 {{its scales would take 4000000000 bytes, more than the}}
  %0 = blockscale.quantize %x : tensor<1000000000x128xf32> to !q
  return %0 : !q
}

// -----

!q = !blockscale.tensor<4x2x64xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @batch_moved(%x: tensor<2x4x64xf32>) -> !q {
  %e = tensor.empty() : tensor<4x2x64xf32>
  %t = linalg.transpose ins(%x : tensor<2x4x64xf32>) outs(%e : tensor<4x2x64xf32>) permutation = [1, 0, 2]
  // expected-error@+1 {{a kernel quantises the transpose of each matrix, but its input is transposed with the permutation [1, 0, 2]; nearest legal: [0, 2, 1]}}
  %0 = blockscale.quantize %t : tensor<4x2x64xf32> to !q
  return %0 : !q
}

// -----

!q = !blockscale.tensor<64x64xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
func.func @two_factors(%x: tensor<64x64xf32>, %f: tensor<f32>, %g: tensor<f32>) -> (!q, !q) {
  %e = tensor.empty() : tensor<64x64xf32>
  %t = linalg.transpose ins(%x : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) permutation = [1, 0]
  %0 = blockscale.quantize %x tensor_scale(%f : tensor<f32>) : tensor<64x64xf32> to !q
  // expected-error@+1 {{a kernel that quantises a matrix and its transpose reads one tensor scale for both, but they have two; nearest legal: the same 'tensor_scale', or functions of their own}}
  %1 = blockscale.quantize %t tensor_scale(%g : tensor<f32>) : tensor<64x64xf32> to !q
  return %0, %1 : !q, !q
}

// -----

!q = !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
func.func @groups(%x: tensor<64x64xbf16>, %ends: tensor<4xi32>) -> !q {
  // expected-error@+1 {{a kernel that only quantises knows no groups; nearest legal: the result of a 'blockscale.matmul' with the same 'groups', which nothing else reads}}
  %0 = blockscale.quantize %x groups(%ends : tensor<4xi32>) : tensor<64x64xbf16> to !q
  return %0 : !q
}

// -----

!q = !blockscale.tensor<64x128xf8E4M3FN, "e5m2_t128">
func.func @narrow_float(%x: tensor<64x128xbf16>) -> !q {
  // expected-error@+1 {{a kernel writes float scales of float32, float16 and bfloat16, but those of 'e5m2_t128' are others; nearest legal: 'float32_t128'}}
  %0 = blockscale.quantize %x : tensor<64x128xbf16> to !q
  return %0 : !q
}

// -----

!q = !blockscale.tensor<64x128xf8E4M3FN, "multi_float32_float32_t128">
func.func @two_floats(%x: tensor<64x128xbf16>, %t: tensor<f32>) -> !q {
  // expected-error@+1 {{a kernel writes no tensor scale beside float scales, but 'multi_float32_float32_t128' has one; nearest legal: 'float32_t128'}}
  %0 = blockscale.quantize %x tensor_scale(%t : tensor<f32>) : tensor<64x128xbf16> to !q
  return %0 : !q
}

// -----

!q = !blockscale.tensor<64x128xf8E4M3FN, "float32_t16">
func.func @short_floats(%x: tensor<64x128xbf16>) -> !q {
  // expected-error@+1 {{tiles of fewer than 32 elements along K are multiplied as bf16, which no kernel writes for 'float32_t16'; nearest legal: 'float32_t32'}}
  %0 = blockscale.quantize %x : tensor<64x128xbf16> to !q
  return %0 : !q
}

// -----

!q = !blockscale.tensor<64x128xi8, "float32_t128">
func.func @integers_under_floats(%x: tensor<64x128xbf16>) -> !q {
  // expected-error@+1 {{i8 under 'float32_t128' is stored as another format when it is packed; nearest legal: 'float32_t0' or 'float32', or a whole function}}
  %0 = blockscale.quantize %x : tensor<64x128xbf16> to !q
  return %0 : !q
}

// -----

!q = !blockscale.tensor<64x128xi4, "float32_t0">
func.func @short_integers(%x: tensor<64x128xbf16>) -> !q {
  // expected-error@+1 {{i4 under 'float32_t0' is stored as another format when it is packed; nearest legal: f8E4M3FN, or a whole function}}
  %0 = blockscale.quantize %x : tensor<64x128xbf16> to !q
  return %0 : !q
}

// -----

!q = !blockscale.tensor<64x128xf8E4M3FN, "e4m3fn">
func.func @whole_matrix_byte(%x: tensor<64x128xbf16>) -> !q {
  // expected-error@+1 {{a kernel chooses scales for tiles along K of one row or several, but those of 'e4m3fn' are for all rows or all of K}}
  %0 = blockscale.quantize %x : tensor<64x128xbf16> to !q
  return %0 : !q
}

// -----

!q = !blockscale.tensor<64x128xi8, "e8m0_t0">
func.func @fixed_point(%x: tensor<64x128xbf16>) -> !q {
  // expected-error@+1 {{i8 under powers of two is a fixed-point number, which no product reads under scales of all of K; nearest legal: 'float32_t0' or 'float32' in place of 'e8m0_t0'}}
  %0 = blockscale.quantize %x : tensor<64x128xbf16> to !q
  return %0 : !q
}

// -----

!q = !blockscale.tensor<64x64xf8E4M3FN, "float32">
func.func @given_and_found(%x: tensor<64x64xbf16>, %s: tensor<f32>) -> (!q, !q) {
  %e = tensor.empty() : tensor<64x64xbf16>
  %t = linalg.transpose ins(%x : tensor<64x64xbf16>) outs(%e : tensor<64x64xbf16>) permutation = [1, 0]
  %0 = blockscale.quantize %x tensor_scale(%s : tensor<f32>) : tensor<64x64xbf16> to !q
  // expected-error@+1 {{a kernel that quantises a matrix and its transpose finds the tensor scale of both or of none, but one has a 'tensor_scale'; nearest legal: the same for the other}}
  %1 = blockscale.quantize %t : tensor<64x64xbf16> to !q
  return %0, %1 : !q, !q
}

// -----

!q = !blockscale.tensor<64x128xf8E4M3FN, "float32_t0">
func.func @compared_rows(%x: tensor<64x128xbf16>) -> !q {
  // expected-error@+1 {{a kernel adds up the errors of at most 2048 elements under the rule 'min_error', but scales of 'float32_t0' are for all of K; nearest legal: the rule 'floor'}}
  %0 = blockscale.quantize %x rule(min_error) : tensor<64x128xbf16> to !q
  return %0 : !q
}

// -----

!q = !blockscale.tensor<64x128xf8E4M3FN, "float32">
func.func @compared_matrix(%x: tensor<64x128xbf16>) -> !q {
  // expected-error@+1 {{a kernel adds up the errors of at most 2048 elements under the rule 'min_error', but scales of 'float32' are for all of a matrix; nearest legal: the rule 'floor'}}
  %0 = blockscale.quantize %x rule(min_error) : tensor<64x128xbf16> to !q
  return %0 : !q
}

// -----

!q = !blockscale.tensor<64x64xf8E4M3FN, "float32_t0">
!m = !blockscale.tensor<64x64xf8E4M3FN, "float32">
func.func @rows_and_matrix(%x: tensor<64x64xbf16>) -> (!q, !m) {
  %e = tensor.empty() : tensor<64x64xbf16>
  %t = linalg.transpose ins(%x : tensor<64x64xbf16>) outs(%e : tensor<64x64xbf16>) permutation = [1, 0]
  %0 = blockscale.quantize %x : tensor<64x64xbf16> to !q
  // expected-error@+1 {{a kernel that quantises a matrix and its transpose finds one scale for all of a matrix, or those for all of a row, but not both; nearest legal: a 'tensor_scale' for the first, or functions of their own}}
  %1 = blockscale.quantize %t : tensor<64x64xbf16> to !m
  return %0, %1 : !q, !m
}

// -----

!q = !blockscale.tensor<64x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @short_for_sparse(%x: tensor<64x128xbf16>) -> !q {
  // expected-error@+1 {{no sparse instruction of 'sm_100a' reads elements of f8E4M3FN with scales as 'e8m0_t32' says, so that no kernel writes them; nearest legal: 'e8m0_t64', or for f4E2M1FN 'multi_float32_e4m3fn_t32'}}
  %0 = blockscale.quantize %x {blockscale.for_sparse} : tensor<64x128xbf16> to !q
  return %0 : !q
}

// -----

!q = !blockscale.tensor<64x128xf8E4M3FN, "float32_t128">
func.func @floats_for_sparse(%x: tensor<64x128xbf16>) -> !q {
  // expected-error@+1 {{no sparse instruction reads float scales, with which 'blockscale.for_sparse' has no meaning}}
  %0 = blockscale.quantize %x {blockscale.for_sparse} : tensor<64x128xbf16> to !q
  return %0 : !q
}

// -----

!q = !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t64", layout = tiled_128x4>
func.func @both_for_sparse(%x: tensor<64x64xf32>) -> (!q, !q) {
  %e = tensor.empty() : tensor<64x64xf32>
  %t = linalg.transpose ins(%x : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) permutation = [1, 0]
  // expected-error@+1 {{a kernel that quantises a matrix and its transpose writes scales for dense instructions, but it has 'blockscale.for_sparse'; nearest legal: functions of their own}}
  %0 = blockscale.quantize %x {blockscale.for_sparse} : tensor<64x64xf32> to !q
  %1 = blockscale.quantize %t : tensor<64x64xf32> to !q
  return %0, %1 : !q, !q
}

// -----

// expected-error@+1 {{'blockscale.for_sparse' is a unit attribute of 'blockscale.quantize' and of the kernel made from it}}
module attributes {blockscale.for_sparse} {}

// -----

!q = !blockscale.tensor<64x128xi4, "e8m0_t32">
func.func @fixed_point(%x: tensor<64x128xbf16>) -> !q {
  // expected-error@+1 {{i4 under 'e8m0_t32' is stored as another format when it is packed; nearest legal: f6E2M3FN, or a whole function}}
  %0 = blockscale.quantize %x : tensor<64x128xbf16> to !q
  return %0 : !q
}

// -----

!q = !blockscale.tensor<64x128xf8E5M2FNUZ, "float32_t128">
func.func @no_negative_zero(%x: tensor<64x128xbf16>) -> !q {
  // expected-error@+1 {{f8E5M2FNUZ under 'float32_t128' is stored as another format when it is packed; nearest legal: f8E5M2, or a whole function}}
  %0 = blockscale.quantize %x : tensor<64x128xbf16> to !q
  return %0 : !q
}

// -----

!q = !blockscale.tensor<64x128xui8, "float32_int16">
func.func @zero_points(%x: tensor<64x128xbf16>) -> !q {
  // expected-error@+1 {{a kernel writes no zero points, which 'float32_int16' has; nearest legal: 'float32_t0' of i8, or a whole function ('--emit=host-llvm'), whose host quantises}}
  %0 = blockscale.quantize %x : tensor<64x128xbf16> to !q
  return %0 : !q
}
