// RUN: blockscale-opt %s -split-input-file -verify-diagnostics

//===----------------------------------------------------------------------===//
// !blockscale.tensor_map
//===----------------------------------------------------------------------===//

// expected-error @below {{expected 1 to 5 dimensions, found 6}}
func.func private @rank(!blockscale.tensor_map<u8, dims = ()[m, n, k, l] -> (k, m, n, l, 1, 1), strides = ()[m, n, k, l] -> (k, k, k, k, k), box = [16, 1, 1, 1, 1, 1], swizzle = "128B">)

// -----

// expected-error @below {{expected a stride for each of 1 outer dimensions, found 2}}
func.func private @strides(!blockscale.tensor_map<u8, dims = ()[m, n, k, l] -> (k, m), strides = ()[m, n, k, l] -> (k, k), box = [128, 64], swizzle = "128B">)

// -----

// expected-error @below {{expected maps of the 4 symbols M, N, K and batch, or of 7 for rows that are gathered: those of grids and the tokens}}
func.func private @symbols(!blockscale.tensor_map<u8, dims = ()[m, n, k] -> (k, m), strides = ()[m, n, k, l] -> (k), box = [128, 64], swizzle = "128B">)

// -----

// expected-error @below {{expected a box of 2 extents, found 3}}
func.func private @box_rank(!blockscale.tensor_map<u8, dims = ()[m, n, k, l] -> (k, m), strides = ()[m, n, k, l] -> (k), box = [128, 64, 1], swizzle = "128B">)

// -----

// expected-error @below {{expected box extents of 1 to 256, found 257}}
func.func private @box_extent(!blockscale.tensor_map<u8, dims = ()[m, n, k, l] -> (k, m), strides = ()[m, n, k, l] -> (k), box = [128, 257], swizzle = "128B">)

// -----

// expected-error @below {{expected an innermost box of whole 16 bytes, found 96 bits}}
func.func private @box_bytes(!blockscale.tensor_map<u4x16_align8b, dims = ()[m, n, k, l] -> (k, m), strides = ()[m, n, k, l] -> (k), box = [24, 64], swizzle = "128B">)

// -----

// expected-error @below {{expected an innermost box of 128 elements for 'u6x16_align16b', found 64}}
func.func private @box_padded(!blockscale.tensor_map<u6x16_align16b, dims = ()[m, n, k, l] -> (k, m), strides = ()[m, n, k, l] -> (k), box = [64, 64], swizzle = "128B">)

// -----

// expected-error @below {{expected an innermost box within the swizzle's 64 bytes, found 128}}
func.func private @box_swizzle(!blockscale.tensor_map<u8, dims = ()[m, n, k, l] -> (k, m), strides = ()[m, n, k, l] -> (k), box = [128, 64], swizzle = "64B">)

// -----

// expected-error @below {{failed to parse Blockscale_TensorMapType parameter 'dataType'}}
// expected-error @below {{'u16' is not a tensor map data type}}
func.func private @data_type(!blockscale.tensor_map<u16, dims = ()[m, n, k, l] -> (k, m), strides = ()[m, n, k, l] -> (k), box = [128, 64], swizzle = "128B">)

// -----

// expected-error @below {{failed to parse Blockscale_TensorMapType parameter 'swizzle'}}
// expected-error @below {{'96B' is not a swizzle}}
func.func private @swizzle(!blockscale.tensor_map<u8, dims = ()[m, n, k, l] -> (k, m), strides = ()[m, n, k, l] -> (k), box = [128, 64], swizzle = "96B">)

// -----

//===----------------------------------------------------------------------===//
// !blockscale.shared
//===----------------------------------------------------------------------===//

// expected-error @below {{expected the number of stages and the shape of one}}
func.func private @shared_rank(!blockscale.shared<4xi8, container = 8>)

// -----

// expected-error @below {{expected extents of at least 1, found 0}}
func.func private @shared_extent(!blockscale.shared<4x0xi8, container = 8>)

// -----

// expected-error @below {{expected elements that are integers or floats, found 'index'}}
func.func private @shared_element(!blockscale.shared<4x64xindex, container = 32>)

// -----

// expected-error @below {{expected a container of 4, 8, 16 or 32 bits, found 12}}
func.func private @shared_container(!blockscale.shared<4x64xi8, container = 12>)

// -----

// expected-error @below {{expected a ring of at most 1048576 bytes}}
func.func private @shared_bytes(!blockscale.shared<4x4194304x4194304x4194304xi8, container = 8>)

// -----

// expected-error @below {{'f8E4M3FN' does not fit a container of 4 bits}}
func.func private @shared_fit(!blockscale.shared<4x64xf8E4M3FN, container = 4>)

// -----

//===----------------------------------------------------------------------===//
// !blockscale.barrier and !blockscale.tmem
//===----------------------------------------------------------------------===//

// expected-error @below {{expected 1 to 1024 barriers, found 0}}
func.func private @no_barriers(!blockscale.barrier<0>)

// -----

// expected-error @below {{expected 1 to 1024 barriers, found 1025}}
func.func private @barriers(!blockscale.barrier<1025>)

// -----

// expected-error @below {{expected extents of 1 to 512, found 513}}
func.func private @tmem_extent(!blockscale.tmem<1x128x513xf32, #blockscale.tmem_accumulator>)

// -----

// expected-error @below {{expected accumulators of copies x 128 x columns of f32 or i32}}
func.func private @tmem_rows(!blockscale.tmem<1x64x256xf32, #blockscale.tmem_accumulator>)

// -----

// expected-error @below {{expected accumulators of copies x 128 x columns of f32 or i32}}
func.func private @tmem_f16(!blockscale.tmem<1x128x256xf16, #blockscale.tmem_accumulator>)

// -----

// expected-error @below {{expected a copy stride of at most 256 columns, found 257}}
func.func private @tmem_copy_stride(!blockscale.tmem<2x128x256xf32, #blockscale.tmem_accumulator<copy_stride = 257>>)

// -----

// expected-error @below {{expected the layout #blockscale.tmem_accumulator, #blockscale.tmem_scales or #blockscale.tmem_metadata}}
func.func private @tmem_layout(!blockscale.tmem<128x4xi8, "tmem_scales">)

// -----

// expected-error @below {{expected scales of rows x scales per row}}
func.func private @tmem_scales_rank(!blockscale.tmem<1x128x4xi8, #blockscale.tmem_scales<word_stride = 4>>)

// -----

// expected-error @below {{expected a word stride of 8 to 512 columns for 256 rows, found 4}}
func.func private @tmem_word_stride(!blockscale.tmem<256x4xi8, #blockscale.tmem_scales<word_stride = 4>>)

// -----

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

// expected-error @below {{expected 'tile_m' of 128 to 512 in steps of 128, found 64}}
func.func private @tile_m_64() attributes {test.a = #blockscale.schedule<tile_m = 64>}

// -----

// expected-error @below {{expected 'tile_n' of 8 to 512 in steps of 8, found 260}}
func.func private @tile_n_260() attributes {test.a = #blockscale.schedule<tile_n = 260>}

// -----

// expected-error @below {{expected 'tile_n' above 256, two instructions beside each other, in steps of 64, found 264}}
func.func private @tile_n_264() attributes {test.a = #blockscale.schedule<tile_n = 264>}

// -----

// expected-error @below {{expected 'tile_k' of 32 to 768 in steps of 32, found 48}}
func.func private @tile_k_48() attributes {test.a = #blockscale.schedule<tile_k = 48>}

// -----

// expected-error @below {{expected 'stages' of 1 to 16, found 17}}
func.func private @stages_17() attributes {test.a = #blockscale.schedule<stages = 17>}

// -----

// expected-error @below {{expected 'accumulators' of 1 to 4, found 5}}
func.func private @accumulators_5() attributes {test.a = #blockscale.schedule<accumulators = 5>}

// -----

// expected-error @below {{expected 'group_m' of 1 to 65536, found -1}}
func.func private @group_m_1() attributes {test.a = #blockscale.schedule<group_m = -1>}

// -----

// expected-error @below {{expected 'cta_group' of 1 to 2, found 3}}
func.func private @cta_group_3() attributes {test.a = #blockscale.schedule<cta_group = 3>}

// -----

// expected-error @below {{expected 'cluster_m' of 1 to 16, found 17}}
func.func private @cluster_m_17() attributes {test.a = #blockscale.schedule<cluster_m = 17>}

// -----

// expected-error @below {{expected 'cluster_n' of 1 to 16, found -2}}
func.func private @cluster_n() attributes {test.a = #blockscale.schedule<cluster_n = -2>}

// -----

// expected-error @below {{expected 'cluster_m' to be a multiple of 2 because 'cta_group' is 2, found 3}}
func.func private @odd_pairs() attributes {test.a = #blockscale.schedule<cta_group = 2, cluster_m = 3>}

// -----

// expected-error @below {{expected at most 16 CTAs in a cluster, found 8x4}}
func.func private @cluster_32() attributes {test.a = #blockscale.schedule<cluster_m = 8, cluster_n = 4>}

// -----

// expected-error @below {{expected 'mma_k' of 8 to 128 in steps of 8, found 100}}
func.func private @mma_k() attributes {test.a = #blockscale.schedule<mma_k = 100>}

// -----

// expected-error @below {{failed to parse Blockscale_TargetAttr parameter 'value'}}
// expected-error @below {{unknown target 'sm_90a'; known targets: sm_100a, sm_103a, sm_107a, sm_110a, sm_120a, sm_121a, sm_100f, sm_103f, sm_107f, sm_110f, sm_120f, sm_121f}}
func.func private @target() attributes {test.a = #blockscale.target<sm_90a>}

// -----

// expected-error @below {{failed to parse Blockscale_MmaAttr parameter 'kind'}}
// expected-error @below {{'mxf5' is not a kind of matrix instruction}}
func.func private @kind() attributes {test.a = #blockscale.mma<kind = mxf5, a = e2m1, b = e2m1, scale = ue8m0, block = 32>}

// -----

// expected-error @below {{failed to parse Blockscale_MmaAttr parameter 'a'}}
// expected-error @below {{'e9m9' is not an element format}}
func.func private @format() attributes {test.a = #blockscale.mma<kind = mxf4, a = e9m9, b = e2m1, scale = ue8m0, block = 32>}

// -----

// expected-error @below {{'func.func' op has the unknown attribute 'blockscale.kernels'}}
func.func private @unknown() attributes {blockscale.kernels}

// -----

// expected-error @below {{'func.func' op expected 'blockscale.kernel' to be a #blockscale.kernel attribute}}
func.func private @not_kernel() attributes {blockscale.kernel}

// -----

// expected-error @below {{'builtin.module' op 'blockscale.kernel' belongs on a function}}
module @m attributes {blockscale.kernel = #blockscale.kernel<grid = ()[m, n, k, l, sms, clusters] -> (m, sms), block = 192>} {}

// -----

// expected-error @below {{failed to parse Blockscale_TargetAttr parameter 'value'}}
// expected-error @below {{unknown target 'sm_90a'; known targets: sm_100a, sm_103a, sm_107a, sm_110a, sm_120a, sm_121a, sm_100f, sm_103f, sm_107f, sm_110f, sm_120f, sm_121f}}
func.func private @kernel_target() attributes {blockscale.target = #blockscale.target<sm_90a>, blockscale.kernel = #blockscale.kernel<grid = ()[m, n, k, l, sms, clusters] -> (m, sms), block = 192>}

// -----

// expected-error @below {{expected the grid to be a map of the 6 symbols M, N, K, batch, the number of SMs and the number of clusters that run at once}}
func.func private @kernel_grid() attributes {blockscale.kernel = #blockscale.kernel<grid = ()[m, n, k, l] -> (m), block = 192>}

// -----

// expected-error @below {{expected the grid to have a result}}
func.func private @kernel_no_grid() attributes {blockscale.kernel = #blockscale.kernel<grid = ()[m, n, k, l, sms, clusters] -> (), block = 192>}

// -----

// expected-error @below {{expected 1 to 1024 threads per CTA, found 1056}}
func.func private @kernel_block() attributes {blockscale.kernel = #blockscale.kernel<grid = ()[m, n, k, l, sms, clusters] -> (m, sms), block = 1056>}

// -----

// expected-error @below {{expected 1 to 16 CTAs per cluster, found 17}}
func.func private @kernel_cluster() attributes {blockscale.kernel = #blockscale.kernel<grid = ()[m, n, k, l, sms, clusters] -> (m, sms), block = 192, cluster = 17>}

// -----

// expected-error @below {{argument 1 expected a #blockscale.parameter attribute named 'blockscale.parameter', found 'blockscale.role'}}
func.func private @parameter(i32, i32 {blockscale.role = #blockscale.parameter<d>})

// -----

// expected-error @below {{argument 0 expected a #blockscale.parameter attribute named 'blockscale.parameter', found 'blockscale.parameter'}}
func.func private @parameter_type(i32 {blockscale.parameter = "d"})

// -----

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

//===----------------------------------------------------------------------===//
// Storage
//===----------------------------------------------------------------------===//

func.func @shared_offset() {
  // expected-error @below {{expected an offset that is a multiple of 1024, found 128}}
  %0 = blockscale.shared_alloc offset(128) : !blockscale.shared<4x128x256xf4E2M1FN, container = 4, swizzle = "128B">
  return
}

// -----

func.func @unswizzled_offset() {
  // expected-error @below {{expected an offset that is a multiple of 128, found 64}}
  %0 = blockscale.shared_alloc offset(64) : !blockscale.shared<1x1xi32, container = 32>
  return
}

// -----

func.func @arrivals() {
  // expected-error @below {{expected 1 to 1048575 arrivals, found 0}}
  %0 = blockscale.barrier_alloc arrivals(0) : !blockscale.barrier<1>
  return
}

// -----

func.func @barrier_offset() {
  // expected-error @below {{expected an offset that is a multiple of 8, found 4}}
  %0 = blockscale.barrier_alloc arrivals(1) offset(4) : !blockscale.barrier<1>
  return
}

// -----

func.func @negative_offset() {
  // expected-error @below {{expected an offset that is a multiple of 8, found -8}}
  %0 = blockscale.barrier_alloc arrivals(1) offset(-8) : !blockscale.barrier<1>
  return
}

// -----

func.func @slot(%s: !blockscale.shared<1x2xi8, container = 8>) {
  // expected-error @below {{expected a slot of at least 4 bytes}}
  blockscale.tmem_alloc %s : !blockscale.shared<1x2xi8, container = 8>
  return
}

// -----

func.func @power_of_two(%s: !blockscale.shared<1x1xi32, container = 32>) {
  // expected-error @below {{tensor memory is allocated in powers of two from 32 to 512 columns; found 96, the next larger is 128}}
  blockscale.tmem_alloc %s columns(96) : !blockscale.shared<1x1xi32, container = 32>
  return
}

// -----

func.func @too_many_columns(%s: !blockscale.shared<1x1xi32, container = 32>) {
  // expected-error @below {{tensor memory has 512 columns, 1024 are asked for}}
  blockscale.tmem_dealloc %s columns(1024) : !blockscale.shared<1x1xi32, container = 32>
  return
}

// -----

func.func @view(%s: !blockscale.shared<1x1xi32, container = 32>) {
  // expected-error @below {{256 columns from column 257 on are not within the 512 columns of tensor memory}}
  %0 = blockscale.tmem_view %s column(257) : !blockscale.shared<1x1xi32, container = 32> -> !blockscale.tmem<2x128x128xf32, #blockscale.tmem_accumulator>
  return
}

// -----

func.func @view_overlap(%s: !blockscale.shared<1x1xi32, container = 32>) {
  // expected-error @below {{464 columns from column 49 on are not within the 512 columns of tensor memory}}
  %0 = blockscale.tmem_view %s column(49) : !blockscale.shared<1x1xi32, container = 32> -> !blockscale.tmem<2x128x256xf32, #blockscale.tmem_accumulator<copy_stride = 208>>
  return
}

// -----

func.func @view_scales(%s: !blockscale.shared<1x1xi32, container = 32>) {
  // expected-error @below {{expected scales at a multiple of 4 columns, found 6}}
  %0 = blockscale.tmem_view %s column(6) : !blockscale.shared<1x1xi32, container = 32> -> !blockscale.tmem<128x4xi8, #blockscale.tmem_scales<word_stride = 4>>
  return
}

// -----

func.func @warps() {
  // expected-error @below {{expected at least one of the warps 0 to 32, found 4 to 4}}
  blockscale.warps "none" 4 to 4 {
  }
  return
}

// -----

func.func @warps_range() {
  // expected-error @below {{expected at least one of the warps 0 to 32, found 0 to 33}}
  blockscale.warps "all" 0 to 33 {
  }
  return
}

// -----

//===----------------------------------------------------------------------===//
// Moving data
//===----------------------------------------------------------------------===//

!map = !blockscale.tensor_map<u4x16_align8b, dims = ()[m, n, k, l] -> (k, m), strides = ()[m, n, k, l] -> (k), box = [256, 128], swizzle = "128B">
!ring = !blockscale.shared<4x128x256xf4E2M1FN, container = 4, swizzle = "128B">
func.func @coordinates(%m: !map, %r: !ring, %b: !blockscale.barrier<4>, %i: i32) {
  // expected-error @below {{expected 2 coordinates, found 3}}
  blockscale.tma_load %m[%i, %i, %i] to %r signal %b stage %i : !map to !ring, !blockscale.barrier<4>
  return
}

// -----

!map = !blockscale.tensor_map<u4x16_align8b, dims = ()[m, n, k, l] -> (k, m), strides = ()[m, n, k, l] -> (k), box = [256, 128], swizzle = "128B">
func.func @prefetched(%m: !map, %i: i32) {
  // expected-error @below {{expected 2 coordinates, found 1}}
  blockscale.tma_prefetch %m[%i] : !map
  return
}

// -----

!map = !blockscale.tensor_map<u4x16_align8b, dims = ()[m, n, k, l] -> (k, m), strides = ()[m, n, k, l] -> (k), box = [256, 128], swizzle = "128B">
!ring = !blockscale.shared<4x128x256xf4E2M1FN, container = 4, swizzle = "128B">
func.func @gather_of_boxes(%m: !map, %r: !ring, %b: !blockscale.barrier<4>, %i: i32, %v: vector<4xi32>) {
  // expected-error @below {{expected a tensor map of 2 dimensions with a box of one row}}
  blockscale.tma_gather %m[%i] rows %v to %r signal %b stage %i place %i : !map to !ring, !blockscale.barrier<4>, vector<4xi32>
  return
}

// -----

!map = !blockscale.tensor_map<u4x16_align8b, dims = ()[m, n, k, l] -> (k, m), strides = ()[m, n, k, l] -> (k), box = [256, 1], swizzle = "128B">
!ring = !blockscale.shared<4x128x256xf4E2M1FN, container = 4>
func.func @gather_swizzles(%m: !map, %r: !ring, %b: !blockscale.barrier<4>, %i: i32, %v: vector<4xi32>) {
  // expected-error @below {{the tensor map's swizzle 128B is not the stage's, none}}
  blockscale.tma_gather %m[%i] rows %v to %r signal %b stage %i place %i : !map to !ring, !blockscale.barrier<4>, vector<4xi32>
  return
}

// -----

!map = !blockscale.tensor_map<u4x16_align8b, dims = ()[m, n, k, l] -> (k, m), strides = ()[m, n, k, l] -> (k), box = [256, 128], swizzle = "128B">
!ring = !blockscale.shared<4x128x256xf4E2M1FN, container = 4>
func.func @swizzles(%m: !map, %r: !ring, %b: !blockscale.barrier<4>, %i: i32) {
  // expected-error @below {{the tensor map's swizzle 128B is not the stage's, none}}
  blockscale.tma_load %m[%i, %i] to %r signal %b stage %i : !map to !ring, !blockscale.barrier<4>
  return
}

// -----

!map = !blockscale.tensor_map<u4x16_align8b, dims = ()[m, n, k, l] -> (k, m), strides = ()[m, n, k, l] -> (k), box = [256, 128], swizzle = "128B">
!ring = !blockscale.shared<4x128x256xf4E2M1FN, container = 4, swizzle = "128B">
func.func @box(%m: !map, %r: !ring, %b: !blockscale.barrier<4>, %i: i32) {
  // expected-error @below {{box 1 of 16384 bytes is not within a stage of 16384 bytes}}
  blockscale.tma_load %m[%i, %i] to %r signal %b stage %i box 1 : !map to !ring, !blockscale.barrier<4>
  return
}

// -----

func.func @mask_ring(%r: !blockscale.shared<4x1x4x256xi8, container = 8>, %i: i32) {
  // expected-error @below {{expected a ring of stages x row groups x words x 512 bytes without swizzle}}
  blockscale.mask_scales %r[%i] valid %i : !blockscale.shared<4x1x4x256xi8, container = 8>
  return
}

// -----

func.func @copy_to_accumulator(%r: !blockscale.shared<4x1x4x512xi8, container = 8>, %t: !blockscale.tmem<2x128x128xf32, #blockscale.tmem_accumulator>, %i: i32) {
  // expected-error @below {{expected scales as the target}}
  blockscale.copy_scales %r[%i] to %t : !blockscale.shared<4x1x4x512xi8, container = 8> to !blockscale.tmem<2x128x128xf32, #blockscale.tmem_accumulator>
  return
}

// -----

func.func @copy_ring(%r: !blockscale.shared<4x4x512xi8, container = 8>, %t: !blockscale.tmem<128x16xi8, #blockscale.tmem_scales<word_stride = 4>>, %i: i32) {
  // expected-error @below {{expected a ring of stages x row groups x words x 512 bytes without swizzle}}
  blockscale.copy_scales %r[%i] to %t : !blockscale.shared<4x4x512xi8, container = 8> to !blockscale.tmem<128x16xi8, #blockscale.tmem_scales<word_stride = 4>>
  return
}

// -----

func.func @copy_extents(%r: !blockscale.shared<4x2x4x512xi8, container = 8>, %t: !blockscale.tmem<128x16xi8, #blockscale.tmem_scales<word_stride = 4>>, %i: i32) {
  // expected-error @below {{a stage holds 256x16 scales, the target takes 128x16}}
  blockscale.copy_scales %r[%i] to %t : !blockscale.shared<4x2x4x512xi8, container = 8> to !blockscale.tmem<128x16xi8, #blockscale.tmem_scales<word_stride = 4>>
  return
}

// -----

//===----------------------------------------------------------------------===//
// blockscale.mma
//===----------------------------------------------------------------------===//

!acc = !blockscale.tmem<2x128x128xf32, #blockscale.tmem_accumulator>
!a = !blockscale.shared<4x128x256xf4E2M1FN, container = 4, swizzle = "128B">
!b = !blockscale.shared<4x128x256xf4E2M1FN, container = 4, swizzle = "128B">
!sfa = !blockscale.tmem<128x16xi8, #blockscale.tmem_scales<word_stride = 4>>
!sfb = !blockscale.tmem<128x16xi8, #blockscale.tmem_scales<word_stride = 4>>
func.func @mma_m64(%acc: !acc, %a: !a, %b: !b, %sfa: !sfa, %sfb: !sfb, %i: i32, %t: i1) {
  // expected-error @below {{M = 64 is not legal for dense 'mxf4nvf4' with cta_group 1 on 'sm_100a': expected 128; nearest legal: M = 128}}
  blockscale.mma <kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 64, n = 128, k = 64>
    %acc[%i], %a, %b stage %i scales %sfa, %sfb accumulate %t : !acc, !a, !b scales !sfa, !sfb
  return
}

// -----

!acc = !blockscale.tmem<2x128x128xf32, #blockscale.tmem_accumulator>
!a = !blockscale.shared<4x128x256xf4E2M1FN, container = 4, swizzle = "128B">
!b = !blockscale.shared<4x128x256xf4E2M1FN, container = 4, swizzle = "128B">
!sfa = !blockscale.tmem<128x16xi8, #blockscale.tmem_scales<word_stride = 4>>
!sfb = !blockscale.tmem<128x16xi8, #blockscale.tmem_scales<word_stride = 4>>
func.func @mma_wraps(%acc: !acc, %a: !a, %b: !b, %sfa: !sfa, %sfb: !sfb, %i: i32, %t: i1) {
  // expected-error @below {{expected 'k' of 8 or 16 or 32 or 64 or 96 or 128, found 4294967360}}
  blockscale.mma <kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 128, k = 4294967360>
    %acc[%i], %a, %b stage %i scales %sfa, %sfb accumulate %t : !acc, !a, !b scales !sfa, !sfb
  return
}

// -----

!acc = !blockscale.tmem<2x128x128xf32, #blockscale.tmem_accumulator>
!a = !blockscale.shared<4x128x256xf4E2M1FN, container = 4, swizzle = "128B">
!b = !blockscale.shared<4x128x256xf4E2M1FN, container = 4, swizzle = "128B">
!sfa = !blockscale.tmem<128x16xi8, #blockscale.tmem_scales<word_stride = 4>>
!sfb = !blockscale.tmem<128x16xi8, #blockscale.tmem_scales<word_stride = 4>>
func.func @mma_accumulator(%acc: !acc, %a: !a, %b: !b, %sfa: !sfa, %sfb: !sfb, %i: i32, %t: i1) {
  // expected-error @below {{expected an accumulator of 64 columns}}
  blockscale.mma <kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 64, k = 64>
    %acc[%i], %a, %b stage %i scales %sfa, %sfb accumulate %t : !acc, !a, !b scales !sfa, !sfb
  return
}

// -----

!acc = !blockscale.tmem<2x128x128xf32, #blockscale.tmem_accumulator>
!a = !blockscale.shared<4x128x256xf4E2M1FN, container = 4, swizzle = "128B">
!b = !blockscale.shared<4x128x256xf4E2M1FN, container = 4, swizzle = "128B">
!sfa = !blockscale.tmem<128x16xi8, #blockscale.tmem_scales<word_stride = 4>>
!sfb = !blockscale.tmem<2x128x128xf32, #blockscale.tmem_accumulator>
func.func @mma_scales_region(%acc: !acc, %a: !a, %b: !b, %sfa: !sfa, %sfb: !sfb, %i: i32, %t: i1) {
  // expected-error @below {{expected scales behind 'scales'}}
  blockscale.mma <kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 128, k = 64>
    %acc[%i], %a, %b stage %i scales %sfa, %sfb accumulate %t : !acc, !a, !b scales !sfa, !sfb
  return
}

// -----

!acc = !blockscale.tmem<2x128x128xf32, #blockscale.tmem_accumulator>
!a = !blockscale.shared<4x1x128x256xf4E2M1FN, container = 4, swizzle = "128B">
!b = !blockscale.shared<4x128x256xf4E2M1FN, container = 4, swizzle = "128B">
!sfa = !blockscale.tmem<128x16xi8, #blockscale.tmem_scales<word_stride = 4>>
!sfb = !blockscale.tmem<128x16xi8, #blockscale.tmem_scales<word_stride = 4>>
func.func @mma_ring_rank(%acc: !acc, %a: !a, %b: !b, %sfa: !sfa, %sfb: !sfb, %i: i32, %t: i1) {
  // expected-error @below {{expected 'a' to be a ring of stages x rows x K}}
  blockscale.mma <kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 128, k = 64>
    %acc[%i], %a, %b stage %i scales %sfa, %sfb accumulate %t : !acc, !a, !b scales !sfa, !sfb
  return
}

// -----

!acc = !blockscale.tmem<2x128x128xf32, #blockscale.tmem_accumulator>
!a = !blockscale.shared<4x128x128xf8E4M3FN, container = 8, swizzle = "128B">
!b = !blockscale.shared<4x128x128xf8E4M3FN, container = 8, swizzle = "128B">
!sfa = !blockscale.tmem<128x4xi8, #blockscale.tmem_scales<word_stride = 4>>
!sfb = !blockscale.tmem<128x4xi8, #blockscale.tmem_scales<word_stride = 4>>
func.func @mma_mn_ring_rank(%acc: !acc, %a: !a, %b: !b, %sfa: !sfa, %sfb: !sfb, %i: i32, %t: i1) {
  // expected-error @below {{expected 'b' to be a ring of stages x row groups x K x rows}}
  blockscale.mma <kind = mxf8f6f4, a = e4m3, b = e4m3, scale = ue8m0, block = 32, m = 128, n = 128, k = 32, b_mn_major = true>
    %acc[%i], %a, %b stage %i scales %sfa, %sfb accumulate %t : !acc, !a, !b scales !sfa, !sfb
  return
}

// -----

!acc = !blockscale.tmem<2x128x128xf32, #blockscale.tmem_accumulator>
!a = !blockscale.shared<4x128x256xf4E2M1FN, container = 4, swizzle = "128B">
!b = !blockscale.shared<4x128x256xf4E2M1FN, container = 8, swizzle = "128B">
!sfa = !blockscale.tmem<128x16xi8, #blockscale.tmem_scales<word_stride = 4>>
!sfb = !blockscale.tmem<128x16xi8, #blockscale.tmem_scales<word_stride = 4>>
func.func @mma_container(%acc: !acc, %a: !a, %b: !b, %sfa: !sfa, %sfb: !sfb, %i: i32, %t: i1) {
  // expected-error @below {{expected 'b' in containers of 4 bits, found 8}}
  blockscale.mma <kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 128, k = 64>
    %acc[%i], %a, %b stage %i scales %sfa, %sfb accumulate %t : !acc, !a, !b scales !sfa, !sfb
  return
}

// -----

!acc = !blockscale.tmem<2x128x128xf32, #blockscale.tmem_accumulator>
!a = !blockscale.shared<4x128x64xf4E2M1FN, container = 4, swizzle = "128B">
!b = !blockscale.shared<4x128x256xf4E2M1FN, container = 4, swizzle = "128B">
!sfa = !blockscale.tmem<128x16xi8, #blockscale.tmem_scales<word_stride = 4>>
!sfb = !blockscale.tmem<128x16xi8, #blockscale.tmem_scales<word_stride = 4>>
func.func @mma_tile(%acc: !acc, %a: !a, %b: !b, %sfa: !sfa, %sfb: !sfb, %i: i32, %t: i1) {
  // expected-error @below {{operand 'a': a row of 64 elements of 4 bits is not a multiple of the 128 bytes of swizzle '128B'}}
  blockscale.mma <kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 128, k = 64>
    %acc[%i], %a, %b stage %i scales %sfa, %sfb accumulate %t : !acc, !a, !b scales !sfa, !sfb
  return
}

// -----

!acc = !blockscale.tmem<2x128x128xf32, #blockscale.tmem_accumulator>
!a = !blockscale.shared<4x64x256xf4E2M1FN, container = 4, swizzle = "128B">
!b = !blockscale.shared<4x128x256xf4E2M1FN, container = 4, swizzle = "128B">
!sfa = !blockscale.tmem<128x16xi8, #blockscale.tmem_scales<word_stride = 4>>
!sfb = !blockscale.tmem<128x16xi8, #blockscale.tmem_scales<word_stride = 4>>
func.func @mma_rows(%acc: !acc, %a: !a, %b: !b, %sfa: !sfa, %sfb: !sfb, %i: i32, %t: i1) {
  // expected-error @below {{expected at least 128 rows in 'a', found 64}}
  blockscale.mma <kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 128, k = 64>
    %acc[%i], %a, %b stage %i scales %sfa, %sfb accumulate %t : !acc, !a, !b scales !sfa, !sfb
  return
}

// -----

!acc = !blockscale.tmem<2x128x128xf32, #blockscale.tmem_accumulator>
!a = !blockscale.shared<4x128x256xf4E2M1FN, container = 4, swizzle = "128B">
!b = !blockscale.shared<2x128x512xf4E2M1FN, container = 4, swizzle = "128B">
!sfa = !blockscale.tmem<128x16xi8, #blockscale.tmem_scales<word_stride = 4>>
!sfb = !blockscale.tmem<128x16xi8, #blockscale.tmem_scales<word_stride = 4>>
func.func @mma_k(%acc: !acc, %a: !a, %b: !b, %sfa: !sfa, %sfb: !sfb, %i: i32, %t: i1) {
  // expected-error @below {{expected the same elements of K in a stage of 'a' and 'b', found 256 and 512}}
  blockscale.mma <kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 128, k = 64>
    %acc[%i], %a, %b stage %i scales %sfa, %sfb accumulate %t : !acc, !a, !b scales !sfa, !sfb
  return
}

// -----

!acc = !blockscale.tmem<2x128x128xf32, #blockscale.tmem_accumulator>
!a = !blockscale.shared<4x128x256xf4E2M1FN, container = 4, swizzle = "128B">
!b = !blockscale.shared<4x128x256xf4E2M1FN, container = 4, swizzle = "128B">
!sfa = !blockscale.tmem<128x16xi8, #blockscale.tmem_scales<word_stride = 4>>
!sfb = !blockscale.tmem<128x16xi8, #blockscale.tmem_scales<word_stride = 4>>
func.func @step_id(%acc: !acc, %a: !a, %b: !b, %sfa: !sfa, %sfb: !sfb, %i: i32, %t: i1) {
  // expected-error @below {{scale id 2 is not legal for kind 'mxf4nvf4' with blocks of 16}}
  blockscale.mma <kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 128, k = 64>
    %acc[%i], %a, %b stage %i scales %sfa, %sfb accumulate %t steps [#blockscale.step<a = 0, b = 0, sfa_column = 0, sfa_id = 0, sfb_column = 0, sfb_id = 2>] : !acc, !a, !b scales !sfa, !sfb
  return
}

// -----

!acc = !blockscale.tmem<2x128x128xf32, #blockscale.tmem_accumulator>
!a = !blockscale.shared<4x128x256xf4E2M1FN, container = 4, swizzle = "128B">
!b = !blockscale.shared<4x128x256xf4E2M1FN, container = 4, swizzle = "128B">
!sfa = !blockscale.tmem<128x16xi8, #blockscale.tmem_scales<word_stride = 4>>
!sfb = !blockscale.tmem<128x16xi8, #blockscale.tmem_scales<word_stride = 4>>
func.func @step_id_wraps(%acc: !acc, %a: !a, %b: !b, %sfa: !sfa, %sfb: !sfb, %i: i32, %t: i1) {
  // expected-error @+2 {{expected 'sfa_id' of 0 to 3, found 4294967296}}
  blockscale.mma <kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 128, k = 64>
    %acc[%i], %a, %b stage %i scales %sfa, %sfb accumulate %t steps [#blockscale.step<a = 0, b = 0, sfa_column = 0, sfa_id = 4294967296, sfb_column = 0, sfb_id = 0>] : !acc, !a, !b scales !sfa, !sfb
  return
}

// -----

!acc = !blockscale.tmem<2x128x128xf32, #blockscale.tmem_accumulator>
!a = !blockscale.shared<4x128x256xf4E2M1FN, container = 4, swizzle = "128B">
!b = !blockscale.shared<4x128x256xf4E2M1FN, container = 4, swizzle = "128B">
!sfa = !blockscale.tmem<128x16xi8, #blockscale.tmem_scales<word_stride = 4>>
!sfb = !blockscale.tmem<128x16xi8, #blockscale.tmem_scales<word_stride = 4>>
func.func @step_odd_id(%acc: !acc, %a: !a, %b: !b, %sfa: !sfa, %sfb: !sfb, %i: i32, %t: i1) {
  // expected-error @below {{scale id 1 is not legal for kind 'mxf4' with blocks of 32}}
  blockscale.mma <kind = mxf4, a = e2m1, b = e2m1, scale = ue8m0, block = 32, m = 128, n = 128, k = 64>
    %acc[%i], %a, %b stage %i scales %sfa, %sfb accumulate %t steps [#blockscale.step<a = 0, b = 0, sfa_column = 0, sfa_id = 1, sfb_column = 0, sfb_id = 0>] : !acc, !a, !b scales !sfa, !sfb
  return
}

// -----

!acc = !blockscale.tmem<2x128x128xf32, #blockscale.tmem_accumulator>
!a = !blockscale.shared<4x128x256xf4E2M1FN, container = 4, swizzle = "128B">
!b = !blockscale.shared<4x128x256xf4E2M1FN, container = 4, swizzle = "128B">
!sfa = !blockscale.tmem<128x16xi8, #blockscale.tmem_scales<word_stride = 4>>
!sfb = !blockscale.tmem<128x16xi8, #blockscale.tmem_scales<word_stride = 4>>
func.func @step_offset(%acc: !acc, %a: !a, %b: !b, %sfa: !sfa, %sfb: !sfb, %i: i32, %t: i1) {
  // expected-error @below {{expected operand offsets in whole 16 bytes, found 24}}
  blockscale.mma <kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 128, k = 64>
    %acc[%i], %a, %b stage %i scales %sfa, %sfb accumulate %t steps [#blockscale.step<a = 0, b = 24, sfa_column = 0, sfa_id = 0, sfb_column = 0, sfb_id = 0>] : !acc, !a, !b scales !sfa, !sfb
  return
}

// -----

!acc = !blockscale.tmem<2x128x128xf32, #blockscale.tmem_accumulator>
!a = !blockscale.shared<4x128x256xf4E2M1FN, container = 4, swizzle = "128B">
!b = !blockscale.shared<4x128x256xf4E2M1FN, container = 4, swizzle = "128B">
!sfa = !blockscale.tmem<128x16xi8, #blockscale.tmem_scales<word_stride = 4>>
!sfb = !blockscale.tmem<128x16xi8, #blockscale.tmem_scales<word_stride = 4>>
func.func @step_column(%acc: !acc, %a: !a, %b: !b, %sfa: !sfa, %sfb: !sfb, %i: i32, %t: i1) {
  // expected-error @below {{scale columns 0 and 16 are not within regions of 16 and 16}}
  blockscale.mma <kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 128, k = 64>
    %acc[%i], %a, %b stage %i scales %sfa, %sfb accumulate %t steps [#blockscale.step<a = 0, b = 0, sfa_column = 0, sfa_id = 0, sfb_column = 16, sfb_id = 0>] : !acc, !a, !b scales !sfa, !sfb
  return
}

// -----

!acc = !blockscale.tmem<2x128x128xf32, #blockscale.tmem_accumulator>
!a = !blockscale.shared<4x128x256xf4E2M1FN, container = 4, swizzle = "128B">
!b = !blockscale.shared<4x128x256xf4E2M1FN, container = 4, swizzle = "128B">
!sfa = !blockscale.tmem<128x16xi8, #blockscale.tmem_scales<word_stride = 4>>
!sfb = !blockscale.tmem<128x16xi8, #blockscale.tmem_scales<word_stride = 4>>
func.func @step_negative_column(%acc: !acc, %a: !a, %b: !b, %sfa: !sfa, %sfb: !sfb, %i: i32, %t: i1) {
  // expected-error @+2 {{expected 'sfa_column' of 0 to 575, found -4}}
  blockscale.mma <kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 128, k = 64>
    %acc[%i], %a, %b stage %i scales %sfa, %sfb accumulate %t steps [#blockscale.step<a = 0, b = 0, sfa_column = -4, sfa_id = 0, sfb_column = 0, sfb_id = 0>] : !acc, !a, !b scales !sfa, !sfb
  return
}

// -----

//===----------------------------------------------------------------------===//
// The epilogue
//===----------------------------------------------------------------------===//

func.func @load_wide(%t: !blockscale.tmem<2x128x128xf32, #blockscale.tmem_accumulator>, %i: i32) {
  // expected-error @below {{expected an accumulator of at least 256 columns}}
  %0 = blockscale.load_accumulator %t[%i] column %i : !blockscale.tmem<2x128x128xf32, #blockscale.tmem_accumulator> -> vector<256xf32>
  return
}

// -----

func.func @load_scales(%t: !blockscale.tmem<128x16xi8, #blockscale.tmem_scales<word_stride = 4>>, %i: i32) {
  // expected-error @below {{expected an accumulator of at least 16 columns}}
  %0 = blockscale.load_accumulator %t[%i] column %i : !blockscale.tmem<128x16xi8, #blockscale.tmem_scales<word_stride = 4>> -> vector<16xf32>
  return
}

// -----

func.func @load_width(%t: !blockscale.tmem<2x128x128xf32, #blockscale.tmem_accumulator>, %i: i32) {
  // expected-error @below {{expected a power of two up to 128 columns, found 24}}
  %0 = blockscale.load_accumulator %t[%i] column %i : !blockscale.tmem<2x128x128xf32, #blockscale.tmem_accumulator> -> vector<24xf32>
  return
}

// -----

func.func @load_row(%g: !blockscale.global<bf16>, %o: i64, %i: i32) {
  // expected-error @below {{memory holds 'bf16', the vector 'f32'}}
  %0 = blockscale.load_row %g[%o] count %i : !blockscale.global<bf16> -> vector<8xf32>
  return
}

// -----

func.func @store_row(%g: !blockscale.global<bf16>, %v: vector<8xf16>, %o: i64, %i: i32) {
  // expected-error @below {{memory holds 'bf16', the vector 'f16'}}
  blockscale.store_row %v to %g[%o] count %i : vector<8xf16> to !blockscale.global<bf16>
  return
}

// -----

//===----------------------------------------------------------------------===//
// Clusters
//===----------------------------------------------------------------------===//

func.func @remote_wait(%led: !blockscale.barrier<4, remote = true>, %i: i32) {
  // expected-error @below {{expected a barrier of the executing CTA; at a remote one threads can only arrive, and loads be counted}}
  blockscale.wait %led[%i] parity %i : !blockscale.barrier<4, remote = true>
  return
}

// -----

func.func @remote_expect(%led: !blockscale.barrier<4, remote = true>, %i: i32) {
  // expected-error @below {{expected a barrier of the executing CTA}}
  blockscale.arrive_expect %led[%i] bytes(16) : !blockscale.barrier<4, remote = true>
  return
}

// -----

func.func @remote_commit(%led: !blockscale.barrier<4, remote = true>, %i: i32) {
  // expected-error @below {{expected a barrier of the executing CTA}}
  blockscale.commit %led[%i] : !blockscale.barrier<4, remote = true>
  return
}

// -----

func.func @remote_response(%r: !blockscale.shared<2x16xi8, container = 8>, %led: !blockscale.barrier<2, remote = true>, %i: i32) {
  // expected-error @below {{expected a barrier of the executing CTA}}
  blockscale.try_cancel %r[%i] signal %led : !blockscale.shared<2x16xi8, container = 8>, !blockscale.barrier<2, remote = true>
  return
}

// -----

func.func @response_bytes(%r: !blockscale.shared<2x8xi8, container = 8>, %full: !blockscale.barrier<2>, %i: i32) {
  // expected-error @below {{expected responses of 16 bytes, found 8}}
  blockscale.try_cancel %r[%i] signal %full : !blockscale.shared<2x8xi8, container = 8>, !blockscale.barrier<2>
  return
}

// -----

func.func @query_bytes(%r: !blockscale.shared<2x32xi8, container = 8>, %i: i32) {
  // expected-error @below {{expected responses of 16 bytes, found 32}}
  %cta, %found = blockscale.query_cancel %r[%i] : !blockscale.shared<2x32xi8, container = 8>
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

// -----

// expected-error @below {{expected the workspace to be a map of the grid's symbols to 3 results: bytes that are zero before the first launch, bytes of all of it, and clusters that compute a tile together}}
func.func private @kernel_workspace() attributes {blockscale.kernel = #blockscale.kernel<grid = ()[m, n, k, l, sms, clusters] -> (m), block = 192, workspace = ()[m, n, k, l, sms, clusters] -> (m)>}

// -----

// expected-error @below {{expected a constant number of at least 2 clusters that compute a tile together}}
func.func private @kernel_alone() attributes {blockscale.kernel = #blockscale.kernel<grid = ()[m, n, k, l, sms, clusters] -> (m), block = 192, workspace = ()[m, n, k, l, sms, clusters] -> (m, m, 1)>}

// -----

func.func @aligned_size(%v: vector<6xf32>, %m: !blockscale.global<f32>, %at: i64, %n: i32) {
  // expected-error @below {{expected an aligned row to be a power of two of elements}}
  blockscale.store_row %v to %m[%at] count %n aligned : vector<6xf32> to !blockscale.global<f32>
  return
}

// -----

func.func @narrow_counters(%m: !blockscale.global<bf16>, %at: i64, %n: i32, %one: i1) {
  // expected-error @below {{expected counters in elements of 32 bits, found 'bf16'}}
  %0 = blockscale.count_arrival %m[%at] count %n threads 128 arrives %one : !blockscale.global<bf16>
  return
}

// -----

func.func @narrow_maxima(%m: !blockscale.global<bf16>, %at: i64, %n: i32) {
  // expected-error @below {{expected maxima in elements of 32 bits, found 'bf16'}}
  blockscale.raise_largest %m[%at], %n : !blockscale.global<bf16>
  return
}

// -----

func.func @meet_narrow(%m: !blockscale.global<bf16>, %at: i64, %n: i32) {
  // expected-error @below {{expected counters in elements of 32 bits, found 'bf16'}}
  blockscale.meet_grid %m[%at] count %n : !blockscale.global<bf16>
  return
}

// -----

func.func @leave_narrow(%m: !blockscale.global<i8>, %at: i64, %n: i32) {
  // expected-error @below {{expected counters in elements of 32 bits, found 'i8'}}
  %0 = blockscale.leave_grid %m[%at] count %n : !blockscale.global<i8>
  return
}

// -----

func.func @count_alone(%m: !blockscale.global<f32>, %at: i64, %one: i1) {
  %n = arith.constant 1 : i32
  // expected-error @below {{expected a count of at least 2, found 1}}
  %0 = blockscale.count_arrival %m[%at] count %n threads 128 arrives %one : !blockscale.global<f32>
  return
}

// -----

func.func @count_threads(%m: !blockscale.global<f32>, %at: i64, %n: i32, %one: i1) {
  // expected-error @below {{expected whole warps of threads, at most 1024, found 100}}
  %0 = blockscale.count_arrival %m[%at] count %n threads 100 arrives %one : !blockscale.global<f32>
  return
}
