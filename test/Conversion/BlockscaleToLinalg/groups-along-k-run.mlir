// A product whose K is in groups, executed: a loop of products.

// RUN: blockscale-opt %s --blockscale-to-linalg --canonicalize --cse \
// RUN: | mlir-opt --one-shot-bufferize=bufferize-function-boundaries \
// RUN:   --convert-linalg-to-loops --convert-scf-to-cf \
// RUN:   --expand-strided-metadata --lower-affine --convert-to-llvm \
// RUN:   --reconcile-unrealized-casts \
// RUN: | %mlir-runner -e main -entry-point-result=void \
// RUN:   -shared-libs=%mlir_runner_libs | FileCheck %s

func.func private @printMemrefF32(tensor<*xf32>)

!a = !blockscale.tensor<2x5xbf16>
!b = !blockscale.tensor<2x5xbf16>

!x = !blockscale.tensor<2x?xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
!w = !blockscale.tensor<1x?xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>

!rows = !blockscale.tensor<2x5xf8E4M3FN, "float32_t0", layout = grouped>
!each = !blockscale.tensor<2x5xf8E4M3FN, "float32", layout = grouped>
!one = !blockscale.tensor<2x5xf8E4M3FN, "float32">

func.func @main() {
  // Elements 0 and 1 of K, none, and 2 and 3; nobody has element 4. Each group has a
  // bias, the empty one too.
  // CHECK: [11, 22]
  // CHECK-NEXT: [13, 24]
  // CHECK: [100, 200]
  // CHECK-NEXT: [100, 200]
  // CHECK: [1035, 2046]
  // CHECK-NEXT: [1055, 2072]
  %a = arith.constant dense<[[1.0, 0.0, 3.0, 4.0, 50.0], [1.0, 2.0, 5.0, 6.0, 60.0]]> : tensor<2x5xbf16>
  %b = arith.constant dense<[[1.0, 1.0, 5.0, 5.0, 90.0], [2.0, 1.0, 6.0, 7.0, 90.0]]> : tensor<2x5xbf16>
  %bias = arith.constant dense<[[10.0, 20.0], [100.0, 200.0], [1000.0, 2000.0]]> : tensor<3x2xf32>
  %ends = arith.constant dense<[2, 2, 4]> : tensor<3xi32>
  %qa = blockscale.assemble %a : tensor<2x5xbf16> to !a
  %qb = blockscale.assemble %b : tensor<2x5xbf16> to !b
  %0 = blockscale.matmul %qa, %qb groups(%ends : tensor<3xi32>) bias(%bias) : !a, !b, tensor<3x2xf32> -> tensor<3x2x2xf32>
  %1 = tensor.cast %0 : tensor<3x2x2xf32> to tensor<*xf32>
  call @printMemrefF32(%1) : (tensor<*xf32>) -> ()

  // Ends that contradict each other or K mean what they mean to kernels: the first
  // group has all of K, the other none.
  // CHECK: [4536, 4548]
  // CHECK-NEXT: [5458, 5476]
  // CHECK: [0, 0]
  // CHECK-NEXT: [0, 0]
  %wrong = arith.constant dense<[100, -1]> : tensor<2xi32>
  %2 = blockscale.matmul %qa, %qb groups(%wrong : tensor<2xi32>) : !a, !b -> tensor<2x2x2xf32>
  %3 = tensor.cast %2 : tensor<2x2x2xf32> to tensor<*xf32>
  call @printMemrefF32(%3) : (tensor<*xf32>) -> ()

  // One group of 64 elements and one of 32, an empty one between them: the scales of
  // the last one are in a tile of their own.
  // CHECK: [96]
  // CHECK-NEXT: [64]
  // CHECK: [0]
  // CHECK-NEXT: [0]
  // CHECK: [128]
  // CHECK-NEXT: [256]
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %two = arith.constant 2.0 : f8E8M0FNU
  %four = arith.constant 4.0 : f8E8M0FNU
  %eight = arith.constant 8.0 : f8E8M0FNU
  %ones = arith.constant dense<1.0> : tensor<2x1x32x16xf8E8M0FNU>
  %s0 = tensor.insert %two into %ones[%c0, %c0, %c0, %c1] : tensor<2x1x32x16xf8E8M0FNU>
  %s1 = tensor.insert %four into %s0[%c1, %c0, %c0, %c0] : tensor<2x1x32x16xf8E8M0FNU>
  %s2 = tensor.insert %eight into %s1[%c1, %c0, %c1, %c0] : tensor<2x1x32x16xf8E8M0FNU>
  %sx = tensor.cast %s2 : tensor<2x1x32x16xf8E8M0FNU> to tensor<?x?x32x16xf8E8M0FNU>
  %sw = tensor.cast %ones : tensor<2x1x32x16xf8E8M0FNU> to tensor<?x?x32x16xf8E8M0FNU>
  %dx = arith.constant dense<1.0> : tensor<2x96xf8E4M3FN>
  %dw = arith.constant dense<1.0> : tensor<1x96xf8E4M3FN>
  %x = tensor.cast %dx : tensor<2x96xf8E4M3FN> to tensor<2x?xf8E4M3FN>
  %y = tensor.cast %dw : tensor<1x96xf8E4M3FN> to tensor<1x?xf8E4M3FN>
  %of = arith.constant dense<[64, 64, 96]> : tensor<3xi32>
  %qx = blockscale.assemble %x, %sx : tensor<2x?xf8E4M3FN>, tensor<?x?x32x16xf8E8M0FNU> to !x
  %qw = blockscale.assemble %y, %sw : tensor<1x?xf8E4M3FN>, tensor<?x?x32x16xf8E8M0FNU> to !w
  %4 = blockscale.matmul %qx, %qw groups(%of : tensor<3xi32>) : !x, !w -> tensor<3x2x1xf32>
  %5 = tensor.cast %4 : tensor<3x2x1xf32> to tensor<*xf32>
  call @printMemrefF32(%5) : (tensor<*xf32>) -> ()

  // Scales of the rows of each group.
  // CHECK: [2, 40]
  // CHECK-NEXT: [12, 160]
  // CHECK: [0, 0]
  // CHECK-NEXT: [0, 0]
  // CHECK: [35, 23]
  // CHECK-NEXT: [330, 216]
  %fa = arith.constant dense<[[1.0, 0.0, 3.0, 4.0, 9.0], [1.0, 2.0, 5.0, 6.0, 8.0]]> : tensor<2x5xf8E4M3FN>
  %fb = arith.constant dense<[[1.0, 1.0, 5.0, 5.0, 9.0], [2.0, 1.0, 6.0, 7.0, 9.0]]> : tensor<2x5xf8E4M3FN>
  %ra = arith.constant dense<[[[2.0], [4.0]], [[8.0], [16.0]], [[0.5], [3.0]]]> : tensor<3x2x1xf32>
  %rb = arith.constant dense<[[[1.0], [10.0]], [[5.0], [5.0]], [[2.0], [1.0]]]> : tensor<3x2x1xf32>
  %rsa = tensor.cast %ra : tensor<3x2x1xf32> to tensor<?x2x1xf32>
  %rsb = tensor.cast %rb : tensor<3x2x1xf32> to tensor<?x2x1xf32>
  %qra = blockscale.assemble %fa, %rsa : tensor<2x5xf8E4M3FN>, tensor<?x2x1xf32> to !rows
  %qrb = blockscale.assemble %fb, %rsb : tensor<2x5xf8E4M3FN>, tensor<?x2x1xf32> to !rows
  %6 = blockscale.matmul %qra, %qrb groups(%ends : tensor<3xi32>) : !rows, !rows -> tensor<3x2x2xf32>
  %7 = tensor.cast %6 : tensor<3x2x2xf32> to tensor<*xf32>
  call @printMemrefF32(%7) : (tensor<*xf32>) -> ()

  // A scale of each group, and one of all.
  // CHECK: [20, 40]
  // CHECK-NEXT: [60, 80]
  // CHECK: [0, 0]
  // CHECK-NEXT: [0, 0]
  // CHECK: [1400, 1840]
  // CHECK-NEXT: [2200, 2880]
  %ea = arith.constant dense<[[[2.0]], [[3.0]], [[4.0]]]> : tensor<3x1x1xf32>
  %esa = tensor.cast %ea : tensor<3x1x1xf32> to tensor<?x1x1xf32>
  %ob = arith.constant dense<10.0> : tensor<1x1xf32>
  %qea = blockscale.assemble %fa, %esa : tensor<2x5xf8E4M3FN>, tensor<?x1x1xf32> to !each
  %qob = blockscale.assemble %fb, %ob : tensor<2x5xf8E4M3FN>, tensor<1x1xf32> to !one
  %8 = blockscale.matmul %qea, %qob groups(%ends : tensor<3xi32>) : !each, !one -> tensor<3x2x2xf32>
  %9 = tensor.cast %8 : tensor<3x2x2xf32> to tensor<*xf32>
  call @printMemrefF32(%9) : (tensor<*xf32>) -> ()
  return
}
