// A function whose kernel quantises under a float scale for each tile, as DeepSeek does,
// and passes the result to a product: activations in rows of 128 elements, weights in
// 128 x 128.

// REQUIRES: mlir
// RUN: blockscale verify --quantize-on-device %s --m=40 | FileCheck %s
// RUN: blockscale compile --emit=host-linalg --quantize-on-device %s | FileCheck %s --check-prefix=LAUNCHES

// CHECK-NOT: FAIL
// CHECK-LABEL: function
// CHECK: deepseek{{ +exact +40 +2 .*}}pass
// CHECK: deepseek{{ +random +40 +2 .*}}pass
// CHECK-NOT: FAIL

// LAUNCHES-LABEL: func.func @deepseek
// LAUNCHES: %[[QUANTIZED:.*]]:2 = blockscale.launch_into {{.*}} ["x"] {{.*}} -> tensor<?x512xf8E4M3FN>, tensor<?x4xf32>
// LAUNCHES: launch_into {{.*}} ["a_data", "a_scales", "b_data", "b_scales"] ins(%[[QUANTIZED]]#0, %[[QUANTIZED]]#1,

!row = !blockscale.tensor<?x512xf8E4M3FN, "float32_t128">
!square = !blockscale.tensor<256x512xf8E4M3FN, "float32_t128_t128">
func.func @deepseek(%x: tensor<?x512xbf16>, %w: !square) -> tensor<?x256xbf16> {
  %0 = blockscale.quantize %x : tensor<?x512xbf16> to !row
  %1 = blockscale.matmul %0, %w : !row, !square -> tensor<?x256xbf16>
  return %1 : tensor<?x256xbf16>
}
