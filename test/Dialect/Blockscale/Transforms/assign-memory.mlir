// RUN: blockscale-opt %s -blockscale-form-kernels -blockscale-expand-kernels -canonicalize -cse -blockscale-assign-memory | FileCheck %s
// RUN: blockscale-opt %s -blockscale-assign-memory | FileCheck %s --check-prefix=HAND

// What is declared first need not come first: 1024-byte rings do, then the rest in
// the order of the program.
!late = !blockscale.shared<1x8x128xi8, container = 8, swizzle = "128B">
// HAND-LABEL: func.func @by_alignment
// HAND-SAME: block = 32, shared_bytes = 1176>
func.func @by_alignment() attributes {blockscale.kernel = #blockscale.kernel<grid = ()[m, n, k, l, sms, clusters] -> (sms), block = 32>} {
  // HAND: blockscale.shared_alloc offset(1024) : <1x4xi8
  %0 = blockscale.shared_alloc : !blockscale.shared<1x4xi8, container = 8>
  // HAND: blockscale.shared_alloc offset(0) : <1x8x128xi8
  %1 = blockscale.shared_alloc : !late
  // HAND: blockscale.shared_alloc offset(1152) : <1x5xi8
  %2 = blockscale.shared_alloc : !blockscale.shared<1x5xi8, container = 8>
  // HAND: blockscale.barrier_alloc arrivals(1) offset(1160) : <2>
  %3 = blockscale.barrier_alloc arrivals(1) : !blockscale.barrier<2>
  return
}

// What is no kernel is left alone.
// HAND-LABEL: func.func @no_kernel
func.func @no_kernel() {
  // HAND: blockscale.shared_alloc : <1x4xi8
  %0 = blockscale.shared_alloc : !blockscale.shared<1x4xi8, container = 8>
  return
}

// Rings of 4 stages: 65536 bytes twice, 8192 of scales twice, the slot, and 8 bytes
// a barrier: 147456 + 8 + 32 + 32 + 8 + 16 + 16. Columns: 2 * 128, then 16 and 16.
!two_accumulators_a = !blockscale.tensor<8192x4096xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!two_accumulators_b = !blockscale.tensor<7168x4096xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @two_accumulators(%a: !two_accumulators_a, %b: !two_accumulators_b) -> tensor<8192x7168xbf16> {
  %0 = blockscale.matmul %a, %b mma(<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 128, k = 64>) schedule(#blockscale.schedule<tile_m = 128, tile_n = 128, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8>) : !two_accumulators_a, !two_accumulators_b -> tensor<8192x7168xbf16>
  return %0 : tensor<8192x7168xbf16>
}

// Overlapping accumulators end at column 208 + 256; 16 and 32 of scales fill the rest.
!overlap_a = !blockscale.tensor<8192x4096xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!overlap_b = !blockscale.tensor<7168x4096xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @overlap(%a: !overlap_a, %b: !overlap_b) -> tensor<8192x7168xbf16> {
  %0 = blockscale.matmul %a, %b mma(<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 256, k = 64>) schedule(#blockscale.schedule<tile_m = 128, tile_n = 256, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8>) : !overlap_a, !overlap_b -> tensor<8192x7168xbf16>
  return %0 : tensor<8192x7168xbf16>
}

// Scales of one word: 4 columns for A and 8 for B, which is what 512 lack.
!overlap_mxfp8_a = !blockscale.tensor<256x4096xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!overlap_mxfp8_b = !blockscale.tensor<512x4096xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @overlap_mxfp8(%a: !overlap_mxfp8_a, %b: !overlap_mxfp8_b) -> tensor<256x512xf32> {
  %0 = blockscale.matmul %a, %b mma(<kind = mxf8f6f4, a = e4m3, b = e4m3, scale = ue8m0, block = 32, m = 128, n = 256, k = 32>) schedule(#blockscale.schedule<tile_m = 128, tile_n = 256, tile_k = 128, stages = 4, accumulators = 2, swap_operands = false, group_m = 8>) : !overlap_mxfp8_a, !overlap_mxfp8_b -> tensor<256x512xf32>
  return %0 : tensor<256x512xf32>
}

// 8 columns, 4 and 4 of scales: the smallest allocation is 32.
!few_columns_a = !blockscale.tensor<256x4096xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!few_columns_b = !blockscale.tensor<8x4096xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @few_columns(%a: !few_columns_a, %b: !few_columns_b) -> tensor<256x8xf32> {
  %0 = blockscale.matmul %a, %b mma(<kind = mxf8f6f4, a = e4m3, b = e4m3, scale = ue8m0, block = 32, m = 128, n = 8, k = 32>) schedule(#blockscale.schedule<tile_m = 128, tile_n = 8, tile_k = 128, stages = 4, accumulators = 1, swap_operands = false, group_m = 8>) : !few_columns_a, !few_columns_b -> tensor<256x8xf32>
  return %0 : tensor<256x8xf32>
}

// 2 * 64 + 4 + 4 = 136 columns.
!next_power_a = !blockscale.tensor<256x4096xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!next_power_b = !blockscale.tensor<64x4096xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @next_power(%a: !next_power_a, %b: !next_power_b) -> tensor<256x64xf32> {
  %0 = blockscale.matmul %a, %b mma(<kind = mxf8f6f4, a = e4m3, b = e4m3, scale = ue8m0, block = 32, m = 128, n = 64, k = 32>) schedule(#blockscale.schedule<tile_m = 128, tile_n = 64, tile_k = 128, stages = 4, accumulators = 2, swap_operands = false, group_m = 8>) : !next_power_a, !next_power_b -> tensor<256x64xf32>
  return %0 : tensor<256x64xf32>
}

// The kernels follow all of the hosts.

// CHECK-LABEL: gpu.module @kernels

// CHECK-LABEL: gpu.func @two_accumulators(
// CHECK-SAME: shared_bytes = 147568, tensor_columns = 512>
// CHECK: blockscale.shared_alloc offset(0) : <4x128x256xf4E2M1FN
// CHECK: blockscale.shared_alloc offset(65536) : <4x128x256xf4E2M1FN
// CHECK: blockscale.shared_alloc offset(131072) : <4x1x4x512xi8
// CHECK: blockscale.shared_alloc offset(139264) : <4x1x4x512xi8
// CHECK: blockscale.barrier_alloc arrivals(1) offset(147464) : <4>
// CHECK: blockscale.barrier_alloc arrivals(1) offset(147496) : <4>
// CHECK: blockscale.shared_alloc offset(147456) : <1x1xi32
// CHECK: blockscale.barrier_alloc arrivals(1) offset(147528) : <1>
// CHECK: blockscale.barrier_alloc arrivals(1) offset(147536) : <2>
// CHECK: blockscale.barrier_alloc arrivals(4) offset(147552) : <2>
// CHECK: blockscale.tmem_alloc %{{.*}} columns(512)
// CHECK: blockscale.tmem_view %{{.*}} column(0) {{.*}} -> <2x128x128xf32
// CHECK: blockscale.tmem_view %{{.*}} column(256) {{.*}} -> <128x16xi8
// CHECK: blockscale.tmem_view %{{.*}} column(272) {{.*}} -> <128x16xi8
// CHECK: blockscale.tmem_dealloc %{{.*}} columns(512)

// CHECK-LABEL: gpu.func @overlap(
// CHECK-SAME: tensor_columns = 512>
// CHECK: blockscale.shared_alloc offset(0) : <4x128x256xf4E2M1FN
// CHECK: blockscale.shared_alloc offset(65536) : <4x256x256xf4E2M1FN
// CHECK: blockscale.shared_alloc offset(196608) : <4x1x4x512xi8
// CHECK: blockscale.shared_alloc offset(204800) : <4x2x4x512xi8
// CHECK: blockscale.shared_alloc offset(221184) : <1x1xi32
// CHECK: column(0) {{.*}} -> <2x128x256xf32
// CHECK: column(464) {{.*}} -> <128x16xi8
// CHECK: column(480) {{.*}} -> <256x16xi8

// CHECK-LABEL: gpu.func @overlap_mxfp8(
// CHECK: column(0) {{.*}} -> <2x128x256xf32, #blockscale.tmem_accumulator<copy_stride = 244>>
// CHECK: column(500) {{.*}} -> <128x4xi8, #blockscale.tmem_scales<word_stride = 4>>
// CHECK: column(504) {{.*}} -> <256x4xi8, #blockscale.tmem_scales<word_stride = 8>>

// CHECK-LABEL: gpu.func @few_columns(
// CHECK-SAME: tensor_columns = 32>
// CHECK: blockscale.shared_alloc offset(0) : <4x128x128xf8E4M3FN
// CHECK: blockscale.shared_alloc offset(65536) : <4x8x128xf8E4M3FN
// CHECK: blockscale.shared_alloc offset(69632) : <4x1x1x512xi8
// CHECK: blockscale.shared_alloc offset(71680) : <4x1x1x512xi8
// CHECK: column(0) {{.*}} -> <1x128x8xf32
// CHECK: column(8) {{.*}} -> <128x4xi8
// CHECK: column(12) {{.*}} -> <128x4xi8

// CHECK-LABEL: gpu.func @next_power(
// CHECK-SAME: tensor_columns = 256>
