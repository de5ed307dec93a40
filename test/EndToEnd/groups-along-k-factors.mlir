// Groups along K under scales that cover all of K: those of each row in each group, as
// PyTorch's rowwise gradients of weights have them, of each group, or of all.

// REQUIRES: mlir
// RUN: blockscale verify %s --data=exact --num-sms=4 --k=64,384,1088 | FileCheck %s
// RUN: blockscale verify %s --num-sms=148 --k=768 --completion=latest | FileCheck %s --check-prefix=ONCE
// RUN: rm -rf %t && mkdir %t && blockscale compile %s --no-cubin -o %t
// RUN: FileCheck %s --check-prefix=PLAN < %t/groups-along-k-factors.plan.json

// CHECK-NOT: FAIL
// CHECK-COUNT-21: pass
// CHECK-NOT: {{FAIL|pass}}

// ONCE-NOT: FAIL
// ONCE-COUNT-14: pass
// ONCE-NOT: {{FAIL|pass}}

// PLAN-LABEL: "name": "rows_integers"
// PLAN: "vectorScales": [
// PLAN: "format": "f32",
// PLAN: "matrixElements": "200",
// PLAN-NEXT: "elements": "batch * 200",
// PLAN: "format": "bf16",
// PLAN: "matrixElements": "136",
// PLAN-NEXT: "elements": "batch * 136",
// PLAN-LABEL: "name": "all_and_groups"
// PLAN: "vectorScales": [
// PLAN: "matrixElements": "1",
// PLAN-NEXT: "elements": "1",
// PLAN: "matrixElements": "1",
// PLAN-NEXT: "elements": "4",

// Factors of each row of each group, in FP8 and integers, of other types and on one side.
!rows_a = !blockscale.tensor<200x?xf8E4M3FN, "float32_t0", layout = grouped>
!rows_b = !blockscale.tensor<136x?xf8E5M2, "float32_t0", layout = grouped>
func.func @rows(%a: !rows_a, %b: !rows_b, %ends: tensor<4xi32>) -> tensor<4x200x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) schedule(#blockscale.schedule<cta_group = 1, cluster_m = 1, cluster_n = 1, swap_operands = false, tile_n = 64>) : !rows_a, !rows_b -> tensor<4x200x136xf32>
  return %0 : tensor<4x200x136xf32>
}

func.func @rows_swapped(%a: !rows_a, %b: !rows_b, %ends: tensor<5xi32>, %alpha: f32, %bias: tensor<5x136xf32>) -> tensor<5x200x136xbf16> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<5xi32>) alpha(%alpha) bias(%bias) schedule(#blockscale.schedule<cta_group = 1, cluster_m = 2, cluster_n = 2, swap_operands = true, tile_n = 64>) : !rows_a, !rows_b, tensor<5x136xf32> -> tensor<5x200x136xbf16>
  return %0 : tensor<5x200x136xbf16>
}

!rows_int_a = !blockscale.tensor<200x?xi8, "float32_t0", layout = grouped>
!rows_int_b = !blockscale.tensor<136x?xi8, "bfloat16_t0", layout = grouped>
func.func @rows_integers(%a: !rows_int_a, %b: !rows_int_b, %ends: tensor<?xi32>, %bias: tensor<?x136xf32>) -> tensor<?x200x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<?xi32>) bias(%bias) : !rows_int_a, !rows_int_b, tensor<?x136xf32> -> tensor<?x200x136xf32>
  return %0 : tensor<?x200x136xf32>
}

!powers_a = !blockscale.tensor<200x?xf8E4M3FN, "e8m0_t0", layout = grouped>
!tiles_b = !blockscale.tensor<136x?xf8E4M3FN, "float32_t16_t0", layout = grouped>
func.func @rows_of_tiles(%a: !powers_a, %b: !tiles_b, %ends: tensor<5xi32>) -> tensor<5x200x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<5xi32>) schedule(#blockscale.schedule<cta_group = 2, swap_operands = false, tile_n = 128>) : !powers_a, !tiles_b -> tensor<5x200x136xf32>
  return %0 : tensor<5x200x136xf32>
}

// A factor of each group, and one of all.
!group_a = !blockscale.tensor<200x?xf8E4M3FN, "float32", layout = grouped>
!group_b = !blockscale.tensor<136x?xf8E4M3FN, "float32", layout = grouped>
!all_a = !blockscale.tensor<200x?xf8E4M3FN, "float32">
func.func @groups(%a: !group_a, %b: !group_b, %ends: tensor<4xi32>, %alpha: f32) -> tensor<4x200x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) alpha(%alpha) : !group_a, !group_b -> tensor<4x200x136xf32>
  return %0 : tensor<4x200x136xf32>
}

func.func @all_and_groups(%a: !all_a, %b: !group_b, %ends: tensor<4xi32>) -> tensor<4x200x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) : !all_a, !group_b -> tensor<4x200x136xf32>
  return %0 : tensor<4x200x136xf32>
}

func.func @all_and_rows(%a: !all_a, %b: !rows_b, %ends: tensor<4xi32>) -> tensor<4x200x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) : !all_a, !rows_b -> tensor<4x200x136xf32>
  return %0 : tensor<4x200x136xf32>
}
