// Repeated scales with sizes of the launch, and without tensor memory: a K that
// ends inside of a long tile, few rows.

// REQUIRES: mlir
// RUN: blockscale verify %s --m=1,37 --n=200 --k=96 --num-sms=5 | FileCheck %s
// RUN: blockscale verify %s --m=1,37 --n=200 --k=96 --num-sms=5 --target=sm_120a | FileCheck %s

// CHECK-NOT: FAIL
// CHECK-COUNT-12: pass
// CHECK-NOT: {{FAIL|pass}}

!long_tiles_a = !blockscale.tensor<?x?xf8E4M3FN, "e8m0_t64", layout = tiled_128x4>
!long_tiles_b = !blockscale.tensor<?x?xf6E2M3FN, "e8m0_t256_t128", layout = tiled_128x4>
func.func @long_tiles(%a: !long_tiles_a, %b: !long_tiles_b) -> tensor<?x?xf32> {
  %0 = blockscale.matmul %a, %b : !long_tiles_a, !long_tiles_b -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

!squares_a = !blockscale.tensor<37x256xf8E5M2, "e8m0_t32_t32", layout = tiled_128x4>
!squares_b = !blockscale.tensor<72x256xf4E2M1FN, "e8m0_t0_t64", layout = tiled_128x4>
func.func @squares(%a: !squares_a, %b: !squares_b) -> tensor<37x72xbf16> {
  %0 = blockscale.matmul %a, %b : !squares_a, !squares_b -> tensor<37x72xbf16>
  return %0 : tensor<37x72xbf16>
}

!nvfp4_a = !blockscale.tensor<?x256xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!nvfp4_b = !blockscale.tensor<72x256xf4E2M1FN, "multi_float32_e4m3fn_t16_t16", layout = tiled_128x4>
func.func @nvfp4(%a: !nvfp4_a, %b: !nvfp4_b) -> tensor<?x72xf32> {
  %0 = blockscale.matmul %a, %b : !nvfp4_a, !nvfp4_b -> tensor<?x72xf32>
  return %0 : tensor<?x72xf32>
}

!sparse_a = !blockscale.tensor<70x256xf8E4M3FN, "e8m0_t32n2m4", layout = tiled_128x4>
!sparse_b = !blockscale.tensor<40x256xf8E4M3FN, "e8m0_t16_t128", layout = tiled_128x4>
func.func @sparse(%a: !sparse_a, %b: !sparse_b) -> tensor<70x40xf32> {
  %0 = blockscale.matmul %a, %b : !sparse_a, !sparse_b -> tensor<70x40xf32>
  return %0 : tensor<70x40xf32>
}
