// Epilogues of warps that multiply, of which a lane has no registers for all pairs of
// columns at once: scales, terms of real zero points and biases of each column, and
// functions. They are finished in a loop, one pair after the other, and nothing spills.

// REQUIRES: mlir, ptxas
// RUN: blockscale verify %s --target=sm_120a --num-sms=3 --m=133 | FileCheck %s
// RUN: blockscale verify %s --target=sm_121a --num-sms=3 --m=70 --seed=3 --conditions=harsh --completion=latest | FileCheck %s
// RUN: rm -rf %t && blockscale compile %s --target=sm_120a -o %t
// RUN: FileCheck %s --check-prefix=SPILLS --input-file=%t/crowded-epilogues-warp.report.txt --implicit-check-not=spills
// SPILLS-COUNT-2: spills {{ *}}0 bytes stored, 0 bytes loaded

// CHECK-NOT: FAIL
// CHECK-COUNT-8: pass
// CHECK-NOT: {{FAIL|pass}}

!z = !blockscale.tensor<?x256xf8E4M3FN, "float32_t0", layout = plain>
!u = !blockscale.tensor<512x256xui4, "float32_float16_t0", layout = plain>
!sparse = !blockscale.tensor<?x256xf4E2M1FN, "e4m3fn_t32", layout = tiled_128x4>
func.func @zero_points(%x: !z, %w: !u, %v: tensor<512xf32>) -> !sparse {
  %0 = blockscale.matmul %x, %w bias(%v) pairs epilogue(%g, %up, %gb, %ub) {
    %1 = arith.addf %g, %gb : f32
    %2 = arith.addf %up, %ub : f32
    %one = arith.constant 1.0 : f32
    %3 = arith.negf %1 : f32
    %4 = math.exp %3 : f32
    %5 = arith.addf %4, %one : f32
    %6 = arith.divf %1, %5 : f32
    %7 = arith.mulf %6, %2 : f32
    blockscale.yield %7
  } : !z, !u, tensor<512xf32> -> tensor<?x256xbf16>
  %1 = blockscale.quantize %0 {blockscale.for_sparse} : tensor<?x256xbf16> to !sparse
  return %1 : !sparse
}
!q = !blockscale.tensor<?x512xf8E4M3FN, "e8m0_t64", layout = tiled_128x4>
func.func @gelu(%x: !z, %w: !u, %alpha: f32) -> !q {
  %0 = blockscale.matmul %x, %w alpha(%alpha) activation(gelu) : !z, !u -> tensor<?x512xf16>
  %1 = blockscale.quantize %0 : tensor<?x512xf16> to !q
  return %1 : !q
}
