// How a product is computed is one attribute, whose family of chips prints it.

// RUN: blockscale-opt %s | FileCheck %s
// RUN: blockscale-opt %s | blockscale-opt | FileCheck %s
// RUN: blockscale-opt %s --mlir-print-op-generic | FileCheck %s --check-prefix=GENERIC
// RUN: blockscale-opt %s --mlir-print-op-generic | blockscale-opt | FileCheck %s

!q = !blockscale.tensor<128x64xf8E4M3FN, "e8m0_t32">
!d = tensor<128x128xf32>

// GENERIC-DAG: lowering = #blockscale.tensor_core<mma = <kind = mxf8f6f4, a = e4m3, b = e4m3, scale = ue8m0, block = 32>, schedule = <stages = 4>>
// GENERIC-DAG: lowering = #blockscale.tensor_core<schedule = <tile_n = 64>>
// GENERIC-DAG: lowering = #blockscale.tensor_core<mma = <kind = mxf8f6f4, a = e4m3, b = e4m3, scale = ue8m0, block = 32>>

// CHECK-LABEL: func.func @clauses
// CHECK: blockscale.matmul %{{.*}}, %{{.*}} mma(<kind = mxf8f6f4, a = e4m3, b = e4m3, scale = ue8m0, block = 32>) schedule(#blockscale.schedule<stages = 4>) :
// CHECK: blockscale.matmul %{{.*}}, %{{.*}} schedule(#blockscale.schedule<tile_n = 64>) :
// CHECK: blockscale.matmul %{{.*}}, %{{.*}} mma(<kind = mxf8f6f4, a = e4m3, b = e4m3, scale = ue8m0, block = 32>) :
func.func @clauses(%a: !q) -> (!d, !d, !d) {
  %0 = blockscale.matmul %a, %a mma(<kind = mxf8f6f4, a = e4m3, b = e4m3, scale = ue8m0, block = 32>) schedule(#blockscale.schedule<stages = 4>) : !q, !q -> tensor<128x128xf32>
  %1 = blockscale.matmul %a, %a schedule(<tile_n = 64>) : !q, !q -> tensor<128x128xf32>
  %2 = blockscale.matmul %a, %a mma(<kind = mxf8f6f4, a = e4m3, b = e4m3, scale = ue8m0, block = 32>) : !q, !q -> tensor<128x128xf32>
  return %0, %1, %2 : !d, !d, !d
}

// The attribute itself may be written too.
// CHECK-LABEL: func.func @attribute
// CHECK: blockscale.matmul %{{.*}}, %{{.*}} bias(%{{.*}}) activation(relu) schedule(#blockscale.schedule<tile_n = 64>) {blockscale.target = #blockscale.target<sm_103a>} :
func.func @attribute(%a: !q, %v: tensor<128xf32>) -> !d {
  %0 = blockscale.matmul %a, %a bias(%v) activation(relu) lowering(#blockscale.tensor_core<schedule = <tile_n = 64>>) {blockscale.target = #blockscale.target<sm_103a>} : !q, !q, tensor<128xf32> -> tensor<128x128xf32>
  return %0 : !d
}
