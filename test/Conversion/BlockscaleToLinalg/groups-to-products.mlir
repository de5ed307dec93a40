// Products with groups become loops where no kernel reads their scales, and nobody
// asked for one by a schedule.

// RUN: blockscale-opt %s -split-input-file -blockscale-groups-to-products -verify-diagnostics | FileCheck %s

!a = !blockscale.tensor<96x?xf4E2M1FN, "float32", layout = grouped>
!b = !blockscale.tensor<64x?xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = grouped_128x4>

// CHECK-LABEL: func.func @loop(
// CHECK: %[[A:.*]]:2 = blockscale.disassemble %arg0
// CHECK: scf.for %[[GROUP:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%{{[a-z0-9]+}} = %{{[a-z0-9]+}}, %[[FIRST:[a-z0-9]+]] = %{{.*}}, %{{.*}} = %{{.*}})
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
  // expected-remark @below {{becomes a loop with a product for each group: kernels read scales of whole matrices that all groups share before those of each group, and 'a', whose come first, has one for each beside one of 'b' for all}}
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<3xi32>) {blockscale.target = #blockscale.target<sm_120a>} : !a, !b -> tensor<3x96x64xf32>
  return %0 : tensor<3x96x64xf32>
}

// -----

!a = !blockscale.tensor<96x?xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
!b = !blockscale.tensor<64x?xf6E3M2FN, "e8m0_t32", layout = grouped_128x4>
!c = !blockscale.tensor<96x?xf4E2M1FN, "e8m0_t32", layout = grouped_128x4>
!d = !blockscale.tensor<64x?xf4E2M1FN, "e8m0_t32", layout = grouped_128x4>
!e = !blockscale.tensor<96x?xbf16>
!f = !blockscale.tensor<64x?xf4E2M1FN>

// CHECK-LABEL: func.func @kernel(
// CHECK-NOT: scf.for
// CHECK-COUNT-4: groups(%arg
func.func @kernel(%a: !a, %b: !b, %c: !c, %d: !d, %e: !e, %f: !f, %ends: tensor<3xi32>) -> (tensor<3x96x64xf32>, tensor<3x96x64xf32>, tensor<3x96x64xf32>, tensor<3x96x96xf32>) {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<3xi32>) {blockscale.target = #blockscale.target<sm_120a>} : !a, !b -> tensor<3x96x64xf32>
  %1 = blockscale.matmul %c, %d groups(%ends : tensor<3xi32>) {blockscale.target = #blockscale.target<sm_120a>} : !c, !d -> tensor<3x96x64xf32>
  %2 = blockscale.matmul %e, %f groups(%ends : tensor<3xi32>) {blockscale.target = #blockscale.target<sm_100a>} : !e, !f -> tensor<3x96x64xf32>
  %3 = blockscale.matmul %e, %e groups(%ends : tensor<3xi32>) {blockscale.target = #blockscale.target<sm_120a>} : !e, !e -> tensor<3x96x96xf32>
  return %0, %1, %2, %3 : tensor<3x96x64xf32>, tensor<3x96x64xf32>, tensor<3x96x64xf32>, tensor<3x96x96xf32>
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

// -----

!a = !blockscale.tensor<96x?xf8E4M3FN, "float32", layout = grouped>
!b = !blockscale.tensor<64x?xf8E4M3FN, "float32">
!c = !blockscale.tensor<64x?xf8E4M3FN, "float32_t0", layout = grouped>

// The scale of each group, of which there is one, and that of all.
// CHECK-LABEL: func.func @factors(
// CHECK: %[[A:.*]]:2 = blockscale.disassemble %arg0
// CHECK: %[[B:.*]]:2 = blockscale.disassemble %arg1
// CHECK: scf.for %[[GROUP:.*]] = %{{.*}} to
// CHECK: %[[OWN:.*]] = tensor.extract_slice %[[A]]#1[%[[GROUP]], 0, 0] [1, 1, 1] [1, 1, 1] : tensor<?x1x1xf32> to tensor<1x1xf32>
// CHECK: blockscale.assemble %{{.*}}, %[[OWN]] : {{.*}} to !blockscale.tensor<96x?xf8E4M3FN, "float32">
// CHECK: blockscale.assemble %{{.*}}, %[[B]]#1 : {{.*}} to !blockscale.tensor<64x?xf8E4M3FN, "float32">
// CHECK: return
// CHECK-LABEL: func.func @factors_of_kernels(
// CHECK-NOT: scf.for
// CHECK-COUNT-3: groups(%arg
func.func @factors(%a: !a, %b: !b, %ends: tensor<3xi32>) -> tensor<3x96x64xf32> {
  // expected-remark @below {{becomes a loop with a product for each group: kernels read scales of whole matrices that all groups share before those of each group, and 'a', whose come first, has one for each beside one of 'b' for all; nearest legal: layout 'grouped' of both, or of 'b'}}
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<3xi32>) {blockscale.target = #blockscale.target<sm_120a>} : !a, !b -> tensor<3x96x64xf32>
  return %0 : tensor<3x96x64xf32>
}

func.func @factors_of_kernels(%a: !a, %b: !b, %c: !c, %ends: tensor<3xi32>) -> (tensor<3x64x96xf32>, tensor<3x96x64xf32>, tensor<3x96x96xf32>) {
  %0 = blockscale.matmul %b, %a groups(%ends : tensor<3xi32>) {blockscale.target = #blockscale.target<sm_120a>} : !b, !a -> tensor<3x64x96xf32>
  %1 = blockscale.matmul %a, %c groups(%ends : tensor<3xi32>) {blockscale.target = #blockscale.target<sm_120a>} : !a, !c -> tensor<3x96x64xf32>
  %2 = blockscale.matmul %a, %a groups(%ends : tensor<3xi32>) {blockscale.target = #blockscale.target<sm_120a>} : !a, !a -> tensor<3x96x96xf32>
  return %0, %1, %2 : tensor<3x64x96xf32>, tensor<3x96x64xf32>, tensor<3x96x96xf32>
}
