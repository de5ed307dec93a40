// Blocks of 16 with ue8m0 scales, which PTX 9.0 has for tcgen05 only.

// REQUIRES: mlir
// RUN: blockscale verify %s | FileCheck %s

// CHECK-NOT: FAIL
// CHECK-COUNT-2: pass
// CHECK-NOT: {{FAIL|pass}}

!e2m1_t16_a = !blockscale.tensor<130x320xf4E2M1FN, "e8m0_t16", layout = tiled_128x4>
!e2m1_t16_b = !blockscale.tensor<136x320xf4E2M1FN, "e8m0_t16", layout = tiled_128x4>
func.func @e2m1_t16(%a: !e2m1_t16_a, %b: !e2m1_t16_b) -> tensor<130x136xf32> {
  %0 = blockscale.matmul %a, %b : !e2m1_t16_a, !e2m1_t16_b -> tensor<130x136xf32>
  return %0 : tensor<130x136xf32>
}
