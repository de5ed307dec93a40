// RUN: blockscale-opt %s --split-input-file --verify-diagnostics

func.func @wide(%x: f32) -> i32 {
  // expected-error@+1 {{expected f4E2M1FN, f6E2M3FN, f6E3M2FN, f8E4M3FN or f8E5M2, found 'bf16'}}
  %c, %d = blockscale.rounding_errors %x, %x as bf16
  return %c : i32
}

// -----

func.func @few(%x: f32) -> i32 {
  // expected-error@+1 {{expected 8 numbers of 'f4E2M1FN', found 2}}
  %c, %d = blockscale.rounding_errors %x, %x as f4E2M1FN
  return %c : i32
}

// -----

func.func @none() -> i32 {
  // expected-error@+1 {{expected numbers, found none}}
  %c, %d = blockscale.rounding_errors as f8E5M2
  return %c : i32
}

// -----

func.func @more_than_a_byte(%s: i32, %w: i32) -> i32 {
  // expected-error@+1 {{attribute 'factor' failed to satisfy constraint: 32-bit signless integer attribute whose minimum value is 1 whose maximum value is 255}}
  %0 = blockscale.add_half %s, 256 * lower %w
  return %0 : i32
}

// -----

func.func @nothing(%s: i32, %w: i32) -> i32 {
  // expected-error@+1 {{attribute 'factor' failed to satisfy constraint: 32-bit signless integer attribute whose minimum value is 1 whose maximum value is 255}}
  %0 = blockscale.add_half %s, 0 * upper %w
  return %0 : i32
}
