// RUN: blockscale-opt %s --split-input-file --verify-diagnostics --blockscale-attach-target=target=sm_100a --blockscale-fuse-quantization | FileCheck %s

!a = !blockscale.tensor<?x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!b = !blockscale.tensor<96x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!q = !blockscale.tensor<?x96xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>

// CHECK-LABEL: @one_reader
// CHECK: blockscale.matmul {{.*}} {blockscale.quantized}
// CHECK-NEXT: blockscale.quantize
func.func @one_reader(%a: !a, %b: !b) -> !q {
  %0 = blockscale.matmul %a, %b : !a, !b -> tensor<?x96xbf16>
  %1 = blockscale.quantize %0 : tensor<?x96xbf16> to !q
  return %1 : !q
}

// CHECK-LABEL: @two_readers
// CHECK-NOT: blockscale.quantized
func.func @two_readers(%a: !a, %b: !b) -> (!q, tensor<?x96xbf16>) {
  %0 = blockscale.matmul %a, %b : !a, !b -> tensor<?x96xbf16>
  // expected-remark@+1 {{stays an op of its own: a product quantises its result where nothing else reads it}}
  %1 = blockscale.quantize %0 : tensor<?x96xbf16> to !q
  return %1, %0 : !q, tensor<?x96xbf16>
}

// -----

!a = !blockscale.tensor<64x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!b = !blockscale.tensor<?x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!q = !blockscale.tensor<64x?xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
// CHECK-LABEL: @dynamic_n
// CHECK: blockscale.matmul {{.*}} {blockscale.quantized}
func.func @dynamic_n(%a: !a, %b: !b) -> !q {
  %0 = blockscale.matmul %a, %b : !a, !b -> tensor<64x?xbf16>
  %1 = blockscale.quantize %0 : tensor<64x?xbf16> to !q
  return %1 : !q
}

// -----

!a = !blockscale.tensor<64x256xf8E4M3FN, "float32_t128">
!b = !blockscale.tensor<128x256xf8E4M3FN, "float32_t128_t128">
!mx = !blockscale.tensor<64x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!q = !blockscale.tensor<64x128xf8E4M3FN, "float32_t128">
// CHECK-LABEL: @promoted
// CHECK-COUNT-2: blockscale.matmul {{.*}} {blockscale.quantized}
func.func @promoted(%a: !a, %b: !b) -> (!mx, !q) {
  %0 = blockscale.matmul %a, %b : !a, !b -> tensor<64x128xbf16>
  %1 = blockscale.quantize %0 : tensor<64x128xbf16> to !mx
  %2 = blockscale.matmul %a, %b : !a, !b -> tensor<64x128xbf16>
  %3 = blockscale.quantize %2 : tensor<64x128xbf16> to !q
  return %1, %3 : !mx, !q
}

// -----

// A tile of 256 columns.
!a = !blockscale.tensor<64x256xf8E4M3FN, "float32_t128">
!b = !blockscale.tensor<256x256xf8E4M3FN, "float32_t128_t128">
!q = !blockscale.tensor<64x128xf8E4M3FN, "float32_t128">
// CHECK-LABEL: @one_tile
// CHECK: {blockscale.quantized}
func.func @one_tile(%a: !a, %b: !b) -> !q {
  %0 = blockscale.matmul %a, %b pairs epilogue(%g, %up) {
    %s = arith.addf %g, %up : f32
    blockscale.yield %s
  } : !a, !b -> tensor<64x128xbf16>
  %1 = blockscale.quantize %0 : tensor<64x128xbf16> to !q
  return %1 : !q
}

// -----

!a = !blockscale.tensor<64x256xf8E4M3FN, "float32_t128">
!b = !blockscale.tensor<512x256xf8E4M3FN, "float32_t128_t128">
!q = !blockscale.tensor<64x256xf8E4M3FN, "float32_t256">
func.func @two_tiles(%a: !a, %b: !b) -> !q {
  %0 = blockscale.matmul %a, %b pairs epilogue(%g, %up) {
    %s = arith.addf %g, %up : f32
    blockscale.yield %s
  } schedule(#blockscale.schedule<swap_operands = false>) : !a, !b -> tensor<64x256xbf16>
  // expected-remark@+1 {{stays an op of its own: a block of the result is made of 512 columns of a product whose sums are promoted, of which a tile has 256; nearest legal: blocks of 128 elements, or a kernel of its own that quantises}}
  %1 = blockscale.quantize %0 : tensor<64x256xbf16> to !q
  return %1 : !q
}

// -----

// Each column has a scale of its own, so that a tile has 64.
!a = !blockscale.tensor<64x256xf8E4M3FN, "float32_t128">
!b = !blockscale.tensor<128x256xf8E4M3FN, "float32_t128">
!q = !blockscale.tensor<64x128xf8E4M3FN, "float32_t128">
func.func @scales_of_columns(%a: !a, %b: !b) -> !q {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = false>) : !a, !b -> tensor<64x128xbf16>
  // expected-remark@+1 {{stays an op of its own: a block of the result is made of 128 columns of a product whose sums are promoted, of which a tile has 64; nearest legal: blocks of 64 elements, or a kernel of its own that quantises}}
  %1 = blockscale.quantize %0 : tensor<64x128xbf16> to !q
  return %1 : !q
}

// -----

!a = !blockscale.tensor<64x256xf8E4M3FN, "float32_t128">
!b = !blockscale.tensor<256x256xf8E4M3FN, "float32_t128_t128">
!q = !blockscale.tensor<64x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @two_threads(%a: !a, %b: !b) -> !q {
  %0 = blockscale.matmul %a, %b pairs epilogue(%g, %up) {
    %s = arith.addf %g, %up : f32
    blockscale.yield %s
  } schedule(#blockscale.schedule<swap_operands = false>) : !a, !b -> tensor<64x128xbf16>
  // expected-remark@+1 {{stays an op of its own: a block of the result is made of 64 columns of a product whose sums are promoted, of which a thread has 32, and only float scales are found by several; nearest legal: such, blocks half as long, or a kernel of its own that quantises}}
  %1 = blockscale.quantize %0 : tensor<64x128xbf16> to !q
  return %1 : !q
}

// -----

!a = !blockscale.tensor<64x256xf8E4M3FN, "float32_t128">
!q = !blockscale.tensor<64x64xf8E4M3FN, "float32_t64">
// CHECK-LABEL: @errors
// CHECK: blockscale.matmul {{.*}} {blockscale.quantized}
func.func @errors(%a: !a, %b: !a) -> !q {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = false>) : !a, !a -> tensor<64x64xbf16>
  %1 = blockscale.quantize %0 rule(min_error) : tensor<64x64xbf16> to !q
  return %1 : !q
}

// -----

// Of swapped operands threads have 64 columns of a row.
!a = !blockscale.tensor<64x256xf8E4M3FN, "float32_t128">
!b = !blockscale.tensor<256x256xf8E4M3FN, "float32_t128_t128">
!q = !blockscale.tensor<64x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!f = !blockscale.tensor<64x64xf8E4M3FN, "float32_t64">
// CHECK-LABEL: @swapped_promoted
// CHECK-COUNT-2: {blockscale.quantized}
func.func @swapped_promoted(%a: !a, %b: !b) -> (!q, !f) {
  %0 = blockscale.matmul %a, %b pairs epilogue(%g, %up) {
    %s = arith.addf %g, %up : f32
    blockscale.yield %s
  } : !a, !b -> tensor<64x128xbf16>
  %1 = blockscale.quantize %0 : tensor<64x128xbf16> to !q
  %2 = blockscale.matmul %a, %a : !a, !a -> tensor<64x64xbf16>
  %3 = blockscale.quantize %2 rule(min_error) : tensor<64x64xbf16> to !f
  return %1, %3 : !q, !f
}

// -----

// As those of a sparse 'b' are.
!a = !blockscale.tensor<64x256xf8E4M3FN, "e8m0_t64", layout = tiled_128x4>
!b = !blockscale.tensor<256x256xf8E4M3FN, "e8m0_t32n2m4", layout = tiled_128x4>
!q = !blockscale.tensor<64x256xf8E4M3FN, "float32_t128">
!long = !blockscale.tensor<64x256xf8E4M3FN, "float32_t256">
!sparse = !blockscale.tensor<64x128xf8E4M3FN, "e8m0_t64", layout = tiled_128x4>
// CHECK-LABEL: @sparse_b
// CHECK-COUNT-3: {blockscale.quantized}
func.func @sparse_b(%a: !a, %b: !b) -> (!q, !q, !long, !sparse) {
  %0 = blockscale.matmul %a, %b : !a, !b -> tensor<64x256xbf16>
  %1 = blockscale.quantize %0 : tensor<64x256xbf16> to !q
  %2 = blockscale.matmul %a, %b : !a, !b -> tensor<64x256xbf16>
  %3 = blockscale.quantize %2 rule(min_error) : tensor<64x256xbf16> to !q
  %4 = blockscale.matmul %a, %b : !a, !b -> tensor<64x256xbf16>
  %5 = blockscale.quantize %4 : tensor<64x256xbf16> to !long
  %6 = blockscale.matmul %a, %b pairs epilogue(%g, %up) {
    %s = arith.addf %g, %up : f32
    blockscale.yield %s
  } : !a, !b -> tensor<64x128xbf16>
  // expected-remark@+1 {{stays an op of its own: a block of the result is made of 128 columns of the product, of which a thread has 64, and only float scales are found by several; nearest legal: such, or a kernel of its own that quantises}}
  %7 = blockscale.quantize %6 {blockscale.for_sparse} : tensor<64x128xbf16> to !sparse
  return %1, %3, %5, %7 : !q, !q, !long, !sparse
}

// -----

!a = !blockscale.tensor<128x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!row = !blockscale.tensor<128x128xf8E4M3FN, "float32_t0">
!matrix = !blockscale.tensor<128x128xf8E4M3FN, "float32">
!square = !blockscale.tensor<128x128xf8E4M3FN, "float32_t128_t128">
// CHECK-LABEL: @floats(
// CHECK: blockscale.matmul
// CHECK-NOT: blockscale.quantized
// CHECK: blockscale.quantize
// CHECK-NOT: blockscale.quantized
// CHECK: blockscale.matmul
// CHECK: blockscale.matmul {{.*}} {blockscale.quantized}
func.func @floats(%a: !a, %b: !a) -> (!row, !matrix, !square) {
  %0 = blockscale.matmul %a, %b : !a, !a -> tensor<128x128xbf16>
  // expected-remark@+1 {{stays an op of its own: a product quantises its result in blocks of one row, of which a CTA has all columns, but a scale is for all of a row; nearest legal: 'float32_t128', or a kernel of its own that quantises}}
  %1 = blockscale.quantize %0 : tensor<128x128xbf16> to !row
  %2 = blockscale.matmul %a, %b : !a, !a -> tensor<128x128xbf16>
  // expected-remark@+1 {{stays an op of its own: a kernel sees one block at a time, but the one scale of 'float32' follows from the largest magnitude of the whole matrix; nearest legal: one that is given as 'tensor_scale', 'float32_t128', or a kernel of its own that quantises}}
  %3 = blockscale.quantize %2 : tensor<128x128xbf16> to !matrix
  %4 = blockscale.matmul %a, %b : !a, !a -> tensor<128x128xbf16>
  %5 = blockscale.quantize %4 : tensor<128x128xbf16> to !square
  return %1, %3, %5 : !row, !matrix, !square
}

// -----

// Nothing is chosen where the one scale of a matrix is given, in whatever format, nor do
// groups of rows have scales of their own.
!a = !blockscale.tensor<64x256xf8E4M3FN, "float32">
!b = !blockscale.tensor<4x128x256xf8E4M3FN, "float32">
!w = !blockscale.tensor<128x256xf8E4M3FN, "float32">
!n = !blockscale.tensor<80x256xf8E4M3FN, "float32">
!q = !blockscale.tensor<64x128xf8E4M3FN, "float32">
!half = !blockscale.tensor<64x128xf8E5M2, "float16">
!power = !blockscale.tensor<64x128xf4E2M1FN, "e8m0">
!odd = !blockscale.tensor<64x80xf8E4M3FN, "float32">
!bytes = !blockscale.tensor<64x128xi8, "e8m0">
// CHECK-LABEL: @given
// CHECK-COUNT-4: {blockscale.quantized}
// CHECK-NOT: {blockscale.quantized}
func.func @given(%a: !a, %b: !b, %w: !w, %n: !n, %ends: tensor<4xi32>, %t: tensor<f32>) -> (!q, !half, !power, !q, !odd, !bytes) {
  %0 = blockscale.matmul %a, %w : !a, !w -> tensor<64x128xbf16>
  %1 = blockscale.quantize %0 tensor_scale(%t : tensor<f32>) : tensor<64x128xbf16> to !q
  %2 = blockscale.matmul %a, %w : !a, !w -> tensor<64x128xf32>
  %3 = blockscale.quantize %2 tensor_scale(%t : tensor<f32>) : tensor<64x128xf32> to !half
  %4 = blockscale.matmul %a, %w : !a, !w -> tensor<64x128xf16>
  %5 = blockscale.quantize %4 tensor_scale(%t : tensor<f32>) : tensor<64x128xf16> to !power
  %6 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) : !a, !b -> tensor<64x128xbf16>
  %7 = blockscale.quantize %6 tensor_scale(%t : tensor<f32>) : tensor<64x128xbf16> to !q
  %8 = blockscale.matmul %a, %n : !a, !n -> tensor<64x80xbf16>
  // expected-remark@+1 {{stays an op of its own: a kernel quantises whole blocks, but K = 80 is no multiple of 32; nearest legal: K = 96}}
  %9 = blockscale.quantize %8 tensor_scale(%t : tensor<f32>) : tensor<64x80xbf16> to !odd
  %10 = blockscale.matmul %a, %w : !a, !w -> tensor<64x128xbf16>
  // expected-remark@+1 {{stays an op of its own: i8 under powers of two is a fixed-point number}}
  %11 = blockscale.quantize %10 tensor_scale(%t : tensor<f32>) : tensor<64x128xbf16> to !bytes
  return %1, %3, %5, %7, %9, %11 : !q, !half, !power, !q, !odd, !bytes
}

// -----

// Scales that do not lie by groups need none.
!a = !blockscale.tensor<64x256xf8E4M3FN, "float32_t128">
!b = !blockscale.tensor<4x128x256xf8E4M3FN, "float32_t128_t128">
!q = !blockscale.tensor<64x128xf8E4M3FN, "float32_t128">
// CHECK-LABEL: @rows_of_groups
// CHECK: blockscale.matmul {{.*}} {blockscale.quantized}
func.func @rows_of_groups(%a: !a, %b: !b, %ends: tensor<4xi32>) -> !q {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) : !a, !b -> tensor<64x128xbf16>
  %1 = blockscale.quantize %0 : tensor<64x128xbf16> to !q
  return %1 : !q
}

// -----

!a = !blockscale.tensor<64x256xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
!b = !blockscale.tensor<4x64x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!q = !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @groups(%a: !a, %b: !b, %ends: tensor<4xi32>) -> !q {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) : !a, !b -> tensor<64x64xbf16>
  // expected-remark@+1 {{stays an op of its own: scales of the result of a product with groups start anew with each of them; nearest legal: the 'groups' of the product, and a result in layout 'grouped_128x4'}}
  %1 = blockscale.quantize %0 : tensor<64x64xbf16> to !q
  return %1 : !q
}

// -----

!a = !blockscale.tensor<64x256xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
!b = !blockscale.tensor<4x64x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!q = !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
func.func @other_groups(%a: !a, %b: !b, %ends: tensor<4xi32>, %others: tensor<4xi32>) -> !q {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) : !a, !b -> tensor<64x64xbf16>
  // expected-remark@+1 {{stays an op of its own: the scales of the result start anew with each group, but the product has other groups or none; nearest legal: the 'groups' of the product}}
  %1 = blockscale.quantize %0 groups(%others : tensor<4xi32>) : tensor<64x64xbf16> to !q
  return %1 : !q
}

// -----

// Of counted rows each matrix has its scales.
!a = !blockscale.tensor<4x64x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!b = !blockscale.tensor<4x64x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!q = !blockscale.tensor<4x64x64xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
// CHECK-LABEL: @counted
// CHECK: blockscale.matmul {{.*}} {blockscale.quantized}
func.func @counted(%a: !a, %b: !b, %counts: tensor<4xi32>) -> !q {
  %0 = blockscale.matmul %a, %b groups(%counts : tensor<4xi32>) : !a, !b -> tensor<4x64x64xbf16>
  %1 = blockscale.quantize %0 : tensor<4x64x64xbf16> to !q
  return %1 : !q
}

// -----

// So has each group along K.
!a = !blockscale.tensor<64x?xbf16>
!b = !blockscale.tensor<96x?xbf16>
!q = !blockscale.tensor<4x64x96xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
// CHECK-LABEL: @groups_along_k
// CHECK: blockscale.matmul {{.*}} {blockscale.quantized}
func.func @groups_along_k(%a: !a, %b: !b, %ends: tensor<4xi32>) -> !q {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) : !a, !b -> tensor<4x64x96xbf16>
  %1 = blockscale.quantize %0 : tensor<4x64x96xbf16> to !q
  return %1 : !q
}

// -----

!a = !blockscale.tensor<64x256xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!q = !blockscale.tensor<64x64xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
func.func @no_factor(%a: !a, %b: !a) -> !q {
  %0 = blockscale.matmul %a, %b : !a, !a -> tensor<64x64xbf16>
  // expected-remark@+1 {{stays an op of its own: a kernel sees one block at a time, but the tensor scale of 'multi_float32_e4m3fn_t16' follows from the largest magnitude of the whole matrix; pass one as 'tensor_scale'}}
  %1 = blockscale.quantize %0 : tensor<64x64xbf16> to !q
  return %1 : !q
}

// -----

!a = !blockscale.tensor<64x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!q = !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32">
func.func @plain(%a: !a, %b: !a) -> !q {
  %0 = blockscale.matmul %a, %b : !a, !a -> tensor<64x64xbf16>
  // expected-remark@+1 {{stays an op of its own: a kernel writes scales in layout 'tiled_128x4', as the tensor core reads them, but the result has 'plain'}}
  %1 = blockscale.quantize %0 : tensor<64x64xbf16> to !q
  return %1 : !q
}

// -----

!a = !blockscale.tensor<64x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!b = !blockscale.tensor<256x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!q = !blockscale.tensor<64x128xf8E4M3FN, "float32_t128">
func.func @warps(%a: !a, %b: !b) -> !q attributes {blockscale.target = #blockscale.target<sm_120a>} {
  %0 = blockscale.matmul %a, %b pairs epilogue(%g, %up) {
    %s = arith.addf %g, %up : f32
    blockscale.yield %s
  } : !a, !b -> tensor<64x128xbf16>
  // expected-remark@+1 {{stays an op of its own: a CTA of sm_120a has 128 columns of the product, but a block of the result is made of 256; nearest legal: blocks of 128 columns, or a kernel of its own that quantises}}
  %1 = blockscale.quantize %0 : tensor<64x128xbf16> to !q
  return %1 : !q
}

// -----

!a = !blockscale.tensor<128x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!q = !blockscale.tensor<128x128xf8E4M3FN, "float32_t128">
!short = !blockscale.tensor<128x128xf8E4M3FN, "float32_t64">
// CHECK-LABEL: @floats_of_warps
// CHECK-COUNT-2: blockscale.matmul {{.*}} {blockscale.quantized}
func.func @floats_of_warps(%a: !a, %b: !a) -> (!short, !q) attributes {blockscale.target = #blockscale.target<sm_120a>} {
  %0 = blockscale.matmul %a, %b : !a, !a -> tensor<128x128xbf16>
  %1 = blockscale.quantize %0 : tensor<128x128xbf16> to !short
  %2 = blockscale.matmul %a, %b : !a, !a -> tensor<128x128xbf16>
  %3 = blockscale.quantize %2 : tensor<128x128xbf16> to !q
  return %1, %3 : !short, !q
}
