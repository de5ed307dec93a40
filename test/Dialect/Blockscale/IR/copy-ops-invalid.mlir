// Loads and copies whose ends do not hold the same.

// RUN: blockscale-opt %s -split-input-file -verify-diagnostics

!map = !blockscale.tensor_map<u4x16_align8b, dims = ()[m, n, k, l] -> (k, m), strides = ()[m, n, k, l] -> (k), box = [256, 128], swizzle = "128B">
!ring = !blockscale.shared<4x128x256xf4E2M1FN, container = 4, swizzle = "128B">
func.func @coordinates(%m: !map, %r: !ring, %b: !blockscale.barrier<4>, %i: i32) {
  // expected-error @below {{expected 2 coordinates, found 3}}
  blockscale.tma_load %m[%i, %i, %i] to %r signal %b stage %i : !map to !ring, !blockscale.barrier<4>
  return
}

// -----

!map = !blockscale.tensor_map<u4x16_align8b, dims = ()[m, n, k, l] -> (k, m), strides = ()[m, n, k, l] -> (k), box = [256, 128], swizzle = "128B">
func.func @prefetched(%m: !map, %i: i32) {
  // expected-error @below {{expected 2 coordinates, found 1}}
  blockscale.tma_prefetch %m[%i] : !map
  return
}

// -----

!map = !blockscale.tensor_map<u4x16_align8b, dims = ()[m, n, k, l] -> (k, m), strides = ()[m, n, k, l] -> (k), box = [256, 128], swizzle = "128B">
!ring = !blockscale.shared<4x128x256xf4E2M1FN, container = 4, swizzle = "128B">
func.func @gather_of_boxes(%m: !map, %r: !ring, %b: !blockscale.barrier<4>, %i: i32, %v: vector<4xi32>) {
  // expected-error @below {{expected a tensor map of 2 dimensions with a box of one row}}
  blockscale.tma_gather %m[%i] rows %v to %r signal %b stage %i place %i : !map to !ring, !blockscale.barrier<4>, vector<4xi32>
  return
}

// -----

!map = !blockscale.tensor_map<u4x16_align8b, dims = ()[m, n, k, l] -> (k, m), strides = ()[m, n, k, l] -> (k), box = [256, 1], swizzle = "128B">
!ring = !blockscale.shared<4x128x256xf4E2M1FN, container = 4>
func.func @gather_swizzles(%m: !map, %r: !ring, %b: !blockscale.barrier<4>, %i: i32, %v: vector<4xi32>) {
  // expected-error @below {{the tensor map's swizzle 128B is not the stage's, none}}
  blockscale.tma_gather %m[%i] rows %v to %r signal %b stage %i place %i : !map to !ring, !blockscale.barrier<4>, vector<4xi32>
  return
}

// -----

!map = !blockscale.tensor_map<u4x16_align8b, dims = ()[m, n, k, l] -> (k, m), strides = ()[m, n, k, l] -> (k), box = [256, 128], swizzle = "128B">
!ring = !blockscale.shared<4x128x256xf4E2M1FN, container = 4>
func.func @swizzles(%m: !map, %r: !ring, %b: !blockscale.barrier<4>, %i: i32) {
  // expected-error @below {{the tensor map's swizzle 128B is not the stage's, none}}
  blockscale.tma_load %m[%i, %i] to %r signal %b stage %i : !map to !ring, !blockscale.barrier<4>
  return
}

// -----

!map = !blockscale.tensor_map<u4x16_align8b, dims = ()[m, n, k, l] -> (k, m), strides = ()[m, n, k, l] -> (k), box = [256, 128], swizzle = "128B">
!ring = !blockscale.shared<4x128x256xf4E2M1FN, container = 4, swizzle = "128B">
func.func @box(%m: !map, %r: !ring, %b: !blockscale.barrier<4>, %i: i32) {
  // expected-error @below {{box 1 of 16384 bytes is not within a stage of 16384 bytes}}
  blockscale.tma_load %m[%i, %i] to %r signal %b stage %i box 1 : !map to !ring, !blockscale.barrier<4>
  return
}

// -----

func.func @mask_ring(%r: !blockscale.shared<4x1x4x256xi8, container = 8>, %i: i32) {
  // expected-error @below {{expected a ring of stages x row groups x words x 512 bytes without swizzle}}
  blockscale.mask_scales %r[%i] valid %i : !blockscale.shared<4x1x4x256xi8, container = 8>
  return
}

// -----

func.func @copy_to_accumulator(%r: !blockscale.shared<4x1x4x512xi8, container = 8>, %t: !blockscale.tmem<2x128x128xf32, #blockscale.tmem_accumulator>, %i: i32) {
  // expected-error @below {{expected scales as the target}}
  blockscale.copy_scales %r[%i] to %t : !blockscale.shared<4x1x4x512xi8, container = 8> to !blockscale.tmem<2x128x128xf32, #blockscale.tmem_accumulator>
  return
}

// -----

func.func @copy_ring(%r: !blockscale.shared<4x4x512xi8, container = 8>, %t: !blockscale.tmem<128x16xi8, #blockscale.tmem_scales<word_stride = 4>>, %i: i32) {
  // expected-error @below {{expected a ring of stages x row groups x words x 512 bytes without swizzle}}
  blockscale.copy_scales %r[%i] to %t : !blockscale.shared<4x4x512xi8, container = 8> to !blockscale.tmem<128x16xi8, #blockscale.tmem_scales<word_stride = 4>>
  return
}

// -----

func.func @copy_extents(%r: !blockscale.shared<4x2x4x512xi8, container = 8>, %t: !blockscale.tmem<128x16xi8, #blockscale.tmem_scales<word_stride = 4>>, %i: i32) {
  // expected-error @below {{a stage holds 256x16 scales, the target takes 128x16}}
  blockscale.copy_scales %r[%i] to %t : !blockscale.shared<4x2x4x512xi8, container = 8> to !blockscale.tmem<128x16xi8, #blockscale.tmem_scales<word_stride = 4>>
  return
}
