// Family targets have no sparse FP4 instruction, but the others.

// RUN: sed s/CHIP/sm_100f/ %s | blockscale-opt -split-input-file -verify-diagnostics -blockscale-attach-target=target=sm_100f -blockscale-legalize-scales | FileCheck %s
// RUN: sed "s/on 'CHIP'/(mma.sync) on 'sm_120f'/" %s | blockscale-opt -split-input-file -verify-diagnostics -blockscale-attach-target=target=sm_120f -blockscale-legalize-scales | FileCheck %s

!fp4_a = !blockscale.tensor<128x256xf4E2M1FN, "e4m3fn_t16n4m8", layout = tiled_128x4>
!fp4_b = !blockscale.tensor<128x256xf4E2M1FN, "e4m3fn_t32", layout = tiled_128x4>
func.func @fp4(%a: !fp4_a, %b: !fp4_b) -> tensor<128x128xf32> {
  // expected-error @below {{a sparse A is not legal for 'mxf4nvf4' on 'CHIP': expected dense; it exists on sm_100a, sm_103a, sm_110a, sm_120a, sm_121a only}}
  %0 = blockscale.matmul %a, %b : !fp4_a, !fp4_b -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// -----

// CHECK-LABEL: func.func @fp8(
// CHECK: mma(<kind = mxf8f6f4, a = e4m3, b = e5m2, scale = ue8m0, block = 32, sparse = true>)
!fp8_a = !blockscale.tensor<128x256xf8E4M3FN, "e8m0_t32n2m4", layout = tiled_128x4>
!fp8_b = !blockscale.tensor<128x256xf8E5M2, "e8m0_t64", layout = tiled_128x4>
func.func @fp8(%a: !fp8_a, %b: !fp8_b) -> tensor<128x128xf32> {
  %0 = blockscale.matmul %a, %b : !fp8_a, !fp8_b -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}
