// Kernels that bring elements of a byte into the other order, alone and with scales in
// another layout: tails of lines, whole pieces of them, matrices in batches, integers, of
// sparse elements those that are stored, sizes that only the launch knows.

// REQUIRES: mlir
// RUN: blockscale verify %s --m=1,129 --k=96,352 --batch=3 | FileCheck %s
// RUN: blockscale verify %s --m=300 --k=64 --batch=1 --target=sm_120a --seed=5 | FileCheck %s --check-prefix=ONE

// CHECK-NOT: FAIL
// CHECK-COUNT-20: pass
// CHECK-NOT: {{FAIL|pass}}
// ONE-NOT: FAIL
// ONE-COUNT-14: pass
// ONE-NOT: {{FAIL|pass}}

// RUN: blockscale verify %s --m=129 --k=352 --batch=3 --tiles=2 --data=random | FileCheck %s --check-prefix=SAMPLE
// SAMPLE-NOT: FAIL
// SAMPLE-COUNT-7: pass

// RUN: not blockscale verify %s --m=1 --k=40 --batch=1 2>&1 | FileCheck %s --check-prefix=RAGGED
// RAGGED: kernel 'both' needs K % 32 == 0, but M is 1, K is 40, batch is 1

!along = !blockscale.tensor<2x133x352xf8E4M3FN, "e8m0_t32">
!across = !blockscale.tensor<2x133x352xf8E4M3FN, "e8m0_t32", order = mn_major>
func.func @across(%a: !along) -> !across {
  %0 = blockscale.relayout %a : !along to !across
  return %0 : !across
}

// Whole pieces, of more than one CTA both ways.
!whole = !blockscale.tensor<272x144xui8, order = mn_major>
!whole_d = !blockscale.tensor<272x144xui8>
func.func @whole(%a: !whole) -> !whole_d {
  %0 = blockscale.relayout %a : !whole to !whole_d
  return %0 : !whole_d
}

!odd = !blockscale.tensor<3x37x19xi8>
!odd_d = !blockscale.tensor<3x37x19xi8, order = mn_major>
func.func @odd(%a: !odd) -> !odd_d {
  %0 = blockscale.relayout %a : !odd to !odd_d
  return %0 : !odd_d
}

// A scale for all of a row, and zero points, stay.
!kept = !blockscale.tensor<140x256xui8, "float32_int8_t128">
!kept_d = !blockscale.tensor<140x256xui8, "float32_int8_t128", order = mn_major>
func.func @kept(%a: !kept) -> !kept_d {
  %0 = blockscale.relayout %a : !kept to !kept_d
  return %0 : !kept_d
}

!scales = !blockscale.tensor<140x352xf8E5M2, "e8m0_t32", layout = tiled_128x4, order = mn_major>
!scales_d = !blockscale.tensor<140x352xf8E5M2, "e8m0_t32", layout = tiled_128x16>
func.func @scales(%a: !scales) -> !scales_d {
  %0 = blockscale.relayout %a : !scales to !scales_d
  return %0 : !scales_d
}

!stored = !blockscale.tensor<133x320xf8E4M3FN, "e8m0_t32n2m4">
!stored_d = !blockscale.tensor<133x320xf8E4M3FN, "e8m0_t32n2m4", order = mn_major>
func.func @stored(%a: !stored) -> !stored_d {
  %0 = blockscale.relayout %a : !stored to !stored_d
  return %0 : !stored_d
}

!both = !blockscale.tensor<?x?x?xf8E4M3FN, "e8m0_t32">
!both_d = !blockscale.tensor<?x?x?xf8E4M3FN, "e8m0_t32", layout = tiled_128x4, order = mn_major>
func.func @both(%a: !both) -> !both_d {
  %0 = blockscale.relayout %a : !both to !both_d
  return %0 : !both_d
}
