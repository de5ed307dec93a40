// Launches that the runtime cannot be called for: each is refused alone, before
// anything is converted.

// RUN: blockscale-opt %s -split-input-file -verify-diagnostics -convert-blockscale-to-runtime

func.func @on_tensors(%a: tensor<4x64xf8E4M3FN>, %d: tensor<4x32xf32>) -> tensor<4x32xf32> {
  // expected-error @below {{'blockscale.launch_into' op is on tensors; bufferize it first}}
  %0 = blockscale.launch_into @k::@f ["a_data"] ins(%a : tensor<4x64xf8E4M3FN>) outs(%d : tensor<4x32xf32>) -> tensor<4x32xf32>
  return %0 : tensor<4x32xf32>
}
gpu.binary @k [#gpu.object<#nvvm.target<chip = "sm_100a">, assembly = "//">]

// -----

func.func @not_compiled(%a: memref<4x64xf8E4M3FN>, %d: memref<4x32xf32>) {
  // expected-error @below {{the kernels of @k::@f are not compiled; run 'blockscale-serialize-kernels' first}}
  blockscale.launch_into @k::@f ["a_data"] ins(%a : memref<4x64xf8E4M3FN>) outs(%d : memref<4x32xf32>)
  return
}
gpu.module @k {
  gpu.func @f() kernel attributes {blockscale.kernel = #blockscale.kernel<grid = ()[m, n, k, l, sms, clusters] -> (m), block = 192>} {
    gpu.return
  }
}

// -----

func.func @without_plan(%a: memref<4x64xf8E4M3FN>, %d: memref<4x32xf32>) {
  blockscale.launch_into @k::@f ["a_data"] ins(%a : memref<4x64xf8E4M3FN>) outs(%d : memref<4x32xf32>)
  return
}
// expected-error @below {{expected one object with the property 'blockscale.plan', as 'blockscale-serialize-kernels' makes them}}
gpu.binary @k [#gpu.object<#nvvm.target<chip = "sm_100a">, assembly = "//">]

// -----

func.func @unreadable(%a: memref<4x64xf8E4M3FN>, %d: memref<4x32xf32>) {
  blockscale.launch_into @k::@f ["a_data"] ins(%a : memref<4x64xf8E4M3FN>) outs(%d : memref<4x32xf32>)
  return
}
// expected-error @below {{its plan cannot be read: launch plan: }}
gpu.binary @k [#gpu.object<#nvvm.target<chip = "sm_100a">, properties = {blockscale.plan = "no plan"}, assembly = "//">]

// -----

func.func @other_kernel(%a: memref<4x64xf8E4M3FN>, %d: memref<4x32xf32>) {
  blockscale.launch_into @k::@f ["a_data"] ins(%a : memref<4x64xf8E4M3FN>) outs(%d : memref<4x32xf32>)
  return
}
// expected-error @below {{its plan has no kernel 'f'}}
gpu.binary @k [#gpu.object<#nvvm.target<chip = "sm_100a">, properties = {blockscale.plan = "{\"version\": 3, \"target\": \"sm_100a\", \"kernels\": [], \"functions\": []}"}, assembly = "//">]

// -----

// expected-error @below {{the runtime takes sizes of 64 bits, but an index has 32}}
module attributes {dlti.dl_spec = #dlti.dl_spec<index = 32 : i32>} {
}
