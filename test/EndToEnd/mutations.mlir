// Every one of more than fifty single edits of a correct kernel is noticed.

// REQUIRES: mlir
// RUN: rm -rf %t && mkdir %t
// RUN: blockscale compile %s --no-cubin -o %t
// RUN: %python %S/Inputs/mutate.py %s %t/mutations.ptx %t | FileCheck %s

// CHECK-NOT: missed:
// CHECK: missed 0 of {{[4-9][0-9]}} edits

!a = !blockscale.tensor<300x512xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!b = !blockscale.tensor<264x512xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>

func.func @product(%a: !a, %b: !b) -> tensor<300x264xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 1>) : !a, !b -> tensor<300x264xf32>
  return %0 : tensor<300x264xf32>
}
