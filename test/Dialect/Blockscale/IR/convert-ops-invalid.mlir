// RUN: blockscale-opt %s --split-input-file --verify-diagnostics

func.func @wide(%x: f32) -> i32 {
  // expected-error@+1 {{expected f4E2M1FN, f6E2M3FN, f6E3M2FN, f8E4M3FN or f8E5M2, found 'bf16'}}
  %0 = blockscale.encode_pair %x, %x as bf16
  return %0 : i32
}

// -----

func.func @largest() -> f32 {
  // expected-error@+1 {{expected at least one number}}
  %0 = "blockscale.largest_magnitude"() : () -> f32
  return %0 : f32
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

// -----

func.func @random_word(%x: f32, %r: i32) -> i32 {
  // expected-error@+1 {{expected f4E2M1FN, f6E2M3FN, f6E3M2FN, f8E4M3FN or f8E5M2, found 'f16'}}
  %0 = blockscale.encode_stochastic %x, %x, %x, %x by %r as f16
  return %0 : i32
}

// -----

func.func @random_word(%x: f32, %r: i32) -> i32 {
  // expected-error@+1 {{expected 8 numbers by 2 of random bits, as codes of 'f4E2M1FN' fill a word, found 4 by 1}}
  %0 = blockscale.encode_stochastic %x, %x, %x, %x by %r as f4E2M1FN
  return %0 : i32
}

// -----

module attributes {blockscale.target = #blockscale.target<sm_120a>} {
  func.func @random_word(%x: f32, %r: i32) -> i32 {
    // expected-error@+1 {{'cvt.rs' does not exist on 'sm_120a'; it exists on sm_100a, sm_103a, sm_107a}}
    %0 = blockscale.encode_stochastic %x, %x, %x, %x by %r as f8E5M2
    return %0 : i32
  }
}
