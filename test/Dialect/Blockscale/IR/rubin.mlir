// RUN: blockscale-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// Types of sm_107: ue5m3 scales, which have no builtin type, and scales of A in
// tiles of 128 x 16, one row behind the other.

!rows = !blockscale.tensor<256x512xf4E2M1FN, "e5m3fn_t16", layout = tiled_128x16>
// CHECK-LABEL: func @parts
func.func @parts(%data: tensor<256x512xf4E2M1FN>, %scales: tensor<2x2x128x16xi8>) -> !rows {
  // CHECK: blockscale.assemble {{.*}} to !blockscale.tensor<256x512xf4E2M1FN, "e5m3fn_t16", layout = tiled_128x16>
  %0 = blockscale.assemble %data, %scales : tensor<256x512xf4E2M1FN>, tensor<2x2x128x16xi8> to !rows
  return %0 : !rows
}

// -----

!plain = !blockscale.tensor<200x512xf8E4M3FN, "e8m0_t32">
!rows = !blockscale.tensor<200x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x16>
// CHECK-LABEL: func @relayout
func.func @relayout(%x: !plain) -> !rows {
  // CHECK: blockscale.relayout
  %0 = blockscale.relayout %x : !plain to !rows
  return %0 : !rows
}

// -----

// expected-error @below {{layout 'tiled_128x16' is of scales alone, but the tensor has metadata too; expected 'tiled_128x4'}}
func.func private @sparse(!blockscale.tensor<256x512xf8E4M3FN, "e8m0_t32n2m4", layout = tiled_128x16>)

// -----

// expected-error @below {{layout 'tiled_128x16' is of scales, but the tensor has none}}
func.func private @unscaled(!blockscale.tensor<256x512xf8E4M3FN, layout = tiled_128x16>)

// -----

// expected-error @below {{layout 'tiled_128x16' holds scales of one byte (e8m0, e4m3fn, e5m3fn), but those of 'float32_t32' are float32}}
func.func private @wide(!blockscale.tensor<256x512xf8E4M3FN, "float32_t32", layout = tiled_128x16>)

// -----

module attributes {blockscale.target = #blockscale.target<sm_107a>} {
  // CHECK-LABEL: func @exclusive
  func.func @exclusive(%s: !blockscale.shared<1x1xi32, container = 32>) {
    // CHECK: blockscale.tmem_alloc %{{.*}} columns(576) pair
    blockscale.tmem_alloc %s columns(576) pair : !blockscale.shared<1x1xi32, container = 32>
    // CHECK: blockscale.tmem_view %{{.*}} column(320)
    %0 = blockscale.tmem_view %s column(320) : !blockscale.shared<1x1xi32, container = 32> -> !blockscale.tmem<2x128x128xf32, #blockscale.tmem_accumulator>
    blockscale.tmem_dealloc %s columns(576) pair : !blockscale.shared<1x1xi32, container = 32>
    return
  }
}

// -----

module attributes {blockscale.target = #blockscale.target<sm_107a>} {
  func.func @step(%s: !blockscale.shared<1x1xi32, container = 32>) {
    // expected-error @below {{more than 512 columns of tensor memory are allocated in steps of 32; found 560, the next larger is 576}}
    blockscale.tmem_alloc %s columns(560) : !blockscale.shared<1x1xi32, container = 32>
    return
  }
}

// -----

module attributes {blockscale.target = #blockscale.target<sm_107a>} {
  func.func @too_many(%s: !blockscale.shared<1x1xi32, container = 32>) {
    // expected-error @below {{tensor memory of sm_107 has 576 columns, 608 are asked for (PTX ISA 9.4, tcgen05.alloc [T]; ptxas takes more [P])}}
    blockscale.tmem_alloc %s columns(608) : !blockscale.shared<1x1xi32, container = 32>
    return
  }
}

// -----

module attributes {blockscale.target = #blockscale.target<sm_107a>} {
  func.func @view(%s: !blockscale.shared<1x1xi32, container = 32>) {
    // expected-error @below {{256 columns from column 321 on are not within the 576 columns of tensor memory}}
    %0 = blockscale.tmem_view %s column(321) : !blockscale.shared<1x1xi32, container = 32> -> !blockscale.tmem<2x128x128xf32, #blockscale.tmem_accumulator>
    return
  }
}

// -----

#wide = #blockscale.mma<kind = mxf8f6f4, a = e4m3, b = e2m1, scale = ue8m0, block = 32, m = 128, n = 128, k = 64>
!acc = !blockscale.tmem<2x128x128xf32, #blockscale.tmem_accumulator>
!scales = !blockscale.tmem<128x4xi8, #blockscale.tmem_scales<word_stride = 4>>
!ring_a = !blockscale.shared<4x128x128xf8E4M3FN, container = 8, swizzle = "128B">
!ring_b = !blockscale.shared<4x128x128xf4E2M1FN, container = 4, swizzle = "64B">
module attributes {blockscale.target = #blockscale.target<sm_107a>} {
  // Packed elements of 4 bits beside bytes, and two instructions that share B.
  // CHECK-LABEL: func @packed
  func.func @packed(%acc: !acc, %a: !ring_a, %b: !ring_b, %sf: !scales, %i: i32, %p: i1) {
    // CHECK: range <part = 0, begin = 0, end = 64> collector fill scales
    blockscale.mma #wide %acc[%i], %a, %b stage %i range <part = 0, begin = 0, end = 64> collector fill scales %sf, %sf accumulate %p : !acc, !ring_a, !ring_b scales !scales, !scales
    // CHECK: collector last_use
    blockscale.mma #wide %acc[%i], %a, %b stage %i range <part = 0, begin = 0, end = 64> collector last_use scales %sf, %sf accumulate %p : !acc, !ring_a, !ring_b scales !scales, !scales
    return
  }
}

// -----

#wide = #blockscale.mma<kind = mxf8f6f4, a = e4m3, b = e2m1, scale = ue8m0, block = 32, m = 128, n = 128, k = 64>
!acc = !blockscale.tmem<2x128x128xf32, #blockscale.tmem_accumulator>
!scales = !blockscale.tmem<128x4xi8, #blockscale.tmem_scales<word_stride = 4>>
!ring_a = !blockscale.shared<4x128x128xf8E4M3FN, container = 8, swizzle = "128B">
!padded = !blockscale.shared<4x128x128xf4E2M1FN, container = 8, swizzle = "128B">
module attributes {blockscale.target = #blockscale.target<sm_107a>} {
  func.func @padded(%acc: !acc, %a: !ring_a, %b: !padded, %sf: !scales, %i: i32, %p: i1) {
    // expected-error @below {{expected 'b' in containers of 4 bits, found 8}}
    blockscale.mma #wide %acc[%i], %a, %b stage %i scales %sf, %sf accumulate %p : !acc, !ring_a, !padded scales !scales, !scales
    return
  }
}

// -----

#wide = #blockscale.mma<kind = mxf8f6f4, a = e4m3, b = e4m3, scale = ue8m0, block = 32, m = 128, n = 128, k = 64>
!acc = !blockscale.tmem<2x128x128xf32, #blockscale.tmem_accumulator>
!scales = !blockscale.tmem<128x4xi8, #blockscale.tmem_scales<word_stride = 4>>
!ring = !blockscale.shared<4x128x128xf8E4M3FN, container = 8, swizzle = "128B">
module attributes {blockscale.target = #blockscale.target<sm_107a>} {
  func.func @whole_stage(%acc: !acc, %a: !ring, %b: !ring, %sf: !scales, %i: i32, %p: i1) {
    // expected-error @below {{'collector' goes with one dense instruction; expected a 'range' of at most 64 elements in one stage}}
    blockscale.mma #wide %acc[%i], %a, %b stage %i collector fill scales %sf, %sf accumulate %p : !acc, !ring, !ring scales !scales, !scales
    return
  }
}

// -----

#narrow = #blockscale.mma<kind = mxf8f6f4, a = e4m3, b = e4m3, scale = ue8m0, block = 32, m = 128, n = 128, k = 32>
!acc = !blockscale.tmem<2x128x128xf32, #blockscale.tmem_accumulator>
!scales = !blockscale.tmem<128x4xi8, #blockscale.tmem_scales<word_stride = 4>>
!ring = !blockscale.shared<4x128x128xf8E4M3FN, container = 8, swizzle = "128B">
module attributes {blockscale.target = #blockscale.target<sm_103a>} {
  func.func @elsewhere(%acc: !acc, %a: !ring, %b: !ring, %sf: !scales, %i: i32, %p: i1) {
    // expected-error @below {{'tcgen05.mma .collector::b' does not exist on 'sm_103a'; it exists on sm_107a, sm_107f}}
    blockscale.mma #narrow %acc[%i], %a, %b stage %i range <part = 0, begin = 0, end = 32> collector fill scales %sf, %sf accumulate %p : !acc, !ring, !ring scales !scales, !scales
    return
  }
}

// -----

#wide = #blockscale.mma<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 128, k = 128>
!acc = !blockscale.tmem<2x128x128xf32, #blockscale.tmem_accumulator>
!rows = !blockscale.tmem<128x16xi8, #blockscale.tmem_scales<word_stride = 1>>
!scales = !blockscale.tmem<128x16xi8, #blockscale.tmem_scales<word_stride = 4>>
!ring = !blockscale.shared<4x128x256xf4E2M1FN, container = 4, swizzle = "128B">
!tiles = !blockscale.shared<4x1x128x16xi8, container = 8>
module attributes {blockscale.target = #blockscale.target<sm_107a>} {
  // Scales of A with one row to a lane take 4 columns for 16 scales of each row.
  // CHECK-LABEL: func @row_per_lane
  func.func @row_per_lane(%acc: !acc, %a: !ring, %b: !ring, %s: !tiles, %sfb: !scales, %slot: !blockscale.shared<1x1xi32, container = 32>, %i: i32, %p: i1) {
    // CHECK: column(572)
    %sfa = blockscale.tmem_view %slot column(572) : !blockscale.shared<1x1xi32, container = 32> -> !rows
    // CHECK: mask_scales
    blockscale.mask_scales %s[%i] valid %i : !tiles
    // CHECK: copy_scales
    blockscale.copy_scales %s[%i] to %sfa : !tiles to !rows
    blockscale.mma #wide %acc[%i], %a, %b stage %i scales %sfa, %sfb accumulate %p : !acc, !ring, !ring scales !rows, !scales
    return
  }
}

// -----

#wide = #blockscale.mma<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 128, k = 128>
!acc = !blockscale.tmem<2x128x128xf32, #blockscale.tmem_accumulator>
!rows = !blockscale.tmem<128x16xi8, #blockscale.tmem_scales<word_stride = 1>>
!ring = !blockscale.shared<4x128x256xf4E2M1FN, container = 4, swizzle = "128B">
module attributes {blockscale.target = #blockscale.target<sm_107a>} {
  func.func @rows_of_b(%acc: !acc, %a: !ring, %b: !ring, %sf: !rows, %i: i32, %p: i1) {
    // expected-error @below {{only scales of 'a' have one row to a lane}}
    blockscale.mma #wide %acc[%i], %a, %b stage %i scales %sf, %sf accumulate %p : !acc, !ring, !ring scales !rows, !rows
    return
  }
}

// -----

#narrow = #blockscale.mma<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 128, k = 64>
!acc = !blockscale.tmem<2x128x128xf32, #blockscale.tmem_accumulator>
!rows = !blockscale.tmem<128x16xi8, #blockscale.tmem_scales<word_stride = 1>>
!scales = !blockscale.tmem<128x16xi8, #blockscale.tmem_scales<word_stride = 4>>
!ring = !blockscale.shared<4x128x256xf4E2M1FN, container = 4, swizzle = "128B">
module attributes {blockscale.target = #blockscale.target<sm_103a>} {
  func.func @rows_elsewhere(%acc: !acc, %a: !ring, %b: !ring, %sfa: !rows, %sfb: !scales, %i: i32, %p: i1) {
    // expected-error @below {{'scales of A with one row to a lane (descriptor bit 26)' does not exist on 'sm_103a'; it exists on sm_107a, sm_107f}}
    blockscale.mma #narrow %acc[%i], %a, %b stage %i scales %sfa, %sfb accumulate %p : !acc, !ring, !ring scales !rows, !scales
    return
  }
}

// -----

!rows = !blockscale.tmem<128x16xi8, #blockscale.tmem_scales<word_stride = 1>>
!atoms = !blockscale.shared<4x1x4x512xi8, container = 8>
func.func @atoms_to_rows(%s: !atoms, %t: !rows, %i: i32) {
  // expected-error @below {{expected a ring of stages x tiles x 128 rows x 16 scales without swizzle for scales with one row to a lane}}
  blockscale.copy_scales %s[%i] to %t : !atoms to !rows
  return
}

// -----

!rows = !blockscale.tmem<128x16xi8, #blockscale.tmem_scales<word_stride = 1>>
!tiles = !blockscale.shared<4x2x128x16xi8, container = 8>
func.func @too_many_rows(%s: !tiles, %t: !rows, %i: i32) {
  // expected-error @below {{a stage holds 32 scales of each row, the target takes 16 from word 0 on}}
  blockscale.copy_scales %s[%i] to %t : !tiles to !rows
  return
}

// -----

!scales = !blockscale.tmem<128x16xi8, #blockscale.tmem_scales<word_stride = 4>>
!tiles = !blockscale.shared<4x1x128x16xi8, container = 8>
func.func @rows_to_atoms(%s: !tiles, %t: !scales, %i: i32) {
  // expected-error @below {{expected a ring of stages x row groups x words x 512 bytes without swizzle}}
  blockscale.copy_scales %s[%i] to %t : !tiles to !scales
  return
}

// -----

// expected-error @below {{expected a word stride of 4 to 512 columns for 128 rows, found 2}}
func.func private @two(!blockscale.tmem<128x16xi8, #blockscale.tmem_scales<word_stride = 2>>)
