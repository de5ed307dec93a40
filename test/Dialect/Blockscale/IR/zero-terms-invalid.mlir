// What the verifier refuses of the terms of zero points that an epilogue subtracts.

// RUN: blockscale-opt %s -split-input-file -verify-diagnostics

!map = !blockscale.tensor_map<u8, dims = ()[m, n, k, l] -> (k, m), strides = ()[m, n, k, l] -> (k), box = [128, 128], swizzle = "128B">
func.func @type(%m: !map, %d: !blockscale.global<bf16>, %t: !blockscale.global<f16>, %i: i32) {
  // expected-error @below {{expected terms of f32, found 'f16'}}
  blockscale.kernel_matmul a(%m) b(%m) d(%d) terms(%t, %t of %i) sizes(%i, %i, %i, %i)
    mma <kind = f8f6f4, a = e4m3, b = e4m3, m = 128, n = 128, k = 32>
    schedule<tile_m = 128, tile_n = 128, tile_k = 128, stages = 4, accumulators = 2, swap_operands = false, group_m = 8> : !map, !map, !blockscale.global<bf16> terms !blockscale.global<f16>, !blockscale.global<f16>
  return
}

// -----

!map = !blockscale.tensor_map<u8, dims = ()[m, n, k, l] -> (k, m), strides = ()[m, n, k, l] -> (k), box = [128, 128], swizzle = "128B">
func.func @groups_along_k(%m: !map, %d: !blockscale.global<bf16>, %t: !blockscale.global<f32>, %o: !blockscale.global<i32>, %i: i32) {
  // expected-error @below {{with 'terms' expected neither 'k_groups' nor 'rows'}}
  blockscale.kernel_matmul a(%m) b(%m) d(%d) terms(%t, %t of %i) k_groups(%o) sizes(%i, %i, %i, %i)
    mma <kind = f8f6f4, a = e4m3, b = e4m3, m = 128, n = 128, k = 32>
    schedule<tile_m = 128, tile_n = 128, tile_k = 128, stages = 4, accumulators = 2, swap_operands = false, group_m = 8> : !map, !map, !blockscale.global<bf16> terms !blockscale.global<f32>, !blockscale.global<f32> k_groups !blockscale.global<i32>
  return
}
