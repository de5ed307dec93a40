// A schedule that only a kernel has which multiplies and quantises: functions whose host
// quantises get another one, of which a remark tells, and both are judged.

// REQUIRES: mlir
// RUN: blockscale verify %s --data=exact > %t.table 2> %t.notes
// RUN: FileCheck %s < %t.table
// RUN: FileCheck %s --check-prefix=NOTES < %t.notes
// RUN: blockscale verify %s --data=exact --quantize-on-device > %t.device 2> %t.notes
// RUN: FileCheck %s < %t.device
// RUN: FileCheck %s --check-prefix=NOTES < %t.notes

// CHECK: both {{.*}}pass
// CHECK: function
// CHECK-NEXT: both {{.*}}pass
// NOTES: schedule-of-both.mlir:[[#@LINE+6]]:8: remark: 'schedule' suits a kernel that quantises the result, which is the host's here, and is chosen anew:

!x = !blockscale.tensor<133x256xf8E4M3FN, "float32_t128">
!w = !blockscale.tensor<256x256xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
!q = !blockscale.tensor<133x256xf6E2M3FN, "e8m0_t256", layout = tiled_128x4>
func.func @both(%x: !x, %w: !w) -> !q {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<swap_operands = false, tile_n = 256>) : !x, !w -> tensor<133x256xbf16>
  %0 = blockscale.quantize %y : tensor<133x256xbf16> to !q
  return %0 : !q
}
