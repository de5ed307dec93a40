// Scales of formats of 8 bits that no instruction converts: those without a negative
// zero, whose exponents begin one or four lower, and e3m4. Kernels decode them where they
// multiply the sums of tiles along K, and those of all of K, by them: of A, of B and of
// both, of rows, of several rows and of matrices, beside scales that instructions read,
// beside 16 bits, with zero points, of a sparse operand and in groups. Those of e5m3 are
// ue5m3, as those of e4m3 are ue4m3.

// REQUIRES: mlir
// RUN: rm -rf %t && split-file %s %t
// RUN: blockscale verify %t/warps.mlir %t/more.mlir --num-sms=8 --m=70 --n=96 --k=392 | FileCheck %s
// RUN: blockscale verify %t/warps.mlir %t/more.mlir --num-sms=8 --m=70 --n=96 --k=392 --target=sm_103a --data=random --conditions=harsh --completion=latest | FileCheck %s --check-prefix=ONCE
// RUN: blockscale verify %t/warps.mlir --target=sm_120a | FileCheck %s --check-prefix=WARPS
// RUN: blockscale compile %t/warps.mlir --no-cubin -o %t
// RUN: FileCheck %s --check-prefix=PLAN < %t/warps.plan.json

// CHECK-NOT: FAIL
// CHECK-COUNT-20: pass
// CHECK-NOT: {{FAIL|pass}}

// ONCE-NOT: FAIL
// ONCE-COUNT-10: pass
// ONCE-NOT: {{FAIL|pass}}

// WARPS-NOT: FAIL
// WARPS-COUNT-6: pass
// WARPS-NOT: {{FAIL|pass}}

// PLAN-LABEL: "name": "both"
// PLAN: "vectorScales": [
// PLAN-NEXT: {
// PLAN-NEXT: "operand": "a",
// PLAN-NEXT: "format": "e4m3b8fnuz",
// PLAN: "operand": "b",
// PLAN-NEXT: "format": "e5m2b16fnuz",

//--- warps.mlir
!both_a = !blockscale.tensor<70x384xf8E4M3FN, "e4m3b8fnuz_t32">
!both_b = !blockscale.tensor<136x384xf8E5M2, "e5m2b16fnuz_t64_t128">
func.func @both(%a: !both_a, %b: !both_b) -> tensor<70x136xf32> {
  %0 = blockscale.matmul %a, %b : !both_a, !both_b -> tensor<70x136xf32>
  return %0 : tensor<70x136xf32>
}

!of_a_a = !blockscale.tensor<2x70x256xf4E2M1FN, "multi_float32_e3m4_t64">
!of_a_b = !blockscale.tensor<2x72x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @of_a(%a: !of_a_a, %b: !of_a_b) -> tensor<2x70x72xbf16> {
  %0 = blockscale.matmul %a, %b : !of_a_a, !of_a_b -> tensor<2x70x72xbf16>
  return %0 : tensor<2x70x72xbf16>
}

!rows_a = !blockscale.tensor<70x256xf6E2M3FN, "e4m3b8fnuz_t0">
!rows_b = !blockscale.tensor<72x256xf8E4M3FN, "e3m4_t8_t0">
func.func @rows(%a: !rows_a, %b: !rows_b) -> tensor<70x72xf32> {
  %0 = blockscale.matmul %a, %b : !rows_a, !rows_b -> tensor<70x72xf32>
  return %0 : tensor<70x72xf32>
}

//--- more.mlir
!of_b_a = !blockscale.tensor<?x?xbf16>
!of_b_b = !blockscale.tensor<?x?xi4, "e4m3b11fnuz_t16">
func.func @of_b(%a: !of_b_a, %b: !of_b_b) -> tensor<?x?xf32> {
  %0 = blockscale.matmul %a, %b : !of_b_a, !of_b_b -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

!matrix_a = !blockscale.tensor<70x256xf8E4M3FN, "e5m2b16fnuz">
!matrix_b = !blockscale.tensor<72x256xf8E4M3FNUZ, "e4m3b11fnuz">
func.func @matrix(%a: !matrix_a, %b: !matrix_b, %bias: tensor<72xf32>) -> tensor<70x72xf32> {
  %0 = blockscale.matmul %a, %b bias(%bias) activation(relu) : !matrix_a, !matrix_b, tensor<72xf32> -> tensor<70x72xf32>
  return %0 : tensor<70x72xf32>
}

!zeros_a = !blockscale.tensor<70x256xf8E4M3FN, "float32_t0">
!zeros_b = !blockscale.tensor<72x256xui4, "e4m3b8fnuz_int8_t128">
func.func @zeros(%a: !zeros_a, %b: !zeros_b) -> tensor<70x72xf32> {
  %0 = blockscale.matmul %a, %b : !zeros_a, !zeros_b -> tensor<70x72xf32>
  return %0 : tensor<70x72xf32>
}

!real_b = !blockscale.tensor<72x256xui4, "e3m4_float16_t64">
func.func @real(%a: !zeros_a, %b: !real_b) -> tensor<70x72xf32> {
  %0 = blockscale.matmul %a, %b : !zeros_a, !real_b -> tensor<70x72xf32>
  return %0 : tensor<70x72xf32>
}

!sparse_a = !blockscale.tensor<70x256xf8E4M3FN, "e4m3b8fnuz_t32n2m4", layout = tiled_128x4>
!sparse_b = !blockscale.tensor<72x256xf8E4M3FN, "e3m4_t0">
func.func @sparse(%a: !sparse_a, %b: !sparse_b) -> tensor<70x72xf32> {
  %0 = blockscale.matmul %a, %b : !sparse_a, !sparse_b -> tensor<70x72xf32>
  return %0 : tensor<70x72xf32>
}

!x = !blockscale.tensor<70x256xf8E4M3FN, "e5m3_t32">
!experts = !blockscale.tensor<3x72x256xf8E4M3FN, "e4m3b8fnuz_t128_t128">
func.func @experts(%a: !x, %b: !experts, %ends: tensor<3xi32>) -> tensor<70x72xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<3xi32>) : !x, !experts -> tensor<70x72xf32>
  return %0 : tensor<70x72xf32>
}

!rows_of_a = !blockscale.tensor<?x512xf8E4M3FN, "e4m3b8fnuz_t128">
!one_of_b = !blockscale.tensor<136x512xf8E4M3FN, "e3m4_t0_t64">
func.func @columns(%a: !rows_of_a, %b: !one_of_b) -> tensor<?x136xf32> {
  %0 = blockscale.matmul %a, %b : !rows_of_a, !one_of_b -> tensor<?x136xf32>
  return %0 : tensor<?x136xf32>
}
