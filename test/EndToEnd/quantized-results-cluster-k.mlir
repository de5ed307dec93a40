// Products whose parts of K one cluster computes and which quantise their result: each of
// its CTAs adds up a slice of the columns of a tile, which are whole blocks, or of its
// rows where operands are swapped, and quantises that. All formats of elements and
// scales; CTAs that have no slice; floats; pairs of columns, which swapped operands
// bring to rows whether they are quantised or not; tiles that end before the scales of
// 128 rows do.

// REQUIRES: mlir
// RUN: blockscale verify %s --num-sms=16 | FileCheck %s
// RUN: blockscale verify %s --num-sms=16 --target=sm_103a --seed=5 --conditions=harsh --completion=latest | FileCheck %s
// RUN: blockscale verify %s --num-sms=32 --target=sm_110a --seed=2 --conditions=plain --completion=random | FileCheck %s --check-prefix=ONCE
// RUN: blockscale compile %s --emit=tensor | FileCheck %s --check-prefix=MARK
// RUN: blockscale compile %s --emit=kernel > %t.mlir
// RUN: blockscale-opt %t.mlir > /dev/null

// CHECK-NOT: FAIL
// CHECK-COUNT-58: pass
// CHECK-NOT: {{FAIL|pass}}

// ONCE-NOT: FAIL
// ONCE-COUNT-58: pass
// ONCE-NOT: {{FAIL|pass}}

// MARK-COUNT-14: {blockscale.quantized}
// MARK-NOT: blockscale.quantized

!a = !blockscale.tensor<133x1024xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!w = !blockscale.tensor<288x1024xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!e4m3 = !blockscale.tensor<133x288xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @two(%x: !a, %w: !w) -> !e4m3 {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<split_k = 2, cluster_k = 2, cta_group = 1, tile_n = 64, swap_operands = false>) : !a, !w -> tensor<133x288xbf16>
  %0 = blockscale.quantize %y : tensor<133x288xbf16> to !e4m3
  return %0 : !e4m3
}
// Of three CTAs two have slices of 64 columns.
!e5m2 = !blockscale.tensor<133x288xf8E5M2, "e8m0_t32", layout = tiled_128x4>
func.func @three(%x: !a, %w: !w, %c: tensor<133x288xbf16>, %bias: tensor<288xf32>) -> !e5m2 {
  %beta = arith.constant 0.5 : f32
  %y = blockscale.matmul %x, %w beta(%beta) c(%c) bias(%bias) activation(relu) schedule(#blockscale.schedule<split_k = 3, cluster_k = 3, cta_group = 1, tile_n = 128, swap_operands = false>) : !a, !w, tensor<133x288xbf16>, tensor<288xf32> -> tensor<133x288xf32>
  %0 = blockscale.quantize %y rule(round_up) : tensor<133x288xf32> to !e5m2
  return %0 : !e5m2
}
!e2m3 = !blockscale.tensor<133x288xf6E2M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @pair_stochastic(%x: !a, %w: !w) -> !e2m3 {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<split_k = 4, cluster_k = 4, cta_group = 2, tile_n = 256, swap_operands = false>) : !a, !w -> tensor<133x288xf32>
  %0 = blockscale.quantize %y rule(ceil) rounding(stochastic, seed = 9) : tensor<133x288xf32> to !e2m3
  return %0 : !e2m3
}
!nva = !blockscale.tensor<2x133x1024xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!nvw = !blockscale.tensor<2x208x1024xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!nvq = !blockscale.tensor<2x133x208xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
func.func @nvfp4_batches(%x: !nva, %w: !nvw, %t: tensor<2xf32>) -> !nvq {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<split_k = 2, cluster_k = 2, cta_group = 1, cluster_m = 2, tile_n = 64, swap_operands = false>) : !nva, !nvw -> tensor<2x133x208xbf16>
  %0 = blockscale.quantize %y tensor_scale(%t : tensor<2xf32>) : tensor<2x133x208xbf16> to !nvq
  return %0 : !nvq
}
!any = !blockscale.tensor<?x1024xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!dq = !blockscale.tensor<133x?xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @dynamic_n(%x: !a, %w: !any) -> !dq {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<split_k = 2, cluster_k = 2, tile_n = 64>) : !a, !any -> tensor<133x?xbf16>
  %0 = blockscale.quantize %y rule(min_error) : tensor<133x?xbf16> to !dq
  return %0 : !dq
}
// All of a tile in one slice.
!w256 = !blockscale.tensor<384x1024xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!f128 = !blockscale.tensor<133x384xf8E4M3FN, "float32_t128">
func.func @floats(%x: !a, %w: !w256) -> !f128 {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<split_k = 2, cluster_k = 2, cta_group = 1, tile_n = 256, swap_operands = false>) : !a, !w256 -> tensor<133x384xbf16>
  %0 = blockscale.quantize %y : tensor<133x384xbf16> to !f128
  return %0 : !f128
}
!h = !blockscale.tensor<133x192xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @gate_up(%x: !a, %w: !w256, %bias: tensor<384xf32>) -> !h {
  %y = blockscale.matmul %x, %w bias(%bias) pairs epilogue(%g, %gb, %u, %ub) {
    %0 = arith.addf %g, %gb : f32
    %1 = arith.addf %u, %ub : f32
    %zero = arith.constant 0.0 : f32
    %2 = arith.maximumf %0, %zero : f32
    %3 = arith.addf %2, %1 : f32
    blockscale.yield %3
  } schedule(#blockscale.schedule<split_k = 2, cluster_k = 2, cta_group = 2, tile_n = 128, swap_operands = false>) : !a, !w256, tensor<384xf32> -> tensor<133x192xf32>
  %0 = blockscale.quantize %y : tensor<133x192xf32> to !h
  return %0 : !h
}

// Slices of the rows of D.
!a5 = !blockscale.tensor<5x1024xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!q5 = !blockscale.tensor<5x288xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @few_rows(%x: !a5, %w: !w) -> !q5 {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<split_k = 4, cluster_k = 4, cta_group = 1, tile_n = 16, swap_operands = true>) : !a5, !w -> tensor<5x288xbf16>
  %0 = blockscale.quantize %y rule(round_up) : tensor<5x288xbf16> to !q5
  return %0 : !q5
}
func.func @swapped(%x: !a, %w: !w, %bias: tensor<288xf32>) -> !e4m3 {
  %y = blockscale.matmul %x, %w bias(%bias) schedule(#blockscale.schedule<split_k = 2, cluster_k = 2, cta_group = 1, tile_n = 64, swap_operands = true>) : !a, !w, tensor<288xf32> -> tensor<133x288xbf16>
  %0 = blockscale.quantize %y : tensor<133x288xbf16> to !e4m3
  return %0 : !e4m3
}
func.func @swapped_pair(%x: !a, %w: !w, %c: tensor<133x288xbf16>) -> !e2m3 {
  %beta = arith.constant 2.0 : f32
  %y = blockscale.matmul %x, %w beta(%beta) c(%c) schedule(#blockscale.schedule<split_k = 3, cluster_k = 3, cta_group = 2, tile_n = 192, swap_operands = true>) : !a, !w, tensor<133x288xbf16> -> tensor<133x288xf32>
  %0 = blockscale.quantize %y rule(ceil) rounding(away) : tensor<133x288xf32> to !e2m3
  return %0 : !e2m3
}
func.func @swapped_nvfp4(%x: !nva, %w: !nvw, %t: tensor<2xf32>) -> !nvq {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<split_k = 2, cluster_k = 2, cta_group = 1, cluster_n = 2, tile_n = 64, swap_operands = true>) : !nva, !nvw -> tensor<2x133x208xbf16>
  %0 = blockscale.quantize %y tensor_scale(%t : tensor<2xf32>) : tensor<2x133x208xbf16> to !nvq
  return %0 : !nvq
}
// Two warps have the columns of a float, or of a block.
func.func @swapped_floats(%x: !a, %w: !w256) -> !f128 {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<split_k = 2, cluster_k = 2, cta_group = 1, tile_n = 128, swap_operands = true>) : !a, !w256 -> tensor<133x384xf32>
  %0 = blockscale.quantize %y : tensor<133x384xf32> to !f128
  return %0 : !f128
}
func.func @swapped_gate_up(%x: !a, %w: !w256) -> !h {
  %y = blockscale.matmul %x, %w pairs epilogue(%g, %u) {
    %1 = arith.subf %u, %g : f32
    blockscale.yield %1
  } schedule(#blockscale.schedule<split_k = 2, cluster_k = 2, cta_group = 2, tile_n = 64, swap_operands = true>) : !a, !w256 -> tensor<133x192xbf16>
  %0 = blockscale.quantize %y : tensor<133x192xbf16> to !h
  return %0 : !h
}
func.func @plain_gate_up(%x: !a5, %w: !w) -> tensor<5x144xbf16> {
  %y = blockscale.matmul %x, %w pairs epilogue(%g, %u) {
    %1 = arith.subf %u, %g : f32
    blockscale.yield %1
  } schedule(#blockscale.schedule<split_k = 2, cluster_k = 2, cta_group = 1, tile_n = 16, swap_operands = true>) : !a5, !w -> tensor<5x144xbf16>
  return %y : tensor<5x144xbf16>
}
!sa = !blockscale.tensor<133x1024xf8E4M3FN, "e8m0_t64", layout = tiled_128x4>
!sw = !blockscale.tensor<288x1024xf8E4M3FN, "e8m0_t32n2m4", layout = tiled_128x4>
func.func @sparse_b(%x: !sa, %w: !sw) -> !e4m3 {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<split_k = 2, cluster_k = 2, cta_group = 1, tile_n = 64>) : !sa, !sw -> tensor<133x288xbf16>
  %0 = blockscale.quantize %y : tensor<133x288xbf16> to !e4m3
  return %0 : !e4m3
}
