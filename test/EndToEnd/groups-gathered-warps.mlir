// Rows that are gathered by number where warps multiply.

// REQUIRES: mlir
// RUN: blockscale verify %s --target=sm_120a --data=exact --num-sms=3 --m=1,300 | FileCheck %s
// RUN: blockscale verify %s --target=sm_121a --num-sms=3 --m=200 --completion=latest | FileCheck %s

// CHECK-NOT: FAIL
// CHECK-COUNT-10: pass
// CHECK-NOT: {{FAIL|pass}}

!mx_a = !blockscale.tensor<?x160xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
!mx_b = !blockscale.tensor<5x136x160xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @scales(%a: !mx_a, %b: !mx_b, %ends: tensor<5xi32>, %ids: tensor<?xi32>) -> tensor<?x136xbf16> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<5xi32>) rows(%ids : tensor<?xi32>) : !mx_a, !mx_b -> tensor<?x136xbf16>
  return %0 : tensor<?x136xbf16>
}

!plain_a = !blockscale.tensor<?x200xbf16>
!plain_b = !blockscale.tensor<5x136x200xbf16>
func.func @swapped(%a: !plain_a, %b: !plain_b, %ends: tensor<5xi32>, %ids: tensor<?xi32>) -> tensor<?x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<5xi32>) rows(%ids : tensor<?xi32>) schedule(#blockscale.schedule<swap_operands = true>) : !plain_a, !plain_b -> tensor<?x136xf32>
  return %0 : tensor<?x136xf32>
}

!rows_a = !blockscale.tensor<?x256xi8, "float32_t0">
!rows_b = !blockscale.tensor<5x136x256xi8, "float32_t0">
func.func @rows(%a: !rows_a, %b: !rows_b, %ends: tensor<5xi32>, %ids: tensor<?xi32>) -> tensor<?x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<5xi32>) rows(%ids : tensor<?xi32>) : !rows_a, !rows_b -> tensor<?x136xf32>
  return %0 : tensor<?x136xf32>
}

// Scales of the rows of B alone, which no number gathers.
!half_a = !blockscale.tensor<?x128xbf16>
!half_b = !blockscale.tensor<5x136x128xi4, "float32_t64">
func.func @tiles_of_b(%a: !half_a, %b: !half_b, %ends: tensor<5xi32>, %ids: tensor<?xi32>) -> tensor<?x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<5xi32>) rows(%ids : tensor<?xi32>) schedule(#blockscale.schedule<swap_operands = true>) : !half_a, !half_b -> tensor<?x136xf32>
  return %0 : tensor<?x136xf32>
}

// Integers less zero points, which go with the rows of A.
!codes_a = !blockscale.tensor<?x128xui4, "float32_int8_t128">
!codes_b = !blockscale.tensor<5x136x128xf8E4M3FN, "float32_t128">
func.func @codes(%a: !codes_a, %b: !codes_b, %ends: tensor<5xi32>, %ids: tensor<?xi32>) -> tensor<?x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<5xi32>) rows(%ids : tensor<?xi32>) : !codes_a, !codes_b -> tensor<?x136xf32>
  return %0 : tensor<?x136xf32>
}
