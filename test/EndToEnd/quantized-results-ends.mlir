// An epilogue that is rounded to bf16 before it is quantised: with these numbers an
// element of the kernel is one step of bf16 below the reference's, between two codes,
// which is legal by the epilogue's range, not by a bound around the rounded number.

// REQUIRES: mlir
// RUN: blockscale verify %s --quantize-on-device --data=random --conditions=harsh | FileCheck %s

// CHECK: {{^f +random +2x33x192x96 .* 0 +1? *0 +pass}}

!a = !blockscale.tensor<2x33x96xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
!b = !blockscale.tensor<2x192x96xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
!q = !blockscale.tensor<2x33x192xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @f(%a: !a, %b: !b) -> !q {
  %d = blockscale.matmul %a, %b activation(gelu) : !a, !b -> tensor<2x33x192xbf16>
  %q = blockscale.quantize %d : tensor<2x33x192xbf16> to !q
  return %q : !q
}
