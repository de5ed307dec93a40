// Launches whose inputs are not those of the product that the kernel was made of.

// RUN: blockscale-opt %s -split-input-file -verify-diagnostics -blockscale-to-linalg

!x = !blockscale.tensor<64x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @inputs(%x: !x) -> tensor<64x64xf32> {
  // expected-error @below {{has 1 inputs for a kernel whose parameters name 3; expected a kernel before 'convert-kernels-to-llvm'}}
  // expected-error @below {{failed to legalize operation 'blockscale.launch'}}
  %0 = blockscale.launch @kernels::@f(%x) : (!x) -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}
gpu.module @kernels {
  gpu.func @f(%d: !blockscale.global<f32> {blockscale.parameter = #blockscale.parameter<d>},
              %alpha: f32 {blockscale.parameter = #blockscale.parameter<alpha>})
      kernel attributes {blockscale.kernel = #blockscale.kernel<grid = ()[m, n, k, l, sms, clusters] -> (m), block = 192>} {
    gpu.return
  }
}

// -----

func.func @nameless(%x: tensor<64x256xf32>) -> tensor<64x64xf32> {
  // expected-error @below {{has 2 inputs for a kernel whose parameters name 0; expected a kernel before 'convert-kernels-to-llvm'}}
  // expected-error @below {{failed to legalize operation 'blockscale.launch'}}
  %0 = blockscale.launch @f(%x, %x) : (tensor<64x256xf32>, tensor<64x256xf32>) -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}
func.func private @f(!blockscale.global<f32>) attributes {blockscale.kernel = #blockscale.kernel<grid = ()[m, n, k, l, sms, clusters] -> (m), block = 192>}

// -----

!x = !blockscale.tensor<64x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @plain_tensor(%x: !x, %y: tensor<64x256xf32>) -> tensor<64x64xf32> {
  // expected-error @below {{expected scaled tensors as its first two inputs}}
  // expected-error @below {{failed to legalize operation 'blockscale.launch'}}
  %0 = blockscale.launch @kernels::@f(%x, %y) : (!x, tensor<64x256xf32>) -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}
gpu.module @kernels {
  gpu.func @f(%d: !blockscale.global<f32> {blockscale.parameter = #blockscale.parameter<d>})
      kernel attributes {blockscale.kernel = #blockscale.kernel<grid = ()[m, n, k, l, sms, clusters] -> (m), block = 192>} {
    gpu.return
  }
}
