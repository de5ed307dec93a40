// Structured-sparse operands that no instruction executes.

// RUN: blockscale-opt %s -split-input-file -verify-diagnostics -blockscale-legalize-scales

// Rows of 'b' become those of the instruction, and what covers pruned elements is its.
!sparse_b_a = !blockscale.tensor<128x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!sparse_b_b = !blockscale.tensor<128x256xf8E4M3FN, "e8m0_t32n2m4", layout = tiled_128x4>
func.func @sparse_b(%a: !sparse_b_a, %b: !sparse_b_b) -> tensor<128x128xf32> {
  // expected-error @below {{found ue8m0 per 32 and ue8m0 per 64 elements of K; one scale of a sparse 'b' covers its pruned elements too, so quantize 'a' in tiles of 64; or multiply it densely with 'dense-fallback'}}
  %0 = blockscale.matmul %a, %b : !sparse_b_a, !sparse_b_b -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// -----

!both_sparse_a = !blockscale.tensor<128x256xf8E4M3FN, "e8m0_t32n2m4", layout = tiled_128x4>
!both_sparse_b = !blockscale.tensor<128x256xf8E4M3FN, "e8m0_t32n2m4", layout = tiled_128x4>
func.func @both_sparse(%a: !both_sparse_a, %b: !both_sparse_b) -> tensor<128x128xf32> {
  // expected-error @below {{operand 'b' is sparse, and so is 'a', but an instruction skips what one of both prunes; expected a dense 'a' or 'b'; or multiply it densely with 'dense-fallback'}}
  %0 = blockscale.matmul %a, %b : !both_sparse_a, !both_sparse_b -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// -----

!pattern_a = !blockscale.tensor<128x256xf8E4M3FN, "e8m0_t32n4m8", layout = tiled_128x4>
!pattern_b = !blockscale.tensor<128x256xf8E4M3FN, "e8m0_t64", layout = tiled_128x4>
func.func @pattern(%a: !pattern_a, %b: !pattern_b) -> tensor<128x128xf32> {
  // expected-error-re @below {{operand 'a' keeps 4 of 8, which no instruction skips; expected 2 of 4, 1 of 2 or at most 2 of more (kind mxf8f6f4), or 4 of 8 in pairs of f4E2M1FN (kinds mxf4 and mxf4nvf4), or dense elements, whose values 'blockscale.prune' may have pruned so; or multiply it densely with 'dense-fallback'{{$}}}}
  %0 = blockscale.matmul %a, %b : !pattern_a, !pattern_b -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// -----

!wide_pattern_a = !blockscale.tensor<128x256xf4E2M1FN, "e8m0_t32n8m16", layout = tiled_128x4>
!wide_pattern_b = !blockscale.tensor<128x256xf4E2M1FN, "e8m0_t64", layout = tiled_128x4>
func.func @wide_pattern(%a: !wide_pattern_a, %b: !wide_pattern_b) -> tensor<128x128xf32> {
  // expected-error @below {{operand 'a' keeps 8 of 16, which no instruction skips}}
  %0 = blockscale.matmul %a, %b : !wide_pattern_a, !wide_pattern_b -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// -----

!nvfp4_2_of_4_a = !blockscale.tensor<128x256xf4E2M1FN, "e4m3fn_t16n2m4", layout = tiled_128x4>
!nvfp4_2_of_4_b = !blockscale.tensor<128x256xf4E2M1FN, "e4m3fn_t32", layout = tiled_128x4>
func.func @nvfp4_2_of_4(%a: !nvfp4_2_of_4_a, %b: !nvfp4_2_of_4_b) -> tensor<128x128xf32> {
  // expected-error @below {{operand 'a' keeps 2:4, but kind 'mxf4nvf4', which has its scales, skips 4:8 in pairs}}
  %0 = blockscale.matmul %a, %b : !nvfp4_2_of_4_a, !nvfp4_2_of_4_b -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// -----

!kind_of_pattern_a = !blockscale.tensor<128x256xf4E2M1FN, "e8m0_t32n4m8", layout = tiled_128x4>
!kind_of_pattern_b = !blockscale.tensor<128x256xf4E2M1FN, "e8m0_t64", layout = tiled_128x4>
func.func @kind_of_pattern(%a: !kind_of_pattern_a, %b: !kind_of_pattern_b) -> tensor<128x128xf32> {
  // expected-error @below {{names kind 'mxf8f6f4', which does not multiply these operands; legal kinds are 'mxf4', 'mxf4nvf4'}}
  %0 = blockscale.matmul %a, %b mma(<kind = mxf8f6f4, a = e2m1, b = e2m1, scale = ue8m0, block = 32>) : !kind_of_pattern_a, !kind_of_pattern_b -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// -----

!dense_blocks_of_b_a = !blockscale.tensor<128x256xf8E4M3FN, "e8m0_t32n2m4", layout = tiled_128x4>
!dense_blocks_of_b_b = !blockscale.tensor<128x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @dense_blocks_of_b(%a: !dense_blocks_of_b_a, %b: !dense_blocks_of_b_b) -> tensor<128x128xf32> {
  // expected-error @below {{one instruction takes one scale format and block for both operands; found ue8m0 per 64 and ue8m0 per 32 elements of K; one scale of a sparse 'a' covers its pruned elements too, so quantize 'b' in tiles of 64; or multiply it densely with 'dense-fallback'}}
  %0 = blockscale.matmul %a, %b : !dense_blocks_of_b_a, !dense_blocks_of_b_b -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// -----

!dense_nvfp4_blocks_of_b_a = !blockscale.tensor<128x256xf4E2M1FN, "e4m3fn_t16n4m8", layout = tiled_128x4>
!dense_nvfp4_blocks_of_b_b = !blockscale.tensor<128x256xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @dense_nvfp4_blocks_of_b(%a: !dense_nvfp4_blocks_of_b_a, %b: !dense_nvfp4_blocks_of_b_b) -> tensor<128x128xf32> {
  // expected-error @below {{found ue4m3 per 32 and ue4m3 per 16 elements of K; one scale of a sparse 'a' covers its pruned elements too, so quantize 'b' in tiles of 32}}
  %0 = blockscale.matmul %a, %b : !dense_nvfp4_blocks_of_b_a, !dense_nvfp4_blocks_of_b_b -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// -----

!unpaired_x = !blockscale.tensor<128x256xf4E2M1FN, "e8m0_t64", layout = tiled_128x4>
!unpaired_a = !blockscale.tensor<128x256xf4E2M1FN, "e8m0_t32n4m8", layout = tiled_128x4>
func.func @unpaired(%x: tensor<128x256xf32>, %b: !unpaired_x) -> tensor<128x128xf32> {
  %p = blockscale.prune %x keep 4 of 8 : tensor<128x256xf32>
  %q = blockscale.quantize %p : tensor<128x256xf32> to !unpaired_x
  %a = blockscale.compress %q : !unpaired_x to !unpaired_a
  // expected-error @below {{operand 'a' was pruned to 4 of 8 single elements, but kinds mxf4 and mxf4nvf4 skip aligned pairs; expected 'keep 4 of 8 pairs'; or multiply it densely with 'dense-fallback'}}
  %0 = blockscale.matmul %a, %b : !unpaired_a, !unpaired_x -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// -----

// Three of the first four pairs of row 0 are not zero.
!constant_x = !blockscale.tensor<1x64xf4E2M1FN, "e8m0_t64", layout = tiled_128x4>
!constant_a = !blockscale.tensor<1x64xf4E2M1FN, "e8m0_t32n4m8", layout = tiled_128x4>
func.func @constant(%s: tensor<1x1x32x16xf8E8M0FNU>, %b: !constant_x) -> tensor<1x1xf32> {
  %d = arith.constant dense<[[1.0, 0.0, 0.0, 2.0, 3.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]]> : tensor<1x64xf4E2M1FN>
  %q = blockscale.assemble %d, %s : tensor<1x64xf4E2M1FN>, tensor<1x1x32x16xf8E8M0FNU> to !constant_x
  %a = blockscale.compress %q : !constant_x to !constant_a
  // expected-error @below {{operand 'a' holds constants that break its pattern: row 0: }}
  %0 = blockscale.matmul %a, %b : !constant_a, !constant_x -> tensor<1x1xf32>
  return %0 : tensor<1x1xf32>
}

// -----

!short_tiles_a = !blockscale.tensor<128x256xf8E4M3FN, "n2m4", layout = tiled_128x4>
!short_tiles_b = !blockscale.tensor<128x256xf8E4M3FN, "float32_t32">
func.func @short_tiles(%a: !short_tiles_a, %b: !short_tiles_b) -> tensor<128x128xf32> {
  // expected-error @below {{scales of tiles of 32 elements along K multiply sums in registers, and an instruction that skips what 'a' prunes adds up 64; expected tiles of 64 or more; or multiply it densely with 'dense-fallback'}}
  %0 = blockscale.matmul %a, %b : !short_tiles_a, !short_tiles_b -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// -----

!ones_a = !blockscale.tensor<128x256xf8E5M2, "n1m2", layout = tiled_128x4>
!ones_b = !blockscale.tensor<128x256xf6E3M2FN, "e8m0_t32", layout = tiled_128x4>
func.func @ones(%a: !ones_a, %b: !ones_b) -> tensor<128x128xf32> {
  // expected-error @below {{operand 'b' has scales of tiles of 32 elements along K, and an instruction that skips what 'a' prunes reads one for each 64, pruned ones included; expected tiles of 64 or more; or multiply it densely with 'dense-fallback'}}
  %0 = blockscale.matmul %a, %b : !ones_a, !ones_b -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}
