// Products without scales by mma.sync: f16, bf16, tf32 and integers of 8 bits,
// with tails of M, N and K, batches, sizes known at launch, operands in place and
// exchanged, every tile, and factors of rows and columns behind integer sums.

// REQUIRES: mlir
// RUN: blockscale verify %s --target=sm_120a --num-sms=2 --m=129 --k=200 --completion=random | FileCheck %s
// RUN: blockscale verify %s --target=sm_121a --num-sms=3 --m=33 --k=77 --data=exact --completion=latest | FileCheck %s --check-prefix=ONCE
// RUN: blockscale verify %s --target=sm_120f --num-sms=1 --m=1 --k=8 --data=exact | FileCheck %s --check-prefix=ONCE

// CHECK-NOT: FAIL
// CHECK-COUNT-18: pass
// CHECK-NOT: {{FAIL|pass}}

// ONCE-NOT: FAIL
// ONCE-COUNT-9: pass
// ONCE-NOT: {{FAIL|pass}}

!bf16_a = !blockscale.tensor<130x328xbf16>
!bf16_b = !blockscale.tensor<144x328xbf16>
func.func @bf16(%a: !bf16_a, %b: !bf16_b) -> tensor<130x144xbf16> {
  %0 = blockscale.matmul %a, %b : !bf16_a, !bf16_b -> tensor<130x144xbf16>
  return %0 : tensor<130x144xbf16>
}

!f16_a = !blockscale.tensor<3x70x136xf16>
!f16_b = !blockscale.tensor<3x200x136xf16>
func.func @f16_batch(%a: !f16_a, %b: !f16_b) -> tensor<3x70x200xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 128, swap_operands = false>) : !f16_a, !f16_b -> tensor<3x70x200xf32>
  return %0 : tensor<3x70x200xf32>
}

!swapped_a = !blockscale.tensor<?x264xbf16>
!swapped_b = !blockscale.tensor<300x264xbf16>
func.func @bf16_swapped(%a: !swapped_a, %b: !swapped_b) -> tensor<?x300xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 16, swap_operands = true>) : !swapped_a, !swapped_b -> tensor<?x300xf32>
  return %0 : tensor<?x300xf32>
}

// M, N and K are known at launch; rows of 16-byte multiples are asked for.
!dynamic = !blockscale.tensor<?x?xf16>
func.func @f16_dynamic(%a: !dynamic, %b: !dynamic, %s: f32) -> tensor<?x?xf16> {
  %0 = blockscale.matmul %a, %b alpha(%s) schedule(#blockscale.schedule<tile_n = 32>) : !dynamic, !dynamic -> tensor<?x?xf16>
  return %0 : tensor<?x?xf16>
}

!tf32_a = !blockscale.tensor<66x84xtf32>
!tf32_b = !blockscale.tensor<40x84xtf32>
func.func @tf32(%a: !tf32_a, %b: !tf32_b, %v: tensor<40xf32>) -> tensor<66x40xf32> {
  %0 = blockscale.matmul %a, %b bias(%v) activation(relu) schedule(#blockscale.schedule<tile_n = 64>) : !tf32_a, !tf32_b, tensor<40xf32> -> tensor<66x40xf32>
  return %0 : tensor<66x40xf32>
}

!s8_a = !blockscale.tensor<150x464xi8>
!s8_b = !blockscale.tensor<88x464xi8>
func.func @s8(%a: !s8_a, %b: !s8_b) -> tensor<150x88xi32> {
  %0 = blockscale.matmul %a, %b : !s8_a, !s8_b -> tensor<150x88xi32>
  return %0 : tensor<150x88xi32>
}

!mixed_a = !blockscale.tensor<?x224xui8>
!mixed_b = !blockscale.tensor<88x224xi8>
func.func @mixed_signs(%a: !mixed_a, %b: !mixed_b) -> tensor<?x88xi32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 64, swap_operands = true>) : !mixed_a, !mixed_b -> tensor<?x88xi32>
  return %0 : tensor<?x88xi32>
}

// The commonest int8 recipe: a factor of each token and each channel.
!tokens = !blockscale.tensor<?x448xi8, "float32_t0">
!channels = !blockscale.tensor<120x448xi8, "float32_t0">
func.func @by_token_and_channel(%a: !tokens, %b: !channels) -> tensor<?x120xbf16> {
  %0 = blockscale.matmul %a, %b : !tokens, !channels -> tensor<?x120xbf16>
  return %0 : tensor<?x120xbf16>
}

!unsigned_a = !blockscale.tensor<66x96xui8>
!unsigned_b = !blockscale.tensor<130x96xui8>
func.func @u8(%a: !unsigned_a, %b: !unsigned_b) -> tensor<66x130xi32> {
  %0 = blockscale.matmul %a, %b : !unsigned_a, !unsigned_b -> tensor<66x130xi32>
  return %0 : tensor<66x130xi32>
}
