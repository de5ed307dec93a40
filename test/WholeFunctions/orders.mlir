// What kernels do along K they do in whole functions for elements that lie along M, too:
// kernels of blockscale.relayout change the order before and behind.

// REQUIRES: emulated-driver
// RUN: blockscale compile --emit=host-linalg --quantize-on-device %s | FileCheck %s --check-prefix=LAUNCHES
// RUN: blockscale compile --emit=host-llvm --quantize-on-device %s | FileCheck %s --check-prefix=DEVICE
// RUN: blockscale verify --quantize-on-device --m=48 %s | FileCheck %s

// CHECK-NOT: FAIL
// CHECK: {{^}}function
// CHECK: {{^}}quantised exact - {{.*}} pass
// CHECK: {{^}}quantised random - {{.*}} pass
// CHECK: {{^}}pruned exact 48 {{.*}} pass
// CHECK: {{^}}pruned random 48 {{.*}} pass
// CHECK: {{^}}dense exact 48 {{.*}} pass
// CHECK: {{^}}result exact 48 {{.*}} pass

// LAUNCHES-LABEL: func.func @quantised
// LAUNCHES: launch_into {{.*}} ["x"]
// LAUNCHES: launch_into {{.*}} ["a_data"] {{.*}} {result_roles = ["d_data"]}
// LAUNCHES: launch_into {{.*}} ["a_data", "a_scales"] {{.*}} -> tensor<128x256xbf16>
// LAUNCHES: launch_into {{.*}} ["a_data", "a_scales", "b_data", "b_scales"]
// LAUNCHES-LABEL: func.func @pruned
// LAUNCHES: launch_into {{.*}} ["x"]
// LAUNCHES: launch_into {{.*}} ["a_data"] {{.*}} {result_roles = ["d_data"]}
// LAUNCHES: launch_into {{.*}} ["a_data"] {{.*}} {result_roles = ["d_data", "d_metadata"]}
// LAUNCHES: launch_into {{.*}} ["a_data"] {{.*}} {result_roles = ["d_data"]}
// LAUNCHES: launch_into {{.*}} ["a_data", "a_scales", "a_metadata", "b_data", "b_scales"]
// LAUNCHES-LABEL: func.func @dense
// LAUNCHES: launch_into {{.*}} ["a_data"] {{.*}} {result_roles = ["d_data"]}
// LAUNCHES: launch_into {{.*}} ["a_data", "a_scales", "a_metadata"] {{.*}} {result_roles = ["d_data", "d_scales"]}
// LAUNCHES: launch_into {{.*}} ["a_data"] {{.*}} {result_roles = ["d_data"]}
// LAUNCHES: launch_into {{.*}} ["a_data", "a_scales"] {{.*}} -> tensor<?x256xbf16>
// LAUNCHES: launch_into {{.*}} ["a_data", "a_scales", "b_data", "b_scales"]
// LAUNCHES-LABEL: func.func @result
// LAUNCHES: launch_into {{.*}} ["a_data", "a_scales", "b_data", "b_scales"] {{.*}} -> tensor<?x128xf8E4M3FN>, tensor
// LAUNCHES: launch_into {{.*}} ["a_data"] {{.*}} {result_roles = ["d_data"]}
// LAUNCHES-LABEL: func.func @between
// LAUNCHES: launch_into {{.*}} ["a_data"] {{.*}} {result_roles = ["d_data"]}
// LAUNCHES: launch_into {{.*}} ["a_data", "a_scales", "a_metadata"] {{.*}} {result_roles = ["d_data", "d_scales"]}
// LAUNCHES: launch_into {{.*}} ["a_data", "a_scales"] {{.*}} -> tensor<?x256xbf16>
// LAUNCHES-NOT: launch_into
// LAUNCHES-LABEL: func.func @host
// LAUNCHES-NOT: launch_into
// LAUNCHES-LABEL: gpu.module

// Codes in both orders and scales.
// DEVICE-LABEL: func @quantised
// DEVICE-COUNT-3: call @blockscaleRuntimeAllocate

!across = !blockscale.tensor<128x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4, order = mn_major>
!weights = !blockscale.tensor<64x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>

// The values are read along K again, where they were made, and nothing is turned for them.
func.func @quantised(%x: tensor<128x256xbf16>, %w: !weights) -> (tensor<128x256xbf16>, tensor<128x64xf32>) {
  %q = blockscale.quantize %x : tensor<128x256xbf16> to !across
  %v = blockscale.dequantize %q : !across to tensor<128x256xbf16>
  %y = blockscale.matmul %q, %w : !across, !weights -> tensor<128x64xf32>
  return %v, %y : tensor<128x256xbf16>, tensor<128x64xf32>
}

!dense = !blockscale.tensor<?x256xf8E4M3FN, "e8m0_t64", layout = tiled_128x4, order = mn_major>
!stored = !blockscale.tensor<?x256xf8E4M3FN, "e8m0_t32n2m4", layout = tiled_128x4, order = mn_major>
!long_weights = !blockscale.tensor<64x256xf8E4M3FN, "e8m0_t64", layout = tiled_128x4>

func.func @pruned(%x: tensor<?x256xbf16>, %w: !long_weights) -> tensor<?x64xf32> {
  %p = blockscale.prune %x keep 2 of 4 : tensor<?x256xbf16>
  %q = blockscale.quantize %p : tensor<?x256xbf16> to !dense
  %s = blockscale.compress %q : !dense to !stored
  %y = blockscale.matmul %s, %w : !stored, !long_weights -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

!finer = !blockscale.tensor<?x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4, order = mn_major>

// One of two kernels reads elements along K.
func.func @dense(%s: !stored, %w: !weights) -> (tensor<?x256xbf16>, tensor<?x64xf32>) {
  %d = blockscale.densify %s : !stored to !finer
  %v = blockscale.dequantize %d : !finer to tensor<?x256xbf16>
  %y = blockscale.matmul %d, %w : !finer, !weights -> tensor<?x64xf32>
  return %v, %y : tensor<?x256xbf16>, tensor<?x64xf32>
}

!a = !blockscale.tensor<?x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!b = !blockscale.tensor<128x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!next = !blockscale.tensor<?x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4, order = mn_major>

// The product itself quantises along K.
func.func @result(%x: !a, %w: !b) -> !next {
  %d = blockscale.matmul %x, %w : !a, !b -> tensor<?x128xbf16>
  %q = blockscale.quantize %d : tensor<?x128xbf16> to !next
  return %q : !next
}

// Between two kernels elements lie along K.
func.func @between(%s: !stored) -> tensor<?x256xbf16> {
  %d = blockscale.densify %s : !stored to !finer
  %v = blockscale.dequantize %d : !finer to tensor<?x256xbf16>
  return %v : tensor<?x256xbf16>
}

// No kernel makes or reads what is beside it.
func.func @host(%x: tensor<128x256xbf16>) -> !across {
  %a = math.absf %x : tensor<128x256xbf16>
  %q = blockscale.quantize %a : tensor<128x256xbf16> to !across
  return %q : !across
}
