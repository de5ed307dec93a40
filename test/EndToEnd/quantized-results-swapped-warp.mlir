// Products with swapped operands whose kernels quantise the result, where warps
// multiply: eight lanes have a column of D together, and exchange parts of eight columns
// so that each has a row of it.

// REQUIRES: mlir
// RUN: blockscale verify %s --target=sm_120a | FileCheck %s
// RUN: blockscale verify %s --target=sm_121a --seed=5 --conditions=harsh --completion=latest | FileCheck %s
// RUN: blockscale compile %s --target=sm_120a --emit=tensor | FileCheck %s --check-prefix=MARK

// CHECK-NOT: FAIL
// CHECK-COUNT-46: pass
// CHECK-NOT: {{FAIL|pass}}

// MARK-COUNT-12: {blockscale.quantized}
// MARK-NOT: blockscale.quantized

!a = !blockscale.tensor<133x512xf8E4M3FN, "e8m0_t64", layout = tiled_128x4>
!w96 = !blockscale.tensor<96x512xf8E5M2, "e8m0_t32n2m4", layout = tiled_128x4>
!w352 = !blockscale.tensor<352x512xf8E4M3FN, "e8m0_t32n2m4", layout = tiled_128x4>
!q = !blockscale.tensor<133x96xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @e4m3(%x: !a, %w: !w96) -> !q {
  %y = blockscale.matmul %x, %w : !a, !w96 -> tensor<133x96xbf16>
  %0 = blockscale.quantize %y : tensor<133x96xbf16> to !q
  return %0 : !q
}
!a5 = !blockscale.tensor<5x512xf8E4M3FN, "e8m0_t64", layout = tiled_128x4>
!q5 = !blockscale.tensor<5x96xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @few_rows(%x: !a5, %w: !w96) -> !q5 {
  %y = blockscale.matmul %x, %w : !a5, !w96 -> tensor<5x96xbf16>
  %0 = blockscale.quantize %y rule(round_up) : tensor<5x96xbf16> to !q5
  return %0 : !q5
}
!e5m2 = !blockscale.tensor<133x352xf8E5M2, "e8m0_t32", layout = tiled_128x4>
func.func @e5m2_c(%x: !a, %w: !w352, %c: tensor<133x352xbf16>, %bias: tensor<352xf32>) -> !e5m2 {
  %beta = arith.constant 0.5 : f32
  %y = blockscale.matmul %x, %w beta(%beta) c(%c) bias(%bias) : !a, !w352, tensor<133x352xbf16>, tensor<352xf32> -> tensor<133x352xf32>
  %0 = blockscale.quantize %y rule(round_up) : tensor<133x352xf32> to !e5m2
  return %0 : !e5m2
}
!nva = !blockscale.tensor<2x133x512xf4E2M1FN, "multi_float32_e4m3fn_t32", layout = tiled_128x4>
!nvw = !blockscale.tensor<2x208x512xf4E2M1FN, "multi_float32_e4m3fn_t16n4m8", layout = tiled_128x4>
!nvq = !blockscale.tensor<2x133x208xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
func.func @nvfp4_batches(%x: !nva, %w: !nvw, %t: tensor<2xf32>) -> !nvq {
  %y = blockscale.matmul %x, %w : !nva, !nvw -> tensor<2x133x208xbf16>
  %0 = blockscale.quantize %y tensor_scale(%t : tensor<2xf32>) : tensor<2x133x208xbf16> to !nvq
  return %0 : !nvq
}
!nv = !blockscale.tensor<133x96xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @nvfp4_min_error(%x: !a, %w: !w96) -> !nv {
  %y = blockscale.matmul %x, %w activation(silu) : !a, !w96 -> tensor<133x96xf32>
  %0 = blockscale.quantize %y rule(min_error) : tensor<133x96xf32> to !nv
  return %0 : !nv
}
!dw = !blockscale.tensor<?x512xf8E4M3FN, "e8m0_t32n2m4", layout = tiled_128x4>
!dq = !blockscale.tensor<133x?xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @dynamic_n(%x: !a, %w: !dw) -> !dq {
  %y = blockscale.matmul %x, %w : !a, !dw -> tensor<133x?xf32>
  %0 = blockscale.quantize %y : tensor<133x?xf32> to !dq
  return %0 : !dq
}

// Under floats.
!w384 = !blockscale.tensor<384x512xf8E4M3FN, "e8m0_t32n2m4", layout = tiled_128x4>
!f64 = !blockscale.tensor<5x384xf8E5M2, "float32_t64">
func.func @float_of_64(%x: !a5, %w: !w384) -> !f64 {
  %y = blockscale.matmul %x, %w activation(silu) : !a5, !w384 -> tensor<5x384xf32>
  %0 = blockscale.quantize %y rule(min_error) : tensor<5x384xf32> to !f64
  return %0 : !f64
}

// Gate and up.
!w704 = !blockscale.tensor<704x512xf8E4M3FN, "e8m0_t32n2m4", layout = tiled_128x4>
!gated = !blockscale.tensor<133x352xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @gate_up(%x: !a, %w: !w704, %bias: tensor<704xf32>) -> !gated {
  %y = blockscale.matmul %x, %w bias(%bias) pairs epilogue(%g, %gb, %u, %ub) {
    %0 = arith.addf %g, %gb : f32
    %1 = arith.addf %u, %ub : f32
    %zero = arith.constant 0.0 : f32
    %2 = arith.maximumf %0, %zero : f32
    %3 = arith.subf %2, %1 : f32
    blockscale.yield %3
  } : !a, !w704, tensor<704xf32> -> tensor<133x352xbf16>
  %0 = blockscale.quantize %y : tensor<133x352xbf16> to !gated
  return %0 : !gated
}
!nvgated = !blockscale.tensor<133x352xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
func.func @gate_up_nvfp4(%x: !a, %w: !w704, %t: tensor<f32>) -> !nvgated {
  %y = blockscale.matmul %x, %w pairs epilogue(%g, %u) {
    %0 = arith.subf %u, %g : f32
    blockscale.yield %0
  } : !a, !w704 -> tensor<133x352xf32>
  %0 = blockscale.quantize %y tensor_scale(%t : tensor<f32>) : tensor<133x352xf32> to !nvgated
  return %0 : !nvgated
}
func.func @gate_up_alone(%x: !a, %w: !w704) -> tensor<133x352xbf16> {
  %y = blockscale.matmul %x, %w pairs epilogue(%g, %u) {
    %0 = arith.subf %u, %g : f32
    blockscale.yield %0
  } : !a, !w704 -> tensor<133x352xbf16>
  return %y : tensor<133x352xbf16>
}

// Experts.
!ea = !blockscale.tensor<?x384xf8E4M3FN, "e8m0_t64", layout = grouped_128x4>
!ew = !blockscale.tensor<5x288x384xf4E2M1FN, "e8m0_t32n2m4", layout = tiled_128x4>
!eq = !blockscale.tensor<?x288xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
func.func @groups(%x: !ea, %w: !ew, %ends: tensor<5xi32>, %bias: tensor<5x288xf32>) -> !eq {
  %y = blockscale.matmul %x, %w groups(%ends : tensor<5xi32>) bias(%bias) : !ea, !ew, tensor<5x288xf32> -> tensor<?x288xbf16>
  %0 = blockscale.quantize %y groups(%ends : tensor<5xi32>) : tensor<?x288xbf16> to !eq
  return %0 : !eq
}
!ca = !blockscale.tensor<3x140x384xf8E4M3FN, "e8m0_t64", layout = tiled_128x4>
!cw = !blockscale.tensor<3x160x384xf8E4M3FN, "e8m0_t32n2m4", layout = tiled_128x4>
!cq = !blockscale.tensor<3x140x160xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @counts(%x: !ca, %w: !cw, %counts: tensor<3xi32>) -> !cq {
  %y = blockscale.matmul %x, %w groups(%counts : tensor<3xi32>) : !ca, !cw -> tensor<3x140x160xbf16>
  %0 = blockscale.quantize %y : tensor<3x140x160xbf16> to !cq
  return %0 : !cq
}

// Dense operands.
!da = !blockscale.tensor<5x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!db = !blockscale.tensor<352x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!dd = !blockscale.tensor<5x352xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @dense(%x: !da, %w: !db) -> !dd {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<swap_operands = true>) : !da, !db -> tensor<5x352xbf16>
  %0 = blockscale.quantize %y : tensor<5x352xbf16> to !dd
  return %0 : !dd
}
