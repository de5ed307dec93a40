// RUN: blockscale-opt %s -blockscale-form-kernels -blockscale-expand-kernels -canonicalize -cse | FileCheck %s

!protocol_a = !blockscale.tensor<8192x4096xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!protocol_b = !blockscale.tensor<7168x4096xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @protocol(%a: !protocol_a, %b: !protocol_b) -> tensor<8192x7168xbf16> {
  %0 = blockscale.matmul %a, %b mma(<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 128, k = 64>) schedule(#blockscale.schedule<tile_m = 128, tile_n = 128, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8>) : !protocol_a, !protocol_b -> tensor<8192x7168xbf16>
  return %0 : tensor<8192x7168xbf16>
}

// Two accumulators of 256 columns and 16 + 32 of scales are 48 more than there are:
// the accumulators share 48 columns, and the MMA waits for those alone.
!overlap_a = !blockscale.tensor<8192x4096xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!overlap_b = !blockscale.tensor<7168x4096xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @overlap(%a: !overlap_a, %b: !overlap_b) -> tensor<8192x7168xbf16> {
  %0 = blockscale.matmul %a, %b mma(<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 256, k = 64>) schedule(#blockscale.schedule<tile_m = 128, tile_n = 256, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8>) : !overlap_a, !overlap_b -> tensor<8192x7168xbf16>
  return %0 : tensor<8192x7168xbf16>
}

!one_accumulator_a = !blockscale.tensor<8192x4096xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!one_accumulator_b = !blockscale.tensor<7168x4096xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @one_accumulator(%a: !one_accumulator_a, %b: !one_accumulator_b) -> tensor<8192x7168xbf16> {
  %0 = blockscale.matmul %a, %b mma(<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 256, k = 64>) schedule(#blockscale.schedule<tile_m = 128, tile_n = 256, tile_k = 256, stages = 4, accumulators = 1, swap_operands = false, group_m = 8>) : !one_accumulator_a, !one_accumulator_b -> tensor<8192x7168xbf16>
  return %0 : tensor<8192x7168xbf16>
}

// A byte per element in shared memory, but TMA counts 64 + 96 bytes per 128 padded
// elements: 128 * 160 + 1024 of scales.
!counted_bytes_a = !blockscale.tensor<256x2816xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
!counted_bytes_b = !blockscale.tensor<512x2816xf6E2M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @counted_bytes(%a: !counted_bytes_a, %b: !counted_bytes_b) -> tensor<256x512xf32> {
  %0 = blockscale.matmul %a, %b mma(<kind = mxf8f6f4, a = e2m1, b = e2m3, scale = ue8m0, block = 32, m = 128, n = 128, k = 32>) schedule(#blockscale.schedule<tile_m = 128, tile_n = 128, tile_k = 128, stages = 4, accumulators = 2, swap_operands = false, group_m = 8>) : !counted_bytes_a, !counted_bytes_b -> tensor<256x512xf32>
  return %0 : tensor<256x512xf32>
}

// Every other tile starts in the middle of its group of 128: 64 rows are 2 columns.
!shift_of_64_a = !blockscale.tensor<8192x4096xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!shift_of_64_b = !blockscale.tensor<7168x4096xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @shift_of_64(%a: !shift_of_64_a, %b: !shift_of_64_b) -> tensor<8192x7168xbf16> {
  %0 = blockscale.matmul %a, %b mma(<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 64, k = 64>) schedule(#blockscale.schedule<tile_m = 128, tile_n = 64, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8>) : !shift_of_64_a, !shift_of_64_b -> tensor<8192x7168xbf16>
  return %0 : tensor<8192x7168xbf16>
}

// Tile 1 of 192 rows starts at row 64 of group 1, in a region of 256 rows.
!shift_of_192_a = !blockscale.tensor<8192x4096xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!shift_of_192_b = !blockscale.tensor<7168x4096xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @shift_of_192(%a: !shift_of_192_a, %b: !shift_of_192_b) -> tensor<8192x7168xbf16> {
  %0 = blockscale.matmul %a, %b mma(<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 192, k = 64>) schedule(#blockscale.schedule<tile_m = 128, tile_n = 192, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8>) : !shift_of_192_a, !shift_of_192_b -> tensor<8192x7168xbf16>
  return %0 : tensor<8192x7168xbf16>
}

// One tile needs no shift, and its 72 columns are read 8 at a time.
!single_odd_tile_a = !blockscale.tensor<256x4096xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!single_odd_tile_b = !blockscale.tensor<72x4096xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @single_odd_tile(%a: !single_odd_tile_a, %b: !single_odd_tile_b) -> tensor<256x72xf32> {
  %0 = blockscale.matmul %a, %b mma(<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 72, k = 64>) schedule(#blockscale.schedule<tile_m = 128, tile_n = 72, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8>) : !single_odd_tile_a, !single_odd_tile_b -> tensor<256x72xf32>
  return %0 : tensor<256x72xf32>
}

// Boxes of 128 rows and 128 of K, two for the 192 rows of B: 16384 + 32768 bytes, and
// 512 + 1024 of scales.
!mn_major_a = !blockscale.tensor<256x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4, order = mn_major>
!mn_major_b = !blockscale.tensor<384x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4, order = mn_major>
func.func @mn_major(%a: !mn_major_a, %b: !mn_major_b) -> tensor<256x384xf32> {
  %0 = blockscale.matmul %a, %b mma(<kind = mxf8f6f4, a = e4m3, b = e4m3, scale = ue8m0, block = 32, m = 128, n = 192, k = 32, a_mn_major = true, b_mn_major = true>) schedule(#blockscale.schedule<tile_m = 128, tile_n = 192, tile_k = 128, stages = 4, accumulators = 2, swap_operands = false, group_m = 8>) : !mn_major_a, !mn_major_b -> tensor<256x384xf32>
  return %0 : tensor<256x384xf32>
}

// 2880 = 22 * 128 + 64. Of a K of 32 with one scale nothing is left over to mask.
!tail_a = !blockscale.tensor<256x2880xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!tail_b = !blockscale.tensor<512x2880xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @tail(%a: !tail_a, %b: !tail_b) -> tensor<256x512xf32> {
  %0 = blockscale.matmul %a, %b mma(<kind = mxf8f6f4, a = e4m3, b = e4m3, scale = ue8m0, block = 32, m = 128, n = 128, k = 32>) schedule(#blockscale.schedule<tile_m = 128, tile_n = 128, tile_k = 128, stages = 4, accumulators = 2, swap_operands = false, group_m = 8>) : !tail_a, !tail_b -> tensor<256x512xf32>
  return %0 : tensor<256x512xf32>
}

// 304 = 256 + 48: the tail's one instruction takes K = 64, so the scales behind its
// three are cleared by the whole warp, before one lane copies them.
!masked_tail_a = !blockscale.tensor<256x304xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!masked_tail_b = !blockscale.tensor<512x304xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @masked_tail(%a: !masked_tail_a, %b: !masked_tail_b) -> tensor<256x512xf32> {
  %0 = blockscale.matmul %a, %b mma(<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 128, k = 64>) schedule(#blockscale.schedule<tile_m = 128, tile_n = 128, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8>) : !masked_tail_a, !masked_tail_b -> tensor<256x512xf32>
  return %0 : tensor<256x512xf32>
}

// 320 = 256 + 64: a whole instruction.
!even_tail_a = !blockscale.tensor<256x320xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!even_tail_b = !blockscale.tensor<512x320xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @even_tail(%a: !even_tail_a, %b: !even_tail_b) -> tensor<256x512xf32> {
  %0 = blockscale.matmul %a, %b mma(<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 128, k = 64>) schedule(#blockscale.schedule<tile_m = 128, tile_n = 128, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8>) : !even_tail_a, !even_tail_b -> tensor<256x512xf32>
  return %0 : tensor<256x512xf32>
}

// Nothing comes before the tail, so it does not accumulate.
!only_a_tail_a = !blockscale.tensor<256x32xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!only_a_tail_b = !blockscale.tensor<512x32xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @only_a_tail(%a: !only_a_tail_a, %b: !only_a_tail_b) -> tensor<256x512xf32> {
  %0 = blockscale.matmul %a, %b mma(<kind = mxf8f6f4, a = e4m3, b = e4m3, scale = ue8m0, block = 32, m = 128, n = 128, k = 32>) schedule(#blockscale.schedule<tile_m = 128, tile_n = 128, tile_k = 128, stages = 4, accumulators = 2, swap_operands = false, group_m = 8>) : !only_a_tail_a, !only_a_tail_b -> tensor<256x512xf32>
  return %0 : tensor<256x512xf32>
}

// Whether there is a tail, and whether it is ragged, is known when the kernel runs.
!dynamic_k_a = !blockscale.tensor<256x?xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
!dynamic_k_b = !blockscale.tensor<512x?xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
func.func @dynamic_k(%a: !dynamic_k_a, %b: !dynamic_k_b) -> tensor<256x512xf32> {
  %0 = blockscale.matmul %a, %b mma(<kind = mxf4, a = e2m1, b = e2m1, scale = ue8m0, block = 32, m = 128, n = 128, k = 64>) schedule(#blockscale.schedule<tile_m = 128, tile_n = 128, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8>) : !dynamic_k_a, !dynamic_k_b -> tensor<256x512xf32>
  return %0 : tensor<256x512xf32>
}

// Rows of the tile are columns of D: elements of a lane lie N apart, lanes side by
// side.
!swapped_a = !blockscale.tensor<?x4096xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!swapped_b = !blockscale.tensor<7168x4096xf8E5M2, "e8m0_t32", layout = tiled_128x4>
func.func @swapped(%a: !swapped_a, %b: !swapped_b) -> tensor<?x7168xbf16> {
  %0 = blockscale.matmul %a, %b mma(<kind = mxf8f6f4, a = e5m2, b = e4m3, scale = ue8m0, block = 32, m = 128, n = 64, k = 32>) schedule(#blockscale.schedule<tile_m = 128, tile_n = 64, tile_k = 128, stages = 4, accumulators = 2, swap_operands = true, group_m = 8>) : !swapped_a, !swapped_b -> tensor<?x7168xbf16>
  return %0 : tensor<?x7168xbf16>
}

// Each product of a batch has its own tensor scales.
!batched_tensor_scales = !blockscale.tensor<8x128x256xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
func.func @batched_tensor_scales(%a: !batched_tensor_scales, %b: !batched_tensor_scales) -> tensor<8x128x128xf32> {
  %0 = blockscale.matmul %a, %b mma(<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 128, k = 64>) schedule(#blockscale.schedule<tile_m = 128, tile_n = 128, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8>) : !batched_tensor_scales, !batched_tensor_scales -> tensor<8x128x128xf32>
  return %0 : tensor<8x128x128xf32>
}

// alpha * sum + beta * c + bias, then the activation, all in f32.
func.func @epilogue(%a: !masked_tail_a, %b: !masked_tail_b, %alpha: f32, %beta: f32, %c: tensor<256x512xf16>, %v: tensor<512xbf16>) -> tensor<256x512xf32> {
  %0 = blockscale.matmul %a, %b alpha(%alpha) beta(%beta) c(%c) bias(%v) activation(silu) mma(<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 128, k = 64>) schedule(#blockscale.schedule<tile_m = 128, tile_n = 128, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8>) : !masked_tail_a, !masked_tail_b, tensor<256x512xf16>, tensor<512xbf16> -> tensor<256x512xf32>
  return %0 : tensor<256x512xf32>
}

// A bias per row is one number for a thread: that of its row, if there is one.
func.func @epilogue_row(%a: !masked_tail_a, %b: !masked_tail_b, %v: tensor<256xf32>) -> tensor<256x512xf32> {
  %0 = blockscale.matmul %a, %b bias(%v) row activation(relu) mma(<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 128, k = 64>) schedule(#blockscale.schedule<tile_m = 128, tile_n = 128, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8>) : !masked_tail_a, !masked_tail_b, tensor<256xf32> -> tensor<256x512xf32>
  return %0 : tensor<256x512xf32>
}

// The kernels follow all of the hosts.

// CHECK-LABEL: gpu.module @kernels

// CHECK-LABEL: gpu.func @protocol(
// CHECK: %[[A:.*]] = blockscale.shared_alloc : <4x128x256xf4E2M1FN, container = 4, swizzle = "128B">
// CHECK: %[[B:.*]] = blockscale.shared_alloc : <4x128x256xf4E2M1FN, container = 4, swizzle = "128B">
// CHECK: %[[SFA:.*]] = blockscale.shared_alloc : <4x1x4x512xi8, container = 8>
// CHECK: %[[SFB:.*]] = blockscale.shared_alloc : <4x1x4x512xi8, container = 8>
// CHECK: %[[FULL:.*]] = blockscale.barrier_alloc arrivals(1) : <4>
// CHECK: %[[EMPTY:.*]] = blockscale.barrier_alloc arrivals(1) : <4>
// CHECK: %[[SLOT:.*]] = blockscale.shared_alloc : <1x1xi32, container = 32>
// CHECK: %[[THERE:.*]] = blockscale.barrier_alloc arrivals(1) : <1>
// CHECK: %[[DONE:.*]] = blockscale.barrier_alloc arrivals(1) : <2>
// CHECK: %[[FREE:.*]] = blockscale.barrier_alloc arrivals(4) : <2>
// CHECK: gpu.barrier
// CHECK-NEXT: blockscale.warps "mma" 5 to 6 {
// CHECK-NEXT: blockscale.tmem_alloc %[[SLOT]]
// CHECK-NEXT: %[[ALLOCATOR:.*]] = blockscale.elect
// CHECK-NEXT: scf.if %[[ALLOCATOR]] {
// CHECK-NEXT: blockscale.arrive %[[THERE]][%c0_i32]
// CHECK-NOT: blockscale.wait

// One lane loads; it waits for the phase before the first at parity 1.
// CHECK: blockscale.warps "producer" 4 to 5 {
// CHECK: %[[LEADER:.*]] = blockscale.elect
// CHECK: scf.if %[[LEADER]]
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %c0_i32, %{{.*}} = %c0_i32)
// CHECK: %[[ROW:.*]], %[[COLUMN:.*]], %[[BATCH:.*]] = blockscale.tile_coordinates %{{.*}} of(%c64_i32, %c56_i32) group 8
// CHECK: scf.for %[[KT:.*]] = %c0_i32 to %c16_i32 step %c1_i32 iter_args(%[[S:.*]] = %{{.*}}, %[[PH:.*]] = %{{.*}})
// CHECK: %[[OTHER:.*]] = arith.xori %[[PH]], %c1_i32
// CHECK: blockscale.wait %[[EMPTY]][%[[S]]] parity %[[OTHER]]
// CHECK: blockscale.arrive_expect %[[FULL]][%[[S]]] bytes(36864)
// CHECK: %[[K:.*]] = arith.muli %[[KT]], %c256_i32
// CHECK: blockscale.tma_load %{{.*}}[%[[K]], %{{.*}}, %[[BATCH]]] to %[[A]] signal %[[FULL]] stage %[[S]]
// CHECK: blockscale.tma_load %{{.*}}[%[[K]], %{{.*}}, %[[BATCH]]] to %[[B]] signal %[[FULL]] stage %[[S]]
// CHECK: %[[WORD:.*]] = arith.muli %[[KT]], %c4_i32
// CHECK: blockscale.tma_load %{{.*}}[%c0_i32, %[[WORD]], %{{.*}}, %[[BATCH]]] to %[[SFA]] signal %[[FULL]] stage %[[S]]
// CHECK: blockscale.tma_load %{{.*}}[%c0_i32, %[[WORD]], %{{.*}}, %[[BATCH]]] to %[[SFB]] signal %[[FULL]] stage %[[S]]

// Loads are on their way before tensor memory has to be there.
// CHECK: blockscale.wait %[[THERE]][%c0_i32] parity %c0_i32
// CHECK-NEXT: %[[ACC:.*]] = blockscale.tmem_view %[[SLOT]] : {{.*}} -> <2x128x128xf32, #blockscale.tmem_accumulator>
// CHECK-NEXT: %[[TSFA:.*]] = blockscale.tmem_view %[[SLOT]] : {{.*}} -> <128x16xi8, #blockscale.tmem_scales<word_stride = 4>>
// CHECK-NEXT: %[[TSFB:.*]] = blockscale.tmem_view %[[SLOT]] : {{.*}} -> <128x16xi8, #blockscale.tmem_scales<word_stride = 4>>

// All lanes wait, one multiplies; its commit covers copies and MMAs.
// CHECK: blockscale.warps "mma" 5 to 6 {
// CHECK: %[[ISSUER:.*]] = blockscale.elect
// CHECK: blockscale.wait %[[FREE]][%{{.*}}] parity
// CHECK-NEXT: blockscale.tensor_fence {{ *}}after
// CHECK: scf.for %[[KT:.*]] = %c0_i32 to %c16_i32
// CHECK: %[[ACCUMULATE:.*]] = arith.cmpi ne, %[[KT]], %c0_i32
// CHECK: blockscale.wait %[[FULL]][%[[S:.*]]] parity
// CHECK-NEXT: blockscale.tensor_fence {{ *}}after
// CHECK-NEXT: scf.if %[[ISSUER]] {
// CHECK-NEXT: blockscale.copy_scales %[[SFA]][%[[S]]] to %[[TSFA]]
// CHECK-NEXT: blockscale.copy_scales %[[SFB]][%[[S]]] to %[[TSFB]]
// CHECK-NEXT: blockscale.mma {{.*}} %[[ACC]][%[[COPY:.*]]], %[[A]], %[[B]] stage %[[S]] scales %[[TSFA]], %[[TSFB]] accumulate %[[ACCUMULATE]] :
// CHECK-NEXT: blockscale.commit %[[EMPTY]][%[[S]]]
// CHECK: scf.if %[[ISSUER]] {
// CHECK-NEXT: blockscale.commit %[[DONE]][%[[COPY]]]

// The accumulator is free once its last columns are in registers.
// CHECK: blockscale.warps "epilogue" 0 to 4 {
// CHECK: blockscale.wait %[[DONE]][%[[COPY:.*]]] parity
// CHECK-NEXT: blockscale.tensor_fence {{ *}}after
// CHECK: scf.for %[[I:.*]] = %c0_i32 to %c4_i32
// CHECK: %[[FIRST:.*]] = arith.muli %[[I]], %c32_i32
// CHECK: blockscale.load_accumulator %[[ACC]][%[[COPY]]] column %[[FIRST]] : {{.*}} -> vector<32xf32>
// CHECK: %[[LAST:.*]] = arith.cmpi eq, %[[I]], %c3_i32
// CHECK: scf.if %[[LAST]] {
// CHECK-NEXT: blockscale.tensor_fence {{ *}}before
// CHECK-NEXT: %[[RELEASER:.*]] = blockscale.elect
// CHECK-NEXT: scf.if %[[RELEASER]] {
// CHECK-NEXT: blockscale.arrive %[[FREE]][%[[COPY]]]
// CHECK: blockscale.store_row
// CHECK: gpu.barrier
// CHECK-NEXT: blockscale.warps "mma" 5 to 6 {
// CHECK-NEXT: blockscale.tensor_fence {{ *}}after
// CHECK-NEXT: blockscale.tmem_dealloc %[[SLOT]]

// CHECK-LABEL: gpu.func @overlap(
// CHECK: blockscale.shared_alloc : <4x2x4x512xi8, container = 8>
// CHECK: %[[DONE:.*]] = blockscale.barrier_alloc arrivals(1) : <2>
// CHECK: %[[FREE:.*]] = blockscale.barrier_alloc arrivals(4) : <1>
// CHECK: bytes(55296)
// CHECK: -> <2x128x256xf32, #blockscale.tmem_accumulator<copy_stride = 208>>
// CHECK: -> <128x16xi8, #blockscale.tmem_scales<word_stride = 4>>
// CHECK: -> <256x16xi8, #blockscale.tmem_scales<word_stride = 8>>

// Accumulator 0 is read from its end, 1 from its start; two chunks of 32 hold the
// shared columns.
// CHECK: blockscale.wait %[[DONE]][%[[COPY:.*]]] parity
// CHECK: scf.for %[[I:.*]] = %c0_i32 to %c8_i32
// CHECK: %[[REVERSED:.*]] = arith.subi %c7_i32, %[[I]]
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[COPY]], %c0_i32
// CHECK: arith.select %[[FIRST]], %[[REVERSED]], %[[I]]
// CHECK: blockscale.load_accumulator
// CHECK: %[[LAST:.*]] = arith.cmpi eq, %[[I]], %c1_i32
// CHECK: scf.if %[[LAST]]
// CHECK: blockscale.elect
// CHECK: blockscale.arrive %[[FREE]][%c0_i32]

// CHECK-LABEL: gpu.func @one_accumulator(
// CHECK: blockscale.barrier_alloc arrivals(1) : <1>
// CHECK: blockscale.barrier_alloc arrivals(4) : <1>
// CHECK: -> <1x128x256xf32, #blockscale.tmem_accumulator>

// CHECK-LABEL: gpu.func @counted_bytes(
// CHECK: blockscale.shared_alloc : <4x128x128xf4E2M1FN, container = 8, swizzle = "128B">
// CHECK: blockscale.shared_alloc : <4x128x128xf6E2M3FN, container = 8, swizzle = "128B">
// CHECK: blockscale.arrive_expect {{.*}} bytes(21504)

// CHECK-LABEL: gpu.func @shift_of_64(
// CHECK: blockscale.warps "mma"
// CHECK: %{{.*}}, %[[COLUMN:.*]], %{{.*}} = blockscale.tile_coordinates
// CHECK: %[[ROW:.*]] = arith.muli %[[COLUMN]], %c64_i32
// CHECK: %[[IN_GROUP:.*]] = arith.remui %[[ROW]], %c128_i32
// CHECK: %[[SHIFT:.*]] = arith.divui %[[IN_GROUP]], %c32_i32
// CHECK: blockscale.mma {{.*}} shift %[[SHIFT]] :

// CHECK-LABEL: gpu.func @shift_of_192(
// CHECK: blockscale.shared_alloc : <4x192x256xf4E2M1FN
// CHECK: blockscale.shared_alloc : <4x2x4x512xi8
// CHECK: bytes(47104)
// CHECK: -> <256x16xi8, #blockscale.tmem_scales<word_stride = 8>>
// CHECK: arith.muli %{{.*}}, %c192_i32
// CHECK: blockscale.mma {{.*}} shift %{{.*}} :

// CHECK-LABEL: gpu.func @single_odd_tile(
// CHECK: blockscale.shared_alloc : <4x72x256xf4E2M1FN
// CHECK-NOT: shift
// CHECK: scf.for %{{.*}} = %c0_i32 to %c9_i32
// CHECK: -> vector<8xf32>

// CHECK-LABEL: gpu.func @mn_major(
// CHECK: %[[A:.*]] = blockscale.shared_alloc : <4x1x128x128xf8E4M3FN, container = 8, swizzle = "128B">
// CHECK: %[[B:.*]] = blockscale.shared_alloc : <4x2x128x128xf8E4M3FN, container = 8, swizzle = "128B">
// CHECK: bytes(50688)
// CHECK: %[[K:.*]] = arith.muli %{{.*}}, %c128_i32
// CHECK: blockscale.tma_load %{{.*}}[%[[ROW:.*]], %[[K]], %{{.*}}] to %[[A]] {{.*}} stage %{{[a-z0-9]+}} :
// CHECK: blockscale.tma_load %{{.*}}[%[[COLUMN:.*]], %[[K]], %{{.*}}] to %[[B]] {{.*}} stage %{{[a-z0-9]+}} :
// CHECK: %[[SECOND:.*]] = arith.addi %[[COLUMN]], %c128_i32
// CHECK: blockscale.tma_load %{{.*}}[%[[SECOND]], %[[K]], %{{.*}}] to %[[B]] {{.*}} stage %{{[a-z0-9]+}} box 1 :

// CHECK-LABEL: gpu.func @tail(
// CHECK: blockscale.warps "producer"
// CHECK: to %c23_i32
// CHECK: blockscale.warps "mma"
// CHECK: scf.for %{{.*}} = %c0_i32 to %c22_i32
// CHECK: blockscale.mma {{.*}} accumulate %{{[a-z0-9]+}} :
// CHECK-NOT: mask_scales
// CHECK: blockscale.mma {{.*}} accumulate %true valid %c64_i32 :

// CHECK-LABEL: gpu.func @masked_tail(
// CHECK: blockscale.warps "mma"
// CHECK: %[[LEADER:.*]] = blockscale.elect
// CHECK: blockscale.mma
// CHECK: blockscale.wait
// CHECK-NEXT: blockscale.tensor_fence {{ *}}after
// CHECK-NEXT: blockscale.mask_scales %{{.*}}[%[[S:.*]]] valid %c3_i32
// CHECK-NEXT: blockscale.mask_scales %{{.*}}[%[[S]]] valid %c3_i32
// CHECK-NEXT: scf.if %[[LEADER]]
// CHECK: blockscale.mma {{.*}} valid %c48_i32

// CHECK-LABEL: gpu.func @even_tail(
// CHECK-NOT: mask_scales
// CHECK: blockscale.mma {{.*}} valid %c64_i32

// CHECK-LABEL: gpu.func @only_a_tail(
// CHECK-COUNT-1: blockscale.mma <{{.*}} accumulate %false valid %c32_i32 :
// CHECK-NOT: blockscale.mma <

// CHECK-LABEL: gpu.func @dynamic_k(
// CHECK-SAME: %[[K:[a-z0-9]+]]: i32 {blockscale.parameter = #blockscale.parameter<size_k>}
// CHECK: blockscale.warps "mma"
// CHECK: %[[FULL_TILES:.*]] = arith.divui %[[K]], %c256_i32
// CHECK: scf.for %{{.*}} = %c0_i32 to %[[FULL_TILES]]
// CHECK: %[[REST:.*]] = arith.remui %[[K]], %c256_i32
// CHECK: %[[ACCUMULATE:.*]] = arith.cmpi ne, %[[FULL_TILES]], %c0_i32
// CHECK: %[[HAS_REST:.*]] = arith.cmpi ne, %[[REST]], %c0_i32
// CHECK: scf.if %[[HAS_REST]]
// CHECK: %[[RAGGED:.*]] = arith.remui %[[REST]], %c64_i32
// CHECK: %[[IS_RAGGED:.*]] = arith.cmpi ne, %[[RAGGED]], %c0_i32
// CHECK: scf.if %[[IS_RAGGED]]
// CHECK: %[[ROUNDED:.*]] = arith.addi %[[REST]], %c31_i32
// CHECK: %[[SCALES:.*]] = arith.divui %[[ROUNDED]], %c32_i32
// CHECK: blockscale.mask_scales {{.*}} valid %[[SCALES]]
// CHECK: blockscale.mma {{.*}} accumulate %[[ACCUMULATE]] valid %[[REST]] :

// CHECK-LABEL: gpu.func @swapped(
// CHECK-SAME: %[[M:[a-z0-9]+]]: i32 {blockscale.parameter = #blockscale.parameter<size_m>}
// CHECK: blockscale.shared_alloc : <4x128x128xf8E5M2, container = 8, swizzle = "128B">
// CHECK: blockscale.shared_alloc : <4x64x128xf8E4M3FN, container = 8, swizzle = "128B">
// CHECK: blockscale.tile_coordinates %{{.*}} of(%c56_i32, %{{.*}}) group 8
// CHECK: blockscale.warps "epilogue"
// CHECK: %[[INSIDE:.*]] = arith.cmpi slt, %[[ROW:.*]], %c7168_i32
// CHECK: %[[LEFT:.*]] = arith.subi %[[M]], %[[COLUMN:.*]] :
// CHECK: %[[COUNT:.*]] = arith.select %[[INSIDE]], %[[LEFT]], %c0_i32
// CHECK: arith.extsi %[[COLUMN]]
// CHECK: arith.extsi %[[ROW]]
// CHECK: blockscale.store_row %{{.*}}count %[[COUNT]] stride %c7168_i64

// CHECK-LABEL: gpu.func @batched_tensor_scales(
// CHECK: blockscale.warps "epilogue"
// CHECK: scf.for
// CHECK: %{{.*}}, %{{.*}}, %[[BATCH:.*]] = blockscale.tile_coordinates
// CHECK: %[[AT:.*]] = arith.extsi %[[BATCH]]
// CHECK: blockscale.load_row %{{.*}}[%[[AT]]] count %c1_i32 : <f32> -> vector<1xf32>
// CHECK: blockscale.load_row %{{.*}}[%[[AT]]] count %c1_i32 : <f32> -> vector<1xf32>
// CHECK: arith.mulf

// CHECK-LABEL: gpu.func @epilogue(
// CHECK: blockscale.warps "epilogue"
// CHECK: %[[FIRST:.*]] = blockscale.load_row {{.*}} -> vector<32xf16>
// CHECK: iter_args(%[[C:[a-z0-9]+]] = %[[FIRST]])
// CHECK: %[[SUM:.*]] = blockscale.load_accumulator
// CHECK: %[[SCALED:.*]] = arith.mulf %[[SUM]], %{{.*}} : vector<32xf32>
// CHECK: %[[WIDE:.*]] = arith.extf %[[C]]
// CHECK: %[[BC:.*]] = arith.mulf %[[WIDE]], %{{.*}}
// CHECK: %[[WITH_C:.*]] = arith.addf %[[SCALED]], %[[BC]]
// CHECK: %[[BIAS:.*]] = blockscale.load_row {{.*}} -> vector<32xbf16>
// CHECK: %[[WIDE_BIAS:.*]] = arith.extf %[[BIAS]]
// CHECK: %[[X:.*]] = arith.addf %[[WITH_C]], %[[WIDE_BIAS]]
// CHECK: %[[MINUS:.*]] = arith.negf %[[X]]
// CHECK: %[[EXP:.*]] = math.exp %[[MINUS]]
// CHECK: %[[PLUS:.*]] = arith.addf %[[EXP]],
// CHECK: %[[Y:.*]] = arith.divf %[[X]], %[[PLUS]]
// CHECK: vector.bitcast %[[Y]]
// CHECK: blockscale.store_row

// CHECK-LABEL: gpu.func @epilogue_row(
// CHECK: %[[SUM:.*]] = blockscale.load_accumulator
// CHECK: %[[COUNT:.*]] = arith.extui %{{.*}} : i1 to i32
// CHECK: %[[ONE:.*]] = blockscale.load_row {{.*}} count %[[COUNT]] : <f32> -> vector<1xf32>
// CHECK: %[[BIAS:.*]] = vector.extract %[[ONE]][0]
// CHECK: %[[ROW:.*]] = vector.broadcast %[[BIAS]]
// CHECK: %[[X:.*]] = arith.addf %[[SUM]], %[[ROW]]
// CHECK: arith.maximumf %[[X]],
