// Products with groups whose rows are gathered by number in whole functions: the kernel
// on the emulator, launched by our runtime, against what linalg makes of it.

// RUN: blockscale verify %s --conditions=plain --data=exact > %t.txt
// RUN: FileCheck %s < %t.txt
// RUN: blockscale verify %s --conditions=plain --data=exact --target=sm_120a --completion=latest --m=90 > %t.120.txt
// RUN: FileCheck %s --check-prefix=WARPS < %t.120.txt
// CHECK: function
// CHECK-DAG: {{^}}whole exact {{[0-9]+}} 1 384 0 0 0 pass
// CHECK-DAG: {{^}}scaled exact - 1 384 0 0 0 pass
// CHECK-DAG: {{^}}rows exact - 1 384 0 {{.*}} 0 pass
// CHECK-DAG: {{^}}codes exact - 1 384 0 0 0 pass
// WARPS-DAG: {{^}}codes exact - 1 384 0 0 0 pass
// WARPS-DAG: {{^}}whole exact {{[0-9]+}} 1 384 0 0 0 pass
// WARPS-DAG: {{^}}scaled exact - 1 384 0 0 0 pass
// WARPS-DAG: {{^}}rows exact - 1 384 0 {{.*}} 0 pass

!a = !blockscale.tensor<?x64xbf16>
!b = !blockscale.tensor<3x32x64xbf16>
func.func @whole(%a: !a, %b: !b, %bias: tensor<3x32xf32>) -> tensor<12x32xf32> {
  %ends = arith.constant dense<[7, 7, 12]> : tensor<3xi32>
  %ids = arith.constant dense<[3, 1, 3, -1, 0, 9, 1, 2, 2, 7, 100000, 5]> : tensor<12xi32>
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<3xi32>) rows(%ids : tensor<12xi32>) bias(%bias) : !a, !b, tensor<3x32xf32> -> tensor<12x32xf32>
  %1 = arith.addf %0, %0 : tensor<12x32xf32>
  return %1 : tensor<12x32xf32>
}

// Scales of the rows of the product have room for (12 + 3 * 127) / 128 = 3 groups of 128.
!tokens = !blockscale.tensor<20x128xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
!experts = !blockscale.tensor<3x32x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @scaled(%data: tensor<20x128xf8E4M3FN>, %b: !experts, %scales: tensor<3x1x32x16xf8E8M0FNU>) -> tensor<12x32xf32> {
  %ends = arith.constant dense<[7, 7, 12]> : tensor<3xi32>
  %ids = arith.constant dense<[3, 1, 3, -1, 0, 9, 1, 19, 2, 7, 20, 5]> : tensor<12xi32>
  %a = blockscale.assemble %data, %scales : tensor<20x128xf8E4M3FN>, tensor<3x1x32x16xf8E8M0FNU> to !tokens
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<3xi32>) rows(%ids : tensor<12xi32>) : !tokens, !experts -> tensor<12x32xf32>
  %1 = arith.addf %0, %0 : tensor<12x32xf32>
  return %1 : tensor<12x32xf32>
}

// Scales of rows go with the rows of A.
!rows = !blockscale.tensor<20x256xi8, "float32_t0">
!columns = !blockscale.tensor<3x32x256xi8, "float32_t0">
func.func @rows(%x: tensor<20x256xf32>, %b: !columns) -> tensor<12x32xf32> {
  %ends = arith.constant dense<[7, 7, 12]> : tensor<3xi32>
  %ids = arith.constant dense<[3, 1, 3, -1, 0, 9, 1, 19, 2, 7, 20, 5]> : tensor<12xi32>
  %a = blockscale.quantize %x : tensor<20x256xf32> to !rows
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<3xi32>) rows(%ids : tensor<12xi32>) : !rows, !columns -> tensor<12x32xf32>
  return %0 : tensor<12x32xf32>
}

// And so do zero points: a row of no number is one of zeros.
!codes = !blockscale.tensor<20x256xui4, "float32_int8_t128">
!weights = !blockscale.tensor<3x32x256xf8E4M3FN, "float32_t128">
func.func @codes(%a: !codes, %b: !weights) -> tensor<12x32xf32> {
  %ends = arith.constant dense<[7, 7, 12]> : tensor<3xi32>
  %ids = arith.constant dense<[3, 1, 3, -1, 0, 9, 1, 19, 2, 7, 20, 5]> : tensor<12xi32>
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<3xi32>) rows(%ids : tensor<12xi32>) : !codes, !weights -> tensor<12x32xf32>
  %1 = arith.addf %0, %0 : tensor<12x32xf32>
  return %1 : tensor<12x32xf32>
}
