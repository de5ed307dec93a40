// Groups of rows on warps, without tensor memory: ragged and empty groups as elsewhere,
// with what may follow the sums.

// REQUIRES: mlir
// RUN: blockscale verify %s --target=sm_120a --data=exact --num-sms=4 --m=1,130,400 | FileCheck %s
// RUN: blockscale verify %s --target=sm_121a --num-sms=170 --m=700 --completion=latest | FileCheck %s --check-prefix=TWICE

// CHECK-NOT: FAIL
// CHECK-COUNT-18: pass
// CHECK-NOT: {{FAIL|pass}}

// TWICE-NOT: FAIL
// TWICE-COUNT-12: pass
// TWICE-NOT: {{FAIL|pass}}

// A bias for each group; K ends inside a stage, N inside a tile.
!mxfp8_a = !blockscale.tensor<?x160xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
!mxfp8_b = !blockscale.tensor<5x136x160xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @straight(%a: !mxfp8_a, %b: !mxfp8_b, %ends: tensor<5xi32>, %bias: tensor<5x136xf32>) -> tensor<?x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<5xi32>) bias(%bias) schedule(#blockscale.schedule<swap_operands = false, tile_n = 64>) : !mxfp8_a, !mxfp8_b, tensor<5x136xf32> -> tensor<?x136xf32>
  return %0 : tensor<?x136xf32>
}

// Tiles of 32 rows of a group, whose scales begin inside of 128.
func.func @swapped(%a: !mxfp8_a, %b: !mxfp8_b, %ends: tensor<5xi32>, %bias: tensor<5x136xf32>) -> tensor<?x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<5xi32>) bias(%bias) schedule(#blockscale.schedule<swap_operands = true, tile_n = 32>) : !mxfp8_a, !mxfp8_b, tensor<5x136xf32> -> tensor<?x136xf32>
  return %0 : tensor<?x136xf32>
}

!nvfp4_a = !blockscale.tensor<?x160xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = grouped_128x4>
!nvfp4_b = !blockscale.tensor<5x136x160xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
func.func @nvfp4(%a: !nvfp4_a, %b: !nvfp4_b, %ends: tensor<5xi32>, %alpha: f32, %c: tensor<?x136xf32>) -> tensor<?x136xbf16> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<5xi32>) alpha(%alpha) c(%c) activation(silu) : !nvfp4_a, !nvfp4_b, tensor<?x136xf32> -> tensor<?x136xbf16>
  return %0 : tensor<?x136xbf16>
}

!mixed_a = !blockscale.tensor<?x160xf8E5M2, "e8m0_t32", layout = grouped_128x4>
!mixed_b = !blockscale.tensor<5x136x160xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
func.func @mixed(%a: !mixed_a, %b: !mixed_b, %ends: tensor<5xi32>) -> tensor<?x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<5xi32>) : !mixed_a, !mixed_b -> tensor<?x136xf32>
  return %0 : tensor<?x136xf32>
}

// A scale for each row of A and of each matrix.
!rows_a = !blockscale.tensor<?x160xf8E4M3FN, "float32_t0">
!rows_b = !blockscale.tensor<5x136x160xf8E4M3FN, "float32_t0">
func.func @rows(%a: !rows_a, %b: !rows_b, %ends: tensor<5xi32>) -> tensor<?x136xbf16> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<5xi32>) : !rows_a, !rows_b -> tensor<?x136xbf16>
  return %0 : tensor<?x136xbf16>
}

// As many groups as the host counts.
!plain_a = !blockscale.tensor<?x160xf8E4M3FN>
!plain_b = !blockscale.tensor<?x136x160xf6E2M3FN>
func.func @plain(%a: !plain_a, %b: !plain_b, %ends: tensor<?xi32>) -> tensor<?x136xf16> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<?xi32>) : !plain_a, !plain_b -> tensor<?x136xf16>
  return %0 : tensor<?x136xf16>
}
