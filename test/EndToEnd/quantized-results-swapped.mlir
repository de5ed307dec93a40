// Products with swapped operands whose kernels quantise the result, as those of a sparse
// B are: lanes have columns of D, whose sums are brought to threads that have rows of it.
// All formats of elements and scales, float scales of part of a thread's columns and of
// two threads', pairs of columns; tiles of fewer rows than a warp has lanes, and those
// that end before the scales of 128 rows do; C, biases, batches, groups; sums that are
// promoted. The same with dense operands.

// REQUIRES: mlir
// RUN: blockscale verify %s --num-sms=8 | FileCheck %s
// RUN: blockscale verify %s --num-sms=8 --target=sm_110a --seed=5 --conditions=harsh --completion=latest | FileCheck %s
// RUN: blockscale compile %s --emit=tensor | FileCheck %s --check-prefix=MARK

// CHECK-NOT: FAIL
// CHECK-COUNT-114: pass
// CHECK-NOT: {{FAIL|pass}}

// MARK-COUNT-29: {blockscale.quantized}
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
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<tile_n = 8, cta_group = 1>) : !a5, !w96 -> tensor<5x96xbf16>
  %0 = blockscale.quantize %y rule(round_up) : tensor<5x96xbf16> to !q5
  return %0 : !q5
}
!e5m2 = !blockscale.tensor<133x352xf8E5M2, "e8m0_t32", layout = tiled_128x4>
func.func @e5m2_c(%x: !a, %w: !w352, %c: tensor<133x352xbf16>, %bias: tensor<352xf32>) -> !e5m2 {
  %beta = arith.constant 0.5 : f32
  %y = blockscale.matmul %x, %w beta(%beta) c(%c) bias(%bias) schedule(#blockscale.schedule<tile_n = 64, cta_group = 2>) : !a, !w352, tensor<133x352xbf16>, tensor<352xf32> -> tensor<133x352xf32>
  %0 = blockscale.quantize %y rule(round_up) : tensor<133x352xf32> to !e5m2
  return %0 : !e5m2
}
!e2m3 = !blockscale.tensor<133x352xf6E2M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @e2m3_rows(%x: !a, %w: !w352, %bias: tensor<133xf32>) -> !e2m3 {
  %y = blockscale.matmul %x, %w bias(%bias) row activation(relu) schedule(#blockscale.schedule<tile_n = 192, epilogue_warps = 8>) : !a, !w352, tensor<133xf32> -> tensor<133x352xf16>
  %0 = blockscale.quantize %y rule(ceil) rounding(away) : tensor<133x352xf16> to !e2m3
  return %0 : !e2m3
}
!e3m2 = !blockscale.tensor<133x96xf6E3M2FN, "e8m0_t32", layout = tiled_128x4>
func.func @e3m2_stochastic(%x: !a, %w: !w96) -> !e3m2 {
  %y = blockscale.matmul %x, %w : !a, !w96 -> tensor<133x96xbf16>
  %0 = blockscale.quantize %y rule(mid_max) rounding(stochastic, seed = -7) : tensor<133x96xbf16> to !e3m2
  return %0 : !e3m2
}
!e2m1 = !blockscale.tensor<133x352xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
func.func @e2m1_gelu(%x: !a, %w: !w352) -> !e2m1 {
  %y = blockscale.matmul %x, %w activation(gelu) schedule(#blockscale.schedule<cluster_m = 2, cluster_n = 2, cta_group = 1, tile_n = 64>) : !a, !w352 -> tensor<133x352xbf16>
  %0 = blockscale.quantize %y rule(top_binade) : tensor<133x352xbf16> to !e2m1
  return %0 : !e2m1
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
!ua = !blockscale.tensor<?x256xbf16>
!uw = !blockscale.tensor<160x256xbf16, "n2m4", layout = tiled_128x4>
!uq = !blockscale.tensor<?x160xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @without_scales(%x: !ua, %w: !uw) -> !uq {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<tile_n = 16, cta_group = 1, cluster_n = 2>) : !ua, !uw -> tensor<?x160xf32>
  %0 = blockscale.quantize %y : tensor<?x160xf32> to !uq
  return %0 : !uq
}
!dw = !blockscale.tensor<?x512xf8E4M3FN, "e8m0_t32n2m4", layout = tiled_128x4>
!dq = !blockscale.tensor<133x?xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @dynamic_n(%x: !a, %w: !dw) -> !dq {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<tile_n = 64>) : !a, !dw -> tensor<133x?xf32>
  %0 = blockscale.quantize %y : tensor<133x?xf32> to !dq
  return %0 : !dq
}

// Under floats.
!w384 = !blockscale.tensor<384x512xf8E4M3FN, "e8m0_t32n2m4", layout = tiled_128x4>
!f32 = !blockscale.tensor<133x352xf8E4M3FN, "float32_t32">
!f64 = !blockscale.tensor<5x384xf8E5M2, "float32_t64">
!f128 = !blockscale.tensor<133x384xf8E4M3FN, "float32_t128">
func.func @float_of_32(%x: !a, %w: !w352) -> !f32 {
  %y = blockscale.matmul %x, %w : !a, !w352 -> tensor<133x352xbf16>
  %0 = blockscale.quantize %y rule(min_error) : tensor<133x352xbf16> to !f32
  return %0 : !f32
}
func.func @float_of_64(%x: !a5, %w: !w384) -> !f64 {
  %y = blockscale.matmul %x, %w activation(silu) schedule(#blockscale.schedule<tile_n = 16, cta_group = 1>) : !a5, !w384 -> tensor<5x384xf32>
  %0 = blockscale.quantize %y rule(min_error) : tensor<5x384xf32> to !f64
  return %0 : !f64
}
func.func @float_of_128(%x: !a, %w: !w384, %bias: tensor<384xf32>) -> !f128 {
  %y = blockscale.matmul %x, %w bias(%bias) : !a, !w384, tensor<384xf32> -> tensor<133x384xbf16>
  %0 = blockscale.quantize %y : tensor<133x384xbf16> to !f128
  return %0 : !f128
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
  } schedule(#blockscale.schedule<cta_group = 2, tile_n = 128>) : !a, !w704 -> tensor<133x352xf32>
  %0 = blockscale.quantize %y tensor_scale(%t : tensor<f32>) : tensor<133x352xf32> to !nvgated
  return %0 : !nvgated
}
!fgated = !blockscale.tensor<133x384xf8E4M3FN, "float32_t64">
!w768 = !blockscale.tensor<768x512xf8E4M3FN, "e8m0_t32n2m4", layout = tiled_128x4>
func.func @gate_up_floats(%x: !a, %w: !w768) -> !fgated {
  %y = blockscale.matmul %x, %w pairs epilogue(%g, %u) {
    %0 = arith.subf %u, %g : f32
    blockscale.yield %0
  } : !a, !w768 -> tensor<133x384xf32>
  %0 = blockscale.quantize %y : tensor<133x384xf32> to !fgated
  return %0 : !fgated
}
func.func @gate_up_alone(%x: !a, %w: !w704) -> tensor<133x352xbf16> {
  %y = blockscale.matmul %x, %w pairs epilogue(%g, %u) {
    %0 = arith.subf %u, %g : f32
    blockscale.yield %0
  } schedule(#blockscale.schedule<tile_n = 64, epilogue_warps = 8>) : !a, !w704 -> tensor<133x352xbf16>
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
func.func @groups_of_few(%x: !ea, %w: !ew, %ends: tensor<5xi32>) -> !eq {
  %y = blockscale.matmul %x, %w groups(%ends : tensor<5xi32>) schedule(#blockscale.schedule<tile_n = 64, cta_group = 2>) : !ea, !ew -> tensor<?x288xbf16>
  %0 = blockscale.quantize %y groups(%ends : tensor<5xi32>) : tensor<?x288xbf16> to !eq
  return %0 : !eq
}
!ca = !blockscale.tensor<3x140x384xf8E4M3FN, "e8m0_t64", layout = tiled_128x4>
!cw = !blockscale.tensor<3x160x384xf8E4M3FN, "e8m0_t32n2m4", layout = tiled_128x4>
!cq = !blockscale.tensor<3x140x160xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @counts(%x: !ca, %w: !cw, %counts: tensor<3xi32>) -> !cq {
  %y = blockscale.matmul %x, %w groups(%counts : tensor<3xi32>) schedule(#blockscale.schedule<tile_n = 64>) : !ca, !cw -> tensor<3x140x160xbf16>
  %0 = blockscale.quantize %y : tensor<3x140x160xbf16> to !cq
  return %0 : !cq
}

// Sums that are promoted.
!pa = !blockscale.tensor<133x512xf8E4M3FN, "float32_t128">
!pw = !blockscale.tensor<384x512xf8E4M3FN, "float32_t128_t64n2m4", layout = tiled_128x4>
!pq = !blockscale.tensor<133x384xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @promoted(%x: !pa, %w: !pw) -> !pq {
  %y = blockscale.matmul %x, %w : !pa, !pw -> tensor<133x384xbf16>
  %0 = blockscale.quantize %y : tensor<133x384xbf16> to !pq
  return %0 : !pq
}
!pf = !blockscale.tensor<133x384xf8E4M3FN, "float32_t128">
func.func @promoted_floats(%x: !pa, %w: !pw) -> !pf {
  %y = blockscale.matmul %x, %w : !pa, !pw -> tensor<133x384xbf16>
  %0 = blockscale.quantize %y : tensor<133x384xbf16> to !pf
  return %0 : !pf
}
!pg = !blockscale.tensor<133x192xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @promoted_gate_up(%x: !pa, %w: !pw) -> !pg {
  %y = blockscale.matmul %x, %w pairs epilogue(%g, %u) {
    %0 = arith.subf %u, %g : f32
    blockscale.yield %0
  } : !pa, !pw -> tensor<133x192xbf16>
  %0 = blockscale.quantize %y : tensor<133x192xbf16> to !pg
  return %0 : !pg
}

// Dense operands.
!da = !blockscale.tensor<5x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!db = !blockscale.tensor<352x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!dd = !blockscale.tensor<5x352xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @dense(%x: !da, %w: !db) -> !dd {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<swap_operands = true, tile_n = 8>) : !da, !db -> tensor<5x352xbf16>
  %0 = blockscale.quantize %y : tensor<5x352xbf16> to !dd
  return %0 : !dd
}
!fa = !blockscale.tensor<133x512xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!fb = !blockscale.tensor<352x512xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!fq = !blockscale.tensor<133x352xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @dense_nvfp4(%x: !fa, %w: !fb) -> !fq {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<swap_operands = true, cta_group = 2, tile_n = 256>) : !fa, !fb -> tensor<133x352xbf16>
  %0 = blockscale.quantize %y : tensor<133x352xbf16> to !fq
  return %0 : !fq
}
func.func @dense_halves(%x: !fa, %w: !fb) -> !fq {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<swap_operands = true, tile_n = 256, accumulators = 3>) : !fa, !fb -> tensor<133x352xbf16>
  %0 = blockscale.quantize %y : tensor<133x352xbf16> to !fq
  return %0 : !fq
}
!ra = !blockscale.tensor<133x512xf8E4M3FN, "float32_t128">
!rb = !blockscale.tensor<384x512xf8E4M3FN, "float32_t128_t128">
func.func @dense_promoted(%x: !ra, %w: !rb) -> !pg {
  %y = blockscale.matmul %x, %w pairs epilogue(%g, %u) {
    %0 = arith.subf %u, %g : f32
    blockscale.yield %0
  } schedule(#blockscale.schedule<swap_operands = true>) : !ra, !rb -> tensor<133x192xbf16>
  %0 = blockscale.quantize %y : tensor<133x192xbf16> to !pg
  return %0 : !pg
}

// Sums of integers.
!ia = !blockscale.tensor<133x512xi8>
!ib = !blockscale.tensor<384x512xi8>
!iw = !blockscale.tensor<192x512xui8, "n2m4", layout = tiled_128x4>
!if = !blockscale.tensor<133x192xf8E4M3FN, "float32_t64", layout = plain>
func.func @integers(%x: !ia, %w: !iw) -> !if {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<tile_n = 64, split_k = 2, cluster_k = 2>) : !ia, !iw -> tensor<133x192xbf16>
  %0 = blockscale.quantize %y : tensor<133x192xbf16> to !if
  return %0 : !if
}
func.func @integers_by_parts(%x: !ia, %w: !iw, %bias: tensor<192xf32>) -> !if {
  %y = blockscale.matmul %x, %w bias(%bias) schedule(#blockscale.schedule<tile_n = 64, split_k = 2>) : !ia, !iw, tensor<192xf32> -> tensor<133x192xbf16>
  %0 = blockscale.quantize %y : tensor<133x192xbf16> to !if
  return %0 : !if
}
func.func @dense_integer_pairs(%x: !ia, %w: !ib, %alpha: f32) -> !pg {
  %y = blockscale.matmul %x, %w alpha(%alpha) pairs epilogue(%g, %u) {
    %0 = arith.subf %u, %g : f32
    blockscale.yield %0
  } schedule(#blockscale.schedule<swap_operands = true, epilogue_warps = 8>) : !ia, !ib -> tensor<133x192xbf16>
  %0 = blockscale.quantize %y : tensor<133x192xbf16> to !pg
  return %0 : !pg
}
func.func @dense_integer_pairs_alone(%x: !ia, %w: !ib) -> tensor<133x192xf32> {
  %y = blockscale.matmul %x, %w pairs epilogue(%g, %u) {
    %0 = arith.subf %u, %g : f32
    blockscale.yield %0
  } schedule(#blockscale.schedule<swap_operands = true>) : !ia, !ib -> tensor<133x192xf32>
  return %y : tensor<133x192xf32>
}
