// A pair of CTAs for a family target, and the refusal where the family has none.

// REQUIRES: mlir
// RUN: blockscale verify %s --target=sm_100f --num-sms=2 --data=exact | FileCheck %s
// RUN: not blockscale verify %s --target=sm_120f 2>&1 | FileCheck %s --check-prefix=NONE

// CHECK: pair {{.*}}pass
// NONE: error: {{.*}}'sm_120f'

!a = !blockscale.tensor<300x160xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!b = !blockscale.tensor<264x160xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @pair(%a: !a, %b: !b) -> tensor<300x264xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 128, swap_operands = false, cta_group = 2>) : !a, !b -> tensor<300x264xf32>
  return %0 : tensor<300x264xf32>
}
