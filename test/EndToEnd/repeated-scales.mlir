// Scales that cover several rows or more elements than the instruction's blocks:
// the plan says how the host repeats them. Tiles that end outside of the matrix,
// two levels, mixed lengths, a sparse A, exchanged operands, pairs and clusters.

// REQUIRES: mlir
// RUN: blockscale verify %s --num-sms=8 | FileCheck %s
// RUN: blockscale verify %s --num-sms=8 --data=exact --seed=5 --completion=latest --target=sm_103a | FileCheck %s --check-prefix=ONCE

// CHECK-NOT: FAIL
// CHECK-COUNT-26: pass
// CHECK-NOT: {{FAIL|pass}}

// ONCE-NOT: FAIL
// ONCE-COUNT-13: pass
// ONCE-NOT: {{FAIL|pass}}

!long_tiles_a = !blockscale.tensor<130x512xf8E4M3FN, "e8m0_t64", layout = tiled_128x4>
!long_tiles_b = !blockscale.tensor<144x512xf6E2M3FN, "e8m0_t256", layout = tiled_128x4>
func.func @long_tiles(%a: !long_tiles_a, %b: !long_tiles_b) -> tensor<130x144xf32> {
  %0 = blockscale.matmul %a, %b : !long_tiles_a, !long_tiles_b -> tensor<130x144xf32>
  return %0 : tensor<130x144xf32>
}

!deepseek_a = !blockscale.tensor<70x384xf8E4M3FN, "e8m0_t128", layout = tiled_128x4>
!deepseek_b = !blockscale.tensor<200x384xf8E4M3FN, "e8m0_t128_t128", layout = tiled_128x4>
func.func @deepseek(%a: !deepseek_a, %b: !deepseek_b) -> tensor<70x200xbf16> {
  %0 = blockscale.matmul %a, %b : !deepseek_a, !deepseek_b -> tensor<70x200xbf16>
  return %0 : tensor<70x200xbf16>
}

!squares_a = !blockscale.tensor<261x160xf8E5M2, "e8m0_t32_t32", layout = tiled_128x4>
!squares_b = !blockscale.tensor<72x160xf4E2M1FN, "e8m0_t16_t32", layout = tiled_128x4>
func.func @squares(%a: !squares_a, %b: !squares_b) -> tensor<261x72xf32> {
  %0 = blockscale.matmul %a, %b : !squares_a, !squares_b -> tensor<261x72xf32>
  return %0 : tensor<261x72xf32>
}

!all_rows_a = !blockscale.tensor<40x192xf6E3M2FN, "e8m0_t0_t32", layout = tiled_128x4>
!all_rows_b = !blockscale.tensor<136x192xf8E4M3FN, "e8m0_t0_t64", layout = tiled_128x4>
func.func @all_rows(%a: !all_rows_a, %b: !all_rows_b) -> tensor<40x136xf32> {
  %0 = blockscale.matmul %a, %b : !all_rows_a, !all_rows_b -> tensor<40x136xf32>
  return %0 : tensor<40x136xf32>
}

!batch_a = !blockscale.tensor<3x70x128xf8E4M3FN, "e8m0_t4_t32", layout = tiled_128x4>
!batch_b = !blockscale.tensor<3x40x128xf8E4M3FN, "e8m0_t64_t64", layout = tiled_128x4>
func.func @batch(%a: !batch_a, %b: !batch_b) -> tensor<3x70x40xf32> {
  %0 = blockscale.matmul %a, %b : !batch_a, !batch_b -> tensor<3x70x40xf32>
  return %0 : tensor<3x70x40xf32>
}

!fp4_a = !blockscale.tensor<70x256xf4E2M1FN, "e8m0_t64", layout = tiled_128x4>
!fp4_b = !blockscale.tensor<136x256xf4E2M1FN, "e8m0_t16_t128", layout = tiled_128x4>
func.func @fp4(%a: !fp4_a, %b: !fp4_b) -> tensor<70x136xf32> {
  %0 = blockscale.matmul %a, %b : !fp4_a, !fp4_b -> tensor<70x136xf32>
  return %0 : tensor<70x136xf32>
}

!fp4_16_a = !blockscale.tensor<130x128xf4E2M1FN, "e8m0_t16_t16", layout = tiled_128x4>
!fp4_16_b = !blockscale.tensor<72x128xf4E2M1FN, "e8m0_t64", layout = tiled_128x4>
func.func @fp4_16(%a: !fp4_16_a, %b: !fp4_16_b) -> tensor<130x72xf32> {
  %0 = blockscale.matmul %a, %b : !fp4_16_a, !fp4_16_b -> tensor<130x72xf32>
  return %0 : tensor<130x72xf32>
}

!nvfp4_a = !blockscale.tensor<150x256xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!nvfp4_b = !blockscale.tensor<136x256xf4E2M1FN, "multi_float32_e4m3fn_t16_t16", layout = tiled_128x4>
func.func @nvfp4(%a: !nvfp4_a, %b: !nvfp4_b) -> tensor<150x136xbf16> {
  %0 = blockscale.matmul %a, %b : !nvfp4_a, !nvfp4_b -> tensor<150x136xbf16>
  return %0 : tensor<150x136xbf16>
}

!nvfp4_long_a = !blockscale.tensor<40x256xf4E2M1FN, "e4m3_t64", layout = tiled_128x4>
!nvfp4_long_b = !blockscale.tensor<72x256xf4E2M1FN, "multi_float32_e4m3_t128_t32", layout = tiled_128x4>
func.func @nvfp4_long(%a: !nvfp4_long_a, %b: !nvfp4_long_b) -> tensor<40x72xf32> {
  %0 = blockscale.matmul %a, %b : !nvfp4_long_a, !nvfp4_long_b -> tensor<40x72xf32>
  return %0 : tensor<40x72xf32>
}

!swapped_a = !blockscale.tensor<20x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!swapped_b = !blockscale.tensor<264x256xf8E4M3FN, "e8m0_t128_t128", layout = tiled_128x4>
func.func @swapped(%a: !swapped_a, %b: !swapped_b) -> tensor<20x264xbf16> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = true>) : !swapped_a, !swapped_b -> tensor<20x264xbf16>
  return %0 : tensor<20x264xbf16>
}

!pairs_a = !blockscale.tensor<600x256xf8E4M3FN, "e8m0_t16_t64", layout = tiled_128x4>
!pairs_b = !blockscale.tensor<300x256xf8E4M3FN, "e8m0_t32_t32", layout = tiled_128x4>
func.func @pairs(%a: !pairs_a, %b: !pairs_b) -> tensor<600x300xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 128, cta_group = 2, cluster_n = 2>) : !pairs_a, !pairs_b -> tensor<600x300xf32>
  return %0 : tensor<600x300xf32>
}

!sparse_a = !blockscale.tensor<130x512xf8E4M3FN, "e8m0_t64n2m4", layout = tiled_128x4>
!sparse_b = !blockscale.tensor<136x512xf8E5M2, "e8m0_t32_t128", layout = tiled_128x4>
func.func @sparse(%a: !sparse_a, %b: !sparse_b) -> tensor<130x136xf32> {
  %0 = blockscale.matmul %a, %b : !sparse_a, !sparse_b -> tensor<130x136xf32>
  return %0 : tensor<130x136xf32>
}

!sparse_nvfp4_a = !blockscale.tensor<70x512xf4E2M1FN, "e4m3fn_t16n4m8", layout = tiled_128x4>
!sparse_nvfp4_b = !blockscale.tensor<72x512xf4E2M1FN, "e4m3fn_t16_t64", layout = tiled_128x4>
func.func @sparse_nvfp4(%a: !sparse_nvfp4_a, %b: !sparse_nvfp4_b) -> tensor<70x72xf32> {
  %0 = blockscale.matmul %a, %b : !sparse_nvfp4_a, !sparse_nvfp4_b -> tensor<70x72xf32>
  return %0 : tensor<70x72xf32>
}
