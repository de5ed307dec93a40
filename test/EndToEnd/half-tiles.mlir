// Tiles in halves, each with an accumulator of its own: few stages and many, a last one
// that K does not fill, tiles that the product ends in, and all that a kernel may be
// besides.

// REQUIRES: mlir
// RUN: blockscale verify %s --target=sm_100a --data=exact --num-sms=8 --m=520 --n=1000 --k=96,1312 --completion=random | FileCheck %s
// RUN: blockscale verify %s --target=sm_103a --data=exact --num-sms=8 --m=300 --n=1160 --k=768 --quantize-on-device --completion=latest | FileCheck %s --check-prefix=ONCE

// CHECK-NOT: FAIL
// CHECK-COUNT-27: pass
// CHECK-NOT: {{FAIL|pass}}

// ONCE-NOT: FAIL
// ONCE-COUNT-22: pass
// ONCE-NOT: {{FAIL|pass}}

!nvfp4 = !blockscale.tensor<?x?xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!mxfp4 = !blockscale.tensor<?x?xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
!mxfp8 = !blockscale.tensor<?x?xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!mxfp6 = !blockscale.tensor<?x?xf6E3M2FN, "e8m0_t32", layout = tiled_128x4>

func.func @nvfp4(%a: !nvfp4, %b: !nvfp4) -> tensor<?x?xbf16> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 256, accumulators = 3, cluster_m = 2, cluster_n = 1, mma_k = 64, swap_operands = false>) : !nvfp4, !nvfp4 -> tensor<?x?xbf16>
  return %0 : tensor<?x?xbf16>
}

// Four warps, which load a half in two rounds.
func.func @swapped(%a: !mxfp8, %b: !mxfp6) -> tensor<?x?xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 256, accumulators = 3, cluster_m = 2, cluster_n = 1, swap_operands = true, epilogue_warps = 4>) : !mxfp8, !mxfp6 -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

func.func @dynamic(%a: !mxfp4, %b: !mxfp4) -> tensor<?x?xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 256, accumulators = 3, cluster_m = 2, cluster_n = 1, mma_k = 64, scheduler = dynamic, dependent_launch = true>) : !mxfp4, !mxfp4 -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

func.func @share_both(%a: !nvfp4, %b: !nvfp4) -> tensor<?x?xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 256, accumulators = 3, cluster_m = 4, cluster_n = 2, mma_k = 64, swap_operands = false, stages = 3, scale_stages = 2>) : !nvfp4, !nvfp4 -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

func.func @least_stages(%a: !mxfp8, %b: !mxfp8) -> tensor<?x?xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 256, accumulators = 3, cluster_m = 2, cluster_n = 1, swap_operands = false, stages = 2>) : !mxfp8, !mxfp8 -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// Tiles that are shared out: parts of them begin and end anywhere.
!shared_a = !blockscale.tensor<520x1312xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!shared_b = !blockscale.tensor<1224x1312xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @shared_out(%a: !shared_a, %b: !shared_b) -> tensor<520x1224xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 256, accumulators = 3, cluster_m = 2, cluster_n = 1, mma_k = 64, stream_k = 4, swap_operands = false>) : !shared_a, !shared_b -> tensor<520x1224xf32>
  return %0 : tensor<520x1224xf32>
}

// Groups of rows, whose ends nobody knows.
!rows = !blockscale.tensor<?x576xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
!experts = !blockscale.tensor<3x840x576xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @rows(%a: !rows, %b: !experts, %ends: tensor<3xi32>) -> tensor<?x840xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<3xi32>) schedule(#blockscale.schedule<tile_n = 256, accumulators = 3, cluster_m = 2, cluster_n = 1, swap_operands = false>) : !rows, !experts -> tensor<?x840xf32>
  return %0 : tensor<?x840xf32>
}
!q_rows = !blockscale.tensor<?x1280xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = grouped_128x4>
!q_experts = !blockscale.tensor<3x512x1280xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!q_groups = !blockscale.tensor<?x512xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = grouped_128x4>
func.func @quantised_rows(%a: !q_rows, %b: !q_experts, %t: tensor<f32>, %ends: tensor<3xi32>) -> !q_groups {
  %y = blockscale.matmul %a, %b groups(%ends : tensor<3xi32>) schedule(#blockscale.schedule<tile_n = 256, accumulators = 3, cluster_m = 2, cluster_n = 1, mma_k = 64>) : !q_rows, !q_experts -> tensor<?x512xbf16>
  %0 = blockscale.quantize %y groups(%ends : tensor<3xi32>) tensor_scale(%t : tensor<f32>) : tensor<?x512xbf16> to !q_groups
  return %0 : !q_groups
}

// What else an epilogue may make of the sums, and matrices of a batch.
!x = !blockscale.tensor<300x896xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!w = !blockscale.tensor<704x896xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!q = !blockscale.tensor<300x704xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @quantised(%x: !x, %w: !w) -> !q {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<tile_n = 256, accumulators = 3, cluster_m = 2, cluster_n = 1, swap_operands = false>) : !x, !w -> tensor<300x704xbf16>
  %0 = blockscale.quantize %y : tensor<300x704xbf16> to !q
  return %0 : !q
}
func.func @pairs(%x: !x, %w: !w, %v: tensor<704xbf16>) -> tensor<300x352xbf16> {
  %0 = blockscale.matmul %x, %w bias(%v) pairs epilogue(%g, %up, %gb, %ub) {
    %1 = arith.addf %g, %gb : f32
    %2 = arith.subf %up, %ub : f32
    %3 = arith.mulf %1, %2 : f32
    blockscale.yield %3
  } schedule(#blockscale.schedule<tile_n = 256, accumulators = 3, cluster_m = 2, cluster_n = 1>) : !x, !w, tensor<704xbf16> -> tensor<300x352xbf16>
  return %0 : tensor<300x352xbf16>
}
func.func @addend(%x: !x, %w: !w, %c: tensor<300x704xf16>) -> tensor<300x704xf16> {
  %0 = blockscale.matmul %x, %w c(%c) activation(relu) schedule(#blockscale.schedule<tile_n = 256, accumulators = 3, cluster_m = 2, cluster_n = 1>) : !x, !w, tensor<300x704xf16> -> tensor<300x704xf16>
  return %0 : tensor<300x704xf16>
}

// Results in tiles that are kept until their scales are chosen: of a thread's columns, of
// rows that warps share, of pairs, and where tiles are shared out.
!kept = !blockscale.tensor<300x704xf8E4M3FN, "float32_t64">
func.func @kept(%x: !x, %w: !w) -> !kept {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<tile_n = 256, accumulators = 3, cluster_m = 2, cluster_n = 1, swap_operands = false>) : !x, !w -> tensor<300x704xbf16>
  %0 = blockscale.quantize %y : tensor<300x704xbf16> to !kept
  return %0 : !kept
}
!kept_rows = !blockscale.tensor<300x704xf8E5M2, "e8m0_t64_t64", layout = tiled_128x4>
func.func @kept_rows(%x: !x, %w: !w) -> !kept_rows {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<tile_n = 256, accumulators = 3, cluster_m = 2, cluster_n = 1, swap_operands = false, epilogue_warps = 4>) : !x, !w -> tensor<300x704xf32>
  %0 = blockscale.quantize %y : tensor<300x704xf32> to !kept_rows
  return %0 : !kept_rows
}
!kept_pairs = !blockscale.tensor<300x352xf8E4M3FN, "float32_t32">
func.func @kept_pairs(%x: !x, %w: !w) -> !kept_pairs {
  %y = blockscale.matmul %x, %w pairs epilogue(%g, %up) {
    %0 = arith.mulf %g, %up : f32
    blockscale.yield %0
  } schedule(#blockscale.schedule<tile_n = 256, accumulators = 3, cluster_m = 2, cluster_n = 1, swap_operands = false>) : !x, !w -> tensor<300x352xf16>
  %0 = blockscale.quantize %y rule(min_error) : tensor<300x352xf16> to !kept_pairs
  return %0 : !kept_pairs
}
func.func @kept_shares(%x: !x, %w: !w) -> !kept {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<tile_n = 256, accumulators = 3, cluster_m = 2, cluster_n = 1, stream_k = 4, swap_operands = false>) : !x, !w -> tensor<300x704xf32>
  %0 = blockscale.quantize %y : tensor<300x704xf32> to !kept
  return %0 : !kept
}
!many_a = !blockscale.tensor<2x130x288xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!many_b = !blockscale.tensor<2x392x288xf8E5M2, "e8m0_t32", layout = tiled_128x4>
func.func @batch(%a: !many_a, %b: !many_b, %v: tensor<392xf32>) -> tensor<2x130x392xf16> {
  %0 = blockscale.matmul %a, %b bias(%v) schedule(#blockscale.schedule<tile_n = 256, accumulators = 3, cluster_m = 2, cluster_n = 1, swap_operands = false>) : !many_a, !many_b, tensor<392xf32> -> tensor<2x130x392xf16>
  return %0 : tensor<2x130x392xf16>
}
!experts_of_one = !blockscale.tensor<520x768xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!ones = !blockscale.tensor<300x768xf8E4M3FN>
func.func @scales_of_one(%a: !ones, %w: !experts_of_one) -> tensor<300x520xf32> {
  %0 = blockscale.matmul %a, %w schedule(#blockscale.schedule<tile_n = 256, accumulators = 3, cluster_m = 2, cluster_n = 1, swap_operands = false>) : !ones, !experts_of_one -> tensor<300x520xf32>
  return %0 : tensor<300x520xf32>
}
