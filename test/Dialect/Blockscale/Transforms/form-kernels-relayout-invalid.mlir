// RUN: blockscale-opt %s --split-input-file --verify-diagnostics --blockscale-attach-target=target=sm_100a --blockscale-form-kernels

!a = !blockscale.tensor<64x64xui8, "e4m3fn_int4_t32">
!d = !blockscale.tensor<64x64xui8, "e4m3fn_int4_t32", layout = tiled_128x4, order = mn_major>
func.func @zeros(%a: !a) -> !d {
  // expected-error@+1 {{a kernel moves zero points of 1, 2 and 4 bytes, which those of 'e4m3fn_int4_t32' are not; nearest legal: 'e4m3fn_int8_t32'}}
  %0 = blockscale.relayout %a : !a to !d
  return %0 : !d
}

// -----

!a = !blockscale.tensor<64x128xf8E4M3FN, "e8m0_t32n4m8">
!d = !blockscale.tensor<64x128xf8E4M3FN, "e8m0_t32n4m8", layout = tiled_128x4>
func.func @pattern(%a: !a) -> !d {
  // expected-error@+1 {{a kernel moves what keeps a pattern that instructions skip, which that of 'e8m0_t32n4m8' is not; nearest legal: 'n2m4'}}
  %0 = blockscale.relayout %a : !a to !d
  return %0 : !d
}

// -----

!a = !blockscale.tensor<60000x60000xf8E4M3FN>
!d = !blockscale.tensor<60000x60000xf8E4M3FN, order = mn_major>
func.func @matrix(%a: !a) -> !d {
  %0 = blockscale.relayout %a : !a to !d
  return %0 : !d
}

// -----

!a = !blockscale.tensor<2000000000x1024xf8E4M3FN>
!d = !blockscale.tensor<2000000000x1024xf8E4M3FN, order = mn_major>
func.func @turned(%a: !a) -> !d {
  // expected-error@+1 {{it would take}}
  %0 = blockscale.relayout %a : !a to !d
  return %0 : !d
}

// -----

!a = !blockscale.tensor<4000000000x32xf8E4M3FN, "e8m0_t32">
!d = !blockscale.tensor<4000000000x32xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @large(%a: !a) -> !d {
  // expected-error@+1 {{its size of 4000000000 exceeds}}
  %0 = blockscale.relayout %a : !a to !d
  return %0 : !d
}

// -----

!a = !blockscale.tensor<1000000000x128xf8E4M3FN, "e8m0_t32">
!d = !blockscale.tensor<1000000000x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @many(%a: !a) -> !d {
  // expected-error@+1 {{its scales take 4000000000 bytes, more than the}}
  %0 = blockscale.relayout %a : !a to !d
  return %0 : !d
}

// -----

!a = !blockscale.tensor<64x128xi8, "float32_t0">
func.func @nothing(%a: !a) -> !a {
  // expected-error@+1 {{the result lies in memory as the input does, so that a kernel would move nothing; use the input in its place}}
  %0 = blockscale.relayout %a : !a to !a
  return %0 : !a
}
