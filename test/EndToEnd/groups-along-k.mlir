// Groups along K, as gradients of the weights of experts: each a matrix of its own,
// of so many K tiles as it has. Empty ones give 0, what lies behind the last one is
// not read, and a NaN stays in its group.

// REQUIRES: mlir
// RUN: blockscale verify %s --data=exact --num-sms=4 --k=64,384,1088 | FileCheck %s
// RUN: blockscale verify %s --num-sms=148 --k=768 --completion=latest | FileCheck %s --check-prefix=ONCE

// CHECK-NOT: FAIL
// CHECK-COUNT-33: pass
// CHECK-NOT: {{FAIL|pass}}

// ONCE-NOT: FAIL
// ONCE-COUNT-22: pass
// ONCE-NOT: {{FAIL|pass}}

// N ends inside a tile.
!a = !blockscale.tensor<200x?xbf16>
!b = !blockscale.tensor<136x?xbf16>
func.func @single(%a: !a, %b: !b, %ends: tensor<5xi32>) -> tensor<5x200x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<5xi32>) schedule(#blockscale.schedule<cta_group = 1, cluster_m = 1, cluster_n = 1, swap_operands = false, tile_n = 64>) : !a, !b -> tensor<5x200x136xf32>
  return %0 : tensor<5x200x136xf32>
}

func.func @swapped(%a: !a, %b: !b, %ends: tensor<5xi32>) -> tensor<5x200x136xbf16> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<5xi32>) schedule(#blockscale.schedule<cta_group = 1, cluster_m = 1, cluster_n = 1, swap_operands = true, tile_n = 64>) : !a, !b -> tensor<5x200x136xbf16>
  return %0 : tensor<5x200x136xbf16>
}

// As gradients and inputs lie in memory: all rows of one k after another.
!columns_a = !blockscale.tensor<200x?xf8E4M3FN, order = mn_major>
!columns_b = !blockscale.tensor<136x?xf8E5M2, order = mn_major>
func.func @columns(%a: !columns_a, %b: !columns_b, %ends: tensor<4xi32>) -> tensor<4x200x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) schedule(#blockscale.schedule<cta_group = 2, swap_operands = false, tile_n = 128>) : !columns_a, !columns_b -> tensor<4x200x136xf32>
  return %0 : tensor<4x200x136xf32>
}

!lines_b = !blockscale.tensor<136x?xf8E4M3FN>
func.func @cluster(%a: !columns_a, %b: !lines_b, %ends: tensor<5xi32>) -> tensor<5x200x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<5xi32>) schedule(#blockscale.schedule<cta_group = 1, cluster_m = 2, cluster_n = 2, swap_operands = false, tile_n = 64>) : !columns_a, !lines_b -> tensor<5x200x136xf32>
  return %0 : tensor<5x200x136xf32>
}

// Gradients and inputs of 16 bits.
!half_a = !blockscale.tensor<200x?xbf16, order = mn_major>
!half_b = !blockscale.tensor<136x?xbf16, order = mn_major>
func.func @half_columns(%a: !half_a, %b: !half_b, %ends: tensor<5xi32>) -> tensor<5x200x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<5xi32>) schedule(#blockscale.schedule<cta_group = 2, swap_operands = false, tile_n = 64>) : !half_a, !half_b -> tensor<5x200x136xf32>
  return %0 : tensor<5x200x136xf32>
}

func.func @half_cluster(%a: !half_a, %b: !b, %ends: tensor<5xi32>) -> tensor<5x200x136xbf16> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<5xi32>) schedule(#blockscale.schedule<cta_group = 1, cluster_m = 2, cluster_n = 2, swap_operands = true, tile_n = 128>) : !half_a, !b -> tensor<5x200x136xbf16>
  return %0 : tensor<5x200x136xbf16>
}

// A C and a bias for each group, which empty ones have too.
func.func @bias(%a: !a, %b: !b, %ends: tensor<?xi32>, %alpha: f32, %c: tensor<?x200x136xbf16>, %beta: f32, %bias: tensor<?x136xf32>) -> tensor<?x200x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<?xi32>) alpha(%alpha) beta(%beta) c(%c) bias(%bias) activation(relu) : !a, !b, tensor<?x200x136xbf16>, tensor<?x136xf32> -> tensor<?x200x136xf32>
  return %0 : tensor<?x200x136xf32>
}

// Scales in tiles of 128 rows by 4 blocks, those of each group apart; A has two tiles
// along its rows, B of `wide` too.
!mxfp8_a = !blockscale.tensor<200x?xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
!mxfp8_b = !blockscale.tensor<136x?xf8E5M2, "e8m0_t32", layout = grouped_128x4>
func.func @mxfp8(%a: !mxfp8_a, %b: !mxfp8_b, %ends: tensor<5xi32>) -> tensor<5x200x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<5xi32>) schedule(#blockscale.schedule<cta_group = 1, cluster_m = 1, cluster_n = 1, swap_operands = false, tile_n = 64>) : !mxfp8_a, !mxfp8_b -> tensor<5x200x136xf32>
  return %0 : tensor<5x200x136xf32>
}

func.func @wide(%a: !mxfp8_a, %b: !mxfp8_b, %ends: tensor<5xi32>, %bias: tensor<5x136xf32>) -> tensor<5x200x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<5xi32>) bias(%bias) schedule(#blockscale.schedule<cta_group = 2, cluster_m = 4, cluster_n = 1, swap_operands = true, tile_n = 256>) : !mxfp8_a, !mxfp8_b, tensor<5x136xf32> -> tensor<5x200x136xf32>
  return %0 : tensor<5x200x136xf32>
}

// Four tiles of scales to a stage, and factors of both matrices.
!nvfp4_a = !blockscale.tensor<200x?xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = grouped_128x4>
!nvfp4_b = !blockscale.tensor<136x?xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = grouped_128x4>
func.func @nvfp4(%a: !nvfp4_a, %b: !nvfp4_b, %ends: tensor<4xi32>) -> tensor<4x200x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) schedule(#blockscale.schedule<cta_group = 2, swap_operands = false, tile_n = 128>) : !nvfp4_a, !nvfp4_b -> tensor<4x200x136xf32>
  return %0 : tensor<4x200x136xf32>
}

!mxfp4_a = !blockscale.tensor<200x?xf4E2M1FN, "e8m0_t32", layout = grouped_128x4>
!mxfp4_b = !blockscale.tensor<136x?xf4E2M1FN, "e8m0_t32", layout = grouped_128x4>
func.func @mxfp4(%a: !mxfp4_a, %b: !mxfp4_b, %ends: tensor<5xi32>) -> tensor<5x200x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<5xi32>) schedule(#blockscale.schedule<cta_group = 1, cluster_m = 2, cluster_n = 2, swap_operands = false, tile_n = 128>) : !mxfp4_a, !mxfp4_b -> tensor<5x200x136xf32>
  return %0 : tensor<5x200x136xf32>
}
