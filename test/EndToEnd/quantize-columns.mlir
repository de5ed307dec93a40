// Kernels that quantise the transpose of what they read, bit for bit: every element
// format and scale that instructions read, every type of input, rule and rounding,
// blocks of 16 and 32 and tiles of several rows, sizes that end inside of a CTA's tile
// of 128 columns by 4 blocks, matrices in batches, dynamic sizes. The data have NaNs,
// infinities, zeros of both signs, subnormals and ties.

// REQUIRES: mlir
// RUN: blockscale verify %s --m=1,133 --k=96 --batch=2 | FileCheck %s
// RUN: blockscale verify %s --target=sm_103a --m=257 --k=160 --batch=1 --data=random --seed=7 --conditions=harsh | FileCheck %s --check-prefix=ONCE
// RUN: blockscale verify %s --target=sm_107a --m=70 --k=32 --batch=3 --data=random --seed=11 | FileCheck %s --check-prefix=ONCE
// RUN: blockscale verify %s --target=sm_110a --m=5 --k=288 --batch=1 --data=exact --seed=5 --conditions=harsh | FileCheck %s --check-prefix=ONCE
// RUN: blockscale verify %s --target=sm_120a --m=128 --k=128 --batch=1 --data=exact --seed=3 | FileCheck %s --check-prefix=ONCE

// CHECK-NOT: FAIL
// CHECK-COUNT-44: pass
// CHECK-NOT: {{FAIL|pass}}

// ONCE-NOT: FAIL
// ONCE-COUNT-20: pass
// ONCE-NOT: {{FAIL|pass}}

// RUN: not blockscale verify %s --m=1 --k=40 --batch=1 2>&1 | FileCheck %s --check-prefix=RAGGED
// RAGGED: kernel 'dynamic' needs K % 32 == 0, but M is 1, K is 40, batch is 1

// RUN: blockscale compile %s --no-cubin -o %t
// RUN: FileCheck %s --check-prefix=PLAN < %t/quantize-columns.plan.json
// PLAN: "sourceFunction": "dynamic",
// PLAN: "block": [
// PLAN-NEXT: 512,
// PLAN: "sharedMemoryBytes": 13824,
// PLAN: "K % 32 == 0"
// PLAN: "lines": "M",
// PLAN-NEXT: "elements": "K",
// PLAN: "operand": "x",
// PLAN: "rowPitch": "M",
// PLAN: "alignment": 4
// PLAN: "quantization": {
// PLAN: "transposed": true

!e4m3 = !blockscale.tensor<133x352xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @e4m3_floor(%x: tensor<352x133xbf16>) -> !e4m3 {
  %e = tensor.empty() : tensor<133x352xbf16>
  %t = linalg.transpose ins(%x : tensor<352x133xbf16>) outs(%e : tensor<133x352xbf16>) permutation = [1, 0]
  %0 = blockscale.quantize %t : tensor<133x352xbf16> to !e4m3
  return %0 : !e4m3
}
func.func @e4m3_round_up(%x: tensor<352x133xf32>) -> !e4m3 {
  %e = tensor.empty() : tensor<133x352xf32>
  %t = linalg.transpose ins(%x : tensor<352x133xf32>) outs(%e : tensor<133x352xf32>) permutation = [1, 0]
  %0 = blockscale.quantize %t rule(round_up) : tensor<133x352xf32> to !e4m3
  return %0 : !e4m3
}
func.func @e4m3_stochastic(%x: tensor<352x133xf16>) -> !e4m3 {
  %e = tensor.empty() : tensor<133x352xf16>
  %t = linalg.transpose ins(%x : tensor<352x133xf16>) outs(%e : tensor<133x352xf16>) permutation = [1, 0]
  %0 = blockscale.quantize %t rule(mid_max) rounding(stochastic, seed = -7) : tensor<133x352xf16> to !e4m3
  return %0 : !e4m3
}

!e5m2 = !blockscale.tensor<40x96xf8E5M2, "e8m0_t32", layout = tiled_128x4>
func.func @e5m2_ceil(%x: tensor<96x40xf16>) -> !e5m2 {
  %e = tensor.empty() : tensor<40x96xf16>
  %t = linalg.transpose ins(%x : tensor<96x40xf16>) outs(%e : tensor<40x96xf16>) permutation = [1, 0]
  %0 = blockscale.quantize %t rule(ceil) : tensor<40x96xf16> to !e5m2
  return %0 : !e5m2
}
func.func @e5m2_away(%x: tensor<96x40xf32>) -> !e5m2 {
  %e = tensor.empty() : tensor<40x96xf32>
  %t = linalg.transpose ins(%x : tensor<96x40xf32>) outs(%e : tensor<40x96xf32>) permutation = [1, 0]
  %0 = blockscale.quantize %t rule(rounded_max) rounding(away) : tensor<40x96xf32> to !e5m2
  return %0 : !e5m2
}

!e2m3 = !blockscale.tensor<2x20x160xf6E2M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @e2m3_zero(%x: tensor<2x160x20xbf16>) -> !e2m3 {
  %e = tensor.empty() : tensor<2x20x160xbf16>
  %t = linalg.transpose ins(%x : tensor<2x160x20xbf16>) outs(%e : tensor<2x20x160xbf16>) permutation = [0, 2, 1]
  %0 = blockscale.quantize %t rule(top_binade) rounding(zero) : tensor<2x20x160xbf16> to !e2m3
  return %0 : !e2m3
}

!e3m2 = !blockscale.tensor<130x128xf6E3M2FN, "e8m0_t32", layout = tiled_128x4>
func.func @e3m2_floor_plus_one(%x: tensor<128x130xf16>) -> !e3m2 {
  %e = tensor.empty() : tensor<130x128xf16>
  %t = linalg.transpose ins(%x : tensor<128x130xf16>) outs(%e : tensor<130x128xf16>) permutation = [1, 0]
  %0 = blockscale.quantize %t rule(floor_plus_one) : tensor<130x128xf16> to !e3m2
  return %0 : !e3m2
}

!searched = !blockscale.tensor<130x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @e4m3_min_error(%x: tensor<128x130xbf16>) -> !searched {
  %e = tensor.empty() : tensor<130x128xbf16>
  %t = linalg.transpose ins(%x : tensor<128x130xbf16>) outs(%e : tensor<130x128xbf16>) permutation = [1, 0]
  %0 = blockscale.quantize %t rule(min_error) : tensor<130x128xbf16> to !searched
  return %0 : !searched
}

!mxfp4 = !blockscale.tensor<257x192xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
func.func @mxfp4(%x: tensor<192x257xbf16>) -> !mxfp4 {
  %e = tensor.empty() : tensor<257x192xbf16>
  %t = linalg.transpose ins(%x : tensor<192x257xbf16>) outs(%e : tensor<257x192xbf16>) permutation = [1, 0]
  %0 = blockscale.quantize %t rule(rounded_max) : tensor<257x192xbf16> to !mxfp4
  return %0 : !mxfp4
}
func.func @mxfp4_stochastic(%x: tensor<192x257xf32>) -> !mxfp4 {
  %e = tensor.empty() : tensor<257x192xf32>
  %t = linalg.transpose ins(%x : tensor<192x257xf32>) outs(%e : tensor<257x192xf32>) permutation = [1, 0]
  %0 = blockscale.quantize %t rounding(stochastic, seed = 12345) : tensor<257x192xf32> to !mxfp4
  return %0 : !mxfp4
}

!one_level = !blockscale.tensor<70x208xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @one_level(%x: tensor<208x70xf16>) -> !one_level {
  %e = tensor.empty() : tensor<70x208xf16>
  %t = linalg.transpose ins(%x : tensor<208x70xf16>) outs(%e : tensor<70x208xf16>) permutation = [1, 0]
  %0 = blockscale.quantize %t : tensor<70x208xf16> to !one_level
  return %0 : !one_level
}

!nvfp4 = !blockscale.tensor<4x133x80xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
func.func @nvfp4(%x: tensor<4x80x133xbf16>, %f: tensor<4xf32>) -> !nvfp4 {
  %e = tensor.empty() : tensor<4x133x80xbf16>
  %t = linalg.transpose ins(%x : tensor<4x80x133xbf16>) outs(%e : tensor<4x133x80xbf16>) permutation = [0, 2, 1]
  %0 = blockscale.quantize %t tensor_scale(%f : tensor<4xf32>) : tensor<4x133x80xbf16> to !nvfp4
  return %0 : !nvfp4
}
func.func @nvfp4_min_error(%x: tensor<4x80x133xf32>, %f: tensor<4xf32>) -> !nvfp4 {
  %e = tensor.empty() : tensor<4x133x80xf32>
  %t = linalg.transpose ins(%x : tensor<4x80x133xf32>) outs(%e : tensor<4x133x80xf32>) permutation = [0, 2, 1]
  %0 = blockscale.quantize %t tensor_scale(%f : tensor<4xf32>) rule(min_error) rounding(away) : tensor<4x133x80xf32> to !nvfp4
  return %0 : !nvfp4
}
func.func @nvfp4_zero(%x: tensor<4x80x133xf16>, %f: tensor<4xf32>) -> !nvfp4 {
  %e = tensor.empty() : tensor<4x133x80xf16>
  %t = linalg.transpose ins(%x : tensor<4x80x133xf16>) outs(%e : tensor<4x133x80xf16>) permutation = [0, 2, 1]
  %0 = blockscale.quantize %t tensor_scale(%f : tensor<4xf32>) rounding(zero) : tensor<4x133x80xf16> to !nvfp4
  return %0 : !nvfp4
}

!two_powers = !blockscale.tensor<2x40x96xf8E5M2, "multi_float32_e8m0_t32", layout = tiled_128x4>
func.func @two_powers(%x: tensor<2x96x40xf32>, %f: tensor<2xf32>) -> !two_powers {
  %e = tensor.empty() : tensor<2x40x96xf32>
  %t = linalg.transpose ins(%x : tensor<2x96x40xf32>) outs(%e : tensor<2x40x96xf32>) permutation = [0, 2, 1]
  %0 = blockscale.quantize %t tensor_scale(%f : tensor<2xf32>) rule(ceil) : tensor<2x40x96xf32> to !two_powers
  return %0 : !two_powers
}

// Tiles of several rows are neighbouring columns of what is read.
!square = !blockscale.tensor<133x160xf8E4M3FN, "e8m0_t32_t32", layout = tiled_128x4>
func.func @square(%x: tensor<160x133xbf16>) -> !square {
  %e = tensor.empty() : tensor<133x160xbf16>
  %t = linalg.transpose ins(%x : tensor<160x133xbf16>) outs(%e : tensor<133x160xbf16>) permutation = [1, 0]
  %0 = blockscale.quantize %t rule(round_up) : tensor<133x160xbf16> to !square
  return %0 : !square
}

!low = !blockscale.tensor<3x62x160xf6E3M2FN, "e8m0_t4_t32", layout = tiled_128x4>
func.func @low(%x: tensor<3x160x62xf16>) -> !low {
  %e = tensor.empty() : tensor<3x62x160xf16>
  %t = linalg.transpose ins(%x : tensor<3x160x62xf16>) outs(%e : tensor<3x62x160xf16>) permutation = [0, 2, 1]
  %0 = blockscale.quantize %t rounding(away) : tensor<3x62x160xf16> to !low
  return %0 : !low
}

!small = !blockscale.tensor<4x133x48xf4E2M1FN, "multi_float32_e4m3fn_t16_t16", layout = tiled_128x4>
func.func @small(%x: tensor<4x48x133xbf16>, %f: tensor<4xf32>) -> !small {
  %e = tensor.empty() : tensor<4x133x48xbf16>
  %t = linalg.transpose ins(%x : tensor<4x48x133xbf16>) outs(%e : tensor<4x133x48xbf16>) permutation = [0, 2, 1]
  %0 = blockscale.quantize %t tensor_scale(%f : tensor<4xf32>) rule(min_error) : tensor<4x133x48xbf16> to !small
  return %0 : !small
}

!rows = !blockscale.tensor<?x160xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @rows(%x: tensor<160x?xbf16>) -> !rows {
  %c1 = arith.constant 1 : index
  %d = tensor.dim %x, %c1 : tensor<160x?xbf16>
  %e = tensor.empty(%d) : tensor<?x160xbf16>
  %t = linalg.transpose ins(%x : tensor<160x?xbf16>) outs(%e : tensor<?x160xbf16>) permutation = [1, 0]
  %0 = blockscale.quantize %t : tensor<?x160xbf16> to !rows
  return %0 : !rows
}

!dynamic = !blockscale.tensor<?x?x?xf6E3M2FN, "e8m0_t32", layout = tiled_128x4>
func.func @dynamic(%x: tensor<?x?x?xf32>) -> !dynamic {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %d0 = tensor.dim %x, %c0 : tensor<?x?x?xf32>
  %d1 = tensor.dim %x, %c2 : tensor<?x?x?xf32>
  %d2 = tensor.dim %x, %c1 : tensor<?x?x?xf32>
  %e = tensor.empty(%d0, %d1, %d2) : tensor<?x?x?xf32>
  %t = linalg.transpose ins(%x : tensor<?x?x?xf32>) outs(%e : tensor<?x?x?xf32>) permutation = [0, 2, 1]
  %0 = blockscale.quantize %t : tensor<?x?x?xf32> to !dynamic
  return %0 : !dynamic
}
