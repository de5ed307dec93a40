// What the verifier refuses of scales of tiles along K that kernels apply in
// registers.

// RUN: blockscale-opt %s -split-input-file -verify-diagnostics

!map = !blockscale.tensor_map<u8, dims = ()[m, n, k, l] -> (k, m), strides = ()[m, n, k, l] -> (k), box = [128, 128], swizzle = "128B">
func.func @no_scales(%m: !map, %d: !blockscale.global<bf16>, %t: !blockscale.global<f32>, %o: !blockscale.global<i32>, %i: i32) {
  // expected-error @below {{expected 'row_scales' with a 'row_block'}}
  blockscale.kernel_matmul a(%m) b(%m) d(%d)  sizes(%i, %i, %i, %i)
    mma <kind = f8f6f4, a = e4m3, b = e4m3, m = 128, n = 128, k = 32>
    schedule<tile_m = 128, tile_n = 128, tile_k = 128, stages = 4, accumulators = 2, swap_operands = false, group_m = 8> {row_block = 128 : i64} : !map, !map, !blockscale.global<bf16> 
  return
}


// -----

!map = !blockscale.tensor_map<u8, dims = ()[m, n, k, l] -> (k, m), strides = ()[m, n, k, l] -> (k), box = [128, 128], swizzle = "128B">
func.func @blocks(%m: !map, %d: !blockscale.global<bf16>, %t: !blockscale.global<f32>, %o: !blockscale.global<i32>, %i: i32) {
  // expected-error @below {{expected blocks of which one divides the other, found 'row_block' of 256 and 'column_block' of 384}}
  blockscale.kernel_matmul a(%m) b(%m) d(%d) row_scales(%t) column_scales(%t) sizes(%i, %i, %i, %i)
    mma <kind = f8f6f4, a = e4m3, b = e4m3, m = 128, n = 128, k = 32>
    schedule<tile_m = 128, tile_n = 128, tile_k = 128, stages = 4, accumulators = 2, swap_operands = false, group_m = 8> {row_block = 256 : i64, column_block = 384 : i64} : !map, !map, !blockscale.global<bf16> row_scales !blockscale.global<f32> column_scales !blockscale.global<f32>
  return
}


// -----

!map = !blockscale.tensor_map<u8, dims = ()[m, n, k, l] -> (k, m), strides = ()[m, n, k, l] -> (k), box = [128, 128], swizzle = "128B">
func.func @negative(%m: !map, %d: !blockscale.global<bf16>, %t: !blockscale.global<f32>, %o: !blockscale.global<i32>, %i: i32) {
  // expected-error @below {{expected blocks of which one divides the other, found 'row_block' of -128 and 'column_block' of 0}}
  blockscale.kernel_matmul a(%m) b(%m) d(%d) row_scales(%t) sizes(%i, %i, %i, %i)
    mma <kind = f8f6f4, a = e4m3, b = e4m3, m = 128, n = 128, k = 32>
    schedule<tile_m = 128, tile_n = 128, tile_k = 128, stages = 4, accumulators = 2, swap_operands = false, group_m = 8> {row_block = -128 : i64} : !map, !map, !blockscale.global<bf16> row_scales !blockscale.global<f32>
  return
}


// -----

!map = !blockscale.tensor_map<u8, dims = ()[m, n, k, l] -> (k, m), strides = ()[m, n, k, l] -> (k), box = [128, 128], swizzle = "128B">
func.func @short_block(%m: !map, %d: !blockscale.global<bf16>, %t: !blockscale.global<f32>, %o: !blockscale.global<i32>, %i: i32) {
  // expected-error @below {{scales of tiles along K that are applied in registers are applied after whole instructions that divide a stage, or after whole stages; an instruction takes 32 elements along K, a stage is 128, and a tile 48}}
  blockscale.kernel_matmul a(%m) b(%m) d(%d) row_scales(%t) sizes(%i, %i, %i, %i)
    mma <kind = f8f6f4, a = e4m3, b = e4m3, m = 128, n = 128, k = 32>
    schedule<tile_m = 128, tile_n = 128, tile_k = 128, stages = 4, accumulators = 2, swap_operands = false, group_m = 8> {row_block = 48 : i64} : !map, !map, !blockscale.global<bf16> row_scales !blockscale.global<f32>
  return
}


// -----

!map = !blockscale.tensor_map<u8, dims = ()[m, n, k, l] -> (k, m), strides = ()[m, n, k, l] -> (k), box = [128, 128], swizzle = "128B">
func.func @kind(%m: !map, %d: !blockscale.global<bf16>, %t: !blockscale.global<f32>, %o: !blockscale.global<i32>, %i: i32) {
  // expected-error @below {{scales of tiles along K that are applied in registers belong to products of kinds 'f8f6f4' and 'f16', and of kinds whose instructions read other scales}}
  blockscale.kernel_matmul a(%m) b(%m) d(%d) row_scales(%t) sizes(%i, %i, %i, %i)
    mma <kind = tf32, a = tf32, b = tf32, m = 128, n = 128, k = 8>
    schedule<tile_m = 128, tile_n = 128, tile_k = 32, stages = 4, accumulators = 2, swap_operands = false, group_m = 8> {row_block = 128 : i64} : !map, !map, !blockscale.global<bf16> row_scales !blockscale.global<f32>
  return
}


// -----

!map = !blockscale.tensor_map<u8, dims = ()[m, n, k, l] -> (k, m), strides = ()[m, n, k, l] -> (k), box = [128, 128], swizzle = "128B">
func.func @columns(%m: !map, %d: !blockscale.global<bf16>, %t: !blockscale.global<f32>, %o: !blockscale.global<i32>, %i: i32) {
  // expected-error @below {{scales of tiles along K that are applied in registers keep the sums of a row in registers of a thread, or of one for every 32 columns; 'tile_n' of 192 is not, nearest legal: 128}}
  blockscale.kernel_matmul a(%m) b(%m) d(%d) row_scales(%t) sizes(%i, %i, %i, %i)
    mma <kind = f8f6f4, a = e4m3, b = e4m3, m = 128, n = 192, k = 32>
    schedule<tile_m = 128, tile_n = 192, tile_k = 128, stages = 4, accumulators = 2, swap_operands = false, group_m = 8> {row_block = 128 : i64} : !map, !map, !blockscale.global<bf16> row_scales !blockscale.global<f32>
  return
}


// -----

!map = !blockscale.tensor_map<u8, dims = ()[m, n, k, l] -> (k, m), strides = ()[m, n, k, l] -> (k), box = [128, 128], swizzle = "128B">
func.func @groups(%m: !map, %d: !blockscale.global<bf16>, %t: !blockscale.global<f32>, %o: !blockscale.global<i32>, %i: i32) {
  // expected-error @below {{with 'offsets' expected row scales of tiles along K of single rows or of all, found 'row_group' of 8}}
  blockscale.kernel_matmul a(%m) b(%m) d(%d) row_scales(%t) groups(%o) sizes(%i, %i, %i, %i)
    mma <kind = f8f6f4, a = e4m3, b = e4m3, m = 128, n = 128, k = 32>
    schedule<tile_m = 128, tile_n = 128, tile_k = 128, stages = 4, accumulators = 2, swap_operands = false, group_m = 8> {row_block = 128 : i64, row_group = 8 : i64} : !map, !map, !blockscale.global<bf16> row_scales !blockscale.global<f32> groups !blockscale.global<i32>
  return
}

// -----

!map = !blockscale.tensor_map<u8, dims = ()[m, n, k, l] -> (k, m), strides = ()[m, n, k, l] -> (k), box = [128, 128], swizzle = "128B">
func.func @accumulators(%m: !map, %d: !blockscale.global<bf16>, %i: i32) {
  // expected-error @below {{'accumulators' of 3: more than 2 are for scales of tiles along K that are applied in registers, and 3 for tiles of 256 columns of a pair of CTAs in halves; nearest legal: 2}}
  blockscale.kernel_matmul a(%m) b(%m) d(%d) sizes(%i, %i, %i, %i)
    mma <kind = f8f6f4, a = e4m3, b = e4m3, m = 128, n = 128, k = 32>
    schedule<tile_m = 128, tile_n = 128, tile_k = 128, stages = 4, accumulators = 3, swap_operands = false, group_m = 8> : !map, !map, !blockscale.global<bf16>
  return
}

// -----

!map = !blockscale.tensor_map<u8, dims = ()[m, n, k, l] -> (k, m), strides = ()[m, n, k, l] -> (k), box = [128, 128], swizzle = "128B">
func.func @short_blocks(%m: !map, %d: !blockscale.global<bf16>, %t: !blockscale.global<f32>, %i: i32) {
  // expected-error @below {{take registers for each block of a stage, which holds several of 32 elements; 'tile_n' of 128 is too many then, nearest legal: 64}}
  blockscale.kernel_matmul a(%m) b(%m) d(%d) row_scales(%t) sizes(%i, %i, %i, %i)
    mma <kind = f8f6f4, a = e4m3, b = e4m3, m = 128, n = 128, k = 32>
    schedule<tile_m = 128, tile_n = 128, tile_k = 128, stages = 4, accumulators = 2, swap_operands = false, group_m = 8> {row_block = 32 : i64} : !map, !map, !blockscale.global<bf16> row_scales !blockscale.global<f32>
  return
}
