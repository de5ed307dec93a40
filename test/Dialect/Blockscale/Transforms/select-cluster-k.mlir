// Where parts of K meet if they need not be those of one cluster.

// RUN: blockscale-opt %s -blockscale-select-schedule | FileCheck %s

!decode = !blockscale.tensor<16x7168xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!weights = !blockscale.tensor<576x7168xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>

// Without a cluster there is a workspace.
// CHECK-LABEL: func.func @meeting
func.func @meeting(%a: !decode, %b: !weights) -> tensor<16x576xbf16> {
  // CHECK: split_k = 8, cluster_k = 1, dependent_launch = true>)
  %0 = blockscale.matmul %a, %b mma(<kind = mxf8f6f4, a = e4m3, b = e4m3, scale = ue8m0, block = 32>) schedule(#blockscale.schedule<cluster_k = 1>) : !decode, !weights -> tensor<16x576xbf16>
  return %0 : tensor<16x576xbf16>
}

// Clusters need not have a power of two of CTAs.
// CHECK-LABEL: func.func @five
func.func @five(%a: !decode, %b: !weights) -> tensor<16x576xbf16> {
  // CHECK: split_k = 5, cluster_k = 5, dependent_launch = true>)
  %0 = blockscale.matmul %a, %b mma(<kind = mxf8f6f4, a = e4m3, b = e4m3, scale = ue8m0, block = 32>) schedule(#blockscale.schedule<split_k = 5>) : !decode, !weights -> tensor<16x576xbf16>
  return %0 : tensor<16x576xbf16>
}

// A cluster of sixteen CTAs is not portable.
// CHECK-LABEL: func.func @pairs
func.func @pairs(%a: !decode, %b: !weights) -> tensor<16x576xbf16> {
  // CHECK: split_k = 8, dependent_launch = true>)
  %0 = blockscale.matmul %a, %b mma(<kind = mxf8f6f4, a = e4m3, b = e4m3, scale = ue8m0, block = 32>) schedule(#blockscale.schedule<cta_group = 2, split_k = 8>) : !decode, !weights -> tensor<16x576xbf16>
  return %0 : tensor<16x576xbf16>
}
