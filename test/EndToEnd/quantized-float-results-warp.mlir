// Results under floats of as many columns as a warp has, where warps multiply, and results
// of sums that warps promote; the same functions with tensor memory.

// REQUIRES: mlir
// RUN: blockscale verify %s --target=sm_120a --num-sms=4 --m=133 | FileCheck %s
// RUN: blockscale verify %s --num-sms=4 --m=133 | FileCheck %s
// RUN: blockscale compile %s --target=sm_120a --emit=tensor | FileCheck %s --check-prefix=MARK

// CHECK-NOT: FAIL
// CHECK-COUNT-16: pass
// CHECK-NOT: {{FAIL|pass}}

// MARK-COUNT-4: {blockscale.quantized}
// MARK-NOT: blockscale.quantized

!x = !blockscale.tensor<?x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!w = !blockscale.tensor<224x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!q = !blockscale.tensor<?x224xf8E4M3FN, "float32_t32">
func.func @floats(%x: !x, %w: !w) -> !q {
  %y = blockscale.matmul %x, %w activation(relu) : !x, !w -> tensor<?x224xbf16>
  %0 = blockscale.quantize %y : tensor<?x224xbf16> to !q
  return %0 : !q
}
!dx = !blockscale.tensor<?x384xf8E4M3FN, "float32_t128">
!dw = !blockscale.tensor<224x384xf8E4M3FN, "float32_t128_t128">
func.func @promoted(%x: !dx, %w: !dw) -> !q {
  %y = blockscale.matmul %x, %w : !dx, !dw -> tensor<?x224xf32>
  %0 = blockscale.quantize %y rule(min_error) : tensor<?x224xf32> to !q
  return %0 : !q
}
!mx = !blockscale.tensor<?x224xf8E5M2, "e8m0_t32", layout = tiled_128x4>
func.func @promoted_mx(%x: !dx, %w: !dw) -> !mx {
  %y = blockscale.matmul %x, %w : !dx, !dw -> tensor<?x224xf32>
  %0 = blockscale.quantize %y : tensor<?x224xf32> to !mx
  return %0 : !mx
}
!nv = !blockscale.tensor<?x224xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @promoted_nvfp4(%x: !dx, %w: !dw) -> !nv {
  %y = blockscale.matmul %x, %w : !dx, !dw -> tensor<?x224xbf16>
  %0 = blockscale.quantize %y : tensor<?x224xbf16> to !nv
  return %0 : !nv
}
