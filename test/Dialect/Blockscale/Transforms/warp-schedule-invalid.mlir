// What the schedule of a chip without tensor memory may not ask for.

// RUN: blockscale-opt %s -split-input-file -verify-diagnostics -blockscale-select-schedule

!pair = !blockscale.tensor<8192x8192xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @pair(%a: !pair, %b: !pair) -> tensor<8192x8192xbf16> {
  // expected-error @below {{has no legal schedule: cta_group 2 is not legal for dense 'mxf4nvf4' (mma.sync) on 'sm_120a'}}
  %0 = blockscale.matmul %a, %b mma(<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16>) schedule(#blockscale.schedule<cta_group = 2>) {blockscale.target = #blockscale.target<sm_120a>} : !pair, !pair -> tensor<8192x8192xbf16>
  return %0 : tensor<8192x8192xbf16>
}

// -----

!k96 = !blockscale.tensor<8192x8192xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @k96(%a: !k96, %b: !k96) -> tensor<8192x8192xbf16> {
  // expected-error @below {{has no legal schedule: K = 96 is not legal}}
  %0 = blockscale.matmul %a, %b mma(<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16>) schedule(#blockscale.schedule<mma_k = 96>) {blockscale.target = #blockscale.target<sm_120a>} : !k96, !k96 -> tensor<8192x8192xbf16>
  return %0 : tensor<8192x8192xbf16>
}

// -----

!cluster = !blockscale.tensor<8192x8192xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @cluster(%a: !cluster, %b: !cluster) -> tensor<8192x8192xbf16> {
  // expected-error @below {{on sm_120a the legal cluster is 1x1, found 2x1}}
  %0 = blockscale.matmul %a, %b mma(<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16>) schedule(#blockscale.schedule<cluster_m = 2>) {blockscale.target = #blockscale.target<sm_120a>} : !cluster, !cluster -> tensor<8192x8192xbf16>
  return %0 : tensor<8192x8192xbf16>
}

// -----

!accumulators = !blockscale.tensor<8192x8192xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @accumulators(%a: !accumulators, %b: !accumulators) -> tensor<8192x8192xbf16> {
  // expected-error @below {{sm_120a keeps accumulators in registers; the legal number of 'accumulators' is 1, found 2}}
  %0 = blockscale.matmul %a, %b mma(<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16>) schedule(#blockscale.schedule<accumulators = 2>) {blockscale.target = #blockscale.target<sm_120a>} : !accumulators, !accumulators -> tensor<8192x8192xbf16>
  return %0 : tensor<8192x8192xbf16>
}

// -----

!tile_n_256 = !blockscale.tensor<8192x8192xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @tile_n_256(%a: !tile_n_256, %b: !tile_n_256) -> tensor<8192x8192xbf16> {
  // expected-error @below {{a tile of 128x256x256 is not one that warps multiply; legal are 128 rows, 16, 32, 64 or 128 columns and 256 along K}}
  %0 = blockscale.matmul %a, %b mma(<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16>) schedule(#blockscale.schedule<tile_n = 256>) {blockscale.target = #blockscale.target<sm_120a>} : !tile_n_256, !tile_n_256 -> tensor<8192x8192xbf16>
  return %0 : tensor<8192x8192xbf16>
}

// -----

!tile_m_256 = !blockscale.tensor<8192x8192xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @tile_m_256(%a: !tile_m_256, %b: !tile_m_256) -> tensor<8192x8192xbf16> {
  // expected-error @below {{a tile of 256x128x256 is not one that warps multiply}}
  %0 = blockscale.matmul %a, %b mma(<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16>) schedule(#blockscale.schedule<tile_m = 256>) {blockscale.target = #blockscale.target<sm_120a>} : !tile_m_256, !tile_m_256 -> tensor<8192x8192xbf16>
  return %0 : tensor<8192x8192xbf16>
}

// -----

!stages = !blockscale.tensor<8192x8192xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @stages(%a: !stages, %b: !stages) -> tensor<8192x8192xbf16> {
  // expected-error @below {{3 stages of 36864 bytes exceed the 101376 bytes of shared memory that sm_120a gives a CTA; at most 2 fit}}
  %0 = blockscale.matmul %a, %b mma(<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16>) schedule(#blockscale.schedule<tile_n = 128, stages = 3>) {blockscale.target = #blockscale.target<sm_120a>} : !stages, !stages -> tensor<8192x8192xbf16>
  return %0 : tensor<8192x8192xbf16>
}

// -----

!swap_a = !blockscale.tensor<8192x8192xf4E2M1FN, "e4m3fn_t16n4m8", layout = tiled_128x4>
!swap_b = !blockscale.tensor<8192x8192xf4E2M1FN, "e4m3fn_t32", layout = tiled_128x4>
func.func @swap(%a: !swap_a, %b: !swap_b) -> tensor<8192x8192xbf16> {
  // expected-error @below {{has no legal schedule: a sparse 'a' supplies the rows of the instruction, so 'swap_operands' must be false}}
  %0 = blockscale.matmul %a, %b mma(<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, sparse = true>) schedule(#blockscale.schedule<swap_operands = true>) {blockscale.target = #blockscale.target<sm_120a>} : !swap_a, !swap_b -> tensor<8192x8192xbf16>
  return %0 : tensor<8192x8192xbf16>
}

// -----

!unscaled_a = !blockscale.tensor<128x256xf8E4M3FN, "n2m4", layout = tiled_128x4>
!unscaled_b = !blockscale.tensor<128x256xf8E4M3FN>
func.func @unscaled(%a: !unscaled_a, %b: !unscaled_b) -> tensor<128x128xf32> {
  // expected-error @below {{has no legal schedule: a sparse 'a' of kind 'f8f6f4' is lowered to tensor memory only; without it the block-scaled kinds are}}
  %0 = blockscale.matmul %a, %b mma(<kind = f8f6f4, a = e4m3, b = e4m3, sparse = true>) {blockscale.target = #blockscale.target<sm_120a>} : !unscaled_a, !unscaled_b -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// -----

!narrow_a = !blockscale.tensor<128x256xf8E4M3FN>
!narrow_b = !blockscale.tensor<128x256xf8E4M3FN>
func.func @narrow(%a: !narrow_a, %b: !narrow_b) -> tensor<128x128xf32> {
  // expected-error @below {{has no legal schedule: kind 'f8f6f4' is lowered to tensor memory only; without it 'mxf8f6f4' multiplies its elements, twice as fast, by scales of 1}}
  %0 = blockscale.matmul %a, %b mma(<kind = f8f6f4, a = e4m3, b = e4m3>) {blockscale.target = #blockscale.target<sm_120a>} : !narrow_a, !narrow_b -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// -----

!split = !blockscale.tensor<8192x8192xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @split(%a: !split, %b: !split) -> tensor<8192x8192xbf16> {
  // expected-error @below {{'split_k' of 33 leaves parts empty: K of 8192 is 32 stages of 256 elements; nearest legal: 32}}
  %0 = blockscale.matmul %a, %b mma(<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16>) schedule(#blockscale.schedule<split_k = 33>) {blockscale.target = #blockscale.target<sm_120a>} : !split, !split -> tensor<8192x8192xbf16>
  return %0 : tensor<8192x8192xbf16>
}
