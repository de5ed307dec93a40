// Epilogues that no keyword names, on random numbers and on exact ones: the
// reference computes them step by step from the launch plan, and says of those
// on random numbers how far a kernel may be off.

// REQUIRES: mlir
// RUN: blockscale verify %s --num-sms=3 --completion=random | FileCheck %s
// RUN: blockscale verify %s --target=sm_120a --num-sms=3 --completion=random | FileCheck %s

// An epilogue that needs many values at once takes fewer columns at a time, so
// that none of them spills.
// RUN: rm -rf %t && blockscale compile %s -o %t
// RUN: grep -c '"spill_store_bytes": 0,' %t/epilogue-regions.report.json | FileCheck %s --check-prefix=SPILLS
// RUN: grep -c '"spill_load_bytes": 0,' %t/epilogue-regions.report.json | FileCheck %s --check-prefix=SPILLS
// SPILLS: {{^}}14{{$}}

// CHECK-NOT: FAIL
// CHECK-COUNT-28: pass
// CHECK-NOT: {{FAIL|pass}}

!a = !blockscale.tensor<130x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!b = !blockscale.tensor<136x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!d = tensor<130x136xf32>

func.func @square(%a: !a, %b: !b) -> !d {
  %0 = blockscale.matmul %a, %b epilogue(%x) {
    %1 = arith.mulf %x, %x : f32
    blockscale.yield %1
  } : !a, !b -> !d
  return %0 : !d
}

func.func @clamp(%a: !a, %b: !b, %s: f32, %v: tensor<130xbf16>) -> tensor<130x136xbf16> {
  %0 = blockscale.matmul %a, %b alpha(%s) bias(%v) row epilogue(%x, %bias) {
    %low = arith.constant -1.5 : f32
    %high = arith.constant 6.0 : f32
    %1 = arith.addf %x, %bias : f32
    %2 = arith.maximumf %1, %low : f32
    %3 = arith.minimumf %2, %high : f32
    blockscale.yield %3
  } : !a, !b, tensor<130xbf16> -> tensor<130x136xbf16>
  return %0 : tensor<130x136xbf16>
}

// log(1 + exp(x)), without overflow.
func.func @softplus(%a: !a, %b: !b, %s: f32) -> !d {
  %0 = blockscale.matmul %a, %b alpha(%s) epilogue(%x) {
    %zero = arith.constant 0.0 : f32
    %1 = math.absf %x : f32
    %2 = arith.negf %1 : f32
    %3 = math.exp %2 : f32
    %4 = math.log1p %3 : f32
    %5 = arith.maximumf %x, %zero : f32
    %6 = arith.addf %4, %5 : f32
    blockscale.yield %6
  } : !a, !b -> !d
  return %0 : !d
}

// The gate of a gated unit is C, and a product of both is rounded to bf16 on
// the way.
func.func @gated(%a: !a, %b: !b, %s: f32, %c: tensor<130x136xf16>) -> tensor<130x136xf16> {
  %0 = blockscale.matmul %a, %b beta(%s) c(%c) epilogue(%x, %gate) {
    %one = arith.constant 1.0 : f32
    %1 = arith.negf %gate : f32
    %2 = math.exp %1 : f32
    %3 = arith.addf %2, %one : f32
    %4 = arith.divf %gate, %3 : f32
    %5 = arith.truncf %4 : f32 to bf16
    %6 = arith.extf %5 : bf16 to f32
    %7 = arith.mulf %x, %6 : f32
    blockscale.yield %7
  } : !a, !b, tensor<130x136xf16> -> tensor<130x136xf16>
  return %0 : tensor<130x136xf16>
}

// 30 * tanh(x / 30), and GELU by the error function, scaled.
func.func @capped(%a: !a, %b: !b) -> !d {
  %0 = blockscale.matmul %a, %b epilogue(%x) {
    %cap = arith.constant 30.0 : f32
    %1 = arith.divf %x, %cap : f32
    %2 = math.tanh %1 : f32
    %3 = arith.mulf %2, %cap : f32
    blockscale.yield %3
  } : !a, !b -> !d
  return %0 : !d
}

func.func @error_function(%a: !a, %b: !b, %s: f32, %v: tensor<136xf32>) -> !d {
  %0 = blockscale.matmul %a, %b alpha(%s) bias(%v) epilogue(%x, %bias) {
    %small = arith.constant 0.0078125 : f32
    %1 = arith.mulf %x, %small : f32
    %2 = math.erf %1 : f32
    %3 = arith.mulf %2, %bias : f32
    blockscale.yield %3
  } : !a, !b, tensor<136xf32> -> !d
  return %0 : !d
}

// x where it is positive, else a tenth of it; NaN where neither.
func.func @leaky(%a: !a, %b: !b) -> !d {
  %0 = blockscale.matmul %a, %b epilogue(%x) {
    %zero = arith.constant 0.0 : f32
    %slope = arith.constant 0.1 : f32
    %1 = arith.cmpf ogt, %x, %zero : f32
    %2 = arith.mulf %x, %slope : f32
    %3 = arith.select %1, %x, %2 : f32
    blockscale.yield %3
  } : !a, !b -> !d
  return %0 : !d
}

// Roots, logarithms and powers, each with its sign.
func.func @functions(%a: !a, %b: !b, %s: f32) -> !d {
  %0 = blockscale.matmul %a, %b alpha(%s) epilogue(%x) {
    %one = arith.constant 1.0 : f32
    %1 = math.absf %x : f32
    %2 = arith.addf %1, %one : f32
    %3 = math.sqrt %2 : f32
    %4 = math.rsqrt %2 : f32
    %5 = math.log %2 : f32
    %6 = math.log2 %2 : f32
    %7 = arith.negf %5 : f32
    %8 = math.exp2 %7 : f32
    %9 = math.expm1 %7 : f32
    %10 = arith.addf %3, %4 : f32
    %11 = math.fma %5, %6, %10 : f32
    %12 = arith.addf %11, %8 : f32
    %13 = arith.subf %12, %9 : f32
    %14 = math.copysign %13, %x : f32
    blockscale.yield %14
  } : !a, !b -> !d
  return %0 : !d
}

func.func @roundings(%a: !a, %b: !b, %s: f32) -> !d {
  %0 = blockscale.matmul %a, %b alpha(%s) epilogue(%x) {
    %third = arith.constant 0.33 : f32
    %1 = arith.mulf %x, %third : f32
    %2 = math.floor %1 : f32
    %3 = math.ceil %x : f32
    %4 = math.trunc %1 : f32
    %5 = math.roundeven %x : f32
    %6 = arith.addf %2, %3 : f32
    %7 = arith.mulf %4, %5 : f32
    %8 = arith.subf %7, %6 : f32
    blockscale.yield %8
  } : !a, !b -> !d
  return %0 : !d
}

func.func @logic(%a: !a, %b: !b, %v: tensor<136xf16>) -> !d {
  %0 = blockscale.matmul %a, %b bias(%v) epilogue(%x, %bias) {
    %true = arith.constant true
    %four = arith.constant 4.0 : f32
    %1 = arith.cmpf ole, %x, %bias : f32
    %2 = arith.cmpf ult, %bias, %four : f32
    %3 = arith.cmpf une, %x, %four : f32
    %4 = arith.andi %1, %2 : i1
    %5 = arith.xori %4, %true : i1
    %6 = arith.ori %5, %4 : i1
    %7 = arith.andi %6, %3 : i1
    %8 = arith.maxnumf %x, %bias : f32
    %9 = arith.minnumf %8, %four : f32
    %10 = arith.truncf %9 : f32 to f16
    %11 = arith.extf %10 : f16 to f32
    %12 = arith.select %5, %11, %bias : f32
    %13 = arith.select %7, %12, %four : f32
    blockscale.yield %13
  } : !a, !b, tensor<136xf16> -> !d
  return %0 : !d
}

// The result need not depend on the product, or on all that there is.
func.func @unused(%a: !a, %b: !b, %c: tensor<130x136xf32>, %v: tensor<136xf32>) -> !d {
  %0 = blockscale.matmul %a, %b c(%c) bias(%v) epilogue(%x, %y, %bias) {
    %1 = arith.mulf %bias, %bias : f32
    blockscale.yield %1
  } : !a, !b, tensor<130x136xf32>, tensor<136xf32> -> !d
  return %0 : !d
}

func.func @identity(%a: !a, %b: !b, %c: tensor<130x136xf32>) -> !d {
  %0 = blockscale.matmul %a, %b c(%c) epilogue(%x, %y) {
    blockscale.yield %x
  } : !a, !b, tensor<130x136xf32> -> !d
  return %0 : !d
}

// Operands exchanged: rows of the instruction are columns of D.
!skinny = !blockscale.tensor<7x256xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!wide = !blockscale.tensor<264x256xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @swapped(%a: !skinny, %b: !wide, %c: tensor<7x264xf32>, %v: tensor<264xf32>) -> tensor<7x264xbf16> {
  %0 = blockscale.matmul %a, %b c(%c) bias(%v) epilogue(%x, %y, %bias) {
    %1 = arith.mulf %x, %bias : f32
    %2 = arith.subf %1, %y : f32
    blockscale.yield %2
  } : !skinny, !wide, tensor<7x264xf32>, tensor<264xf32> -> tensor<7x264xbf16>
  return %0 : tensor<7x264xbf16>
}

// Tensor scales are part of the product, one for each matrix.
!batch_a = !blockscale.tensor<3x40x128xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!batch_b = !blockscale.tensor<3x48x128xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
func.func @batched(%a: !batch_a, %b: !batch_b, %s: f32) -> tensor<3x40x48xf32> {
  %0 = blockscale.matmul %a, %b alpha(%s) epilogue(%x) {
    %two = arith.constant 2.0 : f32
    %1 = arith.addf %x, %two : f32
    %2 = arith.mulf %1, %x : f32
    blockscale.yield %2
  } : !batch_a, !batch_b -> tensor<3x40x48xf32>
  return %0 : tensor<3x40x48xf32>
}
