// Tiles whose K is shared out, with D and C through shared memory by TMA: whole tiles,
// and those that the last CTA adds up, go through the same boxes.

// REQUIRES: mlir
// RUN: blockscale verify %s --data=exact --num-sms=4 | FileCheck %s
// RUN: blockscale verify %s --num-sms=148 --completion=latest | FileCheck %s --check-prefix=TWICE
// RUN: blockscale verify %s --data=exact --num-sms=24 --completion=random | FileCheck %s

// CHECK-NOT: FAIL
// CHECK-COUNT-7: pass
// CHECK-NOT: {{FAIL|pass}}

// TWICE-NOT: FAIL
// TWICE-COUNT-14: pass
// TWICE-NOT: {{FAIL|pass}}

// Seven of twelve tiles are shared out, and five follow whole; two boxes in turn.
!single_a = !blockscale.tensor<300x800xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!single_b = !blockscale.tensor<200x800xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @stores(%a: !single_a, %b: !single_b) -> tensor<300x200xbf16> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 1, cluster_m = 1, cluster_n = 1, swap_operands = false, tile_n = 64, stream_k = 5, stores = tma>) : !single_a, !single_b -> tensor<300x200xbf16>
  return %0 : tensor<300x200xbf16>
}

// A round of the ring of C for each tile: its parity changes only in CTAs that store.
func.func @loads(%a: !single_a, %b: !single_b, %c: tensor<300x200xf32>) -> tensor<300x200xbf16> {
  %0 = blockscale.matmul %a, %b c(%c) schedule(#blockscale.schedule<cta_group = 1, cluster_m = 1, cluster_n = 1, swap_operands = false, tile_n = 64, stream_k = 5, c_loads = tma>) : !single_a, !single_b, tensor<300x200xf32> -> tensor<300x200xbf16>
  return %0 : tensor<300x200xbf16>
}

// Both, in two rounds of three boxes, with all else that an epilogue may have.
!whole_a = !blockscale.tensor<200x768xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!whole_b = !blockscale.tensor<400x768xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
func.func @epilogue(%a: !whole_a, %b: !whole_b, %alpha: f32, %beta: f32, %c: tensor<200x400xf16>, %bias: tensor<400xf32>) -> tensor<200x400xf16> {
  %0 = blockscale.matmul %a, %b alpha(%alpha) beta(%beta) c(%c) bias(%bias) activation(relu) schedule(#blockscale.schedule<cta_group = 1, cluster_m = 1, cluster_n = 1, swap_operands = false, tile_n = 192, stream_k = 4, stores = tma, c_loads = tma>) : !whole_a, !whole_b, tensor<200x400xf16>, tensor<400xf32> -> tensor<200x400xf16>
  return %0 : tensor<200x400xf16>
}

// No tile stays whole; pairs, each matrix of a batch ends inside a tile.
!pair_a = !blockscale.tensor<3x300x1024xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!pair_b = !blockscale.tensor<3x264x1024xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @pair(%a: !pair_a, %b: !pair_b, %c: tensor<3x300x264xbf16>) -> tensor<3x300x264xf32> {
  %0 = blockscale.matmul %a, %b c(%c) schedule(#blockscale.schedule<cta_group = 2, cluster_m = 2, cluster_n = 1, swap_operands = false, tile_n = 128, stream_k = 4, stores = tma, c_loads = tma>) : !pair_a, !pair_b, tensor<3x300x264xbf16> -> tensor<3x300x264xf32>
  return %0 : tensor<3x300x264xf32>
}

// Pairs that share B, in clusters that end outside D.
!pairs_a = !blockscale.tensor<500x768xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!pairs_b = !blockscale.tensor<424x768xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @pairs(%a: !pairs_a, %b: !pairs_b) -> tensor<500x424xf16> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 2, cluster_m = 4, cluster_n = 1, swap_operands = false, tile_n = 64, stream_k = 4, stores = tma, dependent_launch = true>) : !pairs_a, !pairs_b -> tensor<500x424xf16>
  return %0 : tensor<500x424xf16>
}

!integer_a = !blockscale.tensor<140x640xi8>
!integer_b = !blockscale.tensor<92x640xi8>
func.func @integers(%a: !integer_a, %b: !integer_b) -> tensor<140x92xi32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 1, cluster_m = 1, cluster_n = 1, swap_operands = false, tile_n = 32, stream_k = 4, stores = tma>) : !integer_a, !integer_b -> tensor<140x92xi32>
  return %0 : tensor<140x92xi32>
}

// Accumulators that overlap: C of whole tiles is loaded from their last columns on.
!overlap_a = !blockscale.tensor<300x1024xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!overlap_b = !blockscale.tensor<776x1024xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
func.func @overlap(%a: !overlap_a, %b: !overlap_b, %c: tensor<300x776xf32>) -> tensor<300x776xf16> {
  %0 = blockscale.matmul %a, %b c(%c) schedule(#blockscale.schedule<cta_group = 1, cluster_m = 1, cluster_n = 1, swap_operands = false, tile_n = 256, stream_k = 5, stores = tma, c_loads = tma>) : !overlap_a, !overlap_b, tensor<300x776xf32> -> tensor<300x776xf16>
  return %0 : tensor<300x776xf16>
}
