// RUN: blockscale-opt %s -split-input-file -verify-diagnostics

!a = !blockscale.tensor<4x?x512xbf16>
!b = !blockscale.tensor<4x64x512xbf16>
func.func @count(%a: !a, %b: !b, %counts: tensor<3xi32>) -> tensor<4x?x64xf32> {
  // expected-error @below {{expected an offset for each of the 4 matrices of 'b', found 3}}
  %0 = blockscale.matmul %a, %b groups(%counts : tensor<3xi32>) : !a, !b -> tensor<4x?x64xf32>
  return %0 : tensor<4x?x64xf32>
}

// -----

!a = !blockscale.tensor<3x?x512xbf16>
!b = !blockscale.tensor<4x64x512xbf16>
func.func @matrices(%a: !a, %b: !b, %counts: tensor<4xi32>) -> tensor<4x?x64xf32> {
  // expected-error @below {{expected equal batch sizes of 'a' and 'b', found 3 and 4}}
  %0 = blockscale.matmul %a, %b groups(%counts : tensor<4xi32>) : !a, !b -> tensor<4x?x64xf32>
  return %0 : tensor<4x?x64xf32>
}

// -----

!a = !blockscale.tensor<4x96x512xbf16>
!b = !blockscale.tensor<4x64x512xbf16>
func.func @bias(%a: !a, %b: !b, %counts: tensor<4xi32>, %bias: tensor<64xf32>) -> tensor<4x96x64xf32> {
  // expected-error @below {{expected a bias along the columns for each group, shape [4, 64], found [64]}}
  %0 = blockscale.matmul %a, %b groups(%counts : tensor<4xi32>) bias(%bias) : !a, !b, tensor<64xf32> -> tensor<4x96x64xf32>
  return %0 : tensor<4x96x64xf32>
}

// -----

!a = !blockscale.tensor<4x96x512xbf16>
!b = !blockscale.tensor<4x64x512xbf16>
func.func @bias_of_rows(%a: !a, %b: !b, %counts: tensor<4xi32>, %bias: tensor<96xf32>) -> tensor<4x96x64xf32> {
  // expected-error @below {{expected a bias along the columns for each group, shape [4, 64], found a bias per row of shape [96]}}
  %0 = blockscale.matmul %a, %b groups(%counts : tensor<4xi32>) bias(%bias) row : !a, !b, tensor<96xf32> -> tensor<4x96x64xf32>
  return %0 : tensor<4x96x64xf32>
}

// -----

!a = !blockscale.tensor<4x96x512xbf16>
!b = !blockscale.tensor<4x64x512xbf16>
func.func @gathered(%a: !a, %b: !b, %counts: tensor<4xi32>, %ids: tensor<9xi32>) -> tensor<4x9x64xf32> {
  // expected-error @below {{'rows' are gathered for groups of rows; expected 'groups' and a 'b' with a matrix for each group}}
  %0 = blockscale.matmul %a, %b groups(%counts : tensor<4xi32>) rows(%ids : tensor<9xi32>) : !a, !b -> tensor<4x9x64xf32>
  return %0 : tensor<4x9x64xf32>
}

// -----

!map = !blockscale.tensor_map<bf16, dims = ()[m, n, k, l] -> (k, m, l), strides = ()[m, n, k, l] -> (k, k * m), box = [64, 128, 1], swizzle = "128B">
func.func @both(%m: !map, %d: !blockscale.global<bf16>, %i: i32, %e: !blockscale.global<i32>) {
  // expected-error @below {{expected 'masked' or groups, found both}}
  blockscale.kernel_matmul a(%m) b(%m) d(%d) groups(%e) masked(%e) sizes(%i, %i, %i, %i)
    mma <kind = f16, a = bf16, b = bf16, m = 128, n = 128, k = 16>
    schedule<tile_m = 128, tile_n = 128, tile_k = 64, stages = 4, accumulators = 2, swap_operands = false, group_m = 8> : !map, !map, !blockscale.global<bf16> groups !blockscale.global<i32> masked !blockscale.global<i32>
  return
}

// -----

!map = !blockscale.tensor_map<bf16, dims = ()[m, n, k, l] -> (k, m, l), strides = ()[m, n, k, l] -> (k, k * m), box = [64, 128, 1], swizzle = "128B">
func.func @type(%m: !map, %d: !blockscale.global<bf16>, %i: i32, %e: !blockscale.global<i64>) {
  // expected-error @below {{expected counts of i32, found 'i64'}}
  blockscale.kernel_matmul a(%m) b(%m) d(%d) masked(%e) sizes(%i, %i, %i, %i)
    mma <kind = f16, a = bf16, b = bf16, m = 128, n = 128, k = 16>
    schedule<tile_m = 128, tile_n = 128, tile_k = 64, stages = 4, accumulators = 2, swap_operands = false, group_m = 8> : !map, !map, !blockscale.global<bf16> masked !blockscale.global<i64>
  return
}

// -----

!map = !blockscale.tensor_map<bf16, dims = ()[m, n, k, l] -> (k, m, l), strides = ()[m, n, k, l] -> (k, k * m), box = [64, 128, 1], swizzle = "128B">
func.func @bias_of_rows(%m: !map, %d: !blockscale.global<bf16>, %i: i32, %v: !blockscale.global<f32>, %e: !blockscale.global<i32>) {
  // expected-error @below {{with 'masked' expected a bias along the columns}}
  blockscale.kernel_matmul a(%m) b(%m) d(%d) bias(%v) masked(%e) sizes(%i, %i, %i, %i)
    mma <kind = f16, a = bf16, b = bf16, m = 128, n = 128, k = 16>
    schedule<tile_m = 128, tile_n = 128, tile_k = 64, stages = 4, accumulators = 2, swap_operands = false, group_m = 8> {bias_kind = #blockscale<bias_kind row>} : !map, !map, !blockscale.global<bf16> bias !blockscale.global<f32> masked !blockscale.global<i32>
  return
}

// -----

!map = !blockscale.tensor_map<bf16, dims = ()[m, n, k, l] -> (k, m, l), strides = ()[m, n, k, l] -> (k, k * m), box = [64, 128, 1], swizzle = "128B">
func.func @parts(%m: !map, %d: !blockscale.global<bf16>, %i: i32, %w: !blockscale.global<f32>, %e: !blockscale.global<i32>) {
  // expected-error @below {{products with groups do not split K; expected 'split_k' of 1, found 2}}
  blockscale.kernel_matmul a(%m) b(%m) d(%d) workspace(%w) masked(%e) sizes(%i, %i, %i, %i)
    mma <kind = f16, a = bf16, b = bf16, m = 128, n = 128, k = 16>
    schedule<tile_m = 128, tile_n = 128, tile_k = 64, stages = 4, accumulators = 2, swap_operands = false, group_m = 8, split_k = 2> : !map, !map, !blockscale.global<bf16> workspace !blockscale.global<f32> masked !blockscale.global<i32>
  return
}
