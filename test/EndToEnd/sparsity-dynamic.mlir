// Sizes that only the launch knows, in kernels that prune, compress and densify.

// REQUIRES: mlir
// RUN: blockscale verify %s --m=1,129 --k=128,320 --batch=3 | FileCheck %s

// CHECK-NOT: FAIL
// CHECK-COUNT-24: pass
// CHECK-NOT: {{FAIL|pass}}

// RUN: not blockscale verify %s --m=1 --k=40 --batch=1 2>&1 | FileCheck %s --check-prefix=RAGGED
// RAGGED: kernel 'prune' needs K % 16 == 0, but M is 1, K is 40, batch is 1

func.func @prune(%x: tensor<?x?x?xbf16>) -> tensor<?x?x?xbf16> {
  %0 = blockscale.prune %x keep 2 of 4 : tensor<?x?x?xbf16>
  return %0 : tensor<?x?x?xbf16>
}

!dense = !blockscale.tensor<?x?xf16>
!sparse = !blockscale.tensor<?x?xf16, "n2m4", layout = tiled_128x4>
func.func @compress(%a: !dense) -> !sparse {
  %0 = blockscale.compress %a : !dense to !sparse
  return %0 : !sparse
}

!dense_pairs = !blockscale.tensor<?x?x?xf4E2M1FN, "e8m0_t64", layout = tiled_128x4>
!sparse_pairs = !blockscale.tensor<?x?x?xf4E2M1FN, "e8m0_t32n4m8", layout = tiled_128x4>
func.func @densify(%a: !sparse_pairs) -> !dense_pairs {
  %0 = blockscale.densify %a : !sparse_pairs to !dense_pairs
  return %0 : !dense_pairs
}
