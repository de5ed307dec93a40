// Kernels that move metadata from rows to the tiles that the tensor core reads, and back,
// with scales and elements or without: lines of whole 16 bytes, of words and of others,
// matrices in batches, padding, sizes that only the launch knows.

// REQUIRES: mlir
// RUN: blockscale verify %s --m=1,129 --k=128,320 --batch=3 | FileCheck %s
// RUN: blockscale verify %s --m=129 --k=320 --batch=3 --target=sm_120a --seed=5 | FileCheck %s --check-prefix=ONE

// CHECK-NOT: FAIL
// CHECK-COUNT-28: pass
// CHECK-NOT: {{FAIL|pass}}
// ONE-NOT: FAIL
// ONE-COUNT-16: pass
// ONE-NOT: {{FAIL|pass}}

// RUN: blockscale verify %s --m=129 --k=320 --batch=3 --tiles=2 --data=random | FileCheck %s --check-prefix=SAMPLE
// SAMPLE-NOT: FAIL
// SAMPLE-COUNT-8: pass

// 16 bytes of a line, of which two make a sector, and one more.
!whole = !blockscale.tensor<2x133x384xbf16, "n2m4">
!whole_d = !blockscale.tensor<2x133x384xbf16, "n2m4", layout = tiled_128x4>
func.func @whole(%a: !whole) -> !whole_d {
  %0 = blockscale.relayout %a : !whole to !whole_d
  return %0 : !whole_d
}
func.func @whole_back(%a: !whole_d) -> !whole {
  %0 = blockscale.relayout %a : !whole_d to !whole
  return %0 : !whole
}

// Lines of 11 words.
!words = !blockscale.tensor<140x176xtf32, "n1m2">
!words_d = !blockscale.tensor<140x176xtf32, "n1m2", layout = tiled_128x4>
func.func @words(%a: !words) -> !words_d {
  %0 = blockscale.relayout %a : !words to !words_d
  return %0 : !words_d
}

// Lines of 19 bytes.
!odd = !blockscale.tensor<3x37x76xtf32, "n1m2">
!odd_d = !blockscale.tensor<3x37x76xtf32, "n1m2", layout = tiled_128x4>
func.func @odd(%a: !odd) -> !odd_d {
  %0 = blockscale.relayout %a : !odd to !odd_d
  return %0 : !odd_d
}
func.func @odd_back(%a: !odd_d) -> !odd {
  %0 = blockscale.relayout %a : !odd_d to !odd
  return %0 : !odd
}

// Scales by which products multiply sums lie by rows as they did.
!floats = !blockscale.tensor<140x512xf4E2M1FN, "float32_t32n4m8">
!floats_d = !blockscale.tensor<140x512xf4E2M1FN, "float32_t32n4m8", layout = tiled_128x4>
func.func @floats(%a: !floats) -> !floats_d {
  %0 = blockscale.relayout %a : !floats to !floats_d
  return %0 : !floats_d
}

!all = !blockscale.tensor<?x?x?xf8E4M3FN, "e8m0_t32n2m4">
!all_d = !blockscale.tensor<?x?x?xf8E4M3FN, "e8m0_t32n2m4", layout = tiled_128x4, order = mn_major>
func.func @all(%a: !all) -> !all_d {
  %0 = blockscale.relayout %a : !all to !all_d
  return %0 : !all_d
}
func.func @all_back(%a: !all_d) -> !all {
  %0 = blockscale.relayout %a : !all_d to !all
  return %0 : !all
}
