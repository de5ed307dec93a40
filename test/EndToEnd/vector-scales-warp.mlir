// Chips without tensor memory multiply narrow floats without scales of tiles by
// kinds with scales, which are 1 in registers: padding behind K must not count.

// REQUIRES: mlir
// RUN: blockscale verify %s --target=sm_120a --num-sms=3 --m=37 --n=72 --k=200 | FileCheck %s
// RUN: blockscale verify %s --target=sm_121a --num-sms=5 --m=130 --n=200 --k=96 --data=exact --completion=latest | FileCheck %s --check-prefix=ONCE

// CHECK-NOT: FAIL
// CHECK-COUNT-14: pass
// CHECK-NOT: {{FAIL|pass}}

// ONCE-NOT: FAIL
// ONCE-COUNT-7: pass
// ONCE-NOT: {{FAIL|pass}}

!tensor_a = !blockscale.tensor<130x328xf8E4M3FN, "float32">
!tensor_b = !blockscale.tensor<144x328xf8E4M3FN, "float32">
func.func @tensor(%a: !tensor_a, %b: !tensor_b) -> tensor<130x144xbf16> {
  %0 = blockscale.matmul %a, %b : !tensor_a, !tensor_b -> tensor<130x144xbf16>
  return %0 : tensor<130x144xbf16>
}

!row_a = !blockscale.tensor<?x?xf8E4M3FN, "float32_t0">
!row_b = !blockscale.tensor<?x?xf8E5M2, "float32_t0">
func.func @row(%a: !row_a, %b: !row_b, %s: f32) -> tensor<?x?xbf16> {
  %0 = blockscale.matmul %a, %b alpha(%s) : !row_a, !row_b -> tensor<?x?xbf16>
  return %0 : tensor<?x?xbf16>
}

// Lines of 128 elements: what lies behind the 160 of K is zero by the plan.
!six_a = !blockscale.tensor<2x70x160xf6E3M2FN, "e8m0_t16_t0">
!six_b = !blockscale.tensor<2x72x160xf6E2M3FN, "bfloat16">
func.func @six(%a: !six_a, %b: !six_b) -> tensor<2x70x72xf32> {
  %0 = blockscale.matmul %a, %b : !six_a, !six_b -> tensor<2x70x72xf32>
  return %0 : tensor<2x70x72xf32>
}

!four_a = !blockscale.tensor<70x200xf4E2M1FN, "float16_t0">
!four_b = !blockscale.tensor<136x200xf4E2M1FN, "float32_t4_t0">
func.func @four(%a: !four_a, %b: !four_b) -> tensor<70x136xf32> {
  %0 = blockscale.matmul %a, %b : !four_a, !four_b -> tensor<70x136xf32>
  return %0 : tensor<70x136xf32>
}

!plain_a = !blockscale.tensor<70x300xf8E5M2>
!plain_b = !blockscale.tensor<40x300xf4E2M1FN>
func.func @plain(%a: !plain_a, %b: !plain_b, %v: tensor<40xf32>) -> tensor<70x40xf32> {
  %0 = blockscale.matmul %a, %b bias(%v) : !plain_a, !plain_b, tensor<40xf32> -> tensor<70x40xf32>
  return %0 : tensor<70x40xf32>
}

!sparse_a = !blockscale.tensor<70x384xf8E4M3FN, "n2m4", layout = tiled_128x4>
!sparse_b = !blockscale.tensor<136x384xf8E5M2, "float32_t0">
func.func @sparse(%a: !sparse_a, %b: !sparse_b) -> tensor<70x136xf32> {
  %0 = blockscale.matmul %a, %b : !sparse_a, !sparse_b -> tensor<70x136xf32>
  return %0 : tensor<70x136xf32>
}

!swapped_a = !blockscale.tensor<24x256xf8E4M3FN, "float32_t0">
!swapped_b = !blockscale.tensor<264x256xf8E4M3FN, "float32_t32_t0">
func.func @swapped(%a: !swapped_a, %b: !swapped_b) -> tensor<24x264xbf16> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = true>) : !swapped_a, !swapped_b -> tensor<24x264xbf16>
  return %0 : tensor<24x264xbf16>
}
