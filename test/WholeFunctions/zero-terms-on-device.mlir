// Products with zero points in real units whose other operand a kernel makes: another one
// adds it up, and neither comes to the host. What the host has, it adds up itself.

// REQUIRES: mlir
// RUN: blockscale verify --quantize-on-device %s --m=40 --num-sms=8 | FileCheck %s
// RUN: blockscale compile --emit=host-linalg --quantize-on-device %s | FileCheck %s --check-prefix=LAUNCHES
// RUN: blockscale compile --emit=host-llvm --quantize-on-device %s | FileCheck %s --check-prefix=CALLS
// RUN: blockscale compile --emit=host-linalg %s | FileCheck %s --check-prefix=HOST

// CHECK-NOT: FAIL
// CHECK-LABEL: function
// CHECK-DAG: tiles {{.*}}pass
// CHECK-DAG: layers {{.*}}pass
// CHECK-DAG: swapped {{.*}}pass
// CHECK-DAG: recoded {{.*}}pass
// CHECK-NOT: FAIL

// LAUNCHES-LABEL: func.func @tiles
// LAUNCHES: %[[A:.*]]:2 = blockscale.launch_into {{.*}} ["x"]
// LAUNCHES: %[[SUMS:.*]] = blockscale.launch_into {{.*}} ["a_data", "a_scales"] ins(%[[A]]#0, %[[A]]#1 : {{.*}}) outs({{.*}} : tensor<3x?xf32>)
// LAUNCHES: launch_into {{.*}} ["a_data", "a_scales", "b_data", "b_scales", "b_zeros", "a_terms"] ins(%[[A]]#0, %[[A]]#1, {{.*}}, %[[SUMS]] :
// LAUNCHES-LABEL: func.func @layers
// LAUNCHES: %[[D:.*]] = blockscale.launch_into {{.*}} ["a_data", "a_scales", "b_data", "b_scales", "b_zeros", "alpha", "a_terms"]
// LAUNCHES: %[[SECOND:.*]] = blockscale.launch_into {{.*}} ["a_data"] ins(%[[D]] : {{.*}}) outs({{.*}} : tensor<1x?xf32>)
// LAUNCHES: launch_into {{.*}} ["a_data", "b_data", "b_scales", "b_zeros", "a_terms"] ins(%[[D]], {{.*}}, %[[SECOND]] :
// LAUNCHES-LABEL: func.func @swapped
// LAUNCHES: ["a_data", "a_scales", "a_zeros", "b_data", "b_scales", "b_terms"]
// Elements that the kernel of the product reads as others.
// LAUNCHES-LABEL: func.func @recoded
// LAUNCHES-NOT: a_terms
// LAUNCHES-LABEL: func.func @given
// LAUNCHES-NOT: a_terms
// LAUNCHES-LABEL: gpu.module
// LAUNCHES: blockscale.given_terms = ["a_terms"]

// Elements, scales and sums.
// CALLS-LABEL: llvm.func @tiles
// CALLS-COUNT-3: llvm.call @blockscaleRuntimeAllocate
// Those, of which the second product has the memory of sums too, and the first result.
// CALLS-LABEL: llvm.func @layers
// CALLS-COUNT-4: llvm.call @blockscaleRuntimeAllocate
// CALLS-LABEL: llvm.func @recoded
// CALLS-NOT: call @blockscaleRuntimeAllocate
// CALLS-LABEL: llvm.func @given

// HOST-LABEL: func.func @tiles
// HOST-NOT: a_terms
// HOST-LABEL: gpu.module

!a = !blockscale.tensor<?x384xf8E4M3FN, "float32_t128">
!b = !blockscale.tensor<72x384xui4, "float32_float16_t128">
func.func @tiles(%x: tensor<?x384xbf16>, %b: !b) -> tensor<?x72xf32> {
  %a = blockscale.quantize %x : tensor<?x384xbf16> to !a
  %d = blockscale.matmul %a, %b : !a, !b -> tensor<?x72xf32>
  return %d : tensor<?x72xf32>
}

!row = !blockscale.tensor<?x256xf8E4M3FN, "float32_t0">
!first = !blockscale.tensor<128x256xui4, "float32_float32_t0">
!second = !blockscale.tensor<72x128xui8, "float32_bfloat16_t0">
!half = !blockscale.tensor<?x128xbf16>
func.func @layers(%x: tensor<?x256xf32>, %w: !first, %v: !second, %alpha: f32) -> tensor<?x72xf32> {
  %a = blockscale.quantize %x : tensor<?x256xf32> to !row
  %0 = blockscale.matmul %a, %w alpha(%alpha) activation(silu) : !row, !first -> tensor<?x128xbf16>
  %1 = blockscale.assemble %0 : tensor<?x128xbf16> to !half
  %2 = blockscale.matmul %1, %v : !half, !second -> tensor<?x72xf32>
  return %2 : tensor<?x72xf32>
}

// The zero points are those of A.
!zeros = !blockscale.tensor<40x256xui4, "float32_float32_t64">
!other = !blockscale.tensor<136x256xf8E5M2, "float32_t64">
func.func @swapped(%a: !zeros, %x: tensor<136x256xbf16>) -> tensor<40x136xf32> {
  %b = blockscale.quantize %x : tensor<136x256xbf16> to !other
  %d = blockscale.matmul %a, %b : !zeros, !other -> tensor<40x136xf32>
  return %d : tensor<40x136xf32>
}

!bytes = !blockscale.tensor<72x256xui8, "float32_float32_t0">
func.func @recoded(%x: tensor<?x256xf32>, %w: !bytes) -> tensor<?x72xf32> {
  %a = blockscale.quantize %x : tensor<?x256xf32> to !row
  %d = blockscale.matmul %a, %w : !row, !bytes -> tensor<?x72xf32>
  return %d : tensor<?x72xf32>
}

func.func @given(%a: !row, %w: !first) -> tensor<?x128xf32> {
  %d = blockscale.matmul %a, %w : !row, !first -> tensor<?x128xf32>
  return %d : tensor<?x128xf32>
}
