// Functions that quantise a matrix and its transpose for two products, as a training step
// does: one kernel reads the matrix once and writes both, which stay on the device. On the
// emulator against everything on the CPU by linalg.

// REQUIRES: mlir
// RUN: blockscale verify --quantize-on-device %s | FileCheck %s
// RUN: blockscale verify %s | FileCheck %s --check-prefix=HOST
// RUN: blockscale compile --emit=host-linalg --quantize-on-device %s | FileCheck %s --check-prefix=LAUNCHES
// RUN: blockscale compile --emit=host-memref --quantize-on-device %s -o %t.memref.mlir
// RUN: blockscale-opt %t.memref.mlir --convert-blockscale-to-runtime | FileCheck %s --check-prefix=CALLS

// CHECK-NOT: FAIL
// CHECK-LABEL: function
// CHECK-DAG: step{{ +exact +- +3 .*}}pass
// CHECK-DAG: step{{ +random +- +3 .*}}pass
// CHECK-DAG: transpose_first{{ +exact +- +3 .*}}pass
// CHECK-DAG: found{{ +random +- +3 .*}}pass
// CHECK-DAG: floats{{ +exact +- +3 .*}}pass
// CHECK-DAG: returned{{ +exact +- +2 .*}}pass
// CHECK-DAG: two_scales{{ +exact +- +4 .*}}pass
// CHECK-DAG: tokens{{ +exact +- +3 .*}}pass
// CHECK-DAG: tokens{{ +random +- +3 .*}}pass
// CHECK-DAG: square{{ +exact +- +3 .*}}pass
// CHECK-NOT: FAIL

// HOST-NOT: FAIL
// HOST-LABEL: function
// HOST-DAG: step{{ +exact +- +2 .*}}pass
// HOST-DAG: two_scales{{ +exact +- +2 .*}}pass
// HOST-NOT: FAIL

!q = !blockscale.tensor<128x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!t = !blockscale.tensor<256x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!w = !blockscale.tensor<64x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!g = !blockscale.tensor<96x128xf8E5M2, "e8m0_t32", layout = tiled_128x4>

// LAUNCHES-LABEL: func.func @step
// LAUNCHES: %[[BOTH:.*]]:4 = blockscale.launch_into {{.*}} ["x"]
// LAUNCHES-SAME: result_roles = ["d_data", "d_scales", "transposed_data", "transposed_scales"]
// LAUNCHES: launch_into {{.*}} ins(%[[BOTH]]#0, %[[BOTH]]#1,
// LAUNCHES: launch_into {{.*}} ins(%[[BOTH]]#2, %[[BOTH]]#3,
// What only kernels read has no memory on the host.
// CALLS-LABEL: func.func @step
// CALLS-COUNT-4: llvm.call @blockscaleRuntimeAllocate
// CALLS-COUNT-3: llvm.call @blockscaleRuntimeRun
func.func @step(%x: tensor<128x256xbf16>, %w: !w, %g: !g) -> (tensor<128x64xf32>, tensor<256x96xf32>) {
  %q = blockscale.quantize %x : tensor<128x256xbf16> to !q
  %y = blockscale.matmul %q, %w : !q, !w -> tensor<128x64xf32>
  %e = tensor.empty() : tensor<256x128xbf16>
  %xt = linalg.transpose ins(%x : tensor<128x256xbf16>) outs(%e : tensor<256x128xbf16>) permutation = [1, 0]
  %t = blockscale.quantize %xt rule(round_up) : tensor<256x128xbf16> to !t
  %z = blockscale.matmul %t, %g : !t, !g -> tensor<256x96xf32>
  return %y, %z : tensor<128x64xf32>, tensor<256x96xf32>
}

// LAUNCHES-LABEL: func.func @transpose_first
// LAUNCHES: %[[FIRST:.*]]:4 = blockscale.launch_into {{.*}} ["x"]
// LAUNCHES: launch_into {{.*}} ins(%[[FIRST]]#2, %[[FIRST]]#3,
// LAUNCHES: launch_into {{.*}} ins(%[[FIRST]]#0, %[[FIRST]]#1,
func.func @transpose_first(%x: tensor<128x256xbf16>, %w: !w, %g: !g) -> (tensor<128x64xf32>, tensor<256x96xf32>) {
  %e = tensor.empty() : tensor<256x128xbf16>
  %xt = linalg.transpose ins(%x : tensor<128x256xbf16>) outs(%e : tensor<256x128xbf16>) permutation = [1, 0]
  %t = blockscale.quantize %xt rounding(stochastic, seed = 3) : tensor<256x128xbf16> to !t
  %z = blockscale.matmul %t, %g : !t, !g -> tensor<256x96xf32>
  %q = blockscale.quantize %x : tensor<128x256xbf16> to !q
  %y = blockscale.matmul %q, %w : !q, !w -> tensor<128x64xf32>
  return %y, %z : tensor<128x64xf32>, tensor<256x96xf32>
}

!nq = !blockscale.tensor<128x256xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!nt = !blockscale.tensor<256x128xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!nw = !blockscale.tensor<64x256xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!ng = !blockscale.tensor<96x128xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>

// The kernel finds the tensor scale of both.
// LAUNCHES-LABEL: func.func @found
// LAUNCHES: %[[FOUND:.*]]:6 = blockscale.launch_into {{.*}} ["x"]
// LAUNCHES: launch_into {{.*}} ins(%[[FOUND]]#0, %[[FOUND]]#1, %[[FOUND]]#2,
// LAUNCHES: launch_into {{.*}} ins(%[[FOUND]]#3, %[[FOUND]]#4, %[[FOUND]]#5,
func.func @found(%x: tensor<128x256xf32>, %w: !nw, %g: !ng) -> (tensor<128x64xf32>, tensor<256x96xf32>) {
  %e = tensor.empty() : tensor<256x128xf32>
  %xt = linalg.transpose ins(%x : tensor<128x256xf32>) outs(%e : tensor<256x128xf32>) permutation = [1, 0]
  %q = blockscale.quantize %x : tensor<128x256xf32> to !nq
  %t = blockscale.quantize %xt : tensor<256x128xf32> to !nt
  %y = blockscale.matmul %q, %w : !nq, !nw -> tensor<128x64xf32>
  %z = blockscale.matmul %t, %g : !nt, !ng -> tensor<256x96xf32>
  return %y, %z : tensor<128x64xf32>, tensor<256x96xf32>
}

!fq = !blockscale.tensor<128x256xf8E4M3FN, "float32_t128">
!ft = !blockscale.tensor<256x128xf8E4M3FN, "float32_t128">
!fw = !blockscale.tensor<64x256xf8E4M3FN, "float32_t128_t128">
!fg = !blockscale.tensor<96x128xf8E4M3FN, "float32_t128_t128">

// LAUNCHES-LABEL: func.func @floats
// LAUNCHES: %[[FLOATS:.*]]:4 = blockscale.launch_into {{.*}} ["x"]
// LAUNCHES: launch_into {{.*}} ins(%[[FLOATS]]#0, %[[FLOATS]]#1,
// LAUNCHES: launch_into {{.*}} ins(%[[FLOATS]]#2, %[[FLOATS]]#3,
func.func @floats(%x: tensor<128x256xbf16>, %w: !fw, %g: !fg) -> (tensor<128x64xbf16>, tensor<256x96xbf16>) {
  %e = tensor.empty() : tensor<256x128xbf16>
  %xt = linalg.transpose ins(%x : tensor<128x256xbf16>) outs(%e : tensor<256x128xbf16>) permutation = [1, 0]
  %q = blockscale.quantize %x : tensor<128x256xbf16> to !fq
  %t = blockscale.quantize %xt : tensor<256x128xbf16> to !ft
  %y = blockscale.matmul %q, %w : !fq, !fw -> tensor<128x64xbf16>
  %z = blockscale.matmul %t, %g : !ft, !fg -> tensor<256x96xbf16>
  return %y, %z : tensor<128x64xbf16>, tensor<256x96xbf16>
}

// What the host reads as well is the host's.
// LAUNCHES-LABEL: func.func @returned
// LAUNCHES-COUNT-2: launch_into {{.*}} ["a_data",
func.func @returned(%x: tensor<128x256xbf16>, %w: !w, %g: !g) -> (tensor<128x64xf32>, tensor<256x96xf32>, !t, !q) {
  %e = tensor.empty() : tensor<256x128xbf16>
  %xt = linalg.transpose ins(%x : tensor<128x256xbf16>) outs(%e : tensor<256x128xbf16>) permutation = [1, 0]
  %q = blockscale.quantize %x : tensor<128x256xbf16> to !q
  %t = blockscale.quantize %xt : tensor<256x128xbf16> to !t
  %y = blockscale.matmul %q, %w : !q, !w -> tensor<128x64xf32>
  %z = blockscale.matmul %t, %g : !t, !g -> tensor<256x96xf32>
  return %y, %z, %t, %q : tensor<128x64xf32>, tensor<256x96xf32>, !t, !q
}

// A kernel for both has one tensor scale: two take two.
// LAUNCHES-LABEL: func.func @two_scales
// LAUNCHES-COUNT-2: launch_into {{.*}} ["x", "tensor_scale"]
func.func @two_scales(%x: tensor<128x256xbf16>, %s: tensor<f32>, %r: tensor<f32>, %w: !nw, %g: !ng) -> (tensor<128x64xf32>, tensor<256x96xf32>) {
  %e = tensor.empty() : tensor<256x128xbf16>
  %xt = linalg.transpose ins(%x : tensor<128x256xbf16>) outs(%e : tensor<256x128xbf16>) permutation = [1, 0]
  %q = blockscale.quantize %x tensor_scale(%s : tensor<f32>) : tensor<128x256xbf16> to !nq
  %t = blockscale.quantize %xt tensor_scale(%r : tensor<f32>) : tensor<256x128xbf16> to !nt
  %y = blockscale.matmul %q, %w : !nq, !nw -> tensor<128x64xf32>
  %z = blockscale.matmul %t, %g : !nt, !ng -> tensor<256x96xf32>
  return %y, %z : tensor<128x64xf32>, tensor<256x96xf32>
}

// Results of the same types have memory of their own.
!s = !blockscale.tensor<128x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!sw = !blockscale.tensor<64x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @square(%x: tensor<128x128xbf16>, %w: !sw) -> (tensor<128x64xf32>, tensor<128x64xf32>) {
  %e = tensor.empty() : tensor<128x128xbf16>
  %xt = linalg.transpose ins(%x : tensor<128x128xbf16>) outs(%e : tensor<128x128xbf16>) permutation = [1, 0]
  %q = blockscale.quantize %x : tensor<128x128xbf16> to !s
  %t = blockscale.quantize %xt rule(round_up) : tensor<128x128xbf16> to !s
  %y = blockscale.matmul %q, %w : !s, !sw -> tensor<128x64xf32>
  %z = blockscale.matmul %t, %w : !s, !sw -> tensor<128x64xf32>
  return %y, %z : tensor<128x64xf32>, tensor<128x64xf32>
}

// A function that does nothing else returns what the kernel made.
// LAUNCHES-LABEL: func.func @nothing_else
// LAUNCHES: %[[PARTS:.*]]:4 = blockscale.launch_into {{.*}} ["x"]
// LAUNCHES: return %[[PARTS]]#0, %[[PARTS]]#1, %[[PARTS]]#2, %[[PARTS]]#3
func.func @nothing_else(%x: tensor<128x256xbf16>) -> (!q, !t) {
  %e = tensor.empty() : tensor<256x128xbf16>
  %xt = linalg.transpose ins(%x : tensor<128x256xbf16>) outs(%e : tensor<256x128xbf16>) permutation = [1, 0]
  %q = blockscale.quantize %x : tensor<128x256xbf16> to !q
  %t = blockscale.quantize %xt : tensor<256x128xbf16> to !t
  return %q, %t : !q, !t
}

// A scale for each row, and for each column.
!rows = !blockscale.tensor<64x128xf8E4M3FN, "float32_t0">
!columns = !blockscale.tensor<128x64xf8E4M3FN, "float32_t0">
!row_w = !blockscale.tensor<96x128xf8E4M3FN, "float32_t0">
!row_g = !blockscale.tensor<32x64xf8E5M2, "float32_t0">
func.func @tokens(%x: tensor<64x128xbf16>, %w: !row_w, %g: !row_g) -> (tensor<64x96xf32>, tensor<32x128xf32>) {
  %e = tensor.empty() : tensor<128x64xbf16>
  %t = linalg.transpose ins(%x : tensor<64x128xbf16>) outs(%e : tensor<128x64xbf16>) permutation = [1, 0]
  %q = blockscale.quantize %x : tensor<64x128xbf16> to !rows
  %qt = blockscale.quantize %t : tensor<128x64xbf16> to !columns
  %0 = blockscale.matmul %q, %w : !rows, !row_w -> tensor<64x96xf32>
  %1 = blockscale.matmul %g, %qt : !row_g, !columns -> tensor<32x128xf32>
  return %0, %1 : tensor<64x96xf32>, tensor<32x128xf32>
}
