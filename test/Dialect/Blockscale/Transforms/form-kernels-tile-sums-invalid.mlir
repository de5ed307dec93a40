// RUN: blockscale-opt %s --split-input-file --verify-diagnostics --blockscale-attach-target=target=sm_100a --blockscale-form-kernels

!a = !blockscale.tensor<64x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @tiled(%a: !a) -> tensor<2x64xf32> {
  // expected-error@+1 {{a kernel adds up elements under scales in layout 'plain', as products with zero points in real units read them, but the operand has 'tiled_128x4'}}
  %0 = blockscale.tile_sums %a tile = 128 : !a to tensor<2x64xf32>
  return %0 : tensor<2x64xf32>
}

// -----

!a = !blockscale.tensor<64x256xi8, "float32_t0">
func.func @integers(%a: !a) -> tensor<2x64xf32> {
  // expected-error@+1 {{a kernel adds up elements of f8E4M3FN, f8E5M2, f6E2M3FN, f6E3M2FN, f4E2M1FN, bf16, f16 and tf32, which products read as they are; found i8}}
  %0 = blockscale.tile_sums %a tile = 128 : !a to tensor<2x64xf32>
  return %0 : tensor<2x64xf32>
}

// -----

!a = !blockscale.tensor<64x256xf8E4M3FNUZ, "float32_t0">
func.func @recoded(%a: !a) -> tensor<2x64xf32> {
  // expected-error@+1 {{which products read as they are; found f8E4M3FNUZ}}
  %0 = blockscale.tile_sums %a tile = 128 : !a to tensor<2x64xf32>
  return %0 : tensor<2x64xf32>
}

// -----

!a = !blockscale.tensor<64x256xf8E4M3FN, "float32_t0", order = mn_major>
func.func @columns(%a: !a) -> tensor<2x64xf32> {
  // expected-error@+1 {{a kernel adds up elements along K, but the operand is in order 'mn_major'; nearest legal: 'k_major', from and to which a kernel of 'blockscale.relayout' brings it, as whole functions do by themselves ('--emit=host-llvm --quantize-on-device')}}
  %0 = blockscale.tile_sums %a tile = 128 : !a to tensor<2x64xf32>
  return %0 : tensor<2x64xf32>
}
