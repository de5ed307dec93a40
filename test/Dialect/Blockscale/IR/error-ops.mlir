// RUN: blockscale-opt %s | blockscale-opt | FileCheck %s
// RUN: blockscale-opt %s --mlir-print-op-generic | blockscale-opt | FileCheck %s

// CHECK-LABEL: func.func @errors(
// CHECK-SAME: %[[X:.*]]: f32, %[[Y:.*]]: f32)
func.func @errors(%x: f32, %y: f32) -> (vector<2xf32>, vector<8xf32>) {
  // CHECK: %{{.*}}, %{{.*}} = blockscale.rounding_errors %[[X]], %[[Y]] as f8E4M3FN
  %c, %d = blockscale.rounding_errors %x, %y as f8E4M3FN
  // CHECK: %{{.*}}, %{{.*}} = blockscale.rounding_errors %[[X]], %[[Y]], %[[X]], %[[Y]], %[[X]], %[[X]], %[[Y]], %[[Y]] as f4E2M1FN
  %e, %f = blockscale.rounding_errors %x, %y, %x, %y, %x, %x, %y, %y as f4E2M1FN
  return %d, %f : vector<2xf32>, vector<8xf32>
}

// CHECK-LABEL: func.func @sums(
// CHECK-SAME: %[[X:.*]]: f32, %[[V:.*]]: vector<2xf32>)
func.func @sums(%x: f32, %v: vector<2xf32>) -> (f32, vector<2xf32>) {
  // CHECK: blockscale.add_towards_zero %[[X]], %[[X]] : f32
  %0 = blockscale.add_towards_zero %x, %x : f32
  // CHECK: blockscale.add_towards_zero %[[V]], %[[V]] : vector<2xf32>
  %1 = blockscale.add_towards_zero %v, %v : vector<2xf32>
  return %0, %1 : f32, vector<2xf32>
}

// CHECK-LABEL: func.func @products(
// CHECK-SAME: %[[X:.*]]: f32, %[[V:.*]]: vector<2xf32>)
func.func @products(%x: f32, %v: vector<2xf32>) -> (f32, vector<2xf32>) {
  // CHECK: blockscale.multiply_towards_zero %[[X]], %[[X]] : f32
  %0 = blockscale.multiply_towards_zero %x, %x : f32
  // CHECK: blockscale.multiply_towards_zero %[[V]], %[[V]] : vector<2xf32>
  %1 = blockscale.multiply_towards_zero %v, %v : vector<2xf32>
  return %0, %1 : f32, vector<2xf32>
}

// CHECK-LABEL: func.func @halves(
// CHECK-SAME: %[[S:.*]]: i32, %[[W:.*]]: i32)
func.func @halves(%s: i32, %w: i32) -> (i32, i32) {
  // CHECK: blockscale.add_half %[[S]], 64 * lower %[[W]]
  %0 = blockscale.add_half %s, 64 * lower %w
  // CHECK: blockscale.add_half %[[W]], 255 * upper %[[S]]
  %1 = blockscale.add_half %w, 255 * upper %s
  return %0, %1 : i32, i32
}
