// Epilogues as regions, and the keywords that stand for some of them.

// RUN: blockscale-opt %s | FileCheck %s
// RUN: blockscale-opt %s | blockscale-opt | FileCheck %s
// RUN: blockscale-opt %s --mlir-print-op-generic | blockscale-opt | FileCheck %s
// RUN: blockscale-opt %s --emit-bytecode | blockscale-opt | FileCheck %s
// RUN: blockscale-opt %s --mlir-print-op-generic | FileCheck %s --check-prefix=GENERIC
// RUN: blockscale-opt %s --canonicalize --cse | FileCheck %s --check-prefix=FOLDED

!q = !blockscale.tensor<?x64xf8E4M3FN, "e8m0_t32">
!d = tensor<?x?xf32>
!v = tensor<?xf32>

// CHECK-LABEL: func.func @square
// CHECK: blockscale.matmul %{{.*}}, %{{.*}} epilogue(%[[X:.*]]) {
// CHECK-NEXT: %[[Y:.*]] = arith.mulf %[[X]], %[[X]] : f32
// CHECK-NEXT: blockscale.yield %[[Y]]
// CHECK-NEXT: } : !blockscale.tensor
func.func @square(%a: !q) -> !d {
  %0 = blockscale.matmul %a, %a epilogue(%sum) {
    %1 = arith.mulf %sum, %sum : f32
    blockscale.yield %1
  } : !q, !q -> !d
  return %0 : !d
}

// The arguments are the product, c and the bias, and have these names. They
// hide values of the same name around the product.
// CHECK-LABEL: func.func @arguments
// CHECK: blockscale.matmul %{{.*}}, %{{.*}} alpha(%{{.*}}) beta(%{{.*}}) c(%{{.*}}) bias(%{{.*}}) row epilogue(%x, %c, %bias) {
// CHECK-NEXT: %[[FIRST:.*]] = arith.mulf %x, %c : f32
// CHECK-NEXT: arith.subf %[[FIRST]], %bias : f32
// CHECK: } schedule(#blockscale.schedule<stages = 4>) : !blockscale.tensor
func.func @arguments(%a: !q, %alpha: f32, %c: !d, %bias: !v) -> !d {
  %0 = blockscale.matmul %a, %a alpha(%alpha) beta(%alpha) c(%c) bias(%bias) row epilogue(%a, %c, %alpha) {
    %0 = arith.mulf %a, %c : f32
    %1 = arith.subf %0, %alpha : f32
    blockscale.yield %1
  } schedule(#blockscale.schedule<stages = 4>) : !q, !q, !d, !v -> !d
  return %0 : !d
}

// Every op that an epilogue may hold.
// CHECK-LABEL: func.func @every_op
// CHECK: epilogue(%x, %c) {
// CHECK-COUNT-38: {{(arith|math)\.}}
// CHECK: blockscale.yield
func.func @every_op(%a: !q, %c: !d) -> !d {
  %0 = blockscale.matmul %a, %a c(%c) epilogue(%x, %y) {
    %true = arith.constant true
    %half = arith.constant 0.5 : f32
    %0 = arith.addf %x, %half : f32
    %1 = arith.subf %0, %y : f32
    %2 = arith.mulf %1, %x : f32
    %3 = arith.divf %2, %y : f32
    %4 = arith.negf %3 : f32
    %5 = arith.maximumf %4, %x : f32
    %6 = arith.minimumf %5, %x : f32
    %7 = arith.maxnumf %6, %x : f32
    %8 = arith.minnumf %7, %x : f32
    %9 = arith.cmpf olt, %8, %x : f32
    %10 = arith.cmpf une, %8, %y : f32
    %11 = arith.andi %9, %10 : i1
    %12 = arith.ori %11, %9 : i1
    %13 = arith.xori %12, %true : i1
    %14 = arith.select %13, %8, %x : f32
    %15 = arith.truncf %14 : f32 to bf16
    %16 = arith.extf %15 : bf16 to f32
    %17 = arith.truncf %16 : f32 to f16
    %18 = arith.extf %17 : f16 to f32
    %19 = math.absf %18 : f32
    %20 = math.copysign %19, %x : f32
    %21 = math.fma %20, %x, %y : f32
    %22 = math.sqrt %21 : f32
    %23 = math.rsqrt %22 : f32
    %24 = math.exp %23 : f32
    %25 = math.exp2 %24 : f32
    %26 = math.expm1 %25 : f32
    %27 = math.log %26 : f32
    %28 = math.log2 %27 : f32
    %29 = math.log1p %28 : f32
    %30 = math.tanh %29 : f32
    %31 = math.erf %30 : f32
    %32 = math.floor %31 : f32
    %33 = math.ceil %32 : f32
    %34 = math.trunc %33 : f32
    %35 = math.roundeven %34 : f32
    blockscale.yield %35
  } : !q, !q, !d -> !d
  return %0 : !d
}

// A keyword is a region.
// CHECK-LABEL: func.func @keywords
// CHECK: blockscale.matmul %{{.*}}, %{{.*}} activation(relu) :
// CHECK: blockscale.matmul %{{.*}}, %{{.*}} activation(gelu) :
// CHECK: blockscale.matmul %{{.*}}, %{{.*}} c(%{{.*}}) bias(%{{.*}}) activation(silu) :
// GENERIC-LABEL: sym_name = "keywords"
// GENERIC: ^bb0(%[[X:.*]]: f32):
// GENERIC-NEXT: %[[ZERO:.*]] = "arith.constant"() <{value = 0.000000e+00 : f32}>
// GENERIC-NEXT: %[[Y:.*]] = "arith.maximumf"(%[[X]], %[[ZERO]])
// GENERIC-NEXT: "blockscale.yield"(%[[Y]]) : (f32) -> ()
// FOLDED-LABEL: func.func @keywords
// FOLDED: activation(relu)
// FOLDED: activation(gelu)
// FOLDED: activation(silu)
func.func @keywords(%a: !q, %c: !d, %v: !v) -> (!d, !d, !d) {
  %0 = blockscale.matmul %a, %a activation(relu) : !q, !q -> !d
  %1 = blockscale.matmul %a, %a activation(gelu) : !q, !q -> !d
  %2 = blockscale.matmul %a, %a c(%c) bias(%v) activation(silu) : !q, !q, !d, !v -> !d
  return %0, %1, %2 : !d, !d, !d
}

// A region that means a keyword is printed as one, wherever its constants
// stand; one that means the sum of its arguments is not printed.
// CHECK-LABEL: func.func @written_out
// CHECK: blockscale.matmul %{{.*}}, %{{.*}} bias(%{{.*}}) activation(silu) :
// CHECK: blockscale.matmul %{{.*}}, %{{.*}} c(%{{.*}}) bias(%{{.*}}) : !blockscale.tensor
func.func @written_out(%a: !q, %c: !d, %v: !v) -> (!d, !d) {
  %0 = blockscale.matmul %a, %a bias(%v) epilogue(%x, %bias) {
    %one = arith.constant 1.0 : f32
    %0 = arith.addf %x, %bias : f32
    %1 = arith.negf %0 : f32
    %2 = math.exp %1 : f32
    %3 = arith.addf %2, %one : f32
    %4 = arith.divf %0, %3 : f32
    blockscale.yield %4
  } : !q, !q, !v -> !d
  %1 = blockscale.matmul %a, %a c(%c) bias(%v) epilogue(%x, %y, %bias) {
    %0 = arith.addf %x, %y : f32
    %1 = arith.addf %0, %bias : f32
    blockscale.yield %1
  } : !q, !q, !d, !v -> !d
  return %0, %1 : !d, !d
}

// What is nearly a keyword is none: another constant, another order, another
// operand, an op more.
// CHECK-LABEL: func.func @nearly
// CHECK-NOT: activation
// CHECK: return
func.func @nearly(%a: !q, %v: !v) -> (!d, !d, !d, !d) {
  %0 = blockscale.matmul %a, %a epilogue(%x) {
    %zero = arith.constant 0.5 : f32
    %0 = arith.maximumf %x, %zero : f32
    blockscale.yield %0
  } : !q, !q -> !d
  %1 = blockscale.matmul %a, %a bias(%v) epilogue(%x, %bias) {
    %zero = arith.constant 0.0 : f32
    %0 = arith.maximumf %x, %zero : f32
    %1 = arith.addf %0, %bias : f32
    blockscale.yield %1
  } : !q, !q, !v -> !d
  %2 = blockscale.matmul %a, %a epilogue(%x) {
    %one = arith.constant 1.0 : f32
    %0 = arith.negf %x : f32
    %1 = math.exp %0 : f32
    %2 = arith.addf %1, %one : f32
    %3 = arith.divf %0, %2 : f32
    blockscale.yield %3
  } : !q, !q -> !d
  %3 = blockscale.matmul %a, %a epilogue(%x) {
    %zero = arith.constant 0.0 : f32
    %0 = arith.maximumf %x, %zero : f32
    %1 = arith.maximumf %0, %zero : f32
    blockscale.yield %1
  } : !q, !q -> !d
  return %0, %1, %2, %3 : !d, !d, !d, !d
}

// Constants stay in the region. A c times zero is dropped where it is only
// added.
// FOLDED-LABEL: func.func @folds
// FOLDED-NOT: arith.constant 2.0
// FOLDED: blockscale.matmul %{{.*}}, %{{.*}} epilogue(%x) {
// FOLDED-NEXT: %[[TWO:.*]] = arith.constant 2.000000e+00 : f32
// FOLDED-NEXT: arith.mulf %x, %[[TWO]]
// FOLDED: blockscale.matmul %{{[^ ]*}}, %{{[^ ]*}} bias(%{{[^ ]*}}) activation(gelu) :
// FOLDED: blockscale.matmul %{{[^ ]*}}, %{{[^ ]*}} beta(%{{[^ ]*}}) c(%{{[^ ]*}}) epilogue(%x, %c) {
func.func @folds(%a: !q, %c: !d, %v: !v) -> (!d, !d, !d) {
  %zero = arith.constant 0.0 : f32
  %0 = blockscale.matmul %a, %a epilogue(%x) {
    %one = arith.constant 1.0 : f32
    %two = arith.addf %one, %one : f32
    %0 = arith.mulf %x, %two : f32
    blockscale.yield %0
  } : !q, !q -> !d
  %1 = blockscale.matmul %a, %a beta(%zero) c(%c) bias(%v) activation(gelu) : !q, !q, !d, !v -> !d
  %2 = blockscale.matmul %a, %a beta(%zero) c(%c) epilogue(%x, %y) {
    %0 = arith.divf %x, %y : f32
    blockscale.yield %0
  } : !q, !q, !d -> !d
  return %0, %1, %2 : !d, !d, !d
}

// What stays of an epilogue when the body of a kernel no longer tells.
// CHECK-LABEL: func.func private @as_data
// CHECK-SAME: #blockscale.epilogue<inputs = 2, steps = [#blockscale.epilogue_step<op = "arith.constant", type = f32, value = 5.000000e-01 : f32>, #blockscale.epilogue_step<op = "arith.cmpf", type = i1, operands = [0, 2], predicate = "olt">, #blockscale.epilogue_step<op = "arith.constant", type = i1, value = true>, #blockscale.epilogue_step<op = "arith.select", type = f32, operands = [3, 0, 1]>], result = 5>
func.func private @as_data() attributes {epilogue = #blockscale.epilogue<inputs = 2, steps = [#blockscale.epilogue_step<op = "arith.constant", type = f32, value = 0.5 : f32>, #blockscale.epilogue_step<op = "arith.cmpf", type = i1, operands = [0, 2], predicate = "olt">, #blockscale.epilogue_step<op = "arith.constant", type = i1, value = true>, #blockscale.epilogue_step<op = "arith.select", type = f32, operands = [3, 0, 1]>], result = 5>}
