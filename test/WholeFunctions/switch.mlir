// What a switch yields may be a tensor from outside, which is not to be written
// over while others still read it; MLIR 22's bufferization does not see that.

// REQUIRES: emulated-driver
// RUN: blockscale-opt %s --blockscale-to-host -o %t.mlir
// RUN: %mlir-runner %t.mlir -e main -entry-point-result=void \
// RUN:   -shared-libs=%mlir_runner_libs | FileCheck %s
// RUN: blockscale-opt %s -pass-pipeline="builtin.module(func.func(blockscale-decompose-host-ops))" \
// RUN:   | FileCheck %s --check-prefix=IF

// CHECK: {{\[}}101,  4,  6,  8]
// CHECK: {{\[}}101,  22,  33,  44]
// CHECK: {{\[}}101,  6,  9,  12]

// IF-LABEL: func.func @chosen
// IF-NOT: scf.index_switch
// IF: arith.cmpi eq, {{.*}}, %c7
// IF: scf.if
// IF: arith.cmpi eq, {{.*}}, %c-2
// IF: scf.if
// A switch of numbers is as good as any.
// IF: scf.index_switch {{.*}} -> index

func.func private @printMemrefF32(tensor<*xf32>)

func.func @chosen(%at: index, %x: tensor<4xf32>, %y: tensor<4xf32>, %twice: tensor<4xf32>) -> tensor<4xf32> {
  %z = scf.index_switch %at -> tensor<4xf32>
  case 7 {
    scf.yield %x : tensor<4xf32>
  }
  case -2 {
    scf.yield %y : tensor<4xf32>
  }
  default {
    scf.yield %twice : tensor<4xf32>
  }
  %place = scf.index_switch %at -> index
  case 5 {
    %c1 = arith.constant 1 : index
    scf.yield %c1 : index
  }
  default {
    %c0 = arith.constant 0 : index
    scf.yield %c0 : index
  }
  %hundred = arith.constant 100.0 : f32
  %w = tensor.insert %hundred into %z[%place] : tensor<4xf32>
  %a = arith.addf %w, %x : tensor<4xf32>
  return %a : tensor<4xf32>
}

// IF-LABEL: func.func @only
// IF-NOT: scf.
// IF: return %arg1
func.func @only(%at: index, %x: tensor<4xf32>) -> tensor<4xf32> {
  %z = scf.index_switch %at -> tensor<4xf32>
  default {
    scf.yield %x : tensor<4xf32>
  }
  return %z : tensor<4xf32>
}

func.func @show(%at: index) {
  %c1 = arith.constant 1 : index
  %x = tensor.generate {
  ^bb0(%i: index):
    %next = arith.addi %i, %c1 : index
    %int = arith.index_cast %next : index to i32
    %value = arith.sitofp %int : i32 to f32
    tensor.yield %value : f32
  } : tensor<4xf32>
  %ten = arith.constant dense<10.0> : tensor<4xf32>
  %two = arith.constant dense<2.0> : tensor<4xf32>
  %y = arith.mulf %x, %ten : tensor<4xf32>
  %twice = arith.mulf %x, %two : tensor<4xf32>
  %z = func.call @chosen(%at, %x, %y, %twice) : (index, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %any = tensor.cast %z : tensor<4xf32> to tensor<*xf32>
  func.call @printMemrefF32(%any) : (tensor<*xf32>) -> ()
  return
}

func.func @main() {
  %c7 = arith.constant 7 : index
  %minus = arith.constant -2 : index
  %c1 = arith.constant 1 : index
  call @show(%c7) : (index) -> ()
  call @show(%minus) : (index) -> ()
  call @show(%c1) : (index) -> ()
  return
}
