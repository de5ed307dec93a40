// Parts, layouts and sparsity that a scaled tensor does not have.

// RUN: blockscale-opt %s -split-input-file -verify-diagnostics

//===----------------------------------------------------------------------===//
// assemble, disassemble
//===----------------------------------------------------------------------===//

func.func @assemble_scales(%d: tensor<64x64xf8E4M3FN>, %s: tensor<64x4xf8E8M0FNU>) {
  // expected-error @below {{expected operand 'scales' of type 'tensor<64x2xf8E8M0FNU>', found 'tensor<64x4xf8E8M0FNU>'}}
  %0 = blockscale.assemble %d, %s : tensor<64x64xf8E4M3FN>, tensor<64x4xf8E8M0FNU> to !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32">
  return
}

// -----

func.func @assemble_layout(%d: tensor<64x64xf8E4M3FN>, %s: tensor<64x2xf8E8M0FNU>) {
  // expected-error @below {{expected operand 'scales' of type 'tensor<1x1x32x16xf8E8M0FNU>', found 'tensor<64x2xf8E8M0FNU>'}}
  %0 = blockscale.assemble %d, %s : tensor<64x64xf8E4M3FN>, tensor<64x2xf8E8M0FNU> to !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
  return
}

// -----

func.func @assemble_data(%d: tensor<64x64xf8E5M2>, %s: tensor<64x2xf8E8M0FNU>) {
  // expected-error @below {{expected operand 'data' of type 'tensor<64x64xf8E4M3FN>', found 'tensor<64x64xf8E5M2>'}}
  %0 = blockscale.assemble %d, %s : tensor<64x64xf8E5M2>, tensor<64x2xf8E8M0FNU> to !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32">
  return
}

// -----

func.func @assemble_no_tensor_scale(%d: tensor<64x64xf4E2M1FN>, %s: tensor<64x4xf8E4M3FN>) {
  // expected-error @below {{spec 'multi_float32_e4m3fn_t16' needs operand 'tensor_scale' of type 'tensor<f32>'}}
  %0 = blockscale.assemble %d, %s : tensor<64x64xf4E2M1FN>, tensor<64x4xf8E4M3FN> to !blockscale.tensor<64x64xf4E2M1FN, "multi_float32_e4m3fn_t16">
  return
}

// -----

func.func @assemble_zeros(%d: tensor<64x64xf8E4M3FN>, %s: tensor<64x2xf8E8M0FNU>) {
  // expected-error @below {{operand 'zeros' is given, but spec 'e8m0_t32' has none}}
  %0 = blockscale.assemble %d, %s zeros(%s : tensor<64x2xf8E8M0FNU>) : tensor<64x64xf8E4M3FN>, tensor<64x2xf8E8M0FNU> to !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32">
  return
}

// -----

func.func @assemble_metadata(%d: tensor<64x32xf8E4M3FN>, %s: tensor<64x1xf8E8M0FNU>, %m: tensor<64x16xi8>) {
  // expected-error @below {{expected operand 'metadata' of type 'tensor<64x8xi8>', found 'tensor<64x16xi8>'}}
  %0 = blockscale.assemble %d, %s metadata(%m : tensor<64x16xi8>) : tensor<64x32xf8E4M3FN>, tensor<64x1xf8E8M0FNU> to !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32n2m4">
  return
}

// -----

// Stored as 2 of 4.
func.func @assemble_padded(%d: tensor<64x16xf8E4M3FN>, %s: tensor<64x1xf8E8M0FNU>, %m: tensor<64x8xi8>) {
  // expected-error @below {{expected operand 'data' of type 'tensor<64x32xf8E4M3FN>', found 'tensor<64x16xf8E4M3FN>'}}
  %0 = blockscale.assemble %d, %s metadata(%m : tensor<64x8xi8>) : tensor<64x16xf8E4M3FN>, tensor<64x1xf8E8M0FNU> to !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t16n1m4">
  return
}

// -----

// Masks lie row by row in every layout.
func.func @assemble_mask(%d: tensor<64x32xf8E4M3FN>, %s: tensor<1x1x32x16xf8E8M0FNU>, %m: tensor<1x1x128x16xi8>) {
  // expected-error @below {{expected operand 'metadata' of type 'tensor<64x8xi8>', found 'tensor<1x1x128x16xi8>'}}
  %0 = blockscale.assemble %d, %s metadata(%m : tensor<1x1x128x16xi8>) : tensor<64x32xf8E4M3FN>, tensor<1x1x32x16xf8E8M0FNU> to !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32n8m16", layout = tiled_128x4>
  return
}

// -----

func.func @disassemble_format(%q: !blockscale.tensor<64x64xf8E4M3FN, "e5m3b16fn_t32">) {
  // expected-error @below {{format 'e5m3b16fn' in 'e5m3b16fn_t32' has no builtin type}}
  %0:2 = blockscale.disassemble %q : !blockscale.tensor<64x64xf8E4M3FN, "e5m3b16fn_t32">
  return
}

// -----

//===----------------------------------------------------------------------===//
// relayout
//===----------------------------------------------------------------------===//

func.func @relayout_element(%q: !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32">) {
  // expected-error @below {{changes no element type, but 'f8E4M3FN' became 'f8E5M2'}}
  %0 = blockscale.relayout %q : !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32"> to !blockscale.tensor<64x64xf8E5M2, "e8m0_t32">
  return
}

// -----

func.func @relayout_spec(%q: !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32">) {
  // expected-error @below {{changes no scale spec, but 'e8m0_t32' became 'e8m0_t64'}}
  %0 = blockscale.relayout %q : !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32"> to !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t64">
  return
}

// -----

func.func @relayout_shape(%q: !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32">) {
  // expected-error @below {{expected a result of the input's shape [64, 64], found [?, 128]}}
  %0 = blockscale.relayout %q : !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32"> to !blockscale.tensor<?x128xf8E4M3FN, "e8m0_t32">
  return
}

// -----

//===----------------------------------------------------------------------===//
// prune, compress
//===----------------------------------------------------------------------===//

func.func @prune_group(%x: tensor<64x64xf32>) {
  // expected-error @below {{expected groups of 2, 4, 8 or 16 elements, found 5}}
  %0 = blockscale.prune %x keep 2 of 5 : tensor<64x64xf32>
  return
}

// -----

func.func @prune_keep(%x: tensor<64x64xf32>) {
  // expected-error @below {{expected to keep 1 to 3 of 4 elements, found 4}}
  %0 = blockscale.prune %x keep 4 of 4 : tensor<64x64xf32>
  return
}

// -----

func.func @prune_pairs(%x: tensor<64x64xf32>) {
  // expected-error @below {{keeps whole pairs, but 3 is odd}}
  %0 = blockscale.prune %x keep 3 of 8 pairs : tensor<64x64xf32>
  return
}

// -----

func.func @prune_divisible(%x: tensor<64x60xf32>) {
  // expected-error @below {{expected the last dimension to be a multiple of the group of 8, found 60}}
  %0 = blockscale.prune %x keep 4 of 8 : tensor<64x60xf32>
  return
}

// -----

func.func @compress_element(%q: !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t64">) {
  // expected-error @below {{changes no element type, but 'f8E4M3FN' became 'f8E5M2'}}
  %0 = blockscale.compress %q : !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t64"> to !blockscale.tensor<64x64xf8E5M2, "e8m0_t32n2m4">
  return
}

// -----

func.func @compress_layout(%q: !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t64">) {
  // expected-error @below {{changes neither 'layout' nor 'order'; 'blockscale.relayout' does}}
  %0 = blockscale.compress %q : !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t64"> to !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32n2m4", layout = tiled_128x4>
  return
}

// -----

func.func @compress_dense(%q: !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t64">) {
  // expected-error @below {{expected a result with a sparse spec, found spec 'e8m0_t32'}}
  %0 = blockscale.compress %q : !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t64"> to !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32">
  return
}

// -----

// One scale of the sparse tensor is for 64 elements, not 32.
func.func @compress_tile(%q: !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32">) {
  // expected-error @below {{expected an input of spec 'e8m0_t64', the dense form of 'e8m0_t32n2m4', found spec 'e8m0_t32'}}
  %0 = blockscale.compress %q : !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32"> to !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32n2m4">
  return
}

// -----

func.func @compress_shape(%q: !blockscale.tensor<64x128xf8E4M3FN, "e8m0_t64">) {
  // expected-error @below {{expected a result of the input's shape [64, 128], found [64, 64]}}
  %0 = blockscale.compress %q : !blockscale.tensor<64x128xf8E4M3FN, "e8m0_t64"> to !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32n2m4">
  return
}

// -----

//===----------------------------------------------------------------------===//
// dim
//===----------------------------------------------------------------------===//

func.func @dim(%q: !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32">) {
  // expected-error @below {{expected a dimension from 0 to 1, found 2}}
  %0 = blockscale.dim %q, 2 : !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32">
  return
}

// -----

//===----------------------------------------------------------------------===//
// densify, and what sparse tensors hold
//===----------------------------------------------------------------------===//

func.func @densify_tile(%q: !blockscale.tensor<64x192xf8E4M3FN, "e8m0_t16n2m4">) {
  // expected-error @below {{expected a result of spec 'e8m0_t32', or of a tile along K that divides its tile, found spec 'e8m0_t64'}}
  %0 = blockscale.densify %q : !blockscale.tensor<64x192xf8E4M3FN, "e8m0_t16n2m4"> to !blockscale.tensor<64x192xf8E4M3FN, "e8m0_t64">
  return
}

// -----

func.func @densify_sparse(%q: !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32n2m4">) {
  // expected-error @below {{expected a result of spec 'e8m0_t64', or of a tile along K that divides its tile, found spec 'e8m0_t32n2m4'}}
  %0 = blockscale.densify %q : !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32n2m4"> to !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32n2m4">
  return
}

// -----

func.func @densify_element(%q: !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32n2m4">) {
  // expected-error @below {{changes no element type, but 'f8E4M3FN' became 'f8E5M2'}}
  %0 = blockscale.densify %q : !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32n2m4"> to !blockscale.tensor<64x64xf8E5M2, "e8m0_t32">
  return
}

// -----

func.func @densify_layout(%q: !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32n2m4">) {
  // expected-error @below {{changes neither 'layout' nor 'order'; 'blockscale.relayout' does}}
  %0 = blockscale.densify %q : !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32n2m4"> to !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
  return
}

// -----

func.func @tiled_metadata(%d: tensor<130x160xf8E4M3FN>, %s: tensor<2x2x32x16xf8E8M0FNU>, %m: tensor<130x40xi8>) {
  // expected-error @below {{3x2x128x16}}
  %0 = blockscale.assemble %d, %s metadata(%m : tensor<130x40xi8>) : tensor<130x160xf8E4M3FN>, tensor<2x2x32x16xf8E8M0FNU> to !blockscale.tensor<130x320xf8E4M3FN, "e8m0_t32n2m4", layout = tiled_128x4>
  return
}

// -----

// Its scales lie row by row, its metadata in tiles.
func.func @float_scales(%d: tensor<130x192xf8E4M3FN>, %s: tensor<2x1x32x16xf32>, %m: tensor<3x2x128x16xi8>) {
  // expected-error @below {{expected operand 'scales' of type 'tensor<130x3xf32>', found 'tensor<2x1x32x16xf32>'}}
  %0 = blockscale.assemble %d, %s metadata(%m : tensor<3x2x128x16xi8>) : tensor<130x192xf8E4M3FN>, tensor<2x1x32x16xf32> to !blockscale.tensor<130x384xf8E4M3FN, "float32_t64n2m4", layout = tiled_128x4>
  return
}

// -----

// The layout of a sparse type may be that of its metadata alone.
func.func @densify_plain_scales(%q: !blockscale.tensor<16x48xf6E3M2FN, "e4m3fn_t8n2m4", layout = tiled_128x4>) {
  // expected-error @below {{'blockscale.relayout' does: the scales of spec 'e4m3fn_t8n2m4', which no instruction reads, lie in layout 'plain' beside its metadata; expected it for spec 'e4m3fn_t16', too}}
  %0 = blockscale.densify %q : !blockscale.tensor<16x48xf6E3M2FN, "e4m3fn_t8n2m4", layout = tiled_128x4> to !blockscale.tensor<16x48xf6E3M2FN, "e4m3fn_t16", layout = tiled_128x4>
  return
}

// -----

!dense = !blockscale.tensor<128x256xui4, "float32_float32_t64">
!sparse = !blockscale.tensor<128x256xui4, "float32_float32_t32n2m4">
func.func @compress_real_zeros(%a: !dense) -> !sparse {
  // expected-error @below {{drops elements that are 0, which no code of a tile is under a zero point in real units, as those of 'float32_float32_t32n2m4' are; expected zero points that count in steps of the scale, such as 'int8'}}
  %0 = blockscale.compress %a : !dense to !sparse
  return %0 : !sparse
}

// -----

!dense = !blockscale.tensor<128x256xui4, "float32_int8_t64">
!sparse = !blockscale.tensor<128x256xui4, "float32_int8_t32n2m4">
func.func @densify_zeros(%a: !sparse) -> !dense {
  // expected-error @below {{stores a 0 for what was pruned, which no code is where the zero point of its tile is no code, as one of 'float32_int8_t32n2m4' may be; 'blockscale.dequantize' gives the values of both}}
  %0 = blockscale.densify %a : !sparse to !dense
  return %0 : !dense
}

// -----

!sparse = !blockscale.tensor<128x256xui4, "float32_float32_t32n2m4">
func.func @quantize_real_zeros(%a: tensor<128x256xf32>) -> !sparse {
  // expected-error @below {{keeps elements that are not 0, which no code is under a zero point in real units, as those of 'float32_float32_t32n2m4' are; expected zero points that count in steps of the scale, such as 'int16'}}
  %0 = blockscale.quantize %a : tensor<128x256xf32> to !sparse
  return %0 : !sparse
}
