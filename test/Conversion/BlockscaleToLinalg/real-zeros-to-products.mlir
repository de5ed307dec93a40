// Zero points in real units become elements of their own: ones under the negatives of
// the zero points, behind the elements under their scales.

// RUN: blockscale-opt %s --blockscale-real-zeros-to-products -verify-diagnostics | FileCheck %s

// CHECK-LABEL: @tiles
// CHECK-DAG: blockscale.assemble %{{.*}}, %{{.*}} : tensor<64x512xf8E4M3FN>, tensor<64x4xf32> to !blockscale.tensor<64x512xf8E4M3FN, "float32_t128">
// CHECK-DAG: blockscale.assemble %{{.*}}, %{{.*}} zeros(%{{.*}} : tensor<32x8xi8>) : tensor<32x512xi4>, tensor<32x8xf32> to !blockscale.tensor<32x512xui4, "float32_int8_t64">
// CHECK: blockscale.matmul
!tiles_a = !blockscale.tensor<64x256xf8E4M3FN, "float32_t128">
!tiles_b = !blockscale.tensor<32x256xui4, "float16_bfloat16_t64">
func.func @tiles(%a: !tiles_a, %b: !tiles_b) -> tensor<64x32xf32> {
  // expected-remark @below {{becomes a product of 2 times the K: zero points in real units are multiplied as elements of their own}}
  %0 = blockscale.matmul %a, %b : !tiles_a, !tiles_b -> tensor<64x32xf32>
  return %0 : tensor<64x32xf32>
}

// A scale for a row is repeated for the longest tile that divides K, one for a matrix is
// that of all rows.
// CHECK-LABEL: @both
// CHECK: to !blockscale.tensor<2x32x384xui4, "float32_int8_t0_t64">
// CHECK: to !blockscale.tensor<2x?x384xui8, "float32_float32_t0">
// CHECK: to !blockscale.tensor<2x?x768xui8, "float32_int8_t128">
// CHECK: to !blockscale.tensor<2x32x768xui4, "float32_int8_t0_t64">
!both_a = !blockscale.tensor<2x?x192xui8, "float32_float32_t0">
!both_b = !blockscale.tensor<2x32x192xui4, "float16_float16">
func.func @both(%a: !both_a, %b: !both_b) -> tensor<2x?x32xf32> {
  // expected-remark @below {{becomes a product of 4 times the K}}
  %0 = blockscale.matmul %a, %b : !both_a, !both_b -> tensor<2x?x32xf32>
  return %0 : tensor<2x?x32xf32>
}

// What stays: integers, a K that is not known or of which 16 is no divisor, a schedule.
// CHECK-LABEL: @stay
// CHECK-NOT: disassemble
!f8 = !blockscale.tensor<64x256xf8E4M3FN>
!integers = !blockscale.tensor<32x256xui4, "float32_int8_t0">
!real = !blockscale.tensor<32x256xui4, "float32_float32_t0">
!unknown_a = !blockscale.tensor<64x?xf8E4M3FN>
!unknown_b = !blockscale.tensor<32x?xui4, "float32_float32_t0">
!odd_a = !blockscale.tensor<64x24xf8E4M3FN>
!odd_b = !blockscale.tensor<32x24xui4, "float32_float32_t0">
func.func @stay(%a: !f8, %b: !integers, %c: !real, %d: !unknown_a, %e: !unknown_b, %f: !odd_a, %g: !odd_b) -> (tensor<64x32xf32>, tensor<64x32xf32>, tensor<64x32xf32>, tensor<64x32xf32>) {
  %0 = blockscale.matmul %a, %b : !f8, !integers -> tensor<64x32xf32>
  %1 = blockscale.matmul %a, %c schedule(#blockscale.schedule<tile_n = 32>) : !f8, !real -> tensor<64x32xf32>
  %2 = blockscale.matmul %d, %e : !unknown_a, !unknown_b -> tensor<64x32xf32>
  %3 = blockscale.matmul %f, %g : !odd_a, !odd_b -> tensor<64x32xf32>
  return %0, %1, %2, %3 : tensor<64x32xf32>, tensor<64x32xf32>, tensor<64x32xf32>, tensor<64x32xf32>
}
