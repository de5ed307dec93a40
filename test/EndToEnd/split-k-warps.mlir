// Parts of K on chips without tensor memory: warps keep the sums of their part in the
// workspace, and the CTA that comes last adds those of all parts up in the order of K, so
// that the bits are the same whoever that is.

// REQUIRES: mlir
// RUN: blockscale verify %s --target=sm_120a --data=exact --num-sms=5 --m=1,200 --k=96,480,1312 | FileCheck %s
// RUN: blockscale verify %s --target=sm_120a --num-sms=170 --m=130 --k=352 --conditions=plain --completion=random | FileCheck %s --check-prefix=RANDOM

// CHECK-NOT: FAIL
// CHECK-COUNT-16: pass
// CHECK-NOT: {{FAIL|pass}}

// RANDOM-NOT: FAIL
// RANDOM-COUNT-12: pass
// RANDOM-NOT: {{FAIL|pass}}

// The last part has a stage that K does not fill.
!nvfp4_a = !blockscale.tensor<?x1632xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!nvfp4_b = !blockscale.tensor<208x1632xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
func.func @nvfp4(%a: !nvfp4_a, %b: !nvfp4_b) -> tensor<?x208xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = false, tile_n = 128, split_k = 3>) : !nvfp4_a, !nvfp4_b -> tensor<?x208xf32>
  return %0 : tensor<?x208xf32>
}

// As many parts as stages.
!mxfp8_a = !blockscale.tensor<?x640xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!mxfp8_b = !blockscale.tensor<208x640xf8E5M2, "e8m0_t32", layout = tiled_128x4>
func.func @mxfp8(%a: !mxfp8_a, %b: !mxfp8_b) -> tensor<?x208xbf16> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = true, tile_n = 16, split_k = 5>) : !mxfp8_a, !mxfp8_b -> tensor<?x208xbf16>
  return %0 : tensor<?x208xbf16>
}

!sparse_a = !blockscale.tensor<?x1536xf8E4M3FN, "e8m0_t32n2m4", layout = tiled_128x4>
!dense_b = !blockscale.tensor<208x1536xf8E5M2, "e8m0_t64", layout = tiled_128x4>
func.func @sparse(%a: !sparse_a, %b: !dense_b) -> tensor<?x208xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 64, split_k = 2>) : !sparse_a, !dense_b -> tensor<?x208xf32>
  return %0 : tensor<?x208xf32>
}

// Sums of integers, with all that an epilogue adds.
!int_a = !blockscale.tensor<?x1100xi8>
!int_b = !blockscale.tensor<208x1100xi8>
func.func @integers(%a: !int_a, %b: !int_b, %alpha: f32, %c: tensor<?x208xbf16>, %beta: f32, %bias: tensor<208xf32>) -> tensor<?x208xbf16> {
  %0 = blockscale.matmul %a, %b alpha(%alpha) beta(%beta) c(%c) bias(%bias) activation(relu) schedule(#blockscale.schedule<split_k = 4>) : !int_a, !int_b, tensor<?x208xbf16>, tensor<208xf32> -> tensor<?x208xbf16>
  return %0 : tensor<?x208xbf16>
}

// K is known late: some parts have no stages, one ends inside of one.
!late_a = !blockscale.tensor<?x?xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!late_b = !blockscale.tensor<208x?xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @late(%a: !late_a, %b: !late_b) -> tensor<?x208xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = false, tile_n = 64, split_k = 4>) : !late_a, !late_b -> tensor<?x208xf32>
  return %0 : tensor<?x208xf32>
}

// Sums that have been multiplied by scales of tiles along K.
!promoted_a = !blockscale.tensor<?x640xf8E4M3FN, "float32_t128">
!promoted_b = !blockscale.tensor<208x640xf8E4M3FN, "float32_t128_t128">
func.func @promoted(%a: !promoted_a, %b: !promoted_b) -> tensor<?x208xbf16> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<split_k = 3>) : !promoted_a, !promoted_b -> tensor<?x208xbf16>
  return %0 : tensor<?x208xbf16>
}
