// RUN: blockscale-opt %s -split-input-file -verify-diagnostics -blockscale-assign-steps

!acc = !blockscale.tmem<2x128x128xf32, #blockscale.tmem_accumulator>
!ring = !blockscale.shared<4x128x128xf8E4M3FN, container = 8, swizzle = "128B">
!scales = !blockscale.tmem<128x4xi8, #blockscale.tmem_scales<word_stride = 4>>
func.func @nothing_valid(%acc: !acc, %ring: !ring, %scales: !scales, %i: i32, %t: i1) {
  %zero = arith.constant 0 : i32
  // expected-error @below {{expected at least 1 valid element of K, found 0}}
  blockscale.mma <kind = mxf8f6f4, a = e4m3, b = e4m3, scale = ue8m0, block = 32, m = 128, n = 128, k = 32>
    %acc[%i], %ring, %ring stage %i scales %scales, %scales accumulate %t valid %zero : !acc, !ring, !ring scales !scales, !scales
  return
}

// -----

// A stage of 256 bytes along K holds more scales than the region.
!acc = !blockscale.tmem<2x128x128xf32, #blockscale.tmem_accumulator>
!ring = !blockscale.shared<4x128x256xf8E4M3FN, container = 8, swizzle = "128B">
!scales = !blockscale.tmem<128x4xi8, #blockscale.tmem_scales<word_stride = 4>>
func.func @region_too_small(%acc: !acc, %ring: !ring, %scales: !scales, %i: i32, %t: i1) {
  // expected-error @below {{scale columns 4 and 4 are not within regions of 4 and 4}}
  blockscale.mma <kind = mxf8f6f4, a = e4m3, b = e4m3, scale = ue8m0, block = 32, m = 128, n = 128, k = 32>
    %acc[%i], %ring, %ring stage %i scales %scales, %scales accumulate %t : !acc, !ring, !ring scales !scales, !scales
  return
}
