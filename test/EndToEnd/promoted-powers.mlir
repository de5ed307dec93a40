// Powers of two as scales of tiles along K that no instruction reads with such elements,
// by which sums are multiplied in registers: MXINT8, whose elements are stored in 16 bits,
// and tiles of 16 of 8, 6 and 4 bits; several rows to a scale, batches, beside other
// scales and none, groups of rows.

// REQUIRES: mlir
// RUN: blockscale verify %s --num-sms=3 --m=70 | FileCheck %s
// RUN: blockscale verify %s --num-sms=3 --m=33 --data=exact --seed=3 --completion=latest --target=sm_103a | FileCheck %s --check-prefix=ONCE
// RUN: blockscale verify %s --num-sms=3 --m=1 --data=random --seed=4 --target=sm_107a | FileCheck %s --check-prefix=ONCE
// RUN: blockscale verify %s --num-sms=3 --m=70 --data=exact --seed=5 --completion=random --target=sm_121a | FileCheck %s --check-prefix=ONCE

// CHECK-NOT: FAIL
// CHECK-COUNT-12: pass
// CHECK-NOT: {{FAIL|pass}}

// ONCE-NOT: FAIL
// ONCE-COUNT-6: pass
// ONCE-NOT: {{FAIL|pass}}

!mxint8_a = !blockscale.tensor<?x352xi8, "e8m0_t32">
!mxint8_b = !blockscale.tensor<136x352xi8, "e8m0_t32_t32">
func.func @mxint8(%a: !mxint8_a, %b: !mxint8_b) -> tensor<?x136xf32> {
  %0 = blockscale.matmul %a, %b : !mxint8_a, !mxint8_b -> tensor<?x136xf32>
  return %0 : tensor<?x136xf32>
}

!batch_a = !blockscale.tensor<2x37x256xi8, "e8m0_t128">
!batch_b = !blockscale.tensor<2x136x256xi8, "e8m0_t64">
func.func @batch(%a: !batch_a, %b: !batch_b, %bias: tensor<136xf32>) -> tensor<2x37x136xbf16> {
  %0 = blockscale.matmul %a, %b bias(%bias) activation(relu) schedule(#blockscale.schedule<swap_operands = true>) : !batch_a, !batch_b, tensor<136xf32> -> tensor<2x37x136xbf16>
  return %0 : tensor<2x37x136xbf16>
}

!f8 = !blockscale.tensor<?x352xf8E4M3FN, "e8m0_t16">
!f6 = !blockscale.tensor<136x352xf6E3M2FN, "e8m0_t16">
func.func @sixteens(%a: !f8, %b: !f6) -> tensor<?x136xf32> {
  %0 = blockscale.matmul %a, %b : !f8, !f6 -> tensor<?x136xf32>
  return %0 : tensor<?x136xf32>
}

!x = !blockscale.tensor<?x352xf16>
!i4 = !blockscale.tensor<136x352xi4, "e8m0_t16">
func.func @beside_f16(%a: !x, %b: !i4) -> tensor<?x136xf32> {
  %0 = blockscale.matmul %a, %b : !x, !i4 -> tensor<?x136xf32>
  return %0 : tensor<?x136xf32>
}

!floats = !blockscale.tensor<?x512xi8, "float32_t128">
!powers = !blockscale.tensor<136x512xi8, "e8m0_t64">
func.func @beside_floats(%a: !floats, %b: !powers) -> tensor<?x136xf32> {
  %0 = blockscale.matmul %a, %b : !floats, !powers -> tensor<?x136xf32>
  return %0 : tensor<?x136xf32>
}

!experts = !blockscale.tensor<3x136x352xi8, "e8m0_t32">
func.func @experts(%a: !mxint8_a, %b: !experts, %ends: tensor<3xi32>) -> tensor<?x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<3xi32>) : !mxint8_a, !experts -> tensor<?x136xf32>
  return %0 : tensor<?x136xf32>
}
