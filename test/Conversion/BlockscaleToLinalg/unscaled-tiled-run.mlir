// A product of integers without scales, 4 rows by 6 columns, at once and in
// tiles of 3 by 4: slices take their part of the metadata. The sums are numpy's.

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

// CHECK: {{\[}}[3393, 4862, 6075, 8312, 8757, -21518],
// CHECK-NEXT: [1885, 1070, 511, 3280, 673, 1906],
// CHECK-NEXT: [23867, 14100, 4589, 47046, 37279, 2168],
// CHECK-NEXT: [1363, 2213, 1015, 1353, -357, 1261]]
// CHECK: {{\[}}[3393, 4862, 6075, 8312, 8757, -21518],
// CHECK-NEXT: [1885, 1070, 511, 3280, 673, 1906],
// CHECK-NEXT: [23867, 14100, 4589, 47046, 37279, 2168],
// CHECK-NEXT: [1363, 2213, 1015, 1353, -357, 1261]]

!a = !blockscale.tensor<?x8xi8, "n2m4">
!b = !blockscale.tensor<6x8xui8>

func.func private @printMemrefI32(tensor<*xi32>)

// TILED-LABEL: func.func @tiled
// TILED: scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step %{{.*}}
// TILED: scf.for %[[J:.*]] = %{{.*}} to %{{.*}} step %{{.*}}
// TILED-DAG: %[[A:.*]] = blockscale.slice_rows %{{.*}}[%[[I]]] [%{{.*}}] : !blockscale.tensor<?x8xi8, "n2m4"> to !blockscale.tensor<?x8xi8, "n2m4">
// TILED-DAG: %[[B:.*]] = blockscale.slice_rows %{{.*}}[%[[J]]] [%{{.*}}] : !blockscale.tensor<6x8xui8> to !blockscale.tensor<?x8xui8>
// TILED: blockscale.matmul %[[A]], %[[B]] {{.*}} -> tensor<?x?xi32>
func.func @tiled(%a: !a, %b: !b) -> tensor<?x6xi32> {
  %y = blockscale.matmul %a, %b {tile} : !a, !b -> tensor<?x6xi32>
  return %y : tensor<?x6xi32>
}

func.func @print(%y: tensor<?x6xi32>) {
  %any = tensor.cast %y : tensor<?x6xi32> to tensor<*xi32>
  call @printMemrefI32(%any) : (tensor<*xi32>) -> ()
  return
}

func.func @main() {
  %kept = arith.constant dense<[[-128, 127, 3, -4], [5, -6, 7, 8], [100, -101, 102, 103], [-1, 2, -3, 11]]> : tensor<4x4xi8>
  %metadata = arith.constant dense<[[-28], [-100], [-115], [78]]> : tensor<4x1xi8>
  %bytes = arith.constant dense<[[0, 29, 58, 87, 116, -111, -82, -53], [37, 77, 117, -99, -59, -19, 21, 61], [74, 125, -80, -29, 22, 73, 124, -81], [111, -83, -21, 41, 103, -91, -29, 33], [-108, -35, 38, 111, -72, 1, 74, -109], [-71, 13, 97, -75, 9, 93, -79, 5]]> : tensor<6x8xi8>
  %rows = tensor.cast %kept : tensor<4x4xi8> to tensor<?x4xi8>
  %indices = tensor.cast %metadata : tensor<4x1xi8> to tensor<?x1xi8>
  %a = blockscale.assemble %rows metadata(%indices : tensor<?x1xi8>) : tensor<?x4xi8> to !a
  %b = blockscale.assemble %bytes : tensor<6x8xi8> to !b
  %whole = blockscale.matmul %a, %b : !a, !b -> tensor<?x6xi32>
  call @print(%whole) : (tensor<?x6xi32>) -> ()
  %tiled = call @tiled(%a, %b) : (!a, !b) -> tensor<?x6xi32>
  call @print(%tiled) : (tensor<?x6xi32>) -> ()
  return
}
