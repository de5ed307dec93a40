// RUN: blockscale-opt %s -split-input-file -verify-diagnostics

!x = !blockscale.tensor<256x512xf8E4M3FN, "e8m0_t32">
func.func @offsets(%x: !x) {
  // expected-error @below {{expected 1 of 'offsets', one per dimension but K, found 2}}
  %0 = blockscale.slice_rows %x[0, 0] [128] : !x to !blockscale.tensor<128x512xf8E4M3FN, "e8m0_t32">
  return
}

// -----

!x = !blockscale.tensor<4x256x512xf8E4M3FN, "e8m0_t32">
func.func @sizes(%x: !x) {
  // expected-error @below {{expected 2 of 'sizes', one per dimension but K, found 1}}
  %0 = blockscale.slice_rows %x[0, 0] [128] : !x to !blockscale.tensor<4x128x512xf8E4M3FN, "e8m0_t32">
  return
}

// -----

!x = !blockscale.tensor<256x512xf8E4M3FN, "e8m0_t32">
func.func @dynamic(%x: !x, %i: index) {
  // expected-error @below {{'offsets' and 'static_offsets' differ in what is dynamic}}
  %0 = "blockscale.slice_rows"(%x, %i) <{static_offsets = array<i64: 0>, static_sizes = array<i64: 128>, operandSegmentSizes = array<i32: 1, 1, 0>}> : (!x, index) -> !blockscale.tensor<128x512xf8E4M3FN, "e8m0_t32">
  return
}

// -----

!x = !blockscale.tensor<256x512xf8E4M3FN, "e8m0_t32">
func.func @negative(%x: !x) {
  // expected-error @below {{expected 'offsets' of at least 0, found -1}}
  %0 = blockscale.slice_rows %x[-1] [128] : !x to !blockscale.tensor<128x512xf8E4M3FN, "e8m0_t32">
  return
}

// -----

!x = !blockscale.tensor<256x512xf8E4M3FN, "e8m0_t32">
func.func @outside(%x: !x) {
  // expected-error @below {{expected a slice within the 256 that there are, found 128 from 192}}
  %0 = blockscale.slice_rows %x[192] [128] : !x to !blockscale.tensor<128x512xf8E4M3FN, "e8m0_t32">
  return
}

// -----

// The sum of offset and size must not wrap.

!x = !blockscale.tensor<256x512xf8E4M3FN, "e8m0_t32">
func.func @wraps(%x: !x) {
  // expected-error @below {{expected a slice within the 256 that there are, found 128 from 9223372036854775807}}
  %0 = blockscale.slice_rows %x[9223372036854775807] [128] : !x to !blockscale.tensor<128x512xf8E4M3FN, "e8m0_t32">
  return
}

// -----

!x = !blockscale.tensor<256x512xf8E4M3FN, "e8m0_t32">
func.func @result(%x: !x) {
  // expected-error @below {{inferred type(s) '!blockscale.tensor<64x512xf8E4M3FN, "e8m0_t32">' are incompatible with return type(s) of operation '!blockscale.tensor<128x512xf8E4M3FN, "e8m0_t32">'}}
  // expected-error @below {{failed to infer returned types}}
  %0 = blockscale.slice_rows %x[0] [64] : !x to !blockscale.tensor<128x512xf8E4M3FN, "e8m0_t32">
  return
}

// -----

!x = !blockscale.tensor<512x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @between_tiles(%x: !x) {
  // expected-error @below {{expected a row offset that is a multiple of 128, the rows of a tile of scales, found 64}}
  %0 = blockscale.slice_rows %x[64] [128] : !x to !blockscale.tensor<128x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
  return
}

// -----

!x = !blockscale.tensor<512x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @part_of_a_tile(%x: !x) {
  // expected-error @below {{expected a number of rows that is a multiple of 128, the rows of a tile of scales, or that reaches the last row, found 64}}
  %0 = blockscale.slice_rows %x[128] [64] : !x to !blockscale.tensor<64x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
  return
}
