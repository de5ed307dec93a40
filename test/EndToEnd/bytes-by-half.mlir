// Bytes on chips without an instruction of kind i8: multiplied as bf16, where f32 has every
// sum, and where the product allows for others to be rounded; dense, sparse, in groups and
// with operands swapped. On a chip with that kind the same where it is named.

// REQUIRES: mlir
// RUN: blockscale verify %s --target=sm_103a --num-sms=8 --m=130 | FileCheck %s
// RUN: blockscale verify %s --target=sm_107a --num-sms=6 --m=37 --data=random --seed=3 --conditions=harsh | FileCheck %s --check-prefix=ONCE
// RUN: blockscale verify %s --target=sm_100a --num-sms=8 --m=70 --data=exact | FileCheck %s --check-prefix=ONCE

// CHECK-NOT: FAIL
// CHECK-COUNT-12: pass
// CHECK-NOT: {{FAIL|pass}}

// ONCE-NOT: FAIL
// ONCE-COUNT-6: pass
// ONCE-NOT: {{FAIL|pass}}

!a = !blockscale.tensor<?x1024xi8, "float32_t0">
!b = !blockscale.tensor<96x1024xi8, "float32_t0">
func.func @channels(%a: !a, %b: !b) -> tensor<?x96xbf16> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = false>) : !a, !b -> tensor<?x96xbf16>
  return %0 : tensor<?x96xbf16>
}

func.func @swapped(%a: !a, %b: !b, %v: tensor<96xf32>) -> tensor<?x96xf32> {
  %0 = blockscale.matmul %a, %b bias(%v) activation(silu) schedule(#blockscale.schedule<swap_operands = true>) : !a, !b, tensor<96xf32> -> tensor<?x96xf32>
  return %0 : tensor<?x96xf32>
}

!plain = !blockscale.tensor<?x512xui8>
!signs = !blockscale.tensor<130x512xi8, "float32">
func.func @unsigned(%a: !plain, %b: !signs) -> tensor<?x130xf16> {
  %0 = blockscale.matmul %a, %b : !plain, !signs -> tensor<?x130xf16>
  return %0 : tensor<?x130xf16>
}

!sparse = !blockscale.tensor<?x512xi8, "float32_t0n2m4", layout = tiled_128x4>
!dense = !blockscale.tensor<96x512xi8, "float32_t0">
func.func @sparse(%a: !sparse, %b: !dense) -> tensor<?x96xbf16> {
  %0 = blockscale.matmul %a, %b : !sparse, !dense -> tensor<?x96xbf16>
  return %0 : tensor<?x96xbf16>
}

!experts = !blockscale.tensor<3x64x512xi8, "float32_t0">
!tokens = !blockscale.tensor<?x512xi8, "float32_t0">
func.func @groups(%a: !tokens, %b: !experts, %ends: tensor<3xi32>) -> tensor<?x64xbf16> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<3xi32>) : !tokens, !experts -> tensor<?x64xbf16>
  return %0 : tensor<?x64xbf16>
}

!long_a = !blockscale.tensor<?x2080xi8, "float32_t0">
!long_b = !blockscale.tensor<72x2080xi8, "float32_t0">
func.func @named(%a: !long_a, %b: !long_b) -> tensor<?x72xf32> {
  %0 = blockscale.matmul %a, %b mma(<kind = f16, a = bf16, b = bf16>) : !long_a, !long_b -> tensor<?x72xf32>
  return %0 : tensor<?x72xf32>
}
