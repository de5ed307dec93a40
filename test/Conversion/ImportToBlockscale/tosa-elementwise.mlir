// RUN: blockscale-opt %s --blockscale-import --blockscale-fuse-epilogues | FileCheck %s

// TOSA's arithmetic behind a product is its epilogue; a reshape between is behind it.
// CHECK-LABEL: @silu(
// CHECK: blockscale.matmul {{.*}} epilogue(%[[X:.*]]) {
// CHECK: %[[E:.*]] = math.exp
// CHECK: %[[D:.*]] = arith.divf
// CHECK: arith.mulf %[[X]], %[[D]]
// CHECK: } : {{.*}} -> tensor<8x16xbf16>
// CHECK-NOT: linalg.generic
// CHECK-NOT: tosa
// CHECK: return
func.func @silu(%a: tensor<1x8x64xf8E4M3FN>, %s: tensor<1x8x2xf8E8M0FNU>, %b: tensor<1x16x64xf8E4M3FN>, %t: tensor<1x16x2xf8E8M0FNU>) -> tensor<8x16xbf16> {
  %shape = tosa.const_shape {values = dense<[8, 16]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.matmul_t_block_scaled %a, %s, %b, %t {block_size = BLOCK_SIZE_32} : (tensor<1x8x64xf8E4M3FN>, tensor<1x8x2xf8E8M0FNU>, tensor<1x16x64xf8E4M3FN>, tensor<1x16x2xf8E8M0FNU>) -> tensor<1x8x16xf32>
  %1 = tosa.sigmoid %0 : (tensor<1x8x16xf32>) -> tensor<1x8x16xf32>
  %2 = tosa.mul %0, %1, %shift : (tensor<1x8x16xf32>, tensor<1x8x16xf32>, tensor<1xi8>) -> tensor<1x8x16xf32>
  %3 = tosa.reshape %2, %shape : (tensor<1x8x16xf32>, !tosa.shape<2>) -> tensor<8x16xf32>
  %4 = tosa.cast %3 : (tensor<8x16xf32>) -> tensor<8x16xbf16>
  return %4 : tensor<8x16xbf16>
}

// What no epilogue holds stays with the host, and what is behind no product as it is.
// CHECK-LABEL: @pow(
// CHECK: %[[P:.*]] = blockscale.matmul
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<1x8x8xf32>
// CHECK: math.powf
// CHECK: tosa.reduce_max
// CHECK: tosa.tanh
func.func @pow(%a: tensor<1x8x64xf8E4M3FN>, %s: tensor<1x8x2xf8E8M0FNU>, %x: tensor<1x8x8xf32>) -> (tensor<1x8x1xf32>, tensor<1x8x8xf32>) {
  %0 = tosa.matmul_t_block_scaled %a, %s, %a, %s {block_size = BLOCK_SIZE_32} : (tensor<1x8x64xf8E4M3FN>, tensor<1x8x2xf8E8M0FNU>, tensor<1x8x64xf8E4M3FN>, tensor<1x8x2xf8E8M0FNU>) -> tensor<1x8x8xf32>
  %1 = tosa.pow %0, %x : (tensor<1x8x8xf32>, tensor<1x8x8xf32>) -> tensor<1x8x8xf32>
  %2 = tosa.reduce_max %1 {axis = 2 : i32} : (tensor<1x8x8xf32>) -> tensor<1x8x1xf32>
  %3 = tosa.tanh %x : (tensor<1x8x8xf32>) -> tensor<1x8x8xf32>
  return %2, %3 : tensor<1x8x1xf32>, tensor<1x8x8xf32>
}

// Rows whose number is known at the call.
// CHECK-LABEL: @rows(
// CHECK: blockscale.matmul {{.*}} activation(relu) {{.*}} -> tensor<?x16xf32>
func.func @rows(%a: tensor<1x?x64xf8E4M3FN>, %s: tensor<1x?x2xf8E8M0FNU>, %b: tensor<1x16x64xf8E4M3FN>, %t: tensor<1x16x2xf8E8M0FNU>) -> tensor<1x?x16xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %0 = tosa.matmul_t_block_scaled %a, %s, %b, %t {block_size = BLOCK_SIZE_32} : (tensor<1x?x64xf8E4M3FN>, tensor<1x?x2xf8E8M0FNU>, tensor<1x16x64xf8E4M3FN>, tensor<1x16x2xf8E8M0FNU>) -> tensor<1x?x16xf32>
  %1 = tosa.maximum %0, %zero : (tensor<1x?x16xf32>, tensor<1x1x1xf32>) -> tensor<1x?x16xf32>
  return %1 : tensor<1x?x16xf32>
}
