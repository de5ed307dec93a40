// RUN: blockscale-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{layout 'grouped_128x4' is of groups of rows of one matrix; expected 2 dimensions, found 3}}
func.func private @batched(!blockscale.tensor<2x64x64xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>)

// -----

// expected-error @below {{layout 'grouped_128x4' is of scales alone, but the tensor has metadata too; expected 'tiled_128x4'}}
func.func private @sparse(!blockscale.tensor<64x128xf8E4M3FN, "e8m0_t32n2m4", layout = grouped_128x4>)

// -----

!a = !blockscale.tensor<4x?x512xbf16>
!b = !blockscale.tensor<64x512xbf16>
func.func @one_matrix(%a: !a, %b: !b, %ends: tensor<4xi32>) -> tensor<4x?x64xf32> {
  // expected-error @below {{with 'groups' expected 'b' with a matrix for each group, found 3 and 2 dimensions of 'a' and 'b'}}
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) : !a, !b -> tensor<4x?x64xf32>
  return %0 : tensor<4x?x64xf32>
}

// -----

!a = !blockscale.tensor<?x512xbf16>
!b = !blockscale.tensor<3x64x512xbf16>
func.func @count(%a: !a, %b: !b, %ends: tensor<4xi32>) -> tensor<?x64xf32> {
  // expected-error @below {{expected an offset for each of the 3 matrices of 'b', found 4}}
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) : !a, !b -> tensor<?x64xf32>
  return %0 : tensor<?x64xf32>
}

// -----

!a = !blockscale.tensor<?x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!b = !blockscale.tensor<4x64x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @layout(%a: !a, %b: !b, %ends: tensor<4xi32>) -> tensor<?x64xf32> {
  // expected-error @below {{with 'groups' expected the scales of 'a' in layout 'grouped_128x4', found 'tiled_128x4'}}
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) : !a, !b -> tensor<?x64xf32>
  return %0 : tensor<?x64xf32>
}

// -----

!a = !blockscale.tensor<?x512xf8E4M3FN, "float32_t128_t0">
!b = !blockscale.tensor<4x64x512xf8E4M3FN, "float32_t0">
func.func @rows(%a: !a, %b: !b, %ends: tensor<4xi32>) -> tensor<?x64xf32> {
  // expected-error @below {{with 'groups' expected scales of 'a' of single rows or of the whole matrix, found one for 128 rows}}
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) : !a, !b -> tensor<?x64xf32>
  return %0 : tensor<?x64xf32>
}

// -----

!a = !blockscale.tensor<?x512xf16, "n2m4">
!b = !blockscale.tensor<4x64x512xf16>
func.func @pruned(%a: !a, %b: !b, %ends: tensor<4xi32>) -> tensor<?x64xf32> {
  // expected-error @below {{with 'groups' expected a dense 'a', found spec 'n2m4': no layout pads metadata for each group}}
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) : !a, !b -> tensor<?x64xf32>
  return %0 : tensor<?x64xf32>
}

// -----

!a = !blockscale.tensor<?x512xbf16>
!b = !blockscale.tensor<4x64x512xbf16>
func.func @bias(%a: !a, %b: !b, %ends: tensor<4xi32>, %bias: tensor<64xf32>) -> tensor<?x64xf32> {
  // expected-error @below {{expected a bias along the columns for each group, shape [4, 64], found [64]}}
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) bias(%bias) : !a, !b, tensor<64xf32> -> tensor<?x64xf32>
  return %0 : tensor<?x64xf32>
}

// -----

!a = !blockscale.tensor<?x512xbf16>
!b = !blockscale.tensor<4x64x512xbf16>
func.func @bias_of_rows(%a: !a, %b: !b, %ends: tensor<4xi32>, %bias: tensor<4x64xf32>) -> tensor<?x64xf32> {
  // expected-error @below {{expected a bias per row of shape [?], found [4, 64]}}
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) bias(%bias) row : !a, !b, tensor<4x64xf32> -> tensor<?x64xf32>
  return %0 : tensor<?x64xf32>
}

// -----

!a = !blockscale.tensor<?x512xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
!b = !blockscale.tensor<64x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @no_groups(%a: !a, %b: !b) -> tensor<?x64xf32> {
  // expected-error @below {{does not know the groups of layout 'grouped_128x4'; only 'blockscale.assemble', 'blockscale.disassemble', 'blockscale.dim', 'blockscale.quantize' with 'groups' and the 'a' of a 'blockscale.matmul' with 'groups' take it}}
  %0 = blockscale.matmul %a, %b : !a, !b -> tensor<?x64xf32>
  return %0 : tensor<?x64xf32>
}

// -----

!a = !blockscale.tensor<?x512xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
func.func @values(%a: !a) -> tensor<?x512xf32> {
  // expected-error @below {{does not know the groups of layout 'grouped_128x4'}}
  %0 = blockscale.dequantize %a : !a to tensor<?x512xf32>
  return %0 : tensor<?x512xf32>
}

// -----

!a = !blockscale.tensor<?x512xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
func.func @quantize(%x: tensor<?x512xf32>) -> !a {
  // expected-error @below {{does not know the groups of layout 'grouped_128x4'}}
  %0 = blockscale.quantize %x : tensor<?x512xf32> to !a
  return %0 : !a
}

// -----

!a = !blockscale.tensor<?x512xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
!p = !blockscale.tensor<?x512xf8E4M3FN, "e8m0_t32">
func.func @relayout(%a: !a) -> !p {
  // expected-error @below {{does not know the groups of layout 'grouped_128x4'}}
  %0 = blockscale.relayout %a : !a to !p
  return %0 : !p
}

// -----

!a = !blockscale.tensor<?x512xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
!s = !blockscale.tensor<128x512xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
func.func @slice(%a: !a) -> !s {
  // expected-error @below {{does not know the groups of layout 'grouped_128x4', in which no slice is}}
  %0 = blockscale.slice_rows %a[0] [128] : !a to !s
  return %0 : !s
}

// -----

!a = !blockscale.tensor<?x512xf8E4M3FN, "e8m0_t64", layout = grouped_128x4>
!s = !blockscale.tensor<?x512xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
func.func @densify(%a: !a) -> !s {
  // expected-error @below {{does not know the groups of layout 'grouped_128x4'}}
  %0 = blockscale.densify %a : !a to !s
  return %0 : !s
}

// -----

!a = !blockscale.tensor<?x512xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
!b = !blockscale.tensor<64x512xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
func.func @groups_of_b(%a: !b, %b: !b) -> tensor<64x64xf32> {
  // expected-error @below {{does not know the groups of layout 'grouped_128x4'}}
  %0 = blockscale.matmul %a, %b : !b, !b -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// -----

!a = !blockscale.tensor<?x512xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
!b = !blockscale.tensor<4x64x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @a_result_for_each(%a: !a, %b: !b, %ends: tensor<4xi32>) -> tensor<4x?x64xf32> {
  // expected-error @below {{expected a result of shape [?, 64], found [4, ?, 64]}}
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) : !a, !b -> tensor<4x?x64xf32>
  return %0 : tensor<4x?x64xf32>
}

// -----

!a = !blockscale.tensor<?x512xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
!b = !blockscale.tensor<4x64x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @c_for_each(%a: !a, %b: !b, %ends: tensor<4xi32>, %c: tensor<4x?x64xf32>) -> tensor<?x64xf32> {
  // expected-error @below {{expected 'c' of the result's shape [?, 64], found [4, ?, 64]}}
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) c(%c) : !a, !b, tensor<4x?x64xf32> -> tensor<?x64xf32>
  return %0 : tensor<?x64xf32>
}

// -----

// Scales with metadata have no layout of groups, so that none is asked for.
!a = !blockscale.tensor<?x512xf8E4M3FN, "e8m0_t32n2m4", layout = tiled_128x4>
!b = !blockscale.tensor<4x64x512xf8E4M3FN, "e8m0_t64", layout = tiled_128x4>
func.func @sparse_with_scales(%a: !a, %b: !b, %ends: tensor<4xi32>) -> tensor<?x64xf32> {
  // expected-error @below {{with 'groups' expected a dense 'a', found spec 'e8m0_t32n2m4': no layout pads metadata for each group}}
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) : !a, !b -> tensor<?x64xf32>
  return %0 : tensor<?x64xf32>
}

// -----

#instruction = #blockscale.mma<kind = mxf4, a = e2m1, b = e2m1, scale = ue8m0, block = 32, m = 128, n = 64, k = 128, sparse = true>
#complete = #blockscale.schedule<tile_m = 128, tile_n = 64, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8>
!data = !blockscale.tensor_map<u4x16_align8b, dims = ()[m, n, k, l] -> (k floordiv 2, m, l), strides = ()[m, n, k, l] -> (k floordiv 4, m * (k floordiv 4)), box = [128, 128, 1], swizzle = "64B">
!rows = !blockscale.tensor_map<u8, dims = ()[m, n, k, l] -> (16, m, k floordiv 256, l), strides = ()[m, n, k, l] -> (16, m * 16, m * (k floordiv 16)), box = [16, 128, 1, 1], swizzle = "none">
func.func @sparse_kernel(%a: !data, %sf: !rows, %e: !rows, %d: !blockscale.global<f32>, %i: i32, %ends: !blockscale.global<i32>) {
  // expected-error @below {{products with groups are not lowered with a sparse 'a'}}
  blockscale.kernel_matmul a(%a) b(%a) scales(%sf, %sf) metadata(%e) d(%d) groups(%ends) sizes(%i, %i, %i, %i)
    mma #instruction schedule #complete : !data, !data, !blockscale.global<f32> scales !rows, !rows metadata !rows groups !blockscale.global<i32>
  return
}

// -----

!a = !blockscale.tensor<?x512xbf16>
!b = !blockscale.tensor<64x512xbf16>
func.func @rows_without_groups(%a: !a, %b: !b, %ids: tensor<9xi32>) -> tensor<9x64xf32> {
  // expected-error @below {{'rows' are gathered for groups of rows; expected 'groups' and a 'b' with a matrix for each group}}
  %0 = blockscale.matmul %a, %b rows(%ids : tensor<9xi32>) : !a, !b -> tensor<9x64xf32>
  return %0 : tensor<9x64xf32>
}

// -----

!a = !blockscale.tensor<64x?xbf16>
!b = !blockscale.tensor<32x?xbf16>
func.func @rows_along_k(%a: !a, %b: !b, %ends: tensor<4xi32>, %ids: tensor<9xi32>) -> tensor<4x9x32xf32> {
  // expected-error @below {{'rows' are gathered for groups of rows; expected 'groups' and a 'b' with a matrix for each group}}
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) rows(%ids : tensor<9xi32>) : !a, !b -> tensor<4x9x32xf32>
  return %0 : tensor<4x9x32xf32>
}

// -----

!a = !blockscale.tensor<?x512xf8E4M3FN, order = mn_major>
!b = !blockscale.tensor<4x64x512xf8E4M3FN>
func.func @order(%a: !a, %b: !b, %ends: tensor<4xi32>, %ids: tensor<9xi32>) -> tensor<9x64xf32> {
  // expected-error @below {{with 'rows' expected 'a' in order 'k_major', found 'mn_major'}}
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) rows(%ids : tensor<9xi32>) : !a, !b -> tensor<9x64xf32>
  return %0 : tensor<9x64xf32>
}

// -----

!a = !blockscale.tensor<?x512xui4, "float32_int8">
!b = !blockscale.tensor<4x64x512xf8E4M3FN, "float32_t128">
func.func @zero_points(%a: !a, %b: !b, %ends: tensor<4xi32>, %ids: tensor<9xi32>) -> tensor<9x64xf32> {
  // expected-error @below {{with 'rows' expected 'a' without zero points, or with integers of single rows beside scales that instructions do not read, found spec 'float32_int8'}}
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) rows(%ids : tensor<9xi32>) : !a, !b -> tensor<9x64xf32>
  return %0 : tensor<9x64xf32>
}

// -----

!a = !blockscale.tensor<12x512xbf16>
!b = !blockscale.tensor<4x64x512xbf16>
func.func @rows_of_result(%a: !a, %b: !b, %ends: tensor<4xi32>, %ids: tensor<9xi32>) -> tensor<12x64xf32> {
  // expected-error @below {{expected a result of shape [9, 64], found [12, 64]}}
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) rows(%ids : tensor<9xi32>) : !a, !b -> tensor<12x64xf32>
  return %0 : tensor<12x64xf32>
}
