// Tensors without scales, executed: rounding, compression, its inverse, slices
// and products. What is expected was worked out by hand.

// RUN: blockscale-opt %s --blockscale-to-linalg --cse \
// RUN: | mlir-opt --convert-elementwise-to-linalg --one-shot-bufferize=bufferize-function-boundaries \
// RUN:   --convert-linalg-to-loops --convert-scf-to-cf \
// RUN:   --expand-strided-metadata --lower-affine --convert-to-llvm \
// RUN:   --reconcile-unrealized-casts \
// RUN: | %mlir-runner -e main -entry-point-result=void \
// RUN:   -shared-libs=%mlir_runner_libs | FileCheck %s

func.func private @printMemrefI32(tensor<*xi32>)
func.func private @printMemrefF32(tensor<*xf32>)

!bf16 = !blockscale.tensor<2x8xbf16>
!bf16_sparse = !blockscale.tensor<2x8xbf16, "n2m4", layout = tiled_128x4>
!bf16_plain = !blockscale.tensor<2x8xbf16, "n2m4">
!tf32 = !blockscale.tensor<2x8xtf32>
!tf32_sparse = !blockscale.tensor<2x8xtf32, "n1m2">
!tf32_tiled = !blockscale.tensor<2x8xtf32, "n1m2", layout = tiled_128x4>
!s8 = !blockscale.tensor<2x8xi8>
!s8_sparse = !blockscale.tensor<2x8xi8, "n2m4">
!u8 = !blockscale.tensor<2x8xui8>
!halves = !blockscale.tensor<2x8xi8, "n1m2", order = mn_major>

func.func @print_f32(%x: tensor<2x8xf32>) {
  %any = tensor.cast %x : tensor<2x8xf32> to tensor<*xf32>
  call @printMemrefF32(%any) : (tensor<*xf32>) -> ()
  return
}

func.func @print_bytes(%x: tensor<2x?xi8>) {
  %wide = arith.extui %x : tensor<2x?xi8> to tensor<2x?xi32>
  %any = tensor.cast %wide : tensor<2x?xi32> to tensor<*xi32>
  call @printMemrefI32(%any) : (tensor<*xi32>) -> ()
  return
}

func.func @print_sums(%x: tensor<2x2xi32>) {
  %any = tensor.cast %x : tensor<2x2xi32> to tensor<*xi32>
  call @printMemrefI32(%any) : (tensor<*xi32>) -> ()
  return
}

// bf16 has 8 significant bits: 257 and 259 are ties, to 256 and 260. The largest
// is 2^127 * (2 - 2^-7).
func.func @bf16() {
  %x = arith.constant dense<[[257.0, 0.0, 0.0, 259.0, 0.0, -3.5, 0.0, 0.0],
                             [0.0, 0.0, 0x7F7FFFFF, 0.0, 0.0, 0.0, 0.0, 5.0]]> : tensor<2x8xf32>
  %q = blockscale.quantize %x : tensor<2x8xf32> to !bf16
  // CHECK: {{\[}}[256, 0, 0, 260, 0, -3.5, 0, 0],
  // CHECK-NEXT: [0, 0, 3.38953e+38, 0, 0, 0, 0, 5]]
  %v = blockscale.dequantize %q : !bf16 to tensor<2x8xf32>
  call @print_f32(%v) : (tensor<2x8xf32>) -> ()
  // Kept: (0, 3) (1, 3) and (2, 3) (0, 3), that is 0xdc and 0xce.
  // CHECK: {{\[}}[220],
  // CHECK-NEXT: [206]]
  %c = blockscale.compress %q : !bf16 to !bf16_sparse
  %p = blockscale.relayout %c : !bf16_sparse to !bf16_plain
  %pd, %pm = blockscale.disassemble %p : !bf16_plain
  %m = tensor.cast %pm : tensor<2x1xi8> to tensor<2x?xi8>
  call @print_bytes(%m) : (tensor<2x?xi8>) -> ()
  // CHECK: {{\[}}[256, 0, 0, 260, 0, -3.5, 0, 0],
  // CHECK-NEXT: [0, 0, 3.38953e+38, 0, 0, 0, 0, 5]]
  %d = blockscale.densify %c : !bf16_sparse to !bf16
  %dv = blockscale.dequantize %d : !bf16 to tensor<2x8xf32>
  call @print_f32(%dv) : (tensor<2x8xf32>) -> ()
  // The second row alone.
  // CHECK: {{\[}}[0, 0, 3.38953e+38, 0, 0, 0, 0, 5]]
  %s = blockscale.slice_rows %p[1] [1] : !bf16_plain to !blockscale.tensor<1x8xbf16, "n2m4">
  %sv = blockscale.dequantize %s : !blockscale.tensor<1x8xbf16, "n2m4"> to tensor<1x8xf32>
  %any = tensor.cast %sv : tensor<1x8xf32> to tensor<*xf32>
  call @printMemrefF32(%any) : (tensor<*xf32>) -> ()
  return
}

// f16 has 11 significant bits and ends at 65504; 2^-24 is its least number.
func.func @f16() {
  %x = arith.constant dense<[[2049.0, 0.0, 0.0, -2051.0, 0.0, 1.0e9, 0.0, 6.0e-8]]> : tensor<1x8xf32>
  // CHECK: {{\[}}[2048, 0, 0, -2052, 0, 65504, 0, 5.96046e-08]]
  %q = blockscale.quantize %x : tensor<1x8xf32> to !blockscale.tensor<1x8xf16, "n2m4">
  %v = blockscale.dequantize %q : !blockscale.tensor<1x8xf16, "n2m4"> to tensor<1x8xf32>
  %any = tensor.cast %v : tensor<1x8xf32> to tensor<*xf32>
  call @printMemrefF32(%any) : (tensor<*xf32>) -> ()
  // A 6-bit float without scales saturates.
  // CHECK: {{\[}}[28, 0, 0, -28, 0, 28, 0, 0]]
  %n = blockscale.quantize %x : tensor<1x8xf32> to !blockscale.tensor<1x8xf6E3M2FN>
  %nv = blockscale.dequantize %n : !blockscale.tensor<1x8xf6E3M2FN> to tensor<1x8xf32>
  %anyn = tensor.cast %nv : tensor<1x8xf32> to tensor<*xf32>
  call @printMemrefF32(%anyn) : (tensor<*xf32>) -> ()
  return
}

// tf32 has 11 significant bits: 2049 and 2051 are ties, to 2048 and 2052.
func.func @tf32() {
  %x = arith.constant dense<[[2049.0, 0.0, 0.0, 2051.0, 0.0, 0.0, -7.0, 0.0],
                             [0.0, 1.0, 2.0, 0.0, 0.0, 3.0, 0.0, -4.0]]> : tensor<2x8xf32>
  // CHECK: {{\[}}[2048, 0, 0, 2052, 0, 0, -7, 0],
  // CHECK-NEXT: [0, 1, 2, 0, 0, 3, 0, -4]]
  %q = blockscale.quantize %x : tensor<2x8xf32> to !tf32_tiled
  %v = blockscale.dequantize %q : !tf32_tiled to tensor<2x8xf32>
  call @print_f32(%v) : (tensor<2x8xf32>) -> ()
  // Kept: 0 1 - 0 and 1 0 1 1, that is 0xe4 0x44 and 0x4e 0xee.
  // CHECK: {{\[}}[228, 68],
  // CHECK-NEXT: [78, 238]]
  %r = blockscale.relayout %q : !tf32_tiled to !tf32_sparse
  %rd, %rm = blockscale.disassemble %r : !tf32_sparse
  %m = tensor.cast %rm : tensor<2x2xi8> to tensor<2x?xi8>
  call @print_bytes(%m) : (tensor<2x?xi8>) -> ()
  // CHECK: {{\[}}[2048, 2052, 0, -7],
  // CHECK-NEXT: [1, 2, 3, -4]]
  %any = tensor.cast %rd : tensor<2x4xf32> to tensor<*xf32>
  call @printMemrefF32(%any) : (tensor<*xf32>) -> ()
  // Low bits in memory do not count: 1 + 2^-23 is 1, and 3 + 2^-9 is itself
  // but without the 2^-22 that follows.
  // CHECK: {{\[}}[1, 0, 3.00195, 0, 0, 2, 5, 0],
  // CHECK-NEXT: [1, 0, 1, 0, 1, 0, 0, 1]]
  %words = arith.constant dense<[[0x3F800001, 0x40402001, 2.0, 5.0],
                                 [1.0, 1.0, 1.0, 1.0]]> : tensor<2x4xf32>
  // 0 0 and 1 0; 0 0 and 0 1.
  %metadata = arith.constant dense<[[0x44, 0x4e], [0x44, 0xe4]]> : tensor<2x2xi8>
  %a = blockscale.assemble %words metadata(%metadata : tensor<2x2xi8>) : tensor<2x4xf32> to !tf32_sparse
  %av = blockscale.dequantize %a : !tf32_sparse to tensor<2x8xf32>
  call @print_f32(%av) : (tensor<2x8xf32>) -> ()
  // Products: 1*1 + 3.001953125*1 + 2*1 + 5*1 is 11.001953125, times 2 plus 1/2.
  // CHECK: {{\[}}[22.5039, -31.5234],
  // CHECK-NEXT: [8.5, 2.5]]
  %b = arith.constant dense<[[1.0, 9.0, 1.0, 9.0, 1.0, 1.0, 1.0, 1.0],
                             [1.0, 9.0, -6.0, 9.0, 5.0, 8.0, -3.0, 1.0]]> : tensor<2x8xf32>
  %qb = blockscale.quantize %b : tensor<2x8xf32> to !tf32
  %two = arith.constant 2.0 : f32
  %bias = arith.constant dense<0.5> : tensor<2xf32>
  %y = blockscale.matmul %a, %qb alpha(%two) bias(%bias) : !tf32_sparse, !tf32, tensor<2xf32> -> tensor<2x2xf32>
  %anyy = tensor.cast %y : tensor<2x2xf32> to tensor<*xf32>
  call @printMemrefF32(%anyy) : (tensor<*xf32>) -> ()
  return
}

// Integers mean themselves: i8 from -128 to 127, ui8 from 0 to 255.
func.func @integers() {
  %x = arith.constant dense<[[-200.0, 0.0, 127.4, 0.0, 0.0, 2.5, 3.5, 0.0],
                             [0.0, -1.5, 0.0, 300.0, -128.0, 0.0, 0.0, 1.0]]> : tensor<2x8xf32>
  %q = blockscale.quantize %x : tensor<2x8xf32> to !s8
  // CHECK: {{\[}}[-128, 0, 127, 0, 0, 2, 4, 0],
  // CHECK-NEXT: [0, -2, 0, 127, -128, 0, 0, 1]]
  %v = blockscale.dequantize %q : !s8 to tensor<2x8xf32>
  call @print_f32(%v) : (tensor<2x8xf32>) -> ()
  // -128 is no zero: kept (0, 2) (1, 2) and (1, 3) (0, 3).
  // CHECK: {{\[}}[152],
  // CHECK-NEXT: [205]]
  %c = blockscale.compress %q : !s8 to !s8_sparse
  %cd, %cm = blockscale.disassemble %c : !s8_sparse
  %m = tensor.cast %cm : tensor<2x1xi8> to tensor<2x?xi8>
  call @print_bytes(%m) : (tensor<2x?xi8>) -> ()
  // CHECK: {{\[}}[128, 127, 2, 4],
  // CHECK-NEXT: [254, 127, 128, 1]]
  %d = tensor.cast %cd : tensor<2x4xi8> to tensor<2x?xi8>
  call @print_bytes(%d) : (tensor<2x?xi8>) -> ()
  %y = arith.constant dense<[[255.0, 7.0, 256.5, 1.0, 0.5, 1.5, 200.0, -4.0],
                             [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]]> : tensor<2x8xf32>
  %u = blockscale.quantize %y : tensor<2x8xf32> to !u8
  // CHECK: {{\[}}[255, 7, 255, 1, 0, 2, 200, 0],
  // CHECK-NEXT: [1, 2, 3, 4, 5, 6, 7, 8]]
  %uv = blockscale.dequantize %u : !u8 to tensor<2x8xf32>
  call @print_f32(%uv) : (tensor<2x8xf32>) -> ()
  // -128*255 + 127*255 + 2*2 + 4*200 is 549; -128 + 381 + 12 + 28 is 293;
  // -14 + 127 is 113; -4 + 508 - 640 + 8 is -128.
  // CHECK: {{\[}}[549, 293],
  // CHECK-NEXT: [113, -128]]
  %p = blockscale.matmul %c, %u : !s8_sparse, !u8 -> tensor<2x2xi32>
  call @print_sums(%p) : (tensor<2x2xi32>) -> ()
  // The same as floats, times 1/2 and through relu.
  // CHECK: {{\[}}[274.5, 146.5],
  // CHECK-NEXT: [56.5, 0]]
  %half = arith.constant 0.5 : f32
  %f = blockscale.matmul %c, %u alpha(%half) activation(relu) : !s8_sparse, !u8 -> tensor<2x2xf32>
  %any = tensor.cast %f : tensor<2x2xf32> to tensor<*xf32>
  call @printMemrefF32(%any) : (tensor<*xf32>) -> ()
  // 2 * max(x, c), where x is 274.5, 146.5, 56.5 and -64.
  // CHECK: {{\[}}[600, 293],
  // CHECK-NEXT: [113, -128]]
  %other = arith.constant dense<[[300.0, 1.0], [2.0, -70.0]]> : tensor<2x2xf32>
  %g = blockscale.matmul %c, %u alpha(%half) c(%other) epilogue(%p, %q) {
    %two = arith.constant 2.0 : f32
    %1 = arith.maximumf %p, %q : f32
    %2 = arith.mulf %1, %two : f32
    blockscale.yield %2
  } : !s8_sparse, !u8, tensor<2x2xf32> -> tensor<2x2xf32>
  %g_any = tensor.cast %g : tensor<2x2xf32> to tensor<*xf32>
  call @printMemrefF32(%g_any) : (tensor<*xf32>) -> ()
  // Rows along M: 1 of 2, stored as 2 of 4.
  // CHECK: {{\[}}[-128, 0, 127, 0, 0, 2, 4, 0],
  // CHECK-NEXT: [0, -2, 0, 127, -128, 0, 0, 1]]
  %h = blockscale.quantize %x : tensor<2x8xf32> to !halves
  %hv = blockscale.dequantize %h : !halves to tensor<2x8xf32>
  call @print_f32(%hv) : (tensor<2x8xf32>) -> ()
  return
}

func.func @main() {
  call @bf16() : () -> ()
  call @f16() : () -> ()
  call @tf32() : () -> ()
  call @integers() : () -> ()
  return
}
