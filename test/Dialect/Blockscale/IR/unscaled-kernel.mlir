// Ops of kernels whose instructions have no scales.

// RUN: blockscale-opt %s | blockscale-opt | FileCheck %s
// RUN: blockscale-opt %s -mlir-print-op-generic | blockscale-opt | FileCheck %s

#half = #blockscale.mma<kind = f16, a = f16, b = f16, m = 128, n = 64, k = 32, sparse = true>
#dense = #blockscale.mma<kind = tf32, a = tf32, b = tf32, m = 128, n = 64, k = 8>
#integer = #blockscale.mma<kind = i8, a = int8, b = uint8, m = 128, n = 64, k = 64, sparse = true>
!a = !blockscale.shared<4x128x64xf16, container = 16, swizzle = "128B">
!b = !blockscale.shared<4x64x128xf16, container = 16, swizzle = "128B">
!denseA = !blockscale.shared<4x128x32xtf32, container = 32, swizzle = "128B">
!denseB = !blockscale.shared<4x64x32xtf32, container = 32, swizzle = "128B">
!integerA = !blockscale.shared<4x128x64xi8, container = 8, swizzle = "64B">
!integerB = !blockscale.shared<4x64x128xi8, container = 8, swizzle = "128B">
!acc = !blockscale.tmem<2x128x64xf32, #blockscale.tmem_accumulator>
!sum = !blockscale.tmem<2x128x64xi32, #blockscale.tmem_accumulator>
!e = !blockscale.tmem<128x16xi8, #blockscale.tmem_metadata>

// Two instructions share a word of metadata.
// CHECK-LABEL: func.func @half
func.func @half(%a: !a, %b: !b, %acc: !acc, %e: !e, %i: i32, %first: i1) {
  // CHECK: blockscale.mma <kind = f16, a = f16, b = f16, m = 128, n = 64, k = 32, sparse = true> %{{.*}} stage %{{.*}} metadata %{{.*}} accumulate %{{.*}} steps [#blockscale.step<a = 0, b = 0>, #blockscale.step<a = 32, b = 64, selector = 1>, #blockscale.step<a = 64, b = 8192, metadata_column = 2>] : <2x128x64xf32, {{.*}}> metadata
  blockscale.mma #half %acc[%i], %a, %b stage %i metadata %e accumulate %first
    steps [#blockscale.step<a = 0, b = 0>, #blockscale.step<a = 32, b = 64, selector = 1>, #blockscale.step<a = 64, b = 8192, metadata_column = 2>]
    : !acc, !a, !b metadata !e
  return
}

// CHECK-LABEL: func.func @dense
func.func @dense(%a: !denseA, %b: !denseB, %acc: !acc, %i: i32, %first: i1) {
  // CHECK: blockscale.mma <kind = tf32, {{.*}}> %{{.*}} stage %{{.*}} accumulate %{{.*}} steps [#blockscale.step<a = 32, b = 32>]
  blockscale.mma #dense %acc[%i], %a, %b stage %i accumulate %first
    steps [#blockscale.step<a = 32, b = 32>] : !acc, !denseA, !denseB
  return
}

// CHECK-LABEL: func.func @integer
func.func @integer(%a: !integerA, %b: !integerB, %sum: !sum, %e: !e, %d: !blockscale.global<i32>, %at: i64, %i: i32, %first: i1) {
  // CHECK: blockscale.mma <kind = i8, {{.*}}> %[[SUM:.*]][%[[I:.*]]], {{.*}} : <2x128x64xi32,
  blockscale.mma #integer %sum[%i], %a, %b stage %i metadata %e accumulate %first
    : !sum, !integerA, !integerB metadata !e
  // CHECK: %[[ROW:.*]] = blockscale.load_accumulator %[[SUM]][%[[I]]] column %[[I]] : <2x128x64xi32, {{.*}} -> vector<32xi32>
  %row = blockscale.load_accumulator %sum[%i] column %i : !sum -> vector<32xi32>
  // CHECK: blockscale.store_row %[[ROW]] to %{{.*}} : vector<32xi32> to <i32>
  blockscale.store_row %row to %d[%at] count %i : vector<32xi32> to !blockscale.global<i32>
  return
}
