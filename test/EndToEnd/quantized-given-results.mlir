// Products whose kernels quantise the result under one scale for each matrix that is given,
// as the static activation scales of checkpoints are: operands as they are and swapped, one
// CTA and pairs, clusters, eight warps, split K, batches whose scales are 0, infinite and NaN,
// too, groups of rows, counted rows, groups along K, promoted sums, gate and up, bias and C,
// every format of the scale, and roundings.

// REQUIRES: mlir
// RUN: blockscale verify %s --num-sms=4 --m=1,133 --k=256 | FileCheck %s
// RUN: blockscale verify %s --target=sm_103a --num-sms=4 --m=261 --k=512 --seed=5 --conditions=harsh --completion=random | FileCheck %s --check-prefix=ONCE
// RUN: sed -e '/^\/\/ No warps/,$d; s/cta_group = [12], *//; s/cluster_[mnk] = [12], *//g; s/, epilogue_warps = 8//; s/tile_n = 256/tile_n = 128/' %s > %t.warps.mlir
// RUN: blockscale verify %t.warps.mlir --target=sm_120a --num-sms=4 --m=37 --k=512 --seed=3 --conditions=harsh --completion=latest | FileCheck %s --check-prefix=WARPS
// RUN: blockscale compile %s --emit=tensor | FileCheck %s --check-prefix=MARK
// RUN: blockscale compile %s --emit=kernel > %t.mlir
// RUN: FileCheck %s --check-prefix=KERNEL < %t.mlir
// RUN: blockscale-opt %t.mlir > /dev/null
// RUN: rm -rf %t && blockscale compile %s -o %t
// RUN: grep -c '"spill_store_bytes": 0,' %t/quantized-given-results.report.json | FileCheck %s --check-prefix=SPILLS
// SPILLS: {{^}}18{{$}}

// CHECK-NOT: FAIL
// CHECK-COUNT-100: pass
// CHECK-NOT: {{FAIL|pass}}

// ONCE-NOT: FAIL
// ONCE-COUNT-66: pass
// ONCE-NOT: {{FAIL|pass}}

// WARPS-NOT: FAIL
// WARPS-COUNT-52: pass
// WARPS-NOT: {{FAIL|pass}}

// MARK-COUNT-18: {blockscale.quantized}
// MARK-NOT: blockscale.quantized

// KERNEL-NOT: blockscale.quantize{{ }}
// KERNEL-COUNT-18: gpu.func

!x = !blockscale.tensor<?x256xf8E4M3FN, "float32">
!w = !blockscale.tensor<352x256xf8E4M3FN, "float32">
!q = !blockscale.tensor<?x352xf8E4M3FN, "float32">
func.func @static(%x: !x, %w: !w, %t: tensor<f32>) -> !q {
  %y = blockscale.matmul %x, %w activation(relu) schedule(#blockscale.schedule<cta_group = 1, cluster_m = 1, cluster_n = 1, swap_operands = false, tile_n = 64>) : !x, !w -> tensor<?x352xbf16>
  %0 = blockscale.quantize %y tensor_scale(%t : tensor<f32>) : tensor<?x352xbf16> to !q
  return %0 : !q
}
// What is chosen.
func.func @chosen(%x: !x, %w: !w, %t: tensor<f32>, %v: tensor<352xf32>) -> !q {
  %y = blockscale.matmul %x, %w bias(%v) activation(silu) : !x, !w, tensor<352xf32> -> tensor<?x352xf16>
  %0 = blockscale.quantize %y tensor_scale(%t : tensor<f32>) rounding(away) : tensor<?x352xf16> to !q
  return %0 : !q
}
!mx = !blockscale.tensor<9x?x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!mw = !blockscale.tensor<9x?x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!e5m2 = !blockscale.tensor<9x?x?xf8E5M2, "float32">
// A scale for each matrix, and any whole number of blocks.
func.func @batches(%x: !mx, %w: !mw, %t: tensor<9xf32>, %c: tensor<9x?x?xbf16>) -> !e5m2 {
  %y = blockscale.matmul %x, %w c(%c) schedule(#blockscale.schedule<cta_group = 2, cluster_n = 2, swap_operands = false, tile_n = 128>) : !mx, !mw, tensor<9x?x?xbf16> -> tensor<9x?x?xf32>
  %0 = blockscale.quantize %y tensor_scale(%t : tensor<9xf32>) rounding(stochastic, seed = 5) : tensor<9x?x?xf32> to !e5m2
  return %0 : !e5m2
}
!half = !blockscale.tensor<9x?x?xf8E4M3FN, "float16">
func.func @swapped(%x: !mx, %w: !mw, %t: tensor<9xf32>, %alpha: f32) -> !half {
  %y = blockscale.matmul %x, %w alpha(%alpha) schedule(#blockscale.schedule<cta_group = 1, cluster_m = 1, cluster_n = 1, swap_operands = true, tile_n = 64>) : !mx, !mw -> tensor<9x?x?xbf16>
  %0 = blockscale.quantize %y tensor_scale(%t : tensor<9xf32>) : tensor<9x?x?xbf16> to !half
  return %0 : !half
}
!mx1 = !blockscale.tensor<?x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!mw1 = !blockscale.tensor<384x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!power = !blockscale.tensor<?x384xf6E2M3FN, "e8m0">
func.func @swapped_pair(%x: !mx1, %w: !mw1, %t: tensor<f32>) -> !power {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<cta_group = 2, cluster_m = 2, swap_operands = true, tile_n = 128, epilogue_warps = 8, scheduler = dynamic>) : !mx1, !mw1 -> tensor<?x384xf32>
  %0 = blockscale.quantize %y tensor_scale(%t : tensor<f32>) rounding(zero) : tensor<?x384xf32> to !power
  return %0 : !power
}
!brain = !blockscale.tensor<?x384xf4E2M1FN, "bfloat16">
func.func @eight_warps(%x: !mx1, %w: !mw1, %t: tensor<f32>) -> !brain {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<cta_group = 2, cluster_m = 2, swap_operands = false, tile_n = 256, epilogue_warps = 8>) : !mx1, !mw1 -> tensor<?x384xbf16>
  %0 = blockscale.quantize %y tensor_scale(%t : tensor<f32>) : tensor<?x384xbf16> to !brain
  return %0 : !brain
}
!one = !blockscale.tensor<?x384xf8E4M3FN, "float32">
func.func @parts(%x: !mx1, %w: !mw1, %t: tensor<f32>) -> !one {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<cta_group = 1, split_k = 2, swap_operands = false, tile_n = 128>) : !mx1, !mw1 -> tensor<?x384xbf16>
  %0 = blockscale.quantize %y tensor_scale(%t : tensor<f32>) : tensor<?x384xbf16> to !one
  return %0 : !one
}
// Gate and up: two columns of the product make one of the result.
!up = !blockscale.tensor<?x192xf8E4M3FN, "float32">
func.func @swiglu(%x: !mx1, %w: !mw1, %t: tensor<f32>) -> !up {
  %y = blockscale.matmul %x, %w pairs epilogue(%g, %up) {
    %p = arith.mulf %g, %up : f32
    blockscale.yield %p
  } schedule(#blockscale.schedule<cta_group = 1, swap_operands = false, tile_n = 128>) : !mx1, !mw1 -> tensor<?x192xbf16>
  %0 = blockscale.quantize %y tensor_scale(%t : tensor<f32>) : tensor<?x192xbf16> to !up
  return %0 : !up
}
func.func @swiglu_swapped(%x: !mx1, %w: !mw1, %t: tensor<f32>) -> !up {
  %y = blockscale.matmul %x, %w pairs epilogue(%g, %up) {
    %p = arith.mulf %g, %up : f32
    blockscale.yield %p
  } schedule(#blockscale.schedule<cta_group = 2, swap_operands = true, tile_n = 128>) : !mx1, !mw1 -> tensor<?x192xf16>
  %0 = blockscale.quantize %y tensor_scale(%t : tensor<f32>) : tensor<?x192xf16> to !up
  return %0 : !up
}
// Sums that are promoted.
!dx = !blockscale.tensor<?x256xf8E4M3FN, "float32_t128">
!dw = !blockscale.tensor<384x256xf8E4M3FN, "float32_t128_t128">
func.func @promoted(%x: !dx, %w: !dw, %t: tensor<f32>) -> !one {
  %y = blockscale.matmul %x, %w : !dx, !dw -> tensor<?x384xbf16>
  %0 = blockscale.quantize %y tensor_scale(%t : tensor<f32>) : tensor<?x384xbf16> to !one
  return %0 : !one
}
func.func @promoted_pairs(%x: !dx, %w: !dw, %t: tensor<f32>) -> !up {
  %y = blockscale.matmul %x, %w pairs epilogue(%g, %up) {
    %p = arith.mulf %g, %up : f32
    blockscale.yield %p
  } : !dx, !dw -> tensor<?x192xf32>
  %0 = blockscale.quantize %y tensor_scale(%t : tensor<f32>) : tensor<?x192xf32> to !up
  return %0 : !up
}
func.func @promoted_swapped(%x: !dx, %w: !dw, %t: tensor<f32>) -> !one {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<swap_operands = true, tile_n = 64>) : !dx, !dw -> tensor<?x384xbf16>
  %0 = blockscale.quantize %y tensor_scale(%t : tensor<f32>) : tensor<?x384xbf16> to !one
  return %0 : !one
}
// Of groups of rows one matrix has one scale, of counted ones and of groups along K each.
!gx = !blockscale.tensor<?x256xf8E4M3FN, "float32_t0">
!gw = !blockscale.tensor<5x384x256xf8E4M3FN, "float32_t0">
func.func @groups(%x: !gx, %w: !gw, %ends: tensor<5xi32>, %t: tensor<f32>) -> !one {
  %y = blockscale.matmul %x, %w groups(%ends : tensor<5xi32>) : !gx, !gw -> tensor<?x384xbf16>
  %0 = blockscale.quantize %y tensor_scale(%t : tensor<f32>) : tensor<?x384xbf16> to !one
  return %0 : !one
}
!cx = !blockscale.tensor<4x?x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!cw = !blockscale.tensor<4x192x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!counted = !blockscale.tensor<4x?x192xf8E4M3FN, "float32">
func.func @counted(%x: !cx, %w: !cw, %counts: tensor<4xi32>, %t: tensor<4xf32>) -> !counted {
  %y = blockscale.matmul %x, %w groups(%counts : tensor<4xi32>) : !cx, !cw -> tensor<4x?x192xbf16>
  %0 = blockscale.quantize %y tensor_scale(%t : tensor<4xf32>) : tensor<4x?x192xbf16> to !counted
  return %0 : !counted
}
// No warps: clusters that add up parts of K, groups along K, whole numbers.
func.func @cluster(%x: !mx1, %w: !mw1, %t: tensor<f32>) -> !one {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<cta_group = 1, split_k = 2, cluster_k = 2, swap_operands = false, tile_n = 64>) : !mx1, !mw1 -> tensor<?x384xbf16>
  %0 = blockscale.quantize %y tensor_scale(%t : tensor<f32>) : tensor<?x384xbf16> to !one
  return %0 : !one
}
!ka = !blockscale.tensor<200x?xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
!kb = !blockscale.tensor<288x?xf8E5M2, "e8m0_t32", layout = grouped_128x4>
!along = !blockscale.tensor<5x200x288xf8E4M3FN, "float32">
func.func @along(%a: !ka, %b: !kb, %ends: tensor<5xi32>, %t: tensor<5xf32>) -> !along {
  %d = blockscale.matmul %a, %b groups(%ends : tensor<5xi32>) : !ka, !kb -> tensor<5x200x288xbf16>
  %0 = blockscale.quantize %d tensor_scale(%t : tensor<5xf32>) : tensor<5x200x288xbf16> to !along
  return %0 : !along
}
!ia = !blockscale.tensor<?x512xi8, "float32_t0">
!iw = !blockscale.tensor<512x512xi8, "float32_t0">
!bytes = !blockscale.tensor<?x512xi8, "float32">
func.func @integers(%x: !ia, %w: !iw, %t: tensor<f32>) -> !bytes {
  %y = blockscale.matmul %x, %w : !ia, !iw -> tensor<?x512xbf16>
  %0 = blockscale.quantize %y tensor_scale(%t : tensor<f32>) : tensor<?x512xbf16> to !bytes
  return %0 : !bytes
}
func.func @integers_swapped(%x: !ia, %w: !iw, %t: tensor<f32>) -> !bytes {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<swap_operands = true, tile_n = 64, cta_group = 1>) : !ia, !iw -> tensor<?x512xf32>
  %0 = blockscale.quantize %y tensor_scale(%t : tensor<f32>) rounding(stochastic, seed = -3) : tensor<?x512xf32> to !bytes
  return %0 : !bytes
}
