// Products with groups along K whose scales no kernel reads as they lie: a product for each
// group, and one line that says why. A plan, which holds no loops, has none.

// RUN: blockscale verify %s --target=sm_120a --conditions=plain --data=exact --k=384 2>&1 | FileCheck %s
// RUN: not blockscale compile %s --target=sm_120a -o %t 2>&1 | FileCheck %s --check-prefix=PLAN
// CHECK-DAG: remark: becomes a loop with a product for each group: kernels read scales of whole matrices that all groups share before those of each group, and 'a', whose come first, has one for each beside one of 'b' for all
// CHECK-DAG: {{^}}scaled exact 384 3 7680 0 0 0 pass
// CHECK-DAG: remark: becomes a loop with a product for each group: kernels read scales of single rows and of tiles that an instruction has, and longer ones are not repeated for each group along K here
// CHECK-DAG: {{^}}repeated exact 384 3 19200 0 0 0 pass
// PLAN-NOT: remark
// PLAN: error: 'blockscale.matmul' op {{.*}}kernels read scales of whole matrices that all groups share before those of each group

!a = !blockscale.tensor<40x?xf6E2M3FN, "float32", layout = grouped>
!b = !blockscale.tensor<64x?xf8E4M3FN, "float32">
func.func @scaled(%a: tensor<40x?xf6E2M3FN>, %b: tensor<64x?xf8E4M3FN>, %s: tensor<3x1x1xf32>, %t: tensor<1x1xf32>) -> tensor<3x40x64xf32> {
  %ends = arith.constant dense<[32, 32, 128]> : tensor<3xi32>
  %some = tensor.cast %s : tensor<3x1x1xf32> to tensor<?x1x1xf32>
  %x = blockscale.assemble %a, %some : tensor<40x?xf6E2M3FN>, tensor<?x1x1xf32> to !a
  %y = blockscale.assemble %b, %t : tensor<64x?xf8E4M3FN>, tensor<1x1xf32> to !b
  %0 = blockscale.matmul %x, %y groups(%ends : tensor<3xi32>) : !a, !b -> tensor<3x40x64xf32>
  return %0 : tensor<3x40x64xf32>
}

// Scales that kernels read repeated: for each group only its product does that.
!p = !blockscale.tensor<40x?xf8E4M3FN, "e8m0_t64", layout = grouped_128x4>
!q = !blockscale.tensor<160x?xf8E4M3FN, "e8m0_t32_t32", layout = grouped_128x4>
func.func @repeated(%a: tensor<40x?xf8E4M3FN>, %b: tensor<160x?xf8E4M3FN>, %s: tensor<1x3x32x16xf8E8M0FNU>, %t: tensor<1x4x32x16xf8E8M0FNU>) -> tensor<3x40x160xf32> {
  %ends = arith.constant dense<[64, 64, 384]> : tensor<3xi32>
  %some = tensor.cast %s : tensor<1x3x32x16xf8E8M0FNU> to tensor<?x?x32x16xf8E8M0FNU>
  %others = tensor.cast %t : tensor<1x4x32x16xf8E8M0FNU> to tensor<?x?x32x16xf8E8M0FNU>
  %x = blockscale.assemble %a, %some : tensor<40x?xf8E4M3FN>, tensor<?x?x32x16xf8E8M0FNU> to !p
  %y = blockscale.assemble %b, %others : tensor<160x?xf8E4M3FN>, tensor<?x?x32x16xf8E8M0FNU> to !q
  %0 = blockscale.matmul %x, %y groups(%ends : tensor<3xi32>) : !p, !q -> tensor<3x40x160xf32>
  return %0 : tensor<3x40x160xf32>
}
