// Indices into tables, executed: their values, a product of two formats, rows of one.

// RUN: blockscale-opt %s --blockscale-to-linalg --canonicalize \
// RUN: | mlir-opt --one-shot-bufferize=bufferize-function-boundaries \
// RUN:   --convert-linalg-to-loops --convert-scf-to-cf \
// RUN:   --expand-strided-metadata --lower-affine --convert-to-llvm \
// RUN:   --reconcile-unrealized-casts \
// RUN: | %mlir-runner -e main -entry-point-result=void \
// RUN:   -shared-libs=%mlir_runner_libs | FileCheck %s

func.func private @printMemrefF32(tensor<*xf32>)

!mx6 = !blockscale.tensor<2x32x!blockscale.codebook<"cb51ie_int7">, "mx6">
!squares = !blockscale.tensor<6x32x!blockscale.codebook<"cb42f1346_e2m3fnuz">, "e8m0_t4s4_t16s8">
!tiled = !blockscale.tensor<6x32x!blockscale.codebook<"cb42f1346_e2m3fnuz">, "e8m0_t4s4_t16s8", layout = tiled_128x4>
!last = !blockscale.tensor<2x32x!blockscale.codebook<"cb42f1346_e2m3fnuz">, "e8m0_t4s4_t16s8">

func.func @main() {
  %datamx6 = arith.constant dense<[[-16, -10, 1, -3, 15, 3, 10, 7, -9, -2, 15, -8, 6, 15, 0, 13, -6, -15, 11, -8, 10, 4, 8, -4, 8, 8, 0, 0, 13, 13, 10, 10], [-14, -12, 12, 13, 11, 12, -8, -13, 1, -9, -6, 10, 9, -16, 4, -11, -13, 0, -11, 4, -13, -10, -13, -2, -12, 11, -2, -2, 11, 3, -16, 1]]> : tensor<2x32xi5>
  %scalesmx6 = arith.constant dense<[[0.25, 0.5], [2.0, 4.0]]> : tensor<2x2xf8E8M0FNU>
  %tablesmx6 = arith.constant dense<[[-73, -50], [9, -42]]> : tensor<2x2xi8>
  %qmx6 = blockscale.assemble %datamx6, %scalesmx6 metadata(%tablesmx6 : tensor<2x2xi8>) : tensor<2x32xi5>, tensor<2x2xf8E8M0FNU> to !blockscale.tensor<2x32x!blockscale.codebook<"cb51ie_int7">, "mx6">

  %datasquares = arith.constant dense<[[-5, -4, 0, -2, 1, 5, 6, 3, 7, -2, -5, -5, -8, -2, 3, -5, -7, 1, -3, 2, 6, -6, -5, 4, -6, -8, 2, -7, -6, -7, 5, 2], [4, -7, -1, 5, 1, 2, -4, 1, 7, -5, -8, -2, -3, 4, 1, 1, -1, -6, 6, 4, 4, -3, 3, 5, -3, -5, 4, 1, -3, -7, 4, -2], [5, -2, -1, -6, -1, -8, -7, -1, -4, 4, 3, -4, 5, -1, -6, 5, 2, -1, -8, -5, 2, -5, 1, -7, -5, -8, -1, -8, -7, -6, 5, 0], [-1, -8, -6, -8, -2, -7, -5, -5, -8, -5, -3, -5, 5, -2, -5, -6, 4, 5, 6, -5, -1, -7, 2, -3, 5, -3, -7, -8, 0, 6, 5, -2], [5, 7, 5, 1, -1, 7, 5, 1, 4, 3, -6, 5, -1, 6, 1, -3, -2, -5, -4, 2, 6, 7, -5, 0, -5, -4, -8, -3, 3, -5, 1, -7], [3, -7, -6, -7, -5, 4, -3, -3, -5, -2, 4, 5, -4, -1, 6, 4, 2, -5, 0, -4, 3, -6, 4, -6, -4, -3, -3, 7, -1, -7, -1, -4]]> : tensor<6x32xi4>
  %scalessquares = arith.constant dense<[[0.25, 0.5], [2.0, 4.0]]> : tensor<2x2xf8E8M0FNU>
  %tablessquares = arith.constant dense<[[-60], [81]]> : tensor<2x1xi8>
  %qsquares = blockscale.assemble %datasquares, %scalessquares metadata(%tablessquares : tensor<2x1xi8>) : tensor<6x32xi4>, tensor<2x2xf8E8M0FNU> to !blockscale.tensor<6x32x!blockscale.codebook<"cb42f1346_e2m3fnuz">, "e8m0_t4s4_t16s8">

  // CHECK: [-0, -0.09375, 0.015625, -0.203125, 0.234375, 0.046875, 0.3125, 0.21875, -0.109375, -0.21875, 0.234375, -0.125, 0.1875, 0.46875, 0, 0.203125, -0.625, -0.0625, 0.34375, -0.25, 0.3125, 0.125, 0.25, -0.375, 0.5, 0.5, 0, 0, 0.40625, 0.40625, 0.3125, 0.3125]
  // CHECK: [-0.25, -0.5, 3, 3.25, 2.75, 3, -1, -0.375, 0.25, -1.75, -2.5, 2.5, 2.25, -0, 1, -1.25, -1.5, 0, -1.25, 1, -0.75, -1.5, -1.5, -7, -1, 2.75, -7, -7, 2.75, 0.75, -0, 0.25]
  %0 = blockscale.dequantize %qmx6 : !mx6 to tensor<2x32xf32>
  %1 = tensor.cast %0 : tensor<2x32xf32> to tensor<*xf32>
  call @printMemrefF32(%1) : (tensor<*xf32>) -> ()

  // CHECK: [-0.0380859, 0.806641, -0.727539, -0.601562, 2.60156, -32.8672]
  // CHECK: [-6.21094, -22.2422, 4.48438, 4.97656, 86.5, -158.375]
  %tiled = blockscale.relayout %qsquares : !squares to !tiled
  %2 = blockscale.matmul %qmx6, %tiled : !mx6, !tiled -> tensor<2x6xf32>
  %3 = tensor.cast %2 : tensor<2x6xf32> to tensor<*xf32>
  call @printMemrefF32(%3) : (tensor<*xf32>) -> ()

  // CHECK: [6, 12, 6, 1, -12, 12, 6, 1, 5, 3.5, -2.5, 7, -14, 10, 1.5, -7, -16, -6, -8, 4, 16, 24, -6, 0, -6, -8, -0, -12, 6, -6, 2, -2]
  // CHECK: [3, -1, -2, -1, -3, 4, -6, -6, -3.5, -10, 5, 7, -5, -14, 10, 5, 4, -6, 0, -8, 6, -4, 8, -4, -8, -12, -12, 24, -24, -2, -24, -8]
  %4 = blockscale.slice_rows %qsquares[4] [2] : !squares to !last
  %5 = blockscale.dequantize %4 : !last to tensor<2x32xf32>
  %6 = tensor.cast %5 : tensor<2x32xf32> to tensor<*xf32>
  call @printMemrefF32(%6) : (tensor<*xf32>) -> ()
  return
}
