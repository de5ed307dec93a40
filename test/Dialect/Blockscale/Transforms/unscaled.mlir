// Products without scales from a schedule to addresses: no scales anywhere, the
// metadata of two instructions of kind f16 and tf32 in one pair of columns.
// A K tile is 128 bytes of a row of B where A's rows of half the length and a
// tile of metadata allow it.

// RUN: blockscale-opt %s --blockscale-attach-target=target=sm_100a --blockscale-select-schedule --blockscale-form-kernels --blockscale-expand-kernels --blockscale-assign-memory --blockscale-assign-steps | FileCheck %s

#schedule = #blockscale.schedule<tile_n = 192, cta_group = 1, stages = 3, accumulators = 2>

// CHECK-LABEL: gpu.func @half(
// CHECK-SAME: tensor_map<f16, dims = ()[s0, s1, s2, s3] -> (80, s0, 1), strides = ()[s0, s1, s2, s3] -> (160, s0 * 160), box = [64, 128, 1], swizzle = "128B">
// CHECK-SAME: tensor_map<f16, dims = ()[s0, s1, s2, s3] -> (160, 400, 1), strides = ()[s0, s1, s2, s3] -> (320, 128000), box = [64, 192, 1], swizzle = "128B">
// CHECK-SAME: tensor_map<u8, dims = ()[s0, s1, s2, s3] -> (16, (s0 ceildiv 128) * 128, 2, 1)
// CHECK-SAME: #blockscale.parameter<a_metadata>
// CHECK-NOT: scales>
// CHECK: blockscale.shared_alloc offset(0) : <3x128x64xf16, container = 16, swizzle = "128B">
// CHECK: blockscale.shared_alloc offset(49152) : <3x192x128xf16, container = 16, swizzle = "128B">
// CHECK: blockscale.shared_alloc offset(196608) : <3x1x128x16xi8, container = 8>
// CHECK: blockscale.arrive_expect %{{.*}} bytes(67584)
// CHECK: blockscale.tmem_view %{{.*}} column(0) : {{.*}} -> <2x128x192xf32, #blockscale.tmem_accumulator>
// CHECK: blockscale.tmem_view %{{.*}} column(384) : {{.*}} -> <128x16xi8, #blockscale.tmem_metadata>
// CHECK-NOT: mask_scales
// CHECK: blockscale.copy_metadata
// CHECK-NEXT: blockscale.mma <kind = f16, {{.*}} steps [#blockscale.step<a = 0, b = 0>, #blockscale.step<a = 32, b = 64, selector = 1>, #blockscale.step<a = 64, b = 24576, metadata_column = 2>, #blockscale.step<a = 96, b = 24640, metadata_column = 2, selector = 1>] :
// The last 32 elements along K are one instruction.
// CHECK: blockscale.copy_metadata
// CHECK-NEXT: blockscale.mma <kind = f16, {{.*}} steps [#blockscale.step<a = 0, b = 0>] :
!half_a = !blockscale.tensor<?x160xf16, "n2m4", layout = tiled_128x4>
!half_b = !blockscale.tensor<400x160xf16>
func.func @half(%a: !half_a, %b: !half_b) -> tensor<?x400xf32> {
  %0 = blockscale.matmul %a, %b mma(#blockscale.mma<kind = f16, a = f16, b = f16, sparse = true>) schedule(#schedule) : !half_a, !half_b -> tensor<?x400xf32>
  return %0 : tensor<?x400xf32>
}

// CHECK-LABEL: gpu.func @single(
// CHECK-SAME: tensor_map<f32, dims = ()[s0, s1, s2, s3] -> (128, s0, 1), {{.*}} box = [32, 128, 1]
// CHECK: blockscale.shared_alloc offset(0) : <3x128x32xtf32, container = 32, swizzle = "128B">
// CHECK: blockscale.shared_alloc offset(49152) : <3x192x64xtf32, container = 32, swizzle = "128B">
// CHECK: blockscale.mma <kind = tf32, {{.*}} steps [#blockscale.step<a = 0, b = 0>, #blockscale.step<a = 32, b = 64, selector = 1>, #blockscale.step<a = 64, b = 24576, metadata_column = 2>, #blockscale.step<a = 96, b = 24640, metadata_column = 2, selector = 1>] :
!single_a = !blockscale.tensor<?x256xtf32, "n1m2", layout = tiled_128x4>
!single_b = !blockscale.tensor<400x256xtf32>
func.func @single(%a: !single_a, %b: !single_b) -> tensor<?x400xf32> {
  %0 = blockscale.matmul %a, %b mma(#blockscale.mma<kind = tf32, a = tf32, b = tf32, sparse = true>) schedule(#schedule) : !single_a, !single_b -> tensor<?x400xf32>
  return %0 : tensor<?x400xf32>
}

// CHECK-LABEL: gpu.func @bytes(
// CHECK: blockscale.shared_alloc offset(73728) : <3x128x64xf8E4M3FN, container = 8, swizzle = "64B">
// CHECK: blockscale.shared_alloc offset(0) : <3x192x128xf8E5M2, container = 8, swizzle = "128B">
// CHECK: blockscale.shared_alloc offset(98304) : <3x1x128x16xi8, container = 8>
// CHECK: blockscale.mma <kind = f8f6f4, {{.*}} steps [#blockscale.step<a = 0, b = 0>, #blockscale.step<a = 32, b = 64, metadata_column = 2>] :
!bytes_a = !blockscale.tensor<?x256xf8E4M3FN, "n2m4", layout = tiled_128x4>
!bytes_b = !blockscale.tensor<400x256xf8E5M2>
func.func @bytes(%a: !bytes_a, %b: !bytes_b) -> tensor<?x400xf32> {
  %0 = blockscale.matmul %a, %b mma(#blockscale.mma<kind = f8f6f4, a = e4m3, b = e5m2, sparse = true>) schedule(#schedule) : !bytes_a, !bytes_b -> tensor<?x400xf32>
  return %0 : tensor<?x400xf32>
}

// TMA loads 4- and 6-bit elements into bytes 128 at a time.
// CHECK-LABEL: gpu.func @padded(
// CHECK-SAME: tensor_map<u4x16_align16b, {{.*}} box = [128, 128, 1], swizzle = "128B">
// CHECK: blockscale.shared_alloc offset(0) : <2x128x128xf4E2M1FN, container = 8, swizzle = "128B">
// CHECK: blockscale.mma <kind = f8f6f4, {{.*}} steps [#blockscale.step<a = 0, b = 0>, #blockscale.step<a = 32, b = 64, metadata_column = 2>, #blockscale.step<a = 64, b = 24576, metadata_column = 4>, #blockscale.step<a = 96, b = 24640, metadata_column = 6>] :
!padded_a = !blockscale.tensor<?x256xf4E2M1FN, "n2m4", layout = tiled_128x4>
!padded_b = !blockscale.tensor<400x256xf8E5M2>
func.func @padded(%a: !padded_a, %b: !padded_b) -> tensor<?x400xf32> {
  %0 = blockscale.matmul %a, %b mma(#blockscale.mma<kind = f8f6f4, a = e2m1, b = e5m2, sparse = true>) schedule(#blockscale.schedule<tile_n = 192, cta_group = 1, stages = 2>) : !padded_a, !padded_b -> tensor<?x400xf32>
  return %0 : tensor<?x400xf32>
}

// Sums of integers: stored as they are, or numbers for what follows.
// CHECK-LABEL: gpu.func @integer(
// CHECK: blockscale.tmem_view %{{.*}} column(0) : {{.*}} -> <2x128x192xi32, #blockscale.tmem_accumulator>
// CHECK: %[[SUM:.*]] = blockscale.load_accumulator {{.*}} -> vector<32xi32>
// CHECK: blockscale.store_row %[[SUM]] to %{{.*}} : vector<32xi32> to <i32>
!integer_a = !blockscale.tensor<?x256xi8, "n2m4", layout = tiled_128x4>
!integer_b = !blockscale.tensor<400x256xui8>
func.func @integer(%a: !integer_a, %b: !integer_b) -> tensor<?x400xi32> {
  %0 = blockscale.matmul %a, %b mma(#blockscale.mma<kind = i8, a = int8, b = uint8, sparse = true>) schedule(#schedule) : !integer_a, !integer_b -> tensor<?x400xi32>
  return %0 : tensor<?x400xi32>
}

// CHECK-LABEL: gpu.func @integer_to_bf16(
// CHECK: %[[SUM:.*]] = blockscale.load_accumulator {{.*}} -> vector<32xi32>
// CHECK: arith.sitofp %[[SUM]] : vector<32xi32> to vector<32xf32>
func.func @integer_to_bf16(%a: !integer_a, %b: !integer_b, %alpha: f32) -> tensor<?x400xbf16> {
  %0 = blockscale.matmul %a, %b alpha(%alpha) mma(#blockscale.mma<kind = i8, a = int8, b = uint8, sparse = true>) schedule(#schedule) : !integer_a, !integer_b -> tensor<?x400xbf16>
  return %0 : tensor<?x400xbf16>
}

// A pair of CTAs; tiles of any width that the kind has, as no groups of scales
// bind them: here 160 columns.
// CHECK-LABEL: gpu.func @pair(
// CHECK: blockscale.shared_alloc offset(0) : <3x128x64xbf16, container = 16, swizzle = "128B">
// CHECK: blockscale.shared_alloc offset(49152) : <3x80x128xbf16, container = 16, swizzle = "128B">
// CHECK: blockscale.copy_metadata {{.*}} pair
// CHECK-NEXT: blockscale.mma <kind = f16, a = bf16, b = bf16, m = 256, n = 160, k = 32, cta_group = 2, sparse = true> {{.*}} accumulate %{{[0-9]+}} steps
!pair_a = !blockscale.tensor<?x256xbf16, "n2m4", layout = tiled_128x4>
!pair_b = !blockscale.tensor<400x256xbf16>
func.func @pair(%a: !pair_a, %b: !pair_b) -> tensor<?x400xf32> {
  %0 = blockscale.matmul %a, %b mma(#blockscale.mma<kind = f16, a = bf16, b = bf16, sparse = true>) schedule(#blockscale.schedule<tile_n = 160, cta_group = 2, stages = 3>) : !pair_a, !pair_b -> tensor<?x400xf32>
  return %0 : tensor<?x400xf32>
}
