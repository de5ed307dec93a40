// Output tiles that several CTAs, pairs or clusters compute, each a part of K.

// REQUIRES: mlir
// RUN: blockscale verify %s --data=exact --num-sms=3 --m=1,200 | FileCheck %s
// RUN: blockscale verify %s --num-sms=148 --m=130 --completion=latest | FileCheck %s --check-prefix=TWICE
// RUN: blockscale verify %s --data=exact --num-sms=24 --m=130 --completion=random | FileCheck %s --check-prefix=ONCE
// RUN: blockscale verify %s --data=exact --m=200 --tiles=1 | FileCheck %s --check-prefix=SAMPLE

// CHECK-NOT: FAIL
// CHECK-COUNT-11: pass
// CHECK-NOT: {{FAIL|pass}}

// ONCE-NOT: FAIL
// ONCE-COUNT-10: pass
// ONCE-NOT: {{FAIL|pass}}

// TWICE-NOT: FAIL
// TWICE-COUNT-20: pass
// TWICE-NOT: {{FAIL|pass}}

// A sample has all clusters of a tile: 128 x 64, and a cluster of two such tiles.
// SAMPLE-NOT: FAIL
// SAMPLE: single exact 200x200x800 3 of 24 8192 0
// SAMPLE: cluster exact 390x136x640 4 of 32 16384 0

// Seven stages in three parts; the last one ends inside a stage.
!single_a = !blockscale.tensor<?x800xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!single_b = !blockscale.tensor<200x800xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @single(%a: !single_a, %b: !single_b) -> tensor<?x200xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = false, tile_n = 64, split_k = 3, cluster_k = 1>) : !single_a, !single_b -> tensor<?x200xf32>
  return %0 : tensor<?x200xf32>
}

// As many parts as stages, of which the last one K does not fill.
!swapped_a = !blockscale.tensor<24x1312xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!swapped_b = !blockscale.tensor<264x1312xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
func.func @swapped(%a: !swapped_a, %b: !swapped_b) -> tensor<24x264xbf16> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = true, tile_n = 32, split_k = 6, cluster_k = 1>) : !swapped_a, !swapped_b -> tensor<24x264xbf16>
  return %0 : tensor<24x264xbf16>
}

!pair_a = !blockscale.tensor<3x300x1024xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!pair_b = !blockscale.tensor<3x264x1024xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @pair(%a: !pair_a, %b: !pair_b) -> tensor<3x300x264xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 2, swap_operands = false, tile_n = 256, split_k = 2, cluster_k = 1>) : !pair_a, !pair_b -> tensor<3x300x264xf32>
  return %0 : tensor<3x300x264xf32>
}

// A cluster whose second row of tiles lies outside D.
!cluster_a = !blockscale.tensor<390x640xf8E5M2, "e8m0_t32", layout = tiled_128x4>
!cluster_b = !blockscale.tensor<136x640xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @cluster(%a: !cluster_a, %b: !cluster_b) -> tensor<390x136xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cluster_m = 1, cluster_n = 2, cta_group = 1, swap_operands = false, tile_n = 64, split_k = 4, cluster_k = 1>) : !cluster_a, !cluster_b -> tensor<390x136xf32>
  return %0 : tensor<390x136xf32>
}

!dynamic_a = !blockscale.tensor<300x768xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!dynamic_b = !blockscale.tensor<136x768xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @dynamic(%a: !dynamic_a, %b: !dynamic_b) -> tensor<300x136xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 1, tile_n = 64, swap_operands = false, scheduler = dynamic, split_k = 3, cluster_k = 1>) : !dynamic_a, !dynamic_b -> tensor<300x136xf32>
  return %0 : tensor<300x136xf32>
}

!waiting_a = !blockscale.tensor<100x1024xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
!waiting_b = !blockscale.tensor<72x1024xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
func.func @waiting(%a: !waiting_a, %b: !waiting_b) -> tensor<100x72xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 1, dependent_launch = true, split_k = 4, cluster_k = 1>) : !waiting_a, !waiting_b -> tensor<100x72xf32>
  return %0 : tensor<100x72xf32>
}

// All that an epilogue may have, once, after the sums are complete.
!whole_a = !blockscale.tensor<90x768xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!whole_b = !blockscale.tensor<136x768xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
func.func @epilogue(%a: !whole_a, %b: !whole_b, %alpha: f32, %beta: f32, %c: tensor<90x136xf16>, %bias: tensor<136xf32>) -> tensor<90x136xf16> {
  %0 = blockscale.matmul %a, %b alpha(%alpha) beta(%beta) c(%c) bias(%bias) activation(relu) schedule(#blockscale.schedule<split_k = 3, cluster_k = 1>) : !whole_a, !whole_b, tensor<90x136xf16>, tensor<136xf32> -> tensor<90x136xf16>
  return %0 : tensor<90x136xf16>
}

!integer_a = !blockscale.tensor<70x640xi8>
!integer_b = !blockscale.tensor<90x640xi8>
func.func @integers(%a: !integer_a, %b: !integer_b) -> tensor<70x90xi32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<split_k = 5, cluster_k = 1>) : !integer_a, !integer_b -> tensor<70x90xi32>
  return %0 : tensor<70x90xi32>
}

!sparse_a = !blockscale.tensor<150x1024xf8E4M3FN, "e8m0_t32n2m4", layout = tiled_128x4>
!sparse_b = !blockscale.tensor<90x1024xf8E5M2, "e8m0_t64", layout = tiled_128x4>
func.func @sparse(%a: !sparse_a, %b: !sparse_b) -> tensor<150x90xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<split_k = 2, cluster_k = 1>) : !sparse_a, !sparse_b -> tensor<150x90xf32>
  return %0 : tensor<150x90xf32>
}

!overlap_a = !blockscale.tensor<150x520xf16>
!overlap_b = !blockscale.tensor<520x520xf16>
func.func @overlap(%a: !overlap_a, %b: !overlap_b) -> tensor<150x520xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 1, swap_operands = false, tile_n = 256, split_k = 8, cluster_k = 1>) : !overlap_a, !overlap_b -> tensor<150x520xf32>
  return %0 : tensor<150x520xf32>
}
