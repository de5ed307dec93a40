// Zero points and sparse operands in whole functions: what is quantised to a sparse
// operand on the host is packed less its zero points by the runtime, which makes the terms
// of those in real units from what a sparse operand keeps. The results are those that
// linalg gives.

// REQUIRES: mlir
// RUN: blockscale verify %s | FileCheck %s

// CHECK-NOT: FAIL
// CHECK: function
// CHECK-COUNT-4: pass
// CHECK-NOT: {{FAIL|pass}}

!a = !blockscale.tensor<70x256xui8, "float32_int16_t64n2m4", layout = tiled_128x4>
!b = !blockscale.tensor<72x256xf8E4M3FN, "float32_t128">
func.func @steps(%x: tensor<70x256xf32>, %w: tensor<72x256xf8E4M3FN>, %s: tensor<72x2xf32>) -> tensor<70x72xf32> {
  %a = blockscale.quantize %x : tensor<70x256xf32> to !a
  %b = blockscale.assemble %w, %s : tensor<72x256xf8E4M3FN>, tensor<72x2xf32> to !b
  %0 = blockscale.matmul %a, %b : !a, !b -> tensor<70x72xf32>
  return %0 : tensor<70x72xf32>
}
!c = !blockscale.tensor<70x256xf8E4M3FN, "float32_t64n2m4", layout = tiled_128x4>
!d = !blockscale.tensor<72x256xui4, "float32_float32_t128">
func.func @real(%x: tensor<70x256xf32>, %w: tensor<72x256xi4>, %s: tensor<72x2xf32>, %z: tensor<72x2xf32>) -> tensor<70x72xf32> {
  %a = blockscale.quantize %x : tensor<70x256xf32> to !c
  %b = blockscale.assemble %w, %s zeros(%z : tensor<72x2xf32>) : tensor<72x256xi4>, tensor<72x2xf32> to !d
  %0 = blockscale.matmul %a, %b : !c, !d -> tensor<70x72xf32>
  return %0 : tensor<70x72xf32>
}
