// Operands without scales that no instruction multiplies.

// RUN: split-file %s %t
// RUN: blockscale-opt %t/sm_100a.mlir -split-input-file -verify-diagnostics -blockscale-legalize-scales
// RUN: blockscale-opt %t/sm_103a.mlir -split-input-file -verify-diagnostics -blockscale-attach-target=target=sm_103a -blockscale-legalize-scales
// RUN: blockscale-opt %t/sm_120a.mlir -split-input-file -verify-diagnostics -blockscale-attach-target=target=sm_120a -blockscale-legalize-scales
// RUN: blockscale-opt %t/fallback.mlir -split-input-file -verify-diagnostics -blockscale-attach-target=target=sm_103a -blockscale-legalize-scales=dense-fallback

//--- sm_100a.mlir

!a = !blockscale.tensor<64x256xf16, "n2m4", layout = tiled_128x4>
!b = !blockscale.tensor<128x256xbf16>
func.func @mixed_halves(%a: !a, %b: !b) -> tensor<64x128xf32> {
  // expected-error @below {{'blockscale.matmul' op type 'bf16' of B with 'f16' of A is not legal for 'f16' on 'sm_100a': expected f16; nearest legal: B = f16}}
  %0 = blockscale.matmul %a, %b : !a, !b -> tensor<64x128xf32>
  return %0 : tensor<64x128xf32>
}

// -----

!a = !blockscale.tensor<64x256xi8, "n2m4", layout = tiled_128x4>
!b = !blockscale.tensor<128x256xtf32>
func.func @integer_and_float(%a: !a, %b: !b) -> tensor<64x128xf32> {
  // expected-error @below {{type 'tf32' of B with 'bf16' of A is not legal for 'f16' on 'sm_100a': expected bf16; nearest legal: B = bf16; the elements of 'a', 'i8', are multiplied as bf16}}
  %0 = blockscale.matmul %a, %b : !a, !b -> tensor<64x128xf32>
  return %0 : tensor<64x128xf32>
}

// -----

!a = !blockscale.tensor<64x256xi8, "n2m4", layout = tiled_128x4>
!b = !blockscale.tensor<128x256xf8E4M3FN, "e8m0_t64", layout = tiled_128x4>
func.func @scaled_b(%a: !a, %b: !b) -> tensor<64x128xf32> {
  // expected-error @below {{'blockscale.matmul' op operand 'b' has scales of tiles along K and 'a' has none; beside such scales elements without have scales of 1 where they are f8E4M3FN, f8E5M2, f6E2M3FN, f6E3M2FN or f4E2M1FN, found int8}}
  %0 = blockscale.matmul %a, %b : !a, !b -> tensor<64x128xf32>
  return %0 : tensor<64x128xf32>
}

// -----

!a = !blockscale.tensor<64x256xf8E4M3FN, "e8m0_t32n2m4", layout = tiled_128x4>
!b = !blockscale.tensor<128x256xtf32>
func.func @scaled_a(%a: !a, %b: !b) -> tensor<64x128xf32> {
  // expected-error @below {{operand 'a' has scales of tiles along K and 'b' has none; beside such scales elements without have scales of 1 where they are f8E4M3FN, f8E5M2, f6E2M3FN, f6E3M2FN or f4E2M1FN, found tf32}}
  %0 = blockscale.matmul %a, %b : !a, !b -> tensor<64x128xf32>
  return %0 : tensor<64x128xf32>
}

// -----

!a = !blockscale.tensor<64x256xf16, "n2m4">
!b = !blockscale.tensor<128x256xf16>
func.func @plain_metadata(%a: !a, %b: !b) -> tensor<64x128xf32> {
  // expected-error @below {{operand 'a' has its metadata in layout 'plain'; the tensor core reads 'tiled_128x4' (the host packs them so; name that layout in the type)}}
  %0 = blockscale.matmul %a, %b : !a, !b -> tensor<64x128xf32>
  return %0 : tensor<64x128xf32>
}

// -----

!a = !blockscale.tensor<64x256xf16, "n2m4", layout = tiled_128x4>
!b = !blockscale.tensor<128x256xf16, "n2m4", layout = tiled_128x4>
func.func @both_sparse(%a: !a, %b: !b) -> tensor<64x128xf32> {
  // expected-error @below {{operand 'b' is sparse, and so is 'a', but an instruction skips what one of both prunes; expected a dense 'a' or 'b'}}
  %0 = blockscale.matmul %a, %b : !a, !b -> tensor<64x128xf32>
  return %0 : tensor<64x128xf32>
}

// -----

!a = !blockscale.tensor<64x256xtf32, "n2m4", layout = tiled_128x4>
!b = !blockscale.tensor<128x256xtf32>
func.func @tf32_two_of_four(%a: !a, %b: !b) -> tensor<64x128xf32> {
  // expected-error @below {{operand 'a' keeps 2 of 4, but kind tf32 skips 1 of 2}}
  %0 = blockscale.matmul %a, %b : !a, !b -> tensor<64x128xf32>
  return %0 : tensor<64x128xf32>
}

// -----

!a = !blockscale.tensor<64x256xbf16, "n3m4", layout = tiled_128x4>
!b = !blockscale.tensor<128x256xbf16>
func.func @three_of_four(%a: !a, %b: !b) -> tensor<64x128xf32> {
  // expected-error @below {{operand 'a' keeps 3 of 4, but the kinds f16, f8f6f4 and i8 skip 2 of 4 (and 1 of 2, and at most 2 of more); or multiply it densely with 'dense-fallback'}}
  %0 = blockscale.matmul %a, %b : !a, !b -> tensor<64x128xf32>
  return %0 : tensor<64x128xf32>
}

// -----

// Only the kinds with scales read packed pairs.
!a = !blockscale.tensor<64x256xf4E2M1FN, "n4m8", layout = tiled_128x4>
!b = !blockscale.tensor<128x256xf4E2M1FN>
func.func @pairs(%a: !a, %b: !b) -> tensor<64x128xf32> {
  // expected-error @below {{operand 'a' keeps 4 of 8, but the kinds f16, f8f6f4 and i8 skip 2 of 4 (and 1 of 2, and at most 2 of more); or multiply it densely with 'dense-fallback'}}
  %0 = blockscale.matmul %a, %b : !a, !b -> tensor<64x128xf32>
  return %0 : tensor<64x128xf32>
}

// -----

!a = !blockscale.tensor<64x256xf8E4M3B11FNUZ, "n2m4", layout = tiled_128x4>
!b = !blockscale.tensor<128x256xf8E4M3FN>
func.func @element(%a: !a, %b: !b) -> tensor<64x128xf32> {
  // expected-error @below {{operand 'a' has elements of 'f8E4M3B11FNUZ', which no kind multiplies}}
  %0 = blockscale.matmul %a, %b : !a, !b -> tensor<64x128xf32>
  return %0 : tensor<64x128xf32>
}

// -----

!a = !blockscale.tensor<64x256xf16, "n2m4", layout = tiled_128x4>
!b = !blockscale.tensor<128x256xf16>
func.func @named_kind(%a: !a, %b: !b) -> tensor<64x128xf32> {
  // expected-error @below {{names kind 'tf32', which does not multiply these operands; legal kinds are 'f16'}}
  %0 = blockscale.matmul %a, %b mma(<kind = tf32, a = tf32, b = tf32>) : !a, !b -> tensor<64x128xf32>
  return %0 : tensor<64x128xf32>
}

//--- sm_103a.mlir

!a = !blockscale.tensor<64x256xi8, "n2m4", layout = tiled_128x4>
!b = !blockscale.tensor<128x256xui8>
func.func @i8(%a: !a, %b: !b) -> tensor<64x128xi32> {
  // expected-error @below {{kind 'i8' is not legal on 'sm_103a'}}
  %0 = blockscale.matmul %a, %b : !a, !b -> tensor<64x128xi32>
  return %0 : tensor<64x128xi32>
}

//--- sm_120a.mlir

!a = !blockscale.tensor<64x256xf16, "n2m4", layout = tiled_128x4>
!b = !blockscale.tensor<128x256xf16>
func.func @f16(%a: !a, %b: !b) -> tensor<64x128xf32> {
  // expected-error @below {{a sparse 'a' of kind 'f16' is lowered to tcgen05.mma only, which 'sm_120a' does not have; it is legal on sm_100a, sm_103a, sm_107a, sm_110a, sm_100f, sm_103f, sm_107f, sm_110f, and on 'sm_120a' the kinds with scales are: mxf4, mxf4nvf4, mxf8f6f4, which take float elements of at most 8 bits without scales too}}
  %0 = blockscale.matmul %a, %b : !a, !b -> tensor<64x128xf32>
  return %0 : tensor<64x128xf32>
}

// -----

!a = !blockscale.tensor<64x256xi8, "n2m4", layout = tiled_128x4>
!b = !blockscale.tensor<128x256xi8>
func.func @i8(%a: !a, %b: !b) -> tensor<64x128xi32> {
  // expected-error @below {{a sparse 'a' of kind 'i8' is lowered to tcgen05.mma only, which 'sm_120a' does not have; it is legal on sm_100a, sm_110a, and on 'sm_120a'}}
  %0 = blockscale.matmul %a, %b : !a, !b -> tensor<64x128xi32>
  return %0 : tensor<64x128xi32>
}

//--- fallback.mlir

// There is no dense instruction either.
!a = !blockscale.tensor<64x256xi8, "n2m4", layout = tiled_128x4>
!b = !blockscale.tensor<128x256xui8>
func.func @i8(%a: !a, %b: !b) -> tensor<64x128xi32> {
  // expected-error @below {{kind 'i8' is not legal on 'sm_103a'}}
  %0 = blockscale.matmul %a, %b : !a, !b -> tensor<64x128xi32>
  return %0 : tensor<64x128xi32>
}
