// Functions whose kernels quantise both operands under scales that are factors of rows
// or of the whole product, with those on the emulator, against everything on the CPU by
// linalg: one scale for each token and channel, of int8 and of FP8, and one for all of
// a matrix, which its kernel finds or which is given; of 16 bits too. Numbers that were int8 once stay on the device.

// REQUIRES: mlir
// RUN: blockscale verify --quantize-on-device %s --m=40 | FileCheck %s
// RUN: blockscale compile --emit=host-linalg --quantize-on-device %s | FileCheck %s --check-prefix=LAUNCHES

// CHECK-NOT: FAIL
// CHECK-LABEL: function
// CHECK-DAG: tokens{{ +exact +40 +3 .*}}pass
// CHECK-DAG: tokens{{ +random +40 +3 .*}}pass
// CHECK-DAG: integers{{ +exact +40 +3 .*}}pass
// CHECK-DAG: integers{{ +random +40 +3 .*}}pass
// CHECK-DAG: tensors{{ +exact +40 +3 .*}}pass
// CHECK-DAG: tensors{{ +random +40 +3 .*}}pass
// CHECK-DAG: mixed{{ +exact +40 +3 .*}}pass
// CHECK-DAG: rounded{{ +exact +40 +4 .*}}pass
// CHECK-DAG: rounded{{ +random +40 +4 .*}}pass
// CHECK-DAG: static{{ +exact +40 +3 .*}}pass
// CHECK-DAG: static{{ +random +40 +3 .*}}pass
// CHECK-NOT: FAIL

// LAUNCHES-LABEL: func.func @tokens
// LAUNCHES: launch_into {{.*}} ["x"] {{.*}} -> tensor<?x256xf8E4M3FN>, tensor<?x1xf32>
// LAUNCHES-LABEL: func.func @integers
// LAUNCHES: launch_into {{.*}} ["x"] {{.*}} -> tensor<?x256xi8>, tensor<?x1xf32>
// LAUNCHES: launch_into {{.*}} ["x"] {{.*}} -> tensor<72x256xi8>, tensor<72x1xf32>
// LAUNCHES-LABEL: func.func @tensors
// LAUNCHES: launch_into {{.*}} ["x"] {{.*}} -> tensor<?x256xf8E4M3FN>, tensor<1x1xf32>
// LAUNCHES-LABEL: func.func @mixed
// LAUNCHES-LABEL: func.func @rounded
// LAUNCHES: launch_into {{.*}} ["x"]
// LAUNCHES: launch_into {{.*}} ["a_data", "a_scales"] ins
// LAUNCHES: launch_into {{.*}} ["x"]
// LAUNCHES-LABEL: func.func @static
// LAUNCHES: launch_into {{.*}} ["x", "tensor_scale"] {{.*}} -> tensor<?x256xf8E4M3FN>, tensor<1x1xf32>
// LAUNCHES: launch_into {{.*}} ["x"] {{.*}} -> tensor<72x256xf8E4M3FN>, tensor<72x1xbf16>

!token = !blockscale.tensor<?x256xf8E4M3FN, "float32_t0">
!channel = !blockscale.tensor<72x256xf8E4M3FN, "float32_t0">
func.func @tokens(%x: tensor<?x256xbf16>, %w: tensor<72x256xbf16>) -> tensor<?x72xbf16> {
  %a = blockscale.quantize %x : tensor<?x256xbf16> to !token
  %b = blockscale.quantize %w : tensor<72x256xbf16> to !channel
  %d = blockscale.matmul %a, %b : !token, !channel -> tensor<?x72xbf16>
  return %d : tensor<?x72xbf16>
}

!itoken = !blockscale.tensor<?x256xi8, "float32_t0">
!ichannel = !blockscale.tensor<72x256xi8, "float32_t0">
func.func @integers(%x: tensor<?x256xbf16>, %w: tensor<72x256xf32>) -> tensor<?x72xf32> {
  %a = blockscale.quantize %x : tensor<?x256xbf16> to !itoken
  %b = blockscale.quantize %w : tensor<72x256xf32> to !ichannel
  %d = blockscale.matmul %a, %b : !itoken, !ichannel -> tensor<?x72xf32>
  return %d : tensor<?x72xf32>
}

!a = !blockscale.tensor<?x256xf8E4M3FN, "float32">
!b = !blockscale.tensor<72x256xf8E4M3FN, "float32">
func.func @tensors(%x: tensor<?x256xf16>, %w: tensor<72x256xbf16>) -> tensor<?x72xf32> {
  %a = blockscale.quantize %x : tensor<?x256xf16> to !a
  %b = blockscale.quantize %w : tensor<72x256xbf16> to !b
  %d = blockscale.matmul %a, %b : !a, !b -> tensor<?x72xf32>
  return %d : tensor<?x72xf32>
}

!imatrix = !blockscale.tensor<72x256xi8, "float32">
func.func @mixed(%x: tensor<?x256xbf16>, %w: tensor<72x256xbf16>) -> tensor<?x72xf32> {
  %a = blockscale.quantize %x : tensor<?x256xbf16> to !itoken
  %b = blockscale.quantize %w : tensor<72x256xbf16> to !imatrix
  %d = blockscale.matmul %a, %b : !itoken, !imatrix -> tensor<?x72xf32>
  return %d : tensor<?x72xf32>
}

func.func @rounded(%x: tensor<?x256xbf16>, %w: !channel) -> tensor<?x72xbf16> {
  %i = blockscale.quantize %x : tensor<?x256xbf16> to !itoken
  %r = blockscale.dequantize %i : !itoken to tensor<?x256xbf16>
  %a = blockscale.quantize %r : tensor<?x256xbf16> to !token
  %d = blockscale.matmul %a, %w : !token, !channel -> tensor<?x72xbf16>
  return %d : tensor<?x72xbf16>
}

!halves = !blockscale.tensor<72x256xf8E4M3FN, "bfloat16_t0">
func.func @static(%x: tensor<?x256xbf16>, %s: tensor<f32>, %w: tensor<72x256xbf16>) -> tensor<?x72xbf16> {
  %a = blockscale.quantize %x tensor_scale(%s : tensor<f32>) : tensor<?x256xbf16> to !a
  %b = blockscale.quantize %w : tensor<72x256xbf16> to !halves
  %d = blockscale.matmul %a, %b : !a, !halves -> tensor<?x72xbf16>
  return %d : tensor<?x72xbf16>
}
