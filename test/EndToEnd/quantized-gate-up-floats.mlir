// DeepSeek's gate and up: products under float scales of tiles along K, whose sums are
// promoted, and whose result is under a float for each row and 128 elements, as down reads
// it. A block of the result is made of 256 columns, of which four threads have 64 each.

// REQUIRES: mlir
// RUN: blockscale verify %s --num-sms=4 --m=133 | FileCheck %s
// RUN: blockscale verify %s --target=sm_103a --num-sms=4 --m=261 --seed=5 --conditions=harsh --completion=random | FileCheck %s --check-prefix=ONCE
// RUN: blockscale compile %s --emit=tensor | FileCheck %s --check-prefix=MARK
// RUN: blockscale compile %s --emit=kernel > %t.mlir
// RUN: FileCheck %s --check-prefix=KERNEL < %t.mlir
// RUN: blockscale-opt %t.mlir > /dev/null
// RUN: rm -rf %t && blockscale compile %s -o %t
// RUN: grep -c '"spill_store_bytes": 0,' %t/quantized-gate-up-floats.report.json | FileCheck %s --check-prefix=SPILLS
// sm_110a multiplies no two f32 at once: its sums are a register each.
// RUN: blockscale compile %s --target=sm_110a -o %t
// RUN: grep -c '"spill_store_bytes": 0,' %t/quantized-gate-up-floats.report.json | FileCheck %s --check-prefix=SPILLS
// SPILLS: {{^}}7{{$}}

// CHECK-NOT: FAIL
// CHECK-COUNT-24: pass
// CHECK-NOT: {{FAIL|pass}}

// ONCE-NOT: FAIL
// ONCE-COUNT-24: pass
// ONCE-NOT: {{FAIL|pass}}

// MARK-COUNT-7: {blockscale.quantized}
// MARK-NOT: blockscale.quantized

// KERNEL-NOT: blockscale.quantize{{ }}
// KERNEL-COUNT-7: gpu.func

!x = !blockscale.tensor<?x256xf8E4M3FN, "float32_t128">
!w = !blockscale.tensor<512x256xf8E4M3FN, "float32_t128_t128">
!q = !blockscale.tensor<?x256xf8E4M3FN, "float32_t128">
func.func @swiglu(%x: !x, %w: !w) -> !q {
  %y = blockscale.matmul %x, %w pairs epilogue(%g, %up) {
    %one = arith.constant 1.0 : f32
    %1 = arith.negf %g : f32
    %2 = math.exp %1 : f32
    %3 = arith.addf %2, %one : f32
    %4 = arith.divf %g, %3 : f32
    %5 = arith.mulf %4, %up : f32
    blockscale.yield %5
  } : !x, !w -> tensor<?x256xbf16>
  %0 = blockscale.quantize %y : tensor<?x256xbf16> to !q
  return %0 : !q
}
func.func @clamped(%x: !x, %w: !w) -> !q {
  %0 = blockscale.matmul %x, %w pairs epilogue(%g, %up) {
    %one = arith.constant 1.0 : f32
    %high = arith.constant 7.0 : f32
    %low = arith.constant -7.0 : f32
    %alpha = arith.constant 1.702 : f32
    %gate = arith.minimumf %g, %high : f32
    %3 = arith.minimumf %up, %high : f32
    %4 = arith.maximumf %3, %low : f32
    %5 = arith.mulf %gate, %alpha : f32
    %6 = arith.negf %5 : f32
    %7 = math.exp %6 : f32
    %8 = arith.addf %7, %one : f32
    %9 = arith.divf %gate, %8 : f32
    %10 = arith.addf %4, %one : f32
    %11 = arith.mulf %10, %9 : f32
    blockscale.yield %11
  } schedule(#blockscale.schedule<cta_group = 2>) : !x, !w -> tensor<?x256xbf16>
  %1 = blockscale.quantize %0 : tensor<?x256xbf16> to !q
  return %1 : !q
}
// Exact, so that codes and scales are compared to the bit.
func.func @single(%x: !x, %w: !w) -> !q {
  %y = blockscale.matmul %x, %w pairs epilogue(%g, %up) {
    %1 = arith.subf %g, %up : f32
    blockscale.yield %1
  } schedule(#blockscale.schedule<cta_group = 1, cluster_m = 1, cluster_n = 2, scheduler = dynamic>) : !x, !w -> tensor<?x256xf32>
  %0 = blockscale.quantize %y : tensor<?x256xf32> to !q
  return %0 : !q
}
// A block of 256 columns that are no pairs.
!q256 = !blockscale.tensor<?x512xf8E5M2, "float32_t256">
func.func @long(%x: !x, %w: !w) -> !q256 {
  %y = blockscale.matmul %x, %w : !x, !w -> tensor<?x512xf32>
  %0 = blockscale.quantize %y rounding(away) : tensor<?x512xf32> to !q256
  return %0 : !q256
}
// Beside scales of 1 there is room for one accumulator.
!w4 = !blockscale.tensor<512x256xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
func.func @mixed(%x: !x, %w: !w4) -> !q {
  %y = blockscale.matmul %x, %w pairs epilogue(%g, %up) {
    %1 = arith.subf %g, %up : f32
    blockscale.yield %1
  } : !x, !w4 -> tensor<?x256xf32>
  %0 = blockscale.quantize %y : tensor<?x256xf32> to !q
  return %0 : !q
}
!gw = !blockscale.tensor<3x512x256xf8E4M3FN, "float32_t128_t128">
func.func @groups(%x: !x, %w: !gw, %ends: tensor<3xi32>) -> !q {
  %y = blockscale.matmul %x, %w groups(%ends : tensor<3xi32>) pairs epilogue(%g, %up) {
    %zero = arith.constant 0.0 : f32
    %1 = arith.maximumf %g, %zero : f32
    %2 = arith.subf %up, %1 : f32
    blockscale.yield %2
  } : !x, !gw -> tensor<?x256xbf16>
  %0 = blockscale.quantize %y : tensor<?x256xbf16> to !q
  return %0 : !q
}
!mx = !blockscale.tensor<3x?x256xf8E4M3FN, "float32_t128">
func.func @masked(%x: !mx, %w: !gw, %counts: tensor<3xi32>) -> !mx {
  %y = blockscale.matmul %x, %w groups(%counts : tensor<3xi32>) pairs epilogue(%g, %up) {
    %zero = arith.constant 0.0 : f32
    %1 = arith.maximumf %g, %zero : f32
    %2 = arith.subf %up, %1 : f32
    blockscale.yield %2
  } : !mx, !gw -> tensor<3x?x256xbf16>
  %0 = blockscale.quantize %y : tensor<3x?x256xbf16> to !mx
  return %0 : !mx
}
