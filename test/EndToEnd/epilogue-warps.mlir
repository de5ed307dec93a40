// Epilogues of eight warps, two of which share a quarter of tensor memory: kinds of
// kernels, of results and of what is read beside the sums.

// REQUIRES: mlir
// RUN: blockscale verify %s --data=exact --num-sms=3 --m=200 | FileCheck %s
// RUN: blockscale verify %s --data=exact --num-sms=4 --m=130 --completion=latest | FileCheck %s

// CHECK-NOT: FAIL
// CHECK-COUNT-15: pass
// CHECK-NOT: {{FAIL|pass}}

// Several tiles for each CTA, of two chunks each.
!many_a = !blockscale.tensor<?x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!many_b = !blockscale.tensor<456x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @many(%a: !many_a, %b: !many_b) -> tensor<?x456xbf16> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = false, tile_n = 64, epilogue_warps = 8>) : !many_a, !many_b -> tensor<?x456xbf16>
  return %0 : tensor<?x456xbf16>
}

// Accumulators that overlap by 48 columns: both warps release after their first
// chunk, of accumulator 0 from its last column on.
!overlap_a = !blockscale.tensor<300x512xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!overlap_b = !blockscale.tensor<776x512xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
func.func @overlap(%a: !overlap_a, %b: !overlap_b) -> tensor<300x776xf16> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 1, swap_operands = false, tile_n = 256, epilogue_warps = 8>) : !overlap_a, !overlap_b -> tensor<300x776xf16>
  return %0 : tensor<300x776xf16>
}

// Overlap by fewer columns than a chunk has: one warp waits for nothing that the other
// reads.
!short_a = !blockscale.tensor<300x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!short_b = !blockscale.tensor<520x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @one_chunk(%a: !short_a, %b: !short_b) -> tensor<300x520xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 2, swap_operands = false, tile_n = 256, epilogue_warps = 8>) : !short_a, !short_b -> tensor<300x520xf32>
  return %0 : tensor<300x520xf32>
}

// Both by TMA: each warp has rings of its own, from accumulators that overlap.
!c_a = !blockscale.tensor<300x512xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!c_b = !blockscale.tensor<520x512xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @boxes(%a: !c_a, %b: !c_b, %c: tensor<300x520xbf16>) -> tensor<300x520xf16> {
  %0 = blockscale.matmul %a, %b c(%c) schedule(#blockscale.schedule<cta_group = 2, swap_operands = false, tile_n = 256, stores = tma, c_loads = tma, epilogue_warps = 8>) : !c_a, !c_b, tensor<300x520xbf16> -> tensor<300x520xf16>
  return %0 : tensor<300x520xf16>
}

// Rounds of C that end with an odd one: three chunks of a warp are in one box after
// the other.
func.func @rounds(%a: !c_a, %b: !c_b, %c: tensor<300x520xf32>) -> tensor<300x520xf32> {
  %0 = blockscale.matmul %a, %b c(%c) schedule(#blockscale.schedule<cta_group = 1, swap_operands = false, tile_n = 192, stages = 2, stores = tma, c_loads = tma, epilogue_warps = 8>) : !c_a, !c_b, tensor<300x520xf32> -> tensor<300x520xf32>
  return %0 : tensor<300x520xf32>
}

// The whole epilogue by threads, and a cluster that hands tiles out as it goes.
!whole_a = !blockscale.tensor<190x512xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!whole_b = !blockscale.tensor<136x512xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
func.func @whole(%a: !whole_a, %b: !whole_b, %alpha: f32, %beta: f32, %c: tensor<190x136xf16>, %bias: tensor<136xf32>) -> tensor<190x136xf16> {
  %0 = blockscale.matmul %a, %b alpha(%alpha) beta(%beta) c(%c) bias(%bias) activation(relu) schedule(#blockscale.schedule<swap_operands = false, tile_n = 64, scheduler = dynamic, epilogue_warps = 8>) : !whole_a, !whole_b, tensor<190x136xf16>, tensor<136xf32> -> tensor<190x136xf16>
  return %0 : tensor<190x136xf16>
}

// Lanes that are columns of D, with a bias along them.
func.func @swapped(%a: !whole_a, %b: !whole_b, %bias: tensor<136xf32>) -> tensor<190x136xf32> {
  %0 = blockscale.matmul %a, %b bias(%bias) schedule(#blockscale.schedule<swap_operands = true, tile_n = 64, epilogue_warps = 8>) : !whole_a, !whole_b, tensor<136xf32> -> tensor<190x136xf32>
  return %0 : tensor<190x136xf32>
}

// Factors of rows in registers, and those of columns beside the sums.
!rows_a = !blockscale.tensor<150x256xf8E4M3FN, "float32_t0">
!rows_b = !blockscale.tensor<128x256xf8E5M2, "float32_t0">
func.func @rows(%a: !rows_a, %b: !rows_b) -> tensor<150x128xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 1, swap_operands = false, tile_n = 128, epilogue_warps = 8>) : !rows_a, !rows_b -> tensor<150x128xf32>
  return %0 : tensor<150x128xf32>
}

// Groups of rows that end inside a tile.
!group_a = !blockscale.tensor<?x256xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
!group_b = !blockscale.tensor<3x192x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @groups(%a: !group_a, %b: !group_b, %ends: tensor<3xi32>) -> tensor<?x192xbf16> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<3xi32>) schedule(#blockscale.schedule<tile_n = 64, epilogue_warps = 8>) : !group_a, !group_b -> tensor<?x192xbf16>
  return %0 : tensor<?x192xbf16>
}

// Results that are quantised: blocks of 32 and of 16 columns, of pairs of columns, and
// of groups.
!q_a = !blockscale.tensor<300x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!q_b = !blockscale.tensor<544x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!q_d = !blockscale.tensor<300x544xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @quantised(%a: !q_a, %b: !q_b) -> !q_d {
  %y = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 2, tile_n = 192, epilogue_warps = 8>) : !q_a, !q_b -> tensor<300x544xbf16>
  %0 = blockscale.quantize %y : tensor<300x544xbf16> to !q_d
  return %0 : !q_d
}
!nv_b = !blockscale.tensor<784x512xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!nv_d = !blockscale.tensor<300x784xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
func.func @quantised_overlap(%a: !overlap_a, %b: !nv_b, %t: tensor<f32>) -> !nv_d {
  %y = blockscale.matmul %a, %b activation(relu) schedule(#blockscale.schedule<cta_group = 1, tile_n = 256, epilogue_warps = 8>) : !overlap_a, !nv_b -> tensor<300x784xbf16>
  %0 = blockscale.quantize %y tensor_scale(%t : tensor<f32>) : tensor<300x784xbf16> to !nv_d
  return %0 : !nv_d
}
!g_a = !blockscale.tensor<?x512xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = grouped_128x4>
!g_b = !blockscale.tensor<3x256x512xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!g_d = !blockscale.tensor<?x256xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = grouped_128x4>
func.func @quantised_groups(%a: !g_a, %b: !g_b, %t: tensor<f32>, %ends: tensor<3xi32>) -> !g_d {
  %y = blockscale.matmul %a, %b groups(%ends : tensor<3xi32>) schedule(#blockscale.schedule<tile_n = 128, epilogue_warps = 8>) : !g_a, !g_b -> tensor<?x256xbf16>
  %0 = blockscale.quantize %y groups(%ends : tensor<3xi32>) tensor_scale(%t : tensor<f32>) : tensor<?x256xbf16> to !g_d
  return %0 : !g_d
}

!integer_a = !blockscale.tensor<70x256xi8>
!integer_b = !blockscale.tensor<92x256xi8>
func.func @integer(%a: !integer_a, %b: !integer_b) -> tensor<70x92xi32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = false, tile_n = 64, epilogue_warps = 8>) : !integer_a, !integer_b -> tensor<70x92xi32>
  return %0 : tensor<70x92xi32>
}
