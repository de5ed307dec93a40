// Products of counted rows that quantise their result for the next such product: each
// matrix has codes and scales of its own, as without counts, of the rows that are there.
// What lies behind those, scales and their padding included, stays untouched.

// REQUIRES: mlir
// RUN: blockscale verify %s --num-sms=4 --m=200 | FileCheck %s
// RUN: blockscale verify %s --target=sm_103a --num-sms=4 --m=261 --seed=3 --conditions=harsh --completion=random | FileCheck %s --check-prefix=ONCE
// RUN: sed -e 's/cta_group = [12], *//; s/cluster_[mn] = [12], *//g; /^\/\/ No warps/,$d' %s > %t.warps.mlir
// RUN: blockscale verify %t.warps.mlir --target=sm_120a --num-sms=4 --m=133 --completion=latest | FileCheck %s --check-prefix=WARPS
// RUN: blockscale compile %s --emit=tensor | FileCheck %s --check-prefix=MARK
// RUN: blockscale compile %s --emit=kernel > %t.mlir
// RUN: FileCheck %s --check-prefix=KERNEL < %t.mlir
// RUN: blockscale-opt %t.mlir > /dev/null

// CHECK-NOT: FAIL
// CHECK-COUNT-20: pass
// CHECK-NOT: {{FAIL|pass}}

// ONCE-NOT: FAIL
// ONCE-COUNT-20: pass
// ONCE-NOT: {{FAIL|pass}}

// WARPS-NOT: FAIL
// WARPS-COUNT-10: pass
// WARPS-NOT: {{FAIL|pass}}

// MARK-COUNT-10: {blockscale.quantized}
// MARK-NOT: blockscale.quantized

// KERNEL-NOT: blockscale.quantize{{ }}
// KERNEL-COUNT-10: gpu.func

!x = !blockscale.tensor<4x?x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!w = !blockscale.tensor<4x192x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!e4m3 = !blockscale.tensor<4x?x192xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @mx(%x: !x, %w: !w, %counts: tensor<4xi32>) -> !e4m3 {
  %y = blockscale.matmul %x, %w groups(%counts : tensor<4xi32>) activation(relu) schedule(#blockscale.schedule<cta_group = 1, tile_n = 64>) : !x, !w -> tensor<4x?x192xbf16>
  %0 = blockscale.quantize %y : tensor<4x?x192xbf16> to !e4m3
  return %0 : !e4m3
}
// Numbers of elements count through the rows that are there and those that are not.
!e2m3 = !blockscale.tensor<4x?x192xf6E2M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @stochastic(%x: !x, %w: !w, %counts: tensor<4xi32>) -> !e2m3 {
  %y = blockscale.matmul %x, %w groups(%counts : tensor<4xi32>) schedule(#blockscale.schedule<cta_group = 2, cluster_m = 2, tile_n = 128>) : !x, !w -> tensor<4x?x192xf32>
  %0 = blockscale.quantize %y rule(ceil) rounding(stochastic, seed = 9) : tensor<4x?x192xf32> to !e2m3
  return %0 : !e2m3
}
// How many matrices there are memory does not say, either; the last group of scales of
// a row has padding.
!any_x = !blockscale.tensor<?x?x256xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
!any_w = !blockscale.tensor<?x160x256xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
!e2m1 = !blockscale.tensor<?x?x160xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
func.func @dynamic(%x: !any_x, %w: !any_w, %counts: tensor<?xi32>) -> !e2m1 {
  %y = blockscale.matmul %x, %w groups(%counts : tensor<?xi32>) schedule(#blockscale.schedule<scheduler = dynamic>) : !any_x, !any_w -> tensor<?x?x160xbf16>
  %0 = blockscale.quantize %y : tensor<?x?x160xbf16> to !e2m1
  return %0 : !e2m1
}
// A tensor scale for each matrix.
!nx = !blockscale.tensor<3x?x256xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!nw = !blockscale.tensor<3x144x256xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!nv = !blockscale.tensor<3x?x144xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
func.func @nvfp4(%x: !nx, %w: !nw, %counts: tensor<3xi32>, %t: tensor<3xf32>) -> !nv {
  %y = blockscale.matmul %x, %w groups(%counts : tensor<3xi32>) : !nx, !nw -> tensor<3x?x144xf16>
  %0 = blockscale.quantize %y tensor_scale(%t : tensor<3xf32>) : tensor<3x?x144xf16> to !nv
  return %0 : !nv
}
// Gate and up, a bias for each matrix, into blocks of 16.
!nw2 = !blockscale.tensor<3x288x256xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
func.func @clamped(%x: !nx, %w: !nw2, %counts: tensor<3xi32>, %v: tensor<3x288xbf16>, %t: tensor<3xf32>) -> !nv {
  %0 = blockscale.matmul %x, %w groups(%counts : tensor<3xi32>) bias(%v) pairs epilogue(%g, %up, %gb, %ub) {
    %one = arith.constant 1.0 : f32
    %high = arith.constant 7.0 : f32
    %low = arith.constant -7.0 : f32
    %1 = arith.addf %g, %gb : f32
    %gate = arith.minimumf %1, %high : f32
    %2 = arith.addf %up, %ub : f32
    %3 = arith.minimumf %2, %high : f32
    %4 = arith.maximumf %3, %low : f32
    %5 = arith.negf %gate : f32
    %6 = math.exp %5 : f32
    %7 = arith.addf %6, %one : f32
    %8 = arith.divf %gate, %7 : f32
    %9 = arith.addf %4, %one : f32
    %10 = arith.mulf %9, %8 : f32
    blockscale.yield %10
  } schedule(#blockscale.schedule<cluster_n = 1, tile_n = 128>) : !nx, !nw2, tensor<3x288xbf16> -> tensor<3x?x144xf32>
  %1 = blockscale.quantize %0 tensor_scale(%t : tensor<3xf32>) : tensor<3x?x144xf32> to !nv
  return %1 : !nv
}

// No warps of sm_120a have whole blocks of what follows, or other tiles of it.
!w2 = !blockscale.tensor<4x384x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @gated(%x: !x, %w: !w2, %counts: tensor<4xi32>) -> !e4m3 {
  %0 = blockscale.matmul %x, %w groups(%counts : tensor<4xi32>) pairs epilogue(%g, %up) {
    %1 = arith.subf %g, %up : f32
    blockscale.yield %1
  } schedule(#blockscale.schedule<cta_group = 2, cluster_m = 2, cluster_n = 2, tile_n = 128>) : !x, !w2 -> tensor<4x?x192xf32>
  %1 = blockscale.quantize %0 : tensor<4x?x192xf32> to !e4m3
  return %1 : !e4m3
}
!sparse_x = !blockscale.tensor<4x?x256xf8E4M3FN, "e8m0_t32n2m4", layout = tiled_128x4>
!sparse_w = !blockscale.tensor<4x192x256xf8E4M3FN, "e8m0_t64", layout = tiled_128x4>
func.func @sparse(%x: !sparse_x, %w: !sparse_w, %counts: tensor<4xi32>) -> !e4m3 {
  %y = blockscale.matmul %x, %w groups(%counts : tensor<4xi32>) : !sparse_x, !sparse_w -> tensor<4x?x192xf32>
  %0 = blockscale.quantize %y : tensor<4x?x192xf32> to !e4m3
  return %0 : !e4m3
}
// Floats without padding, of sums that instructions scale and of promoted ones.
!q = !blockscale.tensor<4x?x256xf8E4M3FN, "float32_t128">
!w256 = !blockscale.tensor<4x256x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @floats(%x: !x, %w: !w256, %counts: tensor<4xi32>) -> !q {
  %y = blockscale.matmul %x, %w groups(%counts : tensor<4xi32>) schedule(#blockscale.schedule<epilogue_warps = 8>) : !x, !w256 -> tensor<4x?x256xbf16>
  %0 = blockscale.quantize %y : tensor<4x?x256xbf16> to !q
  return %0 : !q
}
!dx = !blockscale.tensor<4x?x256xf8E4M3FN, "float32_t128">
!dw = !blockscale.tensor<4x256x256xf8E4M3FN, "float32_t128_t128">
func.func @deepseek(%x: !dx, %w: !dw, %counts: tensor<4xi32>) -> !q {
  %y = blockscale.matmul %x, %w groups(%counts : tensor<4xi32>) : !dx, !dw -> tensor<4x?x256xbf16>
  %0 = blockscale.quantize %y : tensor<4x?x256xbf16> to !q
  return %0 : !q
}
func.func @deepseek_mx(%x: !dx, %w: !dw, %counts: tensor<4xi32>) -> !blockscale.tensor<4x?x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4> {
  %y = blockscale.matmul %x, %w groups(%counts : tensor<4xi32>) schedule(#blockscale.schedule<cta_group = 2, scheduler = dynamic>) : !dx, !dw -> tensor<4x?x256xf32>
  %0 = blockscale.quantize %y : tensor<4x?x256xf32> to !blockscale.tensor<4x?x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
  return %0 : !blockscale.tensor<4x?x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
}
