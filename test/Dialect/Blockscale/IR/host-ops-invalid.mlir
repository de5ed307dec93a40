// RUN: blockscale-opt %s -split-input-file -verify-diagnostics

func.func @no_kernel(%a: memref<4x64xf8E4M3FN>, %d: memref<4x32xf32>) {
  // expected-error@+1 {{'blockscale.launch_into' op there is no kernel @kernels::@f}}
  blockscale.launch_into @kernels::@f ["a_data"] ins(%a : memref<4x64xf8E4M3FN>) outs(%d : memref<4x32xf32>)
  return
}

// -----

// expected-note@+1 {{declared here}}
func.func private @f()
func.func @not_a_kernel(%a: memref<4x64xf8E4M3FN>, %d: memref<4x32xf32>) {
  // expected-error@+1 {{'blockscale.launch_into' op @f is not a kernel: it has no 'blockscale.kernel' attribute}}
  blockscale.launch_into @f ["a_data"] ins(%a : memref<4x64xf8E4M3FN>) outs(%d : memref<4x32xf32>)
  return
}

// -----

func.func @roles(%a: memref<4x64xf8E4M3FN>, %d: memref<4x32xf32>) {
  // expected-error@+1 {{'blockscale.launch_into' op has 1 inputs for 2 roles}}
  blockscale.launch_into @kernels::@f ["a_data", "b_data"] ins(%a : memref<4x64xf8E4M3FN>) outs(%d : memref<4x32xf32>)
  return
}

// -----

func.func @twice(%a: memref<4x64xf8E4M3FN>, %d: memref<4x32xf32>) {
  // expected-error@+1 {{'blockscale.launch_into' op names the role 'a_data' twice}}
  blockscale.launch_into @kernels::@f ["a_data", "a_data"] ins(%a, %a : memref<4x64xf8E4M3FN>, memref<4x64xf8E4M3FN>) outs(%d : memref<4x32xf32>)
  return
}

// -----

func.func @too_many(%x: memref<4x32xf32>, %d: memref<4x32xf8E4M3FN>) {
  // expected-error@+1 {{'blockscale.launch_into' op has 4 values in 'outs'; expected the result, or two or three parts of a quantised one}}
  blockscale.launch_into @kernels::@f ["x"] ins(%x : memref<4x32xf32>) outs(%d, %d, %d, %d : memref<4x32xf8E4M3FN>, memref<4x32xf8E4M3FN>, memref<4x32xf8E4M3FN>, memref<4x32xf8E4M3FN>)
  return
}

// -----

func.func @both_kinds(%x: tensor<4x32xf32>, %d: tensor<4x32xf8E4M3FN>, %s: memref<1x1x32x16xf8E8M0FNU>) {
  // expected-error@+1 {{'blockscale.launch_into' op has tensors and memrefs in 'outs'; expected one or the other}}
  %0 = blockscale.launch_into @kernels::@f ["x"] ins(%x : tensor<4x32xf32>) outs(%d, %s : tensor<4x32xf8E4M3FN>, memref<1x1x32x16xf8E8M0FNU>) -> tensor<4x32xf8E4M3FN>
  return
}

// -----

func.func @no_result(%a: tensor<4x64xf8E4M3FN>, %d: tensor<4x32xf32>) {
  // expected-error@+1 {{expected the number of tensor results (0) to be equal to the number of output tensors (1)}}
  blockscale.launch_into @kernels::@f ["a_data"] ins(%a : tensor<4x64xf8E4M3FN>) outs(%d : tensor<4x32xf32>)
  return
}

// -----

func.func @result_and_memory(%a: memref<4x64xf8E4M3FN>, %d: memref<4x32xf32>) {
  // expected-error@+1 {{expected the number of tensor results (1) to be equal to the number of output tensors (0)}}
  %0 = blockscale.launch_into @kernels::@f ["a_data"] ins(%a : memref<4x64xf8E4M3FN>) outs(%d : memref<4x32xf32>) -> tensor<4x32xf32>
  return
}

// -----

func.func @mixed(%a: tensor<4x64xf8E4M3FN>, %d: memref<4x32xf32>) {
  // expected-error@+1 {{'blockscale.launch_into' op takes 'a_data' as 'tensor<4x64xf8E4M3FN>'; expected a ranked memref or f32}}
  blockscale.launch_into @kernels::@f ["a_data"] ins(%a : tensor<4x64xf8E4M3FN>) outs(%d : memref<4x32xf32>)
  return
}

// -----

// expected-error@+1 {{'func.func' op expected 'blockscale.plan' to be the text of a launch plan}}
func.func private @plan() attributes {blockscale.plan = 3 : i32}

// -----

func.func @result_roles(%a: memref<4x64xf16>, %d: memref<4x32xf16>) {
  // expected-error@+1 {{'blockscale.launch_into' op has 1 values in 'outs' for 2 of 'result_roles'}}
  blockscale.launch_into @kernels::@f ["a_data"] ins(%a : memref<4x64xf16>) outs(%d : memref<4x32xf16>) {result_roles = ["d_data", "d_metadata"]}
  return
}

// -----

func.func @result_of_operand(%a: memref<4x64xf16>, %d: memref<4x32xf16>) {
  // expected-error@+1 {{'blockscale.launch_into' op names the role 'a_data' twice}}
  blockscale.launch_into @kernels::@f ["a_data"] ins(%a : memref<4x64xf16>) outs(%d : memref<4x32xf16>) {result_roles = ["a_data"]}
  return
}
