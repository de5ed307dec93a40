// Of a sparse A a byte of metadata describes whole groups of one row: K is a
// multiple of its elements, but need be none of a block of scales. The plan says
// so, and launcher, verify and emulate hold to it.

// REQUIRES: mlir
// RUN: blockscale verify %s --target=sm_100a -m 40 -k 16,48,176 --num-sms=2 \
// RUN: | FileCheck %s --implicit-check-not=FAIL
// RUN: blockscale verify %s --target=sm_120a -m 40 -k 16,48,176 --num-sms=2 \
// RUN: | FileCheck %s --implicit-check-not=FAIL
// CHECK-COUNT-12: pass

// RUN: not blockscale verify %s -m 40 -k 20 2>&1 | FileCheck %s --check-prefix=REFUSED
// REFUSED: kernel 'mxf8' needs K % 8 == 0, but M is 40, K is 20

// RUN: blockscale compile %s --no-cubin --emit=launcher -o - \
// RUN: | FileCheck %s --check-prefix=LAUNCHER
// LAUNCHER: if (!(K % 8 == 0))
// LAUNCHER-NEXT: return CUDA_ERROR_INVALID_VALUE;
// LAUNCHER: if (!(K % 16 == 0))

!a8 = !blockscale.tensor<?x?xf8E4M3FN, "e8m0_t32n2m4", layout = tiled_128x4>
!b8 = !blockscale.tensor<24x?xf8E4M3FN, "e8m0_t64", layout = tiled_128x4>
!a4 = !blockscale.tensor<?x?xf4E2M1FN, "e4m3fn_t16n4m8", layout = tiled_128x4>
!b4 = !blockscale.tensor<24x?xf4E2M1FN, "e4m3fn_t32", layout = tiled_128x4>

func.func @mxf8(%a: !a8, %b: !b8) -> tensor<?x24xf32> {
  %d = blockscale.matmul %a, %b : !a8, !b8 -> tensor<?x24xf32>
  return %d : tensor<?x24xf32>
}
func.func @nvf4(%a: !a4, %b: !b4) -> tensor<?x24xf32> {
  %d = blockscale.matmul %a, %b : !a4, !b4 -> tensor<?x24xf32>
  return %d : tensor<?x24xf32>
}
