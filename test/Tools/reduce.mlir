// A failing input becomes the least that still fails: here, what quantises.
// REQUIRES: mlir
// RUN: blockscale-reduce %s -reduction-tree='traversal-mode=0 test=%S/Inputs/wants_quantize.sh' | FileCheck %s

!q = !blockscale.tensor<128x512xf8E4M3FN, "e8m0_t32">

// CHECK-NOT: func.func @product
func.func @product(%a: !q, %b: !q) -> tensor<128x128xf32> {
  %d = blockscale.matmul %a, %b : !q, !q -> tensor<128x128xf32>
  return %d : tensor<128x128xf32>
}

// CHECK: func.func @quantizes
// CHECK: blockscale.quantize
func.func @quantizes(%x: tensor<128x512xf32>) -> !q {
  %q = blockscale.quantize %x : tensor<128x512xf32> to !q
  return %q : !q
}

// CHECK-NOT: func.func @other
func.func @other(%x: f32) -> f32 {
  %y = arith.addf %x, %x : f32
  return %y : f32
}
