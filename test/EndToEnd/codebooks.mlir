// Elements that are indices into tables, which the host stores as elements of
// instructions: e2m1 under scales of 16, e2m3 and e3m2 under scales of 32, bf16 under
// scales of 16 by which sums are multiplied; tails, batches, dynamic sizes, groups of rows
// and along K, 2-D tiles. Each code of each table that the plan stores is drawn.

// REQUIRES: mlir
// RUN: rm -rf %t && split-file %s %t
// RUN: blockscale verify %t/direct.mlir --num-sms=8 --m=70 --n=96 --k=544 | FileCheck %s --check-prefix=DIRECT
// RUN: blockscale verify %t/direct.mlir --num-sms=8 --m=70 --n=96 --k=544 --target=sm_120a --data=random --conditions=harsh --completion=latest | FileCheck %s --check-prefix=DIRECT-ONCE
// RUN: blockscale verify %t/promoted.mlir --num-sms=8 --m=70 --n=96 --k=528 | FileCheck %s --check-prefix=PROMOTED
// RUN: blockscale verify %t/promoted.mlir --num-sms=8 --m=70 --n=96 --k=528 --target=sm_120a --data=random --conditions=harsh --completion=latest | FileCheck %s --check-prefix=PROMOTED-ONCE
// RUN: blockscale compile %t/direct.mlir -o %t
// RUN: FileCheck %s --check-prefix=PLAN < %t/direct.plan.json

// DIRECT-NOT: FAIL
// DIRECT-COUNT-10: pass
// DIRECT-NOT: {{FAIL|pass}}
// DIRECT-ONCE-NOT: FAIL
// DIRECT-ONCE-COUNT-5: pass
// DIRECT-ONCE-NOT: {{FAIL|pass}}
// PROMOTED-NOT: FAIL
// PROMOTED-COUNT-6: pass
// PROMOTED-NOT: {{FAIL|pass}}
// PROMOTED-ONCE-NOT: FAIL
// PROMOTED-ONCE-COUNT-3: pass
// PROMOTED-ONCE-NOT: {{FAIL|pass}}

// Of mx4 the table of halves, 0 to 1.5 and 0 to -1.5, then that of quarters, all of
// them doubled as e2m1: 0, 1, 2, 3 and 0, 1/2, 1, 3/2.
// PLAN: "format": "cb31ie_int5",
// PLAN-NEXT: "codes": [
// PLAN-NEXT: 0,
// PLAN-NEXT: 2,
// PLAN-NEXT: 4,
// PLAN-NEXT: 5,
// PLAN-NEXT: 8,
// PLAN-NEXT: 10,
// PLAN-NEXT: 12,
// PLAN-NEXT: 13,
// PLAN-NEXT: 0,
// PLAN-NEXT: 1,
// PLAN-NEXT: 2,
// PLAN-NEXT: 3,
// PLAN-NEXT: 8,
// PLAN-NEXT: 9,
// PLAN-NEXT: 10,
// PLAN-NEXT: 11
// PLAN-NEXT: ]

//--- direct.mlir
!mx4_a = !blockscale.tensor<130x320x!blockscale.codebook<"cb31ie_int5">, "mx4", layout = tiled_128x4>
!mx4_b = !blockscale.tensor<72x320xf4E2M1FN, "e8m0_t16", layout = tiled_128x4>
func.func @mx4(%a: !mx4_a, %b: !mx4_b) -> tensor<130x72xf32> {
  %0 = blockscale.matmul %a, %b : !mx4_a, !mx4_b -> tensor<130x72xf32>
  return %0 : tensor<130x72xf32>
}

!mxfp4m = !blockscale.tensor<2x70x256x!blockscale.codebook<"cb41f01_e2m2fnuz">, "mxfp4m", layout = tiled_128x4>
!mxfp4e = !blockscale.tensor<2x136x256x!blockscale.codebook<"cb42fe0123_e3m2fnuz">, "mxfp4e", layout = tiled_128x4>
func.func @batches(%a: !mxfp4m, %b: !mxfp4e) -> tensor<2x70x136xbf16> {
  %0 = blockscale.matmul %a, %b : !mxfp4m, !mxfp4e -> tensor<2x70x136xbf16>
  return %0 : tensor<2x70x136xbf16>
}

!dynamic_a = !blockscale.tensor<?x?xf8E4M3FN, "mxfp8", layout = tiled_128x4>
!dynamic_b = !blockscale.tensor<?x?x!blockscale.codebook<"cb42f1346_e2m3fnuz">, "mxfp4f4", layout = tiled_128x4>
func.func @dynamic(%a: !dynamic_a, %b: !dynamic_b) -> tensor<?x?xf32> {
  %0 = blockscale.matmul %a, %b : !dynamic_a, !dynamic_b -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// Tiles of several rows, of two subtiles each.
!squares_a = !blockscale.tensor<41x256xf6E3M2FN, "e8m0_t32", layout = tiled_128x4>
!squares_b = !blockscale.tensor<264x256x!blockscale.codebook<"cb41fi_e2m2fnuz">, "e8m0_t64s32_t64s4", layout = tiled_128x4>
func.func @squares(%a: !squares_a, %b: !squares_b) -> tensor<41x264xf32> {
  %0 = blockscale.matmul %a, %b : !squares_a, !squares_b -> tensor<41x264xf32>
  return %0 : tensor<41x264xf32>
}

!along_k_a = !blockscale.tensor<70x?x!blockscale.codebook<"cb31ie_int5">, "mx4", layout = grouped_128x4>
!along_k_b = !blockscale.tensor<96x?xf4E2M1FN, "e8m0_t16", layout = grouped_128x4>
func.func @along_k(%a: !along_k_a, %b: !along_k_b, %ends: tensor<3xi32>) -> tensor<3x70x96xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<3xi32>) : !along_k_a, !along_k_b -> tensor<3x70x96xf32>
  return %0 : tensor<3x70x96xf32>
}

//--- promoted.mlir
!mx6 = !blockscale.tensor<130x256x!blockscale.codebook<"cb51ie_int7">, "mx6">
!mx9 = !blockscale.tensor<72x256x!blockscale.codebook<"cb81ie_int9">, "mx9">
func.func @mx9(%a: !mx6, %b: !mx9) -> tensor<130x72xf32> {
  %0 = blockscale.matmul %a, %b : !mx6, !mx9 -> tensor<130x72xf32>
  return %0 : tensor<130x72xf32>
}

!beside_a = !blockscale.tensor<?x?xbf16>
!beside_b = !blockscale.tensor<?x?x!blockscale.codebook<"cb81ie_int9">, "mx9">
func.func @beside(%a: !beside_a, %b: !beside_b) -> tensor<?x?xf32> {
  %0 = blockscale.matmul %a, %b : !beside_a, !beside_b -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

!experts_a = !blockscale.tensor<?x256xi8, "e8m0_t32">
!experts_b = !blockscale.tensor<3x96x256x!blockscale.codebook<"cb51ie_int7">, "mx6">
func.func @experts(%a: !experts_a, %b: !experts_b, %ends: tensor<3xi32>) -> tensor<?x96xbf16> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<3xi32>) : !experts_a, !experts_b -> tensor<?x96xbf16>
  return %0 : tensor<?x96xbf16>
}
