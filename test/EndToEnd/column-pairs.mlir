// Gate and up in one product: each two columns make one of the result, by SwiGLU and
// by gpt-oss's clamped form of it. Every row, column and block differs; N ends inside
// of a tile.

// REQUIRES: mlir
// RUN: blockscale verify %s --num-sms=9 --m=1,133 | FileCheck %s
// RUN: blockscale verify %s --target=sm_103a --num-sms=8 --m=129 --conditions=harsh | FileCheck %s --check-prefix=ONCE
// RUN: blockscale verify %s --target=sm_107a --num-sms=8 --m=261 --completion=random | FileCheck %s --check-prefix=ONCE
// RUN: blockscale verify %s --target=sm_110a --num-sms=8 --m=65 --completion=latest | FileCheck %s --check-prefix=ONCE

// CHECK-NOT: FAIL
// CHECK-COUNT-26: pass
// CHECK-NOT: {{FAIL|pass}}

// ONCE-NOT: FAIL
// ONCE-COUNT-20: pass
// ONCE-NOT: {{FAIL|pass}}

!mx8 = !blockscale.tensor<?x800xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!w8 = !blockscale.tensor<328x800xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>

// silu(x + bias) * (up + up_bias).
func.func @swiglu(%x: !mx8, %w: !w8, %v: tensor<328xbf16>) -> tensor<?x164xbf16> {
  %0 = blockscale.matmul %x, %w bias(%v) pairs epilogue(%g, %up, %gb, %ub) {
    %one = arith.constant 1.0 : f32
    %1 = arith.addf %g, %gb : f32
    %2 = arith.addf %up, %ub : f32
    %3 = arith.negf %1 : f32
    %4 = math.exp %3 : f32
    %5 = arith.addf %4, %one : f32
    %6 = arith.divf %1, %5 : f32
    %7 = arith.mulf %6, %2 : f32
    blockscale.yield %7
  } schedule(#blockscale.schedule<cta_group = 1, cluster_m = 1, cluster_n = 1, tile_n = 64>) : !mx8, !w8, tensor<328xbf16> -> tensor<?x164xbf16>
  return %0 : tensor<?x164xbf16>
}

// gpt-oss: the gate at most 7, up from -7 to 7, (up + 1) * gate * sigmoid(1.702 * gate),
// with weights in MXFP4.
!w4 = !blockscale.tensor<328x800xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
func.func @clamped(%x: !mx8, %w: !w4, %v: tensor<328xbf16>) -> tensor<?x164xbf16> {
  %0 = blockscale.matmul %x, %w bias(%v) pairs epilogue(%g, %up, %gb, %ub) {
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
  } schedule(#blockscale.schedule<cta_group = 2, cluster_m = 2, cluster_n = 1, tile_n = 256>) : !mx8, !w4, tensor<328xbf16> -> tensor<?x164xbf16>
  return %0 : tensor<?x164xbf16>
}

// The rest is exact, so that a column in another's place shows to the bit: tensor
// scales, alpha and C beside a bias.
!nv = !blockscale.tensor<?x512xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!wn = !blockscale.tensor<328x512xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
func.func @nvfp4(%x: !nv, %w: !wn, %alpha: f32, %beta: f32, %c: tensor<?x164xf32>, %v: tensor<328xf32>) -> tensor<?x164xf32> {
  %0 = blockscale.matmul %x, %w alpha(%alpha) beta(%beta) c(%c) bias(%v) pairs epilogue(%g, %up, %add, %gb, %ub) {
    %zero = arith.constant 0.0 : f32
    %half = arith.constant 0.5 : f32
    %1 = arith.addf %g, %gb : f32
    %2 = arith.maximumf %1, %zero : f32
    %3 = arith.addf %up, %ub : f32
    %4 = arith.mulf %3, %half : f32
    %5 = arith.subf %4, %2 : f32
    %6 = arith.addf %5, %add : f32
    blockscale.yield %6
  } : !nv, !wn, tensor<?x164xf32>, tensor<328xf32> -> tensor<?x164xf32>
  return %0 : tensor<?x164xf32>
}

// A product of a batch, with C of bf16.
!ab = !blockscale.tensor<2x133x512xf8E5M2, "e8m0_t32", layout = tiled_128x4>
!bb = !blockscale.tensor<2x72x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @batch(%x: !ab, %w: !bb, %c: tensor<2x133x36xbf16>) -> tensor<2x133x36xf16> {
  %0 = blockscale.matmul %x, %w c(%c) pairs epilogue(%g, %up, %add) {
    %1 = arith.subf %up, %g : f32
    %2 = arith.addf %1, %add : f32
    blockscale.yield %2
  } : !ab, !bb, tensor<2x133x36xbf16> -> tensor<2x133x36xf16>
  return %0 : tensor<2x133x36xf16>
}

// Scales of rows and of columns, which are factors of each sum.
!i8 = !blockscale.tensor<133x512xf8E4M3FN, "float32_t0">
!wi8 = !blockscale.tensor<72x512xf8E4M3FN, "float32_t0">
func.func @factors(%x: !i8, %w: !wi8) -> tensor<133x36xf32> {
  %0 = blockscale.matmul %x, %w pairs epilogue(%g, %up) {
    %1 = arith.subf %up, %g : f32
    blockscale.yield %1
  } : !i8, !wi8 -> tensor<133x36xf32>
  return %0 : tensor<133x36xf32>
}

// The last CTA of several adds up the parts of K.
!as = !blockscale.tensor<133x1024xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!bs = !blockscale.tensor<72x1024xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @split(%x: !as, %w: !bs, %v: tensor<72xf32>) -> tensor<133x36xf32> {
  %0 = blockscale.matmul %x, %w bias(%v) pairs epilogue(%g, %up, %gb, %ub) {
    %1 = arith.addf %g, %gb : f32
    %2 = arith.addf %up, %ub : f32
    %3 = arith.subf %2, %1 : f32
    blockscale.yield %3
  } schedule(#blockscale.schedule<split_k = 3>) : !as, !bs, tensor<72xf32> -> tensor<133x36xf32>
  return %0 : tensor<133x36xf32>
}

// Sums of blocks of K under float scales of tiles, which registers add up.
!ap = !blockscale.tensor<133x512xf8E4M3FN, "float32_t128">
!bp = !blockscale.tensor<256x512xf8E4M3FN, "float32_t128_t128">
func.func @promoted(%x: !ap, %w: !bp) -> tensor<133x128xf32> {
  %0 = blockscale.matmul %x, %w pairs epilogue(%g, %up) {
    %1 = arith.subf %up, %g : f32
    blockscale.yield %1
  } : !ap, !bp -> tensor<133x128xf32>
  return %0 : tensor<133x128xf32>
}

// A structured-sparse A.
!asp = !blockscale.tensor<133x512xf8E4M3FN, "e8m0_t32n2m4", layout = tiled_128x4>
!bsp = !blockscale.tensor<72x512xf8E4M3FN, "e8m0_t64", layout = tiled_128x4>
func.func @sparse(%x: !asp, %w: !bsp) -> tensor<133x36xf32> {
  %0 = blockscale.matmul %x, %w pairs epilogue(%g, %up) {
    %1 = arith.subf %up, %g : f32
    blockscale.yield %1
  } : !asp, !bsp -> tensor<133x36xf32>
  return %0 : tensor<133x36xf32>
}

// Clusters that share loads, tiles that a scheduler hands out.
func.func @cluster(%x: !as, %w: !bs) -> tensor<133x36xbf16> {
  %0 = blockscale.matmul %x, %w pairs epilogue(%g, %up) {
    %1 = arith.subf %up, %g : f32
    blockscale.yield %1
  } schedule(#blockscale.schedule<cta_group = 2, cluster_m = 4, cluster_n = 2, tile_n = 64, scheduler = dynamic>) : !as, !bs -> tensor<133x36xbf16>
  return %0 : tensor<133x36xbf16>
}

// Tiles of 8 columns, of which a thread makes 4.
!bn = !blockscale.tensor<8x1024xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @narrow(%x: !as, %w: !bn) -> tensor<133x4xbf16> {
  %0 = blockscale.matmul %x, %w pairs epilogue(%g, %up) {
    %1 = arith.subf %up, %g : f32
    blockscale.yield %1
  } schedule(#blockscale.schedule<tile_n = 8>) : !as, !bn -> tensor<133x4xbf16>
  return %0 : tensor<133x4xbf16>
}
