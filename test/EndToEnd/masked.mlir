// A matrix of A for each expert, of which memory says how many rows are there: none, one,
// a tile and one more or less, or all.

// REQUIRES: mlir
// RUN: blockscale verify %s --data=exact --num-sms=8 --m=1,130,400 | FileCheck %s
// RUN: blockscale verify %s --data=exact --num-sms=12 --m=300 --completion=random | FileCheck %s --check-prefix=ONCE
// RUN: blockscale verify %s --target=sm_103a --data=exact --num-sms=8 --m=257 --completion=latest | FileCheck %s --check-prefix=ONCE
// RUN: sed -e 's/cta_group = [12], *//; s/cluster_[mn] = [12], *//g; s/tile_n = 192/tile_n = 64/' %s > %t.mlir
// RUN: blockscale verify %t.mlir --target=sm_120a --data=exact --num-sms=3 --m=1,200 --completion=random | FileCheck %s --check-prefix=WARPS

// CHECK-NOT: FAIL
// CHECK-COUNT-30: pass
// CHECK-NOT: {{FAIL|pass}}

// ONCE-NOT: FAIL
// ONCE-COUNT-10: pass
// ONCE-NOT: {{FAIL|pass}}

// WARPS-NOT: FAIL
// WARPS-COUNT-20: pass
// WARPS-NOT: {{FAIL|pass}}

!mxfp8_a = !blockscale.tensor<5x?x288xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!mxfp8_b = !blockscale.tensor<5x136x288xf8E5M2, "e8m0_t32", layout = tiled_128x4>
func.func @straight(%a: !mxfp8_a, %b: !mxfp8_b, %counts: tensor<5xi32>, %bias: tensor<5x136xf32>) -> tensor<5x?x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%counts : tensor<5xi32>) bias(%bias) schedule(#blockscale.schedule<cta_group = 1, swap_operands = false, tile_n = 64>) : !mxfp8_a, !mxfp8_b, tensor<5x136xf32> -> tensor<5x?x136xf32>
  return %0 : tensor<5x?x136xf32>
}

func.func @swapped(%a: !mxfp8_a, %b: !mxfp8_b, %counts: tensor<5xi32>, %bias: tensor<5x136xf32>) -> tensor<5x?x136xbf16> {
  %0 = blockscale.matmul %a, %b groups(%counts : tensor<5xi32>) bias(%bias) activation(relu) schedule(#blockscale.schedule<cta_group = 1, swap_operands = true, tile_n = 64>) : !mxfp8_a, !mxfp8_b, tensor<5x136xf32> -> tensor<5x?x136xbf16>
  return %0 : tensor<5x?x136xbf16>
}

!nvfp4_a = !blockscale.tensor<3x?x288xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!nvfp4_b = !blockscale.tensor<3x392x288xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
func.func @nvfp4(%a: !nvfp4_a, %b: !nvfp4_b, %counts: tensor<3xi32>, %c: tensor<3x?x392xf32>) -> tensor<3x?x392xf32> {
  %beta = arith.constant 2.0 : f32
  %0 = blockscale.matmul %a, %b groups(%counts : tensor<3xi32>) beta(%beta) c(%c) schedule(#blockscale.schedule<cta_group = 2, cluster_m = 2, cluster_n = 2, tile_n = 192, swap_operands = false>) : !nvfp4_a, !nvfp4_b, tensor<3x?x392xf32> -> tensor<3x?x392xf32>
  return %0 : tensor<3x?x392xf32>
}

// Tiles are handed out, and the number of matrices is known late.
!any_a = !blockscale.tensor<?x?x288xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
!any_b = !blockscale.tensor<?x136x288xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
func.func @dynamic(%a: !any_a, %b: !any_b, %counts: tensor<?xi32>) -> tensor<?x?x136xbf16> {
  %0 = blockscale.matmul %a, %b groups(%counts : tensor<?xi32>) schedule(#blockscale.schedule<scheduler = dynamic>) : !any_a, !any_b -> tensor<?x?x136xbf16>
  return %0 : tensor<?x?x136xbf16>
}

!rows_a = !blockscale.tensor<4x?x288xf8E4M3FN, "float32_t0">
!rows_b = !blockscale.tensor<4x136x288xf8E4M3FN, "float32_t0">
func.func @rows(%a: !rows_a, %b: !rows_b, %counts: tensor<4xi32>) -> tensor<4x?x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%counts : tensor<4xi32>) : !rows_a, !rows_b -> tensor<4x?x136xf32>
  return %0 : tensor<4x?x136xf32>
}

// DeepGEMM's.
!deepseek_a = !blockscale.tensor<4x?x256xf8E4M3FN, "float32_t128">
!deepseek_b = !blockscale.tensor<4x256x256xf8E4M3FN, "float32_t128_t128">
func.func @deepseek(%a: !deepseek_a, %b: !deepseek_b, %counts: tensor<4xi32>) -> tensor<4x?x256xbf16> {
  %0 = blockscale.matmul %a, %b groups(%counts : tensor<4xi32>) : !deepseek_a, !deepseek_b -> tensor<4x?x256xbf16>
  return %0 : tensor<4x?x256xbf16>
}

!sparse_a = !blockscale.tensor<3x?x448xf8E4M3FN, "e8m0_t32n2m4", layout = tiled_128x4>
!sparse_b = !blockscale.tensor<3x136x448xf8E5M2, "e8m0_t64", layout = tiled_128x4>
func.func @sparse(%a: !sparse_a, %b: !sparse_b, %counts: tensor<3xi32>) -> tensor<3x?x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%counts : tensor<3xi32>) : !sparse_a, !sparse_b -> tensor<3x?x136xf32>
  return %0 : tensor<3x?x136xf32>
}

!pairs_b = !blockscale.tensor<5x272x288xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @gate_up(%a: !mxfp8_a, %b: !pairs_b, %counts: tensor<5xi32>, %bias: tensor<5x272xf32>) -> tensor<5x?x136xbf16> {
  %0 = blockscale.matmul %a, %b groups(%counts : tensor<5xi32>) bias(%bias) pairs epilogue(%g, %up, %gb, %ub) {
    %1 = arith.addf %g, %gb : f32
    %2 = arith.addf %up, %ub : f32
    %3 = arith.mulf %1, %2 : f32
    blockscale.yield %3
  } : !mxfp8_a, !pairs_b, tensor<5x272xf32> -> tensor<5x?x136xbf16>
  return %0 : tensor<5x?x136xbf16>
}

// Scales of 1 beside MXFP4 are in tensor memory once for all tiles: also of a CTA that has
// none, because there are few rows.
!tokens = !blockscale.tensor<3x?x512xf8E4M3FN, "float32_t0">
!experts = !blockscale.tensor<3x264x512xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
func.func @w4a8(%a: !tokens, %b: !experts, %counts: tensor<3xi32>) -> tensor<3x?x264xbf16> {
  %0 = blockscale.matmul %a, %b groups(%counts : tensor<3xi32>) : !tokens, !experts -> tensor<3x?x264xbf16>
  return %0 : tensor<3x?x264xbf16>
}

!tiles = !blockscale.tensor<3x?x512xf8E4M3FN, "float32_t128">
func.func @w4a8_tiles(%a: !tiles, %b: !experts, %counts: tensor<3xi32>) -> tensor<3x?x264xbf16> {
  %0 = blockscale.matmul %a, %b groups(%counts : tensor<3xi32>) : !tiles, !experts -> tensor<3x?x264xbf16>
  return %0 : tensor<3x?x264xbf16>
}
