// Products with groups in whole functions: the kernel on the emulator, launched by
// our runtime, against the loop of products that linalg makes of it.

// RUN: not blockscale verify %s --conditions=plain --data=exact > %t.txt
// RUN: FileCheck %s < %t.txt
// CHECK: function
// CHECK-DAG: {{^}}whole exact - 1 6400 0 0 0 pass
// CHECK-DAG: {{^}}scaled exact - 1 6400 0 0 0 pass
// CHECK-DAG: {{^}}promoted exact - 1 25600 0 {{.*}} 0 pass
// CHECK-DAG: {{^}}zeros exact - 1 6400 0 {{.*}} 0 pass
// CHECK-DAG: {{^}}gated exact - 1 6400 0 0 0 pass
// CHECK-DAG: {{^}}along_k exact - 1 4608 0 0 0 pass
// CHECK-DAG: {{^}}given, exact data: the scales of '!blockscale.tensor<200x128xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>' have padding that only the offsets of its groups say

!a = !blockscale.tensor<200x64xbf16>
!b = !blockscale.tensor<3x32x64xbf16>
func.func @whole(%a: !a, %b: !b, %bias: tensor<3x32xf32>) -> tensor<200x32xf32> {
  %ends = arith.constant dense<[7, 7, 200]> : tensor<3xi32>
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<3xi32>) bias(%bias) : !a, !b, tensor<3x32xf32> -> tensor<200x32xf32>
  %1 = arith.addf %0, %0 : tensor<200x32xf32>
  return %1 : tensor<200x32xf32>
}

// Scales have room for (200 + 3 * 127) / 128 = 4 groups of 128 rows.
!tokens = !blockscale.tensor<200x128xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
!experts = !blockscale.tensor<3x32x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @scaled(%data: tensor<200x128xf8E4M3FN>, %b: !experts, %scales: tensor<4x1x32x16xf8E8M0FNU>) -> tensor<200x32xf32> {
  %ends = arith.constant dense<[7, 7, 200]> : tensor<3xi32>
  %a = blockscale.assemble %data, %scales : tensor<200x128xf8E4M3FN>, tensor<4x1x32x16xf8E8M0FNU> to !tokens
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<3xi32>) : !tokens, !experts -> tensor<200x32xf32>
  %1 = arith.addf %0, %0 : tensor<200x32xf32>
  return %1 : tensor<200x32xf32>
}

// Scales of tiles along K lie as the rows do, and so do zero points.
!tiles = !blockscale.tensor<200x256xf8E4M3FN, "float32_t128">
!squares = !blockscale.tensor<3x128x256xf8E4M3FN, "float32_t128_t128">
func.func @promoted(%x: tensor<200x256xf32>, %b: !squares) -> tensor<200x128xf32> {
  %ends = arith.constant dense<[7, 7, 200]> : tensor<3xi32>
  %a = blockscale.quantize %x : tensor<200x256xf32> to !tiles
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<3xi32>) : !tiles, !squares -> tensor<200x128xf32>
  return %0 : tensor<200x128xf32>
}

!codes = !blockscale.tensor<200x256xui4, "float32_int8_t128">
!more_codes = !blockscale.tensor<3x32x256xui4, "float32_int8_t128">
func.func @zeros(%x: tensor<200x256xf32>, %y: tensor<3x32x256xf32>) -> tensor<200x32xf32> {
  %ends = arith.constant dense<[7, 7, 200]> : tensor<3xi32>
  %a = blockscale.quantize %x : tensor<200x256xf32> to !codes
  %b = blockscale.quantize %y : tensor<3x32x256xf32> to !more_codes
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<3xi32>) : !codes, !more_codes -> tensor<200x32xf32>
  return %0 : tensor<200x32xf32>
}

func.func @given(%a: !tokens, %b: !experts) -> tensor<200x32xf32> {
  %ends = arith.constant dense<[7, 7, 200]> : tensor<3xi32>
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<3xi32>) : !tokens, !experts -> tensor<200x32xf32>
  %1 = arith.addf %0, %0 : tensor<200x32xf32>
  return %1 : tensor<200x32xf32>
}

// What follows is part of the kernel: a bias of all groups, a comparison, another matrix.
func.func @gated(%a: !a, %b: !b, %bias: tensor<32xf32>, %up: tensor<200x32xf32>) -> tensor<200x32xbf16> {
  %ends = arith.constant dense<[130, 131, 200]> : tensor<3xi32>
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<3xi32>) : !a, !b -> tensor<200x32xf32>
  %empty = tensor.empty() : tensor<200x32xbf16>
  %1 = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]} ins(%0, %bias, %up : tensor<200x32xf32>, tensor<32xf32>, tensor<200x32xf32>) outs(%empty : tensor<200x32xbf16>) {
  ^bb0(%x: f32, %v: f32, %u: f32, %before: bf16):
    %zero = arith.constant 0.0 : f32
    %2 = arith.addf %x, %v : f32
    %3 = arith.maximumf %2, %zero : f32
    %4 = arith.mulf %3, %u : f32
    %5 = arith.truncf %4 : f32 to bf16
    linalg.yield %5 : bf16
  } -> tensor<200x32xbf16>
  return %1 : tensor<200x32xbf16>
}

// A factor for each column of each group, and a sum with a matrix of each.
!left = !blockscale.tensor<48x128xbf16>
!right = !blockscale.tensor<32x128xbf16>
func.func @along_k(%a: !left, %b: !right, %v: tensor<3x32xf32>, %c: tensor<3x48x32xf32>) -> tensor<3x48x32xf32> {
  %ends = arith.constant dense<[48, 48, 112]> : tensor<3xi32>
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<3xi32>) : !left, !right -> tensor<3x48x32xf32>
  %empty = tensor.empty() : tensor<3x48x32xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(g, m, n) -> (g, m, n)>, affine_map<(g, m, n) -> (g, n)>, affine_map<(g, m, n) -> (g, m, n)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%0, %v : tensor<3x48x32xf32>, tensor<3x32xf32>) outs(%empty : tensor<3x48x32xf32>) {
  ^bb0(%x: f32, %u: f32, %before: f32):
    %3 = arith.mulf %x, %u : f32
    linalg.yield %3 : f32
  } -> tensor<3x48x32xf32>
  %2 = arith.addf %1, %c : tensor<3x48x32xf32>
  return %2 : tensor<3x48x32xf32>
}
