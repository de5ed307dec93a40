// Ops of kernels with a structured-sparse A.

// RUN: blockscale-opt %s | blockscale-opt | FileCheck %s
// RUN: blockscale-opt %s -mlir-print-op-generic | blockscale-opt | FileCheck %s

#instruction = #blockscale.mma<kind = mxf4, a = e2m1, b = e2m1, scale = ue8m0, block = 32, m = 128, n = 64, k = 128, sparse = true>
#complete = #blockscale.schedule<tile_m = 128, tile_n = 64, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8>
!a = !blockscale.shared<4x128x128xf4E2M1FN, container = 4, swizzle = "64B">
!b = !blockscale.shared<4x64x256xf4E2M1FN, container = 4, swizzle = "128B">
!metadata = !blockscale.shared<4x1x128x16xi8, container = 8>
!acc = !blockscale.tmem<2x128x64xf32, #blockscale.tmem_accumulator>
!sf = !blockscale.tmem<128x4xi8, #blockscale.tmem_scales<word_stride = 4>>
!e = !blockscale.tmem<128x16xi8, #blockscale.tmem_metadata>
!data = !blockscale.tensor_map<u4x16_align8b, dims = ()[m, n, k, l] -> (k floordiv 2, m, l), strides = ()[m, n, k, l] -> (k floordiv 4, m * (k floordiv 4)), box = [128, 128, 1], swizzle = "64B">
!rows = !blockscale.tensor_map<u8, dims = ()[m, n, k, l] -> (16, m, k floordiv 256, l), strides = ()[m, n, k, l] -> (16, m * 16, m * (k floordiv 16)), box = [16, 128, 1, 1], swizzle = "none">

// CHECK-LABEL: func.func @product
func.func @product(%a: !data, %sf: !rows, %e: !rows, %d: !blockscale.global<f32>, %i: i32) {
  // CHECK: blockscale.kernel_matmul a(%[[A:.*]]) b(%[[A]]) scales(%[[SF:.*]], %[[SF]]) metadata(%[[E:.*]]) d(%{{.*}}) sizes{{.*}} metadata !blockscale.tensor_map<u8,
  blockscale.kernel_matmul a(%a) b(%a) scales(%sf, %sf) metadata(%e) d(%d) sizes(%i, %i, %i, %i)
    mma #instruction schedule #complete : !data, !data, !blockscale.global<f32> scales !rows, !rows metadata !rows
  return
}

// CHECK-LABEL: func.func @stage
func.func @stage(%a: !a, %b: !b, %m: !metadata, %acc: !acc, %sf: !sf, %e: !e, %i: i32, %first: i1) {
  // CHECK: blockscale.copy_metadata %[[M:.*]][%[[I:.*]]] to %[[E:.*]] : <4x1x128x16xi8, container = 8> to <128x16xi8, #blockscale.tmem_metadata>
  blockscale.copy_metadata %m[%i] to %e : !metadata to !e
  // CHECK: blockscale.mma <{{.*}}, sparse = true> %{{.*}} scales %{{.*}}, %{{.*}} metadata %[[E]] accumulate %{{.*}} steps [#blockscale.step<a = 0, b = 0, sfa_column = 0, sfa_id = 0, sfb_column = 0, sfb_id = 0>, #blockscale.step<a = 32, b = 64, sfa_column = 0, sfa_id = 2, sfb_column = 0, sfb_id = 2, metadata_column = 2>]
  blockscale.mma #instruction %acc[%i], %a, %b stage %i scales %sf, %sf metadata %e accumulate %first
    steps [#blockscale.step<a = 0, b = 0, sfa_column = 0, sfa_id = 0, sfb_column = 0, sfb_id = 0>, #blockscale.step<a = 32, b = 64, sfa_column = 0, sfa_id = 2, sfb_column = 0, sfb_id = 2, metadata_column = 2>]
    : !acc, !a, !b scales !sf, !sf metadata !e
  return
}
