// A product whose result the host quantises although a kernel could: a schedule that only
// the kernel of both has does not count then; one that neither has stays refused.

// RUN: blockscale-opt %s --split-input-file --verify-diagnostics --blockscale-attach-target=target=sm_100a --blockscale-legalize-scales --blockscale-select-schedule | FileCheck %s

!x = !blockscale.tensor<133x256xf8E4M3FN, "float32_t128">
!w = !blockscale.tensor<256x256xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
!q = !blockscale.tensor<133x256xf6E2M3FN, "e8m0_t256", layout = tiled_128x4>
// CHECK-LABEL: func.func @of_both
// CHECK: blockscale.matmul
// CHECK-SAME: tile_n = 64
// CHECK-NOT: blockscale.quantized
func.func @of_both(%x: !x, %w: !w) -> !q {
  // expected-remark@+1 {{'schedule' suits a kernel that quantises the result, which is the host's here, and is chosen anew: scales of tiles along K that are applied in registers keep the sums of a row in registers of a thread, or of one for every 32 columns; 'tile_n' of 256 is not, nearest legal: 128}}
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<swap_operands = false, tile_n = 256>) : !x, !w -> tensor<133x256xbf16>
  %0 = blockscale.quantize %y : tensor<133x256xbf16> to !q
  return %0 : !q
}

// -----

!x = !blockscale.tensor<133x256xf8E4M3FN, "float32_t128">
!w = !blockscale.tensor<256x256xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
!q = !blockscale.tensor<133x256xf6E2M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @of_neither(%x: !x, %w: !w) -> !q {
  // expected-error@+1 {{has no legal schedule: scales of tiles along K that are applied in registers keep the sums of all of K in one CTA; 'split_k' of 2 is not lowered with them, nearest legal: 1}}
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<split_k = 2>) : !x, !w -> tensor<133x256xbf16>
  %0 = blockscale.quantize %y : tensor<133x256xbf16> to !q
  return %0 : !q
}
