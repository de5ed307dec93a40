// Zero points in real units, q * s - z, whose part of the product the epilogue subtracts:
// z times the sum of the other operand's row over z's tile. Zero points of rows, of
// several rows, of whole matrices and of tiles along K, of one operand and of both; tails,
// batches, operands exchanged, groups of rows, sizes of the launch, pairs, a quantised
// result. The reference subtracts them from the elements; with random data no two tiles
// have equal ones.

// REQUIRES: mlir
// RUN: rm -rf %t && split-file %s %t
// RUN: blockscale verify %t/rows.mlir --num-sms=8 --m=70 --n=96 --k=520 --batch=3 | FileCheck %s --check-prefix=ROWS
// RUN: blockscale verify %t/rows.mlir --num-sms=8 --m=70 --n=96 --k=520 --batch=3 --target=sm_120a | FileCheck %s --check-prefix=ROWS
// RUN: blockscale verify %t/rows.mlir --num-sms=8 --m=70 --n=96 --k=520 --batch=3 --target=sm_103a --data=random --conditions=harsh --completion=latest | FileCheck %s --check-prefix=ROWS-ONCE
// RUN: blockscale verify %t/tiles.mlir --num-sms=8 --m=70 --n=96 --k=520 | FileCheck %s --check-prefix=TILES
// RUN: blockscale verify %t/tiles.mlir --num-sms=8 --m=70 --n=96 --k=520 --target=sm_120a --data=random | FileCheck %s --check-prefix=TILES-ONCE
// RUN: blockscale verify %t/tiles.mlir --num-sms=8 --m=70 --n=96 --k=520 --target=sm_107a --data=random --conditions=harsh --completion=latest | FileCheck %s --check-prefix=TILES-LAST
// RUN: blockscale compile %t/tiles.mlir --no-cubin -o %t
// RUN: FileCheck %s --check-prefix=PLAN < %t/tiles.plan.json

// ROWS-NOT: FAIL
// ROWS-COUNT-18: pass
// ROWS-NOT: {{FAIL|pass}}

// ROWS-ONCE-NOT: FAIL
// ROWS-ONCE-COUNT-9: pass
// ROWS-ONCE-NOT: {{FAIL|pass}}

// TILES-NOT: FAIL
// TILES-COUNT-14: pass
// TILES-NOT: {{FAIL|pass}}

// TILES-ONCE-NOT: FAIL
// TILES-ONCE-COUNT-7: pass
// TILES-ONCE-NOT: {{FAIL|pass}}

// TILES-LAST-NOT: FAIL
// TILES-LAST-COUNT-7: pass
// TILES-LAST-NOT: {{FAIL|pass}}

// Terms of the zero points of both, those of A first.
// PLAN-LABEL: "name": "both_tiles"
// PLAN: "zeroTerms": [
// PLAN-NEXT: {
// PLAN-NEXT: "operand": "a",
// PLAN-NEXT: "format": "f32",
// PLAN-NEXT: "rows": 1,
// PLAN-NEXT: "block": 64,
// PLAN-NEXT: "first": "0",
// PLAN-NEXT: "count": "4"
// PLAN-NEXT: },
// PLAN-NEXT: {
// PLAN-NEXT: "operand": "b",
// PLAN-NEXT: "format": "bf16",
// PLAN-NEXT: "rows": 4,
// PLAN-NEXT: "block": 128,
// PLAN-NEXT: "first": "4",
// PLAN-NEXT: "count": "2"
// PLAN-NEXT: }
// PLAN-NEXT: ]
// PLAN: "operand": "a_terms",
// PLAN-NEXT: "type": "f32",
// PLAN-NEXT: "elements": "780",

//--- rows.mlir
!of_b_a = !blockscale.tensor<200x256xf8E4M3FN, "float32_t0">
!of_b_b = !blockscale.tensor<96x256xui4, "float32_float32_t0">
func.func @of_b(%a: !of_b_a, %b: !of_b_b, %alpha: f32, %bias: tensor<96xf32>) -> tensor<200x96xf32> {
  %0 = blockscale.matmul %a, %b alpha(%alpha) bias(%bias) activation(silu) : !of_b_a, !of_b_b, tensor<96xf32> -> tensor<200x96xf32>
  return %0 : tensor<200x96xf32>
}

// Of both, of several rows; the first operand is that of the columns.
!both_a = !blockscale.tensor<24x256xui4, "float32_float16_t0">
!both_b = !blockscale.tensor<136x256xui3, "float16_bfloat16_t8_t0">
func.func @both(%a: !both_a, %b: !both_b, %alpha: f32, %beta: f32, %c: tensor<24x136xbf16>) -> tensor<24x136xbf16> {
  %0 = blockscale.matmul %a, %b alpha(%alpha) beta(%beta) c(%c) : !both_a, !both_b, tensor<24x136xbf16> -> tensor<24x136xbf16>
  return %0 : tensor<24x136xbf16>
}

// One of each matrix, beside elements without scales.
!one_a = !blockscale.tensor<3x41x192xf16>
!one_b = !blockscale.tensor<3x136x192xui8, "float32_float32">
func.func @one(%a: !one_a, %b: !one_b) -> tensor<3x41x136xf16> {
  %0 = blockscale.matmul %a, %b : !one_a, !one_b -> tensor<3x41x136xf16>
  return %0 : tensor<3x41x136xf16>
}

!dynamic_a = !blockscale.tensor<?x?x?xui2, "bfloat16_float32_t0">
!dynamic_b = !blockscale.tensor<?x?x?xi4, "float32">
func.func @dynamic(%a: !dynamic_a, %b: !dynamic_b) -> tensor<?x?x?xf32> {
  %0 = blockscale.matmul %a, %b : !dynamic_a, !dynamic_b -> tensor<?x?x?xf32>
  return %0 : tensor<?x?x?xf32>
}

!experts_a = !blockscale.tensor<?x256xf8E4M3FN, "float32_t0">
!experts_b = !blockscale.tensor<3x96x256xui4, "float32_float32_t0">
func.func @experts(%a: !experts_a, %b: !experts_b, %ends: tensor<3xi32>) -> tensor<?x96xbf16> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<3xi32>) : !experts_a, !experts_b -> tensor<?x96xbf16>
  return %0 : tensor<?x96xbf16>
}

!pairs_a = !blockscale.tensor<70x256xui8, "float32_float32_t0">
!pairs_b = !blockscale.tensor<160x256xf8E5M2, "float32_t0">
func.func @pairs(%a: !pairs_a, %b: !pairs_b) -> tensor<70x80xf32> {
  %0 = blockscale.matmul %a, %b pairs epilogue(%gate, %up) {
    %1 = arith.subf %up, %gate : f32
    blockscale.yield %1
  } : !pairs_a, !pairs_b -> tensor<70x80xf32>
  return %0 : tensor<70x80xf32>
}

!quantised_a = !blockscale.tensor<70x256xf8E4M3FN, "float32_t0">
!quantised_b = !blockscale.tensor<128x256xui4, "float32_float32_t0">
!quantised_d = !blockscale.tensor<70x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @quantised(%a: !quantised_a, %b: !quantised_b) -> !quantised_d {
  %0 = blockscale.matmul %a, %b : !quantised_a, !quantised_b -> tensor<70x128xbf16>
  %1 = blockscale.quantize %0 : tensor<70x128xbf16> to !quantised_d
  return %1 : !quantised_d
}

// Stored in 16 bits.
!fnuz_a = !blockscale.tensor<70x256xf8E4M3FNUZ, "float32_t0">
!fnuz_b = !blockscale.tensor<72x256xui4, "float32_float32_t0">
func.func @fnuz(%a: !fnuz_a, %b: !fnuz_b, %alpha: f32) -> tensor<70x72xf32> {
  %0 = blockscale.matmul %a, %b alpha(%alpha) : !fnuz_a, !fnuz_b -> tensor<70x72xf32>
  return %0 : tensor<70x72xf32>
}

//--- tiles.mlir
!groups_a = !blockscale.tensor<200x512xf8E4M3FN, "float32_t128">
!groups_b = !blockscale.tensor<96x512xui4, "bfloat16_float16_t128">
func.func @groups(%a: !groups_a, %b: !groups_b, %alpha: f32) -> tensor<200x96xbf16> {
  %0 = blockscale.matmul %a, %b alpha(%alpha) : !groups_a, !groups_b -> tensor<200x96xbf16>
  return %0 : tensor<200x96xbf16>
}

!both_tiles_a = !blockscale.tensor<130x256xui8, "float32_float32_t64">
!both_tiles_b = !blockscale.tensor<72x256xui4, "float32_bfloat16_t4_t128">
func.func @both_tiles(%a: !both_tiles_a, %b: !both_tiles_b) -> tensor<130x72xf32> {
  %0 = blockscale.matmul %a, %b : !both_tiles_a, !both_tiles_b -> tensor<130x72xf32>
  return %0 : tensor<130x72xf32>
}

// The last tile ends before its end.
!dynamic_tiles_a = !blockscale.tensor<?x?x?xui4, "float32_float32_t0">
!dynamic_tiles_b = !blockscale.tensor<?x?x?xui4, "float32_float16_t128">
func.func @dynamic_tiles(%a: !dynamic_tiles_a, %b: !dynamic_tiles_b) -> tensor<?x?x?xf32> {
  %0 = blockscale.matmul %a, %b : !dynamic_tiles_a, !dynamic_tiles_b -> tensor<?x?x?xf32>
  return %0 : tensor<?x?x?xf32>
}

!expert_tiles_a = !blockscale.tensor<?x256xf8E4M3FN, "float32_t128">
!expert_tiles_b = !blockscale.tensor<3x96x256xui4, "float32_float32_t32_t128">
func.func @expert_tiles(%a: !expert_tiles_a, %b: !expert_tiles_b, %ends: tensor<3xi32>) -> tensor<?x96xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<3xi32>) : !expert_tiles_a, !expert_tiles_b -> tensor<?x96xf32>
  return %0 : tensor<?x96xf32>
}

// Scales with fractions, of bytes, and partners that are stored in 16 bits.
!bytes_a = !blockscale.tensor<130x256xf8E5M2FNUZ, "float32_t128">
!bytes_b = !blockscale.tensor<72x256xui4, "e4m3_bfloat16_t32">
func.func @bytes(%a: !bytes_a, %b: !bytes_b) -> tensor<130x72xf32> {
  %0 = blockscale.matmul %a, %b : !bytes_a, !bytes_b -> tensor<130x72xf32>
  return %0 : tensor<130x72xf32>
}
!both_bytes_a = !blockscale.tensor<70x256xui8, "e4m3_float32_t64">
!both_bytes_b = !blockscale.tensor<72x256xui4, "e4m3_float32_t4_t128">
func.func @both_bytes(%a: !both_bytes_a, %b: !both_bytes_b) -> tensor<70x72xf32> {
  %0 = blockscale.matmul %a, %b : !both_bytes_a, !both_bytes_b -> tensor<70x72xf32>
  return %0 : tensor<70x72xf32>
}
// With zero points in steps of the scale.
!steps_a = !blockscale.tensor<70x256xf8E4M3FN, "float32_t0">
!steps_b = !blockscale.tensor<72x256xui4, "e4m3_int8_t32">
func.func @steps(%a: !steps_a, %b: !steps_b) -> tensor<70x72xf32> {
  %0 = blockscale.matmul %a, %b : !steps_a, !steps_b -> tensor<70x72xf32>
  return %0 : tensor<70x72xf32>
}
