// Kernels that prune and compress in front of a product, in one function: what they write
// stays on the device. So does what others quantise, change the layout of and dequantise.

// REQUIRES: emulated-driver
// RUN: blockscale compile --emit=host-linalg --quantize-on-device %s | FileCheck %s --check-prefix=LAUNCHES
// RUN: blockscale compile --emit=host-llvm --quantize-on-device %s | FileCheck %s --check-prefix=DEVICE
// RUN: blockscale verify --quantize-on-device --m=40 %s | FileCheck %s

// CHECK-NOT: FAIL
// CHECK: {{^}}function
// CHECK: {{^}}pruned_product exact 40 3 {{.*}} pass
// CHECK: {{^}}values exact 40 4 {{.*}} pass
// CHECK: {{^}}float_tiles exact 40 4 {{.*}} pass
// CHECK: {{^}}experts exact 40 3 {{.*}} pass

// LAUNCHES-LABEL: func.func @pruned_product
// LAUNCHES: launch_into {{.*}} ["x"]
// LAUNCHES: launch_into {{.*}} ["a_data"] {{.*}} {result_roles = ["d_data", "d_metadata"]}
// LAUNCHES: launch_into {{.*}} ["a_data", "a_metadata", "b_data"]
// LAUNCHES-LABEL: func.func @values
// LAUNCHES: launch_into {{.*}} ["x"]
// LAUNCHES: launch_into {{.*}} ["a_data", "a_scales"] {{.*}} {result_roles = ["d_scales"]}
// LAUNCHES: launch_into {{.*}} ["a_data", "a_scales"] {{.*}} -> tensor<?x256xbf16>
// LAUNCHES: launch_into {{.*}} ["a_data", "a_scales", "b_data", "b_scales"]
// LAUNCHES-LABEL: func.func @float_tiles
// LAUNCHES: launch_into {{.*}} ["x"]
// LAUNCHES: launch_into {{.*}} ["x"]
// LAUNCHES: launch_into {{.*}} ["a_data"] {{.*}} {result_roles = ["d_data", "d_metadata"]}
// LAUNCHES: launch_into {{.*}} ["a_data", "a_scales", "a_metadata", "b_data", "b_scales"]
// LAUNCHES-LABEL: func.func @experts
// LAUNCHES: launch_into {{.*}} ["x"]
// LAUNCHES: launch_into {{.*}} ["a_data"] {{.*}} {result_roles = ["d_data", "d_metadata"]}
// LAUNCHES: launch_into {{.*}} ["a_data", "b_data", "b_metadata", "offsets"]
// LAUNCHES-LABEL: func.func @alone
// LAUNCHES: launch_into {{.*}} ["a_data", "a_metadata"] {{.*}} {result_roles = ["d_data"]}
// LAUNCHES-LABEL: gpu.module

// Numbers, elements and metadata; codes, and scales in both layouts.
// DEVICE-LABEL: func @pruned_product
// DEVICE-COUNT-3: call @blockscaleRuntimeAllocate
// DEVICE-LABEL: func @values
// DEVICE-COUNT-3: call @blockscaleRuntimeAllocate

!dense = !blockscale.tensor<?x256xf16>
!sparse = !blockscale.tensor<?x256xf16, "n2m4", layout = tiled_128x4>
!weights = !blockscale.tensor<128x256xf16>

func.func @pruned_product(%x: tensor<?x256xf16>, %w: tensor<128x256xf16>) -> tensor<?x128xf32> {
  %p = blockscale.prune %x keep 2 of 4 : tensor<?x256xf16>
  %a = blockscale.assemble %p : tensor<?x256xf16> to !dense
  %s = blockscale.compress %a : !dense to !sparse
  %b = blockscale.assemble %w : tensor<128x256xf16> to !weights
  %y = blockscale.matmul %s, %b : !sparse, !weights -> tensor<?x128xf32>
  return %y : tensor<?x128xf32>
}

!tiled = !blockscale.tensor<?x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!plain = !blockscale.tensor<?x256xf8E4M3FN, "e8m0_t32">

!scaled = !blockscale.tensor<128x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>

// What a product is computed of, and how far that is off.
func.func @values(%x: tensor<?x256xbf16>, %w: !scaled) -> (tensor<?x256xbf16>, tensor<?x128xf32>) {
  %q = blockscale.quantize %x : tensor<?x256xbf16> to !tiled
  %r = blockscale.relayout %q : !tiled to !plain
  %v = blockscale.dequantize %r : !plain to tensor<?x256xbf16>
  %y = blockscale.matmul %q, %w : !tiled, !scaled -> tensor<?x128xf32>
  return %v, %y : tensor<?x256xbf16>, tensor<?x128xf32>
}

!plain_tiles = !blockscale.tensor<?x256xf8E4M3FN, "float32_t128">
!sparse_tiles = !blockscale.tensor<?x256xf8E4M3FN, "float32_t64n2m4", layout = tiled_128x4>
!square_tiles = !blockscale.tensor<128x256xf8E4M3FN, "float32_t128_t128">

// Scales of tiles stay as they are where metadata come to them.
func.func @float_tiles(%x: tensor<?x256xbf16>, %w: !square_tiles) -> tensor<?x128xf32> {
  %p = blockscale.prune %x keep 2 of 4 : tensor<?x256xbf16>
  %q = blockscale.quantize %p : tensor<?x256xbf16> to !plain_tiles
  %s = blockscale.compress %q : !plain_tiles to !sparse_tiles
  %y = blockscale.matmul %s, %w : !sparse_tiles, !square_tiles -> tensor<?x128xf32>
  return %y : tensor<?x128xf32>
}

!tokens = !blockscale.tensor<?x256xf16>
!dense_experts = !blockscale.tensor<3x128x256xf16>
!sparse_experts = !blockscale.tensor<3x128x256xf16, "n2m4", layout = tiled_128x4>

// The second operand may be the sparse one, of groups of rows too.
func.func @experts(%x: tensor<?x256xf16>, %w: tensor<3x128x256xf16>) -> tensor<?x128xf32> {
  %ends = arith.constant dense<[7, 7, 40]> : tensor<3xi32>
  %p = blockscale.prune %w keep 2 of 4 : tensor<3x128x256xf16>
  %b = blockscale.assemble %p : tensor<3x128x256xf16> to !dense_experts
  %s = blockscale.compress %b : !dense_experts to !sparse_experts
  %a = blockscale.assemble %x : tensor<?x256xf16> to !tokens
  %y = blockscale.matmul %a, %s groups(%ends : tensor<3xi32>) : !tokens, !sparse_experts -> tensor<?x128xf32>
  return %y : tensor<?x128xf32>
}

// A function that does nothing else.
func.func @alone(%a: !sparse) -> !dense {
  %0 = blockscale.densify %a : !sparse to !dense
  return %0 : !dense
}
