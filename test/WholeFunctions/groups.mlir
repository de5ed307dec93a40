// Products with groups in whole functions: the kernel on the emulator, launched by
// our runtime, against the loop of products that linalg makes of it.

// RUN: not blockscale verify %s --conditions=plain --data=exact > %t.txt
// RUN: FileCheck %s < %t.txt
// CHECK: function
// CHECK-DAG: {{^}}whole exact - 1 6400 0 0 0 pass
// CHECK-DAG: {{^}}scaled exact - 1 6400 0 0 0 pass
// CHECK-DAG: {{^}}given, exact data: the scales of '!blockscale.tensor<200x128xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>' have padding that only the offsets of its groups say

!a = !blockscale.tensor<200x64xbf16>
!b = !blockscale.tensor<3x32x64xbf16>
func.func @whole(%a: !a, %b: !b, %bias: tensor<3x32xf32>) -> tensor<200x32xf32> {
  %ends = arith.constant dense<[7, 7, 200]> : tensor<3xi32>
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<3xi32>) bias(%bias) : !a, !b, tensor<3x32xf32> -> tensor<200x32xf32>
  %1 = arith.addf %0, %0 : tensor<200x32xf32>
  return %1 : tensor<200x32xf32>
}

// Scales have room for (200 + 3 * 127) / 128 = 4 groups of 128 rows.
!tokens = !blockscale.tensor<200x128xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
!experts = !blockscale.tensor<3x32x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @scaled(%data: tensor<200x128xf8E4M3FN>, %b: !experts, %scales: tensor<4x1x32x16xf8E8M0FNU>) -> tensor<200x32xf32> {
  %ends = arith.constant dense<[7, 7, 200]> : tensor<3xi32>
  %a = blockscale.assemble %data, %scales : tensor<200x128xf8E4M3FN>, tensor<4x1x32x16xf8E8M0FNU> to !tokens
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<3xi32>) : !tokens, !experts -> tensor<200x32xf32>
  %1 = arith.addf %0, %0 : tensor<200x32xf32>
  return %1 : tensor<200x32xf32>
}

func.func @given(%a: !tokens, %b: !experts) -> tensor<200x32xf32> {
  %ends = arith.constant dense<[7, 7, 200]> : tensor<3xi32>
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<3xi32>) : !tokens, !experts -> tensor<200x32xf32>
  %1 = arith.addf %0, %0 : tensor<200x32xf32>
  return %1 : tensor<200x32xf32>
}
