// Layers under static scales of activations, from activations to activations, on the
// emulator against everything on the CPU by linalg: the first product quantises its result
// under the scale that is given for the second.

// REQUIRES: mlir
// RUN: blockscale verify --quantize-on-device %s -m 40,129 | FileCheck %s
// RUN: blockscale compile --emit=host-linalg --quantize-on-device %s | FileCheck %s --check-prefix=LAUNCHES

// CHECK-NOT: FAIL
// CHECK-LABEL: function
// CHECK-DAG: mlp{{ +exact +40 +3 .*}}pass
// CHECK-DAG: mlp{{ +random +40 +3 .*}}pass
// CHECK-NOT: FAIL

!x = !blockscale.tensor<?x256xf8E4M3FN, "float32">
!u = !blockscale.tensor<384x256xf8E4M3FN, "float32">
!h = !blockscale.tensor<?x384xf8E4M3FN, "float32">
!v = !blockscale.tensor<40x384xf8E4M3FN, "float32">

// LAUNCHES-LABEL: func.func @mlp
// LAUNCHES: launch_into {{.*}} ["x", "tensor_scale"]
// LAUNCHES: %[[HIDDEN:.*]]:2 = blockscale.launch_into {{.*}} ["a_data", "a_scales", "b_data", "b_scales", "tensor_scale"]
// LAUNCHES-SAME: -> tensor<?x384xf8E4M3FN>, tensor<1x1xf32>
// LAUNCHES: launch_into {{.*}} ["a_data", "a_scales", "b_data", "b_scales"] ins(%[[HIDDEN]]#0, %[[HIDDEN]]#1,
func.func @mlp(%x: tensor<?x256xbf16>, %u: !u, %v: !v, %s: tensor<f32>, %t: tensor<f32>) -> tensor<?x40xbf16> {
  %q = blockscale.quantize %x tensor_scale(%s : tensor<f32>) : tensor<?x256xbf16> to !x
  %h = blockscale.matmul %q, %u activation(relu) : !x, !u -> tensor<?x384xbf16>
  %p = blockscale.quantize %h tensor_scale(%t : tensor<f32>) : tensor<?x384xbf16> to !h
  %d = blockscale.matmul %p, %v : !h, !v -> tensor<?x40xbf16>
  return %d : tensor<?x40xbf16>
}
