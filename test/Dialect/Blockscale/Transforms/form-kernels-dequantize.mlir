// A function that only dequantises becomes a kernel: no tensor maps, a thread for
// what becomes a sector of memory, and what the plan has to know.

// RUN: blockscale-opt %s --blockscale-attach-target=target=sm_100a --blockscale-form-kernels | FileCheck %s
// RUN: blockscale-opt %s --blockscale-attach-target=target=sm_100a --blockscale-form-kernels=quantize=false | FileCheck %s --check-prefix=HOST

// HOST-COUNT-3: blockscale.dequantize
// HOST-NOT: gpu.func

!mxfp8 = !blockscale.tensor<?x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>

// CHECK-LABEL: func.func @mxfp8
// CHECK: blockscale.launch @kernels::@mxfp8(%{{.*}}) : (!blockscale.tensor<{{.*}}>) -> tensor<?x256xbf16>
func.func @mxfp8(%a: !mxfp8) -> tensor<?x256xbf16> {
  %0 = blockscale.dequantize %a : !mxfp8 to tensor<?x256xbf16>
  return %0 : tensor<?x256xbf16>
}

!nvfp4 = !blockscale.tensor<128x256xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>

// CHECK-LABEL: func.func @nvfp4
// CHECK: blockscale.launch @kernels::@nvfp4(%{{.*}}) : (!blockscale.tensor<{{.*}}>) -> tensor<128x256xf32>
func.func @nvfp4(%a: !nvfp4) -> tensor<128x256xf32> {
  %0 = blockscale.dequantize %a : !nvfp4 to tensor<128x256xf32>
  return %0 : tensor<128x256xf32>
}

// What does more stays as it is.
// CHECK-LABEL: func.func @more
// CHECK: blockscale.dequantize
func.func @more(%a: !mxfp8) -> (tensor<?x256xbf16>, !mxfp8) {
  %0 = blockscale.dequantize %a : !mxfp8 to tensor<?x256xbf16>
  return %0, %a : tensor<?x256xbf16>, !mxfp8
}

// CHECK: gpu.func @mxfp8(%[[A:.*]]: !blockscale.global<i8> {blockscale.parameter = #blockscale.parameter<a_data>}, %{{.*}}: !blockscale.global<i8> {blockscale.parameter = #blockscale.parameter<a_scales>}, %{{.*}}: !blockscale.global<bf16> {blockscale.parameter = #blockscale.parameter<d>}, %{{.*}}: i32 {blockscale.parameter = #blockscale.parameter<size_m>}) kernel
// CHECK-SAME: blockscale.conversion = #blockscale.conversion<source = "mxfp8", op = "dequantize", a = !blockscale.tensor<?x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>, d = tensor<?x256xbf16>>
// CHECK-SAME: grid = ()[s0, s1, s2, s3, s4, s5] -> ((s0 * 32) ceildiv 128), block = 128
// CHECK: scf.if
// CHECK: blockscale.load_row %[[A]]{{.*}} -> vector<8xi8>
// CHECK-COUNT-4: blockscale.decode_pair %{{.*}} as f8E4M3FN
// CHECK: blockscale.store_row {{.*}}vector<8xbf16>

// Scales of e4m3 come from the same instruction. No product of codes and scales
// is beyond f32, but one with the tensor scale may be.
// CHECK: gpu.func @nvfp4(
// CHECK-SAME: #blockscale.parameter<a_tensor_scale>
// CHECK: blockscale.decode_pair %{{.*}} as f8E4M3FN
// CHECK: blockscale.decode_pair %{{.*}} as f4E2M1FN
// CHECK: arith.mulf
// CHECK-NOT: arith.minimumf
// CHECK: arith.mulf
// CHECK-NEXT: arith.negf
// CHECK-NEXT: arith.minimumf
// CHECK-NEXT: arith.maximumf
