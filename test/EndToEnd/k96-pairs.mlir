// Instructions of K = 96 that pairs of CTAs execute together: the ends of K that
// are static, and sizes that are known at launch only; in larger clusters too.

// REQUIRES: mlir
// RUN: blockscale verify %s --m=1,300 --n=200 --k=96,224,480,512,704,736,1536 --data=exact --num-sms=4 --completion=random | FileCheck %s
// RUN: blockscale verify %s --m=300 --n=520 --k=256,1056 --data=exact --num-sms=8 --completion=latest | FileCheck %s --check-prefix=LATEST
// RUN: %python %S/Inputs/k96.py e4m3fn_t16 16 192 48 1568 80 2 > %t.static.mlir
// RUN: blockscale verify %t.static.mlir --num-sms=2 --data=exact | FileCheck %s --check-prefix=STATIC

// CHECK-NOT: FAIL
// CHECK-COUNT-42: pass
// CHECK-NOT: {{FAIL|pass}}
// LATEST-NOT: FAIL
// LATEST-COUNT-6: pass
// LATEST-NOT: {{FAIL|pass}}
// STATIC-NOT: FAIL
// STATIC-COUNT-20: pass
// STATIC-NOT: {{FAIL|pass}}

!nvfp4 = !blockscale.tensor<?x?xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
func.func @nvfp4(%a: !nvfp4, %b: !nvfp4) -> tensor<?x?xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 256, cta_group = 2, mma_k = 96>) {blockscale.target = #blockscale.target<sm_103a>} : !nvfp4, !nvfp4 -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

!mxfp4 = !blockscale.tensor<?x?xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
func.func @mxfp4(%a: !mxfp4, %b: !mxfp4) -> tensor<?x?xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 64, stages = 3, swap_operands = false, cta_group = 2, mma_k = 96>) {blockscale.target = #blockscale.target<sm_103a>} : !mxfp4, !mxfp4 -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

func.func @cluster(%a: !mxfp4, %b: !mxfp4) -> tensor<?x?xbf16> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 128, swap_operands = false, cta_group = 2, cluster_m = 2, cluster_n = 2, mma_k = 96>) {blockscale.target = #blockscale.target<sm_103a>} : !mxfp4, !mxfp4 -> tensor<?x?xbf16>
  return %0 : tensor<?x?xbf16>
}
