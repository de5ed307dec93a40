// A product of which no kernel quantises the result, whatever its schedule: it gets the
// schedule that it has without, and what quantises stays an op of its own.

// RUN: blockscale-opt %s --verify-diagnostics --blockscale-attach-target=target=sm_107a --blockscale-legalize-scales --blockscale-fuse-quantization --blockscale-select-schedule | FileCheck %s

// CHECK: blockscale.matmul
// CHECK: schedule(
// CHECK-NOT: {blockscale.quantized}
// CHECK: blockscale.quantize
!a = !blockscale.tensor<?x256x!blockscale.codebook<"cb81ie_int9">, "e8m0_t16s2">
!b = !blockscale.tensor<3x64x256x!blockscale.codebook<"cb51ie_int7">, "e8m0_t16s2">
!q = !blockscale.tensor<?x32xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
func.func @gate_up(%x: !a, %w: !b, %ends: tensor<3xi32>, %ids: tensor<?xi32>) -> !q {
  %y = blockscale.matmul %x, %w groups(%ends : tensor<3xi32>) rows(%ids : tensor<?xi32>) pairs epilogue(%g, %up) {
    %0 = arith.mulf %g, %up : f32
    blockscale.yield %0
  } : !a, !b -> tensor<?x32xbf16>
  // expected-remark@+1 {{stays an op of its own: no schedule suits both: a block of the result is made of 64 columns of a product whose sums are promoted, of which a thread has 32}}
  %0 = blockscale.quantize %y groups(%ends : tensor<3xi32>) : tensor<?x32xbf16> to !q
  return %0 : !q
}
