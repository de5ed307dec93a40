// Loads and stores of the epilogue, and counters, of other types than memory has.

// RUN: blockscale-opt %s -split-input-file -verify-diagnostics

func.func @load_wide(%t: !blockscale.tmem<2x128x128xf32, #blockscale.tmem_accumulator>, %i: i32) {
  // expected-error @below {{expected an accumulator of at least 256 columns}}
  %0 = blockscale.load_accumulator %t[%i] column %i : !blockscale.tmem<2x128x128xf32, #blockscale.tmem_accumulator> -> vector<256xf32>
  return
}

// -----

func.func @load_scales(%t: !blockscale.tmem<128x16xi8, #blockscale.tmem_scales<word_stride = 4>>, %i: i32) {
  // expected-error @below {{expected an accumulator of at least 16 columns}}
  %0 = blockscale.load_accumulator %t[%i] column %i : !blockscale.tmem<128x16xi8, #blockscale.tmem_scales<word_stride = 4>> -> vector<16xf32>
  return
}

// -----

func.func @load_width(%t: !blockscale.tmem<2x128x128xf32, #blockscale.tmem_accumulator>, %i: i32) {
  // expected-error @below {{expected a power of two up to 128 columns, found 24}}
  %0 = blockscale.load_accumulator %t[%i] column %i : !blockscale.tmem<2x128x128xf32, #blockscale.tmem_accumulator> -> vector<24xf32>
  return
}

// -----

func.func @load_row(%g: !blockscale.global<bf16>, %o: i64, %i: i32) {
  // expected-error @below {{memory holds 'bf16', the vector 'f32'}}
  %0 = blockscale.load_row %g[%o] count %i : !blockscale.global<bf16> -> vector<8xf32>
  return
}

// -----

func.func @store_row(%g: !blockscale.global<bf16>, %v: vector<8xf16>, %o: i64, %i: i32) {
  // expected-error @below {{memory holds 'bf16', the vector 'f16'}}
  blockscale.store_row %v to %g[%o] count %i : vector<8xf16> to !blockscale.global<bf16>
  return
}

// -----

func.func @aligned_size(%v: vector<6xf32>, %m: !blockscale.global<f32>, %at: i64, %n: i32) {
  // expected-error @below {{expected an aligned row to be a power of two of elements}}
  blockscale.store_row %v to %m[%at] count %n aligned : vector<6xf32> to !blockscale.global<f32>
  return
}

// -----

func.func @narrow_counters(%m: !blockscale.global<bf16>, %at: i64, %n: i32, %one: i1) {
  // expected-error @below {{expected counters in elements of 32 bits, found 'bf16'}}
  %0 = blockscale.count_arrival %m[%at] count %n threads 128 arrives %one : !blockscale.global<bf16>
  return
}

// -----

func.func @narrow_maxima(%m: !blockscale.global<bf16>, %at: i64, %n: i32) {
  // expected-error @below {{expected maxima in elements of 32 bits, found 'bf16'}}
  blockscale.raise_largest %m[%at], %n : !blockscale.global<bf16>
  return
}

// -----

func.func @meet_narrow(%m: !blockscale.global<bf16>, %at: i64, %n: i32) {
  // expected-error @below {{expected counters in elements of 32 bits, found 'bf16'}}
  blockscale.meet_grid %m[%at] count %n : !blockscale.global<bf16>
  return
}

// -----

func.func @leave_narrow(%m: !blockscale.global<i8>, %at: i64, %n: i32) {
  // expected-error @below {{expected counters in elements of 32 bits, found 'i8'}}
  %0 = blockscale.leave_grid %m[%at] count %n : !blockscale.global<i8>
  return
}

// -----

func.func @count_alone(%m: !blockscale.global<f32>, %at: i64, %one: i1) {
  %n = arith.constant 1 : i32
  // expected-error @below {{expected a count of at least 2, found 1}}
  %0 = blockscale.count_arrival %m[%at] count %n threads 128 arrives %one : !blockscale.global<f32>
  return
}

// -----

func.func @count_threads(%m: !blockscale.global<f32>, %at: i64, %n: i32, %one: i1) {
  // expected-error @below {{expected whole warps of threads, at most 1024, found 100}}
  %0 = blockscale.count_arrival %m[%at] count %n threads 100 arrives %one : !blockscale.global<f32>
  return
}
