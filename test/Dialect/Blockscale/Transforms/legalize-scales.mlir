// RUN: blockscale-opt %s -blockscale-legalize-scales | FileCheck %s
// RUN: blockscale-opt %s -blockscale-attach-target=target=sm_103a -blockscale-legalize-scales | FileCheck %s
// RUN: blockscale-opt %s -blockscale-attach-target=target=sm_110a -blockscale-legalize-scales | FileCheck %s

!mxfp8_a = !blockscale.tensor<?x4096xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!mxfp8_b = !blockscale.tensor<256x4096xf8E5M2, "e8m0_t32", layout = tiled_128x4>
// CHECK-LABEL: func.func @mxfp8
func.func @mxfp8(%a: !mxfp8_a, %b: !mxfp8_b) -> tensor<?x256xf32> {
  // CHECK: blockscale.matmul {{.*}} mma(<kind = mxf8f6f4, a = e4m3, b = e5m2, scale = ue8m0, block = 32>) :
  %0 = blockscale.matmul %a, %b : !mxfp8_a, !mxfp8_b -> tensor<?x256xf32>
  return %0 : tensor<?x256xf32>
}

!mxfp6_a = !blockscale.tensor<128x128xf6E2M3FN, "e8m0_t32", layout = tiled_128x4>
!mxfp6_b = !blockscale.tensor<256x128xf6E3M2FN, "e8m0_t32", layout = tiled_128x4>
// CHECK-LABEL: func.func @mxfp6
func.func @mxfp6(%a: !mxfp6_a, %b: !mxfp6_b) -> tensor<128x256xf32> {
  // CHECK: blockscale.matmul {{.*}} mma(<kind = mxf8f6f4, a = e2m3, b = e3m2, scale = ue8m0, block = 32>) :
  %0 = blockscale.matmul %a, %b : !mxfp6_a, !mxfp6_b -> tensor<128x256xf32>
  return %0 : tensor<128x256xf32>
}

// One 4-bit operand: only the kind with a byte per element takes the pair.
!mixed_widths_a = !blockscale.tensor<128x128xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
!mixed_widths_b = !blockscale.tensor<256x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
// CHECK-LABEL: func.func @mixed_widths
func.func @mixed_widths(%a: !mixed_widths_a, %b: !mixed_widths_b) -> tensor<128x256xf32> {
  // CHECK: blockscale.matmul {{.*}} mma(<kind = mxf8f6f4, a = e2m1, b = e4m3, scale = ue8m0, block = 32>) :
  %0 = blockscale.matmul %a, %b : !mixed_widths_a, !mixed_widths_b -> tensor<128x256xf32>
  return %0 : tensor<128x256xf32>
}

// Of the kinds that multiply e2m1 the packed one: it has twice the rate.
!mxfp4_a = !blockscale.tensor<128x128xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
!mxfp4_b = !blockscale.tensor<256x128xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
// CHECK-LABEL: func.func @mxfp4
func.func @mxfp4(%a: !mxfp4_a, %b: !mxfp4_b) -> tensor<128x256xf32> {
  // CHECK: blockscale.matmul {{.*}} mma(<kind = mxf4, a = e2m1, b = e2m1, scale = ue8m0, block = 32>) :
  %0 = blockscale.matmul %a, %b : !mxfp4_a, !mxfp4_b -> tensor<128x256xf32>
  return %0 : tensor<128x256xf32>
}

!e8m0_of_16_a = !blockscale.tensor<128x128xf4E2M1FN, "e8m0_t16", layout = tiled_128x4>
!e8m0_of_16_b = !blockscale.tensor<256x128xf4E2M1FN, "e8m0_t16", layout = tiled_128x4>
// CHECK-LABEL: func.func @e8m0_of_16
func.func @e8m0_of_16(%a: !e8m0_of_16_a, %b: !e8m0_of_16_b) -> tensor<128x256xf32> {
  // CHECK: blockscale.matmul {{.*}} mma(<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue8m0, block = 16>) :
  %0 = blockscale.matmul %a, %b : !e8m0_of_16_a, !e8m0_of_16_b -> tensor<128x256xf32>
  return %0 : tensor<128x256xf32>
}

!nvfp4_a = !blockscale.tensor<128x128xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!nvfp4_b = !blockscale.tensor<256x128xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
// CHECK-LABEL: func.func @nvfp4
func.func @nvfp4(%a: !nvfp4_a, %b: !nvfp4_b) -> tensor<128x256xf32> {
  // CHECK: blockscale.matmul {{.*}} mma(<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16>) :
  %0 = blockscale.matmul %a, %b : !nvfp4_a, !nvfp4_b -> tensor<128x256xf32>
  return %0 : tensor<128x256xf32>
}

// A tensor scale on one side is no concern of the instruction.
!nvfp4_tensor_scale_a = !blockscale.tensor<128x128xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!nvfp4_tensor_scale_b = !blockscale.tensor<256x128xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
// CHECK-LABEL: func.func @nvfp4_tensor_scale
func.func @nvfp4_tensor_scale(%a: !nvfp4_tensor_scale_a, %b: !nvfp4_tensor_scale_b) -> tensor<128x256xf32> {
  // CHECK: blockscale.matmul {{.*}} mma(<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16>) :
  %0 = blockscale.matmul %a, %b : !nvfp4_tensor_scale_a, !nvfp4_tensor_scale_b -> tensor<128x256xf32>
  return %0 : tensor<128x256xf32>
}

!a_mn_major_a = !blockscale.tensor<128x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4, order = mn_major>
!a_mn_major_b = !blockscale.tensor<256x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
// CHECK-LABEL: func.func @a_mn_major
func.func @a_mn_major(%a: !a_mn_major_a, %b: !a_mn_major_b) -> tensor<128x256xf32> {
  // CHECK: blockscale.matmul {{.*}} mma(<kind = mxf8f6f4, a = e4m3, b = e4m3, scale = ue8m0, block = 32, a_mn_major = true>) :
  %0 = blockscale.matmul %a, %b : !a_mn_major_a, !a_mn_major_b -> tensor<128x256xf32>
  return %0 : tensor<128x256xf32>
}

!b_mn_major_a = !blockscale.tensor<128x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!b_mn_major_b = !blockscale.tensor<256x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4, order = mn_major>
// CHECK-LABEL: func.func @b_mn_major
func.func @b_mn_major(%a: !b_mn_major_a, %b: !b_mn_major_b) -> tensor<128x256xf32> {
  // CHECK: blockscale.matmul {{.*}} mma(<kind = mxf8f6f4, a = e4m3, b = e4m3, scale = ue8m0, block = 32, b_mn_major = true>) :
  %0 = blockscale.matmul %a, %b : !b_mn_major_a, !b_mn_major_b -> tensor<128x256xf32>
  return %0 : tensor<128x256xf32>
}

!batched_a = !blockscale.tensor<?x?x?xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!batched_b = !blockscale.tensor<8x?x4096xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
// CHECK-LABEL: func.func @batched
func.func @batched(%a: !batched_a, %b: !batched_b) -> tensor<8x?x?xf32> {
  // CHECK: blockscale.matmul {{.*}} mma(<kind = mxf8f6f4, a = e4m3, b = e4m3, scale = ue8m0, block = 32>) :
  %0 = blockscale.matmul %a, %b : !batched_a, !batched_b -> tensor<8x?x?xf32>
  return %0 : tensor<8x?x?xf32>
}

// Three kinds multiply e2m1 by e2m1 with scales of 32; a kind that is already
// there decides.
!named_a = !blockscale.tensor<128x256xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
!named_b = !blockscale.tensor<256x256xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
// CHECK-LABEL: func.func @named_kind
func.func @named_kind(%a: !named_a, %b: !named_b) -> (tensor<128x256xf32>, tensor<128x256xf32>, tensor<128x256xf32>) {
  // CHECK: blockscale.matmul {{.*}} mma(<kind = mxf4, a = e2m1, b = e2m1, scale = ue8m0, block = 32>) :
  %0 = blockscale.matmul %a, %b : !named_a, !named_b -> tensor<128x256xf32>
  // CHECK: blockscale.matmul {{.*}} mma(<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue8m0, block = 32>) :
  %1 = blockscale.matmul %a, %b mma(<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue8m0, block = 32>) : !named_a, !named_b -> tensor<128x256xf32>
  // CHECK: blockscale.matmul {{.*}} mma(<kind = mxf8f6f4, a = e2m1, b = e2m1, scale = ue8m0, block = 32>) :
  %2 = blockscale.matmul %a, %b mma(<kind = mxf8f6f4, a = e2m1, b = e2m1, scale = ue8m0, block = 32>) : !named_a, !named_b -> tensor<128x256xf32>
  return %0, %1, %2 : tensor<128x256xf32>, tensor<128x256xf32>, tensor<128x256xf32>
}

// Quarters up to 7/4, and -2, are numbers of e2m3.
!mxint4 = !blockscale.tensor<128x256xi4, "e8m0_t32", layout = tiled_128x4>
!beside = !blockscale.tensor<128x256xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
// CHECK-LABEL: func.func @mxint4
func.func @mxint4(%a: !mxint4, %b: !beside) -> (tensor<128x128xf32>, tensor<128x128xf32>) {
  // CHECK: blockscale.matmul {{.*}} mma(<kind = mxf8f6f4, a = e2m3, b = e2m1, scale = ue8m0, block = 32>) :
  %0 = blockscale.matmul %a, %b : !mxint4, !beside -> tensor<128x128xf32>
  // CHECK: blockscale.matmul {{.*}} mma(<kind = mxf8f6f4, a = e2m3, b = e2m3, scale = ue8m0, block = 32>) :
  %1 = blockscale.matmul %a, %a : !mxint4, !mxint4 -> tensor<128x128xf32>
  return %0, %1 : tensor<128x128xf32>, tensor<128x128xf32>
}

// Integers under float scales, whole numbers: tiles along K, and rows.
!int4_tiles = !blockscale.tensor<128x256xi4, "bfloat16_t128">
!fp8_tiles = !blockscale.tensor<128x256xf8E4M3FN, "float32_t128">
!int4_rows = !blockscale.tensor<128x256xi4, "float32_t0">
// CHECK-LABEL: func.func @int4
func.func @int4(%a: !fp8_tiles, %b: !int4_tiles, %c: !int4_rows) -> (tensor<128x128xf32>, tensor<128x128xf32>) {
  // CHECK: blockscale.matmul {{.*}} mma(<kind = f8f6f4, a = e4m3, b = e4m3>) :
  %0 = blockscale.matmul %a, %b : !fp8_tiles, !int4_tiles -> tensor<128x128xf32>
  // CHECK: blockscale.matmul {{.*}} mma(<kind = f8f6f4, a = e4m3, b = e4m3>) :
  %1 = blockscale.matmul %c, %c : !int4_rows, !int4_rows -> tensor<128x128xf32>
  return %0, %1 : tensor<128x128xf32>, tensor<128x128xf32>
}

// Floats without a negative zero, of a bias of one more.
!fnuz_a = !blockscale.tensor<128x256xf8E4M3FNUZ, "e8m0_t32", layout = tiled_128x4>
!fnuz_b = !blockscale.tensor<128x256xf8E5M2FNUZ, "e8m0_t32", layout = tiled_128x4>
// CHECK-LABEL: func.func @fnuz
func.func @fnuz(%a: !fnuz_a, %b: !fnuz_b) -> tensor<128x128xf32> {
  // CHECK: blockscale.matmul {{.*}} mma(<kind = mxf8f6f4, a = e4m3, b = e5m2, scale = ue8m0, block = 32>) :
  %0 = blockscale.matmul %a, %b : !fnuz_a, !fnuz_b -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// In 16 bits they have all of their values, which kinds with tiles of 16 need.
!fnuz_short = !blockscale.tensor<128x256xf8E4M3FNUZ, "float32_t16">
!ieee_short = !blockscale.tensor<128x256xf8E4M3, "e8m0_t16">
// CHECK-LABEL: func.func @fnuz_short
func.func @fnuz_short(%a: !fnuz_short, %b: !ieee_short) -> tensor<128x128xf32> {
  // CHECK: blockscale.matmul {{.*}} mma(<kind = f16, a = bf16, b = bf16>) :
  %0 = blockscale.matmul %a, %b : !fnuz_short, !ieee_short -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// So they are under float scales, for the sake of the largest, unless the product asks
// for 8 bits, or one lies along its rows.
!fnuz_tiles = !blockscale.tensor<128x256xf8E4M3FNUZ, "float32_t128">
!fnuz_rows = !blockscale.tensor<128x256xf8E5M2FNUZ, "float32_t0">
!fnuz_columns = !blockscale.tensor<128x256xf8E5M2FNUZ, "float32_t0", order = mn_major>
!beside_fnuz = !blockscale.tensor<128x256xf8E4M3FN, "float32_t0">
// CHECK-LABEL: func.func @fnuz_floats
func.func @fnuz_floats(%a: !fnuz_tiles, %b: !fnuz_rows, %c: !fnuz_columns, %d: !beside_fnuz) -> (tensor<128x128xf32>, tensor<128x128xf32>, tensor<128x128xf32>, tensor<128x128xf32>) {
  // CHECK: blockscale.matmul {{.*}} mma(<kind = f16, a = bf16, b = bf16>) :
  %0 = blockscale.matmul %a, %b : !fnuz_tiles, !fnuz_rows -> tensor<128x128xf32>
  // CHECK: blockscale.matmul {{.*}} mma(<kind = f16, a = bf16, b = bf16>) :
  %1 = blockscale.matmul %d, %b : !beside_fnuz, !fnuz_rows -> tensor<128x128xf32>
  // CHECK: blockscale.matmul {{.*}} mma(<kind = f8f6f4, a = e4m3, b = e5m2>) :
  %2 = blockscale.matmul %a, %b mma(<kind = f8f6f4, a = e4m3, b = e5m2>) : !fnuz_tiles, !fnuz_rows -> tensor<128x128xf32>
  // CHECK: blockscale.matmul {{.*}} mma(<kind = f8f6f4, a = e4m3, b = e5m2, b_mn_major = true>) :
  %3 = blockscale.matmul %a, %c : !fnuz_tiles, !fnuz_columns -> tensor<128x128xf32>
  return %0, %1, %2, %3 : tensor<128x128xf32>, tensor<128x128xf32>, tensor<128x128xf32>, tensor<128x128xf32>
}

// Under powers of two integers are fixed-point numbers.
!int8_powers = !blockscale.tensor<128x256xi8, "e8m0_t0">
!int4_powers = !blockscale.tensor<128x256xi4, "e8m0">
!int8 = !blockscale.tensor<128x256xi8>
// CHECK-LABEL: func.func @fixed_point
func.func @fixed_point(%a: !int8_powers, %b: !int4_powers, %c: !int8) -> (tensor<128x128xf32>, tensor<128x128xf32>, tensor<128x128xf32>) {
  // CHECK: blockscale.matmul {{.*}} mma(<kind = f16, a = bf16, b = bf16>) :
  %0 = blockscale.matmul %a, %b : !int8_powers, !int4_powers -> tensor<128x128xf32>
  // CHECK: blockscale.matmul {{.*}} mma(<kind = f8f6f4, a = e2m3, b = e2m3>) :
  %1 = blockscale.matmul %b, %b : !int4_powers, !int4_powers -> tensor<128x128xf32>
  // CHECK: blockscale.matmul {{.*}} mma(<kind = f16, a = bf16, b = bf16>) :
  %2 = blockscale.matmul %a, %c : !int8_powers, !int8 -> tensor<128x128xf32>
  return %0, %1, %2 : tensor<128x128xf32>, tensor<128x128xf32>, tensor<128x128xf32>
}

// Scales with a fraction, of whole numbers.
!int8_fractions = !blockscale.tensor<128x256xi8, "e4m3_t32">
!int4_fractions = !blockscale.tensor<128x256xi4, "multi_float32_e4m3fn_t64">
// CHECK-LABEL: func.func @fractions
func.func @fractions(%a: !int8_fractions, %b: !int4_fractions) -> (tensor<128x128xf32>, tensor<128x128xf32>) {
  // CHECK: blockscale.matmul {{.*}} mma(<kind = f16, a = bf16, b = bf16>) :
  %0 = blockscale.matmul %a, %b : !int8_fractions, !int4_fractions -> tensor<128x128xf32>
  // CHECK: blockscale.matmul {{.*}} mma(<kind = f8f6f4, a = e4m3, b = e4m3>) :
  %1 = blockscale.matmul %b, %b : !int4_fractions, !int4_fractions -> tensor<128x128xf32>
  return %0, %1 : tensor<128x128xf32>, tensor<128x128xf32>
}

// Those that instructions of one family read, of e2m1 alone, and those of another
// 8-bit float: of tiles, and of all of K.
!wide_tiles = !blockscale.tensor<128x256xf8E4M3FN, "multi_float32_e5m3fn_t32">
!wide_short = !blockscale.tensor<128x256xf4E2M1FN, "e5m3fn_t16">
!bytes = !blockscale.tensor<128x256xf8E5M2, "e5m2_t0">
!byte = !blockscale.tensor<128x256xi4, "e4m3">
!zeros = !blockscale.tensor<128x256xui4, "e5m3fn_int8_t128">
// CHECK-LABEL: func.func @wide_fractions
func.func @wide_fractions(%a: !wide_tiles, %b: !wide_short, %c: !bytes, %d: !byte, %e: !zeros) -> (tensor<128x128xf32>, tensor<128x128xf32>, tensor<128x128xf32>, tensor<128x128xf32>) {
  // CHECK: blockscale.matmul {{.*}} mma(<kind = f8f6f4, a = e4m3, b = e4m3>) :
  %0 = blockscale.matmul %a, %a : !wide_tiles, !wide_tiles -> tensor<128x128xf32>
  // CHECK: blockscale.matmul {{.*}} mma(<kind = f16, a = bf16, b = bf16>) :
  %1 = blockscale.matmul %a, %b : !wide_tiles, !wide_short -> tensor<128x128xf32>
  // CHECK: blockscale.matmul {{.*}} mma(<kind = f8f6f4, a = e5m2, b = e4m3>) :
  %2 = blockscale.matmul %c, %d : !bytes, !byte -> tensor<128x128xf32>
  // CHECK: blockscale.matmul {{.*}} mma(<kind = f8f6f4, a = e4m3, b = e4m3>) :
  %3 = blockscale.matmul %a, %e : !wide_tiles, !zeros -> tensor<128x128xf32>
  return %0, %1, %2, %3 : tensor<128x128xf32>, tensor<128x128xf32>, tensor<128x128xf32>, tensor<128x128xf32>
}

// Beside each other no instruction of these chips reads them, wherever they lie; in rows
// sums are multiplied by them.
!wide_long = !blockscale.tensor<128x256xf4E2M1FN, "e5m3fn_t32">
// CHECK-LABEL: func.func @wide_pairs
func.func @wide_pairs(%a: !wide_short, %b: !wide_long) -> (tensor<128x128xf32>, tensor<128x128xf32>) {
  // CHECK: blockscale.matmul {{.*}} mma(<kind = f16, a = bf16, b = bf16>) :
  %0 = blockscale.matmul %a, %b : !wide_short, !wide_long -> tensor<128x128xf32>
  // CHECK: blockscale.matmul {{.*}} mma(<kind = f8f6f4, a = e2m1, b = e2m1>) :
  %1 = blockscale.matmul %b, %b : !wide_long, !wide_long -> tensor<128x128xf32>
  return %0, %1 : tensor<128x128xf32>, tensor<128x128xf32>
}

// Scales of all of K of a sparse operand are no instruction's.
!sparse_row = !blockscale.tensor<128x256xf8E4M3FN, "float32_t0n2m4", layout = tiled_128x4>
!sparse_matrix = !blockscale.tensor<128x256xf8E4M3FN, "e4m3_n2m4", layout = tiled_128x4>
!dense_row = !blockscale.tensor<128x256xf8E4M3FN, "float32_t0">
// CHECK-LABEL: func.func @sparse_factors
func.func @sparse_factors(%a: !sparse_row, %b: !dense_row, %c: !sparse_matrix) -> (tensor<128x128xf32>, tensor<128x128xf32>) {
  // CHECK: blockscale.matmul {{.*}} mma(<kind = f8f6f4, a = e4m3, b = e4m3, sparse = true>) :
  %0 = blockscale.matmul %a, %b : !sparse_row, !dense_row -> tensor<128x128xf32>
  // CHECK: blockscale.matmul {{.*}} mma(<kind = f8f6f4, a = e4m3, b = e4m3, sparse = true>) :
  %1 = blockscale.matmul %b, %c : !dense_row, !sparse_matrix -> tensor<128x128xf32>
  return %0, %1 : tensor<128x128xf32>, tensor<128x128xf32>
}
