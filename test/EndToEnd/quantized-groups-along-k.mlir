// Groups along K whose kernels quantise what they make of each: a matrix of codes and
// scales of its own, tensor scale included, as the next product, or an update of
// weights, reads them. Empty groups are blocks of zeros, or of a bias; scales of rows
// and blocks that pad a matrix are 0, in each of them.

// REQUIRES: mlir
// RUN: blockscale verify %s --num-sms=4 --k=64,1088 | FileCheck %s
// RUN: blockscale verify %s --target=sm_103a --num-sms=148 --k=768 --seed=3 --conditions=harsh --completion=latest | FileCheck %s --check-prefix=ONCE
// RUN: blockscale verify %s --target=sm_110a --num-sms=7 --k=512 --seed=1 --completion=random | FileCheck %s --check-prefix=ONCE
// RUN: sed -e 's/cta_group = [12], *//; s/cluster_[mn] = [12], *//g; /^\/\/ No warps/,$d' %s > %t.warps.mlir
// RUN: blockscale verify %t.warps.mlir --target=sm_120a --num-sms=3 --k=64,1088 --completion=latest | FileCheck %s --check-prefix=WARPS
// RUN: blockscale compile %s --emit=tensor | FileCheck %s --check-prefix=MARK
// RUN: blockscale compile %s --emit=kernel > %t.mlir
// RUN: FileCheck %s --check-prefix=KERNEL < %t.mlir
// RUN: blockscale-opt %t.mlir > /dev/null

// CHECK-NOT: FAIL
// CHECK-COUNT-44: pass
// CHECK-NOT: {{FAIL|pass}}

// ONCE-NOT: FAIL
// ONCE-COUNT-22: pass
// ONCE-NOT: {{FAIL|pass}}

// WARPS-NOT: FAIL
// WARPS-COUNT-28: pass
// WARPS-NOT: {{FAIL|pass}}

// MARK-COUNT-11: {blockscale.quantized}
// MARK-NOT: blockscale.quantized

// KERNEL-NOT: blockscale.quantize{{ }}
// KERNEL-COUNT-11: gpu.func

// Rows and blocks end inside of the tiles of scales: those of 200 rows, and 9 blocks.
!a = !blockscale.tensor<200x?xbf16>
!b = !blockscale.tensor<288x?xbf16>
!e4m3 = !blockscale.tensor<5x200x288xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @plain(%a: !a, %b: !b, %ends: tensor<5xi32>) -> !e4m3 {
  %d = blockscale.matmul %a, %b groups(%ends : tensor<5xi32>) schedule(#blockscale.schedule<cta_group = 1, cluster_m = 1, cluster_n = 1, swap_operands = false, tile_n = 64>) : !a, !b -> tensor<5x200x288xbf16>
  %0 = blockscale.quantize %d : tensor<5x200x288xbf16> to !e4m3
  return %0 : !e4m3
}
!mxfp8_a = !blockscale.tensor<200x?xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
!mxfp8_b = !blockscale.tensor<288x?xf8E5M2, "e8m0_t32", layout = grouped_128x4>
!any = !blockscale.tensor<?x200x288xf8E5M2, "e8m0_t32", layout = tiled_128x4>
func.func @bias(%a: !mxfp8_a, %b: !mxfp8_b, %ends: tensor<?xi32>, %alpha: f32, %c: tensor<?x200x288xbf16>, %beta: f32, %bias: tensor<?x288xf32>) -> !any {
  %d = blockscale.matmul %a, %b groups(%ends : tensor<?xi32>) alpha(%alpha) beta(%beta) c(%c) bias(%bias) activation(relu) : !mxfp8_a, !mxfp8_b, tensor<?x200x288xbf16>, tensor<?x288xf32> -> tensor<?x200x288xf32>
  %0 = blockscale.quantize %d rule(round_up) : tensor<?x200x288xf32> to !any
  return %0 : !any
}
func.func @pair(%a: !mxfp8_a, %b: !mxfp8_b, %ends: tensor<5xi32>) -> !e4m3 {
  %d = blockscale.matmul %a, %b groups(%ends : tensor<5xi32>) schedule(#blockscale.schedule<cta_group = 2, cluster_m = 2, cluster_n = 2, swap_operands = false, tile_n = 128>) : !mxfp8_a, !mxfp8_b -> tensor<5x200x288xbf16>
  %0 = blockscale.quantize %d : tensor<5x200x288xbf16> to !e4m3
  return %0 : !e4m3
}
func.func @swapped(%a: !mxfp8_a, %b: !mxfp8_b, %ends: tensor<5xi32>, %bias: tensor<5x288xf32>) -> !e4m3 {
  %d = blockscale.matmul %a, %b groups(%ends : tensor<5xi32>) bias(%bias) schedule(#blockscale.schedule<cta_group = 1, cluster_m = 2, cluster_n = 1, swap_operands = true, tile_n = 64>) : !mxfp8_a, !mxfp8_b, tensor<5x288xf32> -> tensor<5x200x288xbf16>
  %0 = blockscale.quantize %d rule(min_error) : tensor<5x200x288xbf16> to !e4m3
  return %0 : !e4m3
}
// A tensor scale for each matrix.
!nvfp4_a = !blockscale.tensor<200x?xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = grouped_128x4>
!nvfp4_b = !blockscale.tensor<272x?xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = grouped_128x4>
!nvfp4 = !blockscale.tensor<4x200x272xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
func.func @nvfp4(%a: !nvfp4_a, %b: !nvfp4_b, %ends: tensor<4xi32>, %t: tensor<4xf32>) -> !nvfp4 {
  %d = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) : !nvfp4_a, !nvfp4_b -> tensor<4x200x272xf16>
  %0 = blockscale.quantize %d tensor_scale(%t : tensor<4xf32>) : tensor<4x200x272xf16> to !nvfp4
  return %0 : !nvfp4
}
// Floats, which have no padding.
!float = !blockscale.tensor<5x200x320xf8E4M3FN, "float32_t64">
!wide_b = !blockscale.tensor<320x?xf8E5M2, "e8m0_t32", layout = grouped_128x4>
func.func @floats(%a: !mxfp8_a, %b: !wide_b, %ends: tensor<5xi32>) -> !float {
  %d = blockscale.matmul %a, %b groups(%ends : tensor<5xi32>) : !mxfp8_a, !wide_b -> tensor<5x200x320xbf16>
  %0 = blockscale.quantize %d : tensor<5x200x320xbf16> to !float
  return %0 : !float
}
func.func @floats_min_error(%a: !mxfp8_a, %b: !wide_b, %ends: tensor<5xi32>) -> !float {
  %d = blockscale.matmul %a, %b groups(%ends : tensor<5xi32>) schedule(#blockscale.schedule<swap_operands = true, tile_n = 128>) : !mxfp8_a, !wide_b -> tensor<5x200x320xf16>
  %0 = blockscale.quantize %d rule(min_error) : tensor<5x200x320xf16> to !float
  return %0 : !float
}

// No warps of sm_120a have tiles, or whole blocks, of what follows.
// As gradients and inputs lie in memory. Numbers of elements count through all groups.
!columns_a = !blockscale.tensor<200x?xf8E4M3FN, order = mn_major>
!columns_b = !blockscale.tensor<288x?xf8E5M2>
!e2m3 = !blockscale.tensor<4x200x288xf6E2M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @stochastic(%a: !columns_a, %b: !columns_b, %ends: tensor<4xi32>) -> !e2m3 {
  %d = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) : !columns_a, !columns_b -> tensor<4x200x288xf32>
  %0 = blockscale.quantize %d rule(ceil) rounding(stochastic, seed = 9) : tensor<4x200x288xf32> to !e2m3
  return %0 : !e2m3
}
!long = !blockscale.tensor<5x200x384xf8E4M3FN, "float32_t128">
!long_b = !blockscale.tensor<384x?xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
func.func @eight_warps(%a: !mxfp8_a, %b: !long_b, %ends: tensor<5xi32>) -> !long {
  %d = blockscale.matmul %a, %b groups(%ends : tensor<5xi32>) schedule(#blockscale.schedule<cta_group = 2, swap_operands = false, tile_n = 256, epilogue_warps = 8>) : !mxfp8_a, !long_b -> tensor<5x200x384xbf16>
  %0 = blockscale.quantize %d : tensor<5x200x384xbf16> to !long
  return %0 : !long
}
func.func @swapped_floats(%a: !mxfp8_a, %b: !long_b, %ends: tensor<5xi32>) -> !long {
  %d = blockscale.matmul %a, %b groups(%ends : tensor<5xi32>) schedule(#blockscale.schedule<cta_group = 2, swap_operands = true, tile_n = 64>) : !mxfp8_a, !long_b -> tensor<5x200x384xf32>
  %0 = blockscale.quantize %d : tensor<5x200x384xf32> to !long
  return %0 : !long
}
// What a sparse product reads next.
!for_sparse = !blockscale.tensor<5x200x320xf8E4M3FN, "e8m0_t64", layout = tiled_128x4>
func.func @for_sparse(%a: !mxfp8_a, %b: !wide_b, %ends: tensor<5xi32>) -> !for_sparse {
  %d = blockscale.matmul %a, %b groups(%ends : tensor<5xi32>) : !mxfp8_a, !wide_b -> tensor<5x200x320xbf16>
  %0 = blockscale.quantize %d {blockscale.for_sparse} : tensor<5x200x320xbf16> to !for_sparse
  return %0 : !for_sparse
}
