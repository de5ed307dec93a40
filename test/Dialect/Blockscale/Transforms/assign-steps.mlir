// RUN: blockscale-opt %s -blockscale-form-kernels -blockscale-expand-kernels -canonicalize -cse -blockscale-assign-steps | FileCheck %s
// RUN: blockscale-opt %s -blockscale-form-kernels -blockscale-expand-kernels -canonicalize -cse -blockscale-assign-steps -o %t.once.mlir
// RUN: blockscale-opt %t.once.mlir -blockscale-assign-steps -o %t.twice.mlir
// RUN: diff %t.once.mlir %t.twice.mlir

// One scale per instruction of K = 32: the ids count through one word.
!mxf8f6f4_a = !blockscale.tensor<256x4096xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!mxf8f6f4_b = !blockscale.tensor<512x4096xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @mxf8f6f4(%a: !mxf8f6f4_a, %b: !mxf8f6f4_b) -> tensor<256x512xf32> {
  %0 = blockscale.matmul %a, %b mma(<kind = mxf8f6f4, a = e4m3, b = e4m3, scale = ue8m0, block = 32, m = 128, n = 128, k = 32>) schedule(#blockscale.schedule<tile_m = 128, tile_n = 128, tile_k = 128, stages = 4, accumulators = 2, swap_operands = false, group_m = 8>) : !mxf8f6f4_a, !mxf8f6f4_b -> tensor<256x512xf32>
  return %0 : tensor<256x512xf32>
}

// Padded elements take a byte each, so the steps are the same.
!mxf8f6f4_padded_a = !blockscale.tensor<256x2816xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
!mxf8f6f4_padded_b = !blockscale.tensor<512x2816xf6E2M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @mxf8f6f4_padded(%a: !mxf8f6f4_padded_a, %b: !mxf8f6f4_padded_b) -> tensor<256x512xf32> {
  %0 = blockscale.matmul %a, %b mma(<kind = mxf8f6f4, a = e2m1, b = e2m3, scale = ue8m0, block = 32, m = 128, n = 256, k = 32>) schedule(#blockscale.schedule<tile_m = 128, tile_n = 256, tile_k = 128, stages = 4, accumulators = 2, swap_operands = false, group_m = 8>) : !mxf8f6f4_padded_a, !mxf8f6f4_padded_b -> tensor<256x512xf32>
  return %0 : tensor<256x512xf32>
}

// Two scales per instruction of K = 64: ids 0 and 2, then the next word.
!mxf4_a = !blockscale.tensor<256x4096xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
!mxf4_b = !blockscale.tensor<512x4096xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
func.func @mxf4(%a: !mxf4_a, %b: !mxf4_b) -> tensor<256x512xf32> {
  %0 = blockscale.matmul %a, %b mma(<kind = mxf4, a = e2m1, b = e2m1, scale = ue8m0, block = 32, m = 128, n = 128, k = 64>) schedule(#blockscale.schedule<tile_m = 128, tile_n = 128, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8>) : !mxf4_a, !mxf4_b -> tensor<256x512xf32>
  return %0 : tensor<256x512xf32>
}

// More than 128 columns: B's words lie 8 columns apart.
!mxf4_wide_a = !blockscale.tensor<256x4096xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
!mxf4_wide_b = !blockscale.tensor<512x4096xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
func.func @mxf4_wide(%a: !mxf4_wide_a, %b: !mxf4_wide_b) -> tensor<256x512xf32> {
  %0 = blockscale.matmul %a, %b mma(<kind = mxf4, a = e2m1, b = e2m1, scale = ue8m0, block = 32, m = 128, n = 192, k = 64>) schedule(#blockscale.schedule<tile_m = 128, tile_n = 192, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8>) : !mxf4_wide_a, !mxf4_wide_b -> tensor<256x512xf32>
  return %0 : tensor<256x512xf32>
}

// Four scales are a whole word: id 0 only.
!mxf4nvf4_a = !blockscale.tensor<8192x4096xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!mxf4nvf4_b = !blockscale.tensor<7168x4096xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @mxf4nvf4(%a: !mxf4nvf4_a, %b: !mxf4nvf4_b) -> tensor<8192x7168xbf16> {
  %0 = blockscale.matmul %a, %b mma(<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 128, k = 64>) schedule(#blockscale.schedule<tile_m = 128, tile_n = 128, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8>) : !mxf4nvf4_a, !mxf4nvf4_b -> tensor<8192x7168xbf16>
  return %0 : tensor<8192x7168xbf16>
}

!mxf4nvf4_wide_a = !blockscale.tensor<8192x4096xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!mxf4nvf4_wide_b = !blockscale.tensor<7168x4096xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @mxf4nvf4_wide(%a: !mxf4nvf4_wide_a, %b: !mxf4nvf4_wide_b) -> tensor<8192x7168xbf16> {
  %0 = blockscale.matmul %a, %b mma(<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 256, k = 64>) schedule(#blockscale.schedule<tile_m = 128, tile_n = 256, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8>) : !mxf4nvf4_wide_a, !mxf4nvf4_wide_b -> tensor<8192x7168xbf16>
  return %0 : tensor<8192x7168xbf16>
}

// 32 elements of K are 32 rows of 128 bytes.
!mn_major_a = !blockscale.tensor<256x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4, order = mn_major>
!mn_major_b = !blockscale.tensor<384x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4, order = mn_major>
func.func @mn_major(%a: !mn_major_a, %b: !mn_major_b) -> tensor<256x384xf32> {
  %0 = blockscale.matmul %a, %b mma(<kind = mxf8f6f4, a = e4m3, b = e4m3, scale = ue8m0, block = 32, m = 128, n = 192, k = 32, a_mn_major = true, b_mn_major = true>) schedule(#blockscale.schedule<tile_m = 128, tile_n = 192, tile_k = 128, stages = 4, accumulators = 2, swap_operands = false, group_m = 8>) : !mn_major_a, !mn_major_b -> tensor<256x384xf32>
  return %0 : tensor<256x384xf32>
}

// A known tail of 64 elements is two instructions.
!tail_a = !blockscale.tensor<256x2880xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!tail_b = !blockscale.tensor<512x2880xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @tail(%a: !tail_a, %b: !tail_b) -> tensor<256x512xf32> {
  %0 = blockscale.matmul %a, %b mma(<kind = mxf8f6f4, a = e4m3, b = e4m3, scale = ue8m0, block = 32, m = 128, n = 128, k = 32>) schedule(#blockscale.schedule<tile_m = 128, tile_n = 128, tile_k = 128, stages = 4, accumulators = 2, swap_operands = false, group_m = 8>) : !tail_a, !tail_b -> tensor<256x512xf32>
  return %0 : tensor<256x512xf32>
}

// 48 elements are one instruction of 64.
!ragged_tail_a = !blockscale.tensor<256x304xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!ragged_tail_b = !blockscale.tensor<512x304xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @ragged_tail(%a: !ragged_tail_a, %b: !ragged_tail_b) -> tensor<256x512xf32> {
  %0 = blockscale.matmul %a, %b mma(<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 128, k = 64>) schedule(#blockscale.schedule<tile_m = 128, tile_n = 128, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8>) : !ragged_tail_a, !ragged_tail_b -> tensor<256x512xf32>
  return %0 : tensor<256x512xf32>
}

// An unknown tail keeps all instructions, and the count that ends them.
!dynamic_tail_a = !blockscale.tensor<256x?xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
!dynamic_tail_b = !blockscale.tensor<512x?xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
func.func @dynamic_tail(%a: !dynamic_tail_a, %b: !dynamic_tail_b) -> tensor<256x512xf32> {
  %0 = blockscale.matmul %a, %b mma(<kind = mxf4, a = e2m1, b = e2m1, scale = ue8m0, block = 32, m = 128, n = 128, k = 64>) schedule(#blockscale.schedule<tile_m = 128, tile_n = 128, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8>) : !dynamic_tail_a, !dynamic_tail_b -> tensor<256x512xf32>
  return %0 : tensor<256x512xf32>
}

// The kernels follow all of the hosts.

// CHECK-LABEL: gpu.module @kernels

// CHECK-LABEL: gpu.func @mxf8f6f4(
// CHECK: blockscale.mma {{.*}} steps [#blockscale.step<a = 0, b = 0, sfa_column = 0, sfa_id = 0, sfb_column = 0, sfb_id = 0>, #blockscale.step<a = 32, b = 32, sfa_column = 0, sfa_id = 1, sfb_column = 0, sfb_id = 1>, #blockscale.step<a = 64, b = 64, sfa_column = 0, sfa_id = 2, sfb_column = 0, sfb_id = 2>, #blockscale.step<a = 96, b = 96, sfa_column = 0, sfa_id = 3, sfb_column = 0, sfb_id = 3>] :

// CHECK-LABEL: gpu.func @mxf8f6f4_padded(
// CHECK: blockscale.mma {{.*}} steps [#blockscale.step<a = 0, b = 0, sfa_column = 0, sfa_id = 0, sfb_column = 0, sfb_id = 0>, #blockscale.step<a = 32, b = 32, sfa_column = 0, sfa_id = 1, sfb_column = 0, sfb_id = 1>, #blockscale.step<a = 64, b = 64, sfa_column = 0, sfa_id = 2, sfb_column = 0, sfb_id = 2>, #blockscale.step<a = 96, b = 96, sfa_column = 0, sfa_id = 3, sfb_column = 0, sfb_id = 3>] :

// CHECK-LABEL: gpu.func @mxf4(
// CHECK: blockscale.mma {{.*}} steps [#blockscale.step<a = 0, b = 0, sfa_column = 0, sfa_id = 0, sfb_column = 0, sfb_id = 0>, #blockscale.step<a = 32, b = 32, sfa_column = 0, sfa_id = 2, sfb_column = 0, sfb_id = 2>, #blockscale.step<a = 64, b = 64, sfa_column = 4, sfa_id = 0, sfb_column = 4, sfb_id = 0>, #blockscale.step<a = 96, b = 96, sfa_column = 4, sfa_id = 2, sfb_column = 4, sfb_id = 2>] :

// CHECK-LABEL: gpu.func @mxf4_wide(
// CHECK: blockscale.mma {{.*}} steps [#blockscale.step<a = 0, b = 0, sfa_column = 0, sfa_id = 0, sfb_column = 0, sfb_id = 0>, #blockscale.step<a = 32, b = 32, sfa_column = 0, sfa_id = 2, sfb_column = 0, sfb_id = 2>, #blockscale.step<a = 64, b = 64, sfa_column = 4, sfa_id = 0, sfb_column = 8, sfb_id = 0>, #blockscale.step<a = 96, b = 96, sfa_column = 4, sfa_id = 2, sfb_column = 8, sfb_id = 2>] :

// CHECK-LABEL: gpu.func @mxf4nvf4(
// CHECK: blockscale.mma {{.*}} steps [#blockscale.step<a = 0, b = 0, sfa_column = 0, sfa_id = 0, sfb_column = 0, sfb_id = 0>, #blockscale.step<a = 32, b = 32, sfa_column = 4, sfa_id = 0, sfb_column = 4, sfb_id = 0>, #blockscale.step<a = 64, b = 64, sfa_column = 8, sfa_id = 0, sfb_column = 8, sfb_id = 0>, #blockscale.step<a = 96, b = 96, sfa_column = 12, sfa_id = 0, sfb_column = 12, sfb_id = 0>] :

// CHECK-LABEL: gpu.func @mxf4nvf4_wide(
// CHECK: blockscale.mma {{.*}} steps [#blockscale.step<a = 0, b = 0, sfa_column = 0, sfa_id = 0, sfb_column = 0, sfb_id = 0>, #blockscale.step<a = 32, b = 32, sfa_column = 4, sfa_id = 0, sfb_column = 8, sfb_id = 0>, #blockscale.step<a = 64, b = 64, sfa_column = 8, sfa_id = 0, sfb_column = 16, sfb_id = 0>, #blockscale.step<a = 96, b = 96, sfa_column = 12, sfa_id = 0, sfb_column = 24, sfb_id = 0>] :

// CHECK-LABEL: gpu.func @mn_major(
// CHECK: blockscale.mma {{.*}} steps [#blockscale.step<a = 0, b = 0, sfa_column = 0, sfa_id = 0, sfb_column = 0, sfb_id = 0>, #blockscale.step<a = 4096, b = 4096, sfa_column = 0, sfa_id = 1, sfb_column = 0, sfb_id = 1>, #blockscale.step<a = 8192, b = 8192, sfa_column = 0, sfa_id = 2, sfb_column = 0, sfb_id = 2>, #blockscale.step<a = 12288, b = 12288, sfa_column = 0, sfa_id = 3, sfb_column = 0, sfb_id = 3>] :

// CHECK-LABEL: gpu.func @tail(
// CHECK: blockscale.mma {{.*}}sfa_id = 3
// CHECK: blockscale.mma {{.*}} accumulate %true steps [#blockscale.step<a = 0, b = 0, sfa_column = 0, sfa_id = 0, sfb_column = 0, sfb_id = 0>, #blockscale.step<a = 32, b = 32, sfa_column = 0, sfa_id = 1, sfb_column = 0, sfb_id = 1>] :

// CHECK-LABEL: gpu.func @ragged_tail(
// CHECK: blockscale.mma {{.*}}sfa_column = 12
// CHECK: blockscale.mma {{.*}} accumulate %true steps [#blockscale.step<a = 0, b = 0, sfa_column = 0, sfa_id = 0, sfb_column = 0, sfb_id = 0>] :

// CHECK-LABEL: gpu.func @dynamic_tail(
// CHECK: blockscale.mma {{.*}}sfa_id = 2
// CHECK: blockscale.mma {{.*}} valid %{{[a-z0-9]+}} steps [#blockscale.step<a = 0, b = 0, sfa_column = 0, sfa_id = 0, sfb_column = 0, sfb_id = 0>, #blockscale.step<a = 32, b = 32, sfa_column = 0, sfa_id = 2, sfb_column = 0, sfb_id = 2>, #blockscale.step<a = 64, b = 64, sfa_column = 4, sfa_id = 0, sfb_column = 4, sfb_id = 0>, #blockscale.step<a = 96, b = 96, sfa_column = 4, sfa_id = 2, sfb_column = 4, sfb_id = 2>] :
