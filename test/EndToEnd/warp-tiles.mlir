// Kernels that multiply with mma.sync: every tile, so that warps stand in every
// arrangement, with operands in place and exchanged, on both chips; several
// tiles per CTA, each column of tiles at its own part of a group of 128 scale
// rows; and asynchronous loads that finish at random times.

// REQUIRES: mlir
// RUN: blockscale verify %s --target=sm_120a --num-sms=2 --m=129 --completion=random | FileCheck %s
// RUN: blockscale verify %s --target=sm_121a --num-sms=2 --m=33 --data=exact | FileCheck %s --check-prefix=ONCE
// RUN: blockscale verify %s --target=sm_120f --num-sms=1 --m=1 --data=exact --completion=latest | FileCheck %s --check-prefix=ONCE

// CHECK-NOT: FAIL
// CHECK-COUNT-16: pass
// CHECK-NOT: {{FAIL|pass}}

// ONCE-NOT: FAIL
// ONCE-COUNT-8: pass
// ONCE-NOT: {{FAIL|pass}}

!n128_a = !blockscale.tensor<?x288xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!n128_b = !blockscale.tensor<200x288xf6E2M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @n128(%a: !n128_a, %b: !n128_b) -> tensor<?x200xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 128, swap_operands = false>) : !n128_a, !n128_b -> tensor<?x200xf32>
  return %0 : tensor<?x200xf32>
}

!n128_swapped_a = !blockscale.tensor<?x288xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!n128_swapped_b = !blockscale.tensor<200x288xf6E2M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @n128_swapped(%a: !n128_swapped_a, %b: !n128_swapped_b) -> tensor<?x200xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 128, swap_operands = true>) : !n128_swapped_a, !n128_swapped_b -> tensor<?x200xf32>
  return %0 : tensor<?x200xf32>
}

!n64_a = !blockscale.tensor<?x544xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!n64_b = !blockscale.tensor<200x544xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @n64(%a: !n64_a, %b: !n64_b) -> tensor<?x200xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 64, swap_operands = false>) : !n64_a, !n64_b -> tensor<?x200xf32>
  return %0 : tensor<?x200xf32>
}

!n64_swapped_a = !blockscale.tensor<?x544xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!n64_swapped_b = !blockscale.tensor<200x544xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @n64_swapped(%a: !n64_swapped_a, %b: !n64_swapped_b) -> tensor<?x200xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 64, swap_operands = true>) : !n64_swapped_a, !n64_swapped_b -> tensor<?x200xf32>
  return %0 : tensor<?x200xf32>
}

!n32_a = !blockscale.tensor<?x160xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
!n32_b = !blockscale.tensor<200x160xf8E5M2, "e8m0_t32", layout = tiled_128x4>
func.func @n32(%a: !n32_a, %b: !n32_b) -> tensor<?x200xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 32, swap_operands = false>) : !n32_a, !n32_b -> tensor<?x200xf32>
  return %0 : tensor<?x200xf32>
}

!n32_swapped_a = !blockscale.tensor<?x160xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
!n32_swapped_b = !blockscale.tensor<200x160xf8E5M2, "e8m0_t32", layout = tiled_128x4>
func.func @n32_swapped(%a: !n32_swapped_a, %b: !n32_swapped_b) -> tensor<?x200xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 32, swap_operands = true>) : !n32_swapped_a, !n32_swapped_b -> tensor<?x200xf32>
  return %0 : tensor<?x200xf32>
}

!n16_a = !blockscale.tensor<?x336xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!n16_b = !blockscale.tensor<200x336xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
func.func @n16(%a: !n16_a, %b: !n16_b) -> tensor<?x200xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 16, swap_operands = false>) : !n16_a, !n16_b -> tensor<?x200xf32>
  return %0 : tensor<?x200xf32>
}

!n16_swapped_a = !blockscale.tensor<?x336xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!n16_swapped_b = !blockscale.tensor<200x336xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
func.func @n16_swapped(%a: !n16_swapped_a, %b: !n16_swapped_b) -> tensor<?x200xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 16, swap_operands = true>) : !n16_swapped_a, !n16_swapped_b -> tensor<?x200xf32>
  return %0 : tensor<?x200xf32>
}
