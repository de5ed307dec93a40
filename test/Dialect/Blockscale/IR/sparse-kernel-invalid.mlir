// What the verifiers of sparse kernel ops refuse.

// RUN: blockscale-opt %s -split-input-file -verify-diagnostics

#instruction = #blockscale.mma<kind = mxf4, a = e2m1, b = e2m1, scale = ue8m0, block = 32, m = 128, n = 64, k = 128, sparse = true>
!a = !blockscale.shared<4x128x128xf4E2M1FN, container = 4, swizzle = "64B">
!b = !blockscale.shared<4x64x256xf4E2M1FN, container = 4, swizzle = "128B">
!metadata = !blockscale.shared<4x1x128x16xi8, container = 8>
!acc = !blockscale.tmem<2x128x64xf32, #blockscale.tmem_accumulator>
!sf = !blockscale.tmem<128x4xi8, #blockscale.tmem_scales<word_stride = 4>>
!e = !blockscale.tmem<128x16xi8, #blockscale.tmem_metadata>

func.func @no_metadata(%a: !a, %b: !b, %acc: !acc, %sf: !sf, %i: i32, %first: i1) {
  // expected-error @below {{expected 'metadata' with a sparse instruction, and only then}}
  blockscale.mma #instruction %acc[%i], %a, %b stage %i scales %sf, %sf accumulate %first : !acc, !a, !b scales !sf, !sf
  return
}

// -----

#instruction = #blockscale.mma<kind = mxf4, a = e2m1, b = e2m1, scale = ue8m0, block = 32, m = 128, n = 64, k = 128, sparse = true>
!a = !blockscale.shared<4x128x128xf4E2M1FN, container = 4, swizzle = "64B">
!b = !blockscale.shared<4x64x256xf4E2M1FN, container = 4, swizzle = "128B">
!metadata = !blockscale.shared<4x1x128x16xi8, container = 8>
!acc = !blockscale.tmem<2x128x64xf32, #blockscale.tmem_accumulator>
!sf = !blockscale.tmem<128x4xi8, #blockscale.tmem_scales<word_stride = 4>>
!e = !blockscale.tmem<128x16xi8, #blockscale.tmem_metadata>

func.func @scales_as_metadata(%a: !a, %b: !b, %acc: !acc, %sf: !sf, %i: i32, %first: i1) {
  // expected-error @below {{expected metadata behind 'metadata'}}
  blockscale.mma #instruction %acc[%i], %a, %b stage %i scales %sf, %sf metadata %sf accumulate %first : !acc, !a, !b scales !sf, !sf metadata !sf
  return
}

// -----

#instruction = #blockscale.mma<kind = mxf4, a = e2m1, b = e2m1, scale = ue8m0, block = 32, m = 128, n = 64, k = 128, sparse = true>
!a = !blockscale.shared<4x128x128xf4E2M1FN, container = 4, swizzle = "64B">
!b = !blockscale.shared<4x64x256xf4E2M1FN, container = 4, swizzle = "128B">
!metadata = !blockscale.shared<4x1x128x16xi8, container = 8>
!acc = !blockscale.tmem<2x128x64xf32, #blockscale.tmem_accumulator>
!sf = !blockscale.tmem<128x4xi8, #blockscale.tmem_scales<word_stride = 4>>
!e = !blockscale.tmem<128x16xi8, #blockscale.tmem_metadata>

func.func @metadata_as_scales(%a: !a, %b: !b, %acc: !acc, %e: !e, %i: i32, %first: i1) {
  // expected-error @below {{expected scales behind 'scales'}}
  blockscale.mma #instruction %acc[%i], %a, %b stage %i scales %e, %e metadata %e accumulate %first : !acc, !a, !b scales !e, !e metadata !e
  return
}

// -----

#instruction = #blockscale.mma<kind = mxf4, a = e2m1, b = e2m1, scale = ue8m0, block = 32, m = 128, n = 64, k = 128, sparse = true>
!a = !blockscale.shared<4x128x128xf4E2M1FN, container = 4, swizzle = "64B">
!b = !blockscale.shared<4x64x256xf4E2M1FN, container = 4, swizzle = "128B">
!metadata = !blockscale.shared<4x1x128x16xi8, container = 8>
!acc = !blockscale.tmem<2x128x64xf32, #blockscale.tmem_accumulator>
!sf = !blockscale.tmem<128x4xi8, #blockscale.tmem_scales<word_stride = 4>>
!e = !blockscale.tmem<128x16xi8, #blockscale.tmem_metadata>

func.func @whole_a(%b: !b, %acc: !acc, %sf: !sf, %e: !e, %i: i32, %first: i1, %a: !blockscale.shared<4x128x256xf4E2M1FN, container = 4, swizzle = "128B">) {
  // expected-error @below {{expected half as many elements of K in a stage of 'a' as of 'b', found 256 and 256}}
  blockscale.mma #instruction %acc[%i], %a, %b stage %i scales %sf, %sf metadata %e accumulate %first : !acc, !blockscale.shared<4x128x256xf4E2M1FN, container = 4, swizzle = "128B">, !b scales !sf, !sf metadata !e
  return
}

// -----

#instruction = #blockscale.mma<kind = mxf4, a = e2m1, b = e2m1, scale = ue8m0, block = 32, m = 128, n = 64, k = 128, sparse = true>
!a = !blockscale.shared<4x128x128xf4E2M1FN, container = 4, swizzle = "64B">
!b = !blockscale.shared<4x64x256xf4E2M1FN, container = 4, swizzle = "128B">
!metadata = !blockscale.shared<4x1x128x16xi8, container = 8>
!acc = !blockscale.tmem<2x128x64xf32, #blockscale.tmem_accumulator>
!sf = !blockscale.tmem<128x4xi8, #blockscale.tmem_scales<word_stride = 4>>
!e = !blockscale.tmem<128x16xi8, #blockscale.tmem_metadata>

func.func @odd_column(%a: !a, %b: !b, %acc: !acc, %sf: !sf, %e: !e, %i: i32, %first: i1) {
  // expected-error @below {{expected a metadata column that is a multiple of 2 within a region of 4, found 1}}
  blockscale.mma #instruction %acc[%i], %a, %b stage %i scales %sf, %sf metadata %e accumulate %first
    steps [#blockscale.step<a = 0, b = 0, sfa_column = 0, sfa_id = 0, sfb_column = 0, sfb_id = 0, metadata_column = 1>] : !acc, !a, !b scales !sf, !sf metadata !e
  return
}

// -----

#instruction = #blockscale.mma<kind = mxf4, a = e2m1, b = e2m1, scale = ue8m0, block = 32, m = 128, n = 64, k = 128, sparse = true>
!a = !blockscale.shared<4x128x128xf4E2M1FN, container = 4, swizzle = "64B">
!b = !blockscale.shared<4x64x256xf4E2M1FN, container = 4, swizzle = "128B">
!metadata = !blockscale.shared<4x1x128x16xi8, container = 8>
!acc = !blockscale.tmem<2x128x64xf32, #blockscale.tmem_accumulator>
!sf = !blockscale.tmem<128x4xi8, #blockscale.tmem_scales<word_stride = 4>>
!e = !blockscale.tmem<128x16xi8, #blockscale.tmem_metadata>

func.func @column_behind(%a: !a, %b: !b, %acc: !acc, %sf: !sf, %e: !e, %i: i32, %first: i1) {
  // expected-error @below {{expected a metadata column that is a multiple of 2 within a region of 4, found 4}}
  blockscale.mma #instruction %acc[%i], %a, %b stage %i scales %sf, %sf metadata %e accumulate %first
    steps [#blockscale.step<a = 0, b = 0, sfa_column = 0, sfa_id = 0, sfb_column = 0, sfb_id = 0, metadata_column = 4>] : !acc, !a, !b scales !sf, !sf metadata !e
  return
}

// -----

#instruction = #blockscale.mma<kind = mxf4, a = e2m1, b = e2m1, scale = ue8m0, block = 32, m = 128, n = 64, k = 128, sparse = true>
!a = !blockscale.shared<4x128x128xf4E2M1FN, container = 4, swizzle = "64B">
!b = !blockscale.shared<4x64x256xf4E2M1FN, container = 4, swizzle = "128B">
!metadata = !blockscale.shared<4x1x128x16xi8, container = 8>
!acc = !blockscale.tmem<2x128x64xf32, #blockscale.tmem_accumulator>
!sf = !blockscale.tmem<128x4xi8, #blockscale.tmem_scales<word_stride = 4>>
!e = !blockscale.tmem<128x16xi8, #blockscale.tmem_metadata>

func.func @odd_id(%a: !a, %b: !b, %acc: !acc, %sf: !sf, %e: !e, %i: i32, %first: i1) {
  // expected-error @below {{scale id 1 is not legal for kind 'mxf4' with blocks of 32}}
  blockscale.mma #instruction %acc[%i], %a, %b stage %i scales %sf, %sf metadata %e accumulate %first
    steps [#blockscale.step<a = 0, b = 0, sfa_column = 0, sfa_id = 1, sfb_column = 0, sfb_id = 0>] : !acc, !a, !b scales !sf, !sf metadata !e
  return
}

// -----

#instruction = #blockscale.mma<kind = mxf4, a = e2m1, b = e2m1, scale = ue8m0, block = 32, m = 128, n = 64, k = 128, sparse = true>
!a = !blockscale.shared<4x128x128xf4E2M1FN, container = 4, swizzle = "64B">
!b = !blockscale.shared<4x64x256xf4E2M1FN, container = 4, swizzle = "128B">
!metadata = !blockscale.shared<4x1x128x16xi8, container = 8>
!acc = !blockscale.tmem<2x128x64xf32, #blockscale.tmem_accumulator>
!sf = !blockscale.tmem<128x4xi8, #blockscale.tmem_scales<word_stride = 4>>
!e = !blockscale.tmem<128x16xi8, #blockscale.tmem_metadata>

func.func @copy_rows(%m: !blockscale.shared<4x1x64x16xi8, container = 8>, %e: !e, %i: i32) {
  // expected-error @below {{expected a ring of stages x tiles x 128 rows x 16 bytes without swizzle}}
  blockscale.copy_metadata %m[%i] to %e : !blockscale.shared<4x1x64x16xi8, container = 8> to !e
  return
}

// -----

#instruction = #blockscale.mma<kind = mxf4, a = e2m1, b = e2m1, scale = ue8m0, block = 32, m = 128, n = 64, k = 128, sparse = true>
!a = !blockscale.shared<4x128x128xf4E2M1FN, container = 4, swizzle = "64B">
!b = !blockscale.shared<4x64x256xf4E2M1FN, container = 4, swizzle = "128B">
!metadata = !blockscale.shared<4x1x128x16xi8, container = 8>
!acc = !blockscale.tmem<2x128x64xf32, #blockscale.tmem_accumulator>
!sf = !blockscale.tmem<128x4xi8, #blockscale.tmem_scales<word_stride = 4>>
!e = !blockscale.tmem<128x16xi8, #blockscale.tmem_metadata>

func.func @copy_target(%m: !metadata, %sf: !sf, %i: i32) {
  // expected-error @below {{expected metadata as the target}}
  blockscale.copy_metadata %m[%i] to %sf : !metadata to !sf
  return
}

// -----

#instruction = #blockscale.mma<kind = mxf4, a = e2m1, b = e2m1, scale = ue8m0, block = 32, m = 128, n = 64, k = 128, sparse = true>
!a = !blockscale.shared<4x128x128xf4E2M1FN, container = 4, swizzle = "64B">
!b = !blockscale.shared<4x64x256xf4E2M1FN, container = 4, swizzle = "128B">
!metadata = !blockscale.shared<4x1x128x16xi8, container = 8>
!acc = !blockscale.tmem<2x128x64xf32, #blockscale.tmem_accumulator>
!sf = !blockscale.tmem<128x4xi8, #blockscale.tmem_scales<word_stride = 4>>
!e = !blockscale.tmem<128x16xi8, #blockscale.tmem_metadata>

func.func @copy_size(%m: !blockscale.shared<4x2x128x16xi8, container = 8>, %e: !e, %i: i32) {
  // expected-error @below {{a stage holds 32 bytes per row, the target takes 16}}
  blockscale.copy_metadata %m[%i] to %e : !blockscale.shared<4x2x128x16xi8, container = 8> to !e
  return
}

// -----

// expected-error @below {{expected metadata of 128 rows x bytes per row of i8}}
func.func private @rows(!blockscale.tmem<64x16xi8, #blockscale.tmem_metadata>)

// -----

#mma = #blockscale.mma<kind = f16, a = bf16, b = bf16, m = 128, n = 64, k = 32, sparse = true>
#schedule = #blockscale.schedule<tile_m = 128, tile_n = 64, tile_k = 128, stages = 4, accumulators = 2, swap_operands = false, group_m = 8>
!map = !blockscale.tensor_map<u8, dims = ()[m, n, k, l] -> (k, m), strides = ()[m, n, k, l] -> (k), box = [128, 128], swizzle = "128B">

func.func @kernel_without_metadata(%m: !map, %d: !blockscale.global<f32>, %i: i32) {
  // expected-error @below {{expected metadata of 'a' with a sparse instruction, and only then}}
  blockscale.kernel_matmul a(%m) b(%m) d(%d) sizes(%i, %i, %i, %i)
    mma #mma schedule #schedule : !map, !map, !blockscale.global<f32>
  return
}

// -----

#mma = #blockscale.mma<kind = f16, a = bf16, b = bf16, m = 128, n = 64, k = 16>
#schedule = #blockscale.schedule<tile_m = 128, tile_n = 64, tile_k = 64, stages = 4, accumulators = 2, swap_operands = false, group_m = 8>
!map = !blockscale.tensor_map<u8, dims = ()[m, n, k, l] -> (k, m), strides = ()[m, n, k, l] -> (k), box = [128, 128], swizzle = "128B">

func.func @dense_kernel_with_metadata(%m: !map, %d: !blockscale.global<f32>, %i: i32) {
  // expected-error @below {{expected metadata of 'a' with a sparse instruction, and only then}}
  blockscale.kernel_matmul a(%m) b(%m) metadata(%m) d(%d) sizes(%i, %i, %i, %i)
    mma #mma schedule #schedule : !map, !map, !blockscale.global<f32> metadata !map
  return
}
