// How a kernel loads C by TMA: a tensor map in place of the pointer, a ring of
// boxes with a barrier for each, and stages that fit beside it.

// RUN: blockscale-opt %s -blockscale-legalize-scales -blockscale-select-schedule -blockscale-form-kernels | FileCheck %s --check-prefix=FORM
// RUN: blockscale-opt %s -blockscale-legalize-scales -blockscale-select-schedule -blockscale-form-kernels -blockscale-expand-kernels -canonicalize -cse | FileCheck %s

// A chunk of 32 columns of f32 is 128 bytes, by the 32 rows of a warp. D stays
// behind a pointer.
// FORM: gpu.func @matmul({{.*}}!blockscale.global<bf16> {blockscale.parameter = #blockscale.parameter<d>}
// FORM-SAME: %[[C:[a-z0-9]+]]: !blockscale.tensor_map<f32, dims = ()[s0, s1, s2, s3] -> (512, s0, 1), strides = ()[s0, s1, s2, s3] -> (2048, s0 * 2048), box = [32, 32, 1], swizzle = "128B"> {blockscale.parameter = #blockscale.parameter<c>}
// FORM: blockscale.kernel_matmul {{.*}} c(%[[C]])
// FORM-SAME: stages = 3,
// FORM-SAME: c_loads = tma

// Four boxes for each of four warps.
// CHECK-LABEL: gpu.func @matmul
// CHECK: %[[RING:.*]] = blockscale.shared_alloc : <16x32x32xf32, container = 32, swizzle = "128B">
// CHECK: %[[FULL:.*]] = blockscale.barrier_alloc arrivals(1) : <16>
// CHECK: blockscale.warps "epilogue"
// Eight chunks are two rounds, so that the parity is the same for each tile.
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %c0_i32, %{{.*}} = %c0_i32)
// CHECK: %[[LEADER:.*]] = blockscale.elect
// CHECK: blockscale.sync_warp
// CHECK-COUNT-4: blockscale.tma_load %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] to %[[RING]] signal %[[FULL]] stage
// The first boxes are under way before the sums are there.
// CHECK: blockscale.wait
// CHECK: scf.for %[[CHUNK:[a-z0-9]+]] = %c0_i32 to %c8_i32
// CHECK: blockscale.load_accumulator
// CHECK: %[[TURN:.*]] = arith.remui %[[CHUNK]], %c4_i32
// CHECK: %[[FIRST:.*]] = arith.muli %[[TURN]], %c4_i32
// CHECK: %[[BOX:.*]] = arith.addi %[[FIRST]], %{{.*}}
// CHECK: blockscale.wait %[[FULL]][%[[BOX]]] parity
// CHECK: blockscale.load_staged_row %[[RING]] stage %[[BOX]] : <16x32x32xf32, container = 32, swizzle = "128B"> -> vector<32xf32>
// The next one comes when all lanes have read theirs.
// CHECK: %[[NEXT:.*]] = arith.addi %[[CHUNK]], %c4_i32
// CHECK: arith.cmpi slt, %[[NEXT]], %c8_i32
// CHECK: blockscale.sync_warp
// CHECK: blockscale.arrive_expect %[[FULL]]
// CHECK: blockscale.tma_load
// CHECK-NOT: blockscale.load_row
// CHECK: blockscale.store_row

!a = !blockscale.tensor<?x2048xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!b = !blockscale.tensor<512x2048xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @matmul(%a: !a, %b: !b, %c: tensor<?x512xf32>) -> tensor<?x512xbf16> {
  %0 = blockscale.matmul %a, %b c(%c) schedule(#blockscale.schedule<cta_group = 1, tile_n = 256, swap_operands = false, c_loads = tma>) : !a, !b, tensor<?x512xf32> -> tensor<?x512xbf16>
  return %0 : tensor<?x512xbf16>
}
