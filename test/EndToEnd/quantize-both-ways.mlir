// Kernels that quantise a matrix and its transpose and read it once, bit for bit:
// blocks of 16 and 32 either way, formats, scales, rules and roundings of their own,
// tiles of several rows, tensor scales of both and of one, either op first, sizes that
// end inside of a tile of 128 x 128, matrices in batches, dynamic sizes.

// REQUIRES: mlir
// RUN: blockscale verify %s --m=32,160 --k=96 --batch=2 | FileCheck %s
// RUN: blockscale verify %s --target=sm_103a --m=288 --k=160 --batch=1 --data=random --seed=7 --conditions=harsh | FileCheck %s --check-prefix=ONCE
// RUN: blockscale verify %s --target=sm_107a --m=64 --k=32 --batch=3 --data=random --seed=11 | FileCheck %s --check-prefix=ONCE
// RUN: blockscale verify %s --target=sm_110a --m=128 --k=288 --batch=1 --data=exact --seed=5 --conditions=harsh | FileCheck %s --check-prefix=ONCE
// RUN: blockscale verify %s --target=sm_120a --m=160 --k=128 --batch=1 --data=exact --seed=3 | FileCheck %s --check-prefix=ONCE

// CHECK-NOT: FAIL
// CHECK-COUNT-22: pass
// CHECK-NOT: {{FAIL|pass}}

// ONCE-NOT: FAIL
// ONCE-COUNT-10: pass
// ONCE-NOT: {{FAIL|pass}}

// RUN: not blockscale verify %s --m=40 --k=32 --batch=1 2>&1 | FileCheck %s --check-prefix=RAGGED
// RAGGED: kernel 'dynamic' needs M % 32 == 0, but M is 40, K is 32, batch is 1

// RUN: blockscale compile %s --no-cubin -o %t
// RUN: FileCheck %s --check-prefix=PLAN < %t/quantize-both-ways.plan.json
// PLAN: "grid": [
// PLAN: "ceildiv(M, 128) * ceildiv(K, 128) * batch",
// PLAN: "K % 32 == 0",
// PLAN-NEXT: "M % 32 == 0"
// PLAN: "role": "transposed_data",
// PLAN-NEXT: "operand": "transposed",
// PLAN: "operand": "transposed",
// PLAN: "lines": "K",
// PLAN-NEXT: "elements": "M",
// PLAN-NEXT: "linePitch": "ceildiv(M, 16) * 16",
// PLAN-NEXT: "batchPitch": "ceildiv(M, 16) * K * 16",
// PLAN: "operand": "transposed",
// PLAN: "rows": 8,
// PLAN: "bytes": "ceildiv(M, 128) * ceildiv(K, 128) * batch * 512",
// PLAN: "quantization": {
// PLAN-NOT: "transposed": true
// PLAN: "transposedQuantization": {
// PLAN-NEXT: "rule": "floor",
// PLAN-NEXT: "rounding": "away",
// PLAN-NEXT: "seed": "",
// PLAN-NEXT: "transposed": true

!mxfp8 = !blockscale.tensor<160x288xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!mxfp8_t = !blockscale.tensor<288x160xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @mxfp8(%x: tensor<160x288xbf16>) -> (!mxfp8, !mxfp8_t) {
  %e = tensor.empty() : tensor<288x160xbf16>
  %t = linalg.transpose ins(%x : tensor<160x288xbf16>) outs(%e : tensor<288x160xbf16>) permutation = [1, 0]
  %0 = blockscale.quantize %x rule(round_up) : tensor<160x288xbf16> to !mxfp8
  %1 = blockscale.quantize %t rule(round_up) : tensor<288x160xbf16> to !mxfp8_t
  return %0, %1 : !mxfp8, !mxfp8_t
}

!gradients = !blockscale.tensor<96x128xf8E5M2, "e8m0_t32", layout = tiled_128x4>
!gradients_t = !blockscale.tensor<128x96xf8E5M2, "e8m0_t32", layout = tiled_128x4>
func.func @gradients(%x: tensor<96x128xf32>) -> (!gradients_t, !gradients) {
  %e = tensor.empty() : tensor<128x96xf32>
  %t = linalg.transpose ins(%x : tensor<96x128xf32>) outs(%e : tensor<128x96xf32>) permutation = [1, 0]
  %1 = blockscale.quantize %t rounding(stochastic, seed = 77) : tensor<128x96xf32> to !gradients_t
  %0 = blockscale.quantize %x rule(ceil) rounding(away) : tensor<96x128xf32> to !gradients
  return %1, %0 : !gradients_t, !gradients
}

!nvfp4 = !blockscale.tensor<3x80x144xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!nvfp4_t = !blockscale.tensor<3x144x80xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
func.func @nvfp4(%x: tensor<3x80x144xbf16>, %f: tensor<3xf32>) -> (!nvfp4, !nvfp4_t) {
  %e = tensor.empty() : tensor<3x144x80xbf16>
  %t = linalg.transpose ins(%x : tensor<3x80x144xbf16>) outs(%e : tensor<3x144x80xbf16>) permutation = [0, 2, 1]
  %0 = blockscale.quantize %x tensor_scale(%f : tensor<3xf32>) : tensor<3x80x144xbf16> to !nvfp4
  %1 = blockscale.quantize %t tensor_scale(%f : tensor<3xf32>) rounding(stochastic, seed = -5) : tensor<3x144x80xbf16> to !nvfp4_t
  return %0, %1 : !nvfp4, !nvfp4_t
}

!mixed = !blockscale.tensor<144x160xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!mixed_t = !blockscale.tensor<160x144xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @mixed(%x: tensor<144x160xf16>) -> (!mixed, !mixed_t) {
  %e = tensor.empty() : tensor<160x144xf16>
  %t = linalg.transpose ins(%x : tensor<144x160xf16>) outs(%e : tensor<160x144xf16>) permutation = [1, 0]
  %0 = blockscale.quantize %x rule(mid_max) : tensor<144x160xf16> to !mixed
  %1 = blockscale.quantize %t rounding(zero) : tensor<160x144xf16> to !mixed_t
  return %0, %1 : !mixed, !mixed_t
}

!narrow = !blockscale.tensor<2x160x48xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!narrow_t = !blockscale.tensor<2x48x160xf6E2M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @narrow(%x: tensor<2x160x48xf32>) -> (!narrow_t, !narrow) {
  %e = tensor.empty() : tensor<2x48x160xf32>
  %t = linalg.transpose ins(%x : tensor<2x160x48xf32>) outs(%e : tensor<2x48x160xf32>) permutation = [0, 2, 1]
  %1 = blockscale.quantize %t rule(floor_plus_one) : tensor<2x48x160xf32> to !narrow_t
  %0 = blockscale.quantize %x rule(min_error) : tensor<2x160x48xf32> to !narrow
  return %1, %0 : !narrow_t, !narrow
}

!columns_scaled = !blockscale.tensor<208x96xf6E3M2FN, "e8m0_t32", layout = tiled_128x4>
!columns_scaled_t = !blockscale.tensor<96x208xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
func.func @columns_scaled(%x: tensor<208x96xbf16>, %f: tensor<f32>) -> (!columns_scaled, !columns_scaled_t) {
  %e = tensor.empty() : tensor<96x208xbf16>
  %t = linalg.transpose ins(%x : tensor<208x96xbf16>) outs(%e : tensor<96x208xbf16>) permutation = [1, 0]
  %0 = blockscale.quantize %x rule(top_binade) : tensor<208x96xbf16> to !columns_scaled
  %1 = blockscale.quantize %t tensor_scale(%f : tensor<f32>) rule(min_error) : tensor<96x208xbf16> to !columns_scaled_t
  return %0, %1 : !columns_scaled, !columns_scaled_t
}

!squares = !blockscale.tensor<160x160xf8E4M3FN, "e8m0_t32_t32", layout = tiled_128x4>
!squares_t = !blockscale.tensor<160x160xf8E4M3FN, "e8m0_t32_t32", layout = tiled_128x4>
func.func @squares(%x: tensor<160x160xbf16>) -> (!squares, !squares_t) {
  %e = tensor.empty() : tensor<160x160xbf16>
  %t = linalg.transpose ins(%x : tensor<160x160xbf16>) outs(%e : tensor<160x160xbf16>) permutation = [1, 0]
  %0 = blockscale.quantize %x : tensor<160x160xbf16> to !squares
  %1 = blockscale.quantize %t : tensor<160x160xbf16> to !squares_t
  return %0, %1 : !squares, !squares_t
}

!small_squares = !blockscale.tensor<3x48x144xf4E2M1FN, "multi_float32_e4m3fn_t16_t16", layout = tiled_128x4>
!small_squares_t = !blockscale.tensor<3x144x48xf4E2M1FN, "multi_float32_e4m3fn_t16_t16", layout = tiled_128x4>
func.func @small_squares(%x: tensor<3x48x144xf32>, %f: tensor<3xf32>) -> (!small_squares_t, !small_squares) {
  %e = tensor.empty() : tensor<3x144x48xf32>
  %t = linalg.transpose ins(%x : tensor<3x48x144xf32>) outs(%e : tensor<3x144x48xf32>) permutation = [0, 2, 1]
  %1 = blockscale.quantize %t tensor_scale(%f : tensor<3xf32>) rule(min_error) : tensor<3x144x48xf32> to !small_squares_t
  %0 = blockscale.quantize %x tensor_scale(%f : tensor<3xf32>) rule(min_error) : tensor<3x48x144xf32> to !small_squares
  return %1, %0 : !small_squares_t, !small_squares
}

!rows_only = !blockscale.tensor<32x?xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
!rows_only_t = !blockscale.tensor<?x32xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @rows_only(%x: tensor<32x?xf16>) -> (!rows_only, !rows_only_t) {
  %c1 = arith.constant 1 : index
  %d1 = tensor.dim %x, %c1 : tensor<32x?xf16>
  %e = tensor.empty(%d1) : tensor<?x32xf16>
  %t = linalg.transpose ins(%x : tensor<32x?xf16>) outs(%e : tensor<?x32xf16>) permutation = [1, 0]
  %0 = blockscale.quantize %x rule(rounded_max) : tensor<32x?xf16> to !rows_only
  %1 = blockscale.quantize %t rule(min_error) : tensor<?x32xf16> to !rows_only_t
  return %0, %1 : !rows_only, !rows_only_t
}

!dynamic = !blockscale.tensor<?x?x?xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!dynamic_t = !blockscale.tensor<?x?x?xf8E4M3FN, "e8m0_t8_t32", layout = tiled_128x4>
func.func @dynamic(%x: tensor<?x?x?xbf16>) -> (!dynamic, !dynamic_t) {
  %c0 = arith.constant 0 : index
  %d0 = tensor.dim %x, %c0 : tensor<?x?x?xbf16>
  %c2 = arith.constant 2 : index
  %d2 = tensor.dim %x, %c2 : tensor<?x?x?xbf16>
  %c1 = arith.constant 1 : index
  %d1 = tensor.dim %x, %c1 : tensor<?x?x?xbf16>
  %e = tensor.empty(%d0, %d2, %d1) : tensor<?x?x?xbf16>
  %t = linalg.transpose ins(%x : tensor<?x?x?xbf16>) outs(%e : tensor<?x?x?xbf16>) permutation = [0, 2, 1]
  %0 = blockscale.quantize %x : tensor<?x?x?xbf16> to !dynamic
  %1 = blockscale.quantize %t rounding(away) : tensor<?x?x?xbf16> to !dynamic_t
  return %0, %1 : !dynamic, !dynamic_t
}
