// What the verifiers of kernel ops refuse of instructions without scales.

// RUN: blockscale-opt %s -split-input-file -verify-diagnostics

#half = #blockscale.mma<kind = f16, a = f16, b = f16, m = 128, n = 64, k = 32, sparse = true>
#bytes = #blockscale.mma<kind = f8f6f4, a = e4m3, b = e5m2, m = 128, n = 64, k = 64, sparse = true>
#dense = #blockscale.mma<kind = f16, a = f16, b = f16, m = 128, n = 64, k = 16>
!a = !blockscale.shared<4x128x64xf16, container = 16, swizzle = "128B">
!b = !blockscale.shared<4x64x128xf16, container = 16, swizzle = "128B">
!bytesA = !blockscale.shared<4x128x64xi8, container = 8, swizzle = "64B">
!bytesB = !blockscale.shared<4x64x128xi8, container = 8, swizzle = "128B">
!acc = !blockscale.tmem<2x128x64xf32, #blockscale.tmem_accumulator>
!sum = !blockscale.tmem<2x128x64xi32, #blockscale.tmem_accumulator>
!sf = !blockscale.tmem<128x4xi8, #blockscale.tmem_scales<word_stride = 4>>
!e = !blockscale.tmem<128x16xi8, #blockscale.tmem_metadata>

func.func @scales(%a: !a, %b: !b, %acc: !acc, %sf: !sf, %e: !e, %i: i32, %first: i1) {
  // expected-error @below {{expected 'scales' with a block-scaled kind, and only then}}
  blockscale.mma #half %acc[%i], %a, %b stage %i scales %sf, %sf metadata %e accumulate %first : !acc, !a, !b scales !sf, !sf metadata !e
  return
}

// -----

#half = #blockscale.mma<kind = f16, a = f16, b = f16, m = 128, n = 64, k = 32, sparse = true>
#bytes = #blockscale.mma<kind = f8f6f4, a = e4m3, b = e5m2, m = 128, n = 64, k = 64, sparse = true>
#dense = #blockscale.mma<kind = f16, a = f16, b = f16, m = 128, n = 64, k = 16>
!a = !blockscale.shared<4x128x64xf16, container = 16, swizzle = "128B">
!b = !blockscale.shared<4x64x128xf16, container = 16, swizzle = "128B">
!bytesA = !blockscale.shared<4x128x64xi8, container = 8, swizzle = "64B">
!bytesB = !blockscale.shared<4x64x128xi8, container = 8, swizzle = "128B">
!acc = !blockscale.tmem<2x128x64xf32, #blockscale.tmem_accumulator>
!sum = !blockscale.tmem<2x128x64xi32, #blockscale.tmem_accumulator>
!sf = !blockscale.tmem<128x4xi8, #blockscale.tmem_scales<word_stride = 4>>
!e = !blockscale.tmem<128x16xi8, #blockscale.tmem_metadata>

func.func @shift(%a: !a, %b: !b, %acc: !acc, %e: !e, %i: i32, %first: i1) {
  // expected-error @below {{'shift' moves the scales of 'b', which kind 'f16' does not have}}
  blockscale.mma #half %acc[%i], %a, %b stage %i metadata %e accumulate %first shift %i : !acc, !a, !b metadata !e
  return
}

// -----

#half = #blockscale.mma<kind = f16, a = f16, b = f16, m = 128, n = 64, k = 32, sparse = true>
#bytes = #blockscale.mma<kind = f8f6f4, a = e4m3, b = e5m2, m = 128, n = 64, k = 64, sparse = true>
#dense = #blockscale.mma<kind = f16, a = f16, b = f16, m = 128, n = 64, k = 16>
!a = !blockscale.shared<4x128x64xf16, container = 16, swizzle = "128B">
!b = !blockscale.shared<4x64x128xf16, container = 16, swizzle = "128B">
!bytesA = !blockscale.shared<4x128x64xi8, container = 8, swizzle = "64B">
!bytesB = !blockscale.shared<4x64x128xi8, container = 8, swizzle = "128B">
!acc = !blockscale.tmem<2x128x64xf32, #blockscale.tmem_accumulator>
!sum = !blockscale.tmem<2x128x64xi32, #blockscale.tmem_accumulator>
!sf = !blockscale.tmem<128x4xi8, #blockscale.tmem_scales<word_stride = 4>>
!e = !blockscale.tmem<128x16xi8, #blockscale.tmem_metadata>

func.func @accumulator(%a: !a, %b: !b, %acc: !sum, %e: !e, %i: i32, %first: i1) {
  // expected-error @below {{expected an accumulator of 'f32' for kind 'f16', found 'i32'}}
  blockscale.mma #half %acc[%i], %a, %b stage %i metadata %e accumulate %first : !sum, !a, !b metadata !e
  return
}

// -----

#half = #blockscale.mma<kind = f16, a = f16, b = f16, m = 128, n = 64, k = 32, sparse = true>
#bytes = #blockscale.mma<kind = f8f6f4, a = e4m3, b = e5m2, m = 128, n = 64, k = 64, sparse = true>
#dense = #blockscale.mma<kind = f16, a = f16, b = f16, m = 128, n = 64, k = 16>
!a = !blockscale.shared<4x128x64xf16, container = 16, swizzle = "128B">
!b = !blockscale.shared<4x64x128xf16, container = 16, swizzle = "128B">
!bytesA = !blockscale.shared<4x128x64xi8, container = 8, swizzle = "64B">
!bytesB = !blockscale.shared<4x64x128xi8, container = 8, swizzle = "128B">
!acc = !blockscale.tmem<2x128x64xf32, #blockscale.tmem_accumulator>
!sum = !blockscale.tmem<2x128x64xi32, #blockscale.tmem_accumulator>
!sf = !blockscale.tmem<128x4xi8, #blockscale.tmem_scales<word_stride = 4>>
!e = !blockscale.tmem<128x16xi8, #blockscale.tmem_metadata>

func.func @container(%a: !bytesA, %b: !bytesB, %acc: !acc, %e: !e, %i: i32, %first: i1) {
  // expected-error @below {{expected 'a' in containers of 16 bits, found 8}}
  blockscale.mma #half %acc[%i], %a, %b stage %i metadata %e accumulate %first : !acc, !bytesA, !bytesB metadata !e
  return
}

// -----

#half = #blockscale.mma<kind = f16, a = f16, b = f16, m = 128, n = 64, k = 32, sparse = true>
#bytes = #blockscale.mma<kind = f8f6f4, a = e4m3, b = e5m2, m = 128, n = 64, k = 64, sparse = true>
#dense = #blockscale.mma<kind = f16, a = f16, b = f16, m = 128, n = 64, k = 16>
!a = !blockscale.shared<4x128x64xf16, container = 16, swizzle = "128B">
!b = !blockscale.shared<4x64x128xf16, container = 16, swizzle = "128B">
!bytesA = !blockscale.shared<4x128x64xi8, container = 8, swizzle = "64B">
!bytesB = !blockscale.shared<4x64x128xi8, container = 8, swizzle = "128B">
!acc = !blockscale.tmem<2x128x64xf32, #blockscale.tmem_accumulator>
!sum = !blockscale.tmem<2x128x64xi32, #blockscale.tmem_accumulator>
!sf = !blockscale.tmem<128x4xi8, #blockscale.tmem_scales<word_stride = 4>>
!e = !blockscale.tmem<128x16xi8, #blockscale.tmem_metadata>

func.func @scale_column(%a: !a, %b: !b, %acc: !acc, %e: !e, %i: i32, %first: i1) {
  // expected-error @below {{expected columns and ids of scales in each step of a block-scaled kind, and only there}}
  blockscale.mma #half %acc[%i], %a, %b stage %i metadata %e accumulate %first steps [#blockscale.step<a = 0, b = 0, sfa_column = 0, sfa_id = 0, sfb_column = 0, sfb_id = 0>] : !acc, !a, !b metadata !e
  return
}

// -----

#half = #blockscale.mma<kind = f16, a = f16, b = f16, m = 128, n = 64, k = 32, sparse = true>
#bytes = #blockscale.mma<kind = f8f6f4, a = e4m3, b = e5m2, m = 128, n = 64, k = 64, sparse = true>
#dense = #blockscale.mma<kind = f16, a = f16, b = f16, m = 128, n = 64, k = 16>
!a = !blockscale.shared<4x128x64xf16, container = 16, swizzle = "128B">
!b = !blockscale.shared<4x64x128xf16, container = 16, swizzle = "128B">
!bytesA = !blockscale.shared<4x128x64xi8, container = 8, swizzle = "64B">
!bytesB = !blockscale.shared<4x64x128xi8, container = 8, swizzle = "128B">
!acc = !blockscale.tmem<2x128x64xf32, #blockscale.tmem_accumulator>
!sum = !blockscale.tmem<2x128x64xi32, #blockscale.tmem_accumulator>
!sf = !blockscale.tmem<128x4xi8, #blockscale.tmem_scales<word_stride = 4>>
!e = !blockscale.tmem<128x16xi8, #blockscale.tmem_metadata>

func.func @odd_column(%a: !a, %b: !b, %acc: !acc, %e: !e, %i: i32, %first: i1) {
  // expected-error @below {{expected a metadata column that is a multiple of 2 within a region of 4, found 1}}
  blockscale.mma #half %acc[%i], %a, %b stage %i metadata %e accumulate %first steps [#blockscale.step<a = 0, b = 0, metadata_column = 1>] : !acc, !a, !b metadata !e
  return
}

// -----

#half = #blockscale.mma<kind = f16, a = f16, b = f16, m = 128, n = 64, k = 32, sparse = true>
#bytes = #blockscale.mma<kind = f8f6f4, a = e4m3, b = e5m2, m = 128, n = 64, k = 64, sparse = true>
#dense = #blockscale.mma<kind = f16, a = f16, b = f16, m = 128, n = 64, k = 16>
!a = !blockscale.shared<4x128x64xf16, container = 16, swizzle = "128B">
!b = !blockscale.shared<4x64x128xf16, container = 16, swizzle = "128B">
!bytesA = !blockscale.shared<4x128x64xi8, container = 8, swizzle = "64B">
!bytesB = !blockscale.shared<4x64x128xi8, container = 8, swizzle = "128B">
!acc = !blockscale.tmem<2x128x64xf32, #blockscale.tmem_accumulator>
!sum = !blockscale.tmem<2x128x64xi32, #blockscale.tmem_accumulator>
!sf = !blockscale.tmem<128x4xi8, #blockscale.tmem_scales<word_stride = 4>>
!e = !blockscale.tmem<128x16xi8, #blockscale.tmem_metadata>

func.func @outside(%a: !a, %b: !b, %acc: !acc, %e: !e, %i: i32, %first: i1) {
  // expected-error @below {{expected a metadata column that is a multiple of 2 within a region of 4, found 4}}
  blockscale.mma #half %acc[%i], %a, %b stage %i metadata %e accumulate %first steps [#blockscale.step<a = 0, b = 0, metadata_column = 4>] : !acc, !a, !b metadata !e
  return
}

// -----

#half = #blockscale.mma<kind = f16, a = f16, b = f16, m = 128, n = 64, k = 32, sparse = true>
#bytes = #blockscale.mma<kind = f8f6f4, a = e4m3, b = e5m2, m = 128, n = 64, k = 64, sparse = true>
#dense = #blockscale.mma<kind = f16, a = f16, b = f16, m = 128, n = 64, k = 16>
!a = !blockscale.shared<4x128x64xf16, container = 16, swizzle = "128B">
!b = !blockscale.shared<4x64x128xf16, container = 16, swizzle = "128B">
!bytesA = !blockscale.shared<4x128x64xi8, container = 8, swizzle = "64B">
!bytesB = !blockscale.shared<4x64x128xi8, container = 8, swizzle = "128B">
!acc = !blockscale.tmem<2x128x64xf32, #blockscale.tmem_accumulator>
!sum = !blockscale.tmem<2x128x64xi32, #blockscale.tmem_accumulator>
!sf = !blockscale.tmem<128x4xi8, #blockscale.tmem_scales<word_stride = 4>>
!e = !blockscale.tmem<128x16xi8, #blockscale.tmem_metadata>

func.func @selector(%a: !a, %b: !b, %acc: !acc, %e: !e, %i: i32, %first: i1) {
  // expected-error @below {{expected a 'selector' of 0 or 1 for kind 'f16', found 2}}
  blockscale.mma #half %acc[%i], %a, %b stage %i metadata %e accumulate %first steps [#blockscale.step<a = 0, b = 0, selector = 2>] : !acc, !a, !b metadata !e
  return
}

// -----

#half = #blockscale.mma<kind = f16, a = f16, b = f16, m = 128, n = 64, k = 32, sparse = true>
#bytes = #blockscale.mma<kind = f8f6f4, a = e4m3, b = e5m2, m = 128, n = 64, k = 64, sparse = true>
#dense = #blockscale.mma<kind = f16, a = f16, b = f16, m = 128, n = 64, k = 16>
!a = !blockscale.shared<4x128x64xf16, container = 16, swizzle = "128B">
!b = !blockscale.shared<4x64x128xf16, container = 16, swizzle = "128B">
!bytesA = !blockscale.shared<4x128x64xi8, container = 8, swizzle = "64B">
!bytesB = !blockscale.shared<4x64x128xi8, container = 8, swizzle = "128B">
!acc = !blockscale.tmem<2x128x64xf32, #blockscale.tmem_accumulator>
!sum = !blockscale.tmem<2x128x64xi32, #blockscale.tmem_accumulator>
!sf = !blockscale.tmem<128x4xi8, #blockscale.tmem_scales<word_stride = 4>>
!e = !blockscale.tmem<128x16xi8, #blockscale.tmem_metadata>

func.func @selector_of_bytes(%a: !bytesA, %b: !bytesB, %acc: !acc, %e: !e, %i: i32, %first: i1) {
  // expected-error @below {{expected a 'selector' of 0 for kind 'f8f6f4', found 1}}
  blockscale.mma #bytes %acc[%i], %a, %b stage %i metadata %e accumulate %first steps [#blockscale.step<a = 0, b = 0, selector = 1>] : !acc, !bytesA, !bytesB metadata !e
  return
}

// -----

#half = #blockscale.mma<kind = f16, a = f16, b = f16, m = 128, n = 64, k = 32, sparse = true>
#bytes = #blockscale.mma<kind = f8f6f4, a = e4m3, b = e5m2, m = 128, n = 64, k = 64, sparse = true>
#dense = #blockscale.mma<kind = f16, a = f16, b = f16, m = 128, n = 64, k = 16>
!a = !blockscale.shared<4x128x64xf16, container = 16, swizzle = "128B">
!b = !blockscale.shared<4x64x128xf16, container = 16, swizzle = "128B">
!bytesA = !blockscale.shared<4x128x64xi8, container = 8, swizzle = "64B">
!bytesB = !blockscale.shared<4x64x128xi8, container = 8, swizzle = "128B">
!acc = !blockscale.tmem<2x128x64xf32, #blockscale.tmem_accumulator>
!sum = !blockscale.tmem<2x128x64xi32, #blockscale.tmem_accumulator>
!sf = !blockscale.tmem<128x4xi8, #blockscale.tmem_scales<word_stride = 4>>
!e = !blockscale.tmem<128x16xi8, #blockscale.tmem_metadata>

func.func @dense_selector(%a: !a, %b: !a, %acc: !acc, %i: i32, %first: i1) {
  // expected-error @below {{a dense instruction has no 'metadata_column' and no 'selector'}}
  blockscale.mma #dense %acc[%i], %a, %b stage %i accumulate %first steps [#blockscale.step<a = 0, b = 0, selector = 1>] : !acc, !a, !a
  return
}

// -----

#half = #blockscale.mma<kind = f16, a = f16, b = f16, m = 128, n = 64, k = 32, sparse = true>
#bytes = #blockscale.mma<kind = f8f6f4, a = e4m3, b = e5m2, m = 128, n = 64, k = 64, sparse = true>
#dense = #blockscale.mma<kind = f16, a = f16, b = f16, m = 128, n = 64, k = 16>
!a = !blockscale.shared<4x128x64xf16, container = 16, swizzle = "128B">
!b = !blockscale.shared<4x64x128xf16, container = 16, swizzle = "128B">
!bytesA = !blockscale.shared<4x128x64xi8, container = 8, swizzle = "64B">
!bytesB = !blockscale.shared<4x64x128xi8, container = 8, swizzle = "128B">
!acc = !blockscale.tmem<2x128x64xf32, #blockscale.tmem_accumulator>
!sum = !blockscale.tmem<2x128x64xi32, #blockscale.tmem_accumulator>
!sf = !blockscale.tmem<128x4xi8, #blockscale.tmem_scales<word_stride = 4>>
!e = !blockscale.tmem<128x16xi8, #blockscale.tmem_metadata>

func.func @load(%acc: !sum, %i: i32, %first: i1) {
  // expected-error @below {{the accumulator holds 'i32', the vector 'f32'}}
  %0 = blockscale.load_accumulator %acc[%i] column %i : !sum -> vector<32xf32>
  return
}
