// A sparse A with scales of tiles that no instruction reads, which lie row by row beside
// metadata in tiles: of 128 elements of a row with the pruned ones, of as many rows, of
// longer and shorter tiles than those of B, whose scales are of such tiles, of rows, of
// those that instructions read or none. Every kind, parts of stages, pairs of CTAs,
// batches, matrices that memory says the rows of, sizes of the launch, stored forms, scales
// of e4m3.

// REQUIRES: mlir
// RUN: blockscale verify %s --num-sms=8 --m=130 --n=72 --k=384 --batch=2 | FileCheck %s
// RUN: sed -e "s/ schedule(#blockscale.schedule<cta_group = 2>)//" %s > %t.mlir
// RUN: blockscale verify %t.mlir --num-sms=8 --m=40 --n=136 --k=640 --target=sm_120a --data=random --conditions=harsh --completion=latest | FileCheck %s --check-prefix=ONCE

// CHECK-NOT: FAIL
// CHECK-COUNT-20: pass
// CHECK-NOT: {{FAIL|pass}}

// ONCE-NOT: FAIL
// ONCE-COUNT-10: pass
// ONCE-NOT: {{FAIL|pass}}

!deepseek_a = !blockscale.tensor<136x640xf8E4M3FN, "float32_t64n2m4", layout = tiled_128x4>
!deepseek_b = !blockscale.tensor<72x640xf8E4M3FN, "float32_t128_t128">
func.func @deepseek(%a: !deepseek_a, %b: !deepseek_b, %alpha: f32, %c: tensor<136x72xf32>) -> tensor<136x72xf32> {
  %0 = blockscale.matmul %a, %b alpha(%alpha) c(%c) : !deepseek_a, !deepseek_b, tensor<136x72xf32> -> tensor<136x72xf32>
  return %0 : tensor<136x72xf32>
}

!weights = !blockscale.tensor<2x300x384xf8E5M2, "float32_t128_t64n2m4", layout = tiled_128x4>
!tokens = !blockscale.tensor<2x40x384xf8E4M3FN, "float32_t0">
func.func @squares(%a: !weights, %b: !tokens, %bias: tensor<300xf32>) -> tensor<2x300x40xbf16> {
  %0 = blockscale.matmul %a, %b bias(%bias) row activation(relu) schedule(#blockscale.schedule<cta_group = 2>) : !weights, !tokens, tensor<300xf32> -> tensor<2x300x40xbf16>
  return %0 : tensor<2x300x40xbf16>
}

!long_a = !blockscale.tensor<136x1024xf6E2M3FN, "bfloat16_t8_t256n2m4", layout = tiled_128x4>
!long_b = !blockscale.tensor<72x1024xf8E5M2, "float16_t64">
func.func @longer(%a: !long_a, %b: !long_b) -> tensor<136x72xf32> {
  %0 = blockscale.matmul %a, %b : !long_a, !long_b -> tensor<136x72xf32>
  return %0 : tensor<136x72xf32>
}

!short_b = !blockscale.tensor<2x72x576xf8E4M3FN>
!short_a = !blockscale.tensor<2x70x576xi4, "float32_t32n2m4", layout = tiled_128x4>
func.func @instructions(%a: !short_a, %b: !short_b) -> tensor<2x70x72xf16> {
  %0 = blockscale.matmul %a, %b : !short_a, !short_b -> tensor<2x70x72xf16>
  return %0 : tensor<2x70x72xf16>
}

!fours_a = !blockscale.tensor<136x512xf4E2M1FN, "float32_t64n2m4", layout = tiled_128x4>
!fours_b = !blockscale.tensor<72x512xf8E4M3FN, "float32_t256">
func.func @fours(%a: !fours_a, %b: !fours_b) -> tensor<136x72xf32> {
  %0 = blockscale.matmul %a, %b : !fours_a, !fours_b -> tensor<136x72xf32>
  return %0 : tensor<136x72xf32>
}

// Scales of 1 that instructions read of A, whose own are multiplied in registers.
!beside_b = !blockscale.tensor<72x640xf8E4M3FN, "e8m0_t64", layout = tiled_128x4>
func.func @beside(%a: !deepseek_a, %b: !beside_b) -> tensor<136x72xf32> {
  %0 = blockscale.matmul %a, %b : !deepseek_a, !beside_b -> tensor<136x72xf32>
  return %0 : tensor<136x72xf32>
}

!pairs_a = !blockscale.tensor<136x512xf4E2M1FN, "float32_t64n4m8", layout = tiled_128x4>
!pairs_b = !blockscale.tensor<72x512xf4E2M1FN, "multi_float32_e4m3fn_t32", layout = tiled_128x4>
func.func @pairs(%a: !pairs_a, %b: !pairs_b) -> tensor<136x72xf32> {
  %0 = blockscale.matmul %a, %b : !pairs_a, !pairs_b -> tensor<136x72xf32>
  return %0 : tensor<136x72xf32>
}

!bytes_a = !blockscale.tensor<136x640xf8E4M3FN, "multi_float32_e4m3fn_t32n2m4", layout = tiled_128x4>
func.func @bytes(%a: !bytes_a, %b: !deepseek_b) -> tensor<136x72xf32> {
  %0 = blockscale.matmul %a, %b : !bytes_a, !deepseek_b -> tensor<136x72xf32>
  return %0 : tensor<136x72xf32>
}

!dynamic_a = !blockscale.tensor<?x?x?xf8E4M3FN, "float32_t64n2m4", layout = tiled_128x4>
!dynamic_b = !blockscale.tensor<?x?x?xf8E4M3FN, "float32_t128_t128">
func.func @dynamic(%a: !dynamic_a, %b: !dynamic_b) -> tensor<?x?x?xf32> {
  %0 = blockscale.matmul %a, %b : !dynamic_a, !dynamic_b -> tensor<?x?x?xf32>
  return %0 : tensor<?x?x?xf32>
}

!masked_a = !blockscale.tensor<3x140x384xf8E4M3FN, "float32_t64n2m4", layout = tiled_128x4>
!masked_b = !blockscale.tensor<3x72x384xf8E4M3FN, "float32_t128_t128">
func.func @counts(%a: !masked_a, %b: !masked_b, %counts: tensor<3xi32>) -> tensor<3x140x72xf32> {
  %0 = blockscale.matmul %a, %b groups(%counts : tensor<3xi32>) : !masked_a, !masked_b -> tensor<3x140x72xf32>
  return %0 : tensor<3x140x72xf32>
}
