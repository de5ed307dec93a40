// What no kernel computes of a product with groups.

// RUN: blockscale-opt %s -split-input-file -blockscale-legalize-scales -blockscale-select-schedule -verify-diagnostics

!a = !blockscale.tensor<?x512xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
!b = !blockscale.tensor<4x256x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @warps(%a: !a, %b: !b, %ends: tensor<4xi32>) -> tensor<?x256xf32> {
  // expected-error @below {{products with groups do not split K; expected 'split_k' of 1, found 2}}
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) schedule(#blockscale.schedule<split_k = 2>) {blockscale.target = #blockscale.target<sm_120a>} : !a, !b -> tensor<?x256xf32>
  return %0 : tensor<?x256xf32>
}

// -----

!a = !blockscale.tensor<?x512xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
!b = !blockscale.tensor<4x256x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @split(%a: !a, %b: !b, %ends: tensor<4xi32>) -> tensor<?x256xf32> {
  // expected-error @below {{products with groups do not split K; expected 'split_k' of 1, found 2}}
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) schedule(#blockscale.schedule<split_k = 2>) : !a, !b -> tensor<?x256xf32>
  return %0 : tensor<?x256xf32>
}

// -----

!a = !blockscale.tensor<?x512xi8, "float32_t0">
!b = !blockscale.tensor<4x256x512xi8, "float32_t0">
func.func @swapped(%a: !a, %b: !b, %ends: tensor<4xi32>, %ids: tensor<?xi32>) -> tensor<?x256xf32> {
  // expected-error @below {{threads read scales of rows of 'a' that are gathered for rows of their own only; 'swap_operands' must be false}}
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) rows(%ids : tensor<?xi32>) schedule(#blockscale.schedule<swap_operands = true>) : !a, !b -> tensor<?x256xf32>
  return %0 : tensor<?x256xf32>
}

// -----

!a = !blockscale.tensor<?x512xi8, "float32_t0">
!b = !blockscale.tensor<4x256x512xi8, "float32_t0">
func.func @swapped_warps(%a: !a, %b: !b, %ends: tensor<4xi32>, %ids: tensor<?xi32>) -> tensor<?x256xf32> {
  // expected-error @below {{threads read scales of rows of 'a' that are gathered for rows of their own only; 'swap_operands' must be false}}
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) rows(%ids : tensor<?xi32>) schedule(#blockscale.schedule<swap_operands = true>) {blockscale.target = #blockscale.target<sm_120a>} : !a, !b -> tensor<?x256xf32>
  return %0 : tensor<?x256xf32>
}

// -----

// Whether the rows of groups are those of the instruction or its columns.
!a = !blockscale.tensor<?x512xf8E4M3FN, order = mn_major>
!b = !blockscale.tensor<4x256x512xf8E4M3FN>
func.func @rows_together(%a: !a, %b: !b, %ends: tensor<4xi32>) -> tensor<?x256xf32> {
  // expected-error @below {{tensor maps reach rows of 'a' in order 'mn_major' at multiples of 16 bytes only, and groups of rows begin anywhere; nearest legal: 'k_major'}}
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) : !a, !b -> tensor<?x256xf32>
  return %0 : tensor<?x256xf32>
}

// -----

!a = !blockscale.tensor<?x512xbf16, order = mn_major>
!b = !blockscale.tensor<4x256x512xbf16, order = mn_major>
func.func @rows_together_swapped(%a: !a, %b: !b, %ends: tensor<4xi32>) -> tensor<?x256xf32> {
  // expected-error @below {{tensor maps reach rows of 'a' in order 'mn_major' at multiples of 16 bytes only}}
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) schedule(#blockscale.schedule<swap_operands = true>) : !a, !b -> tensor<?x256xf32>
  return %0 : tensor<?x256xf32>
}
