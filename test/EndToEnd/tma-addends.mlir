// C through shared memory by TMA: kinds of kernels, types of C, rounds of the ring
// of any number, and boxes that end outside C.

// REQUIRES: mlir
// RUN: blockscale verify %s --data=exact --num-sms=3 --m=1,200 | FileCheck %s
// RUN: blockscale verify %s --data=exact --num-sms=4 --m=200 --completion=latest | FileCheck %s --check-prefix=ONCE
// RUN: blockscale verify %s --data=exact --num-sms=4 --m=130 --completion=random | FileCheck %s --check-prefix=ONCE

// CHECK-NOT: FAIL
// CHECK-COUNT-11: pass
// CHECK-NOT: {{FAIL|pass}}

// ONCE-NOT: FAIL
// ONCE-COUNT-10: pass
// ONCE-NOT: {{FAIL|pass}}

// Several tiles of two chunks for each CTA: one round of the ring for each, so that
// its parity changes from tile to tile.
!many_a = !blockscale.tensor<?x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!many_b = !blockscale.tensor<456x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @many(%a: !many_a, %b: !many_b, %c: tensor<?x456xbf16>) -> tensor<?x456xbf16> {
  %0 = blockscale.matmul %a, %b c(%c) schedule(#blockscale.schedule<swap_operands = false, tile_n = 64, c_loads = tma>) : !many_a, !many_b, tensor<?x456xbf16> -> tensor<?x456xbf16>
  return %0 : tensor<?x456xbf16>
}

// Accumulators that overlap: one of them is read, and C loaded, from its last
// columns on.
!overlap_a = !blockscale.tensor<300x512xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!overlap_b = !blockscale.tensor<776x512xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
func.func @overlap(%a: !overlap_a, %b: !overlap_b, %c: tensor<300x776xf32>) -> tensor<300x776xf16> {
  %0 = blockscale.matmul %a, %b c(%c) schedule(#blockscale.schedule<cta_group = 1, swap_operands = false, tile_n = 256, c_loads = tma>) : !overlap_a, !overlap_b, tensor<300x776xf32> -> tensor<300x776xf16>
  return %0 : tensor<300x776xf16>
}

// Each matrix of a batch ends inside a tile; D goes by TMA, too.
!pair_a = !blockscale.tensor<3x300x512xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!pair_b = !blockscale.tensor<3x264x512xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @pair(%a: !pair_a, %b: !pair_b, %c: tensor<3x300x264xbf16>) -> tensor<3x300x264xf32> {
  %0 = blockscale.matmul %a, %b c(%c) schedule(#blockscale.schedule<cta_group = 2, swap_operands = false, tile_n = 128, stores = tma, c_loads = tma>) : !pair_a, !pair_b, tensor<3x300x264xbf16> -> tensor<3x300x264xf32>
  return %0 : tensor<3x300x264xf32>
}

// Tiles of one chunk: a box for each warp, and a cluster that ends outside D.
!one_a = !blockscale.tensor<390x256xf8E5M2, "e8m0_t32", layout = tiled_128x4>
!one_b = !blockscale.tensor<32x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @one(%a: !one_a, %b: !one_b, %c: tensor<390x32xf16>) -> tensor<390x32xbf16> {
  %0 = blockscale.matmul %a, %b c(%c) schedule(#blockscale.schedule<cluster_m = 2, cluster_n = 1, cta_group = 1, swap_operands = false, tile_n = 32, c_loads = tma>) : !one_a, !one_b, tensor<390x32xf16> -> tensor<390x32xbf16>
  return %0 : tensor<390x32xbf16>
}

// Rows of 16 and of 32 bytes.
!narrow_a = !blockscale.tensor<200x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!narrow_b = !blockscale.tensor<8x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @narrow(%a: !narrow_a, %b: !narrow_b, %c: tensor<200x8xbf16>) -> tensor<200x8xbf16> {
  %0 = blockscale.matmul %a, %b c(%c) schedule(#blockscale.schedule<cta_group = 1, swap_operands = false, tile_n = 8, c_loads = tma>) : !narrow_a, !narrow_b, tensor<200x8xbf16> -> tensor<200x8xbf16>
  return %0 : tensor<200x8xbf16>
}
func.func @narrow32(%a: !narrow_a, %b: !narrow_b, %c: tensor<200x8xf32>) -> tensor<200x8xf32> {
  %0 = blockscale.matmul %a, %b c(%c) schedule(#blockscale.schedule<cta_group = 1, swap_operands = false, tile_n = 8, stores = tma, c_loads = tma>) : !narrow_a, !narrow_b, tensor<200x8xf32> -> tensor<200x8xf32>
  return %0 : tensor<200x8xf32>
}

// Six chunks: two rounds of three boxes.
!dynamic_a = !blockscale.tensor<300x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!dynamic_b = !blockscale.tensor<200x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @dynamic(%a: !dynamic_a, %b: !dynamic_b, %c: tensor<300x200xf32>) -> tensor<300x200xf32> {
  %0 = blockscale.matmul %a, %b c(%c) schedule(#blockscale.schedule<cta_group = 1, tile_n = 192, swap_operands = false, scheduler = dynamic, dependent_launch = true, c_loads = tma>) : !dynamic_a, !dynamic_b, tensor<300x200xf32> -> tensor<300x200xf32>
  return %0 : tensor<300x200xf32>
}

// The whole epilogue, of which the bias is read by threads, and C twice by its
// region.
!whole_a = !blockscale.tensor<90x512xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!whole_b = !blockscale.tensor<136x512xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
func.func @whole(%a: !whole_a, %b: !whole_b, %alpha: f32, %beta: f32, %c: tensor<90x136xf16>, %bias: tensor<136xf32>) -> tensor<90x136xf16> {
  %0 = blockscale.matmul %a, %b alpha(%alpha) beta(%beta) c(%c) bias(%bias) epilogue(%x, %y, %v) {
    %1 = arith.addf %x, %y : f32
    %2 = arith.maximumf %1, %y : f32
    %3 = arith.addf %2, %v : f32
    blockscale.yield %3
  } schedule(#blockscale.schedule<swap_operands = false, c_loads = tma>) : !whole_a, !whole_b, tensor<90x136xf16>, tensor<136xf32> -> tensor<90x136xf16>
  return %0 : tensor<90x136xf16>
}

// Scales of columns in registers beside the sums.
!rows_a = !blockscale.tensor<150x256xf8E4M3FN, "float32_t0">
!rows_b = !blockscale.tensor<96x256xf8E5M2, "float32_t0">
func.func @rows(%a: !rows_a, %b: !rows_b, %c: tensor<150x96xf32>) -> tensor<150x96xf32> {
  %0 = blockscale.matmul %a, %b c(%c) schedule(#blockscale.schedule<cta_group = 1, swap_operands = false, c_loads = tma>) : !rows_a, !rows_b, tensor<150x96xf32> -> tensor<150x96xf32>
  return %0 : tensor<150x96xf32>
}

!sparse_a = !blockscale.tensor<150x512xf8E4M3FN, "e8m0_t32n2m4", layout = tiled_128x4>
!sparse_b = !blockscale.tensor<96x512xf8E5M2, "e8m0_t64", layout = tiled_128x4>
func.func @sparse(%a: !sparse_a, %b: !sparse_b, %c: tensor<150x96xbf16>) -> tensor<150x96xf32> {
  %0 = blockscale.matmul %a, %b c(%c) schedule(#blockscale.schedule<cta_group = 2, c_loads = tma>) : !sparse_a, !sparse_b, tensor<150x96xbf16> -> tensor<150x96xf32>
  return %0 : tensor<150x96xf32>
}
