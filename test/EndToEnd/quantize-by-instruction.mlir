// Kernels that round at random by the bits that `cvt.rs` takes, bit for bit: every
// element, rows, transposes, both ways, tiles of several rows, a scale for all of a
// row, tensor scales that a kernel finds, results of products and of their groups.
// Chips that have the instruction use it, the others give the same codes.

// REQUIRES: mlir
// RUN: blockscale verify %s | FileCheck %s
// RUN: blockscale verify %s --target=sm_120a --data=random --seed=3 | FileCheck %s --check-prefix=ONCE
// RUN: blockscale compile %s --no-cubin -o %t
// RUN: FileCheck %s --check-prefix=INSTRUCTION --input-file=%t/quantize-by-instruction.ptx
// RUN: blockscale compile %s --target=sm_110a --no-cubin -o %t
// RUN: FileCheck %s --check-prefix=OTHER --input-file=%t/quantize-by-instruction.ptx

// CHECK-NOT: FAIL
// CHECK-COUNT-20: pass
// CHECK: stochastic-alignment
// CHECK-COUNT-2: pass
// CHECK-NOT: {{FAIL|pass}}

// ONCE-NOT: {{FAIL|stochastic-alignment}}
// ONCE-COUNT-11: pass
// ONCE-NOT: {{FAIL|pass}}

// INSTRUCTION: .entry e4m3(
// INSTRUCTION-COUNT-8: cvt.rs.satfinite.e4m3x4.f32 %r{{[0-9]+}}, {{[{](%r[0-9]+,){3}%r[0-9]+[}]}}, %r{{[0-9]+}};
// INSTRUCTION-NOT: xorsign
// INSTRUCTION: .entry e5m2(
// INSTRUCTION: cvt.rs.satfinite.e5m2x4.f32
// INSTRUCTION: .entry e2m3(
// INSTRUCTION: cvt.rs.satfinite.e2m3x4.f32
// INSTRUCTION: .entry e3m2(
// INSTRUCTION: cvt.rs.satfinite.e3m2x4.f32
// INSTRUCTION: .entry mxfp4(
// INSTRUCTION: cvt.rs.satfinite.e2m1x4.f32
// INSTRUCTION-NOT: xorsign

// OTHER-NOT: cvt.rs
// OTHER: max.xorsign.abs.f32
// OTHER-NOT: cvt.rs

!e4m3 = !blockscale.tensor<133x96xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @e4m3(%x: tensor<133x96xbf16>) -> !e4m3 {
  %0 = blockscale.quantize %x rounding(stochastic_rs, seed = -7) : tensor<133x96xbf16> to !e4m3
  return %0 : !e4m3
}
!e5m2 = !blockscale.tensor<3x40x160xf8E5M2, "e8m0_t32", layout = tiled_128x4>
func.func @e5m2(%x: tensor<3x40x160xf32>) -> !e5m2 {
  %0 = blockscale.quantize %x rule(ceil) rounding(stochastic_rs, seed = 81985529216486895) : tensor<3x40x160xf32> to !e5m2
  return %0 : !e5m2
}
!e2m3 = !blockscale.tensor<40x?xf6E2M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @e2m3(%x: tensor<40x?xf16>) -> !e2m3 {
  %0 = blockscale.quantize %x rule(mid_max) rounding(stochastic_rs, seed = 0) : tensor<40x?xf16> to !e2m3
  return %0 : !e2m3
}
!e3m2 = !blockscale.tensor<133x96xf6E3M2FN, "e8m0_t32", layout = tiled_128x4>
func.func @e3m2(%x: tensor<96x133xf32>) -> !e3m2 {
  %e = tensor.empty() : tensor<133x96xf32>
  %t = linalg.transpose ins(%x : tensor<96x133xf32>) outs(%e : tensor<133x96xf32>) permutation = [1, 0]
  %0 = blockscale.quantize %t rounding(stochastic_rs, seed = 3) : tensor<133x96xf32> to !e3m2
  return %0 : !e3m2
}
!mxfp4 = !blockscale.tensor<70x64xf4E2M1FN, "e8m0_t32_t32", layout = tiled_128x4>
func.func @mxfp4(%x: tensor<70x64xf32>) -> !mxfp4 {
  %0 = blockscale.quantize %x rounding(stochastic_rs, seed = 12345) : tensor<70x64xf32> to !mxfp4
  return %0 : !mxfp4
}

// Both ways, each by numbers of its own.
!nvfp4 = !blockscale.tensor<3x80x144xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!nvfp4_t = !blockscale.tensor<3x144x80xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
func.func @both(%x: tensor<3x80x144xbf16>, %f: tensor<3xf32>) -> (!nvfp4, !nvfp4_t) {
  %e = tensor.empty() : tensor<3x144x80xbf16>
  %t = linalg.transpose ins(%x : tensor<3x80x144xbf16>) outs(%e : tensor<3x144x80xbf16>) permutation = [0, 2, 1]
  %0 = blockscale.quantize %x tensor_scale(%f : tensor<3xf32>) rounding(stochastic_rs, seed = 77) : tensor<3x80x144xbf16> to !nvfp4
  %1 = blockscale.quantize %t tensor_scale(%f : tensor<3xf32>) rounding(stochastic_rs, seed = -5) : tensor<3x144x80xbf16> to !nvfp4_t
  return %0, %1 : !nvfp4, !nvfp4_t
}

!row = !blockscale.tensor<70x416xf8E4M3FN, "float32_t0">
func.func @row(%x: tensor<70x416xbf16>) -> !row {
  %0 = blockscale.quantize %x rounding(stochastic_rs, seed = 5) : tensor<70x416xbf16> to !row
  return %0 : !row
}

!found = !blockscale.tensor<3x20x96xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
func.func @found(%x: tensor<3x20x96xbf16>) -> !found {
  %0 = blockscale.quantize %x rule(min_error) rounding(stochastic_rs, seed = 9) : tensor<3x20x96xbf16> to !found
  return %0 : !found
}

// Results of products.
!x = !blockscale.tensor<133x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!w = !blockscale.tensor<96x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!y = !blockscale.tensor<133x96xf8E5M2, "e8m0_t32", layout = tiled_128x4>
func.func @result(%x: !x, %w: !w) -> !y {
  %y = blockscale.matmul %x, %w : !x, !w -> tensor<133x96xbf16>
  %0 = blockscale.quantize %y rounding(stochastic_rs, seed = 11) : tensor<133x96xbf16> to !y
  return %0 : !y
}
!xg = !blockscale.tensor<?x256xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = grouped_128x4>
!wg = !blockscale.tensor<3x80x256xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!yg = !blockscale.tensor<?x80xf4E2M1FN, "e4m3fn_t16", layout = grouped_128x4>
func.func @groups(%x: !xg, %w: !wg, %ends: tensor<3xi32>) -> !yg {
  %y = blockscale.matmul %x, %w groups(%ends : tensor<3xi32>) : !xg, !wg -> tensor<?x80xf32>
  %0 = blockscale.quantize %y groups(%ends : tensor<3xi32>) rounding(stochastic_rs, seed = 11) : tensor<?x80xf32> to !yg
  return %0 : !yg
}
