// Products whose kernels quantise the result under one float for each row and block of
// columns, as the next product reads them that applies such scales in registers: DeepSeek's
// 1 x 128 and shorter blocks, of sums as they are and of promoted ones, whose columns
// several threads have. Pairs, clusters, eight warps, batches, groups of rows.

// REQUIRES: mlir
// RUN: blockscale verify %s --num-sms=4 --m=1,133 | FileCheck %s
// RUN: blockscale verify %s --target=sm_103a --num-sms=4 --m=261 --seed=5 --conditions=harsh --completion=random | FileCheck %s --check-prefix=ONCE
// RUN: blockscale compile %s --emit=tensor | FileCheck %s --check-prefix=MARK
// RUN: blockscale compile %s --emit=kernel > %t.mlir
// RUN: FileCheck %s --check-prefix=KERNEL < %t.mlir
// RUN: blockscale-opt %t.mlir > /dev/null
// RUN: rm -rf %t && blockscale compile %s -o %t
// RUN: grep -c '"spill_store_bytes": 0,' %t/quantized-float-results.report.json | FileCheck %s --check-prefix=SPILLS
// SPILLS: {{^}}15{{$}}

// CHECK-NOT: FAIL
// CHECK-COUNT-84: pass
// CHECK-NOT: {{FAIL|pass}}

// ONCE-NOT: FAIL
// ONCE-COUNT-56: pass
// ONCE-NOT: {{FAIL|pass}}

// MARK-COUNT-15: {blockscale.quantized}
// MARK-NOT: blockscale.quantized

// KERNEL-NOT: blockscale.quantize{{ }}
// KERNEL-COUNT-15: gpu.func

!x = !blockscale.tensor<?x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!w = !blockscale.tensor<384x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!q = !blockscale.tensor<?x384xf8E4M3FN, "float32_t128">
func.func @relu(%x: !x, %w: !w) -> !q {
  %y = blockscale.matmul %x, %w activation(relu) schedule(#blockscale.schedule<cta_group = 1, cluster_m = 1, cluster_n = 1, tile_n = 128>) : !x, !w -> tensor<?x384xbf16>
  %0 = blockscale.quantize %y : tensor<?x384xbf16> to !q
  return %0 : !q
}
// Two accumulators that overlap, of a pair of CTAs.
func.func @two_blocks(%x: !x, %w: !w) -> !q {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<cta_group = 2, tile_n = 256, scheduler = dynamic>) : !x, !w -> tensor<?x384xf16>
  %0 = blockscale.quantize %y rounding(away) : tensor<?x384xf16> to !q
  return %0 : !q
}
func.func @eight_warps(%x: !x, %w: !w) -> !q {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<cta_group = 2, cluster_m = 2, tile_n = 256, epilogue_warps = 8>) : !x, !w -> tensor<?x384xf32>
  %0 = blockscale.quantize %y rounding(stochastic, seed = 5) : tensor<?x384xf32> to !q
  return %0 : !q
}
!q64 = !blockscale.tensor<?x384xf8E5M2, "float32_t64">
func.func @min_error(%x: !x, %w: !w) -> !q64 {
  %y = blockscale.matmul %x, %w activation(silu) schedule(#blockscale.schedule<tile_n = 64>) : !x, !w -> tensor<?x384xf32>
  %0 = blockscale.quantize %y rule(min_error) : tensor<?x384xf32> to !q64
  return %0 : !q64
}
!e2m3 = !blockscale.tensor<?x384xf6E2M3FN, "float32_t32">
func.func @short(%x: !x, %w: !w) -> !e2m3 {
  %y = blockscale.matmul %x, %w : !x, !w -> tensor<?x384xf32>
  %0 = blockscale.quantize %y rounding(zero) : tensor<?x384xf32> to !e2m3
  return %0 : !e2m3
}
// Batches, and N that the launch knows.
!bx = !blockscale.tensor<2x40x256xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!bw = !blockscale.tensor<2x256x256xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!bq = !blockscale.tensor<2x40x256xf8E4M3FN, "float32_t128">
func.func @batches(%x: !bx, %w: !bw) -> !bq {
  %y = blockscale.matmul %x, %w : !bx, !bw -> tensor<2x40x256xbf16>
  %0 = blockscale.quantize %y : tensor<2x40x256xbf16> to !bq
  return %0 : !bq
}
// gpt-oss's gate and up under DeepSeek's scales.
!w512 = !blockscale.tensor<512x256xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
!q256 = !blockscale.tensor<?x256xf8E4M3FN, "float32_t128">
func.func @pairs(%x: !x, %w: !w512, %v: tensor<512xbf16>) -> !q256 {
  %y = blockscale.matmul %x, %w bias(%v) pairs epilogue(%g, %up, %gb, %ub) {
    %high = arith.constant 7.0 : f32
    %one = arith.constant 1.0 : f32
    %1 = arith.addf %g, %gb : f32
    %2 = arith.minimumf %1, %high : f32
    %3 = arith.addf %up, %ub : f32
    %4 = arith.negf %2 : f32
    %5 = math.exp %4 : f32
    %6 = arith.addf %5, %one : f32
    %7 = arith.divf %2, %6 : f32
    %8 = arith.mulf %7, %3 : f32
    blockscale.yield %8
  } : !x, !w512, tensor<512xbf16> -> tensor<?x256xbf16>
  %0 = blockscale.quantize %y : tensor<?x256xbf16> to !q256
  return %0 : !q256
}
!gx = !blockscale.tensor<?x256xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
!gw = !blockscale.tensor<3x256x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @groups(%x: !gx, %w: !gw, %ends: tensor<3xi32>) -> !q256 {
  %y = blockscale.matmul %x, %w groups(%ends : tensor<3xi32>) : !gx, !gw -> tensor<?x256xbf16>
  %0 = blockscale.quantize %y : tensor<?x256xbf16> to !q256
  return %0 : !q256
}

// DeepSeek's: four threads have the columns of a block.
!dx = !blockscale.tensor<?x384xf8E4M3FN, "float32_t128">
!dw = !blockscale.tensor<384x384xf8E4M3FN, "float32_t128_t128">
func.func @deepseek(%x: !dx, %w: !dw) -> !q {
  %y = blockscale.matmul %x, %w : !dx, !dw -> tensor<?x384xbf16>
  %0 = blockscale.quantize %y : tensor<?x384xbf16> to !q
  return %0 : !q
}
func.func @deepseek_single(%x: !dx, %w: !dw) -> !q {
  %y = blockscale.matmul %x, %w activation(relu) schedule(#blockscale.schedule<cta_group = 1, scheduler = dynamic>) : !dx, !dw -> tensor<?x384xf32>
  %0 = blockscale.quantize %y rounding(stochastic, seed = 11) : tensor<?x384xf32> to !q
  return %0 : !q
}
// Two blocks of a tile, of two threads each; a thread alone.
func.func @two_threads(%x: !dx, %w: !dw) -> !q64 {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<tile_n = 128>) : !dx, !dw -> tensor<?x384xf16>
  %0 = blockscale.quantize %y : tensor<?x384xf16> to !q64
  return %0 : !q64
}
!q32 = !blockscale.tensor<?x384xf8E4M3FN, "float32_t32">
func.func @one_thread(%x: !dx, %w: !dw) -> !q32 {
  %y = blockscale.matmul %x, %w : !dx, !dw -> tensor<?x384xf32>
  %0 = blockscale.quantize %y rule(min_error) : tensor<?x384xf32> to !q32
  return %0 : !q32
}
// Scales that instructions read, of promoted sums.
!mx = !blockscale.tensor<?x384xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @mx(%x: !dx, %w: !dw) -> !mx {
  %y = blockscale.matmul %x, %w : !dx, !dw -> tensor<?x384xbf16>
  %0 = blockscale.quantize %y : tensor<?x384xbf16> to !mx
  return %0 : !mx
}
// Gate and up: 16 elements of a thread.
!q192 = !blockscale.tensor<?x192xf8E4M3FN, "float32_t64">
func.func @promoted_pairs(%x: !dx, %w: !dw) -> !q192 {
  %y = blockscale.matmul %x, %w pairs epilogue(%g, %up) {
    %1 = arith.subf %g, %up : f32
    blockscale.yield %1
  } : !dx, !dw -> tensor<?x192xf32>
  %0 = blockscale.quantize %y : tensor<?x192xf32> to !q192
  return %0 : !q192
}
!dgw = !blockscale.tensor<3x256x384xf8E4M3FN, "float32_t128_t128">
func.func @promoted_groups(%x: !dx, %w: !dgw, %ends: tensor<3xi32>) -> !q256 {
  %y = blockscale.matmul %x, %w groups(%ends : tensor<3xi32>) : !dx, !dgw -> tensor<?x256xbf16>
  %0 = blockscale.quantize %y : tensor<?x256xbf16> to !q256
  return %0 : !q256
}
