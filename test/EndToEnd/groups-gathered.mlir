// Groups of rows that are gathered by number: rows of A in no order, several times, in
// no group, and numbers of no row, which mean rows of zeros. A has fewer rows than the
// product, or more.

// REQUIRES: mlir
// RUN: blockscale verify %s --data=exact --num-sms=4 --m=1,400 | FileCheck %s --check-prefix=FIRST
// RUN: blockscale verify %s --num-sms=148 --m=57 --completion=latest --seed=3 | FileCheck %s
// RUN: blockscale verify %s --data=exact --conditions=harsh --num-sms=4 --m=301 --completion=latest --target=sm_103a | FileCheck %s --check-prefix=ONCE

// CHECK-NOT: FAIL
// CHECK-COUNT-34: pass
// CHECK-NOT: {{FAIL|pass}}

// FIRST-NOT: FAIL
// FIRST-COUNT-33: pass
// FIRST-NOT: {{FAIL|pass}}

// ONCE-NOT: FAIL
// ONCE-COUNT-17: pass
// ONCE-NOT: {{FAIL|pass}}

// Without scales; K ends inside a stage, N inside a tile.
!plain_a = !blockscale.tensor<?x200xbf16>
!plain_b = !blockscale.tensor<5x136x200xbf16>
func.func @single(%a: !plain_a, %b: !plain_b, %ends: tensor<5xi32>, %ids: tensor<?xi32>) -> tensor<?x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<5xi32>) rows(%ids : tensor<?xi32>) schedule(#blockscale.schedule<cta_group = 1, cluster_m = 1, cluster_n = 1, swap_operands = false, tile_n = 64>) : !plain_a, !plain_b -> tensor<?x136xf32>
  return %0 : tensor<?x136xf32>
}

// The gathered rows are columns of the instruction: a lane has several runs of them, or
// some have none.
func.func @swapped(%a: !plain_a, %b: !plain_b, %ends: tensor<5xi32>, %ids: tensor<?xi32>) -> tensor<?x136xbf16> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<5xi32>) rows(%ids : tensor<?xi32>) schedule(#blockscale.schedule<cta_group = 1, cluster_m = 1, cluster_n = 1, swap_operands = true, tile_n = 32>) : !plain_a, !plain_b -> tensor<?x136xbf16>
  return %0 : tensor<?x136xbf16>
}

func.func @swapped_wide(%a: !plain_a, %b: !plain_b, %ends: tensor<5xi32>, %ids: tensor<?xi32>) -> tensor<?x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<5xi32>) rows(%ids : tensor<?xi32>) schedule(#blockscale.schedule<cta_group = 1, cluster_m = 1, cluster_n = 1, swap_operands = true, tile_n = 256>) : !plain_a, !plain_b -> tensor<?x136xf32>
  return %0 : tensor<?x136xf32>
}

// Each CTA of a pair gathers its rows, those of a cluster a part of what they share.
func.func @pair(%a: !plain_a, %b: !plain_b, %ends: tensor<5xi32>, %ids: tensor<?xi32>) -> tensor<?x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<5xi32>) rows(%ids : tensor<?xi32>) schedule(#blockscale.schedule<cta_group = 2, cluster_m = 2, cluster_n = 1, swap_operands = false, tile_n = 128>) : !plain_a, !plain_b -> tensor<?x136xf32>
  return %0 : tensor<?x136xf32>
}

func.func @swapped_pair(%a: !plain_a, %b: !plain_b, %ends: tensor<5xi32>, %ids: tensor<?xi32>) -> tensor<?x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<5xi32>) rows(%ids : tensor<?xi32>) schedule(#blockscale.schedule<cta_group = 2, cluster_m = 2, cluster_n = 1, swap_operands = true, tile_n = 64>) : !plain_a, !plain_b -> tensor<?x136xf32>
  return %0 : tensor<?x136xf32>
}

func.func @cluster(%a: !plain_a, %b: !plain_b, %ends: tensor<5xi32>, %ids: tensor<?xi32>) -> tensor<?x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<5xi32>) rows(%ids : tensor<?xi32>) schedule(#blockscale.schedule<cta_group = 1, cluster_m = 2, cluster_n = 2, swap_operands = false, tile_n = 64>) : !plain_a, !plain_b -> tensor<?x136xf32>
  return %0 : tensor<?x136xf32>
}

func.func @swapped_cluster(%a: !plain_a, %b: !plain_b, %ends: tensor<5xi32>, %ids: tensor<?xi32>) -> tensor<?x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<5xi32>) rows(%ids : tensor<?xi32>) schedule(#blockscale.schedule<cta_group = 1, cluster_m = 2, cluster_n = 2, swap_operands = true, tile_n = 64>) : !plain_a, !plain_b -> tensor<?x136xf32>
  return %0 : tensor<?x136xf32>
}

// Scales that instructions read lie as the rows of the product do.
!mx_a = !blockscale.tensor<?x800xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
!mx_b = !blockscale.tensor<5x136x800xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @scales(%a: !mx_a, %b: !mx_b, %ends: tensor<5xi32>, %ids: tensor<?xi32>, %c: tensor<?x136xbf16>, %bias: tensor<5x136xf32>) -> tensor<?x136xbf16> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<5xi32>) rows(%ids : tensor<?xi32>) c(%c) bias(%bias) activation(relu) : !mx_a, !mx_b, tensor<?x136xbf16>, tensor<5x136xf32> -> tensor<?x136xbf16>
  return %0 : tensor<?x136xbf16>
}

// A static number of rows, and of rows of A: more of these.
!nvfp4_a = !blockscale.tensor<700x512xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = grouped_128x4>
!nvfp4_b = !blockscale.tensor<4x264x512xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
func.func @static(%a: !nvfp4_a, %b: !nvfp4_b, %ends: tensor<4xi32>, %ids: tensor<300xi32>) -> tensor<300x264xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) rows(%ids : tensor<300xi32>) schedule(#blockscale.schedule<cta_group = 2>) : !nvfp4_a, !nvfp4_b -> tensor<300x264xf32>
  return %0 : tensor<300x264xf32>
}

// Elements that TMA pads to bytes.
!mixed_a = !blockscale.tensor<?x256xf4E2M1FN, "e8m0_t32", layout = grouped_128x4>
!mixed_b = !blockscale.tensor<5x136x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @mixed(%a: !mixed_a, %b: !mixed_b, %ends: tensor<5xi32>, %ids: tensor<?xi32>) -> tensor<?x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<5xi32>) rows(%ids : tensor<?xi32>) : !mixed_a, !mixed_b -> tensor<?x136xf32>
  return %0 : tensor<?x136xf32>
}

// Scales of rows go with the rows of A.
!rows_a = !blockscale.tensor<?x256xf8E4M3FN, "float32_t0">
!rows_b = !blockscale.tensor<5x136x256xf8E4M3FN, "float32_t0">
func.func @rows(%a: !rows_a, %b: !rows_b, %ends: tensor<5xi32>, %ids: tensor<?xi32>) -> tensor<?x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<5xi32>) rows(%ids : tensor<?xi32>) : !rows_a, !rows_b -> tensor<?x136xf32>
  return %0 : tensor<?x136xf32>
}

// So do those of tiles along K.
!tiles_a = !blockscale.tensor<?x512xf8E4M3FN, "float32_t128">
!tiles_b = !blockscale.tensor<4x272x512xf8E4M3FN, "float32_t128_t128">
func.func @tiles(%a: !tiles_a, %b: !tiles_b, %ends: tensor<4xi32>, %ids: tensor<?xi32>) -> tensor<?x272xbf16> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) rows(%ids : tensor<?xi32>) : !tiles_a, !tiles_b -> tensor<?x272xbf16>
  return %0 : tensor<?x272xbf16>
}

// One scale of A for all its rows.
!one_a = !blockscale.tensor<?x512xf8E4M3FN, "float32">
!one_b = !blockscale.tensor<4x272x512xf8E4M3FN, "float32_t128_t128">
func.func @one(%a: !one_a, %b: !one_b, %ends: tensor<4xi32>, %ids: tensor<?xi32>) -> tensor<?x272xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) rows(%ids : tensor<?xi32>) : !one_a, !one_b -> tensor<?x272xf32>
  return %0 : tensor<?x272xf32>
}

// Scales of the rows of B alone, which no number gathers: of threads that own them.
!half_a = !blockscale.tensor<?x128xbf16>
!half_b = !blockscale.tensor<4x272x128xi4, "float32_t64">
func.func @tiles_of_b(%a: !half_a, %b: !half_b, %ends: tensor<4xi32>, %ids: tensor<?xi32>) -> tensor<?x272xbf16> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) rows(%ids : tensor<?xi32>) schedule(#blockscale.schedule<swap_operands = true>) : !half_a, !half_b -> tensor<?x272xbf16>
  return %0 : tensor<?x272xbf16>
}

!float_a = !blockscale.tensor<?x128xf8E4M3FN>
!float_b = !blockscale.tensor<4x272x128xf8E4M3FN, "float32_t0">
func.func @rows_of_b(%a: !float_a, %b: !float_b, %ends: tensor<4xi32>, %ids: tensor<?xi32>) -> tensor<?x272xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) rows(%ids : tensor<?xi32>) schedule(#blockscale.schedule<swap_operands = true>) : !float_a, !float_b -> tensor<?x272xf32>
  return %0 : tensor<?x272xf32>
}

// Integers less zero points of tiles and of rows, which go with the rows of A too: whoever
// packs them subtracts those, so that rows of no number are zeros as well.
!codes_a = !blockscale.tensor<?x512xui4, "float32_int8_t128">
func.func @codes(%a: !codes_a, %b: !tiles_b, %ends: tensor<4xi32>, %ids: tensor<?xi32>) -> tensor<?x272xbf16> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) rows(%ids : tensor<?xi32>) : !codes_a, !tiles_b -> tensor<?x272xbf16>
  return %0 : tensor<?x272xbf16>
}

!bytes_a = !blockscale.tensor<?x256xui8, "float32_int16_t0">
func.func @bytes(%a: !bytes_a, %b: !rows_b, %ends: tensor<5xi32>, %ids: tensor<?xi32>) -> tensor<?x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<5xi32>) rows(%ids : tensor<?xi32>) : !bytes_a, !rows_b -> tensor<?x136xf32>
  return %0 : tensor<?x136xf32>
}
