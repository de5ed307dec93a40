// Beside scales of tiles of 16, which no instruction reads, those that one would read
// stay row by row, and elements that are stored in 16 bits lie along K: what is
// imported can be compiled.

// REQUIRES: mlir
// RUN: blockscale-opt %s --blockscale-import | FileCheck %s
// RUN: blockscale verify %s --import --data=exact --conditions=plain | FileCheck %s --check-prefix=RUNS
// RUN: blockscale verify %s --import --data=exact --conditions=plain --target=sm_120a | FileCheck %s --check-prefix=RUNS

// CHECK-LABEL: func.func @main
// CHECK: linalg.transpose
// CHECK-NOT: relayout
// CHECK: blockscale.matmul {{.*}} : !blockscale.tensor<40x64xf8E4M3FN, "float32_t16">, !blockscale.tensor<24x64xf8E5M2, "e8m0_t32"> -> tensor<40x24xf32>

// RUNS-NOT: FAIL
// RUNS: main exact 40x24x64 {{.*}} pass
// RUNS: main exact - 1 960 {{.*}} pass
// RUNS-NOT: FAIL

#k_first = affine_map<(k, m) -> (k, m)>
#rows = affine_map<(n, k) -> (n, k)>
func.func @main(%a: tensor<64x40xf8E4M3FN>, %s: tensor<4x40xf32>, %b: tensor<24x64xf8E5M2>, %t: tensor<24x2xf8E8M0FNU>) -> tensor<40x24xf32> {
  %x = arith.extf %a : tensor<64x40xf8E4M3FN> to tensor<64x40xf32>
  %y = arith.extf %b : tensor<24x64xf8E5M2> to tensor<24x64xf32>
  %p = arith.extf %t : tensor<24x2xf8E8M0FNU> to tensor<24x2xf32>
  %e = tensor.empty() : tensor<64x40xf32>
  %f = tensor.empty() : tensor<24x64xf32>
  %u = linalg.generic {indexing_maps = [#k_first, affine_map<(k, m) -> (k floordiv 16, m)>, #k_first], iterator_types = ["parallel", "parallel"]} ins(%x, %s : tensor<64x40xf32>, tensor<4x40xf32>) outs(%e : tensor<64x40xf32>) {
  ^bb0(%0: f32, %1: f32, %2: f32):
    %3 = arith.mulf %0, %1 : f32
    linalg.yield %3 : f32
  } -> tensor<64x40xf32>
  %v = linalg.generic {indexing_maps = [#rows, affine_map<(n, k) -> (n, k floordiv 32)>, #rows], iterator_types = ["parallel", "parallel"]} ins(%y, %p : tensor<24x64xf32>, tensor<24x2xf32>) outs(%f : tensor<24x64xf32>) {
  ^bb0(%0: f32, %1: f32, %2: f32):
    %3 = arith.mulf %0, %1 : f32
    linalg.yield %3 : f32
  } -> tensor<24x64xf32>
  %z = arith.constant dense<0.0> : tensor<40x24xf32>
  %d = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] ins(%u, %v : tensor<64x40xf32>, tensor<24x64xf32>) outs(%z : tensor<40x24xf32>) -> tensor<40x24xf32>
  return %d : tensor<40x24xf32>
}
