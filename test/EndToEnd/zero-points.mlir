// Elements of 4 bits with zero points that count in steps of their scales, as AWQ and
// GPTQ have them: what the host packs is the difference, which e4m3 has. Zero points
// of rows, of groups along K, of several rows and of whole matrices; tails, batches,
// operands exchanged, groups of rows, sizes of the launch.

// REQUIRES: mlir
// RUN: rm -rf %t && split-file %s %t
// RUN: blockscale verify %t/tiles.mlir --num-sms=8 --m=70 --n=96 --k=520 | FileCheck %s --check-prefix=TILES
// RUN: blockscale verify %t/tiles.mlir --num-sms=8 --m=70 --n=96 --k=520 --target=sm_103a --data=random --conditions=harsh --completion=latest | FileCheck %s --check-prefix=TILES-ONCE
// RUN: blockscale verify %t/rows.mlir --num-sms=8 --m=70 --n=96 --k=520 --batch=3 | FileCheck %s --check-prefix=ROWS
// RUN: blockscale verify %t/rows.mlir --num-sms=8 --m=70 --n=96 --k=520 --batch=3 --target=sm_120a | FileCheck %s --check-prefix=ROWS
// RUN: blockscale verify %t/rows.mlir --num-sms=8 --m=70 --n=96 --k=520 --batch=3 --target=sm_107a --data=random --conditions=harsh --completion=latest | FileCheck %s --check-prefix=ROWS-ONCE
// RUN: blockscale verify %t/narrow.mlir --num-sms=8 --m=70 | FileCheck %s --check-prefix=NARROW
// RUN: blockscale verify %t/narrow.mlir --num-sms=8 --m=70 --target=sm_120a --data=random --conditions=harsh --completion=latest | FileCheck %s --check-prefix=NARROW-ONCE
// RUN: blockscale compile %t/tiles.mlir -o %t
// RUN: FileCheck %s --check-prefix=PLAN < %t/tiles.plan.json

// TILES-NOT: FAIL
// TILES-COUNT-8: pass
// TILES-NOT: {{FAIL|pass}}

// TILES-ONCE-NOT: FAIL
// TILES-ONCE-COUNT-4: pass
// TILES-ONCE-NOT: {{FAIL|pass}}

// ROWS-NOT: FAIL
// ROWS-COUNT-10: pass
// ROWS-NOT: {{FAIL|pass}}

// ROWS-ONCE-NOT: FAIL
// ROWS-ONCE-COUNT-5: pass
// ROWS-ONCE-NOT: {{FAIL|pass}}

// NARROW-NOT: FAIL
// NARROW-COUNT-6: pass
// NARROW-NOT: {{FAIL|pass}}

// NARROW-ONCE-NOT: FAIL
// NARROW-ONCE-COUNT-3: pass
// NARROW-ONCE-NOT: {{FAIL|pass}}

// -16 is 0xd8, -15 0xd7, 0 comes after -1, 0xb8, and 15 is 0x57.
// PLAN: "source": {
// PLAN-NEXT: "format": "uint4",
// PLAN-NEXT: "codes": [
// PLAN-NEXT: 216,
// PLAN-NEXT: 215,
// PLAN: 184,
// PLAN-NEXT: 0,
// PLAN-NEXT: 56,
// PLAN: 87
// PLAN-NEXT: ],
// PLAN-NEXT: "zeros": {
// PLAN-NEXT: "bits": 8,
// PLAN-NEXT: "rows": 1,
// PLAN-NEXT: "block": 128
// PLAN-NEXT: }

//--- tiles.mlir
!groups_a = !blockscale.tensor<200x512xf8E4M3FN, "float32_t128">
!groups_b = !blockscale.tensor<96x512xui4, "bfloat16_int8_t128">
func.func @groups(%a: !groups_a, %b: !groups_b) -> tensor<200x96xbf16> {
  %0 = blockscale.matmul %a, %b : !groups_a, !groups_b -> tensor<200x96xbf16>
  return %0 : tensor<200x96xbf16>
}

// Groups twice as long as those of A, the first operand the rows of the instruction.
!long_a = !blockscale.tensor<24x512xf8E5M2, "float32_t128">
!long_b = !blockscale.tensor<136x512xui4, "float16_int16_t256">
func.func @long(%a: !long_a, %b: !long_b, %bias: tensor<136xf32>) -> tensor<24x136xf32> {
  %0 = blockscale.matmul %a, %b bias(%bias) activation(silu) : !long_a, !long_b, tensor<136xf32> -> tensor<24x136xf32>
  return %0 : tensor<24x136xf32>
}

!squares_a = !blockscale.tensor<2x70x256xf8E4M3FN, "float32_t128">
!squares_b = !blockscale.tensor<2x264x256xui4, "float32_int5_t128_t128">
func.func @squares(%a: !squares_a, %b: !squares_b) -> tensor<2x70x264xf32> {
  %0 = blockscale.matmul %a, %b : !squares_a, !squares_b -> tensor<2x70x264xf32>
  return %0 : tensor<2x70x264xf32>
}

!dynamic_groups_a = !blockscale.tensor<?x?xf8E4M3FN, "float32_t128">
!dynamic_groups_b = !blockscale.tensor<?x?xui4, "float32_int8_t128">
func.func @dynamic_groups(%a: !dynamic_groups_a, %b: !dynamic_groups_b) -> tensor<?x?xf32> {
  %0 = blockscale.matmul %a, %b : !dynamic_groups_a, !dynamic_groups_b -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

//--- narrow.mlir
// Of 2 and 3 bits: differences from -4 to 3 and from -8 to 7.
!two_a = !blockscale.tensor<?x512xf8E4M3FN, "float32_t128">
!two_b = !blockscale.tensor<96x512xui2, "float32_int8_t64">
func.func @two(%a: !two_a, %b: !two_b) -> tensor<?x96xf32> {
  %0 = blockscale.matmul %a, %b : !two_a, !two_b -> tensor<?x96xf32>
  return %0 : tensor<?x96xf32>
}

!three_a = !blockscale.tensor<?x320xf4E2M1FN>
!three_b = !blockscale.tensor<136x320xui3, "bfloat16_int4_t0">
func.func @three(%a: !three_a, %b: !three_b) -> tensor<?x136xbf16> {
  %0 = blockscale.matmul %a, %b : !three_a, !three_b -> tensor<?x136xbf16>
  return %0 : tensor<?x136xbf16>
}

!beside_a = !blockscale.tensor<?x256xf16>
!beside_b = !blockscale.tensor<72x256xui3, "float16_int8_t32">
func.func @beside(%a: !beside_a, %b: !beside_b) -> tensor<?x72xf32> {
  %0 = blockscale.matmul %a, %b : !beside_a, !beside_b -> tensor<?x72xf32>
  return %0 : tensor<?x72xf32>
}

//--- rows.mlir
// Of both operands.
!both_a = !blockscale.tensor<130x256xui4, "float32_int8_t0">
!both_b = !blockscale.tensor<72x256xui4, "float16_int32_t8_t0">
func.func @both(%a: !both_a, %b: !both_b) -> tensor<130x72xf32> {
  %0 = blockscale.matmul %a, %b : !both_a, !both_b -> tensor<130x72xf32>
  return %0 : tensor<130x72xf32>
}

// One of each matrix, beside elements without scales.
!one_a = !blockscale.tensor<3x41x192xf6E2M3FN>
!one_b = !blockscale.tensor<3x136x192xui4, "float32_int8">
func.func @one(%a: !one_a, %b: !one_b) -> tensor<3x41x136xf16> {
  %0 = blockscale.matmul %a, %b : !one_a, !one_b -> tensor<3x41x136xf16>
  return %0 : tensor<3x41x136xf16>
}

!dynamic_a = !blockscale.tensor<?x?x?xf8E4M3FN, "float32_t0">
!dynamic_b = !blockscale.tensor<?x?x?xui4, "float32_int8_t0">
func.func @dynamic(%a: !dynamic_a, %b: !dynamic_b) -> tensor<?x?x?xf32> {
  %0 = blockscale.matmul %a, %b : !dynamic_a, !dynamic_b -> tensor<?x?x?xf32>
  return %0 : tensor<?x?x?xf32>
}

!experts_a = !blockscale.tensor<?x256xf8E4M3FN, "float32_t0">
!experts_b = !blockscale.tensor<3x96x256xui4, "float32_int8_t0">
func.func @experts(%a: !experts_a, %b: !experts_b, %ends: tensor<3xi32>) -> tensor<?x96xbf16> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<3xi32>) : !experts_a, !experts_b -> tensor<?x96xbf16>
  return %0 : tensor<?x96xbf16>
}

// As wide a step as int4's, of whole numbers.
!signed_b = !blockscale.tensor<3x96x256xi4, "float32_t0">
func.func @signed_experts(%a: !experts_a, %b: !signed_b, %ends: tensor<3xi32>) -> tensor<?x96xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<3xi32>) : !experts_a, !signed_b -> tensor<?x96xf32>
  return %0 : tensor<?x96xf32>
}
