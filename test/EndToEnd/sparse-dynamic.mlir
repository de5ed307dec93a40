// A structured-sparse A whose sizes are known at launch only.

// REQUIRES: mlir
// RUN: blockscale verify %s --m=1,200 --n=8,136 --k=64,320 --batch=1,3 --data=exact | FileCheck %s

// CHECK-NOT: FAIL
// CHECK-COUNT-16: pass
// CHECK-NOT: {{FAIL|pass}}

!dynamic_a = !blockscale.tensor<?x?xf8E4M3FN, "e8m0_t32n2m4", layout = tiled_128x4>
!dynamic_b = !blockscale.tensor<?x?xf6E2M3FN, "e8m0_t64", layout = tiled_128x4>
func.func @dynamic(%a: !dynamic_a, %b: !dynamic_b) -> tensor<?x?xf32> {
  %0 = blockscale.matmul %a, %b : !dynamic_a, !dynamic_b -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

!batch_a = !blockscale.tensor<?x?x352xf4E2M1FN, "e4m3fn_t16n4m8", layout = tiled_128x4>
!batch_b = !blockscale.tensor<?x?x352xf4E2M1FN, "e4m3fn_t32", layout = tiled_128x4>
func.func @dynamic_batch(%a: !batch_a, %b: !batch_b) -> tensor<?x?x?xf32> {
  %0 = blockscale.matmul %a, %b : !batch_a, !batch_b -> tensor<?x?x?xf32>
  return %0 : tensor<?x?x?xf32>
}
