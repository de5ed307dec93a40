// Groups along K on chips without tensor memory, as gradients of the weights of experts:
// each a matrix of its own. Behind a group the next one follows in a stage, so that a
// warp multiplies as many instructions of it as the group has.

// REQUIRES: mlir
// RUN: blockscale verify %s --target=sm_120a --data=exact --num-sms=3 --k=64,384,1088 | FileCheck %s
// RUN: blockscale verify %s --target=sm_121a --num-sms=48 --k=768 --conditions=plain | FileCheck %s --check-prefix=ONCE

// CHECK-NOT: FAIL
// CHECK-COUNT-36: pass
// CHECK-NOT: {{FAIL|pass}}

// ONCE-NOT: FAIL
// ONCE-COUNT-24: pass
// ONCE-NOT: {{FAIL|pass}}

// N ends inside a tile.
!a = !blockscale.tensor<200x?xbf16>
!b = !blockscale.tensor<136x?xbf16>
func.func @single(%a: !a, %b: !b, %ends: tensor<5xi32>) -> tensor<5x200x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<5xi32>) schedule(#blockscale.schedule<swap_operands = false, tile_n = 64>) : !a, !b -> tensor<5x200x136xf32>
  return %0 : tensor<5x200x136xf32>
}

// As gradients and inputs lie in memory: all rows of one k after another.
!half_a = !blockscale.tensor<200x?xbf16, order = mn_major>
!half_b = !blockscale.tensor<136x?xbf16, order = mn_major>
func.func @columns(%a: !half_a, %b: !half_b, %ends: tensor<5xi32>) -> tensor<5x200x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<5xi32>) schedule(#blockscale.schedule<swap_operands = false, tile_n = 128>) : !half_a, !half_b -> tensor<5x200x136xf32>
  return %0 : tensor<5x200x136xf32>
}

!f16_a = !blockscale.tensor<200x?xf16>
!f16_b = !blockscale.tensor<136x?xf16, order = mn_major>
func.func @columns_swapped(%a: !f16_a, %b: !f16_b, %ends: tensor<4xi32>) -> tensor<4x200x136xf16> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) schedule(#blockscale.schedule<swap_operands = true, tile_n = 32>) : !f16_a, !f16_b -> tensor<4x200x136xf16>
  return %0 : tensor<4x200x136xf16>
}

func.func @columns_default(%a: !half_a, %b: !b, %ends: tensor<?xi32>, %bias: tensor<?x136xf32>) -> tensor<?x200x136xbf16> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<?xi32>) bias(%bias) : !half_a, !b, tensor<?x136xf32> -> tensor<?x200x136xbf16>
  return %0 : tensor<?x200x136xbf16>
}

!fp8_a = !blockscale.tensor<200x?xf8E4M3FN>
!fp8_b = !blockscale.tensor<136x?xf8E5M2>
func.func @swapped(%a: !fp8_a, %b: !fp8_b, %ends: tensor<5xi32>) -> tensor<5x200x136xbf16> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<5xi32>) schedule(#blockscale.schedule<swap_operands = true, tile_n = 32>) : !fp8_a, !fp8_b -> tensor<5x200x136xbf16>
  return %0 : tensor<5x200x136xbf16>
}

!int_a = !blockscale.tensor<200x?xi8>
!int_b = !blockscale.tensor<136x?xi8>
func.func @integers(%a: !int_a, %b: !int_b, %ends: tensor<4xi32>) -> tensor<4x200x136xi32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) : !int_a, !int_b -> tensor<4x200x136xi32>
  return %0 : tensor<4x200x136xi32>
}

// A C and a bias for each group, which empty ones have too.
func.func @bias(%a: !a, %b: !b, %ends: tensor<?xi32>, %alpha: f32, %c: tensor<?x200x136xbf16>, %beta: f32, %bias: tensor<?x136xf32>) -> tensor<?x200x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<?xi32>) alpha(%alpha) beta(%beta) c(%c) bias(%bias) activation(relu) : !a, !b, tensor<?x200x136xbf16>, tensor<?x136xf32> -> tensor<?x200x136xf32>
  return %0 : tensor<?x200x136xf32>
}

// Scales in tiles of 128 rows by 4 blocks, those of each group apart; both sides have two
// tiles along their rows.
!mxfp8_a = !blockscale.tensor<200x?xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
!mxfp8_b = !blockscale.tensor<136x?xf8E5M2, "e8m0_t32", layout = grouped_128x4>
func.func @mxfp8(%a: !mxfp8_a, %b: !mxfp8_b, %ends: tensor<5xi32>) -> tensor<5x200x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<5xi32>) schedule(#blockscale.schedule<swap_operands = false, tile_n = 64>) : !mxfp8_a, !mxfp8_b -> tensor<5x200x136xf32>
  return %0 : tensor<5x200x136xf32>
}

func.func @wide(%a: !mxfp8_a, %b: !mxfp8_b, %ends: tensor<5xi32>, %bias: tensor<5x136xf32>) -> tensor<5x200x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<5xi32>) bias(%bias) schedule(#blockscale.schedule<swap_operands = true, tile_n = 128>) : !mxfp8_a, !mxfp8_b, tensor<5x136xf32> -> tensor<5x200x136xf32>
  return %0 : tensor<5x200x136xf32>
}

// Several tiles of scales to a stage, and factors of both matrices.
!nvfp4_a = !blockscale.tensor<200x?xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = grouped_128x4>
!nvfp4_b = !blockscale.tensor<136x?xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = grouped_128x4>
func.func @nvfp4(%a: !nvfp4_a, %b: !nvfp4_b, %ends: tensor<4xi32>) -> tensor<4x200x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) schedule(#blockscale.schedule<swap_operands = false, tile_n = 128>) : !nvfp4_a, !nvfp4_b -> tensor<4x200x136xf32>
  return %0 : tensor<4x200x136xf32>
}

func.func @default(%a: !nvfp4_a, %b: !nvfp4_b, %ends: tensor<?xi32>) -> tensor<?x200x136xf16> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<?xi32>) : !nvfp4_a, !nvfp4_b -> tensor<?x200x136xf16>
  return %0 : tensor<?x200x136xf16>
}

!mxfp4_a = !blockscale.tensor<200x?xf4E2M1FN, "e8m0_t32", layout = grouped_128x4>
!mxfp4_b = !blockscale.tensor<136x?xf4E2M1FN, "e8m0_t32", layout = grouped_128x4>
func.func @mxfp4(%a: !mxfp4_a, %b: !mxfp4_b, %ends: tensor<5xi32>) -> tensor<5x200x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<5xi32>) schedule(#blockscale.schedule<swap_operands = false, tile_n = 16>) : !mxfp4_a, !mxfp4_b -> tensor<5x200x136xf32>
  return %0 : tensor<5x200x136xf32>
}
