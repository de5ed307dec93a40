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
!b = !blockscale.tensor<64x?xf6E3M2FN>
func.func @six_bits(%a: !a, %b: !b, %ends: tensor<4xi32>) -> tensor<4x96x64xf32> {
  // expected-error @below {{tensor maps reach elements of 6 and 4 bits that are multiplied as bytes at multiples of 128 along K only, and groups along K begin anywhere; nearest legal: elements of 8 bits}}
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) : !a, !b -> tensor<4x96x64xf32>
  return %0 : tensor<4x96x64xf32>
}

// -----

!a = !blockscale.tensor<96x?xf8E4M3FN>
!b = !blockscale.tensor<64x?xf8E4M3FN>
func.func @wide(%a: !a, %b: !b, %ends: tensor<4xi32>) -> tensor<4x96x64xf32> {
  // expected-error @below {{groups along K end at multiples of an instruction's K of 32; expected 'mma_k' of that, found 64}}
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

// -----

// Elements of 4 bits are multiplied as bytes under scales that no instruction reads.
!a = !blockscale.tensor<96x?xf4E2M1FN, "float32_t0", layout = grouped>
!b = !blockscale.tensor<64x?xf4E2M1FN, "float32_t0", layout = grouped>
func.func @four_bits(%a: !a, %b: !b, %ends: tensor<4xi32>) -> tensor<4x96x64xf32> {
  // expected-error @below {{tensor maps reach elements of 6 and 4 bits that are multiplied as bytes at multiples of 128 along K only}}
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) : !a, !b -> tensor<4x96x64xf32>
  return %0 : tensor<4x96x64xf32>
}
