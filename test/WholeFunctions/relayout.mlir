// Orders and layouts that change between kernels, in one function: what is written stays on
// the device where lines have no padding. Scales and metadata that do not move are not read.

// REQUIRES: emulated-driver
// RUN: blockscale compile --emit=host-linalg --quantize-on-device %s | FileCheck %s --check-prefix=LAUNCHES
// RUN: blockscale compile --emit=host-llvm --quantize-on-device %s | FileCheck %s --check-prefix=DEVICE
// RUN: blockscale verify --quantize-on-device --m=40 %s | FileCheck %s

// CHECK-NOT: FAIL
// CHECK: {{^}}function
// CHECK: {{^}}turned exact {{.*}} pass
// CHECK: {{^}}rows exact 40 {{.*}} pass
// CHECK: {{^}}sparse exact 40 {{.*}} pass

// LAUNCHES-LABEL: func.func @turned
// LAUNCHES: launch_into {{.*}} ["x"]
// LAUNCHES: launch_into {{.*}} ["a_data"] {{.*}} {result_roles = ["d_data"]}
// LAUNCHES: launch_into {{.*}} ["a_data", "a_scales", "b_data", "b_scales"]
// LAUNCHES-LABEL: func.func @rows
// LAUNCHES: launch_into {{.*}} ["a_data", "a_scales"] {{.*}} {result_roles = ["d_data", "d_scales"]}
// LAUNCHES-LABEL: func.func @sparse
// LAUNCHES: launch_into {{.*}} ["a_data"] {{.*}} {result_roles = ["d_data", "d_metadata"]}
// LAUNCHES: launch_into {{.*}} ["a_data", "a_scales", "a_metadata"] {{.*}} {result_roles = ["d_data", "d_scales", "d_metadata"]}
// LAUNCHES-LABEL: gpu.module

// Codes, the same in the other order, and scales, which two kernels read.
// DEVICE-LABEL: func @turned
// DEVICE-COUNT-3: call @blockscaleRuntimeAllocate

!along = !blockscale.tensor<128x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!across = !blockscale.tensor<128x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4, order = mn_major>
!weights = !blockscale.tensor<64x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>

func.func @turned(%x: tensor<128x256xbf16>, %w: !weights) -> tensor<128x64xf32> {
  %q = blockscale.quantize %x : tensor<128x256xbf16> to !along
  %r = blockscale.relayout %q : !along to !across
  %y = blockscale.matmul %r, %w : !across, !weights -> tensor<128x64xf32>
  return %y : tensor<128x64xf32>
}

!tiled = !blockscale.tensor<?x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!lines = !blockscale.tensor<?x256xf8E4M3FN, "e8m0_t32", order = mn_major>

// What a product reads is another result in the other order and in rows.
func.func @rows(%x: tensor<?x256xbf16>, %w: !weights) -> (tensor<?x64xf32>, tensor<256x?xf8E4M3FN>, tensor<?x8xf8E8M0FNU>) {
  %q = blockscale.quantize %x : tensor<?x256xbf16> to !tiled
  %r = blockscale.relayout %q : !tiled to !lines
  %d, %e = blockscale.disassemble %r : !lines
  %y = blockscale.matmul %q, %w : !tiled, !weights -> tensor<?x64xf32>
  return %y, %d, %e : tensor<?x64xf32>, tensor<256x?xf8E4M3FN>, tensor<?x8xf8E8M0FNU>
}

!dense = !blockscale.tensor<?x256xf8E4M3FN, "e8m0_t64", layout = tiled_128x4>
!stored = !blockscale.tensor<?x256xf8E4M3FN, "e8m0_t32n2m4", layout = tiled_128x4>
!stored_lines = !blockscale.tensor<?x256xf8E4M3FN, "e8m0_t32n2m4", order = mn_major>
!long_weights = !blockscale.tensor<64x256xf8E4M3FN, "e8m0_t64", layout = tiled_128x4>

func.func @sparse(%x: tensor<?x256xbf16>, %w: !long_weights) -> (tensor<?x64xf32>, tensor<128x?xf8E4M3FN>, tensor<?x4xf8E8M0FNU>, tensor<?x32xi8>) {
  %p = blockscale.prune %x keep 2 of 4 : tensor<?x256xbf16>
  %q = blockscale.quantize %p : tensor<?x256xbf16> to !dense
  %s = blockscale.compress %q : !dense to !stored
  %r = blockscale.relayout %s : !stored to !stored_lines
  %d, %e, %m = blockscale.disassemble %r : !stored_lines
  %y = blockscale.matmul %s, %w : !stored, !long_weights -> tensor<?x64xf32>
  return %y, %d, %e, %m : tensor<?x64xf32>, tensor<128x?xf8E4M3FN>, tensor<?x4xf8E8M0FNU>, tensor<?x32xi8>
}
