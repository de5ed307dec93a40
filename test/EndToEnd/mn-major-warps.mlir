// Operands of 16 bits whose rows, not K, are contiguous in memory, on chips without tensor
// memory: fragments leave shared memory transposed. Row counts that fill groups of 64 and
// that do not, tiles narrower than a group, both sides and either one.

// REQUIRES: mlir
// RUN: blockscale verify %s --target=sm_120a --m=129 | FileCheck %s
// RUN: blockscale verify %s --target=sm_121a --m=72 --num-sms=3 --conditions=plain | FileCheck %s --check-prefix=OTHER

// CHECK-NOT: FAIL
// CHECK-COUNT-16: pass
// CHECK-NOT: {{FAIL|pass}}

// OTHER-NOT: FAIL
// OTHER-COUNT-16: pass
// OTHER-NOT: {{FAIL|pass}}

!a = !blockscale.tensor<200x328xbf16, order = mn_major>
!b = !blockscale.tensor<136x328xbf16, order = mn_major>
!a_lines = !blockscale.tensor<200x328xbf16>
!b_lines = !blockscale.tensor<136x328xbf16>

func.func @both(%a: !a, %b: !b) -> tensor<200x136xf32> {
  %d = blockscale.matmul %a, %b : !a, !b -> tensor<200x136xf32>
  return %d : tensor<200x136xf32>
}

func.func @wide(%a: !a, %b: !b) -> tensor<200x136xf32> {
  %d = blockscale.matmul %a, %b
      schedule(#blockscale.schedule<swap_operands = false, tile_n = 128>)
      : !a, !b -> tensor<200x136xf32>
  return %d : tensor<200x136xf32>
}

func.func @only_a(%a: !a, %b: !b_lines) -> tensor<200x136xbf16> {
  %d = blockscale.matmul %a, %b
      schedule(#blockscale.schedule<swap_operands = false, tile_n = 64>)
      : !a, !b_lines -> tensor<200x136xbf16>
  return %d : tensor<200x136xbf16>
}

// Eight tiles in two groups of columns.
func.func @only_b(%a: !a_lines, %b: !b) -> tensor<200x136xf16> {
  %d = blockscale.matmul %a, %b
      schedule(#blockscale.schedule<swap_operands = false, tile_n = 16, stages = 2>)
      : !a_lines, !b -> tensor<200x136xf16>
  return %d : tensor<200x136xf16>
}

!tokens = !blockscale.tensor<2x?x?xf16, order = mn_major>
!weights = !blockscale.tensor<2x320x?xf16, order = mn_major>
func.func @swapped(%a: !tokens, %b: !weights) -> tensor<2x?x320xf16> {
  %d = blockscale.matmul %a, %b
      schedule(#blockscale.schedule<swap_operands = true, tile_n = 32>)
      : !tokens, !weights -> tensor<2x?x320xf16>
  return %d : tensor<2x?x320xf16>
}

func.func @split(%a: !a, %b: !b) -> tensor<200x136xf32> {
  %d = blockscale.matmul %a, %b
      schedule(#blockscale.schedule<split_k = 3, tile_n = 64>)
      : !a, !b -> tensor<200x136xf32>
  return %d : tensor<200x136xf32>
}

// Beside one whose elements become bf16, and with scales of tiles along K.
!bytes = !blockscale.tensor<136x328xi8, "float32_t0">
func.func @beside_bytes(%a: !a, %b: !bytes) -> tensor<200x136xf32> {
  %d = blockscale.matmul %a, %b : !a, !bytes -> tensor<200x136xf32>
  return %d : tensor<200x136xf32>
}

!tiles = !blockscale.tensor<136x320xi8, "float32_t64">
!a_tiles = !blockscale.tensor<200x320xbf16, order = mn_major>
func.func @beside_tiles(%a: !a_tiles, %b: !tiles) -> tensor<200x136xf32> {
  %d = blockscale.matmul %a, %b : !a_tiles, !tiles -> tensor<200x136xf32>
  return %d : tensor<200x136xf32>
}
