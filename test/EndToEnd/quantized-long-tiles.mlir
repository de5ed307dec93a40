// Products whose kernels quantise their result in tiles of more columns than a thread keeps:
// each number is made once for the largest one, once for the errors under two scales if
// these are compared, and once to be rounded. Rows share scales or not, K is split or not.

// REQUIRES: mlir, ptxas
// RUN: blockscale verify %s --num-sms=8 | FileCheck %s
// RUN: blockscale verify %s --num-sms=8 --quantize-on-device --seed=5 --conditions=harsh --completion=latest | FileCheck %s
// RUN: rm -rf %t && blockscale compile %s -o %t
// RUN: FileCheck %s --check-prefix=REPORT --input-file=%t/quantized-long-tiles.report.txt

// CHECK-NOT: FAIL
// CHECK-COUNT-38: pass
// CHECK-NOT: {{FAIL|pass}}

// REPORT-COUNT-10: spills 0 bytes stored, 0 bytes loaded

!a = !blockscale.tensor<133x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!w = !blockscale.tensor<512x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!q128 = !blockscale.tensor<133x512xf8E4M3FN, "float32_t128">
!q256 = !blockscale.tensor<133x512xf8E4M3FN, "float32_t256">

func.func @of_all_columns(%x: !a, %w: !w) -> !q256 {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<cta_group = 1, swap_operands = false>) : !a, !w -> tensor<133x512xf32>
  %0 = blockscale.quantize %y : tensor<133x512xf32> to !q256
  return %0 : !q256
}
func.func @random_rounding(%x: !a, %w: !w) -> !q256 {
  %y = blockscale.matmul %x, %w activation(silu) schedule(#blockscale.schedule<cta_group = 2, swap_operands = false, epilogue_warps = 4>) : !a, !w -> tensor<133x512xbf16>
  %0 = blockscale.quantize %y rounding(stochastic, seed = 3) : tensor<133x512xbf16> to !q256
  return %0 : !q256
}
func.func @errors(%x: !a, %w: !w) -> !q128 {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<cta_group = 2, swap_operands = false, tile_n = 256, epilogue_warps = 8>) : !a, !w -> tensor<133x512xf32>
  %0 = blockscale.quantize %y rule(min_error) : tensor<133x512xf32> to !q128
  return %0 : !q128
}
func.func @errors_of_pairs(%x: !a, %w: !w, %v: tensor<512xbf16>) -> !blockscale.tensor<133x256xf8E5M2, "float32_t128"> {
  %y = blockscale.matmul %x, %w bias(%v) pairs epilogue(%g, %u, %gb, %ub) {
    %1 = arith.addf %g, %gb : f32
    %2 = arith.subf %u, %ub : f32
    %3 = arith.mulf %1, %2 : f32
    blockscale.yield %3
  } schedule(#blockscale.schedule<cta_group = 1, swap_operands = false>) : !a, !w, tensor<512xbf16> -> tensor<133x256xbf16>
  %0 = blockscale.quantize %y rule(min_error) : tensor<133x256xbf16> to !blockscale.tensor<133x256xf8E5M2, "float32_t128">
  return %0 : !blockscale.tensor<133x256xf8E5M2, "float32_t128">
}
func.func @errors_of_rows(%x: !a, %w: !w) -> !blockscale.tensor<133x512xf8E4M3FN, "float32_t16_t128"> {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<cta_group = 1, swap_operands = false>) : !a, !w -> tensor<133x512xf16>
  %0 = blockscale.quantize %y rule(min_error) : tensor<133x512xf16> to !blockscale.tensor<133x512xf8E4M3FN, "float32_t16_t128">
  return %0 : !blockscale.tensor<133x512xf8E4M3FN, "float32_t16_t128">
}
func.func @errors_of_blocks(%x: !a, %w: !w) -> !blockscale.tensor<133x512xf4E2M1FN, "e4m3fn_t128", layout = tiled_128x4> {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<cta_group = 1, swap_operands = false>) : !a, !w -> tensor<133x512xbf16>
  %0 = blockscale.quantize %y rule(min_error) : tensor<133x512xbf16> to !blockscale.tensor<133x512xf4E2M1FN, "e4m3fn_t128", layout = tiled_128x4>
  return %0 : !blockscale.tensor<133x512xf4E2M1FN, "e4m3fn_t128", layout = tiled_128x4>
}
func.func @errors_of_powers(%x: !a, %w: !w) -> !blockscale.tensor<133x512xf4E2M1FN, "e8m0_t16_t128", layout = tiled_128x4> {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<cta_group = 2, swap_operands = false, tile_n = 256, epilogue_warps = 8>) : !a, !w -> tensor<133x512xf32>
  %0 = blockscale.quantize %y rule(min_error) : tensor<133x512xf32> to !blockscale.tensor<133x512xf4E2M1FN, "e8m0_t16_t128", layout = tiled_128x4>
  return %0 : !blockscale.tensor<133x512xf4E2M1FN, "e8m0_t16_t128", layout = tiled_128x4>
}
func.func @parts_of_k(%x: !a, %w: !w) -> !q128 {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<cta_group = 1, swap_operands = false, split_k = 2, cluster_k = 1>) : !a, !w -> tensor<133x512xf32>
  %0 = blockscale.quantize %y rule(min_error) : tensor<133x512xf32> to !q128
  return %0 : !q128
}
func.func @parts_of_k_in_cluster(%x: !a, %w: !w) -> !q128 {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<cta_group = 1, swap_operands = false, split_k = 2, cluster_k = 2, tile_n = 256>) : !a, !w -> tensor<133x512xbf16>
  %0 = blockscale.quantize %y rule(min_error) : tensor<133x512xbf16> to !q128
  return %0 : !q128
}

// Groups of rows, whose ends nobody knows.
!rows = !blockscale.tensor<?x512xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
!experts = !blockscale.tensor<3x512x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!q_rows = !blockscale.tensor<?x512xf8E4M3FN, "float32_t256">
func.func @rows(%a: !rows, %b: !experts, %ends: tensor<3xi32>) -> !q_rows {
  %y = blockscale.matmul %a, %b groups(%ends : tensor<3xi32>) schedule(#blockscale.schedule<cta_group = 1, swap_operands = false>) : !rows, !experts -> tensor<?x512xf32>
  %0 = blockscale.quantize %y : tensor<?x512xf32> to !q_rows
  return %0 : !q_rows
}
