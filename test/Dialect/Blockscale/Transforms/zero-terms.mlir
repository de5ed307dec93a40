// Zero points in real units are no part of what kernels multiply: these get terms for
// each tile along K, whose number follows from K.

// RUN: blockscale-opt %s -blockscale-legalize-scales -blockscale-select-schedule -blockscale-form-kernels | FileCheck %s

// CHECK-LABEL: gpu.func @rows(
// CHECK-SAME: %[[A:[a-z0-9]+]]: !blockscale.global<f32> {blockscale.parameter = #blockscale.parameter<a_terms>}
// CHECK-SAME: %[[B:[a-z0-9]+]]: !blockscale.global<f32> {blockscale.parameter = #blockscale.parameter<b_terms>}
// CHECK: %[[COUNT:.*]] = arith.constant 2 : i32
// CHECK: terms(%[[A]], %[[B]] of %[[COUNT]])
!rows_a = !blockscale.tensor<256x256xui8, "float32_float16_t0">
!rows_b = !blockscale.tensor<64x256xui4, "float32_float32">
func.func @rows(%a: !rows_a, %b: !rows_b) -> tensor<256x64xf32> {
  %0 = blockscale.matmul %a, %b : !rows_a, !rows_b -> tensor<256x64xf32>
  return %0 : tensor<256x64xf32>
}

// CHECK-LABEL: gpu.func @tiles(
// CHECK-SAME: %[[K:[a-z0-9]+]]: i32 {blockscale.parameter = #blockscale.parameter<size_k>}
// CHECK: %[[LAST:.*]] = arith.addi %[[K]], %{{.*}} : i32
// CHECK: %[[COUNT:.*]] = arith.divui %[[LAST]], %{{.*}} : i32
// CHECK: of %[[COUNT]])
!tiles_a = !blockscale.tensor<256x?xbf16>
!tiles_b = !blockscale.tensor<64x?xui4, "float32_float32_t64">
func.func @tiles(%a: !tiles_a, %b: !tiles_b) -> tensor<256x64xf32> {
  %0 = blockscale.matmul %a, %b : !tiles_a, !tiles_b -> tensor<256x64xf32>
  return %0 : tensor<256x64xf32>
}
