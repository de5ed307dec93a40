// One kernel and one launch of a product and what quantises its result.

// RUN: blockscale-opt %s --blockscale-attach-target=target=sm_100a --blockscale-legalize-scales --blockscale-fuse-quantization --blockscale-select-schedule --blockscale-form-kernels > %t
// RUN: FileCheck %s < %t
// RUN: blockscale-opt %t | diff - %t
// RUN: blockscale-opt %t --pass-pipeline='builtin.module(gpu.module(blockscale-expand-kernels))' | FileCheck %s --check-prefix=EXPANDED
// RUN: blockscale-opt %s --blockscale-attach-target=target=sm_100a --blockscale-legalize-scales --blockscale-fuse-quantization --blockscale-select-schedule --blockscale-form-kernels=quantize=false | FileCheck %s --check-prefix=APART

!a = !blockscale.tensor<2x?x256xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!b = !blockscale.tensor<2x96x256xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!q = !blockscale.tensor<2x?x96xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>

// CHECK-LABEL: func.func @f
// CHECK-SAME: (%[[A:.*]]: !blockscale.tensor<2x?x256{{.*}}>, %[[B:.*]]: !blockscale.tensor<2x96x256{{.*}}>, %[[T:.*]]: tensor<2xf32>, %[[BIAS:.*]]: tensor<96xf32>)
// CHECK-NEXT: %[[Q:.*]] = blockscale.launch @kernels::@f(%[[A]], %[[B]], %[[BIAS]], %[[T]]) : {{.*}} -> !blockscale.tensor<2x?x96xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
// CHECK-NEXT: return %[[Q]]
// CHECK: gpu.func @f(
// CHECK-SAME: !blockscale.global<i8> {blockscale.parameter = #blockscale.parameter<d_data>}
// CHECK-SAME: !blockscale.global<i8> {blockscale.parameter = #blockscale.parameter<d_scales>}
// CHECK-SAME: !blockscale.global<f32> {blockscale.parameter = #blockscale.parameter<tensor_scale>}
// CHECK-SAME: !blockscale.global<f32> {blockscale.parameter = #blockscale.parameter<d_tensor_scale>}
// CHECK-SAME: blockscale.quantization = #blockscale.quantization<source = "f", x = bf16
// CHECK: blockscale.kernel_matmul {{.*}} d_scales(%{{.*}}) d_factor(%{{.*}}, %{{.*}}) {{.*}} quantization<source = "f", x = bf16

// EXPANDED: blockscale.warps "epilogue"
// Two blocks that a thread has together, whose scales one instruction rounds and one
// access stores.
// EXPANDED: blockscale.load_accumulator {{.*}} -> vector<32xf32>
// EXPANDED-COUNT-16: arith.truncf {{.*}} : vector<2xf32> to vector<2xbf16>
// EXPANDED-COUNT-2: blockscale.largest_magnitude
// EXPANDED: blockscale.encode_pair {{.*}} as f8E4M3FN
// EXPANDED: blockscale.decode_pair {{.*}} as f8E4M3FN
// EXPANDED-COUNT-4: blockscale.encode_word {{.*}} as f4E2M1FN
// EXPANDED-COUNT-2: blockscale.store_row {{.*}} : vector<8xi8> to <i8>
// EXPANDED: blockscale.store_row {{.*}} : vector<2xi8> to <i8>
// EXPANDED-NOT: blockscale.store_row {{.*}} : vector<16xbf16>

// APART: blockscale.launch @kernels::@f({{.*}} -> tensor<2x?x96xbf16>
// APART: blockscale.quantize
func.func @f(%a: !a, %b: !b, %t: tensor<2xf32>, %bias: tensor<96xf32>) -> !q {
  %0 = blockscale.matmul %a, %b bias(%bias) schedule(#blockscale.schedule<epilogue_warps = 8>) : !a, !b, tensor<96xf32> -> tensor<2x?x96xbf16>
  %1 = blockscale.quantize %0 tensor_scale(%t : tensor<2xf32>) : tensor<2x?x96xbf16> to !q
  return %1 : !q
}
