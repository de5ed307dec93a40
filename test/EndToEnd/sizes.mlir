// Tails of M, N and K, small M and batches; one SM, so that one CTA walks all
// tiles.

// REQUIRES: mlir
// RUN: blockscale verify %s --num-sms=4 | FileCheck %s
// RUN: blockscale verify %s --target=sm_120a --num-sms=1 | FileCheck %s

// CHECK-NOT: FAIL
// CHECK-COUNT-36: pass
// CHECK-NOT: {{FAIL|pass}}

!k32_a = !blockscale.tensor<130x32xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!k32_b = !blockscale.tensor<72x32xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @k32(%a: !k32_a, %b: !k32_b) -> tensor<130x72xf32> {
  %0 = blockscale.matmul %a, %b : !k32_a, !k32_b -> tensor<130x72xf32>
  return %0 : tensor<130x72xf32>
}

!k96_a = !blockscale.tensor<130x96xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!k96_b = !blockscale.tensor<72x96xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @k96(%a: !k96_a, %b: !k96_b) -> tensor<130x72xf32> {
  %0 = blockscale.matmul %a, %b : !k96_a, !k96_b -> tensor<130x72xf32>
  return %0 : tensor<130x72xf32>
}

!k160_a = !blockscale.tensor<130x160xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!k160_b = !blockscale.tensor<72x160xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @k160(%a: !k160_a, %b: !k160_b) -> tensor<130x72xf32> {
  %0 = blockscale.matmul %a, %b : !k160_a, !k160_b -> tensor<130x72xf32>
  return %0 : tensor<130x72xf32>
}

!k416_a = !blockscale.tensor<130x416xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!k416_b = !blockscale.tensor<72x416xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @k416(%a: !k416_a, %b: !k416_b) -> tensor<130x72xf32> {
  %0 = blockscale.matmul %a, %b : !k416_a, !k416_b -> tensor<130x72xf32>
  return %0 : tensor<130x72xf32>
}

!fp4_k64_a = !blockscale.tensor<130x64xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!fp4_k64_b = !blockscale.tensor<72x64xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @fp4_k64(%a: !fp4_k64_a, %b: !fp4_k64_b) -> tensor<130x72xf32> {
  %0 = blockscale.matmul %a, %b : !fp4_k64_a, !fp4_k64_b -> tensor<130x72xf32>
  return %0 : tensor<130x72xf32>
}

!fp4_k96_a = !blockscale.tensor<130x96xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!fp4_k96_b = !blockscale.tensor<72x96xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @fp4_k96(%a: !fp4_k96_a, %b: !fp4_k96_b) -> tensor<130x72xf32> {
  %0 = blockscale.matmul %a, %b : !fp4_k96_a, !fp4_k96_b -> tensor<130x72xf32>
  return %0 : tensor<130x72xf32>
}

!fp4_k192_a = !blockscale.tensor<130x192xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!fp4_k192_b = !blockscale.tensor<72x192xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @fp4_k192(%a: !fp4_k192_a, %b: !fp4_k192_b) -> tensor<130x72xf32> {
  %0 = blockscale.matmul %a, %b : !fp4_k192_a, !fp4_k192_b -> tensor<130x72xf32>
  return %0 : tensor<130x72xf32>
}

!fp4_k448_a = !blockscale.tensor<130x448xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!fp4_k448_b = !blockscale.tensor<72x448xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @fp4_k448(%a: !fp4_k448_a, %b: !fp4_k448_b) -> tensor<130x72xf32> {
  %0 = blockscale.matmul %a, %b : !fp4_k448_a, !fp4_k448_b -> tensor<130x72xf32>
  return %0 : tensor<130x72xf32>
}

!mixed_k32_a = !blockscale.tensor<130x32xf6E3M2FN, "e8m0_t32", layout = tiled_128x4>
!mixed_k32_b = !blockscale.tensor<72x32xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
func.func @mixed_k32(%a: !mixed_k32_a, %b: !mixed_k32_b) -> tensor<130x72xf32> {
  %0 = blockscale.matmul %a, %b : !mixed_k32_a, !mixed_k32_b -> tensor<130x72xf32>
  return %0 : tensor<130x72xf32>
}

!mixed_k128_a = !blockscale.tensor<130x128xf6E3M2FN, "e8m0_t32", layout = tiled_128x4>
!mixed_k128_b = !blockscale.tensor<72x128xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
func.func @mixed_k128(%a: !mixed_k128_a, %b: !mixed_k128_b) -> tensor<130x72xf32> {
  %0 = blockscale.matmul %a, %b : !mixed_k128_a, !mixed_k128_b -> tensor<130x72xf32>
  return %0 : tensor<130x72xf32>
}

!mixed_k160_a = !blockscale.tensor<130x160xf6E3M2FN, "e8m0_t32", layout = tiled_128x4>
!mixed_k160_b = !blockscale.tensor<72x160xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
func.func @mixed_k160(%a: !mixed_k160_a, %b: !mixed_k160_b) -> tensor<130x72xf32> {
  %0 = blockscale.matmul %a, %b : !mixed_k160_a, !mixed_k160_b -> tensor<130x72xf32>
  return %0 : tensor<130x72xf32>
}

!n8_a = !blockscale.tensor<140x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!n8_b = !blockscale.tensor<8x256xf8E5M2, "e8m0_t32", layout = tiled_128x4>
func.func @n8(%a: !n8_a, %b: !n8_b) -> tensor<140x8xf32> {
  %0 = blockscale.matmul %a, %b : !n8_a, !n8_b -> tensor<140x8xf32>
  return %0 : tensor<140x8xf32>
}

!n24_a = !blockscale.tensor<140x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!n24_b = !blockscale.tensor<24x256xf8E5M2, "e8m0_t32", layout = tiled_128x4>
func.func @n24(%a: !n24_a, %b: !n24_b) -> tensor<140x24xf32> {
  %0 = blockscale.matmul %a, %b : !n24_a, !n24_b -> tensor<140x24xf32>
  return %0 : tensor<140x24xf32>
}

!n104_a = !blockscale.tensor<140x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!n104_b = !blockscale.tensor<104x256xf8E5M2, "e8m0_t32", layout = tiled_128x4>
func.func @n104(%a: !n104_a, %b: !n104_b) -> tensor<140x104xf32> {
  %0 = blockscale.matmul %a, %b : !n104_a, !n104_b -> tensor<140x104xf32>
  return %0 : tensor<140x104xf32>
}

!n264_a = !blockscale.tensor<140x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!n264_b = !blockscale.tensor<264x256xf8E5M2, "e8m0_t32", layout = tiled_128x4>
func.func @n264(%a: !n264_a, %b: !n264_b) -> tensor<140x264xf32> {
  %0 = blockscale.matmul %a, %b : !n264_a, !n264_b -> tensor<140x264xf32>
  return %0 : tensor<140x264xf32>
}

!n392_a = !blockscale.tensor<140x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!n392_b = !blockscale.tensor<392x256xf8E5M2, "e8m0_t32", layout = tiled_128x4>
func.func @n392(%a: !n392_a, %b: !n392_b) -> tensor<140x392xf32> {
  %0 = blockscale.matmul %a, %b : !n392_a, !n392_b -> tensor<140x392xf32>
  return %0 : tensor<140x392xf32>
}

!m1_a = !blockscale.tensor<1x512xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!m1_b = !blockscale.tensor<512x512xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @m1(%a: !m1_a, %b: !m1_b) -> tensor<1x512xf32> {
  %0 = blockscale.matmul %a, %b : !m1_a, !m1_b -> tensor<1x512xf32>
  return %0 : tensor<1x512xf32>
}

!batched_a = !blockscale.tensor<3x70x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!batched_b = !blockscale.tensor<3x136x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @batched(%a: !batched_a, %b: !batched_b) -> tensor<3x70x136xf32> {
  %0 = blockscale.matmul %a, %b : !batched_a, !batched_b -> tensor<3x70x136xf32>
  return %0 : tensor<3x70x136xf32>
}
