// RUN: blockscale-opt %s -split-input-file -verify-diagnostics -blockscale-select-schedule
// RUN: not blockscale-opt %s -split-input-file -blockscale-select-schedule=expected-rows=-7 2>&1 | FileCheck %s
// CHECK: error: expected rows are at least 1, found -7

!not_legalized = !blockscale.tensor<8192x8192xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @not_legalized(%a: !not_legalized, %b: !not_legalized) -> tensor<8192x8192xbf16> {
  // expected-error @below {{has no 'mma' attribute; run 'blockscale-legalize-scales' first}}
  %0 = blockscale.matmul %a, %b : !not_legalized, !not_legalized -> tensor<8192x8192xbf16>
  return %0 : tensor<8192x8192xbf16>
}

// -----

!tile_n_96 = !blockscale.tensor<8192x8192xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @tile_n_96(%a: !tile_n_96, %b: !tile_n_96) -> tensor<8192x8192xbf16> {
  // expected-error @below {{has no legal schedule: several tiles along 8192 columns need 'tile_n' to be a multiple of 64, because scales lie in groups of 128 rows; found 96, nearest legal is 128}}
  %0 = blockscale.matmul %a, %b mma(<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16>) schedule(#blockscale.schedule<tile_n = 96>) : !tile_n_96, !tile_n_96 -> tensor<8192x8192xbf16>
  return %0 : tensor<8192x8192xbf16>
}

// -----

!tile_n_of_dynamic_a = !blockscale.tensor<?x8192xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!tile_n_of_dynamic_b = !blockscale.tensor<8192x8192xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @tile_n_of_dynamic(%a: !tile_n_of_dynamic_a, %b: !tile_n_of_dynamic_b) -> tensor<?x8192xbf16> {
  // expected-error @below {{has no legal schedule: several tiles along a dynamic number of columns}}
  %0 = blockscale.matmul %a, %b mma(<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16>) schedule(#blockscale.schedule<tile_n = 8, swap_operands = true>) : !tile_n_of_dynamic_a, !tile_n_of_dynamic_b -> tensor<?x8192xbf16>
  return %0 : tensor<?x8192xbf16>
}

// -----

!tile_k = !blockscale.tensor<8192x8192xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @tile_k(%a: !tile_k, %b: !tile_k) -> tensor<8192x8192xbf16> {
  // expected-error @below {{has no legal schedule: 'tile_k' is one 128-byte row of shared memory, 256 elements for this kind; found 128}}
  %0 = blockscale.matmul %a, %b mma(<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16>) schedule(#blockscale.schedule<tile_k = 128>) : !tile_k, !tile_k -> tensor<8192x8192xbf16>
  return %0 : tensor<8192x8192xbf16>
}

// -----

!tile_k_mxfp8_a = !blockscale.tensor<8192x8192xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!tile_k_mxfp8_b = !blockscale.tensor<8192x8192xf8E5M2, "e8m0_t32", layout = tiled_128x4>
func.func @tile_k_mxfp8(%a: !tile_k_mxfp8_a, %b: !tile_k_mxfp8_b) -> tensor<8192x8192xbf16> {
  // expected-error @below {{has no legal schedule: 'tile_k' is one 128-byte row of shared memory, 128 elements for this kind; found 256}}
  %0 = blockscale.matmul %a, %b mma(<kind = mxf8f6f4, a = e4m3, b = e5m2, scale = ue8m0, block = 32>) schedule(#blockscale.schedule<tile_k = 256>) : !tile_k_mxfp8_a, !tile_k_mxfp8_b -> tensor<8192x8192xbf16>
  return %0 : tensor<8192x8192xbf16>
}

// -----

!stages = !blockscale.tensor<8192x8192xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @stages(%a: !stages, %b: !stages) -> tensor<8192x8192xbf16> {
  // expected-error @below {{has no legal schedule: 5 stages of 55296 bytes exceed the 232448 bytes of shared memory that sm_100a gives a CTA; at most 4 fit}}
  %0 = blockscale.matmul %a, %b mma(<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16>) schedule(#blockscale.schedule<tile_n = 256, stages = 5, cta_group = 1>) : !stages, !stages -> tensor<8192x8192xbf16>
  return %0 : tensor<8192x8192xbf16>
}

// -----

!mn_major_n_a = !blockscale.tensor<8192x8192xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!mn_major_n_b = !blockscale.tensor<8x8192xf8E4M3FN, "e8m0_t32", layout = tiled_128x4, order = mn_major>
func.func @mn_major_n(%a: !mn_major_n_a, %b: !mn_major_n_b) -> tensor<8192x8xf32> {
  // expected-error @below {{N = 8 of an N-major B is not legal for dense 'mxf8f6f4' with cta_group 1 on 'sm_100a': expected 16..256 step 16; nearest legal: N = 16}}
  %0 = blockscale.matmul %a, %b mma(<kind = mxf8f6f4, a = e4m3, b = e4m3, scale = ue8m0, block = 32, b_mn_major = true>) schedule(#blockscale.schedule<tile_n = 8, swap_operands = false>) : !mn_major_n_a, !mn_major_n_b -> tensor<8192x8xf32>
  return %0 : tensor<8192x8xf32>
}

// -----

!plain_target = !blockscale.tensor<8192x8192xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @plain_target(%a: !plain_target, %b: !plain_target) -> tensor<8192x8192xbf16> {
  // expected-error @below {{has no legal schedule: target 'sm_100' has no block-scaled matrix instruction}}
  %0 = blockscale.matmul %a, %b mma(<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16>) {blockscale.target = #blockscale.target<sm_100>} : !plain_target, !plain_target -> tensor<8192x8192xbf16>
  return %0 : tensor<8192x8192xbf16>
}

// -----

!sparse_swap = !blockscale.tensor<256x512xf4E2M1FN, "e8m0_t32n4m8", layout = tiled_128x4>
!sparse_swap_b = !blockscale.tensor<256x512xf4E2M1FN, "e8m0_t64", layout = tiled_128x4>
func.func @sparse_swap(%a: !sparse_swap, %b: !sparse_swap_b) -> tensor<256x256xf32> {
  // expected-error @below {{has no legal schedule: a sparse 'a' supplies the rows of the instruction, so 'swap_operands' must be false}}
  %0 = blockscale.matmul %a, %b mma(<kind = mxf4, a = e2m1, b = e2m1, scale = ue8m0, block = 32, sparse = true>) schedule(#blockscale.schedule<swap_operands = true>) : !sparse_swap, !sparse_swap_b -> tensor<256x256xf32>
  return %0 : tensor<256x256xf32>
}

// -----

!sparse_k96 = !blockscale.tensor<256x512xf4E2M1FN, "e8m0_t32n4m8", layout = tiled_128x4>
!sparse_k96_b = !blockscale.tensor<256x512xf4E2M1FN, "e8m0_t64", layout = tiled_128x4>
func.func @sparse_k96(%a: !sparse_k96, %b: !sparse_k96_b) -> tensor<256x256xf32> {
  // expected-error @below {{has no legal schedule: K = 96 is not legal for sparse 'mxf4' on 'sm_103a': expected 128; nearest legal: K = 128}}
  %0 = blockscale.matmul %a, %b mma(<kind = mxf4, a = e2m1, b = e2m1, scale = ue8m0, block = 32, sparse = true>) schedule(#blockscale.schedule<mma_k = 96>) {blockscale.target = #blockscale.target<sm_103a>} : !sparse_k96, !sparse_k96_b -> tensor<256x256xf32>
  return %0 : tensor<256x256xf32>
}

// -----

!tile_m_without_pair_a = !blockscale.tensor<8192x8192xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!tile_m_without_pair_b = !blockscale.tensor<8192x8192xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @tile_m_without_pair(%a: !tile_m_without_pair_a, %b: !tile_m_without_pair_b) -> tensor<8192x8192xbf16> {
  // expected-error @below {{has no legal schedule: 'tile_m' of 256 takes a pair of CTAs; nearest legal: 'cta_group' of 2, or 'tile_m' of 128}}
  %0 = blockscale.matmul %a, %b mma(<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16>) schedule(#blockscale.schedule<tile_m = 256, cta_group = 1>) : !tile_m_without_pair_a, !tile_m_without_pair_b -> tensor<8192x8192xbf16>
  return %0 : tensor<8192x8192xbf16>
}

// -----

!tile_m_of_pair_a = !blockscale.tensor<8192x8192xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!tile_m_of_pair_b = !blockscale.tensor<8192x8192xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @tile_m_of_pair(%a: !tile_m_of_pair_a, %b: !tile_m_of_pair_b) -> tensor<8192x8192xbf16> {
  // expected-error @below {{has no legal schedule: 'tile_m' of 128 over a pair of CTAs is not lowered, because no public document settles where its scales lie in tensor memory; nearest legal: 'tile_m' of 256, or 'cta_group' of 1}}
  %0 = blockscale.matmul %a, %b mma(<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16>) schedule(#blockscale.schedule<tile_m = 128, cta_group = 2>) : !tile_m_of_pair_a, !tile_m_of_pair_b -> tensor<8192x8192xbf16>
  return %0 : tensor<8192x8192xbf16>
}

// -----

!cluster_shares_groups_a = !blockscale.tensor<8192x8192xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!cluster_shares_groups_b = !blockscale.tensor<96x8192xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @cluster_shares_groups(%a: !cluster_shares_groups_a, %b: !cluster_shares_groups_b) -> tensor<8192x96xbf16> {
  // expected-error @below {{has no legal schedule: several tiles along 96 columns need 'tile_n' to be a multiple of 64}}
  %0 = blockscale.matmul %a, %b mma(<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16>) schedule(#blockscale.schedule<tile_n = 96, cluster_n = 2, swap_operands = false>) : !cluster_shares_groups_a, !cluster_shares_groups_b -> tensor<8192x96xbf16>
  return %0 : tensor<8192x96xbf16>
}

// -----

!pair_tile_n_a = !blockscale.tensor<8192x8192xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!pair_tile_n_b = !blockscale.tensor<8x8192xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @pair_tile_n(%a: !pair_tile_n_a, %b: !pair_tile_n_b) -> tensor<8192x8xbf16> {
  // expected-error @below {{has no legal schedule: N = 8 is not legal for dense 'mxf4nvf4' with cta_group 2 on 'sm_100a': expected 16..256 step 16}}
  %0 = blockscale.matmul %a, %b mma(<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16>) schedule(#blockscale.schedule<tile_n = 8, cta_group = 2, swap_operands = false>) : !pair_tile_n_a, !pair_tile_n_b -> tensor<8192x8xbf16>
  return %0 : tensor<8192x8xbf16>
}

// -----

func.func @unscaled_tile_n(%a: !blockscale.tensor<?x256xf16, "n2m4", layout = tiled_128x4>, %b: !blockscale.tensor<400x256xf16>) -> tensor<?x400xf32> {
  // expected-error @below {{has no legal schedule: N = 72 is not legal for sparse 'f16' with cta_group 1 on 'sm_100a': expected 16..256 step 16}}
  %0 = blockscale.matmul %a, %b mma(<kind = f16, a = f16, b = f16, sparse = true>) schedule(#blockscale.schedule<tile_n = 72, cta_group = 1>) : !blockscale.tensor<?x256xf16, "n2m4", layout = tiled_128x4>, !blockscale.tensor<400x256xf16> -> tensor<?x400xf32>
  return %0 : tensor<?x400xf32>
}

// -----

func.func @unscaled_tile_k(%a: !blockscale.tensor<?x256xtf32, "n1m2", layout = tiled_128x4>, %b: !blockscale.tensor<400x256xtf32>) -> tensor<?x400xf32> {
  // expected-error @below {{has no legal schedule: 'tile_k' is 64 elements for this sparse kind; found 128}}
  %0 = blockscale.matmul %a, %b mma(<kind = tf32, a = tf32, b = tf32, sparse = true>) schedule(#blockscale.schedule<tile_k = 128, cta_group = 1>) : !blockscale.tensor<?x256xtf32, "n1m2", layout = tiled_128x4>, !blockscale.tensor<400x256xtf32> -> tensor<?x400xf32>
  return %0 : tensor<?x400xf32>
}

// -----

func.func @unscaled_half_pair(%a: !blockscale.tensor<?x256xi8, "n2m4", layout = tiled_128x4>, %b: !blockscale.tensor<400x256xui8>) -> tensor<?x400xi32> {
  // expected-error @below {{has no legal schedule: 'tile_m' of 128 over a pair of CTAs is not lowered; nearest legal: 'tile_m' of 256, or 'cta_group' of 1}}
  %0 = blockscale.matmul %a, %b mma(<kind = i8, a = int8, b = uint8, sparse = true>) schedule(#blockscale.schedule<tile_m = 128, cta_group = 2>) : !blockscale.tensor<?x256xi8, "n2m4", layout = tiled_128x4>, !blockscale.tensor<400x256xui8> -> tensor<?x400xi32>
  return %0 : tensor<?x400xi32>
}

// -----

func.func @unscaled_swap(%a: !blockscale.tensor<?x256xi8, "n2m4", layout = tiled_128x4>, %b: !blockscale.tensor<400x256xui8>) -> tensor<?x400xi32> {
  // expected-error @below {{has no legal schedule:}}
  %0 = blockscale.matmul %a, %b mma(<kind = i8, a = int8, b = uint8, sparse = true>) schedule(#blockscale.schedule<swap_operands = true>) : !blockscale.tensor<?x256xi8, "n2m4", layout = tiled_128x4>, !blockscale.tensor<400x256xui8> -> tensor<?x400xi32>
  return %0 : tensor<?x400xi32>
}

// -----

func.func @integers_elsewhere(%a: !blockscale.tensor<?x256xi8, "n2m4", layout = tiled_128x4>, %b: !blockscale.tensor<400x256xui8>) -> tensor<?x400xi32> {
  // expected-error @below {{has no legal schedule: kind 'i8' is not legal on 'sm_103a'}}
  %0 = blockscale.matmul %a, %b mma(<kind = i8, a = int8, b = uint8, sparse = true>) {blockscale.target = #blockscale.target<sm_103a>} : !blockscale.tensor<?x256xi8, "n2m4", layout = tiled_128x4>, !blockscale.tensor<400x256xui8> -> tensor<?x400xi32>
  return %0 : tensor<?x400xi32>
}

// -----

func.func @half_a_pair_in_a_cluster(%a: !blockscale.tensor<39x576xbf16>, %b: !blockscale.tensor<127x576xbf16>) -> tensor<39x127xf16> {
  // expected-error @below {{has no legal schedule: 'tile_m' of 256 takes a pair of CTAs, which a cluster with 'cluster_m' of 1 does not hold; nearest legal: 'cluster_m' of 2}}
  %0 = blockscale.matmul %a, %b mma(<kind = f16, a = bf16, b = bf16>) schedule(#blockscale.schedule<tile_m = 256, cluster_m = 1>) : !blockscale.tensor<39x576xbf16>, !blockscale.tensor<127x576xbf16> -> tensor<39x127xf16>
  return %0 : tensor<39x127xf16>
}

// -----

!dynamic_k = !blockscale.tensor<512x?xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @groups_of_dynamic_k(%a: !dynamic_k, %b: !dynamic_k) -> tensor<512x512xbf16> {
  // expected-error @below {{has no legal schedule: 'split_k' of 2 needs a static K with 'mma_k' of 96: parts of a K that only the host knows are not lowered in groups of three stages; nearest legal: 1, or 'mma_k' of 64}}
  %0 = blockscale.matmul %a, %b mma(<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16>) schedule(#blockscale.schedule<split_k = 2, mma_k = 96>) {blockscale.target = #blockscale.target<sm_103a>} : !dynamic_k, !dynamic_k -> tensor<512x512xbf16>
  return %0 : tensor<512x512xbf16>
}

// -----

!dynamic_sparse = !blockscale.tensor<512x?xf8E4M3FN, "e8m0_t32n2m4", layout = tiled_128x4>
!dynamic_dense = !blockscale.tensor<512x?xf8E4M3FN, "e8m0_t64", layout = tiled_128x4>
func.func @metadata_of_dynamic_k(%a: !dynamic_sparse, %b: !dynamic_dense) -> tensor<512x512xbf16> {
  // expected-error @below {{has no legal schedule: 'split_k' of 2 needs a static K where 'a' is sparse: zeros behind a K that only the host knows are no metadata; nearest legal: 1}}
  %0 = blockscale.matmul %a, %b mma(<kind = mxf8f6f4, a = e4m3, b = e4m3, scale = ue8m0, block = 32, sparse = true>) schedule(#blockscale.schedule<split_k = 2>) : !dynamic_sparse, !dynamic_dense -> tensor<512x512xbf16>
  return %0 : tensor<512x512xbf16>
}

// -----

!short_k = !blockscale.tensor<512x800xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @empty_part(%a: !short_k, %b: !short_k) -> tensor<512x512xbf16> {
  // expected-error @below {{has no legal schedule: 'split_k' of 5 leaves parts empty: K of 800 is 4 stages of 256 elements; nearest legal: 4}}
  %0 = blockscale.matmul %a, %b mma(<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16>) schedule(#blockscale.schedule<split_k = 5>) : !short_k, !short_k -> tensor<512x512xbf16>
  return %0 : tensor<512x512xbf16>
}

// -----

!groups = !blockscale.tensor<512x1600xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @empty_group(%a: !groups, %b: !groups) -> tensor<512x512xbf16> {
  // expected-error @below {{has no legal schedule: 'split_k' of 4 leaves parts empty: K of 1600 is 3 groups of three stages of 768 elements; nearest legal: 3}}
  %0 = blockscale.matmul %a, %b mma(<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16>) schedule(#blockscale.schedule<split_k = 4, mma_k = 96>) {blockscale.target = #blockscale.target<sm_103a>} : !groups, !groups -> tensor<512x512xbf16>
  return %0 : tensor<512x512xbf16>
}

// -----

!shared = !blockscale.tensor<512x1024xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @too_many_that_share(%a: !shared, %b: !shared) -> tensor<512x512xbf16> {
  // expected-error @below {{has no legal schedule: a cluster of 32 CTAs does not fit on 'sm_100a': at most 8 CTAs, 16 when the kernel asks for a non-portable size; nearest legal: 16}}
  %0 = blockscale.matmul %a, %b mma(<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16>) schedule(#blockscale.schedule<cta_group = 1, cluster_m = 4, cluster_n = 2, split_k = 4, cluster_k = 4>) : !shared, !shared -> tensor<512x512xbf16>
  return %0 : tensor<512x512xbf16>
}

// -----

!many = !blockscale.tensor<512x4096xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @too_many_parts(%a: !many, %b: !many) -> tensor<512x512xbf16> {
  // expected-error @below {{has no legal schedule: a cluster of 24 CTAs does not fit on 'sm_100a': at most 8 CTAs, 16 when the kernel asks for a non-portable size; nearest legal: 16}}
  %0 = blockscale.matmul %a, %b mma(<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16>) schedule(#blockscale.schedule<cta_group = 2, split_k = 12, cluster_k = 12>) : !many, !many -> tensor<512x512xbf16>
  return %0 : tensor<512x512xbf16>
}

// -----

!promoted_split_a = !blockscale.tensor<512x1024xf8E4M3FN, "float32_t128">
!promoted_split_b = !blockscale.tensor<512x1024xf8E4M3FN, "float32_t128_t128">
func.func @promoted_split(%a: !promoted_split_a, %b: !promoted_split_b) -> tensor<512x512xbf16> {
  // expected-error @below {{has no legal schedule: scales of tiles along K that are applied in registers keep the sums of all of K in one CTA; 'split_k' of 2 is not lowered with them, nearest legal: 1}}
  %0 = blockscale.matmul %a, %b mma(<kind = f8f6f4, a = e4m3, b = e4m3>) schedule(#blockscale.schedule<split_k = 2>) : !promoted_split_a, !promoted_split_b -> tensor<512x512xbf16>
  return %0 : tensor<512x512xbf16>
}

// -----

!promoted_tile_a = !blockscale.tensor<512x1024xf8E4M3FN, "float32_t128">
!promoted_tile_b = !blockscale.tensor<512x1024xf8E4M3FN, "float32_t128_t128">
func.func @promoted_tile(%a: !promoted_tile_a, %b: !promoted_tile_b) -> tensor<512x512xbf16> {
  // expected-error @below {{has no legal schedule: scales of tiles along K that are applied in registers keep the sums of a row in registers of a thread, or of one for every 32 columns; 'tile_n' of 144 is not, nearest legal: 128}}
  %0 = blockscale.matmul %a, %b mma(<kind = f8f6f4, a = e4m3, b = e4m3>) schedule(#blockscale.schedule<tile_n = 144>) : !promoted_tile_a, !promoted_tile_b -> tensor<512x512xbf16>
  return %0 : tensor<512x512xbf16>
}

// -----

!promoted_rows = !blockscale.tensor<512x1024xf8E4M3FN, "float32_t128">
func.func @promoted_rows(%a: !promoted_rows, %b: !promoted_rows) -> tensor<512x512xbf16> {
  // expected-error @below {{has no legal schedule: scales of tiles along K that are applied in registers take a register for each column where fewer than 32 share one; 'tile_n' of 128 is too many then, nearest legal: 64}}
  %0 = blockscale.matmul %a, %b mma(<kind = f8f6f4, a = e4m3, b = e4m3>) schedule(#blockscale.schedule<tile_n = 128>) : !promoted_rows, !promoted_rows -> tensor<512x512xbf16>
  return %0 : tensor<512x512xbf16>
}

// -----

// Sums of several blocks of a stage, without tensor memory.
!short_a = !blockscale.tensor<128x256xf8E4M3FN, "float32_t0">
!short_b = !blockscale.tensor<128x256xf8E4M3FN, "float32_t32_t32">
module attributes {blockscale.target = #blockscale.target<sm_120a>} {
  func.func @short_on_warps(%a: !short_a, %b: !short_b) -> tensor<128x128xf32> {
    // expected-error @below {{which holds several of 32 elements; 'tile_n' of 64 is too many then, nearest legal: 32}}
    %0 = blockscale.matmul %a, %b mma(<kind = mxf8f6f4, a = e4m3, b = e4m3, scale = ue8m0, block = 32>) schedule(#blockscale.schedule<tile_n = 64>) : !short_a, !short_b -> tensor<128x128xf32>
    return %0 : tensor<128x128xf32>
  }
}

// -----

// Sums that other CTAs send take the room of all stages.
!wide_tile = !blockscale.tensor<248x4096xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @no_room_for_a_stage(%a: !wide_tile, %b: !wide_tile) -> tensor<248x248xbf16> {
  // expected-error @below {{bytes of what a CTA holds beside its stages exceed the 232448 bytes of shared memory that sm_100a gives a CTA; nearest legal: a smaller 'tile_n', or sums of the parts of K in a workspace ('cluster_k' of 1)}}
  %0 = blockscale.matmul %a, %b mma(<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16>) schedule(#blockscale.schedule<cta_group = 1, tile_n = 248, split_k = 8, cluster_k = 8>) : !wide_tile, !wide_tile -> tensor<248x248xbf16>
  return %0 : tensor<248x248xbf16>
}

// -----

!k96_a = !blockscale.tensor<128x768xf4E2M1FN>
!k96_b = !blockscale.tensor<128x768xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
module attributes {blockscale.target = #blockscale.target<sm_103a>} {
func.func @k96(%a: !k96_a, %b: !k96_b) -> tensor<128x128xf32> {
  // expected-error @below {{K = 96 is not lowered where one operand alone has scales of tiles that the instruction reads; nearest legal: 'mma_k' of 64}}
  %0 = blockscale.matmul %a, %b mma(<kind = mxf4, a = e2m1, b = e2m1, scale = ue8m0, block = 32>) schedule(#blockscale.schedule<mma_k = 96>) : !k96_a, !k96_b -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}
}
