// Rows and matrices that the launch counts, each matrix with a tensor scale of its own.

// REQUIRES: mlir
// RUN: blockscale verify %s --m=1,150 --batch=3 | FileCheck %s
// RUN: blockscale verify %s --m=257 --batch=1 --conditions=harsh --seed=2 --host-duties=false --data=exact | FileCheck %s --check-prefix=ONE
// RUN: blockscale verify %s --m=700 --batch=1 --tiles=2 --data=exact | FileCheck %s --check-prefix=ONE

// CHECK-NOT: FAIL
// CHECK-COUNT-4: pass
// CHECK-NOT: FAIL
// ONE-NOT: FAIL
// ONE: pass
// ONE-NOT: FAIL

!a = !blockscale.tensor<?x?x256xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!b = !blockscale.tensor<?x208x256xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!q = !blockscale.tensor<?x?x208xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
func.func @batches(%x: !a, %w: !b, %t: tensor<?xf32>, %bias: tensor<208xf32>) -> !q {
  %y = blockscale.matmul %x, %w bias(%bias) activation(silu) : !a, !b, tensor<208xf32> -> tensor<?x?x208xbf16>
  %0 = blockscale.quantize %y tensor_scale(%t : tensor<?xf32>) : tensor<?x?x208xbf16> to !q
  return %0 : !q
}
