// Scales of A with one row to a lane, which types with tiles of 128 rows by 16 scales
// ask for: one CTA, pairs, clusters, two instructions that share B, the narrow
// instruction, both new scale types; ends of K in each place of a K tile. Whenever
// asynchronous operations take effect.

// REQUIRES: mlir
// RUN: blockscale verify %s --target=sm_107a --m=1,300 --n=200 --k=32,96,480,1056 --data=exact --num-sms=16 --completion=latest | FileCheck %s
// RUN: blockscale verify %s --target=sm_107a --m=130 --n=330 --k=224,544 --num-sms=16 --completion=random | FileCheck %s --check-prefix=RANDOM

// CHECK-NOT: FAIL
// CHECK-COUNT-48: pass
// CHECK-NOT: {{FAIL|pass}}
// RANDOM-NOT: FAIL
// RANDOM-COUNT-24: pass
// RANDOM-NOT: {{FAIL|pass}}

!a = !blockscale.tensor<?x?xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x16>
!b = !blockscale.tensor<?x?xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
func.func @shared_groups(%a: !a, %b: !b) -> tensor<?x?xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 1, tile_n = 64>) : !a, !b -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

func.func @pair(%a: !a, %b: !b) -> tensor<?x?xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 2, tile_n = 192, mma_k = 128>) : !a, !b -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

func.func @share_b(%a: !a, %b: !b) -> tensor<?x?xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 2, tile_m = 512, tile_n = 256>) : !a, !b -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

func.func @narrow(%a: !a, %b: !b) -> tensor<?x?xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 1, tile_n = 128, mma_k = 64>) : !a, !b -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

!ue5m3_a = !blockscale.tensor<?x?xf4E2M1FN, "e5m3fn_t16", layout = tiled_128x16>
!ue5m3_b = !blockscale.tensor<?x?xf4E2M1FN, "e5m3fn_t16", layout = tiled_128x4>
func.func @cluster(%a: !ue5m3_a, %b: !ue5m3_b) -> tensor<?x?xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 2, cluster_m = 4, cluster_n = 2, tile_n = 64>) : !ue5m3_a, !ue5m3_b -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

!batched_a = !blockscale.tensor<?x?x?xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x16>
!batched_b = !blockscale.tensor<?x?x?xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @batched(%a: !batched_a, %b: !batched_b) -> tensor<?x?x?xf32> {
  %0 = blockscale.matmul %a, %b : !batched_a, !batched_b -> tensor<?x?x?xf32>
  return %0 : tensor<?x?x?xf32>
}
