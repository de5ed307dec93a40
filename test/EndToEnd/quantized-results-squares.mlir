// Products whose kernels quantise their result under scales for several rows, which the
// lanes of a warp find together: squares of 32 and of 16, and 8 rows of 32. Rows of a
// tile that D does not have do not count; scales are those of each row, as the next
// product reads them. Batches, biases, C, all schedules without a swap, groups along K,
// and parts of K that meet in a workspace or in a cluster.

// REQUIRES: mlir
// RUN: blockscale verify %s --num-sms=16 --m=100 --k=512 | FileCheck %s
// RUN: blockscale verify %s --num-sms=16 --m=261 --k=768 --target=sm_103a --seed=5 --conditions=harsh --completion=latest | FileCheck %s
// RUN: blockscale compile %s --emit=tensor | FileCheck %s --check-prefix=MARK
// RUN: blockscale compile %s --emit=kernel > %t.mlir
// RUN: blockscale-opt %t.mlir > /dev/null

// CHECK-NOT: FAIL
// CHECK-COUNT-30: pass
// CHECK-NOT: {{FAIL|pass}}

// MARK-COUNT-8: {blockscale.quantized}
// MARK-NOT: blockscale.quantized

!a = !blockscale.tensor<133x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!w = !blockscale.tensor<288x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!square = !blockscale.tensor<133x288xf8E4M3FN, "e8m0_t32_t32", layout = tiled_128x4>
func.func @squares(%x: !a, %w: !w) -> !square {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<cta_group = 1, tile_n = 64>) : !a, !w -> tensor<133x288xbf16>
  %0 = blockscale.quantize %y : tensor<133x288xbf16> to !square
  return %0 : !square
}
!tall = !blockscale.tensor<133x288xf6E2M3FN, "e8m0_t8_t32", layout = tiled_128x4>
func.func @eight_rows(%x: !a, %w: !w, %c: tensor<133x288xbf16>, %bias: tensor<288xf32>) -> !tall {
  %beta = arith.constant 0.5 : f32
  %y = blockscale.matmul %x, %w beta(%beta) c(%c) bias(%bias) activation(relu) schedule(#blockscale.schedule<cta_group = 2, cluster_m = 2, cluster_n = 2, tile_n = 128, epilogue_warps = 8>) : !a, !w, tensor<133x288xbf16>, tensor<288xf32> -> tensor<133x288xf32>
  %0 = blockscale.quantize %y rule(ceil) rounding(stochastic, seed = 9) : tensor<133x288xf32> to !tall
  return %0 : !tall
}
!nva = !blockscale.tensor<2x133x512xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!nvw = !blockscale.tensor<2x208x512xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!nvq = !blockscale.tensor<2x133x208xf4E2M1FN, "multi_float32_e4m3fn_t16_t16", layout = tiled_128x4>
func.func @nvfp4(%x: !nva, %w: !nvw, %t: tensor<2xf32>) -> !nvq {
  %y = blockscale.matmul %x, %w : !nva, !nvw -> tensor<2x133x208xf16>
  %0 = blockscale.quantize %y tensor_scale(%t : tensor<2xf32>) : tensor<2x133x208xf16> to !nvq
  return %0 : !nvq
}
!any = !blockscale.tensor<?x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!some = !blockscale.tensor<?x288xf8E5M2, "e8m0_t32_t32", layout = tiled_128x4>
func.func @rows(%x: !any, %w: !w) -> !some {
  %y = blockscale.matmul %x, %w : !any, !w -> tensor<?x288xbf16>
  %0 = blockscale.quantize %y rule(round_up) : tensor<?x288xbf16> to !some
  return %0 : !some
}
!h = !blockscale.tensor<133x144xf4E2M1FN, "e4m3fn_t16_t16", layout = tiled_128x4>
func.func @gate_up(%x: !a, %w: !w) -> !h {
  %y = blockscale.matmul %x, %w pairs epilogue(%g, %u) {
    %1 = arith.subf %u, %g : f32
    blockscale.yield %1
  } : !a, !w -> tensor<133x144xbf16>
  %0 = blockscale.quantize %y : tensor<133x144xbf16> to !h
  return %0 : !h
}
func.func @split(%x: !a, %w: !w) -> !square {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<split_k = 2, cluster_k = 1, cta_group = 1, tile_n = 64>) : !a, !w -> tensor<133x288xf32>
  %0 = blockscale.quantize %y : tensor<133x288xf32> to !square
  return %0 : !square
}
func.func @cluster(%x: !a, %w: !w) -> !square {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<split_k = 3, cluster_k = 3, cta_group = 1, tile_n = 128>) : !a, !w -> tensor<133x288xf32>
  %0 = blockscale.quantize %y : tensor<133x288xf32> to !square
  return %0 : !square
}
!ka = !blockscale.tensor<200x?xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
!kb = !blockscale.tensor<288x?xf8E5M2, "e8m0_t32", layout = grouped_128x4>
!kq = !blockscale.tensor<4x200x288xf8E4M3FN, "e8m0_t32_t32", layout = tiled_128x4>
func.func @along_k(%a: !ka, %b: !kb, %ends: tensor<4xi32>) -> !kq {
  %d = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) : !ka, !kb -> tensor<4x200x288xbf16>
  %0 = blockscale.quantize %d : tensor<4x200x288xbf16> to !kq
  return %0 : !kq
}
