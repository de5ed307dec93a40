// Sizes that only the launch knows, in kernels that quantise.

// REQUIRES: mlir
// RUN: blockscale verify %s --m=1,129 --k=96,224 --batch=3 | FileCheck %s

// CHECK-NOT: FAIL
// CHECK-COUNT-12: pass
// CHECK-NOT: {{FAIL|pass}}

// RUN: not blockscale verify %s --m=1 --k=40 --batch=1 2>&1 | FileCheck %s --check-prefix=RAGGED
// RAGGED: kernel 'all' needs K % 32 == 0, but M is 1, K is 40, batch is 1

!rows = !blockscale.tensor<?x160xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @rows(%x: tensor<?x160xbf16>) -> !rows {
  %0 = blockscale.quantize %x rule(round_up) : tensor<?x160xbf16> to !rows
  return %0 : !rows
}

!all = !blockscale.tensor<?x?x?xf6E3M2FN, "e8m0_t32", layout = tiled_128x4>
func.func @all(%x: tensor<?x?x?xf32>) -> !all {
  %0 = blockscale.quantize %x : tensor<?x?x?xf32> to !all
  return %0 : !all
}
