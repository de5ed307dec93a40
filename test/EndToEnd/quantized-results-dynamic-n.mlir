// Products that quantise a result whose N only the launch knows, in whole blocks: of one
// kernel N ends inside of a tile or with it, and the last group of scales is full or not.

// REQUIRES: mlir
// RUN: blockscale verify %s --m=1,150 --n=64,288,352 --batch=2 | FileCheck %s
// RUN: blockscale verify %s --target=sm_120a --m=150 --n=192 --batch=2 --conditions=harsh --data=exact | FileCheck %s --check-prefix=ONE
// RUN: blockscale verify %s --target=sm_103a --m=130 --n=96 --batch=1 --conditions=harsh --data=exact | FileCheck %s --check-prefix=ONE

// CHECK-NOT: FAIL
// CHECK-COUNT-48: pass
// CHECK-NOT: FAIL
// ONE-NOT: FAIL
// ONE-COUNT-4: pass
// ONE-NOT: FAIL

// RUN: not blockscale verify %s --m=1 --n=48 --batch=1 2>&1 | FileCheck %s --check-prefix=RAGGED
// RAGGED: kernel 'mx' needs N % 32 == 0, but M is 1, N is 48

// RUN: blockscale compile %s --no-cubin -o %t
// RUN: FileCheck %s --check-prefix=PLAN < %t/quantized-results-dynamic-n.plan.json
// PLAN: "N % 32 == 0"
// PLAN: "operand": "d",
// PLAN: "elements": "N",

!a = !blockscale.tensor<?x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!b = !blockscale.tensor<?x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!mx = !blockscale.tensor<?x?xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @mx(%x: !a, %w: !b, %bias: tensor<?xf32>) -> !mx {
  %y = blockscale.matmul %x, %w bias(%bias) activation(silu) : !a, !b, tensor<?xf32> -> tensor<?x?xbf16>
  %0 = blockscale.quantize %y rounding(stochastic, seed = 3) : tensor<?x?xbf16> to !mx
  return %0 : !mx
}

!six = !blockscale.tensor<?x?xf6E2M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @six(%x: !a, %w: !b) -> !six {
  %y = blockscale.matmul %x, %w : !a, !b -> tensor<?x?xf32>
  %0 = blockscale.quantize %y rule(round_up) : tensor<?x?xf32> to !six
  return %0 : !six
}

!a4 = !blockscale.tensor<?x?x256xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!nv = !blockscale.tensor<?x?x?xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
func.func @nv(%x: !a4, %w: !a4, %t: tensor<?xf32>) -> !nv {
  %y = blockscale.matmul %x, %w : !a4, !a4 -> tensor<?x?x?xbf16>
  %0 = blockscale.quantize %y tensor_scale(%t : tensor<?xf32>) : tensor<?x?x?xbf16> to !nv
  return %0 : !nv
}

// Of pairs of columns rows have half as many elements.
!one_level = !blockscale.tensor<?x?xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @pairs(%x: !a, %w: !b) -> !one_level {
  %y = blockscale.matmul %x, %w pairs epilogue(%gate, %up) {
    %0 = arith.mulf %gate, %up : f32
    blockscale.yield %0
  } : !a, !b -> tensor<?x?xbf16>
  %0 = blockscale.quantize %y : tensor<?x?xbf16> to !one_level
  return %0 : !one_level
}
