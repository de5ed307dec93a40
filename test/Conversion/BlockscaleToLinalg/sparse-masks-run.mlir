// Compression to patterns that no instruction skips and its inverse, executed and folded:
// metadata have a bit for each element, the first the lowest, and what is stored of a group
// follows each other. What is expected was worked out by hand.

// RUN: blockscale-opt %s --blockscale-to-linalg --cse \
// RUN: | mlir-opt --convert-elementwise-to-linalg --one-shot-bufferize=bufferize-function-boundaries \
// RUN:   --convert-linalg-to-loops --convert-scf-to-cf \
// RUN:   --expand-strided-metadata --lower-affine --convert-to-llvm \
// RUN:   --reconcile-unrealized-casts \
// RUN: | %mlir-runner -e main -entry-point-result=void \
// RUN:   -shared-libs=%mlir_runner_libs | FileCheck %s

// RUN: blockscale-opt %s --inline --blockscale-fold-constants --canonicalize > %t.mlir
// RUN: FileCheck %s --check-prefix=FOLDED < %t.mlir
// RUN: blockscale-opt %t.mlir --blockscale-to-linalg --cse \
// RUN: | mlir-opt --convert-elementwise-to-linalg --one-shot-bufferize=bufferize-function-boundaries \
// RUN:   --convert-linalg-to-loops --convert-scf-to-cf \
// RUN:   --expand-strided-metadata --lower-affine --convert-to-llvm \
// RUN:   --reconcile-unrealized-casts \
// RUN: | %mlir-runner -e main -entry-point-result=void \
// RUN:   -shared-libs=%mlir_runner_libs | FileCheck %s

// FOLDED-NOT: blockscale.compress
// FOLDED-NOT: blockscale.densify

func.func private @printMemrefI32(tensor<*xi32>)
func.func private @printMemrefF32(tensor<*xf32>)

!three_dense = !blockscale.tensor<2x16xf8E4M3FN>
!three = !blockscale.tensor<2x16xf8E4M3FN, "n3m4">
!eight_dense = !blockscale.tensor<1x32xi8>
!eight = !blockscale.tensor<1x32xi8, "n8m16">
!codes_dense = !blockscale.tensor<2x16xui4, "float32_int8_t16">
!codes = !blockscale.tensor<2x16xui4, "float32_int8_t8n4m8">
!tiles_dense = !blockscale.tensor<1x16xf6E2M3FN, "e8m0_t16">
!tiles = !blockscale.tensor<1x16xf6E2M3FN, "e8m0_t8n4m8">
!cut = !blockscale.tensor<1x16xf6E2M3FN, "e8m0_t8">

func.func @main() {
  // A -0 is no element that is kept.
  // CHECK: {{\[}}[13, 114],
  // CHECK-NEXT: [30, 132]]
  // CHECK: {{\[}}[56, 192, 68, 0, 0, 0, 74, 0, 0, 76, 78, 80],
  // CHECK-NEXT: [81, 82, 83, 84, 0, 0, 85, 0, 0, 86, 0, 0]]
  // CHECK: {{\[}}[1, 0, -2, 3, 0, 0, 0, 0, 0, 5, 0, 0, 6, 7, 8, 0],
  // CHECK-NEXT: [0, 9, 10, 11, 12, 0, 0, 0, 0, 0, 13, 0, 0, 0, 0, 14]]
  %d = arith.constant dense<[
    [1.0, 0.0, -2.0, 3.0, 0.0, -0.0, 0.0, 0.0, 0.0, 5.0, 0.0, 0.0, 6.0, 7.0, 8.0, 0.0],
    [0.0, 9.0, 10.0, 11.0, 12.0, 0.0, 0.0, 0.0, 0.0, 0.0, 13.0, 0.0, 0.0, 0.0, 0.0, 14.0]]> : tensor<2x16xf8E4M3FN>
  %q = blockscale.assemble %d : tensor<2x16xf8E4M3FN> to !three_dense
  %c = blockscale.compress %q : !three_dense to !three
  %cd, %cm = blockscale.disassemble %c : !three
  %cw = arith.extui %cm : tensor<2x2xi8> to tensor<2x2xi32>
  %ca = tensor.cast %cw : tensor<2x2xi32> to tensor<*xi32>
  call @printMemrefI32(%ca) : (tensor<*xi32>) -> ()
  %cb = arith.bitcast %cd : tensor<2x12xf8E4M3FN> to tensor<2x12xi8>
  %cu = arith.extui %cb : tensor<2x12xi8> to tensor<2x12xi32>
  %cs = tensor.cast %cu : tensor<2x12xi32> to tensor<*xi32>
  call @printMemrefI32(%cs) : (tensor<*xi32>) -> ()
  %v = blockscale.densify %c : !three to !three_dense
  %vf = blockscale.dequantize %v : !three_dense to tensor<2x16xf32>
  %va = tensor.cast %vf : tensor<2x16xf32> to tensor<*xf32>
  call @printMemrefF32(%va) : (tensor<*xf32>) -> ()

  // A group of two bytes.
  // CHECK: {{\[}}[129, 129, 170, 170]]
  // CHECK: {{\[}}[1, 2, 3, 4, 0, 0, 0, 0, -1, -2, -3, -4, -5, -6, -7, -8]]
  // CHECK: {{\[}}[1, 0, 0, 0, 0, 0, 0, 2, 3, 0, 0, 0, 0, 0, 0, 4, 0, -1, 0, -2, 0, -3, 0, -4, 0, -5, 0, -6, 0, -7, 0, -8]]
  %ed = arith.constant dense<[[1, 0, 0, 0, 0, 0, 0, 2, 3, 0, 0, 0, 0, 0, 0, 4, 0, -1, 0, -2, 0, -3, 0, -4, 0, -5, 0, -6, 0, -7, 0, -8]]> : tensor<1x32xi8>
  %eq = blockscale.assemble %ed : tensor<1x32xi8> to !eight_dense
  %ec = blockscale.compress %eq : !eight_dense to !eight
  %ecd, %ecm = blockscale.disassemble %ec : !eight
  %ew = arith.extui %ecm : tensor<1x4xi8> to tensor<1x4xi32>
  %ea = tensor.cast %ew : tensor<1x4xi32> to tensor<*xi32>
  call @printMemrefI32(%ea) : (tensor<*xi32>) -> ()
  %es = arith.extsi %ecd : tensor<1x16xi8> to tensor<1x16xi32>
  %est = tensor.cast %es : tensor<1x16xi32> to tensor<*xi32>
  call @printMemrefI32(%est) : (tensor<*xi32>) -> ()
  %ev = blockscale.densify %ec : !eight to !eight_dense
  %evd = blockscale.disassemble %ev : !eight_dense
  %evw = arith.extsi %evd : tensor<1x32xi8> to tensor<1x32xi32>
  %eva = tensor.cast %evw : tensor<1x32xi32> to tensor<*xi32>
  call @printMemrefI32(%eva) : (tensor<*xi32>) -> ()

  // What is not stored is the code of the zero point of its tile, 3 and 7.
  // CHECK: {{\[}}[82, 0],
  // CHECK-NEXT: [1, 129]]
  // CHECK: {{\[}}[5, 0, 4, 3, 3, 3, 3, 3],
  // CHECK-NEXT: [9, 7, 7, 7, 0, 8, 7, 7]]
  // CHECK: {{\[}}[0, 4, 0, 0, -6, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0],
  // CHECK-NEXT: [1, 0, 0, 0, 0, 0, 0, 0, -3.5, 0, 0, 0, 0, 0, 0, 0.5]]
  %zd = arith.constant dense<[[3, 5, 3, 3, 0, 3, 4, 3, 3, 3, 3, 3, 3, 3, 3, 3],
                              [-7, 7, 7, 7, 7, 7, 7, 7, 0, 7, 7, 7, 7, 7, 7, -8]]> : tensor<2x16xi4>
  %zs = arith.constant dense<[[2.0], [0.5]]> : tensor<2x1xf32>
  %zz = arith.constant dense<[[3], [7]]> : tensor<2x1xi8>
  %zq = blockscale.assemble %zd, %zs zeros(%zz : tensor<2x1xi8>) : tensor<2x16xi4>, tensor<2x1xf32> to !codes_dense
  %zc = blockscale.compress %zq : !codes_dense to !codes
  %zcd, %zcs, %zcz, %zcm = blockscale.disassemble %zc : !codes
  %zw = arith.extui %zcm : tensor<2x2xi8> to tensor<2x2xi32>
  %za = tensor.cast %zw : tensor<2x2xi32> to tensor<*xi32>
  call @printMemrefI32(%za) : (tensor<*xi32>) -> ()
  %zu = arith.extui %zcd : tensor<2x8xi4> to tensor<2x8xi32>
  %zua = tensor.cast %zu : tensor<2x8xi32> to tensor<*xi32>
  call @printMemrefI32(%zua) : (tensor<*xi32>) -> ()
  %zv = blockscale.dequantize %zc : !codes to tensor<2x16xf32>
  %zva = tensor.cast %zv : tensor<2x16xf32> to tensor<*xf32>
  call @printMemrefF32(%zva) : (tensor<*xf32>) -> ()

  // Tiles that are cut repeat their scale.
  // CHECK: {{\[}}[4, 0, 0, 6, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 3]]
  // CHECK: {{\[}}[129, 129]]
  %td = arith.constant dense<[[1.0, 0.0, 0.0, 1.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.5, 0.0, 0.0, 0.0, 0.0, 0.75]]> : tensor<1x16xf6E2M3FN>
  %ts = arith.constant dense<[[4.0]]> : tensor<1x1xf8E8M0FNU>
  %tq = blockscale.assemble %td, %ts : tensor<1x16xf6E2M3FN>, tensor<1x1xf8E8M0FNU> to !tiles_dense
  %tc = blockscale.compress %tq : !tiles_dense to !tiles
  %tv = blockscale.densify %tc : !tiles to !cut
  %tf = blockscale.dequantize %tv : !cut to tensor<1x16xf32>
  %ta = tensor.cast %tf : tensor<1x16xf32> to tensor<*xf32>
  call @printMemrefF32(%ta) : (tensor<*xf32>) -> ()
  %tvd, %tvs = blockscale.disassemble %tv : !cut
  %tvb = arith.bitcast %tvs : tensor<1x2xf8E8M0FNU> to tensor<1x2xi8>
  %tvu = arith.extui %tvb : tensor<1x2xi8> to tensor<1x2xi32>
  %tva = tensor.cast %tvu : tensor<1x2xi32> to tensor<*xi32>
  call @printMemrefI32(%tva) : (tensor<*xi32>) -> ()
  return
}
