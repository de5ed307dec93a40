// Operands without scales that instructions read beside such: they have scales of 1, which
// the kernel stores itself. Without any, under one scale for all of K (W4A8: FP8 under a
// scale for each token beside MXFP4 weights) and under float scales of tiles along K, by
// which sums are multiplied in registers; on either side, swapped, in pairs of CTAs, with
// ends of K inside of a tile and of a block, tiles shorter than a stage, batches, groups of
// rows, zero points, kinds of 4 bits.

// REQUIRES: mlir
// RUN: blockscale verify %s --num-sms=3 --m=130 | FileCheck %s
// RUN: blockscale verify %s --num-sms=3 --m=33 --data=random --seed=3 --completion=latest --conditions=harsh --target=sm_103a | FileCheck %s --check-prefix=ONCE
// RUN: blockscale verify %s --num-sms=3 --m=70 --data=exact --seed=4 --target=sm_107a | FileCheck %s --check-prefix=ONCE
// RUN: blockscale verify %s --num-sms=3 --m=70 --data=exact --seed=5 --completion=random --target=sm_120a | FileCheck %s --check-prefix=ONCE

// CHECK-NOT: FAIL
// CHECK-COUNT-22: pass
// CHECK-NOT: {{FAIL|pass}}

// ONCE-NOT: FAIL
// ONCE-COUNT-11: pass
// ONCE-NOT: {{FAIL|pass}}

!tokens = !blockscale.tensor<?x416xf8E4M3FN, "float32_t0">
!weights = !blockscale.tensor<136x416xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
func.func @w4a8(%a: !tokens, %b: !weights) -> tensor<?x136xf32> {
  %0 = blockscale.matmul %a, %b : !tokens, !weights -> tensor<?x136xf32>
  return %0 : tensor<?x136xf32>
}

!blocks = !blockscale.tensor<?x640xf8E4M3FN, "float32_t128">
!of_blocks = !blockscale.tensor<136x640xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
func.func @w4a8_of_blocks(%a: !blocks, %b: !of_blocks) -> tensor<?x136xf32> {
  %0 = blockscale.matmul %a, %b : !blocks, !of_blocks -> tensor<?x136xf32>
  return %0 : tensor<?x136xf32>
}

!plain = !blockscale.tensor<2x200x320xf8E5M2>
!tall = !blockscale.tensor<2x136x320xf6E2M3FN, "e8m0_t32_t64", layout = tiled_128x4>
func.func @pair(%a: !plain, %b: !tall, %alpha: f32, %c: tensor<2x200x136xf32>) -> tensor<2x200x136xf32> {
  %0 = blockscale.matmul %a, %b alpha(%alpha) c(%c) schedule(#blockscale.schedule<swap_operands = false>) : !plain, !tall, tensor<2x200x136xf32> -> tensor<2x200x136xf32>
  return %0 : tensor<2x200x136xf32>
}

!mx = !blockscale.tensor<?x640xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!squares = !blockscale.tensor<136x640xf8E4M3FN, "float32_t128_t128">
func.func @squares(%a: !mx, %b: !squares) -> tensor<?x136xbf16> {
  %0 = blockscale.matmul %a, %b activation(relu) : !mx, !squares -> tensor<?x136xbf16>
  return %0 : tensor<?x136xbf16>
}

func.func @swapped(%a: !mx, %b: !squares) -> tensor<?x136xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = true>) : !mx, !squares -> tensor<?x136xf32>
  return %0 : tensor<?x136xf32>
}

!short = !blockscale.tensor<?x352xf6E3M2FN, "bfloat16_t32">
!long = !blockscale.tensor<72x352xf8E5M2, "e8m0_t16_t32", layout = tiled_128x4>
func.func @short_tiles(%a: !short, %b: !long) -> tensor<?x72xf32> {
  %0 = blockscale.matmul %a, %b : !short, !long -> tensor<?x72xf32>
  return %0 : tensor<?x72xf32>
}

!fp4 = !blockscale.tensor<?x416xf4E2M1FN, "float32">
func.func @mxfp4(%a: !fp4, %b: !weights) -> tensor<?x136xf32> {
  %0 = blockscale.matmul %a, %b : !fp4, !weights -> tensor<?x136xf32>
  return %0 : tensor<?x136xf32>
}

!fp4_blocks = !blockscale.tensor<?x448xf4E2M1FN, "float32_t64">
!nvfp4 = !blockscale.tensor<136x448xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
func.func @nvfp4(%a: !fp4_blocks, %b: !nvfp4) -> tensor<?x136xf32> {
  %0 = blockscale.matmul %a, %b : !fp4_blocks, !nvfp4 -> tensor<?x136xf32>
  return %0 : tensor<?x136xf32>
}

!codes = !blockscale.tensor<136x640xui4, "float32_int8_t128">
func.func @zeros(%a: !mx, %b: !codes, %bias: tensor<136xf32>) -> tensor<?x136xf32> {
  %0 = blockscale.matmul %a, %b bias(%bias) : !mx, !codes, tensor<136xf32> -> tensor<?x136xf32>
  return %0 : tensor<?x136xf32>
}

!experts = !blockscale.tensor<3x136x416xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
func.func @experts(%a: !tokens, %b: !experts, %ends: tensor<3xi32>) -> tensor<?x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<3xi32>) : !tokens, !experts -> tensor<?x136xf32>
  return %0 : tensor<?x136xf32>
}

!sparse = !blockscale.tensor<136x512xf8E4M3FN, "e8m0_t32n2m4", layout = tiled_128x4>
!channels = !blockscale.tensor<72x512xf8E5M2, "float16_t0">
func.func @beside_sparse(%a: !sparse, %b: !channels) -> tensor<136x72xf32> {
  %0 = blockscale.matmul %a, %b : !sparse, !channels -> tensor<136x72xf32>
  return %0 : tensor<136x72xf32>
}
