// RUN: blockscale-opt %s -split-input-file -verify-diagnostics -blockscale-legalize-scales
// RUN: not blockscale-opt %S/legalize-scales.mlir -blockscale-attach-target=target=sm_999 -blockscale-legalize-scales 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not blockscale-opt %S/legalize-scales.mlir -blockscale-attach-target=target=sm_100 -blockscale-legalize-scales 2>&1 | FileCheck %s --check-prefix=PLAIN

// UNKNOWN: error: unknown target 'sm_999'; known targets: sm_100a
// PLAIN: error: 'blockscale.matmul' op target 'sm_100' has no block-scaled matrix instruction

!bytes = !blockscale.tensor<128x256xf8E4M3FN, "float32_t0">
!short_zeros = !blockscale.tensor<128x256xui4, "float16_int8_t8">
func.func @short_zeros(%a: !bytes, %b: !short_zeros) -> tensor<128x128xf32> {
  // expected-error @below {{operand 'b' with scales 'float16_int8_t8': tiles of 8 elements under scales of 'float16', by which the sum of each tile is multiplied in registers, are shorter than what one instruction adds up, 16 elements; expected tiles of 16, 32, 64, 128 or 256, or one for all of K ('float32_int8_t0'). Scales that are rounded to powers of two are other values}}
  %0 = blockscale.matmul %a, %b : !bytes, !short_zeros -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// -----

!bytes = !blockscale.tensor<128x256xf8E4M3FN, "float32_t0">
!real_zeros = !blockscale.tensor<128x256xui4, "float16_e4m3fn_t0">
func.func @real_zeros(%a: !bytes, %b: !real_zeros) -> tensor<128x128xf32> {
  // expected-error @below {{operand 'b' with scales 'float16_e4m3fn_t0': zero points of 'e4m3fn' in real units are no numbers of the epilogue; expected float32, float16 or bfloat16, or ones that count in steps of the scale, such as 'int8'}}
  %0 = blockscale.matmul %a, %b : !bytes, !real_zeros -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// -----

!bytes = !blockscale.tensor<128x256xf8E4M3FN, "float32_t128">
!real_zeros = !blockscale.tensor<128x256xui4, "multi_float32_float32_float32_t128">
func.func @real_zeros_under_tensor_scale(%a: !bytes, %b: !real_zeros) -> tensor<128x128xf32> {
  // expected-error @below {{a tensor scale over zero points in real units is not lowered; expected scales that have it as a factor}}
  %0 = blockscale.matmul %a, %b : !bytes, !real_zeros -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// -----

!tables = !blockscale.tensor<128x256x!blockscale.codebook<"cb31ie_int5">, "e8m0_t32s2", layout = tiled_128x4>
!real_zeros = !blockscale.tensor<128x256xui4, "float16_float16_t0">
func.func @real_zeros_beside_tables(%a: !tables, %b: !real_zeros) -> tensor<128x128xf32> {
  // expected-error @below {{elements of 'cb31ie_int5' are stored as others that the epilogue multiplies, which zero points in real units of the other operand must not be; expected elements that are stored as they are, such as f8E4M3FN}}
  %0 = blockscale.matmul %a, %b : !tables, !real_zeros -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// -----

!bytes = !blockscale.tensor<128x256xf8E4M3FN>
!sparse = !blockscale.tensor<128x256xui4, "float16_float16_t0n2m4", layout = tiled_128x4>
func.func @sparse_real_zeros(%a: !bytes, %b: !sparse) -> tensor<128x128xf32> {
  // expected-error @below {{operand 'b' with scales 'float16_float16_t0n2m4': a zero point in real units of sparse elements is multiplied by the sum of what a row of the other operand has beside the elements that are kept, which is no product of a term of the row and one of the column; expected zero points that count in steps of the scale, such as 'int8', or dense elements, or 'dense-fallback', with which another product subtracts them}}
  %0 = blockscale.matmul %a, %b : !bytes, !sparse -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// -----

!bytes = !blockscale.tensor<40x256xf8E4M3FN, "float32_t0">
!real_zeros = !blockscale.tensor<3x128x256xui4, "float16_float16_t0">
func.func @real_zeros_gathered(%a: !bytes, %b: !real_zeros, %ends: tensor<3xi32>, %rows: tensor<64xi32>) -> tensor<64x128xf32> {
  // expected-error @below {{zero points in real units beside 'rows' need the sums of the rows that are gathered, which whoever packs does not know; expected zero points that count in steps of the scale, such as 'int8'}}
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<3xi32>) rows(%rows : tensor<64xi32>) : !bytes, !real_zeros -> tensor<64x128xf32>
  return %0 : tensor<64x128xf32>
}

// -----

!bytes = !blockscale.tensor<128x256xf8E4M3FN, "float32_t0">
!narrow_zeros = !blockscale.tensor<128x256xui5, "float32_int16_t0">
func.func @narrow_zeros(%a: !narrow_zeros, %b: !bytes) -> tensor<128x128xf32> {
  // expected-error @below {{operand 'a' with scales 'float32_int16_t0': a zero point of elements of 5 bits needs a correction term that is not lowered yet; subtract it from the elements, which bf16 without scales holds exactly up to 256, and multiply the product by the scales}}
  %0 = blockscale.matmul %a, %b : !narrow_zeros, !bytes -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// -----

!bytes = !blockscale.tensor<128x256xf8E4M3FN, "float32_t0">
!sparse_zeros = !blockscale.tensor<128x256xui4, "float32_int8_t8n2m4", layout = tiled_128x4>
func.func @sparse_zeros(%a: !sparse_zeros, %b: !bytes) -> tensor<128x128xf32> {
  // expected-error @below {{operand 'a' with scales 'float32_int8_t8n2m4': tiles of 8 elements under scales of 'float32', by which the sum of each tile is multiplied in registers, are shorter than what one instruction adds up, 16 elements}}
  %0 = blockscale.matmul %a, %b : !sparse_zeros, !bytes -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// -----

!bytes = !blockscale.tensor<128x256xf8E4M3FN, "float32_t0">
!narrow_scales = !blockscale.tensor<128x256xui4, "e4m3b9fnuz_int8_t128">
func.func @narrow_scales(%a: !bytes, %b: !narrow_scales) -> tensor<128x128xf32> {
  // expected-error @below {{operand 'b' with scales 'e4m3b9fnuz_int8_t128': tile scales of 'e4m3b9fnuz' are not a hardware scale format; expected one for all of K ('float32_int8_t0'), or tile scales of float32, float16, bfloat16, e4m3fn, e5m3fn, e5m2, e4m3b8fnuz, e5m2b16fnuz, e4m3b11fnuz or e3m4, by which the sum of each tile is multiplied in registers}}
  %0 = blockscale.matmul %a, %b : !bytes, !narrow_scales -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// -----

!channel_a = !blockscale.tensor<128x256xi8, "float32_t0">
!channel_b = !blockscale.tensor<128x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @channel(%a: !channel_a, %b: !channel_b) -> tensor<128x128xf32> {
  // expected-error @below {{operand 'b' has its scales in layout 'tiled_128x4'; no instruction reads scales 'e8m0_t32' of elements of 'f8E4M3FN' beside elements of 'i8' under scales 'float32_t0', and those by which sums are multiplied in registers lie in layout 'plain'}}
  %0 = blockscale.matmul %a, %b : !channel_a, !channel_b -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// -----

!square_a = !blockscale.tensor<128x256xf8E4M3FN, "e8m0_t32_t32">
!square_b = !blockscale.tensor<128x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @square(%a: !square_a, %b: !square_b) -> tensor<128x128xf32> {
  // expected-error @below {{operand 'a' has its scales in layout 'plain'; the tensor core reads 'tiled_128x4' (the host packs them so; name that layout in the type)}}
  %0 = blockscale.matmul %a, %b : !square_a, !square_b -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// -----

!tensor_scale_a = !blockscale.tensor<128x256xf4E2M1FN, "multi_float16_e4m3fn_t16", layout = tiled_128x4>
!tensor_scale_b = !blockscale.tensor<128x256xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @tensor_scale(%a: !tensor_scale_a, %b: !tensor_scale_b) -> tensor<128x128xf32> {
  // expected-error @below {{a tensor scale must be float32 to become a factor of the epilogue}}
  %0 = blockscale.matmul %a, %b : !tensor_scale_a, !tensor_scale_b -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// -----

!float_scales_a = !blockscale.tensor<128x256xf8E4M3FN, "float32_t8">
!float_scales_b = !blockscale.tensor<128x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @float_scales(%a: !float_scales_a, %b: !float_scales_b) -> tensor<128x128xf32> {
  // expected-error @below {{operand 'a' with scales 'float32_t8': tiles of 8 elements under scales of 'float32', by which the sum of each tile is multiplied in registers, are shorter than what one instruction adds up, 16 elements; expected tiles of 16, 32, 64, 128 or 256, scales of 'e8m0_t32', or one for all of K ('float32_t0'). Scales that are rounded to powers of two are other values}}
  %0 = blockscale.matmul %a, %b : !float_scales_a, !float_scales_b -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// -----

!integers_a = !blockscale.tensor<128x256xi8, "e8m0_t32">
!integers_b = !blockscale.tensor<128x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @integers(%a: !integers_a, %b: !integers_b) -> tensor<128x128xf32> {
  // expected-error @below {{operand 'b' has its scales in layout 'tiled_128x4'; no instruction reads scales 'e8m0_t32' of elements of 'f8E4M3FN' beside elements of 'i8' under scales 'e8m0_t32', and those by which sums are multiplied in registers lie in layout 'plain'}}
  %0 = blockscale.matmul %a, %b : !integers_a, !integers_b -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// -----

!other_f8_a = !blockscale.tensor<128x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!other_f8_b = !blockscale.tensor<128x256xf8E4M3B11FNUZ, "e8m0_t32", layout = tiled_128x4>
func.func @other_f8(%a: !other_f8_a, %b: !other_f8_b) -> tensor<128x128xf32> {
  // expected-error @below {{operand 'b' has elements of 'f8E4M3B11FNUZ', which no block-scaled kind multiplies; expected f8E4M3FN, f8E5M2, f6E2M3FN, f6E3M2FN or f4E2M1FN}}
  %0 = blockscale.matmul %a, %b : !other_f8_a, !other_f8_b -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// -----

!plain_layout_a = !blockscale.tensor<128x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!plain_layout_b = !blockscale.tensor<128x256xf8E4M3FN, "e8m0_t32">
func.func @plain_layout(%a: !plain_layout_a, %b: !plain_layout_b) -> tensor<128x128xf32> {
  // expected-error @below {{operand 'b' has its scales in layout 'plain'; the tensor core reads 'tiled_128x4' (the host packs them so; name that layout in the type)}}
  %0 = blockscale.matmul %a, %b : !plain_layout_a, !plain_layout_b -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// -----

!two_formats_a = !blockscale.tensor<128x256xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
!two_formats_b = !blockscale.tensor<128x256xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @two_formats(%a: !two_formats_a, %b: !two_formats_b) -> tensor<128x128xf32> {
  // expected-error @below {{operand 'a' has its scales in layout 'tiled_128x4'; no instruction reads scales 'e8m0_t32' of elements of 'f4E2M1FN' beside elements of 'f4E2M1FN' under scales 'e4m3fn_t16', and those by which sums are multiplied in registers lie in layout 'plain'}}
  // expected-error @below {{operand 'b' has its scales in layout 'tiled_128x4'; no instruction reads scales 'e4m3fn_t16' of elements of 'f4E2M1FN' beside elements of 'f4E2M1FN' under scales 'e8m0_t32', and those by which sums are multiplied in registers lie in layout 'plain'}}
  %0 = blockscale.matmul %a, %b : !two_formats_a, !two_formats_b -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// -----

// Scales can be repeated for shorter blocks, but these no instruction reads.
!two_blocks_a = !blockscale.tensor<128x256xf8E4M3FN, "e8m0_t64_t16">
!two_blocks_b = !blockscale.tensor<128x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @two_blocks(%a: !two_blocks_a, %b: !two_blocks_b) -> tensor<128x128xf32> {
  // expected-error @below {{operand 'b' has its scales in layout 'tiled_128x4'; no instruction reads scales 'e8m0_t32' of elements of 'f8E4M3FN' beside elements of 'f8E4M3FN' under scales 'e8m0_t64_t16', and those by which sums are multiplied in registers lie in layout 'plain'}}
  %0 = blockscale.matmul %a, %b : !two_blocks_a, !two_blocks_b -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// -----

!block_of_8 = !blockscale.tensor<128x256xf4E2M1FN, "e8m0_t8", layout = tiled_128x4>
func.func @block_of_8(%a: !block_of_8, %b: !block_of_8) -> tensor<128x128xf32> {
  // expected-error @below {{block 8 with ue8m0 is not legal for 'mxf4nvf4' on 'sm_100a': expected 32 or 16; nearest legal: block = 16; bf16 elements without scales hold the same values}}
  %0 = blockscale.matmul %a, %b : !block_of_8, !block_of_8 -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// -----

!short_e4m3_scales = !blockscale.tensor<128x256xf8E4M3FN, "e4m3fn_t8">
func.func @short_e4m3_scales(%a: !short_e4m3_scales, %b: !short_e4m3_scales) -> tensor<128x128xf32> {
  // expected-error @below {{operand 'a' with scales 'e4m3fn_t8': tiles of 8 elements under scales of 'e4m3fn', by which the sum of each tile is multiplied in registers, are shorter than what one instruction adds up, 16 elements}}
  // expected-error @below {{operand 'b' with scales 'e4m3fn_t8'}}
  %0 = blockscale.matmul %a, %b : !short_e4m3_scales, !short_e4m3_scales -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// -----

!sparse_e4m3_scales = !blockscale.tensor<128x256xf8E4M3FN, "e4m3fn_t32n2m4", layout = tiled_128x4>
!tiled_e4m3_scales = !blockscale.tensor<128x256xf8E4M3FN, "e4m3fn_t64", layout = tiled_128x4>
func.func @sparse_e4m3_scales(%a: !sparse_e4m3_scales, %b: !tiled_e4m3_scales) -> tensor<128x128xf32> {
  // expected-error @below {{operand 'b' has its scales in layout 'tiled_128x4'; no instruction reads scales 'e4m3fn_t64' of elements of 'f8E4M3FN', and those by which sums are multiplied in registers lie in layout 'plain'}}
  %0 = blockscale.matmul %a, %b : !sparse_e4m3_scales, !tiled_e4m3_scales -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// -----

!e4m3_scales_of_f8 = !blockscale.tensor<128x256xf8E4M3FN, "e4m3fn_t32", layout = tiled_128x4>
func.func @e4m3_scales_of_f8(%a: !e4m3_scales_of_f8, %b: !e4m3_scales_of_f8) -> tensor<128x128xf32> {
  // expected-error @below {{operand 'a' has its scales in layout 'tiled_128x4'; no instruction reads scales 'e4m3fn_t32' of elements of 'f8E4M3FN', and those by which sums are multiplied in registers lie in layout 'plain'}}
  // expected-error @below {{operand 'b' has its scales in layout 'tiled_128x4'}}
  %0 = blockscale.matmul %a, %b : !e4m3_scales_of_f8, !e4m3_scales_of_f8 -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// -----

!f8_of_16 = !blockscale.tensor<128x256xf8E4M3FN, "e8m0_t16", layout = tiled_128x4>
func.func @f8_of_16(%a: !f8_of_16, %b: !f8_of_16) -> tensor<128x128xf32> {
  // expected-error @below {{operand 'a' has its scales in layout 'tiled_128x4'; no instruction reads scales 'e8m0_t16' of elements of 'f8E4M3FN', and those by which sums are multiplied in registers lie in layout 'plain'}}
  // expected-error @below {{operand 'b' has its scales in layout 'tiled_128x4'}}
  %0 = blockscale.matmul %a, %b : !f8_of_16, !f8_of_16 -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// -----

!empty_a = !blockscale.tensor<0x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!empty_b = !blockscale.tensor<128x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @empty(%a: !empty_a, %b: !empty_b) -> tensor<0x128xf32> {
  // expected-error @below {{is empty; a tensor map has no extent 0}}
  %0 = blockscale.matmul %a, %b : !empty_a, !empty_b -> tensor<0x128xf32>
  return %0 : tensor<0x128xf32>
}

// -----

!named_a = !blockscale.tensor<128x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @named_kind(%a: !named_a, %b: !named_a) -> tensor<128x128xf32> {
  // expected-error @below {{names kind 'mxf4', which does not multiply these operands; legal kinds are 'mxf8f6f4'}}
  %0 = blockscale.matmul %a, %b mma(<kind = mxf4, a = e2m1, b = e2m1, scale = ue8m0, block = 32>) : !named_a, !named_a -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// -----

!factor_format_a = !blockscale.tensor<128x256xf8E4M3FN, "e4m3b9fnuz_t0">
!factor_format_b = !blockscale.tensor<128x256xf8E4M3FN, "float32">
func.func @factor_format(%a: !factor_format_a, %b: !factor_format_b) -> tensor<128x128xf32> {
  // expected-error @below {{operand 'a' with scales 'e4m3b9fnuz_t0': scales of 'e4m3b9fnuz' for all of K are no factors of the epilogue; expected float32, float16, bfloat16, e8m0, e4m3fn, e5m3fn, e5m2, e4m3b8fnuz, e5m2b16fnuz, e4m3b11fnuz or e3m4}}
  %0 = blockscale.matmul %a, %b : !factor_format_a, !factor_format_b -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// -----

// Beside sparse tf32 no elements are stored in 16 bits, and kind i8 knows whole numbers
// alone.
!fixed_point_a = !blockscale.tensor<128x256xtf32, "n1m2", layout = tiled_128x4>
!fixed_point_b = !blockscale.tensor<128x256xi8, "e8m0_t0">
func.func @fixed_point(%a: !fixed_point_a, %b: !fixed_point_b) -> tensor<128x128xf32> {
  // expected-error @below {{operand 'b' has elements of 'i8', which no kind multiplies}}
  %0 = blockscale.matmul %a, %b : !fixed_point_a, !fixed_point_b -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// -----

!too_short = !blockscale.tensor<128x256xi8, "e8m0_t8">
func.func @too_short(%a: !too_short, %b: !too_short) -> tensor<128x128xf32> {
  // expected-error @below {{operand 'a' with scales 'e8m0_t8': tiles of 8 elements under scales of 'e8m0', by which the sum of each tile is multiplied in registers, are shorter than what one instruction adds up}}
  // expected-error @below {{operand 'b' with scales 'e8m0_t8'}}
  %0 = blockscale.matmul %a, %b : !too_short, !too_short -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// -----

!short_rows = !blockscale.tensor<128x256xf8E4M3FN, "float32_t16">
!short_columns = !blockscale.tensor<128x256xf8E4M3FN, "float32_t16", order = mn_major>
func.func @short_columns(%a: !short_rows, %b: !short_columns) -> tensor<128x128xf32> {
  // expected-error @below {{operand 'b' has order 'mn_major', but its elements are multiplied as bf16 beside the other operand, which kernels read as 'k_major'}}
  %0 = blockscale.matmul %a, %b : !short_rows, !short_columns -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// -----

// Groups of 8 are too short for sums in registers.
!int4_groups = !blockscale.tensor<128x256xi4, "bfloat16_t8">
func.func @int4_groups(%a: !int4_groups, %b: !int4_groups) -> tensor<128x128xf32> {
  // expected-error @below {{tiles of 8 elements under scales of 'bfloat16', by which the sum of each tile is multiplied in registers, are shorter than what one instruction adds up, 16 elements; expected tiles of 16, 32, 64, 128 or 256}}
  %0 = blockscale.matmul %a, %b : !int4_groups, !int4_groups -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// -----

// Kind i8 is on sm_100a and sm_110a. Elsewhere bf16 has all bytes, but f32 not all sums.
module attributes {blockscale.target = #blockscale.target<sm_103a>} {
  func.func @int8_rows(%a: !blockscale.tensor<128x1040xi8, "float32_t0">, %b: !blockscale.tensor<128x1040xi8, "float32_t0">) -> tensor<128x128xf32> {
    // expected-error @below {{kind 'i8' is not legal on 'sm_103a': expected mxf4 or mxf4nvf4 or mxf8f6f4 or f8f6f4 or f16 or tf32; it exists on sm_100a, sm_110a only; nearest legal: kind = f16, A = bf16, B = bf16, K = 16; bytes are multiplied as bf16 of themselves where K is known and at most 1024, so that f32 has every sum, or where the matmul allows for others to be rounded to f32 by naming that kind, mma(<kind = f16, a = bf16, b = bf16>)}}
    %0 = blockscale.matmul %a, %b : !blockscale.tensor<128x1040xi8, "float32_t0">, !blockscale.tensor<128x1040xi8, "float32_t0"> -> tensor<128x128xf32>
    return %0 : tensor<128x128xf32>
  }
}

// -----

module attributes {blockscale.target = #blockscale.target<sm_103a>} {
  func.func @int8_unknown(%a: !blockscale.tensor<128x?xui8>, %b: !blockscale.tensor<128x?xui8>) -> tensor<128x128xf32> {
    // expected-error @below {{where K is known and at most 258}}
    %0 = blockscale.matmul %a, %b : !blockscale.tensor<128x?xui8>, !blockscale.tensor<128x?xui8> -> tensor<128x128xf32>
    return %0 : tensor<128x128xf32>
  }
}

// -----

// Bytes along the rows are not read in 16 bits.
module attributes {blockscale.target = #blockscale.target<sm_103a>} {
  func.func @int8_columns(%a: !blockscale.tensor<128x512xi8, order = mn_major>, %b: !blockscale.tensor<128x512xi8, order = mn_major>) -> tensor<128x128xf32> {
    // expected-error-re @below {{kind 'i8' is not legal on 'sm_103a'{{.*}} K = 16{{$}}}}
    %0 = blockscale.matmul %a, %b : !blockscale.tensor<128x512xi8, order = mn_major>, !blockscale.tensor<128x512xi8, order = mn_major> -> tensor<128x128xf32>
    return %0 : tensor<128x128xf32>
  }
}

// -----

// No kind multiplies tf32 by the floats that int4 becomes; beside sparse tf32 nothing is
// stored in 16 bits.
!tf32_rows = !blockscale.tensor<128x256xtf32, "n1m2", layout = tiled_128x4>
!int4_rows = !blockscale.tensor<128x256xi4, "float32_t0">
func.func @tf32_beside_int4(%a: !tf32_rows, %b: !int4_rows) -> tensor<128x128xf32> {
  // expected-error @below {{type 'e4m3' of B with 'tf32' of A is not legal for 'tf32' on 'sm_100a': expected tf32; nearest legal: B = tf32; the elements of 'b', 'i4', are multiplied as e4m3}}
  %0 = blockscale.matmul %a, %b : !tf32_rows, !int4_rows -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// -----

!single_elements_a = !blockscale.tensor<128x256xf4E2M1FN, "e4m3fn_t16n2m4", layout = tiled_128x4>
!single_elements_b = !blockscale.tensor<128x256xf4E2M1FN, "e4m3fn_t32", layout = tiled_128x4>
func.func @single_elements(%a: !single_elements_a, %b: !single_elements_b) -> tensor<128x128xf32> {
  // expected-error @below {{operand 'a' keeps 2:4, but kind 'mxf4nvf4', which has its scales, skips 4:8 in pairs}}
  %0 = blockscale.matmul %a, %b : !single_elements_a, !single_elements_b -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// -----

!wish_block_a = !blockscale.tensor<128x256xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
!wish_block_b = !blockscale.tensor<128x256xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
func.func @wish_block(%a: !wish_block_a, %b: !wish_block_b) -> tensor<128x128xf32> {
  // expected-error @below {{names 'block' of 16, but its operands make it 32}}
  %0 = blockscale.matmul %a, %b mma(<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue8m0, block = 16>) : !wish_block_a, !wish_block_b -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// -----

!wish_scale_a = !blockscale.tensor<128x256xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
!wish_scale_b = !blockscale.tensor<128x256xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
func.func @wish_scale(%a: !wish_scale_a, %b: !wish_scale_b) -> tensor<128x128xf32> {
  // expected-error @below {{names 'scale' of ue4m3, but its operands make it ue8m0}}
  %0 = blockscale.matmul %a, %b mma(<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16>) : !wish_scale_a, !wish_scale_b -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// -----

!wish_a_a = !blockscale.tensor<128x256xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
!wish_a_b = !blockscale.tensor<128x256xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
func.func @wish_a(%a: !wish_a_a, %b: !wish_a_b) -> tensor<128x128xf32> {
  // expected-error @below {{names 'a' of e4m3, but its operands make it e2m1}}
  %0 = blockscale.matmul %a, %b mma(<kind = mxf8f6f4, a = e4m3, b = e2m1, scale = ue8m0, block = 32>) : !wish_a_a, !wish_a_b -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// -----

!wish_b_a = !blockscale.tensor<128x256xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
!wish_b_b = !blockscale.tensor<128x256xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
func.func @wish_b(%a: !wish_b_a, %b: !wish_b_b) -> tensor<128x128xf32> {
  // expected-error @below {{names 'b' of e5m2, but its operands make it e2m1}}
  %0 = blockscale.matmul %a, %b mma(<kind = mxf8f6f4, a = e2m1, b = e5m2, scale = ue8m0, block = 32>) : !wish_b_a, !wish_b_b -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// -----

!wish_sparse_a = !blockscale.tensor<128x256xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
!wish_sparse_b = !blockscale.tensor<128x256xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
func.func @wish_sparse(%a: !wish_sparse_a, %b: !wish_sparse_b) -> tensor<128x128xf32> {
  // expected-error @below {{names 'sparse' of true, but its operands make it false}}
  %0 = blockscale.matmul %a, %b mma(<kind = mxf4, a = e2m1, b = e2m1, scale = ue8m0, block = 32, sparse = true>) : !wish_sparse_a, !wish_sparse_b -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// -----

!wish_m_a = !blockscale.tensor<128x256xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
!wish_m_b = !blockscale.tensor<128x256xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
func.func @wish_m(%a: !wish_m_a, %b: !wish_m_b) -> tensor<128x128xf32> {
  // expected-error @below {{names 'm', 'n', 'k' or 'cta_group' of an instruction without a schedule that has all fields; ask for a shape by 'tile_m', 'tile_n', 'mma_k' and 'cta_group' of 'schedule'}}
  %0 = blockscale.matmul %a, %b mma(<kind = mxf4, a = e2m1, b = e2m1, scale = ue8m0, block = 32, m = 256>) : !wish_m_a, !wish_m_b -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// -----

!wish_cta_group_a = !blockscale.tensor<128x256xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
!wish_cta_group_b = !blockscale.tensor<128x256xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
func.func @wish_cta_group(%a: !wish_cta_group_a, %b: !wish_cta_group_b) -> tensor<128x128xf32> {
  // expected-error @below {{names 'm', 'n', 'k' or 'cta_group' of an instruction}}
  %0 = blockscale.matmul %a, %b mma(<kind = mxf4, a = e2m1, b = e2m1, scale = ue8m0, block = 32, cta_group = 2>) : !wish_cta_group_a, !wish_cta_group_b -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// -----

!wish_major_a = !blockscale.tensor<128x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!wish_major_b = !blockscale.tensor<128x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @wish_major(%a: !wish_major_a, %b: !wish_major_b) -> tensor<128x128xf32> {
  // expected-error @below {{names 'a_mn_major', but the types of its operands give their order}}
  %0 = blockscale.matmul %a, %b mma(<kind = mxf8f6f4, a = e4m3, b = e4m3, scale = ue8m0, block = 32, a_mn_major = true>) : !wish_major_a, !wish_major_b -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// -----

!both_a = !blockscale.tensor<128x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!both_b = !blockscale.tensor<128x256xf8E4M3FN, "float32_t16">
func.func @scales_of_both_ways(%a: !both_a, %b: !both_b) -> tensor<128x128xf32> {
  // expected-error @below {{operand 'a' has its scales in layout 'tiled_128x4'; no instruction reads scales 'e8m0_t32' of elements of 'f8E4M3FN' beside elements of 'f8E4M3FN' under scales 'float32_t16', and those by which sums are multiplied in registers lie in layout 'plain'}}
  %0 = blockscale.matmul %a, %b : !both_a, !both_b -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// -----

!long_elements = !blockscale.tensor<128x256xtf32>
!float_tiles = !blockscale.tensor<128x256xf8E4M3FN, "float32_t128">
func.func @long_elements(%a: !long_elements, %b: !float_tiles) -> tensor<128x128xf32> {
  // expected-error @below {{operand 'b' has scales of tiles along K that no instruction reads, by which sums are multiplied in registers, which is lowered for elements of kinds 'f8f6f4' and 'f16': f8E4M3FN, f8E5M2, f6E2M3FN, f6E3M2FN, f4E2M1FN, bf16 and f16; found tf32}}
  %0 = blockscale.matmul %a, %b : !long_elements, !float_tiles -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// -----

!sparse_scaled = !blockscale.tensor<128x256xf8E4M3FN, "float32_t128n2m4">
!sparse_scaled_b = !blockscale.tensor<128x256xf8E4M3FN, "float32_t128_t128">
func.func @sparse_scaled(%a: !sparse_scaled, %b: !sparse_scaled_b) -> tensor<128x128xf32> {
  // expected-error @below {{operand 'a' has its metadata in layout 'plain'; the tensor core reads 'tiled_128x4'}}
  %0 = blockscale.matmul %a, %b : !sparse_scaled, !sparse_scaled_b -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// -----

!sparse_short = !blockscale.tensor<128x256xf8E4M3FN, "float32_t16n2m4", layout = tiled_128x4>
!beside_short = !blockscale.tensor<128x256xf8E4M3FN, "float32_t128">
func.func @sparse_short(%a: !sparse_short, %b: !beside_short) -> tensor<128x128xf32> {
  // expected-error @below {{scales of tiles of 32 elements along K multiply sums in registers, and an instruction that skips what 'a' prunes adds up 64; expected tiles of 64 or more; or multiply it densely with 'dense-fallback'}}
  %0 = blockscale.matmul %a, %b : !sparse_short, !beside_short -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// -----

!other_tiles = !blockscale.tensor<128x256xf8E4M3FN, "int8_t128">
func.func @other_tile_scales(%a: !other_tiles) -> tensor<128x128xf32> {
  // expected-error @below {{operand 'a' with scales 'int8_t128': tile scales of 'int8' are not a hardware scale format; expected scales of 'e8m0_t32', one for all of K ('float32_t0'), or tile scales of float32, float16, bfloat16, e4m3fn, e5m3fn, e5m2, e4m3b8fnuz, e5m2b16fnuz, e4m3b11fnuz or e3m4, by which the sum of each tile is multiplied in registers}}
  // expected-error @below {{operand 'b'}}
  %0 = blockscale.matmul %a, %a : !other_tiles, !other_tiles -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// -----

!square_fp4 = !blockscale.tensor<128x256xf4E2M1FN, "multi_float32_e4m3fn_t16_t16">
!rows_fp4 = !blockscale.tensor<128x256xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
func.func @square_fp4(%a: !rows_fp4, %b: !square_fp4) -> tensor<128x128xf32> {
  // expected-error @below {{operand 'b' has its scales in layout 'plain'}}
  %0 = blockscale.matmul %a, %b : !rows_fp4, !square_fp4 -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// -----

!long_rows = !blockscale.tensor<128x256xf8E4M3FN, "e8m0_t128_t128">
func.func @long_rows(%a: !long_rows, %b: !long_rows) -> tensor<128x128xf32> {
  // expected-error @below {{operand 'a' has its scales in layout 'plain'}}
  // expected-error @below {{operand 'b' has its scales in layout 'plain'}}
  %0 = blockscale.matmul %a, %b : !long_rows, !long_rows -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// -----

// Elements of 16 bits lie along K.
!transposed = !blockscale.tensor<128x256xf8E5M2, "float32_t0", order = mn_major>
!plain = !blockscale.tensor<128x256xbf16>
func.func @transposed_beside_bf16(%a: !transposed, %b: !plain) -> tensor<128x128xf32> {
  // expected-error @below {{operand 'a' has order 'mn_major', but its elements are multiplied as bf16 beside the other operand, which kernels read as 'k_major'}}
  %0 = blockscale.matmul %a, %b : !transposed, !plain -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// -----

// Beside FP8 no instruction reads these.
!fp8 = !blockscale.tensor<128x256xf8E4M3FN, "float32_t0">
!nvfp4 = !blockscale.tensor<128x256xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @tiled_beside_fp8(%a: !fp8, %b: !nvfp4) -> tensor<128x128xf32> {
  // expected-error @below {{operand 'b' has its scales in layout 'tiled_128x4'; no instruction reads scales 'e4m3fn_t16' of elements of 'f4E2M1FN' beside elements of 'f8E4M3FN' under scales 'float32_t0', and those by which sums are multiplied in registers lie in layout 'plain'}}
  %0 = blockscale.matmul %a, %b : !fp8, !nvfp4 -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// -----

!sparse_direct = !blockscale.tensor<128x256xf8E4M3FN, "e8m0_t32n2m4", layout = tiled_128x4>
!mxint8 = !blockscale.tensor<128x256xi8, "e8m0_t32">
func.func @sparse_beside_integers(%a: !sparse_direct, %b: !mxint8) -> tensor<128x128xf32> {
  // expected-error @below {{operand 'b' has scales of tiles along K that no instruction reads, by which sums are multiplied in registers, and 'a' has scales that instructions read; expected tiles of at least 32 floats of at most 8 bits under the first, or such scales, float ones for instance, or one for all of K, of both}}
  %0 = blockscale.matmul %a, %b : !sparse_direct, !mxint8 -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// -----

!nvfp4_tiles = !blockscale.tensor<128x256xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!mxfp8_tiles = !blockscale.tensor<128x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @nvfp4_beside_mxfp8(%a: !nvfp4_tiles, %b: !mxfp8_tiles) -> tensor<128x128xf32> {
  // expected-error @below {{operand 'a' has its scales in layout 'tiled_128x4'; no instruction reads scales 'multi_float32_e4m3fn_t16' of elements of 'f4E2M1FN' beside elements of 'f8E4M3FN' under scales 'e8m0_t32', and those by which sums are multiplied in registers lie in layout 'plain'}}
  // expected-error @below {{operand 'b' has its scales in layout 'tiled_128x4'; no instruction reads scales 'e8m0_t32' of elements of 'f8E4M3FN' beside elements of 'f4E2M1FN' under scales 'multi_float32_e4m3fn_t16', and those by which sums are multiplied in registers lie in layout 'plain'}}
  %0 = blockscale.matmul %a, %b : !nvfp4_tiles, !mxfp8_tiles -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// -----

!short_powers = !blockscale.tensor<128x256xf8E4M3FN, "e8m0_t8">
!half = !blockscale.tensor<128x256xbf16>
func.func @short_powers(%a: !half, %b: !short_powers) -> tensor<128x128xf32> {
  // expected-error @below {{operand 'b' with scales 'e8m0_t8': tiles of 8 elements under scales of 'e8m0', by which the sum of each tile is multiplied in registers, are shorter than what one instruction adds up, 16 elements; expected tiles of 16, 32, 64, 128 or 256, scales of 'e8m0_t32', or one for all of K ('float32_t0')}}
  %0 = blockscale.matmul %a, %b : !half, !short_powers -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// -----

// Instructions of one family read them in tiles, and no others do.
!rows = !blockscale.tensor<128x256xf4E2M1FN, "e5m3fn_t16">
!tiles = !blockscale.tensor<128x256xf4E2M1FN, "e5m3fn_t16", layout = tiled_128x4>
module attributes {blockscale.target = #blockscale.target<sm_107a>} {
  func.func @rows(%a: !tiles, %b: !rows) -> tensor<128x128xf32> {
    // expected-error @below {{operand 'b' has its scales in layout 'plain'; the tensor core reads 'tiled_128x4'}}
    %0 = blockscale.matmul %a, %b : !tiles, !rows -> tensor<128x128xf32>
    return %0 : tensor<128x128xf32>
  }
}

// -----

!tiles = !blockscale.tensor<128x256xf4E2M1FN, "e5m3fn_t16", layout = tiled_128x4>
func.func @tiles(%a: !tiles) -> tensor<128x128xf32> {
  // expected-error @below {{scale type 'ue5m3' is not legal for 'mxf4nvf4' on 'sm_100a': expected ue4m3 or ue8m0; it exists on sm_107a, sm_107f only (source: [T] PTX ISA 9.4, [C] vendor's DSL, [S] Triton, cuDNN-frontend); nearest legal: scale = ue4m3; or the same scales in layout 'plain', by which sums are multiplied in registers}}
  %0 = blockscale.matmul %a, %a : !tiles, !tiles -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// -----

!rows = !blockscale.tensor<128x256xf4E2M1FN, "e5m3fn_t16">
!tiles = !blockscale.tensor<128x256xf4E2M1FN, "e5m3fn_t16", layout = tiled_128x4>
func.func @mixed(%a: !tiles, %b: !rows) -> tensor<128x128xf32> {
  // expected-error @below {{operand 'a' has its scales in layout 'tiled_128x4'; no instruction reads scales 'e5m3fn_t16' of elements of 'f4E2M1FN' beside elements of 'f4E2M1FN' under scales 'e5m3fn_t16', and those by which sums are multiplied in registers lie in layout 'plain'}}
  %0 = blockscale.matmul %a, %b : !tiles, !rows -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}
