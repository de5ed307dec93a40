// A product with groups, executed: a loop of products.

// RUN: blockscale-opt %s --blockscale-to-linalg --canonicalize --cse \
// RUN: | mlir-opt --one-shot-bufferize=bufferize-function-boundaries \
// RUN:   --convert-linalg-to-loops --convert-scf-to-cf \
// RUN:   --expand-strided-metadata --lower-affine --convert-to-llvm \
// RUN:   --reconcile-unrealized-casts \
// RUN: | %mlir-runner -e main -entry-point-result=void \
// RUN:   -shared-libs=%mlir_runner_libs | FileCheck %s

func.func private @printMemrefF32(tensor<*xf32>)

!a = !blockscale.tensor<5x2xbf16>
!b = !blockscale.tensor<3x2x2xbf16>
!masked = !blockscale.tensor<3x2x2xbf16>
!tokens = !blockscale.tensor<3x32xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
!experts = !blockscale.tensor<2x1x32xf8E4M3FN, "e8m0_t32">

func.func @main() {
  // Rows 0 and 1 with the first matrix, none with the second, 2 and 3 with the
  // third, each with its bias; nobody has row 4.
  // CHECK: [11, 23]
  // CHECK-NEXT: [12, 24]
  // CHECK-NEXT: [40, 54]
  // CHECK-NEXT: [48, 64]
  // CHECK-NEXT: [0, 0]
  %a = arith.constant dense<[[1.0, 0.0], [0.0, 1.0], [2.0, 0.0], [0.0, 3.0], [7.0, 7.0]]> : tensor<5x2xbf16>
  %b = arith.constant dense<[[[1.0, 2.0], [3.0, 4.0]], [[100.0, 100.0], [100.0, 100.0]], [[5.0, 6.0], [7.0, 8.0]]]> : tensor<3x2x2xbf16>
  %bias = arith.constant dense<[[10.0, 20.0], [1000.0, 1000.0], [30.0, 40.0]]> : tensor<3x2xf32>
  %ends = arith.constant dense<[2, 2, 4]> : tensor<3xi32>
  %qa = blockscale.assemble %a : tensor<5x2xbf16> to !a
  %qb = blockscale.assemble %b : tensor<3x2x2xbf16> to !b
  %0 = blockscale.matmul %qa, %qb groups(%ends : tensor<3xi32>) bias(%bias) : !a, !b, tensor<3x2xf32> -> tensor<5x2xf32>
  %1 = tensor.cast %0 : tensor<5x2xf32> to tensor<*xf32>
  call @printMemrefF32(%1) : (tensor<*xf32>) -> ()

  // Ends that contradict each other or the number of rows mean what they mean to
  // kernels: the first group has all rows, the others none.
  // CHECK: [11, 23]
  // CHECK-NEXT: [12, 24]
  // CHECK-NEXT: [12, 26]
  // CHECK-NEXT: [16, 32]
  // CHECK-NEXT: [31, 69]
  %wrong = arith.constant dense<[100, -1, 3]> : tensor<3xi32>
  %2 = blockscale.matmul %qa, %qb groups(%wrong : tensor<3xi32>) bias(%bias) : !a, !b, tensor<3x2xf32> -> tensor<5x2xf32>
  %3 = tensor.cast %2 : tensor<5x2xf32> to tensor<*xf32>
  call @printMemrefF32(%3) : (tensor<*xf32>) -> ()

  // A bias along the rows counts through those of all groups.
  // CHECK: [101, 103]
  // CHECK-NEXT: [202, 204]
  // CHECK-NEXT: [310, 314]
  // CHECK-NEXT: [418, 424]
  // CHECK-NEXT: [0, 0]
  %along = arith.constant dense<[100.0, 200.0, 300.0, 400.0, 500.0]> : tensor<5xf32>
  %6 = blockscale.matmul %qa, %qb groups(%ends : tensor<3xi32>) bias(%along) row : !a, !b, tensor<5xf32> -> tensor<5x2xf32>
  %7 = tensor.cast %6 : tensor<5x2xf32> to tensor<*xf32>
  call @printMemrefF32(%7) : (tensor<*xf32>) -> ()

  // Matrices of their own, of which one row, more than there are and none count.
  // CHECK: sizes = [3, 2, 2]
  // CHECK: [11, 23]
  // CHECK-NEXT: [0, 0]
  // CHECK: [1500, 1500]
  // CHECK-NEXT: [1400, 1400]
  // CHECK: [0, 0]
  // CHECK-NEXT: [0, 0]
  %am = arith.constant dense<[[[1.0, 0.0], [7.0, 7.0]], [[2.0, 3.0], [4.0, 0.0]], [[7.0, 7.0], [7.0, 7.0]]]> : tensor<3x2x2xbf16>
  %counts = arith.constant dense<[1, 9, -1]> : tensor<3xi32>
  %qm = blockscale.assemble %am : tensor<3x2x2xbf16> to !masked
  %8 = blockscale.matmul %qm, %qb groups(%counts : tensor<3xi32>) bias(%bias) : !masked, !b, tensor<3x2xf32> -> tensor<3x2x2xf32>
  %9 = tensor.cast %8 : tensor<3x2x2xf32> to tensor<*xf32>
  call @printMemrefF32(%9) : (tensor<*xf32>) -> ()

  // A row and two rows; the scales of the second group start at row 128.
  // CHECK: [64]
  // CHECK-NEXT: [128]
  // CHECK-NEXT: [256]
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %two = arith.constant 2.0 : f8E8M0FNU
  %four = arith.constant 4.0 : f8E8M0FNU
  %eight = arith.constant 8.0 : f8E8M0FNU
  %ones = arith.constant dense<1.0> : tensor<2x1x32x16xf8E8M0FNU>
  %s0 = tensor.insert %two into %ones[%c0, %c0, %c0, %c0] : tensor<2x1x32x16xf8E8M0FNU>
  %s1 = tensor.insert %four into %s0[%c1, %c0, %c0, %c0] : tensor<2x1x32x16xf8E8M0FNU>
  %s2 = tensor.insert %eight into %s1[%c1, %c0, %c1, %c0] : tensor<2x1x32x16xf8E8M0FNU>
  %x = arith.constant dense<1.0> : tensor<3x32xf8E4M3FN>
  %w = arith.constant dense<1.0> : tensor<2x1x32xf8E4M3FN>
  %sw = arith.constant dense<1.0> : tensor<2x1x1xf8E8M0FNU>
  %of = arith.constant dense<[1, 3]> : tensor<2xi32>
  %qx = blockscale.assemble %x, %s2 : tensor<3x32xf8E4M3FN>, tensor<2x1x32x16xf8E8M0FNU> to !tokens
  %qw = blockscale.assemble %w, %sw : tensor<2x1x32xf8E4M3FN>, tensor<2x1x1xf8E8M0FNU> to !experts
  %4 = blockscale.matmul %qx, %qw groups(%of : tensor<2xi32>) : !tokens, !experts -> tensor<3x1xf32>
  %5 = tensor.cast %4 : tensor<3x1xf32> to tensor<*xf32>
  call @printMemrefF32(%5) : (tensor<*xf32>) -> ()
  return
}
