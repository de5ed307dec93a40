// Clusters that compute all parts of K of several tiles: CTAs share operands with
// those of their own part, and exchange their sums with those of their own tile.

// REQUIRES: mlir
// RUN: blockscale verify %s --data=exact --num-sms=8 --m=1,300 | FileCheck %s
// RUN: blockscale verify %s --num-sms=148 --m=130 --completion=latest | FileCheck %s --check-prefix=TWICE
// RUN: blockscale verify %s --data=exact --num-sms=24 --m=130 --completion=random | FileCheck %s --check-prefix=ONCE

// CHECK-NOT: FAIL
// CHECK-COUNT-9: pass
// CHECK-NOT: {{FAIL|pass}}

// ONCE-NOT: FAIL
// ONCE-COUNT-8: pass
// ONCE-NOT: {{FAIL|pass}}

// TWICE-NOT: FAIL
// TWICE-COUNT-16: pass
// TWICE-NOT: {{FAIL|pass}}

// Two tiles beside each other that share A; the last part ends inside a stage.
!beside_a = !blockscale.tensor<?x800xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!beside_b = !blockscale.tensor<200x800xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @beside(%a: !beside_a, %b: !beside_b) -> tensor<?x200xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 1, cluster_m = 1, cluster_n = 2, swap_operands = false, tile_n = 64, split_k = 3, cluster_k = 3>) : !beside_a, !beside_b -> tensor<?x200xf32>
  return %0 : tensor<?x200xf32>
}

// Two tiles above each other that share B, of which the second may lie outside D.
!above_a = !blockscale.tensor<300x1312xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!above_b = !blockscale.tensor<136x1312xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
func.func @above(%a: !above_a, %b: !above_b) -> tensor<300x136xbf16> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 1, cluster_m = 2, cluster_n = 1, swap_operands = false, tile_n = 64, split_k = 4, cluster_k = 4>) : !above_a, !above_b -> tensor<300x136xbf16>
  return %0 : tensor<300x136xbf16>
}

// Both, and tiles enough for a second round of each cluster.
!square_a = !blockscale.tensor<390x1024xf8E5M2, "e8m0_t32", layout = tiled_128x4>
!square_b = !blockscale.tensor<264x1024xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @square(%a: !square_a, %b: !square_b) -> tensor<390x264xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 1, cluster_m = 2, cluster_n = 2, swap_operands = false, tile_n = 64, split_k = 2, cluster_k = 2>) : !square_a, !square_b -> tensor<390x264xf32>
  return %0 : tensor<390x264xf32>
}

// Pairs that share A.
!pairs_a = !blockscale.tensor<3x300x1024xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!pairs_b = !blockscale.tensor<3x264x1024xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @pairs(%a: !pairs_a, %b: !pairs_b) -> tensor<3x300x264xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 2, cluster_m = 2, cluster_n = 2, swap_operands = false, tile_n = 128, split_k = 2, cluster_k = 2>) : !pairs_a, !pairs_b -> tensor<3x300x264xf32>
  return %0 : tensor<3x300x264xf32>
}

// Pairs that share B, of an instruction that D's columns are the rows of.
!swapped_a = !blockscale.tensor<100x1152xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!swapped_b = !blockscale.tensor<700x1152xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @swapped(%a: !swapped_a, %b: !swapped_b) -> tensor<100x700xbf16> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 2, cluster_m = 4, cluster_n = 1, swap_operands = true, tile_n = 64, split_k = 2, cluster_k = 2>) : !swapped_a, !swapped_b -> tensor<100x700xbf16>
  return %0 : tensor<100x700xbf16>
}

!dynamic_a = !blockscale.tensor<300x768xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!dynamic_b = !blockscale.tensor<136x768xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @dynamic(%a: !dynamic_a, %b: !dynamic_b) -> tensor<300x136xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 1, cluster_m = 1, cluster_n = 2, tile_n = 64, swap_operands = false, scheduler = dynamic, split_k = 3, cluster_k = 3>) : !dynamic_a, !dynamic_b -> tensor<300x136xf32>
  return %0 : tensor<300x136xf32>
}

// Sums of integers, of which each owner has 48 columns but the last.
!columns = !blockscale.tensor<200x640xi8>
func.func @integers(%a: !columns, %b: !columns) -> tensor<200x200xi32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 1, cluster_m = 2, cluster_n = 1, tile_n = 128, swap_operands = false, split_k = 3, cluster_k = 3>) : !columns, !columns -> tensor<200x200xi32>
  return %0 : tensor<200x200xi32>
}

// Metadata are loaded once for the tiles beside each other.
!sparse_a = !blockscale.tensor<150x1024xf8E4M3FN, "e8m0_t32n2m4", layout = tiled_128x4>
!sparse_b = !blockscale.tensor<200x1024xf8E5M2, "e8m0_t64", layout = tiled_128x4>
func.func @sparse(%a: !sparse_a, %b: !sparse_b) -> tensor<150x200xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 1, cluster_m = 1, cluster_n = 2, tile_n = 64, split_k = 2, cluster_k = 2>) : !sparse_a, !sparse_b -> tensor<150x200xf32>
  return %0 : tensor<150x200xf32>
}
