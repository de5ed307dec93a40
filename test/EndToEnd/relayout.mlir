// Kernels that move scales from one layout to another, byte by byte: all pairs of
// layouts, lines that are whole words and others, matrices in batches, padding.

// REQUIRES: mlir
// RUN: blockscale verify %s | FileCheck %s
// RUN: blockscale verify %s --target=sm_120a --seed=5 | FileCheck %s

// CHECK-NOT: FAIL
// CHECK-COUNT-16: pass
// CHECK-NOT: {{FAIL|pass}}

// RUN: blockscale verify %s --tiles=2 --data=random | FileCheck %s --check-prefix=SAMPLE
// SAMPLE-NOT: FAIL
// SAMPLE-COUNT-8: pass

!tile_a = !blockscale.tensor<133x352xf8E4M3FN, "e8m0_t32", layout = plain>
!tile_d = !blockscale.tensor<133x352xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @tile(%a: !tile_a) -> !tile_d {
  %0 = blockscale.relayout %a : !tile_a to !tile_d
  return %0 : !tile_d
}

!tile_words_a = !blockscale.tensor<133x256xf8E5M2, "e8m0_t32", layout = plain>
!tile_words_d = !blockscale.tensor<133x256xf8E5M2, "e8m0_t32", layout = tiled_128x4>
func.func @tile_words(%a: !tile_words_a) -> !tile_words_d {
  %0 = blockscale.relayout %a : !tile_words_a to !tile_words_d
  return %0 : !tile_words_d
}

!flatten_a = !blockscale.tensor<133x352xf6E2M3FN, "e8m0_t32", layout = tiled_128x4>
!flatten_d = !blockscale.tensor<133x352xf6E2M3FN, "e8m0_t32", layout = plain>
func.func @flatten(%a: !flatten_a) -> !flatten_d {
  %0 = blockscale.relayout %a : !flatten_a to !flatten_d
  return %0 : !flatten_d
}

!flatten_words_a = !blockscale.tensor<3x37x256xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!flatten_words_d = !blockscale.tensor<3x37x256xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = plain>
func.func @flatten_words(%a: !flatten_words_a) -> !flatten_words_d {
  %0 = blockscale.relayout %a : !flatten_words_a to !flatten_words_d
  return %0 : !flatten_words_d
}

!wide_a = !blockscale.tensor<2x140x160xf4E2M1FN, "e4m3fn_t16", layout = plain>
!wide_d = !blockscale.tensor<2x140x160xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x16>
func.func @wide(%a: !wide_a) -> !wide_d {
  %0 = blockscale.relayout %a : !wide_a to !wide_d
  return %0 : !wide_d
}

!widen_a = !blockscale.tensor<140x352xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!widen_d = !blockscale.tensor<140x352xf8E4M3FN, "e8m0_t32", layout = tiled_128x16>
func.func @widen(%a: !widen_a) -> !widen_d {
  %0 = blockscale.relayout %a : !widen_a to !widen_d
  return %0 : !widen_d
}

!narrow_a = !blockscale.tensor<3x140x352xf8E4M3FN, "e8m0_t32", layout = tiled_128x16>
!narrow_d = !blockscale.tensor<3x140x352xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @narrow(%a: !narrow_a) -> !narrow_d {
  %0 = blockscale.relayout %a : !narrow_a to !narrow_d
  return %0 : !narrow_d
}

!rows_a = !blockscale.tensor<5x7x64xi8, "e8m0_t64", layout = tiled_128x16>
!rows_d = !blockscale.tensor<5x7x64xi8, "e8m0_t64", layout = plain>
func.func @rows(%a: !rows_a) -> !rows_d {
  %0 = blockscale.relayout %a : !rows_a to !rows_d
  return %0 : !rows_d
}
