// Matrix instructions that do not read what they are given.

// RUN: blockscale-opt %s -split-input-file -verify-diagnostics

!acc = !blockscale.tmem<2x128x128xf32, #blockscale.tmem_accumulator>
!a = !blockscale.shared<4x128x256xf4E2M1FN, container = 4, swizzle = "128B">
!b = !blockscale.shared<4x128x256xf4E2M1FN, container = 4, swizzle = "128B">
!sfa = !blockscale.tmem<128x16xi8, #blockscale.tmem_scales<word_stride = 4>>
!sfb = !blockscale.tmem<128x16xi8, #blockscale.tmem_scales<word_stride = 4>>
func.func @mma_m64(%acc: !acc, %a: !a, %b: !b, %sfa: !sfa, %sfb: !sfb, %i: i32, %t: i1) {
  // expected-error @below {{M = 64 is not legal for dense 'mxf4nvf4' with cta_group 1 on 'sm_100a': expected 128; nearest legal: M = 128}}
  blockscale.mma <kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 64, n = 128, k = 64>
    %acc[%i], %a, %b stage %i scales %sfa, %sfb accumulate %t : !acc, !a, !b scales !sfa, !sfb
  return
}

// -----

!acc = !blockscale.tmem<2x128x128xf32, #blockscale.tmem_accumulator>
!a = !blockscale.shared<4x128x256xf4E2M1FN, container = 4, swizzle = "128B">
!b = !blockscale.shared<4x128x256xf4E2M1FN, container = 4, swizzle = "128B">
!sfa = !blockscale.tmem<128x16xi8, #blockscale.tmem_scales<word_stride = 4>>
!sfb = !blockscale.tmem<128x16xi8, #blockscale.tmem_scales<word_stride = 4>>
func.func @mma_wraps(%acc: !acc, %a: !a, %b: !b, %sfa: !sfa, %sfb: !sfb, %i: i32, %t: i1) {
  // expected-error @below {{expected 'k' of 8 or 16 or 32 or 64 or 96 or 128, found 4294967360}}
  blockscale.mma <kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 128, k = 4294967360>
    %acc[%i], %a, %b stage %i scales %sfa, %sfb accumulate %t : !acc, !a, !b scales !sfa, !sfb
  return
}

// -----

!acc = !blockscale.tmem<2x128x128xf32, #blockscale.tmem_accumulator>
!a = !blockscale.shared<4x128x256xf4E2M1FN, container = 4, swizzle = "128B">
!b = !blockscale.shared<4x128x256xf4E2M1FN, container = 4, swizzle = "128B">
!sfa = !blockscale.tmem<128x16xi8, #blockscale.tmem_scales<word_stride = 4>>
!sfb = !blockscale.tmem<128x16xi8, #blockscale.tmem_scales<word_stride = 4>>
func.func @mma_accumulator(%acc: !acc, %a: !a, %b: !b, %sfa: !sfa, %sfb: !sfb, %i: i32, %t: i1) {
  // expected-error @below {{expected an accumulator of 64 columns}}
  blockscale.mma <kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 64, k = 64>
    %acc[%i], %a, %b stage %i scales %sfa, %sfb accumulate %t : !acc, !a, !b scales !sfa, !sfb
  return
}

// -----

!acc = !blockscale.tmem<2x128x128xf32, #blockscale.tmem_accumulator>
!a = !blockscale.shared<4x128x256xf4E2M1FN, container = 4, swizzle = "128B">
!b = !blockscale.shared<4x128x256xf4E2M1FN, container = 4, swizzle = "128B">
!sfa = !blockscale.tmem<128x16xi8, #blockscale.tmem_scales<word_stride = 4>>
!sfb = !blockscale.tmem<2x128x128xf32, #blockscale.tmem_accumulator>
func.func @mma_scales_region(%acc: !acc, %a: !a, %b: !b, %sfa: !sfa, %sfb: !sfb, %i: i32, %t: i1) {
  // expected-error @below {{expected scales behind 'scales'}}
  blockscale.mma <kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 128, k = 64>
    %acc[%i], %a, %b stage %i scales %sfa, %sfb accumulate %t : !acc, !a, !b scales !sfa, !sfb
  return
}

// -----

!acc = !blockscale.tmem<2x128x128xf32, #blockscale.tmem_accumulator>
!a = !blockscale.shared<4x1x128x256xf4E2M1FN, container = 4, swizzle = "128B">
!b = !blockscale.shared<4x128x256xf4E2M1FN, container = 4, swizzle = "128B">
!sfa = !blockscale.tmem<128x16xi8, #blockscale.tmem_scales<word_stride = 4>>
!sfb = !blockscale.tmem<128x16xi8, #blockscale.tmem_scales<word_stride = 4>>
func.func @mma_ring_rank(%acc: !acc, %a: !a, %b: !b, %sfa: !sfa, %sfb: !sfb, %i: i32, %t: i1) {
  // expected-error @below {{expected 'a' to be a ring of stages x rows x K}}
  blockscale.mma <kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 128, k = 64>
    %acc[%i], %a, %b stage %i scales %sfa, %sfb accumulate %t : !acc, !a, !b scales !sfa, !sfb
  return
}

// -----

!acc = !blockscale.tmem<2x128x128xf32, #blockscale.tmem_accumulator>
!a = !blockscale.shared<4x128x128xf8E4M3FN, container = 8, swizzle = "128B">
!b = !blockscale.shared<4x128x128xf8E4M3FN, container = 8, swizzle = "128B">
!sfa = !blockscale.tmem<128x4xi8, #blockscale.tmem_scales<word_stride = 4>>
!sfb = !blockscale.tmem<128x4xi8, #blockscale.tmem_scales<word_stride = 4>>
func.func @mma_mn_ring_rank(%acc: !acc, %a: !a, %b: !b, %sfa: !sfa, %sfb: !sfb, %i: i32, %t: i1) {
  // expected-error @below {{expected 'b' to be a ring of stages x row groups x K x rows}}
  blockscale.mma <kind = mxf8f6f4, a = e4m3, b = e4m3, scale = ue8m0, block = 32, m = 128, n = 128, k = 32, b_mn_major = true>
    %acc[%i], %a, %b stage %i scales %sfa, %sfb accumulate %t : !acc, !a, !b scales !sfa, !sfb
  return
}

// -----

!acc = !blockscale.tmem<2x128x128xf32, #blockscale.tmem_accumulator>
!a = !blockscale.shared<4x128x256xf4E2M1FN, container = 4, swizzle = "128B">
!b = !blockscale.shared<4x128x256xf4E2M1FN, container = 8, swizzle = "128B">
!sfa = !blockscale.tmem<128x16xi8, #blockscale.tmem_scales<word_stride = 4>>
!sfb = !blockscale.tmem<128x16xi8, #blockscale.tmem_scales<word_stride = 4>>
func.func @mma_container(%acc: !acc, %a: !a, %b: !b, %sfa: !sfa, %sfb: !sfb, %i: i32, %t: i1) {
  // expected-error @below {{expected 'b' in containers of 4 bits, found 8}}
  blockscale.mma <kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 128, k = 64>
    %acc[%i], %a, %b stage %i scales %sfa, %sfb accumulate %t : !acc, !a, !b scales !sfa, !sfb
  return
}

// -----

!acc = !blockscale.tmem<2x128x128xf32, #blockscale.tmem_accumulator>
!a = !blockscale.shared<4x128x64xf4E2M1FN, container = 4, swizzle = "128B">
!b = !blockscale.shared<4x128x256xf4E2M1FN, container = 4, swizzle = "128B">
!sfa = !blockscale.tmem<128x16xi8, #blockscale.tmem_scales<word_stride = 4>>
!sfb = !blockscale.tmem<128x16xi8, #blockscale.tmem_scales<word_stride = 4>>
func.func @mma_tile(%acc: !acc, %a: !a, %b: !b, %sfa: !sfa, %sfb: !sfb, %i: i32, %t: i1) {
  // expected-error @below {{operand 'a': a row of 64 elements of 4 bits is not a multiple of the 128 bytes of swizzle '128B'}}
  blockscale.mma <kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 128, k = 64>
    %acc[%i], %a, %b stage %i scales %sfa, %sfb accumulate %t : !acc, !a, !b scales !sfa, !sfb
  return
}

// -----

!acc = !blockscale.tmem<2x128x128xf32, #blockscale.tmem_accumulator>
!a = !blockscale.shared<4x64x256xf4E2M1FN, container = 4, swizzle = "128B">
!b = !blockscale.shared<4x128x256xf4E2M1FN, container = 4, swizzle = "128B">
!sfa = !blockscale.tmem<128x16xi8, #blockscale.tmem_scales<word_stride = 4>>
!sfb = !blockscale.tmem<128x16xi8, #blockscale.tmem_scales<word_stride = 4>>
func.func @mma_rows(%acc: !acc, %a: !a, %b: !b, %sfa: !sfa, %sfb: !sfb, %i: i32, %t: i1) {
  // expected-error @below {{expected at least 128 rows in 'a', found 64}}
  blockscale.mma <kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 128, k = 64>
    %acc[%i], %a, %b stage %i scales %sfa, %sfb accumulate %t : !acc, !a, !b scales !sfa, !sfb
  return
}

// -----

!acc = !blockscale.tmem<2x128x128xf32, #blockscale.tmem_accumulator>
!a = !blockscale.shared<4x128x256xf4E2M1FN, container = 4, swizzle = "128B">
!b = !blockscale.shared<2x128x512xf4E2M1FN, container = 4, swizzle = "128B">
!sfa = !blockscale.tmem<128x16xi8, #blockscale.tmem_scales<word_stride = 4>>
!sfb = !blockscale.tmem<128x16xi8, #blockscale.tmem_scales<word_stride = 4>>
func.func @mma_k(%acc: !acc, %a: !a, %b: !b, %sfa: !sfa, %sfb: !sfb, %i: i32, %t: i1) {
  // expected-error @below {{expected the same elements of K in a stage of 'a' and 'b', found 256 and 512}}
  blockscale.mma <kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 128, k = 64>
    %acc[%i], %a, %b stage %i scales %sfa, %sfb accumulate %t : !acc, !a, !b scales !sfa, !sfb
  return
}

// -----

!acc = !blockscale.tmem<2x128x128xf32, #blockscale.tmem_accumulator>
!a = !blockscale.shared<4x128x256xf4E2M1FN, container = 4, swizzle = "128B">
!b = !blockscale.shared<4x128x256xf4E2M1FN, container = 4, swizzle = "128B">
!sfa = !blockscale.tmem<128x16xi8, #blockscale.tmem_scales<word_stride = 4>>
!sfb = !blockscale.tmem<128x16xi8, #blockscale.tmem_scales<word_stride = 4>>
func.func @step_id(%acc: !acc, %a: !a, %b: !b, %sfa: !sfa, %sfb: !sfb, %i: i32, %t: i1) {
  // expected-error @below {{scale id 2 is not legal for kind 'mxf4nvf4' with blocks of 16}}
  blockscale.mma <kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 128, k = 64>
    %acc[%i], %a, %b stage %i scales %sfa, %sfb accumulate %t steps [#blockscale.step<a = 0, b = 0, sfa_column = 0, sfa_id = 0, sfb_column = 0, sfb_id = 2>] : !acc, !a, !b scales !sfa, !sfb
  return
}

// -----

!acc = !blockscale.tmem<2x128x128xf32, #blockscale.tmem_accumulator>
!a = !blockscale.shared<4x128x256xf4E2M1FN, container = 4, swizzle = "128B">
!b = !blockscale.shared<4x128x256xf4E2M1FN, container = 4, swizzle = "128B">
!sfa = !blockscale.tmem<128x16xi8, #blockscale.tmem_scales<word_stride = 4>>
!sfb = !blockscale.tmem<128x16xi8, #blockscale.tmem_scales<word_stride = 4>>
func.func @step_id_wraps(%acc: !acc, %a: !a, %b: !b, %sfa: !sfa, %sfb: !sfb, %i: i32, %t: i1) {
  // expected-error @+2 {{expected 'sfa_id' of 0 to 3, found 4294967296}}
  blockscale.mma <kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 128, k = 64>
    %acc[%i], %a, %b stage %i scales %sfa, %sfb accumulate %t steps [#blockscale.step<a = 0, b = 0, sfa_column = 0, sfa_id = 4294967296, sfb_column = 0, sfb_id = 0>] : !acc, !a, !b scales !sfa, !sfb
  return
}

// -----

!acc = !blockscale.tmem<2x128x128xf32, #blockscale.tmem_accumulator>
!a = !blockscale.shared<4x128x256xf4E2M1FN, container = 4, swizzle = "128B">
!b = !blockscale.shared<4x128x256xf4E2M1FN, container = 4, swizzle = "128B">
!sfa = !blockscale.tmem<128x16xi8, #blockscale.tmem_scales<word_stride = 4>>
!sfb = !blockscale.tmem<128x16xi8, #blockscale.tmem_scales<word_stride = 4>>
func.func @step_odd_id(%acc: !acc, %a: !a, %b: !b, %sfa: !sfa, %sfb: !sfb, %i: i32, %t: i1) {
  // expected-error @below {{scale id 1 is not legal for kind 'mxf4' with blocks of 32}}
  blockscale.mma <kind = mxf4, a = e2m1, b = e2m1, scale = ue8m0, block = 32, m = 128, n = 128, k = 64>
    %acc[%i], %a, %b stage %i scales %sfa, %sfb accumulate %t steps [#blockscale.step<a = 0, b = 0, sfa_column = 0, sfa_id = 1, sfb_column = 0, sfb_id = 0>] : !acc, !a, !b scales !sfa, !sfb
  return
}

// -----

!acc = !blockscale.tmem<2x128x128xf32, #blockscale.tmem_accumulator>
!a = !blockscale.shared<4x128x256xf4E2M1FN, container = 4, swizzle = "128B">
!b = !blockscale.shared<4x128x256xf4E2M1FN, container = 4, swizzle = "128B">
!sfa = !blockscale.tmem<128x16xi8, #blockscale.tmem_scales<word_stride = 4>>
!sfb = !blockscale.tmem<128x16xi8, #blockscale.tmem_scales<word_stride = 4>>
func.func @step_offset(%acc: !acc, %a: !a, %b: !b, %sfa: !sfa, %sfb: !sfb, %i: i32, %t: i1) {
  // expected-error @below {{expected operand offsets in whole 16 bytes, found 24}}
  blockscale.mma <kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 128, k = 64>
    %acc[%i], %a, %b stage %i scales %sfa, %sfb accumulate %t steps [#blockscale.step<a = 0, b = 24, sfa_column = 0, sfa_id = 0, sfb_column = 0, sfb_id = 0>] : !acc, !a, !b scales !sfa, !sfb
  return
}

// -----

!acc = !blockscale.tmem<2x128x128xf32, #blockscale.tmem_accumulator>
!a = !blockscale.shared<4x128x256xf4E2M1FN, container = 4, swizzle = "128B">
!b = !blockscale.shared<4x128x256xf4E2M1FN, container = 4, swizzle = "128B">
!sfa = !blockscale.tmem<128x16xi8, #blockscale.tmem_scales<word_stride = 4>>
!sfb = !blockscale.tmem<128x16xi8, #blockscale.tmem_scales<word_stride = 4>>
func.func @step_column(%acc: !acc, %a: !a, %b: !b, %sfa: !sfa, %sfb: !sfb, %i: i32, %t: i1) {
  // expected-error @below {{scale columns 0 and 16 are not within regions of 16 and 16}}
  blockscale.mma <kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 128, k = 64>
    %acc[%i], %a, %b stage %i scales %sfa, %sfb accumulate %t steps [#blockscale.step<a = 0, b = 0, sfa_column = 0, sfa_id = 0, sfb_column = 16, sfb_id = 0>] : !acc, !a, !b scales !sfa, !sfb
  return
}

// -----

!acc = !blockscale.tmem<2x128x128xf32, #blockscale.tmem_accumulator>
!a = !blockscale.shared<4x128x256xf4E2M1FN, container = 4, swizzle = "128B">
!b = !blockscale.shared<4x128x256xf4E2M1FN, container = 4, swizzle = "128B">
!sfa = !blockscale.tmem<128x16xi8, #blockscale.tmem_scales<word_stride = 4>>
!sfb = !blockscale.tmem<128x16xi8, #blockscale.tmem_scales<word_stride = 4>>
func.func @step_negative_column(%acc: !acc, %a: !a, %b: !b, %sfa: !sfa, %sfb: !sfb, %i: i32, %t: i1) {
  // expected-error @+2 {{expected 'sfa_column' of 0 to 575, found -4}}
  blockscale.mma <kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 128, k = 64>
    %acc[%i], %a, %b stage %i scales %sfa, %sfb accumulate %t steps [#blockscale.step<a = 0, b = 0, sfa_column = -4, sfa_id = 0, sfb_column = 0, sfb_id = 0>] : !acc, !a, !b scales !sfa, !sfb
  return
}
