// Kernels whose threads have two neighbouring columns, bit for bit: odd and even
// numbers of columns, known and not, which end inside of a pair, of a warp's columns
// and of a CTA's tile, the last column of a matrix before the first of the next one,
// and half of a tile of rows both ways. The data have NaNs, infinities, zeros of both
// signs, subnormals and ties.

// REQUIRES: mlir
// RUN: blockscale verify %s --m=1,2,63,64,129,130,192 | FileCheck %s
// RUN: blockscale verify %s --m=65 --target=sm_120a --seed=3 --conditions=harsh | FileCheck %s --check-prefix=ONCE
// RUN: blockscale verify %s --m=66 --target=sm_103a --seed=5 --conditions=harsh | FileCheck %s --check-prefix=ONCE
// RUN: blockscale compile %s --no-cubin -o %t
// RUN: FileCheck %s --check-prefix=PTX --input-file=%t/quantize-column-pairs.ptx

// Of an odd number of columns each is loaded for itself, of a dynamic one either way.
// PTX-LABEL: .entry odd(
// PTX: .reqntid 256
// PTX-NOT: ld.global.v2.b16
// PTX: ld.global.b16
// PTX-LABEL: .entry even(
// PTX: .reqntid 256
// PTX-NOT: ld.global.b16
// PTX: ld.global.v2.b16
// PTX-NOT: ld.global.b16
// PTX-LABEL: .entry dynamic(
// PTX: .reqntid 256
// PTX-DAG: ld.global.b16
// PTX-DAG: ld.global.b32
// Two columns of long blocks, which are rounded at random, would spill.
// PTX-LABEL: .entry random(
// PTX: .reqntid 512

// CHECK-NOT: FAIL
// CHECK-COUNT-34: pass
// CHECK-NOT: {{FAIL|pass}}

// ONCE-NOT: FAIL
// ONCE-COUNT-10: pass
// ONCE-NOT: {{FAIL|pass}}

!odd = !blockscale.tensor<2x131x96xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @odd(%x: tensor<2x96x131xf16>) -> !odd {
  %e = tensor.empty() : tensor<2x131x96xf16>
  %t = linalg.transpose ins(%x : tensor<2x96x131xf16>) outs(%e : tensor<2x131x96xf16>) permutation = [0, 2, 1]
  %0 = blockscale.quantize %t : tensor<2x131x96xf16> to !odd
  return %0 : !odd
}

!even = !blockscale.tensor<2x130x160xf6E3M2FN, "e8m0_t32", layout = tiled_128x4>
func.func @even(%x: tensor<2x160x130xbf16>) -> !even {
  %e = tensor.empty() : tensor<2x130x160xbf16>
  %t = linalg.transpose ins(%x : tensor<2x160x130xbf16>) outs(%e : tensor<2x130x160xbf16>) permutation = [0, 2, 1]
  %0 = blockscale.quantize %t rule(ceil) : tensor<2x130x160xbf16> to !even
  return %0 : !even
}

!dynamic = !blockscale.tensor<2x?x80xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
func.func @dynamic(%x: tensor<2x80x?xbf16>, %t: tensor<2xf32>) -> !dynamic {
  %c = arith.constant 2 : index
  %n = tensor.dim %x, %c : tensor<2x80x?xbf16>
  %e = tensor.empty(%n) : tensor<2x?x80xbf16>
  %y = linalg.transpose ins(%x : tensor<2x80x?xbf16>) outs(%e : tensor<2x?x80xbf16>) permutation = [0, 2, 1]
  %0 = blockscale.quantize %y tensor_scale(%t : tensor<2xf32>) rule(min_error) : tensor<2x?x80xbf16> to !dynamic
  return %0 : !dynamic
}

!counted = !blockscale.tensor<2x?x48xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
func.func @counted(%x: tensor<2x48x?xf16>, %t: tensor<2xf32>) -> !counted {
  %c = arith.constant 2 : index
  %n = tensor.dim %x, %c : tensor<2x48x?xf16>
  %e = tensor.empty(%n) : tensor<2x?x48xf16>
  %y = linalg.transpose ins(%x : tensor<2x48x?xf16>) outs(%e : tensor<2x?x48xf16>) permutation = [0, 2, 1]
  %0 = blockscale.quantize %y tensor_scale(%t : tensor<2xf32>) rounding(stochastic, seed = 5) : tensor<2x?x48xf16> to !counted
  return %0 : !counted
}

!random = !blockscale.tensor<130x96xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @random(%x: tensor<96x130xbf16>) -> !random {
  %e = tensor.empty() : tensor<130x96xbf16>
  %t = linalg.transpose ins(%x : tensor<96x130xbf16>) outs(%e : tensor<130x96xbf16>) permutation = [1, 0]
  %0 = blockscale.quantize %t rounding(stochastic, seed = 9) : tensor<130x96xbf16> to !random
  return %0 : !random
}
