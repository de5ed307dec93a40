// Numbers of 16 bits that four groups of warps keep while they choose a scale together are
// taken out of words that are written.

// REQUIRES: mlir
// RUN: blockscale verify %s --num-sms=8 | FileCheck %s
// RUN: blockscale verify %s --num-sms=8 --seed=5 --conditions=harsh --completion=latest | FileCheck %s

// CHECK-NOT: FAIL
// CHECK-COUNT-4: pass
// CHECK-NOT: {{FAIL|pass}}

!beside = !blockscale.tensor<133x256xf8E4M3FN, "float32_t128">
!fours = !blockscale.tensor<256x256xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
func.func @four_groups(%x: !beside, %w: !fours) -> !blockscale.tensor<133x256xf6E2M3FN, "e8m0_t256", layout = tiled_128x4> {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<swap_operands = false>) : !beside, !fours -> tensor<133x256xbf16>
  %0 = blockscale.quantize %y : tensor<133x256xbf16> to !blockscale.tensor<133x256xf6E2M3FN, "e8m0_t256", layout = tiled_128x4>
  return %0 : !blockscale.tensor<133x256xf6E2M3FN, "e8m0_t256", layout = tiled_128x4>
}
