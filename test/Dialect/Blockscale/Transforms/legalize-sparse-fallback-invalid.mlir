// Sparse operands that nothing multiplies although they may be made dense, or their zero
// points be subtracted by another product.

// RUN: blockscale-opt %s -split-input-file -verify-diagnostics -blockscale-legalize-scales=dense-fallback

!pairs_a = !blockscale.tensor<64x256xui4, "float32_float16_t64n2m4", layout = tiled_128x4>
!pairs_b = !blockscale.tensor<48x256xf8E4M3FN, "float32_t128">
func.func @pairs(%a: !pairs_a, %b: !pairs_b) -> tensor<64x24xf32> {
  // expected-error @below {{zero points in real units of a sparse operand are subtracted by a product of their own, which one of 'pairs' has no 'c' for; expected zero points that count in steps of the scale, such as 'int8'}}
  %0 = blockscale.matmul %a, %b pairs epilogue(%x, %up) {
    %1 = arith.mulf %x, %up : f32
    blockscale.yield %1
  } : !pairs_a, !pairs_b -> tensor<64x24xf32>
  return %0 : tensor<64x24xf32>
}

// -----

!gated_a = !blockscale.tensor<64x256xui4, "float32_float16_t64n2m4", layout = tiled_128x4>
!gated_b = !blockscale.tensor<48x256xf8E4M3FN, "float32_t128">
func.func @gated(%a: !gated_a, %b: !gated_b, %c: tensor<64x48xf32>) -> tensor<64x48xf32> {
  // expected-error @below {{which is 'c' of this one, but its region does more with 'c' than to add it}}
  %0 = blockscale.matmul %a, %b c(%c) epilogue(%x, %gate) {
    %1 = arith.mulf %x, %gate : f32
    blockscale.yield %1
  } : !gated_a, !gated_b, tensor<64x48xf32> -> tensor<64x48xf32>
  return %0 : tensor<64x48xf32>
}

// -----

!bytes_a = !blockscale.tensor<64x256xui8, "float32_float16_t64n4m8", layout = tiled_128x4>
!bytes_b = !blockscale.tensor<48x256xf8E4M3FN, "float32_t128">
func.func @bytes(%a: !bytes_a, %b: !bytes_b) -> tensor<64x48xf32> {
  // expected-error @below {{what 'float32_float16_t64n4m8' keeps is made dense, as no instruction skips its pattern, in floats that have a 0, but elements of 8 bits are none; expected ones of 4 bits and fewer, or 2 of 4}}
  %0 = blockscale.matmul %a, %b : !bytes_a, !bytes_b -> tensor<64x48xf32>
  return %0 : tensor<64x48xf32>
}

// -----

!fewer_a = !blockscale.tensor<64x256xui4, "float32_float16_t64n1m4", layout = tiled_128x4>
!fewer_b = !blockscale.tensor<48x256xf8E4M3FN, "float32_t128">
func.func @fewer(%a: !fewer_a, %b: !fewer_b) -> tensor<64x48xf32> {
  // expected-error @below {{what 'float32_float16_t64n1m4' keeps is stored without room beside it, as no code is 0, and elements without its zero points are stored with it; expected 2 of 4 or 1 of 2, or zero points that count in steps of the scale, such as 'int8'}}
  %0 = blockscale.matmul %a, %b : !fewer_a, !fewer_b -> tensor<64x48xf32>
  return %0 : tensor<64x48xf32>
}

// -----

!steps_a = !blockscale.tensor<64x256xui4, "float32_int8_t64n4m8", layout = tiled_128x4>
!steps_b = !blockscale.tensor<48x256xf8E4M3FN, "float32_t128">
func.func @steps(%a: !steps_a, %b: !steps_b) -> tensor<64x48xf32> {
  // expected-error @below {{operand 'a' keeps 4 of 8, which no instruction skips; expected 2 of 4, 1 of 2 or at most 2 of more (kind mxf8f6f4), or 4 of 8 in pairs of f4E2M1FN (kinds mxf4 and mxf4nvf4), or dense elements, whose values 'blockscale.prune' may have pruned so; nor can it be made dense, because what 'float32_int8_t64n4m8' prunes is 0, which no code is where a zero point is none; expected a dense operand, which may have any zero points}}
  %0 = blockscale.matmul %a, %b : !steps_a, !steps_b -> tensor<64x48xf32>
  return %0 : tensor<64x48xf32>
}

// -----

!integers_a = !blockscale.tensor<64x256xi8, "n4m8", layout = tiled_128x4>
!integers_b = !blockscale.tensor<48x256xi8>
func.func @integers(%a: !integers_a, %b: !integers_b) -> tensor<64x48xi32> {
  // expected-error @below {{operand 'a' keeps 4 of 8, but the kinds f16, f8f6f4 and i8 skip 2 of 4 (and 1 of 2, and at most 2 of more); nor is it multiplied densely: kind 'i8' is not legal on 'sm_103a'}}
  %0 = blockscale.matmul %a, %b {blockscale.target = #blockscale.target<sm_103a>} : !integers_a, !integers_b -> tensor<64x48xi32>
  return %0 : tensor<64x48xi32>
}
