// What is refused of tensors without scales.

// RUN: blockscale-opt %s -split-input-file -verify-diagnostics

//===----------------------------------------------------------------------===//
// !blockscale.tensor
//===----------------------------------------------------------------------===//

// expected-error @below {{expected elements that are floats or integers of 2 to 8 bits, '!blockscale.codebook' or, without scales, f16, bf16 or tf32, found 'f32'}}
func.func private @f32(!blockscale.tensor<64x64xf32>)

// -----

// expected-error @below {{expected elements that are floats or integers of 2 to 8 bits, '!blockscale.codebook' or, without scales, f16, bf16 or tf32, found 'i16'}}
func.func private @i16(!blockscale.tensor<64x64xi16, "n2m4">)

// -----

// expected-error @below {{data 'int4' cannot go unscaled, only floats and integers of 8 bits can}}
func.func private @i4(!blockscale.tensor<64x64xi4>)

// -----

// expected-error @below {{data 'e8m0' cannot go unscaled, only floats and integers of 8 bits can}}
func.func private @exponents(!blockscale.tensor<64x64xf8E8M0FNU, "n2m4">)

// -----

// expected-error @below {{elements with scales have at most 8 bits, found 'f16'; only elements without scales may have more}}
func.func private @scaled_f16(!blockscale.tensor<64x64xf16, "e8m0_t32">)

// -----

// expected-error @below {{elements with scales have at most 8 bits, found 'tf32'; only elements without scales may have more}}
func.func private @scaled_tf32(!blockscale.tensor<64x64xtf32, "float32_t0">)

// -----

// expected-error @below {{layout 'tiled_128x4' is of scales and metadata, but the tensor has neither}}
func.func private @tiled_dense(!blockscale.tensor<64x64xf16, layout = tiled_128x4>)

// -----

// expected-error @below {{order 'mn_major' is for elements of 8 and 16 bits, found 'tf32'}}
func.func private @mn_major(!blockscale.tensor<64x64xtf32, order = mn_major>)

// -----

// expected-error @below {{expected the last dimension, K, to be a multiple of 8, two groups of 'n2m4', found 60}}
func.func private @groups(!blockscale.tensor<64x60xf16, "n2m4">)

// -----

// expected-error @below {{expected the last dimension, K, to be a multiple of 4, two groups of 'n1m2', found 58}}
func.func private @pairs(!blockscale.tensor<64x58xtf32, "n1m2">)

// -----

// expected-error @below {{expected 'layout' or 'order', found 'spec'}}
func.func private @key(!blockscale.tensor<64x64xf16, spec = "n2m4">)

// -----

// expected-error @below {{illegal scale spec 'n4m4': sparsity 'n4m4' keeps 4 of 4 elements, expected 1 to 3}}
func.func private @keeps_all(!blockscale.tensor<64x64xf16, "n4m4">)

// -----

//===----------------------------------------------------------------------===//
// Between plain values and those without scales
//===----------------------------------------------------------------------===//

func.func @rule(%x: tensor<64x64xf32>) {
  // expected-error @below {{rule 'round_up' is for power-of-two scales, but spec 'n2m4' has no scales}}
  %0 = blockscale.quantize %x rule(round_up) : tensor<64x64xf32> to !blockscale.tensor<64x64xf16, "n2m4">
  return
}

// -----

func.func @tensor_scale(%x: tensor<64x64xf32>, %t: tensor<f32>) {
  // expected-error @below {{'tensor_scale' is given, but a tensor without a spec has none}}
  %0 = blockscale.quantize %x tensor_scale(%t : tensor<f32>) : tensor<64x64xf32> to !blockscale.tensor<64x64xf16>
  return
}

// -----

func.func @no_scales(%x: tensor<64x64xf8E4M3FN>) {
  // expected-error @below {{spec 'e8m0_t32' needs operand 'scales' of type 'tensor<64x2xf8E8M0FNU>'}}
  %0 = blockscale.assemble %x : tensor<64x64xf8E4M3FN> to !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32">
  return
}

// -----

func.func @scales(%x: tensor<64x64xf16>, %s: tensor<64x2xf8E8M0FNU>) {
  // expected-error @below {{operand 'scales' is given, but a tensor without a spec has none}}
  %0 = blockscale.assemble %x, %s : tensor<64x64xf16>, tensor<64x2xf8E8M0FNU> to !blockscale.tensor<64x64xf16>
  return
}

// -----

func.func @tf32_words(%x: tensor<64x64xtf32>) {
  // expected-error @below {{expected operand 'data' of type 'tensor<64x64xf32>', found 'tensor<64x64xtf32>'}}
  %0 = blockscale.assemble %x : tensor<64x64xtf32> to !blockscale.tensor<64x64xtf32>
  return
}

// -----

func.func @tf32_metadata(%x: tensor<64x32xf32>, %e: tensor<64x8xi8>) {
  // expected-error @below {{expected operand 'metadata' of type 'tensor<64x16xi8>', found 'tensor<64x8xi8>'}}
  %0 = blockscale.assemble %x metadata(%e : tensor<64x8xi8>) : tensor<64x32xf32> to !blockscale.tensor<64x64xtf32, "n1m2">
  return
}

// -----

// A bit for each element.
func.func @tf32_two_of_four(%x: tensor<64x32xf32>, %e: tensor<64x16xi8>) {
  // expected-error @below {{expected operand 'metadata' of type 'tensor<64x8xi8>', found 'tensor<64x16xi8>'}}
  %0 = blockscale.assemble %x metadata(%e : tensor<64x16xi8>) : tensor<64x32xf32> to !blockscale.tensor<64x64xtf32, "n2m4">
  return
}

// -----

func.func @compress(%x: !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t64">) {
  // expected-error @below {{expected an input without a spec, the dense form of 'n2m4', found spec 'e8m0_t64'}}
  %0 = blockscale.compress %x : !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t64"> to !blockscale.tensor<64x64xf8E4M3FN, "n2m4">
  return
}

// -----

func.func @compress_to_dense(%x: !blockscale.tensor<64x64xf16>) {
  // expected-error @below {{expected a result with a sparse spec, found a tensor without a spec}}
  %0 = blockscale.compress %x : !blockscale.tensor<64x64xf16> to !blockscale.tensor<64x64xf16>
  return
}

// -----

func.func @compress_scaled(%x: !blockscale.tensor<64x64xf8E4M3FN>) {
  // expected-error @below {{expected an input of spec 'e8m0_t64', the dense form of 'e8m0_t32n2m4', found a tensor without a spec}}
  %0 = blockscale.compress %x : !blockscale.tensor<64x64xf8E4M3FN> to !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32n2m4">
  return
}

// -----

func.func @densify(%x: !blockscale.tensor<64x64xf8E4M3FN, "n2m4">) {
  // expected-error @below {{expected a result without a spec, like its input without the sparsity, found spec 'e8m0_t32'}}
  %0 = blockscale.densify %x : !blockscale.tensor<64x64xf8E4M3FN, "n2m4"> to !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32">
  return
}

// -----

func.func @slice(%x: !blockscale.tensor<256x64xf16, "n2m4", layout = tiled_128x4>) {
  // expected-error @below {{expected a row offset that is a multiple of 128, the rows of a tile of metadata, found 64}}
  %0 = blockscale.slice_rows %x[64] [128] : !blockscale.tensor<256x64xf16, "n2m4", layout = tiled_128x4> to !blockscale.tensor<128x64xf16, "n2m4", layout = tiled_128x4>
  return
}

// -----

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

func.func @float_sums(%a: !blockscale.tensor<64x64xi8, "n2m4">, %b: !blockscale.tensor<64x64xf8E4M3FN>) {
  // expected-error @below {{a result of i32 is a product of integers without scales, but 'b' is '!blockscale.tensor<64x64xf8E4M3FN>'}}
  %0 = blockscale.matmul %a, %b : !blockscale.tensor<64x64xi8, "n2m4">, !blockscale.tensor<64x64xf8E4M3FN> -> tensor<64x64xi32>
  return
}

// -----

func.func @scaled_integers(%a: !blockscale.tensor<64x64xi8, "e8m0_t32">, %b: !blockscale.tensor<64x64xi8>) {
  // expected-error @below {{a result of i32 is a product of integers without scales, but 'a' is '!blockscale.tensor<64x64xi8, "e8m0_t32">'}}
  %0 = blockscale.matmul %a, %b : !blockscale.tensor<64x64xi8, "e8m0_t32">, !blockscale.tensor<64x64xi8> -> tensor<64x64xi32>
  return
}

// -----

func.func @integer_epilogue(%a: !blockscale.tensor<64x64xi8, "n2m4">, %b: !blockscale.tensor<64x64xui8>, %s: f32) {
  // expected-error @below {{a result of i32 is the product as it is: it takes no alpha, beta, c, bias or epilogue}}
  %0 = blockscale.matmul %a, %b alpha(%s) : !blockscale.tensor<64x64xi8, "n2m4">, !blockscale.tensor<64x64xui8> -> tensor<64x64xi32>
  return
}

// -----

//===----------------------------------------------------------------------===//
// blockscale.kernel_matmul
//===----------------------------------------------------------------------===//

#mma = #blockscale.mma<kind = f16, a = bf16, b = bf16, m = 128, n = 64, k = 32, sparse = true>
#complete = #blockscale.schedule<tile_m = 128, tile_n = 64, tile_k = 128, stages = 4, accumulators = 2, swap_operands = false, group_m = 8>
!map = !blockscale.tensor_map<u8, dims = ()[m, n, k, l] -> (k, m), strides = ()[m, n, k, l] -> (k), box = [128, 128], swizzle = "128B">

func.func @kernel_scales(%m: !map, %d: !blockscale.global<f32>, %i: i32) {
  // expected-error @below {{expected scales of 'a' or 'b' with a kind that takes scales, and only then}}
  blockscale.kernel_matmul a(%m) b(%m) scales(%m, %m) metadata(%m) d(%d) sizes(%i, %i, %i, %i)
    mma #mma schedule #complete : !map, !map, !blockscale.global<f32> scales !map, !map metadata !map
  return
}

// -----

#mma = #blockscale.mma<kind = f16, a = bf16, b = bf16, m = 128, n = 64, k = 32, sparse = true>
#complete = #blockscale.schedule<tile_m = 128, tile_n = 64, tile_k = 64, stages = 4, accumulators = 2, swap_operands = false, group_m = 8>
!map = !blockscale.tensor_map<u8, dims = ()[m, n, k, l] -> (k, m), strides = ()[m, n, k, l] -> (k), box = [128, 128], swizzle = "128B">

func.func @kernel_tile(%m: !map, %d: !blockscale.global<f32>, %i: i32) {
  // expected-error @below {{expected 'tile_k' of 128 for a sparse kind 'f16', found 64}}
  blockscale.kernel_matmul a(%m) b(%m) metadata(%m) d(%d) sizes(%i, %i, %i, %i)
    mma #mma schedule #complete : !map, !map, !blockscale.global<f32> metadata !map
  return
}

// -----

// expected-error @below {{kind 'f16' has one type for both operands, found bf16 and f16}}
#mma = #blockscale.mma<kind = f16, a = bf16, b = f16, m = 128, n = 64, k = 32, sparse = true>
#complete = #blockscale.schedule<tile_m = 128, tile_n = 64, tile_k = 128, stages = 4, accumulators = 2, swap_operands = false, group_m = 8>
!map = !blockscale.tensor_map<u8, dims = ()[m, n, k, l] -> (k, m), strides = ()[m, n, k, l] -> (k), box = [128, 128], swizzle = "128B">

func.func @kernel_mixed(%m: !map, %d: !blockscale.global<f32>, %i: i32) {
  blockscale.kernel_matmul a(%m) b(%m) metadata(%m) d(%d) sizes(%i, %i, %i, %i)
    mma #mma schedule #complete : !map, !map, !blockscale.global<f32> metadata !map
  return
}

// -----

#mma = #blockscale.mma<kind = f16, a = bf16, b = bf16, m = 128, n = 64, k = 32, sparse = true>
#complete = #blockscale.schedule<tile_m = 128, tile_n = 64, tile_k = 128, stages = 4, accumulators = 2, swap_operands = false, group_m = 8>
!map = !blockscale.tensor_map<u8, dims = ()[m, n, k, l] -> (k, m), strides = ()[m, n, k, l] -> (k), box = [128, 128], swizzle = "128B">

func.func @kernel_integer_result(%m: !map, %d: !blockscale.global<i32>, %i: i32) {
  // expected-error @below {{expected 'd' of f32, bf16 or f16 for kind 'f16', found i32}}
  blockscale.kernel_matmul a(%m) b(%m) metadata(%m) d(%d) sizes(%i, %i, %i, %i)
    mma #mma schedule #complete : !map, !map, !blockscale.global<i32> metadata !map
  return
}

// -----

#mma = #blockscale.mma<kind = i8, a = int8, b = int8, m = 128, n = 64, k = 64, sparse = true>
#complete = #blockscale.schedule<tile_m = 128, tile_n = 64, tile_k = 128, stages = 4, accumulators = 2, swap_operands = false, group_m = 8>
!map = !blockscale.tensor_map<u8, dims = ()[m, n, k, l] -> (k, m), strides = ()[m, n, k, l] -> (k), box = [128, 128], swizzle = "128B">

func.func @kernel_integer_epilogue(%m: !map, %d: !blockscale.global<i32>, %i: i32, %s: f32) {
  // expected-error @below {{a result of i32 is the product as it is: it takes no alpha, beta, c, bias or epilogue}}
  blockscale.kernel_matmul a(%m) b(%m) metadata(%m) d(%d) alpha(%s) sizes(%i, %i, %i, %i)
    mma #mma schedule #complete : !map, !map, !blockscale.global<i32> metadata !map
  return
}
