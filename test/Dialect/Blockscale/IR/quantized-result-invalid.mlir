// RUN: blockscale-opt %s --split-input-file --verify-diagnostics

!a = !blockscale.tensor<64x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @no_reader(%a: !a, %b: !a) -> tensor<64x64xbf16> {
  // expected-error@+1 {{with 'blockscale.quantized' expected that nothing but one 'blockscale.quantize' in the same block reads the result}}
  %0 = blockscale.matmul %a, %b {blockscale.quantized} : !a, !a -> tensor<64x64xbf16>
  return %0 : tensor<64x64xbf16>
}

// -----

// expected-error@+1 {{'blockscale.quantized' is a unit attribute of 'blockscale.matmul'}}
func.func @elsewhere() attributes {blockscale.quantized} {
  return
}

// -----

!a = !blockscale.tensor<64x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!q = !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32">
func.func @plain(%a: !a, %b: !a) -> !q {
  // expected-error@+1 {{a kernel writes scales in layout 'tiled_128x4', as the tensor core reads them, but the result has 'plain'}}
  %0 = blockscale.matmul %a, %b {blockscale.quantized} : !a, !a -> tensor<64x64xbf16>
  %1 = blockscale.quantize %0 : tensor<64x64xbf16> to !q
  return %1 : !q
}

// -----

!a = !blockscale.tensor<64x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!q = !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t256_t32", layout = tiled_128x4>
func.func @tall(%a: !a, %b: !a) -> !q {
  // expected-error@+1 {{a product quantises its result in tiles of at most 128 rows, which a CTA has, but a scale is for 256 rows; nearest legal: tiles of 128 rows, or a kernel of its own that quantises}}
  %0 = blockscale.matmul %a, %b {blockscale.quantized} : !a, !a -> tensor<64x64xbf16>
  %1 = blockscale.quantize %0 : tensor<64x64xbf16> to !q
  return %1 : !q
}

// -----

!a = !blockscale.tensor<?x256xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
!b = !blockscale.tensor<4x128x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!q = !blockscale.tensor<?x128xf8E4M3FN, "float32_t32_t32">
func.func @squares_of_groups(%a: !a, %b: !b, %ends: tensor<4xi32>) -> !q {
  // expected-error@+1 {{a scale of the result is for 32 rows, which may belong to several groups of rows, each with tiles of its own; nearest legal: scales of one row, as in 'e8m0_t32', or a kernel of its own that quantises}}
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) {blockscale.quantized} : !a, !b -> tensor<?x128xbf16>
  %1 = blockscale.quantize %0 : tensor<?x128xbf16> to !q
  return %1 : !q
}

// -----

!a = !blockscale.tensor<64x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!q = !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t128_t32", layout = tiled_128x4>
func.func @squares_of_errors(%a: !a, %b: !a) -> !q {
  // expected-error@+1 {{a kernel adds up the errors of at most 2048 elements under the rule 'min_error', but tiles of the result have 4096; nearest legal: the rule 'floor'}}
  %0 = blockscale.matmul %a, %b {blockscale.quantized} : !a, !a -> tensor<64x64xbf16>
  %1 = blockscale.quantize %0 rule(min_error) : tensor<64x64xbf16> to !q
  return %1 : !q
}

// -----

!a = !blockscale.tensor<4x64x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!q = !blockscale.tensor<4x64x64xf8E4M3FN, "e8m0_t32_t32", layout = tiled_128x4>
func.func @squares_counted(%a: !a, %b: !a, %counts: tensor<4xi32>) -> !q {
  // expected-error@+1 {{a scale of the result is for 32 rows, of which memory says how many are there; nearest legal: scales of one row, as in 'e8m0_t32', or a kernel of its own that quantises}}
  %0 = blockscale.matmul %a, %b groups(%counts : tensor<4xi32>) {blockscale.quantized} : !a, !a -> tensor<4x64x64xbf16>
  %1 = blockscale.quantize %0 : tensor<4x64x64xbf16> to !q
  return %1 : !q
}

// -----

!adata = !blockscale.tensor_map<u4x16_align8b, dims = ()[s0, s1, s2, s3] -> (256, 133, 1), strides = ()[s0, s1, s2, s3] -> (128, 17024), box = [256, 128, 1], swizzle = "128B">
!bdata = !blockscale.tensor_map<u4x16_align8b, dims = ()[s0, s1, s2, s3] -> (256, 96, 1), strides = ()[s0, s1, s2, s3] -> (128, 12288), box = [256, 64, 1], swizzle = "128B">
!ascales = !blockscale.tensor_map<u32, dims = ()[s0, s1, s2, s3] -> (128, 4, 2, 1), strides = ()[s0, s1, s2, s3] -> (512, 2048, 4096), box = [128, 4, 1, 1], swizzle = "none">
!bscales = !blockscale.tensor_map<u32, dims = ()[s0, s1, s2, s3] -> (128, 4, 1, 1), strides = ()[s0, s1, s2, s3] -> (512, 2048, 2048), box = [128, 4, 1, 1], swizzle = "none">
#mma = #blockscale.mma<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 64, k = 64>
#schedule = #blockscale.schedule<tile_m = 128, tile_n = 64, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8, mma_k = 64>
#multi = #blockscale.quantization<source = "f", x = bf16, d = <133x96xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>>
#single = #blockscale.quantization<source = "f", x = bf16, d = <133x96xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>>
gpu.module @kernels attributes {blockscale.target = #blockscale.target<sm_100a>} {
  gpu.func @f(%a: !adata, %b: !bdata, %sa: !ascales, %sb: !bscales, %d: !blockscale.global<i8>, %s: !blockscale.global<i8>, %t: !blockscale.global<f32>, %u: !blockscale.global<f32>) kernel {
    %m = arith.constant 133 : i32
    %n = arith.constant 96 : i32
    %k = arith.constant 256 : i32
    %one = arith.constant 1 : i32
    blockscale.kernel_matmul a(%a) b(%b) scales(%sa, %sb) d(%d) d_scales(%s) d_factor(%t, %u) sizes(%m, %n, %k, %one) quantization#multi mma #mma schedule #schedule : !adata, !bdata, !blockscale.global<i8> scales !ascales, !bscales d_scales !blockscale.global<i8> d_factor !blockscale.global<f32>, !blockscale.global<f32>
    gpu.return
  }
}

// -----

!adata = !blockscale.tensor_map<u4x16_align8b, dims = ()[s0, s1, s2, s3] -> (256, 133, 1), strides = ()[s0, s1, s2, s3] -> (128, 17024), box = [256, 128, 1], swizzle = "128B">
!bdata = !blockscale.tensor_map<u4x16_align8b, dims = ()[s0, s1, s2, s3] -> (256, 96, 1), strides = ()[s0, s1, s2, s3] -> (128, 12288), box = [256, 64, 1], swizzle = "128B">
!ascales = !blockscale.tensor_map<u32, dims = ()[s0, s1, s2, s3] -> (128, 4, 2, 1), strides = ()[s0, s1, s2, s3] -> (512, 2048, 4096), box = [128, 4, 1, 1], swizzle = "none">
!bscales = !blockscale.tensor_map<u32, dims = ()[s0, s1, s2, s3] -> (128, 4, 1, 1), strides = ()[s0, s1, s2, s3] -> (512, 2048, 2048), box = [128, 4, 1, 1], swizzle = "none">
#mma = #blockscale.mma<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 64, k = 64>
#schedule = #blockscale.schedule<tile_m = 128, tile_n = 64, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8, mma_k = 64>
#multi = #blockscale.quantization<source = "f", x = bf16, d = <133x96xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>>
#single = #blockscale.quantization<source = "f", x = bf16, d = <133x96xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>>
gpu.module @kernels attributes {blockscale.target = #blockscale.target<sm_100a>} {
  gpu.func @f(%a: !adata, %b: !bdata, %sa: !ascales, %sb: !bscales, %d: !blockscale.global<i8>, %s: !blockscale.global<i8>, %t: !blockscale.global<f32>, %u: !blockscale.global<f32>) kernel {
    %m = arith.constant 133 : i32
    %n = arith.constant 96 : i32
    %k = arith.constant 256 : i32
    %one = arith.constant 1 : i32
    // expected-error@+1 {{expected 'd_scales' with a 'quantization', 'd_factor' where its 'd' has a tensor scale, which 'd_tensor_scale' takes, or one scale for all of a matrix, and only then}}
    blockscale.kernel_matmul a(%a) b(%b) scales(%sa, %sb) d(%d) d_scales(%s) d_factor(%t, %u) sizes(%m, %n, %k, %one) mma #mma schedule #schedule : !adata, !bdata, !blockscale.global<i8> scales !ascales, !bscales d_scales !blockscale.global<i8> d_factor !blockscale.global<f32>, !blockscale.global<f32>
    gpu.return
  }
}

// -----

!adata = !blockscale.tensor_map<u4x16_align8b, dims = ()[s0, s1, s2, s3] -> (256, 133, 1), strides = ()[s0, s1, s2, s3] -> (128, 17024), box = [256, 128, 1], swizzle = "128B">
!bdata = !blockscale.tensor_map<u4x16_align8b, dims = ()[s0, s1, s2, s3] -> (256, 96, 1), strides = ()[s0, s1, s2, s3] -> (128, 12288), box = [256, 64, 1], swizzle = "128B">
!ascales = !blockscale.tensor_map<u32, dims = ()[s0, s1, s2, s3] -> (128, 4, 2, 1), strides = ()[s0, s1, s2, s3] -> (512, 2048, 4096), box = [128, 4, 1, 1], swizzle = "none">
!bscales = !blockscale.tensor_map<u32, dims = ()[s0, s1, s2, s3] -> (128, 4, 1, 1), strides = ()[s0, s1, s2, s3] -> (512, 2048, 2048), box = [128, 4, 1, 1], swizzle = "none">
#mma = #blockscale.mma<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 64, k = 64>
#schedule = #blockscale.schedule<tile_m = 128, tile_n = 64, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8, mma_k = 64>
#multi = #blockscale.quantization<source = "f", x = bf16, d = <133x96xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>>
#single = #blockscale.quantization<source = "f", x = bf16, d = <133x96xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>>
gpu.module @kernels attributes {blockscale.target = #blockscale.target<sm_100a>} {
  gpu.func @f(%a: !adata, %b: !bdata, %sa: !ascales, %sb: !bscales, %d: !blockscale.global<i8>, %s: !blockscale.global<i8>, %t: !blockscale.global<f32>, %u: !blockscale.global<f32>) kernel {
    %m = arith.constant 133 : i32
    %n = arith.constant 96 : i32
    %k = arith.constant 256 : i32
    %one = arith.constant 1 : i32
    // expected-error@+1 {{expected 'd_scales' with a 'quantization', 'd_factor' where its 'd' has a tensor scale, which 'd_tensor_scale' takes, or one scale for all of a matrix, and only then}}
    blockscale.kernel_matmul a(%a) b(%b) scales(%sa, %sb) d(%d) d_scales(%s) sizes(%m, %n, %k, %one) quantization#multi mma #mma schedule #schedule : !adata, !bdata, !blockscale.global<i8> scales !ascales, !bscales d_scales !blockscale.global<i8>
    gpu.return
  }
}

// -----

!adata = !blockscale.tensor_map<u4x16_align8b, dims = ()[s0, s1, s2, s3] -> (256, 133, 1), strides = ()[s0, s1, s2, s3] -> (128, 17024), box = [256, 128, 1], swizzle = "128B">
!bdata = !blockscale.tensor_map<u4x16_align8b, dims = ()[s0, s1, s2, s3] -> (256, 96, 1), strides = ()[s0, s1, s2, s3] -> (128, 12288), box = [256, 64, 1], swizzle = "128B">
!ascales = !blockscale.tensor_map<u32, dims = ()[s0, s1, s2, s3] -> (128, 4, 2, 1), strides = ()[s0, s1, s2, s3] -> (512, 2048, 4096), box = [128, 4, 1, 1], swizzle = "none">
!bscales = !blockscale.tensor_map<u32, dims = ()[s0, s1, s2, s3] -> (128, 4, 1, 1), strides = ()[s0, s1, s2, s3] -> (512, 2048, 2048), box = [128, 4, 1, 1], swizzle = "none">
#mma = #blockscale.mma<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 64, k = 64>
#schedule = #blockscale.schedule<tile_m = 128, tile_n = 64, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8, mma_k = 64>
#multi = #blockscale.quantization<source = "f", x = bf16, d = <133x96xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>>
#single = #blockscale.quantization<source = "f", x = bf16, d = <133x96xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>>
gpu.module @kernels attributes {blockscale.target = #blockscale.target<sm_100a>} {
  gpu.func @f(%a: !adata, %b: !bdata, %sa: !ascales, %sb: !bscales, %d: !blockscale.global<i8>, %s: !blockscale.global<i8>, %t: !blockscale.global<f32>, %u: !blockscale.global<f32>) kernel {
    %m = arith.constant 133 : i32
    %n = arith.constant 96 : i32
    %k = arith.constant 256 : i32
    %one = arith.constant 1 : i32
    // expected-error@+1 {{expected 'd_scales' with a 'quantization', 'd_factor' where its 'd' has a tensor scale, which 'd_tensor_scale' takes, or one scale for all of a matrix, and only then}}
    blockscale.kernel_matmul a(%a) b(%b) scales(%sa, %sb) d(%d) d_scales(%s) d_factor(%t, %u) sizes(%m, %n, %k, %one) quantization#single mma #mma schedule #schedule : !adata, !bdata, !blockscale.global<i8> scales !ascales, !bscales d_scales !blockscale.global<i8> d_factor !blockscale.global<f32>, !blockscale.global<f32>
    gpu.return
  }
}

// -----

!adata = !blockscale.tensor_map<u4x16_align8b, dims = ()[s0, s1, s2, s3] -> (256, 133, 1), strides = ()[s0, s1, s2, s3] -> (128, 17024), box = [256, 128, 1], swizzle = "128B">
!bdata = !blockscale.tensor_map<u4x16_align8b, dims = ()[s0, s1, s2, s3] -> (256, 96, 1), strides = ()[s0, s1, s2, s3] -> (128, 12288), box = [256, 64, 1], swizzle = "128B">
!ascales = !blockscale.tensor_map<u32, dims = ()[s0, s1, s2, s3] -> (128, 4, 2, 1), strides = ()[s0, s1, s2, s3] -> (512, 2048, 4096), box = [128, 4, 1, 1], swizzle = "none">
!bscales = !blockscale.tensor_map<u32, dims = ()[s0, s1, s2, s3] -> (128, 4, 1, 1), strides = ()[s0, s1, s2, s3] -> (512, 2048, 2048), box = [128, 4, 1, 1], swizzle = "none">
#mma = #blockscale.mma<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 64, k = 64>
#schedule = #blockscale.schedule<tile_m = 128, tile_n = 64, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8, mma_k = 64>
#multi = #blockscale.quantization<source = "f", x = bf16, d = <133x96xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>>
#single = #blockscale.quantization<source = "f", x = bf16, d = <133x96xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>>
gpu.module @kernels attributes {blockscale.target = #blockscale.target<sm_100a>} {
  gpu.func @f(%a: !adata, %b: !bdata, %sa: !ascales, %sb: !bscales, %d: !blockscale.global<bf16>, %s: !blockscale.global<i8>, %t: !blockscale.global<f32>, %u: !blockscale.global<f32>) kernel {
    %m = arith.constant 133 : i32
    %n = arith.constant 96 : i32
    %k = arith.constant 256 : i32
    %one = arith.constant 1 : i32
    // expected-error@+1 {{with a 'quantization' expected 'd' of i8, 'd_scales' of 'i8' and tensor scales of f32}}
    blockscale.kernel_matmul a(%a) b(%b) scales(%sa, %sb) d(%d) d_scales(%s) d_factor(%t, %u) sizes(%m, %n, %k, %one) quantization#multi mma #mma schedule #schedule : !adata, !bdata, !blockscale.global<bf16> scales !ascales, !bscales d_scales !blockscale.global<i8> d_factor !blockscale.global<f32>, !blockscale.global<f32>
    gpu.return
  }
}

// -----

!adata = !blockscale.tensor_map<u4x16_align8b, dims = ()[s0, s1, s2, s3] -> (256, 133, 1), strides = ()[s0, s1, s2, s3] -> (128, 17024), box = [256, 128, 1], swizzle = "128B">
!bdata = !blockscale.tensor_map<u4x16_align8b, dims = ()[s0, s1, s2, s3] -> (256, 96, 1), strides = ()[s0, s1, s2, s3] -> (128, 12288), box = [256, 64, 1], swizzle = "128B">
!ascales = !blockscale.tensor_map<u32, dims = ()[s0, s1, s2, s3] -> (128, 4, 2, 1), strides = ()[s0, s1, s2, s3] -> (512, 2048, 4096), box = [128, 4, 1, 1], swizzle = "none">
!bscales = !blockscale.tensor_map<u32, dims = ()[s0, s1, s2, s3] -> (128, 4, 1, 1), strides = ()[s0, s1, s2, s3] -> (512, 2048, 2048), box = [128, 4, 1, 1], swizzle = "none">
#mma = #blockscale.mma<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 64, k = 64>
#schedule = #blockscale.schedule<tile_m = 128, tile_n = 64, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8, mma_k = 64>
#multi = #blockscale.quantization<source = "f", x = bf16, d = <133x96xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>>
#single = #blockscale.quantization<source = "f", x = bf16, d = <133x96xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>>
gpu.module @kernels attributes {blockscale.target = #blockscale.target<sm_100a>} {
  gpu.func @f(%a: !adata, %b: !bdata, %sa: !ascales, %sb: !bscales, %d: !blockscale.global<i8>, %s: !blockscale.global<i8>, %t: !blockscale.global<f32>, %u: !blockscale.global<f32>) kernel {
    %m = arith.constant 133 : i32
    %n = arith.constant 96 : i32
    %k = arith.constant 256 : i32
    %one = arith.constant 1 : i32
    // expected-error@+1 {{expected sizes with the N = 96 of the quantised type}}
    blockscale.kernel_matmul a(%a) b(%b) scales(%sa, %sb) d(%d) d_scales(%s) d_factor(%t, %u) sizes(%m, %k, %k, %one) quantization#multi mma #mma schedule #schedule : !adata, !bdata, !blockscale.global<i8> scales !ascales, !bscales d_scales !blockscale.global<i8> d_factor !blockscale.global<f32>, !blockscale.global<f32>
    gpu.return
  }
}

// -----

!adata = !blockscale.tensor_map<u4x16_align8b, dims = ()[s0, s1, s2, s3] -> (256, 133, 1), strides = ()[s0, s1, s2, s3] -> (128, 17024), box = [256, 128, 1], swizzle = "128B">
!bdata = !blockscale.tensor_map<u4x16_align8b, dims = ()[s0, s1, s2, s3] -> (256, 96, 1), strides = ()[s0, s1, s2, s3] -> (128, 12288), box = [256, 64, 1], swizzle = "128B">
!ascales = !blockscale.tensor_map<u32, dims = ()[s0, s1, s2, s3] -> (128, 4, 2, 1), strides = ()[s0, s1, s2, s3] -> (512, 2048, 4096), box = [128, 4, 1, 1], swizzle = "none">
!bscales = !blockscale.tensor_map<u32, dims = ()[s0, s1, s2, s3] -> (128, 4, 1, 1), strides = ()[s0, s1, s2, s3] -> (512, 2048, 2048), box = [128, 4, 1, 1], swizzle = "none">
#mma = #blockscale.mma<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 64, k = 64>
#schedule = #blockscale.schedule<tile_m = 128, tile_n = 64, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8, mma_k = 64>
#multi = #blockscale.quantization<source = "f", x = bf16, d = <133x96xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>>
#single = #blockscale.quantization<source = "f", x = bf16, d = <133x96xf4E2M1FN, "e4m3fn_t16">>
gpu.module @kernels attributes {blockscale.target = #blockscale.target<sm_100a>} {
  gpu.func @f(%a: !adata, %b: !bdata, %sa: !ascales, %sb: !bscales, %d: !blockscale.global<i8>, %s: !blockscale.global<i8>, %t: !blockscale.global<f32>, %u: !blockscale.global<f32>) kernel {
    %m = arith.constant 133 : i32
    %n = arith.constant 96 : i32
    %k = arith.constant 256 : i32
    %one = arith.constant 1 : i32
    // expected-error@+1 {{a kernel writes scales in layout 'tiled_128x4', as the tensor core reads them, but the result has 'plain'}}
    blockscale.kernel_matmul a(%a) b(%b) scales(%sa, %sb) d(%d) d_scales(%s) sizes(%m, %n, %k, %one) quantization#single mma #mma schedule #schedule : !adata, !bdata, !blockscale.global<i8> scales !ascales, !bscales d_scales !blockscale.global<i8>
    gpu.return
  }
}

// -----

!adata = !blockscale.tensor_map<u4x16_align8b, dims = ()[s0, s1, s2, s3] -> (256, 133, 1), strides = ()[s0, s1, s2, s3] -> (128, 17024), box = [256, 128, 1], swizzle = "128B">
!bdata = !blockscale.tensor_map<u4x16_align8b, dims = ()[s0, s1, s2, s3] -> (256, 96, 1), strides = ()[s0, s1, s2, s3] -> (128, 12288), box = [256, 64, 1], swizzle = "128B">
!ascales = !blockscale.tensor_map<u32, dims = ()[s0, s1, s2, s3] -> (128, 4, 2, 1), strides = ()[s0, s1, s2, s3] -> (512, 2048, 4096), box = [128, 4, 1, 1], swizzle = "none">
!bscales = !blockscale.tensor_map<u32, dims = ()[s0, s1, s2, s3] -> (128, 4, 1, 1), strides = ()[s0, s1, s2, s3] -> (512, 2048, 2048), box = [128, 4, 1, 1], swizzle = "none">
#mma = #blockscale.mma<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 64, k = 64>
#schedule = #blockscale.schedule<tile_m = 128, tile_n = 64, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8, mma_k = 64>
#multi = #blockscale.quantization<source = "f", x = bf16, d = <133x96xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>>
#single = #blockscale.quantization<source = "f", x = bf16, d = <133x96xf4E2M1FN, "e4m3fn_t256_t16", layout = tiled_128x4>>
gpu.module @kernels attributes {blockscale.target = #blockscale.target<sm_100a>} {
  gpu.func @f(%a: !adata, %b: !bdata, %sa: !ascales, %sb: !bscales, %d: !blockscale.global<i8>, %s: !blockscale.global<i8>, %t: !blockscale.global<f32>, %u: !blockscale.global<f32>) kernel {
    %m = arith.constant 133 : i32
    %n = arith.constant 96 : i32
    %k = arith.constant 256 : i32
    %one = arith.constant 1 : i32
    // expected-error@+1 {{a product quantises its result in tiles of at most 128 rows, which a CTA has, but a scale is for 256 rows; nearest legal: tiles of 128 rows, or a kernel of its own that quantises}}
    blockscale.kernel_matmul a(%a) b(%b) scales(%sa, %sb) d(%d) d_scales(%s) sizes(%m, %n, %k, %one) quantization#single mma #mma schedule #schedule : !adata, !bdata, !blockscale.global<i8> scales !ascales, !bscales d_scales !blockscale.global<i8>
    gpu.return
  }
}

// -----

!adata = !blockscale.tensor_map<u4x16_align8b, dims = ()[s0, s1, s2, s3] -> (256, 133, 1), strides = ()[s0, s1, s2, s3] -> (128, 17024), box = [256, 128, 1], swizzle = "128B">
!bdata = !blockscale.tensor_map<u4x16_align8b, dims = ()[s0, s1, s2, s3] -> (256, 96, 1), strides = ()[s0, s1, s2, s3] -> (128, 12288), box = [256, 48, 1], swizzle = "128B">
!ascales = !blockscale.tensor_map<u32, dims = ()[s0, s1, s2, s3] -> (128, 4, 2, 1), strides = ()[s0, s1, s2, s3] -> (512, 2048, 4096), box = [128, 4, 1, 1], swizzle = "none">
!bscales = !blockscale.tensor_map<u32, dims = ()[s0, s1, s2, s3] -> (128, 4, 1, 1), strides = ()[s0, s1, s2, s3] -> (512, 2048, 2048), box = [128, 4, 1, 1], swizzle = "none">
#mma = #blockscale.mma<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 48, k = 64>
#schedule = #blockscale.schedule<tile_m = 128, tile_n = 48, tile_k = 256, stages = 4, accumulators = 2, swap_operands = true, group_m = 8, mma_k = 64>
#multi = #blockscale.quantization<source = "f", x = bf16, d = <133x96xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>>
#single = #blockscale.quantization<source = "f", x = bf16, d = <133x96xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>>
gpu.module @kernels attributes {blockscale.target = #blockscale.target<sm_100a>} {
  gpu.func @f(%a: !adata, %b: !bdata, %sa: !ascales, %sb: !bscales, %d: !blockscale.global<i8>, %s: !blockscale.global<i8>, %t: !blockscale.global<f32>, %u: !blockscale.global<f32>) kernel {
    %m = arith.constant 133 : i32
    %n = arith.constant 96 : i32
    %k = arith.constant 256 : i32
    %one = arith.constant 1 : i32
    // expected-error@+1 {{with 'swap_operands' sums are brought to rows of D 32 at once, of which 'tile_n' of 48 is no multiple; nearest legal: 64}}
    blockscale.kernel_matmul a(%a) b(%b) scales(%sa, %sb) d(%d) d_scales(%s) d_factor(%t, %u) sizes(%m, %n, %k, %one) quantization#multi mma #mma schedule #schedule : !adata, !bdata, !blockscale.global<i8> scales !ascales, !bscales d_scales !blockscale.global<i8> d_factor !blockscale.global<f32>, !blockscale.global<f32>
    gpu.return
  }
}

// -----

!adata = !blockscale.tensor_map<u4x16_align8b, dims = ()[s0, s1, s2, s3] -> (2048, 133, 1), strides = ()[s0, s1, s2, s3] -> (1024, 136192), box = [256, 128, 1], swizzle = "128B">
!bdata = !blockscale.tensor_map<u4x16_align8b, dims = ()[s0, s1, s2, s3] -> (2048, 96, 1), strides = ()[s0, s1, s2, s3] -> (1024, 98304), box = [256, 64, 1], swizzle = "128B">
!ascales = !blockscale.tensor_map<u32, dims = ()[s0, s1, s2, s3] -> (128, 32, 2, 1), strides = ()[s0, s1, s2, s3] -> (512, 16384, 32768), box = [128, 4, 1, 1], swizzle = "none">
!bscales = !blockscale.tensor_map<u32, dims = ()[s0, s1, s2, s3] -> (128, 32, 1, 1), strides = ()[s0, s1, s2, s3] -> (512, 16384, 16384), box = [128, 4, 1, 1], swizzle = "none">
#mma = #blockscale.mma<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 64, k = 64>
#schedule = #blockscale.schedule<tile_m = 128, tile_n = 64, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8, mma_k = 64, split_k = 8, cluster_k = 8>
#multi = #blockscale.quantization<source = "f", x = bf16, d = <133x96xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>>
#single = #blockscale.quantization<source = "f", x = bf16, d = <133x96xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>>
gpu.module @kernels attributes {blockscale.target = #blockscale.target<sm_100a>} {
  gpu.func @f(%a: !adata, %b: !bdata, %sa: !ascales, %sb: !bscales, %d: !blockscale.global<i8>, %s: !blockscale.global<i8>, %t: !blockscale.global<f32>, %u: !blockscale.global<f32>) kernel {
    %m = arith.constant 133 : i32
    %n = arith.constant 96 : i32
    %k = arith.constant 2048 : i32
    %one = arith.constant 1 : i32
    // expected-error@+1 {{a result is quantised in blocks of 16 columns, of which the slice of 8 that 'tile_n' of 64 leaves each CTA with 'cluster_k' of 8 is no multiple; nearest legal: 128}}
    blockscale.kernel_matmul a(%a) b(%b) scales(%sa, %sb) d(%d) d_scales(%s) d_factor(%t, %u) sizes(%m, %n, %k, %one) quantization#multi mma #mma schedule #schedule : !adata, !bdata, !blockscale.global<i8> scales !ascales, !bscales d_scales !blockscale.global<i8> d_factor !blockscale.global<f32>, !blockscale.global<f32>
    gpu.return
  }
}

// -----

!adata = !blockscale.tensor_map<u4x16_align8b, dims = ()[s0, s1, s2, s3] -> (256, 133, 1), strides = ()[s0, s1, s2, s3] -> (128, 17024), box = [256, 128, 1], swizzle = "128B">
!bdata = !blockscale.tensor_map<u4x16_align8b, dims = ()[s0, s1, s2, s3] -> (256, 96, 1), strides = ()[s0, s1, s2, s3] -> (128, 12288), box = [256, 64, 1], swizzle = "128B">
!ascales = !blockscale.tensor_map<u32, dims = ()[s0, s1, s2, s3] -> (128, 4, 2, 1), strides = ()[s0, s1, s2, s3] -> (512, 2048, 4096), box = [128, 4, 1, 1], swizzle = "none">
!bscales = !blockscale.tensor_map<u32, dims = ()[s0, s1, s2, s3] -> (128, 4, 1, 1), strides = ()[s0, s1, s2, s3] -> (512, 2048, 2048), box = [128, 4, 1, 1], swizzle = "none">
#mma = #blockscale.mma<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 72, k = 64>
#schedule = #blockscale.schedule<tile_m = 128, tile_n = 72, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8, mma_k = 64>
#multi = #blockscale.quantization<source = "f", x = bf16, d = <133x96xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>>
#single = #blockscale.quantization<source = "f", x = bf16, d = <133x96xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>>
gpu.module @kernels attributes {blockscale.target = #blockscale.target<sm_100a>} {
  gpu.func @f(%a: !adata, %b: !bdata, %sa: !ascales, %sb: !bscales, %d: !blockscale.global<i8>, %s: !blockscale.global<i8>, %t: !blockscale.global<f32>, %u: !blockscale.global<f32>) kernel {
    %m = arith.constant 133 : i32
    %n = arith.constant 96 : i32
    %k = arith.constant 256 : i32
    %one = arith.constant 1 : i32
    // expected-error@+1 {{a result is quantised in blocks of 16 columns that lie in one tile, found 'tile_n' of 72; nearest legal: 80}}
    blockscale.kernel_matmul a(%a) b(%b) scales(%sa, %sb) d(%d) d_scales(%s) d_factor(%t, %u) sizes(%m, %n, %k, %one) quantization#multi mma #mma schedule #schedule : !adata, !bdata, !blockscale.global<i8> scales !ascales, !bscales d_scales !blockscale.global<i8> d_factor !blockscale.global<f32>, !blockscale.global<f32>
    gpu.return
  }
}

// -----

!adata = !blockscale.tensor_map<u4x16_align8b, dims = ()[s0, s1, s2, s3] -> (256, 133, 1), strides = ()[s0, s1, s2, s3] -> (128, 17024), box = [256, 128, 1], swizzle = "128B">
!bdata = !blockscale.tensor_map<u4x16_align8b, dims = ()[s0, s1, s2, s3] -> (256, 96, 1), strides = ()[s0, s1, s2, s3] -> (128, 12288), box = [256, 64, 1], swizzle = "128B">
!ascales = !blockscale.tensor_map<u32, dims = ()[s0, s1, s2, s3] -> (128, 4, 2, 1), strides = ()[s0, s1, s2, s3] -> (512, 2048, 4096), box = [128, 4, 1, 1], swizzle = "none">
!bscales = !blockscale.tensor_map<u32, dims = ()[s0, s1, s2, s3] -> (128, 4, 1, 1), strides = ()[s0, s1, s2, s3] -> (512, 2048, 2048), box = [128, 4, 1, 1], swizzle = "none">
#mma = #blockscale.mma<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 64, k = 64>
#schedule = #blockscale.schedule<tile_m = 128, tile_n = 64, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8, mma_k = 64>
#multi = #blockscale.quantization<source = "f", x = i8, d = <133x96xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>>
#single = #blockscale.quantization<source = "f", x = bf16, d = <133x96xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>>
gpu.module @kernels attributes {blockscale.target = #blockscale.target<sm_100a>} {
  gpu.func @f(%a: !adata, %b: !bdata, %sa: !ascales, %sb: !bscales, %d: !blockscale.global<i8>, %s: !blockscale.global<i8>, %t: !blockscale.global<f32>, %u: !blockscale.global<f32>) kernel {
    %m = arith.constant 133 : i32
    %n = arith.constant 96 : i32
    %k = arith.constant 256 : i32
    %one = arith.constant 1 : i32
    // expected-error@+1 {{expected 'd', 'c' and 'bias' of f32, bf16 or f16, found 'i8'}}
    blockscale.kernel_matmul a(%a) b(%b) scales(%sa, %sb) d(%d) d_scales(%s) d_factor(%t, %u) sizes(%m, %n, %k, %one) quantization#multi mma #mma schedule #schedule : !adata, !bdata, !blockscale.global<i8> scales !ascales, !bscales d_scales !blockscale.global<i8> d_factor !blockscale.global<f32>, !blockscale.global<f32>
    gpu.return
  }
}

// -----

!adata = !blockscale.tensor_map<u4x16_align8b, dims = ()[s0, s1, s2, s3] -> (256, 133, 1), strides = ()[s0, s1, s2, s3] -> (128, 17024), box = [256, 128, 1], swizzle = "128B">
!bdata = !blockscale.tensor_map<u4x16_align8b, dims = ()[s0, s1, s2, s3] -> (256, 96, 1), strides = ()[s0, s1, s2, s3] -> (128, 12288), box = [256, 64, 1], swizzle = "128B">
!ascales = !blockscale.tensor_map<u32, dims = ()[s0, s1, s2, s3] -> (128, 4, 2, 1), strides = ()[s0, s1, s2, s3] -> (512, 2048, 4096), box = [128, 4, 1, 1], swizzle = "none">
!bscales = !blockscale.tensor_map<u32, dims = ()[s0, s1, s2, s3] -> (128, 4, 1, 1), strides = ()[s0, s1, s2, s3] -> (512, 2048, 2048), box = [128, 4, 1, 1], swizzle = "none">
#mma = #blockscale.mma<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 64, k = 64>
#schedule = #blockscale.schedule<tile_m = 128, tile_n = 64, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8, mma_k = 64>
#multi = #blockscale.quantization<source = "f", x = bf16, d = <133x96xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>>
#single = #blockscale.quantization<source = "f", x = bf16, d = <133x96xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>>
gpu.module @kernels attributes {blockscale.target = #blockscale.target<sm_100a>} {
  gpu.func @f(%a: !adata, %b: !bdata, %sa: !ascales, %sb: !bscales, %d: !blockscale.global<i8>, %s: !blockscale.global<i8>, %t: !blockscale.global<f32>, %u: !blockscale.global<f32>, %o: !blockscale.global<i32>) kernel {
    %m = arith.constant 133 : i32
    %n = arith.constant 96 : i32
    %k = arith.constant 256 : i32
    %one = arith.constant 1 : i32
    // expected-error@+1 {{expected 'offsets' with scales of 'd' in layout 'grouped_128x4', and only then}}
    blockscale.kernel_matmul a(%a) b(%b) scales(%sa, %sb) d(%d) groups(%o) d_scales(%s) d_factor(%t, %u) sizes(%m, %n, %k, %one) quantization#multi mma #mma schedule #schedule : !adata, !bdata, !blockscale.global<i8> scales !ascales, !bscales groups !blockscale.global<i32> d_scales !blockscale.global<i8> d_factor !blockscale.global<f32>, !blockscale.global<f32>
    gpu.return
  }
}

// -----

!adata = !blockscale.tensor_map<u4x16_align8b, dims = ()[s0, s1, s2, s3] -> (256, 133, 1), strides = ()[s0, s1, s2, s3] -> (128, 17024), box = [256, 128, 1], swizzle = "128B">
!bdata = !blockscale.tensor_map<u4x16_align8b, dims = ()[s0, s1, s2, s3] -> (256, 96, 1), strides = ()[s0, s1, s2, s3] -> (128, 12288), box = [256, 16, 1], swizzle = "128B">
!ascales = !blockscale.tensor_map<u32, dims = ()[s0, s1, s2, s3] -> (128, 4, 2, 1), strides = ()[s0, s1, s2, s3] -> (512, 2048, 4096), box = [128, 4, 1, 1], swizzle = "none">
!bscales = !blockscale.tensor_map<u32, dims = ()[s0, s1, s2, s3] -> (128, 4, 1, 1), strides = ()[s0, s1, s2, s3] -> (512, 2048, 2048), box = [128, 4, 1, 1], swizzle = "none">
#mma = #blockscale.mma<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 16, n = 8, k = 64>
#schedule = #blockscale.schedule<tile_m = 128, tile_n = 16, tile_k = 256, stages = 4, accumulators = 1, swap_operands = false, group_m = 8, mma_k = 64>
#multi = #blockscale.quantization<source = "f", x = bf16, d = <133x96xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>>
#single = #blockscale.quantization<source = "f", x = bf16, d = <133x96xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>>
gpu.module @kernels attributes {blockscale.target = #blockscale.target<sm_120a>} {
  gpu.func @f(%a: !adata, %b: !bdata, %sa: !ascales, %sb: !bscales, %d: !blockscale.global<i8>, %s: !blockscale.global<i8>, %t: !blockscale.global<f32>, %u: !blockscale.global<f32>) kernel {
    %m = arith.constant 133 : i32
    %n = arith.constant 96 : i32
    %k = arith.constant 256 : i32
    %one = arith.constant 1 : i32
    // expected-error@+1 {{on sm_120a a result is quantised where a warp has 32 rows, found 'tile_n' of 16; nearest legal: 64}}
    blockscale.kernel_matmul a(%a) b(%b) scales(%sa, %sb) d(%d) d_scales(%s) d_factor(%t, %u) sizes(%m, %n, %k, %one) quantization#multi mma #mma schedule #schedule : !adata, !bdata, !blockscale.global<i8> scales !ascales, !bscales d_scales !blockscale.global<i8> d_factor !blockscale.global<f32>, !blockscale.global<f32>
    gpu.return
  }
}

// -----

!adata = !blockscale.tensor_map<u4x16_align8b, dims = ()[s0, s1, s2, s3] -> (256, 133, 1), strides = ()[s0, s1, s2, s3] -> (128, 17024), box = [256, 128, 1], swizzle = "128B">
!bdata = !blockscale.tensor_map<u4x16_align8b, dims = ()[s0, s1, s2, s3] -> (256, 128, 1), strides = ()[s0, s1, s2, s3] -> (128, 16384), box = [256, 64, 1], swizzle = "128B">
!ascales = !blockscale.tensor_map<u32, dims = ()[s0, s1, s2, s3] -> (128, 4, 2, 1), strides = ()[s0, s1, s2, s3] -> (512, 2048, 4096), box = [128, 4, 1, 1], swizzle = "none">
!bscales = !blockscale.tensor_map<u32, dims = ()[s0, s1, s2, s3] -> (128, 4, 1, 1), strides = ()[s0, s1, s2, s3] -> (512, 2048, 2048), box = [128, 4, 1, 1], swizzle = "none">
#mma = #blockscale.mma<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 64, k = 64>
#schedule = #blockscale.schedule<tile_m = 128, tile_n = 64, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8, mma_k = 64>
#float = #blockscale.quantization<source = "f", x = bf16, d = <133x128xf8E4M3FN, "float32_t128">>
gpu.module @kernels attributes {blockscale.target = #blockscale.target<sm_100a>} {
  gpu.func @f(%a: !adata, %b: !bdata, %sa: !ascales, %sb: !bscales, %d: !blockscale.global<i8>, %s: !blockscale.global<i8>) kernel {
    %m = arith.constant 133 : i32
    %n = arith.constant 128 : i32
    %k = arith.constant 256 : i32
    %one = arith.constant 1 : i32
    // expected-error@+1 {{with a 'quantization' expected 'd' of i8, 'd_scales' of 'f32' and tensor scales of f32}}
    blockscale.kernel_matmul a(%a) b(%b) scales(%sa, %sb) d(%d) d_scales(%s) sizes(%m, %n, %k, %one) quantization#float mma #mma schedule #schedule : !adata, !bdata, !blockscale.global<i8> scales !ascales, !bscales d_scales !blockscale.global<i8>
    gpu.return
  }
}

// -----

!adata = !blockscale.tensor_map<u4x16_align8b, dims = ()[s0, s1, s2, s3] -> (256, 133, 1), strides = ()[s0, s1, s2, s3] -> (128, 17024), box = [256, 128, 1], swizzle = "128B">
!bdata = !blockscale.tensor_map<u4x16_align8b, dims = ()[s0, s1, s2, s3] -> (256, 128, 1), strides = ()[s0, s1, s2, s3] -> (128, 16384), box = [256, 64, 1], swizzle = "128B">
!ascales = !blockscale.tensor_map<u32, dims = ()[s0, s1, s2, s3] -> (128, 4, 2, 1), strides = ()[s0, s1, s2, s3] -> (512, 2048, 4096), box = [128, 4, 1, 1], swizzle = "none">
!bscales = !blockscale.tensor_map<u32, dims = ()[s0, s1, s2, s3] -> (128, 4, 1, 1), strides = ()[s0, s1, s2, s3] -> (512, 2048, 2048), box = [128, 4, 1, 1], swizzle = "none">
#mma = #blockscale.mma<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 64, k = 64>
#schedule = #blockscale.schedule<tile_m = 128, tile_n = 64, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8, mma_k = 64>
#float = #blockscale.quantization<source = "f", x = bf16, d = <133x128xf8E4M3FN, "float32_t128">>
gpu.module @kernels attributes {blockscale.target = #blockscale.target<sm_100a>} {
  gpu.func @f(%a: !adata, %b: !bdata, %sa: !ascales, %sb: !bscales, %d: !blockscale.global<i8>, %s: !blockscale.global<f32>) kernel {
    %m = arith.constant 133 : i32
    %n = arith.constant 128 : i32
    %k = arith.constant 256 : i32
    %one = arith.constant 1 : i32
    // expected-error@+1 {{a result is quantised in blocks of 128 columns that lie in one tile, found 'tile_n' of 64; nearest legal: 128}}
    blockscale.kernel_matmul a(%a) b(%b) scales(%sa, %sb) d(%d) d_scales(%s) sizes(%m, %n, %k, %one) quantization#float mma #mma schedule #schedule : !adata, !bdata, !blockscale.global<i8> scales !ascales, !bscales d_scales !blockscale.global<f32>
    gpu.return
  }
}

// -----

!adata = !blockscale.tensor_map<u4x16_align8b, dims = ()[s0, s1, s2, s3] -> (256, 133, 1), strides = ()[s0, s1, s2, s3] -> (128, 17024), box = [256, 128, 1], swizzle = "128B">
!bdata = !blockscale.tensor_map<u4x16_align8b, dims = ()[s0, s1, s2, s3] -> (256, 128, 1), strides = ()[s0, s1, s2, s3] -> (128, 16384), box = [256, 64, 1], swizzle = "128B">
!ascales = !blockscale.tensor_map<u32, dims = ()[s0, s1, s2, s3] -> (128, 4, 2, 1), strides = ()[s0, s1, s2, s3] -> (512, 2048, 4096), box = [128, 4, 1, 1], swizzle = "none">
!bscales = !blockscale.tensor_map<u32, dims = ()[s0, s1, s2, s3] -> (128, 4, 1, 1), strides = ()[s0, s1, s2, s3] -> (512, 2048, 2048), box = [128, 4, 1, 1], swizzle = "none">
#mma = #blockscale.mma<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 64, k = 64>
#schedule = #blockscale.schedule<tile_m = 128, tile_n = 64, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8, mma_k = 64>
#given = #blockscale.quantization<source = "f", x = bf16, d = <133x128xf8E4M3FN, "float16">>
gpu.module @kernels attributes {blockscale.target = #blockscale.target<sm_100a>} {
  gpu.func @f(%a: !adata, %b: !bdata, %sa: !ascales, %sb: !bscales, %d: !blockscale.global<i8>, %s: !blockscale.global<f16>, %t: !blockscale.global<f32>) kernel {
    %m = arith.constant 133 : i32
    %n = arith.constant 128 : i32
    %k = arith.constant 256 : i32
    %one = arith.constant 1 : i32
    blockscale.kernel_matmul a(%a) b(%b) scales(%sa, %sb) d(%d) d_scales(%s) d_factor(%t) sizes(%m, %n, %k, %one) quantization#given mma #mma schedule #schedule : !adata, !bdata, !blockscale.global<i8> scales !ascales, !bscales d_scales !blockscale.global<f16> d_factor !blockscale.global<f32>
    gpu.return
  }
}

// -----

!adata = !blockscale.tensor_map<u4x16_align8b, dims = ()[s0, s1, s2, s3] -> (256, 133, 1), strides = ()[s0, s1, s2, s3] -> (128, 17024), box = [256, 128, 1], swizzle = "128B">
!bdata = !blockscale.tensor_map<u4x16_align8b, dims = ()[s0, s1, s2, s3] -> (256, 128, 1), strides = ()[s0, s1, s2, s3] -> (128, 16384), box = [256, 64, 1], swizzle = "128B">
!ascales = !blockscale.tensor_map<u32, dims = ()[s0, s1, s2, s3] -> (128, 4, 2, 1), strides = ()[s0, s1, s2, s3] -> (512, 2048, 4096), box = [128, 4, 1, 1], swizzle = "none">
!bscales = !blockscale.tensor_map<u32, dims = ()[s0, s1, s2, s3] -> (128, 4, 1, 1), strides = ()[s0, s1, s2, s3] -> (512, 2048, 2048), box = [128, 4, 1, 1], swizzle = "none">
#mma = #blockscale.mma<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 64, k = 64>
#schedule = #blockscale.schedule<tile_m = 128, tile_n = 64, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8, mma_k = 64>
#given = #blockscale.quantization<source = "f", x = bf16, d = <133x128xf8E4M3FN, "float32">>
gpu.module @kernels attributes {blockscale.target = #blockscale.target<sm_100a>} {
  gpu.func @f(%a: !adata, %b: !bdata, %sa: !ascales, %sb: !bscales, %d: !blockscale.global<i8>, %s: !blockscale.global<f32>, %t: !blockscale.global<f32>) kernel {
    %m = arith.constant 133 : i32
    %n = arith.constant 128 : i32
    %k = arith.constant 256 : i32
    %one = arith.constant 1 : i32
    // expected-error@+1 {{expected 'd_scales' with a 'quantization', 'd_factor' where its 'd' has a tensor scale, which 'd_tensor_scale' takes, or one scale for all of a matrix, and only then}}
    blockscale.kernel_matmul a(%a) b(%b) scales(%sa, %sb) d(%d) d_scales(%s) sizes(%m, %n, %k, %one) quantization#given mma #mma schedule #schedule : !adata, !bdata, !blockscale.global<i8> scales !ascales, !bscales d_scales !blockscale.global<f32>
    gpu.return
  }
}

// -----

!adata = !blockscale.tensor_map<u4x16_align8b, dims = ()[s0, s1, s2, s3] -> (256, 133, 1), strides = ()[s0, s1, s2, s3] -> (128, 17024), box = [256, 128, 1], swizzle = "128B">
!bdata = !blockscale.tensor_map<u4x16_align8b, dims = ()[s0, s1, s2, s3] -> (256, 128, 1), strides = ()[s0, s1, s2, s3] -> (128, 16384), box = [256, 64, 1], swizzle = "128B">
!ascales = !blockscale.tensor_map<u32, dims = ()[s0, s1, s2, s3] -> (128, 4, 2, 1), strides = ()[s0, s1, s2, s3] -> (512, 2048, 4096), box = [128, 4, 1, 1], swizzle = "none">
!bscales = !blockscale.tensor_map<u32, dims = ()[s0, s1, s2, s3] -> (128, 4, 1, 1), strides = ()[s0, s1, s2, s3] -> (512, 2048, 2048), box = [128, 4, 1, 1], swizzle = "none">
#mma = #blockscale.mma<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 64, k = 64>
#schedule = #blockscale.schedule<tile_m = 128, tile_n = 64, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8, mma_k = 64>
#given = #blockscale.quantization<source = "f", x = bf16, d = <133x128xf8E4M3FN, "float32">>
gpu.module @kernels attributes {blockscale.target = #blockscale.target<sm_100a>} {
  gpu.func @f(%a: !adata, %b: !bdata, %sa: !ascales, %sb: !bscales, %d: !blockscale.global<i8>, %s: !blockscale.global<f32>, %t: !blockscale.global<f32>) kernel {
    %m = arith.constant 133 : i32
    %n = arith.constant 128 : i32
    %k = arith.constant 256 : i32
    %one = arith.constant 1 : i32
    // expected-error@+1 {{expected 'd_scales' with a 'quantization', 'd_factor' where its 'd' has a tensor scale, which 'd_tensor_scale' takes, or one scale for all of a matrix, and only then}}
    blockscale.kernel_matmul a(%a) b(%b) scales(%sa, %sb) d(%d) d_scales(%s) d_factor(%t, %t) sizes(%m, %n, %k, %one) quantization#given mma #mma schedule #schedule : !adata, !bdata, !blockscale.global<i8> scales !ascales, !bscales d_scales !blockscale.global<f32> d_factor !blockscale.global<f32>, !blockscale.global<f32>
    gpu.return
  }
}

// -----

!adata = !blockscale.tensor_map<u4x16_align8b, dims = ()[s0, s1, s2, s3] -> (256, 133, 1), strides = ()[s0, s1, s2, s3] -> (128, 17024), box = [256, 128, 1], swizzle = "128B">
!bdata = !blockscale.tensor_map<u4x16_align8b, dims = ()[s0, s1, s2, s3] -> (256, 128, 1), strides = ()[s0, s1, s2, s3] -> (128, 16384), box = [256, 64, 1], swizzle = "128B">
!ascales = !blockscale.tensor_map<u32, dims = ()[s0, s1, s2, s3] -> (128, 4, 2, 1), strides = ()[s0, s1, s2, s3] -> (512, 2048, 4096), box = [128, 4, 1, 1], swizzle = "none">
!bscales = !blockscale.tensor_map<u32, dims = ()[s0, s1, s2, s3] -> (128, 4, 1, 1), strides = ()[s0, s1, s2, s3] -> (512, 2048, 2048), box = [128, 4, 1, 1], swizzle = "none">
#mma = #blockscale.mma<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 64, k = 64>
#schedule = #blockscale.schedule<tile_m = 128, tile_n = 64, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8, mma_k = 64>
#given = #blockscale.quantization<source = "f", x = bf16, d = <133x128xf8E4M3FN, "float16">>
gpu.module @kernels attributes {blockscale.target = #blockscale.target<sm_100a>} {
  gpu.func @f(%a: !adata, %b: !bdata, %sa: !ascales, %sb: !bscales, %d: !blockscale.global<i8>, %s: !blockscale.global<f32>, %t: !blockscale.global<f32>) kernel {
    %m = arith.constant 133 : i32
    %n = arith.constant 128 : i32
    %k = arith.constant 256 : i32
    %one = arith.constant 1 : i32
    // expected-error@+1 {{with a 'quantization' expected 'd' of i8, 'd_scales' of 'f16' and tensor scales of f32}}
    blockscale.kernel_matmul a(%a) b(%b) scales(%sa, %sb) d(%d) d_scales(%s) d_factor(%t) sizes(%m, %n, %k, %one) quantization#given mma #mma schedule #schedule : !adata, !bdata, !blockscale.global<i8> scales !ascales, !bscales d_scales !blockscale.global<f32> d_factor !blockscale.global<f32>
    gpu.return
  }
}

// -----

!adata = !blockscale.tensor_map<u4x16_align8b, dims = ()[s0, s1, s2, s3] -> (256, 133, 1), strides = ()[s0, s1, s2, s3] -> (128, 17024), box = [256, 128, 1], swizzle = "128B">
!bdata = !blockscale.tensor_map<u4x16_align8b, dims = ()[s0, s1, s2, s3] -> (256, 128, 1), strides = ()[s0, s1, s2, s3] -> (128, 16384), box = [256, 64, 1], swizzle = "128B">
!ascales = !blockscale.tensor_map<u32, dims = ()[s0, s1, s2, s3] -> (128, 4, 2, 1), strides = ()[s0, s1, s2, s3] -> (512, 2048, 4096), box = [128, 4, 1, 1], swizzle = "none">
!bscales = !blockscale.tensor_map<u32, dims = ()[s0, s1, s2, s3] -> (128, 4, 1, 1), strides = ()[s0, s1, s2, s3] -> (512, 2048, 2048), box = [128, 4, 1, 1], swizzle = "none">
#mma = #blockscale.mma<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 64, k = 64>
#schedule = #blockscale.schedule<tile_m = 128, tile_n = 64, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8, mma_k = 64>
#given = #blockscale.quantization<source = "f", x = bf16, d = <133x128xf8E4M3FN, "float32_t0">>
gpu.module @kernels attributes {blockscale.target = #blockscale.target<sm_100a>} {
  gpu.func @f(%a: !adata, %b: !bdata, %sa: !ascales, %sb: !bscales, %d: !blockscale.global<i8>, %s: !blockscale.global<f32>, %t: !blockscale.global<f32>) kernel {
    %m = arith.constant 133 : i32
    %n = arith.constant 128 : i32
    %k = arith.constant 256 : i32
    %one = arith.constant 1 : i32
    // expected-error@+1 {{a product quantises its result in blocks of one row, of which a CTA has all columns, but a scale is for all of a row; nearest legal: 'float32_t128', or a kernel of its own that quantises}}
    blockscale.kernel_matmul a(%a) b(%b) scales(%sa, %sb) d(%d) d_scales(%s) sizes(%m, %n, %k, %one) quantization#given mma #mma schedule #schedule : !adata, !bdata, !blockscale.global<i8> scales !ascales, !bscales d_scales !blockscale.global<f32>
    gpu.return
  }
}
