// When the schedule shares out tiles by itself: where the model promises 5 % less time,
// as the last wave of a product of static sizes is filled so.

// RUN: blockscale-opt %s -blockscale-legalize-scales -blockscale-select-schedule | FileCheck %s

// 448 tiles of 256 x 256 for 74 pairs: 78 of them are shared out, five rounds follow.
!a = !blockscale.tensor<4096x4096xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!b = !blockscale.tensor<7168x4096xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
// CHECK-LABEL: func.func @prefill
func.func @prefill(%a: !a, %b: !b) -> tensor<4096x7168xbf16> {
  // CHECK: schedule(#blockscale.schedule<tile_m = 256, tile_n = 256, {{.*}}cta_group = 2, cluster_m = 2, cluster_n = 1, {{.*}}stream_k = 74{{[,>]}}
  %0 = blockscale.matmul %a, %b : !a, !b -> tensor<4096x7168xbf16>
  return %0 : tensor<4096x7168xbf16>
}

// Who wants whole tiles says so, or that all of K belongs to one CTA.
// CHECK-LABEL: func.func @whole
func.func @whole(%a: !a, %b: !b) -> tensor<4096x7168xbf16> {
  // CHECK: stream_k = 1{{[,>]}}
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<stream_k = 1>) : !a, !b -> tensor<4096x7168xbf16>
  return %0 : tensor<4096x7168xbf16>
}

// CHECK-LABEL: func.func @one_part
func.func @one_part(%a: !a, %b: !b) -> tensor<4096x7168xbf16> {
  // CHECK-NOT: stream_k
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<split_k = 1>) : !a, !b -> tensor<4096x7168xbf16>
  return %0 : tensor<4096x7168xbf16>
}

// What else the user asks for does not go with it.
// CHECK-LABEL: func.func @eight_warps
func.func @eight_warps(%a: !a, %b: !b) -> tensor<4096x7168xbf16> {
  // CHECK-NOT: stream_k
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<epilogue_warps = 8>) : !a, !b -> tensor<4096x7168xbf16>
  return %0 : tensor<4096x7168xbf16>
}

// The shares follow from the sizes.
!rows = !blockscale.tensor<?x4096xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
// CHECK-LABEL: func.func @rows
func.func @rows(%a: !rows, %b: !b) -> tensor<?x7168xbf16> {
  // CHECK-NOT: stream_k
  %0 = blockscale.matmul %a, %b : !rows, !b -> tensor<?x7168xbf16>
  return %0 : tensor<?x7168xbf16>
}

// Eight whole waves.
!even = !blockscale.tensor<18944x4096xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!square = !blockscale.tensor<2048x4096xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
// CHECK-LABEL: func.func @even
func.func @even(%a: !even, %b: !square) -> tensor<18944x2048xbf16> {
  // CHECK-NOT: stream_k
  %0 = blockscale.matmul %a, %b : !even, !square -> tensor<18944x2048xbf16>
  return %0 : tensor<18944x2048xbf16>
}
