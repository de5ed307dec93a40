// A sparse B, whose rows are those of the instruction: operands are exchanged, and the
// metadata are B's. All kinds, batches, biases of rows and columns, sizes of the launch;
// weights of experts, for groups of rows one after the other, gathered ones and counted
// ones, under scales that instructions read and float ones.

// REQUIRES: mlir
// RUN: blockscale verify %s --num-sms=8 --m=70 --n=72 --k=384 --batch=2 | FileCheck %s
// RUN: sed -e '/^func.func @f16/,/^}/d; /^func.func @tf32/,/^}/d; /^func.func @bytes/,/^}/d' %s > %t.mlir
// RUN: blockscale verify %t.mlir --num-sms=8 --m=133 --n=40 --k=640 --target=sm_120a --data=random --conditions=harsh --completion=latest | FileCheck %s --check-prefix=ONCE

// CHECK-NOT: FAIL
// CHECK-COUNT-20: pass
// CHECK-NOT: {{FAIL|pass}}

// ONCE-NOT: FAIL
// ONCE-COUNT-7: pass
// ONCE-NOT: {{FAIL|pass}}

!mxfp8_a = !blockscale.tensor<2x?x384xf8E4M3FN, "e8m0_t64", layout = tiled_128x4>
!mxfp8_b = !blockscale.tensor<2x136x384xf8E5M2, "e8m0_t32n2m4", layout = tiled_128x4>
func.func @mxfp8(%a: !mxfp8_a, %b: !mxfp8_b, %bias: tensor<136xf32>) -> tensor<2x?x136xbf16> {
  %0 = blockscale.matmul %a, %b bias(%bias) activation(relu) : !mxfp8_a, !mxfp8_b, tensor<136xf32> -> tensor<2x?x136xbf16>
  return %0 : tensor<2x?x136xbf16>
}

!nvfp4_a = !blockscale.tensor<?x512xf4E2M1FN, "multi_float32_e4m3fn_t32", layout = tiled_128x4>
!nvfp4_b = !blockscale.tensor<264x512xf4E2M1FN, "multi_float32_e4m3fn_t16n4m8", layout = tiled_128x4>
func.func @nvfp4(%a: !nvfp4_a, %b: !nvfp4_b, %c: tensor<?x264xf32>) -> tensor<?x264xf32> {
  %beta = arith.constant 2.0 : f32
  %0 = blockscale.matmul %a, %b beta(%beta) c(%c) : !nvfp4_a, !nvfp4_b, tensor<?x264xf32> -> tensor<?x264xf32>
  return %0 : tensor<?x264xf32>
}

!f16_a = !blockscale.tensor<?x256xf16>
!f16_b = !blockscale.tensor<136x256xf16, "n2m4", layout = tiled_128x4>
func.func @f16(%a: !f16_a, %b: !f16_b) -> tensor<?x136xf32> {
  %0 = blockscale.matmul %a, %b : !f16_a, !f16_b -> tensor<?x136xf32>
  return %0 : tensor<?x136xf32>
}

!tf32_a = !blockscale.tensor<?x256xtf32>
!tf32_b = !blockscale.tensor<136x256xtf32, "n1m2", layout = tiled_128x4>
func.func @tf32(%a: !tf32_a, %b: !tf32_b) -> tensor<?x136xf32> {
  %0 = blockscale.matmul %a, %b : !tf32_a, !tf32_b -> tensor<?x136xf32>
  return %0 : tensor<?x136xf32>
}

!bytes_a = !blockscale.tensor<?x512xui8>
!bytes_b = !blockscale.tensor<136x512xi8, "n2m4", layout = tiled_128x4>
func.func @bytes(%a: !bytes_a, %b: !bytes_b) -> tensor<?x136xi32> {
  %0 = blockscale.matmul %a, %b : !bytes_a, !bytes_b -> tensor<?x136xi32>
  return %0 : tensor<?x136xi32>
}

!dynamic_a = !blockscale.tensor<?x?x?xf6E3M2FN>
!dynamic_b = !blockscale.tensor<?x?x?xf8E4M3FN, "n2m4", layout = tiled_128x4>
func.func @dynamic(%a: !dynamic_a, %b: !dynamic_b) -> tensor<?x?x?xf32> {
  %0 = blockscale.matmul %a, %b : !dynamic_a, !dynamic_b -> tensor<?x?x?xf32>
  return %0 : tensor<?x?x?xf32>
}

// Experts.
!grouped_a = !blockscale.tensor<?x384xf8E4M3FN, "e8m0_t64", layout = grouped_128x4>
!grouped_b = !blockscale.tensor<5x136x384xf4E2M1FN, "e8m0_t32n2m4", layout = tiled_128x4>
func.func @groups(%a: !grouped_a, %b: !grouped_b, %ends: tensor<5xi32>, %bias: tensor<5x136xf32>) -> tensor<?x136xbf16> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<5xi32>) bias(%bias) : !grouped_a, !grouped_b, tensor<5x136xf32> -> tensor<?x136xbf16>
  return %0 : tensor<?x136xbf16>
}

!tiles_a = !blockscale.tensor<?x384xf8E4M3FN, "float32_t128">
!tiles_b = !blockscale.tensor<4x200x384xf8E4M3FN, "float32_t128_t64n2m4", layout = tiled_128x4>
func.func @tiles(%a: !tiles_a, %b: !tiles_b, %ends: tensor<4xi32>) -> tensor<?x200xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) : !tiles_a, !tiles_b -> tensor<?x200xf32>
  return %0 : tensor<?x200xf32>
}

!gathered_a = !blockscale.tensor<?x384xf8E4M3FN>
!gathered_b = !blockscale.tensor<3x136x384xf8E4M3FN, "n2m4", layout = tiled_128x4>
func.func @gathered(%a: !gathered_a, %b: !gathered_b, %ends: tensor<3xi32>, %rows: tensor<?xi32>) -> tensor<?x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<3xi32>) rows(%rows : tensor<?xi32>) : !gathered_a, !gathered_b -> tensor<?x136xf32>
  return %0 : tensor<?x136xf32>
}

!counted_a = !blockscale.tensor<3x140x384xf8E4M3FN, "e8m0_t64", layout = tiled_128x4>
!counted_b = !blockscale.tensor<3x136x384xf8E4M3FN, "e8m0_t32n2m4", layout = tiled_128x4>
func.func @counts(%a: !counted_a, %b: !counted_b, %counts: tensor<3xi32>) -> tensor<3x140x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%counts : tensor<3xi32>) : !counted_a, !counted_b -> tensor<3x140x136xf32>
  return %0 : tensor<3x140x136xf32>
}
