// Operands whose elements are indices into tables, which the host joins with the
// numbers of their tables and stores as the kernel reads them: codes of 4, 5, 7 and 9
// bits, against the same functions by linalg on the CPU.

// REQUIRES: mlir
// RUN: blockscale verify %s --conditions=plain --data=exact > %t.txt
// RUN: FileCheck %s < %t.txt
// RUN: blockscale verify %s --target=sm_120a --conditions=plain --data=random > %t.txt
// RUN: FileCheck %s < %t.txt
// CHECK: function
// CHECK-DAG: {{^}}mx4 {{exact|random}} - 1 {{.*}} 0 pass
// CHECK-DAG: {{^}}mx9 {{exact|random}} - 1 {{.*}} 0 pass
// CHECK-DAG: {{^}}mx6 {{exact|random}} - 1 {{.*}} 0 pass
// CHECK-DAG: {{^}}squares {{exact|random}} - 1 {{.*}} 0 pass
// CHECK-DAG: {{^}}groups {{exact|random}} - 1 {{.*}} 0 pass
// CHECK-DAG: {{^}}gathered {{exact|random}} - 1 {{.*}} 0 pass

!mx4_x = !blockscale.tensor<64x256xf4E2M1FN, "e8m0_t16", layout = tiled_128x4>
!mx4_w = !blockscale.tensor<48x256x!blockscale.codebook<"cb31ie_int5">, "mx4", layout = tiled_128x4>
func.func @mx4(%x: tensor<64x256xf32>, %w: !mx4_w) -> tensor<64x48xf32> {
  %0 = blockscale.quantize %x : tensor<64x256xf32> to !mx4_x
  %1 = blockscale.matmul %0, %w : !mx4_x, !mx4_w -> tensor<64x48xf32>
  return %1 : tensor<64x48xf32>
}

!mx9_x = !blockscale.tensor<64x256xi8, "e8m0_t32">
!mx9_w = !blockscale.tensor<48x256x!blockscale.codebook<"cb81ie_int9">, "mx9">
func.func @mx9(%x: tensor<64x256xf32>, %w: !mx9_w) -> tensor<64x48xf32> {
  %0 = blockscale.quantize %x : tensor<64x256xf32> to !mx9_x
  %1 = blockscale.matmul %0, %w : !mx9_x, !mx9_w -> tensor<64x48xf32>
  return %1 : tensor<64x48xf32>
}

!mx6_x = !blockscale.tensor<64x256xf8E4M3FN, "e8m0_t16">
!mx6_w = !blockscale.tensor<48x256x!blockscale.codebook<"cb51ie_int7">, "mx6">
func.func @mx6(%x: tensor<64x256xf32>, %w: !mx6_w) -> tensor<64x48xf32> {
  %0 = blockscale.quantize %x : tensor<64x256xf32> to !mx6_x
  %1 = blockscale.matmul %0, %w : !mx6_x, !mx6_w -> tensor<64x48xf32>
  return %1 : tensor<64x48xf32>
}

!squares_x = !blockscale.tensor<70x256xf8E4M3FN, "mxfp8", layout = tiled_128x4>
!squares_w = !blockscale.tensor<256x256x!blockscale.codebook<"cb42f1346_e2m3fnuz">, "e8m0_t64s16_t64s8", layout = tiled_128x4>
func.func @squares(%x: tensor<70x256xf32>, %w: !squares_w) -> tensor<70x256xf32> {
  %0 = blockscale.quantize %x : tensor<70x256xf32> to !squares_x
  %1 = blockscale.matmul %0, %w : !squares_x, !squares_w -> tensor<70x256xf32>
  return %1 : tensor<70x256xf32>
}

// Numbers of tables go with the rows of a group, and with those that are gathered.
!rows = !blockscale.tensor<33x128x!blockscale.codebook<"cb51ie_int7">, "mx6">
!experts = !blockscale.tensor<3x24x128xf8E4M3FN, "float32_t128">
func.func @groups(%x: !rows, %w: !experts) -> tensor<33x24xf32> {
  %ends = arith.constant dense<[3, 3, 33]> : tensor<3xi32>
  %0 = blockscale.matmul %x, %w groups(%ends : tensor<3xi32>) : !rows, !experts -> tensor<33x24xf32>
  %1 = arith.addf %0, %0 : tensor<33x24xf32>
  return %1 : tensor<33x24xf32>
}

func.func @gathered(%x: !rows, %w: !experts) -> tensor<5x24xf32> {
  %ends = arith.constant dense<[1, 3, 5]> : tensor<3xi32>
  %ids = arith.constant dense<[32, 7, -1, 7, 0]> : tensor<5xi32>
  %0 = blockscale.matmul %x, %w groups(%ends : tensor<3xi32>) rows(%ids : tensor<5xi32>) : !rows, !experts -> tensor<5x24xf32>
  %1 = arith.addf %0, %0 : tensor<5x24xf32>
  return %1 : tensor<5x24xf32>
}
