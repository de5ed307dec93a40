// A launch stays one; what is around it is converted, and its scaled tensors
// become their parts.

// RUN: blockscale compile --emit=assigned %s \
// RUN: | blockscale-opt --pass-pipeline='builtin.module(blockscale-to-linalg,func.func(canonicalize,cse))' \
// RUN: | FileCheck %s

!x = !blockscale.tensor<?x512xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!w = !blockscale.tensor<256x512xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>

// CHECK-LABEL: func.func @f
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<?x512xf4E2M1FN>, %[[XS:[a-z0-9]+]]: tensor<?x8x32x16xf8E4M3FN>, %[[XT:[a-z0-9]+]]: tensor<f32>
// CHECK-SAME: %[[W:[a-z0-9]+]]: tensor<256x512xf4E2M1FN>, %[[WS:[a-z0-9]+]]: tensor<2x8x32x16xf8E4M3FN>, %[[WT:[a-z0-9]+]]: tensor<f32>
// CHECK-SAME: %[[C:[a-z0-9]+]]: tensor<?x256xf32>, %[[S:[a-z0-9]+]]: f32
// CHECK: %[[M:.*]] = tensor.dim %[[X]], %{{.*}}
// CHECK: %[[INIT:.*]] = tensor.empty(%[[M]]) : tensor<?x256xbf16>
// CHECK: %[[D:.*]] = blockscale.launch_into @kernels::@f ["a_data", "a_scales", "a_tensor_scale", "b_data", "b_scales", "b_tensor_scale", "alpha", "beta", "c"]
// CHECK-SAME: ins(%[[X]], %[[XS]], %[[XT]], %[[W]], %[[WS]], %[[WT]], %[[S]], %[[S]], %[[C]] :
// CHECK-SAME: outs(%[[INIT]] : tensor<?x256xbf16>) -> tensor<?x256xbf16>
// CHECK: linalg.generic
// CHECK: gpu.module @kernels
func.func @f(%x: !x, %w: !w, %c: tensor<?x256xf32>, %s: f32) -> (tensor<?x256xbf16>, !blockscale.tensor<?x256xf8E4M3FN, "e8m0_t32">) {
  %y = blockscale.matmul %x, %w alpha(%s) beta(%s) c(%c) : !x, !w, tensor<?x256xf32> -> tensor<?x256xbf16>
  %q = blockscale.quantize %y : tensor<?x256xbf16> to !blockscale.tensor<?x256xf8E4M3FN, "e8m0_t32">
  return %y, %q : tensor<?x256xbf16>, !blockscale.tensor<?x256xf8E4M3FN, "e8m0_t32">
}
