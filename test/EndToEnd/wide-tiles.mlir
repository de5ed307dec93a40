// Tiles of more columns than an instruction has: two beside each other share A and find
// their scales of B in one region. Tiles that begin in the middle of 128 rows of scales,
// the last one with columns of one instruction, or of both, accumulators that overlap,
// and all that a kernel may be besides.

// REQUIRES: mlir
// RUN: blockscale verify %s --target=sm_100a --data=exact --num-sms=8 --m=1,520 --n=1000 --k=96,1056 --completion=random | FileCheck %s
// RUN: blockscale verify %s --target=sm_103a --data=exact --num-sms=8 --m=300 --n=1160 --k=832 --completion=latest | FileCheck %s --check-prefix=ONCE

// CHECK-NOT: FAIL
// CHECK-COUNT-43: pass
// CHECK-NOT: {{FAIL|pass}}

// ONCE-NOT: FAIL
// ONCE-COUNT-17: pass
// ONCE-NOT: {{FAIL|pass}}

!nvfp4 = !blockscale.tensor<?x?xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!mxfp4 = !blockscale.tensor<?x?xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
!mxfp8 = !blockscale.tensor<?x?xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!mxfp6 = !blockscale.tensor<?x?xf6E3M2FN, "e8m0_t32", layout = tiled_128x4>

// 192 and 128 columns: every other tile begins at row 64 of a group.
func.func @nvfp4_320(%a: !nvfp4, %b: !nvfp4) -> tensor<?x?xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 320, cta_group = 2, cluster_m = 2, cluster_n = 1, mma_k = 64, swap_operands = false>) : !nvfp4, !nvfp4 -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// 256 and 128 columns; two accumulators have 320 of 384 columns in common.
func.func @nvfp4_384(%a: !nvfp4, %b: !nvfp4) -> tensor<?x?xbf16> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 384, cta_group = 2, cluster_m = 2, cluster_n = 1, mma_k = 64, swap_operands = false, accumulators = 2>) : !nvfp4, !nvfp4 -> tensor<?x?xbf16>
  return %0 : tensor<?x?xbf16>
}

func.func @one_accumulator(%a: !nvfp4, %b: !nvfp4) -> tensor<?x?xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 384, cta_group = 2, cluster_m = 2, cluster_n = 1, mma_k = 64, swap_operands = true, accumulators = 1>) : !nvfp4, !nvfp4 -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

func.func @mxfp8_320(%a: !mxfp8, %b: !mxfp8) -> tensor<?x?xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 320, cta_group = 2, cluster_m = 2, cluster_n = 1, swap_operands = true, epilogue_warps = 8>) : !mxfp8, !mxfp8 -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// 256 and 192 columns: one word of scales leaves room for them.
func.func @mxfp8_448(%a: !mxfp8, %b: !mxfp8) -> tensor<?x?xbf16> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 448, cta_group = 2, cluster_m = 2, cluster_n = 1, swap_operands = false, accumulators = 1, epilogue_warps = 8>) : !mxfp8, !mxfp8 -> tensor<?x?xbf16>
  return %0 : tensor<?x?xbf16>
}

func.func @mxfp4_384(%a: !mxfp4, %b: !mxfp4) -> tensor<?x?xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 384, cta_group = 2, cluster_m = 2, cluster_n = 1, mma_k = 64, swap_operands = false, scheduler = dynamic, dependent_launch = true>) : !mxfp4, !mxfp4 -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// Pairs that share B load slices of its boxes.
func.func @mixed_share_b(%a: !mxfp8, %b: !mxfp6) -> tensor<?x?xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 320, cta_group = 2, cluster_m = 4, cluster_n = 1, swap_operands = false>) : !mxfp8, !mxfp6 -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

func.func @share_both(%a: !nvfp4, %b: !nvfp4) -> tensor<?x?xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 384, cta_group = 2, cluster_m = 4, cluster_n = 2, mma_k = 64, swap_operands = false, stages = 4, scale_stages = 2>) : !nvfp4, !nvfp4 -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

!split_a = !blockscale.tensor<300x1152xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!split_b = !blockscale.tensor<840x1152xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @workspace(%a: !split_a, %b: !split_b) -> tensor<300x840xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 320, cta_group = 2, mma_k = 64, cluster_m = 2, cluster_n = 1, split_k = 2, cluster_k = 1, swap_operands = false>) : !split_a, !split_b -> tensor<300x840xf32>
  return %0 : tensor<300x840xf32>
}

func.func @exchange(%a: !split_a, %b: !split_b) -> tensor<300x840xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 320, cta_group = 2, mma_k = 64, cluster_m = 2, cluster_n = 1, split_k = 2, cluster_k = 2, stages = 2, swap_operands = false>) : !split_a, !split_b -> tensor<300x840xf32>
  return %0 : tensor<300x840xf32>
}

// D and C in boxes.
!c = tensor<300x840xf32>
func.func @boxes(%a: !split_a, %b: !split_b, %c: !c, %beta: f32) -> !c {
  %0 = blockscale.matmul %a, %b beta(%beta) c(%c) schedule(#blockscale.schedule<tile_n = 320, cta_group = 2, mma_k = 64, cluster_m = 2, cluster_n = 1, split_k = 1, stores = tma, c_loads = tma, swap_operands = false>) : !split_a, !split_b, !c -> !c
  return %0 : !c
}

!rows = !blockscale.tensor<?x576xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
!experts = !blockscale.tensor<3x840x576xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @rows(%a: !rows, %b: !experts, %ends: tensor<3xi32>) -> tensor<?x840xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<3xi32>) schedule(#blockscale.schedule<tile_n = 320, cta_group = 2, cluster_m = 2, cluster_n = 1, swap_operands = false>) : !rows, !experts -> tensor<?x840xf32>
  return %0 : tensor<?x840xf32>
}

!along_a = !blockscale.tensor<200x?xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
!along_b = !blockscale.tensor<840x?xf8E5M2, "e8m0_t32", layout = grouped_128x4>
func.func @along_k(%a: !along_a, %b: !along_b, %ends: tensor<3xi32>) -> tensor<3x200x840xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<3xi32>) schedule(#blockscale.schedule<tile_n = 320, cta_group = 2, cluster_m = 2, cluster_n = 1, swap_operands = false>) : !along_a, !along_b -> tensor<3x200x840xf32>
  return %0 : tensor<3x200x840xf32>
}

// What else an epilogue may make of the sums, and matrices of a batch.
!x = !blockscale.tensor<300x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!w = !blockscale.tensor<704x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!q = !blockscale.tensor<300x704xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @quantized(%x: !x, %w: !w) -> !q {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<tile_n = 320, cta_group = 2, cluster_m = 2, cluster_n = 1, swap_operands = false>) : !x, !w -> tensor<300x704xbf16>
  %0 = blockscale.quantize %y : tensor<300x704xbf16> to !q
  return %0 : !q
}

func.func @pairs(%x: !x, %w: !w, %v: tensor<704xbf16>) -> tensor<300x352xbf16> {
  %0 = blockscale.matmul %x, %w bias(%v) pairs epilogue(%g, %up, %gb, %ub) {
    %1 = arith.addf %g, %gb : f32
    %2 = arith.subf %up, %ub : f32
    %3 = arith.mulf %1, %2 : f32
    blockscale.yield %3
  } schedule(#blockscale.schedule<tile_n = 384, cta_group = 2, cluster_m = 2, cluster_n = 1, epilogue_warps = 8>) : !x, !w, tensor<704xbf16> -> tensor<300x352xbf16>
  return %0 : tensor<300x352xbf16>
}

!many_a = !blockscale.tensor<2x130x288xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!many_b = !blockscale.tensor<2x392x288xf8E5M2, "e8m0_t32", layout = tiled_128x4>
func.func @batch(%a: !many_a, %b: !many_b, %v: tensor<392xf32>) -> tensor<2x130x392xf16> {
  %0 = blockscale.matmul %a, %b bias(%v) schedule(#blockscale.schedule<tile_n = 320, cta_group = 2, cluster_m = 2, cluster_n = 1, swap_operands = false>) : !many_a, !many_b, tensor<392xf32> -> tensor<2x130x392xf16>
  return %0 : tensor<2x130x392xf16>
}
