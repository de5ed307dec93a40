// Sparse operands of patterns that no instruction skips, whose metadata are a bit for each
// element: the host makes them dense where that is asked for, as an op of its own, and a
// kernel multiplies them. All kinds of elements, either operand and both, quantised here
// and given, sizes that are not known, batches, constant weights.

// REQUIRES: mlir
// RUN: not blockscale verify %s 2>&1 | FileCheck %s --check-prefix=REFUSED
// RUN: blockscale verify %s --dense-fallback --conditions=plain --data=exact > %t.txt
// RUN: FileCheck %s < %t.txt
// RUN: blockscale verify %s --dense-fallback --conditions=plain --data=random --target=sm_120a > %t.txt
// RUN: FileCheck %s < %t.txt
// RUN: blockscale-opt %s --blockscale-legalize-scales=dense-fallback --blockscale-fold-constants | FileCheck %s --check-prefix=OPS

// REFUSED: operand 'a' keeps 4 of 8, which no instruction skips; expected 2 of 4, 1 of 2 or at most 2 of more (kind mxf8f6f4), {{.*}}; or multiply it densely with 'dense-fallback'

// CHECK: function
// CHECK-DAG: {{^}}bytes {{exact|random}} - 1 {{.*}} 0 pass
// CHECK-DAG: {{^}}six_bits {{exact|random}} - 1 {{.*}} 0 pass
// CHECK-DAG: {{^}}nibbles {{exact|random}} - 1 {{.*}} 0 pass
// CHECK-DAG: {{^}}fractions {{exact|random}} - 1 {{.*}} 0 pass
// CHECK-DAG: {{^}}integers {{exact|random}} - 1 {{.*}} 0 pass
// CHECK-DAG: {{^}}halves {{exact|random}} - 1 {{.*}} 0 pass
// CHECK-DAG: {{^}}words {{exact|random}} - 1 {{.*}} 0 pass
// CHECK-DAG: {{^}}float_tiles {{exact|random}} - 1 {{.*}} 0 pass
// CHECK-DAG: {{^}}rows {{exact|random}} {{.*}} 0 pass
// CHECK-DAG: {{^}}batch {{exact|random}} {{.*}} 0 pass
// CHECK-DAG: {{^}}both {{exact|random}} - 1 {{.*}} 0 pass
// CHECK-DAG: {{^}}weights {{exact|random}} - 1 {{.*}} 0 pass

!bytes_x = !blockscale.tensor<64x256xf8E4M3FN, "e8m0_t32n4m8", layout = tiled_128x4>
!bytes_w = !blockscale.tensor<48x256xf8E5M2, "e8m0_t64", layout = tiled_128x4>
// OPS-LABEL: func.func @bytes
// OPS: blockscale.densify {{.*}} to !blockscale.tensor<64x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @bytes(%x: !bytes_x, %w: !bytes_w) -> tensor<64x48xf32> {
  %0 = blockscale.matmul %x, %w : !bytes_x, !bytes_w -> tensor<64x48xf32>
  %1 = arith.negf %0 : tensor<64x48xf32>
  return %1 : tensor<64x48xf32>
}

!six_w = !blockscale.tensor<48x256xf6E2M3FN, "e8m0_t64n8m16", layout = tiled_128x4>
!six_x = !blockscale.tensor<64x256xf6E3M2FN, "e8m0_t32", layout = tiled_128x4>
func.func @six_bits(%x: !six_x, %w: tensor<48x256xf32>) -> tensor<64x48xbf16> {
  %0 = blockscale.quantize %w : tensor<48x256xf32> to !six_w
  %1 = blockscale.matmul %x, %0 : !six_x, !six_w -> tensor<64x48xbf16>
  return %1 : tensor<64x48xbf16>
}

!nibbles_x = !blockscale.tensor<64x256xf4E2M1FN, "e8m0_t32n8m16", layout = tiled_128x4>
!nibbles_w = !blockscale.tensor<48x256xf4E2M1FN, "e8m0_t64", layout = tiled_128x4>
func.func @nibbles(%x: !nibbles_x, %w: !nibbles_w) -> tensor<64x48xf32> {
  %0 = blockscale.matmul %x, %w : !nibbles_x, !nibbles_w -> tensor<64x48xf32>
  %1 = arith.negf %0 : tensor<64x48xf32>
  return %1 : tensor<64x48xf32>
}

// Scales of tiles of 32 elements that are kept are cut into those of 16 of all.
!fractions_x = !blockscale.tensor<64x256xf4E2M1FN, "multi_float32_e4m3fn_t32n8m16", layout = tiled_128x4>
!fractions_w = !blockscale.tensor<48x256xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
func.func @fractions(%x: !fractions_x, %w: !fractions_w) -> tensor<64x48xf32> {
  %0 = blockscale.matmul %x, %w : !fractions_x, !fractions_w -> tensor<64x48xf32>
  %1 = arith.negf %0 : tensor<64x48xf32>
  return %1 : tensor<64x48xf32>
}

!integers_x = !blockscale.tensor<64x256xi8, "n4m8", layout = tiled_128x4>
!integers_w = !blockscale.tensor<48x256xi8>
func.func @integers(%x: !integers_x, %w: !integers_w) -> tensor<64x48xi32> {
  %0 = blockscale.matmul %x, %w : !integers_x, !integers_w -> tensor<64x48xi32>
  %1 = arith.addi %0, %0 : tensor<64x48xi32>
  return %1 : tensor<64x48xi32>
}

!halves_x = !blockscale.tensor<64x256xbf16>
!halves_w = !blockscale.tensor<48x256xbf16, "n3m4">
func.func @halves(%x: !halves_x, %w: tensor<48x256xf32>) -> tensor<64x48xf32> {
  %0 = blockscale.quantize %w : tensor<48x256xf32> to !halves_w
  %1 = blockscale.matmul %x, %0 : !halves_x, !halves_w -> tensor<64x48xf32>
  return %1 : tensor<64x48xf32>
}

!words_x = !blockscale.tensor<64x128xtf32, "n2m4", layout = tiled_128x4>
!words_w = !blockscale.tensor<48x128xtf32>
func.func @words(%x: !words_x, %w: !words_w) -> tensor<64x48xf32> {
  %0 = blockscale.matmul %x, %w : !words_x, !words_w -> tensor<64x48xf32>
  %1 = arith.negf %0 : tensor<64x48xf32>
  return %1 : tensor<64x48xf32>
}

!float_tiles_x = !blockscale.tensor<64x512xf8E4M3FN, "float32_t128n8m16", layout = tiled_128x4>
!float_tiles_w = !blockscale.tensor<48x512xf8E4M3FN, "float32_t128_t128">
func.func @float_tiles(%x: !float_tiles_x, %w: !float_tiles_w) -> tensor<64x48xf32> {
  %0 = blockscale.matmul %x, %w : !float_tiles_x, !float_tiles_w -> tensor<64x48xf32>
  %1 = arith.negf %0 : tensor<64x48xf32>
  return %1 : tensor<64x48xf32>
}

!rows_x = !blockscale.tensor<?x?xf8E4M3FN, "float32_t0n3m4", layout = tiled_128x4>
!rows_w = !blockscale.tensor<?x?xf8E5M2, "float32_t0">
func.func @rows(%x: !rows_x, %w: !rows_w) -> tensor<?x?xf32> {
  %0 = blockscale.matmul %x, %w : !rows_x, !rows_w -> tensor<?x?xf32>
  %1 = arith.negf %0 : tensor<?x?xf32>
  return %1 : tensor<?x?xf32>
}

!batch_x = !blockscale.tensor<3x40x256xf8E4M3FN, "e8m0_t16n4m16", layout = tiled_128x4>
!batch_w = !blockscale.tensor<3x48x256xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
func.func @batch(%x: !batch_x, %w: !batch_w) -> tensor<3x40x48xf32> {
  %0 = blockscale.matmul %x, %w : !batch_x, !batch_w -> tensor<3x40x48xf32>
  %1 = arith.negf %0 : tensor<3x40x48xf32>
  return %1 : tensor<3x40x48xf32>
}

!both_w = !blockscale.tensor<48x256xf8E5M2, "e8m0_t32n2m4", layout = tiled_128x4>
func.func @both(%x: !bytes_x, %w: !both_w) -> tensor<64x48xf32> {
  %0 = blockscale.matmul %x, %w : !bytes_x, !both_w -> tensor<64x48xf32>
  %1 = arith.negf %0 : tensor<64x48xf32>
  return %1 : tensor<64x48xf32>
}

// OPS-LABEL: func.func @weights
// OPS: %[[W:.*]] = blockscale.assemble
// OPS-NOT: blockscale.{{compress|densify}}
// OPS: blockscale.matmul %{{.*}}, %[[W]]
!weights = !blockscale.tensor<48x256xf8E4M3FN, "e8m0_t32n4m8", layout = tiled_128x4>
func.func @weights(%x: !bytes_w) -> tensor<48x48xf32> {
  %codes = arith.constant dense<1.5> : tensor<48x256xf32>
  %w = blockscale.quantize %codes : tensor<48x256xf32> to !weights
  %0 = blockscale.matmul %x, %w : !bytes_w, !weights -> tensor<48x48xf32>
  return %0 : tensor<48x48xf32>
}
