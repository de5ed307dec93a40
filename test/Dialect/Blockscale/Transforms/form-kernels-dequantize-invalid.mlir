// RUN: blockscale-opt %s --split-input-file --verify-diagnostics --blockscale-attach-target=target=sm_100a --blockscale-form-kernels

!a = !blockscale.tensor<16x64xf8E4M3FN>
func.func @unscaled(%a: !a) -> tensor<16x64xf32> {
  // expected-error@+1 {{a kernel dequantises elements with scales of tiles along K, but the operand has none}}
  %0 = blockscale.dequantize %a : !a to tensor<16x64xf32>
  return %0 : tensor<16x64xf32>
}

// -----

!a = !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32n2m4", layout = tiled_128x4>
func.func @sparse(%a: !a) -> tensor<64x64xf32> {
  // expected-error@+1 {{a kernel dequantises dense elements, but those of 'e8m0_t32n2m4' are pruned; nearest legal: what 'blockscale.densify' makes of them, by a kernel of its own}}
  %0 = blockscale.dequantize %a : !a to tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// -----

!a = !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t0_t32", layout = tiled_128x4>
func.func @columns_share(%a: !a) -> tensor<64x64xf32> {
  // expected-error@+1 {{a kernel dequantises under scales of tiles along K, or float scales of single rows or of a matrix, but those of 'e8m0_t0_t32' are others; nearest legal: 'e8m0_t32', 'float32_t0' or 'float32'}}
  %0 = blockscale.dequantize %a : !a to tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// -----

!a = !blockscale.tensor<64x64xf8E4M3FN, "e4m3fn_t0">
func.func @channels(%a: !a) -> tensor<64x64xf32> {
  // expected-error@+1 {{are others; nearest legal: 'e8m0_t32'}}
  %0 = blockscale.dequantize %a : !a to tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// -----

!a = !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32", layout = tiled_128x4, order = mn_major>
func.func @columns(%a: !a) -> tensor<64x64xf32> {
  // expected-error@+1 {{a kernel dequantises elements along K, but the operand is in order 'mn_major'; nearest legal: 'k_major', from and to which a kernel of 'blockscale.relayout' brings it, as whole functions do by themselves ('--emit=host-llvm --quantize-on-device')}}
  %0 = blockscale.dequantize %a : !a to tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// -----

!a = !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32", layout = tiled_128x16>
func.func @wide_tiles(%a: !a) -> tensor<64x64xf32> {
  // expected-error@+1 {{a kernel dequantises under scales in layout 'tiled_128x4' or 'plain', but the operand has 'tiled_128x16'; nearest legal: 'tiled_128x4', which a kernel of 'blockscale.relayout' makes of it}}
  %0 = blockscale.dequantize %a : !a to tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// -----

!a = !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32_t32">
func.func @once(%a: !a) -> tensor<64x64xf32> {
  // expected-error@+1 {{a kernel reads a scale for each row, but those of 'e8m0_t32_t32' are stored once for 32 rows in layout 'plain'; nearest legal: 'tiled_128x4', where they are repeated}}
  %0 = blockscale.dequantize %a : !a to tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// -----

!a = !blockscale.tensor<64x128xf8E4M3FN, "e8m0_t64">
func.func @long(%a: !a) -> tensor<64x128xf32> {
  // expected-error@+1 {{no instruction of 'sm_100a' reads elements of f8E4M3FN with scales as 'e8m0_t64' says, so that no kernel dequantises them; nearest legal: 'e8m0_t32', or for f4E2M1FN 'multi_float32_e4m3fn_t16'}}
  %0 = blockscale.dequantize %a : !a to tensor<64x128xf32>
  return %0 : tensor<64x128xf32>
}

// -----

!a = !blockscale.tensor<64x64xi8, "e8m0_t32", layout = tiled_128x4>
func.func @integers(%a: !a) -> tensor<64x64xf32> {
  // expected-error@+1 {{a kernel dequantises elements as products read them, but i8 under 'e8m0_t32' is stored as another format when it is packed; nearest legal: 'float32_t0' or 'float32', or a whole function ('--emit=host-llvm'), whose host dequantises}}
  %0 = blockscale.dequantize %a : !a to tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// -----

!a = !blockscale.tensor<64x128xi8, "float32_t128">
func.func @integers_in_tiles(%a: !a) -> tensor<64x128xf32> {
  // expected-error@+1 {{i8 under 'float32_t128' is stored as another format when it is packed}}
  %0 = blockscale.dequantize %a : !a to tensor<64x128xf32>
  return %0 : tensor<64x128xf32>
}

// -----

!a = !blockscale.tensor<64x128xf8E4M3FN, "multi_float32_float32_t128">
func.func @two_floats(%a: !a) -> tensor<64x128xf32> {
  // expected-error@+1 {{a kernel reads no tensor scale beside float scales, but 'multi_float32_float32_t128' has one; nearest legal: 'float32_t128'}}
  %0 = blockscale.dequantize %a : !a to tensor<64x128xf32>
  return %0 : tensor<64x128xf32>
}

// -----

!a = !blockscale.tensor<64x64xf4E2M1FN, "e5m3fn_t16", layout = tiled_128x4>
func.func @rubin(%a: !a) -> tensor<64x64xf32> {
  // expected-error@+1 {{no instruction of 'sm_100a' reads elements of f4E2M1FN with scales as 'e5m3fn_t16' says}}
  %0 = blockscale.dequantize %a : !a to tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// -----

!a = !blockscale.tensor<64x64xf4E2M1FN, "multi_bfloat16_e4m3fn_t16", layout = tiled_128x4>
func.func @narrow_factor(%a: !a) -> tensor<64x64xf32> {
  // expected-error@+1 {{a kernel reads tensor scales of float32, but those of 'multi_bfloat16_e4m3fn_t16' are others}}
  %0 = blockscale.dequantize %a : !a to tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// -----

!a = !blockscale.tensor<4000000000x32xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @tall(%a: !a) -> tensor<4000000000x32xf32> {
  // expected-error@+1 {{its size of 4000000000 exceeds}}
  %0 = blockscale.dequantize %a : !a to tensor<4000000000x32xf32>
  return %0 : tensor<4000000000x32xf32>
}

// -----

!a = !blockscale.tensor<2000000000x64xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @many(%a: !a) -> tensor<2000000000x64xf32> {
  // expected-error@+1 {{it would take 32000000000 threads, more than the}}
  %0 = blockscale.dequantize %a : !a to tensor<2000000000x64xf32>
  return %0 : tensor<2000000000x64xf32>
}

// -----

!a = !blockscale.tensor<64x64xui4, "e4m3fn_int8_t32">
func.func @zeros_under_bytes(%a: !a) -> tensor<64x64xf32> {
  // expected-error@+1 {{a kernel subtracts zero points under scales of float32, float16 and bfloat16, but those of 'e4m3fn_int8_t32' are others; nearest legal: 'float32_int8_t128'}}
  %0 = blockscale.dequantize %a : !a to tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// -----

!a = !blockscale.tensor<64x64xui3, "float32_int8_t32">
func.func @three_bits(%a: !a) -> tensor<64x64xf32> {
  // expected-error@+1 {{a kernel subtracts zero points from elements of 4 and 8 bits, but these have 3; nearest legal: ui4}}
  %0 = blockscale.dequantize %a : !a to tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// -----

!a = !blockscale.tensor<64x64xui4, "float32_int6_t32">
func.func @six_bits_of_zeros(%a: !a) -> tensor<64x64xf32> {
  // expected-error@+1 {{a kernel subtracts zero points of int8, int16, int32, float32, float16 and bfloat16, but those of 'float32_int6_t32' are others}}
  %0 = blockscale.dequantize %a : !a to tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// -----

!a = !blockscale.tensor<64x64xui4, "float32_int8_t8">
func.func @short_tiles(%a: !a) -> tensor<64x64xf32> {
  // expected-error@+1 {{a kernel subtracts zero points from whole blocks of 16 elements along K, which tiles of 'float32_int8_t8' are not; nearest legal: 'float32_int8_t128'}}
  %0 = blockscale.dequantize %a : !a to tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// -----

!a = !blockscale.tensor<64x64xui4, "float32_int8_t0_t32">
func.func @zeros_of_columns(%a: !a) -> tensor<64x64xf32> {
  // expected-error@+1 {{a kernel dequantises under scales of tiles along K, or float scales of single rows or of a matrix, but those of 'float32_int8_t0_t32' are others}}
  %0 = blockscale.dequantize %a : !a to tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// -----

// Six bits of 16 elements are whole words.
!a = !blockscale.tensor<64x40xf6E3M2FN, "float32_t0">
func.func @part_of_a_thread(%a: !a) -> tensor<64x40xbf16> {
  // expected-error@+1 {{threads of a kernel write 16 elements along K, but K = 40 is no multiple of that; nearest legal: K = 48}}
  %0 = blockscale.dequantize %a : !a to tensor<64x40xbf16>
  return %0 : tensor<64x40xbf16>
}
