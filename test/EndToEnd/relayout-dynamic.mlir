// Sizes that only the launch knows, in kernels that move scales.

// REQUIRES: mlir
// RUN: blockscale verify %s --m=1,129 --k=96,256 --batch=3 | FileCheck %s

// CHECK-NOT: FAIL
// CHECK-COUNT-16: pass
// CHECK-NOT: {{FAIL|pass}}

// RUN: not blockscale verify %s --m=1 --k=40 --batch=1 2>&1 | FileCheck %s --check-prefix=RAGGED
// RAGGED: needs K % 32 == 0, but M is 1, K is 40, batch is 1

!rows = !blockscale.tensor<?x?x?xf6E3M2FN, "e8m0_t32">
!tiles = !blockscale.tensor<?x?x?xf6E3M2FN, "e8m0_t32", layout = tiled_128x4>
func.func @tile(%a: !rows) -> !tiles {
  %0 = blockscale.relayout %a : !rows to !tiles
  return %0 : !tiles
}
func.func @flatten(%a: !tiles) -> !rows {
  %0 = blockscale.relayout %a : !tiles to !rows
  return %0 : !rows
}
