// Extents that are known at launch only, without scales.

// REQUIRES: mlir
// RUN: blockscale verify %s --data=exact --num-sms=4 -m 1,17,129,300 -n 72,200 -k 64,200 | FileCheck %s

// CHECK-NOT: FAIL
// CHECK-COUNT-44: pass
// CHECK-NOT: {{FAIL|pass}}

!rows_a = !blockscale.tensor<?x296xf16, "n2m4", layout = tiled_128x4>
!rows_b = !blockscale.tensor<264x296xf16>
func.func @rows(%a: !rows_a, %b: !rows_b) -> tensor<?x264xf32> {
  %0 = blockscale.matmul %a, %b : !rows_a, !rows_b -> tensor<?x264xf32>
  return %0 : tensor<?x264xf32>
}

!rows_of_pairs_a = !blockscale.tensor<?x296xbf16, "n2m4", layout = tiled_128x4>
!rows_of_pairs_b = !blockscale.tensor<264x296xbf16>
func.func @rows_of_pairs(%a: !rows_of_pairs_a, %b: !rows_of_pairs_b) -> tensor<?x264xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 2>) : !rows_of_pairs_a, !rows_of_pairs_b -> tensor<?x264xf32>
  return %0 : tensor<?x264xf32>
}

!integer_rows_a = !blockscale.tensor<?x200xui8, "n2m4", layout = tiled_128x4>
!integer_rows_b = !blockscale.tensor<136x200xi8>
func.func @integer_rows(%a: !integer_rows_a, %b: !integer_rows_b) -> tensor<?x136xi32> {
  %0 = blockscale.matmul %a, %b : !integer_rows_a, !integer_rows_b -> tensor<?x136xi32>
  return %0 : tensor<?x136xi32>
}

!all_a = !blockscale.tensor<?x?xtf32, "n1m2", layout = tiled_128x4>
!all_b = !blockscale.tensor<?x?xtf32>
func.func @all(%a: !all_a, %b: !all_b) -> tensor<?x?xf32> {
  %0 = blockscale.matmul %a, %b : !all_a, !all_b -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

!all_bytes_a = !blockscale.tensor<?x?xf8E4M3FN, "n2m4", layout = tiled_128x4>
!all_bytes_b = !blockscale.tensor<?x?xf4E2M1FN>
func.func @all_bytes(%a: !all_bytes_a, %b: !all_bytes_b) -> tensor<?x?xf32> {
  %0 = blockscale.matmul %a, %b : !all_bytes_a, !all_bytes_b -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
