// Scales that cover all of K are factors of the sum: one for a tensor, one for
// each row, one for some rows; floats and powers of two, of either operand or of
// both, with tails, batches, every part of an epilogue, operands exchanged, pairs
// and clusters.

// REQUIRES: mlir
// RUN: blockscale verify %s --num-sms=8 | FileCheck %s
// RUN: blockscale verify %s --num-sms=8 --data=exact --seed=5 --completion=latest --target=sm_110a | FileCheck %s --check-prefix=ONCE

// CHECK-NOT: FAIL
// CHECK-COUNT-28: pass
// CHECK-NOT: {{FAIL|pass}}

// ONCE-NOT: FAIL
// ONCE-COUNT-14: pass
// ONCE-NOT: {{FAIL|pass}}

!tensor_a = !blockscale.tensor<130x328xf8E4M3FN, "float32">
!tensor_b = !blockscale.tensor<144x328xf8E4M3FN, "float32">
func.func @tensor(%a: !tensor_a, %b: !tensor_b) -> tensor<130x144xbf16> {
  %0 = blockscale.matmul %a, %b : !tensor_a, !tensor_b -> tensor<130x144xbf16>
  return %0 : tensor<130x144xbf16>
}

!row_a = !blockscale.tensor<130x328xf8E4M3FN, "float32_t0">
!row_b = !blockscale.tensor<144x328xf8E5M2, "float32_t0">
func.func @row(%a: !row_a, %b: !row_b) -> tensor<130x144xf32> {
  %0 = blockscale.matmul %a, %b : !row_a, !row_b -> tensor<130x144xf32>
  return %0 : tensor<130x144xf32>
}

// One for the tensor of tokens, one for each channel.
!mixed_a = !blockscale.tensor<129x256xf6E3M2FN, "float16">
!mixed_b = !blockscale.tensor<72x256xf4E2M1FN, "bfloat16_t0">
func.func @mixed(%a: !mixed_a, %b: !mixed_b) -> tensor<129x72xf16> {
  %0 = blockscale.matmul %a, %b : !mixed_a, !mixed_b -> tensor<129x72xf16>
  return %0 : tensor<129x72xf16>
}

!one_side_a = !blockscale.tensor<70x200xf8E5M2>
!one_side_b = !blockscale.tensor<136x200xf8E5M2, "e8m0_t0">
func.func @one_side(%a: !one_side_a, %b: !one_side_b) -> tensor<70x136xf32> {
  %0 = blockscale.matmul %a, %b : !one_side_a, !one_side_b -> tensor<70x136xf32>
  return %0 : tensor<70x136xf32>
}

// Groups of rows: shorter and longer than what a thread takes at once.
!groups_a = !blockscale.tensor<261x160xf8E4M3FN, "e8m0_t128_t0">
!groups_b = !blockscale.tensor<150x160xf8E4M3FN, "float32_t4_t0">
func.func @groups(%a: !groups_a, %b: !groups_b) -> tensor<261x150xf32> {
  %0 = blockscale.matmul %a, %b : !groups_a, !groups_b -> tensor<261x150xf32>
  return %0 : tensor<261x150xf32>
}

!long_groups_a = !blockscale.tensor<70x160xf8E4M3FN, "float32_t16_t0">
!long_groups_b = !blockscale.tensor<333x160xf8E4M3FN, "e8m0_t64_t0">
func.func @long_groups(%a: !long_groups_a, %b: !long_groups_b) -> tensor<70x333xf32> {
  %0 = blockscale.matmul %a, %b : !long_groups_a, !long_groups_b -> tensor<70x333xf32>
  return %0 : tensor<70x333xf32>
}

!int8_a = !blockscale.tensor<130x336xi8, "float32_t0">
!int8_b = !blockscale.tensor<144x336xi8, "float32_t0">
func.func @int8(%a: !int8_a, %b: !int8_b, %bias: tensor<144xf32>) -> tensor<130x144xbf16> {
  %0 = blockscale.matmul %a, %b bias(%bias) : !int8_a, !int8_b, tensor<144xf32> -> tensor<130x144xbf16>
  return %0 : tensor<130x144xbf16>
}

!int8_tensor_a = !blockscale.tensor<70x208xi8, "float32">
!int8_tensor_b = !blockscale.tensor<40x208xui8>
func.func @int8_tensor(%a: !int8_tensor_a, %b: !int8_tensor_b) -> tensor<70x40xf32> {
  %0 = blockscale.matmul %a, %b : !int8_tensor_a, !int8_tensor_b -> tensor<70x40xf32>
  return %0 : tensor<70x40xf32>
}

!batch_a = !blockscale.tensor<3x70x136xf8E4M3FN, "float32_t8_t0">
!batch_b = !blockscale.tensor<3x200x136xf8E4M3FN, "float32_t0">
func.func @batch(%a: !batch_a, %b: !batch_b, %alpha: f32) -> tensor<3x70x200xf32> {
  %0 = blockscale.matmul %a, %b alpha(%alpha) : !batch_a, !batch_b -> tensor<3x70x200xf32>
  return %0 : tensor<3x70x200xf32>
}

// One scale for each matrix; two levels.
!levels_a = !blockscale.tensor<2x70x136xf8E4M3FN, "float32">
!levels_b = !blockscale.tensor<2x72x136xf8E4M3FN, "multi_float32_bfloat16_t0">
func.func @levels(%a: !levels_a, %b: !levels_b) -> tensor<2x70x72xf32> {
  %0 = blockscale.matmul %a, %b : !levels_a, !levels_b -> tensor<2x70x72xf32>
  return %0 : tensor<2x70x72xf32>
}

!epilogue_a = !blockscale.tensor<130x256xf8E4M3FN, "float32_t0">
!epilogue_b = !blockscale.tensor<136x256xf8E4M3FN, "float32_t0">
func.func @epilogue(%a: !epilogue_a, %b: !epilogue_b, %s: f32, %c: tensor<130x136xf32>, %v: tensor<130xbf16>) -> tensor<130x136xf32> {
  %0 = blockscale.matmul %a, %b alpha(%s) beta(%s) c(%c) bias(%v) row activation(relu) : !epilogue_a, !epilogue_b, tensor<130x136xf32>, tensor<130xbf16> -> tensor<130x136xf32>
  return %0 : tensor<130x136xf32>
}

!swapped_a = !blockscale.tensor<20x256xf8E4M3FN, "float16_t0">
!swapped_b = !blockscale.tensor<264x256xf8E4M3FN, "float32_t32_t0">
func.func @swapped(%a: !swapped_a, %b: !swapped_b, %s: f32) -> tensor<20x264xbf16> {
  %0 = blockscale.matmul %a, %b alpha(%s) schedule(#blockscale.schedule<swap_operands = true>) : !swapped_a, !swapped_b -> tensor<20x264xbf16>
  return %0 : tensor<20x264xbf16>
}

!mn_major_a = !blockscale.tensor<144x300xf8E4M3FN, "float32_t0", order = mn_major>
!mn_major_b = !blockscale.tensor<160x300xf8E5M2, "float32_t0", order = mn_major>
func.func @mn_major(%a: !mn_major_a, %b: !mn_major_b) -> tensor<144x160xf32> {
  %0 = blockscale.matmul %a, %b : !mn_major_a, !mn_major_b -> tensor<144x160xf32>
  return %0 : tensor<144x160xf32>
}

// Pairs of CTAs whose rows are those of two instructions, in a cluster.
!pairs_a = !blockscale.tensor<600x192xf8E4M3FN, "float32_t0">
!pairs_b = !blockscale.tensor<300x192xf8E4M3FN, "e8m0_t0">
func.func @pairs(%a: !pairs_a, %b: !pairs_b) -> tensor<600x300xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 128, cta_group = 2, cluster_n = 2>) : !pairs_a, !pairs_b -> tensor<600x300xf32>
  return %0 : tensor<600x300xf32>
}
