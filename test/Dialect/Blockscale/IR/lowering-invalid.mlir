// RUN: blockscale-opt %s -split-input-file -verify-diagnostics

!q = !blockscale.tensor<128x64xf8E4M3FN, "e8m0_t32">
func.func @no_lowering(%a: !q) -> tensor<128x128xf32> {
  // expected-error @below {{invalid kind of attribute specified}}
  %0 = blockscale.matmul %a, %a lowering(#blockscale.target<sm_103a>) : !q, !q -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// -----

!q = !blockscale.tensor<128x64xf8E4M3FN, "e8m0_t32">
func.func @generic(%a: !q) -> tensor<128x128xf32> {
  // expected-error @below {{Invalid attribute `lowering` in property conversion: #blockscale.target<sm_103a>}}
  %0 = "blockscale.matmul"(%a, %a) <{operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0, 0, 0>, lowering = #blockscale.target<sm_103a>}> ({}) : (!q, !q) -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}
