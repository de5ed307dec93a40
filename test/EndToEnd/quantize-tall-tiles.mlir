// Kernels that quantise with a scale for tiles of 64 and 128 rows, which two or four
// warps find together, bit for bit: rows, transposes, and both in one pass; powers of
// two, e4m3 with tensor scales, the smaller of two errors, rounding at random; tiles
// that are cut off, dynamic sizes, matrices in batches.

// REQUIRES: mlir
// RUN: blockscale verify %s --m=133 --k=96 | FileCheck %s
// RUN: blockscale verify %s --m=320 --k=352 --target=sm_103a --data=random --seed=7 --conditions=harsh | FileCheck %s --check-prefix=ONCE
// RUN: blockscale verify %s --m=33 --k=160 --target=sm_120a --data=exact --seed=3 | FileCheck %s --check-prefix=ONCE

// CHECK-NOT: FAIL
// CHECK-COUNT-12: pass
// CHECK-NOT: {{FAIL|pass}}

// ONCE-NOT: FAIL
// ONCE-COUNT-6: pass
// ONCE-NOT: {{FAIL|pass}}

!tall = !blockscale.tensor<?x?xf8E4M3FN, "e8m0_t64_t32", layout = tiled_128x4>
func.func @mxfp8(%x: tensor<?x?xbf16>) -> !tall {
  %0 = blockscale.quantize %x rule(round_up) : tensor<?x?xbf16> to !tall
  return %0 : !tall
}

!whole = !blockscale.tensor<2x261x352xf6E3M2FN, "e8m0_t128_t32", layout = tiled_128x4>
func.func @mxfp6(%x: tensor<2x261x352xf32>) -> !whole {
  %0 = blockscale.quantize %x rounding(stochastic, seed = 5) : tensor<2x261x352xf32> to !whole
  return %0 : !whole
}

!nvfp4 = !blockscale.tensor<4x?x144xf4E2M1FN, "multi_float32_e4m3fn_t128_t16", layout = tiled_128x4>
func.func @nvfp4(%x: tensor<4x?x144xbf16>, %t: tensor<4xf32>) -> !nvfp4 {
  %0 = blockscale.quantize %x tensor_scale(%t : tensor<4xf32>) rule(min_error) : tensor<4x?x144xbf16> to !nvfp4
  return %0 : !nvfp4
}

!search = !blockscale.tensor<2x200x160xf8E5M2, "e8m0_t64_t32", layout = tiled_128x4>
func.func @search(%x: tensor<2x200x160xf16>) -> !search {
  %0 = blockscale.quantize %x rule(min_error) : tensor<2x200x160xf16> to !search
  return %0 : !search
}

!columns = !blockscale.tensor<2x133x160xf8E4M3FN, "e8m0_t64_t32", layout = tiled_128x4>
func.func @columns(%x: tensor<2x160x133xbf16>) -> !columns {
  %e = tensor.empty() : tensor<2x133x160xbf16>
  %t = linalg.transpose ins(%x : tensor<2x160x133xbf16>) outs(%e : tensor<2x133x160xbf16>) permutation = [0, 2, 1]
  %0 = blockscale.quantize %t : tensor<2x133x160xbf16> to !columns
  return %0 : !columns
}

!rows = !blockscale.tensor<2x160x224xf8E4M3FN, "e8m0_t128_t32", layout = tiled_128x4>
!turned = !blockscale.tensor<2x224x160xf4E2M1FN, "multi_float32_e4m3fn_t64_t16", layout = tiled_128x4>
func.func @both(%x: tensor<2x160x224xbf16>, %f: tensor<2xf32>) -> (!rows, !turned) {
  %e = tensor.empty() : tensor<2x224x160xbf16>
  %t = linalg.transpose ins(%x : tensor<2x160x224xbf16>) outs(%e : tensor<2x224x160xbf16>) permutation = [0, 2, 1]
  %0 = blockscale.quantize %x : tensor<2x160x224xbf16> to !rows
  %1 = blockscale.quantize %t tensor_scale(%f : tensor<2xf32>) : tensor<2x224x160xbf16> to !turned
  return %0, %1 : !rows, !turned
}
