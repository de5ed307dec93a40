// gpt-oss's experts: runs of rows with a gate-and-up matrix and a bias each, in one
// launch. Empty groups, one row, and ends inside of tiles; rows behind the last group
// stay untouched.

// REQUIRES: mlir
// RUN: blockscale verify %s --num-sms=4 --m=1,400 | FileCheck %s
// RUN: blockscale verify %s --target=sm_103a --num-sms=148 --m=517 --completion=latest | FileCheck %s --check-prefix=ONCE
// RUN: blockscale verify %s --target=sm_120a --num-sms=3 --m=1,400 | FileCheck %s

// CHECK-NOT: FAIL
// CHECK-COUNT-8: pass
// CHECK-NOT: {{FAIL|pass}}

// ONCE-NOT: FAIL
// ONCE-COUNT-4: pass
// ONCE-NOT: {{FAIL|pass}}

!x = !blockscale.tensor<?x512xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
!w = !blockscale.tensor<5x136x512xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
func.func @clamped(%x: !x, %w: !w, %v: tensor<5x136xbf16>, %ends: tensor<5xi32>) -> tensor<?x68xbf16> {
  %0 = blockscale.matmul %x, %w groups(%ends : tensor<5xi32>) bias(%v) pairs epilogue(%g, %up, %gb, %ub) {
    %one = arith.constant 1.0 : f32
    %high = arith.constant 7.0 : f32
    %low = arith.constant -7.0 : f32
    %alpha = arith.constant 1.702 : f32
    %1 = arith.addf %g, %gb : f32
    %gate = arith.minimumf %1, %high : f32
    %2 = arith.addf %up, %ub : f32
    %3 = arith.minimumf %2, %high : f32
    %4 = arith.maximumf %3, %low : f32
    %5 = arith.mulf %gate, %alpha : f32
    %6 = arith.negf %5 : f32
    %7 = math.exp %6 : f32
    %8 = arith.addf %7, %one : f32
    %9 = arith.divf %gate, %8 : f32
    %10 = arith.addf %4, %one : f32
    %11 = arith.mulf %10, %9 : f32
    blockscale.yield %11
  } : !x, !w, tensor<5x136xbf16> -> tensor<?x68xbf16>
  return %0 : tensor<?x68xbf16>
}

func.func @difference(%x: !x, %w: !w, %c: tensor<?x68xf32>, %v: tensor<5x136xf32>, %ends: tensor<5xi32>) -> tensor<?x68xf32> {
  %0 = blockscale.matmul %x, %w groups(%ends : tensor<5xi32>) c(%c) bias(%v) pairs epilogue(%g, %up, %add, %gb, %ub) {
    %1 = arith.addf %g, %gb : f32
    %2 = arith.addf %up, %ub : f32
    %3 = arith.subf %2, %1 : f32
    %4 = arith.addf %3, %add : f32
    blockscale.yield %4
  } : !x, !w, tensor<?x68xf32>, tensor<5x136xf32> -> tensor<?x68xf32>
  return %0 : tensor<?x68xf32>
}
