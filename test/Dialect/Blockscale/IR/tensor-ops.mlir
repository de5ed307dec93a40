// RUN: blockscale-opt %s | blockscale-opt | FileCheck %s
// RUN: blockscale-opt %s -mlir-print-op-generic | blockscale-opt | FileCheck %s

// CHECK-LABEL: func.func @quantize
func.func @quantize(%x: tensor<?x4096xbf16>, %t: tensor<f32>) {
  // CHECK: blockscale.quantize %{{.*}} : tensor<?x4096xbf16> to !blockscale.tensor<?x4096xf8E4M3FN, "e8m0_t32">
  %0 = blockscale.quantize %x : tensor<?x4096xbf16> to !blockscale.tensor<?x4096xf8E4M3FN, "e8m0_t32">
  // CHECK: blockscale.quantize %{{.*}} rule(round_up) :
  %1 = blockscale.quantize %x rule(round_up) : tensor<?x4096xbf16> to !blockscale.tensor<?x4096xf8E4M3FN, "e8m0_t32">
  // CHECK: blockscale.quantize %{{.*}} rule(min_error) :
  %search = blockscale.quantize %x rule(min_error) : tensor<?x4096xbf16> to !blockscale.tensor<?x4096xf4E2M1FN, "multi_float32_e4m3fn_t16">
  // CHECK: blockscale.quantize %{{.*}} rule(rounded_max) rounding(away) :
  %3 = blockscale.quantize %x rule(rounded_max) rounding(away) : tensor<?x4096xbf16> to !blockscale.tensor<?x4096xf8E4M3FN, "e8m0_t32">
  // CHECK: blockscale.quantize %{{.*}} rounding(stochastic, seed = -7) :
  %4 = blockscale.quantize %x rounding(stochastic, seed = -7) : tensor<?x4096xbf16> to !blockscale.tensor<?x4096xf8E4M3FN, "float32_t32">
  // CHECK: blockscale.quantize %{{.*}} : tensor<?x4096xbf16>
  %5 = blockscale.quantize %x rule(floor) rounding(even) : tensor<?x4096xbf16> to !blockscale.tensor<?x4096xf8E4M3FN, "e8m0_t32">
  // CHECK: blockscale.quantize %{{.*}} tensor_scale(%{{.*}} : tensor<f32>) :
  %2 = blockscale.quantize %x tensor_scale(%t : tensor<f32>) : tensor<?x4096xbf16> to !blockscale.tensor<?x4096xf4E2M1FN, "multi_float32_e4m3fn_t16">
  // CHECK: blockscale.quantize %{{.*}} tensor_scale(%{{.*}} : tensor<f32>) :
  %given = blockscale.quantize %x tensor_scale(%t : tensor<f32>) : tensor<?x4096xbf16> to !blockscale.tensor<?x4096xf8E4M3FN, "float32">
  return
}

// CHECK-LABEL: func.func @dequantize
func.func @dequantize(%q: !blockscale.tensor<?x4096xf8E4M3FN, "e8m0_t32">) {
  // CHECK: blockscale.dequantize %{{.*}} : !blockscale.tensor<?x4096xf8E4M3FN, "e8m0_t32"> to tensor<?x4096xf32>
  %0 = blockscale.dequantize %q : !blockscale.tensor<?x4096xf8E4M3FN, "e8m0_t32"> to tensor<?x4096xf32>
  return
}

// CHECK-LABEL: func.func @assemble
func.func @assemble(%data: tensor<?x4096xf8E4M3FN>, %scales: tensor<?x128xf8E8M0FNU>) {
  // CHECK: blockscale.assemble %{{.*}}, %{{.*}} : tensor<?x4096xf8E4M3FN>, tensor<?x128xf8E8M0FNU> to !blockscale.tensor<?x4096xf8E4M3FN, "e8m0_t32">
  %0 = blockscale.assemble %data, %scales : tensor<?x4096xf8E4M3FN>, tensor<?x128xf8E8M0FNU> to !blockscale.tensor<?x4096xf8E4M3FN, "e8m0_t32">
  return
}

// NVFP4 weights of 8 experts: 200 rows fill 2 tiles of 128, 20 blocks 5 of 4.
// CHECK-LABEL: func.func @assemble_tiled
func.func @assemble_tiled(%data: tensor<8x200x320xf4E2M1FN>, %scales: tensor<8x2x5x32x16xf8E4M3FN>, %ts: tensor<8xf32>) {
  // CHECK: blockscale.assemble %{{.*}}, %{{.*}} tensor_scale(%{{.*}} : tensor<8xf32>) : tensor<8x200x320xf4E2M1FN>, tensor<8x2x5x32x16xf8E4M3FN> to
  %0 = blockscale.assemble %data, %scales tensor_scale(%ts : tensor<8xf32>) : tensor<8x200x320xf4E2M1FN>, tensor<8x2x5x32x16xf8E4M3FN> to !blockscale.tensor<8x200x320xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
  return
}

// CHECK-LABEL: func.func @assemble_zeros
func.func @assemble_zeros(%data: tensor<64x128xi4>, %scales: tensor<64x8xf16>, %zeros: tensor<64x8xi8>) {
  // CHECK: blockscale.assemble %{{.*}}, %{{.*}} zeros(%{{.*}} : tensor<64x8xi8>) :
  %0 = blockscale.assemble %data, %scales zeros(%zeros : tensor<64x8xi8>) : tensor<64x128xi4>, tensor<64x8xf16> to !blockscale.tensor<64x128xui4, "float16_int8_t16">
  return
}

// Channel scales (t0) and tiles of whole columns.
// CHECK-LABEL: func.func @assemble_channel
func.func @assemble_channel(%data: tensor<300x96xf8E4M3FN>, %rows: tensor<300x1xf32>, %all: tensor<1x1xf32>, %squares: tensor<3x3xf32>) {
  %0 = blockscale.assemble %data, %rows : tensor<300x96xf8E4M3FN>, tensor<300x1xf32> to !blockscale.tensor<300x96xf8E4M3FN, "float32_t0">
  %1 = blockscale.assemble %data, %all : tensor<300x96xf8E4M3FN>, tensor<1x1xf32> to !blockscale.tensor<300x96xf8E4M3FN, "float32">
  // CHECK: "float32_t128_t32"
  %2 = blockscale.assemble %data, %squares : tensor<300x96xf8E4M3FN>, tensor<3x3xf32> to !blockscale.tensor<300x96xf8E4M3FN, "float32_t128_t32">
  return
}

// CHECK-LABEL: func.func @disassemble
func.func @disassemble(%q: !blockscale.tensor<?x4096xf8E4M3FN, "e8m0_t32">) -> tensor<?x128xf8E8M0FNU> {
  // CHECK: %{{.*}}:2 = blockscale.disassemble %{{.*}} : !blockscale.tensor<?x4096xf8E4M3FN, "e8m0_t32">
  %data, %scales = blockscale.disassemble %q : !blockscale.tensor<?x4096xf8E4M3FN, "e8m0_t32">
  return %scales : tensor<?x128xf8E8M0FNU>
}

// 2 of 4: half of the elements, and a byte of metadata for eight of them; one
// scale for 64.
// CHECK-LABEL: func.func @disassemble_sparse
func.func @disassemble_sparse(%q: !blockscale.tensor<128x256xf8E4M3FN, "e8m0_t32n2m4">) -> (tensor<128x128xf8E4M3FN>, tensor<128x4xf8E8M0FNU>, tensor<128x32xi8>) {
  // CHECK: %{{.*}}:3 = blockscale.disassemble
  %0:3 = blockscale.disassemble %q : !blockscale.tensor<128x256xf8E4M3FN, "e8m0_t32n2m4">
  return %0#0, %0#1, %0#2 : tensor<128x128xf8E4M3FN>, tensor<128x4xf8E8M0FNU>, tensor<128x32xi8>
}

// 4 of 8 in pairs: a byte of metadata for sixteen elements.
// CHECK-LABEL: func.func @disassemble_pairs
func.func @disassemble_pairs(%q: !blockscale.tensor<128x256xf4E2M1FN, "e4m3fn_t16n4m8">) -> (tensor<128x128xf4E2M1FN>, tensor<128x8xf8E4M3FN>, tensor<128x16xi8>) {
  %0:3 = blockscale.disassemble %q : !blockscale.tensor<128x256xf4E2M1FN, "e4m3fn_t16n4m8">
  return %0#0, %0#1, %0#2 : tensor<128x128xf4E2M1FN>, tensor<128x8xf8E4M3FN>, tensor<128x16xi8>
}

// 3 of 4: a bit for each element. 1 of 4 is stored as 2 of 4, of e2m1 under e4m3 as 4 of 8 in
// pairs, and of tf32 as 1 of 2.
// CHECK-LABEL: func.func @sparse_forms
func.func @sparse_forms(%most: tensor<?x3072xf16>, %mask: tensor<?x512xi8>, %padded: !blockscale.tensor<128x256xf8E4M3FN, "e8m0_t16n1m4">, %pairs: !blockscale.tensor<128x256xf4E2M1FN, "e4m3fn_t16n1m4">, %words: !blockscale.tensor<128x256xtf32, "n1m4">) -> (tensor<128x128xf8E4M3FN>, tensor<128x32xi8>, tensor<128x128xf4E2M1FN>, tensor<128x16xi8>, tensor<128x128xf32>, tensor<128x64xi8>) {
  // CHECK: blockscale.assemble %{{.*}} metadata(%{{.*}} : tensor<?x512xi8>) : tensor<?x3072xf16> to !blockscale.tensor<?x4096xf16, "n3m4">
  %0 = blockscale.assemble %most metadata(%mask : tensor<?x512xi8>) : tensor<?x3072xf16> to !blockscale.tensor<?x4096xf16, "n3m4">
  %1:3 = blockscale.disassemble %padded : !blockscale.tensor<128x256xf8E4M3FN, "e8m0_t16n1m4">
  %2:3 = blockscale.disassemble %pairs : !blockscale.tensor<128x256xf4E2M1FN, "e4m3fn_t16n1m4">
  %3:2 = blockscale.disassemble %words : !blockscale.tensor<128x256xtf32, "n1m4">
  return %1#0, %1#2, %2#0, %2#2, %3#0, %3#1 : tensor<128x128xf8E4M3FN>, tensor<128x32xi8>, tensor<128x128xf4E2M1FN>, tensor<128x16xi8>, tensor<128x128xf32>, tensor<128x64xi8>
}

// Elements in M-major order: K comes first in memory.
// CHECK-LABEL: func.func @disassemble_mn_major
func.func @disassemble_mn_major(%q: !blockscale.tensor<?x256xf8E5M2, "e8m0_t32", order = mn_major>) -> (tensor<256x?xf8E5M2>, tensor<?x8xf8E8M0FNU>) {
  %0:2 = blockscale.disassemble %q : !blockscale.tensor<?x256xf8E5M2, "e8m0_t32", order = mn_major>
  return %0#0, %0#1 : tensor<256x?xf8E5M2>, tensor<?x8xf8E8M0FNU>
}

// CHECK-LABEL: func.func @relayout
func.func @relayout(%q: !blockscale.tensor<?x4096xf8E4M3FN, "e8m0_t32">) {
  // CHECK: blockscale.relayout %{{.*}} : !blockscale.tensor<?x4096xf8E4M3FN, "e8m0_t32"> to !blockscale.tensor<?x4096xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
  %0 = blockscale.relayout %q : !blockscale.tensor<?x4096xf8E4M3FN, "e8m0_t32"> to !blockscale.tensor<?x4096xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
  return
}

// CHECK-LABEL: func.func @sparsity
func.func @sparsity(%x: tensor<?x4096xbf16>, %q: !blockscale.tensor<?x4096xf8E4M3FN, "e8m0_t64">) {
  // CHECK: blockscale.prune %{{.*}} keep 2 of 4 : tensor<?x4096xbf16>
  %0 = blockscale.prune %x keep 2 of 4 : tensor<?x4096xbf16>
  // CHECK: blockscale.prune %{{.*}} keep 4 of 8 pairs : tensor<?x4096xbf16>
  %1 = blockscale.prune %x keep 4 of 8 pairs : tensor<?x4096xbf16>
  // CHECK: blockscale.compress %{{.*}} : !blockscale.tensor<?x4096xf8E4M3FN, "e8m0_t64"> to !blockscale.tensor<?x4096xf8E4M3FN, "e8m0_t32n2m4">
  %2 = blockscale.compress %q : !blockscale.tensor<?x4096xf8E4M3FN, "e8m0_t64"> to !blockscale.tensor<?x4096xf8E4M3FN, "e8m0_t32n2m4">
  // CHECK: blockscale.densify %{{.*}} : !blockscale.tensor<?x4096xf8E4M3FN, "e8m0_t32n2m4"> to !blockscale.tensor<?x4096xf8E4M3FN, "e8m0_t32">
  %densified = blockscale.densify %2 : !blockscale.tensor<?x4096xf8E4M3FN, "e8m0_t32n2m4"> to !blockscale.tensor<?x4096xf8E4M3FN, "e8m0_t32">
  return
}

// CHECK-LABEL: func.func @dim
func.func @dim(%q: !blockscale.tensor<?x4096xf8E4M3FN, "e8m0_t32">) -> index {
  // CHECK: blockscale.dim %{{.*}}, 0 : !blockscale.tensor<?x4096xf8E4M3FN, "e8m0_t32">
  %0 = blockscale.dim %q, 0 : !blockscale.tensor<?x4096xf8E4M3FN, "e8m0_t32">
  return %0 : index
}

// CHECK-LABEL: func.func @matmul
func.func @matmul(%a: !blockscale.tensor<?x4096xf8E4M3FN, "e8m0_t32">, %b: !blockscale.tensor<7168x4096xf8E5M2, "e8m0_t32">,
                  %s: f32, %c: tensor<?x7168xf32>, %v: tensor<7168xf32>, %w: tensor<?xbf16>) {
  // CHECK: blockscale.matmul %{{.*}}, %{{.*}} : !blockscale.tensor<?x4096xf8E4M3FN, "e8m0_t32">, !blockscale.tensor<7168x4096xf8E5M2, "e8m0_t32"> -> tensor<?x7168xf32>
  %0 = blockscale.matmul %a, %b : !blockscale.tensor<?x4096xf8E4M3FN, "e8m0_t32">, !blockscale.tensor<7168x4096xf8E5M2, "e8m0_t32"> -> tensor<?x7168xf32>
  // CHECK: blockscale.matmul %{{.*}}, %{{.*}} alpha(%[[S:.*]]) beta(%[[S]]) c(%{{.*}}) bias(%{{.*}}) activation(silu) : {{.*}}, {{.*}}, tensor<?x7168xf32>, tensor<7168xf32> -> tensor<?x7168xbf16>
  %1 = blockscale.matmul %a, %b alpha(%s) beta(%s) c(%c) bias(%v) activation(silu) : !blockscale.tensor<?x4096xf8E4M3FN, "e8m0_t32">, !blockscale.tensor<7168x4096xf8E5M2, "e8m0_t32">, tensor<?x7168xf32>, tensor<7168xf32> -> tensor<?x7168xbf16>
  // CHECK: blockscale.matmul %{{.*}}, %{{.*}} bias(%{{.*}}) row activation(relu) : {{.*}}, tensor<?xbf16> -> tensor<?x7168xf16>
  %2 = blockscale.matmul %a, %b bias(%w) row activation(relu) : !blockscale.tensor<?x4096xf8E4M3FN, "e8m0_t32">, !blockscale.tensor<7168x4096xf8E5M2, "e8m0_t32">, tensor<?xbf16> -> tensor<?x7168xf16>
  // CHECK: bias(%{{.*}}) activation(gelu) :
  %3 = blockscale.matmul %a, %b bias(%v) column activation(gelu) : !blockscale.tensor<?x4096xf8E4M3FN, "e8m0_t32">, !blockscale.tensor<7168x4096xf8E5M2, "e8m0_t32">, tensor<7168xf32> -> tensor<?x7168xf16>
  // CHECK: schedule(#blockscale.schedule<tile_n = 192, stages = 5>) :
  %4 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 192, stages = 5>) : !blockscale.tensor<?x4096xf8E4M3FN, "e8m0_t32">, !blockscale.tensor<7168x4096xf8E5M2, "e8m0_t32"> -> tensor<?x7168xf32>
  return
}

// CHECK-LABEL: func.func @batched_matmul
func.func @batched_matmul(%a: !blockscale.tensor<?x17x64xf4E2M1FN, "e8m0_t32">, %b: !blockscale.tensor<8x40x64xf4E2M1FN, "e8m0_t32">) -> tensor<8x17x40xf32> {
  // CHECK: -> tensor<8x17x40xf32>
  %0 = blockscale.matmul %a, %b : !blockscale.tensor<?x17x64xf4E2M1FN, "e8m0_t32">, !blockscale.tensor<8x40x64xf4E2M1FN, "e8m0_t32"> -> tensor<8x17x40xf32>
  return %0 : tensor<8x17x40xf32>
}
