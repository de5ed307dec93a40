// RUN: blockscale-opt %s --split-input-file --verify-diagnostics --blockscale-attach-target=target=sm_100a --blockscale-legalize-scales --blockscale-fuse-quantization --blockscale-select-schedule

!a = !blockscale.tensor<133x2048xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!w = !blockscale.tensor<352x2048xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!q = !blockscale.tensor<133x352xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @f(%x: !a, %w: !w) -> !q {
  // expected-error@+1 {{a result is quantised in blocks of 32 columns, of which the slice of 16 that 'tile_n' of 64 leaves each CTA with 'cluster_k' of 4 is no multiple; nearest legal: 128}}
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<split_k = 4, cluster_k = 4, cta_group = 1, tile_n = 64, swap_operands = false>) : !a, !w -> tensor<133x352xbf16>
  %0 = blockscale.quantize %y : tensor<133x352xbf16> to !q
  return %0 : !q
}

// -----

!a = !blockscale.tensor<133x2048xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!w = !blockscale.tensor<384x2048xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!q = !blockscale.tensor<133x384xf8E4M3FN, "float32_t128">
func.func @f(%x: !a, %w: !w) -> !q {
  // expected-error@+1 {{a result is quantised in blocks of 128 columns, of which the slice of 64 that 'tile_n' of 256 leaves each CTA with 'cluster_k' of 4 is no multiple; nearest legal: 'cluster_k' of 1}}
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<split_k = 4, cluster_k = 4, cta_group = 1, tile_n = 256, swap_operands = false>) : !a, !w -> tensor<133x384xbf16>
  %0 = blockscale.quantize %y : tensor<133x384xbf16> to !q
  return %0 : !q
}

// -----

!a = !blockscale.tensor<96x2048xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!w = !blockscale.tensor<352x2048xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!q = !blockscale.tensor<96x352xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @f(%x: !a, %w: !w) -> !q {
  // expected-error@+1 {{with 'swap_operands' sums are brought to rows of D 32 at once, of which 'tile_n' of 104 is no multiple; nearest legal: 128}}
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<swap_operands = true, tile_n = 104, cta_group = 1>) : !a, !w -> tensor<96x352xbf16>
  %0 = blockscale.quantize %y : tensor<96x352xbf16> to !q
  return %0 : !q
}

// -----

!a = !blockscale.tensor<133x2048xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!w = !blockscale.tensor<352x2048xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!q = !blockscale.tensor<133x352xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @f(%x: !a, %w: !w) -> !q {
  // expected-error@+1 {{a result that is quantised is not stored by TMA; nearest legal: 'stores' of 'direct'}}
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<stores = tma, cta_group = 1>) : !a, !w -> tensor<133x352xbf16>
  %0 = blockscale.quantize %y : tensor<133x352xbf16> to !q
  return %0 : !q
}

// -----

!a = !blockscale.tensor<133x2048xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!w = !blockscale.tensor<96x2048xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!q = !blockscale.tensor<133x96xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @f(%x: !a, %w: !w) -> !q {
  // expected-error@+1 {{a result is quantised in blocks of 32 columns that lie in one tile, found 'tile_n' of 104; nearest legal: 128}}
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<tile_n = 104, cta_group = 1>) : !a, !w -> tensor<133x96xbf16>
  %0 = blockscale.quantize %y : tensor<133x96xbf16> to !q
  return %0 : !q
}

// -----

!a = !blockscale.tensor<133x2048xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!w = !blockscale.tensor<352x2048xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!q = !blockscale.tensor<133x352xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @few_rows_of_a_warp(%x: !a, %w: !w) -> !q attributes {blockscale.target = #blockscale.target<sm_120a>} {
  // expected-error@+1 {{on sm_120a a result is quantised where a warp has 32 rows, found 'tile_n' of 32; nearest legal: 64}}
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<tile_n = 32>) : !a, !w -> tensor<133x352xbf16>
  %0 = blockscale.quantize %y : tensor<133x352xbf16> to !q
  return %0 : !q
}

// -----

// Neither order of operands is legal.
!a = !blockscale.tensor<?x896xf8E4M3FN, "float32_t128">
!w = !blockscale.tensor<5x224x896xf8E4M3FN, "float32_t64n2m4", layout = tiled_128x4>
func.func @gathered(%x: !a, %w: !w, %ends: tensor<5xi32>, %ids: tensor<?xi32>) -> tensor<?x224xf32> {
  // expected-error-re@+1 {{has no legal schedule: threads read scales of rows of 'a' that are gathered for rows of their own only, but beside a sparse 'b' they have columns; nearest legal: a dense 'b', as 'blockscale.densify' makes it; {{[0-9]+}} of {{[0-9]+}} are refused for other reasons, which 'blockscale explain schedule' lists}}
  %0 = blockscale.matmul %x, %w groups(%ends : tensor<5xi32>) rows(%ids : tensor<?xi32>) : !a, !w -> tensor<?x224xf32>
  return %0 : tensor<?x224xf32>
}

// -----

// Of 128 rows that are brought at once eight warps bring 256, a half has 128.
!a = !blockscale.tensor<?x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!b = !blockscale.tensor<128x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!squares = !blockscale.tensor<?x128xf8E4M3FN, "e8m0_t128_t32", layout = tiled_128x4>
func.func @rows_at_once(%a: !a, %b: !b) -> !squares {
  // expected-error @below {{not lowered with 'swap_operands' and sums that are brought to rows of D 256 at once; nearest legal: 2}}
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 256, cta_group = 2, swap_operands = true, epilogue_warps = 8, accumulators = 3>) : !a, !b -> tensor<?x128xf16>
  %1 = blockscale.quantize %0 : tensor<?x128xf16> to !squares
  return %1 : !squares
}

// -----

!a = !blockscale.tensor<133x256xf8E4M3FN, "float32_t128">
!w = !blockscale.tensor<512x256xf8E4M3FN, "float32_t128_t128">
!q = !blockscale.tensor<133x512xf4E2M1FN, "float32_t256">
func.func @errors(%x: !a, %w: !w) -> !q {
  // expected-error@+1 {{a block of the result is made of 256 columns of a product whose sums are promoted, and 'min_error' compares the errors of at most 128 where operands are not swapped; nearest legal: 'swap_operands' of true, or another rule}}
  %0 = blockscale.matmul %x, %w schedule(#blockscale.schedule<swap_operands = false>) : !a, !w -> tensor<133x512xbf16>
  %1 = blockscale.quantize %0 rule(min_error) : tensor<133x512xbf16> to !q
  return %1 : !q
}
