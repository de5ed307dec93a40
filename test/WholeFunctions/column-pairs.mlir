// A gated MLP whose gate and up projection are one product of pairs, as a whole
// function on the emulator against everything on the CPU by linalg: activations
// quantised on the way, the gated result read by the down projection, experts likewise.

// REQUIRES: mlir
// RUN: blockscale verify %s -m 40 | FileCheck %s
// RUN: blockscale verify --quantize-on-device %s -m 40 | FileCheck %s
// RUN: blockscale compile --emit=host-linalg --quantize-on-device %s | FileCheck %s --check-prefix=LAUNCHES

// CHECK-NOT: FAIL
// CHECK-LABEL: function
// CHECK-DAG: mlp{{ +exact +40 .*}}pass
// CHECK-DAG: mlp{{ +random +40 .*}}pass
// CHECK-DAG: experts{{ .*}}pass
// CHECK-DAG: late{{ +exact +40,512,256,128 .*}}pass
// CHECK-NOT: FAIL

!x = !blockscale.tensor<?x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!u = !blockscale.tensor<192x128xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
!h = !blockscale.tensor<?x96xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!v = !blockscale.tensor<40x96xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>

// LAUNCHES-LABEL: func.func @mlp
// LAUNCHES: launch_into {{.*}} ["a_data", "a_scales", "b_data", "b_scales", "bias"]
// LAUNCHES-SAME: -> tensor<?x96xf8E4M3FN>, tensor<
func.func @mlp(%x: tensor<?x128xbf16>, %u: !u, %v: !v, %bias: tensor<192xf32>) -> tensor<?x40xf32> {
  %q = blockscale.quantize %x : tensor<?x128xbf16> to !x
  %h = blockscale.matmul %q, %u bias(%bias) pairs epilogue(%g, %up, %gb, %ub) {
    %zero = arith.constant 0.0 : f32
    %1 = arith.addf %g, %gb : f32
    %2 = arith.addf %up, %ub : f32
    %3 = arith.maximumf %1, %zero : f32
    %4 = arith.subf %3, %2 : f32
    blockscale.yield %4
  } : !x, !u, tensor<192xf32> -> tensor<?x96xbf16>
  %p = blockscale.quantize %h rule(round_up) : tensor<?x96xbf16> to !h
  %d = blockscale.matmul %p, %v : !h, !v -> tensor<?x40xf32>
  return %d : tensor<?x40xf32>
}

!tokens = !blockscale.tensor<200x64xbf16>
!experts = !blockscale.tensor<3x40x64xbf16>
func.func @experts(%x: !tokens, %w: !experts, %v: tensor<3x40xf32>) -> tensor<200x20xf32> {
  %ends = arith.constant dense<[7, 7, 200]> : tensor<3xi32>
  %0 = blockscale.matmul %x, %w groups(%ends : tensor<3xi32>) bias(%v) pairs epilogue(%g, %up, %gb, %ub) {
    %1 = arith.addf %g, %gb : f32
    %2 = arith.addf %up, %ub : f32
    %3 = arith.subf %2, %1 : f32
    blockscale.yield %3
  } : !tokens, !experts, tensor<3x40xf32> -> tensor<200x20xf32>
  %1 = arith.addf %0, %0 : tensor<200x20xf32>
  return %1 : tensor<200x20xf32>
}

// Sizes that only a call knows: C has half of the columns of the product.
!late = !blockscale.tensor<?x?xbf16>
func.func @late(%x: !late, %w: !late, %c: tensor<?x?xbf16>) -> tensor<?x?xf32> {
  %0 = blockscale.matmul %x, %w c(%c) pairs epilogue(%g, %up, %add) {
    %1 = arith.mulf %g, %up : f32
    %2 = arith.addf %1, %add : f32
    blockscale.yield %2
  } : !late, !late, tensor<?x?xbf16> -> tensor<?x?xf32>
  %1 = arith.addf %0, %0 : tensor<?x?xf32>
  return %1 : tensor<?x?xf32>
}
