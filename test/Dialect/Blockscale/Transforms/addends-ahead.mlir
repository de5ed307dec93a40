// C is on its way while a thread waits for something else: that of the first chunk of
// an accumulator before the sums are there, and that of the next one while what became
// of a chunk is stored.

// RUN: blockscale-opt %s -blockscale-legalize-scales -blockscale-fuse-quantization -blockscale-select-schedule -blockscale-form-kernels -blockscale-expand-kernels -canonicalize -cse | FileCheck %s

!a = !blockscale.tensor<256x512xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!b = !blockscale.tensor<512x512xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>

// The chunk behind is not loaded before C of this one is needed no more, whose registers
// it gets, and behind the last chunk nothing is.
// CHECK-LABEL: gpu.func @chunks
// CHECK-SAME: %[[C:[a-z0-9]+]]: !blockscale.global<bf16> {blockscale.parameter = #blockscale.parameter<c>}
// CHECK: blockscale.warps "epilogue"
// CHECK: %[[FIRST:.*]] = blockscale.load_row %[[C]]{{.*}} -> vector<32xbf16>
// CHECK: blockscale.wait
// CHECK: scf.for %[[CHUNK:[a-z0-9]+]] = %c0_i32 to %c4_i32 {{.*}} iter_args(%[[OWN:.*]] = %[[FIRST]])
// CHECK: %[[NEXT:.*]] = arith.addi %[[CHUNK]], %c1_i32
// CHECK: %[[MORE:.*]] = arith.cmpi slt, %[[NEXT]], %c4_i32
// CHECK: blockscale.load_accumulator
// CHECK: arith.extf %[[OWN]]
// CHECK: blockscale.finish_fragments
// CHECK: %[[LOADED:.*]] = scf.if %[[MORE]]
// CHECK: %[[BEHIND:.*]] = blockscale.load_row %[[C]]
// CHECK: scf.yield %[[BEHIND]]
// CHECK: scf.yield %[[OWN]]
// CHECK: blockscale.store_row
// CHECK: scf.yield %[[LOADED]]
func.func @chunks(%a: !a, %b: !b, %c: tensor<256x512xbf16>) -> tensor<256x512xbf16> {
  %0 = blockscale.matmul %a, %b c(%c) schedule(#blockscale.schedule<stages = 2, tile_n = 128, swap_operands = false, cta_group = 1, cluster_m = 1, cluster_n = 1, epilogue_warps = 4>) : !a, !b, tensor<256x512xbf16> -> tensor<256x512xbf16>
  return %0 : tensor<256x512xbf16>
}

// Two warps have all of a half at once, and C of it before: nothing is loaded between
// its pieces, through whose loop C moves up as they do.
// CHECK-LABEL: gpu.func @halves
// CHECK-SAME: %[[C:[a-z0-9]+]]: !blockscale.global<f32> {blockscale.parameter = #blockscale.parameter<c>}
// CHECK: blockscale.warps "epilogue"
// CHECK: %[[ALL:.*]] = blockscale.load_row %[[C]]{{.*}} -> vector<64xf32>
// CHECK: blockscale.wait
// CHECK: blockscale.load_accumulator {{.*}} -> vector<64xf32>
// CHECK: %[[LEFT:.*]] = vector.shuffle %[[ALL]]
// CHECK: %[[RIGHT:.*]] = vector.shuffle %[[ALL]]
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[MOVING:.*]] = %[[LEFT]])
// CHECK: arith.addf %{{.*}}, %[[MOVING]]
// CHECK-NOT: blockscale.load_row
// CHECK: scf.yield %{{.*}}, %[[RIGHT]]
func.func @halves(%a: !a, %b: !b, %c: tensor<256x512xf32>) -> tensor<256x512xbf16> {
  %0 = blockscale.matmul %a, %b c(%c) schedule(#blockscale.schedule<stages = 3, tile_n = 256, accumulators = 3, swap_operands = false, cta_group = 2, cluster_m = 2, cluster_n = 1>) : !a, !b, tensor<256x512xf32> -> tensor<256x512xbf16>
  return %0 : tensor<256x512xbf16>
}

// Where the CTAs of a cluster have parts of K, those load C that have columns to store.
// CHECK-LABEL: gpu.func @owners
// CHECK-SAME: %[[C:[a-z0-9]+]]: !blockscale.global<bf16> {blockscale.parameter = #blockscale.parameter<c>}
// CHECK: %[[OWNS:.*]] = arith.cmpi ult, %{{.*}}, %c2_i32
// CHECK: scf.if %[[OWNS]]
// CHECK: blockscale.load_row %[[C]]
// CHECK: blockscale.wait
// CHECK: blockscale.send_sums
!long = !blockscale.tensor<256x1024xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!few = !blockscale.tensor<16x1024xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @owners(%a: !long, %b: !few, %c: tensor<256x16xbf16>) -> tensor<256x16xbf16> {
  %0 = blockscale.matmul %a, %b c(%c) schedule(#blockscale.schedule<stages = 2, tile_n = 16, swap_operands = false, cta_group = 1, cluster_m = 1, cluster_n = 1, split_k = 4, cluster_k = 4>) : !long, !few, tensor<256x16xbf16> -> tensor<256x16xbf16>
  return %0 : tensor<256x16xbf16>
}

// Threads that quantise have no registers for it, and load C when they have the sums.
// CHECK-LABEL: gpu.func @quantised
// CHECK-SAME: %[[C:[a-z0-9]+]]: !blockscale.global<bf16> {blockscale.parameter = #blockscale.parameter<c>}
// CHECK: blockscale.warps "epilogue"
// CHECK: blockscale.load_accumulator
// CHECK: blockscale.load_row %[[C]]
!q = !blockscale.tensor<256x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @quantised(%a: !a, %b: !b, %c: tensor<256x512xbf16>) -> !q {
  %0 = blockscale.matmul %a, %b c(%c) : !a, !b, tensor<256x512xbf16> -> tensor<256x512xbf16>
  %1 = blockscale.quantize %0 : tensor<256x512xbf16> to !q
  return %1 : !q
}
