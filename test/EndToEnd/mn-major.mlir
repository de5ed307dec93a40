// Operands whose rows, not K, are contiguous in memory: types of 8 and 16 bits. Row
// counts that fill groups of 128 bytes and that do not; both sides and either one.

// REQUIRES: mlir
// RUN: blockscale verify %s --m=129 | FileCheck %s

// CHECK-NOT: FAIL
// CHECK-COUNT-22: pass
// CHECK-NOT: {{FAIL|pass}}

!a_mn = !blockscale.tensor<200x160xf8E4M3FN, "e8m0_t32", layout = tiled_128x4, order = mn_major>
!b_mn = !blockscale.tensor<144x160xf8E5M2, "e8m0_t32", layout = tiled_128x4, order = mn_major>
!a_k = !blockscale.tensor<200x160xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!b_k = !blockscale.tensor<144x160xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
!a_tokens = !blockscale.tensor<?x288xf8E5M2, "e8m0_t32", layout = tiled_128x4, order = mn_major>
!b_wide = !blockscale.tensor<320x288xf8E4M3FN, "e8m0_t32", layout = tiled_128x4, order = mn_major>

func.func @both(%a: !a_mn, %b: !b_mn) -> tensor<200x144xf32> {
  %d = blockscale.matmul %a, %b : !a_mn, !b_mn -> tensor<200x144xf32>
  return %d : tensor<200x144xf32>
}

func.func @only_a(%a: !a_mn, %b: !b_k) -> tensor<200x144xf32> {
  %d = blockscale.matmul %a, %b : !a_mn, !b_k -> tensor<200x144xf32>
  return %d : tensor<200x144xf32>
}

func.func @only_b(%a: !a_k, %b: !b_mn) -> tensor<200x144xbf16> {
  %d = blockscale.matmul %a, %b : !a_k, !b_mn -> tensor<200x144xbf16>
  return %d : tensor<200x144xbf16>
}

func.func @swapped(%a: !a_tokens, %b: !b_wide) -> tensor<?x320xf16> {
  %d = blockscale.matmul %a, %b
      schedule(#blockscale.schedule<tile_n = 64, swap_operands = true>)
      : !a_tokens, !b_wide -> tensor<?x320xf16>
  return %d : tensor<?x320xf16>
}

// Of 16 bits: 64 rows to a group.
!a_half = !blockscale.tensor<200x320xbf16, order = mn_major>
!b_half = !blockscale.tensor<136x320xbf16, order = mn_major>
!b_lines = !blockscale.tensor<136x320xbf16>
func.func @halves(%a: !a_half, %b: !b_half) -> tensor<200x136xf32> {
  %d = blockscale.matmul %a, %b : !a_half, !b_half -> tensor<200x136xf32>
  return %d : tensor<200x136xf32>
}

func.func @halves_of_a(%a: !a_half, %b: !b_lines) -> tensor<200x136xbf16> {
  %d = blockscale.matmul %a, %b
      schedule(#blockscale.schedule<cta_group = 1, cluster_m = 1, cluster_n = 1, swap_operands = false, tile_n = 48>)
      : !a_half, !b_lines -> tensor<200x136xbf16>
  return %d : tensor<200x136xbf16>
}

// CTAs of a cluster load a slice of each group along K.
!a_lines = !blockscale.tensor<?x200xf16>
!b_rows = !blockscale.tensor<328x200xf16, order = mn_major>
func.func @slices(%a: !a_lines, %b: !b_rows) -> tensor<?x328xf32> {
  %d = blockscale.matmul %a, %b
      schedule(#blockscale.schedule<cta_group = 2, cluster_m = 4, cluster_n = 2, swap_operands = false, tile_n = 64>)
      : !a_lines, !b_rows -> tensor<?x328xf32>
  return %d : tensor<?x328xf32>
}

!a_batch = !blockscale.tensor<2x?x?xf16, order = mn_major>
!b_batch = !blockscale.tensor<2x328x?xf16, order = mn_major>
func.func @slices_swapped(%a: !a_batch, %b: !b_batch) -> tensor<2x?x328xf16> {
  %d = blockscale.matmul %a, %b
      schedule(#blockscale.schedule<cta_group = 1, cluster_m = 2, cluster_n = 4, swap_operands = true, tile_n = 64>)
      : !a_batch, !b_batch -> tensor<2x?x328xf16>
  return %d : tensor<2x?x328xf16>
}

func.func @halves_split(%a: !a_half, %b: !b_half) -> tensor<200x136xf32> {
  %d = blockscale.matmul %a, %b
      schedule(#blockscale.schedule<split_k = 3, cta_group = 1, tile_n = 64>)
      : !a_half, !b_half -> tensor<200x136xf32>
  return %d : tensor<200x136xf32>
}

// Beside a sparse operand, and beside one whose elements become bf16.
!a_sparse = !blockscale.tensor<200x320xbf16, "n2m4", layout = tiled_128x4>
func.func @beside_sparse(%a: !a_sparse, %b: !b_half) -> tensor<200x136xf32> {
  %d = blockscale.matmul %a, %b : !a_sparse, !b_half -> tensor<200x136xf32>
  return %d : tensor<200x136xf32>
}

!b_bytes = !blockscale.tensor<136x320xi8, "float32_t0">
func.func @beside_bytes(%a: !a_half, %b: !b_bytes) -> tensor<200x136xf32> {
  %d = blockscale.matmul %a, %b : !a_half, !b_bytes -> tensor<200x136xf32>
  return %d : tensor<200x136xf32>
}
