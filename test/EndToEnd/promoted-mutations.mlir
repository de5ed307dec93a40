// Every single edit of how an epilogue adds up blocks of K under scales of their
// own is noticed: the scales of the next block or row, a sum without its factor or
// without those before it, a block that is left out. Tiles have all of their rows, or of
// their columns if these have the scales, so that no scale is one that nobody needs.

// REQUIRES: mlir
// RUN: rm -rf %t && split-file %s %t
// RUN: blockscale compile %t/blocks.mlir --no-cubin -o %t
// RUN: %python %S/Inputs/mutate_promoted.py %t/blocks.mlir %t/blocks.ptx %t 5 | FileCheck %s
// RUN: blockscale compile %t/rows.mlir --no-cubin -o %t
// RUN: %python %S/Inputs/mutate_promoted.py %t/rows.mlir %t/rows.ptx %t 5 | FileCheck %s
// RUN: blockscale compile %t/groups.mlir --no-cubin -o %t
// RUN: %python %S/Inputs/mutate_promoted.py %t/groups.mlir %t/groups.ptx %t 5 --m=400 | FileCheck %s
// RUN: blockscale compile %t/along-k.mlir --no-cubin -o %t
// RUN: %python %S/Inputs/mutate_promoted.py %t/along-k.mlir %t/along-k.ptx %t 42 --k=5376 --seed=3 --conditions=plain | FileCheck %s

// RUN: blockscale compile %t/short.mlir --no-cubin -o %t
// RUN: %python %S/Inputs/mutate_promoted.py %t/short.mlir %t/short.ptx %t 7 | FileCheck %s
// RUN: blockscale compile %t/bytes.mlir --no-cubin -o %t
// RUN: %python %S/Inputs/mutate_promoted.py %t/bytes.mlir %t/bytes.ptx %t 7 | FileCheck %s
// RUN: blockscale compile %t/narrow.mlir --no-cubin -o %t
// RUN: %python %S/Inputs/mutate_promoted.py %t/narrow.mlir %t/narrow.ptx %t 7 | FileCheck %s
// RUN: blockscale compile %t/decoded.mlir --no-cubin -o %t
// RUN: %python %S/Inputs/mutate_promoted.py %t/decoded.mlir %t/decoded.ptx %t 7 | FileCheck %s
// RUN: blockscale compile %t/windows.mlir --no-cubin -o %t
// RUN: %python %S/Inputs/mutate_promoted.py %t/windows.mlir %t/windows.ptx %t 35 | FileCheck %s
// RUN: blockscale compile %t/warp.mlir --target=sm_120a --no-cubin -o %t
// RUN: %python %S/Inputs/mutate_promoted.py %t/warp.mlir %t/warp.ptx %t 3 --target=sm_120a | FileCheck %s
// RUN: blockscale compile %t/warp-short.mlir --target=sm_120a --no-cubin -o %t
// RUN: %python %S/Inputs/mutate_promoted.py %t/warp-short.mlir %t/warp-short.ptx %t 11 --target=sm_120a | FileCheck %s

// RUN: blockscale compile %t/sparse.mlir --no-cubin -o %t
// RUN: %python %S/Inputs/mutate_promoted.py %t/sparse.mlir %t/sparse.ptx %t 7 | FileCheck %s
// RUN: blockscale compile %t/sparse-scales.mlir --no-cubin -o %t
// RUN: %python %S/Inputs/mutate_promoted.py %t/sparse-scales.mlir %t/sparse-scales.ptx %t 5 | FileCheck %s
// RUN: blockscale compile %t/beside.mlir --no-cubin -o %t
// RUN: %python %S/Inputs/mutate_promoted.py %t/beside.mlir %t/beside.ptx %t 5 | FileCheck %s

// CHECK-NOT: missed:
// CHECK: missed 0 of {{[2-9][0-9]|1[0-9][0-9]}} edits

//--- blocks.mlir
!a = !blockscale.tensor<2x150x640xf8E4M3FN, "float32_t128">
!b = !blockscale.tensor<2x264x640xf8E4M3FN, "float32_t128_t128">
func.func @product(%a: !a, %b: !b) -> tensor<2x150x264xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = false, cta_group = 1>) : !a, !b -> tensor<2x150x264xf32>
  return %0 : tensor<2x150x264xf32>
}
//--- rows.mlir
!a = !blockscale.tensor<2x130x640xf8E4M3FN, "float32_t128">
!b = !blockscale.tensor<2x216x640xf8E4M3FN, "float32_t8_t128">
func.func @product(%a: !a, %b: !b) -> tensor<2x130x216xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = false, tile_n = 32, cta_group = 1>) : !a, !b -> tensor<2x130x216xf32>
  return %0 : tensor<2x130x216xf32>
}
//--- groups.mlir
!a = !blockscale.tensor<?x640xf8E4M3FN, "float32_t128">
!b = !blockscale.tensor<3x264x640xf8E4M3FN, "float32_t128_t128">
func.func @product(%a: !a, %b: !b, %ends: tensor<3xi32>) -> tensor<?x264xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<3xi32>) schedule(#blockscale.schedule<swap_operands = false, cta_group = 1>) : !a, !b -> tensor<?x264xf32>
  return %0 : tensor<?x264xf32>
}
//--- along-k.mlir
!a = !blockscale.tensor<150x?xf8E4M3FN, "float32_t128">
!b = !blockscale.tensor<136x?xf8E4M3FN, "float32_t128_t128">
func.func @product(%a: !a, %b: !b, %ends: tensor<5xi32>) -> tensor<5x150x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<5xi32>) schedule(#blockscale.schedule<swap_operands = false, tile_n = 64, cta_group = 1>) : !a, !b -> tensor<5x150x136xf32>
  return %0 : tensor<5x150x136xf32>
}
//--- short.mlir
!a = !blockscale.tensor<130x224xf8E4M3FN, "float32_t32">
!b = !blockscale.tensor<72x224xi4, "bfloat16_t32">
func.func @product(%a: !a, %b: !b) -> tensor<130x72xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = false, tile_n = 32, cta_group = 1>) : !a, !b -> tensor<130x72xf32>
  return %0 : tensor<130x72xf32>
}
//--- windows.mlir
!a = !blockscale.tensor<130x1120xf8E4M3FN, "float32_t32">
!b = !blockscale.tensor<72x1120xf8E4M3FN, "float32_t128_t32">
func.func @product(%a: !a, %b: !b) -> tensor<130x72xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = false, tile_n = 32, cta_group = 1>) : !a, !b -> tensor<130x72xf32>
  return %0 : tensor<130x72xf32>
}
//--- bytes.mlir
!a = !blockscale.tensor<130x224xf8E4M3FN, "e4m3fn_t32">
!b = !blockscale.tensor<88x224xf6E2M3FN, "e5m3fn_t8_t32">
func.func @product(%a: !a, %b: !b) -> tensor<130x88xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = false, tile_n = 32, cta_group = 1>) : !a, !b -> tensor<130x88xf32>
  return %0 : tensor<130x88xf32>
}
//--- narrow.mlir
!a = !blockscale.tensor<130x224xf4E2M1FN, "e5m3fn_t32">
!b = !blockscale.tensor<88x224xf4E2M1FN, "multi_float32_e5m3fn_t8_t32">
func.func @product(%a: !a, %b: !b) -> tensor<130x88xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = false, tile_n = 32, cta_group = 1>) : !a, !b -> tensor<130x88xf32>
  return %0 : tensor<130x88xf32>
}
//--- decoded.mlir
!a = !blockscale.tensor<130x224xf8E4M3FN, "e4m3b8fnuz_t32">
!b = !blockscale.tensor<88x224xf6E2M3FN, "e3m4_t8_t32">
func.func @product(%a: !a, %b: !b) -> tensor<130x88xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = false, tile_n = 32, cta_group = 1>) : !a, !b -> tensor<130x88xf32>
  return %0 : tensor<130x88xf32>
}
//--- warp.mlir
!a = !blockscale.tensor<130x384xf8E4M3FN, "float32_t128">
!b = !blockscale.tensor<136x384xf8E4M3FN, "float32_t128_t128">
func.func @product(%a: !a, %b: !b) -> tensor<130x136xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = false, tile_n = 32, stages = 2>) : !a, !b -> tensor<130x136xf32>
  return %0 : tensor<130x136xf32>
}
//--- warp-short.mlir
!a = !blockscale.tensor<130x352xf8E4M3FN, "float32_t32">
!b = !blockscale.tensor<72x352xi4, "float32_t32">
func.func @product(%a: !a, %b: !b) -> tensor<130x72xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = false, tile_n = 16, stages = 2>) : !a, !b -> tensor<130x72xf32>
  return %0 : tensor<130x72xf32>
}
//--- sparse.mlir
!a = !blockscale.tensor<130x640xf8E4M3FN, "n2m4", layout = tiled_128x4>
!b = !blockscale.tensor<64x640xf8E4M3FN, "float32_t4_t128">
func.func @product(%a: !a, %b: !b) -> tensor<130x64xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 32, cta_group = 1>) : !a, !b -> tensor<130x64xf32>
  return %0 : tensor<130x64xf32>
}
//--- sparse-scales.mlir
!a = !blockscale.tensor<130x640xf8E4M3FN, "float32_t64n2m4", layout = tiled_128x4>
!b = !blockscale.tensor<40x640xf8E4M3FN>
func.func @product(%a: !a, %b: !b) -> tensor<130x40xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 32, cta_group = 1>) : !a, !b -> tensor<130x40xf32>
  return %0 : tensor<130x40xf32>
}
//--- beside.mlir
!a = !blockscale.tensor<130x640xf8E4M3FN, "float32_t128">
!b = !blockscale.tensor<72x640xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
func.func @product(%a: !a, %b: !b) -> tensor<130x72xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = false, tile_n = 64, cta_group = 1>) : !a, !b -> tensor<130x72xf32>
  return %0 : tensor<130x72xf32>
}
