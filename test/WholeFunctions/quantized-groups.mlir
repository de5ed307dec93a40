// Functions whose products of groups of rows quantise their results for the next such
// product, on the emulator against everything on the CPU by linalg, where the scales of
// each group move to where a multiple of 128 rows starts. Operands of the first product
// are the host's.

// REQUIRES: mlir
// RUN: blockscale verify --quantize-on-device %s | FileCheck %s
// RUN: blockscale verify %s | FileCheck %s
// RUN: blockscale compile --emit=host-linalg --quantize-on-device %s | FileCheck %s --check-prefix=LAUNCHES
// RUN: blockscale compile --emit=host-linalg %s | FileCheck %s --check-prefix=HOST

// CHECK-NOT: FAIL
// CHECK-LABEL: function
// CHECK-DAG: experts{{ +exact .*}}pass
// CHECK-DAG: experts{{ +random .*}}pass
// CHECK-DAG: two_levels{{ +exact .*}}pass
// CHECK-DAG: two_levels{{ +random .*}}pass
// CHECK-NOT: FAIL

// HOST-NOT: d_scales

!x = !blockscale.tensor<293x128xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
!u = !blockscale.tensor<4x384x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!h = !blockscale.tensor<293x192xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
!v = !blockscale.tensor<4x40x192xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>

// LAUNCHES-LABEL: func.func @experts
// LAUNCHES: launch_into {{.*}} ["a_data", "a_scales", "b_data", "b_scales", "bias", "offsets"]
// LAUNCHES-SAME: -> tensor<293x192xf8E4M3FN>, tensor<6x2x32x16xf8E8M0FNU>
// LAUNCHES: launch_into {{.*}} ["a_data", "a_scales", "b_data", "b_scales", "offsets"]
func.func @experts(%x: tensor<293x128xbf16>, %u: !u, %v: !v, %bias: tensor<4x384xf32>) -> tensor<293x40xf32> {
  %ends = arith.constant dense<[130, 130, 131, 293]> : tensor<4xi32>
  %q = blockscale.quantize %x groups(%ends : tensor<4xi32>) : tensor<293x128xbf16> to !x
  %h = blockscale.matmul %q, %u groups(%ends : tensor<4xi32>) bias(%bias) pairs epilogue(%g, %up, %gb, %ub) {
    %zero = arith.constant 0.0 : f32
    %1 = arith.addf %g, %gb : f32
    %2 = arith.maximumf %1, %zero : f32
    %3 = arith.addf %up, %ub : f32
    %4 = arith.addf %2, %3 : f32
    blockscale.yield %4
  } : !x, !u, tensor<4x384xf32> -> tensor<293x192xbf16>
  %p = blockscale.quantize %h groups(%ends : tensor<4xi32>) rule(round_up) : tensor<293x192xbf16> to !h
  %d = blockscale.matmul %p, %v groups(%ends : tensor<4xi32>) : !h, !v -> tensor<293x40xf32>
  return %d : tensor<293x40xf32>
}

!n = !blockscale.tensor<293x128xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = grouped_128x4>
!m = !blockscale.tensor<4x96x128xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!k = !blockscale.tensor<293x96xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = grouped_128x4>
!l = !blockscale.tensor<4x24x96xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>

// LAUNCHES-LABEL: func.func @two_levels
// LAUNCHES: launch_into {{.*}} "offsets", "tensor_scale"]
// LAUNCHES-SAME: tensor<f32>
// LAUNCHES: launch_into {{.*}} "a_tensor_scale"
func.func @two_levels(%x: tensor<293x128xf32>, %b: !m, %t: tensor<f32>, %c: !l) -> tensor<293x24xf32> {
  %ends = arith.constant dense<[1, 129, 257, 293]> : tensor<4xi32>
  %a = blockscale.quantize %x groups(%ends : tensor<4xi32>) : tensor<293x128xf32> to !n
  %h = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) : !n, !m -> tensor<293x96xf32>
  %p = blockscale.quantize %h groups(%ends : tensor<4xi32>) tensor_scale(%t : tensor<f32>) : tensor<293x96xf32> to !k
  %d = blockscale.matmul %p, %c groups(%ends : tensor<4xi32>) : !k, !l -> tensor<293x24xf32>
  return %d : tensor<293x24xf32>
}
