// Float scales of 16 elements of K, as many as the shortest instruction adds up, whose
// elements are stored in 16 bits; and scales that vary along K and not by rows, of all
// tiles: dense and dynamic products, batches, groups of rows, zero points.

// REQUIRES: mlir
// RUN: rm -rf %t && split-file %s %t
// RUN: blockscale verify %t/short.mlir --num-sms=3 --m=70 --k=336 | FileCheck %s --check-prefix=SHORT
// RUN: blockscale verify %t/short.mlir --num-sms=3 --m=33 --k=336 --data=exact --seed=3 --completion=latest --target=sm_103a | FileCheck %s --check-prefix=SHORT-ONCE
// RUN: blockscale verify %t/short.mlir --num-sms=3 --m=70 --k=336 --data=random --seed=5 --completion=random --conditions=harsh --target=sm_121a | FileCheck %s --check-prefix=SHORT-ONCE
// RUN: blockscale verify %t/columns.mlir --num-sms=3 --m=70 | FileCheck %s --check-prefix=COLUMNS
// RUN: blockscale verify %t/columns.mlir --num-sms=3 --m=33 --data=exact --seed=3 --completion=latest --conditions=harsh --target=sm_120a | FileCheck %s --check-prefix=COLUMNS-ONCE

// SHORT-NOT: FAIL
// SHORT-COUNT-8: pass
// SHORT-NOT: {{FAIL|pass}}
// SHORT-ONCE-NOT: FAIL
// SHORT-ONCE-COUNT-4: pass
// SHORT-ONCE-NOT: {{FAIL|pass}}
// COLUMNS-NOT: FAIL
// COLUMNS-COUNT-8: pass
// COLUMNS-NOT: {{FAIL|pass}}
// COLUMNS-ONCE-NOT: FAIL
// COLUMNS-ONCE-COUNT-4: pass
// COLUMNS-ONCE-NOT: {{FAIL|pass}}

//--- short.mlir
!f8 = !blockscale.tensor<?x?xf8E4M3FN, "float32_t16">
!f6 = !blockscale.tensor<136x?xf6E3M2FN, "float16_t16_t16">
func.func @floats(%a: !f8, %b: !f6) -> tensor<?x136xf32> {
  %0 = blockscale.matmul %a, %b : !f8, !f6 -> tensor<?x136xf32>
  return %0 : tensor<?x136xf32>
}

!bytes = !blockscale.tensor<2x70x256xf8E5M2, "float32_t0">
!i4 = !blockscale.tensor<2x72x256xi4, "bfloat16_t16">
func.func @int4(%a: !bytes, %b: !i4, %bias: tensor<72xf32>) -> tensor<2x70x72xbf16> {
  %0 = blockscale.matmul %a, %b bias(%bias) activation(silu) : !bytes, !i4, tensor<72xf32> -> tensor<2x70x72xbf16>
  return %0 : tensor<2x70x72xbf16>
}

!x = !blockscale.tensor<?x256xf16>
!u4 = !blockscale.tensor<72x256xui4, "float16_int8_t16">
func.func @zeros(%a: !x, %b: !u4) -> tensor<?x72xf32> {
  %0 = blockscale.matmul %a, %b : !x, !u4 -> tensor<?x72xf32>
  return %0 : tensor<?x72xf32>
}

!tokens = !blockscale.tensor<?x352xf8E4M3FN, "float32_t32">
!experts = !blockscale.tensor<3x136x352xf4E2M1FN, "float32_t16">
func.func @experts(%a: !tokens, %b: !experts, %ends: tensor<3xi32>) -> tensor<?x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<3xi32>) : !tokens, !experts -> tensor<?x136xf32>
  return %0 : tensor<?x136xf32>
}

//--- columns.mlir
!rows = !blockscale.tensor<?x512xf8E4M3FN, "float32_t128">
!all = !blockscale.tensor<136x512xf8E4M3FN, "float32_t0_t128">
func.func @long(%a: !rows, %b: !all) -> tensor<?x136xf32> {
  %0 = blockscale.matmul %a, %b : !rows, !all -> tensor<?x136xf32>
  return %0 : tensor<?x136xf32>
}

!both_a = !blockscale.tensor<?x352xf6E2M3FN, "bfloat16_t0_t32">
!both_b = !blockscale.tensor<72x352xi4, "float16_t0_t32">
func.func @both(%a: !both_a, %b: !both_b) -> tensor<?x72xf32> {
  %0 = blockscale.matmul %a, %b : !both_a, !both_b -> tensor<?x72xf32>
  return %0 : tensor<?x72xf32>
}

!short_a = !blockscale.tensor<3x70x224xf8E4M3FN, "float32_t0_t16">
!short_b = !blockscale.tensor<3x72x224xbf16>
func.func @short(%a: !short_a, %b: !short_b) -> tensor<3x70x72xf32> {
  %0 = blockscale.matmul %a, %b : !short_a, !short_b -> tensor<3x70x72xf32>
  return %0 : tensor<3x70x72xf32>
}

// Instructions read these, a byte for every row.
!powers_a = !blockscale.tensor<?x512xf8E4M3FN, "e8m0_t0_t32", layout = tiled_128x4>
!powers_b = !blockscale.tensor<136x512xf4E2M1FN, "e8m0_t0_t128", layout = tiled_128x4>
func.func @powers(%a: !powers_a, %b: !powers_b) -> tensor<?x136xf32> {
  %0 = blockscale.matmul %a, %b : !powers_a, !powers_b -> tensor<?x136xf32>
  return %0 : tensor<?x136xf32>
}
