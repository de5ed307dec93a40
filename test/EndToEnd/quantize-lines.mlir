// Kernels that quantise a matrix and its transpose of which at least one has a scale for
// all of a row, bit for bit: of both with sizes that are not known and end inside of a CTA,
// beside tiles of instructions and given tensor scales, beside tiles of several rows.

// REQUIRES: mlir
// RUN: blockscale verify %s --m=32,160 --k=96 --batch=2 | FileCheck %s
// RUN: blockscale verify %s --target=sm_120a --m=64 --k=544 --batch=1 --data=random --seed=7 --conditions=harsh | FileCheck %s --check-prefix=ONCE

// CHECK-NOT: FAIL
// CHECK-COUNT-8: pass
// CHECK-NOT: {{FAIL|pass}}

// ONCE-NOT: FAIL
// ONCE-COUNT-3: pass
// ONCE-NOT: {{FAIL|pass}}

// RUN: blockscale compile %s --no-cubin -o %t
// RUN: FileCheck %s --check-prefix=PLAN < %t/quantize-lines.plan.json
// PLAN: "name": "lines",
// PLAN: "grid": [
// PLAN-NEXT: "ceildiv(M * batch * 32, 512) + ceildiv(K, 32) * batch",
// PLAN: "block": [
// PLAN-NEXT: 512,

!rows = !blockscale.tensor<?x?x?xf8E4M3FN, "float32_t0">
func.func @lines(%x: tensor<?x?x?xbf16>) -> (!rows, !rows) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %b = tensor.dim %x, %c0 : tensor<?x?x?xbf16>
  %m = tensor.dim %x, %c1 : tensor<?x?x?xbf16>
  %k = tensor.dim %x, %c2 : tensor<?x?x?xbf16>
  %e = tensor.empty(%b, %k, %m) : tensor<?x?x?xbf16>
  %t = linalg.transpose ins(%x : tensor<?x?x?xbf16>) outs(%e : tensor<?x?x?xbf16>) permutation = [0, 2, 1]
  %0 = blockscale.quantize %x : tensor<?x?x?xbf16> to !rows
  %1 = blockscale.quantize %t rounding(away) : tensor<?x?x?xbf16> to !rows
  return %0, %1 : !rows, !rows
}

!tokens = !blockscale.tensor<3x80x160xf8E5M2, "bfloat16_t0">
!blocks_t = !blockscale.tensor<3x160x80xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
func.func @tokens(%x: tensor<3x80x160xf32>, %f: tensor<3xf32>) -> (!tokens, !blocks_t) {
  %e = tensor.empty() : tensor<3x160x80xf32>
  %t = linalg.transpose ins(%x : tensor<3x80x160xf32>) outs(%e : tensor<3x160x80xf32>) permutation = [0, 2, 1]
  %0 = blockscale.quantize %x rounding(stochastic, seed = 3) : tensor<3x80x160xf32> to !tokens
  %1 = blockscale.quantize %t tensor_scale(%f : tensor<3xf32>) : tensor<3x160x80xf32> to !blocks_t
  return %0, %1 : !tokens, !blocks_t
}

!tiles = !blockscale.tensor<160x288xf6E2M3FN, "e8m0_t64_t32", layout = tiled_128x4>
!channels = !blockscale.tensor<288x160xi8, "float32_t0">
func.func @channels(%x: tensor<160x288xf16>) -> (!channels, !tiles) {
  %e = tensor.empty() : tensor<288x160xf16>
  %t = linalg.transpose ins(%x : tensor<160x288xf16>) outs(%e : tensor<288x160xf16>) permutation = [1, 0]
  %1 = blockscale.quantize %t : tensor<288x160xf16> to !channels
  %0 = blockscale.quantize %x rule(round_up) : tensor<160x288xf16> to !tiles
  return %1, %0 : !channels, !tiles
}
