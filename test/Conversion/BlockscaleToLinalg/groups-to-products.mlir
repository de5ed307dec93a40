// Products with groups become loops where the chip has no kernel for them, and nobody
// asked for one by a schedule.

// RUN: blockscale-opt %s -split-input-file -blockscale-groups-to-products -verify-diagnostics | FileCheck %s

!a = !blockscale.tensor<96x?xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
!b = !blockscale.tensor<64x?xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>

// CHECK-LABEL: func.func @loop(
// CHECK: %[[A:.*]]:2 = blockscale.disassemble %arg0
// CHECK: scf.for %[[GROUP:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%{{.*}}, %[[FIRST:.*]] = %{{.*}}, %[[TILE:.*]] = %{{.*}})
// CHECK: %[[OFFSET:.*]] = tensor.extract %arg2[%[[GROUP]]]
// CHECK: %[[GIVEN:.*]] = arith.index_cast %[[OFFSET]]
// CHECK: %[[K:.*]] = tensor.dim %[[A]]#0, %{{.*}}
// CHECK: %[[INSIDE:.*]] = arith.minsi %[[GIVEN]], %[[K]]
// CHECK: %[[END:.*]] = arith.maxsi %[[INSIDE]], %[[FIRST]]
// CHECK: %[[COUNT:.*]] = arith.subi %[[END]], %[[FIRST]]
// CHECK: tensor.extract_slice %[[A]]#0[0, %[[FIRST]]] [96, %[[COUNT]]]
// CHECK: blockscale.matmul
// CHECK-NOT: groups
func.func @loop(%a: !a, %b: !b, %ends: tensor<3xi32>) -> tensor<3x96x64xf32> {
  // expected-remark @below {{becomes a loop with a product for each group: products with groups along K are lowered with tensor memory, which 'sm_120a' does not have}}
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<3xi32>) {blockscale.target = #blockscale.target<sm_120a>} : !a, !b -> tensor<3x96x64xf32>
  return %0 : tensor<3x96x64xf32>
}

// -----

!a = !blockscale.tensor<96x?xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
!b = !blockscale.tensor<64x?xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>

// CHECK-LABEL: func.func @kernel(
// CHECK-NOT: scf.for
// CHECK-COUNT-2: groups(%arg2
func.func @kernel(%a: !a, %b: !b, %ends: tensor<3xi32>) -> (tensor<3x96x64xf32>, tensor<3x96x64xf32>) {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<3xi32>) {blockscale.target = #blockscale.target<sm_100a>} : !a, !b -> tensor<3x96x64xf32>
  %1 = blockscale.matmul %a, %b groups(%ends : tensor<3xi32>) schedule(#blockscale.schedule<tile_n = 64>) {blockscale.target = #blockscale.target<sm_120a>} : !a, !b -> tensor<3x96x64xf32>
  return %0, %1 : tensor<3x96x64xf32>, tensor<3x96x64xf32>
}

// -----

!a = !blockscale.tensor<?x128xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
!b = !blockscale.tensor<3x64x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>

// CHECK-LABEL: func.func @rows(
// CHECK-NOT: scf.for
// CHECK: groups(%arg2
func.func @rows(%a: !a, %b: !b, %ends: tensor<3xi32>) -> tensor<?x64xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<3xi32>) {blockscale.target = #blockscale.target<sm_120a>} : !a, !b -> tensor<?x64xf32>
  return %0 : tensor<?x64xf32>
}
