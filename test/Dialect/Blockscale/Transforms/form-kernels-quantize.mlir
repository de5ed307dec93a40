// A function that only quantises becomes a kernel: no tensor maps, a thread for
// each byte of scales, and what the plan has to know.

// RUN: blockscale-opt %s --blockscale-attach-target=target=sm_100a --blockscale-form-kernels | FileCheck %s
// RUN: blockscale-opt %s --blockscale-attach-target=target=sm_100a --blockscale-form-kernels=quantize=false | FileCheck %s --check-prefix=HOST

// HOST-COUNT-6: blockscale.quantize
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

// The transpose of what the kernel reads.
!columns = !blockscale.tensor<?x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>

// CHECK-LABEL: func.func @columns
// CHECK-NOT: linalg.transpose
// CHECK: blockscale.launch @kernels::@columns(%{{.*}}) : (tensor<256x?xbf16>) -> !blockscale.tensor<?x256x
func.func @columns(%x: tensor<256x?xbf16>) -> !columns {
  %c1 = arith.constant 1 : index
  %d = tensor.dim %x, %c1 : tensor<256x?xbf16>
  %e = tensor.empty(%d) : tensor<?x256xbf16>
  %t = linalg.transpose ins(%x : tensor<256x?xbf16>) outs(%e : tensor<?x256xbf16>) permutation = [1, 0]
  %0 = blockscale.quantize %t : tensor<?x256xbf16> to !columns
  return %0 : !columns
}

// A matrix and its transpose, in any order.
!rows = !blockscale.tensor<64x?xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!rows_t = !blockscale.tensor<?x64xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>

// CHECK-LABEL: func.func @both
// CHECK-NOT: linalg.transpose
// CHECK: %[[BOTH:.*]]:2 = blockscale.launch @kernels::@both(%{{.*}}, %{{.*}}) : (tensor<64x?xf16>, tensor<f32>) -> (!blockscale.tensor<64x?x{{.*}}, !blockscale.tensor<?x64x
// CHECK-NOT: blockscale.launch
// CHECK: return %[[BOTH]]#1, %[[BOTH]]#0
func.func @both(%x: tensor<64x?xf16>, %f: tensor<f32>) -> (!rows_t, !rows) {
  %c1 = arith.constant 1 : index
  %d = tensor.dim %x, %c1 : tensor<64x?xf16>
  %e = tensor.empty(%d) : tensor<?x64xf16>
  %t = linalg.transpose ins(%x : tensor<64x?xf16>) outs(%e : tensor<?x64xf16>) permutation = [1, 0]
  %0 = blockscale.quantize %t tensor_scale(%f : tensor<f32>) rounding(zero) : tensor<?x64xf16> to !rows_t
  %1 = blockscale.quantize %x rule(ceil) : tensor<64x?xf16> to !rows
  return %0, %1 : !rows_t, !rows
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
// CHECK: blockscale.multiply_towards_zero %{{.*}} : vector<2xf32>
// CHECK: blockscale.add_half %{{.*}}, 64 * lower %[[RANDOM:.*]]
// CHECK: blockscale.add_half %{{.*}}, 64 * upper %[[RANDOM]]
// CHECK: blockscale.encode_stochastic %{{.*}} by %[[ZERO:.*]], %[[ZERO]] as f4E2M1FN

// CHECK: gpu.func @columns(%[[X:.*]]: !blockscale.global<bf16> {blockscale.parameter = #blockscale.parameter<x>}, %{{.*}}, %{{.*}}, %{{.*}}: i32 {blockscale.parameter = #blockscale.parameter<size_m>}) kernel
// CHECK-SAME: block = 256
// CHECK-SAME: blockscale.quantization = #blockscale.quantization<source = "columns", x = bf16, d = {{.*}}, transposed = true>
// CHECK: %[[CODES:.*]] = blockscale.shared_alloc : <1x18432xi8, container = 8>
// CHECK: blockscale.load_row %[[X]][%{{.*}}] count %{{.*}} stride %{{.*}} aligned : <bf16> -> vector<32xbf16>
// CHECK: blockscale.store_shared %{{.*}} to %[[CODES]]
// CHECK: gpu.barrier
// CHECK: blockscale.load_shared %[[CODES]]
// CHECK: blockscale.store_row

// CHECK: gpu.func @both(
// CHECK-SAME: #blockscale.parameter<x>
// CHECK-SAME: #blockscale.parameter<tensor_scale>
// CHECK-SAME: #blockscale.parameter<d_data>
// CHECK-SAME: #blockscale.parameter<d_scales>
// CHECK-SAME: #blockscale.parameter<transposed_data>
// CHECK-SAME: #blockscale.parameter<transposed_scales>
// CHECK-SAME: #blockscale.parameter<transposed_tensor_scale>
// CHECK-SAME: #blockscale.parameter<size_k>
// CHECK-SAME: blockscale.quantization = #blockscale.quantization<source = "both", x = f16, {{.*}}rule = ceil>
// CHECK-SAME: blockscale.transposed_quantization = #blockscale.quantization<source = "both", x = f16, {{.*}}rounding = zero, transposed = true>
// CHECK: %[[TILE:.*]] = blockscale.shared_alloc : <1x128x136xf16, container = 16>
// CHECK: blockscale.load_row {{.*}} aligned : <f16> -> vector<8xf16>
// CHECK: blockscale.store_shared %{{.*}} to %[[TILE]]
// CHECK: gpu.barrier
// CHECK-NOT: blockscale.load_row {{.*}} : <f16>
// CHECK: blockscale.load_shared %[[TILE]]
