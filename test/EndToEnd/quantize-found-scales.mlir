// Kernels that find tensor scales, bit for bit: the largest magnitude lies somewhere
// else in each matrix; of six one has tiny numbers, one zeros, one a NaN, one huge
// numbers and one an infinity. Rows, columns, tiles, both ways, and powers of two, under
// which the scale of a tensor is 1.

// REQUIRES: mlir
// RUN: blockscale verify %s --batch=7 | FileCheck %s
// RUN: blockscale verify %s --batch=6 --target=sm_103a --data=random --seed=7 --conditions=harsh | FileCheck %s --check-prefix=ONCE
// RUN: blockscale verify %s --batch=6 --target=sm_120a --data=exact --seed=3 | FileCheck %s --check-prefix=ONCE
// RUN: blockscale compile %s --no-cubin -o %t
// RUN: FileCheck %s --check-prefix=PLAN < %t/quantize-found-scales.plan.json

// CHECK-NOT: FAIL
// CHECK-COUNT-22: pass
// CHECK-NOT: {{FAIL|pass}}

// ONCE-NOT: FAIL
// ONCE-COUNT-11: pass
// ONCE-NOT: {{FAIL|pass}}

// PLAN: "name": "rows"
// PLAN: "min(
// PLAN-SAME: max_clusters
// PLAN: "cooperative": true

!rows = !blockscale.tensor<?x133x160xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
func.func @rows(%x: tensor<?x133x160xbf16>) -> !rows {
  %0 = blockscale.quantize %x : tensor<?x133x160xbf16> to !rows
  return %0 : !rows
}

// A batch that is known, and blocks that end inside of an atom of scales.
!wide = !blockscale.tensor<6x40x48xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
func.func @wide(%x: tensor<6x40x48xf32>) -> !wide {
  %0 = blockscale.quantize %x : tensor<6x40x48xf32> to !wide
  return %0 : !wide
}

!half = !blockscale.tensor<?x260x64xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
func.func @half(%x: tensor<?x260x64xf16>) -> !half {
  %0 = blockscale.quantize %x rounding(away) : tensor<?x260x64xf16> to !half
  return %0 : !half
}

!random = !blockscale.tensor<?x20x96xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
func.func @random(%x: tensor<?x20x96xbf16>) -> !random {
  %0 = blockscale.quantize %x rounding(stochastic, seed = 9) : tensor<?x20x96xbf16> to !random
  return %0 : !random
}

!search = !blockscale.tensor<?x130x128xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
func.func @search(%x: tensor<?x130x128xbf16>) -> !search {
  %0 = blockscale.quantize %x rule(min_error) : tensor<?x130x128xbf16> to !search
  return %0 : !search
}

!tiles = !blockscale.tensor<?x130x96xf4E2M1FN, "multi_float32_e4m3fn_t16_t16", layout = tiled_128x4>
func.func @tiles(%x: tensor<?x130x96xf32>) -> !tiles {
  %0 = blockscale.quantize %x : tensor<?x130x96xf32> to !tiles
  return %0 : !tiles
}

// Rows of a tile are threads of four warps, which share a CTA with others.
!tall = !blockscale.tensor<?x300x96xf4E2M1FN, "multi_float32_e4m3fn_t128_t16", layout = tiled_128x4>
func.func @tall(%x: tensor<?x300x96xbf16>) -> !tall {
  %0 = blockscale.quantize %x : tensor<?x300x96xbf16> to !tall
  return %0 : !tall
}

// The tensor scale is 1, and nobody waits.
!powers = !blockscale.tensor<?x20x96xf8E4M3FN, "multi_float32_e8m0_t32", layout = tiled_128x4>
func.func @powers(%x: tensor<?x20x96xbf16>) -> !powers {
  %0 = blockscale.quantize %x rule(round_up) : tensor<?x20x96xbf16> to !powers
  return %0 : !powers
}

!columns = !blockscale.tensor<?x133x96xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
func.func @columns(%x: tensor<?x96x133xbf16>) -> !columns {
  %c0 = arith.constant 0 : index
  %b = tensor.dim %x, %c0 : tensor<?x96x133xbf16>
  %e = tensor.empty(%b) : tensor<?x133x96xbf16>
  %t = linalg.transpose ins(%x : tensor<?x96x133xbf16>) outs(%e : tensor<?x133x96xbf16>) permutation = [0, 2, 1]
  %0 = blockscale.quantize %t : tensor<?x133x96xbf16> to !columns
  return %0 : !columns
}

!both = !blockscale.tensor<?x144x160xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!both_x = !blockscale.tensor<?x160x144xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
func.func @both(%x: tensor<?x160x144xf32>) -> (!both_x, !both) {
  %c0 = arith.constant 0 : index
  %b = tensor.dim %x, %c0 : tensor<?x160x144xf32>
  %e = tensor.empty(%b) : tensor<?x144x160xf32>
  %t = linalg.transpose ins(%x : tensor<?x160x144xf32>) outs(%e : tensor<?x144x160xf32>) permutation = [0, 2, 1]
  %0 = blockscale.quantize %x : tensor<?x160x144xf32> to !both_x
  %1 = blockscale.quantize %t : tensor<?x144x160xf32> to !both
  return %0, %1 : !both_x, !both
}

// One of the two has none.
!one = !blockscale.tensor<?x96x160xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!one_x = !blockscale.tensor<?x160x96xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @one(%x: tensor<?x160x96xbf16>) -> (!one_x, !one) {
  %c0 = arith.constant 0 : index
  %b = tensor.dim %x, %c0 : tensor<?x160x96xbf16>
  %e = tensor.empty(%b) : tensor<?x96x160xbf16>
  %t = linalg.transpose ins(%x : tensor<?x160x96xbf16>) outs(%e : tensor<?x96x160xbf16>) permutation = [0, 2, 1]
  %0 = blockscale.quantize %x : tensor<?x160x96xbf16> to !one_x
  %1 = blockscale.quantize %t : tensor<?x96x160xbf16> to !one
  return %0, %1 : !one_x, !one
}
