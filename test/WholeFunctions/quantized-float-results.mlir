// Functions whose products quantise their results under float scales for the next
// product, on the emulator against everything on the CPU by linalg: DeepSeek's layers
// from activations to activations, every kernel but the first one behind another.

// REQUIRES: mlir
// RUN: blockscale verify --quantize-on-device %s -m 40,129 | FileCheck %s
// RUN: blockscale compile --emit=host-linalg --quantize-on-device %s | FileCheck %s --check-prefix=LAUNCHES

// CHECK-NOT: FAIL
// CHECK-LABEL: function
// CHECK-DAG: mlp{{ +exact +40 +3 .*}}pass
// CHECK-DAG: mlp{{ +random +40 +3 .*}}pass
// CHECK-DAG: experts{{ +exact .*}}pass
// CHECK-DAG: returned {{.*}}pass
// CHECK-DAG: gated {{.*}}pass
// CHECK-NOT: FAIL

!x = !blockscale.tensor<?x256xf8E4M3FN, "float32_t128">
!u = !blockscale.tensor<384x256xf8E4M3FN, "float32_t128_t128">
!h = !blockscale.tensor<?x384xf8E4M3FN, "float32_t128">
!v = !blockscale.tensor<40x384xf8E4M3FN, "float32_t128_t128">

// LAUNCHES-LABEL: func.func @mlp
// LAUNCHES: launch_into {{.*}} ["x"]
// LAUNCHES: %[[HIDDEN:.*]]:2 = blockscale.launch_into {{.*}} ["a_data", "a_scales", "b_data", "b_scales"]
// LAUNCHES-SAME: -> tensor<?x384xf8E4M3FN>, tensor<?x3xf32>
// LAUNCHES: launch_into {{.*}} ["a_data", "a_scales", "b_data", "b_scales"] ins(%[[HIDDEN]]#0, %[[HIDDEN]]#1,
func.func @mlp(%x: tensor<?x256xbf16>, %u: !u, %v: !v) -> tensor<?x40xbf16> {
  %q = blockscale.quantize %x : tensor<?x256xbf16> to !x
  %h = blockscale.matmul %q, %u activation(relu) : !x, !u -> tensor<?x384xbf16>
  %p = blockscale.quantize %h : tensor<?x384xbf16> to !h
  %d = blockscale.matmul %p, %v : !h, !v -> tensor<?x40xbf16>
  return %d : tensor<?x40xbf16>
}

!ex = !blockscale.tensor<293x256xf8E4M3FN, "float32_t128">
!eh = !blockscale.tensor<293x384xf8E4M3FN, "float32_t128">
!eu = !blockscale.tensor<3x384x256xf8E4M3FN, "float32_t128_t128">
!ev = !blockscale.tensor<3x40x384xf8E4M3FN, "float32_t128_t128">
// LAUNCHES-LABEL: func.func @experts
// LAUNCHES: %[[EXPERTS:.*]]:2 = blockscale.launch_into {{.*}} ["a_data", "a_scales", "b_data", "b_scales", "offsets"]
// LAUNCHES-SAME: -> tensor<293x384xf8E4M3FN>, tensor<293x3xf32>
// LAUNCHES: launch_into {{.*}} ins(%[[EXPERTS]]#0, %[[EXPERTS]]#1,
func.func @experts(%x: !ex, %u: !eu, %v: !ev) -> tensor<293x40xbf16> {
  %ends = arith.constant dense<[130, 130, 293]> : tensor<3xi32>
  %h = blockscale.matmul %x, %u groups(%ends : tensor<3xi32>) activation(relu) : !ex, !eu -> tensor<293x384xbf16>
  %p = blockscale.quantize %h : tensor<293x384xbf16> to !eh
  %d = blockscale.matmul %p, %v groups(%ends : tensor<3xi32>) : !eh, !ev -> tensor<293x40xbf16>
  return %d : tensor<293x40xbf16>
}

// LAUNCHES-LABEL: func.func @returned
// LAUNCHES: launch_into
// LAUNCHES-SAME: tensor<?x384xf8E4M3FN>, tensor<?x3xf32>
func.func @returned(%a: !x, %u: !u) -> !h {
  %h = blockscale.matmul %a, %u : !x, !u -> tensor<?x384xf32>
  %p = blockscale.quantize %h rounding(stochastic, seed = 3) : tensor<?x384xf32> to !h
  return %p : !h
}

// Gate and up of weights in MXFP4.
!m = !blockscale.tensor<?x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!g = !blockscale.tensor<512x256xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
!r = !blockscale.tensor<?x256xf8E4M3FN, "float32_t128">
// LAUNCHES-LABEL: func.func @gated
// LAUNCHES: launch_into
// LAUNCHES-SAME: tensor<?x256xf8E4M3FN>, tensor<?x2xf32>
func.func @gated(%a: !m, %u: !g) -> !r {
  %h = blockscale.matmul %a, %u pairs epilogue(%gate, %up) {
    %0 = arith.mulf %gate, %up : f32
    blockscale.yield %0
  } : !m, !g -> tensor<?x256xf32>
  %p = blockscale.quantize %h : tensor<?x256xf32> to !r
  return %p : !r
}
