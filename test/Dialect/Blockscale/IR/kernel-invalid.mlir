// Launches of no kernel, and products that no kernel computes so.

// RUN: blockscale-opt %s -split-input-file -verify-diagnostics

//===----------------------------------------------------------------------===//
// blockscale.launch
//===----------------------------------------------------------------------===//

func.func @no_kernel() -> tensor<4x4xf32> {
  // expected-error @below {{there is no kernel @kernels::@f}}
  %0 = blockscale.launch @kernels::@f() : () -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

func.func @no_attribute() -> tensor<4x4xf32> {
  // expected-error @below {{@f is not a kernel: it has no 'blockscale.kernel' attribute}}
  %0 = blockscale.launch @f() : () -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
// expected-note @below {{declared here}}
func.func private @f()

// -----

//===----------------------------------------------------------------------===//
// blockscale.kernel_matmul
//===----------------------------------------------------------------------===//

!map = !blockscale.tensor_map<u4x16_align8b, dims = ()[m, n, k, l] -> (k, m), strides = ()[m, n, k, l] -> (k), box = [256, 128], swizzle = "128B">
func.func @incomplete(%m: !map, %d: !blockscale.global<bf16>, %s: f32, %i: i32) {
  // expected-error @below {{expected a complete schedule; 'blockscale-select-schedule' completes one}}
  blockscale.kernel_matmul a(%m) b(%m) scales(%m, %m) d(%d) sizes(%i, %i, %i, %i)
    mma <kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 128, k = 64>
    schedule<tile_m = 128, tile_n = 128, tile_k = 256, stages = 4, accumulators = 2, group_m = 8> : !map, !map, !blockscale.global<bf16> scales !map, !map
  return
}

// -----

!map = !blockscale.tensor_map<u4x16_align8b, dims = ()[m, n, k, l] -> (k, m), strides = ()[m, n, k, l] -> (k), box = [256, 128], swizzle = "128B">
func.func @shape(%m: !map, %d: !blockscale.global<bf16>, %s: f32, %i: i32) {
  // expected-error @below {{expected an instruction of the tile's shape 128x128, found 128x64}}
  blockscale.kernel_matmul a(%m) b(%m) scales(%m, %m) d(%d) sizes(%i, %i, %i, %i)
    mma <kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 64, k = 64>
    schedule<tile_m = 128, tile_n = 128, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8> : !map, !map, !blockscale.global<bf16> scales !map, !map
  return
}

// -----

!map = !blockscale.tensor_map<u4x16_align8b, dims = ()[m, n, k, l] -> (k, m), strides = ()[m, n, k, l] -> (k), box = [256, 128], swizzle = "128B">
func.func @scales_of_neither(%m: !map, %d: !blockscale.global<bf16>, %s: f32, %i: i32) {
  // expected-error @below {{expected scales of 'a' or 'b' with a kind that takes scales, and only then}}
  blockscale.kernel_matmul a(%m) b(%m) d(%d) sizes(%i, %i, %i, %i)
    mma <kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 128, k = 64>
    schedule<tile_m = 128, tile_n = 128, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8> : !map, !map, !blockscale.global<bf16>
  return
}

// -----

!map = !blockscale.tensor_map<u4x16_align8b, dims = ()[m, n, k, l] -> (k, m), strides = ()[m, n, k, l] -> (k), box = [256, 128], swizzle = "128B">
func.func @beta_without_c(%m: !map, %d: !blockscale.global<bf16>, %s: f32, %i: i32) {
  // expected-error @below {{expected 'c' and 'beta' together}}
  blockscale.kernel_matmul a(%m) b(%m) scales(%m, %m) d(%d) beta(%s) sizes(%i, %i, %i, %i)
    mma <kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 128, k = 64>
    schedule<tile_m = 128, tile_n = 128, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8> : !map, !map, !blockscale.global<bf16> scales !map, !map
  return
}

// -----

!map = !blockscale.tensor_map<u4x16_align8b, dims = ()[m, n, k, l] -> (k, m), strides = ()[m, n, k, l] -> (k), box = [256, 128], swizzle = "128B">
func.func @illegal(%m: !map, %d: !blockscale.global<bf16>, %s: f32, %i: i32) {
  // expected-error @+2 {{kind 'mxf4' has no ue4m3 scale for 'block' 16}}
  blockscale.kernel_matmul a(%m) b(%m) scales(%m, %m) d(%d) sizes(%i, %i, %i, %i)
    mma <kind = mxf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 128, k = 64>
    schedule<tile_m = 128, tile_n = 128, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8> : !map, !map, !blockscale.global<bf16> scales !map, !map
  return
}

// -----

!map = !blockscale.tensor_map<u4x16_align8b, dims = ()[m, n, k, l] -> (k, m), strides = ()[m, n, k, l] -> (k), box = [256, 128], swizzle = "128B">
func.func @tile_k(%m: !map, %d: !blockscale.global<bf16>, %s: f32, %i: i32) {
  // expected-error @below {{expected 'tile_k' of 256, one 128-byte row of shared memory for kind 'mxf4nvf4', found 128}}
  blockscale.kernel_matmul a(%m) b(%m) scales(%m, %m) d(%d) sizes(%i, %i, %i, %i)
    mma <kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 128, k = 64>
    schedule<tile_m = 128, tile_n = 128, tile_k = 128, stages = 4, accumulators = 2, swap_operands = false, group_m = 8> : !map, !map, !blockscale.global<bf16> scales !map, !map
  return
}

// -----

!map = !blockscale.tensor_map<u4x16_align8b, dims = ()[m, n, k, l] -> (k, m), strides = ()[m, n, k, l] -> (k), box = [256, 128], swizzle = "128B">
func.func @tile_k_padded(%m: !map, %d: !blockscale.global<bf16>, %s: f32, %i: i32) {
  // expected-error @below {{expected 'tile_k' of 128, one 128-byte row of shared memory for kind 'mxf8f6f4', found 256}}
  blockscale.kernel_matmul a(%m) b(%m) scales(%m, %m) d(%d) sizes(%i, %i, %i, %i)
    mma <kind = mxf8f6f4, a = e2m1, b = e2m1, scale = ue8m0, block = 32, m = 128, n = 128, k = 32>
    schedule<tile_m = 128, tile_n = 128, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8> : !map, !map, !blockscale.global<bf16> scales !map, !map
  return
}

// -----

!map = !blockscale.tensor_map<u4x16_align8b, dims = ()[m, n, k, l] -> (k, m), strides = ()[m, n, k, l] -> (k), box = [256, 128], swizzle = "128B">
func.func @result_type(%m: !map, %d: !blockscale.global<i8>, %s: f32, %i: i32) {
  // expected-error @below {{expected 'd', 'c' and 'bias' of f32, bf16 or f16, found 'i8'}}
  blockscale.kernel_matmul a(%m) b(%m) scales(%m, %m) d(%d) sizes(%i, %i, %i, %i)
    mma <kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 128, k = 64>
    schedule<tile_m = 128, tile_n = 128, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8> : !map, !map, !blockscale.global<i8> scales !map, !map
  return
}

// -----

!map = !blockscale.tensor_map<u4x16_align8b, dims = ()[m, n, k, l] -> (k, m), strides = ()[m, n, k, l] -> (k), box = [256, 128], swizzle = "128B">
func.func @tensor_scale_type(%m: !map, %d: !blockscale.global<bf16>, %t: !blockscale.global<i32>, %i: i32) {
  // expected-error @below {{expected scales of f32, f16, bf16, a float of 8 bits or, for codes of ue8m0 and of ue5m3, i8 and ui8, found 'i32'}}
  blockscale.kernel_matmul a(%m) b(%m) scales(%m, %m) d(%d) tensor_scales(%t) sizes(%i, %i, %i, %i)
    mma <kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 128, k = 64>
    schedule<tile_m = 128, tile_n = 128, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8> : !map, !map, !blockscale.global<bf16> scales !map, !map tensor_scales !blockscale.global<i32>
  return
}

// -----

!map = !blockscale.tensor_map<u4x16_align8b, dims = ()[m, n, k, l] -> (k, m), strides = ()[m, n, k, l] -> (k), box = [256, 128], swizzle = "128B">
func.func @column_scale_type(%m: !map, %d: !blockscale.global<bf16>, %t: !blockscale.global<f64>, %i: i32) {
  // expected-error @below {{expected scales of f32, f16, bf16, a float of 8 bits or, for codes of ue8m0 and of ue5m3, i8 and ui8, found 'f64'}}
  blockscale.kernel_matmul a(%m) b(%m) scales(%m, %m) d(%d) column_scales(%t) sizes(%i, %i, %i, %i)
    mma <kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 128, k = 64>
    schedule<tile_m = 128, tile_n = 128, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8> : !map, !map, !blockscale.global<bf16> scales !map, !map column_scales !blockscale.global<f64>
  return
}

// -----

!map = !blockscale.tensor_map<u4x16_align8b, dims = ()[m, n, k, l] -> (k, m), strides = ()[m, n, k, l] -> (k), box = [256, 128], swizzle = "128B">
func.func @row_group(%m: !map, %d: !blockscale.global<bf16>, %t: !blockscale.global<f32>, %i: i32) {
  // expected-error @below {{expected a 'row_group' of 1 to 2147418112 rows that share a scale, found 0}}
  blockscale.kernel_matmul a(%m) b(%m) scales(%m, %m) d(%d) row_scales(%t) sizes(%i, %i, %i, %i)
    mma <kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 128, k = 64>
    schedule<tile_m = 128, tile_n = 128, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8> {row_group = 0 : i64} : !map, !map, !blockscale.global<bf16> scales !map, !map row_scales !blockscale.global<f32>
  return
}

// -----

!map = !blockscale.tensor_map<u4x16_align8b, dims = ()[m, n, k, l] -> (k, m), strides = ()[m, n, k, l] -> (k), box = [256, 128], swizzle = "128B">
func.func @split_without_workspace(%m: !map, %d: !blockscale.global<bf16>) {
  %i = arith.constant 1024 : i32
  // expected-error @below {{expected a workspace with 'split_k' above 'cluster_k' or 'stream_k' above 1, and only then}}
  blockscale.kernel_matmul a(%m) b(%m) scales(%m, %m) d(%d) sizes(%i, %i, %i, %i)
    mma <kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 128, k = 64>
    schedule<tile_m = 128, tile_n = 128, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8, split_k = 2> : !map, !map, !blockscale.global<bf16> scales !map, !map
  return
}

// -----

!map = !blockscale.tensor_map<u4x16_align8b, dims = ()[m, n, k, l] -> (k, m), strides = ()[m, n, k, l] -> (k), box = [256, 128], swizzle = "128B">
func.func @workspace_without_split(%m: !map, %d: !blockscale.global<bf16>, %w: !blockscale.global<f32>) {
  %i = arith.constant 1024 : i32
  // expected-error @below {{expected a workspace with 'split_k' above 'cluster_k' or 'stream_k' above 1, and only then}}
  blockscale.kernel_matmul a(%m) b(%m) scales(%m, %m) d(%d) workspace(%w) sizes(%i, %i, %i, %i)
    mma <kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 128, k = 64>
    schedule<tile_m = 128, tile_n = 128, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8> : !map, !map, !blockscale.global<bf16> scales !map, !map workspace !blockscale.global<f32>
  return
}

// -----

!map = !blockscale.tensor_map<u4x16_align8b, dims = ()[m, n, k, l] -> (k, m), strides = ()[m, n, k, l] -> (k), box = [256, 128], swizzle = "128B">
func.func @workspace_type(%m: !map, %d: !blockscale.global<bf16>) {
  %i = arith.constant 1024 : i32
  // expected-error @below {{expected a workspace of the accumulator's type 'f32', found 'bf16'}}
  blockscale.kernel_matmul a(%m) b(%m) scales(%m, %m) d(%d) workspace(%d) sizes(%i, %i, %i, %i)
    mma <kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 128, k = 64>
    schedule<tile_m = 128, tile_n = 128, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8, split_k = 2> : !map, !map, !blockscale.global<bf16> scales !map, !map workspace !blockscale.global<bf16>
  return
}

// -----

!map = !blockscale.tensor_map<u4x16_align8b, dims = ()[m, n, k, l] -> (k, m), strides = ()[m, n, k, l] -> (k), box = [256, 128], swizzle = "128B">
func.func @groups_of_dynamic_k(%m: !map, %d: !blockscale.global<bf16>, %w: !blockscale.global<f32>, %i: i32) attributes {blockscale.target = #blockscale.target<sm_103a>} {
  // expected-error @below {{'split_k' of 2 needs a static K with 'mma_k' of 96: parts of a K that only the host knows are not lowered in groups of three stages; nearest legal: 1, or 'mma_k' of 64}}
  blockscale.kernel_matmul a(%m) b(%m) scales(%m, %m) d(%d) workspace(%w) sizes(%i, %i, %i, %i)
    mma <kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 128, k = 96>
    schedule<tile_m = 128, tile_n = 128, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8, mma_k = 96, split_k = 2> : !map, !map, !blockscale.global<bf16> scales !map, !map workspace !blockscale.global<f32>
  return
}

// -----

!map = !blockscale.tensor_map<u4x16_align8b, dims = ()[m, n, k, l] -> (k, m), strides = ()[m, n, k, l] -> (k), box = [256, 128], swizzle = "128B">
func.func @shares_of_dynamic_k(%m: !map, %d: !blockscale.global<bf16>, %w: !blockscale.global<f32>, %n: i32) {
  %i = arith.constant 1024 : i32
  // expected-error @below {{'stream_k' of 3 needs static sizes, from which the shares follow, found a dynamic K; nearest legal: 1}}
  blockscale.kernel_matmul a(%m) b(%m) scales(%m, %m) d(%d) workspace(%w) sizes(%i, %i, %n, %i)
    mma <kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 128, k = 64>
    schedule<tile_m = 128, tile_n = 128, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8, stream_k = 3> : !map, !map, !blockscale.global<bf16> scales !map, !map workspace !blockscale.global<f32>
  return
}
