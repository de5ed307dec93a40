// A sparse A without scales beside float tile scales of B: sums of blocks of K are
// multiplied in registers, those of stages, of several and of parts of one, each with its
// metadata; every kind, an instruction for a block, ends of K inside of a tile, pairs of
// CTAs, scales of columns and of several, sizes of the launch, matrices in batches, what B
// is stored as. Beside an A with scales of its own, too.

// REQUIRES: mlir
// RUN: blockscale verify %s --num-sms=8 --m=130 --n=72 --k=384 --batch=2 | FileCheck %s
// RUN: blockscale verify %s --num-sms=8 --m=40 --n=136 --k=640 --target=sm_103a --data=random --conditions=harsh --completion=latest | FileCheck %s --check-prefix=ONCE

// CHECK-NOT: FAIL
// CHECK-COUNT-16: pass
// CHECK-NOT: {{FAIL|pass}}

// ONCE-NOT: FAIL
// ONCE-COUNT-8: pass
// ONCE-NOT: {{FAIL|pass}}

!part_a = !blockscale.tensor<136x640xf8E4M3FN, "n2m4", layout = tiled_128x4>
!part_b = !blockscale.tensor<72x640xf8E4M3FN, "float32_t128">
func.func @parts_of_stages(%a: !part_a, %b: !part_b, %alpha: f32, %c: tensor<136x72xf32>) -> tensor<136x72xf32> {
  %0 = blockscale.matmul %a, %b alpha(%alpha) c(%c) : !part_a, !part_b, tensor<136x72xf32> -> tensor<136x72xf32>
  return %0 : tensor<136x72xf32>
}

!stages_a = !blockscale.tensor<2x136x1024xf6E2M3FN, "n2m4", layout = tiled_128x4>
!stages_b = !blockscale.tensor<2x136x1024xf8E5M2, "bfloat16_t64_t256">
func.func @stages(%a: !stages_a, %b: !stages_b) -> tensor<2x136x136xbf16> {
  %0 = blockscale.matmul %a, %b activation(relu) : !stages_a, !stages_b -> tensor<2x136x136xbf16>
  return %0 : tensor<2x136x136xbf16>
}

!instruction_a = !blockscale.tensor<264x256xf8E5M2, "n2m4", layout = tiled_128x4>
!instruction_b = !blockscale.tensor<72x256xi4, "float32_t64">
func.func @instructions(%a: !instruction_a, %b: !instruction_b) -> tensor<264x72xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 2>) : !instruction_a, !instruction_b -> tensor<264x72xf32>
  return %0 : tensor<264x72xf32>
}

!short_a = !blockscale.tensor<2x70x512xf4E2M1FN, "n2m4", layout = tiled_128x4>
!short_b = !blockscale.tensor<2x72x512xf6E3M2FN, "float16_t256">
func.func @longest(%a: !short_a, %b: !short_b) -> tensor<2x70x72xf16> {
  %0 = blockscale.matmul %a, %b : !short_a, !short_b -> tensor<2x70x72xf16>
  return %0 : tensor<2x70x72xf16>
}

!dynamic_a = !blockscale.tensor<?x?x?xf8E4M3FN, "n2m4", layout = tiled_128x4>
!dynamic_b = !blockscale.tensor<?x?x?xf8E4M3FN, "float32_t128_t128">
func.func @dynamic(%a: !dynamic_a, %b: !dynamic_b) -> tensor<?x?x?xf32> {
  %0 = blockscale.matmul %a, %b : !dynamic_a, !dynamic_b -> tensor<?x?x?xf32>
  return %0 : tensor<?x?x?xf32>
}

!zeros_b = !blockscale.tensor<72x640xui4, "float32_int8_t128">
func.func @zeros(%a: !part_a, %b: !zeros_b, %bias: tensor<72xf32>) -> tensor<136x72xf32> {
  %0 = blockscale.matmul %a, %b bias(%bias) : !part_a, !zeros_b, tensor<72xf32> -> tensor<136x72xf32>
  return %0 : tensor<136x72xf32>
}

!scaled_a = !blockscale.tensor<136x640xf8E4M3FN, "e8m0_t32n2m4", layout = tiled_128x4>
func.func @scaled(%a: !scaled_a, %b: !part_b) -> tensor<136x72xf32> {
  %0 = blockscale.matmul %a, %b : !scaled_a, !part_b -> tensor<136x72xf32>
  return %0 : tensor<136x72xf32>
}

// Fixed-point numbers of 8 bits, of bf16 here, whose powers of two no instruction reads.
!fixed_point_a = !blockscale.tensor<136x256xi8, "e8m0_t32n2m4", layout = tiled_128x4>
!fixed_point_b = !blockscale.tensor<72x256xf8E4M3FN, "e8m0_t64">
func.func @fixed_point(%a: !fixed_point_a, %b: !fixed_point_b) -> tensor<136x72xf32> {
  %0 = blockscale.matmul %a, %b : !fixed_point_a, !fixed_point_b -> tensor<136x72xf32>
  return %0 : tensor<136x72xf32>
}
