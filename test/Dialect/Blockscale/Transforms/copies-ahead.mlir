// Where accumulators overlap, the main loop copies the scales of a tile's first stage
// before it waits for the epilogue to have read what the tile overwrites.

// RUN: blockscale-opt %s -blockscale-legalize-scales -blockscale-select-schedule -blockscale-form-kernels -blockscale-expand-kernels -canonicalize -cse | FileCheck %s

// CHECK-LABEL: gpu.func @overlap
// CHECK: %[[EMPTY:.*]] = blockscale.barrier_alloc arrivals(4) : <1>
// CHECK: blockscale.warps "producer"
// CHECK: blockscale.warps "mma"
// CHECK: scf.for %[[STAGE:[a-z0-9]+]] = %c0_i32 to %c8_i32
// CHECK: blockscale.copy_scales
// CHECK: blockscale.copy_scales
// CHECK: %[[IS_FIRST:.*]] = arith.cmpi eq, %[[STAGE]], %c0_i32
// CHECK: scf.if %[[IS_FIRST]]
// CHECK-NEXT: arith.xori
// CHECK-NEXT: blockscale.wait %[[EMPTY]][
// CHECK-NEXT: blockscale.tensor_fence{{ +}}after
// CHECK: blockscale.mma

// Two accumulators that fit: the wait is short, and stands in front of the loop.
// CHECK-LABEL: gpu.func @apart
// CHECK: blockscale.warps "producer"
// CHECK: blockscale.warps "mma"
// CHECK: blockscale.wait
// CHECK-NEXT: blockscale.tensor_fence{{ +}}after
// CHECK: scf.for {{.*}} to %c8_i32
// CHECK-NOT: scf.if {{.*}}blockscale.wait
// CHECK: blockscale.mma

!a = !blockscale.tensor<?x2048xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!b = !blockscale.tensor<512x2048xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @overlap(%a: !a, %b: !b) -> tensor<?x512xbf16> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 1, tile_n = 256, swap_operands = false>) : !a, !b -> tensor<?x512xbf16>
  return %0 : tensor<?x512xbf16>
}
func.func @apart(%a: !a, %b: !b) -> tensor<?x512xbf16> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 1, tile_n = 128, swap_operands = false>) : !a, !b -> tensor<?x512xbf16>
  return %0 : tensor<?x512xbf16>
}
