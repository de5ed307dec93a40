// RUN: blockscale-opt %s -split-input-file -verify-diagnostics -pass-pipeline='builtin.module(blockscale-nki-legalize,blockscale-nki-form-kernels)'

!t = !blockscale.tensor<4x512xf8E4M3FN, "e8m0_t32">
func.func @other_op(%a: !t) -> tensor<4x4xf32> {
  %0 = blockscale.matmul %a, %a : !t, !t -> tensor<4x4xf32>
  // expected-error @below {{is not lowered to NKI: a function holds one 'blockscale.matmul' of arguments or of 'blockscale.quantize', and nothing else}}
  %1 = arith.addf %0, %0 : tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// -----

!t = !blockscale.tensor<4x512xf8E4M3FN, "e8m0_t32">
func.func @two(%a: !t) -> tensor<4x4xf32> {
  %0 = blockscale.matmul %a, %a : !t, !t -> tensor<4x4xf32>
  // expected-error @below {{is the second product of its function; a kernel of NKI computes one: expected a function for each}}
  %1 = blockscale.matmul %a, %a : !t, !t -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// -----

!t = !blockscale.tensor<4x512xf8E4M3FN, "e8m0_t32">
func.func @more_results(%a: !t, %x: f32) -> (tensor<4x4xf32>, f32) {
  %0 = blockscale.matmul %a, %a : !t, !t -> tensor<4x4xf32>
  // expected-error @below {{expected to return the result of 'blockscale.matmul' and nothing else, which is what the kernel computes}}
  return %0, %x : tensor<4x4xf32>, f32
}

// -----

// expected-error @below {{function 'empty' holds no 'blockscale.matmul' or 'blockscale.quantize' to lower}}
func.func @empty(%x: f32) -> f32 {
  return %x : f32
}

// -----

// expected-error @below {{function 'declared' has no body to lower}}
func.func private @declared(f32) -> f32

// -----

!t = !blockscale.tensor<4x512xf8E4M3FN, "e8m0_t32">
func.func @unused(%a: !t, %x: tensor<4x512xbf16>) -> tensor<4x4xf32> {
  // expected-error @below {{has no use, and is no result of the kernel}}
  %q = blockscale.quantize %x rule(floor_plus_one) : tensor<4x512xbf16> to !t
  %0 = blockscale.matmul %a, %a : !t, !t -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

!t = !blockscale.tensor<4x512xf8E4M3FN, "e8m0_t32">
func.func @own_epilogue(%a: !t) -> tensor<4x4xf32> {
  // expected-error @below {{has an epilogue that is not lowered to NKI; expected none, or 'activation(relu)', 'activation(gelu)' or 'activation(silu)'}}
  %0 = blockscale.matmul %a, %a epilogue(%x) {
    %1 = arith.mulf %x, %x : f32
    blockscale.yield %1
  } : !t, !t -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

!t = !blockscale.tensor<4x512xf8E4M3FN, "e8m0_t32">
// expected-error @below {{function 'control_flow' has control flow, which is not lowered to NKI}}
func.func @control_flow(%a: !t) -> tensor<4x4xf32> {
  cf.br ^bb1
^bb1:
  %0 = blockscale.matmul %a, %a : !t, !t -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

!t = !blockscale.tensor<4x512xf8E4M3FN, "e8m0_t32">
func.func @constant_c(%a: !t, %beta: f32) -> tensor<4x4xf32> {
  // expected-error @below {{makes operand 'c', which must be an argument of the function: the host passes it}}
  %c = arith.constant dense<1.0> : tensor<4x4xf32>
  %0 = blockscale.matmul %a, %a beta(%beta) c(%c) : !t, !t, tensor<4x4xf32> -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

!t = !blockscale.tensor<2x4x512xf8E4M3FN, "multi_float32_e8m0_t32">
func.func @batched_scales(%a: !t) -> tensor<2x4x4xf32> {
  // expected-error @below {{operand 'a' has a tensor scale for each matrix of a batch, which is not lowered to NKI}}
  %0 = blockscale.matmul %a, %a : !t, !t -> tensor<2x4x4xf32>
  return %0 : tensor<2x4x4xf32>
}
