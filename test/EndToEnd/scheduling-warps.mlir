// Chips without tensor memory: tiles handed out by cluster launch control to few and to
// many CTAs that run at once, in kernels that wait for the grid before them.

// REQUIRES: mlir
// RUN: blockscale verify %s --target=sm_120a --data=exact --num-sms=3 --m=1,200 | FileCheck %s
// RUN: blockscale verify %s --target=sm_121a --data=exact --num-sms=7 --m=333 --completion=random | FileCheck %s --check-prefix=ONCE
// RUN: blockscale verify %s --target=sm_120a --data=exact --num-sms=170 --m=150 --completion=latest | FileCheck %s --check-prefix=ONCE

// CHECK-NOT: FAIL
// CHECK-COUNT-16: pass
// CHECK-NOT: {{FAIL|pass}}

// ONCE-NOT: FAIL
// ONCE-COUNT-9: pass
// ONCE-NOT: {{FAIL|pass}}

!mxfp8_a = !blockscale.tensor<?x288xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!mxfp8_b = !blockscale.tensor<200x288xf8E5M2, "e8m0_t32", layout = tiled_128x4>
func.func @mxfp8(%a: !mxfp8_a, %b: !mxfp8_b) -> tensor<?x200xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = false, tile_n = 64, scheduler = dynamic, dependent_launch = true>) : !mxfp8_a, !mxfp8_b -> tensor<?x200xf32>
  return %0 : tensor<?x200xf32>
}

// Matrices of a batch, and a part of K each.
!batch_a = !blockscale.tensor<3x40x1632xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!batch_b = !blockscale.tensor<3x72x1632xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
func.func @batch(%a: !batch_a, %b: !batch_b) -> tensor<3x40x72xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<split_k = 3, scheduler = dynamic>) : !batch_a, !batch_b -> tensor<3x40x72xf32>
  return %0 : tensor<3x40x72xf32>
}

!sparse_a = !blockscale.tensor<?x448xf8E4M3FN, "e8m0_t32n2m4", layout = tiled_128x4>
!dense_b = !blockscale.tensor<136x448xf8E5M2, "e8m0_t64", layout = tiled_128x4>
func.func @sparse(%a: !sparse_a, %b: !dense_b) -> tensor<?x136xbf16> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<scheduler = dynamic, dependent_launch = true>) : !sparse_a, !dense_b -> tensor<?x136xbf16>
  return %0 : tensor<?x136xbf16>
}

!promoted_a = !blockscale.tensor<?x384xf8E4M3FN, "float32_t128">
!promoted_b = !blockscale.tensor<200x384xf8E4M3FN, "float32_t128_t128">
func.func @promoted(%a: !promoted_a, %b: !promoted_b) -> tensor<?x200xbf16> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = true, scheduler = dynamic>) : !promoted_a, !promoted_b -> tensor<?x200xbf16>
  return %0 : tensor<?x200xbf16>
}

// The sums are stored before the next tile is asked for, and read by nobody else.
!x = !blockscale.tensor<?x160xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!w = !blockscale.tensor<352x160xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
!y = !blockscale.tensor<?x352xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @quantized(%x: !x, %w: !w) -> !y {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<scheduler = dynamic, dependent_launch = true>) : !x, !w -> tensor<?x352xf32>
  %q = blockscale.quantize %y : tensor<?x352xf32> to !y
  return %q : !y
}

!ints_a = !blockscale.tensor<?x352xi8>
!ints_b = !blockscale.tensor<136x352xi8>
func.func @integers(%a: !ints_a, %b: !ints_b) -> tensor<?x136xi32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<scheduler = dynamic>) : !ints_a, !ints_b -> tensor<?x136xi32>
  return %0 : tensor<?x136xi32>
}

// An empty group, and rows behind the last one.
!rows = !blockscale.tensor<?x288xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
!experts = !blockscale.tensor<5x136x288xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @groups(%a: !rows, %b: !experts, %ends: tensor<5xi32>, %v: tensor<5x136xf32>) -> tensor<?x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<5xi32>) bias(%v) schedule(#blockscale.schedule<tile_n = 32, scheduler = dynamic, dependent_launch = true>) : !rows, !experts, tensor<5x136xf32> -> tensor<?x136xf32>
  return %0 : tensor<?x136xf32>
}

!tokens = !blockscale.tensor<200x288xf8E4M3FN, "float32_t0">
!channels = !blockscale.tensor<5x136x288xf8E4M3FN, "float32_t0">
func.func @gathered(%a: !tokens, %b: !channels, %ends: tensor<5xi32>, %ids: tensor<?xi32>) -> tensor<?x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<5xi32>) rows(%ids : tensor<?xi32>) schedule(#blockscale.schedule<scheduler = dynamic, dependent_launch = true>) : !tokens, !channels -> tensor<?x136xf32>
  return %0 : tensor<?x136xf32>
}
