// RUN: blockscale-opt %s --split-input-file --verify-diagnostics

func.func @wide(%x: f32) -> i32 {
  // expected-error@+1 {{expected f4E2M1FN, f6E2M3FN, f6E3M2FN, f8E4M3FN or f8E5M2, found 'bf16'}}
  %0 = blockscale.encode_pair %x, %x as bf16
  return %0 : i32
}

// -----

func.func @word(%x: f32) -> i32 {
  // expected-error@+1 {{expected f4E2M1FN, found 'f8E4M3FN'}}
  %0 = blockscale.encode_word %x, %x, %x, %x as f8E4M3FN
  return %0 : i32
}

// -----

func.func @word(%x: f32) -> i32 {
  // expected-error@+1 {{expected 8 numbers, whose codes fill a word, found 4}}
  %0 = blockscale.encode_word %x, %x, %x, %x as f4E2M1FN
  return %0 : i32
}

// -----

func.func @wide(%x: f32, %u: i32) -> f32 {
  // expected-error@+1 {{expected f4E2M1FN, f6E2M3FN, f6E3M2FN, f8E4M3FN or f8E5M2, found 'f16'}}
  %0 = blockscale.dither %x, %u as f16
  return %0 : f32
}

// -----

// expected-error@+1 {{expected 'blockscale.quantization' to be a #blockscale.quantization attribute}}
func.func @number() attributes {blockscale.quantization = 1} {
  return
}

// -----

// expected-error@+1 {{'blockscale.quantization' belongs on a function with 'blockscale.kernel'}}
func.func @no_kernel() attributes {blockscale.quantization = #blockscale.quantization<source = "f", x = f32, d = !blockscale.tensor<?x64xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>>} {
  return
}

// -----

func.func @wide(%c: i32) -> vector<2xf16> {
  // expected-error@+1 {{expected f4E2M1FN, f6E2M3FN, f6E3M2FN, f8E4M3FN or f8E5M2, found 'f8E8M0FNU'}}
  %0 = blockscale.decode_pair %c as f8E8M0FNU
  return %0 : vector<2xf16>
}

// -----

// expected-error@+1 {{expected 'blockscale.conversion' to be a #blockscale.conversion attribute}}
func.func @number() attributes {blockscale.conversion = 1} {
  return
}

// -----

// expected-error@+1 {{'blockscale.conversion' belongs on a function with 'blockscale.kernel'}}
func.func @no_kernel() attributes {blockscale.conversion = #blockscale.conversion<source = "f", op = "dequantize", a = !blockscale.tensor<?x64xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>, d = tensor<?x64xbf16>>} {
  return
}
