// RUN: blockscale-opt %s -split-input-file -verify-diagnostics

!a = !blockscale.tensor<8x256xbf16>
!b = !blockscale.tensor<63x256xbf16>
func.func @odd(%a: !a, %b: !b) -> tensor<8x31xf32> {
  // expected-error @below {{with 'pairs' expected an even N, the rows of 'b', found 63}}
  %0 = blockscale.matmul %a, %b pairs epilogue(%x, %up) {
    blockscale.yield %up
  } : !a, !b -> tensor<8x31xf32>
  return %0 : tensor<8x31xf32>
}

// -----

!a = !blockscale.tensor<8x256xbf16>
!b = !blockscale.tensor<64x256xbf16>
func.func @result(%a: !a, %b: !b) -> tensor<8x64xf32> {
  // expected-error @below {{expected a result of shape [8, 32], found [8, 64]}}
  %0 = blockscale.matmul %a, %b pairs epilogue(%x, %up) {
    blockscale.yield %up
  } : !a, !b -> tensor<8x64xf32>
  return %0 : tensor<8x64xf32>
}

// -----

!a = !blockscale.tensor<8x256xbf16>
!b = !blockscale.tensor<64x256xbf16>
func.func @c(%a: !a, %b: !b, %c: tensor<8x64xf32>) -> tensor<8x32xf32> {
  // expected-error @below {{expected 'c' of the result's shape [8, 32], found [8, 64]}}
  %0 = blockscale.matmul %a, %b c(%c) pairs epilogue(%x, %up, %add) {
    blockscale.yield %add
  } : !a, !b, tensor<8x64xf32> -> tensor<8x32xf32>
  return %0 : tensor<8x32xf32>
}

// -----

!a = !blockscale.tensor<8x256xbf16>
!b = !blockscale.tensor<64x256xbf16>
func.func @bias(%a: !a, %b: !b, %v: tensor<32xf32>) -> tensor<8x32xf32> {
  // expected-error @below {{expected a bias per column of shape [64], found [32]}}
  %0 = blockscale.matmul %a, %b bias(%v) pairs epilogue(%x, %up, %g, %u) {
    blockscale.yield %u
  } : !a, !b, tensor<32xf32> -> tensor<8x32xf32>
  return %0 : tensor<8x32xf32>
}

// -----

!a = !blockscale.tensor<8x256xbf16>
!b = !blockscale.tensor<64x256xbf16>
func.func @row_bias(%a: !a, %b: !b, %v: tensor<8xf32>) -> tensor<8x32xf32> {
  // expected-error @below {{with 'pairs' expected a bias along the columns, one element for each of the product}}
  %0 = blockscale.matmul %a, %b bias(%v) row pairs epilogue(%x, %up, %g, %u) {
    blockscale.yield %u
  } : !a, !b, tensor<8xf32> -> tensor<8x32xf32>
  return %0 : tensor<8x32xf32>
}

// -----

!a = !blockscale.tensor<8x256xbf16>
!b = !blockscale.tensor<64x256xbf16>
func.func @arguments(%a: !a, %b: !b, %v: tensor<64xf32>) -> tensor<8x32xf32> {
  // expected-error @below {{expected an epilogue with an argument of f32 for each of the product, 'x', 'up', 'bias', 'up_bias', found ('f32', 'f32', 'f32')}}
  %0 = blockscale.matmul %a, %b bias(%v) pairs epilogue(%x, %up, %g) {
    blockscale.yield %g
  } : !a, !b, tensor<64xf32> -> tensor<8x32xf32>
  return %0 : tensor<8x32xf32>
}

// -----

!a = !blockscale.tensor<8x256xbf16>
!b = !blockscale.tensor<64x256xbf16>
func.func @no_region(%a: !a, %b: !b) -> tensor<8x32xf32> {
  // expected-error @below {{with 'pairs' expected an epilogue that makes one element of 'x' and 'up'}}
  %0 = "blockscale.matmul"(%a, %b) <{pairs, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0, 0, 0>}> ({}) : (!a, !b) -> tensor<8x32xf32>
  return %0 : tensor<8x32xf32>
}

// -----

!a = !blockscale.tensor<8x256xbf16>
!b = !blockscale.tensor<64x256xbf16>
func.func @keyword(%a: !a, %b: !b) -> tensor<8x32xf32> {
  // expected-error @below {{expected 'epilogue'}}
  %0 = blockscale.matmul %a, %b pairs activation(silu) : !a, !b -> tensor<8x32xf32>
  return %0 : tensor<8x32xf32>
}

// -----

!a = !blockscale.tensor<8x?xbf16>
!b = !blockscale.tensor<64x?xbf16>
func.func @groups_along_k(%a: !a, %b: !b, %ends: tensor<2xi32>) -> tensor<2x8x32xf32> {
  // expected-error @below {{groups along K have no 'pairs': each of their results has a column for each row of 'b'}}
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<2xi32>) pairs epilogue(%x, %up) {
    blockscale.yield %up
  } : !a, !b -> tensor<2x8x32xf32>
  return %0 : tensor<2x8x32xf32>
}

// -----

!a = !blockscale.tensor<8x256xi8>
!b = !blockscale.tensor<64x256xi8>
func.func @integers(%a: !a, %b: !b) -> tensor<8x32xi32> {
  // expected-error @below {{a result of i32 is the product as it is: it takes no alpha, beta, c, bias or epilogue}}
  %0 = blockscale.matmul %a, %b pairs epilogue(%x, %up) {
    blockscale.yield %up
  } : !a, !b -> tensor<8x32xi32>
  return %0 : tensor<8x32xi32>
}

// -----

!a = !blockscale.tensor<8x256xbf16>
!b = !blockscale.tensor<8x64x256xbf16>
func.func @bias_of_groups(%a: !a, %b: !b, %v: tensor<8x32xf32>, %ends: tensor<8xi32>) -> tensor<8x32xf32> {
  // expected-error @below {{expected a bias along the columns for each group, shape [8, 64], found [8, 32]}}
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<8xi32>) bias(%v) pairs epilogue(%x, %up, %g, %u) {
    blockscale.yield %u
  } : !a, !b, tensor<8x32xf32> -> tensor<8x32xf32>
  return %0 : tensor<8x32xf32>
}

// -----

!map = !blockscale.tensor_map<u4x16_align8b, dims = ()[m, n, k, l] -> (k, m), strides = ()[m, n, k, l] -> (k), box = [256, 128], swizzle = "128B">
func.func @kernel_odd(%m: !map, %d: !blockscale.global<bf16>, %i: i32) {
  %n = arith.constant 129 : i32
  // expected-error @below {{with 'pairs' expected an even n, found 129}}
  blockscale.kernel_matmul a(%m) b(%m) scales(%m, %m) d(%d) sizes(%i, %n, %i, %i) pairs epilogue(%x, %up) {
    blockscale.yield %up
  } mma <kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 128, k = 64>
    schedule<tile_m = 128, tile_n = 128, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8> : !map, !map, !blockscale.global<bf16> scales !map, !map
  return
}

// -----

!map = !blockscale.tensor_map<u4x16_align8b, dims = ()[m, n, k, l] -> (k, m), strides = ()[m, n, k, l] -> (k), box = [256, 128], swizzle = "128B">
func.func @kernel_swap(%m: !map, %d: !blockscale.global<bf16>, %i: i32) {
  // expected-error @below {{with 'swap_operands' sums are brought to rows of D 32 at once, of which 'tile_n' of 48 is no multiple; nearest legal: 64}}
  blockscale.kernel_matmul a(%m) b(%m) scales(%m, %m) d(%d) sizes(%i, %i, %i, %i) pairs epilogue(%x, %up) {
    blockscale.yield %up
  } mma <kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 48, k = 64>
    schedule<tile_m = 128, tile_n = 48, tile_k = 256, stages = 4, accumulators = 2, swap_operands = true, group_m = 8> : !map, !map, !blockscale.global<bf16> scales !map, !map
  return
}

// -----

!map = !blockscale.tensor_map<u4x16_align8b, dims = ()[m, n, k, l] -> (k, m), strides = ()[m, n, k, l] -> (k), box = [256, 128], swizzle = "128B">
func.func @kernel_row_bias(%m: !map, %d: !blockscale.global<bf16>, %v: !blockscale.global<f32>, %i: i32) {
  // expected-error @below {{with 'pairs' expected a bias along the columns}}
  blockscale.kernel_matmul a(%m) b(%m) scales(%m, %m) d(%d) bias(%v) sizes(%i, %i, %i, %i) pairs epilogue(%x, %up, %g, %u) {
    blockscale.yield %up
  } mma <kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 128, k = 64>
    schedule<tile_m = 128, tile_n = 128, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8> {bias_kind = #blockscale<bias_kind row>} : !map, !map, !blockscale.global<bf16> scales !map, !map bias !blockscale.global<f32>
  return
}

// -----

!map = !blockscale.tensor_map<u4x16_align8b, dims = ()[m, n, k, l] -> (k, m), strides = ()[m, n, k, l] -> (k), box = [256, 128], swizzle = "128B">
func.func @kernel_groups_along_k(%m: !map, %d: !blockscale.global<bf16>, %e: !blockscale.global<i32>, %i: i32) {
  // expected-error @below {{groups along K have no 'pairs'}}
  blockscale.kernel_matmul a(%m) b(%m) scales(%m, %m) d(%d) k_groups(%e) sizes(%i, %i, %i, %i) pairs epilogue(%x, %up) {
    blockscale.yield %up
  } mma <kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 128, k = 64>
    schedule<tile_m = 128, tile_n = 128, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8> : !map, !map, !blockscale.global<bf16> scales !map, !map k_groups !blockscale.global<i32>
  return
}
