// A function that only quantises becomes a kernel: no tensor maps, a thread for
// each byte of scales, and what the plan has to know.

// RUN: blockscale-opt %s --blockscale-attach-target=target=sm_100a --blockscale-form-kernels | FileCheck %s
// RUN: blockscale-opt %s --blockscale-attach-target=target=sm_100a --blockscale-form-kernels=quantize=false | FileCheck %s --check-prefix=HOST

// HOST-COUNT-3: blockscale.quantize
// HOST-NOT: gpu.func

!mxfp8 = !blockscale.tensor<?x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>

// CHECK-LABEL: func.func @mxfp8
// CHECK: blockscale.launch @kernels::@mxfp8(%{{.*}}) : (tensor<?x256xbf16>) -> !blockscale.tensor
func.func @mxfp8(%x: tensor<?x256xbf16>) -> !mxfp8 {
  %0 = blockscale.quantize %x rule(round_up) : tensor<?x256xbf16> to !mxfp8
  return %0 : !mxfp8
}

!nvfp4 = !blockscale.tensor<128x256xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>

// CHECK-LABEL: func.func @nvfp4
// CHECK: blockscale.launch @kernels::@nvfp4(%{{.*}}, %{{.*}}) : (tensor<128x256xf32>, tensor<f32>) -> !blockscale.tensor
func.func @nvfp4(%x: tensor<128x256xf32>, %t: tensor<f32>) -> !nvfp4 {
  %0 = blockscale.quantize %x tensor_scale(%t : tensor<f32>) rounding(stochastic, seed = 5) : tensor<128x256xf32> to !nvfp4
  return %0 : !nvfp4
}

// What does more stays as it is.
// CHECK-LABEL: func.func @more
// CHECK: blockscale.quantize
func.func @more(%x: tensor<?x256xbf16>) -> (!mxfp8, tensor<?x256xbf16>) {
  %0 = blockscale.quantize %x : tensor<?x256xbf16> to !mxfp8
  return %0, %x : !mxfp8, tensor<?x256xbf16>
}

// CHECK: gpu.func @mxfp8(%[[X:.*]]: !blockscale.global<bf16> {blockscale.parameter = #blockscale.parameter<x>}, %{{.*}}: !blockscale.global<i8> {blockscale.parameter = #blockscale.parameter<d_data>}, %{{.*}}: !blockscale.global<i8> {blockscale.parameter = #blockscale.parameter<d_scales>}, %{{.*}}: i32 {blockscale.parameter = #blockscale.parameter<size_m>}) kernel
// CHECK-SAME: blockscale.quantization = #blockscale.quantization<source = "mxfp8", x = bf16, d = {{.*}}, rule = round_up>
// CHECK: scf.if
// CHECK: blockscale.load_row %[[X]]
// CHECK: blockscale.encode_pair %{{.*}}, %{{.*}} as f8E4M3FN
// CHECK: blockscale.store_row

// CHECK: gpu.func @nvfp4(
// CHECK-SAME: #blockscale.parameter<tensor_scale>
// CHECK-SAME: #blockscale.parameter<d_tensor_scale>
// CHECK-SAME: rounding = stochastic, seed = 5
