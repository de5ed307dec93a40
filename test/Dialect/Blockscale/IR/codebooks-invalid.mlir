// RUN: blockscale-opt %s -split-input-file -verify-diagnostics

// expected-error@+1 {{'e2m1fnuz' is not a codebook}}
func.func private @float(!blockscale.codebook<"e2m1fnuz">)

// -----

// expected-error@+1 {{the tables of codebook 'cb41_e2m2fnuz' come from elsewhere; expected patterns that say them, as in 'cb41fi_e2m2fnuz'}}
func.func private @elsewhere(!blockscale.codebook<"cb41_e2m2fnuz">)

// -----

// expected-error@+1 {{codebook 'cb51ie_e1m5b1fnuz' is spelled 'cb51ie_int7'}}
func.func private @spelling(!blockscale.codebook<"cb51ie_e1m5b1fnuz">)

// -----

// expected-error@+1 {{codebook pattern 'p' has no agreed tables}}
func.func private @pattern(!blockscale.codebook<"cb41p1_e2m2fnuz">)

// -----

// expected-error@+1 {{a value of codebook 'cb41f01_e8m3fnuz' is no float32}}
func.func private @large(!blockscale.codebook<"cb41f01_e8m3fnuz">)

// -----

// expected-error@+1 {{a value of codebook 'cb41f01_e2m2b255fnuz' is no float32}}
func.func private @small(!blockscale.codebook<"cb41f01_e2m2b255fnuz">)

// -----

// expected-error@+1 {{'mx6' has elements of 'cb51ie_int7', which are '!blockscale.codebook<"cb51ie_int7">'; found 'i8'}}
func.func private @named(!blockscale.tensor<4x32xi8, "mx6">)

// -----

// expected-error@+1 {{codebook data need an exponent scale}}
func.func private @scale(!blockscale.tensor<4x32x!blockscale.codebook<"cb41fi_e2m2fnuz">, "e4m3_t32s4">)

// -----

// expected-error@+1 {{codebook data need a tile of the last dimension}}
func.func private @tile(!blockscale.tensor<4x32x!blockscale.codebook<"cb41fi_e2m2fnuz">, "e8m0_t0">)

// -----

// expected-error@+1 {{cannot go unscaled}}
func.func private @unscaled(!blockscale.tensor<4x32x!blockscale.codebook<"cb41fi_e2m2fnuz">>)

// -----

// expected-error@+1 {{the metadata of codebook elements are the numbers of their tables, so that none are left for sparsity; expected a dense tensor}}
func.func private @sparse(!blockscale.tensor<4x64x!blockscale.codebook<"cb41fi_e2m2fnuz">, "e8m0_t16s4n2m4">)

// -----

// expected-error@+1 {{order 'mn_major' is for elements of 8 and 16 bits, found indices of codebooks}}
func.func private @order(!blockscale.tensor<4x32x!blockscale.codebook<"cb81ie_int9">, "mx9", order = mn_major>)

// -----

func.func @metadata(%data: tensor<4x32xi4>, %scales: tensor<4x1xf8E8M0FNU>) {
  // expected-error@+1 {{metadata}}
  %0 = blockscale.assemble %data, %scales : tensor<4x32xi4>, tensor<4x1xf8E8M0FNU> to !blockscale.tensor<4x32x!blockscale.codebook<"cb41fi_e2m2fnuz">, "mxfi4">
  return
}

// -----

func.func @quantize(%x: tensor<4x32xf32>) {
  // expected-error@+1 {{has elements of '!blockscale.codebook<"cb41fi_e2m2fnuz">'; there is no rule that chooses the tables of codebooks, so they are only read}}
  %0 = blockscale.quantize %x : tensor<4x32xf32> to !blockscale.tensor<4x32x!blockscale.codebook<"cb41fi_e2m2fnuz">, "mxfi4">
  return
}
