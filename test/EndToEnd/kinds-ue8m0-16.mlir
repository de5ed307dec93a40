// Blocks of 16 with ue8m0 scales: for mma.sync PTX 9.1 has them, LLVM not yet.

// REQUIRES: mlir
// RUN: blockscale verify %s | FileCheck %s
// RUN: blockscale verify %s --target=sm_107a | FileCheck %s
// RUN: blockscale verify %s --target=sm_120a | FileCheck %s
// RUN: blockscale compile %s --target=sm_120a --emit=ptx | FileCheck %s --check-prefix=PTX

// PTX: .version 9.1
// PTX: mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue8m0 {

// CHECK-NOT: FAIL
// CHECK-COUNT-2: pass
// CHECK-NOT: {{FAIL|pass}}

!e2m1_t16_a = !blockscale.tensor<130x320xf4E2M1FN, "e8m0_t16", layout = tiled_128x4>
!e2m1_t16_b = !blockscale.tensor<136x320xf4E2M1FN, "e8m0_t16", layout = tiled_128x4>
func.func @e2m1_t16(%a: !e2m1_t16_a, %b: !e2m1_t16_b) -> tensor<130x136xf32> {
  %0 = blockscale.matmul %a, %b : !e2m1_t16_a, !e2m1_t16_b -> tensor<130x136xf32>
  return %0 : tensor<130x136xf32>
}
