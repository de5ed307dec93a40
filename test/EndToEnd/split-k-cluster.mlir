// Output tiles whose parts of K are those of one cluster, whose CTAs send each
// other their sums.

// REQUIRES: mlir
// RUN: blockscale verify %s --data=exact --num-sms=8 --m=1,200 | FileCheck %s
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

// A sample has one cluster, which computes a tile.
// SAMPLE-NOT: FAIL
// SAMPLE: single exact 200x200x800 1 of 8 8192 0
// SAMPLE: pair exact 3x300x264x1024 1 of 12 {{[0-9]+}} 0

// Seven stages in three parts; the last one ends inside a stage, and the third CTA
// owns no column.
!single_a = !blockscale.tensor<?x800xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!single_b = !blockscale.tensor<200x800xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @single(%a: !single_a, %b: !single_b) -> tensor<?x200xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = false, tile_n = 64, split_k = 3, cluster_k = 3>) : !single_a, !single_b -> tensor<?x200xf32>
  return %0 : tensor<?x200xf32>
}

// Eight CTAs, for each of which the tile has eight columns.
!eight_a = !blockscale.tensor<40x2048xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
!eight_b = !blockscale.tensor<264x2048xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
func.func @eight(%a: !eight_a, %b: !eight_b) -> tensor<40x264xbf16> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = true, tile_n = 64, split_k = 8, cluster_k = 8>) : !eight_a, !eight_b -> tensor<40x264xbf16>
  return %0 : tensor<40x264xbf16>
}

// As many parts as stages, of which the last one K does not fill.
!swapped_a = !blockscale.tensor<24x1312xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!swapped_b = !blockscale.tensor<264x1312xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
func.func @swapped(%a: !swapped_a, %b: !swapped_b) -> tensor<24x264xbf16> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = true, tile_n = 32, split_k = 6, cluster_k = 6>) : !swapped_a, !swapped_b -> tensor<24x264xbf16>
  return %0 : tensor<24x264xbf16>
}

!pair_a = !blockscale.tensor<3x300x1024xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!pair_b = !blockscale.tensor<3x264x1024xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @pair(%a: !pair_a, %b: !pair_b) -> tensor<3x300x264xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 2, swap_operands = false, tile_n = 192, split_k = 4, cluster_k = 4>) : !pair_a, !pair_b -> tensor<3x300x264xf32>
  return %0 : tensor<3x300x264xf32>
}

!dynamic_a = !blockscale.tensor<300x768xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!dynamic_b = !blockscale.tensor<136x768xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @dynamic(%a: !dynamic_a, %b: !dynamic_b) -> tensor<300x136xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 1, tile_n = 64, swap_operands = false, scheduler = dynamic, split_k = 3, cluster_k = 3>) : !dynamic_a, !dynamic_b -> tensor<300x136xf32>
  return %0 : tensor<300x136xf32>
}

!waiting_a = !blockscale.tensor<100x1024xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
!waiting_b = !blockscale.tensor<72x1024xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
func.func @waiting(%a: !waiting_a, %b: !waiting_b) -> tensor<100x72xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 1, dependent_launch = true, split_k = 4, cluster_k = 4>) : !waiting_a, !waiting_b -> tensor<100x72xf32>
  return %0 : tensor<100x72xf32>
}

// All that an epilogue may have, once, after the sums are complete.
!whole_a = !blockscale.tensor<90x768xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!whole_b = !blockscale.tensor<136x768xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
func.func @epilogue(%a: !whole_a, %b: !whole_b, %alpha: f32, %beta: f32, %c: tensor<90x136xf16>, %bias: tensor<136xf32>) -> tensor<90x136xf16> {
  %0 = blockscale.matmul %a, %b alpha(%alpha) beta(%beta) c(%c) bias(%bias) activation(relu) schedule(#blockscale.schedule<split_k = 3, cluster_k = 3>) : !whole_a, !whole_b, tensor<90x136xf16>, tensor<136xf32> -> tensor<90x136xf16>
  return %0 : tensor<90x136xf16>
}

!integer_a = !blockscale.tensor<70x640xi8>
!integer_b = !blockscale.tensor<90x640xi8>
func.func @integers(%a: !integer_a, %b: !integer_b) -> tensor<70x90xi32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<split_k = 5, cluster_k = 5>) : !integer_a, !integer_b -> tensor<70x90xi32>
  return %0 : tensor<70x90xi32>
}

!sparse_a = !blockscale.tensor<150x1024xf8E4M3FN, "e8m0_t32n2m4", layout = tiled_128x4>
!sparse_b = !blockscale.tensor<90x1024xf8E5M2, "e8m0_t64", layout = tiled_128x4>
func.func @sparse(%a: !sparse_a, %b: !sparse_b) -> tensor<150x90xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<split_k = 2, cluster_k = 2>) : !sparse_a, !sparse_b -> tensor<150x90xf32>
  return %0 : tensor<150x90xf32>
}

// Two accumulators that overlap.
!overlap_a = !blockscale.tensor<150x520xf16>
!overlap_b = !blockscale.tensor<1032x520xf16>
func.func @overlap(%a: !overlap_a, %b: !overlap_b) -> tensor<150x1032xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 1, swap_operands = false, tile_n = 256, stages = 2, split_k = 8, cluster_k = 8>) : !overlap_a, !overlap_b -> tensor<150x1032xf32>
  return %0 : tensor<150x1032xf32>
}
