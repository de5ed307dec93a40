// RUN: blockscale-opt %s | FileCheck %s
// RUN: blockscale-opt %s | blockscale-opt | FileCheck %s
// RUN: blockscale-opt %s -canonicalize -cse | FileCheck %s

!map = !blockscale.tensor_map<bf16, dims = ()[m, n, k, l] -> (n, m, l), strides = ()[m, n, k, l] -> (n * 2, (m * n) * 2), box = [32, 32, 1], swizzle = "64B">
!ring = !blockscale.shared<8x32x32xbf16, container = 16, swizzle = "64B">

// CHECK-LABEL: func.func @stores
func.func @stores(%map: !map, %row: vector<32xbf16>, %box: i32) {
  %ring = blockscale.shared_alloc : !ring
  // CHECK: blockscale.await_stores pending 1
  blockscale.await_stores pending 1
  // CHECK: blockscale.stage_row %{{.*}} to %{{.*}} stage %{{.*}} : vector<32xbf16> to <8x32x32xbf16, container = 16, swizzle = "64B">
  blockscale.stage_row %row to %ring stage %box : vector<32xbf16> to !ring
  // CHECK: blockscale.tma_store %{{.*}} stage %{{.*}} to %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] : <8x32x32xbf16, container = 16, swizzle = "64B"> to <bf16
  blockscale.tma_store %ring stage %box to %map[%box, %box, %box] : !ring to !map
  // CHECK: blockscale.await_stores pending 0
  blockscale.await_stores pending 0
  return
}

!addends = !blockscale.shared<16x32x8xf32, container = 32, swizzle = "32B">

// CHECK-LABEL: func.func @addends
func.func @addends(%box: i32) -> vector<8xf32> {
  %ring = blockscale.shared_alloc : !addends
  // CHECK: blockscale.load_staged_row %{{.*}} stage %{{.*}} : <16x32x8xf32, container = 32, swizzle = "32B"> -> vector<8xf32>
  %0 = blockscale.load_staged_row %ring stage %box : !addends -> vector<8xf32>
  return %0 : vector<8xf32>
}

!bytes = !blockscale.shared<1x528xi8, container = 8>

// CHECK-LABEL: func.func @exchange
func.func @exchange(%piece: vector<16xi8>, %place: i32) -> vector<16xi8> {
  %bytes = blockscale.shared_alloc : !bytes
  // CHECK: blockscale.store_shared %{{.*}} to %{{.*}}[%{{.*}}] : vector<16xi8> to <1x528xi8, container = 8>
  blockscale.store_shared %piece to %bytes[%place] : vector<16xi8> to !bytes
  gpu.barrier
  // CHECK: blockscale.load_shared %{{.*}}[%{{.*}}] : <1x528xi8, container = 8> -> vector<16xi8>
  %0 = blockscale.load_shared %bytes[%place] : !bytes -> vector<16xi8>
  return %0 : vector<16xi8>
}
