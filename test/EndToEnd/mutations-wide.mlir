// Single edits of a kernel for sm_107a are noticed: of the code of K, the format and
// layout of scales, their second word, the upper bit of start addresses, the exclusive
// allocation of tensor memory.

// REQUIRES: mlir
// RUN: rm -rf %t && mkdir %t
// RUN: split-file %s %t
// RUN: blockscale compile %t/nvfp4.mlir --no-cubin -o %t
// RUN: %python %S/Inputs/mutate.py %t/nvfp4.mlir %t/nvfp4.ptx %t | FileCheck %s
// RUN: blockscale compile %t/shared.mlir --no-cubin -o %t
// RUN: %python %S/Inputs/mutate.py %t/shared.mlir %t/shared.ptx %t | FileCheck %s
// RUN: blockscale compile %t/packed.mlir --no-cubin -o %t
// RUN: %python %S/Inputs/mutate.py %t/packed.mlir %t/packed.ptx %t | FileCheck %s
// RUN: blockscale compile %t/rows.mlir --no-cubin -o %t
// RUN: %python %S/Inputs/mutate.py %t/rows.mlir %t/rows.ptx %t | FileCheck %s

// CHECK-NOT: missed:
// CHECK: missed 0 of {{[4-9][0-9]|1[0-9][0-9]}} edits, 0 equivalent

//--- nvfp4.mlir
// Two accumulators of 256 columns and the scales: 560 columns, exclusively.
!a = !blockscale.tensor<300x736xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!b = !blockscale.tensor<520x736xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @product(%a: !a, %b: !b) -> tensor<300x520xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 256, mma_k = 128, cta_group = 1, cluster_k = 1, swap_operands = false>) {blockscale.target = #blockscale.target<sm_107a>} : !a, !b -> tensor<300x520xf32>
  return %0 : tensor<300x520xf32>
}

//--- shared.mlir
// Two instructions that share B, and stages above 256 KiB of shared memory.
!a = !blockscale.tensor<700x2272xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!b = !blockscale.tensor<264x2272xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @product(%a: !a, %b: !b) -> tensor<700x264xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_m = 512, tile_n = 256, mma_k = 128, stages = 5, cta_group = 2, cluster_k = 1, swap_operands = false>) {blockscale.target = #blockscale.target<sm_107a>} : !a, !b -> tensor<700x264xf32>
  return %0 : tensor<700x264xf32>
}

//--- packed.mlir
// Packed elements of 4 bits beside bytes.
!a = !blockscale.tensor<300x352xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!b = !blockscale.tensor<264x352xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
func.func @product(%a: !a, %b: !b) -> tensor<300x264xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 256, mma_k = 64, cta_group = 1, cluster_k = 1, swap_operands = false>) {blockscale.target = #blockscale.target<sm_107a>} : !a, !b -> tensor<300x264xf32>
  return %0 : tensor<300x264xf32>
}

//--- rows.mlir
// Scales of A with one row to a lane.
!a = !blockscale.tensor<300x736xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x16>
!b = !blockscale.tensor<264x736xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @product(%a: !a, %b: !b) -> tensor<300x264xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 256, mma_k = 128, cta_group = 1, cluster_k = 1>) {blockscale.target = #blockscale.target<sm_107a>} : !a, !b -> tensor<300x264xf32>
  return %0 : tensor<300x264xf32>
}
