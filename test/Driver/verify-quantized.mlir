// Whose kernels the functions launch that quantise results of products: without
// `--quantize-on-device` others than those that are judged themselves, of which a note
// tells.

// REQUIRES: mlir
// RUN: blockscale verify %s --data=exact 2>&1 | FileCheck %s --check-prefix=HOST
// RUN: blockscale verify %s --data=exact --quantize-on-device 2>&1 | FileCheck %s --check-prefix=DEVICE

// HOST: note: {{.*}}verify-quantized.mlir: functions are called with results of products quantised on the host; with '--quantize-on-device' they launch the kernels that do
// HOST: function
// HOST-NEXT: result {{.*}} pass
// DEVICE-NOT: note:
// DEVICE: function
// DEVICE-NEXT: result {{.*}} pass

!x = !blockscale.tensor<64x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!w = !blockscale.tensor<96x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!q = !blockscale.tensor<64x96xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @result(%x: !x, %w: !w) -> !q {
  %y = blockscale.matmul %x, %w : !x, !w -> tensor<64x96xbf16>
  %0 = blockscale.quantize %y : tensor<64x96xbf16> to !q
  return %0 : !q
}
