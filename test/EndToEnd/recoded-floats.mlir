// Integers of 4 bits under float scales, as e4m3, and floats without a negative zero
// (fnuz) in scales that instructions read, as those of a bias of one less with 1/2 as a
// factor of the epilogue; e4m3 with infinities as that without. Under tiles of 16 and
// beside bf16 and f16 all of them are stored as these, and so are integers without scales,
// int8 under powers of two, and fnuz whose products do not ask for 8 bits.

// REQUIRES: mlir
// RUN: blockscale verify %s | FileCheck %s
// RUN: blockscale verify %s --target=sm_103a --data=random --conditions=harsh | FileCheck %s --check-prefix=ONCE
// RUN: blockscale verify %S/Inputs/recoded-warp.mlir --target=sm_120a | FileCheck %s --check-prefix=WARP

// CHECK-NOT: FAIL
// CHECK-COUNT-28: pass
// CHECK-NOT: {{FAIL|pass}}

// ONCE-NOT: FAIL
// ONCE-COUNT-14: pass
// ONCE-NOT: {{FAIL|pass}}

// WARP-NOT: FAIL
// WARP-COUNT-10: pass
// WARP-NOT: {{FAIL|pass}}

!tiles_a = !blockscale.tensor<70x384xf8E4M3FN, "float32_t128">
!tiles_b = !blockscale.tensor<136x384xi4, "bfloat16_t128">
func.func @tiles(%a: !tiles_a, %b: !tiles_b) -> tensor<70x136xf32> {
  %0 = blockscale.matmul %a, %b : !tiles_a, !tiles_b -> tensor<70x136xf32>
  return %0 : tensor<70x136xf32>
}

!both_a = !blockscale.tensor<41x512xi4, "float32_t256">
!both_b = !blockscale.tensor<130x512xi4, "float32_t0">
func.func @both(%a: !both_a, %b: !both_b) -> tensor<41x130xbf16> {
  %0 = blockscale.matmul %a, %b : !both_a, !both_b -> tensor<41x130xbf16>
  return %0 : tensor<41x130xbf16>
}

!rows_a = !blockscale.tensor<130x256xf8E4M3FN, "float32_t0">
!rows_b = !blockscale.tensor<72x256xi4, "float32_t0">
func.func @rows(%a: !rows_a, %b: !rows_b) -> tensor<130x72xf32> {
  %0 = blockscale.matmul %a, %b : !rows_a, !rows_b -> tensor<130x72xf32>
  return %0 : tensor<130x72xf32>
}

!fnuz_a = !blockscale.tensor<130x256xf8E4M3FNUZ, "e8m0_t32", layout = tiled_128x4>
!fnuz_b = !blockscale.tensor<72x256xf8E5M2FNUZ, "e8m0_t32", layout = tiled_128x4>
func.func @fnuz(%a: !fnuz_a, %b: !fnuz_b, %alpha: f32, %c: tensor<130x72xf32>, %bias: tensor<72xf32>) -> tensor<130x72xf32> {
  %0 = blockscale.matmul %a, %b alpha(%alpha) c(%c) bias(%bias) : !fnuz_a, !fnuz_b, tensor<130x72xf32>, tensor<72xf32> -> tensor<130x72xf32>
  return %0 : tensor<130x72xf32>
}

!beside = !blockscale.tensor<72x256xi4, "e8m0_t32", layout = tiled_128x4>
func.func @one(%a: !fnuz_a, %b: !beside) -> tensor<130x72xf32> {
  %0 = blockscale.matmul %a, %b : !fnuz_a, !beside -> tensor<130x72xf32>
  return %0 : tensor<130x72xf32>
}

!ieee_a = !blockscale.tensor<130x256xf8E4M3, "e8m0_t32", layout = tiled_128x4>
func.func @ieee(%a: !ieee_a, %b: !fnuz_b) -> tensor<130x72xf32> {
  %0 = blockscale.matmul %a, %b : !ieee_a, !fnuz_b -> tensor<130x72xf32>
  return %0 : tensor<130x72xf32>
}

!amd_a = !blockscale.tensor<40x256xf8E4M3FNUZ, "float32", order = mn_major>
!amd_b = !blockscale.tensor<136x256xf8E4M3FNUZ, "float32_t0">
func.func @tensor_scale(%a: !amd_a, %b: !amd_b) -> tensor<40x136xf16> {
  %0 = blockscale.matmul %a, %b : !amd_a, !amd_b -> tensor<40x136xf16>
  return %0 : tensor<40x136xf16>
}

!bytes_b = !blockscale.tensor<72x256xf8E5M2FNUZ, "float32_t0">
!bytes_a = !blockscale.tensor<70x256xf8E4M3FNUZ, "float32_t128">
func.func @bytes(%a: !bytes_a, %b: !bytes_b) -> tensor<70x72xf32> {
  %0 = blockscale.matmul %a, %b mma(<kind = f8f6f4, a = e4m3, b = e5m2>) : !bytes_a, !bytes_b -> tensor<70x72xf32>
  return %0 : tensor<70x72xf32>
}

// Sums for zero points are of what is stored, twice as much.
!real_a = !blockscale.tensor<70x256xf8E4M3FNUZ, "float32_t0">
!real_b = !blockscale.tensor<72x256xui4, "float32_float32_t0">
func.func @real_zeros(%a: !real_a, %b: !real_b) -> tensor<70x72xf32> {
  %0 = blockscale.matmul %a, %b mma(<kind = f8f6f4, a = e4m3, b = e4m3>) : !real_a, !real_b -> tensor<70x72xf32>
  return %0 : tensor<70x72xf32>
}

!blocks_a = !blockscale.tensor<70x256xf8E4M3FNUZ, "float32_t128">
!blocks_b = !blockscale.tensor<256x256xf8E4M3FNUZ, "float32_t128_t128">
func.func @blocks(%a: !blocks_a, %b: !blocks_b) -> tensor<70x256xf32> {
  %0 = blockscale.matmul %a, %b : !blocks_a, !blocks_b -> tensor<70x256xf32>
  return %0 : tensor<70x256xf32>
}

!short_a = !blockscale.tensor<70x256xf8E4M3FNUZ, "float32_t16">
!short_b = !blockscale.tensor<72x256xf8E5M2FNUZ, "e8m0_t16">
func.func @short(%a: !short_a, %b: !short_b) -> tensor<70x72xf32> {
  %0 = blockscale.matmul %a, %b : !short_a, !short_b -> tensor<70x72xf32>
  return %0 : tensor<70x72xf32>
}

!fixed_a = !blockscale.tensor<70x256xi8, "e8m0_t0">
!fixed_b = !blockscale.tensor<72x256xi4, "e8m0">
func.func @fixed_point(%a: !fixed_a, %b: !fixed_b) -> tensor<70x72xf32> {
  %0 = blockscale.matmul %a, %b : !fixed_a, !fixed_b -> tensor<70x72xf32>
  return %0 : tensor<70x72xf32>
}

!half_a = !blockscale.tensor<70x256xf16>
!half_b = !blockscale.tensor<72x256xf8E4M3, "float16_t0">
func.func @half(%a: !half_a, %b: !half_b) -> tensor<70x72xf32> {
  %0 = blockscale.matmul %a, %b : !half_a, !half_b -> tensor<70x72xf32>
  return %0 : tensor<70x72xf32>
}

!integers_b = !blockscale.tensor<72x256xi8>
func.func @integers(%a: !half_a, %b: !integers_b) -> tensor<70x72xf32> {
  %0 = blockscale.matmul %a, %b : !half_a, !integers_b -> tensor<70x72xf32>
  return %0 : tensor<70x72xf32>
}
