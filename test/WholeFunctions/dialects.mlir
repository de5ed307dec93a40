// What stands around products in dialects other than arith, math, scf and linalg.

// RUN: blockscale verify %s --m=40 --conditions=plain --data=exact | FileCheck %s
// CHECK-DAG: {{^}}tosa exact - 1 4096 0 {{.*}} pass
// CHECK-DAG: {{^}}index exact - 1 4097 0 0 0 pass
// CHECK-DAG: {{^}}affine exact - 1 1 0 0 0 pass
// CHECK-DAG: {{^}}vector exact - 1 4096 0 0 0 pass
// CHECK-DAG: {{^}}forall exact - 1 4096 0 0 0 pass
// CHECK-DAG: {{^}}attention exact 40,512 2 5120 0 {{.*}} pass
// CHECK-DAG: {{^}}recursion exact - 3 4096 0 0 0 pass
// CHECK-DAG: {{^}}while exact - 2 4097 0 0 0 pass
// CHECK-DAG: {{^}}convolution exact - 1 3844 0 0 0 pass

!x = !blockscale.tensor<64x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>

func.func @tosa(%x: !x, %w: !x, %b: tensor<1x64xf32>) -> tensor<64x64xf32> {
  %y = blockscale.matmul %x, %w : !x, !x -> tensor<64x64xf32>
  %z = tosa.add %y, %b : (tensor<64x64xf32>, tensor<1x64xf32>) -> tensor<64x64xf32>
  %s = tosa.sigmoid %z : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %t = tosa.tanh %s : (tensor<64x64xf32>) -> tensor<64x64xf32>
  return %t : tensor<64x64xf32>
}

func.func @index(%x: !x, %w: !x, %n: index) -> (tensor<64x64xf32>, index) {
  %y = blockscale.matmul %x, %w : !x, !x -> tensor<64x64xf32>
  %two = index.constant 2
  %k = index.mul %n, %two
  %t = arith.negf %y : tensor<64x64xf32>
  return %t, %k : tensor<64x64xf32>, index
}

func.func @affine(%x: !x, %w: !x) -> f32 {
  %y = blockscale.matmul %x, %w : !x, !x -> tensor<64x64xf32>
  %z = arith.constant 0.0 : f32
  %r = affine.for %i = 0 to 64 iter_args(%a = %z) -> f32 {
    %v = tensor.extract %y[%i, %i] : tensor<64x64xf32>
    %s = arith.addf %a, %v : f32
    affine.yield %s : f32
  }
  return %r : f32
}

func.func @vector(%x: !x, %w: !x) -> tensor<64x64xf32> {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0.0 : f32
  %y = blockscale.matmul %x, %w : !x, !x -> tensor<64x64xf32>
  %v = vector.transfer_read %y[%c0, %c0], %z {in_bounds = [true, true]} : tensor<64x64xf32>, vector<4x64xf32>
  %n = arith.negf %v : vector<4x64xf32>
  %t = vector.transfer_write %n, %y[%c0, %c0] {in_bounds = [true, true]} : vector<4x64xf32>, tensor<64x64xf32>
  return %t : tensor<64x64xf32>
}

func.func @forall(%x: !x, %w: !x) -> tensor<64x64xf32> {
  %y = blockscale.matmul %x, %w : !x, !x -> tensor<64x64xf32>
  %e = tensor.empty() : tensor<64x64xf32>
  %r = scf.forall (%i) in (8) shared_outs(%o = %e) -> (tensor<64x64xf32>) {
    %at = affine.apply affine_map<(d0) -> (d0 * 8)>(%i)
    %s = tensor.extract_slice %y[%at, 0] [8, 64] [1, 1] : tensor<64x64xf32> to tensor<8x64xf32>
    %n = arith.negf %s : tensor<8x64xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %n into %o[%at, 0] [8, 64] [1, 1] : tensor<8x64xf32> into tensor<64x64xf32>
    }
  }
  return %r : tensor<64x64xf32>
}

// Two sequences of different lengths.
!q = !blockscale.tensor<2x?x64xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!p = !blockscale.tensor<2x?x?xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!vt = !blockscale.tensor<2x64x?xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @attention(%q: tensor<2x?x64xf32>, %k: tensor<2x?x64xf32>, %v: tensor<2x?x64xf32>) -> tensor<2x?x64xf32> {
  %c1 = arith.constant 1 : index
  %qq = blockscale.quantize %q : tensor<2x?x64xf32> to !q
  %qk = blockscale.quantize %k : tensor<2x?x64xf32> to !q
  %alpha = arith.constant 0.125 : f32
  %s = blockscale.matmul %qq, %qk alpha(%alpha) : !q, !q -> tensor<2x?x?xf32>
  %m = tensor.dim %q, %c1 : tensor<2x?x64xf32>
  %n = tensor.dim %k, %c1 : tensor<2x?x64xf32>
  %e = tensor.empty(%m, %n) : tensor<2x?x?xf32>
  %sm = linalg.softmax dimension(2) ins(%s : tensor<2x?x?xf32>) outs(%e : tensor<2x?x?xf32>) -> tensor<2x?x?xf32>
  %pq = blockscale.quantize %sm : tensor<2x?x?xf32> to !p
  %et = tensor.empty(%n) : tensor<2x64x?xf32>
  %vt = linalg.transpose ins(%v : tensor<2x?x64xf32>) outs(%et : tensor<2x64x?xf32>) permutation = [0, 2, 1]
  %qv = blockscale.quantize %vt : tensor<2x64x?xf32> to !vt
  %o = blockscale.matmul %pq, %qv : !p, !vt -> tensor<2x?x64xf32>
  return %o : tensor<2x?x64xf32>
}

func.func @recursion(%x: !x, %w: !x, %n: i32) -> tensor<64x64xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %ends = arith.cmpi sle, %n, %c0 : i32
  %y = blockscale.matmul %x, %w : !x, !x -> tensor<64x64xf32>
  %r = scf.if %ends -> tensor<64x64xf32> {
    scf.yield %y : tensor<64x64xf32>
  } else {
    %k = arith.subi %n, %c1 : i32
    %p = func.call @recursion(%x, %w, %k) : (!x, !x, i32) -> tensor<64x64xf32>
    %q = arith.addf %p, %y : tensor<64x64xf32>
    scf.yield %q : tensor<64x64xf32>
  }
  return %r : tensor<64x64xf32>
}

func.func @while(%x: !x, %w: !x, %n: i32) -> (tensor<64x64xf32>, i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %init = arith.constant dense<0.0> : tensor<64x64xf32>
  %r:2 = scf.while (%i = %c0, %acc = %init) : (i32, tensor<64x64xf32>) -> (i32, tensor<64x64xf32>) {
    %go = arith.cmpi slt, %i, %n : i32
    scf.condition(%go) %i, %acc : i32, tensor<64x64xf32>
  } do {
  ^bb0(%i: i32, %acc: tensor<64x64xf32>):
    %y = blockscale.matmul %x, %w c(%acc) : !x, !x, tensor<64x64xf32> -> tensor<64x64xf32>
    %next = arith.addi %i, %c1 : i32
    scf.yield %next, %y : i32, tensor<64x64xf32>
  }
  return %r#1, %r#0 : tensor<64x64xf32>, i32
}

func.func @convolution(%x: !x, %w: !x, %k: tensor<3x3xf32>) -> tensor<62x62xf32> {
  %y = blockscale.matmul %x, %w : !x, !x -> tensor<64x64xf32>
  %z = arith.constant dense<0.0> : tensor<62x62xf32>
  %c = linalg.conv_2d ins(%y, %k : tensor<64x64xf32>, tensor<3x3xf32>) outs(%z : tensor<62x62xf32>) -> tensor<62x62xf32>
  return %c : tensor<62x62xf32>
}
