// Kernels that quantise for sparse instructions, which read a scale for twice as many
// elements along K, bit for bit: 64 of powers of two, 32 of e4m3, longer tiles, which
// have the scale once for each of those; rows and transposes, every element that such
// instructions read, the smaller of two errors, rounding at random.

// REQUIRES: mlir
// RUN: blockscale verify %s --m=133 --k=320 | FileCheck %s
// RUN: blockscale verify %s --m=70 --k=192 --target=sm_103a --data=random --seed=7 --conditions=harsh | FileCheck %s --check-prefix=ONCE
// RUN: blockscale verify %s --m=33 --k=64 --target=sm_120a --data=exact --seed=3 | FileCheck %s --check-prefix=ONCE

// CHECK-NOT: FAIL
// CHECK-COUNT-14: pass
// CHECK-NOT: {{FAIL|pass}}

// ONCE-NOT: FAIL
// ONCE-COUNT-7: pass
// ONCE-NOT: {{FAIL|pass}}

!long = !blockscale.tensor<?x?xf8E4M3FN, "e8m0_t64", layout = tiled_128x4>
func.func @mxfp8(%x: tensor<?x?xbf16>) -> !long {
  %0 = blockscale.quantize %x rule(round_up) {blockscale.for_sparse} : tensor<?x?xbf16> to !long
  return %0 : !long
}

!low = !blockscale.tensor<2x70x320xf6E3M2FN, "e8m0_t64", layout = tiled_128x4>
func.func @mxfp6(%x: tensor<2x70x320xf32>) -> !low {
  %0 = blockscale.quantize %x rounding(stochastic, seed = 5) {blockscale.for_sparse} : tensor<2x70x320xf32> to !low
  return %0 : !low
}

!mxfp4 = !blockscale.tensor<2x?x?xf4E2M1FN, "e8m0_t64", layout = tiled_128x4>
func.func @mxfp4(%x: tensor<2x?x?xf16>) -> !mxfp4 {
  %0 = blockscale.quantize %x rule(min_error) {blockscale.for_sparse} : tensor<2x?x?xf16> to !mxfp4
  return %0 : !mxfp4
}

!nvfp4 = !blockscale.tensor<4x?x192xf4E2M1FN, "multi_float32_e4m3fn_t32", layout = tiled_128x4>
func.func @nvfp4(%x: tensor<4x?x192xbf16>, %t: tensor<4xf32>) -> !nvfp4 {
  %0 = blockscale.quantize %x tensor_scale(%t : tensor<4xf32>) rule(min_error) {blockscale.for_sparse} : tensor<4x?x192xbf16> to !nvfp4
  return %0 : !nvfp4
}

!square = !blockscale.tensor<?x?xf8E5M2, "e8m0_t64_t128", layout = tiled_128x4>
func.func @square(%x: tensor<?x?xbf16>) -> !square {
  %0 = blockscale.quantize %x {blockscale.for_sparse} : tensor<?x?xbf16> to !square
  return %0 : !square
}

!columns = !blockscale.tensor<2x133x320xf8E4M3FN, "e8m0_t64", layout = tiled_128x4>
func.func @columns(%x: tensor<2x320x133xbf16>) -> !columns {
  %e = tensor.empty() : tensor<2x133x320xbf16>
  %t = linalg.transpose ins(%x : tensor<2x320x133xbf16>) outs(%e : tensor<2x133x320xbf16>) permutation = [0, 2, 1]
  %0 = blockscale.quantize %t {blockscale.for_sparse} : tensor<2x133x320xbf16> to !columns
  return %0 : !columns
}

!turned = !blockscale.tensor<133x256xf4E2M1FN, "e4m3fn_t8_t64", layout = tiled_128x4>
func.func @tall_columns(%x: tensor<256x133xf32>) -> !turned {
  %e = tensor.empty() : tensor<133x256xf32>
  %t = linalg.transpose ins(%x : tensor<256x133xf32>) outs(%e : tensor<133x256xf32>) permutation = [1, 0]
  %0 = blockscale.quantize %t rounding(away) {blockscale.for_sparse} : tensor<133x256xf32> to !turned
  return %0 : !turned
}
