// RUN: blockscale-opt %s -blockscale-select-schedule | FileCheck %s
// RUN: blockscale-opt %s -blockscale-select-schedule=expected-rows=16 | FileCheck %s --check-prefix=FEW
// RUN: blockscale-opt %s -blockscale-select-schedule -o %t.once.mlir
// RUN: blockscale-opt %t.once.mlir -blockscale-select-schedule -o %t.twice.mlir
// RUN: diff %t.once.mlir %t.twice.mlir
// RUN: blockscale-opt %s -blockscale-attach-target=target=sm_110a -blockscale-select-schedule | FileCheck %s --check-prefix=TARGET
// RUN: blockscale-opt %s -blockscale-attach-target=target=sm_103a -blockscale-select-schedule | FileCheck %s --check-prefix=LONG

// TARGET: module attributes {blockscale.target = #blockscale.target<sm_110a>}

// A stage of 128x256x256: 16384 + 32768 bytes of nibbles, 2048 + 4096 of scales.
// 232448 bytes hold four of 55296.
!stages_256 = !blockscale.tensor<8192x8192xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
// CHECK-LABEL: func.func @stages_256
func.func @stages_256(%a: !stages_256, %b: !stages_256) -> tensor<8192x8192xbf16> {
  // CHECK: mma(<{{.*}}, m = 128, n = 256, k = 64>)
  // CHECK-SAME: schedule(#blockscale.schedule<tile_m = 128, tile_n = 256, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8, cta_group = 1, cluster_m = 1, cluster_n = 1, mma_k = {{[0-9]+}}, dependent_launch = true, epilogue_warps = 8>)
  %0 = blockscale.matmul %a, %b mma(<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16>) schedule(#blockscale.schedule<tile_n = 256, swap_operands = false, cta_group = 1, cluster_m = 1, cluster_n = 1>) : !stages_256, !stages_256 -> tensor<8192x8192xbf16>
  return %0 : tensor<8192x8192xbf16>
}

// 128x128x256: 16384 + 16384 + 2048 + 2048 = 36864 bytes, six times.
!stages_128 = !blockscale.tensor<8192x8192xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
// CHECK-LABEL: func.func @stages_128
func.func @stages_128(%a: !stages_128, %b: !stages_128) -> tensor<8192x8192xbf16> {
  // CHECK: mma(<{{.*}}, m = 128, n = 128, k = 64>)
  // CHECK-SAME: schedule(#blockscale.schedule<tile_m = 128, tile_n = 128, tile_k = 256, stages = 6, accumulators = 2, swap_operands = false, group_m = 8, cta_group = 1, cluster_m = 1, cluster_n = 1, mma_k = {{[0-9]+}}, dependent_launch = true>)
  %0 = blockscale.matmul %a, %b mma(<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16>) schedule(#blockscale.schedule<tile_n = 128, swap_operands = false, cta_group = 1, cluster_m = 1, cluster_n = 1>) : !stages_128, !stages_128 -> tensor<8192x8192xbf16>
  return %0 : tensor<8192x8192xbf16>
}

// 128x192x128 bytes: 16384 + 24576, and 512 + 1024 of scales: five stages of 42496.
!stages_mxfp8_a = !blockscale.tensor<8192x8192xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!stages_mxfp8_b = !blockscale.tensor<8192x8192xf8E5M2, "e8m0_t32", layout = tiled_128x4>
// CHECK-LABEL: func.func @stages_mxfp8
func.func @stages_mxfp8(%a: !stages_mxfp8_a, %b: !stages_mxfp8_b) -> tensor<8192x8192xbf16> {
  // CHECK: mma(<{{.*}}, m = 128, n = 192, k = 32>)
  // CHECK-SAME: schedule(#blockscale.schedule<tile_m = 128, tile_n = 192, tile_k = 128, stages = 5, accumulators = 2, swap_operands = false, group_m = 8, cta_group = 1, cluster_m = 1, cluster_n = 1, mma_k = {{[0-9]+}}, dependent_launch = true>)
  %0 = blockscale.matmul %a, %b mma(<kind = mxf8f6f4, a = e4m3, b = e5m2, scale = ue8m0, block = 32>) schedule(#blockscale.schedule<tile_n = 192, swap_operands = false, cta_group = 1, cluster_m = 1, cluster_n = 1>) : !stages_mxfp8_a, !stages_mxfp8_b -> tensor<8192x8192xbf16>
  return %0 : tensor<8192x8192xbf16>
}

// What the user chose stays.
!all_of_it = !blockscale.tensor<8192x8192xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
// CHECK-LABEL: func.func @all_of_it
func.func @all_of_it(%a: !all_of_it, %b: !all_of_it) -> tensor<8192x8192xbf16> {
  // CHECK: mma(<{{.*}}, m = 128, n = 64, k = 64>)
  // CHECK-SAME: schedule(#blockscale.schedule<tile_m = 128, tile_n = 64, tile_k = 256, stages = 3, accumulators = 1, swap_operands = true, group_m = 2, cta_group = 1, cluster_m = 1, cluster_n = 1, mma_k = {{[0-9]+}}, dependent_launch = true>)
  %0 = blockscale.matmul %a, %b mma(<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16>) schedule(#blockscale.schedule<tile_m = 128, tile_n = 64, tile_k = 256, stages = 3, accumulators = 1, swap_operands = true, group_m = 2>) {blockscale.target = #blockscale.target<sm_103a>} : !all_of_it, !all_of_it -> tensor<8192x8192xbf16>
  return %0 : tensor<8192x8192xbf16>
}

!swap_exchanges_types_a = !blockscale.tensor<8192x4096xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!swap_exchanges_types_b = !blockscale.tensor<8192x4096xf8E5M2, "e8m0_t32", layout = tiled_128x4>
// CHECK-LABEL: func.func @swap_exchanges_types
func.func @swap_exchanges_types(%a: !swap_exchanges_types_a, %b: !swap_exchanges_types_b) -> tensor<8192x8192xf32> {
  // CHECK: mma(<kind = mxf8f6f4, a = e5m2, b = e4m3, {{.*}}n = 64, k = 32>)
  %0 = blockscale.matmul %a, %b mma(<kind = mxf8f6f4, a = e4m3, b = e5m2, scale = ue8m0, block = 32>) schedule(#blockscale.schedule<swap_operands = true, tile_n = 64, cta_group = 1>) : !swap_exchanges_types_a, !swap_exchanges_types_b -> tensor<8192x8192xf32>
  return %0 : tensor<8192x8192xf32>
}

!swap_exchanges_majors_a = !blockscale.tensor<8192x4096xf8E4M3FN, "e8m0_t32", layout = tiled_128x4, order = mn_major>
!swap_exchanges_majors_b = !blockscale.tensor<8192x4096xf8E5M2, "e8m0_t32", layout = tiled_128x4>
// CHECK-LABEL: func.func @swap_exchanges_majors
func.func @swap_exchanges_majors(%a: !swap_exchanges_majors_a, %b: !swap_exchanges_majors_b) -> tensor<8192x8192xf32> {
  // CHECK: mma(<kind = mxf8f6f4, a = e5m2, b = e4m3, {{.*}}n = 64, k = 32, b_mn_major = true>)
  %0 = blockscale.matmul %a, %b mma(<kind = mxf8f6f4, a = e4m3, b = e5m2, scale = ue8m0, block = 32, a_mn_major = true>) schedule(#blockscale.schedule<swap_operands = true, tile_n = 64, cta_group = 1>) : !swap_exchanges_majors_a, !swap_exchanges_majors_b -> tensor<8192x8192xf32>
  return %0 : tensor<8192x8192xf32>
}

// Eight rows would waste 120 lanes; swapped they are the N of the instruction.
!few_rows_a = !blockscale.tensor<8x4096xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!few_rows_b = !blockscale.tensor<7168x4096xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
// CHECK-LABEL: func.func @few_rows
func.func @few_rows(%a: !few_rows_a, %b: !few_rows_b) -> tensor<8x7168xbf16> {
  // CHECK: mma(<{{.*}}, m = 128, n = 8, k = 64>)
  // CHECK-SAME: schedule(#blockscale.schedule<tile_m = 128, tile_n = 8, tile_k = 256, stages = {{[0-9]+}}, accumulators = 2, swap_operands = true, group_m = 8, cta_group = 1, cluster_m = 1, cluster_n = 1, mma_k = {{[0-9]+}}, dependent_launch = true>)
  %0 = blockscale.matmul %a, %b mma(<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16>) : !few_rows_a, !few_rows_b -> tensor<8x7168xbf16>
  return %0 : tensor<8x7168xbf16>
}

!few_columns_a = !blockscale.tensor<7168x4096xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!few_columns_b = !blockscale.tensor<8x4096xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
// CHECK-LABEL: func.func @few_columns
func.func @few_columns(%a: !few_columns_a, %b: !few_columns_b) -> tensor<7168x8xbf16> {
  // CHECK: mma(<{{.*}}, m = 128, n = 8, k = 64>)
  // CHECK-SAME: schedule(#blockscale.schedule<tile_m = 128, tile_n = 8, tile_k = 256, stages = {{[0-9]+}}, accumulators = 2, swap_operands = false, group_m = 8, cta_group = 1, cluster_m = 1, cluster_n = 1, mma_k = {{[0-9]+}}, dependent_launch = true>)
  %0 = blockscale.matmul %a, %b mma(<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16>) : !few_columns_a, !few_columns_b -> tensor<7168x8xbf16>
  return %0 : tensor<7168x8xbf16>
}

// One tile covers N = 72, so no second one starts inside a group of scales.
!odd_tile_for_one_tile_a = !blockscale.tensor<1024x4096xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!odd_tile_for_one_tile_b = !blockscale.tensor<72x4096xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
// CHECK-LABEL: func.func @odd_tile_for_one_tile
func.func @odd_tile_for_one_tile(%a: !odd_tile_for_one_tile_a, %b: !odd_tile_for_one_tile_b) -> tensor<1024x72xbf16> {
  // CHECK: mma(<{{.*}}, m = 128, n = 72, k = 64>)
  // CHECK-SAME: schedule(#blockscale.schedule<tile_m = 128, tile_n = 72, tile_k = 256, stages = {{[0-9]+}}, accumulators = 2, swap_operands = false, group_m = 8, cta_group = 1, cluster_m = 1, cluster_n = 1, mma_k = {{[0-9]+}}, split_k = 1, dependent_launch = true>)
  %0 = blockscale.matmul %a, %b mma(<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16>) schedule(#blockscale.schedule<tile_n = 72, swap_operands = false, cta_group = 1, cluster_m = 1, cluster_n = 1, split_k = 1>) : !odd_tile_for_one_tile_a, !odd_tile_for_one_tile_b -> tensor<1024x72xbf16>
  return %0 : tensor<1024x72xbf16>
}

// An N-major B takes N in steps of 16.
!mn_major_step_a = !blockscale.tensor<1024x4096xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!mn_major_step_b = !blockscale.tensor<8x4096xf8E4M3FN, "e8m0_t32", layout = tiled_128x4, order = mn_major>
// CHECK-LABEL: func.func @mn_major_step
func.func @mn_major_step(%a: !mn_major_step_a, %b: !mn_major_step_b) -> tensor<1024x8xf32> {
  // CHECK: mma(<{{.*}}m = 128, n = 16, k = 32, b_mn_major = true>)
  %0 = blockscale.matmul %a, %b mma(<kind = mxf8f6f4, a = e4m3, b = e4m3, scale = ue8m0, block = 32, b_mn_major = true>) schedule(#blockscale.schedule<swap_operands = false, cta_group = 1, cluster_m = 1, cluster_n = 1>) : !mn_major_step_a, !mn_major_step_b -> tensor<1024x8xf32>
  return %0 : tensor<1024x8xf32>
}

// Any number of rows may come; the cost model is told how many to expect.
// FEW-LABEL: func.func @dynamic_rows
!dynamic_rows_a = !blockscale.tensor<?x4096xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!dynamic_rows_b = !blockscale.tensor<7168x4096xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
// CHECK-LABEL: func.func @dynamic_rows
func.func @dynamic_rows(%a: !dynamic_rows_a, %b: !dynamic_rows_b) -> tensor<?x7168xbf16> {
  // CHECK: tile_n = {{128|192|256|320|384}}, tile_k = 256
  // FEW: tile_n = 64, tile_k = 256
  %0 = blockscale.matmul %a, %b mma(<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16>) : !dynamic_rows_a, !dynamic_rows_b -> tensor<?x7168xbf16>
  return %0 : tensor<?x7168xbf16>
}

!dynamic_everything = !blockscale.tensor<?x?x?xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
// CHECK-LABEL: func.func @dynamic_everything
func.func @dynamic_everything(%a: !dynamic_everything, %b: !dynamic_everything) -> tensor<?x?x?xbf16> {
  // CHECK: mma(<{{.*}}, m = 256, n = {{64|128|192|256}}, k = 64, cta_group = 2>)
  // CHECK-SAME: schedule(#blockscale.schedule<tile_m = 256, tile_n = {{64|128|192|256}}, tile_k = 256, stages = {{[0-9]+}}, accumulators = {{2|3}}, swap_operands = {{true|false}}, group_m = 8, cta_group = 2, cluster_m = 2, cluster_n = {{1|2}}, mma_k = {{[0-9]+}}, dependent_launch = true{{(, epilogue_warps = 8)?}}>)
  %0 = blockscale.matmul %a, %b mma(<kind = mxf4, a = e2m1, b = e2m1, scale = ue8m0, block = 32>) : !dynamic_everything, !dynamic_everything -> tensor<?x?x?xbf16>
  return %0 : tensor<?x?x?xbf16>
}

// A big product takes pairs of CTAs, which halve the traffic of B. A stage of a
// CTA is 16384 + 16384 bytes of nibbles, 2048 + 4096 of scales: five of 38912, or six
// of 32768 beside five of 6144.
!big = !blockscale.tensor<8192x8192xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
// CHECK-LABEL: func.func @big
// LONG-LABEL: func.func @big
func.func @big(%a: !big, %b: !big) -> tensor<8192x8192xbf16> {
  // CHECK: mma(<{{.*}}, m = 256, n = 256, k = 64, cta_group = 2>)
  // CHECK-SAME: tile_m = 256, tile_n = 256, tile_k = 256, stages = 6, scale_stages = 5, accumulators = 2, {{.*}}cta_group = 2, cluster_m = 2, cluster_n = 1, mma_k = 64, dependent_launch = true, epilogue_warps = 8>
  // On sm_103a, K = 96: as many cycles as K = 64 at this N.
  // LONG: mma(<{{.*}}, m = 256, n = 256, k = 96, cta_group = 2>)
  %0 = blockscale.matmul %a, %b mma(<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16>) : !big, !big -> tensor<8192x8192xbf16>
  return %0 : tensor<8192x8192xbf16>
}

// 8-bit kinds have no K = 96.
!big8 = !blockscale.tensor<8192x8192xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
// LONG-LABEL: func.func @big8
func.func @big8(%a: !big8, %b: !big8) -> tensor<8192x8192xbf16> {
  // LONG: mma(<{{.*}}, m = 256, n = 256, k = 32, cta_group = 2>)
  %0 = blockscale.matmul %a, %b mma(<kind = mxf8f6f4, a = e4m3, b = e4m3, scale = ue8m0, block = 32>) : !big8, !big8 -> tensor<8192x8192xbf16>
  return %0 : tensor<8192x8192xbf16>
}

// Of a pair with 96 columns, K = 96 takes 71 cycles and K = 64 takes 49: not
// worth it for a K that K = 64 divides and K = 96 does not.
!narrow_a = !blockscale.tensor<8192x64xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!narrow_b = !blockscale.tensor<96x64xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
// LONG-LABEL: func.func @narrow
func.func @narrow(%a: !narrow_a, %b: !narrow_b) -> tensor<8192x96xbf16> {
  // LONG: k = 64
  %0 = blockscale.matmul %a, %b mma(<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16>) schedule(#blockscale.schedule<tile_n = 96, swap_operands = false>) : !narrow_a, !narrow_b -> tensor<8192x96xbf16>
  return %0 : tensor<8192x96xbf16>
}

// A cluster along M would idle half of its CTAs where there is one row of tiles.
!one_row_a = !blockscale.tensor<64x8192xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
!one_row_b = !blockscale.tensor<8192x8192xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
// CHECK-LABEL: func.func @one_row
func.func @one_row(%a: !one_row_a, %b: !one_row_b) -> tensor<64x8192xbf16> {
  // CHECK: cta_group = 1, cluster_m = 1,
  %0 = blockscale.matmul %a, %b mma(<kind = mxf4, a = e2m1, b = e2m1, scale = ue8m0, block = 32>) schedule(#blockscale.schedule<swap_operands = false>) : !one_row_a, !one_row_b -> tensor<64x8192xbf16>
  return %0 : tensor<64x8192xbf16>
}
