// Products of groups of rows that quantise their result for the next such product:
// scales lie by groups, each of which starts at a multiple of 128 rows, and what pads
// them is 0. Empty groups, one row, and ends inside of tiles; codes of rows behind the
// last group and scales behind its own stay untouched.

// REQUIRES: mlir
// RUN: blockscale verify %s --num-sms=4 --m=1,400 | FileCheck %s
// RUN: blockscale verify %s --target=sm_103a --num-sms=4 --m=517 --seed=3 --conditions=harsh --completion=latest | FileCheck %s --check-prefix=ONCE
// RUN: blockscale verify %s --target=sm_107a --num-sms=4 --m=261 --seed=1 --completion=random | FileCheck %s --check-prefix=ONCE
// RUN: blockscale compile %s --emit=tensor | FileCheck %s --check-prefix=MARK
// RUN: blockscale compile %s --emit=kernel > %t.mlir
// RUN: FileCheck %s --check-prefix=KERNEL < %t.mlir
// RUN: blockscale-opt %t.mlir > /dev/null

// CHECK-NOT: FAIL
// CHECK-COUNT-44: pass
// CHECK-NOT: {{FAIL|pass}}

// ONCE-NOT: FAIL
// ONCE-COUNT-22: pass
// ONCE-NOT: {{FAIL|pass}}

// MARK-COUNT-11: {blockscale.quantized}
// MARK-NOT: blockscale.quantized

// KERNEL-NOT: blockscale.quantize{{ }}
// KERNEL-COUNT-11: gpu.func

!x8 = !blockscale.tensor<?x512xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
!w8 = !blockscale.tensor<5x352x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!e4m3 = !blockscale.tensor<?x352xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
func.func @e4m3(%x: !x8, %w: !w8, %ends: tensor<5xi32>) -> !e4m3 {
  %y = blockscale.matmul %x, %w groups(%ends : tensor<5xi32>) schedule(#blockscale.schedule<cta_group = 1, cluster_m = 1, cluster_n = 1, tile_n = 64>) : !x8, !w8 -> tensor<?x352xbf16>
  %0 = blockscale.quantize %y groups(%ends : tensor<5xi32>) : tensor<?x352xbf16> to !e4m3
  return %0 : !e4m3
}
!e5m2 = !blockscale.tensor<?x352xf8E5M2, "e8m0_t32", layout = grouped_128x4>
func.func @e5m2_pair(%x: !x8, %w: !w8, %ends: tensor<5xi32>) -> !e5m2 {
  %y = blockscale.matmul %x, %w groups(%ends : tensor<5xi32>) schedule(#blockscale.schedule<cta_group = 2, cluster_m = 2, cluster_n = 1, tile_n = 128>) : !x8, !w8 -> tensor<?x352xf32>
  %0 = blockscale.quantize %y groups(%ends : tensor<5xi32>) rule(round_up) : tensor<?x352xf32> to !e5m2
  return %0 : !e5m2
}
// Numbers of elements count through the rows of all groups.
!e2m3 = !blockscale.tensor<?x352xf6E2M3FN, "e8m0_t32", layout = grouped_128x4>
func.func @e2m3_stochastic(%x: !x8, %w: !w8, %ends: tensor<5xi32>) -> !e2m3 {
  %y = blockscale.matmul %x, %w groups(%ends : tensor<5xi32>) : !x8, !w8 -> tensor<?x352xf32>
  %0 = blockscale.quantize %y groups(%ends : tensor<5xi32>) rule(ceil) rounding(stochastic, seed = 9) : tensor<?x352xf32> to !e2m3
  return %0 : !e2m3
}
!e3m2 = !blockscale.tensor<?x352xf6E3M2FN, "e8m0_t32", layout = grouped_128x4>
func.func @e3m2_cluster(%x: !x8, %w: !w8, %ends: tensor<5xi32>) -> !e3m2 {
  %y = blockscale.matmul %x, %w groups(%ends : tensor<5xi32>) activation(relu) schedule(#blockscale.schedule<cta_group = 1, cluster_m = 2, cluster_n = 2, tile_n = 64>) : !x8, !w8 -> tensor<?x352xbf16>
  %0 = blockscale.quantize %y groups(%ends : tensor<5xi32>) rounding(away) : tensor<?x352xbf16> to !e3m2
  return %0 : !e3m2
}
!e2m1 = !blockscale.tensor<?x352xf4E2M1FN, "e8m0_t32", layout = grouped_128x4>
func.func @e2m1_dynamic_scheduler(%x: !x8, %w: !w8, %ends: tensor<5xi32>) -> !e2m1 {
  %y = blockscale.matmul %x, %w groups(%ends : tensor<5xi32>) schedule(#blockscale.schedule<scheduler = dynamic, tile_n = 192>) : !x8, !w8 -> tensor<?x352xbf16>
  %0 = blockscale.quantize %y groups(%ends : tensor<5xi32>) rule(top_binade) : tensor<?x352xbf16> to !e2m1
  return %0 : !e2m1
}

// NVFP4: the factors of A and of each matrix of B, and that of the result. A word of
// scales has three of a row.
!xn = !blockscale.tensor<?x512xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = grouped_128x4>
!wn = !blockscale.tensor<4x304x512xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!nv = !blockscale.tensor<?x304xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = grouped_128x4>
func.func @nvfp4(%x: !xn, %w: !wn, %t: tensor<f32>, %ends: tensor<4xi32>) -> !nv {
  %y = blockscale.matmul %x, %w groups(%ends : tensor<4xi32>) : !xn, !wn -> tensor<?x304xf16>
  %0 = blockscale.quantize %y groups(%ends : tensor<4xi32>) tensor_scale(%t : tensor<f32>) : tensor<?x304xf16> to !nv
  return %0 : !nv
}
!n1 = !blockscale.tensor<?x304xf4E2M1FN, "e4m3fn_t16", layout = grouped_128x4>
func.func @min_error(%x: !xn, %w: !wn, %ends: tensor<4xi32>) -> !n1 {
  %y = blockscale.matmul %x, %w groups(%ends : tensor<4xi32>) schedule(#blockscale.schedule<cta_group = 2, cluster_m = 2, cluster_n = 1>) : !xn, !wn -> tensor<?x304xf32>
  %0 = blockscale.quantize %y groups(%ends : tensor<4xi32>) rule(min_error) : tensor<?x304xf32> to !n1
  return %0 : !n1
}

// Gate and up of gpt-oss's experts, a bias for each: weights in MXFP4, the result in
// MXFP8.
!w4 = !blockscale.tensor<5x320x512xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
!q8 = !blockscale.tensor<?x160xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
func.func @clamped(%x: !x8, %w: !w4, %v: tensor<5x320xbf16>, %ends: tensor<5xi32>) -> !q8 {
  %0 = blockscale.matmul %x, %w groups(%ends : tensor<5xi32>) bias(%v) pairs epilogue(%g, %up, %gb, %ub) {
    %one = arith.constant 1.0 : f32
    %high = arith.constant 7.0 : f32
    %low = arith.constant -7.0 : f32
    %alpha = arith.constant 1.702 : f32
    %1 = arith.addf %g, %gb : f32
    %gate = arith.minimumf %1, %high : f32
    %2 = arith.addf %up, %ub : f32
    %3 = arith.minimumf %2, %high : f32
    %4 = arith.maximumf %3, %low : f32
    %5 = arith.mulf %gate, %alpha : f32
    %6 = arith.negf %5 : f32
    %7 = math.exp %6 : f32
    %8 = arith.addf %7, %one : f32
    %9 = arith.divf %gate, %8 : f32
    %10 = arith.addf %4, %one : f32
    %11 = arith.mulf %10, %9 : f32
    blockscale.yield %11
  } : !x8, !w4, tensor<5x320xbf16> -> tensor<?x160xbf16>
  %1 = blockscale.quantize %0 groups(%ends : tensor<5xi32>) : tensor<?x160xbf16> to !q8
  return %1 : !q8
}

// SwiGLU.
func.func @gated(%x: !x8, %w: !w4, %ends: tensor<5xi32>) -> !q8 {
  %0 = blockscale.matmul %x, %w groups(%ends : tensor<5xi32>) pairs epilogue(%g, %up) {
    %one = arith.constant 1.0 : f32
    %1 = arith.negf %g : f32
    %2 = math.exp %1 : f32
    %3 = arith.addf %2, %one : f32
    %4 = arith.divf %g, %3 : f32
    %5 = arith.mulf %4, %up : f32
    blockscale.yield %5
  } schedule(#blockscale.schedule<cta_group = 2, cluster_m = 2, cluster_n = 1, tile_n = 256>) : !x8, !w4 -> tensor<?x160xf32>
  %1 = blockscale.quantize %0 groups(%ends : tensor<5xi32>) rule(round_up) : tensor<?x160xf32> to !q8
  return %1 : !q8
}

// Exact, so that codes and scales are compared to the bit.
func.func @difference(%x: !x8, %w: !w4, %v: tensor<5x320xf32>, %ends: tensor<5xi32>) -> !q8 {
  %0 = blockscale.matmul %x, %w groups(%ends : tensor<5xi32>) bias(%v) pairs epilogue(%g, %up, %gb, %ub) {
    %1 = arith.addf %g, %gb : f32
    %2 = arith.addf %up, %ub : f32
    %3 = arith.subf %2, %1 : f32
    blockscale.yield %3
  } : !x8, !w4, tensor<5x320xf32> -> tensor<?x160xf32>
  %1 = blockscale.quantize %0 groups(%ends : tensor<5xi32>) : tensor<?x160xf32> to !q8
  return %1 : !q8
}

// Rows gathered by number, of FP8 with a scale for each.
!xr = !blockscale.tensor<?x512xf8E4M3FN, "float32_t0">
!wr = !blockscale.tensor<5x352x512xf8E4M3FN, "float32_t0">
func.func @gathered(%x: !xr, %w: !wr, %ends: tensor<5xi32>, %ids: tensor<?xi32>) -> !e4m3 {
  %y = blockscale.matmul %x, %w groups(%ends : tensor<5xi32>) rows(%ids : tensor<?xi32>) : !xr, !wr -> tensor<?x352xbf16>
  %0 = blockscale.quantize %y groups(%ends : tensor<5xi32>) : tensor<?x352xbf16> to !e4m3
  return %0 : !e4m3
}
