// Products whose D no tensor map and no ring of boxes is made for.

// RUN: blockscale-opt %s -split-input-file -verify-diagnostics -blockscale-legalize-scales -blockscale-select-schedule

!a = !blockscale.tensor<256x256xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!b = !blockscale.tensor<260x256xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @rows(%a: !a, %b: !b) -> tensor<256x260xbf16> {
  // expected-error @below {{has no legal schedule: 'stores' of 'tma' need rows of D of a multiple of 16 bytes (cuTensorMapEncodeTiled, globalStrides), found 520 bytes; nearest legal: 'direct'}}
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = false, stores = tma>) : !a, !b -> tensor<256x260xbf16>
  return %0 : tensor<256x260xbf16>
}

// -----

!a = !blockscale.tensor<256x256xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!b = !blockscale.tensor<?x256xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @dynamic(%a: !a, %b: !b) -> tensor<256x?xbf16> {
  // expected-error @below {{need rows of D of a static multiple of 16 bytes (cuTensorMapEncodeTiled, globalStrides), found a dynamic N; nearest legal: 'direct'}}
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = false, stores = tma>) : !a, !b -> tensor<256x?xbf16>
  return %0 : tensor<256x?xbf16>
}

// -----

!a = !blockscale.tensor<256x256xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @swap(%a: !a, %b: !a) -> tensor<256x256xbf16> {
  // expected-error @below {{'stores' of 'tma' are not lowered with 'swap_operands': rows of D are columns of tensor memory; nearest legal: 'direct'}}
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = true, stores = tma>) : !a, !a -> tensor<256x256xbf16>
  return %0 : tensor<256x256xbf16>
}

// -----

!a = !blockscale.tensor<256x512xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @split(%a: !a, %b: !a) -> tensor<256x256xbf16> {
  // expected-error @below {{'stores' of 'tma' are not lowered with 'split_k', whose last CTA stores D; nearest legal: 'direct'}}
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = false, split_k = 2, stores = tma>) : !a, !a -> tensor<256x256xbf16>
  return %0 : tensor<256x256xbf16>
}

// -----

!a = !blockscale.tensor<400x256xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
!b = !blockscale.tensor<4x256x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @groups(%a: !a, %b: !b, %ends: tensor<4xi32>) -> tensor<400x256xbf16> {
  // expected-error @below {{'stores' of 'tma' are not lowered with groups of rows, which end inside a box; nearest legal: 'direct'}}
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) schedule(#blockscale.schedule<swap_operands = false, stores = tma>) : !a, !b -> tensor<400x256xbf16>
  return %0 : tensor<400x256xbf16>
}

// -----

// Tiles whose sums fit no registers are refused for these, but are not to blame.
!a = !blockscale.tensor<256x256xf8E4M3FN, "float32_t128">
!b = !blockscale.tensor<260x256xf8E4M3FN, "float32_t128_t128">
func.func @promoted_rows(%a: !a, %b: !b) -> tensor<256x260xbf16> {
  // expected-error @below {{has no legal schedule: 'stores' of 'tma' need rows of D of a multiple of 16 bytes (cuTensorMapEncodeTiled, globalStrides), found 520 bytes; nearest legal: 'direct'}}
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = false, stores = tma>) : !a, !b -> tensor<256x260xbf16>
  return %0 : tensor<256x260xbf16>
}

// -----

!a = !blockscale.tensor<256x256xf8E4M3FN, "float32_t128">
!b = !blockscale.tensor<256x256xf8E4M3FN, "float32_t128_t128">
func.func @promoted(%a: !a, %b: !b, %bias: tensor<256xf32>) -> tensor<256x256xbf16> {
  // expected-error @below {{'stores' of 'tma' are not lowered with scales that are applied in registers where D is made of more than the sums; nearest legal: 'direct'}}
  %0 = blockscale.matmul %a, %b bias(%bias) schedule(#blockscale.schedule<swap_operands = false, tile_n = 128, stores = tma>) : !a, !b, tensor<256xf32> -> tensor<256x256xbf16>
  return %0 : tensor<256x256xbf16>
}

// -----

!a = !blockscale.tensor<256x256xf8E4M3FN, "float32_t128">
!b = !blockscale.tensor<256x256xf8E4M3FN, "float32_t128_t128">
func.func @sums(%a: !a, %b: !b) -> tensor<256x256xbf16> {
  // expected-error @below {{'stores' of 'tma' are not lowered with scales that are applied in registers and a 'tile_n' of 48, of which a thread has more than 32 sums; nearest legal: 'direct'}}
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = false, cta_group = 1, tile_n = 48, stores = tma>) : !a, !b -> tensor<256x256xbf16>
  return %0 : tensor<256x256xbf16>
}

// -----

!a = !blockscale.tensor<256x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @warps(%a: !a, %b: !a) -> tensor<256x256xbf16> {
  // expected-error @below {{'stores' of 'tma' are not lowered for sm_120a, whose warps multiply and store in registers; nearest legal: 'direct'}}
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<stores = tma>) {blockscale.target = #blockscale.target<sm_120a>} : !a, !a -> tensor<256x256xbf16>
  return %0 : tensor<256x256xbf16>
}
