// Tiles in halves: where the epilogue would keep the next tile waiting, two instructions
// of 128 columns take three accumulators in turns.

// RUN: blockscale-opt %s -blockscale-legalize-scales -blockscale-select-schedule | FileCheck %s
// RUN: blockscale-opt %s -blockscale-legalize-scales -blockscale-select-schedule -blockscale-form-kernels -blockscale-expand-kernels -blockscale-assign-memory | FileCheck %s --check-prefix=KERNEL

!a = !blockscale.tensor<2048x4096xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!b = !blockscale.tensor<4096x4096xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>

// CHECK-LABEL: func.func @two_tiles
// CHECK: m = 256, n = 128, k = 64, cta_group = 2
// CHECK-SAME: tile_m = 256, tile_n = 256, tile_k = 256, stages = 6, scale_stages = 5, accumulators = 3

// KERNEL-LABEL: gpu.func @two_tiles
// Two pairs that share B load a slice of 32 rows each.
// KERNEL-SAME: box = [256, 64, 1]
// Scales behind the third accumulator.
// KERNEL: %[[SUMS:[0-9]+]] = blockscale.tmem_view {{.*}} column(0) {{.*}}<3x128x128xf32, #blockscale.tmem_accumulator>
// KERNEL: %[[SFA:[0-9]+]] = blockscale.tmem_view {{.*}} column(384) {{.*}}<128x16xi8
// KERNEL: %[[SFB:[0-9]+]] = blockscale.tmem_view {{.*}} column(400) {{.*}}<128x16xi8
// KERNEL: %[[RIGHT_SFB:[0-9]+]] = blockscale.tmem_view {{.*}} column(416) {{.*}}<128x16xi8

// 16 stages in 12 groups: the first one has two, the last one four, for which the
// ring has six stages.
// KERNEL: blockscale.wait %[[EMPTY:[0-9]+]][
// KERNEL: scf.for %[[GROUP:[a-z0-9]+]] = {{.*}} to %c12_i32
// KERNEL: %[[IS_FIRST:[0-9]+]] = arith.cmpi eq, %[[GROUP]], %c0_i32
// KERNEL: %[[IS_LAST:[0-9]+]] = arith.cmpi eq, %[[GROUP]], %c11_i32
// KERNEL: %[[OTHERS:[0-9]+]] = arith.select %[[IS_LAST]], %c4_i32{{[_0-9]*}}, %c1_i32
// KERNEL: %[[COUNT:[0-9]+]] = arith.select %[[IS_FIRST]], %c2_i32{{[_0-9]*}}, %[[OTHERS]]

// The left half of each, which the epilogue has before the right one is done.
// KERNEL: scf.for {{.*}} to %[[COUNT]]
// KERNEL: blockscale.wait %[[FULL:[0-9]+]][%[[STAGE:[a-z0-9]+]]] parity
// KERNEL: blockscale.copy_scales %[[SCALES:[0-9]+]][%{{[a-z0-9]+}}] to %[[SFA]]
// KERNEL: blockscale.copy_scales {{.*}} to %[[SFB]]
// KERNEL: blockscale.mma {{.*}} n = 128{{.*}}> %[[SUMS]][%[[LEFT:[a-z0-9]+]]], %{{[0-9]+}}, %{{[0-9]+}} stage %[[STAGE]] scales %[[SFA]], %[[SFB]] accumulate
// KERNEL: blockscale.commit %[[DONE:[0-9]+]][%[[LEFT]]]

// The right one, which waits for its accumulator once. What the left half of another
// stage has overwritten is copied again.
// KERNEL: scf.if %[[IS_FIRST]]
// KERNEL: blockscale.wait %[[EMPTY]][
// KERNEL: scf.for {{.*}} to %[[COUNT]]
// KERNEL: arith.cmpi ne, %[[COUNT]], %c1_i32
// KERNEL: blockscale.copy_scales %[[SCALES]][%[[AGAIN_SCALES:[a-z0-9]+]]] to %[[SFA]]
// KERNEL: blockscale.copy_scales {{.*}} to %[[RIGHT_SFB]]
// KERNEL: blockscale.commit %{{[0-9]+}}[%[[AGAIN_SCALES]]]
// KERNEL: blockscale.mma {{.*}}> %[[SUMS]][%[[RIGHT:[0-9]+]]], %{{[0-9]+}}, %{{[0-9]+}} stage %[[AGAIN:[a-z0-9]+]] scales %[[SFA]], %[[RIGHT_SFB]] accumulate
// KERNEL: blockscale.commit %{{[0-9]+}}[%[[AGAIN]]]
// KERNEL: blockscale.commit %[[DONE]][%[[RIGHT]]]

// One half after the other is loaded, 64 columns by each of eight warps, and stored in
// two parts.
// KERNEL: scf.for {{.*}} to %c2_i32
// KERNEL: blockscale.load_accumulator {{.*}} vector<64xf32>
// KERNEL: scf.for {{.*}} to %c2_i32
// KERNEL: blockscale.store_row {{.*}} vector<32xbf16>
// KERNEL-NOT: blockscale.load_accumulator
func.func @two_tiles(%a: !a, %b: !b) -> tensor<2048x4096xbf16> {
  %0 = blockscale.matmul %a, %b : !a, !b -> tensor<2048x4096xbf16>
  return %0 : tensor<2048x4096xbf16>
}
