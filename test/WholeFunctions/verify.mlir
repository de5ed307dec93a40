// Whole functions with their kernels on the emulator, against the same functions
// by linalg on the CPU.

// RUN: blockscale verify %s --m=40 --conditions=plain --data=exact > %t.txt
// RUN: FileCheck %s < %t.txt
// CHECK: function
// CHECK-DAG: {{^}}mlp exact 40 2 2560 0 0 0 pass
// CHECK-DAG: {{^}}loop exact - 2 4096 0 0 0 pass
// CHECK-DAG: {{^}}branch exact - 1 4096 0 0 0 pass
// CHECK-DAG: {{^}}blocks exact - 1 4096 0 0 0 pass
// CHECK-DAG: {{^}}caller exact - 2 8193 0 0 0 pass
// CHECK-DAG: {{^}}packed exact 40 1 2560 0 0 0 pass
// CHECK-DAG: {{^}}six_bits exact 40 1 2560 0 0 0 pass
// CHECK-DAG: {{^}}sparse exact - 1 16384 0 0 0 pass
// CHECK-DAG: {{^}}repeated exact 40 1 2560 0 0 0 pass
// CHECK-DAG: {{^}}softmax exact 40 1 2560 0 {{.*}} pass
// CHECK-DAG: {{^}}batched exact - 1 12288 0 0 0 pass
// CHECK-DAG: {{^}}integers exact 40 1 2560 0 0 0 pass
// CHECK-DAG: {{^}}sums exact 40 3 5120 0 0 0 pass
// CHECK-DAG: {{^}}sliced exact 40 1 1600 0 0 0 pass

!x = !blockscale.tensor<?x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!w = !blockscale.tensor<128x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!v = !blockscale.tensor<64x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!h = !blockscale.tensor<?x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>

func.func @mlp(%x: !x, %w: !w, %v: !v, %bias: tensor<128xf32>) -> tensor<?x64xf32> {
  %y = blockscale.matmul %x, %w bias(%bias) activation(relu) : !x, !w, tensor<128xf32> -> tensor<?x128xbf16>
  %z = arith.addf %y, %y : tensor<?x128xbf16>
  %h = blockscale.quantize %z : tensor<?x128xbf16> to !h
  %r = blockscale.matmul %h, %v : !h, !v -> tensor<?x64xf32>
  return %r : tensor<?x64xf32>
}

// As often as an argument says; each round's result is the next one's C.
!s = !blockscale.tensor<64x256xf4E2M1FN, "float8e4m3fn_t16", layout = tiled_128x4>
func.func @loop(%x: !s, %n: index) -> tensor<64x64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %beta = arith.constant 0.5 : f32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> tensor<64x64xf32> {
    %y = blockscale.matmul %x, %x beta(%beta) c(%acc) : !s, !s, tensor<64x64xf32> -> tensor<64x64xf32>
    scf.yield %y : tensor<64x64xf32>
  }
  return %r : tensor<64x64xf32>
}

!q = !blockscale.tensor<64x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @branch(%x: !q, %w: !q, %which: i1) -> tensor<64x64xf32> {
  %r = scf.if %which -> tensor<64x64xf32> {
    %y = blockscale.matmul %x, %w : !q, !q -> tensor<64x64xf32>
    scf.yield %y : tensor<64x64xf32>
  } else {
    %y = blockscale.matmul %w, %x : !q, !q -> tensor<64x64xf32>
    scf.yield %y : tensor<64x64xf32>
  }
  return %r : tensor<64x64xf32>
}

// A scaled tensor goes from block to block.
func.func @blocks(%x: !q, %w: !q, %which: i1) -> tensor<64x64xf32> {
  cf.cond_br %which, ^bb1(%x : !q), ^bb1(%w : !q)
^bb1(%a: !q):
  %y = blockscale.matmul %a, %w : !q, !q -> tensor<64x64xf32>
  return %y : tensor<64x64xf32>
}

func.func private @product(%x: !q, %w: !q) -> tensor<64x64xf32> {
  %y = blockscale.matmul %x, %w : !q, !q -> tensor<64x64xf32>
  return %y : tensor<64x64xf32>
}
func.func @caller(%x: !q, %w: !q, %f: f32) -> (tensor<64x64xf32>, f32, tensor<64x64xf32>) {
  %y = call @product(%x, %w) : (!q, !q) -> tensor<64x64xf32>
  %z = call @product(%w, %x) : (!q, !q) -> tensor<64x64xf32>
  %g = math.sqrt %f : f32
  return %y, %g, %z : tensor<64x64xf32>, f32, tensor<64x64xf32>
}

// Codes of 4 and 6 bits lie one in each byte on the host.
!x4 = !blockscale.tensor<?x256xf4E2M1FN, "multi_float32_e4m3fn_t16">
!w4 = !blockscale.tensor<64x256xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!t4 = !blockscale.tensor<?x256xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
func.func @packed(%x: !x4, %w: !w4) -> tensor<?x64xf32> {
  %t = blockscale.relayout %x : !x4 to !t4
  %y = blockscale.matmul %t, %w : !t4, !w4 -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}
!x6 = !blockscale.tensor<?x256xf6E3M2FN, "e8m0_t32">
!w6 = !blockscale.tensor<64x256xf6E2M3FN, "e8m0_t32", layout = tiled_128x4>
!t6 = !blockscale.tensor<?x256xf6E3M2FN, "e8m0_t32", layout = tiled_128x4>
func.func @six_bits(%x: !x6, %w: !w6) -> tensor<?x64xf32> {
  %t = blockscale.relayout %x : !x6 to !t6
  %y = blockscale.matmul %t, %w : !t6, !w6 -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// The data decide what is kept; metadata come from the host.
!sa = !blockscale.tensor<128x256xf8E4M3FN, "e8m0_t32n2m4", layout = tiled_128x4>
!st = !blockscale.tensor<128x256xf8E4M3FN, "e8m0_t64", layout = tiled_128x4>
func.func @sparse(%a: tensor<128x256xf32>, %b: tensor<128x256xf32>) -> tensor<128x128xf32> {
  %qa = blockscale.quantize %a : tensor<128x256xf32> to !sa
  %qb = blockscale.quantize %b : tensor<128x256xf32> to !st
  %y = blockscale.matmul %qa, %qb : !sa, !st -> tensor<128x128xf32>
  return %y : tensor<128x128xf32>
}

// Scales of long tiles and of several rows; the host repeats them for the kernel.
!rx = !blockscale.tensor<?x256xf8E4M3FN, "e8m0_t64", layout = tiled_128x4>
!rw = !blockscale.tensor<64x256xf8E4M3FN, "e8m0_t16_t128", layout = tiled_128x4>
func.func @repeated(%x: tensor<?x256xf32>, %w: !rw) -> tensor<?x64xf32> {
  %q = blockscale.quantize %x : tensor<?x256xf32> to !rx
  %y = blockscale.matmul %q, %w : !rx, !rw -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

func.func @softmax(%x: !x, %w: !blockscale.tensor<64x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %y = blockscale.matmul %x, %w : !x, !blockscale.tensor<64x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4> -> tensor<?x64xf32>
  %m = tensor.dim %y, %c0 : tensor<?x64xf32>
  %init = tensor.empty(%m) : tensor<?x64xf32>
  %r = linalg.softmax dimension(1) ins(%y : tensor<?x64xf32>) outs(%init : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %r : tensor<?x64xf32>
}

!ba = !blockscale.tensor<3x64x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @batched(%x: !ba, %s: f32) -> tensor<3x64x64xf32> {
  %y = blockscale.matmul %x, %x : !ba, !ba -> tensor<3x64x64xf32>
  %init = tensor.empty() : tensor<3x64x64xf32>
  %t = linalg.transpose ins(%y : tensor<3x64x64xf32>) outs(%init : tensor<3x64x64xf32>) permutation = [0, 2, 1]
  return %t : tensor<3x64x64xf32>
}

!ia = !blockscale.tensor<?x256xi8>
!ib = !blockscale.tensor<64x256xi8>
func.func @integers(%x: !ia, %w: !ib) -> tensor<?x64xi32> {
  %y = blockscale.matmul %x, %w : !ia, !ib -> tensor<?x64xi32>
  %z = arith.muli %y, %y : tensor<?x64xi32>
  return %z : tensor<?x64xi32>
}

// The kernel writes to a place inside of a larger array.
func.func @sliced(%x: !x, %w: !blockscale.tensor<8x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>, %into: tensor<?x40xf32>) -> tensor<?x40xf32> {
  %c0 = arith.constant 0 : index
  %y = blockscale.matmul %x, %w : !x, !blockscale.tensor<8x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4> -> tensor<?x8xf32>
  %m = tensor.dim %y, %c0 : tensor<?x8xf32>
  %r = tensor.insert_slice %y into %into[0, 16] [%m, 8] [1, 1] : tensor<?x8xf32> into tensor<?x40xf32>
  return %r : tensor<?x40xf32>
}

// The second result stays on the device.
func.func @sums(%x: !x, %w: !w, %scale: f32) -> tensor<?x128xf32> {
  %y = blockscale.matmul %x, %w : !x, !w -> tensor<?x128xf32>
  %z = blockscale.matmul %x, %w alpha(%scale) c(%y) : !x, !w, tensor<?x128xf32> -> tensor<?x128xf32>
  %r = blockscale.matmul %x, %w c(%z) : !x, !w, tensor<?x128xf32> -> tensor<?x128xf32>
  return %r : tensor<?x128xf32>
}
