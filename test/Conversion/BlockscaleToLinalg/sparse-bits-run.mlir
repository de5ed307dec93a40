// What folding makes of pruned elements and what linalg makes of them are the same
// bits: zeros of both signs, the code that is -0 elsewhere and NaN in fnuz,
// metadata in tiles, scales repeated.

// DEFINE: %{run} = mlir-opt --convert-elementwise-to-linalg --one-shot-bufferize=bufferize-function-boundaries \
// DEFINE:   --convert-linalg-to-loops --convert-scf-to-cf --expand-strided-metadata \
// DEFINE:   --lower-affine --convert-to-llvm --reconcile-unrealized-casts \
// DEFINE: | %mlir-runner -e main -entry-point-result=void -shared-libs=%mlir_runner_libs \
// DEFINE: | FileCheck %s

// RUN: blockscale-opt %s --blockscale-to-linalg --cse | %{run}
// RUN: blockscale-opt %s --blockscale-fold-constants --blockscale-to-linalg --cse | %{run}
// RUN: blockscale-opt %s --blockscale-fold-constants | FileCheck %s --check-prefix=FOLD
// FOLD-LABEL: @main
// FOLD-NOT: blockscale.{{compress|densify|dequantize|relayout|assemble}}
// FOLD: return

func.func private @printMemrefI32(tensor<*xi32>)

!dense = !blockscale.tensor<2x16xf8E4M3FN, "e8m0_t8">
!sparse = !blockscale.tensor<2x16xf8E4M3FN, "e8m0_t4n2m4">
!tiled = !blockscale.tensor<2x16xf8E4M3FN, "e8m0_t4n2m4", layout = tiled_128x4>
!narrow = !blockscale.tensor<2x16xf8E4M3FN, "e8m0_t4", layout = tiled_128x4>
!back = !blockscale.tensor<2x16xf8E4M3FN, "e8m0_t4">
!fnuz = !blockscale.tensor<1x8xf8E4M3FNUZ, "e8m0_t8">
!fnuz_sparse = !blockscale.tensor<1x8xf8E4M3FNUZ, "e8m0_t4n2m4">

func.func private @print8(%x: tensor<2x16xi8>) {
  %wide = arith.extui %x : tensor<2x16xi8> to tensor<2x16xi32>
  %any = tensor.cast %wide : tensor<2x16xi32> to tensor<*xi32>
  call @printMemrefI32(%any) : (tensor<*xi32>) -> ()
  return
}

func.func @main() {
  // -0 beside two numbers, -0 as one of two, -0 alone, a NaN with its sign.
  %bits = arith.constant dense<[
    [56, 128, 0, 57, 128, 0, 58, 0, 128, 0, 0, 0, 255, 0, 128, 60],
    [0, 0, 61, 62, 0, 128, 128, 0, 128, 63, 0, 0, 64, 128, 0, 0]]> : tensor<2x16xi8>
  %data = arith.bitcast %bits : tensor<2x16xi8> to tensor<2x16xf8E4M3FN>
  %scales = arith.constant dense<[[2.0, 0.5], [4.0, 1.0]]> : tensor<2x2xf8E8M0FNU>
  %q = blockscale.assemble %data, %scales : tensor<2x16xf8E4M3FN>, tensor<2x2xf8E8M0FNU> to !dense
  %c = blockscale.compress %q : !dense to !sparse
  %t = blockscale.relayout %c : !sparse to !tiled
  %n = blockscale.densify %t : !tiled to !narrow
  %b = blockscale.relayout %n : !narrow to !back
  %d, %s = blockscale.disassemble %b : !back
  // CHECK: [56, 0, 0, 57, 0, 0, 58, 0, 0, 0, 0, 0, 255, 0, 0, 60]
  // CHECK-NEXT: [0, 0, 61, 62, 0, 0, 0, 0, 0, 63, 0, 0, 64, 0, 0, 0]
  %codes = arith.bitcast %d : tensor<2x16xf8E4M3FN> to tensor<2x16xi8>
  call @print8(%codes) : (tensor<2x16xi8>) -> ()
  // CHECK: [128, 128, 126, 126]
  // CHECK-NEXT: [129, 129, 127, 127]
  %exponents = arith.bitcast %s : tensor<2x4xf8E8M0FNU> to tensor<2x4xi8>
  %wide = arith.extui %exponents : tensor<2x4xi8> to tensor<2x4xi32>
  %any = tensor.cast %wide : tensor<2x4xi32> to tensor<*xi32>
  call @printMemrefI32(%any) : (tensor<*xi32>) -> ()
  // 2, 0, 0, 2.25, ..., NaN, 0, 0, 0.75 as f32, and no -0.
  // CHECK: [1073741824, 0, 0, 1074790400, 0, 0, 1075838976, 0, 0, 0, 0, 0, 2143289344, 0, 0, 1061158912]
  %v = blockscale.dequantize %c : !sparse to tensor<2x16xf32>
  %words = arith.bitcast %v : tensor<2x16xf32> to tensor<2x16xi32>
  %print = tensor.cast %words : tensor<2x16xi32> to tensor<*xi32>
  call @printMemrefI32(%print) : (tensor<*xi32>) -> ()

  // CHECK: [0, 128, 0, 57, 128, 0, 58, 0]
  %fbits = arith.constant dense<[[0, 128, 0, 57, 128, 0, 58, 0]]> : tensor<1x8xi8>
  %fdata = arith.bitcast %fbits : tensor<1x8xi8> to tensor<1x8xf8E4M3FNUZ>
  %fscales = arith.constant dense<1.0> : tensor<1x1xf8E8M0FNU>
  %fq = blockscale.assemble %fdata, %fscales : tensor<1x8xf8E4M3FNUZ>, tensor<1x1xf8E8M0FNU> to !fnuz
  %fc = blockscale.compress %fq : !fnuz to !fnuz_sparse
  %fd = blockscale.densify %fc : !fnuz_sparse to !fnuz
  %fe, %fs = blockscale.disassemble %fd : !fnuz
  %fcodes = arith.bitcast %fe : tensor<1x8xf8E4M3FNUZ> to tensor<1x8xi8>
  %fwide = arith.extui %fcodes : tensor<1x8xi8> to tensor<1x8xi32>
  %fany = tensor.cast %fwide : tensor<1x8xi32> to tensor<*xi32>
  call @printMemrefI32(%fany) : (tensor<*xi32>) -> ()
  return
}
