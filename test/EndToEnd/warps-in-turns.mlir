// Kernels whose warps take tiles in turns, in two groups: kinds, tiles, epilogues, and
// how tiles are found. With few SMs a group has several tiles, with three one of the
// groups has one more than the other, with many the second one has none.

// REQUIRES: mlir
// RUN: blockscale verify %s --target=sm_120a --data=exact --num-sms=2 --m=1,333 --k=64,768 | FileCheck %s
// RUN: blockscale verify %s --target=sm_121a --data=exact --num-sms=3 --m=300 --k=576 --completion=latest | FileCheck %s --check-prefix=ONCE
// RUN: blockscale verify %s --target=sm_120a --data=exact --num-sms=1 --m=200 --k=576 --completion=random | FileCheck %s --check-prefix=ONCE
// RUN: blockscale verify %s --target=sm_120a --data=exact --num-sms=170 --m=130 --k=576 | FileCheck %s --check-prefix=ONCE

// CHECK-NOT: FAIL
// CHECK-COUNT-37: pass
// CHECK-NOT: {{FAIL|pass}}

// ONCE-NOT: FAIL
// ONCE-COUNT-21: pass
// ONCE-NOT: {{FAIL|pass}}

// Several K tiles and a tail, more than the ring has stages.
!mxfp8_a = !blockscale.tensor<?x672xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!mxfp8_b = !blockscale.tensor<456x672xf8E5M2, "e8m0_t32", layout = tiled_128x4>
func.func @mxfp8(%a: !mxfp8_a, %b: !mxfp8_b) -> tensor<?x456xbf16> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = false, tile_n = 128, stages = 2, consumer_groups = 2>) : !mxfp8_a, !mxfp8_b -> tensor<?x456xbf16>
  return %0 : tensor<?x456xbf16>
}

// One K tile, so that the turn passes with the first stage, and one stage.
!short_a = !blockscale.tensor<?x96xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!short_b = !blockscale.tensor<200x96xf6E2M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @short(%a: !short_a, %b: !short_b) -> tensor<?x200xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = false, tile_n = 64, stages = 1, consumer_groups = 2>) : !short_a, !short_b -> tensor<?x200xf32>
  return %0 : tensor<?x200xf32>
}

// Five whole K tiles in two stages, and all that an epilogue does.
!nvfp4_a = !blockscale.tensor<?x1280xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!nvfp4_b = !blockscale.tensor<264x1280xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
func.func @nvfp4(%a: !nvfp4_a, %b: !nvfp4_b, %alpha: f32, %beta: f32, %c: tensor<?x264xf16>, %bias: tensor<264xf32>) -> tensor<?x264xf16> {
  %0 = blockscale.matmul %a, %b alpha(%alpha) beta(%beta) c(%c) bias(%bias) activation(relu) schedule(#blockscale.schedule<swap_operands = false, tile_n = 128, stages = 2, consumer_groups = 2>) : !nvfp4_a, !nvfp4_b, tensor<?x264xf16>, tensor<264xf32> -> tensor<?x264xf16>
  return %0 : tensor<?x264xf16>
}

// The other side's rows on lanes, and narrow tiles.
func.func @swapped(%a: !mxfp8_a, %b: !mxfp8_b) -> tensor<?x456xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = true, tile_n = 32, consumer_groups = 2>) : !mxfp8_a, !mxfp8_b -> tensor<?x456xf32>
  return %0 : tensor<?x456xf32>
}
!mxfp4_a = !blockscale.tensor<?x352xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
!mxfp4_b = !blockscale.tensor<72x352xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
func.func @narrow(%a: !mxfp4_a, %b: !mxfp4_b) -> tensor<?x72xbf16> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = false, tile_n = 16, consumer_groups = 2>) : !mxfp4_a, !mxfp4_b -> tensor<?x72xbf16>
  return %0 : tensor<?x72xbf16>
}

// Tiles that are handed out: both groups hear of all of them.
func.func @dynamic(%a: !mxfp8_a, %b: !mxfp8_b) -> tensor<?x456xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = false, tile_n = 64, scheduler = dynamic, dependent_launch = true, consumer_groups = 2>) : !mxfp8_a, !mxfp8_b -> tensor<?x456xf32>
  return %0 : tensor<?x456xf32>
}

// Matrices of a batch.
!batch_a = !blockscale.tensor<3x140x416xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!batch_b = !blockscale.tensor<3x72x416xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @batch(%a: !batch_a, %b: !batch_b) -> tensor<3x140x72xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 32, consumer_groups = 2>) : !batch_a, !batch_b -> tensor<3x140x72xf32>
  return %0 : tensor<3x140x72xf32>
}

!sparse_a = !blockscale.tensor<?x448xf8E4M3FN, "e8m0_t32n2m4", layout = tiled_128x4>
!dense_b = !blockscale.tensor<264x448xf8E5M2, "e8m0_t64", layout = tiled_128x4>
func.func @sparse(%a: !sparse_a, %b: !dense_b) -> tensor<?x264xbf16> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 128, consumer_groups = 2>) : !sparse_a, !dense_b -> tensor<?x264xbf16>
  return %0 : tensor<?x264xbf16>
}

!bf16_a = !blockscale.tensor<?x232xbf16>
!bf16_b = !blockscale.tensor<264x232xbf16>
func.func @bf16(%a: !bf16_a, %b: !bf16_b) -> tensor<?x264xbf16> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = false, tile_n = 128, consumer_groups = 2>) : !bf16_a, !bf16_b -> tensor<?x264xbf16>
  return %0 : tensor<?x264xbf16>
}

!fp8_a = !blockscale.tensor<?x352xf8E4M3FN>
!fp8_b = !blockscale.tensor<136x352xf8E5M2>
func.func @fp8(%a: !fp8_a, %b: !fp8_b) -> tensor<?x136xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<consumer_groups = 2>) : !fp8_a, !fp8_b -> tensor<?x136xf32>
  return %0 : tensor<?x136xf32>
}

!integer_a = !blockscale.tensor<?x352xi8>
!integer_b = !blockscale.tensor<136x352xi8>
func.func @integers(%a: !integer_a, %b: !integer_b) -> tensor<?x136xi32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<scheduler = dynamic, consumer_groups = 2>) : !integer_a, !integer_b -> tensor<?x136xi32>
  return %0 : tensor<?x136xi32>
}

// Sums of blocks of K are multiplied by scales in registers.
!promoted_a = !blockscale.tensor<?x384xf8E4M3FN, "float32_t128">
!promoted_b = !blockscale.tensor<200x384xf8E4M3FN, "float32_t128_t128">
func.func @promoted(%a: !promoted_a, %b: !promoted_b) -> tensor<?x200xbf16> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = false, tile_n = 64, consumer_groups = 2>) : !promoted_a, !promoted_b -> tensor<?x200xbf16>
  return %0 : tensor<?x200xbf16>
}

// Groups of rows, some of them empty, whose tiles are walked by all.
!rows = !blockscale.tensor<?x288xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
!experts = !blockscale.tensor<5x136x288xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @groups(%a: !rows, %b: !experts, %ends: tensor<5xi32>) -> tensor<?x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<5xi32>) schedule(#blockscale.schedule<tile_n = 32, consumer_groups = 2>) : !rows, !experts -> tensor<?x136xf32>
  return %0 : tensor<?x136xf32>
}

// A result that is quantised, by rows and by columns of the product.
!y = !blockscale.tensor<?x352xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!w = !blockscale.tensor<352x160xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
!x = !blockscale.tensor<?x160xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @quantized(%x: !x, %w: !w) -> !y {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<swap_operands = false, tile_n = 64, consumer_groups = 2>) : !x, !w -> tensor<?x352xf32>
  %q = blockscale.quantize %y : tensor<?x352xf32> to !y
  return %q : !y
}
func.func @quantized_swapped(%x: !x, %w: !w) -> !y {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<swap_operands = true, tile_n = 64, consumer_groups = 2>) : !x, !w -> tensor<?x352xf32>
  %q = blockscale.quantize %y : tensor<?x352xf32> to !y
  return %q : !y
}

// Tiles of D under one scale, of which several warps of a group have parts.
!tiles = !blockscale.tensor<256x256xf8E4M3FN, "float32_t64_t128">
!tiles_a = !blockscale.tensor<256x160xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!tiles_b = !blockscale.tensor<256x160xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @tiles(%x: !tiles_a, %w: !tiles_b) -> !tiles {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<swap_operands = true, tile_n = 64, consumer_groups = 2>) : !tiles_a, !tiles_b -> tensor<256x256xf32>
  %q = blockscale.quantize %y : tensor<256x256xf32> to !tiles
  return %q : !tiles
}

// K is known at launch, and groups along it have as many K tiles as they take.
!late_a = !blockscale.tensor<140x?xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!late_b = !blockscale.tensor<136x?xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @late(%a: !late_a, %b: !late_b) -> tensor<140x136xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 32, consumer_groups = 2>) : !late_a, !late_b -> tensor<140x136xf32>
  return %0 : tensor<140x136xf32>
}
!along_a = !blockscale.tensor<136x?xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
!along_b = !blockscale.tensor<264x?xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
func.func @along_k(%a: !along_a, %b: !along_b, %ends: tensor<4xi32>) -> tensor<4x136x264xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) schedule(#blockscale.schedule<swap_operands = false, tile_n = 64, consumer_groups = 2>) : !along_a, !along_b -> tensor<4x136x264xf32>
  return %0 : tensor<4x136x264xf32>
}
