// The region of a product in the loop over its sums, and in tiles of it.

// RUN: blockscale-opt %s --blockscale-to-linalg | FileCheck %s
// RUN: blockscale-opt %s \
// RUN:   --transform-preload-library=transform-library-paths=%S/Inputs/tile-matmul.mlir \
// RUN:   --transform-interpreter | FileCheck %s --check-prefix=TILED

!a = !blockscale.tensor<8x64xf8E4M3FN, "e8m0_t32">
!b = !blockscale.tensor<6x64xf8E4M3FN, "e8m0_t32">

// CHECK-LABEL: func.func @gate(
// CHECK-SAME: %[[ALPHA:[a-z0-9]+]]: f32
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]
// CHECK: ^bb0(%[[C:[a-z0-9_]+]]: f16, %[[V:[a-z0-9_]+]]: f32, %[[SUM:[a-z0-9_]+]]: f32, %{{.*}}: bf16):
// CHECK: %[[WIDE:.*]] = arith.extf %[[C]] : f16 to f32
// CHECK: %[[TANH:.*]] = math.tanh %[[WIDE]] : f32
// CHECK: %[[X:.*]] = arith.mulf %[[SUM]], %[[ALPHA]] : f32
// CHECK: %[[Y:.*]] = arith.mulf %[[X]], %[[TANH]] : f32
// CHECK: %[[Z:.*]] = arith.subf %[[Y]], %[[V]] : f32
// CHECK: %[[D:.*]] = arith.truncf %[[Z]] : f32 to bf16
// CHECK: linalg.yield %[[D]] : bf16
// TILED-LABEL: func.func @gate(
// TILED: scf.for
// TILED: scf.for
// TILED: blockscale.matmul %{{.*}}, %{{.*}} alpha(%{{.*}}) c(%{{.*}}) bias(%{{.*}}) epilogue(%x, %c, %bias) {
// TILED-NEXT: %[[TANH:.*]] = math.tanh %c : f32
// TILED-NEXT: %[[Y:.*]] = arith.mulf %x, %[[TANH]] : f32
// TILED-NEXT: %[[Z:.*]] = arith.subf %[[Y]], %bias : f32
// TILED-NEXT: blockscale.yield %[[Z]]
func.func @gate(%a: !a, %b: !b, %alpha: f32, %c: tensor<8x6xf16>, %v: tensor<6xf32>) -> tensor<8x6xbf16> {
  %0 = blockscale.matmul %a, %b alpha(%alpha) c(%c) bias(%v) epilogue(%x, %y, %bias) {
    %1 = math.tanh %y : f32
    %2 = arith.mulf %x, %1 : f32
    %3 = arith.subf %2, %bias : f32
    blockscale.yield %3
  } {tile} : !a, !b, tensor<8x6xf16>, tensor<6xf32> -> tensor<8x6xbf16>
  return %0 : tensor<8x6xbf16>
}
