// Products whose operands do not belong together.

// RUN: blockscale-opt %s -split-input-file -verify-diagnostics

func.func @matmul_rank(%a: !blockscale.tensor<2x64x64xf8E4M3FN, "e8m0_t32">, %b: !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32">) {
  // expected-error @below {{expected 'a' and 'b' of equal rank, found 3 and 2}}
  %0 = blockscale.matmul %a, %b : !blockscale.tensor<2x64x64xf8E4M3FN, "e8m0_t32">, !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32"> -> tensor<2x64x64xf32>
  return
}

// -----

func.func @matmul_batch(%a: !blockscale.tensor<2x64x64xf8E4M3FN, "e8m0_t32">, %b: !blockscale.tensor<3x64x64xf8E4M3FN, "e8m0_t32">) {
  // expected-error @below {{expected equal batch sizes of 'a' and 'b', found 2 and 3}}
  %0 = blockscale.matmul %a, %b : !blockscale.tensor<2x64x64xf8E4M3FN, "e8m0_t32">, !blockscale.tensor<3x64x64xf8E4M3FN, "e8m0_t32"> -> tensor<2x64x64xf32>
  return
}

// -----

func.func @matmul_k(%a: !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32">, %b: !blockscale.tensor<64x96xf8E4M3FN, "e8m0_t32">) {
  // expected-error @below {{contracts the last dimension, K, of 'a' and 'b', but they have 64 and 96}}
  %0 = blockscale.matmul %a, %b : !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32">, !blockscale.tensor<64x96xf8E4M3FN, "e8m0_t32"> -> tensor<64x64xf32>
  return
}

// -----

func.func @matmul_result(%a: !blockscale.tensor<?x64xf8E4M3FN, "e8m0_t32">, %b: !blockscale.tensor<96x64xf8E4M3FN, "e8m0_t32">) {
  // expected-error @below {{expected a result of shape [?, 96], found [64, 64]}}
  %0 = blockscale.matmul %a, %b : !blockscale.tensor<?x64xf8E4M3FN, "e8m0_t32">, !blockscale.tensor<96x64xf8E4M3FN, "e8m0_t32"> -> tensor<64x64xf32>
  return
}

// -----

func.func @matmul_result_type(%a: !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32">) {
  // expected-error @below {{result #0 must be 2D/3D tensor of 32-bit float or bfloat16 type or 16-bit float or 32-bit signless integer values, but got 'tensor<64x64xf64>'}}
  %0 = blockscale.matmul %a, %a : !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32">, !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32"> -> tensor<64x64xf64>
  return
}

// -----

func.func @matmul_beta(%a: !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32">, %s: f32) {
  // expected-error @below {{'beta' is given without 'c'}}
  %0 = blockscale.matmul %a, %a beta(%s) : !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32">, !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32"> -> tensor<64x64xf32>
  return
}

// -----

func.func @matmul_c(%a: !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32">, %c: tensor<64x32xf32>) {
  // expected-error @below {{expected 'c' of the result's shape [64, 64], found [64, 32]}}
  %0 = blockscale.matmul %a, %a c(%c) : !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32">, !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32">, tensor<64x32xf32> -> tensor<64x64xf32>
  return
}

// -----

func.func @matmul_bias(%a: !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32">, %b: !blockscale.tensor<32x64xf8E4M3FN, "e8m0_t32">, %v: tensor<64xf32>) {
  // expected-error @below {{expected a bias per column of shape [32], found [64]}}
  %0 = blockscale.matmul %a, %b bias(%v) : !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32">, !blockscale.tensor<32x64xf8E4M3FN, "e8m0_t32">, tensor<64xf32> -> tensor<64x32xf32>
  return
}

// -----

func.func @matmul_row_bias(%a: !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32">, %b: !blockscale.tensor<32x64xf8E4M3FN, "e8m0_t32">, %v: tensor<1x64xf32>) {
  // expected-error @below {{expected a bias per row of shape [64], found [1, 64]}}
  %0 = blockscale.matmul %a, %b bias(%v) row : !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32">, !blockscale.tensor<32x64xf8E4M3FN, "e8m0_t32">, tensor<1x64xf32> -> tensor<64x32xf32>
  return
}

// -----

func.func @matmul_activation(%a: !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32">) {
  // expected-error @below {{unknown activation 'tanh', expected relu, gelu, silu}}
  %0 = blockscale.matmul %a, %a activation(tanh) : !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32">, !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32"> -> tensor<64x64xf32>
  return
}
