// Pairs of columns that make one of the result, executed: with a bias, C and factors,
// with scales of columns, with groups, and with a size that only running tells.

// RUN: blockscale-opt %s --blockscale-to-linalg | FileCheck %s --check-prefix=IR
// RUN: blockscale-opt %s --blockscale-to-linalg --canonicalize --cse \
// RUN: | mlir-opt --one-shot-bufferize=bufferize-function-boundaries \
// RUN:   --convert-linalg-to-loops --convert-scf-to-cf \
// RUN:   --expand-strided-metadata --lower-affine --convert-to-llvm \
// RUN:   --reconcile-unrealized-casts \
// RUN: | %mlir-runner -e main -entry-point-result=void \
// RUN:   -shared-libs=%mlir_runner_libs | FileCheck %s

func.func private @printMemrefF32(tensor<*xf32>)

!a = !blockscale.tensor<2x2xbf16>
!b = !blockscale.tensor<4x2xbf16>
!any = !blockscale.tensor<?x2xbf16>
!sa = !blockscale.tensor<2x2xf8E4M3FN, "float32_t0">
!sb = !blockscale.tensor<4x2xf8E4M3FN, "float32_t0">
!ga = !blockscale.tensor<3x2xbf16>
!gb = !blockscale.tensor<2x2x2xbf16>

// IR: #[[FIRST:.*]] = affine_map<(d0, d1) -> (d1 * 2)>
// IR: #[[SECOND:.*]] = affine_map<(d0, d1) -> (d1 * 2 + 1)>
// IR: func.func @dynamic
// IR: %[[HALF:.*]] = arith.divui
// IR: tensor.empty(%[[HALF]]) : tensor<2x?xf32>
// IR: linalg.generic
func.func @dynamic(%a: !a, %b: !any) -> tensor<2x?xf32> {
  %0 = blockscale.matmul %a, %b pairs epilogue(%x, %up) {
    %1 = arith.subf %up, %x : f32
    blockscale.yield %1
  } : !a, !any -> tensor<2x?xf32>
  return %0 : tensor<2x?xf32>
}

func.func @main() {
  %a = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xbf16>
  %b = arith.constant dense<[[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [2.0, 0.0]]> : tensor<4x2xbf16>
  %bias = arith.constant dense<[10.0, 20.0, 30.0, 40.0]> : tensor<4xf32>
  %c = arith.constant dense<[[100.0, 200.0], [300.0, 400.0]]> : tensor<2x2xf32>
  %beta = arith.constant 2.0 : f32
  %qa = blockscale.assemble %a : tensor<2x2xbf16> to !a
  %qb = blockscale.assemble %b : tensor<4x2xbf16> to !b
  // CHECK: [233, 451]
  // CHECK-NEXT: [635, 855]
  %0 = blockscale.matmul %qa, %qb beta(%beta) c(%c) bias(%bias) pairs epilogue(%x, %up, %add, %xb, %ub) {
    %1 = arith.addf %x, %xb : f32
    %2 = arith.addf %up, %ub : f32
    %3 = arith.addf %2, %2 : f32
    %4 = arith.subf %3, %1 : f32
    %5 = arith.addf %4, %add : f32
    blockscale.yield %5
  } : !a, !b, tensor<2x2xf32>, tensor<4xf32> -> tensor<2x2xf32>
  %1 = tensor.cast %0 : tensor<2x2xf32> to tensor<*xf32>
  call @printMemrefF32(%1) : (tensor<*xf32>) -> ()

  // A scale for each row and each column.
  // CHECK: [3, 4]
  // CHECK-NEXT: [50, 200]
  %ea = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf8E4M3FN>
  %eb = arith.constant dense<[[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [2.0, 0.0]]> : tensor<4x2xf8E4M3FN>
  %rows = arith.constant dense<[[1.0], [10.0]]> : tensor<2x1xf32>
  %columns = arith.constant dense<[[1.0], [2.0], [4.0], [8.0]]> : tensor<4x1xf32>
  %ra = blockscale.assemble %ea, %rows : tensor<2x2xf8E4M3FN>, tensor<2x1xf32> to !sa
  %rb = blockscale.assemble %eb, %columns : tensor<4x2xf8E4M3FN>, tensor<4x1xf32> to !sb
  %2 = blockscale.matmul %ra, %rb pairs epilogue(%x, %up) {
    %y = arith.subf %up, %x : f32
    blockscale.yield %y
  } : !sa, !sb -> tensor<2x2xf32>
  %3 = tensor.cast %2 : tensor<2x2xf32> to tensor<*xf32>
  call @printMemrefF32(%3) : (tensor<*xf32>) -> ()

  // Two rows with the first matrix, one with the second.
  // CHECK: [12]
  // CHECK-NEXT: [13]
  // CHECK-NEXT: [30]
  %tokens = arith.constant dense<[[1.0, 0.0], [0.0, 1.0], [2.0, 3.0]]> : tensor<3x2xbf16>
  %experts = arith.constant dense<[[[1.0, 2.0], [3.0, 5.0]], [[5.0, 6.0], [7.0, 8.0]]]> : tensor<2x2x2xbf16>
  %biases = arith.constant dense<[[10.0, 20.0], [30.0, 50.0]]> : tensor<2x2xf32>
  %ends = arith.constant dense<[2, 3]> : tensor<2xi32>
  %qt = blockscale.assemble %tokens : tensor<3x2xbf16> to !ga
  %qe = blockscale.assemble %experts : tensor<2x2x2xbf16> to !gb
  %4 = blockscale.matmul %qt, %qe groups(%ends : tensor<2xi32>) bias(%biases) pairs epilogue(%x, %up, %xb, %ub) {
    %g = arith.addf %x, %xb : f32
    %u = arith.addf %up, %ub : f32
    %y = arith.subf %u, %g : f32
    blockscale.yield %y
  } : !ga, !gb, tensor<2x2xf32> -> tensor<3x1xf32>
  %5 = tensor.cast %4 : tensor<3x1xf32> to tensor<*xf32>
  call @printMemrefF32(%5) : (tensor<*xf32>) -> ()

  // CHECK: [1, -1]
  // CHECK-NEXT: [1, -1]
  %some = tensor.cast %b : tensor<4x2xbf16> to tensor<?x2xbf16>
  %qs = blockscale.assemble %some : tensor<?x2xbf16> to !any
  %6 = call @dynamic(%qa, %qs) : (!a, !any) -> tensor<2x?xf32>
  %7 = tensor.cast %6 : tensor<2x?xf32> to tensor<*xf32>
  call @printMemrefF32(%7) : (tensor<*xf32>) -> ()
  return
}
