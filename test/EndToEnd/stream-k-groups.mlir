// Tiles of groups of rows whose K is shared out: how many tiles there are only memory says,
// so that every role counts them first. Empty groups, shares that have parts of tiles of
// several groups, fewer tiles than shares, and whole tiles behind the shares.

// REQUIRES: mlir
// RUN: blockscale verify %s --data=exact --num-sms=4 --m=1,400 | FileCheck %s
// RUN: blockscale verify %s --num-sms=148 --m=517 --completion=latest | FileCheck %s --check-prefix=TWICE
// RUN: blockscale verify %s --data=exact --num-sms=24 --m=90,700 --completion=random | FileCheck %s

// CHECK-NOT: FAIL
// CHECK-COUNT-14: pass
// CHECK-NOT: {{FAIL|pass}}

// TWICE-NOT: FAIL
// TWICE-COUNT-14: pass
// TWICE-NOT: {{FAIL|pass}}

// K ends inside a stage, N inside a tile.
!single_a = !blockscale.tensor<?x800xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
!single_b = !blockscale.tensor<5x136x800xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @single(%a: !single_a, %b: !single_b, %ends: tensor<5xi32>) -> tensor<?x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<5xi32>) schedule(#blockscale.schedule<cta_group = 1, cluster_m = 1, cluster_n = 1, swap_operands = false, tile_n = 64, stream_k = 5>) : !single_a, !single_b -> tensor<?x136xf32>
  return %0 : tensor<?x136xf32>
}

// The rows of groups are columns of the instruction.
func.func @swapped(%a: !single_a, %b: !single_b, %ends: tensor<5xi32>) -> tensor<?x136xbf16> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<5xi32>) schedule(#blockscale.schedule<cta_group = 1, cluster_m = 1, cluster_n = 1, swap_operands = true, tile_n = 64, stream_k = 7>) : !single_a, !single_b -> tensor<?x136xbf16>
  return %0 : tensor<?x136xbf16>
}

!nvfp4_a = !blockscale.tensor<?x1024xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = grouped_128x4>
!nvfp4_b = !blockscale.tensor<4x264x1024xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
func.func @pair(%a: !nvfp4_a, %b: !nvfp4_b, %ends: tensor<4xi32>, %alpha: f32) -> tensor<?x264xf16> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) alpha(%alpha) schedule(#blockscale.schedule<cta_group = 2, cluster_m = 2, cluster_n = 1, swap_operands = false, tile_n = 128, stream_k = 3>) : !nvfp4_a, !nvfp4_b -> tensor<?x264xf16>
  return %0 : tensor<?x264xf16>
}

// Clusters of tiles that share loads; of some the second tile is no group's.
func.func @cluster(%a: !single_a, %b: !single_b, %ends: tensor<5xi32>) -> tensor<?x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<5xi32>) schedule(#blockscale.schedule<cta_group = 1, cluster_m = 2, cluster_n = 2, swap_operands = false, tile_n = 64, stream_k = 4>) : !single_a, !single_b -> tensor<?x136xf32>
  return %0 : tensor<?x136xf32>
}

// More shares than units of K where there are few rows: some are empty.
func.func @bias(%a: !single_a, %b: !single_b, %ends: tensor<5xi32>, %c: tensor<?x136xbf16>, %beta: f32, %bias: tensor<5x136xf32>) -> tensor<?x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<5xi32>) beta(%beta) c(%c) bias(%bias) activation(relu) schedule(#blockscale.schedule<cta_group = 1, cluster_m = 1, cluster_n = 1, swap_operands = false, tile_n = 128, stream_k = 29>) : !single_a, !single_b, tensor<?x136xbf16>, tensor<5x136xf32> -> tensor<?x136xf32>
  return %0 : tensor<?x136xf32>
}

// Rows by number, and rows that memory counts.
!tokens = !blockscale.tensor<?x512xbf16>
!experts = !blockscale.tensor<3x72x512xbf16>
func.func @gathered(%a: !tokens, %b: !experts, %ends: tensor<3xi32>, %rows: tensor<?xi32>) -> tensor<?x72xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<3xi32>) rows(%rows : tensor<?xi32>) schedule(#blockscale.schedule<cta_group = 1, cluster_m = 1, cluster_n = 1, swap_operands = false, tile_n = 64, stream_k = 3>) : !tokens, !experts -> tensor<?x72xf32>
  return %0 : tensor<?x72xf32>
}

!matrices = !blockscale.tensor<3x?x512xbf16>
func.func @counted(%a: !matrices, %b: !experts, %counts: tensor<3xi32>) -> tensor<3x?x72xf32> {
  %0 = blockscale.matmul %a, %b groups(%counts : tensor<3xi32>) schedule(#blockscale.schedule<cta_group = 1, cluster_m = 1, cluster_n = 1, swap_operands = false, tile_n = 64, stream_k = 4>) : !matrices, !experts -> tensor<3x?x72xf32>
  return %0 : tensor<3x?x72xf32>
}
