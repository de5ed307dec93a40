// Gate and up in one product whose result is quantised as the next product reads it:
// blocks lie along the N / 2 columns of the result, and each is made of twice as many
// sums. Ends of rows of scales lie inside of a word.

// REQUIRES: mlir
// RUN: blockscale verify %s --num-sms=3 --m=1,133 | FileCheck %s
// RUN: blockscale verify %s --target=sm_103a --num-sms=4 --m=129 --conditions=harsh | FileCheck %s --check-prefix=ONCE
// RUN: blockscale verify %s --target=sm_107a --num-sms=3 --m=261 --completion=random | FileCheck %s --check-prefix=ONCE
// RUN: blockscale compile %s --emit=tensor | FileCheck %s --check-prefix=MARK
// RUN: rm -rf %t && blockscale compile %s -o %t
// RUN: grep -c '"spill_store_bytes": 0,' %t/column-pairs-quantized.report.json | FileCheck %s --check-prefix=SPILLS
// SPILLS: {{^}}5{{$}}

// CHECK-NOT: FAIL
// CHECK-COUNT-28: pass
// CHECK-NOT: {{FAIL|pass}}

// ONCE-NOT: FAIL
// ONCE-COUNT-20: pass
// ONCE-NOT: {{FAIL|pass}}

// MARK-COUNT-5: {blockscale.quantized}
// MARK-NOT: blockscale.quantized

// gpt-oss's experts: weights in MXFP4, the result in MXFP8 for the down projection.
!x8 = !blockscale.tensor<?x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!w4 = !blockscale.tensor<320x512xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
!q8 = !blockscale.tensor<?x160xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @clamped(%x: !x8, %w: !w4, %v: tensor<320xbf16>) -> !q8 {
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
  } schedule(#blockscale.schedule<cta_group = 2, cluster_m = 2, cluster_n = 1, tile_n = 256>) : !x8, !w4, tensor<320xbf16> -> tensor<?x160xbf16>
  %1 = blockscale.quantize %0 : tensor<?x160xbf16> to !q8
  return %1 : !q8
}

// Exact, so that codes and scales are compared to the bit: one CTA.
func.func @difference(%x: !x8, %w: !w4, %v: tensor<320xf32>) -> !q8 {
  %0 = blockscale.matmul %x, %w bias(%v) pairs epilogue(%g, %up, %gb, %ub) {
    %1 = arith.addf %g, %gb : f32
    %2 = arith.addf %up, %ub : f32
    %3 = arith.subf %2, %1 : f32
    blockscale.yield %3
  } schedule(#blockscale.schedule<cta_group = 1, cluster_m = 1, cluster_n = 1, tile_n = 64>) : !x8, !w4, tensor<320xf32> -> tensor<?x160xf32>
  %1 = blockscale.quantize %0 rule(round_up) : tensor<?x160xf32> to !q8
  return %1 : !q8
}

!q4 = !blockscale.tensor<?x160xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
func.func @mxfp4(%x: !x8, %w: !w4) -> !q4 {
  %0 = blockscale.matmul %x, %w pairs epilogue(%g, %up) {
    %1 = arith.subf %up, %g : f32
    blockscale.yield %1
  } : !x8, !w4 -> tensor<?x160xbf16>
  %1 = blockscale.quantize %0 rounding(stochastic, seed = 11) : tensor<?x160xbf16> to !q4
  return %1 : !q4
}

// Scales of e4m3 under a tensor scale: blocks of 16, 32 sums.
!xn = !blockscale.tensor<?x512xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!wn = !blockscale.tensor<288x512xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!qn = !blockscale.tensor<?x144xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
func.func @nvfp4(%x: !xn, %w: !wn, %t: tensor<f32>) -> !qn {
  %0 = blockscale.matmul %x, %w pairs epilogue(%g, %up) {
    %one = arith.constant 1.0 : f32
    %1 = arith.negf %g : f32
    %2 = math.exp %1 : f32
    %3 = arith.addf %2, %one : f32
    %4 = arith.divf %g, %3 : f32
    %5 = arith.mulf %4, %up : f32
    blockscale.yield %5
  } : !xn, !wn -> tensor<?x144xf32>
  %1 = blockscale.quantize %0 tensor_scale(%t : tensor<f32>) : tensor<?x144xf32> to !qn
  return %1 : !qn
}

!xb = !blockscale.tensor<2x133x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!wb = !blockscale.tensor<2x192x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!qb = !blockscale.tensor<2x133x96xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
func.func @batch(%x: !xb, %w: !wb, %t: tensor<2xf32>) -> !qb {
  %0 = blockscale.matmul %x, %w pairs epilogue(%g, %up) {
    %1 = arith.subf %up, %g : f32
    blockscale.yield %1
  } : !xb, !wb -> tensor<2x133x96xbf16>
  %1 = blockscale.quantize %0 tensor_scale(%t : tensor<2xf32>) : tensor<2x133x96xbf16> to !qb
  return %1 : !qb
}
