// What the plan says of an epilogue, and edits of its code, none of which may
// pass: the bounds and the factor off by one unit of the last place, the bias
// taken away in place of added, one extremum for the other.

// REQUIRES: mlir
// RUN: rm -rf %t && mkdir %t
// RUN: blockscale compile %s --no-cubin -o %t
// RUN: FileCheck %s --check-prefix=PLAN < %t/epilogue-mutations.plan.json
// RUN: blockscale verify %s --ptx=%t/epilogue-mutations.ptx | FileCheck %s --check-prefix=RIGHT
// RUN: sed 's/0f40C00000/0f40C00001/' %t/epilogue-mutations.ptx > %t/1.ptx
// RUN: sed 's/0fBFC00000/0fBFC00001/' %t/epilogue-mutations.ptx > %t/2.ptx
// RUN: sed 's/0f3EC00000/0f3EC00001/' %t/epilogue-mutations.ptx > %t/3.ptx
// RUN: sed 's/add.rn.f32x2/sub.rn.f32x2/' %t/epilogue-mutations.ptx > %t/4.ptx
// RUN: sed 's/max.NaN.f32/min.NaN.f32/' %t/epilogue-mutations.ptx > %t/5.ptx
// RUN: not blockscale verify %s --data=exact --ptx=%t/1.ptx | FileCheck %s --check-prefix=WRONG
// RUN: not blockscale verify %s --data=exact --ptx=%t/2.ptx | FileCheck %s --check-prefix=WRONG
// RUN: not blockscale verify %s --data=exact --ptx=%t/3.ptx | FileCheck %s --check-prefix=WRONG
// RUN: not blockscale verify %s --data=exact --ptx=%t/4.ptx | FileCheck %s --check-prefix=WRONG
// RUN: not blockscale verify %s --data=exact --ptx=%t/5.ptx | FileCheck %s --check-prefix=WRONG

// RIGHT-COUNT-2: pass
// WRONG: bounded {{.*}} FAIL

// PLAN:      "epilogue": {
// PLAN:        "bias": "column",
// PLAN-NEXT:   "steps": [
// PLAN-NEXT:     {
// PLAN-NEXT:       "name": "t0",
// PLAN-NEXT:       "op": "arith.constant",
// PLAN-NEXT:       "operands": [],
// PLAN-NEXT:       "type": "f32",
// PLAN-NEXT:       "predicate": "",
// PLAN-NEXT:       "constant": "-1.5"
// PLAN:            "constant": "6"
// PLAN:            "constant": "0.375"
// PLAN:            "name": "t3",
// PLAN-NEXT:       "op": "arith.mulf",
// PLAN-NEXT:       "operands": [
// PLAN-NEXT:         "x",
// PLAN-NEXT:         "t2"
// PLAN:            "name": "t4",
// PLAN-NEXT:       "op": "arith.addf",
// PLAN-NEXT:       "operands": [
// PLAN-NEXT:         "t3",
// PLAN-NEXT:         "bias"
// PLAN:            "name": "t6",
// PLAN-NEXT:       "op": "arith.minimumf",
// PLAN-NEXT:       "operands": [
// PLAN-NEXT:         "t5",
// PLAN-NEXT:         "t1"
// PLAN-NEXT:       ],
// PLAN-NEXT:       "type": "f32",
// PLAN-NEXT:       "predicate": "",
// PLAN-NEXT:       "constant": null
// PLAN:          "result": "t6"

!a = !blockscale.tensor<130x256xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!b = !blockscale.tensor<72x256xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @bounded(%a: !a, %b: !b, %v: tensor<72xf32>) -> tensor<130x72xf32> {
  %0 = blockscale.matmul %a, %b bias(%v) epilogue(%x, %bias) {
    %low = arith.constant -1.5 : f32
    %high = arith.constant 6.0 : f32
    %half = arith.constant 0.375 : f32
    %1 = arith.mulf %x, %half : f32
    %2 = arith.addf %1, %bias : f32
    %3 = arith.maximumf %2, %low : f32
    %4 = arith.minimumf %3, %high : f32
    blockscale.yield %4
  } : !a, !b, tensor<72xf32> -> tensor<130x72xf32>
  return %0 : tensor<130x72xf32>
}
