// Products whose kernels quantise their result in tiles that no thread has as a whole. Lanes,
// warps and CTAs of a cluster that have parts of one choose its scale together: tiles of
// several blocks and of several rows, swapped or not.

// REQUIRES: mlir
// RUN: blockscale verify %s --num-sms=8 | FileCheck %s
// RUN: blockscale verify %s --num-sms=8 --quantize-on-device --seed=5 --conditions=harsh --completion=latest | FileCheck %s
// RUN: blockscale compile %s --emit=tensor | FileCheck %s --check-prefix=MARK

// CHECK-NOT: FAIL
// CHECK-COUNT-98: pass
// CHECK-NOT: {{FAIL|pass}}

// MARK-COUNT-26: {blockscale.quantized}
// MARK-NOT: blockscale.quantized

!a = !blockscale.tensor<133x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!w256 = !blockscale.tensor<256x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!w512 = !blockscale.tensor<512x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>

// Blocks of several CTAs of a cluster, whose operands are swapped.
func.func @two_ctas(%x: !a, %w: !w256) -> !blockscale.tensor<133x256xf8E4M3FN, "float32_t256"> {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<swap_operands = true, cta_group = 1, cluster_m = 2, tile_n = 64>) : !a, !w256 -> tensor<133x256xbf16>
  %0 = blockscale.quantize %y : tensor<133x256xbf16> to !blockscale.tensor<133x256xf8E4M3FN, "float32_t256">
  return %0 : !blockscale.tensor<133x256xf8E4M3FN, "float32_t256">
}
func.func @pair(%x: !a, %w: !w512) -> !blockscale.tensor<133x512xf8E5M2, "float32_t256"> {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<swap_operands = true, cta_group = 2, cluster_n = 2, tile_n = 64>) : !a, !w512 -> tensor<133x512xf32>
  %0 = blockscale.quantize %y rounding(stochastic, seed = 3) : tensor<133x512xf32> to !blockscale.tensor<133x512xf8E5M2, "float32_t256">
  return %0 : !blockscale.tensor<133x512xf8E5M2, "float32_t256">
}
func.func @four_ctas(%x: !a, %w: !w512) -> !blockscale.tensor<133x256xf8E4M3FN, "float32_t256"> {
  %y = blockscale.matmul %x, %w pairs epilogue(%g, %u) {
    %zero = arith.constant 0.0 : f32
    %0 = arith.maximumf %g, %zero : f32
    %1 = arith.mulf %0, %u : f32
    blockscale.yield %1
  } schedule(#blockscale.schedule<swap_operands = true, cta_group = 2, cluster_m = 4, tile_n = 64>) : !a, !w512 -> tensor<133x256xf16>
  %0 = blockscale.quantize %y rule(min_error) : tensor<133x256xf16> to !blockscale.tensor<133x256xf8E4M3FN, "float32_t256">
  return %0 : !blockscale.tensor<133x256xf8E4M3FN, "float32_t256">
}
func.func @silu(%x: !a, %w: !w256) -> !blockscale.tensor<133x256xf8E4M3FN, "float32_t256"> {
  %y = blockscale.matmul %x, %w activation(silu) schedule(#blockscale.schedule<swap_operands = true, cta_group = 1, cluster_m = 4, tile_n = 64>) : !a, !w256 -> tensor<133x256xbf16>
  %0 = blockscale.quantize %y : tensor<133x256xbf16> to !blockscale.tensor<133x256xf8E4M3FN, "float32_t256">
  return %0 : !blockscale.tensor<133x256xf8E4M3FN, "float32_t256">
}
func.func @gate_up(%x: !a, %w: !w256) -> !blockscale.tensor<133x128xf8E4M3FN, "e8m0_t128", layout = tiled_128x4> {
  %y = blockscale.matmul %x, %w pairs epilogue(%g, %u) {
    %zero = arith.constant 0.0 : f32
    %0 = arith.maximumf %g, %zero : f32
    %1 = arith.mulf %0, %u : f32
    blockscale.yield %1
  } schedule(#blockscale.schedule<swap_operands = true, cta_group = 2, tile_n = 128, epilogue_warps = 8>) : !a, !w256 -> tensor<133x128xbf16>
  %0 = blockscale.quantize %y rule(round_up) : tensor<133x128xbf16> to !blockscale.tensor<133x128xf8E4M3FN, "e8m0_t128", layout = tiled_128x4>
  return %0 : !blockscale.tensor<133x128xf8E4M3FN, "e8m0_t128", layout = tiled_128x4>
}
func.func @parts_of_k(%x: !a, %w: !w256) -> !blockscale.tensor<133x256xf8E4M3FN, "float32_t256"> {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<swap_operands = true, cta_group = 1, cluster_m = 2, split_k = 2, cluster_k = 2, tile_n = 128>) : !a, !w256 -> tensor<133x256xbf16>
  %0 = blockscale.quantize %y : tensor<133x256xbf16> to !blockscale.tensor<133x256xf8E4M3FN, "float32_t256">
  return %0 : !blockscale.tensor<133x256xf8E4M3FN, "float32_t256">
}
!a5 = !blockscale.tensor<5x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!q5 = !blockscale.tensor<5x256xf8E4M3FN, "float32_t256">
func.func @few_rows(%x: !a5, %w: !w256) -> !q5 {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<swap_operands = true, tile_n = 8>) : !a5, !w256 -> tensor<5x256xbf16>
  %0 = blockscale.quantize %y : tensor<5x256xbf16> to !q5
  return %0 : !q5
}

// Of several blocks, and of several rows.
func.func @blocks(%x: !a, %w: !w256) -> !blockscale.tensor<133x256xf4E2M1FN, "e4m3fn_t64", layout = tiled_128x4> {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<cta_group = 2, swap_operands = false>) : !a, !w256 -> tensor<133x256xbf16>
  %0 = blockscale.quantize %y rule(min_error) : tensor<133x256xbf16> to !blockscale.tensor<133x256xf4E2M1FN, "e4m3fn_t64", layout = tiled_128x4>
  return %0 : !blockscale.tensor<133x256xf4E2M1FN, "e4m3fn_t64", layout = tiled_128x4>
}
func.func @blocks_swapped(%x: !a, %w: !w256) -> !blockscale.tensor<133x256xf6E3M2FN, "e8m0_t128", layout = tiled_128x4> {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<swap_operands = true, tile_n = 64>) : !a, !w256 -> tensor<133x256xf32>
  %0 = blockscale.quantize %y rule(ceil) rounding(away) : tensor<133x256xf32> to !blockscale.tensor<133x256xf6E3M2FN, "e8m0_t128", layout = tiled_128x4>
  return %0 : !blockscale.tensor<133x256xf6E3M2FN, "e8m0_t128", layout = tiled_128x4>
}
func.func @squares(%x: !a, %w: !w256) -> !blockscale.tensor<133x256xf8E4M3FN, "float32_t128_t128"> {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<swap_operands = false, cta_group = 1>) : !a, !w256 -> tensor<133x256xbf16>
  %0 = blockscale.quantize %y : tensor<133x256xbf16> to !blockscale.tensor<133x256xf8E4M3FN, "float32_t128_t128">
  return %0 : !blockscale.tensor<133x256xf8E4M3FN, "float32_t128_t128">
}
func.func @squares_swapped(%x: !a, %w: !w256) -> !blockscale.tensor<133x256xf8E4M3FN, "float32_t128_t128"> {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<swap_operands = true, cta_group = 2, cluster_m = 2, cluster_n = 2, tile_n = 128>) : !a, !w256 -> tensor<133x256xf32>
  %0 = blockscale.quantize %y rounding(stochastic, seed = 9) : tensor<133x256xf32> to !blockscale.tensor<133x256xf8E4M3FN, "float32_t128_t128">
  return %0 : !blockscale.tensor<133x256xf8E4M3FN, "float32_t128_t128">
}
func.func @squares_of_blocks(%x: !a, %w: !w512) -> !blockscale.tensor<133x256xf8E5M2, "e8m0_t64_t64", layout = tiled_128x4> {
  %y = blockscale.matmul %x, %w pairs epilogue(%g, %u) {
    %zero = arith.constant 0.0 : f32
    %0 = arith.maximumf %g, %zero : f32
    %1 = arith.mulf %0, %u : f32
    blockscale.yield %1
  } schedule(#blockscale.schedule<swap_operands = false, cta_group = 2, epilogue_warps = 8, tile_n = 256>) : !a, !w512 -> tensor<133x256xf16>
  %0 = blockscale.quantize %y : tensor<133x256xf16> to !blockscale.tensor<133x256xf8E5M2, "e8m0_t64_t64", layout = tiled_128x4>
  return %0 : !blockscale.tensor<133x256xf8E5M2, "e8m0_t64_t64", layout = tiled_128x4>
}
func.func @rows_swapped(%x: !a, %w: !w256) -> !blockscale.tensor<133x256xf4E2M1FN, "e4m3fn_t16_t16", layout = tiled_128x4> {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<swap_operands = true, tile_n = 64>) : !a, !w256 -> tensor<133x256xbf16>
  %0 = blockscale.quantize %y rule(min_error) : tensor<133x256xbf16> to !blockscale.tensor<133x256xf4E2M1FN, "e4m3fn_t16_t16", layout = tiled_128x4>
  return %0 : !blockscale.tensor<133x256xf4E2M1FN, "e4m3fn_t16_t16", layout = tiled_128x4>
}
func.func @columns_of_rows(%x: !a, %w: !w256) -> !blockscale.tensor<133x256xf8E4M3FN, "e8m0_t128_t32", layout = tiled_128x4> {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<swap_operands = true, split_k = 2, cluster_k = 1, cta_group = 1, tile_n = 128>) : !a, !w256 -> tensor<133x256xbf16>
  %0 = blockscale.quantize %y : tensor<133x256xbf16> to !blockscale.tensor<133x256xf8E4M3FN, "e8m0_t128_t32", layout = tiled_128x4>
  return %0 : !blockscale.tensor<133x256xf8E4M3FN, "e8m0_t128_t32", layout = tiled_128x4>
}
func.func @errors(%x: !a, %w: !w256) -> !blockscale.tensor<133x256xf8E4M3FN, "e8m0_t64_t32", layout = tiled_128x4> {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<swap_operands = false>) : !a, !w256 -> tensor<133x256xbf16>
  %0 = blockscale.quantize %y rule(min_error) : tensor<133x256xbf16> to !blockscale.tensor<133x256xf8E4M3FN, "e8m0_t64_t32", layout = tiled_128x4>
  return %0 : !blockscale.tensor<133x256xf8E4M3FN, "e8m0_t64_t32", layout = tiled_128x4>
}

// Batches and a tensor scale.
!nva = !blockscale.tensor<2x133x256xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!nvw = !blockscale.tensor<2x208x256xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!nvq = !blockscale.tensor<2x133x208xf4E2M1FN, "multi_float32_e4m3fn_t16_t16", layout = tiled_128x4>
func.func @nvfp4(%x: !nva, %w: !nvw, %t: tensor<2xf32>) -> !nvq {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<swap_operands = true>) : !nva, !nvw -> tensor<2x133x208xf16>
  %0 = blockscale.quantize %y tensor_scale(%t : tensor<2xf32>) rule(min_error) : tensor<2x133x208xf16> to !nvq
  return %0 : !nvq
}

// Sizes that only the host knows.
!any = !blockscale.tensor<?x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!some = !blockscale.tensor<?x?xf8E4M3FN, "float32_t64_t64">
func.func @sizes(%x: !any, %w: !any) -> !some {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<swap_operands = true>) : !any, !any -> tensor<?x?xbf16>
  %0 = blockscale.quantize %y : tensor<?x?xbf16> to !some
  return %0 : !some
}

// A sparse B, counted rows, groups along K.
!sa = !blockscale.tensor<133x256xf8E4M3FN, "e8m0_t64", layout = tiled_128x4>
!sw = !blockscale.tensor<512x256xf8E4M3FN, "e8m0_t32n2m4", layout = tiled_128x4>
!sq = !blockscale.tensor<133x512xf8E4M3FN, "float32_t256">
func.func @sparse_b(%x: !sa, %w: !sw) -> !sq {
  %y = blockscale.matmul %x, %w : !sa, !sw -> tensor<133x512xbf16>
  %0 = blockscale.quantize %y : tensor<133x512xbf16> to !sq
  return %0 : !sq
}
!ca = !blockscale.tensor<3x140x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!cw = !blockscale.tensor<3x256x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!cq = !blockscale.tensor<3x140x256xf8E4M3FN, "float32_t256">
func.func @counts(%x: !ca, %w: !cw, %counts: tensor<3xi32>) -> !cq {
  %y = blockscale.matmul %x, %w groups(%counts : tensor<3xi32>) schedule(#blockscale.schedule<swap_operands = true>) : !ca, !cw -> tensor<3x140x256xbf16>
  %0 = blockscale.quantize %y : tensor<3x140x256xbf16> to !cq
  return %0 : !cq
}
!ea = !blockscale.tensor<?x256xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
!eq = !blockscale.tensor<?x256xf8E4M3FN, "e8m0_t128", layout = grouped_128x4>
func.func @groups(%x: !ea, %w: !cw, %ends: tensor<3xi32>) -> !eq {
  %y = blockscale.matmul %x, %w groups(%ends : tensor<3xi32>) schedule(#blockscale.schedule<swap_operands = true, tile_n = 64>) : !ea, !cw -> tensor<?x256xbf16>
  %0 = blockscale.quantize %y groups(%ends : tensor<3xi32>) : tensor<?x256xbf16> to !eq
  return %0 : !eq
}
!ka = !blockscale.tensor<200x?xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
!kb = !blockscale.tensor<256x?xf8E5M2, "e8m0_t32", layout = grouped_128x4>
!kq = !blockscale.tensor<4x200x256xf8E4M3FN, "float32_t128_t128">
func.func @along_k(%a: !ka, %b: !kb, %ends: tensor<4xi32>) -> !kq {
  %d = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) schedule(#blockscale.schedule<swap_operands = false>) : !ka, !kb -> tensor<4x200x256xbf16>
  %0 = blockscale.quantize %d : tensor<4x200x256xbf16> to !kq
  return %0 : !kq
}

// Sums that are promoted.
!pa = !blockscale.tensor<133x256xf8E4M3FN, "float32_t128">
!pw = !blockscale.tensor<256x256xf8E4M3FN, "float32_t128_t128">
!pq = !blockscale.tensor<133x256xf8E4M3FN, "float32_t128_t128">
func.func @promoted(%x: !pa, %w: !pw) -> !pq {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<swap_operands = false>) : !pa, !pw -> tensor<133x256xbf16>
  %0 = blockscale.quantize %y : tensor<133x256xbf16> to !pq
  return %0 : !pq
}
!pe = !blockscale.tensor<133x256xf8E4M3FN, "float32_t128">
func.func @promoted_errors(%x: !pa, %w: !pw) -> !pe {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<swap_operands = false>) : !pa, !pw -> tensor<133x256xbf16>
  %0 = blockscale.quantize %y rule(min_error) : tensor<133x256xbf16> to !pe
  return %0 : !pe
}
!ps = !blockscale.tensor<133x256xf8E4M3FN, "e8m0_t64_t64", layout = tiled_128x4>
func.func @promoted_swapped(%x: !pa, %w: !pw) -> !ps {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<swap_operands = true, tile_n = 64>) : !pa, !pw -> tensor<133x256xf32>
  %0 = blockscale.quantize %y : tensor<133x256xf32> to !ps
  return %0 : !ps
}
func.func @promoted_cluster(%x: !pa, %w: !pw) -> !pe {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<swap_operands = true, cta_group = 2, tile_n = 64>) : !pa, !pw -> tensor<133x256xbf16>
  %0 = blockscale.quantize %y : tensor<133x256xbf16> to !pe
  return %0 : !pe
}
!pgw = !blockscale.tensor<512x256xf8E4M3FN, "float32_t128_t128">
func.func @promoted_gate_up(%x: !pa, %w: !pgw) -> !pe {
  %y = blockscale.matmul %x, %w pairs epilogue(%g, %u) {
    %0 = arith.subf %u, %g : f32
    blockscale.yield %0
  } schedule(#blockscale.schedule<swap_operands = true>) : !pa, !pgw -> tensor<133x256xbf16>
  %0 = blockscale.quantize %y : tensor<133x256xbf16> to !pe
  return %0 : !pe
}
