// Zero points of sparse elements, executed: what was pruned is 0, whatever the zero point
// of its tile, and what is kept is less it. What is expected was worked out by hand.

// RUN: blockscale-opt %s --blockscale-to-linalg --cse \
// RUN: | mlir-opt --convert-elementwise-to-linalg --one-shot-bufferize=bufferize-function-boundaries \
// RUN:   --convert-linalg-to-loops --convert-scf-to-cf \
// RUN:   --expand-strided-metadata --lower-affine --convert-to-llvm \
// RUN:   --reconcile-unrealized-casts \
// RUN: | %mlir-runner -e main -entry-point-result=void \
// RUN:   -shared-libs=%mlir_runner_libs | FileCheck %s
// RUN: blockscale-opt %s --blockscale-to-linalg=check-sparsity --cse | FileCheck %s --check-prefix=ASSERT

// ASSERT: more elements of a group are in use than the pattern 2:4 stores

func.func private @printMemrefI32(tensor<*xi32>)
func.func private @printMemrefF32(tensor<*xf32>)

!steps_dense = !blockscale.tensor<2x16xui8, "float32_int16_t8">
!steps = !blockscale.tensor<2x16xui8, "float32_int16_t4n2m4">
!real = !blockscale.tensor<2x16xui4, "float32_float32_t4n2m4">
!rows = !blockscale.tensor<2x16xui8, "float32_int16_t0n2m4">
!ones = !blockscale.tensor<1x16xf8E4M3FN>

// Kept are 0 and 2, 1 and 3, 0 and 3, 0 and 1; 2 and 3, 0 and 3, 1 and 3, 1 and 2.
func.func @metadata() -> tensor<2x2xi8> {
  %m = arith.constant dense<[[216, 76], [206, 157]]> : tensor<2x2xi8>
  return %m : tensor<2x2xi8>
}

func.func @print(%x: tensor<2x16xf32>) {
  %any = tensor.cast %x : tensor<2x16xf32> to tensor<*xf32>
  call @printMemrefF32(%any) : (tensor<*xf32>) -> ()
  return
}

func.func @main() {
  %m = call @metadata() : () -> tensor<2x2xi8>
  %s = arith.constant dense<[[2.0, 0.5], [4.0, 1.0]]> : tensor<2x2xf32>

  // Codes less 5, 200, -3 and 7.
  // CHECK: {{\[}}[-8, 0, 10, 0, 0, 0, 0, -10, -50, 0, 0, 27.5, 0.5, -100, 0, 0],
  // CHECK-NEXT: [0, 0, 12, 16, 20, 0, 0, 24, 0, -7, 0, 248, 0, 0, 1, 0]]
  %d = arith.constant dense<[[1, 10, 5, 0, 100, 255, 201, 0],
                             [0, 1, 2, 3, 0, 255, 7, 8]]> : tensor<2x8xi8>
  %z = arith.constant dense<[[5, 200], [-3, 7]]> : tensor<2x2xi16>
  %x = blockscale.assemble %d, %s zeros(%z : tensor<2x2xi16>) metadata(%m : tensor<2x2xi8>)
    : tensor<2x8xi8>, tensor<2x2xf32> to !steps
  %v = blockscale.dequantize %x : !steps to tensor<2x16xf32>
  call @print(%v) : (tensor<2x16xf32>) -> ()

  // Under one zero point of a row the sums are -8, 10, 0, -10, 190, 500, 392, -10, which
  // is 2 * (572 - 8 * 5), and 3 + 4 + 5 + 6 + 3 + 258 + 10 + 11 times 1/2.
  // CHECK: [1064, 150]
  %one = arith.constant dense<1.0> : tensor<1x16xf8E4M3FN>
  %ones = blockscale.assemble %one : tensor<1x16xf8E4M3FN> to !ones
  %rs = arith.constant dense<[[2.0], [0.5]]> : tensor<2x1xf32>
  %rz = arith.constant dense<[[5], [-3]]> : tensor<2x1xi16>
  %r = blockscale.assemble %d, %rs zeros(%rz : tensor<2x1xi16>) metadata(%m : tensor<2x2xi8>)
    : tensor<2x8xi8>, tensor<2x1xf32> to !rows
  %p = blockscale.matmul %ones, %r : !ones, !rows -> tensor<1x2xf32>
  %pa = tensor.cast %p : tensor<1x2xf32> to tensor<*xf32>
  call @printMemrefF32(%pa) : (tensor<*xf32>) -> ()

  // In real units: twice the codes less 1/4, half of them less 3, and so on.
  // CHECK: {{\[}}[1.75, 0, 19.75, 0, 0, 9.75, 0, -0.25, -3, 0, 0, 4.5, -2.5, -3, 0, 0],
  // CHECK-NEXT: [0, 0, 1, 5, 9, 0, 0, 13, 0, -100, 0, -85, 0, -93, -92, 0]]
  %c = arith.constant dense<[[1, 10, 5, 0, 0, 15, 1, 0],
                             [0, 1, 2, 3, 0, 15, 7, 8]]> : tensor<2x8xi4>
  %rz2 = arith.constant dense<[[0.25, 3.0], [-1.0, 100.0]]> : tensor<2x2xf32>
  %y = blockscale.assemble %c, %s zeros(%rz2 : tensor<2x2xf32>) metadata(%m : tensor<2x2xi8>)
    : tensor<2x8xi4>, tensor<2x2xf32> to !real
  %w = blockscale.dequantize %y : !real to tensor<2x16xf32>
  call @print(%w) : (tensor<2x16xf32>) -> ()

  // What is its zero point is dropped, and nothing else: 0 is kept in the first tile.
  // CHECK: {{\[}}[0, 7, 9, 5, 0, 201, 199, 200],
  // CHECK-NEXT: [1, 2, 3, 4, 8, 7, 0, 9]]
  // CHECK: {{\[}}[216, 232],
  // CHECK-NEXT: [206, 204]]
  %full = arith.constant dense<[
    [0, 5, 7, 5, 5, 9, 5, 5, 0, 200, 201, 200, 200, 200, 199, 200],
    [3, 3, 1, 2, 3, 3, 3, 4, 8, 7, 7, 7, 0, 7, 7, 9]]> : tensor<2x16xi8>
  %fz = arith.constant dense<[[5, 200], [3, 7]]> : tensor<2x2xi16>
  %f = blockscale.assemble %full, %s zeros(%fz : tensor<2x2xi16>)
    : tensor<2x16xi8>, tensor<2x2xf32> to !steps_dense
  %k = blockscale.compress %f : !steps_dense to !steps
  %kd, %ks, %kz, %km = blockscale.disassemble %k : !steps
  %kw = arith.extui %kd : tensor<2x8xi8> to tensor<2x8xi32>
  %ka = tensor.cast %kw : tensor<2x8xi32> to tensor<*xi32>
  call @printMemrefI32(%ka) : (tensor<*xi32>) -> ()
  %mw = arith.extui %km : tensor<2x2xi8> to tensor<2x2xi32>
  %ma = tensor.cast %mw : tensor<2x2xi32> to tensor<*xi32>
  call @printMemrefI32(%ma) : (tensor<*xi32>) -> ()
  // The values are those of before.
  // CHECK: {{\[}}[-10, 0, 4, 0, 0, 8, 0, 0, -100, 0, 0.5, 0, 0, 0, -0.5, 0],
  // CHECK-NEXT: [0, 0, -8, -4, 0, 0, 0, 4, 1, 0, 0, 0, -7, 0, 0, 2]]
  %kv = blockscale.dequantize %k : !steps to tensor<2x16xf32>
  call @print(%kv) : (tensor<2x16xf32>) -> ()
  return
}
