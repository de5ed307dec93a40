// Parts of a K that only the host knows: some may lie behind it.

// REQUIRES: mlir
// RUN: blockscale verify %s --data=exact --num-sms=16 --m=130 --k=128,640,1440 | FileCheck %s
// RUN: blockscale verify %s --num-sms=148 --m=130 --k=32,2080 --completion=latest | FileCheck %s --check-prefix=LATEST
// RUN: blockscale verify %s --data=exact --num-sms=24 --m=1 --k=1440 --completion=random | FileCheck %s --check-prefix=ONCE

// CHECK-NOT: FAIL
// CHECK-COUNT-21: pass
// CHECK-NOT: {{FAIL|pass}}

// LATEST-NOT: FAIL
// LATEST-COUNT-28: pass
// LATEST-NOT: {{FAIL|pass}}

// ONCE-NOT: FAIL
// ONCE-COUNT-7: pass
// ONCE-NOT: {{FAIL|pass}}

!late8 = !blockscale.tensor<?x?xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!weight8 = !blockscale.tensor<200x?xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @workspace(%a: !late8, %b: !weight8) -> tensor<?x200xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 1, swap_operands = false, tile_n = 64, split_k = 5, cluster_k = 1>) : !late8, !weight8 -> tensor<?x200xf32>
  return %0 : tensor<?x200xf32>
}

func.func @cluster(%a: !late8, %b: !weight8) -> tensor<?x200xbf16> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 1, swap_operands = false, tile_n = 64, split_k = 4, cluster_k = 4>) : !late8, !weight8 -> tensor<?x200xbf16>
  return %0 : tensor<?x200xbf16>
}

func.func @pair(%a: !late8, %b: !weight8) -> tensor<?x200xbf16> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 2, swap_operands = true, tile_n = 64, split_k = 3, cluster_k = 3>) : !late8, !weight8 -> tensor<?x200xbf16>
  return %0 : tensor<?x200xbf16>
}

!late4 = !blockscale.tensor<?x?xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!weight4 = !blockscale.tensor<136x?xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
func.func @shared(%a: !late4, %b: !weight4) -> tensor<?x136xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 1, cluster_m = 1, cluster_n = 2, swap_operands = false, tile_n = 64, split_k = 2, cluster_k = 2>) : !late4, !weight4 -> tensor<?x136xf32>
  return %0 : tensor<?x136xf32>
}

func.func @handed_out(%a: !late4, %b: !weight4) -> tensor<?x136xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 1, scheduler = dynamic, swap_operands = false, tile_n = 64, split_k = 6, cluster_k = 1>) : !late4, !weight4 -> tensor<?x136xf32>
  return %0 : tensor<?x136xf32>
}

// Rows that lie beside each other, so that K is outside.
!rows = !blockscale.tensor<?x?xf8E4M3FN, order = mn_major>
!columns = !blockscale.tensor<72x?xf8E5M2>
func.func @plain(%a: !rows, %b: !columns) -> tensor<?x72xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<split_k = 3, cluster_k = 1>) : !rows, !columns -> tensor<?x72xf32>
  return %0 : tensor<?x72xf32>
}

!whole = !blockscale.tensor<?x?xi8>
!integers = !blockscale.tensor<72x?xi8>
func.func @integers(%a: !whole, %b: !integers) -> tensor<?x72xi32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<split_k = 3, cluster_k = 3>) : !whole, !integers -> tensor<?x72xi32>
  return %0 : tensor<?x72xi32>
}
