// How a kernel looks whose tiles are shared out: the shares and the whole tiles
// behind them, the part of K of each tile, and what the epilogue does with it.

// RUN: blockscale-opt %s -blockscale-form-kernels | FileCheck %s --check-prefix=FORM
// RUN: blockscale-opt %s -blockscale-form-kernels -blockscale-expand-kernels -canonicalize -cse | FileCheck %s

// Six tiles of 128 x 64, of which four shares leave two over: counters of those in
// 128 bytes, then eight times 32 KiB of sums.
// FORM: gpu.func @stream({{.*}}, %[[W:.*]]: !blockscale.global<f32> {blockscale.parameter = #blockscale.parameter<workspace>}
// FORM-SAME: blockscale.kernel = #blockscale.kernel<grid = ()[s0, s1, s2, s3, s4, s5] -> (4, s4), block = 192, workspace = ()[s0, s1, s2, s3, s4, s5] -> (128, 262272, 0)>
// FORM: blockscale.kernel_matmul {{.*}} workspace(%[[W]])
// FORM-SAME: stream_k = 4

// Fourteen stages: shares of 4, 4, 3 and 3. Items are these and four whole tiles.
// CHECK-LABEL: gpu.func @stream
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : i32
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : i32
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : i32
// CHECK-DAG: %[[C3:.*]] = arith.constant 3 : i32
// CHECK-DAG: %[[C4:.*]] = arith.constant 4 : i32
// CHECK-DAG: %[[C7:.*]] = arith.constant 7 : i32
// CHECK-DAG: %[[C8:.*]] = arith.constant 8 : i32
// CHECK: blockscale.warps "producer"
// CHECK: scf.for %[[ITEM:[a-z0-9]+]] = %{{.*}} to %[[C8]] step %{{.*}} iter_args
// CHECK: %[[LONGER:.*]] = arith.minui %[[ITEM]], %[[C2]]
// CHECK: %[[EACH:.*]] = arith.muli %[[ITEM]], %[[C3]]
// CHECK: %[[BEGIN:.*]] = arith.addi %[[EACH]], %[[LONGER]]
// CHECK: %[[IS_SHARE:.*]] = arith.cmpi ult, %[[ITEM]], %[[C4]]
// CHECK: %[[FROM:.*]] = arith.select %[[IS_SHARE]], %[[BEGIN]]
// CHECK: %[[FIRST:.*]] = arith.divui %[[FROM]], %[[C7]]
// CHECK: scf.for %[[TILE:[a-z0-9]+]] = %[[FIRST]] to
// CHECK: %[[BEFORE:.*]] = arith.muli %[[TILE]], %[[C7]]
// CHECK: %[[BEHIND:.*]] = arith.subi %[[FROM]], %[[BEFORE]]
// CHECK: %[[K:.*]] = arith.maxsi %[[BEHIND]], %[[C0]]
// CHECK: scf.for %{{.*}} = %[[K]] to
// CHECK: blockscale.warps "epilogue"
// CHECK: %[[OWN_FIRST:.*]] = arith.maxsi
// CHECK: %[[OWN_END:.*]] = arith.minsi
// CHECK: %[[SIZE:.*]] = arith.subi %[[OWN_END]], %[[OWN_FIRST]]
// CHECK: %[[WHOLE:.*]] = arith.cmpi eq, %[[SIZE]], %[[C7]]
// CHECK: scf.if %[[WHOLE]]
// CHECK: blockscale.load_accumulator
// CHECK: blockscale.store_row %{{.*}} to %{{.*}} : vector<32xf32> to <f32>
// CHECK: } else {
// CHECK: blockscale.load_accumulator
// CHECK: blockscale.store_row %{{.*}} to %[[WORK:.*]][%{{.*}}] count %{{.*}} aligned : vector<32xf32>
// CHECK: %[[LAST:.*]] = blockscale.count_arrival %[[WORK]][%{{.*}}] count %{{.*}} threads 128
// CHECK: scf.if %[[LAST]]
// CHECK: %[[ONE:.*]] = blockscale.load_row %[[WORK]]{{.*}} aligned
// CHECK: %[[TWO:.*]] = blockscale.load_row %[[WORK]]{{.*}} aligned
// CHECK: %[[SUM:.*]] = arith.addf %[[ONE]], %[[TWO]]
// CHECK: scf.for {{.*}} iter_args(%[[SO_FAR:.*]] = %[[SUM]])
// CHECK: %[[NEXT:.*]] = blockscale.load_row %[[WORK]]{{.*}} aligned
// CHECK: arith.addf %[[SO_FAR]], %[[NEXT]]
// CHECK: blockscale.store_row

!a = !blockscale.tensor<384x1792xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!b = !blockscale.tensor<128x1792xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @stream(%a: !a, %b: !b) -> tensor<384x128xf32> {
  %0 = blockscale.matmul %a, %b mma(<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 64, k = 64>) schedule(#blockscale.schedule<tile_m = 128, tile_n = 64, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8, stream_k = 4>) : !a, !b -> tensor<384x128xf32>
  return %0 : tensor<384x128xf32>
}
