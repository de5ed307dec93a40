// Integers that the host quantises from sums which are off in their last bits: a code may be
// that of the next number, if it is as near to the sum. Under powers of two and with zero
// points.

// REQUIRES: mlir
// RUN: blockscale verify %s --num-sms=8 --m=136 --seed=1 2>&1 | FileCheck %s
// RUN: blockscale verify %s --num-sms=8 --m=136 --seed=2 2>&1 | FileCheck %s
// RUN: blockscale verify %s --num-sms=8 --m=136 --seed=4 2>&1 | FileCheck %s

// CHECK-NOT: FAIL
// CHECK-LABEL: function
// CHECK-COUNT-6: pass
// CHECK-NOT: FAIL

!a = !blockscale.tensor<136x512xf8E4M3FN, "float32_t128">
!w = !blockscale.tensor<256x512xf8E4M3FN, "float32_t128_t128">

!powers = !blockscale.tensor<136x256xi8, "e8m0_t32">
func.func @powers(%x: !a, %w: !w) -> !powers {
  %y = blockscale.matmul %x, %w activation(relu) : !a, !w -> tensor<136x256xbf16>
  %0 = blockscale.quantize %y : tensor<136x256xbf16> to !powers
  return %0 : !powers
}

!zeros = !blockscale.tensor<136x256xui8, "float32_int16_t0">
func.func @zeros(%x: !a, %w: !w) -> !zeros {
  %y = blockscale.matmul %x, %w activation(relu) : !a, !w -> tensor<136x256xbf16>
  %0 = blockscale.quantize %y : tensor<136x256xbf16> to !zeros
  return %0 : !zeros
}

!rows = !blockscale.tensor<136x256xi8, "float32_t0">
func.func @rows(%x: !a, %w: !w) -> !rows {
  %y = blockscale.matmul %x, %w activation(relu) : !a, !w -> tensor<136x256xbf16>
  %0 = blockscale.quantize %y : tensor<136x256xbf16> to !rows
  return %0 : !rows
}
