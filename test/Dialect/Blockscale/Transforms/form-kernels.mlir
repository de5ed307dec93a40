// RUN: blockscale-opt %s -blockscale-form-kernels | FileCheck %s

// 4096 nibbles are 2048 bytes; 4096 / 16 = 256 scales of a row are 64 words, in
// atoms of 512 bytes; 7168 rows are 56 groups of 128.
!nvfp4_a = !blockscale.tensor<?x4096xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!nvfp4_b = !blockscale.tensor<7168x4096xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
func.func @nvfp4(%a: !nvfp4_a, %b: !nvfp4_b) -> tensor<?x7168xbf16> {
  // CHECK-LABEL: func.func @nvfp4(
  // CHECK: blockscale.launch @kernels::@nvfp4(%arg0, %arg1)
  %0 = blockscale.matmul %a, %b mma(<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 256, k = 64>) schedule(#blockscale.schedule<tile_m = 128, tile_n = 256, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8>) : !nvfp4_a, !nvfp4_b -> tensor<?x7168xbf16>
  return %0 : tensor<?x7168xbf16>
}

// The padded types count rows in whole 128 elements: 2880 becomes 2944, which is
// 1472 bytes of 4 bits and 2208 of 6, both multiples of 32. 90 scales are 23 words.
!padded_a = !blockscale.tensor<256x2880xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
!padded_b = !blockscale.tensor<512x2880xf6E2M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @padded(%a: !padded_a, %b: !padded_b) -> tensor<256x512xf32> {
  %0 = blockscale.matmul %a, %b mma(<kind = mxf8f6f4, a = e2m1, b = e2m3, scale = ue8m0, block = 32, m = 128, n = 128, k = 32>) schedule(#blockscale.schedule<tile_m = 128, tile_n = 128, tile_k = 128, stages = 4, accumulators = 2, swap_operands = false, group_m = 8>) : !padded_a, !padded_b -> tensor<256x512xf32>
  return %0 : tensor<256x512xf32>
}

// Rows of 96 nibbles are 48 bytes, a multiple of 16 already.
!odd_pitch_a = !blockscale.tensor<256x96xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
!odd_pitch_b = !blockscale.tensor<128x96xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
func.func @odd_pitch(%a: !odd_pitch_a, %b: !odd_pitch_b) -> tensor<256x128xf32> {
  %0 = blockscale.matmul %a, %b mma(<kind = mxf4, a = e2m1, b = e2m1, scale = ue8m0, block = 32, m = 128, n = 128, k = 64>) schedule(#blockscale.schedule<tile_m = 128, tile_n = 128, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8>) : !odd_pitch_a, !odd_pitch_b -> tensor<256x128xf32>
  return %0 : tensor<256x128xf32>
}

// Rows of 48 nibbles are 24 bytes: they start 32 bytes apart.
!pitch_rounded_a = !blockscale.tensor<256x48xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!pitch_rounded_b = !blockscale.tensor<128x48xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @pitch_rounded(%a: !pitch_rounded_a, %b: !pitch_rounded_b) -> tensor<256x128xf32> {
  %0 = blockscale.matmul %a, %b mma(<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 128, k = 64>) schedule(#blockscale.schedule<tile_m = 128, tile_n = 128, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8>) : !pitch_rounded_a, !pitch_rounded_b -> tensor<256x128xf32>
  return %0 : tensor<256x128xf32>
}

// Rows are innermost: 200 of them start 208 bytes apart. A box is 128 rows, also for
// N = 64. 2 times 5 tiles.
!mn_major_a = !blockscale.tensor<200x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4, order = mn_major>
!mn_major_b = !blockscale.tensor<320x512xf8E5M2, "e8m0_t32", layout = tiled_128x4, order = mn_major>
func.func @mn_major(%a: !mn_major_a, %b: !mn_major_b) -> tensor<200x320xf32> {
  %0 = blockscale.matmul %a, %b mma(<kind = mxf8f6f4, a = e4m3, b = e5m2, scale = ue8m0, block = 32, m = 128, n = 64, k = 32, a_mn_major = true, b_mn_major = true>) schedule(#blockscale.schedule<tile_m = 128, tile_n = 64, tile_k = 128, stages = 4, accumulators = 2, swap_operands = false, group_m = 8>) : !mn_major_a, !mn_major_b -> tensor<200x320xf32>
  return %0 : tensor<200x320xf32>
}

// A tile of 192 rows takes two boxes of 128 rows, and two groups of scales.
!mn_major_192_a = !blockscale.tensor<256x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!mn_major_192_b = !blockscale.tensor<384x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4, order = mn_major>
func.func @mn_major_192(%a: !mn_major_192_a, %b: !mn_major_192_b) -> tensor<256x384xf32> {
  %0 = blockscale.matmul %a, %b mma(<kind = mxf8f6f4, a = e4m3, b = e4m3, scale = ue8m0, block = 32, m = 128, n = 192, k = 32, b_mn_major = true>) schedule(#blockscale.schedule<tile_m = 128, tile_n = 192, tile_k = 128, stages = 4, accumulators = 2, swap_operands = false, group_m = 8>) : !mn_major_192_a, !mn_major_192_b -> tensor<256x384xf32>
  return %0 : tensor<256x384xf32>
}

// Parameters keep the order of the source; the instruction's a is the source's b.
!swapped_a = !blockscale.tensor<?x4096xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!swapped_b = !blockscale.tensor<7168x4096xf8E5M2, "e8m0_t32", layout = tiled_128x4>
func.func @swapped(%a: !swapped_a, %b: !swapped_b) -> tensor<?x7168xbf16> {
  %0 = blockscale.matmul %a, %b mma(<kind = mxf8f6f4, a = e5m2, b = e4m3, scale = ue8m0, block = 32, m = 128, n = 64, k = 32>) schedule(#blockscale.schedule<tile_m = 128, tile_n = 64, tile_k = 128, stages = 4, accumulators = 2, swap_operands = true, group_m = 8>) : !swapped_a, !swapped_b -> tensor<?x7168xbf16>
  return %0 : tensor<?x7168xbf16>
}

!dynamic = !blockscale.tensor<?x?x?xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @dynamic(%a: !dynamic, %b: !dynamic) -> tensor<?x?x?xf16> {
  %0 = blockscale.matmul %a, %b mma(<kind = mxf8f6f4, a = e4m3, b = e4m3, scale = ue8m0, block = 32, m = 128, n = 128, k = 32>) schedule(#blockscale.schedule<tile_m = 128, tile_n = 128, tile_k = 128, stages = 4, accumulators = 2, swap_operands = false, group_m = 8>) : !dynamic, !dynamic -> tensor<?x?x?xf16>
  return %0 : tensor<?x?x?xf16>
}

// One operand knows how many products there are.
!batch_of_one_side_a = !blockscale.tensor<?x128x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!batch_of_one_side_b = !blockscale.tensor<8x128x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @batch_of_one_side(%a: !batch_of_one_side_a, %b: !batch_of_one_side_b) -> tensor<8x128x128xf32> {
  %0 = blockscale.matmul %a, %b mma(<kind = mxf8f6f4, a = e4m3, b = e4m3, scale = ue8m0, block = 32, m = 128, n = 128, k = 32>) schedule(#blockscale.schedule<tile_m = 128, tile_n = 128, tile_k = 128, stages = 4, accumulators = 2, swap_operands = false, group_m = 8>) : !batch_of_one_side_a, !batch_of_one_side_b -> tensor<8x128x128xf32>
  return %0 : tensor<8x128x128xf32>
}

// Everything that the epilogue reads, and a beta of one where there is a c but
// no factor.
func.func @epilogue(%a: !dynamic, %b: !dynamic, %alpha: f32, %beta: f32, %c: tensor<?x?x?xf32>, %v: tensor<?xbf16>) -> (tensor<?x?x?xf16>, tensor<?x?x?xf16>) {
  // CHECK-LABEL: func.func @epilogue(
  // CHECK: blockscale.launch @kernels::@epilogue(%arg0, %arg1, %arg2, %arg3, %arg4, %arg5)
  // CHECK: blockscale.launch @kernels::@epilogue_1(%arg0, %arg1, %arg4)
  %0 = blockscale.matmul %a, %b alpha(%alpha) beta(%beta) c(%c) bias(%v) row activation(gelu) mma(<kind = mxf8f6f4, a = e4m3, b = e4m3, scale = ue8m0, block = 32, m = 128, n = 128, k = 32>) schedule(#blockscale.schedule<tile_m = 128, tile_n = 128, tile_k = 128, stages = 4, accumulators = 2, swap_operands = false, group_m = 8>) : !dynamic, !dynamic, tensor<?x?x?xf32>, tensor<?xbf16> -> tensor<?x?x?xf16>
  %1 = blockscale.matmul %a, %b c(%c) mma(<kind = mxf8f6f4, a = e4m3, b = e4m3, scale = ue8m0, block = 32, m = 128, n = 128, k = 32>) schedule(#blockscale.schedule<tile_m = 128, tile_n = 128, tile_k = 128, stages = 4, accumulators = 2, swap_operands = false, group_m = 8>) : !dynamic, !dynamic, tensor<?x?x?xf32> -> tensor<?x?x?xf16>
  return %0, %1 : tensor<?x?x?xf16>, tensor<?x?x?xf16>
}

// The kernels follow all of the hosts.

// CHECK-LABEL: gpu.module @kernels

// CHECK-LABEL: gpu.func @nvfp4(
// CHECK-SAME: !blockscale.tensor_map<u4x16_align8b, dims = ()[s0, s1, s2, s3] -> (4096, s0, 1), strides = ()[s0, s1, s2, s3] -> (2048, s0 * 2048), box = [256, 128, 1], swizzle = "128B"> {blockscale.parameter = #blockscale.parameter<a_data>}
// CHECK-SAME: !blockscale.tensor_map<u4x16_align8b, dims = ()[s0, s1, s2, s3] -> (4096, 7168, 1), strides = ()[s0, s1, s2, s3] -> (2048, 14680064), box = [256, 256, 1], swizzle = "128B"> {blockscale.parameter = #blockscale.parameter<b_data>}
// CHECK-SAME: !blockscale.tensor_map<u32, dims = ()[s0, s1, s2, s3] -> (128, 64, s0 ceildiv 128, 1), strides = ()[s0, s1, s2, s3] -> (512, 32768, (s0 ceildiv 128) * 32768), box = [128, 4, 1, 1], swizzle = "none"> {blockscale.parameter = #blockscale.parameter<a_scales>}
// CHECK-SAME: !blockscale.tensor_map<u32, dims = ()[s0, s1, s2, s3] -> (128, 64, 56, 1), strides = ()[s0, s1, s2, s3] -> (512, 32768, 1835008), box = [128, 4, 2, 1], swizzle = "none"> {blockscale.parameter = #blockscale.parameter<b_scales>}
// CHECK-SAME: !blockscale.global<bf16> {blockscale.parameter = #blockscale.parameter<d>}
// CHECK-SAME: !blockscale.global<f32> {blockscale.parameter = #blockscale.parameter<a_tensor_scale>}
// CHECK-SAME: !blockscale.global<f32> {blockscale.parameter = #blockscale.parameter<b_tensor_scale>}
// CHECK-SAME: %[[M:.*]]: i32 {blockscale.parameter = #blockscale.parameter<size_m>}) kernel
// CHECK-SAME: blockscale.kernel = #blockscale.kernel<grid = ()[s0, s1, s2, s3, s4, s5] -> ((s0 ceildiv 128) * 28, s4), block = 192>
// CHECK-DAG: %[[N:.*]] = arith.constant 7168 : i32
// CHECK-DAG: %[[K:.*]] = arith.constant 4096 : i32
// CHECK-DAG: %[[L:.*]] = arith.constant 1 : i32
// CHECK: blockscale.kernel_matmul {{.*}} sizes(%[[M]], %[[N]], %[[K]], %[[L]])
// CHECK: gpu.return

// CHECK-LABEL: gpu.func @padded(
// CHECK-SAME: !blockscale.tensor_map<u4x16_align16b, dims = ()[s0, s1, s2, s3] -> (2944, 256, 1), strides = ()[s0, s1, s2, s3] -> (1472, 376832), box = [128, 128, 1], swizzle = "128B"> {blockscale.parameter = #blockscale.parameter<a_data>}
// CHECK-SAME: !blockscale.tensor_map<u6x16_align16b, dims = ()[s0, s1, s2, s3] -> (2944, 512, 1), strides = ()[s0, s1, s2, s3] -> (2208, 1130496), box = [128, 128, 1], swizzle = "128B"> {blockscale.parameter = #blockscale.parameter<b_data>}
// CHECK-SAME: !blockscale.tensor_map<u32, dims = ()[s0, s1, s2, s3] -> (128, 23, 2, 1), strides = ()[s0, s1, s2, s3] -> (512, 11776, 23552), box = [128, 1, 1, 1], swizzle = "none"> {blockscale.parameter = #blockscale.parameter<a_scales>}
// CHECK-SAME: !blockscale.tensor_map<u32, dims = ()[s0, s1, s2, s3] -> (128, 23, 4, 1), strides = ()[s0, s1, s2, s3] -> (512, 11776, 47104), box = [128, 1, 1, 1], swizzle = "none"> {blockscale.parameter = #blockscale.parameter<b_scales>}
// CHECK-SAME: blockscale.kernel = #blockscale.kernel<grid = ()[s0, s1, s2, s3, s4, s5] -> (8, s4), block = 192>

// CHECK-LABEL: gpu.func @odd_pitch(
// CHECK-SAME: !blockscale.tensor_map<u4x16_align8b, dims = ()[s0, s1, s2, s3] -> (96, 256, 1), strides = ()[s0, s1, s2, s3] -> (48, 12288), box = [256, 128, 1], swizzle = "128B"> {blockscale.parameter = #blockscale.parameter<a_data>}

// CHECK-LABEL: gpu.func @pitch_rounded(
// CHECK-SAME: !blockscale.tensor_map<u4x16_align8b, dims = ()[s0, s1, s2, s3] -> (48, 256, 1), strides = ()[s0, s1, s2, s3] -> (32, 8192), box = [256, 128, 1], swizzle = "128B"> {blockscale.parameter = #blockscale.parameter<a_data>}
// CHECK-SAME: !blockscale.tensor_map<u4x16_align8b, dims = ()[s0, s1, s2, s3] -> (48, 128, 1), strides = ()[s0, s1, s2, s3] -> (32, 4096), box = [256, 128, 1], swizzle = "128B"> {blockscale.parameter = #blockscale.parameter<b_data>}
// CHECK-SAME: !blockscale.tensor_map<u32, dims = ()[s0, s1, s2, s3] -> (128, 1, 2, 1), strides = ()[s0, s1, s2, s3] -> (512, 512, 1024), box = [128, 4, 1, 1], swizzle = "none"> {blockscale.parameter = #blockscale.parameter<a_scales>}

// CHECK-LABEL: gpu.func @mn_major(
// CHECK-SAME: !blockscale.tensor_map<u8, dims = ()[s0, s1, s2, s3] -> (200, 512, 1), strides = ()[s0, s1, s2, s3] -> (208, 106496), box = [128, 128, 1], swizzle = "128B"> {blockscale.parameter = #blockscale.parameter<a_data>}
// CHECK-SAME: !blockscale.tensor_map<u8, dims = ()[s0, s1, s2, s3] -> (320, 512, 1), strides = ()[s0, s1, s2, s3] -> (320, 163840), box = [128, 128, 1], swizzle = "128B"> {blockscale.parameter = #blockscale.parameter<b_data>}
// CHECK-SAME: blockscale.kernel = #blockscale.kernel<grid = ()[s0, s1, s2, s3, s4, s5] -> (10, s4), block = 192>

// CHECK-LABEL: gpu.func @mn_major_192(
// CHECK-SAME: !blockscale.tensor_map<u8, dims = ()[s0, s1, s2, s3] -> (512, 256, 1), strides = ()[s0, s1, s2, s3] -> (512, 131072), box = [128, 128, 1], swizzle = "128B"> {blockscale.parameter = #blockscale.parameter<a_data>}
// CHECK-SAME: !blockscale.tensor_map<u8, dims = ()[s0, s1, s2, s3] -> (384, 512, 1), strides = ()[s0, s1, s2, s3] -> (384, 196608), box = [128, 128, 1], swizzle = "128B"> {blockscale.parameter = #blockscale.parameter<b_data>}
// CHECK-SAME: !blockscale.tensor_map<u32, dims = ()[s0, s1, s2, s3] -> (128, 4, 2, 1), strides = ()[s0, s1, s2, s3] -> (512, 2048, 4096), box = [128, 1, 1, 1], swizzle = "none"> {blockscale.parameter = #blockscale.parameter<a_scales>}
// CHECK-SAME: !blockscale.tensor_map<u32, dims = ()[s0, s1, s2, s3] -> (128, 4, 3, 1), strides = ()[s0, s1, s2, s3] -> (512, 2048, 6144), box = [128, 1, 2, 1], swizzle = "none"> {blockscale.parameter = #blockscale.parameter<b_scales>}

// CHECK-LABEL: gpu.func @swapped(
// CHECK-SAME: %[[A:[a-z0-9]*]]: !blockscale.tensor_map<u8, dims = ()[s0, s1, s2, s3] -> (4096, s0, 1), strides = ()[s0, s1, s2, s3] -> (4096, s0 * 4096), box = [128, 64, 1], swizzle = "128B"> {blockscale.parameter = #blockscale.parameter<a_data>}
// CHECK-SAME: %[[B:[a-z0-9]*]]: !blockscale.tensor_map<u8, dims = ()[s0, s1, s2, s3] -> (4096, 7168, 1), strides = ()[s0, s1, s2, s3] -> (4096, 29360128), box = [128, 128, 1], swizzle = "128B"> {blockscale.parameter = #blockscale.parameter<b_data>}
// CHECK-SAME: %[[SFA:[a-z0-9]*]]: !blockscale.tensor_map<u32, dims = ()[s0, s1, s2, s3] -> (128, 32, s0 ceildiv 128, 1), strides = ()[s0, s1, s2, s3] -> (512, 16384, (s0 ceildiv 128) * 16384), box = [128, 1, 1, 1], swizzle = "none"> {blockscale.parameter = #blockscale.parameter<a_scales>}
// CHECK-SAME: %[[SFB:[a-z0-9]*]]: !blockscale.tensor_map<u32, dims = ()[s0, s1, s2, s3] -> (128, 32, 56, 1), strides = ()[s0, s1, s2, s3] -> (512, 16384, 917504), box = [128, 1, 1, 1], swizzle = "none"> {blockscale.parameter = #blockscale.parameter<b_scales>}
// CHECK-SAME: blockscale.kernel = #blockscale.kernel<grid = ()[s0, s1, s2, s3, s4, s5] -> ((s0 ceildiv 64) * 56, s4), block = 192>
// CHECK: blockscale.kernel_matmul a(%[[B]]) b(%[[A]]) scales(%[[SFB]], %[[SFA]])

// CHECK-LABEL: gpu.func @dynamic(
// CHECK-SAME: !blockscale.tensor_map<u8, dims = ()[s0, s1, s2, s3] -> (s2, s0, s3), strides = ()[s0, s1, s2, s3] -> ((s2 ceildiv 16) * 16, ((s2 ceildiv 16) * s0) * 16), box = [128, 128, 1], swizzle = "128B"> {blockscale.parameter = #blockscale.parameter<a_data>}
// CHECK-SAME: !blockscale.tensor_map<u8, dims = ()[s0, s1, s2, s3] -> (s2, s1, s3), strides = ()[s0, s1, s2, s3] -> ((s2 ceildiv 16) * 16, ((s2 ceildiv 16) * s1) * 16), box = [128, 128, 1], swizzle = "128B"> {blockscale.parameter = #blockscale.parameter<b_data>}
// CHECK-SAME: !blockscale.tensor_map<u32, dims = ()[s0, s1, s2, s3] -> (128, s2 ceildiv 128, s0 ceildiv 128, s3), 
// CHECK-SAME: i32 {blockscale.parameter = #blockscale.parameter<size_m>}, %{{.*}}: i32 {blockscale.parameter = #blockscale.parameter<size_n>}, %{{.*}}: i32 {blockscale.parameter = #blockscale.parameter<size_k>}, %{{.*}}: i32 {blockscale.parameter = #blockscale.parameter<batch>}
// CHECK-SAME: blockscale.kernel = #blockscale.kernel<grid = ()[s0, s1, s2, s3, s4, s5] -> (((s0 ceildiv 128) * (s1 ceildiv 128)) * s3, s4), block = 192>

// CHECK-LABEL: gpu.func @batch_of_one_side(
// CHECK-SAME: !blockscale.tensor_map<u8, dims = ()[s0, s1, s2, s3] -> (256, 128, 8), strides = ()[s0, s1, s2, s3] -> (256, 32768), box = [128, 128, 1], swizzle = "128B"> {blockscale.parameter = #blockscale.parameter<a_data>}
// CHECK-NOT: parameter<batch>
// CHECK-SAME: blockscale.kernel = #blockscale.kernel<grid = ()[s0, s1, s2, s3, s4, s5] -> (8, s4), block = 192>

// CHECK-LABEL: gpu.func @epilogue(
// CHECK-SAME: !blockscale.global<f16> {blockscale.parameter = #blockscale.parameter<d>}, %[[C:.*]]: !blockscale.global<f32> {blockscale.parameter = #blockscale.parameter<c>}, %[[V:.*]]: !blockscale.global<bf16> {blockscale.parameter = #blockscale.parameter<bias>}, %[[ALPHA:.*]]: f32 {blockscale.parameter = #blockscale.parameter<alpha>}, %[[BETA:.*]]: f32 {blockscale.parameter = #blockscale.parameter<beta>}, %{{.*}}: i32
// CHECK: c(%[[C]]) bias(%[[V]]) alpha(%[[ALPHA]]) beta(%[[BETA]]) sizes
// CHECK-SAME: activation(gelu) mma
// CHECK-SAME: bias_kind row

// CHECK-LABEL: gpu.func @epilogue_1(
// CHECK-NOT: parameter<beta>
// CHECK: %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
// CHECK: beta(%[[ONE]])
