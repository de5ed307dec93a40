// Stores by TMA that would not store what lanes wrote.

// RUN: blockscale-opt %s -split-input-file -verify-diagnostics

func.func @pending() {
  // expected-error @below {{expected a number of stores, found -1}}
  blockscale.await_stores pending -1
  return
}

// -----

!ring = !blockscale.shared<8x16x32xbf16, container = 16, swizzle = "64B">
func.func @rows(%row: vector<32xbf16>, %box: i32) {
  %ring = blockscale.shared_alloc : !ring
  // expected-error @below {{expected boxes of 32 rows of 64 bytes, found '!blockscale.shared<8x16x32xbf16, container = 16, swizzle = "64B">'}}
  blockscale.stage_row %row to %ring stage %box : vector<32xbf16> to !ring
  return
}

// -----

// Without the swizzle lanes would wait for each other's banks.
!ring = !blockscale.shared<8x32x32xbf16, container = 16>
func.func @width(%row: vector<32xbf16>, %box: i32) {
  %ring = blockscale.shared_alloc : !ring
  // expected-error @below {{expected boxes of 32 rows of 16 bytes}}
  blockscale.stage_row %row to %ring stage %box : vector<32xbf16> to !ring
  return
}

// -----

!ring = !blockscale.shared<8x32x32xbf16, container = 16, swizzle = "64B">
func.func @element(%row: vector<32xf16>, %box: i32) {
  %ring = blockscale.shared_alloc : !ring
  // expected-error @below {{expected a row of a box of '!blockscale.shared<8x32x32xbf16, container = 16, swizzle = "64B">', found 'vector<32xf16>'}}
  blockscale.stage_row %row to %ring stage %box : vector<32xf16> to !ring
  return
}

// -----

!map = !blockscale.tensor_map<bf16, dims = ()[m, n, k, l] -> (n, m), strides = ()[m, n, k, l] -> (n * 2), box = [32, 32], swizzle = "64B">
!ring = !blockscale.shared<8x32x32xbf16, container = 16, swizzle = "64B">
func.func @coordinates(%map: !map, %box: i32) {
  %ring = blockscale.shared_alloc : !ring
  // expected-error @below {{expected 2 coordinates, found 3}}
  blockscale.tma_store %ring stage %box to %map[%box, %box, %box] : !ring to !map
  return
}

// -----

!map = !blockscale.tensor_map<bf16, dims = ()[m, n, k, l] -> (n, m), strides = ()[m, n, k, l] -> (n * 2), box = [32, 32], swizzle = "128B">
!ring = !blockscale.shared<8x32x32xbf16, container = 16, swizzle = "64B">
func.func @swizzle(%map: !map, %box: i32) {
  %ring = blockscale.shared_alloc : !ring
  // expected-error @below {{the tensor map's swizzle 128B is not the box's, 64B}}
  blockscale.tma_store %ring stage %box to %map[%box, %box] : !ring to !map
  return
}

// -----

!map = !blockscale.tensor_map<bf16, dims = ()[m, n, k, l] -> (n, m), strides = ()[m, n, k, l] -> (n * 2), box = [32, 64], swizzle = "64B">
!ring = !blockscale.shared<8x32x32xbf16, container = 16, swizzle = "64B">
func.func @bytes(%map: !map, %box: i32) {
  %ring = blockscale.shared_alloc : !ring
  // expected-error @below {{the tensor map's box of 4096 bytes is not the ring's, of 2048}}
  blockscale.tma_store %ring stage %box to %map[%box, %box] : !ring to !map
  return
}

// -----

!map = !blockscale.tensor_map<u4x16_align8b, dims = ()[m, n, k, l] -> (k, m), strides = ()[m, n, k, l] -> (k), box = [256, 128], swizzle = "128B">
func.func @without_map(%m: !map, %d: !blockscale.global<bf16>, %i: i32) {
  // expected-error @below {{expected a tensor map of 'd' with 'stores' of 'tma', and only then}}
  blockscale.kernel_matmul a(%m) b(%m) scales(%m, %m) d(%d) sizes(%i, %i, %i, %i)
    mma <kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 128, k = 64>
    schedule<tile_m = 128, tile_n = 128, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8, stores = tma> : !map, !map, !blockscale.global<bf16> scales !map, !map
  return
}

// -----

!map = !blockscale.tensor_map<u4x16_align8b, dims = ()[m, n, k, l] -> (k, m), strides = ()[m, n, k, l] -> (k), box = [256, 128], swizzle = "128B">
!result = !blockscale.tensor_map<bf16, dims = ()[m, n, k, l] -> (n, m, l), strides = ()[m, n, k, l] -> (n * 2, (m * n) * 2), box = [32, 32, 1], swizzle = "64B">
func.func @dynamic(%m: !map, %d: !result, %i: i32) {
  // expected-error @below {{'stores' of 'tma' need rows of D of a static multiple of 16 bytes (cuTensorMapEncodeTiled, globalStrides), found a dynamic N; nearest legal: 'direct'}}
  blockscale.kernel_matmul a(%m) b(%m) scales(%m, %m) d(%d) sizes(%i, %i, %i, %i)
    mma <kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 128, k = 64>
    schedule<tile_m = 128, tile_n = 128, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8, stores = tma> : !map, !map, !result scales !map, !map
  return
}

// -----

!ring = !blockscale.shared<1x64xbf16, container = 16, swizzle = "128B">
func.func @moved(%i: i32) -> vector<8xbf16> {
  %ring = blockscale.shared_alloc : !ring
  // expected-error @below {{expected a ring of 'bf16' in containers of 16 bits without a swizzle, found '!blockscale.shared<1x64xbf16, container = 16, swizzle = "128B">'}}
  %0 = blockscale.load_shared %ring[%i] : !ring -> vector<8xbf16>
  return %0 : vector<8xbf16>
}

// -----

!ring = !blockscale.shared<1x64xi8, container = 8, swizzle = "none">
func.func @other_type(%i: i32, %value: vector<4xbf16>) {
  %ring = blockscale.shared_alloc : !ring
  // expected-error @below {{expected a ring of 'bf16' in containers of 16 bits without a swizzle}}
  blockscale.store_shared %value to %ring[%i] : vector<4xbf16> to !ring
  return
}

// -----

!ring = !blockscale.shared<1x64xi8, container = 8, swizzle = "none">
func.func @wide(%i: i32) -> vector<32xi8> {
  %ring = blockscale.shared_alloc : !ring
  // expected-error @below {{accesses a power of two of up to 16 bytes at once, found 'vector<32xi8>'}}
  %0 = blockscale.load_shared %ring[%i] : !ring -> vector<32xi8>
  return %0 : vector<32xi8>
}

// -----

!ring = !blockscale.shared<8x32x32xbf16, container = 16, swizzle = "64B">
func.func @loaded(%box: i32) -> vector<16xbf16> {
  %ring = blockscale.shared_alloc : !ring
  // expected-error @below {{expected a row of a box of '!blockscale.shared<8x32x32xbf16, container = 16, swizzle = "64B">', found 'vector<16xbf16>'}}
  %0 = blockscale.load_staged_row %ring stage %box : !ring -> vector<16xbf16>
  return %0 : vector<16xbf16>
}

// -----

!ring = !blockscale.shared<8x32x32xbf16, container = 16, swizzle = "32B">
func.func @loaded_width(%box: i32) -> vector<32xbf16> {
  %ring = blockscale.shared_alloc : !ring
  // expected-error @below {{expected boxes of 32 rows of 32 bytes}}
  %0 = blockscale.load_staged_row %ring stage %box : !ring -> vector<32xbf16>
  return %0 : vector<32xbf16>
}
