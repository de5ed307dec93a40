// A chip without instructions for int8 has no use for codes of it.

// RUN: blockscale-opt %s --verify-diagnostics --blockscale-attach-target=target=sm_103a --blockscale-form-kernels

!q = !blockscale.tensor<64x128xi8, "float32_t0">
func.func @integers(%x: tensor<64x128xbf16>) -> !q {
  // expected-error@+1 {{no instruction of 'sm_103a' reads elements of i8, so that no kernel writes them; nearest legal: f8E4M3FN}}
  %0 = blockscale.quantize %x : tensor<64x128xbf16> to !q
  return %0 : !q
}
