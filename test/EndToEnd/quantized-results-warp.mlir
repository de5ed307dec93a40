// Products that quantise their result where warps multiply: the lanes of a quad, which
// have a block of a row together, exchange what they have of four rows, and each stores
// one. Every format, ends of rows of scales inside of a word, groups of rows, and pairs of
// columns, of which a warp has 16, or 32 where a block of the result has as many.

// REQUIRES: mlir
// RUN: blockscale verify %s --target=sm_120a --num-sms=3 --m=1,133,400 | FileCheck %s
// RUN: blockscale verify %s --target=sm_121a --num-sms=3 --m=261 --seed=5 --conditions=harsh --completion=latest | FileCheck %s --check-prefix=ONCE
// RUN: rm -rf %t && blockscale compile %s --target=sm_120a -o %t
// RUN: grep -c '"spill_store_bytes": 0,' %t/quantized-results-warp.report.json | FileCheck %s --check-prefix=SPILLS
// SPILLS: {{^}}14{{$}}

// CHECK-NOT: FAIL
// CHECK-COUNT-106: pass
// CHECK-NOT: {{FAIL|pass}}

// ONCE-NOT: FAIL
// ONCE-COUNT-50: pass
// ONCE-NOT: {{FAIL|pass}}

!x = !blockscale.tensor<?x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!w = !blockscale.tensor<352x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!e4m3 = !blockscale.tensor<?x352xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @e4m3(%x: !x, %w: !w, %v: tensor<352xf32>) -> !e4m3 {
  %y = blockscale.matmul %x, %w bias(%v) : !x, !w, tensor<352xf32> -> tensor<?x352xbf16>
  %0 = blockscale.quantize %y : tensor<?x352xbf16> to !e4m3
  return %0 : !e4m3
}
!e5m2 = !blockscale.tensor<?x352xf8E5M2, "e8m0_t32", layout = tiled_128x4>
func.func @e5m2_64(%x: !x, %w: !w) -> !e5m2 {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<tile_n = 64>) : !x, !w -> tensor<?x352xf32>
  %0 = blockscale.quantize %y rule(round_up) : tensor<?x352xf32> to !e5m2
  return %0 : !e5m2
}
!e2m3 = !blockscale.tensor<?x352xf6E2M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @e2m3_128(%x: !x, %w: !w) -> !e2m3 {
  %y = blockscale.matmul %x, %w activation(relu) schedule(#blockscale.schedule<tile_n = 128>) : !x, !w -> tensor<?x352xf16>
  %0 = blockscale.quantize %y rule(ceil) rounding(away) : tensor<?x352xf16> to !e2m3
  return %0 : !e2m3
}
!e3m2 = !blockscale.tensor<?x352xf6E3M2FN, "e8m0_t32", layout = tiled_128x4>
func.func @e3m2_stochastic(%x: !x, %w: !w) -> !e3m2 {
  %y = blockscale.matmul %x, %w : !x, !w -> tensor<?x352xbf16>
  %0 = blockscale.quantize %y rule(mid_max) rounding(stochastic, seed = 3) : tensor<?x352xbf16> to !e3m2
  return %0 : !e3m2
}
!e2m1 = !blockscale.tensor<?x352xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
func.func @e2m1_gelu(%x: !x, %w: !w) -> !e2m1 {
  %y = blockscale.matmul %x, %w activation(gelu) : !x, !w -> tensor<?x352xbf16>
  %0 = blockscale.quantize %y rule(top_binade) : tensor<?x352xbf16> to !e2m1
  return %0 : !e2m1
}

// Scales of e4m3, a tensor scale for each of two matrices, and factors of rows.
!xn = !blockscale.tensor<2x?x512xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!wn = !blockscale.tensor<2x304x512xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!nv = !blockscale.tensor<2x?x304xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
func.func @nvfp4(%x: !xn, %w: !wn, %t: tensor<2xf32>) -> !nv {
  %y = blockscale.matmul %x, %w : !xn, !wn -> tensor<2x?x304xf16>
  %0 = blockscale.quantize %y tensor_scale(%t : tensor<2xf32>) : tensor<2x?x304xf16> to !nv
  return %0 : !nv
}
!xr = !blockscale.tensor<?x512xf8E4M3FN, "float32_t0">
!wr = !blockscale.tensor<304x512xf8E4M3FN, "float32_t0">
!n1 = !blockscale.tensor<?x304xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @rows(%x: !xr, %w: !wr) -> !n1 {
  %y = blockscale.matmul %x, %w : !xr, !wr -> tensor<?x304xf32>
  %0 = blockscale.quantize %y rule(min_error) : tensor<?x304xf32> to !n1
  return %0 : !n1
}

// Groups of rows.
!xg = !blockscale.tensor<?x512xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
!wg = !blockscale.tensor<5x352x512xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
!g = !blockscale.tensor<?x352xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
func.func @groups(%x: !xg, %w: !wg, %v: tensor<5x352xf32>, %ends: tensor<5xi32>) -> !g {
  %y = blockscale.matmul %x, %w groups(%ends : tensor<5xi32>) bias(%v) : !xg, !wg, tensor<5x352xf32> -> tensor<?x352xbf16>
  %0 = blockscale.quantize %y groups(%ends : tensor<5xi32>) : tensor<?x352xbf16> to !g
  return %0 : !g
}

// Gate and up: blocks of 16, of 32 sums.
!wp = !blockscale.tensor<352x512xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
!p = !blockscale.tensor<?x176xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
func.func @gated(%x: !x, %w: !wp, %t: tensor<f32>) -> !p {
  %0 = blockscale.matmul %x, %w pairs epilogue(%g, %up) {
    %one = arith.constant 1.0 : f32
    %1 = arith.negf %g : f32
    %2 = math.exp %1 : f32
    %3 = arith.addf %2, %one : f32
    %4 = arith.divf %g, %3 : f32
    %5 = arith.mulf %4, %up : f32
    blockscale.yield %5
  } : !x, !wp -> tensor<?x176xbf16>
  %1 = blockscale.quantize %0 tensor_scale(%t : tensor<f32>) : tensor<?x176xbf16> to !p
  return %1 : !p
}
!pg = !blockscale.tensor<?x176xf4E2M1FN, "e4m3fn_t16", layout = grouped_128x4>
func.func @difference(%x: !xg, %w: !wg, %v: tensor<5x352xf32>, %ends: tensor<5xi32>) -> !pg {
  %0 = blockscale.matmul %x, %w groups(%ends : tensor<5xi32>) bias(%v) pairs epilogue(%g, %up, %gb, %ub) {
    %1 = arith.addf %g, %gb : f32
    %2 = arith.addf %up, %ub : f32
    %3 = arith.subf %2, %1 : f32
    blockscale.yield %3
  } : !xg, !wg, tensor<5x352xf32> -> tensor<?x176xf32>
  %1 = blockscale.quantize %0 groups(%ends : tensor<5xi32>) : tensor<?x176xf32> to !pg
  return %1 : !pg
}

// Integers, whose sums are exact.
!xi = !blockscale.tensor<?x512xi8, "float32_t0">
!wi = !blockscale.tensor<352x512xi8, "float32_t0">
func.func @int8(%x: !xi, %w: !wi) -> !e4m3 {
  %y = blockscale.matmul %x, %w : !xi, !wi -> tensor<?x352xf32>
  %0 = blockscale.quantize %y : tensor<?x352xf32> to !e4m3
  return %0 : !e4m3
}

// Blocks of 64 sums, of which a warp has the columns then: gate and up in blocks of 32,
// alone and in groups, and floats of 64 columns.
!wl = !blockscale.tensor<384x512xf8E5M2, "e8m0_t32", layout = tiled_128x4>
!pl = !blockscale.tensor<?x192xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @gated_32(%x: !x, %w: !wl) -> !pl {
  %0 = blockscale.matmul %x, %w pairs epilogue(%g, %up) {
    %1 = arith.subf %up, %g : f32
    blockscale.yield %1
  } : !x, !wl -> tensor<?x192xbf16>
  %1 = blockscale.quantize %0 : tensor<?x192xbf16> to !pl
  return %1 : !pl
}
!wlg = !blockscale.tensor<5x384x512xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
!plg = !blockscale.tensor<?x192xf4E2M1FN, "e8m0_t32", layout = grouped_128x4>
func.func @difference_32(%x: !xg, %w: !wlg, %v: tensor<5x384xf32>, %ends: tensor<5xi32>) -> !plg {
  %0 = blockscale.matmul %x, %w groups(%ends : tensor<5xi32>) bias(%v) pairs epilogue(%g, %up, %gb, %ub) {
    %1 = arith.addf %g, %gb : f32
    %2 = arith.addf %up, %ub : f32
    %3 = arith.subf %2, %1 : f32
    blockscale.yield %3
  } : !xg, !wlg, tensor<5x384xf32> -> tensor<?x192xf32>
  %1 = blockscale.quantize %0 groups(%ends : tensor<5xi32>) : tensor<?x192xf32> to !plg
  return %1 : !plg
}
!f64 = !blockscale.tensor<?x384xf8E4M3FN, "float32_t64">
func.func @floats_64(%x: !x, %w: !wl) -> !f64 {
  %y = blockscale.matmul %x, %w : !x, !wl -> tensor<?x384xbf16>
  %0 = blockscale.quantize %y : tensor<?x384xbf16> to !f64
  return %0 : !f64
}
