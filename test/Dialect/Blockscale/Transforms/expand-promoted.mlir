// An epilogue that multiplies the sums of blocks of K by scales of their own: the
// issuer fills an accumulator for each block, groups of four warps have 32 columns
// each, keep sums over all blocks and free an accumulator as soon as it is read.

// RUN: blockscale-opt %s -blockscale-form-kernels -blockscale-expand-kernels -canonicalize -cse | FileCheck %s

!a = !blockscale.tensor<128x512xf8E4M3FN, "float32_t128">
!b = !blockscale.tensor<64x512xf8E4M3FN, "float32_t128_t256">
func.func @blocks(%a: !a, %b: !b) -> tensor<128x64xf32> {
  %0 = blockscale.matmul %a, %b mma(<kind = f8f6f4, a = e4m3, b = e4m3, m = 128, n = 64, k = 32>) schedule(#blockscale.schedule<tile_m = 128, tile_n = 64, tile_k = 128, stages = 6, accumulators = 4, swap_operands = false, group_m = 8>) : !a, !b -> tensor<128x64xf32>
  return %0 : tensor<128x64xf32>
}

// CHECK-LABEL: gpu.func @blocks
// CHECK-SAME: block = 320
// CHECK-DAG: %[[NONE:.+]] = arith.constant 0 : i32
// CHECK-DAG: %[[ONE:.+]] = arith.constant 1 : i32
// CHECK-DAG: %[[TWO:.+]] = arith.constant 2 : i32
// CHECK-DAG: %[[BLOCKS:.+]] = arith.constant 4 : i32
// One arrival of each epilogue warp.
// CHECK: %[[FULL:.+]] = blockscale.barrier_alloc arrivals(1) : <4>
// CHECK: %[[EMPTY:.+]] = blockscale.barrier_alloc arrivals(8) : <4>

// CHECK: blockscale.warps "producer"
// CHECK: blockscale.warps "mma"
// CHECK: scf.for %[[FILLED:.+]] = %[[NONE]] to %[[BLOCKS]] step %[[ONE]] iter_args
// CHECK: blockscale.wait %[[EMPTY]]
// CHECK: scf.for %[[STAGE:.+]] = %[[FILLED]] to
// The first MMA of each block writes over what the accumulator had.
// CHECK: %[[ADDS:.+]] = arith.cmpi ne, %[[STAGE]], %[[FILLED]]
// CHECK: blockscale.mma {{.*}} accumulate %[[ADDS]]
// CHECK: blockscale.commit %[[FULL]]

// CHECK: blockscale.warps "epilogue" 0 to 8
// The scales of the first tile before all: those of a row for four blocks, and one of the
// two scales of B, for two blocks each, in a lane each.
// CHECK: %[[ROWS:.+]] = blockscale.load_row {{.*}} -> vector<4xf32>
// CHECK: %[[FIRST:.+]] = vector.extract %[[ROWS]][0]
// CHECK: %[[COLUMNS:.+]] = blockscale.load_row {{.*}} -> vector<1xf32>
// CHECK: %[[OWN:.+]] = vector.extract %[[COLUMNS]][0]
// CHECK: scf.for {{.*}} iter_args({{.*}} = {{.*}}, {{.*}} = {{.*}}, %[[ROW0:[^ ]+]] = %[[FIRST]], {{.*}}, {{.*}}, {{.*}}, %[[COLUMN0:[^ ]+]] = %[[OWN]])
// Those of the next tile are loaded before the sums of this one are added up.
// CHECK: blockscale.load_row {{.*}} -> vector<4xf32>
// CHECK: blockscale.load_row {{.*}} -> vector<1xf32>
// CHECK: scf.for %[[BLOCK:.+]] = %[[NONE]] to %[[BLOCKS]] step %[[ONE]] iter_args({{.*}} = {{.*}}, {{.*}} = {{.*}}, %[[SUMS:[^ ]+]] = {{[^,]+}}, %[[ROW:[^ ]+]] = %[[ROW0]], %[[SECOND:[^ ]+]] =
// CHECK: %[[NUMBER:.+]] = arith.divui %[[BLOCK]], %[[TWO]]
// CHECK: %[[LANE:.+]] = arith.remui %[[NUMBER]]
// CHECK: %[[COLUMN:.+]], %{{.+}} = gpu.shuffle idx %[[COLUMN0]], %[[LANE]]
// CHECK: blockscale.wait %[[FULL]]
// CHECK: %[[BOTH:.+]] = arith.mulf %[[ROW]], %[[COLUMN]]
// CHECK: %[[FACTOR:.+]] = vector.broadcast %[[BOTH]]
// CHECK: %[[LOADED:.+]] = blockscale.load_accumulator
// CHECK: blockscale.elect
// CHECK: blockscale.arrive %[[EMPTY]]
// CHECK: math.fma %[[LOADED]], %[[FACTOR]], %[[SUMS]] : vector<32xf32>
// The scale of the next block comes first then.
// CHECK: scf.yield {{[^,]+}}, {{[^,]+}}, {{[^,]+}}, %[[SECOND]],
// CHECK: blockscale.store_row
