// Pairs of columns that make one of the result, as they are written and read again.

// RUN: blockscale-opt %s | blockscale-opt | FileCheck %s
// RUN: blockscale-opt %s --mlir-print-op-generic | blockscale-opt | FileCheck %s
// RUN: blockscale-opt %s -emit-bytecode | blockscale-opt | FileCheck %s

!a = !blockscale.tensor<?x256xf8E4M3FN, "e8m0_t32">
!b = !blockscale.tensor<64x256xf4E2M1FN, "e8m0_t32">

// CHECK-LABEL: @gate
// CHECK: matmul %{{.*}}, %{{.*}} pairs epilogue(%x, %up) {
// CHECK: arith.mulf %x, %up
// CHECK: -> tensor<?x32xbf16>
func.func @gate(%a: !a, %b: !b) -> tensor<?x32xbf16> {
  %0 = blockscale.matmul %a, %b pairs epilogue(%gate, %up) {
    %1 = arith.mulf %gate, %up : f32
    blockscale.yield %1
  } : !a, !b -> tensor<?x32xbf16>
  return %0 : tensor<?x32xbf16>
}

// The sum of both is no epilogue that goes without saying.
// CHECK-LABEL: @sum
// CHECK: bias(%{{.*}}) pairs epilogue(%x, %up, %c, %bias, %up_bias) {
// CHECK: tensor<?x32xf32>, tensor<64xf32> -> tensor<?x32xf32>
func.func @sum(%a: !a, %b: !b, %c: tensor<?x32xf32>, %v: tensor<64xf32>) -> tensor<?x32xf32> {
  %0 = blockscale.matmul %a, %b c(%c) bias(%v) pairs epilogue(%x, %up, %c0, %g, %u) {
    %1 = arith.addf %x, %up : f32
    %2 = arith.addf %1, %c0 : f32
    %3 = arith.addf %2, %g : f32
    %4 = arith.addf %3, %u : f32
    blockscale.yield %4
  } : !a, !b, tensor<?x32xf32>, tensor<64xf32> -> tensor<?x32xf32>
  return %0 : tensor<?x32xf32>
}
