// What a program rounds to narrow elements itself and widens again is an operand of a
// product, as an argument of such elements is: with a scale for each row of activations,
// as JAX's programs find them, and without scales; in batches, too. Bytes that a program
// widens to bf16 are operands as well.

// REQUIRES: mlir
// RUN: blockscale verify %s --import | FileCheck %s

// CHECK-NOT: FAIL
// CHECK: {{^}}rows exact 32x40x256 {{.*}} pass
// CHECK: {{^}}widened exact 32x24x128 {{.*}} pass
// CHECK: {{^}}four_bits exact 32x24x128 {{.*}} pass
// CHECK: {{^}}batches exact 2x24x40x128 {{.*}} pass
// CHECK: {{^}}bytes exact 48x40x128 {{.*}} pass
// CHECK-DAG: {{^}}rows exact - 1 1280 {{.*}} pass
// CHECK-DAG: {{^}}widened random - 1 768 {{.*}} pass
// CHECK-DAG: {{^}}four_bits random - 1 768 {{.*}} pass
// CHECK-DAG: {{^}}batches random - 1 1920 {{.*}} pass
// CHECK-DAG: {{^}}bytes random - 1 1920 {{.*}} pass
// CHECK-NOT: FAIL

"builtin.module"() ({
  "func.func"() <{function_type = (tensor<32x256xf32>, tensor<40x256xf8E4M3FN>) -> tensor<32x40xbf16>, sym_name = "rows"}> ({
  ^bb0(%x: tensor<32x256xf32>, %w: tensor<40x256xf8E4M3FN>):
    %0 = "stablehlo.abs"(%x) : (tensor<32x256xf32>) -> tensor<32x256xf32>
    %1 = "stablehlo.constant"() <{value = dense<1.0> : tensor<f32>}> : () -> tensor<f32>
    %2 = "stablehlo.reduce"(%0, %1) <{dimensions = array<i64: 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %most = "stablehlo.maximum"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%most) : (tensor<f32>) -> ()
    }) : (tensor<32x256xf32>, tensor<f32>) -> tensor<32xf32>
    %3 = "stablehlo.broadcast_in_dim"(%2) <{broadcast_dimensions = array<i64: 0>}> : (tensor<32xf32>) -> tensor<32x256xf32>
    %4 = "stablehlo.divide"(%x, %3) : (tensor<32x256xf32>, tensor<32x256xf32>) -> tensor<32x256xf32>
    %5 = "stablehlo.convert"(%4) : (tensor<32x256xf32>) -> tensor<32x256xf8E4M3FN>
    %6 = "stablehlo.dot_general"(%5, %w) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>}> : (tensor<32x256xf8E4M3FN>, tensor<40x256xf8E4M3FN>) -> tensor<32x40xf32>
    %7 = "stablehlo.broadcast_in_dim"(%2) <{broadcast_dimensions = array<i64: 0>}> : (tensor<32xf32>) -> tensor<32x40xf32>
    %8 = "stablehlo.multiply"(%6, %7) : (tensor<32x40xf32>, tensor<32x40xf32>) -> tensor<32x40xf32>
    %9 = "stablehlo.convert"(%8) : (tensor<32x40xf32>) -> tensor<32x40xbf16>
    "func.return"(%9) : (tensor<32x40xbf16>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<32x128xf32>, tensor<24x128xf32>) -> tensor<32x24xf32>, sym_name = "widened"}> ({
  ^bb0(%x: tensor<32x128xf32>, %w: tensor<24x128xf32>):
    %0 = "stablehlo.convert"(%x) : (tensor<32x128xf32>) -> tensor<32x128xf8E4M3FN>
    %1 = "stablehlo.convert"(%0) : (tensor<32x128xf8E4M3FN>) -> tensor<32x128xf32>
    %2 = "stablehlo.convert"(%w) : (tensor<24x128xf32>) -> tensor<24x128xf8E5M2>
    %3 = "stablehlo.convert"(%2) : (tensor<24x128xf8E5M2>) -> tensor<24x128xf32>
    %4 = "stablehlo.dot_general"(%1, %3) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>}> : (tensor<32x128xf32>, tensor<24x128xf32>) -> tensor<32x24xf32>
    "func.return"(%4) : (tensor<32x24xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<32x128xf32>, tensor<24x128xf32>) -> tensor<32x24xf32>, sym_name = "four_bits"}> ({
  ^bb0(%x: tensor<32x128xf32>, %w: tensor<24x128xf32>):
    %0 = "stablehlo.convert"(%x) : (tensor<32x128xf32>) -> tensor<32x128xf4E2M1FN>
    %1 = "stablehlo.convert"(%0) : (tensor<32x128xf4E2M1FN>) -> tensor<32x128xf32>
    %2 = "stablehlo.convert"(%w) : (tensor<24x128xf32>) -> tensor<24x128xf4E2M1FN>
    %3 = "stablehlo.convert"(%2) : (tensor<24x128xf4E2M1FN>) -> tensor<24x128xf32>
    %4 = "stablehlo.dot_general"(%1, %3) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>}> : (tensor<32x128xf32>, tensor<24x128xf32>) -> tensor<32x24xf32>
    "func.return"(%4) : (tensor<32x24xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<2x24x128xf32>, tensor<2x40x128xf8E4M3FN>) -> tensor<2x24x40xf32>, sym_name = "batches"}> ({
  ^bb0(%x: tensor<2x24x128xf32>, %w: tensor<2x40x128xf8E4M3FN>):
    %0 = "stablehlo.convert"(%x) : (tensor<2x24x128xf32>) -> tensor<2x24x128xf8E4M3FN>
    %1 = "stablehlo.convert"(%0) : (tensor<2x24x128xf8E4M3FN>) -> tensor<2x24x128xf32>
    %2 = "stablehlo.convert"(%w) : (tensor<2x40x128xf8E4M3FN>) -> tensor<2x40x128xf32>
    %3 = "stablehlo.dot_general"(%1, %2) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2]>}> : (tensor<2x24x128xf32>, tensor<2x40x128xf32>) -> tensor<2x24x40xf32>
    "func.return"(%3) : (tensor<2x24x40xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<48x128xf32>, tensor<40x128xi8>) -> tensor<48x40xf32>, sym_name = "bytes"}> ({
  ^bb0(%x: tensor<48x128xf32>, %w: tensor<40x128xi8>):
    %0 = "stablehlo.convert"(%x) : (tensor<48x128xf32>) -> tensor<48x128xbf16>
    %1 = "stablehlo.convert"(%w) : (tensor<40x128xi8>) -> tensor<40x128xbf16>
    %2 = "stablehlo.dot_general"(%0, %1) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>}> : (tensor<48x128xbf16>, tensor<40x128xbf16>) -> tensor<48x40xf32>
    "func.return"(%2) : (tensor<48x40xf32>) -> ()
  }) : () -> ()
}) : () -> ()
