// Pruning, compression, its inverse and products of compressed operands,
// executed. What is expected was worked out by hand.

// RUN: blockscale-opt %s --blockscale-to-linalg --cse \
// RUN: | mlir-opt --convert-elementwise-to-linalg --one-shot-bufferize=bufferize-function-boundaries \
// RUN:   --convert-linalg-to-loops --convert-scf-to-cf \
// RUN:   --expand-strided-metadata --lower-affine --convert-to-llvm \
// RUN:   --reconcile-unrealized-casts \
// RUN: | %mlir-runner -e main -entry-point-result=void \
// RUN:   -shared-libs=%mlir_runner_libs | FileCheck %s

func.func private @printMemrefI32(tensor<*xi32>)
func.func private @printMemrefF32(tensor<*xf32>)

!dense = !blockscale.tensor<2x16xf8E4M3FN, "e8m0_t8">
!sparse = !blockscale.tensor<2x16xf8E4M3FN, "e8m0_t4n2m4">
!tiled_dense = !blockscale.tensor<2x16xf8E4M3FN, "e8m0_t8", layout = tiled_128x4>
!tiled = !blockscale.tensor<2x16xf8E4M3FN, "e8m0_t4n2m4", layout = tiled_128x4>
!narrow = !blockscale.tensor<2x16xf8E4M3FN, "e8m0_t4">
!pairs_dense = !blockscale.tensor<1x16xf4E2M1FN, "e8m0_t16">
!pairs = !blockscale.tensor<1x16xf4E2M1FN, "e8m0_t8n4m8">

func.func @data() -> !dense {
  %d = arith.constant dense<[
    [1.0, 0.0, -2.0, 0.0, 0.0, 3.0, 0.0, 4.0, 0.0, 0.0, 0.0, 5.0, 0.0, 0.0, 0.0, 0.0],
    [0.0, 0.0, 6.0, 7.0, 8.0, 0.0, 0.0, 0.0, 0.0, 9.0, 0.0, 0.0, 0.0, 10.0, 11.0, 0.0]]> : tensor<2x16xf8E4M3FN>
  // Scales 2, 1/2, 4 and 1.
  %s = arith.constant dense<[[2.0, 0.5], [4.0, 1.0]]> : tensor<2x2xf8E8M0FNU>
  %q = blockscale.assemble %d, %s : tensor<2x16xf8E4M3FN>, tensor<2x2xf8E8M0FNU> to !dense
  return %q : !dense
}

func.func @print_values(%x: tensor<2x16xf32>) {
  %any = tensor.cast %x : tensor<2x16xf32> to tensor<*xf32>
  call @printMemrefF32(%any) : (tensor<*xf32>) -> ()
  return
}

func.func @main() {
  // Two of four by magnitude, ties to the lower index; then pairs by squares.
  // CHECK: {{\[}}[1, 0, -4, 0, 2, -2, 0, 0],
  // CHECK-NEXT: [3, 0, 2, 0, 0, -3, 4, 0]]
  %x = arith.constant dense<[[1.0, 0.5, -4.0, -1.0, 2.0, -2.0, 2.0, -2.0],
                             [3.0, 0.0, 2.0, 2.0, 1.0, -3.0, 4.0, 0.0]]> : tensor<2x8xf32>
  %pruned = blockscale.prune %x keep 2 of 4 : tensor<2x8xf32>
  %p = tensor.cast %pruned : tensor<2x8xf32> to tensor<*xf32>
  call @printMemrefF32(%p) : (tensor<*xf32>) -> ()
  // CHECK: {{\[}}[0, 0, -4, -1, 2, -2, 0, 0],
  // CHECK-NEXT: [0, 0, 0, 0, 1, -3, 4, 0]]
  %pair_pruned = blockscale.prune %x keep 4 of 8 pairs : tensor<2x8xf32>
  %pp = tensor.cast %pair_pruned : tensor<2x8xf32> to tensor<*xf32>
  call @printMemrefF32(%pp) : (tensor<*xf32>) -> ()

  // Metadata: (0, 2) (1, 3) (0, 3) () and (2, 3) (0, 3) (1, 3) (1, 2).
  // CHECK: {{\[}}[216, 76],
  // CHECK-NEXT: [206, 157]]
  %q = call @data() : () -> !dense
  %c = blockscale.compress %q : !dense to !sparse
  %cd, %cs, %cm = blockscale.disassemble %c : !sparse
  %wide = arith.extui %cm : tensor<2x2xi8> to tensor<2x2xi32>
  %m = tensor.cast %wide : tensor<2x2xi32> to tensor<*xi32>
  call @printMemrefI32(%m) : (tensor<*xi32>) -> ()

  // The values again, from compressed parts in either layout.
  // CHECK: {{\[}}[2, 0, -4, 0, 0, 6, 0, 8, 0, 0, 0, 2.5, 0, 0, 0, 0],
  // CHECK-NEXT: [0, 0, 24, 28, 32, 0, 0, 0, 0, 9, 0, 0, 0, 10, 11, 0]]
  %v = blockscale.dequantize %c : !sparse to tensor<2x16xf32>
  call @print_values(%v) : (tensor<2x16xf32>) -> ()
  // CHECK: {{\[}}[2, 0, -4, 0, 0, 6, 0, 8, 0, 0, 0, 2.5, 0, 0, 0, 0],
  // CHECK-NEXT: [0, 0, 24, 28, 32, 0, 0, 0, 0, 9, 0, 0, 0, 10, 11, 0]]
  %t = blockscale.relayout %c : !sparse to !tiled
  %tv = blockscale.dequantize %t : !tiled to tensor<2x16xf32>
  call @print_values(%tv) : (tensor<2x16xf32>) -> ()
  // Tiled metadata: row 1 begins at byte 16 of 2048; padding is 0x44.
  // CHECK: {{^}}[216, 76, 68, 206, 157, 68]
  %td, %ts, %tm = blockscale.disassemble %t : !tiled
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %m0 = tensor.extract %tm[%c0, %c0, %c0, %c0] : tensor<1x1x128x16xi8>
  %m1 = tensor.extract %tm[%c0, %c0, %c0, %c1] : tensor<1x1x128x16xi8>
  %m2 = tensor.extract %tm[%c0, %c0, %c0, %c2] : tensor<1x1x128x16xi8>
  %m3 = tensor.extract %tm[%c0, %c0, %c1, %c0] : tensor<1x1x128x16xi8>
  %m4 = tensor.extract %tm[%c0, %c0, %c1, %c1] : tensor<1x1x128x16xi8>
  %m5 = tensor.extract %tm[%c0, %c0, %c2, %c0] : tensor<1x1x128x16xi8>
  %bytes = tensor.from_elements %m0, %m1, %m2, %m3, %m4, %m5 : tensor<6xi8>
  %wide_bytes = arith.extui %bytes : tensor<6xi8> to tensor<6xi32>
  %any_bytes = tensor.cast %wide_bytes : tensor<6xi32> to tensor<*xi32>
  call @printMemrefI32(%any_bytes) : (tensor<*xi32>) -> ()

  // Dense again, in tiles half as long, each with the scale of the whole.
  // CHECK: {{\[}}[2, 0, -4, 0, 0, 6, 0, 8, 0, 0, 0, 2.5, 0, 0, 0, 0],
  // CHECK-NEXT: [0, 0, 24, 28, 32, 0, 0, 0, 0, 9, 0, 0, 0, 10, 11, 0]]
  %n = blockscale.densify %c : !sparse to !narrow
  %nd, %ns = blockscale.disassemble %n : !narrow
  %n2 = blockscale.assemble %nd, %ns : tensor<2x16xf8E4M3FN>, tensor<2x4xf8E8M0FNU> to !narrow
  %nv = blockscale.dequantize %n2 : !narrow to tensor<2x16xf32>
  call @print_values(%nv) : (tensor<2x16xf32>) -> ()

  // Rows times rows: 4 + 16 + 36 + 64 + 6.25 = 126.25; only place 2 in common;
  // 576 + 784 + 1024 + 81 + 100 + 121 = 2686.
  // CHECK: {{\[}}[126.25, -96],
  // CHECK-NEXT: [-96, 2686]]
  %td2 = blockscale.relayout %q : !dense to !tiled_dense
  %y = blockscale.matmul %t, %td2 : !tiled, !tiled_dense -> tensor<2x2xf32>
  %any_y = tensor.cast %y : tensor<2x2xf32> to tensor<*xf32>
  call @printMemrefF32(%any_y) : (tensor<*xf32>) -> ()

  // Pairs (1, 3) and (0, 1) stay: 0xd, 0x4, and the zero in a kept pair too.
  // CHECK: {{\[}}[77]]
  %pd = arith.constant dense<[[0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 2.0, 3.0, 4.0, 6.0, 0.0, -0.5, 0.0, 0.0, 0.0, 0.0]]> : tensor<1x16xf4E2M1FN>
  %ps = arith.constant dense<[[2.0]]> : tensor<1x1xf8E8M0FNU>
  %pq = blockscale.assemble %pd, %ps : tensor<1x16xf4E2M1FN>, tensor<1x1xf8E8M0FNU> to !pairs_dense
  %pc = blockscale.compress %pq : !pairs_dense to !pairs
  %pcd, %pcs, %pcm = blockscale.disassemble %pc : !pairs
  %pw = arith.extui %pcm : tensor<1x1xi8> to tensor<1x1xi32>
  %pm = tensor.cast %pw : tensor<1x1xi32> to tensor<*xi32>
  call @printMemrefI32(%pm) : (tensor<*xi32>) -> ()
  // CHECK: {{\[}}[0, 0, 2, 0, 0, 0, 4, 6, 8, 12, 0, -1, 0, 0, 0, 0]]
  %pt = blockscale.relayout %pc : !pairs to !blockscale.tensor<1x16xf4E2M1FN, "e8m0_t8n4m8", layout = tiled_128x4>
  %pv = blockscale.dequantize %pt : !blockscale.tensor<1x16xf4E2M1FN, "e8m0_t8n4m8", layout = tiled_128x4> to tensor<1x16xf32>
  %pa = tensor.cast %pv : tensor<1x16xf32> to tensor<*xf32>
  call @printMemrefF32(%pa) : (tensor<*xf32>) -> ()

  // Quantized to 2 of 4: 16 stays, and with it the scale 2^(4 - 8); 0.5 is less
  // than 1, ties are none. Pairs: (1, 0.5) and (-1.5, 1.5) go.
  // CHECK: {{\[}}[16, 0, 1, 0, 0, 0, -3, 2]]
  %w = arith.constant dense<[[16.0, 0.5, 1.0, -0.25, 0.0, 1.0, -3.0, 2.0]]> : tensor<1x8xf32>
  %wq = blockscale.quantize %w : tensor<1x8xf32> to !blockscale.tensor<1x8xf8E4M3FN, "e8m0_t4n2m4">
  %wv = blockscale.dequantize %wq : !blockscale.tensor<1x8xf8E4M3FN, "e8m0_t4n2m4"> to tensor<1x8xf32>
  %wa = tensor.cast %wv : tensor<1x8xf32> to tensor<*xf32>
  call @printMemrefF32(%wa) : (tensor<*xf32>) -> ()
  // CHECK: {{\[}}[3, 0, 0, 0, 0, 0, 0, -4, 0, 0, 0, 0, 0, 0, 2, 0]]
  %z = arith.constant dense<[[3.0, 0.0, 1.0, 0.5, -1.5, 1.5, 0.0, -4.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2.0, 0.0]]> : tensor<1x16xf32>
  %zq = blockscale.quantize %z : tensor<1x16xf32> to !blockscale.tensor<1x16xf4E2M1FN, "e8m0_t8n4m8">
  %zv = blockscale.dequantize %zq : !blockscale.tensor<1x16xf4E2M1FN, "e8m0_t8n4m8"> to tensor<1x16xf32>
  %za = tensor.cast %zv : tensor<1x16xf32> to tensor<*xf32>
  call @printMemrefF32(%za) : (tensor<*xf32>) -> ()
  return
}
