// Zero points in real units, which the epilogue subtracts by sums that the runtime makes
// of the operands, against the same functions by linalg on the CPU: of rows, tiles along K,
// tiles of rows and of matrices, of both operands, of experts, and beside zero points that
// count in steps of scales.

// REQUIRES: mlir
// RUN: blockscale verify %s --conditions=plain --data=exact > %t.txt
// RUN: FileCheck %s < %t.txt
// RUN: blockscale verify %s --target=sm_120a --conditions=plain --data=random > %t.txt
// RUN: FileCheck %s < %t.txt
// CHECK: function
// CHECK-DAG: {{^}}rows {{exact|random}} - 1 {{.*}} 0 pass
// CHECK-DAG: {{^}}tiles {{exact|random}} {{.*}} 0 pass
// CHECK-DAG: {{^}}squares {{exact|random}} - 1 {{.*}} 0 pass
// CHECK-DAG: {{^}}matrices {{exact|random}} - 1 {{.*}} 0 pass
// CHECK-DAG: {{^}}both {{exact|random}} - 1 {{.*}} 0 pass
// CHECK-DAG: {{^}}layers {{exact|random}} {{.*}} 0 pass
// CHECK-DAG: {{^}}experts {{exact|random}} - 1 {{.*}} 0 pass
// CHECK-DAG: {{^}}steps {{exact|random}} - 1 {{.*}} 0 pass

!rows_x = !blockscale.tensor<64x256xf8E4M3FN, "float32_t0">
!rows_w = !blockscale.tensor<48x256xui4, "float32_float16_t0">
func.func @rows(%x: tensor<64x256xf32>, %w: tensor<48x256xf32>) -> tensor<64x48xf32> {
  %0 = blockscale.quantize %x : tensor<64x256xf32> to !rows_x
  %1 = blockscale.quantize %w : tensor<48x256xf32> to !rows_w
  %2 = blockscale.matmul %0, %1 : !rows_x, !rows_w -> tensor<64x48xf32>
  return %2 : tensor<64x48xf32>
}

!tiles_x = !blockscale.tensor<?x256xf8E4M3FN, "float32_t128">
!tiles_w = !blockscale.tensor<48x256xui2, "bfloat16_bfloat16_t32">
func.func @tiles(%x: tensor<?x256xf32>, %w: tensor<48x256xf32>) -> tensor<?x48xf32> {
  %0 = blockscale.quantize %x : tensor<?x256xf32> to !tiles_x
  %1 = blockscale.quantize %w : tensor<48x256xf32> to !tiles_w
  %2 = blockscale.matmul %0, %1 : !tiles_x, !tiles_w -> tensor<?x48xf32>
  return %2 : tensor<?x48xf32>
}

!squares_x = !blockscale.tensor<64x256xbf16>
!squares_w = !blockscale.tensor<80x256xui8, "float32_float32_t32_t64">
func.func @squares(%x: !squares_x, %w: tensor<80x256xf32>) -> tensor<64x80xf32> {
  %0 = blockscale.quantize %w : tensor<80x256xf32> to !squares_w
  %1 = blockscale.matmul %x, %0 : !squares_x, !squares_w -> tensor<64x80xf32>
  return %1 : tensor<64x80xf32>
}

!matrices_x = !blockscale.tensor<2x40x192xf16>
!matrices_w = !blockscale.tensor<2x48x192xui3, "float16_float32">
func.func @matrices(%x: !matrices_x, %w: tensor<2x48x192xf32>) -> tensor<2x40x48xf32> {
  %0 = blockscale.quantize %w : tensor<2x48x192xf32> to !matrices_w
  %1 = blockscale.matmul %x, %0 : !matrices_x, !matrices_w -> tensor<2x40x48xf32>
  return %1 : tensor<2x40x48xf32>
}

!both_x = !blockscale.tensor<64x128xui8, "float32_float32_t0">
!both_w = !blockscale.tensor<48x128xui4, "float32_float16_t64">
func.func @both(%x: tensor<64x128xf32>, %w: tensor<48x128xf32>) -> tensor<64x48xf32> {
  %0 = blockscale.quantize %x : tensor<64x128xf32> to !both_x
  %1 = blockscale.quantize %w : tensor<48x128xf32> to !both_w
  %2 = blockscale.matmul %0, %1 : !both_x, !both_w -> tensor<64x48xf32>
  return %2 : tensor<64x48xf32>
}

!experts_x = !blockscale.tensor<70x256xf8E4M3FN, "float32_t0">
!experts_w = !blockscale.tensor<3x48x256xui4, "float32_float32_t128">
func.func @experts(%x: tensor<70x256xf32>, %w: tensor<3x48x256xf32>) -> tensor<70x48xf32> {
  %ends = arith.constant dense<[20, 20, 70]> : tensor<3xi32>
  %0 = blockscale.quantize %x : tensor<70x256xf32> to !experts_x
  %1 = blockscale.quantize %w : tensor<3x48x256xf32> to !experts_w
  %2 = blockscale.matmul %0, %1 groups(%ends : tensor<3xi32>) : !experts_x, !experts_w -> tensor<70x48xf32>
  return %2 : tensor<70x48xf32>
}

// The terms of the constant weights stay on the device, those of rows are made anew.
!layers_x = !blockscale.tensor<40x256xf8E4M3FN, "float32_t0">
!layers_w = !blockscale.tensor<256x256xui4, "float32_float32_t128">
func.func @layers(%x: tensor<40x256xf32>) -> tensor<40x256xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %codes = arith.constant dense<5> : tensor<256x256xi4>
  %scales = arith.constant dense<0.125> : tensor<256x2xf32>
  %zeros = arith.constant dense<0.5> : tensor<256x2xf32>
  %w = blockscale.assemble %codes, %scales zeros(%zeros : tensor<256x2xf32>) : tensor<256x256xi4>, tensor<256x2xf32> to !layers_w
  %0 = scf.for %i = %c0 to %c3 step %c1 iter_args(%y = %x) -> tensor<40x256xf32> {
    %1 = blockscale.quantize %y : tensor<40x256xf32> to !layers_x
    %2 = blockscale.matmul %1, %w : !layers_x, !layers_w -> tensor<40x256xf32>
    scf.yield %2 : tensor<40x256xf32>
  }
  return %0 : tensor<40x256xf32>
}

!steps_x = !blockscale.tensor<24x256xui4, "float16_int16_t4_t64">
!steps_w = !blockscale.tensor<48x256xui8, "float32_float32_t0">
func.func @steps(%x: tensor<24x256xf32>, %w: tensor<48x256xf32>) -> tensor<24x48xf32> {
  %0 = blockscale.quantize %x : tensor<24x256xf32> to !steps_x
  %1 = blockscale.quantize %w : tensor<48x256xf32> to !steps_w
  %2 = blockscale.matmul %0, %1 : !steps_x, !steps_w -> tensor<24x48xf32>
  return %2 : tensor<24x48xf32>
}
