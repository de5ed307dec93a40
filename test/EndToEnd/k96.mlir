// Instructions of K = 96 with sizes that are known at launch only, in rings of
// two and three stages, batched and swapped; whenever asynchronous operations
// take effect.

// REQUIRES: mlir
// RUN: blockscale verify %s --m=1,130 --n=200 --k=32,96,192,224,256,288,352,416,480,512,544,576,672,704,768,800,1536 --batch=2 --data=exact --num-sms=2 --completion=random | FileCheck %s
// RUN: blockscale verify %s --m=130 --n=200 --k=224,480,736,1536 --batch=2 --data=exact --num-sms=2 --completion=latest | FileCheck %s --check-prefix=LATEST
// RUN: blockscale verify %s --m=130 --n=200 --k=256,512,704,1536 --batch=2 --data=exact --num-sms=2 --completion=immediate | FileCheck %s --check-prefix=LATEST

// CHECK-NOT: FAIL
// CHECK-COUNT-136: pass
// CHECK-NOT: {{FAIL|pass}}
// LATEST-NOT: FAIL
// LATEST-COUNT-16: pass
// LATEST-NOT: {{FAIL|pass}}

// Tiles that share groups of 128 scale rows.
!nvfp4 = !blockscale.tensor<?x?xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
func.func @nvfp4(%a: !nvfp4, %b: !nvfp4) -> tensor<?x?xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 64, mma_k = 96, stages = 3, swap_operands = false>) {blockscale.target = #blockscale.target<sm_103a>} : !nvfp4, !nvfp4 -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

!mxfp4 = !blockscale.tensor<?x?x?xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
func.func @mxf4(%a: !mxfp4, %b: !mxfp4) -> tensor<?x?x?xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 192, mma_k = 96, stages = 2>) {blockscale.target = #blockscale.target<sm_103a>} : !mxfp4, !mxfp4 -> tensor<?x?x?xf32>
  return %0 : tensor<?x?x?xf32>
}

func.func @mxf4nvf4(%a: !mxfp4, %b: !mxfp4) -> tensor<?x?x?xf32> {
  %0 = blockscale.matmul %a, %b mma(<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue8m0, block = 32>) schedule(#blockscale.schedule<tile_n = 128, mma_k = 96, swap_operands = true>) {blockscale.target = #blockscale.target<sm_103a>} : !mxfp4, !mxfp4 -> tensor<?x?x?xf32>
  return %0 : tensor<?x?x?xf32>
}

// Two accumulators of 256 columns overlap.
!t16 = !blockscale.tensor<?x?xf4E2M1FN, "e8m0_t16", layout = tiled_128x4>
func.func @t16(%a: !t16, %b: !t16) -> tensor<?x?xbf16> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 256, mma_k = 96>) {blockscale.target = #blockscale.target<sm_103a>} : !t16, !t16 -> tensor<?x?xbf16>
  return %0 : tensor<?x?xbf16>
}
