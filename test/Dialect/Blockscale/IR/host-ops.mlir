// RUN: blockscale-opt %s | blockscale-opt | FileCheck %s
// RUN: blockscale-opt %s --one-shot-bufferize="bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map" \
// RUN: | FileCheck %s --check-prefix=MEMORY

gpu.binary @kernels [#gpu.object<#nvvm.target<chip = "sm_100a">, properties = {blockscale.plan = "{}"}, assembly = "">]

// What D held before is not read, so that it needs no copy.
// CHECK-LABEL: @on_tensors
// CHECK: blockscale.launch_into @kernels::@f ["a_data", "alpha"] ins(%{{.*}}, %{{.*}} : tensor<?x64xf8E4M3FN>, f32) outs(%{{.*}} : tensor<?x32xf32>) -> tensor<?x32xf32>
// MEMORY-LABEL: @on_tensors
// MEMORY-SAME: %[[A:.*]]: memref<?x64xf8E4M3FN>, %[[S:.*]]: f32, %[[D:.*]]: memref<?x32xf32>
// MEMORY-NOT: memref.alloc
// MEMORY-NOT: memref.copy
// MEMORY: blockscale.launch_into @kernels::@f ["a_data", "alpha"] ins(%[[A]], %[[S]] : memref<?x64xf8E4M3FN>, f32) outs(%[[D]] : memref<?x32xf32>)
// MEMORY: return %[[D]]
func.func @on_tensors(%a: tensor<?x64xf8E4M3FN>, %s: f32, %d: tensor<?x32xf32>) -> tensor<?x32xf32> {
  %r = blockscale.launch_into @kernels::@f ["a_data", "alpha"] ins(%a, %s : tensor<?x64xf8E4M3FN>, f32) outs(%d : tensor<?x32xf32>) -> tensor<?x32xf32>
  return %r : tensor<?x32xf32>
}

// C may not be where D goes: tiles of D are written while others are computed.
// MEMORY-LABEL: @in_place
// MEMORY: memref.alloc
// MEMORY: blockscale.launch_into
func.func @in_place(%d: tensor<4x32xf32>) -> tensor<4x32xf32> {
  %r = blockscale.launch_into @kernels::@f ["c"] ins(%d : tensor<4x32xf32>) outs(%d : tensor<4x32xf32>) -> tensor<4x32xf32>
  return %r : tensor<4x32xf32>
}

// The parts of what a kernel quantises.
// CHECK-LABEL: @quantized
// CHECK: blockscale.launch_into @kernels::@f ["x"] ins(%{{.*}} : tensor<4x32xf32>) outs(%{{.*}}, %{{.*}} : tensor<4x32xf8E4M3FN>, tensor<1x1x32x16xf8E8M0FNU>) -> tensor<4x32xf8E4M3FN>, tensor<1x1x32x16xf8E8M0FNU>
// MEMORY-LABEL: @quantized
// MEMORY-SAME: %[[X:.*]]: memref<4x32xf32>, %[[D:.*]]: memref<4x32xf8E4M3FN>, %[[S:.*]]: memref<1x1x32x16xf8E8M0FNU>
// MEMORY-NOT: memref.copy
// MEMORY: blockscale.launch_into @kernels::@f ["x"] ins(%[[X]] : memref<4x32xf32>) outs(%[[D]], %[[S]] : memref<4x32xf8E4M3FN>, memref<1x1x32x16xf8E8M0FNU>)
// MEMORY: return %[[D]], %[[S]]
func.func @quantized(%x: tensor<4x32xf32>, %d: tensor<4x32xf8E4M3FN>, %s: tensor<1x1x32x16xf8E8M0FNU>) -> (tensor<4x32xf8E4M3FN>, tensor<1x1x32x16xf8E8M0FNU>) {
  %r:2 = blockscale.launch_into @kernels::@f ["x"] ins(%x : tensor<4x32xf32>) outs(%d, %s : tensor<4x32xf8E4M3FN>, tensor<1x1x32x16xf8E8M0FNU>) -> tensor<4x32xf8E4M3FN>, tensor<1x1x32x16xf8E8M0FNU>
  return %r#0, %r#1 : tensor<4x32xf8E4M3FN>, tensor<1x1x32x16xf8E8M0FNU>
}

// CHECK-LABEL: @on_memory
// CHECK: blockscale.launch_into @kernels::@f ["a_data"] ins(%{{.*}} : memref<4x64xf8E4M3FN, strided<[128, 1], offset: ?>>) outs(%{{.*}} : memref<4x32xf32>)
func.func @on_memory(%a: memref<4x64xf8E4M3FN, strided<[128, 1], offset: ?>>, %d: memref<4x32xf32>) {
  blockscale.launch_into @kernels::@f ["a_data"] ins(%a : memref<4x64xf8E4M3FN, strided<[128, 1], offset: ?>>) outs(%d : memref<4x32xf32>)
  return
}
