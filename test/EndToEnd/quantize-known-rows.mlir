// Rows of a known length under one scale each, bit for bit: threads of a row that keep
// what they read, those of a warp and of several, with threads without a block; a row
// that is longer than they keep; several rows in a CTA, of which the last one has some
// behind the last row; a matrix and its transpose. A barrier that is left out is noticed.

// REQUIRES: mlir
// RUN: blockscale verify %s --m=1,37 | FileCheck %s
// RUN: blockscale verify %s --m=64 --target=sm_120a --data=random --seed=7 --conditions=harsh --tiles=2 | FileCheck %s --check-prefix=ONCE

// CHECK-NOT: FAIL
// CHECK-COUNT-20: pass
// CHECK-NOT: {{FAIL|pass}}

// ONCE-NOT: FAIL
// ONCE-COUNT-6: pass
// ONCE-NOT: {{FAIL|pass}}

// RUN: blockscale compile %s --no-cubin -o %t
// RUN: FileCheck %s --check-prefix=PLAN < %t/quantize-known-rows.plan.json
// PLAN: "name": "warp",
// PLAN: "ceildiv(M * 32, 128)"
// PLAN: "name": "warps",
// PLAN: "ceildiv(M * 64, 128)"
// PLAN: "name": "padded",
// PLAN: "grid": [
// PLAN-NEXT: "M",
// PLAN: "block": [
// PLAN-NEXT: 256,

// RUN: sed 's/bar.sync.*;//' %t/quantize-known-rows.ptx > %t/no-barrier.ptx
// RUN: not blockscale verify %s --m=37 --ptx=%t/no-barrier.ptx | FileCheck %s --check-prefix=RACE
// RACE: warp {{.*}} pass
// RACE: warps {{.*}} FAIL

!short = !blockscale.tensor<?x544xf8E4M3FN, "float32_t0">
func.func @warp(%x: tensor<?x544xbf16>) -> !short {
  %0 = blockscale.quantize %x : tensor<?x544xbf16> to !short
  return %0 : !short
}

!two = !blockscale.tensor<?x1056xi8, "float32_t0">
func.func @warps(%x: tensor<?x1056xf32>) -> !two {
  %0 = blockscale.quantize %x rounding(stochastic, seed = 5) : tensor<?x1056xf32> to !two
  return %0 : !two
}

!padded = !blockscale.tensor<?x4128xf8E5M2, "e8m0_t0">
func.func @padded(%x: tensor<?x4128xf16>) -> !padded {
  %0 = blockscale.quantize %x : tensor<?x4128xf16> to !padded
  return %0 : !padded
}

!long = !blockscale.tensor<?x8224xf8E4M3FN, "bfloat16_t0">
func.func @long(%x: tensor<?x8224xbf16>) -> !long {
  %0 = blockscale.quantize %x : tensor<?x8224xbf16> to !long
  return %0 : !long
}

!batch = !blockscale.tensor<3x5x2080xf6E2M3FN, "float32_t0">
func.func @batches(%x: tensor<3x5x2080xbf16>) -> !batch {
  %0 = blockscale.quantize %x rounding(away) : tensor<3x5x2080xbf16> to !batch
  return %0 : !batch
}

!rows = !blockscale.tensor<96x1056xf8E4M3FN, "float32_t0">
!columns = !blockscale.tensor<1056x96xf8E4M3FN, "float32_t0">
func.func @lines(%x: tensor<96x1056xbf16>) -> (!rows, !columns) {
  %e = tensor.empty() : tensor<1056x96xbf16>
  %t = linalg.transpose ins(%x : tensor<96x1056xbf16>) outs(%e : tensor<1056x96xbf16>) permutation = [1, 0]
  %0 = blockscale.quantize %x : tensor<96x1056xbf16> to !rows
  %1 = blockscale.quantize %t : tensor<1056x96xbf16> to !columns
  return %0, %1 : !rows, !columns
}
