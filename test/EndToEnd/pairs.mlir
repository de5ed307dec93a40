// Pairs of CTAs (cta_group 2): every kind and mix of widths, tails of M, N and K,
// batches, dynamic sizes, swapped operands, K- and MN-major. Few SMs, so that a
// pair walks several tiles.

// REQUIRES: mlir
// RUN: blockscale verify %s --num-sms=2 --data=exact --m=1,300 --n=136,520 --k=32,288 --batch=2 | FileCheck %s
// RUN: blockscale verify %s --num-sms=4 --data=exact --m=129 --n=264 --k=416 --batch=3 --completion=random | FileCheck %s --check-prefix=ONCE
// RUN: blockscale verify %s --num-sms=2 --data=exact --m=513 --n=72 --k=160 --batch=1 --completion=latest | FileCheck %s --check-prefix=ONCE

// CHECK-NOT: FAIL
// CHECK-COUNT-24: pass
// CHECK-NOT: {{FAIL|pass}}
// ONCE-NOT: FAIL
// ONCE-COUNT-14: pass
// ONCE-NOT: {{FAIL|pass}}

!mxfp8_a = !blockscale.tensor<300x288xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!mxfp8_b = !blockscale.tensor<264x288xf8E5M2, "e8m0_t32", layout = tiled_128x4>
func.func @mxfp8(%a: !mxfp8_a, %b: !mxfp8_b) -> tensor<300x264xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 2, swap_operands = false, tile_n = 256>) : !mxfp8_a, !mxfp8_b -> tensor<300x264xf32>
  return %0 : tensor<300x264xf32>
}

!mxfp6_a = !blockscale.tensor<258x160xf6E3M2FN, "e8m0_t32", layout = tiled_128x4>
!mxfp6_b = !blockscale.tensor<136x160xf6E2M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @mxfp6(%a: !mxfp6_a, %b: !mxfp6_b) -> tensor<258x136xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 2, swap_operands = false, tile_n = 144>) : !mxfp6_a, !mxfp6_b -> tensor<258x136xf32>
  return %0 : tensor<258x136xf32>
}

!mixed_a = !blockscale.tensor<300x416xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
!mixed_b = !blockscale.tensor<200x416xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @mixed(%a: !mixed_a, %b: !mixed_b) -> tensor<300x200xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 2, swap_operands = false, tile_n = 64>) : !mixed_a, !mixed_b -> tensor<300x200xf32>
  return %0 : tensor<300x200xf32>
}

!mxf4_a = !blockscale.tensor<300x608xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
!mxf4_b = !blockscale.tensor<392x608xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
func.func @mxf4(%a: !mxf4_a, %b: !mxf4_b) -> tensor<300x392xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 2, swap_operands = false, tile_n = 192>) : !mxf4_a, !mxf4_b -> tensor<300x392xf32>
  return %0 : tensor<300x392xf32>
}

!nvf4_a = !blockscale.tensor<600x592xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!nvf4_b = !blockscale.tensor<520x592xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
func.func @nvf4(%a: !nvf4_a, %b: !nvf4_b) -> tensor<600x520xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 2, swap_operands = false, tile_n = 256>) : !nvf4_a, !nvf4_b -> tensor<600x520xf32>
  return %0 : tensor<600x520xf32>
}

!nvf4_ue8m0_a = !blockscale.tensor<257x304xf4E2M1FN, "e8m0_t16", layout = tiled_128x4>
!nvf4_ue8m0_b = !blockscale.tensor<128x304xf4E2M1FN, "e8m0_t16", layout = tiled_128x4>
func.func @nvf4_ue8m0(%a: !nvf4_ue8m0_a, %b: !nvf4_ue8m0_b) -> tensor<257x128xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 2, swap_operands = false, tile_n = 128, accumulators = 1>) : !nvf4_ue8m0_a, !nvf4_ue8m0_b -> tensor<257x128xf32>
  return %0 : tensor<257x128xf32>
}

!one_column_tile_a = !blockscale.tensor<130x272xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!one_column_tile_b = !blockscale.tensor<40x272xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @one_column_tile(%a: !one_column_tile_a, %b: !one_column_tile_b) -> tensor<130x40xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 2, swap_operands = false, tile_n = 48>) : !one_column_tile_a, !one_column_tile_b -> tensor<130x40xf32>
  return %0 : tensor<130x40xf32>
}

!mn_major_a = !blockscale.tensor<384x288xf8E4M3FN, "e8m0_t32", layout = tiled_128x4, order = mn_major>
!mn_major_b = !blockscale.tensor<320x288xf8E4M3FN, "e8m0_t32", layout = tiled_128x4, order = mn_major>
func.func @mn_major(%a: !mn_major_a, %b: !mn_major_b) -> tensor<384x320xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 2, swap_operands = false, tile_n = 192>) : !mn_major_a, !mn_major_b -> tensor<384x320xf32>
  return %0 : tensor<384x320xf32>
}

!mn_major_b_a = !blockscale.tensor<260x96xf8E5M2, "e8m0_t32", layout = tiled_128x4>
!mn_major_b_b = !blockscale.tensor<160x96xf8E4M3FN, "e8m0_t32", layout = tiled_128x4, order = mn_major>
func.func @mn_major_b(%a: !mn_major_b_a, %b: !mn_major_b_b) -> tensor<260x160xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 2, swap_operands = false, tile_n = 160>) : !mn_major_b_a, !mn_major_b_b -> tensor<260x160xf32>
  return %0 : tensor<260x160xf32>
}

!swapped_a = !blockscale.tensor<24x512xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!swapped_b = !blockscale.tensor<600x512xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @swapped(%a: !swapped_a, %b: !swapped_b) -> tensor<24x600xbf16> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 2, swap_operands = true, tile_n = 32>) : !swapped_a, !swapped_b -> tensor<24x600xbf16>
  return %0 : tensor<24x600xbf16>
}

!batched_a = !blockscale.tensor<3x130x288xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!batched_b = !blockscale.tensor<3x72x288xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @batched(%a: !batched_a, %b: !batched_b) -> tensor<3x130x72xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 2, swap_operands = false, tile_n = 128>) : !batched_a, !batched_b -> tensor<3x130x72xf32>
  return %0 : tensor<3x130x72xf32>
}

!epilogue_a = !blockscale.tensor<257x320xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!epilogue_b = !blockscale.tensor<264x320xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
func.func @epilogue(%a: !epilogue_a, %b: !epilogue_b, %s: f32, %t: f32, %c: tensor<257x264xf16>, %v: tensor<264xf32>) -> tensor<257x264xbf16> {
  %0 = blockscale.matmul %a, %b alpha(%s) beta(%t) c(%c) bias(%v) activation(relu) schedule(#blockscale.schedule<cta_group = 2, swap_operands = false>) : !epilogue_a, !epilogue_b, tensor<257x264xf16>, tensor<264xf32> -> tensor<257x264xbf16>
  return %0 : tensor<257x264xbf16>
}

!dynamic_a = !blockscale.tensor<?x?xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!dynamic_b = !blockscale.tensor<?x?xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @dynamic(%a: !dynamic_a, %b: !dynamic_b) -> tensor<?x?xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 2, swap_operands = false, tile_n = 128>) : !dynamic_a, !dynamic_b -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

!dynamic_batch_a = !blockscale.tensor<?x?x336xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!dynamic_batch_b = !blockscale.tensor<?x?x336xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @dynamic_batch(%a: !dynamic_batch_a, %b: !dynamic_batch_b) -> tensor<?x?x?xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 2, swap_operands = false, tile_n = 64>) : !dynamic_batch_a, !dynamic_batch_b -> tensor<?x?x?xf32>
  return %0 : tensor<?x?x?xf32>
}
