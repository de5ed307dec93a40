// Scales of 1 of an operand that has none beside the other's: all threads store one stage
// of them before the roles begin, the issuer copies it to tensor memory once, before the
// first tile, and each stage brings and copies the scales of the other operand alone.

// RUN: blockscale-opt %s -blockscale-form-kernels -blockscale-expand-kernels -canonicalize -cse | FileCheck %s

!a = !blockscale.tensor<128x512xf8E4M3FN, "float32_t0">
!b = !blockscale.tensor<64x512xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
func.func @ones(%a: !a, %b: !b) -> tensor<128x64xf32> {
  %0 = blockscale.matmul %a, %b mma(<kind = mxf8f6f4, a = e4m3, b = e2m1, scale = ue8m0, block = 32, m = 128, n = 64, k = 32>) schedule(#blockscale.schedule<tile_m = 128, tile_n = 64, tile_k = 128, stages = 6, accumulators = 2, swap_operands = false, group_m = 8>) : !a, !b -> tensor<128x64xf32>
  return %0 : tensor<128x64xf32>
}

// CHECK-LABEL: gpu.func @ones
// CHECK-DAG: %[[CODES:.+]] = arith.constant dense<127> : vector<16xi8>
// CHECK-DAG: %[[NONE:.+]] = arith.constant 0 : i32
// CHECK: %[[SCALES:.+]] = blockscale.shared_alloc : <6x1x1x512xi8, container = 8>
// CHECK: %[[ONES:.+]] = blockscale.shared_alloc : <1x1x1x512xi8, container = 8>
// CHECK: blockscale.store_shared %[[CODES]] to %[[ONES]]
// CHECK: nvvm.fence.proxy
// CHECK: gpu.barrier

// The bytes of A and of B, in containers of 8 bits but counted as they lie, and one atom.
// CHECK: blockscale.warps "producer"
// CHECK: blockscale.tma_load {{.*}} %[[SCALES]]
// CHECK-NOT: %[[ONES]]
// CHECK: blockscale.warps "mma"
// CHECK: %[[LEADER:.+]] = blockscale.elect
// CHECK: scf.if %[[LEADER]]
// CHECK-NEXT: blockscale.copy_scales %[[ONES]][%[[NONE]]] to %[[SFA:.+]] :
// CHECK: scf.for
// CHECK: blockscale.copy_scales %[[SCALES]][{{.*}}] to %[[SFB:.+]] :
// CHECK-NOT: blockscale.copy_scales
// CHECK: blockscale.mma {{.*}} scales %[[SFA]], %[[SFB]]
