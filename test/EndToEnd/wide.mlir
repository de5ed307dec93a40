// The wide instructions of sm_107 with sizes that are known at launch only: ends of
// K in each place of a K tile, tiles that share groups of 128 scale rows, new scale
// types, packed operands beside bytes, two instructions that share B. Whenever
// asynchronous operations take effect.

// REQUIRES: mlir
// RUN: blockscale verify %s --target=sm_107a --m=1,130,700 --n=200 --k=32,96,160,224,480,544,800,1056 --data=exact --num-sms=4 --completion=latest | FileCheck %s
// RUN: blockscale verify %s --target=sm_107a --m=300 --n=330 --k=32,480,1056 --data=exact --num-sms=4 --completion=immediate | FileCheck %s --check-prefix=SHORT
// RUN: blockscale verify %s --target=sm_107a --m=300 --n=330 --k=96,544 --data=exact --num-sms=4 --completion=random | FileCheck %s --check-prefix=RANDOM

// CHECK-NOT: FAIL
// CHECK-COUNT-384: pass
// CHECK-NOT: {{FAIL|pass}}
// SHORT-NOT: FAIL
// SHORT-COUNT-48: pass
// SHORT-NOT: {{FAIL|pass}}
// RANDOM-NOT: FAIL
// RANDOM-COUNT-32: pass
// RANDOM-NOT: {{FAIL|pass}}

!nvfp4_shared_groups_a = !blockscale.tensor<?x?xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!nvfp4_shared_groups_b = !blockscale.tensor<?x?xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
func.func @nvfp4_shared_groups(%a: !nvfp4_shared_groups_a, %b: !nvfp4_shared_groups_b) -> tensor<?x?xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 1, tile_n = 64, mma_k = 128, swap_operands = false>) : !nvfp4_shared_groups_a, !nvfp4_shared_groups_b -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

!nvfp4_192_a = !blockscale.tensor<?x?xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!nvfp4_192_b = !blockscale.tensor<?x?xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @nvfp4_192(%a: !nvfp4_192_a, %b: !nvfp4_192_b) -> tensor<?x?xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 2, tile_n = 192, mma_k = 128, swap_operands = false>) : !nvfp4_192_a, !nvfp4_192_b -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

!nvfp4_512_a = !blockscale.tensor<?x?xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!nvfp4_512_b = !blockscale.tensor<?x?xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @nvfp4_512(%a: !nvfp4_512_a, %b: !nvfp4_512_b) -> tensor<?x?xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 2, tile_m = 512, tile_n = 256, mma_k = 128, swap_operands = false>) : !nvfp4_512_a, !nvfp4_512_b -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

!ue5m3_16_a = !blockscale.tensor<?x?xf4E2M1FN, "e5m3fn_t16", layout = tiled_128x4>
!ue5m3_16_b = !blockscale.tensor<?x?xf4E2M1FN, "e5m3fn_t16", layout = tiled_128x4>
func.func @ue5m3_16(%a: !ue5m3_16_a, %b: !ue5m3_16_b) -> tensor<?x?xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 2, tile_n = 128, mma_k = 128, swap_operands = true>) : !ue5m3_16_a, !ue5m3_16_b -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

!ue5m3_32_a = !blockscale.tensor<?x?xf4E2M1FN, "e5m3fn_t32", layout = tiled_128x4>
!ue5m3_32_b = !blockscale.tensor<?x?xf4E2M1FN, "e5m3fn_t32", layout = tiled_128x4>
func.func @ue5m3_32(%a: !ue5m3_32_a, %b: !ue5m3_32_b) -> tensor<?x?xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 1, tile_n = 192, mma_k = 128>) : !ue5m3_32_a, !ue5m3_32_b -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

!ue4m3_32_a = !blockscale.tensor<?x?xf4E2M1FN, "e4m3fn_t32", layout = tiled_128x4>
!ue4m3_32_b = !blockscale.tensor<?x?xf4E2M1FN, "e4m3fn_t32", layout = tiled_128x4>
func.func @ue4m3_32(%a: !ue4m3_32_a, %b: !ue4m3_32_b) -> tensor<?x?xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 1, tile_n = 256, mma_k = 128>) : !ue4m3_32_a, !ue4m3_32_b -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

!ue5m3_narrow_a = !blockscale.tensor<?x?xf4E2M1FN, "e5m3fn_t16", layout = tiled_128x4>
!ue5m3_narrow_b = !blockscale.tensor<?x?xf4E2M1FN, "e5m3fn_t16", layout = tiled_128x4>
func.func @ue5m3_narrow(%a: !ue5m3_narrow_a, %b: !ue5m3_narrow_b) -> tensor<?x?xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 1, tile_n = 128, mma_k = 64>) : !ue5m3_narrow_a, !ue5m3_narrow_b -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

!mxfp4_512_a = !blockscale.tensor<?x?xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
!mxfp4_512_b = !blockscale.tensor<?x?xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
func.func @mxfp4_512(%a: !mxfp4_512_a, %b: !mxfp4_512_b) -> tensor<?x?xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 2, tile_m = 512, tile_n = 128, mma_k = 128>) : !mxfp4_512_a, !mxfp4_512_b -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

!mxfp8_a = !blockscale.tensor<?x?xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!mxfp8_b = !blockscale.tensor<?x?xf8E5M2, "e8m0_t32", layout = tiled_128x4>
func.func @mxfp8(%a: !mxfp8_a, %b: !mxfp8_b) -> tensor<?x?xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 2, tile_n = 256, mma_k = 64>) : !mxfp8_a, !mxfp8_b -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

!mxfp8_512_a = !blockscale.tensor<?x?xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!mxfp8_512_b = !blockscale.tensor<?x?xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @mxfp8_512(%a: !mxfp8_512_a, %b: !mxfp8_512_b) -> tensor<?x?xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 2, tile_m = 512, tile_n = 192, mma_k = 64>) : !mxfp8_512_a, !mxfp8_512_b -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

!packed_b_a = !blockscale.tensor<?x?xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!packed_b_b = !blockscale.tensor<?x?xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
func.func @packed_b(%a: !packed_b_a, %b: !packed_b_b) -> tensor<?x?xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 1, tile_n = 128, mma_k = 64, swap_operands = false>) : !packed_b_a, !packed_b_b -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

!packed_a_a = !blockscale.tensor<?x?xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
!packed_a_b = !blockscale.tensor<?x?xf8E5M2, "e8m0_t32", layout = tiled_128x4>
func.func @packed_a(%a: !packed_a_a, %b: !packed_a_b) -> tensor<?x?xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 2, tile_n = 64, mma_k = 64, swap_operands = false>) : !packed_a_a, !packed_a_b -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

!packed_both_a = !blockscale.tensor<?x?xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
!packed_both_b = !blockscale.tensor<?x?xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
func.func @packed_both(%a: !packed_both_a, %b: !packed_both_b) -> tensor<?x?xf32> {
  %0 = blockscale.matmul %a, %b mma(<kind = mxf8f6f4, a = e2m1, b = e2m1, scale = ue8m0, block = 32>) schedule(#blockscale.schedule<cta_group = 2, tile_n = 128, mma_k = 64, swap_operands = true>) : !packed_both_a, !packed_both_b -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

!packed_512_a = !blockscale.tensor<?x?xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!packed_512_b = !blockscale.tensor<?x?xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
func.func @packed_512(%a: !packed_512_a, %b: !packed_512_b) -> tensor<?x?xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 2, tile_m = 512, tile_n = 256, mma_k = 64>) : !packed_512_a, !packed_512_b -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

!fp8_a = !blockscale.tensor<?x?xf8E4M3FN>
!fp8_b = !blockscale.tensor<?x?xf8E5M2>
func.func @fp8(%a: !fp8_a, %b: !fp8_b) -> tensor<?x?xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 1, tile_n = 144, mma_k = 64>) : !fp8_a, !fp8_b -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

!fp8_512_a = !blockscale.tensor<?x?xf8E5M2>
!fp8_512_b = !blockscale.tensor<?x?xf8E4M3FN>
func.func @fp8_512(%a: !fp8_512_a, %b: !fp8_512_b) -> tensor<?x?xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 2, tile_m = 512, tile_n = 256, mma_k = 64>) : !fp8_512_a, !fp8_512_b -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
