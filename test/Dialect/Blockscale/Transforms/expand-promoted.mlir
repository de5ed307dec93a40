// An epilogue that multiplies the sums of blocks of K by scales of their own: the
// issuer fills an accumulator for each block, a warp of its own brings its scales to
// shared memory, groups of four warps have 32 columns each, keep sums over all blocks
// and free an accumulator as soon as it is read.

// RUN: blockscale-opt %s -blockscale-form-kernels -blockscale-expand-kernels -canonicalize -cse | FileCheck %s

!a = !blockscale.tensor<128x512xf8E4M3FN, "float32_t128">
!b = !blockscale.tensor<64x512xf8E4M3FN, "float32_t128_t256">
func.func @blocks(%a: !a, %b: !b) -> tensor<128x64xf32> {
  %0 = blockscale.matmul %a, %b mma(<kind = f8f6f4, a = e4m3, b = e4m3, m = 128, n = 64, k = 32>) schedule(#blockscale.schedule<tile_m = 128, tile_n = 64, tile_k = 128, stages = 6, accumulators = 4, swap_operands = false, group_m = 8>) : !a, !b -> tensor<128x64xf32>
  return %0 : tensor<128x64xf32>
}

// CHECK-LABEL: gpu.func @blocks
// CHECK-SAME: block = 352
// CHECK-DAG: %[[NONE:.+]] = arith.constant 0 : i32
// CHECK-DAG: %[[ONE:.+]] = arith.constant 1 : i32
// CHECK-DAG: %[[TWO:.+]] = arith.constant 2 : i32
// CHECK-DAG: %[[BLOCKS:.+]] = arith.constant 4 : i32
// One arrival of the instructions and one of the scales; one of each epilogue warp.
// CHECK: %[[FULL:.+]] = blockscale.barrier_alloc arrivals(2) : <4>
// CHECK: %[[EMPTY:.+]] = blockscale.barrier_alloc arrivals(8) : <4>
// CHECK: %[[RING:.+]] = blockscale.shared_alloc : <1x512xf32, container = 32>
// CHECK: %[[READ:.+]] = blockscale.barrier_alloc arrivals(8) : <4>

// CHECK: blockscale.warps "producer"

// Lanes have four rows each, of which they load the scales of four blocks, and one of the
// two scales of B, for two blocks each, which is multiplied by them. Those of the first
// tile come before all, and do not wait for tensor memory, which the other roles need.
// CHECK: blockscale.warps "factors" 10 to 11
// CHECK: %[[ROWS:.+]] = blockscale.load_row {{.*}} -> vector<4xf32>
// CHECK: %[[FIRST0:.+]] = vector.extract %[[ROWS]][0]
// CHECK: %[[FIRST1:.+]] = vector.extract %[[ROWS]][1]
// CHECK-COUNT-3: blockscale.load_row {{.*}} -> vector<4xf32>
// CHECK: %[[COLUMNS:.+]] = blockscale.load_row {{.*}} -> vector<1xf32>
// CHECK: %[[OWN:.+]] = vector.extract %[[COLUMNS]][0]
// CHECK: scf.for {{.*}} %[[ROW0:[^ ]+]] = %[[FIRST0]], %[[NEXT0:[^ ]+]] = %[[FIRST1]], {{.*}}, %[[COLUMN:[^ ]+]] = %[[OWN]])
// CHECK: blockscale.wait %[[READ]]
// CHECK: %[[ALL:.+]], %{{.+}} = gpu.shuffle idx %[[COLUMN]], %[[NONE]]
// CHECK: %[[BOTH0:.+]] = arith.mulf %[[ROW0]], %[[ALL]]
// CHECK: %[[STORED0:.+]] = vector.broadcast %[[BOTH0]]
// CHECK: blockscale.store_shared %[[STORED0]] to %[[RING]]
// CHECK-COUNT-3: blockscale.store_shared {{.*}} to %[[RING]]
// CHECK: blockscale.sync_warp
// CHECK: blockscale.elect
// CHECK: blockscale.arrive %[[FULL]]
// Those of the next tile, if there is one, while those of this one are written.
// CHECK: %[[IS_NEXT:.+]] = arith.cmpi ult
// CHECK-COUNT-4: blockscale.load_row {{.*}} -> vector<4xf32>
// CHECK: blockscale.load_row {{.*}} -> vector<1xf32>
// CHECK: blockscale.wait %[[READ]]
// CHECK: %[[ALL1:.+]], %{{.+}} = gpu.shuffle idx %[[COLUMN]], %[[ONE]]
// CHECK: arith.mulf %[[NEXT0]], %[[ALL1]]

// CHECK: blockscale.warps "mma"
// CHECK: scf.for %[[FILLED:.+]] = %[[NONE]] to %[[BLOCKS]] step %[[ONE]] iter_args
// CHECK: blockscale.wait %[[EMPTY]]
// CHECK: scf.for %[[STAGE:.+]] = %[[FILLED]] to
// The first MMA of each block writes over what the accumulator had.
// CHECK: %[[ADDS:.+]] = arith.cmpi ne, %[[STAGE]], %[[FILLED]]
// CHECK: blockscale.mma {{.*}} accumulate %[[ADDS]]
// CHECK: blockscale.commit %[[FULL]]

// CHECK: blockscale.warps "epilogue" 0 to 8
// CHECK: scf.for {{.*}} = %[[NONE]] to %[[BLOCKS]] step %[[ONE]] iter_args({{.*}} = {{.*}}, {{.*}} = {{.*}}, %[[SUMS:[^ ]+]] = {{[^,]+}})
// CHECK: blockscale.wait %[[FULL]]
// CHECK: %[[OWN:.+]] = blockscale.load_shared %[[RING]]
// CHECK: %[[FACTOR:.+]] = vector.broadcast
// CHECK: %[[LOADED:.+]] = blockscale.load_accumulator
// CHECK: blockscale.sync_warp
// CHECK: blockscale.elect
// CHECK: blockscale.arrive %[[EMPTY]]
// CHECK: blockscale.arrive %[[READ]]
// CHECK: math.fma %[[LOADED]], %[[FACTOR]], %[[SUMS]] : vector<32xf32>
// CHECK: blockscale.store_row
