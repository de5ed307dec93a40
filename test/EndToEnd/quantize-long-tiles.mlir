// Kernels that quantise with a scale for tiles longer than the blocks of
// instructions, which memory has once for each block, bit for bit: of one row and
// several, of more than an atom of scales, rows, transposes, and both in one pass;
// every kind of scale, the smaller of two errors, rounding at random; tiles that are
// cut off along both, dynamic sizes, matrices in batches.

// REQUIRES: mlir
// RUN: blockscale verify %s --m=133 --k=352 | FileCheck %s
// RUN: blockscale verify %s --m=300 --k=608 --target=sm_103a --data=random --seed=7 --conditions=harsh | FileCheck %s --check-prefix=ONCE
// RUN: blockscale verify %s --m=33 --k=160 --target=sm_120a --data=exact --seed=3 | FileCheck %s --check-prefix=ONCE

// CHECK-NOT: FAIL
// CHECK-COUNT-22: pass
// CHECK-NOT: {{FAIL|pass}}

// ONCE-NOT: FAIL
// ONCE-COUNT-11: pass
// ONCE-NOT: {{FAIL|pass}}

!long = !blockscale.tensor<?x?xf8E4M3FN, "e8m0_t128", layout = tiled_128x4>
func.func @mxfp8(%x: tensor<?x?xbf16>) -> !long {
  %0 = blockscale.quantize %x rule(round_up) : tensor<?x?xbf16> to !long
  return %0 : !long
}

!two = !blockscale.tensor<2x70x384xf6E3M2FN, "e8m0_t64", layout = tiled_128x4>
func.func @mxfp6(%x: tensor<2x70x384xf32>) -> !two {
  %0 = blockscale.quantize %x rounding(stochastic, seed = 5) : tensor<2x70x384xf32> to !two
  return %0 : !two
}

!longest = !blockscale.tensor<2x?x?xf8E5M2, "e8m0_t256", layout = tiled_128x4>
func.func @two_atoms(%x: tensor<2x?x?xf16>) -> !longest {
  %0 = blockscale.quantize %x rule(min_error) : tensor<2x?x?xf16> to !longest
  return %0 : !longest
}

!square = !blockscale.tensor<?x?xf8E4M3FN, "e8m0_t128_t128", layout = tiled_128x4>
func.func @square(%x: tensor<?x?xbf16>) -> !square {
  %0 = blockscale.quantize %x : tensor<?x?xbf16> to !square
  return %0 : !square
}

!tall = !blockscale.tensor<?x?xf8E4M3FN, "e8m0_t256_t128", layout = tiled_128x4>
func.func @tall(%x: tensor<?x?xf32>) -> !tall {
  %0 = blockscale.quantize %x rounding(away) : tensor<?x?xf32> to !tall
  return %0 : !tall
}

!narrow = !blockscale.tensor<2x?x?xf4E2M1FN, "e8m0_t256_t32", layout = tiled_128x4>
func.func @narrow(%x: tensor<2x?x?xbf16>) -> !narrow {
  %0 = blockscale.quantize %x rounding(zero) : tensor<2x?x?xbf16> to !narrow
  return %0 : !narrow
}

!nvfp4 = !blockscale.tensor<4x70x192xf4E2M1FN, "multi_float32_e4m3fn_t4_t64", layout = tiled_128x4>
func.func @nvfp4(%x: tensor<4x70x192xbf16>, %t: tensor<4xf32>) -> !nvfp4 {
  %0 = blockscale.quantize %x tensor_scale(%t : tensor<4xf32>) rule(min_error) : tensor<4x70x192xbf16> to !nvfp4
  return %0 : !nvfp4
}

!wide = !blockscale.tensor<70x?xf4E2M1FN, "e4m3fn_t16_t256", layout = tiled_128x4>
func.func @wide(%x: tensor<70x?xf16>) -> !wide {
  %0 = blockscale.quantize %x : tensor<70x?xf16> to !wide
  return %0 : !wide
}

!columns = !blockscale.tensor<2x133x384xf8E4M3FN, "e8m0_t128", layout = tiled_128x4>
func.func @columns(%x: tensor<2x384x133xbf16>) -> !columns {
  %e = tensor.empty() : tensor<2x133x384xbf16>
  %t = linalg.transpose ins(%x : tensor<2x384x133xbf16>) outs(%e : tensor<2x133x384xbf16>) permutation = [0, 2, 1]
  %0 = blockscale.quantize %t : tensor<2x133x384xbf16> to !columns
  return %0 : !columns
}

!turned = !blockscale.tensor<133x384xf4E2M1FN, "e8m0_t64_t64", layout = tiled_128x4>
func.func @square_columns(%x: tensor<384x133xf32>) -> !turned {
  %e = tensor.empty() : tensor<133x384xf32>
  %t = linalg.transpose ins(%x : tensor<384x133xf32>) outs(%e : tensor<133x384xf32>) permutation = [1, 0]
  %0 = blockscale.quantize %t : tensor<133x384xf32> to !turned
  return %0 : !turned
}

!rows = !blockscale.tensor<2x160x384xf8E4M3FN, "e8m0_t128_t128", layout = tiled_128x4>
!both = !blockscale.tensor<2x384x160xf4E2M1FN, "multi_float32_e4m3fn_t8_t32", layout = tiled_128x4>
func.func @both(%x: tensor<2x160x384xbf16>, %f: tensor<2xf32>) -> (!rows, !both) {
  %e = tensor.empty() : tensor<2x384x160xbf16>
  %t = linalg.transpose ins(%x : tensor<2x160x384xbf16>) outs(%e : tensor<2x384x160xbf16>) permutation = [0, 2, 1]
  %0 = blockscale.quantize %x : tensor<2x160x384xbf16> to !rows
  %1 = blockscale.quantize %t tensor_scale(%f : tensor<2xf32>) : tensor<2x384x160xbf16> to !both
  return %0, %1 : !rows, !both
}
