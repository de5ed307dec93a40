// Sizes that only the launch knows, in kernels that dequantise.

// REQUIRES: mlir
// RUN: blockscale verify %s --m=1,129 --k=96,224 --batch=3 | FileCheck %s

// CHECK-NOT: FAIL
// CHECK-COUNT-12: pass
// CHECK-NOT: {{FAIL|pass}}

// RUN: not blockscale verify %s --m=1 --k=40 --batch=1 2>&1 | FileCheck %s --check-prefix=RAGGED
// RAGGED: kernel 'all' needs K % 32 == 0, but M is 1, K is 40, batch is 1

// RUN: not blockscale verify %s --m=2000000000 --k=96 --batch=64 2>&1 | FileCheck %s --check-prefix=MANY
// MANY: kernel 'rows' would need 40000000000 threads; at most {{[0-9]+}} are legal

!rows = !blockscale.tensor<?x160xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @rows(%a: !rows) -> tensor<?x160xbf16> {
  %0 = blockscale.dequantize %a : !rows to tensor<?x160xbf16>
  return %0 : tensor<?x160xbf16>
}

!all = !blockscale.tensor<?x?x?xf6E3M2FN, "e8m0_t32", layout = tiled_128x4>
func.func @all(%a: !all) -> tensor<?x?x?xf32> {
  %0 = blockscale.dequantize %a : !all to tensor<?x?x?xf32>
  return %0 : tensor<?x?x?xf32>
}
