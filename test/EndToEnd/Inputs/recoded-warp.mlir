!rows_a = !blockscale.tensor<40x256xf8E4M3FN, "float32_t0">
!rows_b = !blockscale.tensor<72x256xi4, "float32_t0">
func.func @rows(%a: !rows_a, %b: !rows_b) -> tensor<40x72xf32> {
  %0 = blockscale.matmul %a, %b : !rows_a, !rows_b -> tensor<40x72xf32>
  return %0 : tensor<40x72xf32>
}

!fnuz_a = !blockscale.tensor<40x256xf8E4M3FNUZ, "e8m0_t32", layout = tiled_128x4>
!fnuz_b = !blockscale.tensor<72x256xf8E5M2FNUZ, "e8m0_t32", layout = tiled_128x4>
func.func @fnuz(%a: !fnuz_a, %b: !fnuz_b, %alpha: f32) -> tensor<40x72xf32> {
  %0 = blockscale.matmul %a, %b alpha(%alpha) : !fnuz_a, !fnuz_b -> tensor<40x72xf32>
  return %0 : tensor<40x72xf32>
}

!amd = !blockscale.tensor<72x256xf8E4M3FNUZ, "float32_t0">
func.func @channels(%a: !rows_a, %b: !amd) -> tensor<40x72xf32> {
  %0 = blockscale.matmul %a, %b : !rows_a, !amd -> tensor<40x72xf32>
  return %0 : tensor<40x72xf32>
}

!short_a = !blockscale.tensor<40x256xf8E4M3FNUZ, "float32_t16">
!short_b = !blockscale.tensor<72x256xf8E5M2FNUZ, "e8m0_t16">
func.func @short(%a: !short_a, %b: !short_b) -> tensor<40x72xf32> {
  %0 = blockscale.matmul %a, %b : !short_a, !short_b -> tensor<40x72xf32>
  return %0 : tensor<40x72xf32>
}

!fixed_a = !blockscale.tensor<40x256xi8, "e8m0_t0">
!fixed_b = !blockscale.tensor<72x256xi4, "e8m0">
func.func @fixed_point(%a: !fixed_a, %b: !fixed_b) -> tensor<40x72xf32> {
  %0 = blockscale.matmul %a, %b : !fixed_a, !fixed_b -> tensor<40x72xf32>
  return %0 : tensor<40x72xf32>
}
