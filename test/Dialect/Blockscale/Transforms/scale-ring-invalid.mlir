// Rings of scales that no kernel has.

// RUN: blockscale-opt %s -split-input-file -verify-diagnostics -blockscale-legalize-scales -blockscale-select-schedule -blockscale-form-kernels

!none = !blockscale.tensor<256x256xf8E4M3FN>
func.func @none(%a: !none, %b: !none) -> tensor<256x256xbf16> {
  // expected-error @below {{has no legal schedule: 'scale_stages' of 2 is a ring of scales alone: kind 'f8f6f4' has no scales; nearest legal: no 'scale_stages'}}
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<scale_stages = 2>) : !none, !none -> tensor<256x256xbf16>
  return %0 : tensor<256x256xbf16>
}

// -----

!warps = !blockscale.tensor<256x512xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @warps(%a: !warps, %b: !warps) -> tensor<256x256xbf16> {
  // expected-error @below {{has no legal schedule: 'scale_stages' of 1 is a ring of scales alone: on sm_120a nothing copies scales elsewhere before the operands are read; nearest legal: no 'scale_stages'}}
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<stages = 2, scale_stages = 1>) {blockscale.target = #blockscale.target<sm_120a>} : !warps, !warps -> tensor<256x256xbf16>
  return %0 : tensor<256x256xbf16>
}

// -----

// A stage of a CTA of a pair is 32768 bytes and 6144 of scales; 232448 hold six and
// five beside 1024 of barriers.
!pair = !blockscale.tensor<8192x8192xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @both(%a: !pair, %b: !pair) -> tensor<8192x8192xbf16> {
  // expected-error @below {{has no legal schedule: 7 stages of 32768 bytes and 2 of scales of 6144 bytes exceed the 232448 bytes of shared memory that sm_100a gives a CTA; at most 6 fit}}
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 256, stages = 7, scale_stages = 2, cta_group = 2>) : !pair, !pair -> tensor<8192x8192xbf16>
  return %0 : tensor<8192x8192xbf16>
}

// -----

!one_ring = !blockscale.tensor<8192x8192xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @one_ring(%a: !one_ring, %b: !one_ring) -> tensor<8192x8192xbf16> {
  // expected-error @below {{has no legal schedule: 6 stages of 38912 bytes exceed the 232448 bytes of shared memory that sm_100a gives a CTA; at most 5 fit}}
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 256, stages = 6, scale_stages = 6, cta_group = 2>) : !one_ring, !one_ring -> tensor<8192x8192xbf16>
  return %0 : tensor<8192x8192xbf16>
}

// -----

!more = !blockscale.tensor<8192x8192xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @more(%a: !more, %b: !more) -> tensor<8192x8192xbf16> {
  // expected-error @below {{has no legal schedule: 'scale_stages' of 8 of 6144 bytes leave room for 5 'stages' of 32768 bytes; expected at most as many as those}}
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 256, scale_stages = 8, cta_group = 2>) : !more, !more -> tensor<8192x8192xbf16>
  return %0 : tensor<8192x8192xbf16>
}

// -----

// Written by hand behind the choice.
!by_hand = !blockscale.tensor<256x128xbf16>
func.func @by_hand(%a: !by_hand, %b: !by_hand) -> tensor<256x256xbf16> {
  // expected-error @below {{'scale_stages' of 2 is a ring of scales alone: kind 'f16' has no scales; nearest legal: no 'scale_stages'}}
  %0 = blockscale.matmul %a, %b mma(<kind = f16, a = bf16, b = bf16, m = 128, n = 128, k = 16>) schedule(#blockscale.schedule<tile_m = 128, tile_n = 128, tile_k = 64, stages = 4, scale_stages = 2, accumulators = 2, swap_operands = false, group_m = 8>) : !by_hand, !by_hand -> tensor<256x256xbf16>
  return %0 : tensor<256x256xbf16>
}
