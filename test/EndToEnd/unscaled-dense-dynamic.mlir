// Sizes that are known when a kernel of dense operands without scales starts.

// REQUIRES: mlir
// RUN: blockscale verify %s --m=1,17,200 --n=8,136 --k=19,288 --data=exact | FileCheck %s

// CHECK-NOT: FAIL
// CHECK-COUNT-12: pass
// CHECK-NOT: {{FAIL|pass}}

!a = !blockscale.tensor<?x?xbf16>
!b = !blockscale.tensor<?x?xbf16>
func.func @bf16(%a: !a, %b: !b) -> tensor<?x?xf32> {
  %0 = blockscale.matmul %a, %b : !a, !b -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
