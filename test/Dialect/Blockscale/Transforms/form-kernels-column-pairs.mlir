// Pairs of columns on their way into a kernel: D and C have half of N, the sums of a
// thread part where its epilogue begins.

// RUN: blockscale-opt %s --blockscale-attach-target=target=sm_100a --blockscale-legalize-scales --blockscale-fuse-quantization --blockscale-select-schedule --blockscale-form-kernels > %t
// RUN: FileCheck %s < %t
// RUN: blockscale-opt %t | diff - %t
// RUN: blockscale-opt %t --pass-pipeline='builtin.module(gpu.module(blockscale-expand-kernels))' | FileCheck %s --check-prefix=EXPANDED

!a = !blockscale.tensor<?x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!b = !blockscale.tensor<192x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>

// CHECK: gpu.func @plain(
// CHECK-SAME: !blockscale.global<bf16> {blockscale.parameter = #blockscale.parameter<d>}
// CHECK-SAME: blockscale.product = #blockscale.product<{{.*}}inputs = 5{{.*}}, pairs = true>
// CHECK: blockscale.kernel_matmul {{.*}} pairs epilogue(%x, %up, %c, %bias, %up_bias) {

// EXPANDED-LABEL: gpu.func @plain
// EXPANDED: blockscale.warps "epilogue"
// EXPANDED-DAG: %[[SUMS:.*]] = blockscale.load_accumulator {{.*}} -> vector<32xf32>
// EXPANDED-DAG: %[[BIAS:.*]] = blockscale.load_row {{.*}} -> vector<32xf32>
// EXPANDED-DAG: vector.shuffle %[[SUMS]], %[[SUMS]] [0, 2, {{.*}}, 30]
// EXPANDED-DAG: vector.shuffle %[[SUMS]], %[[SUMS]] [1, 3, {{.*}}, 31]
// EXPANDED-DAG: vector.shuffle %[[BIAS]], %[[BIAS]] [0, 2, {{.*}}, 30]
// EXPANDED-DAG: vector.shuffle %[[BIAS]], %[[BIAS]] [1, 3, {{.*}}, 31]
// EXPANDED-DAG: blockscale.load_row {{.*}} -> vector<16xf32>
// EXPANDED: blockscale.store_row {{.*}} : vector<16xbf16>
func.func @plain(%a: !a, %b: !b, %c: tensor<?x96xf32>, %v: tensor<192xf32>) -> tensor<?x96xbf16> {
  %0 = blockscale.matmul %a, %b c(%c) bias(%v) pairs epilogue(%x, %up, %add, %g, %u) {
    %1 = arith.addf %x, %g : f32
    %2 = arith.addf %up, %u : f32
    %3 = arith.mulf %1, %2 : f32
    %4 = arith.addf %3, %add : f32
    blockscale.yield %4
  } : !a, !b, tensor<?x96xf32>, tensor<192xf32> -> tensor<?x96xbf16>
  return %0 : tensor<?x96xbf16>
}

// A block of 32 is made of 64 sums.
// EXPANDED-LABEL: gpu.func @quantized
// EXPANDED: blockscale.load_accumulator {{.*}} -> vector<64xf32>
// EXPANDED-COUNT-16: arith.truncf {{.*}} : vector<2xf32> to vector<2xbf16>
!q = !blockscale.tensor<?x96xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @quantized(%a: !a, %b: !b) -> !q {
  %0 = blockscale.matmul %a, %b pairs epilogue(%x, %up) {
    %1 = arith.mulf %x, %up : f32
    blockscale.yield %1
  } : !a, !b -> tensor<?x96xbf16>
  %1 = blockscale.quantize %0 : tensor<?x96xbf16> to !q
  return %1 : !q
}
