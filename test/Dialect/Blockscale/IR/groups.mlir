// RUN: blockscale-opt %s | blockscale-opt | FileCheck %s
// RUN: blockscale-opt %s -emit-bytecode | blockscale-opt | FileCheck %s

!a = !blockscale.tensor<?x512xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
!b = !blockscale.tensor<4x256x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>

// CHECK-LABEL: func @groups
// CHECK: blockscale.matmul %{{.*}}, %{{.*}} groups(%{{.*}} : tensor<4xi32>) : !blockscale.tensor<?x512xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>, !blockscale.tensor<4x256x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4> -> tensor<?x256xf32>
func.func @groups(%a: !a, %b: !b, %ends: tensor<4xi32>) -> tensor<?x256xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) : !a, !b -> tensor<?x256xf32>
  return %0 : tensor<?x256xf32>
}

// CHECK-LABEL: func @everything
// CHECK: groups(%{{.*}} : tensor<?xi32>) alpha(%{{.*}}) beta(%{{.*}}) c(%{{.*}}) bias(%{{.*}}) activation(silu)
func.func @everything(%a: !a, %b: !b, %ends: tensor<?xi32>, %s: f32, %c: tensor<?x256xf32>, %bias: tensor<4x256xf32>) -> tensor<?x256xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<?xi32>) alpha(%s) beta(%s) c(%c) bias(%bias) activation(silu) : !a, !b, tensor<?x256xf32>, tensor<4x256xf32> -> tensor<?x256xf32>
  return %0 : tensor<?x256xf32>
}

// Rows by number: as many as there are numbers, whatever rows `a` has.
// CHECK-LABEL: func @gathered
// CHECK: groups(%{{.*}} : tensor<4xi32>) rows(%{{.*}} : tensor<300xi32>) alpha(%{{.*}}) : !blockscale.tensor<90x512xf8E4M3FN, "float32_t0">, {{.*}} -> tensor<300x256xf32>
func.func @gathered(%a: !blockscale.tensor<90x512xf8E4M3FN, "float32_t0">, %b: !blockscale.tensor<4x256x512xf8E4M3FN, "float32_t0">, %ends: tensor<4xi32>, %ids: tensor<300xi32>, %s: f32) -> tensor<300x256xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) rows(%ids : tensor<300xi32>) alpha(%s) : !blockscale.tensor<90x512xf8E4M3FN, "float32_t0">, !blockscale.tensor<4x256x512xf8E4M3FN, "float32_t0"> -> tensor<300x256xf32>
  return %0 : tensor<300x256xf32>
}

// The padding of groups is in nobody's shape.
// CHECK-LABEL: func @parts
// CHECK: blockscale.assemble %{{.*}}, %{{.*}} : tensor<300x512xf8E4M3FN>, tensor<?x4x32x16xf8E8M0FNU> to !blockscale.tensor<300x512xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
func.func @parts(%data: tensor<300x512xf8E4M3FN>, %scales: tensor<?x4x32x16xf8E8M0FNU>) -> !blockscale.tensor<300x512xf8E4M3FN, "e8m0_t32", layout = grouped_128x4> {
  %0 = blockscale.assemble %data, %scales : tensor<300x512xf8E4M3FN>, tensor<?x4x32x16xf8E8M0FNU> to !blockscale.tensor<300x512xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
  return %0 : !blockscale.tensor<300x512xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
}

// Along K, as data may lie in memory either way.
// CHECK-LABEL: func @along_k
// CHECK: groups(%{{.*}} : tensor<4xi32>) bias(%{{.*}}) : !blockscale.tensor<96x?xf8E4M3FN, order = mn_major>, !blockscale.tensor<64x?xf8E4M3FN>, tensor<4x64xf32> -> tensor<4x96x64xf32>
func.func @along_k(%a: !blockscale.tensor<96x?xf8E4M3FN, order = mn_major>, %b: !blockscale.tensor<64x?xf8E4M3FN>, %ends: tensor<4xi32>, %bias: tensor<4x64xf32>) -> tensor<4x96x64xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) bias(%bias) : !blockscale.tensor<96x?xf8E4M3FN, order = mn_major>, !blockscale.tensor<64x?xf8E4M3FN>, tensor<4x64xf32> -> tensor<4x96x64xf32>
  return %0 : tensor<4x96x64xf32>
}

// With scales of rows for each group, or one scale for all of them.
// CHECK-LABEL: func @factors_along_k
// CHECK: blockscale.assemble %{{.*}}, %{{.*}} : tensor<96x512xf8E4M3FN>, tensor<?x96x1xf32> to !blockscale.tensor<96x512xf8E4M3FN, "float32_t0", layout = grouped>
// CHECK: groups(%{{.*}} : tensor<4xi32>) : !blockscale.tensor<96x512xf8E4M3FN, "float32_t0", layout = grouped>, !blockscale.tensor<64x512xf8E4M3FN, "float32"> -> tensor<4x96x64xf32>
func.func @factors_along_k(%data: tensor<96x512xf8E4M3FN>, %scales: tensor<?x96x1xf32>, %b: !blockscale.tensor<64x512xf8E4M3FN, "float32">, %ends: tensor<4xi32>) -> tensor<4x96x64xf32> {
  %a = blockscale.assemble %data, %scales : tensor<96x512xf8E4M3FN>, tensor<?x96x1xf32> to !blockscale.tensor<96x512xf8E4M3FN, "float32_t0", layout = grouped>
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) : !blockscale.tensor<96x512xf8E4M3FN, "float32_t0", layout = grouped>, !blockscale.tensor<64x512xf8E4M3FN, "float32"> -> tensor<4x96x64xf32>
  return %0 : tensor<4x96x64xf32>
}

// With scales of tiles by which sums are multiplied, of all of K.
// CHECK-LABEL: func @tiles_along_k
// CHECK: groups(%{{.*}} : tensor<4xi32>) : !blockscale.tensor<96x512xf8E4M3FN, "float32_t128">, !blockscale.tensor<64x512xf8E4M3FN, "float32_t128_t128"> -> tensor<4x96x64xf32>
func.func @tiles_along_k(%a: !blockscale.tensor<96x512xf8E4M3FN, "float32_t128">, %b: !blockscale.tensor<64x512xf8E4M3FN, "float32_t128_t128">, %ends: tensor<4xi32>) -> tensor<4x96x64xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) : !blockscale.tensor<96x512xf8E4M3FN, "float32_t128">, !blockscale.tensor<64x512xf8E4M3FN, "float32_t128_t128"> -> tensor<4x96x64xf32>
  return %0 : tensor<4x96x64xf32>
}
