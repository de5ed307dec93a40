// RUN: blockscale-opt %s --split-input-file --verify-diagnostics --blockscale-attach-target=target=sm_100a --blockscale-form-kernels

!a = !blockscale.tensor<64x64xf8E4M3FN>
!d = !blockscale.tensor<64x64xf8E4M3FN, order = mn_major>
func.func @unscaled(%a: !a) -> !d {
  // expected-error@+1 {{a kernel moves scales, but the operand has none}}
  %0 = blockscale.relayout %a : !a to !d
  return %0 : !d
}

// -----

!a = !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!d = !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32", layout = tiled_128x4, order = mn_major>
func.func @order(%a: !a) -> !d {
  // expected-error@+1 {{a kernel changes the layout of scales and moves no elements, but the result is in another order of elements; nearest legal: the same 'order'}}
  %0 = blockscale.relayout %a : !a to !d
  return %0 : !d
}

// -----

!a = !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32n2m4">
!d = !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32n2m4", layout = tiled_128x4>
func.func @sparse(%a: !a) -> !d {
  // expected-error@+1 {{a kernel moves no metadata, which 'e8m0_t32n2m4' has; nearest legal: the host's change of layout}}
  %0 = blockscale.relayout %a : !a to !d
  return %0 : !d
}

// -----

!a = !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32_t32">
!d = !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32_t32", layout = tiled_128x4>
func.func @tall(%a: !a) -> !d {
  // expected-error@+1 {{a kernel moves a scale for each row and block along K, but those of 'e8m0_t32_t32' are for other tiles; nearest legal: 'e8m0_t32'}}
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
