// RUN: blockscale-opt %s | blockscale-opt | FileCheck %s
// RUN: blockscale-opt %s --mlir-print-op-generic | blockscale-opt | FileCheck %s

!q = !blockscale.tensor<?x128xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
!n = !blockscale.tensor<?x128xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = grouped_128x4>

// CHECK-LABEL: func.func @groups
// CHECK: blockscale.quantize %{{.*}} groups(%{{.*}} : tensor<3xi32>) rule(round_up) : tensor<?x128xbf16> to
// CHECK: blockscale.quantize %{{.*}} groups(%{{.*}} : tensor<?xi32>) tensor_scale(%{{.*}} : tensor<f32>) : tensor<?x128xbf16> to
func.func @groups(%x: tensor<?x128xbf16>, %ends: tensor<3xi32>, %more: tensor<?xi32>, %t: tensor<f32>) -> (!q, !n) {
  %0 = blockscale.quantize %x groups(%ends : tensor<3xi32>) rule(round_up) : tensor<?x128xbf16> to !q
  %1 = blockscale.quantize %x groups(%more : tensor<?xi32>) tensor_scale(%t : tensor<f32>) : tensor<?x128xbf16> to !n
  return %0, %1 : !q, !n
}
