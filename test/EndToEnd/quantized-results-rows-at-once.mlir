// Products with swapped operands whose kernels quantise the result, with tiles of 40, 48
// and 56 rows of D, or slices of so many: a thread loads at most 32 of them at once, so
// that it brings them to shared memory by parts of 8 or 16. A CTA's own, those of a
// cluster that choose scales together, parts of K in global memory and in a cluster's.

// REQUIRES: mlir
// RUN: blockscale verify %s --num-sms=8 --m=100 | FileCheck %s
// RUN: blockscale verify %s --num-sms=8 --m=47 --target=sm_103a --seed=5 --completion=latest | FileCheck %s
// RUN: blockscale compile %s --emit=tensor | FileCheck %s --check-prefix=MARK

// CHECK-NOT: FAIL
// CHECK-COUNT-20: pass
// CHECK-NOT: {{FAIL|pass}}

// MARK-COUNT-5: {blockscale.quantized}
// MARK-NOT: blockscale.quantized

!a = !blockscale.tensor<33x512xf8E4M3FN, "e8m0_t64", layout = tiled_128x4>
!w = !blockscale.tensor<320x512xf8E4M3FN, "e8m0_t32n2m4", layout = tiled_128x4>
!q = !blockscale.tensor<33x320xf8E4M3FN, "float32_t64", layout = plain>
func.func @tile_of_40(%x: !a, %w: !w) -> !q {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<cta_group = 1, tile_n = 40>) : !a, !w -> tensor<33x320xbf16>
  %0 = blockscale.quantize %y : tensor<33x320xbf16> to !q
  return %0 : !q
}
!w256 = !blockscale.tensor<256x512xf8E4M3FN, "e8m0_t32n2m4", layout = tiled_128x4>
!q256 = !blockscale.tensor<33x256xf4E2M1FN, "float32_t256", layout = plain>
func.func @tile_of_48_in_cluster(%x: !a, %w: !w256) -> !q256 {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<cta_group = 1, tile_n = 48, cluster_m = 2>) : !a, !w256 -> tensor<33x256xf16>
  %0 = blockscale.quantize %y : tensor<33x256xf16> to !q256
  return %0 : !q256
}
func.func @tile_of_56_by_parts(%x: !a, %w: !w) -> !q {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<cta_group = 1, tile_n = 56, split_k = 2>) : !a, !w -> tensor<33x320xbf16>
  %0 = blockscale.quantize %y rule(min_error) : tensor<33x320xbf16> to !q
  return %0 : !q
}
func.func @slice_of_48(%x: !a, %w: !w) -> !q {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<cta_group = 1, tile_n = 96, split_k = 2, cluster_k = 2>) : !a, !w -> tensor<33x320xbf16>
  %0 = blockscale.quantize %y : tensor<33x320xbf16> to !q
  return %0 : !q
}
!ua = !blockscale.tensor<?x256xbf16>
!ub = !blockscale.tensor<192x256xbf16>
!uq = !blockscale.tensor<?x192xf8E4M3FN, "float32_t64", layout = plain>
func.func @several_tiles(%x: !ua, %w: !ub) -> !uq {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<cta_group = 1, tile_n = 48, swap_operands = true>) : !ua, !ub -> tensor<?x192xbf16>
  %0 = blockscale.quantize %y : tensor<?x192xbf16> to !uq
  return %0 : !uq
}
