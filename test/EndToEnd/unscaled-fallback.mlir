// Operands without scales whose zeros no instruction skips, multiplied densely
// when asked.

// REQUIRES: mlir
// RUN: not blockscale verify %s 2>&1 | FileCheck %s --check-prefix=REFUSED
// RUN: blockscale verify %s --dense-fallback --host-duties | FileCheck %s

// REFUSED: error: 'blockscale.matmul' op operand 'b' is sparse, and so is 'a', but an instruction skips what one of both prunes
// REFUSED-SAME: or multiply it densely with 'dense-fallback'

// CHECK-NOT: FAIL
// CHECK-COUNT-4: pass
// CHECK-NOT: {{FAIL|pass}}

!side_a = !blockscale.tensor<130x320xbf16>
!side_b = !blockscale.tensor<136x320xbf16, "n2m4", layout = tiled_128x4>
func.func @side(%a: !side_a, %b: !side_b) -> tensor<130x136xf32> {
  %0 = blockscale.matmul %a, %b : !side_a, !side_b -> tensor<130x136xf32>
  return %0 : tensor<130x136xf32>
}

!integers_a = !blockscale.tensor<130x320xi8, "n2m4", layout = tiled_128x4>
!integers_b = !blockscale.tensor<136x320xui8, "n2m4", layout = tiled_128x4>
func.func @integers(%a: !integers_a, %b: !integers_b) -> tensor<130x136xi32> {
  %0 = blockscale.matmul %a, %b : !integers_a, !integers_b -> tensor<130x136xi32>
  return %0 : tensor<130x136xi32>
}
