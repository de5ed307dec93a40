// Loops of blocks, and branches to many places, around products: both ways agree.

// RUN: blockscale verify %s --m=40 --conditions=plain --data=exact | FileCheck %s
// CHECK-DAG: {{^}}loop exact - 2 8192 0 0 0 pass
// CHECK-DAG: {{^}}exits exact 40 2 5120 0 0 0 pass
// CHECK-DAG: {{^}}switch exact - 1 8192 0 {{.*}} pass
// CHECK-DAG: {{^}}undefined exact - 1 8192 0 0 0 pass

// RUN: blockscale-opt %s --blockscale-to-linalg | blockscale-opt --blockscale-structure-loops \
// RUN:   | FileCheck %s --check-prefix=SCF
// SCF-LABEL: func.func @loop
// SCF-NOT: cf.
// SCF: scf.while
// SCF-LABEL: func.func @exits
// SCF-NOT: cf.
// SCF-NOT: ub.poison : tensor
// SCF: scf.while
// SCF-LABEL: func.func @switch
// SCF: scf.index_switch
// SCF-LABEL: func.func @diamond
// SCF: cf.cond_br
// SCF-NOT: scf.if
// SCF-LABEL: func.func @undefined
// SCF-NOT: ub.poison

!x = !blockscale.tensor<?x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!y = !blockscale.tensor<64x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!w = !blockscale.tensor<128x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>

func.func @loop(%x: tensor<64x128xf32>, %w: !w, %n: i32) -> tensor<64x128xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  cf.br ^head(%c0, %x : i32, tensor<64x128xf32>)
^head(%i: i32, %v: tensor<64x128xf32>):
  %go = arith.cmpi slt, %i, %n : i32
  cf.cond_br %go, ^body, ^end
^body:
  %q = blockscale.quantize %v : tensor<64x128xf32> to !y
  %y = blockscale.matmul %q, %w : !y, !w -> tensor<64x128xf32>
  %j = arith.addi %i, %c1 : i32
  cf.br ^head(%j, %y : i32, tensor<64x128xf32>)
^end:
  return %v : tensor<64x128xf32>
}

// Two ways out of the loop, with different values, and scaled ones through it.
func.func @exits(%x: tensor<?x128xf32>, %w: !w, %n: i32, %m: i32) -> tensor<?x128xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %first = blockscale.quantize %x : tensor<?x128xf32> to !x
  cf.br ^head(%c0, %first : i32, !x)
^head(%i: i32, %v: !x):
  %go = arith.cmpi slt, %i, %n : i32
  cf.cond_br %go, ^body, ^end
^body:
  %y = blockscale.matmul %v, %w : !x, !w -> tensor<?x128xf32>
  %j = arith.addi %i, %c1 : i32
  %stop = arith.cmpi eq, %j, %m : i32
  cf.cond_br %stop, ^early(%y : tensor<?x128xf32>), ^again
^again:
  %q = blockscale.quantize %y : tensor<?x128xf32> to !x
  cf.br ^head(%j, %q : i32, !x)
^early(%e: tensor<?x128xf32>):
  %negative = arith.negf %e : tensor<?x128xf32>
  return %negative : tensor<?x128xf32>
^end:
  %d = blockscale.dequantize %v : !x to tensor<?x128xf32>
  return %d : tensor<?x128xf32>
}

func.func @switch(%x: !y, %w: !w, %k: i32) -> tensor<64x128xf32> {
  cf.switch %k : i32, [
    default: ^a,
    2: ^b,
    3: ^c
  ]
^a:
  %a = blockscale.matmul %x, %w : !y, !w -> tensor<64x128xf32>
  return %a : tensor<64x128xf32>
^b:
  %b = blockscale.matmul %x, %w activation(relu) : !y, !w -> tensor<64x128xf32>
  return %b : tensor<64x128xf32>
^c:
  %c = blockscale.matmul %x, %w activation(gelu) : !y, !w -> tensor<64x128xf32>
  return %c : tensor<64x128xf32>
}

// What needs no loop stays as it is.
func.func @diamond(%x: !y, %w: !w, %flag: i1) -> tensor<64x128xf32> {
  cf.cond_br %flag, ^a, ^b
^a:
  %a = blockscale.matmul %x, %w : !y, !w -> tensor<64x128xf32>
  cf.br ^end(%a : tensor<64x128xf32>)
^b:
  %b = blockscale.matmul %x, %w activation(relu) : !y, !w -> tensor<64x128xf32>
  cf.br ^end(%b : tensor<64x128xf32>)
^end(%r: tensor<64x128xf32>):
  return %r : tensor<64x128xf32>
}

// A value of a path that is not taken.
func.func @undefined(%x: !y, %w: !w, %flag: i1) -> tensor<64x128xf32> {
  %none = ub.poison : tensor<64x128xf32>
  %a = scf.if %flag -> tensor<64x128xf32> {
    %y = blockscale.matmul %x, %w : !y, !w -> tensor<64x128xf32>
    scf.yield %y : tensor<64x128xf32>
  } else {
    scf.yield %none : tensor<64x128xf32>
  }
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %r = arith.select %flag, %a, %zero : tensor<64x128xf32>
  return %r : tensor<64x128xf32>
}
