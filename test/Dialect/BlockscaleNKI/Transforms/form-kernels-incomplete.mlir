// RUN: blockscale-opt %s -verify-diagnostics -pass-pipeline='builtin.module(blockscale-nki-form-kernels)'

!t = !blockscale.tensor<4x512xf8E4M3FN, "e8m0_t32">
func.func @left_open(%a: !t) -> tensor<4x4xf32> {
  // expected-error @below {{has #blockscale_nki.config<target = "trn3">, which is not complete and legal; run 'blockscale-nki-legalize' before}}
  %0 = blockscale.matmul %a, %a {blockscale_nki.config = #blockscale_nki.config<target = "trn3">} : !t, !t -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
