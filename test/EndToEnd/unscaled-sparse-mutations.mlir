// Every single edit of what is sparse in a correct kernel without scales is
// noticed: in f16 and tf32 the metadata of two instructions lie in a pair of
// columns, told apart by the selector; in i8 each instruction has a pair.

// REQUIRES: mlir
// RUN: rm -rf %t && split-file %s %t
// RUN: blockscale compile %t/f16.mlir --no-cubin -o %t
// RUN: %python %S/Inputs/mutate_sparse.py %t/f16.mlir %t/f16.ptx %t | FileCheck %s
// RUN: blockscale compile %t/tf32.mlir --no-cubin -o %t
// RUN: %python %S/Inputs/mutate_sparse.py %t/tf32.mlir %t/tf32.ptx %t | FileCheck %s
// RUN: blockscale compile %t/i8.mlir --no-cubin -o %t
// RUN: %python %S/Inputs/mutate_sparse.py %t/i8.mlir %t/i8.ptx %t | FileCheck %s

// CHECK-NOT: missed:
// CHECK: missed 0 of {{[2-9][0-9]}} edits

//--- f16.mlir
!a = !blockscale.tensor<300x256xf16, "n2m4", layout = tiled_128x4>
!b = !blockscale.tensor<128x256xf16>
func.func @product(%a: !a, %b: !b) -> tensor<300x128xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 128, cta_group = 1>) : !a, !b -> tensor<300x128xf32>
  return %0 : tensor<300x128xf32>
}
//--- tf32.mlir
!a = !blockscale.tensor<300x128xtf32, "n1m2", layout = tiled_128x4>
!b = !blockscale.tensor<128x128xtf32>
func.func @product(%a: !a, %b: !b) -> tensor<300x128xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 128, cta_group = 1>) : !a, !b -> tensor<300x128xf32>
  return %0 : tensor<300x128xf32>
}
//--- i8.mlir
!a = !blockscale.tensor<300x512xi8, "n2m4", layout = tiled_128x4>
!b = !blockscale.tensor<128x512xi8>
func.func @product(%a: !a, %b: !b) -> tensor<300x128xi32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 128, cta_group = 1>) : !a, !b -> tensor<300x128xi32>
  return %0 : tensor<300x128xi32>
}
