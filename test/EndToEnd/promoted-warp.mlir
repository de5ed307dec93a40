// Float scales of tiles along K where sums are in registers anyway: DeepSeek's blocks,
// tiles of both sides and of one, of one row and of several, longer and shorter than a
// stage, which K fills in part; batches, epilogues, operands exchanged, groups of rows,
// sizes of the launch, a sparse A without scales and with its own.

// REQUIRES: mlir
// RUN: blockscale verify %s --target=sm_120a --num-sms=3 --m=70 --k=200 | FileCheck %s
// RUN: blockscale verify %s --target=sm_121a --num-sms=2 --m=1,133 --k=32,384 --data=exact --seed=7 --completion=random | FileCheck %s --check-prefix=EXACT

// CHECK-NOT: FAIL
// CHECK-COUNT-26: pass
// CHECK-NOT: {{FAIL|pass}}

// EXACT-NOT: FAIL
// EXACT-COUNT-20: pass
// EXACT-NOT: {{FAIL|pass}}

!deepseek_a = !blockscale.tensor<150x512xf8E4M3FN, "float32_t128">
!deepseek_b = !blockscale.tensor<200x512xf8E4M3FN, "float32_t128_t128">
func.func @deepseek(%a: !deepseek_a, %b: !deepseek_b) -> tensor<150x200xbf16> {
  %0 = blockscale.matmul %a, %b : !deepseek_a, !deepseek_b -> tensor<150x200xbf16>
  return %0 : tensor<150x200xbf16>
}

// A scale for each row of both, in the largest tile that they can have.
!rows = !blockscale.tensor<130x384xf8E4M3FN, "float32_t128">
func.func @rows(%a: !rows, %b: !rows) -> tensor<130x130xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = false, tile_n = 64>) : !rows, !rows -> tensor<130x130xf32>
  return %0 : tensor<130x130xf32>
}

// Several rows to a scale, so many that the columns of a lane have two.
!several_a = !blockscale.tensor<2x40x768xf8E5M2, "bfloat16_t4_t256">
!several_b = !blockscale.tensor<2x72x768xf6E2M3FN, "float32_t8_t128">
func.func @several(%a: !several_a, %b: !several_b, %bias: tensor<72xf32>) -> tensor<2x40x72xf32> {
  %0 = blockscale.matmul %a, %b bias(%bias) activation(silu) schedule(#blockscale.schedule<swap_operands = true>) : !several_a, !several_b, tensor<72xf32> -> tensor<2x40x72xf32>
  return %0 : tensor<2x40x72xf32>
}

!long_a = !blockscale.tensor<40x768xf8E4M3FN, "float32_t256">
!long_b = !blockscale.tensor<72x768xf8E4M3FN>
func.func @long(%a: !long_a, %b: !long_b) -> tensor<40x72xf32> {
  %0 = blockscale.matmul %a, %b : !long_a, !long_b -> tensor<40x72xf32>
  return %0 : tensor<40x72xf32>
}

// Of one instruction, as Kimi's int4 has them, beside one for all of K.
!token_a = !blockscale.tensor<45x352xf8E4M3FN, "float32_t0">
!token_b = !blockscale.tensor<104x352xi4, "bfloat16_t32">
func.func @int4(%a: !token_a, %b: !token_b) -> tensor<45x104xf32> {
  %0 = blockscale.matmul %a, %b : !token_a, !token_b -> tensor<45x104xf32>
  return %0 : tensor<45x104xf32>
}

!halves_a = !blockscale.tensor<45x448xf8E4M3FN, "float32_t64">
!halves_b = !blockscale.tensor<104x448xui4, "float16_int8_t64">
func.func @halves(%a: !halves_a, %b: !halves_b) -> tensor<45x104xf32> {
  %0 = blockscale.matmul %a, %b : !halves_a, !halves_b -> tensor<45x104xf32>
  return %0 : tensor<45x104xf32>
}

!any_a = !blockscale.tensor<?x?xf8E4M3FN, "float32_t128">
!any_b = !blockscale.tensor<72x?xf8E4M3FN, "float32_t128_t128">
func.func @any(%a: !any_a, %b: !any_b) -> tensor<?x72xf32> {
  %0 = blockscale.matmul %a, %b : !any_a, !any_b -> tensor<?x72xf32>
  return %0 : tensor<?x72xf32>
}

!any_short_b = !blockscale.tensor<72x?xi4, "bfloat16_t32">
func.func @any_short(%a: !any_a, %b: !any_short_b) -> tensor<?x72xf32> {
  %0 = blockscale.matmul %a, %b : !any_a, !any_short_b -> tensor<?x72xf32>
  return %0 : tensor<?x72xf32>
}

!tokens = !blockscale.tensor<?x384xf8E4M3FN, "float32_t128">
!experts = !blockscale.tensor<3x72x384xf8E4M3FN, "float32_t128_t128">
func.func @groups(%a: !tokens, %b: !experts, %ends: tensor<3xi32>) -> tensor<?x72xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<3xi32>) : !tokens, !experts -> tensor<?x72xf32>
  return %0 : tensor<?x72xf32>
}

// Elements of 4 bits, of which the instruction of their own takes 64 at once.
!fours = !blockscale.tensor<45x352xf4E2M1FN, "float32_t32">
func.func @fours(%a: !fours, %b: !fours) -> tensor<45x45xf32> {
  %0 = blockscale.matmul %a, %b : !fours, !fours -> tensor<45x45xf32>
  return %0 : tensor<45x45xf32>
}

!sparse = !blockscale.tensor<130x640xf8E4M3FN, "n2m4", layout = tiled_128x4>
!beside_sparse = !blockscale.tensor<72x640xf8E5M2, "float32_t128">
func.func @sparse(%a: !sparse, %b: !beside_sparse) -> tensor<130x72xf32> {
  %0 = blockscale.matmul %a, %b : !sparse, !beside_sparse -> tensor<130x72xf32>
  return %0 : tensor<130x72xf32>
}

!scaled = !blockscale.tensor<40x448xf6E2M3FN, "e8m0_t32n2m4", layout = tiled_128x4>
!short = !blockscale.tensor<72x448xf4E2M1FN, "bfloat16_t64">
func.func @scaled_sparse(%a: !scaled, %b: !short) -> tensor<40x72xf32> {
  %0 = blockscale.matmul %a, %b : !scaled, !short -> tensor<40x72xf32>
  return %0 : tensor<40x72xf32>
}

!sparse_fours = !blockscale.tensor<136x1024xf4E2M1FN, "e4m3fn_t16n4m8", layout = tiled_128x4>
!square_scales = !blockscale.tensor<136x1024xf4E2M1FN, "float32_t128_t256">
func.func @pairs_of_fours(%a: !sparse_fours, %b: !square_scales) -> tensor<136x136xf32> {
  %0 = blockscale.matmul %a, %b : !sparse_fours, !square_scales -> tensor<136x136xf32>
  return %0 : tensor<136x136xf32>
}
