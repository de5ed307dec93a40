// Long epilogues beside sums that are promoted, and beside whole blocks of a result under
// floats: biases, C, groups, matrices, gate and up. Warps that store have registers of
// the others', and finish few columns at once, so that nothing spills.

// REQUIRES: mlir
// RUN: blockscale verify %s --num-sms=4 --m=133 | FileCheck %s
// RUN: blockscale verify %s --target=sm_110a --num-sms=4 --m=261 --seed=3 --conditions=harsh --completion=latest | FileCheck %s
// RUN: blockscale compile %s --emit=kernel | FileCheck %s --check-prefix=KERNEL
// RUN: blockscale compile %s --emit=ptx | FileCheck %s --check-prefix=PTX
// RUN: rm -rf %t && blockscale compile %s -o %t
// RUN: grep -c '"spill_store_bytes": 0,' %t/long-epilogues.report.json | FileCheck %s --check-prefix=SPILLS
// RUN: grep -c '"stack_bytes": 0,' %t/long-epilogues.report.json | FileCheck %s --check-prefix=SPILLS
// RUN: blockscale compile %s --target=sm_110a -o %t
// RUN: grep -c '"spill_store_bytes": 0,' %t/long-epilogues.report.json | FileCheck %s --check-prefix=SPILLS
// RUN: grep -c '"stack_bytes": 0,' %t/long-epilogues.report.json | FileCheck %s --check-prefix=SPILLS
// SPILLS: {{^}}10{{$}}

// CHECK-NOT: FAIL
// CHECK-COUNT-32: pass
// CHECK-NOT: {{FAIL|pass}}

// Whole warpgroups, of which the last one needs few registers, and two that store where
// blocks have 256 columns; an equal share is enough where nothing is loaded beside promoted
// sums.
// KERNEL-COUNT-2: block = 640
// KERNEL-COUNT-3: block = 384
// KERNEL-COUNT-2: block = 640
// KERNEL: block = 608
// KERNEL-COUNT-2: block = 384

// PTX-LABEL: .entry bias(
// PTX: .reqntid 640
// PTX: setmaxnreg.dec.sync.aligned.u32 64;
// PTX: setmaxnreg.inc.sync.aligned.u32 104;
// PTX-LABEL: .entry instructions_scale(
// PTX: .reqntid 384
// PTX: setmaxnreg.dec.sync.aligned.u32 40;
// PTX: setmaxnreg.inc.sync.aligned.u32 232;

!x = !blockscale.tensor<?x256xf8E4M3FN, "float32_t128">
!w = !blockscale.tensor<512x256xf8E4M3FN, "float32_t128_t128">
!q = !blockscale.tensor<?x256xf8E4M3FN, "float32_t128">
func.func @bias(%x: !x, %w: !w, %v: tensor<512xf32>) -> tensor<?x512xbf16> {
  %0 = blockscale.matmul %x, %w bias(%v) schedule(#blockscale.schedule<tile_n = 128>) : !x, !w, tensor<512xf32> -> tensor<?x512xbf16>
  return %0 : tensor<?x512xbf16>
}
!q512 = !blockscale.tensor<?x512xf8E4M3FN, "float32_t128">
func.func @gelu(%x: !x, %w: !w, %v: tensor<512xf32>) -> !q512 {
  %0 = blockscale.matmul %x, %w bias(%v) activation(gelu) schedule(#blockscale.schedule<cta_group = 1>) : !x, !w, tensor<512xf32> -> tensor<?x512xbf16>
  %1 = blockscale.quantize %0 : tensor<?x512xbf16> to !q512
  return %1 : !q512
}
func.func @clamped(%x: !x, %w: !w, %v: tensor<512xbf16>) -> !q {
  %0 = blockscale.matmul %x, %w bias(%v) pairs epilogue(%g, %up, %gb, %ub) {
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
  } schedule(#blockscale.schedule<cta_group = 2, scheduler = dynamic>) : !x, !w, tensor<512xbf16> -> tensor<?x256xbf16>
  %1 = blockscale.quantize %0 : tensor<?x256xbf16> to !q
  return %1 : !q
}
!gw = !blockscale.tensor<3x512x256xf8E4M3FN, "float32_t128_t128">
!mx = !blockscale.tensor<3x?x256xf8E4M3FN, "float32_t128">
func.func @clamped_batches(%x: !mx, %w: !gw, %v: tensor<512xf32>) -> !mx {
  %0 = blockscale.matmul %x, %w bias(%v) pairs epilogue(%g, %up, %gb, %ub) {
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
  } : !mx, !gw, tensor<512xf32> -> tensor<3x?x256xbf16>
  %1 = blockscale.quantize %0 rounding(zero) : tensor<3x?x256xbf16> to !mx
  return %1 : !mx
}
func.func @clamped_groups(%x: !x, %w: !gw, %ends: tensor<3xi32>, %v: tensor<3x512xbf16>) -> !q {
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
  } schedule(#blockscale.schedule<cta_group = 1, scheduler = dynamic>) : !x, !gw, tensor<3x512xbf16> -> tensor<?x256xbf16>
  %1 = blockscale.quantize %0 rounding(stochastic, seed = 5) : tensor<?x256xbf16> to !q
  return %1 : !q
}
!q8 = !blockscale.tensor<?x512xf6E2M3FN, "e8m0_t32", layout = grouped_128x4>
func.func @blocks(%x: !x, %w: !gw, %ends: tensor<3xi32>, %rows: tensor<?xi32>, %v: tensor<3x512xf32>) -> !q8 {
  %0 = blockscale.matmul %x, %w groups(%ends : tensor<3xi32>) rows(%rows : tensor<?xi32>) bias(%v) activation(silu) schedule(#blockscale.schedule<tile_n = 128>) : !x, !gw, tensor<3x512xf32> -> tensor<?x512xbf16>
  %1 = blockscale.quantize %0 groups(%ends : tensor<3xi32>) : tensor<?x512xbf16> to !q8
  return %1 : !q8
}
// Exact, so that codes and scales are compared to the bit.
!q16 = !blockscale.tensor<?x512xf8E5M2, "float32_t128">
func.func @addend(%x: !x, %w: !w, %beta: f32, %c: tensor<?x512xbf16>, %v: tensor<512xf32>) -> !q16 {
  %0 = blockscale.matmul %x, %w beta(%beta) c(%c) bias(%v) schedule(#blockscale.schedule<tile_n = 128>) : !x, !w, tensor<?x512xbf16>, tensor<512xf32> -> tensor<?x512xf32>
  %1 = blockscale.quantize %0 rounding(away) : tensor<?x512xf32> to !q16
  return %1 : !q16
}
// Nothing but its function is long.
func.func @counted(%x: !mx, %w: !gw, %counts: tensor<3xi32>) -> tensor<3x?x512xbf16> {
  %0 = blockscale.matmul %x, %w groups(%counts : tensor<3xi32>) activation(gelu) schedule(#blockscale.schedule<tile_n = 128>) : !mx, !gw -> tensor<3x?x512xbf16>
  return %0 : tensor<3x?x512xbf16>
}
// Eight warps store.
!a = !blockscale.tensor<?x256xf8E5M2, "e8m0_t32", layout = tiled_128x4>
!b = !blockscale.tensor<512x256xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
func.func @instructions_scale(%a: !a, %b: !b, %beta: f32, %c: tensor<?x512xf32>, %v: tensor<512xf32>) -> !q512 {
  %0 = blockscale.matmul %a, %b beta(%beta) c(%c) bias(%v) schedule(#blockscale.schedule<cta_group = 2, tile_n = 256, epilogue_warps = 8>) : !a, !b, tensor<?x512xf32>, tensor<512xf32> -> tensor<?x512xbf16>
  %1 = blockscale.quantize %0 : tensor<?x512xbf16> to !q512
  return %1 : !q512
}
func.func @instructions_scale_gelu(%a: !a, %b: !b) -> !q512 {
  %0 = blockscale.matmul %a, %b activation(gelu) schedule(#blockscale.schedule<cta_group = 2, tile_n = 256, epilogue_warps = 8>) : !a, !b -> tensor<?x512xbf16>
  %1 = blockscale.quantize %0 : tensor<?x512xbf16> to !q512
  return %1 : !q512
}
