// A product of 8 rows by 6 columns computed at once, and in tiles of 3 by 4
// with ends of 2: the same numbers. Elements, scales and bias
// differ from row to row, so that a slice from the wrong place would show.

// RUN: blockscale-opt %s \
// RUN:   --transform-preload-library=transform-library-paths=%S/Inputs/tile-matmul.mlir \
// RUN:   --transform-interpreter --canonicalize --cse \
// RUN: | FileCheck %s --check-prefix=TILED
// RUN: blockscale-opt %s \
// RUN:   --transform-preload-library=transform-library-paths=%S/Inputs/tile-matmul.mlir \
// RUN:   --transform-interpreter --blockscale-to-linalg \
// RUN:   --canonicalize --cse -o %t.mlir
// RUN: mlir-opt %t.mlir --one-shot-bufferize=bufferize-function-boundaries \
// RUN:   --convert-linalg-to-loops --lower-affine --convert-scf-to-cf \
// RUN:   --expand-strided-metadata --lower-affine --convert-to-llvm \
// RUN:   --reconcile-unrealized-casts \
// RUN: | %mlir-runner -e main -entry-point-result=void \
// RUN:   -shared-libs=%mlir_runner_libs | FileCheck %s

// The same eight rows twice.
// CHECK: sizes = [8, 6] {{.*}} data =
// CHECK-NEXT: {{\[}}[[ROW0:.*[1-9].*]],
// CHECK-NEXT: [[ROW1:.*]],
// CHECK-NEXT: [[ROW2:.*]],
// CHECK-NEXT: [[ROW3:.*]],
// CHECK-NEXT: [[ROW4:.*]],
// CHECK-NEXT: [[ROW5:.*]],
// CHECK-NEXT: [[ROW6:.*]],
// CHECK-NEXT: [[ROW7:.*[1-9].*]]
// CHECK: sizes = [8, 6] {{.*}} data =
// CHECK-NEXT: {{\[}}[[ROW0]],
// CHECK-NEXT: [[ROW1]],
// CHECK-NEXT: [[ROW2]],
// CHECK-NEXT: [[ROW3]],
// CHECK-NEXT: [[ROW4]],
// CHECK-NEXT: [[ROW5]],
// CHECK-NEXT: [[ROW6]],
// CHECK-NEXT: [[ROW7]]

!a = !blockscale.tensor<?x64xf8E4M3FN, "e8m0_t32">
!b = !blockscale.tensor<6x64xf8E4M3FN, "e8m0_t32">

func.func private @printMemrefF32(tensor<*xf32>)

func.func @whole(%a: !a, %b: !b, %c: tensor<?x6xf32>, %bias: tensor<6xf32>) -> tensor<?x6xf32> {
  %y = blockscale.matmul %a, %b c(%c) bias(%bias) activation(relu) : !a, !b, tensor<?x6xf32>, tensor<6xf32> -> tensor<?x6xf32>
  return %y : tensor<?x6xf32>
}

// TILED-LABEL: func.func @tiled
// TILED: scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step %{{.*}}
// TILED: scf.for %[[J:.*]] = %{{.*}} to %{{.*}} step %{{.*}}
// TILED-DAG: %[[A:.*]] = blockscale.slice_rows %{{.*}}[%[[I]]] [%{{.*}}] : !blockscale.tensor<?x64xf8E4M3FN, "e8m0_t32">
// TILED-DAG: %[[B:.*]] = blockscale.slice_rows %{{.*}}[%[[J]]] [%{{.*}}] : !blockscale.tensor<6x64xf8E4M3FN, "e8m0_t32">
// TILED-DAG: %[[C:.*]] = tensor.extract_slice %{{.*}}[%[[I]], %[[J]]]
// TILED-DAG: %[[BIAS:.*]] = tensor.extract_slice %{{.*}}[%[[J]]]
// TILED: %[[Y:.*]] = blockscale.matmul %[[A]], %[[B]] c(%[[C]]) bias(%[[BIAS]]) activation(relu)
// TILED: tensor.insert_slice %[[Y]] into %{{.*}}[%[[I]], %[[J]]]
func.func @tiled(%a: !a, %b: !b, %c: tensor<?x6xf32>, %bias: tensor<6xf32>) -> tensor<?x6xf32> {
  %y = blockscale.matmul %a, %b c(%c) bias(%bias) activation(relu) {tile} : !a, !b, tensor<?x6xf32>, tensor<6xf32> -> tensor<?x6xf32>
  return %y : tensor<?x6xf32>
}

// f32 values that differ everywhere: (row * 64 + column) mod 61 - 30 times
// 2^(row mod 3 - column / 32).
func.func @operand(%rows: index) -> tensor<?x64xf32> {
  %init = tensor.empty(%rows) : tensor<?x64xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%init : tensor<?x64xf32>) {
  ^bb0(%out: f32):
    %c61 = arith.constant 61 : index
    %c64 = arith.constant 64 : index
    %c32 = arith.constant 32 : index
    %c30 = arith.constant 30.0 : f32
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %1 = arith.muli %i, %c64 : index
    %2 = arith.addi %1, %j : index
    %3 = arith.remui %2, %c61 : index
    %4 = arith.index_cast %3 : index to i32
    %5 = arith.sitofp %4 : i32 to f32
    %6 = arith.subf %5, %c30 : f32
    %7 = arith.divui %j, %c32 : index
    %8 = arith.addi %i, %7 : index
    %9 = arith.index_cast %8 : index to i32
    %c23 = arith.constant 23 : i32
    %one = arith.constant 127 : i32
    %10 = arith.addi %9, %one : i32
    %11 = arith.shli %10, %c23 : i32
    %12 = arith.bitcast %11 : i32 to f32
    %13 = arith.mulf %6, %12 : f32
    linalg.yield %13 : f32
  } -> tensor<?x64xf32>
  return %0 : tensor<?x64xf32>
}

func.func @main() {
  %c6 = arith.constant 6 : index
  %c8 = arith.constant 8 : index
  %x = call @operand(%c8) : (index) -> tensor<?x64xf32>
  %w = call @operand(%c6) : (index) -> tensor<?x64xf32>
  %ws = tensor.cast %w : tensor<?x64xf32> to tensor<6x64xf32>
  %a = blockscale.quantize %x : tensor<?x64xf32> to !a
  %b = blockscale.quantize %ws : tensor<6x64xf32> to !b
  %bias = arith.constant dense<[1.0, -2.0, 3.0, -4.0, 5.0, -6.0]> : tensor<6xf32>
  %c64 = tensor.extract_slice %x[0, 0] [%c8, 6] [1, 1] : tensor<?x64xf32> to tensor<?x6xf32>
  %whole = call @whole(%a, %b, %c64, %bias) : (!a, !b, tensor<?x6xf32>, tensor<6xf32>) -> tensor<?x6xf32>
  %tiled = call @tiled(%a, %b, %c64, %bias) : (!a, !b, tensor<?x6xf32>, tensor<6xf32>) -> tensor<?x6xf32>
  %whole_any = tensor.cast %whole : tensor<?x6xf32> to tensor<*xf32>
  %tiled_any = tensor.cast %tiled : tensor<?x6xf32> to tensor<*xf32>
  call @printMemrefF32(%whole_any) : (tensor<*xf32>) -> ()
  call @printMemrefF32(%tiled_any) : (tensor<*xf32>) -> ()
  return
}
