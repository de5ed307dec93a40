// Products whose kernels quantise the result: codes and scales bit for bit where
// data are exact, with every element format and scale that instructions read, ends
// of rows of scales inside of a word and inside of a tile, pairs, clusters and
// dynamic scheduling. Under harsh conditions a NaN is on the way, and what lies around
// the memory is somebody else's.

// REQUIRES: mlir
// RUN: blockscale verify %s | FileCheck %s
// RUN: blockscale verify %s --target=sm_103a --seed=5 --conditions=harsh | FileCheck %s
// RUN: blockscale compile %s --emit=tensor | FileCheck %s --check-prefix=MARK
// RUN: blockscale compile %s --emit=kernel > %t.mlir
// RUN: FileCheck %s --check-prefix=KERNEL < %t.mlir
// RUN: blockscale-opt %t.mlir > /dev/null

// CHECK-NOT: FAIL
// CHECK-COUNT-40: pass
// CHECK-NOT: {{FAIL|pass}}

// MARK-COUNT-10: {blockscale.quantized}
// MARK-NOT: blockscale.quantized

// KERNEL-NOT: blockscale.quantize{{ }}
// KERNEL-COUNT-10: gpu.func

!a = !blockscale.tensor<133x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!w96 = !blockscale.tensor<96x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!w352 = !blockscale.tensor<352x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!q = !blockscale.tensor<133x96xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @e4m3(%x: !a, %w: !w96) -> !q {
  %y = blockscale.matmul %x, %w : !a, !w96 -> tensor<133x96xbf16>
  %0 = blockscale.quantize %y : tensor<133x96xbf16> to !q
  return %0 : !q
}
!e5m2 = !blockscale.tensor<133x352xf8E5M2, "e8m0_t32", layout = tiled_128x4>
func.func @e5m2_f32(%x: !a, %w: !w352) -> !e5m2 {
  %y = blockscale.matmul %x, %w : !a, !w352 -> tensor<133x352xf32>
  %0 = blockscale.quantize %y rule(round_up) : tensor<133x352xf32> to !e5m2
  return %0 : !e5m2
}
!e2m3 = !blockscale.tensor<133x352xf6E2M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @e2m3_f16(%x: !a, %w: !w352) -> !e2m3 {
  %y = blockscale.matmul %x, %w activation(relu) : !a, !w352 -> tensor<133x352xf16>
  %0 = blockscale.quantize %y rule(ceil) rounding(away) : tensor<133x352xf16> to !e2m3
  return %0 : !e2m3
}
!e3m2 = !blockscale.tensor<133x96xf6E3M2FN, "e8m0_t32", layout = tiled_128x4>
func.func @e3m2_stochastic(%x: !a, %w: !w96) -> !e3m2 {
  %y = blockscale.matmul %x, %w : !a, !w96 -> tensor<133x96xbf16>
  %0 = blockscale.quantize %y rule(mid_max) rounding(stochastic, seed = -7) : tensor<133x96xbf16> to !e3m2
  return %0 : !e3m2
}
!e2m1 = !blockscale.tensor<133x352xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
func.func @e2m1_gelu(%x: !a, %w: !w352) -> !e2m1 {
  %y = blockscale.matmul %x, %w activation(gelu) : !a, !w352 -> tensor<133x352xbf16>
  %0 = blockscale.quantize %y rule(top_binade) : tensor<133x352xbf16> to !e2m1
  return %0 : !e2m1
}
!nv = !blockscale.tensor<133x96xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @nvfp4(%x: !a, %w: !w96) -> !nv {
  %y = blockscale.matmul %x, %w : !a, !w96 -> tensor<133x96xf32>
  %0 = blockscale.quantize %y : tensor<133x96xf32> to !nv
  return %0 : !nv
}
func.func @nvfp4_min_error(%x: !a, %w: !w96) -> !nv {
  %y = blockscale.matmul %x, %w activation(silu) : !a, !w96 -> tensor<133x96xf32>
  %0 = blockscale.quantize %y rule(min_error) : tensor<133x96xf32> to !nv
  return %0 : !nv
}
!a1 = !blockscale.tensor<133x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!w1 = !blockscale.tensor<352x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!q1 = !blockscale.tensor<133x352xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @single(%x: !a1, %w: !w1) -> !q1 {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<cta_group = 1, cluster_m = 1, cluster_n = 1, tile_n = 64>) : !a1, !w1 -> tensor<133x352xbf16>
  %0 = blockscale.quantize %y : tensor<133x352xbf16> to !q1
  return %0 : !q1
}
func.func @pair(%x: !a1, %w: !w1) -> !q1 {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<cta_group = 2, tile_n = 256, scheduler = dynamic>) : !a1, !w1 -> tensor<133x352xbf16>
  %0 = blockscale.quantize %y : tensor<133x352xbf16> to !q1
  return %0 : !q1
}
func.func @cluster(%x: !a1, %w: !w1) -> !q1 {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<cta_group = 2, cluster_m = 4, cluster_n = 2, tile_n = 64, dependent_launch = true>) : !a1, !w1 -> tensor<133x352xbf16>
  %0 = blockscale.quantize %y : tensor<133x352xbf16> to !q1
  return %0 : !q1
}
