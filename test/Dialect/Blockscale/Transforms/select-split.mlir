// When the schedule splits K by itself: where the model promises less time, and the
// parts are known to be no more than there is room for at once. They are those of one
// cluster where it has no more than eight CTAs, and else meet in a workspace, for which
// the model must promise 5 %.

// RUN: blockscale-opt %s -blockscale-select-schedule | FileCheck %s
// RUN: blockscale-opt %s -blockscale-select-schedule=expected-rows=16 | FileCheck %s --check-prefix=FEW
// RUN: blockscale-opt %s -blockscale-attach-target=target=sm_120a -blockscale-select-schedule | FileCheck %s --check-prefix=WARPS

// On chips without tensor memory parts meet in a workspace, too.
// WARPS-LABEL: func.func @decode
// WARPS: swap_operands = true, {{.*}}split_k = 3, dependent_launch = true>)
// WARPS-LABEL: func.func @whole
// WARPS: split_k = 1, dependent_launch = true>)
// WARPS-LABEL: func.func @short
// WARPS-NOT: split_k

// Five tiles of 128 rows for 148 SMs.
!decode = !blockscale.tensor<16x7168xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!weights = !blockscale.tensor<576x7168xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
// CHECK-LABEL: func.func @decode
func.func @decode(%a: !decode, %b: !weights) -> tensor<16x576xbf16> {
  // CHECK: schedule(#blockscale.schedule<{{.*}}swap_operands = true, {{.*}}split_k = 8, cluster_k = 8, dependent_launch = true>)
  %0 = blockscale.matmul %a, %b mma(<kind = mxf8f6f4, a = e4m3, b = e4m3, scale = ue8m0, block = 32>) : !decode, !weights -> tensor<16x576xbf16>
  return %0 : tensor<16x576xbf16>
}

// Who wants all of K in one CTA says so.
// CHECK-LABEL: func.func @whole
func.func @whole(%a: !decode, %b: !weights) -> tensor<16x576xbf16> {
  // CHECK: split_k = 1, dependent_launch = true>)
  %0 = blockscale.matmul %a, %b mma(<kind = mxf8f6f4, a = e4m3, b = e4m3, scale = ue8m0, block = 32>) schedule(#blockscale.schedule<split_k = 1>) : !decode, !weights -> tensor<16x576xbf16>
  return %0 : tensor<16x576xbf16>
}

// What the parts cost at the end is more than they save.
!short = !blockscale.tensor<16x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!short_weights = !blockscale.tensor<576x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
// CHECK-LABEL: func.func @short
func.func @short(%a: !short, %b: !short_weights) -> tensor<16x576xbf16> {
  // CHECK: schedule(#blockscale.schedule<
  // CHECK-NOT: split_k
  // CHECK-SAME: >)
  %0 = blockscale.matmul %a, %b mma(<kind = mxf8f6f4, a = e4m3, b = e4m3, scale = ue8m0, block = 32>) : !short, !short_weights -> tensor<16x576xbf16>
  return %0 : tensor<16x576xbf16>
}

// Tiles enough for all SMs.
!wide = !blockscale.tensor<18432x7168xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
// CHECK-LABEL: func.func @wide
func.func @wide(%a: !decode, %b: !wide) -> tensor<16x18432xbf16> {
  // CHECK: schedule(#blockscale.schedule<
  // CHECK-NOT: split_k
  // CHECK-SAME: >)
  %0 = blockscale.matmul %a, %b mma(<kind = mxf8f6f4, a = e4m3, b = e4m3, scale = ue8m0, block = 32>) : !decode, !wide -> tensor<16x18432xbf16>
  return %0 : tensor<16x18432xbf16>
}

// A K that only the host knows may be too short: it is split where one asks for it.
!open = !blockscale.tensor<16x?xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!open_weights = !blockscale.tensor<576x?xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
// CHECK-LABEL: func.func @open
func.func @open(%a: !open, %b: !open_weights) -> tensor<16x576xbf16> {
  // CHECK: schedule(#blockscale.schedule<
  // CHECK-NOT: split_k
  // CHECK-SAME: >)
  %0 = blockscale.matmul %a, %b mma(<kind = mxf8f6f4, a = e4m3, b = e4m3, scale = ue8m0, block = 32>) : !open, !open_weights -> tensor<16x576xbf16>
  return %0 : tensor<16x576xbf16>
}

// Rows that only the host knows count as 4096, or as what one expects.
!rows = !blockscale.tensor<?x7168xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
// CHECK-LABEL: func.func @rows
// FEW-LABEL: func.func @rows
func.func @rows(%a: !rows, %b: !weights) -> tensor<?x576xbf16> {
  // CHECK: schedule(#blockscale.schedule<
  // CHECK-NOT: split_k
  // CHECK-SAME: >)
  // FEW: split_k = 8, cluster_k = 8, dependent_launch = true>)
  %0 = blockscale.matmul %a, %b mma(<kind = mxf8f6f4, a = e4m3, b = e4m3, scale = ue8m0, block = 32>) : !rows, !weights -> tensor<?x576xbf16>
  return %0 : tensor<?x576xbf16>
}
