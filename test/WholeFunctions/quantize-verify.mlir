// Functions whose kernels quantise operands, with those on the emulator, against
// everything on the CPU by linalg: formats of 8, 6 and 4 bits, both operands, a K
// whose lines are padded, two levels, rounding at random, a loop, results that the
// host reads too, transposes, as a backward pass multiplies them.

// REQUIRES: mlir
// RUN: blockscale verify --quantize-on-device %s --m=40 --sizes=padded.0.0=130 | FileCheck %s
// RUN: blockscale compile --emit=host-linalg --quantize-on-device %s | FileCheck %s --check-prefix=LAUNCHES

// CHECK-NOT: FAIL
// CHECK-LABEL: function
// CHECK-DAG: both{{ +exact +40 +3 .*}}pass
// CHECK-DAG: padded {{.*}}pass
// CHECK-DAG: two_levels {{.*}}pass
// CHECK-DAG: loop {{.*}}pass
// CHECK-DAG: read {{.*}}pass
// CHECK-DAG: shown {{.*}}pass
// CHECK-DAG: chosen {{.*}}pass
// CHECK-DAG: backward {{.*}}pass
// CHECK-NOT: FAIL

// LAUNCHES-LABEL: func.func @both
// LAUNCHES-COUNT-2: launch_into {{.*}} ["x"]
// LAUNCHES-LABEL: func.func @padded
// LAUNCHES: launch_into {{.*}} ["x"]
// LAUNCHES-LABEL: func.func @two_levels
// LAUNCHES: launch_into {{.*}} ["x", "tensor_scale"]
// LAUNCHES-LABEL: func.func @loop
// LAUNCHES: scf.for
// LAUNCHES: launch_into {{.*}} ["x"]
// Where what else reads the result is a kernel, too, it stays one.
// LAUNCHES-LABEL: func.func @read
// LAUNCHES: launch_into {{.*}} ["x"]
// LAUNCHES: launch_into {{.*}} ["a_data", "a_scales", "b_data", "b_scales"]
// LAUNCHES: launch_into {{.*}} ["a_data", "a_scales"] ins
// Host code that reads the result leaves the work to the host.
// LAUNCHES-LABEL: func.func @shown
// LAUNCHES-NOT: ["x"
// A tensor scale that nobody gives is the kernel's to find.
// LAUNCHES-LABEL: func.func @chosen
// LAUNCHES: launch_into {{.*}} ["x"]
// LAUNCHES-LABEL: func.func @backward
// LAUNCHES-NOT: linalg.transpose
// LAUNCHES-COUNT-2: launch_into {{.*}} ["x"] ins(%{{.*}} : tensor<{{96x48|96x40}}xbf16>)
// LAUNCHES-NOT: linalg.transpose
// LAUNCHES-LABEL: gpu.module

!a = !blockscale.tensor<?x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!b = !blockscale.tensor<72x256xf6E2M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @both(%x: tensor<?x256xbf16>, %w: tensor<72x256xf32>) -> tensor<?x72xf32> {
  %y = math.absf %x : tensor<?x256xbf16>
  %a = blockscale.quantize %y rule(round_up) : tensor<?x256xbf16> to !a
  %b = blockscale.quantize %w rounding(stochastic, seed = 7) : tensor<72x256xf32> to !b
  %d = blockscale.matmul %a, %b : !a, !b -> tensor<?x72xf32>
  return %d : tensor<?x72xf32>
}

!p = !blockscale.tensor<?x96xf6E3M2FN, "e8m0_t32", layout = tiled_128x4>
!v = !blockscale.tensor<24x96xf6E3M2FN, "e8m0_t32", layout = tiled_128x4>
func.func @padded(%x: tensor<?x96xf32>, %w: !v) -> tensor<?x24xf32> {
  %a = blockscale.quantize %x : tensor<?x96xf32> to !p
  %d = blockscale.matmul %a, %w : !p, !v -> tensor<?x24xf32>
  return %d : tensor<?x24xf32>
}

!n = !blockscale.tensor<?x128xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!m = !blockscale.tensor<40x128xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
func.func @two_levels(%x: tensor<?x128xbf16>, %t: tensor<f32>, %w: !m) -> tensor<?x40xf32> {
  %a = blockscale.quantize %x tensor_scale(%t : tensor<f32>) : tensor<?x128xbf16> to !n
  %d = blockscale.matmul %a, %w : !n, !m -> tensor<?x40xf32>
  return %d : tensor<?x40xf32>
}

!s = !blockscale.tensor<64x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!t = !blockscale.tensor<128x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @loop(%x: tensor<64x128xf32>, %w: !t, %n: index) -> tensor<64x128xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %small = arith.constant dense<0.0625> : tensor<64x128xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%h = %x) -> tensor<64x128xf32> {
    %q = blockscale.quantize %h : tensor<64x128xf32> to !s
    %y = blockscale.matmul %q, %w : !s, !t -> tensor<64x128xf32>
    %z = arith.mulf %y, %small : tensor<64x128xf32>
    scf.yield %z : tensor<64x128xf32>
  }
  return %r : tensor<64x128xf32>
}

func.func @read(%x: tensor<64x128xf32>, %w: !t) -> (tensor<64x128xf32>, tensor<64x128xf32>) {
  %q = blockscale.quantize %x : tensor<64x128xf32> to !s
  %y = blockscale.matmul %q, %w : !s, !t -> tensor<64x128xf32>
  %z = blockscale.dequantize %q : !s to tensor<64x128xf32>
  return %y, %z : tensor<64x128xf32>, tensor<64x128xf32>
}

func.func @shown(%x: tensor<64x128xf32>, %w: !t) -> (tensor<64x128xf32>, tensor<64x128xi8>) {
  %q = blockscale.quantize %x : tensor<64x128xf32> to !s
  %y = blockscale.matmul %q, %w : !s, !t -> tensor<64x128xf32>
  %data, %scales = blockscale.disassemble %q : !s
  %z = arith.bitcast %data : tensor<64x128xf8E4M3FN> to tensor<64x128xi8>
  return %y, %z : tensor<64x128xf32>, tensor<64x128xi8>
}

func.func @chosen(%x: tensor<?x128xf32>, %w: !m) -> tensor<?x40xf32> {
  %a = blockscale.quantize %x : tensor<?x128xf32> to !n
  %d = blockscale.matmul %a, %w : !n, !m -> tensor<?x40xf32>
  return %d : tensor<?x40xf32>
}

!dy = !blockscale.tensor<48x96xf8E5M2, "e8m0_t32", layout = tiled_128x4>
!xt = !blockscale.tensor<40x96xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @backward(%dy: tensor<96x48xbf16>, %x: tensor<96x40xbf16>) -> tensor<48x40xf32> {
  %e = tensor.empty() : tensor<48x96xbf16>
  %0 = linalg.transpose ins(%dy : tensor<96x48xbf16>) outs(%e : tensor<48x96xbf16>) permutation = [1, 0]
  %a = blockscale.quantize %0 : tensor<48x96xbf16> to !dy
  %f = tensor.empty() : tensor<40x96xbf16>
  %1 = linalg.transpose ins(%x : tensor<96x40xbf16>) outs(%f : tensor<40x96xbf16>) permutation = [1, 0]
  %b = blockscale.quantize %1 : tensor<40x96xbf16> to !xt
  %d = blockscale.matmul %a, %b : !dy, !xt -> tensor<48x40xf32>
  return %d : tensor<48x40xf32>
}
