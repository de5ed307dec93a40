// Functions whose products quantise their results for the next product, on the
// emulator against everything on the CPU by linalg: one kernel does both, and its
// codes and scales stay on the device.

// REQUIRES: mlir
// RUN: blockscale verify --quantize-on-device %s -m 40,129 | FileCheck %s
// RUN: blockscale compile --emit=host-linalg --quantize-on-device %s | FileCheck %s --check-prefix=LAUNCHES
// RUN: blockscale compile --emit=host-memref --quantize-on-device %s -o %t.memref.mlir
// RUN: blockscale-opt %t.memref.mlir --convert-blockscale-to-runtime | FileCheck %s --check-prefix=CALLS
// RUN: blockscale compile --quantize-on-device --dispatch-rows=64 --emit=host-linalg %s -o /dev/null

// On the host's way, products and quantisations stay apart.
// RUN: blockscale compile --emit=host-linalg %s | FileCheck %s --check-prefix=HOST

// CHECK-NOT: FAIL
// CHECK-LABEL: function
// CHECK-DAG: mlp{{ +exact +40 +3 .*}}pass
// CHECK-DAG: mlp{{ +random +40 +3 .*}}pass
// CHECK-DAG: two_levels{{ +exact +40 +2 .*}}pass
// CHECK-DAG: batches {{.*}}pass
// CHECK-DAG: returned {{.*}}pass
// CHECK-DAG: loop {{.*}}pass
// CHECK-DAG: read {{.*}}pass
// CHECK-DAG: rows{{ +exact +- +1 .*}}pass
// CHECK-DAG: rows{{ +random +- +1 .*}}pass
// CHECK-DAG: blocks {{.*}}pass
// CHECK-NOT: FAIL

// HOST-NOT: d_scales

!x = !blockscale.tensor<?x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!u = !blockscale.tensor<192x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!h = !blockscale.tensor<?x192xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!v = !blockscale.tensor<40x192xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>

// LAUNCHES-LABEL: func.func @mlp
// LAUNCHES: launch_into {{.*}} ["x"]
// LAUNCHES: launch_into {{.*}} ["a_data", "a_scales", "b_data", "b_scales", "bias"]
// LAUNCHES-SAME: -> tensor<?x192xf8E4M3FN>, tensor<
// LAUNCHES: launch_into {{.*}} ["a_data", "a_scales", "b_data", "b_scales"]
// Results that only kernels read have no memory on the host.
// CALLS-LABEL: func.func @mlp
// CALLS-COUNT-4: llvm.call @blockscaleRuntimeAllocate
// CALLS-COUNT-3: llvm.call @blockscaleRuntimeRun
func.func @mlp(%x: tensor<?x128xbf16>, %u: !u, %v: !v, %bias: tensor<192xf32>) -> tensor<?x40xf32> {
  %q = blockscale.quantize %x : tensor<?x128xbf16> to !x
  %h = blockscale.matmul %q, %u bias(%bias) activation(relu) : !x, !u, tensor<192xf32> -> tensor<?x192xbf16>
  %p = blockscale.quantize %h rule(round_up) : tensor<?x192xbf16> to !h
  %d = blockscale.matmul %p, %v : !h, !v -> tensor<?x40xf32>
  return %d : tensor<?x40xf32>
}

!n = !blockscale.tensor<?x128xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!m = !blockscale.tensor<96x128xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!k = !blockscale.tensor<?x96xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!l = !blockscale.tensor<24x96xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>

// LAUNCHES-LABEL: func.func @two_levels
// LAUNCHES: launch_into {{.*}} "b_tensor_scale", "tensor_scale"]
// LAUNCHES-SAME: tensor<f32>
// LAUNCHES: launch_into {{.*}} "a_tensor_scale"
func.func @two_levels(%a: !n, %b: !m, %t: tensor<f32>, %c: !l) -> tensor<?x24xf32> {
  %h = blockscale.matmul %a, %b : !n, !m -> tensor<?x96xf32>
  %p = blockscale.quantize %h tensor_scale(%t : tensor<f32>) : tensor<?x96xf32> to !k
  %d = blockscale.matmul %p, %c : !k, !l -> tensor<?x24xf32>
  return %d : tensor<?x24xf32>
}

!ba = !blockscale.tensor<3x40x64xf6E2M3FN, "e8m0_t32", layout = tiled_128x4>
!bb = !blockscale.tensor<3x96x64xf6E3M2FN, "e8m0_t32", layout = tiled_128x4>
!bh = !blockscale.tensor<3x40x96xf6E3M2FN, "e8m0_t32", layout = tiled_128x4>
!bc = !blockscale.tensor<3x16x96xf8E5M2, "e8m0_t32", layout = tiled_128x4>

// LAUNCHES-LABEL: func.func @batches
// LAUNCHES: launch_into
// LAUNCHES-SAME: tensor<3x40x96xf6E3M2FN>, tensor<
func.func @batches(%a: !ba, %b: !bb, %c: !bc) -> tensor<3x40x16xf32> {
  %h = blockscale.matmul %a, %b : !ba, !bb -> tensor<3x40x96xf16>
  %p = blockscale.quantize %h rounding(stochastic, seed = 11) : tensor<3x40x96xf16> to !bh
  %d = blockscale.matmul %p, %c : !bh, !bc -> tensor<3x40x16xf32>
  return %d : tensor<3x40x16xf32>
}

!rh = !blockscale.tensor<?x192xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
// LAUNCHES-LABEL: func.func @returned
// LAUNCHES: launch_into
// LAUNCHES-SAME: tensor<?x192xf4E2M1FN>, tensor<
func.func @returned(%a: !x, %u: !u) -> !rh {
  %h = blockscale.matmul %a, %u : !x, !u -> tensor<?x192xf32>
  %p = blockscale.quantize %h : tensor<?x192xf32> to !rh
  return %p : !rh
}

!s = !blockscale.tensor<64x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!t = !blockscale.tensor<128x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
// LAUNCHES-LABEL: func.func @loop
// LAUNCHES: scf.for
// LAUNCHES: launch_into
// LAUNCHES-SAME: tensor<64x128xf8E4M3FN>, tensor<
func.func @loop(%x: !s, %w: !t, %n: index) -> !s {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%h = %x) -> !s {
    %y = blockscale.matmul %h, %w : !s, !t -> tensor<64x128xf32>
    %q = blockscale.quantize %y : tensor<64x128xf32> to !s
    scf.yield %q : !s
  }
  return %r : !s
}

// Sums that the host reads too stay sums.
// LAUNCHES-LABEL: func.func @read
// LAUNCHES: launch_into
// LAUNCHES-SAME: tensor<64x128xf32>
func.func @read(%x: !s, %w: !t) -> (!s, tensor<64x128xf32>) {
  %y = blockscale.matmul %x, %w : !s, !t -> tensor<64x128xf32>
  %q = blockscale.quantize %y : tensor<64x128xf32> to !s
  return %q, %y : !s, tensor<64x128xf32>
}

// Tiles of several rows or blocks, of which whole functions have a scale once and kernels
// store it for each row and block, stay the host's.
!rows = !blockscale.tensor<64x128xf8E4M3FN, "e8m0_t32_t32", layout = tiled_128x4>
// LAUNCHES-LABEL: func.func @rows
// LAUNCHES: launch_into
// LAUNCHES-SAME: tensor<64x128xbf16>
func.func @rows(%x: !s, %w: !t) -> !rows {
  %y = blockscale.matmul %x, %w : !s, !t -> tensor<64x128xbf16>
  %q = blockscale.quantize %y : tensor<64x128xbf16> to !rows
  return %q : !rows
}
!blocks = !blockscale.tensor<64x128xf8E4M3FN, "e8m0_t64", layout = tiled_128x4>
// LAUNCHES-LABEL: func.func @blocks
// LAUNCHES: launch_into
// LAUNCHES-SAME: tensor<64x128xf32>
func.func @blocks(%x: !s, %w: !t, %v: !s) -> tensor<64x64xf32> {
  %y = blockscale.matmul %x, %w : !s, !t -> tensor<64x128xf32>
  %q = blockscale.quantize %y : tensor<64x128xf32> to !blocks
  %d = blockscale.matmul %q, %v : !blocks, !s -> tensor<64x64xf32>
  return %d : tensor<64x64xf32>
}
