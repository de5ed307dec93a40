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
!b = !blockscale.tensor<64x256xf8E4M3FN, "float32_t128_t128">
!q = !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @promoted(%a: !a, %b: !b) -> !q {
  %0 = blockscale.matmul %a, %b : !a, !b -> tensor<64x64xbf16>
  // expected-remark@+1 {{stays an op of its own: a product under float scales of tiles along K does not quantise its result}}
  %1 = blockscale.quantize %0 : tensor<64x64xbf16> to !q
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

!a = !blockscale.tensor<64x?xbf16>
!b = !blockscale.tensor<96x?xbf16>
!q = !blockscale.tensor<4x64x96xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @groups_along_k(%a: !a, %b: !b, %ends: tensor<4xi32>) -> !q {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) : !a, !b -> tensor<4x64x96xbf16>
  // expected-remark@+1 {{stays an op of its own: a product with groups along K does not quantise its result}}
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
!b = !blockscale.tensor<128x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!q = !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @warps(%a: !a, %b: !b) -> !q attributes {blockscale.target = #blockscale.target<sm_120a>} {
  %0 = blockscale.matmul %a, %b pairs epilogue(%g, %up) {
    %s = arith.addf %g, %up : f32
    blockscale.yield %s
  } : !a, !b -> tensor<64x64xbf16>
  // expected-remark@+1 {{stays an op of its own: a warp of sm_120a has 32 columns of the product, but a block of the result is made of 64; nearest legal: blocks half as long, or a kernel of its own that quantises}}
  %1 = blockscale.quantize %0 : tensor<64x64xbf16> to !q
  return %1 : !q
}
