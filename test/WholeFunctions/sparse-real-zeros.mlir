// Zero points in real units of what a sparse operand keeps, which another product subtracts
// where 'dense-fallback' is given: of tiles, rows and matrices, either operand, codes of 2 to
// 8 bits, both operands with zero points, C and a bias, a function of the sum, patterns that
// are made dense, sizes that are not known, against the same functions by linalg on the CPU.

// REQUIRES: mlir
// RUN: not blockscale verify %s 2>&1 | FileCheck %s --check-prefix=REFUSED
// RUN: blockscale verify %s --dense-fallback --conditions=plain --data=exact > %t.txt
// RUN: FileCheck %s < %t.txt
// RUN: blockscale verify %s --dense-fallback --conditions=plain --data=random --target=sm_110a > %t.txt
// RUN: FileCheck %s < %t.txt
// RUN: blockscale compile %s --dense-fallback --emit=tensor | FileCheck %s --check-prefix=OPS

// REFUSED: a zero point in real units of sparse elements is multiplied by the sum of what a row of the other operand has beside the elements that are kept, {{.*}}, or 'dense-fallback', with which another product subtracts them

// CHECK: function
// CHECK-DAG: {{^}}tiles {{exact|random}} - 2 {{.*}} 0 pass
// CHECK-DAG: {{^}}rows {{exact|random}} {{.*}} 0 pass
// CHECK-DAG: {{^}}matrices {{exact|random}} - 2 {{.*}} 0 pass
// CHECK-DAG: {{^}}both {{exact|random}} - 2 {{.*}} 0 pass
// CHECK-DAG: {{^}}addend {{exact|random}} - 2 {{.*}} 0 pass
// CHECK-DAG: {{^}}activated {{exact|random}} - 2 {{.*}} 0 pass
// CHECK-DAG: {{^}}gated {{exact|random}} - 2 {{.*}} 0 pass
// CHECK-DAG: {{^}}masked {{exact|random}} - 2 {{.*}} 0 pass

// OPS-LABEL: func.func @tiles
// OPS: %[[PARTS:.*]]:4 = blockscale.disassemble %arg0
// OPS: %[[ONE:.*]] = arith.constant dense<1> : tensor<64x128xi4>
// OPS: %[[NEGATED:.*]] = arith.negf %[[PARTS]]#2
// OPS: %[[ONES:.*]] = blockscale.assemble %[[ONE]], %[[NEGATED]] zeros({{.*}}) metadata(%[[PARTS]]#3 : {{.*}}) : {{.*}} to !blockscale.tensor<64x256xui4, "float16_int8_t64n2m4", layout = tiled_128x4>
// OPS: %[[FIRST:.*]] = blockscale.matmul %[[ONES]], %arg1
// OPS: %[[CODES:.*]] = blockscale.assemble %[[PARTS]]#0, %[[PARTS]]#1 zeros({{.*}}) metadata(%[[PARTS]]#3 : {{.*}}) : {{.*}} to !blockscale.tensor<64x256xui4, "float32_int8_t64n2m4", layout = tiled_128x4>
// OPS: blockscale.matmul %[[CODES]], %arg1 c(%[[FIRST]])

!tiles_x = !blockscale.tensor<64x256xui4, "float32_float16_t64n2m4", layout = tiled_128x4>
!tiles_w = !blockscale.tensor<48x256xf8E4M3FN, "float32_t128">
func.func @tiles(%x: !tiles_x, %w: !tiles_w) -> tensor<64x48xf32> {
  %0 = blockscale.matmul %x, %w : !tiles_x, !tiles_w -> tensor<64x48xf32>
  %1 = arith.negf %0 : tensor<64x48xf32>
  return %1 : tensor<64x48xf32>
}

!rows_x = !blockscale.tensor<?x?xbf16>
!rows_w = !blockscale.tensor<?x?xui8, "float32_float32_t0n2m4", layout = tiled_128x4>
func.func @rows(%x: !rows_x, %w: !rows_w) -> tensor<?x?xf32> {
  %0 = blockscale.matmul %x, %w : !rows_x, !rows_w -> tensor<?x?xf32>
  %1 = arith.negf %0 : tensor<?x?xf32>
  return %1 : tensor<?x?xf32>
}

!matrices_x = !blockscale.tensor<2x40x256xui3, "bfloat16_float32_n1m2", layout = tiled_128x4>
!matrices_w = !blockscale.tensor<2x48x256xf8E5M2>
func.func @matrices(%x: !matrices_x, %w: !matrices_w) -> tensor<2x40x48xf32> {
  %0 = blockscale.matmul %x, %w : !matrices_x, !matrices_w -> tensor<2x40x48xf32>
  %1 = arith.negf %0 : tensor<2x40x48xf32>
  return %1 : tensor<2x40x48xf32>
}

// Those of the dense operand are terms of the epilogue of either product.
!both_w = !blockscale.tensor<48x256xui4, "float32_float32_t128">
func.func @both(%x: !tiles_x, %w: !both_w) -> tensor<64x48xf32> {
  %0 = blockscale.matmul %x, %w : !tiles_x, !both_w -> tensor<64x48xf32>
  %1 = arith.negf %0 : tensor<64x48xf32>
  return %1 : tensor<64x48xf32>
}

func.func @addend(%x: !tiles_x, %w: !tiles_w, %c: tensor<64x48xbf16>, %bias: tensor<48xf32>) -> tensor<64x48xf32> {
  %alpha = arith.constant 0.5 : f32
  %beta = arith.constant 2.0 : f32
  %0 = blockscale.matmul %x, %w alpha(%alpha) beta(%beta) c(%c) bias(%bias) : !tiles_x, !tiles_w, tensor<64x48xbf16>, tensor<48xf32> -> tensor<64x48xf32>
  %1 = arith.negf %0 : tensor<64x48xf32>
  return %1 : tensor<64x48xf32>
}

func.func @activated(%x: !tiles_x, %w: !tiles_w, %c: tensor<64x48xf32>) -> tensor<64x48xf32> {
  %0 = blockscale.matmul %x, %w c(%c) activation(relu) : !tiles_x, !tiles_w, tensor<64x48xf32> -> tensor<64x48xf32>
  %1 = arith.negf %0 : tensor<64x48xf32>
  return %1 : tensor<64x48xf32>
}

// A region without c gets one.
func.func @gated(%x: !tiles_x, %w: !tiles_w, %bias: tensor<48xf32>) -> tensor<64x48xf32> {
  %0 = blockscale.matmul %x, %w bias(%bias) epilogue(%y, %b) {
    %1 = arith.mulf %y, %b : f32
    %2 = arith.maximumf %1, %y : f32
    blockscale.yield %2
  } : !tiles_x, !tiles_w, tensor<48xf32> -> tensor<64x48xf32>
  %1 = arith.negf %0 : tensor<64x48xf32>
  return %1 : tensor<64x48xf32>
}

// No instruction skips what these prune, and e4m3 has their codes.
!masked_w = !blockscale.tensor<48x256xui4, "float32_float32_t64n4m8", layout = tiled_128x4>
func.func @masked(%x: !tiles_w, %w: !masked_w) -> tensor<48x48xf32> {
  %0 = blockscale.matmul %x, %w : !tiles_w, !masked_w -> tensor<48x48xf32>
  %1 = arith.negf %0 : tensor<48x48xf32>
  return %1 : tensor<48x48xf32>
}
