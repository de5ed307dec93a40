// RUN: blockscale-opt %s -split-input-file -verify-diagnostics -allow-unregistered-dialect

!q = !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32">
func.func @few_arguments(%a: !q, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  // expected-error @below {{expected an epilogue with an argument of f32 for each of the product, 'c', found ('f32')}}
  %0 = blockscale.matmul %a, %a c(%c) epilogue(%x) {
    blockscale.yield %x
  } : !q, !q, tensor<64x64xf32> -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// -----

!q = !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32">
func.func @many_arguments(%a: !q, %v: tensor<64xf32>) -> tensor<64x64xf32> {
  // expected-error @below {{expected an epilogue with an argument of f32 for each of the product, 'bias', found ('f32', 'f32', 'f32')}}
  %0 = blockscale.matmul %a, %a bias(%v) epilogue(%x, %y, %z) {
    blockscale.yield %x
  } : !q, !q, tensor<64xf32> -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// -----

!q = !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32">
func.func @argument_type(%a: !q) -> tensor<64x64xf32> {
  // expected-error @below {{expected an epilogue with an argument of f32 for each of the product, found ('bf16')}}
  %0 = "blockscale.matmul"(%a, %a) <{operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0, 0, 0>}> ({
  ^bb0(%x: bf16):
    %1 = arith.extf %x : bf16 to f32
    blockscale.yield %1
  }) : (!q, !q) -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// -----

!q = !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32">
func.func @terminator(%a: !q) -> tensor<64x64xf32> {
  // expected-error @below {{expected an epilogue that ends with 'blockscale.yield'}}
  %0 = blockscale.matmul %a, %a epilogue(%x) {
    %1 = arith.negf %x : f32
    "test.end"(%1) : (f32) -> ()
  } : !q, !q -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// -----

func.func @yield_elsewhere(%x: f32) {
  // expected-error @below {{'blockscale.yield' op expects parent op to be one of 'blockscale.matmul, blockscale.kernel_matmul'}}
  blockscale.yield %x
}

// -----

!q = !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32">
func.func @outside(%a: !q, %s: f32) -> tensor<64x64xf32> {
  %0 = blockscale.matmul %a, %a epilogue(%x) {
    // expected-error @below {{use of undeclared SSA value name}}
    %1 = arith.mulf %x, %s : f32
    blockscale.yield %1
  } : !q, !q -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// -----

!q = !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32">
func.func @captured(%a: !q, %s: f32) -> tensor<64x64xf32> {
  // expected-note @below {{required by region isolation constraints}}
  %0 = "blockscale.matmul"(%a, %a) <{operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0, 0, 0>}> ({
  ^bb0(%x: f32):
    // expected-error @below {{'arith.mulf' op using value defined outside the region}}
    %1 = arith.mulf %x, %s : f32
    blockscale.yield %1
  }) : (!q, !q) -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// -----

!q = !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32">
func.func @no_instruction(%a: !q) -> tensor<64x64xf32> {
  %0 = blockscale.matmul %a, %a epilogue(%x) {
    // expected-error @below {{'math.sin' op is not lowered in an epilogue; expected one of 'math.absf', 'math.ceil', 'math.copysign', 'math.erf', 'math.exp', 'math.exp2', 'math.expm1', 'math.floor', 'math.fma', 'math.log', 'math.log1p', 'math.log2', 'math.roundeven', 'math.rsqrt', 'math.sqrt', 'math.tanh', 'math.trunc'}}
    %1 = math.sin %x : f32
    blockscale.yield %1
  } : !q, !q -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// -----

!q = !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32">
func.func @remainder(%a: !q) -> tensor<64x64xf32> {
  %0 = blockscale.matmul %a, %a epilogue(%x) {
    // expected-error @below {{'arith.remf' op is not lowered in an epilogue; expected one of 'arith.addf', 'arith.andi', 'arith.cmpf', 'arith.constant', 'arith.divf', 'arith.extf', 'arith.maximumf', 'arith.maxnumf', 'arith.minimumf', 'arith.minnumf', 'arith.mulf', 'arith.negf', 'arith.ori', 'arith.select', 'arith.subf', 'arith.truncf', 'arith.xori'}}
    %1 = arith.remf %x, %x : f32
    blockscale.yield %1
  } : !q, !q -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// -----

!q = !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32">
func.func private @f(f32) -> f32
func.func @call(%a: !q) -> tensor<64x64xf32> {
  %0 = blockscale.matmul %a, %a epilogue(%x) {
    // expected-error @below {{'func.call' op is not lowered in an epilogue; expected ops of 'arith' and 'math'}}
    %1 = func.call @f(%x) : (f32) -> f32
    blockscale.yield %1
  } : !q, !q -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// -----

!q = !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32">
func.func @control_flow(%a: !q) -> tensor<64x64xf32> {
  %0 = blockscale.matmul %a, %a epilogue(%x) {
    %is = arith.cmpf olt, %x, %x : f32
    // expected-error @below {{'scf.if' op is not lowered in an epilogue; expected ops of 'arith' and 'math'}}
    %1 = scf.if %is -> f32 {
      scf.yield %x : f32
    } else {
      scf.yield %x : f32
    }
    blockscale.yield %1
  } : !q, !q -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// -----

!q = !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32">
func.func @double(%a: !q) -> tensor<64x64xf32> {
  %0 = blockscale.matmul %a, %a epilogue(%x) {
    // expected-error @below {{'arith.constant' op is not lowered for its types in an epilogue; expected a constant of f32 or i1}}
    %1 = arith.constant 1.0 : f64
    blockscale.yield %x
  } : !q, !q -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// -----

!q = !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32">
func.func @widen_to_double(%a: !q) -> tensor<64x64xf32> {
  %0 = blockscale.matmul %a, %a epilogue(%x) {
    // expected-error @below {{'arith.extf' op is not lowered for its types in an epilogue; expected bf16 or f16 to f32}}
    %1 = arith.extf %x : f32 to f64
    blockscale.yield %x
  } : !q, !q -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// -----

!q = !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32">
func.func @narrow_to_fp8(%a: !q) -> tensor<64x64xf32> {
  %0 = blockscale.matmul %a, %a epilogue(%x) {
    // expected-error @below {{'arith.truncf' op is not lowered for its types in an epilogue; expected f32 to bf16 or f16}}
    %1 = arith.truncf %x : f32 to f8E4M3FN
    blockscale.yield %x
  } : !q, !q -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// -----

!q = !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32">
func.func @narrow_arithmetic(%a: !q) -> tensor<64x64xf32> {
  %0 = blockscale.matmul %a, %a epilogue(%x) {
    %1 = arith.truncf %x : f32 to bf16
    // expected-error @below {{'arith.mulf' op is not lowered for its types in an epilogue; expected numbers of f32}}
    %2 = arith.mulf %1, %1 : bf16
    %3 = arith.extf %2 : bf16 to f32
    blockscale.yield %3
  } : !q, !q -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// -----

!q = !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32">
func.func @compare_narrow(%a: !q) -> tensor<64x64xf32> {
  %0 = blockscale.matmul %a, %a epilogue(%x) {
    %1 = arith.truncf %x : f32 to bf16
    // expected-error @below {{'arith.cmpf' op is not lowered for its types in an epilogue; expected numbers of f32}}
    %2 = arith.cmpf olt, %1, %1 : bf16
    blockscale.yield %x
  } : !q, !q -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// -----

!q = !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32">
func.func @select_condition(%a: !q) -> tensor<64x64xf32> {
  %0 = blockscale.matmul %a, %a epilogue(%x) {
    %1 = arith.cmpf olt, %x, %x : f32
    // expected-error @below {{'arith.select' op is not lowered for its types in an epilogue; expected a condition of i1 and numbers of f32}}
    %2 = arith.select %1, %1, %1 : i1
    blockscale.yield %x
  } : !q, !q -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// -----

!q = !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32">
func.func @integers(%a: !q) -> tensor<64x64xf32> {
  %0 = blockscale.matmul %a, %a epilogue(%x) {
    %true = arith.constant true
    // expected-error @below {{'arith.extui' op is not lowered in an epilogue}}
    %1 = arith.extui %true : i1 to i32
    blockscale.yield %x
  } : !q, !q -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// -----

!q = !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32">
func.func @fastmath(%a: !q) -> tensor<64x64xf32> {
  %0 = blockscale.matmul %a, %a epilogue(%x) {
    // expected-error @below {{'arith.mulf' op has the flags 'reassoc,contract', but every op of an epilogue rounds to nearest; expected none}}
    %1 = arith.mulf %x, %x fastmath<reassoc,contract> : f32
    blockscale.yield %1
  } : !q, !q -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// -----

!q = !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32">
func.func @rounding_mode(%a: !q) -> tensor<64x64xf32> {
  %0 = blockscale.matmul %a, %a epilogue(%x) {
    // expected-error @below {{'arith.truncf' op has a rounding mode, but every op of an epilogue rounds to nearest; expected none}}
    %1 = arith.truncf %x toward_zero : f32 to bf16
    %2 = arith.extf %1 : bf16 to f32
    blockscale.yield %2
  } : !q, !q -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// -----

!i = !blockscale.tensor<64x64xi8>
func.func @integer_result(%a: !i) -> tensor<64x64xi32> {
  // expected-error @below {{a result of i32 is the product as it is: it takes no alpha, beta, c, bias or epilogue}}
  %0 = blockscale.matmul %a, %a epilogue(%x) {
    blockscale.yield %x
  } : !i, !i -> tensor<64x64xi32>
  return %0 : tensor<64x64xi32>
}

// -----

// expected-error @below {{expected 1 to 5 inputs, found 6}}
func.func private @inputs() attributes {epilogue = #blockscale.epilogue<inputs = 6, steps = [], result = 0>}

// -----

// expected-error @below {{expected the number of one of the 1 values before, found 1}}
func.func private @result() attributes {epilogue = #blockscale.epilogue<inputs = 1, steps = [], result = 1>}

// -----

// expected-error @below {{expected the number of one of the 1 values before, found 1}}
func.func private @operand() attributes {epilogue = #blockscale.epilogue<inputs = 1, steps = [#blockscale.epilogue_step<op = "arith.negf", type = f32, operands = [1]>], result = 1>}

// -----

// expected-error @below {{expected steps, found 1 : i64}}
func.func private @no_steps() attributes {epilogue = #blockscale.epilogue<inputs = 1, steps = [1], result = 0>}

// -----

// expected-error @below {{'math.sin' is no op of an epilogue}}
func.func private @step() attributes {epilogue = #blockscale.epilogue<inputs = 1, steps = [#blockscale.epilogue_step<op = "math.sin", type = f32, operands = [0]>], result = 1>}

// -----

// expected-error @below {{expected a value of f32 or i1 for a constant, and only then}}
func.func private @constant() attributes {epilogue = #blockscale.epilogue<inputs = 1, steps = [#blockscale.epilogue_step<op = "arith.constant", type = f32, value = 1.0 : f64>], result = 1>}

// -----

// expected-error @below {{expected a predicate for a comparison, and only then}}
func.func private @predicate() attributes {epilogue = #blockscale.epilogue<inputs = 1, steps = [#blockscale.epilogue_step<op = "arith.cmpf", type = i1, operands = [0, 0]>], result = 0>}
