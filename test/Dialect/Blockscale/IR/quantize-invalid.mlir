// Quantising to what has no such scales, rules or roundings.

// RUN: blockscale-opt %s -split-input-file -verify-diagnostics

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
