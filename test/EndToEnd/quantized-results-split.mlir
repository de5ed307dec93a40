// Results that are quantised by the CTA that adds up parts of K last: all formats of
// scales, with operands swapped too, pairs of columns, groups of eight instructions, tiles
// that are shared out, warps that multiply.

// REQUIRES: mlir
// RUN: blockscale verify %s --num-sms=16 | FileCheck %s
// RUN: blockscale verify %s --num-sms=16 --target=sm_110a --seed=5 --conditions=harsh --completion=latest | FileCheck %s
// RUN: sed 's/, cta_group = [12]//; s/stream_k = 5, //' %s > %t.mlir
// RUN: blockscale verify %t.mlir --target=sm_120a --conditions=harsh --seed=3 | FileCheck %s --check-prefix=WARPS
// RUN: blockscale compile %s --emit=tensor | FileCheck %s --check-prefix=MARK

// CHECK-NOT: FAIL
// CHECK-COUNT-36: pass
// CHECK-NOT: {{FAIL|pass}}

// WARPS-NOT: FAIL
// WARPS-COUNT-36: pass
// WARPS-NOT: {{FAIL|pass}}

// MARK-COUNT-9: {blockscale.quantized}
// MARK-NOT: blockscale.quantized

!a = !blockscale.tensor<133x2048xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!w = !blockscale.tensor<192x2048xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!q = !blockscale.tensor<133x192xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @mxfp8(%x: !a, %w: !w) -> !q {
  %y = blockscale.matmul %x, %w activation(relu) schedule(#blockscale.schedule<split_k = 3, tile_n = 64, cta_group = 1, cluster_k = 1>) : !a, !w -> tensor<133x192xbf16>
  %0 = blockscale.quantize %y : tensor<133x192xbf16> to !q
  return %0 : !q
}
!few = !blockscale.tensor<5x2048xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!fq = !blockscale.tensor<5x192xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @swapped(%x: !few, %w: !w) -> !fq {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<split_k = 4, tile_n = 64, cta_group = 1, cluster_k = 1, swap_operands = true>) : !few, !w -> tensor<5x192xbf16>
  %0 = blockscale.quantize %y rule(min_error) : tensor<5x192xbf16> to !fq
  return %0 : !fq
}
!na = !blockscale.tensor<2x133x2048xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!nw = !blockscale.tensor<2x192x2048xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!nq = !blockscale.tensor<2x133x192xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
func.func @nvfp4(%x: !na, %w: !nw, %t: tensor<2xf32>) -> !nq {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<split_k = 2, tile_n = 64, cta_group = 2, cluster_k = 1>) : !na, !nw -> tensor<2x133x192xbf16>
  %0 = blockscale.quantize %y tensor_scale(%t : tensor<2xf32>) : tensor<2x133x192xbf16> to !nq
  return %0 : !nq
}
!f64 = !blockscale.tensor<133x192xf8E4M3FN, "float32_t64">
func.func @floats(%x: !a, %w: !w) -> !f64 {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<split_k = 3, tile_n = 128, cta_group = 1, cluster_k = 1>) : !a, !w -> tensor<133x192xf32>
  %0 = blockscale.quantize %y rule(min_error) : tensor<133x192xf32> to !f64
  return %0 : !f64
}
!gated = !blockscale.tensor<133x96xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @gate_up(%x: !a, %w: !w) -> !gated {
  %y = blockscale.matmul %x, %w pairs epilogue(%g, %u) {
    %s = arith.subf %u, %g : f32
    blockscale.yield %s
  } schedule(#blockscale.schedule<split_k = 2, tile_n = 128, cta_group = 1, cluster_k = 1>) : !a, !w -> tensor<133x96xbf16>
  %0 = blockscale.quantize %y : tensor<133x96xbf16> to !gated
  return %0 : !gated
}
!sa = !blockscale.tensor<133x2048xf8E4M3FN, "e8m0_t64", layout = tiled_128x4>
!sw = !blockscale.tensor<192x2048xf8E5M2, "e8m0_t32n2m4", layout = tiled_128x4>
func.func @sparse_gate_up(%x: !sa, %w: !sw, %bias: tensor<192xf32>) -> !gated {
  %y = blockscale.matmul %x, %w bias(%bias) pairs epilogue(%g, %gb, %u, %ub) {
    %0 = arith.addf %g, %gb : f32
    %1 = arith.addf %u, %ub : f32
    %s = arith.subf %1, %0 : f32
    blockscale.yield %s
  } schedule(#blockscale.schedule<split_k = 2, tile_n = 128, cta_group = 1, cluster_k = 1>) : !sa, !sw, tensor<192xf32> -> tensor<133x96xbf16>
  %0 = blockscale.quantize %y : tensor<133x96xbf16> to !gated
  return %0 : !gated
}
!sq = !blockscale.tensor<133x192xf8E4M3FN, "e8m0_t64", layout = tiled_128x4>
func.func @for_sparse(%x: !sa, %w: !sw) -> !sq {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<split_k = 2, tile_n = 128, cta_group = 2, cluster_k = 1>) : !sa, !sw -> tensor<133x192xbf16>
  %0 = blockscale.quantize %y {blockscale.for_sparse} : tensor<133x192xbf16> to !sq
  return %0 : !sq
}
func.func @shared_out(%x: !a, %w: !w) -> !q {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<stream_k = 5, tile_n = 64, cta_group = 1>) : !a, !w -> tensor<133x192xbf16>
  %0 = blockscale.quantize %y : tensor<133x192xbf16> to !q
  return %0 : !q
}
func.func @sparse_shared_out(%x: !sa, %w: !sw) -> !q {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<stream_k = 5, tile_n = 128, cta_group = 1>) : !sa, !sw -> tensor<133x192xbf16>
  %0 = blockscale.quantize %y : tensor<133x192xbf16> to !q
  return %0 : !q
}
