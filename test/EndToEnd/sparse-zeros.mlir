// Zero points and sparse operands. Those that count in steps of the scale are subtracted
// from what is kept where the host packs it, as elements of e4m3 or of bf16; what is
// pruned is 0 and has none. Those in real units of a dense operand are terms of the
// epilogue, beside sums of what the other one keeps.

// REQUIRES: mlir
// RUN: rm -rf %t && split-file %s %t
// RUN: blockscale verify %t/steps.mlir --num-sms=8 --m=70 --n=96 --k=576 --batch=3 | FileCheck %s --check-prefix=STEPS
// RUN: blockscale verify %t/steps.mlir --num-sms=8 --m=70 --n=96 --k=576 --batch=3 --target=sm_103a --data=random --conditions=harsh --completion=latest | FileCheck %s --check-prefix=STEPS-ONCE
// RUN: blockscale verify %t/narrow.mlir --num-sms=8 | FileCheck %s --check-prefix=NARROW
// RUN: blockscale verify %t/narrow.mlir --num-sms=8 --target=sm_120a --data=random --conditions=harsh | FileCheck %s --check-prefix=NARROW-ONCE
// RUN: blockscale verify %t/real.mlir --num-sms=8 --m=70 --n=96 --k=576 | FileCheck %s --check-prefix=REAL
// RUN: blockscale verify %t/real.mlir --num-sms=8 --m=70 --n=96 --k=576 --target=sm_107a --data=random --conditions=harsh --completion=latest | FileCheck %s --check-prefix=REAL-ONCE
// RUN: blockscale compile %t/steps.mlir --no-cubin -o %t
// RUN: FileCheck %s --check-prefix=PLAN < %t/steps.plan.json
// RUN: not blockscale compile --emit=ptx --dense-fallback --target=sm_120a %t/short.mlir 2>&1 | FileCheck %s --check-prefix=SHORT

// STEPS-NOT: FAIL
// STEPS-COUNT-14: pass
// STEPS-NOT: {{FAIL|pass}}

// STEPS-ONCE-NOT: FAIL
// STEPS-ONCE-COUNT-7: pass
// STEPS-ONCE-NOT: {{FAIL|pass}}

// NARROW-NOT: FAIL
// NARROW-COUNT-6: pass
// NARROW-NOT: {{FAIL|pass}}

// NARROW-ONCE-NOT: FAIL
// NARROW-ONCE-COUNT-3: pass
// NARROW-ONCE-NOT: {{FAIL|pass}}

// REAL-NOT: FAIL
// REAL-COUNT-12: pass
// REAL-NOT: {{FAIL|pass}}

// REAL-ONCE-NOT: FAIL
// REAL-ONCE-COUNT-6: pass
// REAL-ONCE-NOT: {{FAIL|pass}}

// A tile of 64 elements that are kept is one of 128. -256 is 0xc380 in bf16.
// PLAN-LABEL: "name": "bytes"
// PLAN: "lines": "70",
// PLAN-NEXT: "elements": "128",
// PLAN: "source": {
// PLAN-NEXT: "format": "uint8",
// PLAN-NEXT: "codes": [
// PLAN-NEXT: 50048,
// PLAN: "zeros": {
// PLAN-NEXT: "bits": 16,
// PLAN-NEXT: "rows": 1,
// PLAN-NEXT: "block": 128
// PLAN-NEXT: }

// SHORT: error: 'blockscale.matmul' op a sparse 'a' of kind 'f16' is lowered to tcgen05.mma only, which 'sm_120a' does not have; {{.*}}; nor can it be made dense, because what 'float32_int16_t0n2m4' prunes is 0, which no code is where a zero point is none

//--- steps.mlir
!bytes_a = !blockscale.tensor<70x256xui8, "float32_int16_t64n2m4", layout = tiled_128x4>
!bytes_b = !blockscale.tensor<72x256xf8E4M3FN, "float32_t128">
func.func @bytes(%a: !bytes_a, %b: !bytes_b) -> tensor<70x72xf32> {
  %0 = blockscale.matmul %a, %b : !bytes_a, !bytes_b -> tensor<70x72xf32>
  return %0 : tensor<70x72xf32>
}

// Tiles of 32 elements with the pruned ones: instructions of 8 bits add up 64.
!short_a = !blockscale.tensor<70x256xf8E5M2>
!short_b = !blockscale.tensor<72x256xui4, "bfloat16_int8_t8_t16n2m4", layout = tiled_128x4>
func.func @short(%a: !short_a, %b: !short_b, %bias: tensor<72xf32>) -> tensor<70x72xbf16> {
  %0 = blockscale.matmul %a, %b bias(%bias) activation(silu) : !short_a, !short_b, tensor<72xf32> -> tensor<70x72xbf16>
  return %0 : tensor<70x72xbf16>
}

// Of 1 of 2 elements, and of both operands, of which one is dense.
!both_a = !blockscale.tensor<?x?x?xui4, "float32_int8_t32n1m2", layout = tiled_128x4>
!both_b = !blockscale.tensor<?x?x?xui8, "float16_int32_t0">
func.func @both(%a: !both_a, %b: !both_b) -> tensor<?x?x?xf32> {
  %0 = blockscale.matmul %a, %b : !both_a, !both_b -> tensor<?x?x?xf32>
  return %0 : tensor<?x?x?xf32>
}

// Beside scales that instructions read, which multiply sums in registers here.
!powers_a = !blockscale.tensor<70x256xf8E4M3FN, "e8m0_t32">
!powers_b = !blockscale.tensor<136x256xui8, "float32_int16_n2m4", layout = tiled_128x4>
func.func @powers(%a: !powers_a, %b: !powers_b) -> tensor<70x136xf32> {
  %0 = blockscale.matmul %a, %b : !powers_a, !powers_b -> tensor<70x136xf32>
  return %0 : tensor<70x136xf32>
}

!dynamic_a = !blockscale.tensor<?x?xui8, "float32_int16_t0n2m4", layout = tiled_128x4>
!dynamic_b = !blockscale.tensor<?x?xf16>
func.func @dynamic(%a: !dynamic_a, %b: !dynamic_b) -> tensor<?x?xf32> {
  %0 = blockscale.matmul %a, %b : !dynamic_a, !dynamic_b -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

!x = !blockscale.tensor<70x256xi8, "float32_t0">
!experts = !blockscale.tensor<3x72x256xui8, "float32_int16_t128_t128n2m4", layout = tiled_128x4>
func.func @experts(%a: !x, %b: !experts, %ends: tensor<3xi32>) -> tensor<70x72xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<3xi32>) : !x, !experts -> tensor<70x72xf32>
  return %0 : tensor<70x72xf32>
}

// Integers without zero points beside floats are of bf16, too.
!integers_a = !blockscale.tensor<70x256xi8, "float32_t0n2m4", layout = tiled_128x4>
!integers_b = !blockscale.tensor<72x256xf8E4M3FN, "float32_t0">
func.func @integers(%a: !integers_a, %b: !integers_b) -> tensor<70x72xf32> {
  %0 = blockscale.matmul %a, %b : !integers_a, !integers_b -> tensor<70x72xf32>
  return %0 : tensor<70x72xf32>
}

//--- narrow.mlir
!four_a = !blockscale.tensor<2x70x256xui4, "float32_int8_t0n2m4", layout = tiled_128x4>
!four_b = !blockscale.tensor<2x72x256xf8E4M3FN, "e8m0_t64", layout = tiled_128x4>
func.func @four(%a: !four_a, %b: !four_b) -> tensor<2x70x72xf32> {
  %0 = blockscale.matmul %a, %b : !four_a, !four_b -> tensor<2x70x72xf32>
  return %0 : tensor<2x70x72xf32>
}

!three_a = !blockscale.tensor<70x256xf4E2M1FN>
!three_b = !blockscale.tensor<136x256xui3, "bfloat16_int8_t64n2m4", layout = tiled_128x4>
func.func @three(%a: !three_a, %b: !three_b) -> tensor<70x136xbf16> {
  %0 = blockscale.matmul %a, %b : !three_a, !three_b -> tensor<70x136xbf16>
  return %0 : tensor<70x136xbf16>
}

!two_a = !blockscale.tensor<70x256xui2, "float32_int8_t32n1m2", layout = tiled_128x4>
!two_b = !blockscale.tensor<72x256xui4, "float32_int8_t128">
func.func @two(%a: !two_a, %b: !two_b) -> tensor<70x72xf32> {
  %0 = blockscale.matmul %a, %b : !two_a, !two_b -> tensor<70x72xf32>
  return %0 : tensor<70x72xf32>
}

//--- short.mlir
!a = !blockscale.tensor<70x256xui8, "float32_int16_t0n2m4", layout = tiled_128x4>
!b = !blockscale.tensor<72x256xf8E4M3FN>
func.func @bytes(%a: !a, %b: !b) -> tensor<70x72xf32> {
  %0 = blockscale.matmul %a, %b : !a, !b -> tensor<70x72xf32>
  return %0 : tensor<70x72xf32>
}

//--- real.mlir
!rows_a = !blockscale.tensor<70x256xf8E4M3FN, "float32_t0n2m4", layout = tiled_128x4>
!rows_b = !blockscale.tensor<72x256xui4, "float32_float32_t0">
func.func @rows(%a: !rows_a, %b: !rows_b, %alpha: f32) -> tensor<70x72xf32> {
  %0 = blockscale.matmul %a, %b alpha(%alpha) : !rows_a, !rows_b -> tensor<70x72xf32>
  return %0 : tensor<70x72xf32>
}

!tiles_a = !blockscale.tensor<70x256xui8, "float32_bfloat16_t4_t64">
!tiles_b = !blockscale.tensor<136x256xf8E5M2, "float32_t64n2m4", layout = tiled_128x4>
func.func @tiles(%a: !tiles_a, %b: !tiles_b) -> tensor<70x136xf32> {
  %0 = blockscale.matmul %a, %b : !tiles_a, !tiles_b -> tensor<70x136xf32>
  return %0 : tensor<70x136xf32>
}

!one_of_two_a = !blockscale.tensor<2x70x256xf6E2M3FN, "float32_n1m2", layout = tiled_128x4>
!one_of_two_b = !blockscale.tensor<2x72x256xui4, "float32_float32_t128">
func.func @one_of_two(%a: !one_of_two_a, %b: !one_of_two_b) -> tensor<2x70x72xf32> {
  %0 = blockscale.matmul %a, %b : !one_of_two_a, !one_of_two_b -> tensor<2x70x72xf32>
  return %0 : tensor<2x70x72xf32>
}

!half_a = !blockscale.tensor<?x?xf16, "n2m4", layout = tiled_128x4>
!half_b = !blockscale.tensor<?x?xui8, "float16_float16_t0">
func.func @half(%a: !half_a, %b: !half_b) -> tensor<?x?xf32> {
  %0 = blockscale.matmul %a, %b : !half_a, !half_b -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// Of either kind: the sums are of elements less those in steps of the scale.
!kinds_a = !blockscale.tensor<70x256xui4, "float32_int8_t64n2m4", layout = tiled_128x4>
!kinds_b = !blockscale.tensor<72x256xui4, "float32_float32_t128">
func.func @kinds(%a: !kinds_a, %b: !kinds_b) -> tensor<70x72xf32> {
  %0 = blockscale.matmul %a, %b : !kinds_a, !kinds_b -> tensor<70x72xf32>
  return %0 : tensor<70x72xf32>
}

!wide_a = !blockscale.tensor<70x256xui8, "float32_float32_t0">
!wide_b = !blockscale.tensor<72x256xui8, "float32_int16_t0n2m4", layout = tiled_128x4>
func.func @wide(%a: !wide_a, %b: !wide_b) -> tensor<70x72xf32> {
  %0 = blockscale.matmul %a, %b : !wide_a, !wide_b -> tensor<70x72xf32>
  return %0 : tensor<70x72xf32>
}
