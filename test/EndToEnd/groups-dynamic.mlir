// Groups of rows whose tiles running clusters take over from those that wait: there is a
// cluster for the most tiles that the rows may have, and some find none.

// REQUIRES: mlir
// RUN: blockscale verify %s --num-sms=4 --m=1,400 --data=exact | FileCheck %s
// RUN: blockscale verify %s --num-sms=148 --m=517 --completion=latest | FileCheck %s
// RUN: blockscale verify %s --num-sms=6 --m=300 --completion=random --seed=5 --target=sm_103a | FileCheck %s

// CHECK-NOT: FAIL
// CHECK-COUNT-14: pass
// CHECK-NOT: {{FAIL|pass}}

!a = !blockscale.tensor<?x800xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
!b = !blockscale.tensor<5x136x800xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @single(%a: !a, %b: !b, %ends: tensor<5xi32>) -> tensor<?x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<5xi32>) schedule(#blockscale.schedule<cta_group = 1, cluster_m = 1, cluster_n = 1, swap_operands = false, tile_n = 64, scheduler = dynamic>) : !a, !b -> tensor<?x136xf32>
  return %0 : tensor<?x136xf32>
}

func.func @swapped(%a: !a, %b: !b, %ends: tensor<5xi32>) -> tensor<?x136xbf16> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<5xi32>) schedule(#blockscale.schedule<cta_group = 1, cluster_m = 1, cluster_n = 1, swap_operands = true, tile_n = 64, scheduler = dynamic>) : !a, !b -> tensor<?x136xbf16>
  return %0 : tensor<?x136xbf16>
}

func.func @pair(%a: !a, %b: !b, %ends: tensor<5xi32>, %bias: tensor<5x136xf32>) -> tensor<?x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<5xi32>) bias(%bias) schedule(#blockscale.schedule<cta_group = 2, cluster_m = 2, cluster_n = 1, swap_operands = false, tile_n = 128, scheduler = dynamic>) : !a, !b, tensor<5x136xf32> -> tensor<?x136xf32>
  return %0 : tensor<?x136xf32>
}

func.func @cluster(%a: !a, %b: !b, %ends: tensor<5xi32>) -> tensor<?x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<5xi32>) schedule(#blockscale.schedule<cta_group = 1, cluster_m = 2, cluster_n = 2, swap_operands = false, tile_n = 64, scheduler = dynamic>) : !a, !b -> tensor<?x136xf32>
  return %0 : tensor<?x136xf32>
}

// All lanes of the producer read which tile comes next.
func.func @gathered(%a: !a, %b: !b, %ends: tensor<5xi32>, %rows: tensor<?xi32>) -> tensor<?x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<5xi32>) rows(%rows : tensor<?xi32>) schedule(#blockscale.schedule<cta_group = 1, swap_operands = false, tile_n = 64, scheduler = dynamic>) : !a, !b -> tensor<?x136xf32>
  return %0 : tensor<?x136xf32>
}

func.func @gathered_pair(%a: !a, %b: !b, %ends: tensor<5xi32>, %rows: tensor<?xi32>) -> tensor<?x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<5xi32>) rows(%rows : tensor<?xi32>) schedule(#blockscale.schedule<cta_group = 2, swap_operands = false, tile_n = 64, scheduler = dynamic>) : !a, !b -> tensor<?x136xf32>
  return %0 : tensor<?x136xf32>
}

!tiles_a = !blockscale.tensor<?x512xf8E4M3FN, "float32_t128">
!tiles_b = !blockscale.tensor<4x272x512xf8E4M3FN, "float32_t128_t128">
func.func @promoted(%a: !tiles_a, %b: !tiles_b, %ends: tensor<4xi32>) -> tensor<?x272xbf16> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) schedule(#blockscale.schedule<scheduler = dynamic, swap_operands = false, tile_n = 128>) : !tiles_a, !tiles_b -> tensor<?x272xbf16>
  return %0 : tensor<?x272xbf16>
}
