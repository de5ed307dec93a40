// What no kernel computes of a product whose K is in groups.

// RUN: blockscale-opt %s -split-input-file -blockscale-legalize-scales -blockscale-select-schedule -verify-diagnostics

!a = !blockscale.tensor<96x?xbf16>
!b = !blockscale.tensor<64x?xbf16>
func.func @split_on_warps(%a: !a, %b: !b, %ends: tensor<4xi32>) -> tensor<4x96x64xf32> {
  // expected-error @below {{'split_k'}}
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) schedule(#blockscale.schedule<split_k = 2>) {blockscale.target = #blockscale.target<sm_120a>} : !a, !b -> tensor<4x96x64xf32>
  return %0 : tensor<4x96x64xf32>
}

// -----

!a = !blockscale.tensor<96x?xbf16>
!b = !blockscale.tensor<64x?xbf16>
func.func @split(%a: !a, %b: !b, %ends: tensor<4xi32>) -> tensor<4x96x64xf32> {
  // expected-error @below {{'split_k'}}
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) schedule(#blockscale.schedule<split_k = 2>) : !a, !b -> tensor<4x96x64xf32>
  return %0 : tensor<4x96x64xf32>
}

// -----

!a = !blockscale.tensor<96x?xf8E4M3FN>
!b = !blockscale.tensor<64x?xf8E4M3FN>
func.func @wide(%a: !a, %b: !b, %ends: tensor<4xi32>) -> tensor<4x96x64xf32> {
  // expected-error @below {{groups along K end at multiples of 32 elements; expected 'mma_k' of 32, found 64}}
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) schedule(#blockscale.schedule<mma_k = 64>) {blockscale.target = #blockscale.target<sm_107a>} : !a, !b -> tensor<4x96x64xf32>
  return %0 : tensor<4x96x64xf32>
}

// -----

!a = !blockscale.tensor<96x?xbf16>
!b = !blockscale.tensor<64x?xbf16>
func.func @dynamic(%a: !a, %b: !b, %ends: tensor<4xi32>) -> tensor<4x96x64xf32> {
  // expected-error @below {{products with groups along K are lowered with 'scheduler' of 'static' only}}
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) schedule(#blockscale.schedule<scheduler = dynamic>) : !a, !b -> tensor<4x96x64xf32>
  return %0 : tensor<4x96x64xf32>
}
