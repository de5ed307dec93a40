// Kernels that add up rows over tiles along K, bit for bit: elements of 4 to 32 bits,
// scales of tiles, rows, several rows and whole matrices in every format that epilogues
// read, tensor scales, ends of K inside of a tile, of a piece and of an access, tiles of
// one piece and of more than there are lanes, matrices in batches, sizes of the launch.
// With exact data each tile has another scale; random ones show the order of the sums.

// REQUIRES: mlir
// RUN: blockscale verify %s --m=37 --k=552 --batch=2 | FileCheck %s
// RUN: blockscale verify %s --m=37 --k=552 --batch=2 --target=sm_103a --data=random --seed=7 --conditions=harsh | FileCheck %s --check-prefix=ONCE
// RUN: blockscale verify %s --m=9 --k=72 --batch=3 --target=sm_120a --data=random --seed=5 | FileCheck %s --check-prefix=ONCE
// RUN: blockscale verify %s --m=37 --k=552 --target=sm_107a --tiles=2 --data=random --seed=3 | FileCheck %s --check-prefix=ONCE

// CHECK-NOT: FAIL
// CHECK-COUNT-24: pass
// CHECK-NOT: {{FAIL|pass}}

// ONCE-NOT: FAIL
// ONCE-COUNT-12: pass
// ONCE-NOT: {{FAIL|pass}}

!tiles = !blockscale.tensor<133x384xf8E4M3FN, "float32_t128">
func.func @tiles(%a: !tiles) -> tensor<3x133xf32> {
  %0 = blockscale.tile_sums %a tile = 128 : !tiles to tensor<3x133xf32>
  return %0 : tensor<3x133xf32>
}

// Under one scale for each row, over tiles of others and over all of K.
!row = !blockscale.tensor<3x21x520xf8E5M2, "float32_t0">
func.func @tiles_of_rows(%a: !row) -> tensor<3x9x21xf32> {
  %0 = blockscale.tile_sums %a tile = 64 : !row to tensor<3x9x21xf32>
  return %0 : tensor<3x9x21xf32>
}
func.func @rows(%a: !row) -> tensor<3x1x21xf32> {
  %0 = blockscale.tile_sums %a : !row to tensor<3x1x21xf32>
  return %0 : tensor<3x1x21xf32>
}

// Scales of 4 rows and 32 elements below tiles of 256.
!several = !blockscale.tensor<2x22x320xf4E2M1FN, "bfloat16_t4_t32">
func.func @several(%a: !several) -> tensor<2x2x22xf32> {
  %0 = blockscale.tile_sums %a tile = 256 : !several to tensor<2x2x22xf32>
  return %0 : tensor<2x2x22xf32>
}

!matrix = !blockscale.tensor<3x21x256xf6E2M3FN, "float16">
func.func @matrix(%a: !matrix) -> tensor<3x16x21xf32> {
  %0 = blockscale.tile_sums %a tile = 16 : !matrix to tensor<3x16x21xf32>
  return %0 : tensor<3x16x21xf32>
}

!powers = !blockscale.tensor<70x1056xf6E3M2FN, "e8m0_t0">
func.func @powers(%a: !powers) -> tensor<2x70xf32> {
  %0 = blockscale.tile_sums %a tile = 1024 : !powers to tensor<2x70xf32>
  return %0 : tensor<2x70xf32>
}

!fractions = !blockscale.tensor<3x21x192xf8E4M3FN, "multi_float32_e4m3_t16">
func.func @fractions(%a: !fractions) -> tensor<3x3x21xf32> {
  %0 = blockscale.tile_sums %a tile = 64 : !fractions to tensor<3x3x21xf32>
  return %0 : tensor<3x3x21xf32>
}

// What products give, and tf32, whose low bits do not count.
!bf16 = !blockscale.tensor<2x37x200xbf16>
func.func @bf16(%a: !bf16) -> tensor<2x2x37xf32> {
  %0 = blockscale.tile_sums %a tile = 128 : !bf16 to tensor<2x2x37xf32>
  return %0 : tensor<2x2x37xf32>
}
!f16 = !blockscale.tensor<?x256xf16>
func.func @f16(%a: !f16) -> tensor<4x?xf32> {
  %0 = blockscale.tile_sums %a tile = 64 : !f16 to tensor<4x?xf32>
  return %0 : tensor<4x?xf32>
}
!tf32 = !blockscale.tensor<37x140xtf32>
func.func @tf32(%a: !tf32) -> tensor<1x37xf32> {
  %0 = blockscale.tile_sums %a : !tf32 to tensor<1x37xf32>
  return %0 : tensor<1x37xf32>
}

!dynamic = !blockscale.tensor<?x?x?xf8E4M3FN, "float32_t128">
func.func @dynamic(%a: !dynamic) -> tensor<?x?x?xf32> {
  %0 = blockscale.tile_sums %a tile = 128 : !dynamic to tensor<?x?x?xf32>
  return %0 : tensor<?x?x?xf32>
}
!dynamic_half = !blockscale.tensor<?x?xbf16>
func.func @dynamic_half(%a: !dynamic_half) -> tensor<1x?xf32> {
  %0 = blockscale.tile_sums %a : !dynamic_half to tensor<1x?xf32>
  return %0 : tensor<1x?xf32>
}
