// RUN: blockscale-opt %s --split-input-file --verify-diagnostics --blockscale-attach-target=target=sm_100a --blockscale-form-kernels

!q = !blockscale.tensor<16x64xf8E4M3FN, "e8m0_t32">
func.func @plain(%x: tensor<16x64xf32>) -> !q {
  // expected-error@+1 {{a kernel writes scales in layout 'tiled_128x4', as the tensor core reads them, but the result has 'plain'}}
  %0 = blockscale.quantize %x : tensor<16x64xf32> to !q
  return %0 : !q
}

// -----

!q = !blockscale.tensor<16x64xf8E4M3FN>
func.func @unscaled(%x: tensor<16x64xf32>) -> !q {
  // expected-error@+1 {{a kernel quantises to elements with scales of tiles along K, but the result has none}}
  %0 = blockscale.quantize %x : tensor<16x64xf32> to !q
  return %0 : !q
}

// -----

!q = !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t64_t32", layout = tiled_128x4>
func.func @tall(%x: tensor<64x64xf32>) -> !q {
  // expected-error@+1 {{a kernel chooses scales for blocks along K of 1, 4, 8, 16 or 32 rows, but those of 'e8m0_t64_t32' are for other tiles; nearest legal: 'e8m0_t32' or 'e8m0_t32_t32'}}
  %0 = blockscale.quantize %x : tensor<64x64xf32> to !q
  return %0 : !q
}

// -----

!q = !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t0_t32", layout = tiled_128x4>
func.func @columns_share(%x: tensor<64x64xf32>) -> !q {
  // expected-error@+1 {{but those of 'e8m0_t0_t32' are for other tiles}}
  %0 = blockscale.quantize %x : tensor<64x64xf32> to !q
  return %0 : !q
}

// -----

!q = !blockscale.tensor<64x128xf8E4M3FN, "e8m0_t32_t64", layout = tiled_128x4>
func.func @long(%x: tensor<64x128xf32>) -> !q {
  // expected-error@+1 {{no instruction of 'sm_100a' reads elements of f8E4M3FN with scales as 'e8m0_t32_t64' says}}
  %0 = blockscale.quantize %x : tensor<64x128xf32> to !q
  return %0 : !q
}

// -----

!q = !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32", layout = tiled_128x4, order = mn_major>
func.func @columns(%x: tensor<64x64xf32>) -> !q {
  // expected-error@+1 {{a kernel writes elements along K, but the result is in order 'mn_major'; nearest legal: 'k_major'}}
  %0 = blockscale.quantize %x : tensor<64x64xf32> to !q
  return %0 : !q
}

// -----

!q = !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32n2m4", layout = tiled_128x4>
func.func @sparse(%x: tensor<64x64xf32>) -> !q {
  // expected-error@+1 {{a kernel writes dense elements, but 'e8m0_t32n2m4' prunes; prune on the host first}}
  %0 = blockscale.quantize %x : tensor<64x64xf32> to !q
  return %0 : !q
}

// -----

!q = !blockscale.tensor<64x64xi8, "e8m0_t32", layout = tiled_128x4>
func.func @integers(%x: tensor<64x64xf32>) -> !q {
  // expected-error@+1 {{no instruction of 'sm_100a' reads elements of i8 with scales as 'e8m0_t32' says, so that no kernel writes them; nearest legal: 'e8m0_t32', or for f4E2M1FN 'multi_float32_e4m3fn_t16'}}
  %0 = blockscale.quantize %x : tensor<64x64xf32> to !q
  return %0 : !q
}

// -----

!q = !blockscale.tensor<64x64xf8E4M3FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @no_scheme(%x: tensor<64x64xf32>) -> !q {
  // expected-error@+1 {{no instruction of 'sm_100a' reads elements of f8E4M3FN with scales as 'e4m3fn_t16' says}}
  %0 = blockscale.quantize %x : tensor<64x64xf32> to !q
  return %0 : !q
}

// -----

!q = !blockscale.tensor<64x64xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
func.func @whole_matrix(%x: tensor<64x64xf32>) -> !q {
  // expected-error@+1 {{a kernel sees one block at a time, but the tensor scale of 'multi_float32_e4m3fn_t16' follows from the largest magnitude of the whole matrix; pass one as 'tensor_scale'}}
  %0 = blockscale.quantize %x : tensor<64x64xf32> to !q
  return %0 : !q
}

// -----

!q = !blockscale.tensor<64x64xf4E2M1FN, "multi_bfloat16_e4m3fn_t16", layout = tiled_128x4>
func.func @narrow_factor(%x: tensor<64x64xf32>, %t: tensor<f32>) -> !q {
  // expected-error@+1 {{a kernel writes tensor scales of float32, but those of 'multi_bfloat16_e4m3fn_t16' are others}}
  %0 = blockscale.quantize %x tensor_scale(%t : tensor<f32>) : tensor<64x64xf32> to !q
  return %0 : !q
}

// -----

!q = !blockscale.tensor<4000000000x32xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @tall(%x: tensor<4000000000x32xf32>) -> !q {
  // expected-error@+1 {{its size of 4000000000 exceeds}}
  %0 = blockscale.quantize %x : tensor<4000000000x32xf32> to !q
  return %0 : !q
}

// -----

!q = !blockscale.tensor<1000000000x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @many(%x: tensor<1000000000x128xf32>) -> !q {
  // expected-error@+1 {{its scales would take 4000000000 bytes, more than the}}
  %0 = blockscale.quantize %x : tensor<1000000000x128xf32> to !q
  return %0 : !q
}
