// Scales of quantised results are judged each by itself, by the numbers that they were
// chosen for: functions of large sums, numbers of 16 bits, tensor scales from the data,
// tiles of several rows, codes of codes.

// REQUIRES: mlir
// RUN: blockscale verify %s --m=133 --seed=51 | FileCheck %s
// RUN: blockscale verify %s --m=40 --seed=2 --quantize-on-device | FileCheck %s

// CHECK-NOT: FAIL
// CHECK: {{^function +data}}
// CHECK-COUNT-12: pass
// CHECK-NOT: {{FAIL|pass}}

!x = !blockscale.tensor<?x256xf8E4M3FN, "float32_t128">
!w = !blockscale.tensor<64x256xf8E4M3FN, "float32_t128_t128">
!m = !blockscale.tensor<?x64xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!v = !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>

// The sums are much larger than what erf makes of them, and so is what they are off by.
!random = !blockscale.tensor<?x64xf8E4M3FN, "bfloat16_t32">
func.func @erf(%x: !x, %w: !w, %b: tensor<64xf32>) -> !random {
  %y = blockscale.matmul %x, %w bias(%b) activation(gelu) : !x, !w, tensor<64xf32> -> tensor<?x64xf32>
  %z = math.erf %y : tensor<?x64xf32>
  %q = blockscale.quantize %z rounding(stochastic_rs, seed = 9) : tensor<?x64xf32> to !random
  return %q : !random
}
!floats = !blockscale.tensor<?x64xf8E4M3FN, "float32_t32">
func.func @bf16(%x: !x, %w: !w) -> !floats {
  %y = blockscale.matmul %x, %w activation(silu) : !x, !w -> tensor<?x64xbf16>
  %q = blockscale.quantize %y rule(min_error) : tensor<?x64xbf16> to !floats
  return %q : !floats
}
!nv = !blockscale.tensor<?x64xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
func.func @tensor_scale(%x: !x, %w: !w) -> !nv {
  %y = blockscale.matmul %x, %w activation(gelu) : !x, !w -> tensor<?x64xf32>
  %q = blockscale.quantize %y : tensor<?x64xf32> to !nv
  return %q : !nv
}
!square = !blockscale.tensor<?x64xf8E5M2, "e8m0_t32_t32">
func.func @two_products(%x: !x, %w: !w, %v: !v) -> (!m, !square) {
  %y = blockscale.matmul %x, %w : !x, !w -> tensor<?x64xf32>
  %m = blockscale.quantize %y rule(round_up) : tensor<?x64xf32> to !m
  %z = blockscale.matmul %m, %v : !m, !v -> tensor<?x64xf16>
  %q = blockscale.quantize %z : tensor<?x64xf16> to !square
  return %m, %q : !m, !square
}
// What nobody here knows the numbers of.
func.func @loop(%x: !x, %w: !w, %v: !v, %count: index) -> !m {
  %first = arith.constant 0 : index
  %one = arith.constant 1 : index
  %y = blockscale.matmul %x, %w : !x, !w -> tensor<?x64xf32>
  %m = blockscale.quantize %y : tensor<?x64xf32> to !m
  %r = scf.for %i = %first to %count step %one iter_args(%h = %m) -> !m {
    %z = blockscale.matmul %h, %v : !m, !v -> tensor<?x64xf32>
    %n = blockscale.quantize %z : tensor<?x64xf32> to !m
    scf.yield %n : !m
  }
  return %r : !m
}
// Zero points.
func.func @zeros(%x: !x, %w: !w) -> !blockscale.tensor<?x64xui8, "float32_float32_t32"> {
  %y = blockscale.matmul %x, %w : !x, !w -> tensor<?x64xf32>
  %q = blockscale.quantize %y : tensor<?x64xf32> to !blockscale.tensor<?x64xui8, "float32_float32_t32">
  return %q : !blockscale.tensor<?x64xui8, "float32_float32_t32">
}
