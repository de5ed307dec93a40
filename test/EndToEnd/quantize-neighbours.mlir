// Kernels for a matrix and its transpose whose threads have two neighbouring blocks of
// a way, bit for bit: numbers of blocks that are odd along rows and along columns, ends
// of an atom of scales between the two, scales of two levels and of one, the roundings
// and rules that have code of their own there.

// REQUIRES: mlir
// RUN: blockscale verify %s --m=16,48,128,144 | FileCheck %s
// RUN: blockscale verify %s --m=80 --target=sm_120a --seed=3 --conditions=harsh | FileCheck %s --check-prefix=ONCE
// RUN: blockscale compile %s --no-cubin -o %t
// RUN: FileCheck %s --check-prefix=PTX --input-file=%t/quantize-neighbours.ptx

// PTX: .entry odd(
// PTX: .minnctapersm 2
// PTX: .entry even(
// PTX: .minnctapersm 1

// CHECK-NOT: FAIL
// CHECK-COUNT-16: pass
// CHECK-NOT: {{FAIL|pass}}

// ONCE-NOT: FAIL
// ONCE-COUNT-4: pass
// ONCE-NOT: {{FAIL|pass}}

!row = !blockscale.tensor<2x?x144xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!column = !blockscale.tensor<2x144x?xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
func.func @odd(%x: tensor<2x?x144xbf16>, %t: tensor<2xf32>) -> (!row, !column) {
  %c = arith.constant 1 : index
  %n = tensor.dim %x, %c : tensor<2x?x144xbf16>
  %e = tensor.empty(%n) : tensor<2x144x?xbf16>
  %y = linalg.transpose ins(%x : tensor<2x?x144xbf16>) outs(%e : tensor<2x144x?xbf16>) permutation = [0, 2, 1]
  %0 = blockscale.quantize %x tensor_scale(%t : tensor<2xf32>) rounding(stochastic, seed = 3) : tensor<2x?x144xbf16> to !row
  %1 = blockscale.quantize %y tensor_scale(%t : tensor<2xf32>) rounding(stochastic, seed = 4) : tensor<2x144x?xbf16> to !column
  return %0, %1 : !row, !column
}

!even_row = !blockscale.tensor<?x192xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!even_column = !blockscale.tensor<192x?xf4E2M1FN, "e8m0_t16", layout = tiled_128x4>
func.func @even(%x: tensor<?x192xf32>, %t: tensor<f32>) -> (!even_row, !even_column) {
  %c = arith.constant 0 : index
  %n = tensor.dim %x, %c : tensor<?x192xf32>
  %e = tensor.empty(%n) : tensor<192x?xf32>
  %y = linalg.transpose ins(%x : tensor<?x192xf32>) outs(%e : tensor<192x?xf32>) permutation = [1, 0]
  %0 = blockscale.quantize %x tensor_scale(%t : tensor<f32>) rule(min_error) : tensor<?x192xf32> to !even_row
  %1 = blockscale.quantize %y rounding(stochastic, seed = 4) : tensor<192x?xf32> to !even_column
  return %0, %1 : !even_row, !even_column
}
