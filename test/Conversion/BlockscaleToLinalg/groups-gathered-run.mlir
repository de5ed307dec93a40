// A product with groups whose rows are gathered by number, executed.

// RUN: blockscale-opt %s --blockscale-to-linalg --canonicalize --cse \
// RUN: | mlir-opt --one-shot-bufferize=bufferize-function-boundaries \
// RUN:   --convert-linalg-to-loops --convert-scf-to-cf \
// RUN:   --expand-strided-metadata --lower-affine --convert-to-llvm \
// RUN:   --reconcile-unrealized-casts \
// RUN: | %mlir-runner -e main -entry-point-result=void \
// RUN:   -shared-libs=%mlir_runner_libs | FileCheck %s

func.func private @printMemrefF32(tensor<*xf32>)

!a = !blockscale.tensor<3x2xbf16>
!b = !blockscale.tensor<3x2x2xbf16>
!tokens = !blockscale.tensor<2x32xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
!experts = !blockscale.tensor<2x1x32xf8E4M3FN, "e8m0_t32">
!rows = !blockscale.tensor<2x32xf8E4M3FN, "float32_t0">
!columns = !blockscale.tensor<2x1x32xf8E4M3FN, "float32_t0">

func.func @main() {
  // Token 2 twice with the first matrix, none with the second, tokens 0 and 2 and
  // numbers of none with the third, each with its bias; nobody has the last row.
  // CHECK: [10, 29]
  // CHECK-NEXT: [10, 29]
  // CHECK-NEXT: [35, 47]
  // CHECK-NEXT: [30, 40]
  // CHECK-NEXT: [48, 64]
  // CHECK-NEXT: [30, 40]
  // CHECK-NEXT: [0, 0]
  %a = arith.constant dense<[[1.0, 0.0], [0.0, 1.0], [0.0, 3.0]]> : tensor<3x2xbf16>
  %b = arith.constant dense<[[[1.0, 0.0], [5.0, 3.0]], [[100.0, 100.0], [100.0, 100.0]], [[5.0, 6.0], [7.0, 8.0]]]> : tensor<3x2x2xbf16>
  %bias = arith.constant dense<[[10.0, 20.0], [1000.0, 1000.0], [30.0, 40.0]]> : tensor<3x2xf32>
  %ends = arith.constant dense<[2, 2, 6]> : tensor<3xi32>
  %ids = arith.constant dense<[2, 2, 0, -1, 2, 3, 1]> : tensor<7xi32>
  %qa = blockscale.assemble %a : tensor<3x2xbf16> to !a
  %qb = blockscale.assemble %b : tensor<3x2x2xbf16> to !b
  %0 = blockscale.matmul %qa, %qb groups(%ends : tensor<3xi32>) rows(%ids : tensor<7xi32>) bias(%bias) : !a, !b, tensor<3x2xf32> -> tensor<7x2xf32>
  %1 = tensor.cast %0 : tensor<7x2xf32> to tensor<*xf32>
  call @printMemrefF32(%1) : (tensor<*xf32>) -> ()

  // Scales that lie by groups are those of the rows of the product: the same token
  // has another one in each, that of the second group lies at row 128.
  // CHECK: [64]
  // CHECK-NEXT: [256]
  // CHECK-NEXT: [512]
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %two = arith.constant 2.0 : f8E8M0FNU
  %four = arith.constant 4.0 : f8E8M0FNU
  %eight = arith.constant 8.0 : f8E8M0FNU
  %ones = arith.constant dense<1.0> : tensor<2x1x32x16xf8E8M0FNU>
  %s0 = tensor.insert %two into %ones[%c0, %c0, %c0, %c0] : tensor<2x1x32x16xf8E8M0FNU>
  %s1 = tensor.insert %four into %s0[%c1, %c0, %c0, %c0] : tensor<2x1x32x16xf8E8M0FNU>
  %s2 = tensor.insert %eight into %s1[%c1, %c0, %c1, %c0] : tensor<2x1x32x16xf8E8M0FNU>
  %x1 = arith.constant dense<1.0> : tensor<1x32xf8E4M3FN>
  %x2 = arith.constant dense<2.0> : tensor<1x32xf8E4M3FN>
  %x = tensor.concat dim(0) %x1, %x2 : (tensor<1x32xf8E4M3FN>, tensor<1x32xf8E4M3FN>) -> tensor<2x32xf8E4M3FN>
  %w = arith.constant dense<1.0> : tensor<2x1x32xf8E4M3FN>
  %sw = arith.constant dense<1.0> : tensor<2x1x1xf8E8M0FNU>
  %of = arith.constant dense<[1, 3]> : tensor<2xi32>
  %ids2 = arith.constant dense<[0, 1, 1]> : tensor<3xi32>
  %qx = blockscale.assemble %x, %s2 : tensor<2x32xf8E4M3FN>, tensor<2x1x32x16xf8E8M0FNU> to !tokens
  %qw = blockscale.assemble %w, %sw : tensor<2x1x32xf8E4M3FN>, tensor<2x1x1xf8E8M0FNU> to !experts
  %2 = blockscale.matmul %qx, %qw groups(%of : tensor<2xi32>) rows(%ids2 : tensor<3xi32>) : !tokens, !experts -> tensor<3x1xf32>
  %3 = tensor.cast %2 : tensor<3x1xf32> to tensor<*xf32>
  call @printMemrefF32(%3) : (tensor<*xf32>) -> ()

  // Scales of rows go with the rows of A.
  // CHECK: [640]
  // CHECK-NEXT: [96]
  // CHECK-NEXT: [0]
  %sx = arith.constant dense<[[3.0], [10.0]]> : tensor<2x1xf32>
  %sc = arith.constant dense<1.0> : tensor<2x1x1xf32>
  %ids3 = arith.constant dense<[1, 0, 2]> : tensor<3xi32>
  %qr = blockscale.assemble %x, %sx : tensor<2x32xf8E4M3FN>, tensor<2x1xf32> to !rows
  %qc = blockscale.assemble %w, %sc : tensor<2x1x32xf8E4M3FN>, tensor<2x1x1xf32> to !columns
  %4 = blockscale.matmul %qr, %qc groups(%of : tensor<2xi32>) rows(%ids3 : tensor<3xi32>) : !rows, !columns -> tensor<3x1xf32>
  %5 = tensor.cast %4 : tensor<3x1xf32> to tensor<*xf32>
  call @printMemrefF32(%5) : (tensor<*xf32>) -> ()
  return
}
