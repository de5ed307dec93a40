// Products with groups where the chip has no kernel for them: a product for each group
// that has rows, and one line that says why. A plan, which holds no loops, has none.

// RUN: blockscale verify %s --target=sm_120a --conditions=plain --data=exact 2>&1 | FileCheck %s
// RUN: not blockscale compile %s --target=sm_120a -o %t 2>&1 | FileCheck %s --check-prefix=PLAN
// CHECK-DAG: remark: becomes a loop with a product for each group: products with groups are lowered with tensor memory, which 'sm_120a' does not have
// CHECK-DAG: {{^}}scaled exact - 2 12800 0 0 0 pass
// PLAN-NOT: remark
// PLAN: error: 'blockscale.matmul' op has no legal schedule: products with groups are lowered with tensor memory, which 'sm_120a' does not have

!a = !blockscale.tensor<200x128xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
!b = !blockscale.tensor<3x64x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @scaled(%data: tensor<200x128xf8E4M3FN>, %b: !b, %scales: tensor<4x1x32x16xf8E8M0FNU>) -> tensor<200x64xf32> {
  %ends = arith.constant dense<[7, 7, 200]> : tensor<3xi32>
  %a = blockscale.assemble %data, %scales : tensor<200x128xf8E4M3FN>, tensor<4x1x32x16xf8E8M0FNU> to !a
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<3xi32>) : !a, !b -> tensor<200x64xf32>
  return %0 : tensor<200x64xf32>
}
