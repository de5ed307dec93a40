// Every single edit of what an epilogue does with scales that cover all of K is
// noticed: the scale of another row, a factor that is none, groups of another
// size; the same in registers of warps, and of another group along K.

// REQUIRES: mlir
// RUN: rm -rf %t && split-file %s %t
// RUN: blockscale compile %t/groups.mlir --no-cubin -o %t
// RUN: %python %S/Inputs/mutate_scales.py %t/groups.mlir %t/groups.ptx %t | FileCheck %s
// RUN: blockscale compile %t/swapped.mlir --no-cubin -o %t
// RUN: %python %S/Inputs/mutate_scales.py %t/swapped.mlir %t/swapped.ptx %t | FileCheck %s
// RUN: blockscale compile %t/warp.mlir --no-cubin -o %t
// RUN: %python %S/Inputs/mutate_scales.py %t/warp.mlir %t/warp.ptx %t | FileCheck %s
// RUN: blockscale compile %t/groups_along_k.mlir --no-cubin -o %t
// RUN: %python %S/Inputs/mutate_scales.py %t/groups_along_k.mlir %t/groups_along_k.ptx %t --k=480 | FileCheck %s

// CHECK-NOT: missed:
// CHECK: missed 0 of {{[2-9][0-9]|1[0-9][0-9]}} edits

//--- groups.mlir
!a = !blockscale.tensor<2x150x96xf8E4M3FN, "e8m0_t8_t0">
!b = !blockscale.tensor<2x64x96xf8E4M3FN, "float32_t4_t0">
func.func @product(%a: !a, %b: !b) -> tensor<2x150x64xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = false>) : !a, !b -> tensor<2x150x64xf32>
  return %0 : tensor<2x150x64xf32>
}
//--- swapped.mlir
!a = !blockscale.tensor<64x96xf8E4M3FN, "float16_t0">
!b = !blockscale.tensor<150x96xf8E4M3FN, "bfloat16_t16_t0">
func.func @product(%a: !a, %b: !b) -> tensor<64x150xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = true>) : !a, !b -> tensor<64x150xf32>
  return %0 : tensor<64x150xf32>
}
//--- warp.mlir
!a = !blockscale.tensor<128x96xf8E4M3FN, "float32_t0">
!b = !blockscale.tensor<32x96xf8E4M3FN, "float32_t4_t0">
module attributes {blockscale.target = #blockscale.target<sm_120a>} {
  func.func @product(%a: !a, %b: !b) -> tensor<128x32xf32> {
    %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 32, swap_operands = false>) : !a, !b -> tensor<128x32xf32>
    return %0 : tensor<128x32xf32>
  }
}
//--- groups_along_k.mlir
!a = !blockscale.tensor<150x?xf8E4M3FN, "float32_t0", layout = grouped>
!b = !blockscale.tensor<64x?xf8E4M3FN, "float32_t4_t0", layout = grouped>
func.func @groups_along_k(%a: !a, %b: !b, %ends: tensor<3xi32>) -> tensor<3x150x64xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<3xi32>) schedule(#blockscale.schedule<swap_operands = false>) : !a, !b -> tensor<3x150x64xf32>
  return %0 : tensor<3x150x64xf32>
}
