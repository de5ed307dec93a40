// Roles, loops and instructions of a kernel without tensor memory.

// RUN: blockscale compile %s --target=sm_120a --emit=kernel | FileCheck %s
// RUN: blockscale compile %s --target=sm_120a --emit=kernel -o %t
// RUN: blockscale-opt %t | FileCheck %s
// RUN: grep -c blockscale.warp_mma %t | FileCheck %s --check-prefix=COUNT

!a = !blockscale.tensor<?x352xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!b = !blockscale.tensor<512x352xf6E3M2FN, "e8m0_t32", layout = tiled_128x4>

// Two K tiles of 128 in a loop and 96 behind it: 4 and 3 steps of 4 x 4
// instructions per warp.
// COUNT: {{^}}112{{$}}

// CHECK-LABEL: gpu.func @product
// CHECK-SAME: block = 288
// CHECK: %[[A:.*]] = blockscale.shared_alloc : <2x128x128xf8E4M3FN, container = 8, swizzle = "128B">
// CHECK: %[[B:.*]] = blockscale.shared_alloc : <2x128x128xf6E3M2FN, container = 8, swizzle = "128B">
// CHECK: %[[SFA:.*]] = blockscale.shared_alloc : <2x1x1x512xi8, container = 8>
// CHECK: %[[SFB:.*]] = blockscale.shared_alloc : <2x1x1x512xi8, container = 8>
// CHECK: %[[FULL:.*]] = blockscale.barrier_alloc arrivals(1)
// CHECK: %[[EMPTY:.*]] = blockscale.barrier_alloc arrivals(8)
// CHECK: gpu.barrier
// CHECK: blockscale.warps "producer" 8 to 9
// 16384 bytes of A, 12288 of B as TMA counts them, 2 x 512 of scales.
// CHECK: blockscale.arrive_expect %[[FULL]]{{.*}} bytes(29696)
// CHECK: blockscale.warps "consumer" 0 to 8
// CHECK: scf.for
// CHECK: scf.for {{.*}} = %c0_i32 to %c2_i32
// CHECK: blockscale.wait %[[FULL]]
// 64 rows of A are two registers of scales, 32 columns of B one.
// CHECK-COUNT-2: blockscale.load_warp_scales %[[SFA]]
// CHECK-COUNT-1: blockscale.load_warp_scales %[[SFB]]
// CHECK-COUNT-2: blockscale.load_b_fragments %[[B]]{{.*}} step 0
// CHECK: %[[A0:.*]] = blockscale.load_a_fragment %[[A]]{{.*}} tile 0 step 0
// CHECK: blockscale.warp_mma {{.*}} %[[A0]], {{.*}} tile 0, 0 step 0{{$}}
// CHECK-NOT: load_warp_scales
// CHECK: tile 3, 3 step 3{{$}}
// CHECK: blockscale.sync_warp
// CHECK-NEXT: scf.if
// CHECK-NEXT: blockscale.arrive %[[EMPTY]]
// CHECK: scf.yield
// The tail ends with the instruction that holds the last block of K.
// CHECK: blockscale.wait %[[FULL]]
// CHECK: tile 3, 3 step 2{{$}}
// CHECK-NOT: warp_mma
// CHECK: blockscale.arrive %[[EMPTY]]
// CHECK: blockscale.finish_fragments
// CHECK: blockscale.fragment_position
// CHECK-COUNT-32: blockscale.store_row
func.func @product(%a: !a, %b: !b) -> tensor<?x512xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 128, swap_operands = false>) : !a, !b -> tensor<?x512xf32>
  return %0 : tensor<?x512xf32>
}
