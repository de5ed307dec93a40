// What follows products with groups becomes their epilogue; a bias is one of all groups
// of rows, or one for each group along K.

// RUN: blockscale-opt %s --blockscale-fuse-epilogues | FileCheck %s

!rows = !blockscale.tensor<?x64xbf16>
!experts = !blockscale.tensor<3x32x64xbf16>

// The gate of an expert: silu of the product, times another matrix.
// CHECK-LABEL: @gate(
// CHECK: %[[D:.*]] = blockscale.matmul %arg0, %arg1 groups(%arg2 : tensor<3xi32>) c(%arg3) epilogue(%[[X:.*]], %[[C:.*]]) {
// CHECK: math.exp
// CHECK: arith.divf %[[X]]
// CHECK: arith.mulf %{{.*}}, %[[C]] : f32
// CHECK: -> tensor<?x32xbf16>
// CHECK-NEXT: return %[[D]]
func.func @gate(%a: !rows, %b: !experts, %ends: tensor<3xi32>, %up: tensor<?x32xf32>) -> tensor<?x32xbf16> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<3xi32>) : !rows, !experts -> tensor<?x32xf32>
  %m = blockscale.dim %a, 0 : !rows
  %empty = tensor.empty(%m) : tensor<?x32xbf16>
  %1 = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]} ins(%0, %up : tensor<?x32xf32>, tensor<?x32xf32>) outs(%empty : tensor<?x32xbf16>) {
  ^bb0(%x: f32, %u: f32, %before: bf16):
    %one = arith.constant 1.0 : f32
    %2 = arith.negf %x : f32
    %3 = math.exp %2 : f32
    %4 = arith.addf %3, %one : f32
    %5 = arith.divf %x, %4 : f32
    %6 = arith.mulf %5, %u : f32
    %7 = arith.truncf %6 : f32 to bf16
    linalg.yield %7 : bf16
  } -> tensor<?x32xbf16>
  return %1 : tensor<?x32xbf16>
}

// CHECK-LABEL: @bias_of_all(
// CHECK: %[[EACH:.*]] = tensor.empty() : tensor<3x32xf32>
// CHECK: %[[BIAS:.*]] = linalg.broadcast ins(%arg3 : tensor<32xf32>) outs(%[[EACH]] : tensor<3x32xf32>) dimensions = [0]
// CHECK: %[[D:.*]] = blockscale.matmul %arg0, %arg1 groups(%arg2 : tensor<3xi32>) bias(%[[BIAS]])
// CHECK-NEXT: return %[[D]]
func.func @bias_of_all(%a: !rows, %b: !experts, %ends: tensor<3xi32>, %v: tensor<32xf32>) -> tensor<?x32xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<3xi32>) : !rows, !experts -> tensor<?x32xf32>
  %m = blockscale.dim %a, 0 : !rows
  %empty = tensor.empty(%m) : tensor<?x32xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]} ins(%0, %v : tensor<?x32xf32>, tensor<32xf32>) outs(%empty : tensor<?x32xf32>) {
  ^bb0(%x: f32, %u: f32, %before: f32):
    %2 = arith.addf %x, %u : f32
    linalg.yield %2 : f32
  } -> tensor<?x32xf32>
  return %1 : tensor<?x32xf32>
}

// No bias of groups is one of rows.
// CHECK-LABEL: @bias_of_rows(
// CHECK: blockscale.matmul %arg0, %arg1 groups(%arg2 : tensor<3xi32>) : !{{.*}} -> tensor<?x32xf32>
// CHECK: linalg.generic
func.func @bias_of_rows(%a: !rows, %b: !experts, %ends: tensor<3xi32>, %v: tensor<?xf32>) -> tensor<?x32xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<3xi32>) : !rows, !experts -> tensor<?x32xf32>
  %m = blockscale.dim %a, 0 : !rows
  %empty = tensor.empty(%m) : tensor<?x32xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]} ins(%0, %v : tensor<?x32xf32>, tensor<?xf32>) outs(%empty : tensor<?x32xf32>) {
  ^bb0(%x: f32, %u: f32, %before: f32):
    %2 = arith.addf %x, %u : f32
    linalg.yield %2 : f32
  } -> tensor<?x32xf32>
  return %1 : tensor<?x32xf32>
}

!left = !blockscale.tensor<48x?xbf16>
!right = !blockscale.tensor<32x?xbf16>

// The second sum finds the bias taken, and is what the kernel stores.
// CHECK-LABEL: @along_k(
// CHECK: %[[D:.*]] = blockscale.matmul %arg0, %arg1 groups(%arg2 : tensor<3xi32>) c(%arg4) bias(%arg3) epilogue(
// CHECK: -> tensor<3x48x32xf32>
// CHECK: linalg.generic {{.*}} ins(%[[D]], %arg5
func.func @along_k(%a: !left, %b: !right, %ends: tensor<3xi32>, %v: tensor<3x32xf32>, %c: tensor<3x48x32xf32>, %w: tensor<3x48xf32>) -> tensor<3x48x32xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<3xi32>) : !left, !right -> tensor<3x48x32xf32>
  %empty = tensor.empty() : tensor<3x48x32xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(g, m, n) -> (g, m, n)>, affine_map<(g, m, n) -> (g, n)>, affine_map<(g, m, n) -> (g, m, n)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%0, %v : tensor<3x48x32xf32>, tensor<3x32xf32>) outs(%empty : tensor<3x48x32xf32>) {
  ^bb0(%x: f32, %u: f32, %before: f32):
    %4 = arith.mulf %x, %u : f32
    linalg.yield %4 : f32
  } -> tensor<3x48x32xf32>
  %2 = arith.addf %1, %c : tensor<3x48x32xf32>
  %3 = linalg.generic {indexing_maps = [affine_map<(g, m, n) -> (g, m, n)>, affine_map<(g, m, n) -> (g, m)>, affine_map<(g, m, n) -> (g, m, n)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%2, %w : tensor<3x48x32xf32>, tensor<3x48xf32>) outs(%empty : tensor<3x48x32xf32>) {
  ^bb0(%x: f32, %u: f32, %before: f32):
    %4 = arith.addf %x, %u : f32
    linalg.yield %4 : f32
  } -> tensor<3x48x32xf32>
  return %3 : tensor<3x48x32xf32>
}
