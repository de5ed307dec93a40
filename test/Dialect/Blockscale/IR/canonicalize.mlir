// RUN: blockscale-opt %s -canonicalize -split-input-file | FileCheck %s
// RUN: blockscale-opt %s -resolve-ranked-shaped-type-result-dims -canonicalize -cse -split-input-file | FileCheck %s --check-prefix=DIMS

!q = !blockscale.tensor<?x64xf8E4M3FN, "e8m0_t32">
!tiled = !blockscale.tensor<?x64xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!mn = !blockscale.tensor<?x64xf8E4M3FN, "e8m0_t32", order = mn_major>
!sparse = !blockscale.tensor<?x64xf8E4M3FN, "e8m0_t32n2m4">
!dense = !blockscale.tensor<?x64xf8E4M3FN, "e8m0_t64">

// CHECK-LABEL: func.func @assemble_of_parts(
// CHECK-SAME: %[[Q:.*]]: !blockscale.tensor
// CHECK-NEXT: return %[[Q]]
func.func @assemble_of_parts(%q: !q) -> !q {
  %d, %s = blockscale.disassemble %q : !q
  %0 = blockscale.assemble %d, %s : tensor<?x64xf8E4M3FN>, tensor<?x2xf8E8M0FNU> to !q
  return %0 : !q
}

// Scales of another tensor: not the identity.
// CHECK-LABEL: func.func @assemble_of_mixed_parts(
// CHECK: blockscale.assemble
func.func @assemble_of_mixed_parts(%q: !q, %r: !q) -> !q {
  %d, %s = blockscale.disassemble %q : !q
  %e, %t = blockscale.disassemble %r : !q
  %0 = blockscale.assemble %d, %t : tensor<?x64xf8E4M3FN>, tensor<?x2xf8E8M0FNU> to !q
  return %0 : !q
}

// Another type than the one taken apart.
// CHECK-LABEL: func.func @assemble_refines(
// CHECK: blockscale.assemble
func.func @assemble_refines(%q: !q) -> !blockscale.tensor<8x64xf8E4M3FN, "e8m0_t32"> {
  %d, %s = blockscale.disassemble %q : !q
  %0 = blockscale.assemble %d, %s : tensor<?x64xf8E4M3FN>, tensor<?x2xf8E8M0FNU> to !blockscale.tensor<8x64xf8E4M3FN, "e8m0_t32">
  return %0 : !blockscale.tensor<8x64xf8E4M3FN, "e8m0_t32">
}

// CHECK-LABEL: func.func @parts_of_assemble(
// CHECK-SAME: %[[D:.*]]: tensor<?x64xf4E2M1FN>, %[[S:.*]]: tensor<?x4xf8E4M3FN>, %[[T:.*]]: tensor<f32>
// CHECK-NEXT: return %[[D]], %[[S]], %[[T]]
func.func @parts_of_assemble(%d: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN>, %t: tensor<f32>)
    -> (tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>, tensor<f32>) {
  %0 = blockscale.assemble %d, %s tensor_scale(%t : tensor<f32>) : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN> to !blockscale.tensor<?x64xf4E2M1FN, "multi_float32_e4m3fn_t16">
  %1:3 = blockscale.disassemble %0 : !blockscale.tensor<?x64xf4E2M1FN, "multi_float32_e4m3fn_t16">
  return %1#0, %1#1, %1#2 : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>, tensor<f32>
}

// CHECK-LABEL: func.func @relayout_to_itself(
// CHECK-SAME: %[[Q:.*]]: !blockscale.tensor
// CHECK-NEXT: return %[[Q]]
func.func @relayout_to_itself(%q: !q) -> !q {
  %0 = blockscale.relayout %q : !q to !q
  return %0 : !q
}

// CHECK-LABEL: func.func @relayout_there_and_back(
// CHECK-SAME: %[[Q:.*]]: !blockscale.tensor
// CHECK-NEXT: return %[[Q]]
func.func @relayout_there_and_back(%q: !q) -> !q {
  %0 = blockscale.relayout %q : !q to !tiled
  %1 = blockscale.relayout %0 : !tiled to !q
  return %1 : !q
}

// CHECK-LABEL: func.func @relayout_twice(
// CHECK-SAME: %[[Q:.*]]: !blockscale.tensor<?x64xf8E4M3FN, "e8m0_t32", order = mn_major>
// CHECK-NEXT: %[[R:.*]] = blockscale.relayout %[[Q]] : !blockscale.tensor<?x64xf8E4M3FN, "e8m0_t32", order = mn_major> to !blockscale.tensor<?x64xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
// CHECK-NEXT: return %[[R]]
func.func @relayout_twice(%q: !mn) -> !tiled {
  %0 = blockscale.relayout %q : !mn to !q
  %1 = blockscale.relayout %0 : !q to !tiled
  return %1 : !tiled
}

// CHECK-LABEL: func.func @quantize_into_layout(
// CHECK-NEXT: %[[Q:.*]] = blockscale.quantize %{{.*}} rule(round_up) rounding(stochastic, seed = 5) : tensor<?x64xf32> to !blockscale.tensor<?x64xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
// CHECK-NEXT: return %[[Q]]
func.func @quantize_into_layout(%x: tensor<?x64xf32>) -> !tiled {
  %0 = blockscale.quantize %x rule(round_up) rounding(stochastic, seed = 5) : tensor<?x64xf32> to !q
  %1 = blockscale.relayout %0 : !q to !tiled
  return %1 : !tiled
}

// The first layout is needed too: quantize once.
// CHECK-LABEL: func.func @quantize_for_two(
// CHECK-COUNT-1: blockscale.quantize
// CHECK-NEXT: blockscale.relayout
func.func @quantize_for_two(%x: tensor<?x64xf32>) -> (!q, !tiled) {
  %0 = blockscale.quantize %x : tensor<?x64xf32> to !q
  %1 = blockscale.relayout %0 : !q to !tiled
  return %0, %1 : !q, !tiled
}

// CHECK-LABEL: func.func @dequantize_stored(
// CHECK-SAME: %[[Q:.*]]: !blockscale.tensor
// CHECK-NEXT: %[[V:.*]] = blockscale.dequantize %[[Q]] : !blockscale.tensor<?x64xf8E4M3FN, "e8m0_t32n2m4">
// CHECK-NEXT: return %[[V]]
func.func @dequantize_stored(%q: !sparse) -> tensor<?x64xf32> {
  %0 = blockscale.densify %q : !sparse to !dense
  %1 = blockscale.relayout %0 : !dense to !blockscale.tensor<?x64xf8E4M3FN, "e8m0_t64", layout = tiled_128x4>
  %2 = blockscale.dequantize %1 : !blockscale.tensor<?x64xf8E4M3FN, "e8m0_t64", layout = tiled_128x4> to tensor<?x64xf32>
  return %2 : tensor<?x64xf32>
}

// Rounding loses values: quantize and dequantize do not cancel.
// CHECK-LABEL: func.func @dequantize_quantized(
// CHECK: blockscale.quantize
// CHECK-NEXT: blockscale.dequantize
func.func @dequantize_quantized(%x: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %0 = blockscale.quantize %x : tensor<?x64xf32> to !q
  %1 = blockscale.dequantize %0 : !q to tensor<?x64xf32>
  return %1 : tensor<?x64xf32>
}

// CHECK-LABEL: func.func @prune_twice(
// CHECK-NEXT: %[[P:.*]] = blockscale.prune
// CHECK-NEXT: return %[[P]]
func.func @prune_twice(%x: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %0 = blockscale.prune %x keep 2 of 4 : tensor<?x64xf32>
  %1 = blockscale.prune %0 keep 2 of 4 : tensor<?x64xf32>
  return %1 : tensor<?x64xf32>
}

// CHECK-LABEL: func.func @prune_differently(
// CHECK-COUNT-2: blockscale.prune
func.func @prune_differently(%x: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %0 = blockscale.prune %x keep 4 of 8 : tensor<?x64xf32>
  %1 = blockscale.prune %0 keep 4 of 8 pairs : tensor<?x64xf32>
  return %1 : tensor<?x64xf32>
}

// Ties go to the lower index.
// CHECK-LABEL: func.func @prune_constant(
// CHECK-NEXT: arith.constant dense<{{\[}}[1.000000e+00, 0.000000e+00, -4.000000e+00, 0.000000e+00, 2.000000e+00, -2.000000e+00, 0.000000e+00, 0.000000e+00]]> : tensor<1x8xf32>
// CHECK-NEXT: return
func.func @prune_constant() -> tensor<1x8xf32> {
  %x = arith.constant dense<[[1.0, 0.5, -4.0, -1.0, 2.0, -2.0, 2.0, -2.0]]> : tensor<1x8xf32>
  %0 = blockscale.prune %x keep 2 of 4 : tensor<1x8xf32>
  return %0 : tensor<1x8xf32>
}

// Squares 9 + 0, 4 + 4, 1 + 9, 0.
// CHECK-LABEL: func.func @prune_constant_pairs(
// CHECK-NEXT: arith.constant dense<{{\[}}[3.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 1.000000e+00, -3.000000e+00, 0.000000e+00, 0.000000e+00]]> : tensor<1x8xbf16>
func.func @prune_constant_pairs() -> tensor<1x8xbf16> {
  %x = arith.constant dense<[[3.0, 0.0, 2.0, 2.0, 1.0, -3.0, 0.0, 0.0]]> : tensor<1x8xbf16>
  %0 = blockscale.prune %x keep 4 of 8 pairs : tensor<1x8xbf16>
  return %0 : tensor<1x8xbf16>
}

// Row 0 keeps (0, 2) and (1, 3) of its first groups, and one element of the
// third, at place 3: 0xd8, 0x4c. Row 1 keeps (2, 3) of the first and one element
// of the second, at place 0: 0xce, 0x44. Scales stay.
!plain16 = !blockscale.tensor<2x16xf8E4M3FN, "e8m0_t16">
!kept8 = !blockscale.tensor<2x16xf8E4M3FN, "e8m0_t8n2m4">
// CHECK-LABEL: func.func @compress_constant(
// CHECK-SAME: %[[S:.*]]: tensor<2x1xf8E8M0FNU>
// CHECK-DAG: %[[D:.*]] = arith.constant dense<{{\[}}[1.000000e+00, -2.000000e+00, 3.000000e+00, 4.000000e+00, 0.000000e+00, 5.000000e+00, 0.000000e+00, 0.000000e+00], [6.000000e+00, 7.000000e+00, 8.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00]]> : tensor<2x8xf8E4M3FN>
// CHECK-DAG: %[[M:.*]] = arith.constant dense<{{\[}}[-40, 76], [-50, 68]]> : tensor<2x2xi8>
// CHECK: blockscale.assemble %[[D]], %[[S]] metadata(%[[M]] : tensor<2x2xi8>)
func.func @compress_constant(%s: tensor<2x1xf8E8M0FNU>) -> !kept8 {
  %d = arith.constant dense<[[1.0, 0.0, -2.0, 0.0, 0.0, 3.0, 0.0, 4.0, 0.0, 0.0, 0.0, 5.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 6.0, 7.0, 8.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]]> : tensor<2x16xf8E4M3FN>
  %q = blockscale.assemble %d, %s : tensor<2x16xf8E4M3FN>, tensor<2x1xf8E8M0FNU> to !plain16
  %0 = blockscale.compress %q : !plain16 to !kept8
  return %0 : !kept8
}

// Three of four are not zero: nothing to fold.
// CHECK-LABEL: func.func @compress_broken(
// CHECK: blockscale.compress
func.func @compress_broken(%s: tensor<2x1xf8E8M0FNU>) -> !kept8 {
  %d = arith.constant dense<1.0> : tensor<2x16xf8E4M3FN>
  %q = blockscale.assemble %d, %s : tensor<2x16xf8E4M3FN>, tensor<2x1xf8E8M0FNU> to !plain16
  %0 = blockscale.compress %q : !plain16 to !kept8
  return %0 : !kept8
}

// Kept places of 16-bit elements: (1, 3) (0, 3), and (0, 2) and none.
// CHECK-LABEL: func.func @compress_halves(
// CHECK-DAG: %[[D:.*]] = arith.constant dense<{{\[}}[1.500000e+00, 0.000000e+00, 0.000000e+00, 3.276800e+04, 2.570000e+02, -3.906250e-03, 0.000000e+00, 0.000000e+00]]> : tensor<1x8xf16>
// CHECK-DAG: %[[M:.*]] = arith.constant dense<{{\[}}[-51, 72]]> : tensor<1x2xi8>
// CHECK: blockscale.assemble %[[D]] metadata(%[[M]] : tensor<1x2xi8>) : tensor<1x8xf16> to !blockscale.tensor<1x16xf16, "n2m4">
func.func @compress_halves() -> !blockscale.tensor<1x16xf16, "n2m4"> {
  %d = arith.constant dense<[[0.0, 1.5, 0.0, -0.0, 0.0, 0.0, 0.0, 32768.0, 257.0, 0.0, -0.00390625, 0.0, 0.0, 0.0, 0.0, 0.0]]> : tensor<1x16xf16>
  %q = blockscale.assemble %d : tensor<1x16xf16> to !blockscale.tensor<1x16xf16>
  %0 = blockscale.compress %q : !blockscale.tensor<1x16xf16> to !blockscale.tensor<1x16xf16, "n2m4">
  return %0 : !blockscale.tensor<1x16xf16, "n2m4">
}

// 1 of 2: the second (0xe), the first (0x4); the first of none; the second.
// CHECK-LABEL: func.func @compress_words(
// CHECK-DAG: %[[D:.*]] = arith.constant dense<{{\[}}[1.500000e+00, -2.500000e+00, 0.000000e+00, 7.000000e+00]]> : tensor<1x4xf32>
// CHECK-DAG: %[[M:.*]] = arith.constant dense<{{\[}}[78, -28]]> : tensor<1x2xi8>
// CHECK: blockscale.assemble %[[D]] metadata(%[[M]] : tensor<1x2xi8>) : tensor<1x4xf32> to !blockscale.tensor<1x8xtf32, "n1m2">
func.func @compress_words() -> !blockscale.tensor<1x8xtf32, "n1m2"> {
  %d = arith.constant dense<[[0.0, 1.5, -2.5, 0.0, 0.0, 0.0, 0.0, 7.0]]> : tensor<1x8xf32>
  %q = blockscale.assemble %d : tensor<1x8xf32> to !blockscale.tensor<1x8xtf32>
  %0 = blockscale.compress %q : !blockscale.tensor<1x8xtf32> to !blockscale.tensor<1x8xtf32, "n1m2">
  return %0 : !blockscale.tensor<1x8xtf32, "n1m2">
}

// -128, unlike -0, is no zero.
// CHECK-LABEL: func.func @compress_bytes(
// CHECK-DAG: %[[D:.*]] = arith.constant dense<{{\[}}[-128, 3, -1, 0]]> : tensor<1x4xi8>
// CHECK-DAG: %[[M:.*]] = arith.constant dense<-40> : tensor<1x1xi8>
func.func @compress_bytes() -> !blockscale.tensor<1x8xui8, "n2m4"> {
  %d = arith.constant dense<[[-128, 0, 3, 0, 0, -1, 0, 0]]> : tensor<1x8xi8>
  %q = blockscale.assemble %d : tensor<1x8xi8> to !blockscale.tensor<1x8xui8>
  %0 = blockscale.compress %q : !blockscale.tensor<1x8xui8> to !blockscale.tensor<1x8xui8, "n2m4">
  return %0 : !blockscale.tensor<1x8xui8, "n2m4">
}

// Nor are -128 and two others two elements.
// CHECK-LABEL: func.func @compress_broken_bytes(
// CHECK: blockscale.compress
func.func @compress_broken_bytes() -> !blockscale.tensor<1x8xi8, "n2m4"> {
  %d = arith.constant dense<[[-128, 2, 3, 0, 0, 0, 0, 0]]> : tensor<1x8xi8>
  %q = blockscale.assemble %d : tensor<1x8xi8> to !blockscale.tensor<1x8xi8>
  %0 = blockscale.compress %q : !blockscale.tensor<1x8xi8> to !blockscale.tensor<1x8xi8, "n2m4">
  return %0 : !blockscale.tensor<1x8xi8, "n2m4">
}

// Compression makes +0 of a -0: what it got is not what comes back.
// CHECK-LABEL: func.func @densify_compressed(
// CHECK-SAME: %[[Q:.*]]: !blockscale.tensor
// CHECK-NEXT: %[[C:.*]] = blockscale.compress %[[Q]]
// CHECK-NEXT: %[[D:.*]] = blockscale.densify %[[C]]
// CHECK-NEXT: %[[V:.*]] = blockscale.dequantize %[[C]]
// CHECK-NEXT: return %[[D]], %[[V]]
func.func @densify_compressed(%q: !dense) -> (!dense, tensor<?x64xf32>) {
  %0 = blockscale.compress %q : !dense to !sparse
  %1 = blockscale.densify %0 : !sparse to !dense
  %2 = blockscale.dequantize %0 : !sparse to tensor<?x64xf32>
  return %1, %2 : !dense, tensor<?x64xf32>
}

// CHECK-LABEL: func.func @static_dim(
// CHECK-NEXT: %[[K:.*]] = arith.constant 64 : index
// CHECK-NEXT: return %[[K]]
func.func @static_dim(%q: !q) -> index {
  %0 = blockscale.dim %q, 1 : !q
  return %0 : index
}

// CHECK-LABEL: func.func @dim_of_quantized(
// CHECK-SAME: %[[X:.*]]: tensor<?x64xf32>
// CHECK: %[[M:.*]] = tensor.dim %[[X]], %{{.*}} : tensor<?x64xf32>
// CHECK-NEXT: return %[[M]]
func.func @dim_of_quantized(%x: tensor<?x64xf32>) -> index {
  %0 = blockscale.quantize %x : tensor<?x64xf32> to !dense
  %1 = blockscale.compress %0 : !dense to !sparse
  %2 = blockscale.dim %1, 0 : !sparse
  return %2 : index
}

// CHECK-LABEL: func.func @unit_alpha(
// CHECK: blockscale.matmul %{{[^ ]*}}, %{{[^ ]*}} :
func.func @unit_alpha(%a: !q, %b: !q) -> tensor<?x?xf32> {
  %one = arith.constant 1.0 : f32
  %0 = blockscale.matmul %a, %b alpha(%one) : !q, !q -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @unit_beta(
// CHECK: blockscale.matmul %{{[^ ]*}}, %{{[^ ]*}} alpha(%{{[^ ]*}}) c(%{{[^ ]*}}) bias(%{{[^ ]*}}) row :
func.func @unit_beta(%a: !q, %b: !q, %s: f32, %c: tensor<?x?xf32>, %v: tensor<?xf32>) -> tensor<?x?xf32> {
  %one = arith.constant 1.0 : f32
  %0 = blockscale.matmul %a, %b alpha(%s) beta(%one) c(%c) bias(%v) row : !q, !q, tensor<?x?xf32>, tensor<?xf32> -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @zero_beta(
// CHECK: blockscale.matmul %{{[^ ]*}}, %{{[^ ]*}} :
func.func @zero_beta(%a: !q, %b: !q, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %zero = arith.constant 0.0 : f32
  %0 = blockscale.matmul %a, %b beta(%zero) c(%c) : !q, !q, tensor<?x?xf32> -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @other_factors(
// CHECK: blockscale.matmul %{{[^ ]*}}, %{{[^ ]*}} alpha(%{{[^ ]*}}) beta(%{{[^ ]*}}) c(%{{[^ ]*}}) :
func.func @other_factors(%a: !q, %b: !q, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %two = arith.constant 2.0 : f32
  %0 = blockscale.matmul %a, %b alpha(%two) beta(%two) c(%c) : !q, !q, tensor<?x?xf32> -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// DIMS-LABEL: func.func @reify(
// DIMS-SAME: %[[A:[^:]*]]: !blockscale.tensor{{.*}}, %[[B:[^:]*]]: !blockscale.tensor
// DIMS-DAG: %[[M:.*]] = blockscale.dim %[[A]], 0
// DIMS-DAG: %[[N:.*]] = blockscale.dim %[[B]], 0
// DIMS: return %[[M]], %[[N]], %[[N]]
func.func @reify(%a: !q, %b: !q) -> (index, index, index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %0 = blockscale.matmul %a, %b : !q, !q -> tensor<?x?xf32>
  %1 = blockscale.dequantize %b : !q to tensor<?x64xf32>
  %m = tensor.dim %0, %zero : tensor<?x?xf32>
  %n = tensor.dim %0, %one : tensor<?x?xf32>
  %p = tensor.dim %1, %zero : tensor<?x64xf32>
  return %m, %n, %p : index, index, index
}
