// Kernels that compare the errors of blocks under two scales add them up exactly where
// they are near each other. Of a million blocks some have sums that f32 without floors
// would order otherwise.

// REQUIRES: mlir
// RUN: blockscale verify %s --m=20000 --data=random --seed=2 | FileCheck %s
// RUN: blockscale compile %s --no-cubin -o %t
// RUN: sed 's/fma.rn.f32 \t\(%%r[0-9]*\), %%r[0-9]*, 0f37800000, %%r[0-9]*;/mov.b32 \t\1, 0f00000000;/' %t/quantize-near-errors.ptx > %t/edited.ptx
// RUN: not cmp %t/quantize-near-errors.ptx %t/edited.ptx
// RUN: blockscale verify %s --m=20000 --data=random --seed=2 --edits=%t/edited.ptx | FileCheck %s --check-prefix=EDITED
// RUN: blockscale verify %s --m=133 --data=exact --conditions=harsh --target=sm_120a | FileCheck %s

// CHECK-NOT: FAIL
// CHECK: near {{.*}} pass
// CHECK-NOT: FAIL

// EDITED: edited.ptx: noticed

!q = !blockscale.tensor<4x?x192xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
func.func @near(%x: tensor<4x?x192xbf16>, %t: tensor<4xf32>) -> !q {
  %0 = blockscale.quantize %x tensor_scale(%t : tensor<4xf32>) rule(min_error) : tensor<4x?x192xbf16> to !q
  return %0 : !q
}
