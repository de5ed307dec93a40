// Epilogues of which a thread has no registers for all columns at once, beside sums that
// are promoted or whole blocks of a result: those are finished a piece after the other,
// and nothing spills. Where a thread has half of a row of 256 columns the pieces are in a
// loop if functions are computed as polynomials.

// REQUIRES: mlir, ptxas
// RUN: blockscale verify %s --num-sms=4 --m=133 | FileCheck %s
// RUN: blockscale verify %s --target=sm_110a --num-sms=4 --m=261 --seed=3 --conditions=harsh --completion=latest | FileCheck %s
// RUN: rm -rf %t && blockscale compile %s -o %t/100a
// RUN: FileCheck %s --check-prefix=SPILLS --input-file=%t/100a/crowded-epilogues.report.txt --implicit-check-not=spills
// RUN: blockscale compile %s --target=sm_110a -o %t/110a
// RUN: FileCheck %s --check-prefix=SPILLS --input-file=%t/110a/crowded-epilogues.report.txt --implicit-check-not=spills
// SPILLS-COUNT-10: spills {{ *}}0 bytes stored, 0 bytes loaded

// CHECK-NOT: FAIL
// CHECK-COUNT-40: pass
// CHECK-NOT: {{FAIL|pass}}

!x = !blockscale.tensor<?x256xf8E4M3FN, "float32_t128">
!w = !blockscale.tensor<512x256xf8E4M3FN, "float32_t128_t128">
!mx = !blockscale.tensor<?x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!q256 = !blockscale.tensor<?x512xf8E4M3FN, "float32_t256">
!e256 = !blockscale.tensor<?x512xf8E4M3FN, "e8m0_t256", layout = tiled_128x4>

// Numbers of 16 bits are taken out of their words once more.
func.func @words(%x: !x, %w: !w) -> !e256 {
  %0 = blockscale.matmul %x, %w activation(gelu) schedule(#blockscale.schedule<cta_group = 1, swap_operands = false>) : !x, !w -> tensor<?x512xbf16>
  %1 = blockscale.quantize %0 rule(floor_plus_one) rounding(zero) : tensor<?x512xbf16> to !e256
  return %1 : !e256
}
// Numbers of 32 bits.
func.func @numbers(%x: !x, %w: !w, %v: tensor<512xbf16>) -> !q256 {
  %0 = blockscale.matmul %x, %w bias(%v) activation(gelu) schedule(#blockscale.schedule<cta_group = 2, swap_operands = false, accumulators = 1>) : !x, !w, tensor<512xbf16> -> tensor<?x512xf32>
  %1 = blockscale.quantize %0 : tensor<?x512xf32> to !q256
  return %1 : !q256
}
func.func @addends(%x: !x, %w: !w, %beta: f32, %c: tensor<?x512xf32>, %v: tensor<512xbf16>) -> !q256 {
  %0 = blockscale.matmul %x, %w beta(%beta) c(%c) bias(%v) schedule(#blockscale.schedule<cta_group = 1, swap_operands = false>) : !x, !w, tensor<?x512xf32>, tensor<512xbf16> -> tensor<?x512xf32>
  %1 = blockscale.quantize %0 rounding(stochastic, seed = 54) : tensor<?x512xf32> to !q256
  return %1 : !q256
}
!q128 = !blockscale.tensor<?x256xf8E4M3FN, "float32_t128">
func.func @pairs(%x: !x, %w: !w) -> !q128 {
  %0 = blockscale.matmul %x, %w pairs epilogue(%g, %up) {
    %half = arith.constant 0.5 : f32
    %one = arith.constant 1.0 : f32
    %root = arith.constant 0.70710678 : f32
    %1 = arith.mulf %g, %root : f32
    %2 = math.erf %1 : f32
    %3 = arith.addf %2, %one : f32
    %4 = arith.mulf %g, %half : f32
    %5 = arith.mulf %4, %3 : f32
    %6 = arith.mulf %5, %up : f32
    blockscale.yield %6
  } schedule(#blockscale.schedule<cta_group = 1, swap_operands = false, tile_n = 256>) : !x, !w -> tensor<?x256xbf16>
  %1 = blockscale.quantize %0 : tensor<?x256xbf16> to !q128
  return %1 : !q128
}
// Swapped operands: pieces of rows that are brought together.
!e32 = !blockscale.tensor<?x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @swapped(%x: !x, %w: !w, %alpha: f32, %c: tensor<?x256xf32>) -> !e32 {
  %0 = blockscale.matmul %x, %w alpha(%alpha) c(%c) pairs epilogue(%g, %up, %c1) {
    %half = arith.constant 0.5 : f32
    %one = arith.constant 1.0 : f32
    %root = arith.constant 0.70710678 : f32
    %1 = arith.mulf %g, %root : f32
    %2 = math.erf %1 : f32
    %3 = arith.addf %2, %one : f32
    %4 = arith.mulf %g, %half : f32
    %5 = arith.mulf %4, %3 : f32
    %6 = arith.mulf %5, %up : f32
    %7 = arith.addf %6, %c1 : f32
    blockscale.yield %7
  } schedule(#blockscale.schedule<cta_group = 1, swap_operands = true>) : !x, !w, tensor<?x256xf32> -> tensor<?x256xf32>
  %1 = blockscale.quantize %0 rule(ceil) : tensor<?x256xf32> to !e32
  return %1 : !e32
}
!s = !blockscale.tensor<512x256xf8E4M3FN, "n2m4", layout = tiled_128x4>
!e6 = !blockscale.tensor<?x256xf6E2M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @swapped_groups_of_warps(%x: !x, %w: !s) -> !e6 {
  %0 = blockscale.matmul %x, %w pairs epilogue(%g, %up) {
    %half = arith.constant 0.5 : f32
    %one = arith.constant 1.0 : f32
    %root = arith.constant 0.70710678 : f32
    %1 = arith.mulf %g, %root : f32
    %2 = math.erf %1 : f32
    %3 = arith.addf %2, %one : f32
    %4 = arith.mulf %g, %half : f32
    %5 = arith.mulf %4, %3 : f32
    %6 = arith.mulf %5, %up : f32
    blockscale.yield %6
  } : !x, !s -> tensor<?x256xf32>
  %1 = blockscale.quantize %0 rule(round_up) : tensor<?x256xf32> to !e6
  return %1 : !e6
}
// Real zero points: scales, terms and biases of each column.
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
  } schedule(#blockscale.schedule<swap_operands = true>) : !z, !u, tensor<512xf32> -> tensor<?x256xbf16>
  %1 = blockscale.quantize %0 {blockscale.for_sparse} : tensor<?x256xbf16> to !sparse
  return %1 : !sparse
}
func.func @zero_points_of_rows(%x: !z, %w: !u, %v: tensor<512xf32>) -> !sparse {
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
  } schedule(#blockscale.schedule<swap_operands = false>) : !z, !u, tensor<512xf32> -> tensor<?x256xbf16>
  %1 = blockscale.quantize %0 {blockscale.for_sparse} : tensor<?x256xbf16> to !sparse
  return %1 : !sparse
}

// Errors of rows of 256 columns are compared where operands are swapped.
!f4_256 = !blockscale.tensor<?x512xf4E2M1FN, "float32_t256">
func.func @errors(%x: !x, %w: !w) -> !f4_256 {
  %0 = blockscale.matmul %x, %w : !x, !w -> tensor<?x512xbf16>
  %1 = blockscale.quantize %0 rule(min_error) : tensor<?x512xbf16> to !f4_256
  return %1 : !f4_256
}

!f6_256 = !blockscale.tensor<?x512xf6E2M3FN, "e8m0_t4_t256", layout = tiled_128x4>
func.func @errors_of_rows(%x: !x, %w: !w) -> !f6_256 {
  %0 = blockscale.matmul %x, %w : !x, !w -> tensor<?x512xbf16>
  %1 = blockscale.quantize %0 rule(min_error) : tensor<?x512xbf16> to !f6_256
  return %1 : !f6_256
}
