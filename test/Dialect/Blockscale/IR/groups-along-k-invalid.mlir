// Groups along K: two matrices, and a matrix of the result for each.

// RUN: blockscale-opt %s -split-input-file -verify-diagnostics

!a = !blockscale.tensor<96x?xbf16>
!b = !blockscale.tensor<64x?xbf16>
func.func @one_result(%a: !a, %b: !b, %ends: tensor<4xi32>) -> tensor<96x64xf32> {
  // expected-error @below {{expected a result of shape [4, 96, 64], found [96, 64]}}
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) : !a, !b -> tensor<96x64xf32>
  return %0 : tensor<96x64xf32>
}

// -----

!a = !blockscale.tensor<96x?xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!b = !blockscale.tensor<64x?xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @scales(%a: !a, %b: !b, %ends: tensor<4xi32>) -> tensor<4x96x64xf32> {
  // expected-error @below {{with groups along K expected the scales of 'a' in layout 'grouped_128x4', found 'tiled_128x4'}}
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) : !a, !b -> tensor<4x96x64xf32>
  return %0 : tensor<4x96x64xf32>
}

// -----

!a = !blockscale.tensor<96x?xf8E4M3FN>
!b = !blockscale.tensor<64x?xf8E4M3FN, "float32_t0">
func.func @scales_of_b(%a: !a, %b: !b, %ends: tensor<4xi32>) -> tensor<4x96x64xf32> {
  // expected-error @below {{with groups along K expected the scales of 'b', each of which covers a row of a group, in layout 'grouped', found 'plain'}}
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) : !a, !b -> tensor<4x96x64xf32>
  return %0 : tensor<4x96x64xf32>
}

// -----

!a = !blockscale.tensor<96x512xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
!b = !blockscale.tensor<64x512xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
func.func @static(%a: !a, %b: !b, %ends: tensor<4xi32>) -> tensor<4x96x64xf32> {
  // expected-error @below {{the scales of 'a' are padded for each group along K, as only the offsets say; expected a dynamic K, found 512}}
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) : !a, !b -> tensor<4x96x64xf32>
  return %0 : tensor<4x96x64xf32>
}

// -----

!a = !blockscale.tensor<96x?xi8, "e8m0_t32", layout = grouped_128x4>
!b = !blockscale.tensor<64x?xi8, "e8m0_t32">
func.func @for_sums(%a: !a, %b: !b, %ends: tensor<4xi32>) -> tensor<4x96x64xf32> {
  // expected-error @below {{with groups along K expected the scales of 'a', by which sums are multiplied in registers, in layout 'plain', found 'grouped_128x4'}}
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) : !a, !b -> tensor<4x96x64xf32>
  return %0 : tensor<4x96x64xf32>
}

// -----

!a = !blockscale.tensor<96x?xf8E4M3FN, "float32_t64n2m4">
!b = !blockscale.tensor<64x?xf8E4M3FN, "float32_t128">
func.func @pruned_blocks(%a: !a, %b: !b, %ends: tensor<4xi32>) -> tensor<4x96x64xf32> {
  // expected-error @below {{with groups along K expected 'a' without metadata, and without zero points beside scales of all of K, found spec 'float32_t64n2m4'}}
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) : !a, !b -> tensor<4x96x64xf32>
  return %0 : tensor<4x96x64xf32>
}

// -----

!a = !blockscale.tensor<96x?xui4, "float32_int8_t0">
!b = !blockscale.tensor<64x?xf16>
func.func @zeros(%a: !a, %b: !b, %ends: tensor<4xi32>) -> tensor<4x96x64xf32> {
  // expected-error @below {{without zero points beside scales of all of K, found spec 'float32_int8_t0'}}
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) : !a, !b -> tensor<4x96x64xf32>
  return %0 : tensor<4x96x64xf32>
}

// -----

!a = !blockscale.tensor<96x?xf16, "n2m4">
!b = !blockscale.tensor<64x?xf16>
func.func @pruned(%a: !a, %b: !b, %ends: tensor<4xi32>) -> tensor<4x96x64xf32> {
  // expected-error @below {{with groups along K expected 'a' without metadata, and without zero points beside scales of all of K, found spec 'n2m4'}}
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) : !a, !b -> tensor<4x96x64xf32>
  return %0 : tensor<4x96x64xf32>
}

// -----

!a = !blockscale.tensor<96x?xbf16>
!b = !blockscale.tensor<64x?xbf16>
func.func @bias(%a: !a, %b: !b, %ends: tensor<4xi32>, %bias: tensor<64xf32>) -> tensor<4x96x64xf32> {
  // expected-error @below {{expected a bias along the columns for each group, shape [4, 64], found [64]}}
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) bias(%bias) : !a, !b, tensor<64xf32> -> tensor<4x96x64xf32>
  return %0 : tensor<4x96x64xf32>
}

// -----

!map = !blockscale.tensor_map<bf16, dims = ()[m, n, k, l] -> (k, m, 1), strides = ()[m, n, k, l] -> (k, k * m), box = [64, 128, 1], swizzle = "128B">
func.func @type(%m: !map, %d: !blockscale.global<bf16>, %i: i32, %e: !blockscale.global<i64>) {
  // expected-error @below {{expected offsets of i32, found 'i64'}}
  blockscale.kernel_matmul a(%m) b(%m) d(%d) k_groups(%e) sizes(%i, %i, %i, %i)
    mma <kind = f16, a = bf16, b = bf16, m = 128, n = 128, k = 16>
    schedule<tile_m = 128, tile_n = 128, tile_k = 64, stages = 4, accumulators = 2, swap_operands = false, group_m = 8> : !map, !map, !blockscale.global<bf16> k_groups !blockscale.global<i64>
  return
}

// -----

!map = !blockscale.tensor_map<bf16, dims = ()[m, n, k, l] -> (k, m, 1), strides = ()[m, n, k, l] -> (k, k * m), box = [64, 128, 1], swizzle = "128B">
func.func @both(%m: !map, %d: !blockscale.global<bf16>, %i: i32, %e: !blockscale.global<i32>) {
  // expected-error @below {{expected 'groups' or 'k_groups', found both}}
  blockscale.kernel_matmul a(%m) b(%m) d(%d) groups(%e) k_groups(%e) sizes(%i, %i, %i, %i)
    mma <kind = f16, a = bf16, b = bf16, m = 128, n = 128, k = 16>
    schedule<tile_m = 128, tile_n = 128, tile_k = 64, stages = 4, accumulators = 2, swap_operands = false, group_m = 8> : !map, !map, !blockscale.global<bf16> groups !blockscale.global<i32> k_groups !blockscale.global<i32>
  return
}

// -----

!map = !blockscale.tensor_map<bf16, dims = ()[m, n, k, l] -> (k, m, 1), strides = ()[m, n, k, l] -> (k, k * m), box = [64, 128, 1], swizzle = "128B">
func.func @bias_of_rows(%m: !map, %d: !blockscale.global<bf16>, %i: i32, %v: !blockscale.global<f32>, %e: !blockscale.global<i32>) {
  // expected-error @below {{with 'k_groups' expected a bias along the columns}}
  blockscale.kernel_matmul a(%m) b(%m) d(%d) bias(%v) k_groups(%e) sizes(%i, %i, %i, %i)
    mma <kind = f16, a = bf16, b = bf16, m = 128, n = 128, k = 16>
    schedule<tile_m = 128, tile_n = 128, tile_k = 64, stages = 4, accumulators = 2, swap_operands = false, group_m = 8> {bias_kind = #blockscale<bias_kind row>} : !map, !map, !blockscale.global<bf16> bias !blockscale.global<f32> k_groups !blockscale.global<i32>
  return
}

// -----

!map = !blockscale.tensor_map<bf16, dims = ()[m, n, k, l] -> (k, m, 1), strides = ()[m, n, k, l] -> (k, k * m), box = [64, 128, 1], swizzle = "128B">
func.func @dynamic(%m: !map, %d: !blockscale.global<bf16>, %i: i32, %e: !blockscale.global<i32>) {
  // expected-error @below {{products with groups along K are lowered with 'scheduler' of 'static' only}}
  blockscale.kernel_matmul a(%m) b(%m) d(%d) k_groups(%e) sizes(%i, %i, %i, %i)
    mma <kind = f16, a = bf16, b = bf16, m = 128, n = 128, k = 16>
    schedule<tile_m = 128, tile_n = 128, tile_k = 64, stages = 4, accumulators = 2, swap_operands = false, group_m = 8, scheduler = dynamic> : !map, !map, !blockscale.global<bf16> k_groups !blockscale.global<i32>
  return
}

// -----

!a = !blockscale.tensor<96x512xf8E4M3FN, "float32_t0", layout = grouped>
!b = !blockscale.tensor<64x512xf8E4M3FN>
func.func @no_groups(%a: !a, %b: !b) -> tensor<96x64xf32> {
  // expected-error @below {{does not know the groups of layout 'grouped'; only 'blockscale.assemble', 'blockscale.disassemble', 'blockscale.dim' and a 'blockscale.matmul' with groups along K take it}}
  %0 = blockscale.matmul %a, %b : !a, !b -> tensor<96x64xf32>
  return %0 : tensor<96x64xf32>
}

// -----

!a = !blockscale.tensor<?x512xf8E4M3FN, "float32_t0", layout = grouped>
!b = !blockscale.tensor<4x64x512xf8E4M3FN>
func.func @groups_of_rows(%a: !a, %b: !b, %ends: tensor<4xi32>) -> tensor<?x64xf32> {
  // expected-error @below {{does not know the groups of layout 'grouped'}}
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) : !a, !b -> tensor<?x64xf32>
  return %0 : tensor<?x64xf32>
}

// -----

!a = !blockscale.tensor<96x512xf8E4M3FN, "float32_t0", layout = grouped>
func.func @values(%a: !a) -> tensor<96x512xf32> {
  // expected-error @below {{does not know the groups of layout 'grouped'}}
  %0 = blockscale.dequantize %a : !a to tensor<96x512xf32>
  return %0 : tensor<96x512xf32>
}

// -----

!a = !blockscale.tensor<96x512xf8E4M3FN, "float32_t0", layout = grouped>
func.func @quantize(%x: tensor<96x512xf32>) -> !a {
  // expected-error @below {{does not know the groups of layout 'grouped'}}
  %0 = blockscale.quantize %x : tensor<96x512xf32> to !a
  return %0 : !a
}

// -----

!a = !blockscale.tensor<96x512xf8E4M3FN, "float32_t0", layout = grouped>
func.func @quantize_groups(%x: tensor<96x512xf32>, %ends: tensor<4xi32>) -> !a {
  // expected-error @below {{with 'groups' expected scales in layout 'grouped_128x4', found 'grouped'}}
  %0 = blockscale.quantize %x groups(%ends : tensor<4xi32>) : tensor<96x512xf32> to !a
  return %0 : !a
}

// -----

!a = !blockscale.tensor<96x512xf8E4M3FN, "float32_t0", layout = grouped>
!p = !blockscale.tensor<96x512xf8E4M3FN, "float32_t0">
func.func @relayout(%a: !a) -> !p {
  // expected-error @below {{does not know the groups of layout 'grouped'}}
  %0 = blockscale.relayout %a : !a to !p
  return %0 : !p
}

// -----

!a = !blockscale.tensor<96x512xf8E4M3FN, "float32_t0", layout = grouped>
!s = !blockscale.tensor<32x512xf8E4M3FN, "float32_t0", layout = grouped>
func.func @slice(%a: !a) -> !s {
  // expected-error @below {{does not know the groups of layout 'grouped', in which no slice is}}
  %0 = blockscale.slice_rows %a[0] [32] : !a to !s
  return %0 : !s
}

// -----

// How many groups there are is in nobody's shape.
!a = !blockscale.tensor<96x512xf8E4M3FN, "float32_t0", layout = grouped>
func.func @parts(%data: tensor<96x512xf8E4M3FN>, %scales: tensor<96x1xf32>) -> !a {
  // expected-error @below {{tensor<?x96x1xf32>}}
  %0 = blockscale.assemble %data, %scales : tensor<96x512xf8E4M3FN>, tensor<96x1xf32> to !a
  return %0 : !a
}
