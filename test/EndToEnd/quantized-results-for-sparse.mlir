// Products whose kernels quantise the result for the sparse instructions of the next
// product, which read a scale of twice as many elements of K: dense and sparse ones, with
// sparse weights one layer behind the other, and gate and up.

// REQUIRES: mlir
// RUN: blockscale verify %s --num-sms=8 | FileCheck %s
// RUN: blockscale verify %s --target=sm_120a --seed=5 --conditions=harsh --completion=latest | FileCheck %s
// RUN: blockscale compile %s --emit=tensor | FileCheck %s --check-prefix=MARK

// CHECK-NOT: FAIL
// CHECK-COUNT-20: pass
// CHECK-NOT: {{FAIL|pass}}

// MARK-COUNT-5: {blockscale.quantized}
// MARK-NOT: blockscale.quantized

!a = !blockscale.tensor<133x512xf8E4M3FN, "e8m0_t64", layout = tiled_128x4>
!w = !blockscale.tensor<320x512xf8E5M2, "e8m0_t32n2m4", layout = tiled_128x4>
!q = !blockscale.tensor<133x320xf8E4M3FN, "e8m0_t64", layout = tiled_128x4>
!w2 = !blockscale.tensor<136x320xf8E4M3FN, "e8m0_t32n2m4", layout = tiled_128x4>
func.func @layers(%x: !a, %w: !w, %w2: !w2) -> tensor<133x136xf32> {
  %y = blockscale.matmul %x, %w activation(relu) : !a, !w -> tensor<133x320xbf16>
  %0 = blockscale.quantize %y {blockscale.for_sparse} : tensor<133x320xbf16> to !q
  %1 = blockscale.matmul %0, %w2 : !q, !w2 -> tensor<133x136xf32>
  return %1 : tensor<133x136xf32>
}
!d = !blockscale.tensor<133x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!b = !blockscale.tensor<320x512xf8E5M2, "e8m0_t32", layout = tiled_128x4>
func.func @dense(%x: !d, %w: !b) -> !q {
  %y = blockscale.matmul %x, %w : !d, !b -> tensor<133x320xf32>
  %0 = blockscale.quantize %y rule(round_up) {blockscale.for_sparse} : tensor<133x320xf32> to !q
  return %0 : !q
}
!nv = !blockscale.tensor<133x160xf4E2M1FN, "multi_float32_e4m3fn_t32", layout = tiled_128x4>
func.func @nvfp4(%x: !a, %w: !w, %t: tensor<f32>) -> !nv {
  %y = blockscale.matmul %x, %w pairs epilogue(%g, %u) {
    %s = arith.subf %u, %g : f32
    blockscale.yield %s
  } : !a, !w -> tensor<133x160xbf16>
  %0 = blockscale.quantize %y tensor_scale(%t : tensor<f32>) {blockscale.for_sparse} : tensor<133x160xbf16> to !nv
  return %0 : !nv
}
!g = !blockscale.tensor<?x512xf8E4M3FN, "e8m0_t64", layout = grouped_128x4>
!e = !blockscale.tensor<4x320x512xf8E5M2, "e8m0_t32n2m4", layout = tiled_128x4>
!gq = !blockscale.tensor<?x320xf8E4M3FN, "e8m0_t64", layout = grouped_128x4>
func.func @groups(%x: !g, %w: !e, %ends: tensor<4xi32>) -> !gq {
  %y = blockscale.matmul %x, %w groups(%ends : tensor<4xi32>) : !g, !e -> tensor<?x320xbf16>
  %0 = blockscale.quantize %y groups(%ends : tensor<4xi32>) {blockscale.for_sparse} : tensor<?x320xbf16> to !gq
  return %0 : !gq
}
!few = !blockscale.tensor<7x512xf8E4M3FN, "e8m0_t64", layout = tiled_128x4>
!fq = !blockscale.tensor<7x320xf4E2M1FN, "e8m0_t64", layout = tiled_128x4>
func.func @few_rows(%x: !few, %w: !w) -> !fq {
  %y = blockscale.matmul %x, %w : !few, !w -> tensor<7x320xbf16>
  %0 = blockscale.quantize %y rule(min_error) {blockscale.for_sparse} : tensor<7x320xbf16> to !fq
  return %0 : !fq
}
