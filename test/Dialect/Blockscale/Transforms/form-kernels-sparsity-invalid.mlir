// RUN: blockscale-opt %s --split-input-file --verify-diagnostics --blockscale-attach-target=target=sm_100a --blockscale-form-kernels

func.func @ragged(%x: tensor<8x24xbf16>) -> tensor<8x24xbf16> {
  // expected-error@+1 {{a thread of the kernel has 16 elements of a row, but K = 24; nearest legal: K = 32}}
  %0 = blockscale.prune %x keep 2 of 4 : tensor<8x24xbf16>
  return %0 : tensor<8x24xbf16>
}

// -----

func.func @large(%x: tensor<4000000000x32xbf16>) -> tensor<4000000000x32xbf16> {
  // expected-error@+1 {{its size of 4000000000 exceeds}}
  %0 = blockscale.prune %x keep 2 of 4 : tensor<4000000000x32xbf16>
  return %0 : tensor<4000000000x32xbf16>
}

// -----

func.func @many(%x: tensor<1000000000x64xbf16>) -> tensor<1000000000x64xbf16> {
  // expected-error@+1 {{it would take 4000000000 threads, more than the}}
  %0 = blockscale.prune %x keep 2 of 4 : tensor<1000000000x64xbf16>
  return %0 : tensor<1000000000x64xbf16>
}

// -----

!dense = !blockscale.tensor<64x128xf8E4M3FN, order = mn_major>
!sparse = !blockscale.tensor<64x128xf8E4M3FN, "n2m4", layout = tiled_128x4, order = mn_major>
func.func @order(%a: !dense) -> !sparse {
  // expected-error@+1 {{a kernel keeps or drops elements along K, but the operand is in order 'mn_major'; nearest legal: 'k_major', from and to which a kernel of 'blockscale.relayout' brings it, as whole functions do by themselves ('--emit=host-llvm --quantize-on-device')}}
  %0 = blockscale.compress %a : !dense to !sparse
  return %0 : !sparse
}

// -----

!dense = !blockscale.tensor<64x128xf8E4M3FN, "e8m0_t32_t32", layout = tiled_128x4>
!sparse = !blockscale.tensor<64x128xf8E4M3FN, "e8m0_t32_t32n2m4", layout = tiled_128x4>
func.func @scales(%a: !sparse) -> !dense {
  // expected-error@+1 {{a kernel moves a scale for each row and block along K, but those of 'e8m0_t32_t32n2m4' are for other tiles; nearest legal: 'e8m0_t32'; or a result with a scale for 64 elements along K, as the operand has}}
  %0 = blockscale.densify %a : !sparse to !dense
  return %0 : !dense
}

// -----

!dense = !blockscale.tensor<64x128xi4, "e8m0_t64", layout = tiled_128x4>
!sparse = !blockscale.tensor<64x128xi4, "e8m0_t32n2m4", layout = tiled_128x4>
func.func @element(%a: !dense) -> !sparse {
  // expected-error@+1 {{no sparse instruction reads elements of i4, so that no kernel keeps or drops them; nearest legal: f8E4M3FN}}
  %0 = blockscale.compress %a : !dense to !sparse
  return %0 : !sparse
}

// -----

// Without scales nothing keeps padding out of sums, so that there must be none.
!dense = !blockscale.tensor<64x128xf4E2M1FN>
!sparse = !blockscale.tensor<64x128xf4E2M1FN, "n2m4", layout = tiled_128x4>
func.func @padding(%a: !dense) -> !sparse {
  // expected-error@+1 {{a kernel writes no padding of elements without scales, but K = 128 is no multiple of 256, so that lines of the result would have some}}
  %0 = blockscale.compress %a : !dense to !sparse
  return %0 : !sparse
}
