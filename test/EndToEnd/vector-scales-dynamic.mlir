// Scales that cover all of K with sizes of the launch: groups that the last rows
// do not fill, few rows, batches.

// REQUIRES: mlir
// RUN: blockscale verify %s --m=1,37,130 --n=200 --k=96 --batch=2 --num-sms=5 | FileCheck %s

// CHECK-NOT: FAIL
// CHECK-COUNT-12: pass
// CHECK-NOT: {{FAIL|pass}}

!fp8_a = !blockscale.tensor<?x?x?xf8E4M3FN, "float32_t16_t0">
!fp8_b = !blockscale.tensor<?x?x?xf8E4M3FN, "float32_t0">
func.func @fp8(%a: !fp8_a, %b: !fp8_b) -> tensor<?x?x?xbf16> {
  %0 = blockscale.matmul %a, %b : !fp8_a, !fp8_b -> tensor<?x?x?xbf16>
  return %0 : tensor<?x?x?xbf16>
}

!int8_a = !blockscale.tensor<?x?xi8, "float32_t0">
!int8_b = !blockscale.tensor<?x?xi8, "float32">
func.func @int8(%a: !int8_a, %b: !int8_b) -> tensor<?x?xf32> {
  %0 = blockscale.matmul %a, %b : !int8_a, !int8_b -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
