func.func @f(%a: tensor<8x64xf8E4M3FN>, %s: tensor<8x2xf8E8M0FNU>, %b: tensor<8xf32>) -> tensor<8x8xf32> {
  %0 = "stablehlo.composite"(%a,%a,%s,%s) <{composite_attributes = {dimension_numbers = [[[1],[1]],[[],[]]]}, name="xla.scaled_dot"}> : (tensor<8x64xf8E4M3FN>,tensor<8x64xf8E4M3FN>,tensor<8x2xf8E8M0FNU>,tensor<8x2xf8E8M0FNU>) -> tensor<8x8xf32>
  %1 = "stablehlo.broadcast_in_dim"(%b) <{broadcast_dimensions = array<i64: 7>}> : (tensor<8xf32>) -> tensor<8x8xf32>
  %2 = "stablehlo.broadcast_in_dim"(%1) <{broadcast_dimensions = array<i64: 1, 5>}> : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = "stablehlo.add"(%0, %2) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %3 : tensor<8x8xf32>
}
