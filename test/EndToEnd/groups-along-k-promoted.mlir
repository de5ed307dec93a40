// Groups along K under scales of tiles along K that are applied in registers, as
// DeepGEMM has gradients of weights: each group has whole tiles, whose scales lie as the
// elements do. Both sides as rows of the instruction, pairs and clusters, bias and C,
// tiles of one row and of several, longer and shorter than a stage, empty groups.

// REQUIRES: mlir
// RUN: blockscale verify %s --data=exact --num-sms=4 --k=256,1152 | FileCheck %s
// RUN: blockscale verify %s --num-sms=148 --k=1280 --seed=3 --conditions=harsh --completion=latest --target=sm_103a | FileCheck %s --check-prefix=ONCE
// RUN: blockscale verify %s --num-sms=5 --k=1664 --seed=5 --target=sm_107a | FileCheck %s --check-prefix=ONCE

// CHECK-NOT: FAIL
// CHECK-COUNT-27: pass
// CHECK-NOT: {{FAIL|pass}}

// ONCE-NOT: FAIL
// ONCE-COUNT-28: pass
// ONCE-NOT: {{FAIL|pass}}

!a = !blockscale.tensor<200x?xf8E4M3FN, "float32_t128">
!b = !blockscale.tensor<136x?xf8E4M3FN, "float32_t128">
func.func @deepgemm(%a: !a, %b: !b, %ends: tensor<5xi32>) -> tensor<5x200x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<5xi32>) : !a, !b -> tensor<5x200x136xf32>
  return %0 : tensor<5x200x136xf32>
}

func.func @accumulates(%a: !a, %b: !b, %ends: tensor<?xi32>, %c: tensor<?x200x136xf32>) -> tensor<?x200x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<?xi32>) c(%c) schedule(#blockscale.schedule<cta_group = 1, cluster_m = 1, cluster_n = 1, swap_operands = false, tile_n = 64>) : !a, !b, tensor<?x200x136xf32> -> tensor<?x200x136xf32>
  return %0 : tensor<?x200x136xf32>
}

func.func @swapped(%a: !a, %b: !b, %ends: tensor<4xi32>, %bias: tensor<4x136xf32>) -> tensor<4x200x136xbf16> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) bias(%bias) activation(silu) schedule(#blockscale.schedule<cta_group = 1, swap_operands = true, tile_n = 64>) : !a, !b, tensor<4x136xf32> -> tensor<4x200x136xbf16>
  return %0 : tensor<4x200x136xbf16>
}

func.func @pair(%a: !a, %b: !b, %ends: tensor<5xi32>) -> tensor<5x200x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<5xi32>) schedule(#blockscale.schedule<cta_group = 2, swap_operands = false>) : !a, !b -> tensor<5x200x136xf32>
  return %0 : tensor<5x200x136xf32>
}

func.func @cluster(%a: !a, %b: !b, %ends: tensor<5xi32>) -> tensor<5x200x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<5xi32>) schedule(#blockscale.schedule<swap_operands = false, cta_group = 1, cluster_m = 2, cluster_n = 2>) : !a, !b -> tensor<5x200x136xf32>
  return %0 : tensor<5x200x136xf32>
}

// As gradients and inputs lie in memory, and K known.
!columns_a = !blockscale.tensor<200x1152xf8E5M2, "float32_t128", order = mn_major>
!columns_b = !blockscale.tensor<136x1152xf8E4M3FN, "float32_t128", order = mn_major>
func.func @columns(%a: !columns_a, %b: !columns_b, %ends: tensor<5xi32>, %alpha: f32) -> tensor<5x200x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<5xi32>) alpha(%alpha) : !columns_a, !columns_b -> tensor<5x200x136xf32>
  return %0 : tensor<5x200x136xf32>
}

!squares = !blockscale.tensor<136x?xf8E4M3FN, "float32_t128_t128">
func.func @squares(%a: !a, %b: !squares, %ends: tensor<5xi32>) -> tensor<5x200x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<5xi32>) : !a, !squares -> tensor<5x200x136xf32>
  return %0 : tensor<5x200x136xf32>
}

// Groups of whole long tiles, two blocks to a tile of one side.
!long = !blockscale.tensor<136x?xf6E2M3FN, "bfloat16_t256">
func.func @longer(%a: !a, %b: !long, %ends: tensor<5xi32>) -> tensor<5x200x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<5xi32>) : !a, !long -> tensor<5x200x136xf32>
  return %0 : tensor<5x200x136xf32>
}

// Two blocks to a stage, which a group need not fill.
!short_a = !blockscale.tensor<200x?xf8E4M3FN, "float32_t64">
!short_b = !blockscale.tensor<136x?xf8E5M2, "float16_t64">
func.func @shorter(%a: !short_a, %b: !short_b, %ends: tensor<5xi32>) -> tensor<5x200x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<5xi32>) : !short_a, !short_b -> tensor<5x200x136xf32>
  return %0 : tensor<5x200x136xf32>
}

// Integers less zero points beside floats of 16 bits, two stages to a block.
!codes = !blockscale.tensor<136x?xui4, "float32_int8_t128">
!half = !blockscale.tensor<200x?xbf16>
func.func @codes(%a: !half, %b: !codes, %ends: tensor<5xi32>) -> tensor<5x200x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<5xi32>) : !half, !codes -> tensor<5x200x136xf32>
  return %0 : tensor<5x200x136xf32>
}

// Those of the other side cover all of K of a group, or instructions read them.
!rows = !blockscale.tensor<136x?xf8E4M3FN, "float32_t0", layout = grouped>
func.func @rows(%a: !a, %b: !rows, %ends: tensor<5xi32>) -> tensor<5x200x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<5xi32>) : !a, !rows -> tensor<5x200x136xf32>
  return %0 : tensor<5x200x136xf32>
}

!mxfp8 = !blockscale.tensor<136x?xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
func.func @beside_mxfp8(%a: !a, %b: !mxfp8, %ends: tensor<5xi32>) -> tensor<5x200x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<5xi32>) : !a, !mxfp8 -> tensor<5x200x136xf32>
  return %0 : tensor<5x200x136xf32>
}

// Results that are quantised.
!wide = !blockscale.tensor<160x?xf8E4M3FN, "float32_t128">
!mxfp8_d = !blockscale.tensor<5x200x160xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @quantized(%a: !a, %b: !wide, %ends: tensor<5xi32>) -> !mxfp8_d {
  %d = blockscale.matmul %a, %b groups(%ends : tensor<5xi32>) : !a, !wide -> tensor<5x200x160xbf16>
  %0 = blockscale.quantize %d : tensor<5x200x160xbf16> to !mxfp8_d
  return %0 : !mxfp8_d
}

!e4m3_d = !blockscale.tensor<?x200x160xf8E4M3FN, "float32_t32">
func.func @quantized_swapped(%a: !a, %b: !wide, %ends: tensor<?xi32>, %bias: tensor<?x160xf32>) -> !e4m3_d {
  %d = blockscale.matmul %a, %b groups(%ends : tensor<?xi32>) bias(%bias) schedule(#blockscale.schedule<swap_operands = true, tile_n = 64>) : !a, !wide, tensor<?x160xf32> -> tensor<?x200x160xf32>
  %0 = blockscale.quantize %d : tensor<?x200x160xf32> to !e4m3_d
  return %0 : !e4m3_d
}
