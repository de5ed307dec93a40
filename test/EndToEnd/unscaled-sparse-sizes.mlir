// Tails of M, N and K down to one group of metadata, batches, N-major operands,
// tiles of widths that scales would not allow, and epilogues, without scales; few
// SMs, so that one CTA walks several tiles.

// REQUIRES: mlir
// RUN: blockscale verify %s --num-sms=8 | FileCheck %s

// CHECK-NOT: FAIL
// CHECK-COUNT-52: pass
// CHECK-NOT: {{FAIL|pass}}

!k8_a = !blockscale.tensor<130x8xf8E4M3FN, "n2m4", layout = tiled_128x4>
!k8_b = !blockscale.tensor<80x8xf8E4M3FN>
func.func @k8(%a: !k8_a, %b: !k8_b) -> tensor<130x80xf32> {
  %0 = blockscale.matmul %a, %b : !k8_a, !k8_b -> tensor<130x80xf32>
  return %0 : tensor<130x80xf32>
}

!k120_a = !blockscale.tensor<130x120xf8E5M2, "n2m4", layout = tiled_128x4>
!k120_b = !blockscale.tensor<80x120xf8E4M3FN>
func.func @k120(%a: !k120_a, %b: !k120_b) -> tensor<130x80xf32> {
  %0 = blockscale.matmul %a, %b : !k120_a, !k120_b -> tensor<130x80xf32>
  return %0 : tensor<130x80xf32>
}

!k136_a = !blockscale.tensor<130x136xf4E2M1FN, "n2m4", layout = tiled_128x4>
!k136_b = !blockscale.tensor<80x136xf6E3M2FN>
func.func @k136(%a: !k136_a, %b: !k136_b) -> tensor<130x80xf32> {
  %0 = blockscale.matmul %a, %b : !k136_a, !k136_b -> tensor<130x80xf32>
  return %0 : tensor<130x80xf32>
}

!k520_a = !blockscale.tensor<130x520xf6E2M3FN, "n2m4", layout = tiled_128x4>
!k520_b = !blockscale.tensor<80x520xf4E2M1FN>
func.func @k520(%a: !k520_a, %b: !k520_b) -> tensor<130x80xf32> {
  %0 = blockscale.matmul %a, %b : !k520_a, !k520_b -> tensor<130x80xf32>
  return %0 : tensor<130x80xf32>
}

!half_k8_a = !blockscale.tensor<130x8xf16, "n2m4", layout = tiled_128x4>
!half_k8_b = !blockscale.tensor<80x8xf16>
func.func @half_k8(%a: !half_k8_a, %b: !half_k8_b) -> tensor<130x80xf32> {
  %0 = blockscale.matmul %a, %b : !half_k8_a, !half_k8_b -> tensor<130x80xf32>
  return %0 : tensor<130x80xf32>
}

!half_k104_a = !blockscale.tensor<130x104xbf16, "n2m4", layout = tiled_128x4>
!half_k104_b = !blockscale.tensor<80x104xbf16>
func.func @half_k104(%a: !half_k104_a, %b: !half_k104_b) -> tensor<130x80xf32> {
  %0 = blockscale.matmul %a, %b : !half_k104_a, !half_k104_b -> tensor<130x80xf32>
  return %0 : tensor<130x80xf32>
}

!half_k392_a = !blockscale.tensor<130x392xf16, "n2m4", layout = tiled_128x4>
!half_k392_b = !blockscale.tensor<80x392xf16>
func.func @half_k392(%a: !half_k392_a, %b: !half_k392_b) -> tensor<130x80xf32> {
  %0 = blockscale.matmul %a, %b : !half_k392_a, !half_k392_b -> tensor<130x80xf32>
  return %0 : tensor<130x80xf32>
}

!single_k4_a = !blockscale.tensor<130x4xtf32, "n1m2", layout = tiled_128x4>
!single_k4_b = !blockscale.tensor<80x4xtf32>
func.func @single_k4(%a: !single_k4_a, %b: !single_k4_b) -> tensor<130x80xf32> {
  %0 = blockscale.matmul %a, %b : !single_k4_a, !single_k4_b -> tensor<130x80xf32>
  return %0 : tensor<130x80xf32>
}

!single_k52_a = !blockscale.tensor<130x52xtf32, "n1m2", layout = tiled_128x4>
!single_k52_b = !blockscale.tensor<80x52xtf32>
func.func @single_k52(%a: !single_k52_a, %b: !single_k52_b) -> tensor<130x80xf32> {
  %0 = blockscale.matmul %a, %b : !single_k52_a, !single_k52_b -> tensor<130x80xf32>
  return %0 : tensor<130x80xf32>
}

!single_k196_a = !blockscale.tensor<130x196xtf32, "n1m2", layout = tiled_128x4>
!single_k196_b = !blockscale.tensor<80x196xtf32>
func.func @single_k196(%a: !single_k196_a, %b: !single_k196_b) -> tensor<130x80xf32> {
  %0 = blockscale.matmul %a, %b : !single_k196_a, !single_k196_b -> tensor<130x80xf32>
  return %0 : tensor<130x80xf32>
}

!integer_k72_a = !blockscale.tensor<130x72xi8, "n2m4", layout = tiled_128x4>
!integer_k72_b = !blockscale.tensor<80x72xui8>
func.func @integer_k72(%a: !integer_k72_a, %b: !integer_k72_b) -> tensor<130x80xi32> {
  %0 = blockscale.matmul %a, %b : !integer_k72_a, !integer_k72_b -> tensor<130x80xi32>
  return %0 : tensor<130x80xi32>
}

!m1_a = !blockscale.tensor<1x256xf16, "n2m4", layout = tiled_128x4>
!m1_b = !blockscale.tensor<264x256xf16>
func.func @m1(%a: !m1_a, %b: !m1_b) -> tensor<1x264xbf16> {
  %0 = blockscale.matmul %a, %b : !m1_a, !m1_b -> tensor<1x264xbf16>
  return %0 : tensor<1x264xbf16>
}

!m17_a = !blockscale.tensor<17x256xi8, "n2m4", layout = tiled_128x4>
!m17_b = !blockscale.tensor<264x256xi8>
func.func @m17(%a: !m17_a, %b: !m17_b) -> tensor<17x264xi32> {
  %0 = blockscale.matmul %a, %b : !m17_a, !m17_b -> tensor<17x264xi32>
  return %0 : tensor<17x264xi32>
}

!m129_a = !blockscale.tensor<129x128xtf32, "n1m2", layout = tiled_128x4>
!m129_b = !blockscale.tensor<264x128xtf32>
func.func @m129(%a: !m129_a, %b: !m129_b) -> tensor<129x264xf16> {
  %0 = blockscale.matmul %a, %b : !m129_a, !m129_b -> tensor<129x264xf16>
  return %0 : tensor<129x264xf16>
}

!n7_a = !blockscale.tensor<130x256xf16, "n2m4", layout = tiled_128x4>
!n7_b = !blockscale.tensor<7x256xf16>
func.func @n7(%a: !n7_a, %b: !n7_b) -> tensor<130x7xf32> {
  %0 = blockscale.matmul %a, %b : !n7_a, !n7_b -> tensor<130x7xf32>
  return %0 : tensor<130x7xf32>
}

!n200_a = !blockscale.tensor<130x256xf8E4M3FN, "n2m4", layout = tiled_128x4>
!n200_b = !blockscale.tensor<200x256xf8E4M3FN>
func.func @n200(%a: !n200_a, %b: !n200_b) -> tensor<130x200xf16> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 1, tile_n = 96>) : !n200_a, !n200_b -> tensor<130x200xf16>
  return %0 : tensor<130x200xf16>
}

!n300_of_224_a = !blockscale.tensor<130x256xbf16, "n2m4", layout = tiled_128x4>
!n300_of_224_b = !blockscale.tensor<300x256xbf16>
func.func @n300_of_224(%a: !n300_of_224_a, %b: !n300_of_224_b) -> tensor<130x300xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 1, tile_n = 224>) : !n300_of_224_a, !n300_of_224_b -> tensor<130x300xf32>
  return %0 : tensor<130x300xf32>
}

!one_accumulator_a = !blockscale.tensor<300x256xui8, "n2m4", layout = tiled_128x4>
!one_accumulator_b = !blockscale.tensor<300x256xi8>
func.func @one_accumulator(%a: !one_accumulator_a, %b: !one_accumulator_b) -> tensor<300x300xi32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 1, tile_n = 256, accumulators = 1>) : !one_accumulator_a, !one_accumulator_b -> tensor<300x300xi32>
  return %0 : tensor<300x300xi32>
}

!overlap_a = !blockscale.tensor<300x128xtf32, "n1m2", layout = tiled_128x4>
!overlap_b = !blockscale.tensor<300x128xtf32>
func.func @overlap(%a: !overlap_a, %b: !overlap_b) -> tensor<300x300xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 1, tile_n = 256, accumulators = 2>) : !overlap_a, !overlap_b -> tensor<300x300xf32>
  return %0 : tensor<300x300xf32>
}

!batched_a = !blockscale.tensor<3x70x136xf16, "n2m4", layout = tiled_128x4>
!batched_b = !blockscale.tensor<3x40x136xf16>
func.func @batched(%a: !batched_a, %b: !batched_b) -> tensor<3x70x40xf32> {
  %0 = blockscale.matmul %a, %b : !batched_a, !batched_b -> tensor<3x70x40xf32>
  return %0 : tensor<3x70x40xf32>
}

!batched_integers_a = !blockscale.tensor<3x70x136xi8, "n2m4", layout = tiled_128x4>
!batched_integers_b = !blockscale.tensor<3x40x136xi8>
func.func @batched_integers(%a: !batched_integers_a, %b: !batched_integers_b) -> tensor<3x70x40xi32> {
  %0 = blockscale.matmul %a, %b : !batched_integers_a, !batched_integers_b -> tensor<3x70x40xi32>
  return %0 : tensor<3x70x40xi32>
}

!n_major_a = !blockscale.tensor<130x320xf8E4M3FN, "n2m4", layout = tiled_128x4>
!n_major_b = !blockscale.tensor<144x320xf8E5M2, order = mn_major>
func.func @n_major(%a: !n_major_a, %b: !n_major_b) -> tensor<130x144xf32> {
  %0 = blockscale.matmul %a, %b : !n_major_a, !n_major_b -> tensor<130x144xf32>
  return %0 : tensor<130x144xf32>
}

!n_major_integers_a = !blockscale.tensor<130x320xi8, "n2m4", layout = tiled_128x4>
!n_major_integers_b = !blockscale.tensor<144x320xui8, order = mn_major>
func.func @n_major_integers(%a: !n_major_integers_a, %b: !n_major_integers_b) -> tensor<130x144xi32> {
  %0 = blockscale.matmul %a, %b : !n_major_integers_a, !n_major_integers_b -> tensor<130x144xi32>
  return %0 : tensor<130x144xi32>
}

!epilogue_a = !blockscale.tensor<130x168xbf16, "n2m4", layout = tiled_128x4>
!epilogue_b = !blockscale.tensor<72x168xbf16>
func.func @epilogue(%a: !epilogue_a, %b: !epilogue_b, %c: tensor<130x72xbf16>, %s: f32, %v: tensor<72xf32>) -> tensor<130x72xbf16> {
  %0 = blockscale.matmul %a, %b alpha(%s) beta(%s) c(%c) bias(%v) activation(relu) : !epilogue_a, !epilogue_b, tensor<130x72xbf16>, tensor<72xf32> -> tensor<130x72xbf16>
  return %0 : tensor<130x72xbf16>
}

!integer_epilogue_a = !blockscale.tensor<130x168xi8, "n2m4", layout = tiled_128x4>
!integer_epilogue_b = !blockscale.tensor<72x168xi8>
func.func @integer_epilogue(%a: !integer_epilogue_a, %b: !integer_epilogue_b, %c: tensor<130x72xbf16>, %s: f32, %v: tensor<72xf32>) -> tensor<130x72xbf16> {
  %0 = blockscale.matmul %a, %b alpha(%s) beta(%s) c(%c) bias(%v) activation(relu) : !integer_epilogue_a, !integer_epilogue_b, tensor<130x72xbf16>, tensor<72xf32> -> tensor<130x72xbf16>
  return %0 : tensor<130x72xbf16>
}

// Exact sums become numbers before an epilogue reads them.
func.func @integer_region(%a: !integer_epilogue_a, %b: !integer_epilogue_b, %v: tensor<130xf32>) -> tensor<130x72xf32> {
  %0 = blockscale.matmul %a, %b bias(%v) row epilogue(%x, %bias) {
    %1 = arith.mulf %x, %bias : f32
    %2 = math.absf %1 : f32
    %3 = math.sqrt %2 : f32
    blockscale.yield %3
  } : !integer_epilogue_a, !integer_epilogue_b, tensor<130xf32> -> tensor<130x72xf32>
  return %0 : tensor<130x72xf32>
}
