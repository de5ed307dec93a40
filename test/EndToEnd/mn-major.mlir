// Operands whose rows, not K, are contiguous in memory: 8-bit types only. Row
// counts that fill groups of 128 and that do not; both sides and either one.

// REQUIRES: mlir
// RUN: blockscale verify %s --m=129 | FileCheck %s

// CHECK-NOT: FAIL
// CHECK-COUNT-8: pass
// CHECK-NOT: {{FAIL|pass}}

!a_mn = !blockscale.tensor<200x160xf8E4M3FN, "e8m0_t32", layout = tiled_128x4, order = mn_major>
!b_mn = !blockscale.tensor<144x160xf8E5M2, "e8m0_t32", layout = tiled_128x4, order = mn_major>
!a_k = !blockscale.tensor<200x160xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!b_k = !blockscale.tensor<144x160xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
!a_tokens = !blockscale.tensor<?x288xf8E5M2, "e8m0_t32", layout = tiled_128x4, order = mn_major>
!b_wide = !blockscale.tensor<320x288xf8E4M3FN, "e8m0_t32", layout = tiled_128x4, order = mn_major>

func.func @both(%a: !a_mn, %b: !b_mn) -> tensor<200x144xf32> {
  %d = blockscale.matmul %a, %b : !a_mn, !b_mn -> tensor<200x144xf32>
  return %d : tensor<200x144xf32>
}

func.func @only_a(%a: !a_mn, %b: !b_k) -> tensor<200x144xf32> {
  %d = blockscale.matmul %a, %b : !a_mn, !b_k -> tensor<200x144xf32>
  return %d : tensor<200x144xf32>
}

func.func @only_b(%a: !a_k, %b: !b_mn) -> tensor<200x144xbf16> {
  %d = blockscale.matmul %a, %b : !a_k, !b_mn -> tensor<200x144xbf16>
  return %d : tensor<200x144xbf16>
}

func.func @swapped(%a: !a_tokens, %b: !b_wide) -> tensor<?x320xf16> {
  %d = blockscale.matmul %a, %b
      schedule(#blockscale.schedule<tile_n = 64, swap_operands = true>)
      : !a_tokens, !b_wide -> tensor<?x320xf16>
  return %d : tensor<?x320xf16>
}
