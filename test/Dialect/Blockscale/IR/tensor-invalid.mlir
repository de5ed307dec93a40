// RUN: blockscale-opt %s -split-input-file -verify-diagnostics

//===----------------------------------------------------------------------===//
// !blockscale.tensor
//===----------------------------------------------------------------------===//

// expected-error @below {{expected 2 dimensions, or 3 with a batch dimension, found 1}}
func.func private @rank(!blockscale.tensor<64xf8E4M3FN, "e8m0_t32">)

// -----

// expected-error @below {{elements with scales have at most 8 bits, found 'f32'; only elements without scales may have more}}
func.func private @element(!blockscale.tensor<64x64xf32, "e8m0_t32">)

// -----

// expected-error @below {{'mxfp4' has elements of 'e2m1fnuz', which are 'f4E2M1FN'; found 'f8E4M3FN'}}
func.func private @name_of_others(!blockscale.tensor<64x64xf8E4M3FN, "mxfp4">)

// -----

// expected-error @below {{'mx6' has elements of 'cb51ie_int7', which are '!blockscale.codebook<"cb51ie_int7">'; found 'i7'}}
func.func private @name_of_a_codebook(!blockscale.tensor<64x64xi7, "mx6">)

// -----

// expected-error @below {{illegal scale spec 'mxfp5'}}
func.func private @no_name(!blockscale.tensor<64x64xf8E4M3FN, "mxfp5">)

// -----

// expected-error @below {{data 'e8m0' cannot be scaled by 'e8m0_t32': exponent types can only be scales}}
func.func private @exponent_data(!blockscale.tensor<64x64xf8E8M0FNU, "e8m0_t32">)

// -----

// expected-error @below {{data 'e2m1fnuz' cannot be scaled by 'float32_e4m3fn_t16': a zero point is for unsigned integer data; for a tensor scale over tile scales write 'multi_float32_e4m3fn_t16'}}
func.func private @zero_point(!blockscale.tensor<64x64xf4E2M1FN, "float32_e4m3fn_t16">)

// -----

// expected-error @below {{data 'uint8' cannot be scaled by 'float32_t16': unsigned integer data need a zero point after the scale}}
func.func private @no_zero_point(!blockscale.tensor<64x64xui8, "float32_t16">)

// -----

// expected-error @below {{a tile of 16 kept elements is no whole number of groups of 3 of 4 in 'e8m0_t16n3m4'}}
func.func private @groups(!blockscale.tensor<64x64xf8E4M3FN, "e8m0_t16n3m4">)

// -----

// expected-error @below {{expected the last dimension, K, to be a multiple of 32, the tile of 'e8m0_t32', found 48}}
func.func private @divisible(!blockscale.tensor<64x48xf8E4M3FN, "e8m0_t32">)

// -----

// expected-error @below {{expected the last dimension, K, to be a multiple of 64, the tile of 'e8m0_t32n2m4', found 96}}
func.func private @divisible_sparse(!blockscale.tensor<64x96xf8E4M3FN, "e8m0_t32n2m4">)

// -----

// expected-error @below {{layout 'tiled_128x4' holds scales of tiles along K, but 'float32_t0' has none}}
func.func private @tiled_channel(!blockscale.tensor<64x64xf8E4M3FN, "float32_t0", layout = tiled_128x4>)

// -----

// expected-error @below {{layout 'tiled_128x4' holds scales of one byte (e8m0, e4m3fn, e5m3fn), but those of 'float32_t32' are float32}}
func.func private @tiled_float(!blockscale.tensor<64x64xf8E4M3FN, "float32_t32", layout = tiled_128x4>)

// -----

// expected-error @below {{order 'mn_major' is for elements of 8 and 16 bits, found 'f4E2M1FN'}}
func.func private @mn_major(!blockscale.tensor<64x64xf4E2M1FN, "e8m0_t32", order = mn_major>)

// -----

// expected-error @below {{expected 'layout' or 'order', found 'shape'}}
func.func private @key(!blockscale.tensor<64x64xf4E2M1FN, "e8m0_t32", shape = plain>)

// -----

// expected-error @below {{'order' is given twice}}
func.func private @twice(!blockscale.tensor<64x64xf4E2M1FN, "e8m0_t32", order = k_major, order = k_major>)

// -----

// expected-error @below {{expected one of [plain, tiled_128x4, tiled_128x16, grouped_128x4] for layout of scales in memory, got: swizzled}}
func.func private @layout(!blockscale.tensor<64x64xf4E2M1FN, "e8m0_t32", layout = swizzled>)

// -----

// expected-error @below {{expected one of [k_major, mn_major] for order of elements in memory, got: row_major}}
func.func private @order(!blockscale.tensor<64x64xf4E2M1FN, "e8m0_t32", order = row_major>)

// -----

// expected-error @below {{illegal scale spec 'e8m0_t33': tile 't33' has size 33, expected a power of two from 4 to 256, or 0 for the whole dimension}}
func.func private @spec(!blockscale.tensor<64x64xf4E2M1FN, "e8m0_t33">)

// -----

//===----------------------------------------------------------------------===//
// quantize, dequantize
//===----------------------------------------------------------------------===//

func.func @quantize_shape(%x: tensor<64x64xf32>) {
  // expected-error @below {{expected a result of the input's shape [64, 64], found [32, 64]}}
  %0 = blockscale.quantize %x : tensor<64x64xf32> to !blockscale.tensor<32x64xf8E4M3FN, "e8m0_t32">
  return
}

// -----

func.func @quantize_rule(%x: tensor<64x64xf32>) {
  // expected-error @below {{rule 'round_up' is for power-of-two scales, but the scales of 'float32_t32' are not}}
  %0 = blockscale.quantize %x rule(round_up) : tensor<64x64xf32> to !blockscale.tensor<64x64xf8E4M3FN, "float32_t32">
  return
}

// -----

func.func @quantize_unknown_rule(%x: tensor<64x64xf32>) {
  // expected-error @below {{unknown scale rule 'nearest', expected floor, round_up, floor_plus_one, ceil, mid_max, rounded_max, top_binade, min_error}}
  %0 = blockscale.quantize %x rule(nearest) : tensor<64x64xf32> to !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32">
  return
}

// -----

func.func @quantize_rule_of_integers(%x: tensor<64x64xf32>) {
  // expected-error @below {{rule 'mid_max' looks at the fraction of a float, but elements are 'i8'; integers know floor, round_up, floor_plus_one and min_error}}
  %0 = blockscale.quantize %x rule(mid_max) : tensor<64x64xf32> to !blockscale.tensor<64x64xi8, "e8m0_t32">
  return
}

// -----

func.func @quantize_search_without_scales(%x: tensor<64x64xf32>) {
  // expected-error @below {{rule 'min_error' compares scales, but a tensor without a spec has none}}
  %0 = blockscale.quantize %x rule(min_error) : tensor<64x64xf32> to !blockscale.tensor<64x64xf8E4M3FN>
  return
}

// -----

func.func @quantize_search_with_zeros(%x: tensor<64x64xf32>) {
  // expected-error @below {{rule 'min_error' compares scales without zero points, which 'float32_int32_t32' has}}
  %0 = blockscale.quantize %x rule(min_error) : tensor<64x64xf32> to !blockscale.tensor<64x64xui8, "float32_int32_t32">
  return
}

// -----

func.func @quantize_unknown_rounding(%x: tensor<64x64xf32>) {
  // expected-error @below {{unknown rounding 'up', expected even, away, zero, stochastic, stochastic_rs}}
  %0 = blockscale.quantize %x rounding(up) : tensor<64x64xf32> to !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32">
  return
}

// -----

func.func @quantize_without_seed(%x: tensor<64x64xf32>) {
  // expected-error @below {{rounding 'stochastic' needs a seed, as in 'rounding(stochastic, seed = 7)'}}
  %0 = blockscale.quantize %x rounding(stochastic) : tensor<64x64xf32> to !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32">
  return
}

// -----

func.func @quantize_by_instruction_without_seed(%x: tensor<64x64xf32>) {
  // expected-error @below {{rounding 'stochastic_rs' needs a seed, as in 'rounding(stochastic_rs, seed = 7)'}}
  %0 = blockscale.quantize %x rounding(stochastic_rs) : tensor<64x64xf32> to !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32">
  return
}

// -----

func.func @quantize_by_instruction_to_integers(%x: tensor<64x64xf32>) {
  // expected-error @below {{rounding 'stochastic_rs' is that of 'cvt.rs', which makes f8E4M3FN, f8E5M2, f6E2M3FN, f6E3M2FN and f4E2M1FN, but elements are 'i8'; 'stochastic' is for all of at most 8 bits}}
  %0 = blockscale.quantize %x rounding(stochastic_rs, seed = 7) : tensor<64x64xf32> to !blockscale.tensor<64x64xi8, "e8m0_t32">
  return
}

// -----

func.func @quantize_seed_of_nothing(%x: tensor<64x64xf32>) {
  // expected-error @below {{a seed is for the roundings 'stochastic' and 'stochastic_rs', but this one is 'away'}}
  %0 = blockscale.quantize %x rounding(away, seed = 7) : tensor<64x64xf32> to !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32">
  return
}

// -----

func.func @quantize_rounding_of_wide_elements(%x: tensor<64x64xf32>) {
  // expected-error @below {{rounding 'zero' is for elements of at most 8 bits, but they are 'bf16'}}
  %0 = blockscale.quantize %x rounding(zero) : tensor<64x64xf32> to !blockscale.tensor<64x64xbf16>
  return
}

// -----

func.func @quantize_narrow_zeros(%x: tensor<64x64xf32>) {
  // expected-error @below {{zero points of 'ui8' reach 255, but 'int8' ends at 127; a wider integer or a float holds them; nearest legal: 'float32_int16_t16' or 'float32_float32_t16'}}
  %0 = blockscale.quantize %x : tensor<64x64xf32> to !blockscale.tensor<64x64xui8, "float32_int8_t16">
  return
}

// -----

func.func @quantize_zeros_and_tensor_scale(%x: tensor<64x64xf32>) {
  // expected-error @below {{there is no rule for both a tensor scale and zero points, which 'multi_float32_float16_int8_t16' has}}
  %0 = blockscale.quantize %x : tensor<64x64xf32> to !blockscale.tensor<64x64xui4, "multi_float32_float16_int8_t16">
  return
}

// -----

func.func @quantize_no_tensor_scale(%x: tensor<64x64xf32>, %t: tensor<f32>) {
  // expected-error @below {{'tensor_scale' is given, but spec 'e8m0_t32' has none}}
  %0 = blockscale.quantize %x tensor_scale(%t : tensor<f32>) : tensor<64x64xf32> to !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32">
  return
}

// -----

func.func @quantize_row_scale(%x: tensor<64x64xf32>, %t: tensor<f32>) {
  // expected-error @below {{'tensor_scale' is given, but spec 'float32_t0' has none}}
  %0 = blockscale.quantize %x tensor_scale(%t : tensor<f32>) : tensor<64x64xf32> to !blockscale.tensor<64x64xf8E4M3FN, "float32_t0">
  return
}

// -----

func.func @quantize_given_scale_with_zeros(%x: tensor<64x64xf32>, %t: tensor<f32>) {
  // expected-error @below {{'tensor_scale' is given, but spec 'float32_int16' has none}}
  %0 = blockscale.quantize %x tensor_scale(%t : tensor<f32>) : tensor<64x64xf32> to !blockscale.tensor<64x64xui8, "float32_int16">
  return
}

// -----

func.func @quantize_given_scale_shape(%x: tensor<3x64x64xf32>, %t: tensor<f32>) {
  // expected-error @below {{expected one tensor scale per matrix, shape [3], found []}}
  %0 = blockscale.quantize %x tensor_scale(%t : tensor<f32>) : tensor<3x64x64xf32> to !blockscale.tensor<3x64x64xf8E4M3FN, "float32">
  return
}

// -----

func.func @quantize_given_scale_by_rule(%x: tensor<64x64xf32>, %t: tensor<f32>) {
  // expected-error @below {{rule 'round_up' chooses a scale, but 'tensor_scale' gives that of the matrix; 'floor' chooses nothing}}
  %0 = blockscale.quantize %x tensor_scale(%t : tensor<f32>) rule(round_up) : tensor<64x64xf32> to !blockscale.tensor<64x64xf8E4M3FN, "e8m0">
  return
}

// -----

func.func @quantize_tensor_scale_shape(%x: tensor<3x64x64xf32>, %t: tensor<f32>) {
  // expected-error @below {{expected one tensor scale per matrix, shape [3], found []}}
  %0 = blockscale.quantize %x tensor_scale(%t : tensor<f32>) : tensor<3x64x64xf32> to !blockscale.tensor<3x64x64xf4E2M1FN, "multi_float32_e4m3fn_t16">
  return
}

// -----

func.func @quantize_rank(%x: tensor<64xf32>) {
  // expected-error @below {{operand #0 must be 2D/3D tensor of 32-bit float or bfloat16 type or 16-bit float values}}
  %0 = blockscale.quantize %x : tensor<64xf32> to !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32">
  return
}

// -----

func.func @dequantize_shape(%q: !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32">) {
  // expected-error @below {{expected a result of the input's shape [64, 64], found [1, 64, 64]}}
  %0 = blockscale.dequantize %q : !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32"> to tensor<1x64x64xf32>
  return
}

// -----

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

func.func @assemble_pattern(%d: tensor<64x16xf8E4M3FN>, %s: tensor<64x1xf8E8M0FNU>) {
  // expected-error @below {{metadata is defined for 2 of 4 (but not of tf32), for 1 of 2 and, with elements f4E2M1FN, for 4 of 8 in pairs, but 'e8m0_t16n1m4' keeps 1 of 4}}
  %0 = blockscale.assemble %d, %s : tensor<64x16xf8E4M3FN>, tensor<64x1xf8E8M0FNU> to !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t16n1m4">
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
// matmul
//===----------------------------------------------------------------------===//

func.func @matmul_rank(%a: !blockscale.tensor<2x64x64xf8E4M3FN, "e8m0_t32">, %b: !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32">) {
  // expected-error @below {{expected 'a' and 'b' of equal rank, found 3 and 2}}
  %0 = blockscale.matmul %a, %b : !blockscale.tensor<2x64x64xf8E4M3FN, "e8m0_t32">, !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32"> -> tensor<2x64x64xf32>
  return
}

// -----

func.func @matmul_batch(%a: !blockscale.tensor<2x64x64xf8E4M3FN, "e8m0_t32">, %b: !blockscale.tensor<3x64x64xf8E4M3FN, "e8m0_t32">) {
  // expected-error @below {{expected equal batch sizes of 'a' and 'b', found 2 and 3}}
  %0 = blockscale.matmul %a, %b : !blockscale.tensor<2x64x64xf8E4M3FN, "e8m0_t32">, !blockscale.tensor<3x64x64xf8E4M3FN, "e8m0_t32"> -> tensor<2x64x64xf32>
  return
}

// -----

func.func @matmul_k(%a: !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32">, %b: !blockscale.tensor<64x96xf8E4M3FN, "e8m0_t32">) {
  // expected-error @below {{contracts the last dimension, K, of 'a' and 'b', but they have 64 and 96}}
  %0 = blockscale.matmul %a, %b : !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32">, !blockscale.tensor<64x96xf8E4M3FN, "e8m0_t32"> -> tensor<64x64xf32>
  return
}

// -----

func.func @matmul_result(%a: !blockscale.tensor<?x64xf8E4M3FN, "e8m0_t32">, %b: !blockscale.tensor<96x64xf8E4M3FN, "e8m0_t32">) {
  // expected-error @below {{expected a result of shape [?, 96], found [64, 64]}}
  %0 = blockscale.matmul %a, %b : !blockscale.tensor<?x64xf8E4M3FN, "e8m0_t32">, !blockscale.tensor<96x64xf8E4M3FN, "e8m0_t32"> -> tensor<64x64xf32>
  return
}

// -----

func.func @matmul_result_type(%a: !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32">) {
  // expected-error @below {{result #0 must be 2D/3D tensor of 32-bit float or bfloat16 type or 16-bit float or 32-bit signless integer values, but got 'tensor<64x64xf64>'}}
  %0 = blockscale.matmul %a, %a : !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32">, !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32"> -> tensor<64x64xf64>
  return
}

// -----

func.func @matmul_beta(%a: !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32">, %s: f32) {
  // expected-error @below {{'beta' is given without 'c'}}
  %0 = blockscale.matmul %a, %a beta(%s) : !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32">, !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32"> -> tensor<64x64xf32>
  return
}

// -----

func.func @matmul_c(%a: !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32">, %c: tensor<64x32xf32>) {
  // expected-error @below {{expected 'c' of the result's shape [64, 64], found [64, 32]}}
  %0 = blockscale.matmul %a, %a c(%c) : !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32">, !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32">, tensor<64x32xf32> -> tensor<64x64xf32>
  return
}

// -----

func.func @matmul_bias(%a: !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32">, %b: !blockscale.tensor<32x64xf8E4M3FN, "e8m0_t32">, %v: tensor<64xf32>) {
  // expected-error @below {{expected a bias per column of shape [32], found [64]}}
  %0 = blockscale.matmul %a, %b bias(%v) : !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32">, !blockscale.tensor<32x64xf8E4M3FN, "e8m0_t32">, tensor<64xf32> -> tensor<64x32xf32>
  return
}

// -----

func.func @matmul_row_bias(%a: !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32">, %b: !blockscale.tensor<32x64xf8E4M3FN, "e8m0_t32">, %v: tensor<1x64xf32>) {
  // expected-error @below {{expected a bias per row of shape [64], found [1, 64]}}
  %0 = blockscale.matmul %a, %b bias(%v) row : !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32">, !blockscale.tensor<32x64xf8E4M3FN, "e8m0_t32">, tensor<1x64xf32> -> tensor<64x32xf32>
  return
}

// -----

func.func @matmul_activation(%a: !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32">) {
  // expected-error @below {{unknown activation 'tanh', expected relu, gelu, silu}}
  %0 = blockscale.matmul %a, %a activation(tanh) : !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32">, !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32"> -> tensor<64x64xf32>
  return
}

// -----

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

// expected-error @below {{integers with a sign are signless ones here, as in 'i8'; found 'si8'}}
func.func private @signed(!blockscale.tensor<16x64xsi8, "float32_t32">)

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
