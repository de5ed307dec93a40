// Control flow, calls, memory and upstream's ops around products, as programs that
// nobody wrote for us have them: nothing is left out, and both ways agree.

// RUN: blockscale verify %s --m=40 --data=exact | FileCheck %s

!x = !blockscale.tensor<?x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!w = !blockscale.tensor<128x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>

// CHECK: function
// CHECK-NOT: FAIL

// A condition that products change, and a product that nobody asks for.
// CHECK-DAG: {{^}}while exact 40 2 5121 0 0 0 pass
func.func @while(%x: tensor<?x128xf32>, %w: !w, %n: i32) -> (tensor<?x128xf32>, i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r:2 = scf.while (%i = %c0, %v = %x) : (i32, tensor<?x128xf32>) -> (i32, tensor<?x128xf32>) {
    %go = arith.cmpi slt, %i, %n : i32
    scf.condition(%go) %i, %v : i32, tensor<?x128xf32>
  } do {
  ^bb0(%i: i32, %v: tensor<?x128xf32>):
    %q = blockscale.quantize %v : tensor<?x128xf32> to !x
    %y = blockscale.matmul %q, %w activation(relu) : !x, !w -> tensor<?x128xf32>
    %dead = blockscale.matmul %q, %w : !x, !w -> tensor<?x128xbf16>
    %j = arith.addi %i, %c1 : i32
    scf.yield %j, %y : i32, tensor<?x128xf32>
  }
  return %r#1, %r#0 : tensor<?x128xf32>, i32
}

// Recursion.
func.func private @layers(%x: tensor<?x128xf32>, %w: !w, %n: i32) -> tensor<?x128xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %more = arith.cmpi sgt, %n, %c0 : i32
  %r = scf.if %more -> (tensor<?x128xf32>) {
    %q = blockscale.quantize %x : tensor<?x128xf32> to !x
    %y = blockscale.matmul %q, %w : !x, !w -> tensor<?x128xf32>
    %m = arith.subi %n, %c1 : i32
    %z = func.call @layers(%y, %w, %m) : (tensor<?x128xf32>, !w, i32) -> tensor<?x128xf32>
    scf.yield %z : tensor<?x128xf32>
  } else {
    scf.yield %x : tensor<?x128xf32>
  }
  return %r : tensor<?x128xf32>
}
// CHECK-DAG: {{^}}start exact 40 3 5120 0 0 0 pass
func.func @start(%x: tensor<?x128xf32>, %w: !w) -> tensor<?x128xf32> {
  %c3 = arith.constant 3 : i32
  %y = func.call @layers(%x, %w, %c3) : (tensor<?x128xf32>, !w, i32) -> tensor<?x128xf32>
  return %y : tensor<?x128xf32>
}

// Blocks, and a result that goes into the caller's memory.
// CHECK-DAG: {{^}}memory exact - 2 16384 0 0 0 pass
func.func @memory(%x: tensor<4x32x128xbf16>, %w: !blockscale.tensor<4x128x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>, %flag: i1, %out: memref<4x32x128xf32>) {
  %q = blockscale.quantize %x : tensor<4x32x128xbf16> to !blockscale.tensor<4x32x128xf8E5M2, "e8m0_t32", layout = tiled_128x4>
  cf.cond_br %flag, ^a, ^b
^a:
  %y = blockscale.matmul %q, %w : !blockscale.tensor<4x32x128xf8E5M2, "e8m0_t32", layout = tiled_128x4>, !blockscale.tensor<4x128x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4> -> tensor<4x32x128xf32>
  cf.br ^end(%y : tensor<4x32x128xf32>)
^b:
  %z = blockscale.matmul %q, %w activation(relu) : !blockscale.tensor<4x32x128xf8E5M2, "e8m0_t32", layout = tiled_128x4>, !blockscale.tensor<4x128x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4> -> tensor<4x32x128xf32>
  cf.br ^end(%z : tensor<4x32x128xf32>)
^end(%r: tensor<4x32x128xf32>):
  %again = blockscale.matmul %q, %w : !blockscale.tensor<4x32x128xf8E5M2, "e8m0_t32", layout = tiled_128x4>, !blockscale.tensor<4x128x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4> -> tensor<4x32x128xf32>
  %s = arith.addf %r, %again : tensor<4x32x128xf32>
  bufferization.materialize_in_destination %s in writable %out : (tensor<4x32x128xf32>, memref<4x32x128xf32>) -> ()
  return
}

// Slices of rows, each into its place, and one result given twice.
// CHECK-DAG: {{^}}tiles exact 40 1 10240 0 0 0 pass
func.func @tiles(%x: !x, %w: !w, %out: tensor<?x128xf32>, %m: index) -> (tensor<?x128xf32>, tensor<?x128xf32>) {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %r = scf.for %i = %c0 to %m step %c128 iter_args(%acc = %out) -> (tensor<?x128xf32>) {
    %left = arith.subi %m, %i : index
    %n = arith.minsi %left, %c128 : index
    %s = blockscale.slice_rows %x[%i] [%n] : !x to !x
    %y = blockscale.matmul %s, %w : !x, !w -> tensor<?x128xf32>
    %next = tensor.insert_slice %y into %acc[%i, 0] [%n, 128] [1, 1] : tensor<?x128xf32> into tensor<?x128xf32>
    scf.yield %next : tensor<?x128xf32>
  }
  return %r, %r : tensor<?x128xf32>, tensor<?x128xf32>
}

// Scaled tensors through calls, loops and branches.
func.func private @prepare(%x: tensor<?x128xf32>) -> !x {
  %q = blockscale.quantize %x : tensor<?x128xf32> to !x
  return %q : !x
}
// CHECK-DAG: {{^}}carry exact 40 2 5120 0 0 0 pass
func.func @carry(%x: tensor<?x128xf32>, %w: !w, %flag: i1) -> tensor<?x128xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %q = func.call @prepare(%x) : (tensor<?x128xf32>) -> !x
  %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%v = %q) -> (!x) {
    %y = blockscale.matmul %v, %w : !x, !w -> tensor<?x128xf32>
    %z = scf.if %flag -> (!x) {
      %a = func.call @prepare(%y) : (tensor<?x128xf32>) -> !x
      scf.yield %a : !x
    } else {
      scf.yield %v : !x
    }
    scf.yield %z : !x
  }
  %d = blockscale.dequantize %r : !x to tensor<?x128xf32>
  return %d : tensor<?x128xf32>
}

// Threads of upstream's, each with a product, f16 arithmetic and a reduction.
// CHECK-DAG: {{^}}forall exact - 2 16512 0 0 0 pass
func.func @forall(%x: tensor<2x64x128xf16>, %w: !w, %o: tensor<2x64x128xf16>) -> (tensor<2x64x128xf16>, tensor<2x64xf16>) {
  %r = scf.forall (%i) in (2) shared_outs(%acc = %o) -> (tensor<2x64x128xf16>) {
    %s = tensor.extract_slice %x[%i, 0, 0] [1, 64, 128] [1, 1, 1] : tensor<2x64x128xf16> to tensor<64x128xf16>
    %t = arith.addf %s, %s : tensor<64x128xf16>
    %q = blockscale.quantize %t : tensor<64x128xf16> to !blockscale.tensor<64x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
    %y = blockscale.matmul %q, %w : !blockscale.tensor<64x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>, !w -> tensor<64x128xf16>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %y into %acc[%i, 0, 0] [1, 64, 128] [1, 1, 1] : tensor<64x128xf16> into tensor<2x64x128xf16>
    }
  }
  %zero = arith.constant 0.0 : f16
  %m0 = tensor.empty() : tensor<2x64xf16>
  %m1 = linalg.fill ins(%zero : f16) outs(%m0 : tensor<2x64xf16>) -> tensor<2x64xf16>
  %m = linalg.reduce ins(%r : tensor<2x64x128xf16>) outs(%m1 : tensor<2x64xf16>) dimensions = [2]
    (%in: f16, %most: f16) { %a = arith.maximumf %in, %most : f16 linalg.yield %a : f16 }
  return %r, %m : tensor<2x64x128xf16>, tensor<2x64xf16>
}

// A function behind a pointer, shapes, and arithmetic in f64.
func.func private @negate(%x: tensor<128x64xf64>) -> tensor<128x64xf64> {
  %y = arith.negf %x : tensor<128x64xf64>
  return %y : tensor<128x64xf64>
}
// CHECK-DAG: {{^}}shapes exact - 1 8193 0 0 0 pass
func.func @shapes(%x: !blockscale.tensor<64x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>, %w: !w) -> (tensor<16x8x64xf64>, f64) {
  %f = constant @negate : (tensor<128x64xf64>) -> tensor<128x64xf64>
  %y = blockscale.matmul %x, %w : !blockscale.tensor<64x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>, !w -> tensor<64x128xf32>
  %d = arith.extf %y : tensor<64x128xf32> to tensor<64x128xf64>
  %t = tensor.empty() : tensor<128x64xf64>
  %tr = linalg.transpose ins(%d : tensor<64x128xf64>) outs(%t : tensor<128x64xf64>) permutation = [1, 0]
  %n = call_indirect %f(%tr) : (tensor<128x64xf64>) -> tensor<128x64xf64>
  %e = tensor.expand_shape %n [[0, 1], [2]] output_shape [16, 8, 64] : tensor<128x64xf64> into tensor<16x8x64xf64>
  %c3 = arith.constant 3 : index
  %s = tensor.extract %n[%c3, %c3] : tensor<128x64xf64>
  %i = tensor.insert %s into %e[%c3, %c3, %c3] : tensor<16x8x64xf64>
  return %i, %s : tensor<16x8x64xf64>, f64
}

// Scales of e4m3 of FP8, by which sums are multiplied in registers.
// CHECK-DAG: {{^}}fractions exact 40 1 2880 0 0 0 pass
!fractions = !blockscale.tensor<?x256xf8E4M3FN, "multi_float32_e4m3fn_t16">
!long_fractions = !blockscale.tensor<72x256xf8E4M3FN, "e4m3fn_t32">
func.func @fractions(%x: tensor<?x256xf32>, %y: tensor<72x256xf32>) -> tensor<?x72xf32> {
  %a = blockscale.quantize %x : tensor<?x256xf32> to !fractions
  %b = blockscale.quantize %y : tensor<72x256xf32> to !long_fractions
  %0 = blockscale.matmul %a, %b : !fractions, !long_fractions -> tensor<?x72xf32>
  return %0 : tensor<?x72xf32>
}
