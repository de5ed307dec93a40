// Elements that no instruction multiplies, stored without rounding in a format that
// one does: the plan says which code is stored for which. All codes occur in the
// random data, and all that are small enough in the exact ones; the reference reads
// the operand's own codes.

// REQUIRES: mlir
// RUN: blockscale verify %s | FileCheck %s
// RUN: blockscale verify %s --target=sm_120a --completion=latest --seed=7 | FileCheck %s
// RUN: blockscale verify %s --target=sm_103a --data=random --conditions=harsh | FileCheck %s --check-prefix=ONCE
// RUN: blockscale compile %s --target=sm_100a -o %t
// RUN: blockscale compile %s --target=sm_120a -o %t
// RUN: FileCheck %s --check-prefix=PLAN < %t/recoded.plan.json

// CHECK-NOT: FAIL
// CHECK-COUNT-12: pass
// CHECK-NOT: {{FAIL|pass}}

// ONCE-NOT: FAIL
// ONCE-COUNT-6: pass
// ONCE-NOT: {{FAIL|pass}}

// 7/4 is 0b0.1110 in e2m3, -8/4 the sign with 0b10.000, -1/4 the sign with 0b0.010.
// PLAN: "format": "e2m3",
// PLAN: "bits": 6,
// PLAN: "source": {
// PLAN-NEXT: "format": "int4",
// PLAN-NEXT: "codes": [
// PLAN-NEXT: 0,
// PLAN-NEXT: 2,
// PLAN-NEXT: 4,
// PLAN: 14,
// PLAN-NEXT: 48,
// PLAN-NEXT: 46,
// PLAN: 34
// PLAN-NEXT: ]

// The second operand has a K of no whole stages and is the rows of the instruction.
!both_a = !blockscale.tensor<41x544xi4, "e8m0_t32", layout = tiled_128x4>
!both_b = !blockscale.tensor<136x544xi4, "e8m0_t32", layout = tiled_128x4>
func.func @both(%a: !both_a, %b: !both_b) -> tensor<41x136xbf16> {
  %0 = blockscale.matmul %a, %b : !both_a, !both_b -> tensor<41x136xbf16>
  return %0 : tensor<41x136xbf16>
}

!weights_a = !blockscale.tensor<130x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!weights_b = !blockscale.tensor<96x512xi4, "e8m0_t32", layout = tiled_128x4>
func.func @weights(%a: !weights_a, %b: !weights_b) -> tensor<130x96xf32> {
  %0 = blockscale.matmul %a, %b : !weights_a, !weights_b -> tensor<130x96xf32>
  return %0 : tensor<130x96xf32>
}

!fp4_a = !blockscale.tensor<130x256xi4, "e8m0_t32", layout = tiled_128x4>
!fp4_b = !blockscale.tensor<72x256xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
func.func @fp4(%a: !fp4_a, %b: !fp4_b) -> tensor<130x72xf32> {
  %0 = blockscale.matmul %a, %b : !fp4_a, !fp4_b -> tensor<130x72xf32>
  return %0 : tensor<130x72xf32>
}

!square_a = !blockscale.tensor<2x70x192xi4, "e8m0_t64", layout = tiled_128x4>
!square_b = !blockscale.tensor<2x136x192xi4, "e8m0_t32_t32", layout = tiled_128x4>
func.func @squares(%a: !square_a, %b: !square_b) -> tensor<2x70x136xf32> {
  %0 = blockscale.matmul %a, %b : !square_a, !square_b -> tensor<2x70x136xf32>
  return %0 : tensor<2x70x136xf32>
}

!sparse_a = !blockscale.tensor<130x256xi4, "e8m0_t32n2m4", layout = tiled_128x4>
!sparse_b = !blockscale.tensor<72x256xi4, "e8m0_t64", layout = tiled_128x4>
func.func @sparse(%a: !sparse_a, %b: !sparse_b) -> tensor<130x72xf32> {
  %0 = blockscale.matmul %a, %b : !sparse_a, !sparse_b -> tensor<130x72xf32>
  return %0 : tensor<130x72xf32>
}

!wide_a = !blockscale.tensor<260x256xi4, "e8m0_t32", layout = tiled_128x4>
!wide_b = !blockscale.tensor<520x256xf8E5M2, "e8m0_t32", layout = tiled_128x4>
func.func @wide(%a: !wide_a, %b: !wide_b, %bias: tensor<520xf32>) -> tensor<260x520xf16> {
  %0 = blockscale.matmul %a, %b bias(%bias) activation(relu) : !wide_a, !wide_b, tensor<520xf32> -> tensor<260x520xf16>
  return %0 : tensor<260x520xf16>
}
