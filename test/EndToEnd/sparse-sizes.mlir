// Tails of M, N and K, batches and MN-major operands with a structured-sparse A;
// one SM, so that one CTA walks all tiles.

// REQUIRES: mlir
// RUN: blockscale verify %s --num-sms=4 | FileCheck %s

// CHECK-NOT: FAIL
// CHECK-COUNT-42: pass
// CHECK-NOT: {{FAIL|pass}}

!k64_a = !blockscale.tensor<130x64xf8E4M3FN, "e8m0_t32n2m4", layout = tiled_128x4>
!k64_b = !blockscale.tensor<72x64xf8E4M3FN, "e8m0_t64", layout = tiled_128x4>
func.func @k64(%a: !k64_a, %b: !k64_b) -> tensor<130x72xf32> {
  %0 = blockscale.matmul %a, %b : !k64_a, !k64_b -> tensor<130x72xf32>
  return %0 : tensor<130x72xf32>
}

!k192_a = !blockscale.tensor<130x192xf8E4M3FN, "e8m0_t32n2m4", layout = tiled_128x4>
!k192_b = !blockscale.tensor<72x192xf8E5M2, "e8m0_t64", layout = tiled_128x4>
func.func @k192(%a: !k192_a, %b: !k192_b) -> tensor<130x72xf32> {
  %0 = blockscale.matmul %a, %b : !k192_a, !k192_b -> tensor<130x72xf32>
  return %0 : tensor<130x72xf32>
}

!k448_a = !blockscale.tensor<130x448xf8E4M3FN, "e8m0_t32n2m4", layout = tiled_128x4>
!k448_b = !blockscale.tensor<72x448xf8E4M3FN, "e8m0_t64", layout = tiled_128x4>
func.func @k448(%a: !k448_a, %b: !k448_b) -> tensor<130x72xf32> {
  %0 = blockscale.matmul %a, %b : !k448_a, !k448_b -> tensor<130x72xf32>
  return %0 : tensor<130x72xf32>
}

!fp4_k32_a = !blockscale.tensor<130x32xf4E2M1FN, "e4m3fn_t16n4m8", layout = tiled_128x4>
!fp4_k32_b = !blockscale.tensor<72x32xf4E2M1FN, "e4m3fn_t32", layout = tiled_128x4>
func.func @fp4_k32(%a: !fp4_k32_a, %b: !fp4_k32_b) -> tensor<130x72xf32> {
  %0 = blockscale.matmul %a, %b : !fp4_k32_a, !fp4_k32_b -> tensor<130x72xf32>
  return %0 : tensor<130x72xf32>
}

!fp4_k96_a = !blockscale.tensor<130x96xf4E2M1FN, "e4m3fn_t16n4m8", layout = tiled_128x4>
!fp4_k96_b = !blockscale.tensor<72x96xf4E2M1FN, "e4m3fn_t32", layout = tiled_128x4>
func.func @fp4_k96(%a: !fp4_k96_a, %b: !fp4_k96_b) -> tensor<130x72xf32> {
  %0 = blockscale.matmul %a, %b : !fp4_k96_a, !fp4_k96_b -> tensor<130x72xf32>
  return %0 : tensor<130x72xf32>
}

!fp4_k288_a = !blockscale.tensor<130x288xf4E2M1FN, "e4m3fn_t16n4m8", layout = tiled_128x4>
!fp4_k288_b = !blockscale.tensor<72x288xf4E2M1FN, "e4m3fn_t32", layout = tiled_128x4>
func.func @fp4_k288(%a: !fp4_k288_a, %b: !fp4_k288_b) -> tensor<130x72xf32> {
  %0 = blockscale.matmul %a, %b : !fp4_k288_a, !fp4_k288_b -> tensor<130x72xf32>
  return %0 : tensor<130x72xf32>
}

!fp4_k544_a = !blockscale.tensor<130x544xf4E2M1FN, "e4m3fn_t16n4m8", layout = tiled_128x4>
!fp4_k544_b = !blockscale.tensor<72x544xf4E2M1FN, "e4m3fn_t32", layout = tiled_128x4>
func.func @fp4_k544(%a: !fp4_k544_a, %b: !fp4_k544_b) -> tensor<130x72xf32> {
  %0 = blockscale.matmul %a, %b : !fp4_k544_a, !fp4_k544_b -> tensor<130x72xf32>
  return %0 : tensor<130x72xf32>
}

!padded_k64_a = !blockscale.tensor<130x64xf6E3M2FN, "e8m0_t32n2m4", layout = tiled_128x4>
!padded_k64_b = !blockscale.tensor<72x64xf4E2M1FN, "e8m0_t64", layout = tiled_128x4>
func.func @padded_k64(%a: !padded_k64_a, %b: !padded_k64_b) -> tensor<130x72xf32> {
  %0 = blockscale.matmul %a, %b : !padded_k64_a, !padded_k64_b -> tensor<130x72xf32>
  return %0 : tensor<130x72xf32>
}

!padded_k192_a = !blockscale.tensor<130x192xf4E2M1FN, "e8m0_t32n2m4", layout = tiled_128x4>
!padded_k192_b = !blockscale.tensor<72x192xf6E2M3FN, "e8m0_t64", layout = tiled_128x4>
func.func @padded_k192(%a: !padded_k192_a, %b: !padded_k192_b) -> tensor<130x72xf32> {
  %0 = blockscale.matmul %a, %b : !padded_k192_a, !padded_k192_b -> tensor<130x72xf32>
  return %0 : tensor<130x72xf32>
}

!padded_k832_a = !blockscale.tensor<130x832xf6E3M2FN, "e8m0_t32n2m4", layout = tiled_128x4>
!padded_k832_b = !blockscale.tensor<72x832xf8E4M3FN, "e8m0_t64", layout = tiled_128x4>
func.func @padded_k832(%a: !padded_k832_a, %b: !padded_k832_b) -> tensor<130x72xf32> {
  %0 = blockscale.matmul %a, %b : !padded_k832_a, !padded_k832_b -> tensor<130x72xf32>
  return %0 : tensor<130x72xf32>
}

!m1_a = !blockscale.tensor<1x512xf4E2M1FN, "e4m3fn_t16n4m8", layout = tiled_128x4>
!m1_b = !blockscale.tensor<512x512xf4E2M1FN, "e4m3fn_t32", layout = tiled_128x4>
func.func @m1(%a: !m1_a, %b: !m1_b) -> tensor<1x512xf32> {
  %0 = blockscale.matmul %a, %b : !m1_a, !m1_b -> tensor<1x512xf32>
  return %0 : tensor<1x512xf32>
}

!m17_a = !blockscale.tensor<17x512xf8E4M3FN, "e8m0_t32n2m4", layout = tiled_128x4>
!m17_b = !blockscale.tensor<264x512xf4E2M1FN, "e8m0_t64", layout = tiled_128x4>
func.func @m17(%a: !m17_a, %b: !m17_b) -> tensor<17x264xf32> {
  %0 = blockscale.matmul %a, %b : !m17_a, !m17_b -> tensor<17x264xf32>
  return %0 : tensor<17x264xf32>
}

!m300_a = !blockscale.tensor<300x512xf4E2M1FN, "e4m3fn_t16n4m8", layout = tiled_128x4>
!m300_b = !blockscale.tensor<392x512xf4E2M1FN, "e4m3fn_t32", layout = tiled_128x4>
func.func @m300(%a: !m300_a, %b: !m300_b) -> tensor<300x392xf32> {
  %0 = blockscale.matmul %a, %b : !m300_a, !m300_b -> tensor<300x392xf32>
  return %0 : tensor<300x392xf32>
}

!n8_a = !blockscale.tensor<140x256xf8E4M3FN, "e8m0_t32n2m4", layout = tiled_128x4>
!n8_b = !blockscale.tensor<8x256xf8E5M2, "e8m0_t64", layout = tiled_128x4>
func.func @n8(%a: !n8_a, %b: !n8_b) -> tensor<140x8xf32> {
  %0 = blockscale.matmul %a, %b : !n8_a, !n8_b -> tensor<140x8xf32>
  return %0 : tensor<140x8xf32>
}

!n264_a = !blockscale.tensor<140x256xf8E4M3FN, "e8m0_t32n2m4", layout = tiled_128x4>
!n264_b = !blockscale.tensor<264x256xf8E5M2, "e8m0_t64", layout = tiled_128x4>
func.func @n264(%a: !n264_a, %b: !n264_b) -> tensor<140x264xf32> {
  %0 = blockscale.matmul %a, %b : !n264_a, !n264_b -> tensor<140x264xf32>
  return %0 : tensor<140x264xf32>
}

!n24_a = !blockscale.tensor<140x640xf4E2M1FN, "e4m3fn_t16n4m8", layout = tiled_128x4>
!n24_b = !blockscale.tensor<24x640xf4E2M1FN, "e4m3fn_t32", layout = tiled_128x4>
func.func @n24(%a: !n24_a, %b: !n24_b) -> tensor<140x24xf32> {
  %0 = blockscale.matmul %a, %b : !n24_a, !n24_b -> tensor<140x24xf32>
  return %0 : tensor<140x24xf32>
}

!batched_a = !blockscale.tensor<3x70x256xf8E4M3FN, "e8m0_t32n2m4", layout = tiled_128x4>
!batched_b = !blockscale.tensor<3x136x256xf8E4M3FN, "e8m0_t64", layout = tiled_128x4>
func.func @batched(%a: !batched_a, %b: !batched_b) -> tensor<3x70x136xf32> {
  %0 = blockscale.matmul %a, %b : !batched_a, !batched_b -> tensor<3x70x136xf32>
  return %0 : tensor<3x70x136xf32>
}

!batched_fp4_a = !blockscale.tensor<3x70x416xf4E2M1FN, "e4m3fn_t16n4m8", layout = tiled_128x4>
!batched_fp4_b = !blockscale.tensor<3x136x416xf4E2M1FN, "e4m3fn_t32", layout = tiled_128x4>
func.func @batched_fp4(%a: !batched_fp4_a, %b: !batched_fp4_b) -> tensor<3x70x136xf32> {
  %0 = blockscale.matmul %a, %b : !batched_fp4_a, !batched_fp4_b -> tensor<3x70x136xf32>
  return %0 : tensor<3x70x136xf32>
}

!n_major_a = !blockscale.tensor<140x320xf8E4M3FN, "e8m0_t32n2m4", layout = tiled_128x4>
!n_major_b = !blockscale.tensor<256x320xf8E5M2, "e8m0_t64", layout = tiled_128x4, order = mn_major>
func.func @n_major(%a: !n_major_a, %b: !n_major_b) -> tensor<140x256xf32> {
  %0 = blockscale.matmul %a, %b : !n_major_a, !n_major_b -> tensor<140x256xf32>
  return %0 : tensor<140x256xf32>
}

!m_major_a = !blockscale.tensor<256x320xf8E4M3FN, "e8m0_t32n2m4", layout = tiled_128x4, order = mn_major>
!m_major_b = !blockscale.tensor<136x320xf8E5M2, "e8m0_t64", layout = tiled_128x4>
func.func @m_major(%a: !m_major_a, %b: !m_major_b) -> tensor<256x136xf32> {
  %0 = blockscale.matmul %a, %b : !m_major_a, !m_major_b -> tensor<256x136xf32>
  return %0 : tensor<256x136xf32>
}

!both_major_a = !blockscale.tensor<256x448xf8E5M2, "e8m0_t32n2m4", layout = tiled_128x4, order = mn_major>
!both_major_b = !blockscale.tensor<256x448xf8E5M2, "e8m0_t64", layout = tiled_128x4, order = mn_major>
func.func @both_major(%a: !both_major_a, %b: !both_major_b) -> tensor<256x256xf32> {
  %0 = blockscale.matmul %a, %b : !both_major_a, !both_major_b -> tensor<256x256xf32>
  return %0 : tensor<256x256xf32>
}
