// Scales of tiles along K that no instruction reads, as DeepSeek's models have
// them: each block's sum is multiplied by them in registers. Tiles of one row
// and of several, of both sides and of one, longer ones of one side; tails along
// M and N, batches, every part of an epilogue, other factors beside them,
// operands exchanged, pairs, clusters and dynamic scheduling.

// REQUIRES: mlir
// RUN: blockscale verify %s --num-sms=8 | FileCheck %s
// RUN: blockscale verify %s --num-sms=8 --data=exact --seed=5 --completion=latest --target=sm_103a | FileCheck %s --check-prefix=ONCE
// RUN: blockscale verify %s --num-sms=8 --data=exact --seed=6 --target=sm_107a | FileCheck %s --check-prefix=ONCE

// CHECK-NOT: FAIL
// CHECK-COUNT-34: pass
// CHECK-NOT: {{FAIL|pass}}

// ONCE-NOT: FAIL
// ONCE-COUNT-17: pass
// ONCE-NOT: {{FAIL|pass}}

!deepseek_a = !blockscale.tensor<200x512xf8E4M3FN, "float32_t128">
!deepseek_b = !blockscale.tensor<272x512xf8E4M3FN, "float32_t128_t128">
func.func @deepseek(%a: !deepseek_a, %b: !deepseek_b) -> tensor<200x272xbf16> {
  %0 = blockscale.matmul %a, %b : !deepseek_a, !deepseek_b -> tensor<200x272xbf16>
  return %0 : tensor<200x272xbf16>
}

// Elements of both kinds.
!mixed_a = !blockscale.tensor<130x384xf8E4M3FN, "float32_t128">
!mixed_b = !blockscale.tensor<144x384xf8E5M2, "float32_t128_t128">
func.func @mixed(%a: !mixed_a, %b: !mixed_b) -> tensor<130x144xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = false>) : !mixed_a, !mixed_b -> tensor<130x144xf32>
  return %0 : tensor<130x144xf32>
}

// One block.
!short_a = !blockscale.tensor<70x128xf8E5M2, "float32_t128">
!short_b = !blockscale.tensor<136x128xf8E5M2, "float32_t128_t128">
func.func @short(%a: !short_a, %b: !short_b) -> tensor<70x136xf32> {
  %0 = blockscale.matmul %a, %b : !short_a, !short_b -> tensor<70x136xf32>
  return %0 : tensor<70x136xf32>
}

// A scale for each row of both.
!rows_a = !blockscale.tensor<129x384xf8E4M3FN, "float32_t128">
!rows_b = !blockscale.tensor<72x384xf8E4M3FN, "float32_t128">
func.func @rows(%a: !rows_a, %b: !rows_b) -> tensor<129x72xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = false>) : !rows_a, !rows_b -> tensor<129x72xf32>
  return %0 : tensor<129x72xf32>
}

// Blocks of both sides, of other numbers of rows; several scales to a tile.
!blocks_a = !blockscale.tensor<261x384xf8E4M3FN, "float32_t16_t128">
!blocks_b = !blockscale.tensor<200x384xf8E4M3FN, "float32_t64_t128">
func.func @blocks(%a: !blocks_a, %b: !blocks_b) -> tensor<261x200xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = false>) : !blocks_a, !blocks_b -> tensor<261x200xf32>
  return %0 : tensor<261x200xf32>
}

// Groups shorter than what a thread takes at once.
!groups_a = !blockscale.tensor<140x256xf8E4M3FN, "float32_t128">
!groups_b = !blockscale.tensor<150x256xf8E4M3FN, "float32_t4_t128">
func.func @groups(%a: !groups_a, %b: !groups_b) -> tensor<140x150xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = false>) : !groups_a, !groups_b -> tensor<140x150xf32>
  return %0 : tensor<140x150xf32>
}

// Longer tiles: of both sides two stages are summed at a time, of one its scale
// serves two blocks.
!long_a = !blockscale.tensor<130x768xf8E4M3FN, "float32_t256">
!long_b = !blockscale.tensor<144x768xf8E4M3FN, "float32_t128_t256">
func.func @long(%a: !long_a, %b: !long_b) -> tensor<130x144xf32> {
  %0 = blockscale.matmul %a, %b : !long_a, !long_b -> tensor<130x144xf32>
  return %0 : tensor<130x144xf32>
}

!longer_a = !blockscale.tensor<130x768xf8E4M3FN, "float32_t128">
!longer_b = !blockscale.tensor<144x768xf8E4M3FN, "float32_t128_t256">
func.func @longer_of_one(%a: !longer_a, %b: !longer_b) -> tensor<130x144xf32> {
  %0 = blockscale.matmul %a, %b : !longer_a, !longer_b -> tensor<130x144xf32>
  return %0 : tensor<130x144xf32>
}

// One side alone, and one whose scale is for all of K; elements of fewer bits;
// scales of 16 bits; one for all rows.
!alone_a = !blockscale.tensor<130x384xf8E4M3FN>
!alone_b = !blockscale.tensor<144x384xf8E4M3FN, "bfloat16_t128_t128">
func.func @alone(%a: !alone_a, %b: !alone_b) -> tensor<130x144xf32> {
  %0 = blockscale.matmul %a, %b : !alone_a, !alone_b -> tensor<130x144xf32>
  return %0 : tensor<130x144xf32>
}

!beside_a = !blockscale.tensor<130x384xf8E4M3FN, "float16_t128">
!beside_b = !blockscale.tensor<144x384xf4E2M1FN, "float32_t0">
func.func @beside(%a: !beside_a, %b: !beside_b) -> tensor<130x144xf16> {
  %0 = blockscale.matmul %a, %b : !beside_a, !beside_b -> tensor<130x144xf16>
  return %0 : tensor<130x144xf16>
}

!all_rows_a = !blockscale.tensor<130x384xf6E3M2FN, "float32_t0_t128">
!all_rows_b = !blockscale.tensor<144x384xf8E4M3FN, "float32">
func.func @all_rows(%a: !all_rows_a, %b: !all_rows_b) -> tensor<130x144xf32> {
  %0 = blockscale.matmul %a, %b : !all_rows_a, !all_rows_b -> tensor<130x144xf32>
  return %0 : tensor<130x144xf32>
}

// The weights go to the lanes.
!swapped_a = !blockscale.tensor<2x37x384xf8E4M3FN, "float32_t128">
!swapped_b = !blockscale.tensor<2x264x384xf8E4M3FN, "float32_t128_t128">
func.func @swapped(%a: !swapped_a, %b: !swapped_b, %bias: tensor<264xf32>) -> tensor<2x37x264xf32> {
  %0 = blockscale.matmul %a, %b bias(%bias) schedule(#blockscale.schedule<swap_operands = true>) : !swapped_a, !swapped_b, tensor<264xf32> -> tensor<2x37x264xf32>
  return %0 : tensor<2x37x264xf32>
}

// A pair, with all that an epilogue may have.
!pair_a = !blockscale.tensor<2x300x384xf8E4M3FN, "float32_t128">
!pair_b = !blockscale.tensor<2x144x384xf8E4M3FN, "float32_t128_t128">
func.func @pair(%a: !pair_a, %b: !pair_b, %c: tensor<2x300x144xf32>, %bias: tensor<144xf32>, %alpha: f32, %beta: f32) -> tensor<2x300x144xf32> {
  %0 = blockscale.matmul %a, %b alpha(%alpha) beta(%beta) c(%c) bias(%bias) activation(relu) schedule(#blockscale.schedule<cta_group = 2, swap_operands = false>) : !pair_a, !pair_b, tensor<2x300x144xf32>, tensor<144xf32> -> tensor<2x300x144xf32>
  return %0 : tensor<2x300x144xf32>
}

!cluster_a = !blockscale.tensor<300x384xf8E4M3FN, "float32_t128">
!cluster_b = !blockscale.tensor<272x384xf8E4M3FN, "float32_t128_t128">
func.func @cluster(%a: !cluster_a, %b: !cluster_b) -> tensor<300x272xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 64, cluster_m = 2, cluster_n = 2, cta_group = 1, scheduler = dynamic, dependent_launch = true, swap_operands = false>) : !cluster_a, !cluster_b -> tensor<300x272xf32>
  return %0 : tensor<300x272xf32>
}

// Tiles shorter than a stage, the last of which they fill in part: one instruction's,
// as Kimi's int4 has them, and two instructions'; in a pair with an epilogue.
!int4_a = !blockscale.tensor<133x352xf8E4M3FN, "float32_t32">
!int4_b = !blockscale.tensor<136x352xi4, "bfloat16_t32">
func.func @int4(%a: !int4_a, %b: !int4_b) -> tensor<133x136xf32> {
  %0 = blockscale.matmul %a, %b : !int4_a, !int4_b -> tensor<133x136xf32>
  return %0 : tensor<133x136xf32>
}

!token_a = !blockscale.tensor<2x21x416xf8E5M2, "float32_t0">
!token_b = !blockscale.tensor<2x264x416xi4, "bfloat16_t32">
func.func @of_tokens(%a: !token_a, %b: !token_b) -> tensor<2x21x264xbf16> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = true>) : !token_a, !token_b -> tensor<2x21x264xbf16>
  return %0 : tensor<2x21x264xbf16>
}

!halves_a = !blockscale.tensor<300x448xf8E4M3FN, "float32_t64">
!halves_b = !blockscale.tensor<144x448xui4, "float16_int8_t64">
func.func @halves(%a: !halves_a, %b: !halves_b, %bias: tensor<144xf32>) -> tensor<300x144xf32> {
  %0 = blockscale.matmul %a, %b bias(%bias) activation(relu) schedule(#blockscale.schedule<cta_group = 2, swap_operands = false>) : !halves_a, !halves_b, tensor<144xf32> -> tensor<300x144xf32>
  return %0 : tensor<300x144xf32>
}
