// Scales in a ring of their own: when it is chosen, and what kernels do with it.

// RUN: blockscale-opt %s -blockscale-legalize-scales -blockscale-select-schedule -o %t.scheduled
// RUN: FileCheck %s --input-file=%t.scheduled --check-prefix=CHOICE
// RUN: blockscale-opt %t.scheduled -blockscale-form-kernels -blockscale-expand-kernels -canonicalize -cse | FileCheck %s

!big = !blockscale.tensor<8192x8192xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!rows = !blockscale.tensor<1024x4096xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!columns = !blockscale.tensor<4096x4096xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!decode = !blockscale.tensor<512x5120xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!wide = !blockscale.tensor<10240x5120xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!prefill = !blockscale.tensor<4096x2880xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!narrow = !blockscale.tensor<5120x2880xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!bytes = !blockscale.tensor<8192x8192xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>

module attributes {blockscale.target = #blockscale.target<sm_103a>} {

// Six stages of 32768 bytes and five of 6144 of scales fit beside 1024 bytes, six of
// 38912 do not. With K = 96 five are too few for the latency of the loads.
// CHOICE-LABEL: func.func @chosen
// CHOICE: tile_m = 256, tile_n = 256, tile_k = 256, stages = 6, scale_stages = 5, {{.*}}mma_k = 96
func.func @chosen(%a: !big, %b: !big) -> tensor<8192x8192xbf16> {
  %0 = blockscale.matmul %a, %b : !big, !big -> tensor<8192x8192xbf16>
  return %0 : tensor<8192x8192xbf16>
}

// Two instructions beside each other bring 40 KiB a stage and 8 of scales: five stages fit
// with three of scales, four with theirs.
// CHOICE-LABEL: func.func @two_fewer
// CHOICE: tile_n = 384, tile_k = 256, stages = 5, scale_stages = 3, {{.*}}mma_k = 96
func.func @two_fewer(%a: !decode, %b: !wide) -> tensor<512x10240xbf16> {
  %0 = blockscale.matmul %a, %b : !decode, !wide -> tensor<512x10240xbf16>
  return %0 : tensor<512x10240xbf16>
}

// So in several waves, where what the timeline has more for two rings and for wide tiles
// does not add up.
// CHOICE-LABEL: func.func @two_fewer_in_waves
// CHOICE: tile_n = 384, tile_k = 256, stages = 5, scale_stages = 3, {{.*}}mma_k = 96
func.func @two_fewer_in_waves(%a: !prefill, %b: !narrow) -> tensor<4096x5120xbf16> {
  %0 = blockscale.matmul %a, %b : !prefill, !narrow -> tensor<4096x5120xbf16>
  return %0 : tensor<4096x5120xbf16>
}

// With K = 64 the latency of five stages is as long as the instructions of many tiles.
// A launch with one tile for each pair of CTAs has it in halves, which a sixth stage ends
// four at a time.
// CHOICE-LABEL: func.func @many_tiles
// CHOICE: tile_n = 256, tile_k = 256, stages = 6, scale_stages = 5, accumulators
func.func @many_tiles(%a: !big, %b: !big) -> tensor<8192x8192xbf16> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<mma_k = 64, tile_n = 256>) : !big, !big -> tensor<8192x8192xbf16>
  return %0 : tensor<8192x8192xbf16>
}
// CHOICE-LABEL: func.func @one_tile
// CHOICE: tile_n = 256, tile_k = 256, stages = 6, scale_stages = 5, accumulators = 3
func.func @one_tile(%a: !rows, %b: !columns) -> tensor<1024x4096xbf16> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<mma_k = 64, tile_n = 256>) : !rows, !columns -> tensor<1024x4096xbf16>
  return %0 : tensor<1024x4096xbf16>
}
// Stages of 32768 bytes and 1536 of scales, 8-bit elements with a scale for 32: a seventh does not fit.
// CHOICE-LABEL: func.func @no_room
// CHOICE: tile_n = 256, tile_k = 128, stages = 6, accumulators
func.func @no_room(%a: !bytes, %b: !bytes) -> tensor<8192x8192xbf16> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 256, cta_group = 2>) : !bytes, !bytes -> tensor<8192x8192xbf16>
  return %0 : tensor<8192x8192xbf16>
}

// Who asks for stages that do not all fit with scales gets as many of those as fit,
// who asks for stages of scales as many others.
// CHOICE-LABEL: func.func @more_stages
// CHOICE: stages = 6, scale_stages = 5, accumulators
func.func @more_stages(%a: !big, %b: !big) -> tensor<8192x8192xbf16> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<mma_k = 64, tile_n = 256, cta_group = 2, stages = 6>) : !big, !big -> tensor<8192x8192xbf16>
  return %0 : tensor<8192x8192xbf16>
}
// CHOICE-LABEL: func.func @fewer_scales
// CHOICE: stages = 6, scale_stages = 2, accumulators
func.func @fewer_scales(%a: !big, %b: !big) -> tensor<8192x8192xbf16> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<mma_k = 64, tile_n = 256, cta_group = 2, scale_stages = 2>) : !big, !big -> tensor<8192x8192xbf16>
  return %0 : tensor<8192x8192xbf16>
}

// As many as stages are one ring.
// CHOICE-LABEL: func.func @one_ring
// CHOICE: stages = 4, accumulators
func.func @one_ring(%a: !big, %b: !big) -> tensor<8192x8192xbf16> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<mma_k = 64, tile_n = 256, cta_group = 2, stages = 4, scale_stages = 4>) : !big, !big -> tensor<8192x8192xbf16>
  return %0 : tensor<8192x8192xbf16>
}

}

// CHECK-LABEL: gpu.func @chosen(
// CHECK: %[[A:.*]] = blockscale.shared_alloc : <6x128x256xf4E2M1FN
// CHECK: %[[B:.*]] = blockscale.shared_alloc : <6x128x256xf4E2M1FN
// CHECK: %[[SFA:.*]] = blockscale.shared_alloc : <5x1x4x512xi8
// CHECK: %[[SFB:.*]] = blockscale.shared_alloc : <5x2x4x512xi8
// CHECK: %[[FULL:.*]] = blockscale.barrier_alloc arrivals(1) : <6>
// CHECK: %[[EMPTY:.*]] = blockscale.barrier_alloc arrivals(1) : <6>
// CHECK: %[[COPIED:.*]] = blockscale.barrier_alloc arrivals(1) : <5>

// Scales count on the barrier of A and B, and are loaded behind them: there may be
// no room yet.
// CHECK: %[[LED:.*]] = blockscale.remote_barrier %[[FULL]]
// CHECK: blockscale.warps "producer"
// CHECK: scf.for {{.*}} to %c32_i32 {{.*}} iter_args(%[[S:[a-z0-9]+]] = %{{.*}}, %[[P:[a-z0-9]+]] = %{{.*}}, %[[T:[a-z0-9]+]] = %{{.*}}, %[[Q:[a-z0-9]+]] = %{{.*}}) ->
// CHECK: %[[FLIP:.*]] = arith.xori %[[P]]
// CHECK: blockscale.wait %[[EMPTY]][%[[S]]] parity %[[FLIP]]
// CHECK: blockscale.arrive_expect %[[FULL]][%[[S]]]
// CHECK: blockscale.tma_load {{.*}} to %[[A]] signal %[[LED]] stage %[[S]] :
// CHECK: blockscale.tma_load {{.*}} to %[[B]] signal %[[LED]] stage %[[S]] :
// CHECK: %[[FLIP_SCALES:.*]] = arith.xori %[[Q]]
// CHECK: blockscale.wait %[[COPIED]][%[[T]]] parity %[[FLIP_SCALES]]
// CHECK: blockscale.tma_load {{.*}} to %[[SFA]] signal %[[LED]] stage %[[S]] at %[[T]] :
// CHECK: blockscale.tma_load {{.*}} to %[[SFB]] signal %[[LED]] stage %[[S]] at %[[T]] multicast
// Each ring goes round at its own end.
// CHECK: arith.cmpi eq, %{{.*}}, %c6_i32
// CHECK: arith.cmpi eq, %{{.*}}, %c5_i32

// A CTA that others signal waits for the last arrivals at both.
// CHECK: scf.for
// CHECK: blockscale.wait %[[EMPTY]]
// CHECK: scf.for
// CHECK: blockscale.wait %[[COPIED]]

// A stage of scales is released before the instructions that read its copy.
// CHECK: blockscale.warps "mma"
// CHECK: blockscale.wait %[[FULL]][%[[M:.*]]] parity
// CHECK: blockscale.copy_scales %[[SFA]][%[[C:.*]]] to
// CHECK: blockscale.copy_scales %[[SFB]][%[[C]]] to
// CHECK-NEXT: blockscale.commit %[[COPIED]][%[[C]]] multicast %{{.*}} pair
// CHECK-NEXT: blockscale.mma {{.*}} stage %[[M]] range <part = 0
