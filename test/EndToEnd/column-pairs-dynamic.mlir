// Pairs of columns of which only the host knows how many there are; an odd number of
// columns is refused at the launch.

// REQUIRES: mlir
// RUN: blockscale verify %s --num-sms=3 --m=129 --n=2,136,330 | FileCheck %s
// RUN: blockscale verify %s --target=sm_120a --num-sms=3 --m=129 --n=2,136,330 | FileCheck %s
// RUN: not blockscale verify %s --m=8 --n=7 2>&1 | FileCheck %s --check-prefix=ODD

// CHECK-NOT: FAIL
// CHECK-COUNT-6: pass
// CHECK-NOT: {{FAIL|pass}}

// ODD: kernel 'dynamic' needs N % 2 == 0, but M is 8, N is 7

!a = !blockscale.tensor<?x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!b = !blockscale.tensor<?x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @dynamic(%a: !a, %b: !b, %c: tensor<?x?xbf16>, %v: tensor<?xf32>) -> tensor<?x?xf32> {
  %0 = blockscale.matmul %a, %b c(%c) bias(%v) pairs epilogue(%g, %up, %add, %gb, %ub) {
    %1 = arith.addf %g, %gb : f32
    %2 = arith.addf %up, %ub : f32
    %3 = arith.subf %2, %1 : f32
    %4 = arith.addf %3, %add : f32
    blockscale.yield %4
  } : !a, !b, tensor<?x?xbf16>, tensor<?xf32> -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
