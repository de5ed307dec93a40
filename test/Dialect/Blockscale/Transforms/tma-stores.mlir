// How a kernel stores D by TMA: a tensor map in place of the pointer, a ring of
// boxes, and stages that fit beside it.

// RUN: blockscale-opt %s -blockscale-legalize-scales -blockscale-select-schedule -blockscale-form-kernels | FileCheck %s --check-prefix=FORM
// RUN: blockscale-opt %s -blockscale-legalize-scales -blockscale-select-schedule -blockscale-form-kernels -blockscale-expand-kernels -canonicalize -cse | FileCheck %s

// A chunk of 32 columns of bf16 is 64 bytes, by the 32 rows of a warp.
// FORM: gpu.func @matmul({{.*}}%[[D:[a-z0-9]+]]: !blockscale.tensor_map<bf16, dims = ()[s0, s1, s2, s3] -> (512, s0, 1), strides = ()[s0, s1, s2, s3] -> (1024, s0 * 1024), box = [32, 32, 1], swizzle = "64B"> {blockscale.parameter = #blockscale.parameter<d>}
// FORM: blockscale.kernel_matmul {{.*}} d(%[[D]])
// FORM-SAME: stages = 3,
// FORM-SAME: stores = tma

// Two boxes for each of four warps.
// CHECK-LABEL: gpu.func @matmul
// CHECK: %[[RING:.*]] = blockscale.shared_alloc : <8x32x32xbf16, container = 16, swizzle = "64B">
// CHECK: blockscale.warps "epilogue"
// CHECK: scf.for %[[CHUNK:[a-z0-9]+]] = %c0_i32 to %c8_i32
// CHECK: blockscale.load_accumulator
// CHECK: %[[ROUNDED:.*]] = arith.truncf
// CHECK: %[[WARP:.*]] = arith.divui %{{.*}}, %c32_i32
// CHECK: %[[TURN:.*]] = arith.remui %[[CHUNK]], %c2_i32
// CHECK: %[[FIRST:.*]] = arith.muli %[[TURN]], %c4_i32
// CHECK: %[[BOX:.*]] = arith.addi %[[FIRST]], %[[WARP]]
// CHECK: blockscale.await_stores pending 1
// CHECK-NEXT: blockscale.stage_row %[[ROUNDED]] to %[[RING]] stage %[[BOX]] :
// CHECK-NEXT: blockscale.tma_store %[[RING]] stage %[[BOX]] to %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}]
// CHECK-NOT: blockscale.store_row
// CHECK: blockscale.await_stores pending 0

!a = !blockscale.tensor<?x2048xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!b = !blockscale.tensor<512x2048xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @matmul(%a: !a, %b: !b) -> tensor<?x512xbf16> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 1, tile_n = 256, swap_operands = false, stores = tma>) : !a, !b -> tensor<?x512xbf16>
  return %0 : tensor<?x512xbf16>
}
