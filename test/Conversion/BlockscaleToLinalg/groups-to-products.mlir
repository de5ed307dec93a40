// Products with groups become loops where the chip has no kernel for them, and nobody
// asked for one by a schedule.

// RUN: blockscale-opt %s -split-input-file -blockscale-groups-to-products -verify-diagnostics | FileCheck %s

!a = !blockscale.tensor<?x128xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
!b = !blockscale.tensor<3x64x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>

// CHECK-LABEL: func.func @loop(
// CHECK: %[[A:.*]]:2 = blockscale.disassemble %arg0
// CHECK: scf.for %[[GROUP:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%{{.*}}, %[[FIRST:.*]] = %{{.*}}, %[[TILE:.*]] = %{{.*}})
// CHECK: %[[OFFSET:.*]] = tensor.extract %arg2[%[[GROUP]]]
// CHECK: %[[GIVEN:.*]] = arith.index_cast %[[OFFSET]]
// CHECK: %[[ROWS:.*]] = tensor.dim %[[A]]#0, %{{.*}}
// CHECK: %[[INSIDE:.*]] = arith.minsi %[[GIVEN]], %[[ROWS]]
// CHECK: %[[END:.*]] = arith.maxsi %[[INSIDE]], %[[FIRST]]
// CHECK: %[[COUNT:.*]] = arith.subi %[[END]], %[[FIRST]]
// CHECK: tensor.extract_slice %[[A]]#0[%[[FIRST]], 0] [%[[COUNT]], 128]
// CHECK: tensor.extract_slice %[[A]]#1[%[[TILE]], 0, 0, 0]
// CHECK: blockscale.matmul
// CHECK-NOT: groups
func.func @loop(%a: !a, %b: !b, %ends: tensor<3xi32>) -> tensor<?x64xf32> {
  // expected-remark @below {{becomes a loop with a product for each group: products with groups are lowered with tensor memory, which 'sm_120a' does not have}}
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<3xi32>) {blockscale.target = #blockscale.target<sm_120a>} : !a, !b -> tensor<?x64xf32>
  return %0 : tensor<?x64xf32>
}

// -----

!a = !blockscale.tensor<?x128xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
!b = !blockscale.tensor<3x64x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>

// CHECK-LABEL: func.func @kernel(
// CHECK-NOT: scf.for
// CHECK-COUNT-2: groups(%arg2
func.func @kernel(%a: !a, %b: !b, %ends: tensor<3xi32>) -> (tensor<?x64xf32>, tensor<?x64xf32>) {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<3xi32>) {blockscale.target = #blockscale.target<sm_100a>} : !a, !b -> tensor<?x64xf32>
  %1 = blockscale.matmul %a, %b groups(%ends : tensor<3xi32>) schedule(#blockscale.schedule<tile_n = 64>) {blockscale.target = #blockscale.target<sm_120a>} : !a, !b -> tensor<?x64xf32>
  return %0, %1 : tensor<?x64xf32>, tensor<?x64xf32>
}
