// Tensors without scales and the ops on them: what is written is what is read.

// RUN: blockscale-opt %s | blockscale-opt | FileCheck %s
// RUN: blockscale-opt %s -emit-bytecode | blockscale-opt | FileCheck %s

// CHECK-LABEL: func.func private @dense(
// CHECK-SAME: !blockscale.tensor<?x4096xf16>,
// CHECK-SAME: !blockscale.tensor<2x64x24xbf16>,
// CHECK-SAME: !blockscale.tensor<64x7xtf32>,
// CHECK-SAME: !blockscale.tensor<64x64xf4E2M1FN>,
// CHECK-SAME: !blockscale.tensor<64x64xi8, order = mn_major>,
// CHECK-SAME: !blockscale.tensor<64x64xui8>)
func.func private @dense(!blockscale.tensor<?x4096xf16>, !blockscale.tensor<2x64x24xbf16>, !blockscale.tensor<64x7xtf32>,
                         !blockscale.tensor<64x64xf4E2M1FN, layout = plain>, !blockscale.tensor<64x64xi8, order = mn_major>,
                         !blockscale.tensor<64x64xui8, order = k_major>)

// CHECK-LABEL: func.func private @sparse(
// CHECK-SAME: !blockscale.tensor<?x4096xf16, "n2m4">,
// CHECK-SAME: !blockscale.tensor<64x24xtf32, "n1m2">,
// CHECK-SAME: !blockscale.tensor<64x?xf6E3M2FN, "n2m4", layout = tiled_128x4>,
// CHECK-SAME: !blockscale.tensor<3x64x72xui8, "n2m4", layout = tiled_128x4, order = mn_major>)
func.func private @sparse(!blockscale.tensor<?x4096xf16, "N2M4">, !blockscale.tensor<64x24xtf32, "n1m2">,
                          !blockscale.tensor<64x?xf6E3M2FN, "n2m4", layout = tiled_128x4>,
                          !blockscale.tensor<3x64x72xui8, "n2m4", order = mn_major, layout = tiled_128x4>)

// CHECK-LABEL: func.func private @spec() attributes {a = #blockscale.spec<"n2m4">}
func.func private @spec() attributes {a = #blockscale.spec<"n2m4">}

// CHECK-LABEL: func.func @assemble
func.func @assemble(%dense: tensor<64x24xbf16>, %kept: tensor<?x2048xf16>, %metadata: tensor<?x512xi8>,
                    %words: tensor<2x200x20xf32>, %tiled: tensor<2x1x2x128x16xi8>)
    -> (tensor<?x2048xf16>, tensor<?x512xi8>, tensor<64x24xbf16>) {
  // CHECK: %[[D:.*]] = blockscale.assemble %{{.*}} : tensor<64x24xbf16> to !blockscale.tensor<64x24xbf16>
  %d = blockscale.assemble %dense : tensor<64x24xbf16> to !blockscale.tensor<64x24xbf16>
  // CHECK: blockscale.disassemble %[[D]] : !blockscale.tensor<64x24xbf16>
  %d0 = blockscale.disassemble %d : !blockscale.tensor<64x24xbf16>
  // CHECK: %[[S:.*]] = blockscale.assemble %{{.*}} metadata(%{{.*}} : tensor<?x512xi8>) : tensor<?x2048xf16> to !blockscale.tensor<?x4096xf16, "n2m4">
  %s = blockscale.assemble %kept metadata(%metadata : tensor<?x512xi8>) : tensor<?x2048xf16> to !blockscale.tensor<?x4096xf16, "n2m4">
  // CHECK: %{{.*}}:2 = blockscale.disassemble %[[S]]
  %s0, %s1 = blockscale.disassemble %s : !blockscale.tensor<?x4096xf16, "n2m4">
  // A tf32 takes an f32 in memory. A byte is the metadata of 4 of them.
  // CHECK: blockscale.assemble %{{.*}} metadata(%{{.*}}) : tensor<2x200x20xf32> to !blockscale.tensor<2x200x40xtf32, "n1m2", layout = tiled_128x4>
  %t = blockscale.assemble %words metadata(%tiled : tensor<2x1x2x128x16xi8>) : tensor<2x200x20xf32> to !blockscale.tensor<2x200x40xtf32, "n1m2", layout = tiled_128x4>
  return %s0, %s1, %d0 : tensor<?x2048xf16>, tensor<?x512xi8>, tensor<64x24xbf16>
}

// CHECK-LABEL: func.func @storage
func.func @storage(%x: tensor<?x64xf32>, %row: index) {
  // CHECK: %[[Q:.*]] = blockscale.quantize %{{.*}} : tensor<?x64xf32> to !blockscale.tensor<?x64xf16>
  %q = blockscale.quantize %x : tensor<?x64xf32> to !blockscale.tensor<?x64xf16>
  // CHECK: %[[C:.*]] = blockscale.compress %[[Q]] : !blockscale.tensor<?x64xf16> to !blockscale.tensor<?x64xf16, "n2m4">
  %c = blockscale.compress %q : !blockscale.tensor<?x64xf16> to !blockscale.tensor<?x64xf16, "n2m4">
  // CHECK: %[[R:.*]] = blockscale.relayout %[[C]]
  %r = blockscale.relayout %c : !blockscale.tensor<?x64xf16, "n2m4"> to !blockscale.tensor<?x64xf16, "n2m4", layout = tiled_128x4>
  // CHECK: blockscale.slice_rows %[[R]][%{{.*}}] [128]
  %s = blockscale.slice_rows %r[%row] [128] : !blockscale.tensor<?x64xf16, "n2m4", layout = tiled_128x4> to !blockscale.tensor<128x64xf16, "n2m4", layout = tiled_128x4>
  // Any row, where nothing lies in tiles.
  // CHECK: blockscale.slice_rows %[[C]][3] [5]
  %p = blockscale.slice_rows %c[3] [5] : !blockscale.tensor<?x64xf16, "n2m4"> to !blockscale.tensor<5x64xf16, "n2m4">
  // CHECK: blockscale.densify %[[C]] : !blockscale.tensor<?x64xf16, "n2m4"> to !blockscale.tensor<?x64xf16>
  %e = blockscale.densify %c : !blockscale.tensor<?x64xf16, "n2m4"> to !blockscale.tensor<?x64xf16>
  // CHECK: blockscale.dequantize %[[C]] : !blockscale.tensor<?x64xf16, "n2m4"> to tensor<?x64xf32>
  %v = blockscale.dequantize %c : !blockscale.tensor<?x64xf16, "n2m4"> to tensor<?x64xf32>
  // CHECK: blockscale.dim %[[C]], 0 : !blockscale.tensor<?x64xf16, "n2m4">
  %n = blockscale.dim %c, 0 : !blockscale.tensor<?x64xf16, "n2m4">
  return
}

// CHECK-LABEL: func.func @matmul
func.func @matmul(%a: !blockscale.tensor<?x64xf16, "n2m4", layout = tiled_128x4>, %b: !blockscale.tensor<32x64xf16>,
                  %p: !blockscale.tensor<16x64xi8, "n2m4">, %q: !blockscale.tensor<32x64xui8>, %s: f32) {
  // CHECK: blockscale.matmul %{{.*}}, %{{.*}} alpha(%{{.*}}) activation(relu) mma(<kind = f16, a = f16, b = f16, sparse = true>) : !blockscale.tensor<?x64xf16, "n2m4", layout = tiled_128x4>, !blockscale.tensor<32x64xf16> -> tensor<?x32xf16>
  %0 = blockscale.matmul %a, %b alpha(%s) activation(relu) mma(<kind = f16, a = f16, b = f16, sparse = true>) : !blockscale.tensor<?x64xf16, "n2m4", layout = tiled_128x4>, !blockscale.tensor<32x64xf16> -> tensor<?x32xf16>
  // CHECK: blockscale.matmul %{{.*}}, %{{.*}} mma(<kind = i8, a = int8, b = uint8, m = 128, n = 64, k = 64, sparse = true>) : !blockscale.tensor<16x64xi8, "n2m4">, !blockscale.tensor<32x64xui8> -> tensor<16x32xi32>
  %1 = blockscale.matmul %p, %q mma(<kind = i8, a = s8, b = u8, m = 128, n = 64, k = 64, sparse = true>) : !blockscale.tensor<16x64xi8, "n2m4">, !blockscale.tensor<32x64xui8> -> tensor<16x32xi32>
  // CHECK: blockscale.matmul %{{.*}}, %{{.*}} : {{.*}} -> tensor<16x32xbf16>
  %2 = blockscale.matmul %p, %q alpha(%s) : !blockscale.tensor<16x64xi8, "n2m4">, !blockscale.tensor<32x64xui8> -> tensor<16x32xbf16>
  return
}

#tf32 = #blockscale.mma<kind = tf32, a = tf32, b = tf32, m = 128, n = 64, k = 16, sparse = true>
#complete = #blockscale.schedule<tile_m = 128, tile_n = 64, tile_k = 64, stages = 4, accumulators = 2, swap_operands = false, group_m = 8>
#i8 = #blockscale.mma<kind = i8, a = int8, b = uint8, m = 128, n = 64, k = 64, sparse = true>
#bytes = #blockscale.schedule<tile_m = 128, tile_n = 64, tile_k = 128, stages = 4, accumulators = 2, swap_operands = false, group_m = 8>
!map = !blockscale.tensor_map<u8, dims = ()[m, n, k, l] -> (k, m), strides = ()[m, n, k, l] -> (k), box = [128, 128], swizzle = "128B">

// CHECK-LABEL: func.func @kernel_matmul
func.func @kernel_matmul(%a: !map, %b: !map, %e: !map, %d: !blockscale.global<f32>, %sums: !blockscale.global<i32>, %i: i32) {
  // CHECK: blockscale.kernel_matmul a(%[[A:.*]]) b(%[[B:.*]]) metadata(%[[E:.*]]) d(%{{.*}}) sizes{{.*}} mma <kind = tf32, a = tf32, b = tf32, m = 128, n = 64, k = 16, sparse = true>
  // CHECK-SAME: swizzle = "128B">, <f32> metadata !blockscale.tensor_map
  blockscale.kernel_matmul a(%a) b(%b) metadata(%e) d(%d) sizes(%i, %i, %i, %i)
    mma #tf32 schedule #complete : !map, !map, !blockscale.global<f32> metadata !map
  // CHECK: blockscale.kernel_matmul a(%[[A]]) b(%[[B]]) metadata(%[[E]]) d(%{{.*}}) sizes{{.*}} mma <kind = i8, a = int8, b = uint8,
  blockscale.kernel_matmul a(%a) b(%b) metadata(%e) d(%sums) sizes(%i, %i, %i, %i)
    mma #i8 schedule #bytes : !map, !map, !blockscale.global<i32> metadata !map
  return
}
