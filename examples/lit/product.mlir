// The kind and the tile that a product gets, its kernel on the emulator, and a
// mistake that the verifier names.
//
// RUN: blockscale compile %s --emit=tensor | FileCheck %s
// RUN: blockscale verify %s --m=40 | FileCheck %s --check-prefix=RIGHT
// RUN: not blockscale compile %s --target=sm_90 2>&1 | FileCheck %s --check-prefix=CHIP

!x = !blockscale.tensor<?x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!w = !blockscale.tensor<256x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>

// CHECK: blockscale.matmul
// CHECK-SAME: kind = mxf8f6f4
// CHECK-SAME: tile_k = 128
// RIGHT: project exact{{.*}}pass
// CHIP: unknown target 'sm_90'
func.func @project(%x: !x, %w: !w) -> tensor<?x256xbf16> {
  %y = blockscale.matmul %x, %w : !x, !w -> tensor<?x256xbf16>
  return %y : tensor<?x256xbf16>
}
