// Sizes that are known at launch only: one compilation, many sizes.

// REQUIRES: mlir
// RUN: blockscale verify %s --m=1,64,200 --n=8,136 --k=32,288 --batch=1,3 --data=exact | FileCheck %s
// RUN: blockscale verify %s --target=sm_120a --m=1,64,200 --n=8,136 --k=32,288 --batch=1,3 --data=exact | FileCheck %s

// CHECK-NOT: FAIL
// CHECK-COUNT-24: pass
// CHECK-NOT: {{FAIL|pass}}

!dynamic_a = !blockscale.tensor<?x?xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!dynamic_b = !blockscale.tensor<?x?xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @dynamic(%a: !dynamic_a, %b: !dynamic_b) -> tensor<?x?xf32> {
  %0 = blockscale.matmul %a, %b : !dynamic_a, !dynamic_b -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

!dynamic_batch_a = !blockscale.tensor<?x?x256xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!dynamic_batch_b = !blockscale.tensor<?x?x256xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @dynamic_batch(%a: !dynamic_batch_a, %b: !dynamic_batch_b) -> tensor<?x?x?xf32> {
  %0 = blockscale.matmul %a, %b : !dynamic_batch_a, !dynamic_batch_b -> tensor<?x?x?xf32>
  return %0 : tensor<?x?x?xf32>
}
