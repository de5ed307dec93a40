// Output tiles whose K is shared out: a share begins and ends inside of tiles, and
// whole tiles follow. The plan has the shares, whatever number of clusters runs.

// REQUIRES: mlir
// RUN: blockscale verify %s --data=exact --num-sms=4 | FileCheck %s
// RUN: blockscale verify %s --num-sms=148 --completion=latest | FileCheck %s --check-prefix=TWICE
// RUN: blockscale verify %s --data=exact --num-sms=24 --completion=random | FileCheck %s

// CHECK-NOT: FAIL
// CHECK-COUNT-12: pass
// CHECK-NOT: {{FAIL|pass}}

// TWICE-NOT: FAIL
// TWICE-COUNT-24: pass
// TWICE-NOT: {{FAIL|pass}}

// Twelve tiles of seven stages, the last of which K does not fill. Seven of them,
// what two rounds leave over and one round more, are shared out: each share has
// nine or ten stages, so that one spans three tiles. Five whole tiles follow.
!single_a = !blockscale.tensor<300x800xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!single_b = !blockscale.tensor<200x800xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @single(%a: !single_a, %b: !single_b) -> tensor<300x200xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 1, cluster_m = 1, cluster_n = 1, swap_operands = false, tile_n = 64, stream_k = 5>) : !single_a, !single_b -> tensor<300x200xf32>
  return %0 : tensor<300x200xf32>
}

// Three tiles for seven shares, of which one lies inside of a tile, and no tile
// stays whole. Shares have two or three of 18 stages.
!swapped_a = !blockscale.tensor<24x1312xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!swapped_b = !blockscale.tensor<264x1312xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
func.func @swapped(%a: !swapped_a, %b: !swapped_b) -> tensor<24x264xbf16> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 1, cluster_m = 1, cluster_n = 1, swap_operands = true, tile_n = 32, stream_k = 7>) : !swapped_a, !swapped_b -> tensor<24x264xbf16>
  return %0 : tensor<24x264xbf16>
}

// As many shares as stages of all tiles.
!short_a = !blockscale.tensor<130x256xf8E5M2, "e8m0_t32", layout = tiled_128x4>
!short_b = !blockscale.tensor<72x256xf8E5M2, "e8m0_t32", layout = tiled_128x4>
func.func @short(%a: !short_a, %b: !short_b) -> tensor<130x72xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 1, cluster_m = 1, cluster_n = 1, swap_operands = false, tile_n = 64, stream_k = 8>) : !short_a, !short_b -> tensor<130x72xf32>
  return %0 : tensor<130x72xf32>
}

!pair_a = !blockscale.tensor<3x300x1024xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!pair_b = !blockscale.tensor<3x264x1024xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @pair(%a: !pair_a, %b: !pair_b) -> tensor<3x300x264xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 2, cluster_m = 2, cluster_n = 1, swap_operands = false, tile_n = 128, stream_k = 4>) : !pair_a, !pair_b -> tensor<3x300x264xf32>
  return %0 : tensor<3x300x264xf32>
}

// Clusters that share A, whose last tile lies outside D in part.
!cluster_a = !blockscale.tensor<390x640xf8E5M2, "e8m0_t32", layout = tiled_128x4>
!cluster_b = !blockscale.tensor<136x640xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @cluster(%a: !cluster_a, %b: !cluster_b) -> tensor<390x136xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cluster_m = 1, cluster_n = 2, cta_group = 1, swap_operands = false, tile_n = 64, stream_k = 3>) : !cluster_a, !cluster_b -> tensor<390x136xf32>
  return %0 : tensor<390x136xf32>
}

// Pairs that share B.
!pairs_a = !blockscale.tensor<500x768xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!pairs_b = !blockscale.tensor<420x768xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @pairs(%a: !pairs_a, %b: !pairs_b) -> tensor<500x420xf16> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 2, cluster_m = 4, cluster_n = 1, swap_operands = false, tile_n = 64, stream_k = 4>) : !pairs_a, !pairs_b -> tensor<500x420xf16>
  return %0 : tensor<500x420xf16>
}

!waiting_a = !blockscale.tensor<100x1024xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
!waiting_b = !blockscale.tensor<200x1024xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
func.func @waiting(%a: !waiting_a, %b: !waiting_b) -> tensor<100x200xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 1, cluster_m = 1, cluster_n = 1, swap_operands = false, tile_n = 64, dependent_launch = true, stream_k = 3>) : !waiting_a, !waiting_b -> tensor<100x200xf32>
  return %0 : tensor<100x200xf32>
}

// All that an epilogue may have, once, of whole tiles and of those in parts.
!whole_a = !blockscale.tensor<200x768xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!whole_b = !blockscale.tensor<136x768xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
func.func @epilogue(%a: !whole_a, %b: !whole_b, %alpha: f32, %beta: f32, %c: tensor<200x136xf16>, %bias: tensor<136xf32>) -> tensor<200x136xf16> {
  %0 = blockscale.matmul %a, %b alpha(%alpha) beta(%beta) c(%c) bias(%bias) activation(relu) schedule(#blockscale.schedule<cta_group = 1, cluster_m = 1, cluster_n = 1, swap_operands = false, tile_n = 64, stream_k = 4>) : !whole_a, !whole_b, tensor<200x136xf16>, tensor<136xf32> -> tensor<200x136xf16>
  return %0 : tensor<200x136xf16>
}

// The sums of gate and up are complete before they meet.
!gate_a = !blockscale.tensor<200x640xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!gate_b = !blockscale.tensor<136x640xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @gate(%a: !gate_a, %b: !gate_b) -> tensor<200x68xbf16> {
  %0 = blockscale.matmul %a, %b pairs epilogue(%gate, %up) {
    %1 = arith.subf %up, %gate : f32
    blockscale.yield %1
  } schedule(#blockscale.schedule<cta_group = 1, cluster_m = 1, cluster_n = 1, swap_operands = false, tile_n = 64, stream_k = 4>) : !gate_a, !gate_b -> tensor<200x68xbf16>
  return %0 : tensor<200x68xbf16>
}

!integer_a = !blockscale.tensor<140x640xi8>
!integer_b = !blockscale.tensor<90x640xi8>
func.func @integers(%a: !integer_a, %b: !integer_b) -> tensor<140x90xi32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 1, cluster_m = 1, cluster_n = 1, swap_operands = false, tile_n = 64, stream_k = 3>) : !integer_a, !integer_b -> tensor<140x90xi32>
  return %0 : tensor<140x90xi32>
}

!sparse_a = !blockscale.tensor<150x1024xf8E4M3FN, "e8m0_t32n2m4", layout = tiled_128x4>
!sparse_b = !blockscale.tensor<190x1024xf8E5M2, "e8m0_t64", layout = tiled_128x4>
func.func @sparse(%a: !sparse_a, %b: !sparse_b) -> tensor<150x190xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 1, cluster_m = 1, cluster_n = 1, swap_operands = false, tile_n = 64, stream_k = 4>) : !sparse_a, !sparse_b -> tensor<150x190xf32>
  return %0 : tensor<150x190xf32>
}

// Accumulators that overlap.
!overlap_a = !blockscale.tensor<150x520xf16>
!overlap_b = !blockscale.tensor<520x520xf16>
func.func @overlap(%a: !overlap_a, %b: !overlap_b) -> tensor<150x520xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 1, cluster_m = 1, cluster_n = 1, swap_operands = false, tile_n = 256, stream_k = 4>) : !overlap_a, !overlap_b -> tensor<150x520xf32>
  return %0 : tensor<150x520xf32>
}
