// Products whose kernels quantise their result in tiles that no thread has as a whole. Where
// warps multiply lanes and warps that have parts of one choose its scale together:
// blocks of more columns than a warp has, tiles of several rows, swapped or not.

// REQUIRES: mlir
// RUN: blockscale verify %s --num-sms=8 --target=sm_120a | FileCheck %s
// RUN: blockscale verify %s --num-sms=8 --target=sm_121a --quantize-on-device --seed=5 --conditions=harsh --completion=latest | FileCheck %s
// RUN: blockscale compile %s --target=sm_120a --emit=tensor | FileCheck %s --check-prefix=MARK

// CHECK-NOT: FAIL
// CHECK-COUNT-72: pass
// CHECK-NOT: {{FAIL|pass}}

// MARK-COUNT-18: {blockscale.quantized}
// MARK-NOT: blockscale.quantized

!a = !blockscale.tensor<133x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!w256 = !blockscale.tensor<256x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!w512 = !blockscale.tensor<512x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @columns(%x: !a, %w: !w256) -> !blockscale.tensor<133x256xf8E4M3FN, "float32_t128"> {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<swap_operands = false>) : !a, !w256 -> tensor<133x256xbf16>
  %0 = blockscale.quantize %y : tensor<133x256xbf16> to !blockscale.tensor<133x256xf8E4M3FN, "float32_t128">
  return %0 : !blockscale.tensor<133x256xf8E4M3FN, "float32_t128">
}
func.func @columns_swapped(%x: !a, %w: !w256) -> !blockscale.tensor<133x256xf8E5M2, "float32_t128"> {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<swap_operands = true>) : !a, !w256 -> tensor<133x256xf32>
  %0 = blockscale.quantize %y rule(min_error) : tensor<133x256xf32> to !blockscale.tensor<133x256xf8E5M2, "float32_t128">
  return %0 : !blockscale.tensor<133x256xf8E5M2, "float32_t128">
}
func.func @blocks(%x: !a, %w: !w256) -> !blockscale.tensor<133x256xf6E3M2FN, "e8m0_t128", layout = tiled_128x4> {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<swap_operands = false>) : !a, !w256 -> tensor<133x256xf16>
  %0 = blockscale.quantize %y rule(ceil) rounding(away) : tensor<133x256xf16> to !blockscale.tensor<133x256xf6E3M2FN, "e8m0_t128", layout = tiled_128x4>
  return %0 : !blockscale.tensor<133x256xf6E3M2FN, "e8m0_t128", layout = tiled_128x4>
}
func.func @blocks_swapped(%x: !a, %w: !w256) -> !blockscale.tensor<133x256xf8E4M3FN, "e8m0_t128", layout = tiled_128x4> {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<swap_operands = true>) : !a, !w256 -> tensor<133x256xbf16>
  %0 = blockscale.quantize %y rounding(stochastic, seed = 9) : tensor<133x256xbf16> to !blockscale.tensor<133x256xf8E4M3FN, "e8m0_t128", layout = tiled_128x4>
  return %0 : !blockscale.tensor<133x256xf8E4M3FN, "e8m0_t128", layout = tiled_128x4>
}
func.func @squares(%x: !a, %w: !w256) -> !blockscale.tensor<133x256xf8E4M3FN, "float32_t128_t128"> {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<swap_operands = false>) : !a, !w256 -> tensor<133x256xbf16>
  %0 = blockscale.quantize %y : tensor<133x256xbf16> to !blockscale.tensor<133x256xf8E4M3FN, "float32_t128_t128">
  return %0 : !blockscale.tensor<133x256xf8E4M3FN, "float32_t128_t128">
}
func.func @squares_swapped(%x: !a, %w: !w256) -> !blockscale.tensor<133x256xf8E4M3FN, "float32_t128_t128"> {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<swap_operands = true>) : !a, !w256 -> tensor<133x256xf32>
  %0 = blockscale.quantize %y : tensor<133x256xf32> to !blockscale.tensor<133x256xf8E4M3FN, "float32_t128_t128">
  return %0 : !blockscale.tensor<133x256xf8E4M3FN, "float32_t128_t128">
}
func.func @few(%x: !a, %w: !w256) -> !blockscale.tensor<133x256xf8E4M3FN, "e8m0_t8_t32", layout = tiled_128x4> {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<swap_operands = false>) : !a, !w256 -> tensor<133x256xbf16>
  %0 = blockscale.quantize %y rule(min_error) : tensor<133x256xbf16> to !blockscale.tensor<133x256xf8E4M3FN, "e8m0_t8_t32", layout = tiled_128x4>
  return %0 : !blockscale.tensor<133x256xf8E4M3FN, "e8m0_t8_t32", layout = tiled_128x4>
}
func.func @few_swapped(%x: !a, %w: !w256) -> !blockscale.tensor<133x256xf8E4M3FN, "e8m0_t4_t32", layout = tiled_128x4> {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<swap_operands = true>) : !a, !w256 -> tensor<133x256xbf16>
  %0 = blockscale.quantize %y : tensor<133x256xbf16> to !blockscale.tensor<133x256xf8E4M3FN, "e8m0_t4_t32", layout = tiled_128x4>
  return %0 : !blockscale.tensor<133x256xf8E4M3FN, "e8m0_t4_t32", layout = tiled_128x4>
}
func.func @sixteen(%x: !a, %w: !w512) -> !blockscale.tensor<133x256xf4E2M1FN, "e4m3fn_t16_t16", layout = tiled_128x4> {
  %y = blockscale.matmul %x, %w pairs epilogue(%g, %u) {
    %zero = arith.constant 0.0 : f32
    %0 = arith.maximumf %g, %zero : f32
    %1 = arith.mulf %0, %u : f32
    blockscale.yield %1
  } schedule(#blockscale.schedule<swap_operands = false>) : !a, !w512 -> tensor<133x256xbf16>
  %0 = blockscale.quantize %y rule(min_error) : tensor<133x256xbf16> to !blockscale.tensor<133x256xf4E2M1FN, "e4m3fn_t16_t16", layout = tiled_128x4>
  return %0 : !blockscale.tensor<133x256xf4E2M1FN, "e4m3fn_t16_t16", layout = tiled_128x4>
}
func.func @sixteen_swapped(%x: !a, %w: !w256) -> !blockscale.tensor<133x256xf4E2M1FN, "e4m3fn_t16_t16", layout = tiled_128x4> {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<swap_operands = true, split_k = 2>) : !a, !w256 -> tensor<133x256xbf16>
  %0 = blockscale.quantize %y rule(min_error) : tensor<133x256xbf16> to !blockscale.tensor<133x256xf4E2M1FN, "e4m3fn_t16_t16", layout = tiled_128x4>
  return %0 : !blockscale.tensor<133x256xf4E2M1FN, "e4m3fn_t16_t16", layout = tiled_128x4>
}
func.func @gate_up(%x: !a, %w: !w512) -> !blockscale.tensor<133x256xf8E5M2, "e8m0_t64_t64", layout = tiled_128x4> {
  %y = blockscale.matmul %x, %w pairs epilogue(%g, %u) {
    %zero = arith.constant 0.0 : f32
    %0 = arith.maximumf %g, %zero : f32
    %1 = arith.mulf %0, %u : f32
    blockscale.yield %1
  } schedule(#blockscale.schedule<swap_operands = false, tile_n = 128>) : !a, !w512 -> tensor<133x256xbf16>
  %0 = blockscale.quantize %y : tensor<133x256xbf16> to !blockscale.tensor<133x256xf8E5M2, "e8m0_t64_t64", layout = tiled_128x4>
  return %0 : !blockscale.tensor<133x256xf8E5M2, "e8m0_t64_t64", layout = tiled_128x4>
}
func.func @gate_up_swapped(%x: !a, %w: !w512) -> !blockscale.tensor<133x256xf8E4M3FN, "e8m0_t64_t64", layout = tiled_128x4> {
  %y = blockscale.matmul %x, %w pairs epilogue(%g, %u) {
    %zero = arith.constant 0.0 : f32
    %0 = arith.maximumf %g, %zero : f32
    %1 = arith.mulf %0, %u : f32
    blockscale.yield %1
  } schedule(#blockscale.schedule<swap_operands = true, tile_n = 128>) : !a, !w512 -> tensor<133x256xbf16>
  %0 = blockscale.quantize %y : tensor<133x256xbf16> to !blockscale.tensor<133x256xf8E4M3FN, "e8m0_t64_t64", layout = tiled_128x4>
  return %0 : !blockscale.tensor<133x256xf8E4M3FN, "e8m0_t64_t64", layout = tiled_128x4>
}
func.func @silu(%x: !a, %w: !w512) -> !blockscale.tensor<133x256xf8E4M3FN, "float32_t64"> {
  %y = blockscale.matmul %x, %w pairs epilogue(%g, %u) {
    %zero = arith.constant 0.0 : f32
    %0 = arith.maximumf %g, %zero : f32
    %1 = arith.mulf %0, %u : f32
    blockscale.yield %1
  } schedule(#blockscale.schedule<swap_operands = true>) : !a, !w512 -> tensor<133x256xbf16>
  %0 = blockscale.quantize %y : tensor<133x256xbf16> to !blockscale.tensor<133x256xf8E4M3FN, "float32_t64">
  return %0 : !blockscale.tensor<133x256xf8E4M3FN, "float32_t64">
}
func.func @rows(%x: !a, %w: !w256) -> !blockscale.tensor<133x256xf8E4M3FN, "e8m0_t64_t32", layout = tiled_128x4> {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<swap_operands = false, tile_n = 64>) : !a, !w256 -> tensor<133x256xbf16>
  %0 = blockscale.quantize %y rule(min_error) : tensor<133x256xbf16> to !blockscale.tensor<133x256xf8E4M3FN, "e8m0_t64_t32", layout = tiled_128x4>
  return %0 : !blockscale.tensor<133x256xf8E4M3FN, "e8m0_t64_t32", layout = tiled_128x4>
}
func.func @rows_swapped(%x: !a, %w: !w256) -> !blockscale.tensor<133x256xf8E4M3FN, "e8m0_t128_t32", layout = tiled_128x4> {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<swap_operands = true, tile_n = 128>) : !a, !w256 -> tensor<133x256xbf16>
  %0 = blockscale.quantize %y : tensor<133x256xbf16> to !blockscale.tensor<133x256xf8E4M3FN, "e8m0_t128_t32", layout = tiled_128x4>
  return %0 : !blockscale.tensor<133x256xf8E4M3FN, "e8m0_t128_t32", layout = tiled_128x4>
}
!nva = !blockscale.tensor<2x133x256xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!nvw = !blockscale.tensor<2x208x256xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!nvq = !blockscale.tensor<2x133x208xf4E2M1FN, "multi_float32_e4m3fn_t16_t16", layout = tiled_128x4>
func.func @nvfp4(%x: !nva, %w: !nvw, %t: tensor<2xf32>) -> !nvq {
  %y = blockscale.matmul %x, %w : !nva, !nvw -> tensor<2x133x208xf16>
  %0 = blockscale.quantize %y tensor_scale(%t : tensor<2xf32>) rule(min_error) : tensor<2x133x208xf16> to !nvq
  return %0 : !nvq
}
!any = !blockscale.tensor<?x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!some = !blockscale.tensor<?x?xf8E4M3FN, "float32_t64_t64">
func.func @sizes(%x: !any, %w: !any) -> !some {
  %y = blockscale.matmul %x, %w : !any, !any -> tensor<?x?xbf16>
  %0 = blockscale.quantize %y : tensor<?x?xbf16> to !some
  return %0 : !some
}
!pa = !blockscale.tensor<133x256xf8E4M3FN, "float32_t128">
!pw = !blockscale.tensor<256x256xf8E4M3FN, "float32_t128_t128">
!ps = !blockscale.tensor<133x256xf8E4M3FN, "float32_t64_t64">
func.func @promoted(%x: !pa, %w: !pw) -> !ps {
  %y = blockscale.matmul %x, %w : !pa, !pw -> tensor<133x256xbf16>
  %0 = blockscale.quantize %y : tensor<133x256xbf16> to !ps
  return %0 : !ps
}
