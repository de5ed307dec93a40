// D through shared memory and TMA: kinds of kernels, types of D, and boxes that
// end outside D.

// REQUIRES: mlir
// RUN: blockscale verify %s --data=exact --num-sms=3 --m=1,200 | FileCheck %s
// RUN: blockscale verify %s --data=exact --num-sms=4 --m=200 --completion=latest | FileCheck %s --check-prefix=ONCE
// RUN: blockscale verify %s --data=exact --num-sms=4 --m=130 --completion=random | FileCheck %s --check-prefix=ONCE

// CHECK-NOT: FAIL
// CHECK-COUNT-14: pass
// CHECK-NOT: {{FAIL|pass}}

// ONCE-NOT: FAIL
// ONCE-COUNT-13: pass
// ONCE-NOT: {{FAIL|pass}}

// Several tiles for each CTA, so that the ring goes on from one to the next.
!many_a = !blockscale.tensor<?x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!many_b = !blockscale.tensor<456x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @many(%a: !many_a, %b: !many_b) -> tensor<?x456xbf16> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = false, tile_n = 64, stores = tma>) : !many_a, !many_b -> tensor<?x456xbf16>
  return %0 : tensor<?x456xbf16>
}

// Accumulators that overlap: one of them is read from its last columns on.
!overlap_a = !blockscale.tensor<300x512xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!overlap_b = !blockscale.tensor<776x512xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
func.func @overlap(%a: !overlap_a, %b: !overlap_b) -> tensor<300x776xf16> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 1, swap_operands = false, tile_n = 256, stores = tma>) : !overlap_a, !overlap_b -> tensor<300x776xf16>
  return %0 : tensor<300x776xf16>
}

// Each matrix of a batch ends inside a tile.
!pair_a = !blockscale.tensor<3x300x512xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!pair_b = !blockscale.tensor<3x264x512xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @pair(%a: !pair_a, %b: !pair_b) -> tensor<3x300x264xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 2, swap_operands = false, tile_n = 128, stores = tma>) : !pair_a, !pair_b -> tensor<3x300x264xf32>
  return %0 : tensor<3x300x264xf32>
}

// Tiles of one chunk: a box for each warp, and a cluster that ends outside D.
!one_a = !blockscale.tensor<390x256xf8E5M2, "e8m0_t32", layout = tiled_128x4>
!one_b = !blockscale.tensor<32x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @one(%a: !one_a, %b: !one_b) -> tensor<390x32xbf16> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cluster_m = 2, cluster_n = 1, cta_group = 1, swap_operands = false, tile_n = 32, stores = tma>) : !one_a, !one_b -> tensor<390x32xbf16>
  return %0 : tensor<390x32xbf16>
}

// Rows of 16 and of 32 bytes.
!narrow_a = !blockscale.tensor<200x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!narrow_b = !blockscale.tensor<8x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @narrow(%a: !narrow_a, %b: !narrow_b) -> tensor<200x8xbf16> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 1, swap_operands = false, tile_n = 8, stores = tma>) : !narrow_a, !narrow_b -> tensor<200x8xbf16>
  return %0 : tensor<200x8xbf16>
}
func.func @narrow32(%a: !narrow_a, %b: !narrow_b) -> tensor<200x8xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 1, swap_operands = false, tile_n = 8, stores = tma>) : !narrow_a, !narrow_b -> tensor<200x8xf32>
  return %0 : tensor<200x8xf32>
}

!dynamic_a = !blockscale.tensor<300x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!dynamic_b = !blockscale.tensor<136x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @dynamic(%a: !dynamic_a, %b: !dynamic_b) -> tensor<300x136xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 1, tile_n = 64, swap_operands = false, scheduler = dynamic, dependent_launch = true, stores = tma>) : !dynamic_a, !dynamic_b -> tensor<300x136xf32>
  return %0 : tensor<300x136xf32>
}

// The whole epilogue, of which C and the bias are read by threads.
!whole_a = !blockscale.tensor<90x512xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!whole_b = !blockscale.tensor<136x512xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
func.func @whole(%a: !whole_a, %b: !whole_b, %alpha: f32, %beta: f32, %c: tensor<90x136xf16>, %bias: tensor<136xf32>) -> tensor<90x136xf16> {
  %0 = blockscale.matmul %a, %b alpha(%alpha) beta(%beta) c(%c) bias(%bias) activation(relu) schedule(#blockscale.schedule<swap_operands = false, stores = tma>) : !whole_a, !whole_b, tensor<90x136xf16>, tensor<136xf32> -> tensor<90x136xf16>
  return %0 : tensor<90x136xf16>
}

!integer_a = !blockscale.tensor<70x256xi8>
!integer_b = !blockscale.tensor<92x256xi8>
func.func @integer(%a: !integer_a, %b: !integer_b) -> tensor<70x92xi32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = false, stores = tma>) : !integer_a, !integer_b -> tensor<70x92xi32>
  return %0 : tensor<70x92xi32>
}

// Scales of columns in registers beside the sums.
!rows_a = !blockscale.tensor<150x256xf8E4M3FN, "float32_t0">
!rows_b = !blockscale.tensor<96x256xf8E5M2, "float32_t0">
func.func @rows(%a: !rows_a, %b: !rows_b) -> tensor<150x96xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 1, swap_operands = false, stores = tma>) : !rows_a, !rows_b -> tensor<150x96xf32>
  return %0 : tensor<150x96xf32>
}

!sparse_a = !blockscale.tensor<150x512xf8E4M3FN, "e8m0_t32n2m4", layout = tiled_128x4>
!sparse_b = !blockscale.tensor<96x512xf8E5M2, "e8m0_t64", layout = tiled_128x4>
func.func @sparse(%a: !sparse_a, %b: !sparse_b) -> tensor<150x96xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 2, stores = tma>) : !sparse_a, !sparse_b -> tensor<150x96xf32>
  return %0 : tensor<150x96xf32>
}

// Sums that are promoted: several tiles for each pair, whose scales are asked for
// before the tile ends, and a K longer than a sector of scales.
!promoted_a = !blockscale.tensor<2x300x1408xf8E4M3FN, "float32_t128">
!promoted_b = !blockscale.tensor<2x280x1408xf8E4M3FN, "float32_t128_t128">
func.func @promoted(%a: !promoted_a, %b: !promoted_b) -> tensor<2x300x280xbf16> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 2, tile_n = 128, swap_operands = false, stores = tma>) : !promoted_a, !promoted_b -> tensor<2x300x280xbf16>
  return %0 : tensor<2x300x280xbf16>
}

// Sums of one block in few columns.
!short_a = !blockscale.tensor<300x128xf8E4M3FN, "float32_t128">
!short_b = !blockscale.tensor<136x128xf8E5M2, "float32_t128">
func.func @short(%a: !short_a, %b: !short_b) -> tensor<300x136xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 1, tile_n = 16, swap_operands = false, stores = tma>) : !short_a, !short_b -> tensor<300x136xf32>
  return %0 : tensor<300x136xf32>
}
