// Kernels for groups of rows that could not walk them.

// RUN: blockscale-opt %s -split-input-file -verify-diagnostics

!map = !blockscale.tensor_map<u4x16_align8b, dims = ()[m, n, k, l] -> (k, m), strides = ()[m, n, k, l] -> (k), box = [256, 128], swizzle = "128B">
func.func @type(%m: !map, %d: !blockscale.global<bf16>, %i: i32, %e: !blockscale.global<i64>) {
  // expected-error @below {{expected offsets of i32, found 'i64'}}
  blockscale.kernel_matmul a(%m) b(%m) scales(%m, %m) d(%d) groups(%e) sizes(%i, %i, %i, %i)
    mma <kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 128, k = 64>
    schedule<tile_m = 128, tile_n = 128, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8> : !map, !map, !blockscale.global<bf16> scales !map, !map groups !blockscale.global<i64>
  return
}

// -----

!map = !blockscale.tensor_map<u4x16_align8b, dims = ()[m, n, k, l] -> (k, m), strides = ()[m, n, k, l] -> (k), box = [256, 128], swizzle = "128B">
func.func @shared_without_groups(%m: !map, %d: !blockscale.global<bf16>, %i: i32, %t: !blockscale.global<f32>) {
  // expected-error @below {{expected 'shared_scales' of at most the 0 tensor scales of a product with groups, found 1}}
  blockscale.kernel_matmul a(%m) b(%m) scales(%m, %m) d(%d) tensor_scales(%t) sizes(%i, %i, %i, %i)
    mma <kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 128, k = 64>
    schedule<tile_m = 128, tile_n = 128, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8> {shared_scales = 1 : i64} : !map, !map, !blockscale.global<bf16> scales !map, !map tensor_scales !blockscale.global<f32>
  return
}

// -----

!map = !blockscale.tensor_map<u4x16_align8b, dims = ()[m, n, k, l] -> (k, m), strides = ()[m, n, k, l] -> (k), box = [256, 128], swizzle = "128B">
func.func @too_many_shared(%m: !map, %d: !blockscale.global<bf16>, %i: i32, %t: !blockscale.global<f32>, %e: !blockscale.global<i32>) {
  // expected-error @below {{expected 'shared_scales' of at most the 1 tensor scales of a product with groups, found 2}}
  blockscale.kernel_matmul a(%m) b(%m) scales(%m, %m) d(%d) tensor_scales(%t) groups(%e) sizes(%i, %i, %i, %i)
    mma <kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 128, k = 64>
    schedule<tile_m = 128, tile_n = 128, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8> {shared_scales = 2 : i64} : !map, !map, !blockscale.global<bf16> scales !map, !map tensor_scales !blockscale.global<f32> groups !blockscale.global<i32>
  return
}

// -----

!map = !blockscale.tensor_map<u4x16_align8b, dims = ()[m, n, k, l] -> (k, m), strides = ()[m, n, k, l] -> (k), box = [256, 128], swizzle = "128B">
func.func @negative_shared(%m: !map, %d: !blockscale.global<bf16>, %i: i32, %t: !blockscale.global<f32>, %e: !blockscale.global<i32>) {
  // expected-error @below {{expected 'shared_scales' of at most the 1 tensor scales of a product with groups, found -1}}
  blockscale.kernel_matmul a(%m) b(%m) scales(%m, %m) d(%d) tensor_scales(%t) groups(%e) sizes(%i, %i, %i, %i)
    mma <kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 128, k = 64>
    schedule<tile_m = 128, tile_n = 128, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8> {shared_scales = -1 : i64} : !map, !map, !blockscale.global<bf16> scales !map, !map tensor_scales !blockscale.global<f32> groups !blockscale.global<i32>
  return
}

// -----

!map = !blockscale.tensor_map<u4x16_align8b, dims = ()[m, n, k, l] -> (k, m), strides = ()[m, n, k, l] -> (k), box = [256, 128], swizzle = "128B">
func.func @split(%m: !map, %d: !blockscale.global<bf16>, %e: !blockscale.global<i32>, %w: !blockscale.global<f32>) {
  %i = arith.constant 1024 : i32
  // expected-error @below {{products with groups do not split K; expected 'split_k' of 1, found 2}}
  blockscale.kernel_matmul a(%m) b(%m) scales(%m, %m) d(%d) workspace(%w) groups(%e) sizes(%i, %i, %i, %i)
    mma <kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 128, k = 64>
    schedule<tile_m = 128, tile_n = 128, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8, split_k = 2> : !map, !map, !blockscale.global<bf16> scales !map, !map workspace !blockscale.global<f32> groups !blockscale.global<i32>
  return
}

// -----

!map = !blockscale.tensor_map<u4x16_align8b, dims = ()[m, n, k, l] -> (k, m), strides = ()[m, n, k, l] -> (k), box = [256, 128], swizzle = "128B">
!row = !blockscale.tensor_map<u4x16_align8b, dims = ()[m, n, k, l, s, c, t] -> (k, t), strides = ()[m, n, k, l, s, c, t] -> (k), box = [256, 1], swizzle = "128B">
func.func @rows_without_groups(%a: !row, %b: !map, %m: !map, %d: !blockscale.global<bf16>, %i: i32, %o: !blockscale.global<i32>, %e: !blockscale.global<i32>, %f: !blockscale.global<f32>) {
  // expected-error @below {{expected 'groups' with 'rows'}}
  blockscale.kernel_matmul a(%a) b(%b) scales(%m, %m) d(%d) rows(%e of %i) sizes(%i, %i, %i, %i)
    mma <kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 128, k = 64>
    schedule<tile_m = 128, tile_n = 128, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8> : !row, !map, !blockscale.global<bf16> scales !map, !map rows !blockscale.global<i32>
  return
}

// -----

!map = !blockscale.tensor_map<u4x16_align8b, dims = ()[m, n, k, l] -> (k, m), strides = ()[m, n, k, l] -> (k), box = [256, 128], swizzle = "128B">
!row = !blockscale.tensor_map<u4x16_align8b, dims = ()[m, n, k, l, s, c, t] -> (k, t), strides = ()[m, n, k, l, s, c, t] -> (k), box = [256, 1], swizzle = "128B">
func.func @row_numbers(%a: !row, %b: !map, %m: !map, %d: !blockscale.global<bf16>, %i: i32, %o: !blockscale.global<i32>, %e: !blockscale.global<i64>, %f: !blockscale.global<f32>) {
  // expected-error @below {{expected numbers of rows of i32, found 'i64'}}
  blockscale.kernel_matmul a(%a) b(%b) scales(%m, %m) d(%d) groups(%o) rows(%e of %i) sizes(%i, %i, %i, %i)
    mma <kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 128, k = 64>
    schedule<tile_m = 128, tile_n = 128, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8> : !row, !map, !blockscale.global<bf16> scales !map, !map groups !blockscale.global<i32> rows !blockscale.global<i64>
  return
}

// -----

!map = !blockscale.tensor_map<u4x16_align8b, dims = ()[m, n, k, l] -> (k, m), strides = ()[m, n, k, l] -> (k), box = [256, 128], swizzle = "128B">
!row = !blockscale.tensor_map<u4x16_align8b, dims = ()[m, n, k, l, s, c, t] -> (k, t), strides = ()[m, n, k, l, s, c, t] -> (k), box = [256, 1], swizzle = "128B">
func.func @map_of_boxes(%a: !map, %b: !map, %m: !map, %d: !blockscale.global<bf16>, %i: i32, %o: !blockscale.global<i32>, %e: !blockscale.global<i32>, %f: !blockscale.global<f32>) {
  // expected-error @below {{with 'rows' expected a tensor map of 'a' of 2 dimensions with a box of one row}}
  blockscale.kernel_matmul a(%a) b(%b) scales(%m, %m) d(%d) groups(%o) rows(%e of %i) sizes(%i, %i, %i, %i)
    mma <kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 128, k = 64>
    schedule<tile_m = 128, tile_n = 128, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8> : !map, !map, !blockscale.global<bf16> scales !map, !map groups !blockscale.global<i32> rows !blockscale.global<i32>
  return
}

// -----

!map = !blockscale.tensor_map<u4x16_align8b, dims = ()[m, n, k, l] -> (k, m), strides = ()[m, n, k, l] -> (k), box = [256, 128], swizzle = "128B">
!row = !blockscale.tensor_map<u4x16_align8b, dims = ()[m, n, k, l, s, c, t] -> (k, t), strides = ()[m, n, k, l, s, c, t] -> (k), box = [256, 1], swizzle = "128B">
func.func @swapped_map(%a: !map, %b: !map, %m: !map, %d: !blockscale.global<bf16>, %i: i32, %o: !blockscale.global<i32>, %e: !blockscale.global<i32>, %f: !blockscale.global<f32>) {
  // expected-error @below {{with 'rows' expected a tensor map of 'b' of 2 dimensions with a box of one row}}
  blockscale.kernel_matmul a(%a) b(%b) scales(%m, %m) d(%d) groups(%o) rows(%e of %i) sizes(%i, %i, %i, %i)
    mma <kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 128, k = 64>
    schedule<tile_m = 128, tile_n = 128, tile_k = 256, stages = 4, accumulators = 2, swap_operands = true, group_m = 8> : !map, !map, !blockscale.global<bf16> scales !map, !map groups !blockscale.global<i32> rows !blockscale.global<i32>
  return
}

// -----

!map = !blockscale.tensor_map<u4x16_align8b, dims = ()[m, n, k, l] -> (k, m), strides = ()[m, n, k, l] -> (k), box = [256, 128], swizzle = "128B">
!row = !blockscale.tensor_map<u4x16_align8b, dims = ()[m, n, k, l, s, c, t] -> (k, t), strides = ()[m, n, k, l, s, c, t] -> (k), box = [256, 1], swizzle = "128B">
func.func @swapped_row_scales(%a: !map, %b: !row, %m: !map, %d: !blockscale.global<bf16>, %i: i32, %o: !blockscale.global<i32>, %e: !blockscale.global<i32>, %f: !blockscale.global<f32>) {
  // expected-error @below {{threads read scales of rows of 'a' that are gathered for rows of their own only; 'swap_operands' must be false}}
  blockscale.kernel_matmul a(%a) b(%b) scales(%m, %m) d(%d) row_scales(%f) groups(%o) rows(%e of %i) sizes(%i, %i, %i, %i)
    mma <kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 128, k = 64>
    schedule<tile_m = 128, tile_n = 128, tile_k = 256, stages = 4, accumulators = 2, swap_operands = true, group_m = 8> : !map, !row, !blockscale.global<bf16> scales !map, !map row_scales !blockscale.global<f32> groups !blockscale.global<i32> rows !blockscale.global<i32>
  return
}
