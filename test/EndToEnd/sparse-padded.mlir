// Sparse operands that keep less than instructions skip, which are stored as their patterns
// with room that zeros fill: 1 of 4 and at most 2 of 8 and 16 as 2 of 4, of tf32 1 of 4 to 16
// as 1 of 2, of e2m1 under e4m3 as 4 of 8 in pairs; with scales that instructions read, of
// tiles in registers, of rows, without any, zero points, either operand, tails, batches.

// REQUIRES: mlir
// RUN: rm -rf %t && split-file %s %t
// RUN: blockscale verify %t/scaled.mlir --num-sms=8 --m=70 --n=96 --k=576 | FileCheck %s --check-prefix=SCALED
// RUN: blockscale verify %t/scaled.mlir --num-sms=8 --m=70 --n=96 --k=576 --target=sm_120a --data=random --conditions=harsh --completion=latest | FileCheck %s --check-prefix=SCALED-ONCE
// RUN: blockscale verify %t/others.mlir --num-sms=8 --target=sm_110a --m=70 --n=96 --k=576 | FileCheck %s --check-prefix=OTHERS
// RUN: blockscale compile %t/scaled.mlir --no-cubin -o %t
// RUN: FileCheck %s --check-prefix=PLAN < %t/scaled.plan.json
// RUN: blockscale verify %t/whole.mlir --conditions=plain --data=exact | FileCheck %s --check-prefix=WHOLE

// SCALED-NOT: FAIL
// SCALED-COUNT-10: pass
// SCALED-NOT: {{FAIL|pass}}
// SCALED-ONCE-NOT: FAIL
// SCALED-ONCE-COUNT-5: pass
// SCALED-ONCE-NOT: {{FAIL|pass}}
// OTHERS-NOT: FAIL
// OTHERS-COUNT-10: pass
// OTHERS-NOT: {{FAIL|pass}}
// WHOLE: function
// WHOLE-DAG: {{^}}bytes exact - 1 {{.*}} 0 pass
// WHOLE-DAG: {{^}}pairs exact - 1 {{.*}} 0 pass
// WHOLE-DAG: {{^}}words exact - 1 {{.*}} 0 pass
// WHOLE-DAG: {{^}}codes exact - 1 {{.*}} 0 pass

// Half of the elements are stored, whatever the spec keeps.
// PLAN-LABEL: "name": "one_of_four"
// PLAN: "elements": "128",
// PLAN: "pattern": "2:4"
// PLAN-LABEL: "name": "pairs"
// PLAN: "pattern": "4:8 in pairs"

//--- scaled.mlir
!one_a = !blockscale.tensor<70x256xf8E4M3FN, "e8m0_t16n1m4", layout = tiled_128x4>
!one_b = !blockscale.tensor<72x256xf8E5M2, "e8m0_t64", layout = tiled_128x4>
func.func @one_of_four(%a: !one_a, %b: !one_b) -> tensor<70x72xf32> {
  %0 = blockscale.matmul %a, %b : !one_a, !one_b -> tensor<70x72xf32>
  return %0 : tensor<70x72xf32>
}

!two_a = !blockscale.tensor<70x256xf6E3M2FN, "e8m0_t128", layout = tiled_128x4>
!two_b = !blockscale.tensor<136x256xf4E2M1FN, "e8m0_t32n2m8", layout = tiled_128x4>
func.func @two_of_eight(%a: !two_a, %b: !two_b) -> tensor<70x136xf32> {
  %0 = blockscale.matmul %a, %b : !two_a, !two_b -> tensor<70x136xf32>
  return %0 : tensor<70x136xf32>
}

!pairs_a = !blockscale.tensor<?x?xf4E2M1FN, "multi_float32_e4m3fn_t16n1m4", layout = tiled_128x4>
!pairs_b = !blockscale.tensor<?x?xf4E2M1FN, "multi_float32_e4m3fn_t32", layout = tiled_128x4>
func.func @pairs(%a: !pairs_a, %b: !pairs_b) -> tensor<?x?xf32> {
  %0 = blockscale.matmul %a, %b : !pairs_a, !pairs_b -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

!tiles_a = !blockscale.tensor<70x256xf8E5M2, "float32_t16n2m16", layout = tiled_128x4>
!tiles_b = !blockscale.tensor<72x256xf8E4M3FN, "float32_t128_t64">
func.func @tiles(%a: !tiles_a, %b: !tiles_b) -> tensor<70x72xf32> {
  %0 = blockscale.matmul %a, %b : !tiles_a, !tiles_b -> tensor<70x72xf32>
  return %0 : tensor<70x72xf32>
}

!rows_a = !blockscale.tensor<2x70x256xf8E4M3FN, "float32_t0n1m16", layout = tiled_128x4>
!rows_b = !blockscale.tensor<2x72x256xf8E4M3FN, "float32_t0">
func.func @rows(%a: !rows_a, %b: !rows_b) -> tensor<2x70x72xf32> {
  %0 = blockscale.matmul %a, %b : !rows_a, !rows_b -> tensor<2x70x72xf32>
  return %0 : tensor<2x70x72xf32>
}

//--- others.mlir
!words_a = !blockscale.tensor<70x256xtf32, "n1m4", layout = tiled_128x4>
!words_b = !blockscale.tensor<72x256xtf32>
func.func @words(%a: !words_a, %b: !words_b) -> tensor<70x72xf32> {
  %0 = blockscale.matmul %a, %b : !words_a, !words_b -> tensor<70x72xf32>
  return %0 : tensor<70x72xf32>
}

!halves_a = !blockscale.tensor<70x256xbf16>
!halves_b = !blockscale.tensor<72x256xbf16, "n2m8", layout = tiled_128x4>
func.func @halves(%a: !halves_a, %b: !halves_b) -> tensor<70x72xf32> {
  %0 = blockscale.matmul %a, %b : !halves_a, !halves_b -> tensor<70x72xf32>
  return %0 : tensor<70x72xf32>
}

!integers_a = !blockscale.tensor<70x256xi8, "n1m8", layout = tiled_128x4>
!integers_b = !blockscale.tensor<72x256xui8>
func.func @integers(%a: !integers_a, %b: !integers_b) -> tensor<70x72xi32> {
  %0 = blockscale.matmul %a, %b : !integers_a, !integers_b -> tensor<70x72xi32>
  return %0 : tensor<70x72xi32>
}

// What fills the room is the code of the zero point.
!zeros_a = !blockscale.tensor<70x256xui4, "float32_int8_t16n1m4", layout = tiled_128x4>
!zeros_b = !blockscale.tensor<72x256xf8E4M3FN, "float32_t64">
func.func @zeros(%a: !zeros_a, %b: !zeros_b) -> tensor<70x72xf32> {
  %0 = blockscale.matmul %a, %b : !zeros_a, !zeros_b -> tensor<70x72xf32>
  return %0 : tensor<70x72xf32>
}

!bytes_a = !blockscale.tensor<?x?xf16>
!bytes_b = !blockscale.tensor<?x?xui8, "float32_int16_t0n2m8", layout = tiled_128x4>
func.func @bytes(%a: !bytes_a, %b: !bytes_b) -> tensor<?x?xf32> {
  %0 = blockscale.matmul %a, %b : !bytes_a, !bytes_b -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

//--- whole.mlir
// What the host prunes and compresses is what the kernel multiplies.
!bytes_x = !blockscale.tensor<64x256xf8E4M3FN, "e8m0_t16n1m4", layout = tiled_128x4>
!bytes_w = !blockscale.tensor<48x256xf8E4M3FN, "e8m0_t64", layout = tiled_128x4>
func.func @bytes(%x: tensor<64x256xf32>, %w: !bytes_w) -> tensor<64x48xf32> {
  %0 = blockscale.quantize %x : tensor<64x256xf32> to !bytes_x
  %1 = blockscale.matmul %0, %w : !bytes_x, !bytes_w -> tensor<64x48xf32>
  return %1 : tensor<64x48xf32>
}

!pairs_x = !blockscale.tensor<64x256xf4E2M1FN, "e4m3fn_t16n2m8", layout = tiled_128x4>
!pairs_w = !blockscale.tensor<48x256xf4E2M1FN, "e4m3fn_t32", layout = tiled_128x4>
func.func @pairs(%x: tensor<64x256xf32>, %w: !pairs_w) -> tensor<64x48xf32> {
  %0 = blockscale.quantize %x : tensor<64x256xf32> to !pairs_x
  %1 = blockscale.matmul %0, %w : !pairs_x, !pairs_w -> tensor<64x48xf32>
  return %1 : tensor<64x48xf32>
}

!words_x = !blockscale.tensor<64x128xtf32, "n1m8", layout = tiled_128x4>
!words_w = !blockscale.tensor<48x128xtf32>
func.func @words(%x: tensor<64x128xf32>, %w: !words_w) -> tensor<64x48xf32> {
  %0 = blockscale.quantize %x : tensor<64x128xf32> to !words_x
  %1 = blockscale.matmul %0, %w : !words_x, !words_w -> tensor<64x48xf32>
  return %1 : tensor<64x48xf32>
}

!codes_x = !blockscale.tensor<64x256xui4, "float32_int8_t32n1m4", layout = tiled_128x4>
!codes_w = !blockscale.tensor<48x256xf8E4M3FN, "float32_t128">
func.func @codes(%x: tensor<64x256xf32>, %w: !codes_w) -> tensor<64x48xf32> {
  %0 = blockscale.quantize %x : tensor<64x256xf32> to !codes_x
  %1 = blockscale.matmul %0, %w : !codes_x, !codes_w -> tensor<64x48xf32>
  return %1 : tensor<64x48xf32>
}
