// Products with groups along K whose elements no kernel reaches: a product for each
// group, and one line that says why. A plan, which holds no loops, has none.

// RUN: blockscale verify %s --target=sm_120a --conditions=plain --data=exact --k=128 2>&1 | FileCheck %s
// RUN: not blockscale compile %s --target=sm_120a -o %t 2>&1 | FileCheck %s --check-prefix=PLAN
// CHECK-DAG: remark: becomes a loop with a product for each group: tensor maps reach elements of 6 and 4 bits that are multiplied as bytes at multiples of 128 along K only, and groups along K begin anywhere
// CHECK-DAG: {{^}}scaled exact 128 3 7680 0 0 0 pass
// PLAN-NOT: remark
// PLAN: error: 'blockscale.matmul' op has no legal schedule: tensor maps reach elements of 6 and 4 bits that are multiplied as bytes at multiples of 128 along K only, and groups along K begin anywhere

!a = !blockscale.tensor<40x?xf6E2M3FN, "e8m0_t32", layout = grouped_128x4>
!b = !blockscale.tensor<64x?xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
func.func @scaled(%a: tensor<40x?xf6E2M3FN>, %b: tensor<64x?xf8E4M3FN>, %s: tensor<1x3x32x16xf8E8M0FNU>, %t: tensor<1x3x32x16xf8E8M0FNU>) -> tensor<3x40x64xf32> {
  %ends = arith.constant dense<[32, 32, 128]> : tensor<3xi32>
  %some = tensor.cast %s : tensor<1x3x32x16xf8E8M0FNU> to tensor<?x?x32x16xf8E8M0FNU>
  %others = tensor.cast %t : tensor<1x3x32x16xf8E8M0FNU> to tensor<?x?x32x16xf8E8M0FNU>
  %x = blockscale.assemble %a, %some : tensor<40x?xf6E2M3FN>, tensor<?x?x32x16xf8E8M0FNU> to !a
  %y = blockscale.assemble %b, %others : tensor<64x?xf8E4M3FN>, tensor<?x?x32x16xf8E8M0FNU> to !b
  %0 = blockscale.matmul %x, %y groups(%ends : tensor<3xi32>) : !a, !b -> tensor<3x40x64xf32>
  return %0 : tensor<3x40x64xf32>
}
