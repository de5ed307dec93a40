// Kernels that compress to metadata in rows and densify from them, with scales that stay in
// rows and such as are repeated, every pattern, sizes that only the launch knows.

// REQUIRES: mlir
// RUN: blockscale verify %s --m=1,129 --k=128,320 --batch=3 | FileCheck %s
// RUN: blockscale verify %s --m=129 --k=320 --batch=3 --target=sm_120a --seed=5 | FileCheck %s --check-prefix=ONE

// CHECK-NOT: FAIL
// CHECK-COUNT-24: pass
// CHECK-NOT: {{FAIL|pass}}
// ONE-NOT: FAIL
// ONE-COUNT-12: pass
// ONE-NOT: {{FAIL|pass}}

// RUN: blockscale verify %s --m=129 --k=320 --batch=3 --tiles=2 --data=random | FileCheck %s --check-prefix=SAMPLE
// SAMPLE-NOT: FAIL
// SAMPLE-COUNT-6: pass

!dense = !blockscale.tensor<2x133x192xf8E4M3FN, "e8m0_t64">
!sparse = !blockscale.tensor<2x133x192xf8E4M3FN, "e8m0_t32n2m4">
func.func @compress(%a: !dense) -> !sparse {
  %0 = blockscale.compress %a : !dense to !sparse
  return %0 : !sparse
}

!finer = !blockscale.tensor<2x133x192xf8E4M3FN, "e8m0_t32">
func.func @finer(%a: !sparse) -> !finer {
  %0 = blockscale.densify %a : !sparse to !finer
  return %0 : !finer
}

!pairs = !blockscale.tensor<37x192xf4E2M1FN, "e8m0_t64">
!sparse_pairs = !blockscale.tensor<37x192xf4E2M1FN, "e8m0_t32n4m8">
func.func @pairs(%a: !pairs) -> !sparse_pairs {
  %0 = blockscale.compress %a : !pairs to !sparse_pairs
  return %0 : !sparse_pairs
}

!wide = !blockscale.tensor<3x37x80xtf32>
!sparse_wide = !blockscale.tensor<3x37x80xtf32, "n1m2">
func.func @wide(%a: !sparse_wide) -> !wide {
  %0 = blockscale.densify %a : !sparse_wide to !wide
  return %0 : !wide
}

!any = !blockscale.tensor<?x?x?xbf16>
!sparse_any = !blockscale.tensor<?x?x?xbf16, "n2m4">
func.func @any(%a: !any) -> !sparse_any {
  %0 = blockscale.compress %a : !any to !sparse_any
  return %0 : !sparse_any
}
func.func @any_back(%a: !sparse_any) -> !any {
  %0 = blockscale.densify %a : !sparse_any to !any
  return %0 : !any
}
