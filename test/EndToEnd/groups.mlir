// Groups of rows, of which each has a matrix of its own: empty ones, one row, and
// one row more or less than tiles and scales have. Rows behind the last group stay
// untouched.

// REQUIRES: mlir
// RUN: blockscale verify %s --data=exact --num-sms=4 --m=1,400 | FileCheck %s
// RUN: blockscale verify %s --num-sms=148 --m=517 --completion=latest | FileCheck %s --check-prefix=TWICE

// CHECK-NOT: FAIL
// CHECK-COUNT-26: pass
// CHECK-NOT: {{FAIL|pass}}

// TWICE-NOT: FAIL
// TWICE-COUNT-26: pass
// TWICE-NOT: {{FAIL|pass}}

// K ends inside a stage, N inside a tile.
!single_a = !blockscale.tensor<?x800xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
!single_b = !blockscale.tensor<5x136x800xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @single(%a: !single_a, %b: !single_b, %ends: tensor<5xi32>) -> tensor<?x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<5xi32>) schedule(#blockscale.schedule<cta_group = 1, cluster_m = 1, cluster_n = 1, swap_operands = false, tile_n = 64>) : !single_a, !single_b -> tensor<?x136xf32>
  return %0 : tensor<?x136xf32>
}

// The rows of groups are columns of the instruction.
func.func @swapped(%a: !single_a, %b: !single_b, %ends: tensor<5xi32>) -> tensor<?x136xbf16> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<5xi32>) schedule(#blockscale.schedule<cta_group = 1, cluster_m = 1, cluster_n = 1, swap_operands = true, tile_n = 64>) : !single_a, !single_b -> tensor<?x136xbf16>
  return %0 : tensor<?x136xbf16>
}

// A factor of A, and one of each matrix of B.
!nvfp4_a = !blockscale.tensor<?x512xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = grouped_128x4>
!nvfp4_b = !blockscale.tensor<4x264x512xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
func.func @factors(%a: !nvfp4_a, %b: !nvfp4_b, %ends: tensor<4xi32>, %alpha: f32) -> tensor<?x264xf16> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) alpha(%alpha) schedule(#blockscale.schedule<cta_group = 1, cluster_m = 1, cluster_n = 1, swap_operands = false, tile_n = 192>) : !nvfp4_a, !nvfp4_b -> tensor<?x264xf16>
  return %0 : tensor<?x264xf16>
}

func.func @pair(%a: !nvfp4_a, %b: !nvfp4_b, %ends: tensor<4xi32>) -> tensor<?x264xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) schedule(#blockscale.schedule<cta_group = 2, cluster_m = 2, cluster_n = 1, swap_operands = false, tile_n = 128>) : !nvfp4_a, !nvfp4_b -> tensor<?x264xf32>
  return %0 : tensor<?x264xf32>
}

func.func @swapped_pair(%a: !nvfp4_a, %b: !nvfp4_b, %ends: tensor<4xi32>) -> tensor<?x264xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) schedule(#blockscale.schedule<cta_group = 2, cluster_m = 2, cluster_n = 1, swap_operands = true, tile_n = 64>) : !nvfp4_a, !nvfp4_b -> tensor<?x264xf32>
  return %0 : tensor<?x264xf32>
}

// Clusters of tiles that share loads; of some the second tile is no group's.
func.func @cluster(%a: !single_a, %b: !single_b, %ends: tensor<5xi32>) -> tensor<?x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<5xi32>) schedule(#blockscale.schedule<cta_group = 1, cluster_m = 2, cluster_n = 2, swap_operands = false, tile_n = 64>) : !single_a, !single_b -> tensor<?x136xf32>
  return %0 : tensor<?x136xf32>
}

// Each group has a bias of its own, C is one matrix.
func.func @bias(%a: !single_a, %b: !single_b, %ends: tensor<5xi32>, %c: tensor<?x136xbf16>, %beta: f32, %bias: tensor<5x136xf32>) -> tensor<?x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<5xi32>) beta(%beta) c(%c) bias(%bias) activation(relu) schedule(#blockscale.schedule<cta_group = 1, swap_operands = false, tile_n = 128>) : !single_a, !single_b, tensor<?x136xbf16>, tensor<5x136xf32> -> tensor<?x136xf32>
  return %0 : tensor<?x136xf32>
}

func.func @swapped_bias(%a: !single_a, %b: !single_b, %ends: tensor<5xi32>, %c: tensor<?x136xbf16>, %bias: tensor<5x136xbf16>) -> tensor<?x136xbf16> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<5xi32>) c(%c) bias(%bias) schedule(#blockscale.schedule<swap_operands = true, tile_n = 64>) : !single_a, !single_b, tensor<?x136xbf16>, tensor<5x136xbf16> -> tensor<?x136xbf16>
  return %0 : tensor<?x136xbf16>
}

// Scales of rows: those of A count through all groups.
!rows_a = !blockscale.tensor<?x256xf8E4M3FN, "float32_t0">
!rows_b = !blockscale.tensor<5x136x256xf8E4M3FN, "float32_t0">
func.func @rows(%a: !rows_a, %b: !rows_b, %ends: tensor<5xi32>) -> tensor<?x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<5xi32>) schedule(#blockscale.schedule<swap_operands = false, tile_n = 128>) : !rows_a, !rows_b -> tensor<?x136xf32>
  return %0 : tensor<?x136xf32>
}

func.func @swapped_rows(%a: !rows_a, %b: !rows_b, %ends: tensor<5xi32>) -> tensor<?x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<5xi32>) schedule(#blockscale.schedule<swap_operands = true, tile_n = 32>) : !rows_a, !rows_b -> tensor<?x136xf32>
  return %0 : tensor<?x136xf32>
}

// Without scales; what the search takes.
!plain_a = !blockscale.tensor<?x192xbf16>
!plain_b = !blockscale.tensor<?x?x192xbf16>
func.func @plain(%a: !plain_a, %b: !plain_b, %ends: tensor<?xi32>) -> tensor<?x?xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<?xi32>) : !plain_a, !plain_b -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// A bias along the rows counts through those of all groups.
func.func @row_bias(%a: !plain_a, %b: !plain_b, %ends: tensor<?xi32>, %bias: tensor<?xf32>) -> tensor<?x?xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<?xi32>) bias(%bias) row schedule(#blockscale.schedule<swap_operands = false, tile_n = 64>) : !plain_a, !plain_b, tensor<?xf32> -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

func.func @swapped_row_bias(%a: !plain_a, %b: !plain_b, %ends: tensor<?xi32>, %bias: tensor<?xbf16>) -> tensor<?x?xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<?xi32>) bias(%bias) row schedule(#blockscale.schedule<swap_operands = true, tile_n = 64>) : !plain_a, !plain_b, tensor<?xbf16> -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
