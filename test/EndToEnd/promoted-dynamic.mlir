// Scales of tiles along K that are applied in registers, with sizes of the
// launch: no whole blocks, one block, a last one that is shorter.

// REQUIRES: mlir
// RUN: blockscale verify %s --m=1,130 --n=200 --k=80,384,520 --batch=2 --num-sms=5 | FileCheck %s
// RUN: blockscale verify %s --m=37 --n=144 --k=640 --batch=1 --num-sms=5 --data=exact --completion=latest | FileCheck %s --check-prefix=ONCE

// CHECK-NOT: FAIL
// CHECK-COUNT-36: pass
// CHECK-NOT: {{FAIL|pass}}

// ONCE-NOT: FAIL
// ONCE-COUNT-3: pass
// ONCE-NOT: {{FAIL|pass}}

!blocks_a = !blockscale.tensor<?x?x?xf8E4M3FN, "float32_t128">
!blocks_b = !blockscale.tensor<?x?x?xf8E4M3FN, "float32_t128_t128">
func.func @blocks(%a: !blocks_a, %b: !blocks_b) -> tensor<?x?x?xbf16> {
  %0 = blockscale.matmul %a, %b : !blocks_a, !blocks_b -> tensor<?x?x?xbf16>
  return %0 : tensor<?x?x?xbf16>
}

!long_a = !blockscale.tensor<?x?xf8E4M3FN, "float32_t256">
!long_b = !blockscale.tensor<?x?xf8E4M3FN, "float32_t128_t256">
func.func @long(%a: !long_a, %b: !long_b) -> tensor<?x?xf32> {
  %0 = blockscale.matmul %a, %b : !long_a, !long_b -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

!short_a = !blockscale.tensor<?x?xf8E4M3FN, "float32_t64">
!short_b = !blockscale.tensor<?x?xi4, "bfloat16_t32">
func.func @short(%a: !short_a, %b: !short_b) -> tensor<?x?xf32> {
  %0 = blockscale.matmul %a, %b : !short_a, !short_b -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
