// Compressing data that break their pattern loses elements; with
// 'check-sparsity' the program stops instead. Data that have the pattern, also
// with fewer elements than it keeps, pass.

// RUN: blockscale-opt %s --blockscale-to-linalg | FileCheck %s --check-prefix=OFF
// OFF-NOT: cf.assert

// RUN: blockscale-opt %s --blockscale-to-linalg=check-sparsity --canonicalize \
// RUN:   --cse -o %t.mlir
// RUN: FileCheck %s --check-prefix=ON < %t.mlir
// ON: cf.assert %{{.*}}, "'blockscale.compress': more elements of a group are in use than the pattern 2:4 stores"

// RUN: mlir-opt %t.mlir --one-shot-bufferize=bufferize-function-boundaries \
// RUN:   --convert-linalg-to-loops --convert-scf-to-cf \
// RUN:   --expand-strided-metadata --lower-affine --convert-to-llvm \
// RUN:   --reconcile-unrealized-casts -o %t.llvm.mlir
// RUN: %mlir-runner %t.llvm.mlir -e fits -entry-point-result=void \
// RUN:   -shared-libs=%mlir_runner_libs | FileCheck %s --check-prefix=FITS
// FITS: [0, 2, 0, 4, 5, 0, 0, 0]
// RUN: not --crash %mlir-runner %t.llvm.mlir -e breaks \
// RUN:   -entry-point-result=void -shared-libs=%mlir_runner_libs

!dense = !blockscale.tensor<1x8xf8E4M3FN>
!sparse = !blockscale.tensor<1x8xf8E4M3FN, "n2m4">

func.func private @printMemrefF32(tensor<*xf32>)

func.func @through(%x: tensor<1x8xf32>) {
  %q = blockscale.quantize %x : tensor<1x8xf32> to !dense
  %c = blockscale.compress %q : !dense to !sparse
  %v = blockscale.dequantize %c : !sparse to tensor<1x8xf32>
  %any = tensor.cast %v : tensor<1x8xf32> to tensor<*xf32>
  call @printMemrefF32(%any) : (tensor<*xf32>) -> ()
  return
}

func.func @fits() {
  %x = arith.constant dense<[[0.0, 2.0, -0.0, 4.0, 5.0, 0.0, 0.0, 0.0]]> : tensor<1x8xf32>
  call @through(%x) : (tensor<1x8xf32>) -> ()
  return
}

func.func @breaks() {
  %x = arith.constant dense<[[0.0, 2.0, 0.0, 4.0, 5.0, 6.0, 0.0, 8.0]]> : tensor<1x8xf32>
  call @through(%x) : (tensor<1x8xf32>) -> ()
  return
}
