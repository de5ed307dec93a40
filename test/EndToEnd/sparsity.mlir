// Kernels that prune, compress and densify, byte by byte: every width of an element,
// groups of every size, both kinds of units, rows and bytes of metadata that are padding,
// matrices in batches, scales that are repeated for shorter tiles of dense elements.

// REQUIRES: mlir
// RUN: blockscale verify %s | FileCheck %s
// RUN: blockscale verify %s --target=sm_120a --seed=5 | FileCheck %s

// CHECK-NOT: FAIL
// CHECK-COUNT-54: pass
// CHECK-NOT: {{FAIL|pass}}

// RUN: blockscale verify %s --tiles=2 --data=random | FileCheck %s --check-prefix=SAMPLE
// SAMPLE-NOT: FAIL
// SAMPLE-COUNT-27: pass

func.func @prune(%x: tensor<2x37x96xbf16>) -> tensor<2x37x96xbf16> {
  %0 = blockscale.prune %x keep 2 of 4 : tensor<2x37x96xbf16>
  return %0 : tensor<2x37x96xbf16>
}
func.func @prune_f16(%x: tensor<133x48xf16>) -> tensor<133x48xf16> {
  %0 = blockscale.prune %x keep 3 of 8 : tensor<133x48xf16>
  return %0 : tensor<133x48xf16>
}
func.func @prune_f32(%x: tensor<133x48xf32>) -> tensor<133x48xf32> {
  %0 = blockscale.prune %x keep 1 of 2 : tensor<133x48xf32>
  return %0 : tensor<133x48xf32>
}
func.func @prune_long(%x: tensor<133x48xf32>) -> tensor<133x48xf32> {
  %0 = blockscale.prune %x keep 5 of 16 : tensor<133x48xf32>
  return %0 : tensor<133x48xf32>
}
func.func @prune_pairs(%x: tensor<133x48xbf16>) -> tensor<133x48xbf16> {
  %0 = blockscale.prune %x keep 4 of 8 pairs : tensor<133x48xbf16>
  return %0 : tensor<133x48xbf16>
}
func.func @prune_pairs_f16(%x: tensor<133x48xf16>) -> tensor<133x48xf16> {
  %0 = blockscale.prune %x keep 4 of 8 pairs : tensor<133x48xf16>
  return %0 : tensor<133x48xf16>
}
func.func @prune_pairs_f32(%x: tensor<133x48xf32>) -> tensor<133x48xf32> {
  %0 = blockscale.prune %x keep 4 of 8 pairs : tensor<133x48xf32>
  return %0 : tensor<133x48xf32>
}

!dense8 = !blockscale.tensor<2x133x192xf8E4M3FN, "e8m0_t64", layout = tiled_128x4>
!sparse8 = !blockscale.tensor<2x133x192xf8E4M3FN, "e8m0_t32n2m4", layout = tiled_128x4>
func.func @compress(%a: !dense8) -> !sparse8 {
  %0 = blockscale.compress %a : !dense8 to !sparse8
  return %0 : !sparse8
}
func.func @densify(%a: !sparse8) -> !dense8 {
  %0 = blockscale.densify %a : !sparse8 to !dense8
  return %0 : !dense8
}

!finer8 = !blockscale.tensor<2x133x192xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @finer(%a: !sparse8) -> !finer8 {
  %0 = blockscale.densify %a : !sparse8 to !finer8
  return %0 : !finer8
}
!long4 = !blockscale.tensor<133x384xf4E2M1FN, "e8m0_t64n2m4", layout = tiled_128x4>
!finer4 = !blockscale.tensor<133x384xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
func.func @finer4(%a: !long4) -> !finer4 {
  %0 = blockscale.densify %a : !long4 to !finer4
  return %0 : !finer4
}
!pairs4 = !blockscale.tensor<37x256xf4E2M1FN, "multi_float32_e4m3fn_t16n4m8", layout = tiled_128x4>
!short4 = !blockscale.tensor<37x256xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
func.func @finer_pairs(%a: !pairs4) -> !short4 {
  %0 = blockscale.densify %a : !pairs4 to !short4
  return %0 : !short4
}

// Scales by which products multiply sums lie row by row: bytes, floats, of several rows,
// and of all of them.
!bytes8 = !blockscale.tensor<2x37x256xf8E4M3FN, "e4m3fn_t64n2m4", layout = tiled_128x4>
!short_bytes8 = !blockscale.tensor<2x37x256xf8E4M3FN, "e4m3fn_t32">
func.func @finer_bytes(%a: !bytes8) -> !short_bytes8 {
  %0 = blockscale.densify %a : !bytes8 to !short_bytes8
  return %0 : !short_bytes8
}
!floats8 = !blockscale.tensor<2x133x512xf8E4M3FN, "float32_t128_t128n2m4", layout = tiled_128x4>
!short_floats8 = !blockscale.tensor<2x133x512xf8E4M3FN, "float32_t128_t128">
func.func @finer_floats(%a: !floats8) -> !short_floats8 {
  %0 = blockscale.densify %a : !floats8 to !short_floats8
  return %0 : !short_floats8
}
!halves6 = !blockscale.tensor<133x384xf6E2M3FN, "bfloat16_t0_t64n2m4", layout = tiled_128x4>
!short_halves6 = !blockscale.tensor<133x384xf6E2M3FN, "bfloat16_t0_t32">
func.func @finer_halves(%a: !halves6) -> !short_halves6 {
  %0 = blockscale.densify %a : !halves6 to !short_halves6
  return %0 : !short_halves6
}

!dense6 = !blockscale.tensor<133x320xf6E2M3FN, "e8m0_t64", layout = tiled_128x4>
!sparse6 = !blockscale.tensor<133x320xf6E2M3FN, "e8m0_t32n2m4", layout = tiled_128x4>
func.func @compress6(%a: !dense6) -> !sparse6 {
  %0 = blockscale.compress %a : !dense6 to !sparse6
  return %0 : !sparse6
}
func.func @densify6(%a: !sparse6) -> !dense6 {
  %0 = blockscale.densify %a : !sparse6 to !dense6
  return %0 : !dense6
}

!dense4 = !blockscale.tensor<133x192xf4E2M1FN, "e8m0_t64", layout = tiled_128x4>
!sparse4 = !blockscale.tensor<133x192xf4E2M1FN, "e8m0_t32n2m4", layout = tiled_128x4>
func.func @compress4(%a: !dense4) -> !sparse4 {
  %0 = blockscale.compress %a : !dense4 to !sparse4
  return %0 : !sparse4
}
func.func @densify4(%a: !sparse4) -> !dense4 {
  %0 = blockscale.densify %a : !sparse4 to !dense4
  return %0 : !dense4
}

!dense_pairs = !blockscale.tensor<3x40x320xf4E2M1FN, "multi_float32_e4m3fn_t32", layout = tiled_128x4>
!sparse_pairs = !blockscale.tensor<3x40x320xf4E2M1FN, "multi_float32_e4m3fn_t16n4m8", layout = tiled_128x4>
func.func @compress_pairs(%a: !dense_pairs) -> !sparse_pairs {
  %0 = blockscale.compress %a : !dense_pairs to !sparse_pairs
  return %0 : !sparse_pairs
}
func.func @densify_pairs(%a: !sparse_pairs) -> !dense_pairs {
  %0 = blockscale.densify %a : !sparse_pairs to !dense_pairs
  return %0 : !dense_pairs
}

!dense16 = !blockscale.tensor<133x160xbf16>
!sparse16 = !blockscale.tensor<133x160xbf16, "n2m4", layout = tiled_128x4>
func.func @compress16(%a: !dense16) -> !sparse16 {
  %0 = blockscale.compress %a : !dense16 to !sparse16
  return %0 : !sparse16
}
func.func @densify16(%a: !sparse16) -> !dense16 {
  %0 = blockscale.densify %a : !sparse16 to !dense16
  return %0 : !dense16
}

!dense32 = !blockscale.tensor<2x133x80xtf32>
!sparse32 = !blockscale.tensor<2x133x80xtf32, "n1m2", layout = tiled_128x4>
func.func @compress32(%a: !dense32) -> !sparse32 {
  %0 = blockscale.compress %a : !dense32 to !sparse32
  return %0 : !sparse32
}
func.func @densify32(%a: !sparse32) -> !dense32 {
  %0 = blockscale.densify %a : !sparse32 to !dense32
  return %0 : !dense32
}

// The highest bit of an integer is no sign of a zero.
!dense_integers = !blockscale.tensor<133x96xi8>
!sparse_integers = !blockscale.tensor<133x96xi8, "n2m4", layout = tiled_128x4>
func.func @compress_integers(%a: !dense_integers) -> !sparse_integers {
  %0 = blockscale.compress %a : !dense_integers to !sparse_integers
  return %0 : !sparse_integers
}
func.func @densify_integers(%a: !sparse_integers) -> !dense_integers {
  %0 = blockscale.densify %a : !sparse_integers to !dense_integers
  return %0 : !dense_integers
}
