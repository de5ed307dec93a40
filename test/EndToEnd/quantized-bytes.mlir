// Quantised results of products of bytes, whose sums are integers until they are scaled:
// rows as they are and operands swapped, long tiles, tiles of several rows, pairs of
// columns, one CTA and two, groups.

// REQUIRES: mlir
// RUN: blockscale verify %s --num-sms=8 --m=136 | FileCheck %s
// RUN: blockscale verify %s --num-sms=6 --m=37 --data=random --seed=5 --conditions=harsh --completion=latest | FileCheck %s --check-prefix=ONCE
// RUN: blockscale verify %s --num-sms=8 --m=70 --target=sm_110a --data=exact | FileCheck %s --check-prefix=ONCE

// CHECK-NOT: FAIL
// CHECK-COUNT-28: pass
// CHECK-NOT: {{FAIL|pass}}

// ONCE-NOT: FAIL
// ONCE-COUNT-14: pass
// ONCE-NOT: {{FAIL|pass}}

!a = !blockscale.tensor<?x512xi8, "float32_t0">
!w = !blockscale.tensor<512x512xi8, "float32_t0">
!f = !blockscale.tensor<?x512xf8E4M3FN, "float32_t128">
func.func @chosen(%x: !a, %w: !w) -> !f {
  %y = blockscale.matmul %x, %w : !a, !w -> tensor<?x512xbf16>
  %0 = blockscale.quantize %y : tensor<?x512xbf16> to !f
  return %0 : !f
}

!mx = !blockscale.tensor<?x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @swapped(%x: !a, %w: !w, %v: tensor<512xf32>) -> !mx {
  %y = blockscale.matmul %x, %w bias(%v) activation(relu) schedule(#blockscale.schedule<swap_operands = true, tile_n = 64, cta_group = 1>) : !a, !w, tensor<512xf32> -> tensor<?x512xf32>
  %0 = blockscale.quantize %y : tensor<?x512xf32> to !mx
  return %0 : !mx
}

!mx64 = !blockscale.tensor<?x512xf8E5M2, "e8m0_t64", layout = tiled_128x4>
func.func @swapped_pair(%x: !a, %w: !w) -> !mx64 {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<swap_operands = true, tile_n = 128, cta_group = 2>) : !a, !w -> tensor<?x512xf32>
  %0 = blockscale.quantize %y : tensor<?x512xf32> to !mx64
  return %0 : !mx64
}

func.func @straight(%x: !a, %w: !w) -> !mx {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<swap_operands = false, tile_n = 128>) : !a, !w -> tensor<?x512xbf16>
  %0 = blockscale.quantize %y : tensor<?x512xbf16> to !mx
  return %0 : !mx
}

!nv = !blockscale.tensor<?x256xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!sign = !blockscale.tensor<512x512xi8, "float32">
func.func @gated(%x: !a, %w: !sign) -> !nv {
  %y = blockscale.matmul %x, %w pairs epilogue(%g, %u) {
    %0 = arith.mulf %u, %g : f32
    blockscale.yield %0
  } schedule(#blockscale.schedule<swap_operands = true, tile_n = 128>) : !a, !sign -> tensor<?x256xf32>
  %0 = blockscale.quantize %y : tensor<?x256xf32> to !nv
  return %0 : !nv
}

!square = !blockscale.tensor<?x512xf8E4M3FN, "e8m0_t32_t32", layout = tiled_128x4>
func.func @squares(%x: !a, %w: !w) -> !square {
  %y = blockscale.matmul %x, %w : !a, !w -> tensor<?x512xbf16>
  %0 = blockscale.quantize %y : tensor<?x512xbf16> to !square
  return %0 : !square
}

!long = !blockscale.tensor<?x512xf8E4M3FN, "float32_t256">
func.func @long(%x: !a, %w: !w) -> !long {
  %y = blockscale.matmul %x, %w : !a, !w -> tensor<?x512xbf16>
  %0 = blockscale.quantize %y : tensor<?x512xbf16> to !long
  return %0 : !long
}
