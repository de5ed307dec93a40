// Tiles of more columns than an instruction has: chosen where they save a wave, and made
// of two instructions that share A.

// RUN: blockscale-opt %s -blockscale-legalize-scales -blockscale-select-schedule | FileCheck %s
// RUN: blockscale-opt %s -blockscale-legalize-scales -blockscale-select-schedule -blockscale-form-kernels -blockscale-expand-kernels -blockscale-assign-memory | FileCheck %s --check-prefix=KERNEL

!a = !blockscale.tensor<512x5120xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!b = !blockscale.tensor<10240x5120xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>

// CHECK-LABEL: func.func @one_wave
// CHECK: m = 256, n = 192, k = 64, cta_group = 2
// CHECK-SAME: tile_m = 256, tile_n = 320, tile_k = 256, stages = 5, accumulators = 2, swap_operands = false

// Boxes of 32 rows of B, three for the first instruction of a CTA and two for the other.
// KERNEL-LABEL: gpu.func @one_wave
// KERNEL-SAME: box = [256, 32, 1]
// KERNEL-COUNT-3: blockscale.tma_load {{.*}} to <5x96x256xf4E2M1FN
// KERNEL-COUNT-2: blockscale.tma_load {{.*}} to <5x64x256xf4E2M1FN
// Sums from every 64th column on, scales of B 12 columns a word.
// KERNEL: blockscale.tmem_view {{.*}}<5x128x192xf32, #blockscale.tmem_accumulator<copy_stride = 64>>
// KERNEL: blockscale.tmem_view {{.*}}<384x16xi8, #blockscale.tmem_scales<word_stride = 12>>
// KERNEL: blockscale.mma {{.*}} m = 256, n = 192, k = 64
// KERNEL: blockscale.mma {{.*}} m = 256, n = 128, k = 64
func.func @one_wave(%a: !a, %b: !b) -> tensor<512x10240xbf16> {
  %0 = blockscale.matmul %a, %b : !a, !b -> tensor<512x10240xbf16>
  return %0 : tensor<512x10240xbf16>
}
