// Rows of D of which the compiler knows that all elements are inside or none, or
// that the last ones never are: aligned and not, with what is added to them.

// REQUIRES: mlir
// RUN: blockscale verify %s --num-sms=4 | FileCheck %s
// RUN: blockscale verify %s --target=sm_120a --num-sms=4 | FileCheck %s
// CHECK-COUNT-6: {{ 0 +pass$}}

!a = !blockscale.tensor<256x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!b = !blockscale.tensor<512x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!few = !blockscale.tensor<3x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>

func.func @whole_tiles(%a: !a, %b: !b) -> tensor<256x512xbf16> {
  %d = blockscale.matmul %a, %b : !a, !b -> tensor<256x512xbf16>
  return %d : tensor<256x512xbf16>
}

// With the addend of each element, and one of each column.
func.func @addends(%a: !a, %b: !b, %c: tensor<256x512xf32>, %bias: tensor<512xf32>) -> tensor<256x512xf32> {
  %d = blockscale.matmul %a, %b c(%c) bias(%bias) : !a, !b, tensor<256x512xf32>, tensor<512xf32> -> tensor<256x512xf32>
  return %d : tensor<256x512xf32>
}

// Three rows in tiles of eight.
func.func @few_rows(%a: !few, %b: !b) -> tensor<3x512xf16> {
  %d = blockscale.matmul %a, %b : !few, !b -> tensor<3x512xf16>
  return %d : tensor<3x512xf16>
}
