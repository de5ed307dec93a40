// Gate and up in one product on chips whose warps multiply in registers: a lane has
// both columns of a pair. M and N end inside of a tile.

// REQUIRES: mlir
// RUN: blockscale verify %s --target=sm_120a --num-sms=3 --m=1,133 | FileCheck %s
// RUN: blockscale verify %s --target=sm_121a --num-sms=2 --m=77,201 --conditions=harsh | FileCheck %s

// CHECK-NOT: FAIL
// CHECK-COUNT-14: pass
// CHECK-NOT: {{FAIL|pass}}

!mx8 = !blockscale.tensor<?x416xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!w4 = !blockscale.tensor<136x416xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
func.func @swiglu(%x: !mx8, %w: !w4, %v: tensor<136xbf16>) -> tensor<?x68xbf16> {
  %0 = blockscale.matmul %x, %w bias(%v) pairs epilogue(%g, %up, %gb, %ub) {
    %one = arith.constant 1.0 : f32
    %1 = arith.addf %g, %gb : f32
    %2 = arith.addf %up, %ub : f32
    %3 = arith.negf %1 : f32
    %4 = math.exp %3 : f32
    %5 = arith.addf %4, %one : f32
    %6 = arith.divf %1, %5 : f32
    %7 = arith.mulf %6, %2 : f32
    blockscale.yield %7
  } : !mx8, !w4, tensor<136xbf16> -> tensor<?x68xbf16>
  return %0 : tensor<?x68xbf16>
}

!nv = !blockscale.tensor<?x384xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!wn = !blockscale.tensor<72x384xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
func.func @difference(%x: !nv, %w: !wn, %c: tensor<?x36xf32>) -> tensor<?x36xf32> {
  %0 = blockscale.matmul %x, %w c(%c) pairs epilogue(%g, %up, %add) {
    %1 = arith.subf %up, %g : f32
    %2 = arith.addf %1, %add : f32
    blockscale.yield %2
  } : !nv, !wn, tensor<?x36xf32> -> tensor<?x36xf32>
  return %0 : tensor<?x36xf32>
}

!t = !blockscale.tensor<?x256xi8, "float32_t0">
!c = !blockscale.tensor<72x256xi8, "float32_t0">
func.func @factors(%x: !t, %w: !c) -> tensor<?x36xf32> {
  %0 = blockscale.matmul %x, %w pairs epilogue(%g, %up) {
    %1 = arith.subf %up, %g : f32
    blockscale.yield %1
  } : !t, !c -> tensor<?x36xf32>
  return %0 : tensor<?x36xf32>
}

// Sums of blocks of K under float scales of tiles.
!ap = !blockscale.tensor<133x512xf8E4M3FN, "float32_t128">
!bp = !blockscale.tensor<256x512xf8E4M3FN, "float32_t128_t128">
func.func @promoted(%x: !ap, %w: !bp) -> tensor<133x128xf32> {
  %0 = blockscale.matmul %x, %w pairs epilogue(%g, %up) {
    %1 = arith.subf %up, %g : f32
    blockscale.yield %1
  } : !ap, !bp -> tensor<133x128xf32>
  return %0 : tensor<133x128xf32>
}
