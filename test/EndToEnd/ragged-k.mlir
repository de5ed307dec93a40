// A K that only the host knows may end inside of a block of scales: what is
// missing of the block counts as zeros. Chips with tensor memory, K = 96, chips
// without; 8, 6 and 4 bits, packed and padded.

// REQUIRES: mlir
// RUN: blockscale verify %s --target=sm_100a -m 40 -k 8,40,100,333 --num-sms=2 \
// RUN: | FileCheck %s --implicit-check-not=FAIL
// RUN: blockscale verify %s --target=sm_103a -m 40 -k 24,72,783,1529 \
// RUN:   --num-sms=2 | FileCheck %s --implicit-check-not=FAIL
// RUN: blockscale verify %s --target=sm_120a -m 40 -k 8,40,100,333 --num-sms=2 \
// RUN: | FileCheck %s --implicit-check-not=FAIL
// CHECK-COUNT-40: pass

!e4m3 = !blockscale.tensor<?x?xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!e5m2 = !blockscale.tensor<24x?xf8E5M2, "e8m0_t32", layout = tiled_128x4>
!e3m2 = !blockscale.tensor<?x?xf6E3M2FN, "e8m0_t32", layout = tiled_128x4>
!e2m1 = !blockscale.tensor<24x?xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
!mxf4 = !blockscale.tensor<?x?xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
!nvf4a = !blockscale.tensor<?x?xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!nvf4 = !blockscale.tensor<24x?xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>

func.func @mxf8(%a: !e4m3, %b: !e5m2) -> tensor<?x24xf32> {
  %d = blockscale.matmul %a, %b : !e4m3, !e5m2 -> tensor<?x24xf32>
  return %d : tensor<?x24xf32>
}
func.func @padded(%a: !e3m2, %b: !e2m1) -> tensor<?x24xf32> {
  %d = blockscale.matmul %a, %b : !e3m2, !e2m1 -> tensor<?x24xf32>
  return %d : tensor<?x24xf32>
}
func.func @padded_a(%a: !mxf4, %b: !e5m2) -> tensor<?x24xf32> {
  %d = blockscale.matmul %a, %b : !mxf4, !e5m2 -> tensor<?x24xf32>
  return %d : tensor<?x24xf32>
}
func.func @mxf4(%a: !mxf4, %b: !e2m1) -> tensor<?x24xf32> {
  %d = blockscale.matmul %a, %b : !mxf4, !e2m1 -> tensor<?x24xf32>
  return %d : tensor<?x24xf32>
}
func.func @nvf4(%a: !nvf4a, %b: !nvf4) -> tensor<?x24xf32> {
  %d = blockscale.matmul %a, %b : !nvf4a, !nvf4 -> tensor<?x24xf32>
  return %d : tensor<?x24xf32>
}
