"builtin.module"() <{sym_name = "jit_composite"}> ({
  "func.func"() <{arg_attrs = [{}, {}, {}, {}], function_type = (tensor<2x48x128xf8E4M3FN>, tensor<2x128x64xf8E5M2>, tensor<2x48x4xf8E8M0FNU>, tensor<2x4x64xf8E8M0FNU>) -> tensor<2x48x64xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg4: tensor<2x48x128xf8E4M3FN>, %arg5: tensor<2x128x64xf8E5M2>, %arg6: tensor<2x48x4xf8E8M0FNU>, %arg7: tensor<2x4x64xf8E8M0FNU>):
    %13 = "stablehlo.composite"(%arg4, %arg5, %arg6, %arg7) <{composite_attributes = {dimension_numbers = [[[2], [1]], [[0], [0]]], preferred_element_type = f32}, decomposition = @xla.scaled_dot, name = "xla.scaled_dot", version = 0 : i32}> : (tensor<2x48x128xf8E4M3FN>, tensor<2x128x64xf8E5M2>, tensor<2x48x4xf8E8M0FNU>, tensor<2x4x64xf8E8M0FNU>) -> tensor<2x48x64xf32>
    "func.return"(%13) : (tensor<2x48x64xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<2x48x128xf8E4M3FN>, tensor<2x128x64xf8E5M2>, tensor<2x48x4xf8E8M0FNU>, tensor<2x4x64xf8E8M0FNU>) -> tensor<2x48x64xf32>, res_attrs = [{}], sym_name = "xla.scaled_dot", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<2x48x128xf8E4M3FN>, %arg1: tensor<2x128x64xf8E5M2>, %arg2: tensor<2x48x4xf8E8M0FNU>, %arg3: tensor<2x4x64xf8E8M0FNU>):
    %0 = "stablehlo.broadcast_in_dim"(%arg2) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<2x48x4xf8E8M0FNU>) -> tensor<2x48x4x1xf8E8M0FNU>
    %1 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<2x48x4x1xf8E8M0FNU>) -> tensor<2x48x4x32xf8E8M0FNU>
    %2 = "stablehlo.reshape"(%1) : (tensor<2x48x4x32xf8E8M0FNU>) -> tensor<2x48x128xf8E8M0FNU>
    %3 = "stablehlo.convert"(%arg0) : (tensor<2x48x128xf8E4M3FN>) -> tensor<2x48x128xbf16>
    %4 = "stablehlo.convert"(%2) : (tensor<2x48x128xf8E8M0FNU>) -> tensor<2x48x128xbf16>
    %5 = "stablehlo.multiply"(%3, %4) : (tensor<2x48x128xbf16>, tensor<2x48x128xbf16>) -> tensor<2x48x128xbf16>
    %6 = "stablehlo.broadcast_in_dim"(%arg3) <{broadcast_dimensions = array<i64: 0, 1, 3>}> : (tensor<2x4x64xf8E8M0FNU>) -> tensor<2x4x1x64xf8E8M0FNU>
    %7 = "stablehlo.broadcast_in_dim"(%6) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<2x4x1x64xf8E8M0FNU>) -> tensor<2x4x32x64xf8E8M0FNU>
    %8 = "stablehlo.reshape"(%7) : (tensor<2x4x32x64xf8E8M0FNU>) -> tensor<2x128x64xf8E8M0FNU>
    %9 = "stablehlo.convert"(%arg1) : (tensor<2x128x64xf8E5M2>) -> tensor<2x128x64xbf16>
    %10 = "stablehlo.convert"(%8) : (tensor<2x128x64xf8E8M0FNU>) -> tensor<2x128x64xbf16>
    %11 = "stablehlo.multiply"(%9, %10) : (tensor<2x128x64xbf16>, tensor<2x128x64xbf16>) -> tensor<2x128x64xbf16>
    %12 = "stablehlo.dot_general"(%5, %11) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x48x128xbf16>, tensor<2x128x64xbf16>) -> tensor<2x48x64xf32>
    "func.return"(%12) : (tensor<2x48x64xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()

