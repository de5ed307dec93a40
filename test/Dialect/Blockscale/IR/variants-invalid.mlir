// Kernels of a product for few rows that no launch could choose between.

// RUN: blockscale-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{expected 'most_rows' of 1 to 2147418111, found 0}}
#none = #blockscale.variant<most_rows = 0, mma = <kind = mxf4, a = e2m1, b = e2m1, scale = ue8m0, block = 32, m = 128, n = 64, k = 64>, schedule = <tile_m = 128, tile_n = 64, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8, cta_group = 1, cluster_m = 1, cluster_n = 1, mma_k = 64>>

// -----

// expected-error @+1 {{expected a complete instruction and schedule}}
#open = #blockscale.variant<most_rows = 16, mma = <kind = mxf4, a = e2m1, b = e2m1, scale = ue8m0, block = 32>, schedule = <tile_n = 64>>

// -----

!x = !blockscale.tensor<?x256xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
!w = !blockscale.tensor<64x256xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
func.func @no_array(%x: !x, %w: !w) -> tensor<?x64xf32> {
  // expected-error @+1 {{'blockscale.matmul' op expected 'blockscale.variants' to be an array of #blockscale.variant attributes}}
  %d = blockscale.matmul %x, %w {blockscale.variants = [16]} : !x, !w -> tensor<?x64xf32>
  return %d : tensor<?x64xf32>
}

// -----

#variant = #blockscale.variant<most_rows = 16, mma = <kind = mxf4, a = e2m1, b = e2m1, scale = ue8m0, block = 32, m = 128, n = 64, k = 64>, schedule = <tile_m = 128, tile_n = 64, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8, cta_group = 1, cluster_m = 1, cluster_n = 1, mma_k = 64>>
!x = !blockscale.tensor<?x256xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
!w = !blockscale.tensor<64x256xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
func.func @not_more(%x: !x, %w: !w) -> tensor<?x64xf32> {
  // expected-error @+1 {{expected each of 'blockscale.variants' to take more rows than the one before it, 16; found 16}}
  %d = blockscale.matmul %x, %w {blockscale.variants = [#variant, #variant]} : !x, !w -> tensor<?x64xf32>
  return %d : tensor<?x64xf32>
}

// -----

#variant = #blockscale.variant<most_rows = 16, mma = <kind = mxf4, a = e2m1, b = e2m1, scale = ue8m0, block = 32, m = 128, n = 64, k = 64>, schedule = <tile_m = 128, tile_n = 64, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8, cta_group = 1, cluster_m = 1, cluster_n = 1, mma_k = 64>>
!x = !blockscale.tensor<128x256xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
!w = !blockscale.tensor<64x256xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
func.func @known(%x: !x, %w: !w) -> tensor<128x64xf32> {
  // expected-error @+1 {{has 128 rows at every call, so that 'blockscale.variants' for other numbers mean nothing}}
  %d = blockscale.matmul %x, %w {blockscale.variants = [#variant]} : !x, !w -> tensor<128x64xf32>
  return %d : tensor<128x64xf32>
}

// -----

// expected-error @+1 {{'blockscale.variants' belongs on a 'blockscale.matmul'}}
func.func private @elsewhere() attributes {blockscale.variants = []}
