// Long epilogues on chips without tensor memory: sums that are promoted, biases, C,
// groups, gate and up, quantised results. The warps that multiply take registers of the
// others', so that nothing spills.

// REQUIRES: mlir
// RUN: blockscale verify %s --target=sm_120a --num-sms=3 --m=133 | FileCheck %s
// RUN: blockscale verify %s --target=sm_121a --num-sms=3 --m=70 --seed=3 --conditions=harsh --completion=latest | FileCheck %s
// RUN: blockscale compile %s --target=sm_120a --emit=kernel | FileCheck %s --check-prefix=KERNEL
// RUN: blockscale compile %s --target=sm_120a --emit=ptx | FileCheck %s --check-prefix=PTX
// RUN: rm -rf %t && blockscale compile %s --target=sm_120a -o %t
// RUN: grep -c '"spill_store_bytes": 0,' %t/long-epilogues-warp.report.json | FileCheck %s --check-prefix=SPILLS
// RUN: grep -c '"stack_bytes": 0,' %t/long-epilogues-warp.report.json | FileCheck %s --check-prefix=SPILLS
// SPILLS: {{^}}6{{$}}

// CHECK-NOT: FAIL
// CHECK-COUNT-18: pass
// CHECK-NOT: {{FAIL|pass}}

// Whole warpgroups, of which the last one needs few registers.
// KERNEL-COUNT-6: block = 384
// KERNEL-NOT: block = 288

// PTX-LABEL: .entry gelu(
// PTX: .reqntid 384
// PTX: setmaxnreg.dec.sync.aligned.u32 40;
// PTX: setmaxnreg.inc.sync.aligned.u32 232;

!x = !blockscale.tensor<?x256xf8E4M3FN, "float32_t128">
!w = !blockscale.tensor<256x256xf8E4M3FN, "float32_t128_t128">
func.func @gelu(%x: !x, %w: !w, %v: tensor<256xbf16>) -> tensor<?x256xbf16> {
  %0 = blockscale.matmul %x, %w bias(%v) activation(gelu) schedule(#blockscale.schedule<tile_n = 128>) : !x, !w, tensor<256xbf16> -> tensor<?x256xbf16>
  return %0 : tensor<?x256xbf16>
}
// Exact.
!q32 = !blockscale.tensor<?x256xf8E5M2, "float32_t32">
func.func @difference(%x: !x, %w: !w, %beta: f32, %c: tensor<?x256xf32>, %v: tensor<256xf32>) -> !q32 {
  %0 = blockscale.matmul %x, %w beta(%beta) c(%c) bias(%v) schedule(#blockscale.schedule<tile_n = 128, scheduler = dynamic>) : !x, !w, tensor<?x256xf32>, tensor<256xf32> -> tensor<?x256xf32>
  %1 = blockscale.quantize %0 rounding(away) : tensor<?x256xf32> to !q32
  return %1 : !q32
}
// Gate and up.
!gw = !blockscale.tensor<3x256x256xf8E4M3FN, "float32_t128_t128">
func.func @clamped(%x: !x, %w: !gw, %ends: tensor<3xi32>, %v: tensor<3x256xf32>) -> tensor<?x128xbf16> {
  %0 = blockscale.matmul %x, %w groups(%ends : tensor<3xi32>) bias(%v) pairs epilogue(%g, %up, %gb, %ub) {
    %one = arith.constant 1.0 : f32
    %high = arith.constant 7.0 : f32
    %low = arith.constant -7.0 : f32
    %alpha = arith.constant 1.702 : f32
    %1 = arith.addf %g, %gb : f32
    %2 = arith.addf %up, %ub : f32
    %gate = arith.minimumf %1, %high : f32
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
  } schedule(#blockscale.schedule<tile_n = 128>) : !x, !gw, tensor<3x256xf32> -> tensor<?x128xbf16>
  return %0 : tensor<?x128xbf16>
}
!mx = !blockscale.tensor<3x?x256xf8E4M3FN, "float32_t128">
!q6 = !blockscale.tensor<3x?x256xf6E2M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @batches(%x: !mx, %w: !gw, %v: tensor<256xf32>) -> !q6 {
  %0 = blockscale.matmul %x, %w bias(%v) schedule(#blockscale.schedule<tile_n = 128>) : !mx, !gw, tensor<256xf32> -> tensor<3x?x256xbf16>
  %1 = blockscale.quantize %0 rounding(zero) : tensor<3x?x256xbf16> to !q6
  return %1 : !q6
}
// Zero points of short tiles, and rows of D along columns.
!xb = !blockscale.tensor<?x256xbf16>
!wz = !blockscale.tensor<256x256xui8, "float32_int16_t64">
func.func @zeros(%x: !xb, %w: !wz, %v: tensor<256xbf16>) -> tensor<?x256xbf16> {
  %0 = blockscale.matmul %x, %w bias(%v) activation(silu) schedule(#blockscale.schedule<tile_n = 128, swap_operands = true>) : !xb, !wz, tensor<256xbf16> -> tensor<?x256xbf16>
  return %0 : tensor<?x256xbf16>
}
// No sums are promoted.
!xi = !blockscale.tensor<?x256xi8, "float32_t0">
!wi = !blockscale.tensor<256x256xi8, "float32_t0">
!qi = !blockscale.tensor<?x128xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
func.func @integers(%x: !xi, %w: !wi, %v: tensor<256xbf16>) -> !qi {
  %0 = blockscale.matmul %x, %w bias(%v) pairs epilogue(%g, %up, %gb, %ub) {
    %1 = arith.addf %g, %gb : f32
    %2 = arith.addf %up, %ub : f32
    %3 = arith.subf %2, %1 : f32
    blockscale.yield %3
  } schedule(#blockscale.schedule<tile_n = 128>) : !xi, !wi, tensor<256xbf16> -> tensor<?x128xf16>
  %1 = blockscale.quantize %0 rounding(stochastic_rs, seed = -1) : tensor<?x128xf16> to !qi
  return %1 : !qi
}
