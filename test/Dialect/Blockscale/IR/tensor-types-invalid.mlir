// Types of scaled tensors that mean nothing.

// RUN: blockscale-opt %s -split-input-file -verify-diagnostics

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

// expected-error @below {{expected one of [plain, tiled_128x4, tiled_128x16, grouped_128x4, grouped] for layout of scales in memory, got: swizzled}}
func.func private @layout(!blockscale.tensor<64x64xf4E2M1FN, "e8m0_t32", layout = swizzled>)

// -----

// expected-error @below {{expected one of [k_major, mn_major] for order of elements in memory, got: row_major}}
func.func private @order(!blockscale.tensor<64x64xf4E2M1FN, "e8m0_t32", order = row_major>)

// -----

// expected-error @below {{illegal scale spec 'e8m0_t33': tile 't33' has size 33, expected a power of two from 4 to 256, or 0 for the whole dimension}}
func.func private @spec(!blockscale.tensor<64x64xf4E2M1FN, "e8m0_t33">)

// -----

// expected-error @below {{integers with a sign are signless ones here, as in 'i8'; found 'si8'}}
func.func private @signed(!blockscale.tensor<16x64xsi8, "float32_t32">)

// -----

// expected-error @below {{layout 'grouped' is of groups along K of one matrix; expected 2 dimensions, found 3}}
func.func private @groups_of_batch(!blockscale.tensor<2x64x64xf8E4M3FN, "float32_t0", layout = grouped>)

// -----

// expected-error @below {{layout 'grouped' is of scales that cover all of K and have neither metadata nor zero points beside them, as those of 'float32_t0'; found 'e8m0_t32'}}
func.func private @groups_of_tiles(!blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32", layout = grouped>)

// -----

// expected-error @below {{as those of 'float32_t0'; found 'float32_t0n2m4'}}
func.func private @groups_of_sparse(!blockscale.tensor<64x64xf8E4M3FN, "float32_t0n2m4", layout = grouped>)

// -----

// expected-error @below {{as those of 'float32_t0'; found 'float32_int8_t0'}}
func.func private @groups_of_zeros(!blockscale.tensor<64x64xui8, "float32_int8_t0", layout = grouped>)

// -----

// expected-error @below {{as those of 'float32_t0'; found none}}
func.func private @groups_of_nothing(!blockscale.tensor<64x64xf8E4M3FN, layout = grouped>)
