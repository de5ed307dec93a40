// Types of the kernel level that describe nothing a chip has.

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
