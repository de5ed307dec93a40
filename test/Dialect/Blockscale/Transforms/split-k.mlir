// How a kernel whose K is split looks: the pieces of the work, the part of K of
// each, and what the epilogue does.

// RUN: blockscale-opt %s -blockscale-form-kernels | FileCheck %s --check-prefix=FORM
// RUN: blockscale-opt %s -blockscale-form-kernels -blockscale-expand-kernels -canonicalize -cse | FileCheck %s

// Two tiles of 128 x 64 in three parts each: counters in 128 bytes, then six times
// 32 KiB of sums.
// FORM: gpu.func @split({{.*}}, %[[W:.*]]: !blockscale.global<f32> {blockscale.parameter = #blockscale.parameter<workspace>}
// FORM-SAME: blockscale.kernel = #blockscale.kernel<grid = ()[s0, s1, s2, s3, s4, s5] -> (6, s4), block = 192, workspace = ()[s0, s1, s2, s3, s4, s5] -> (128, 196736, 3)>
// FORM: blockscale.kernel_matmul {{.*}} workspace(%[[W]])
// FORM-SAME: split_k = 3

// Seven stages: parts of 2, 2 and 3.
// CHECK-LABEL: gpu.func @split
// CHECK-DAG: %[[C3:.*]] = arith.constant 3 : i32
// CHECK-DAG: %[[C7:.*]] = arith.constant 7 : i32
// CHECK: blockscale.warps "producer"
// CHECK: scf.for %[[PIECE:[a-z0-9]+]] =
// CHECK-DAG: arith.divui %[[PIECE]], %[[C3]]
// CHECK-DAG: %[[PART:.*]] = arith.remui %[[PIECE]], %[[C3]]
// CHECK-DAG: %[[SCALED:.*]] = arith.muli %[[PART]], %[[C7]]
// CHECK-DAG: %[[BEGIN:.*]] = arith.divui %[[SCALED]], %[[C3]]
// CHECK: scf.for %{{.*}} = %[[BEGIN]] to
// CHECK: blockscale.warps "epilogue"
// CHECK: blockscale.load_accumulator
// CHECK: blockscale.store_row %{{.*}} to %[[WORK:.*]][%{{.*}}] count %{{.*}} aligned : vector<32xf32>
// CHECK: %[[LAST:.*]] = blockscale.count_arrival %[[WORK]][%{{.*}}] count %[[C3]] threads 128
// CHECK: scf.if %[[LAST]]
// CHECK: %[[FIRST:.*]] = blockscale.load_row %[[WORK]]{{.*}} aligned
// CHECK: %[[SECOND:.*]] = blockscale.load_row %[[WORK]]{{.*}} aligned
// CHECK: %[[THIRD:.*]] = blockscale.load_row %[[WORK]]{{.*}} aligned
// CHECK: %[[SUM:.*]] = arith.addf %[[FIRST]], %[[SECOND]]
// CHECK: arith.addf %[[SUM]], %[[THIRD]]
// CHECK: blockscale.store_row

!a = !blockscale.tensor<128x1792xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!b = !blockscale.tensor<128x1792xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @split(%a: !a, %b: !b) -> tensor<128x128xf32> {
  %0 = blockscale.matmul %a, %b mma(<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 64, k = 64>) schedule(#blockscale.schedule<tile_m = 128, tile_n = 64, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8, split_k = 3>) : !a, !b -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}
