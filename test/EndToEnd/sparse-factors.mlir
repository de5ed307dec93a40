// Scales that cover all of K of a sparse operand, one for the matrix, one for each row:
// the instruction skips what is pruned, and the epilogue multiplies by them. In batches
// and groups, of A and B, by kernels that densify where no instruction skips it.

// REQUIRES: mlir
// RUN: blockscale verify %s --m=70 | FileCheck %s
// RUN: blockscale verify %s --m=70 --data=random --conditions=harsh --target=sm_103a | FileCheck %s --check-prefix=ONCE
// RUN: blockscale verify %s --m=70 --data=random --target=sm_120a | FileCheck %s --check-prefix=ONCE

// CHECK-NOT: FAIL
// CHECK-COUNT-12: pass
// CHECK-NOT: {{FAIL|pass}}

// ONCE-NOT: FAIL
// ONCE-COUNT-6: pass
// ONCE-NOT: {{FAIL|pass}}

!matrix_a = !blockscale.tensor<70x256xf8E4M3FN, "float32_n2m4", layout = tiled_128x4>
!matrix_b = !blockscale.tensor<72x256xf8E4M3FN, "float32_t0">
func.func @matrix(%a: !matrix_a, %b: !matrix_b, %alpha: f32) -> tensor<70x72xf32> {
  %0 = blockscale.matmul %a, %b alpha(%alpha) : !matrix_a, !matrix_b -> tensor<70x72xf32>
  return %0 : tensor<70x72xf32>
}

!row_a = !blockscale.tensor<2x70x256xf6E2M3FN, "multi_float32_bfloat16_t0n1m2", layout = tiled_128x4>
!row_b = !blockscale.tensor<2x72x256xf8E5M2>
func.func @row(%a: !row_a, %b: !row_b) -> tensor<2x70x72xbf16> {
  %0 = blockscale.matmul %a, %b : !row_a, !row_b -> tensor<2x70x72xbf16>
  return %0 : tensor<2x70x72xbf16>
}

!rows_a = !blockscale.tensor<?x256xf8E4M3FN, "e8m0_t64_t0n2m4", layout = tiled_128x4>
!rows_b = !blockscale.tensor<72x256xf4E2M1FN, "e4m3_t0">
func.func @rows(%a: !rows_a, %b: !rows_b) -> tensor<?x72xf32> {
  %0 = blockscale.matmul %a, %b : !rows_a, !rows_b -> tensor<?x72xf32>
  return %0 : tensor<?x72xf32>
}

// Beside scales that instructions read, those of the sparse operand are 1 to them.
!ones_b = !blockscale.tensor<72x256xf8E4M3FN, "e8m0_t64", layout = tiled_128x4>
func.func @ones(%a: !matrix_a, %b: !ones_b) -> tensor<70x72xf32> {
  %0 = blockscale.matmul %a, %b : !matrix_a, !ones_b -> tensor<70x72xf32>
  return %0 : tensor<70x72xf32>
}

// Beside tiles by which sums are multiplied.
!tiles_b = !blockscale.tensor<136x256xf8E4M3FN, "float32_t128_t128">
func.func @tiles(%a: !matrix_a, %b: !tiles_b) -> tensor<70x136xf32> {
  %0 = blockscale.matmul %a, %b : !matrix_a, !tiles_b -> tensor<70x136xf32>
  return %0 : tensor<70x136xf32>
}

// Weights of experts.
!x = !blockscale.tensor<70x256xf8E4M3FN, "float32_t0">
!experts = !blockscale.tensor<3x72x256xf8E4M3FN, "float32_t0n2m4", layout = tiled_128x4>
func.func @experts(%a: !x, %b: !experts, %ends: tensor<3xi32>) -> tensor<70x72xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<3xi32>) : !x, !experts -> tensor<70x72xf32>
  return %0 : tensor<70x72xf32>
}
