"builtin.module"() <{sym_name = "jit_symbolic"}> ({
  "func.func"() <{function_type = (tensor<1x?x128xf8E4M3FN>, tensor<1x64x128xf8E4M3FN>, tensor<1x?x4xf8E8M0FNU>, tensor<1x64x4xf8E8M0FNU>) -> tensor<1x?x64xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg10: tensor<1x?x128xf8E4M3FN>, %arg11: tensor<1x64x128xf8E4M3FN>, %arg12: tensor<1x?x4xf8E8M0FNU>, %arg13: tensor<1x64x4xf8E8M0FNU>):
    %2 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %3 = "stablehlo.get_dimension_size"(%arg10) <{dimension = 1 : i64}> : (tensor<1x?x128xf8E4M3FN>) -> tensor<i32>
    %4 = "stablehlo.get_dimension_size"(%arg12) <{dimension = 1 : i64}> : (tensor<1x?x4xf8E8M0FNU>) -> tensor<i32>
    %5 = "stablehlo.compare"(%3, %2) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.custom_call"(%5, %3) <{api_version = 2 : i32, call_target_name = "shape_assertion", has_side_effect = true}> {error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'm'. Using the following polymorphic shapes specifications: args[0].shape = (1, m, 128),args[2].shape = (1, m, 4). Obtained dimension variables: 'm' = {0} from specification 'm' for dimension args[0].shape[1] (= {0}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details."} : (tensor<i1>, tensor<i32>) -> ()
    %6 = "stablehlo.compare"(%4, %3) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.custom_call"(%6, %4, %3) <{api_version = 2 : i32, call_target_name = "shape_assertion", has_side_effect = true}> {error_message = "Input shapes do not match the polymorphic shapes specification. Found inconsistency between dimension size args[2].shape[1] (= {0}) and the specification 'm' (= {1}). Using the following polymorphic shapes specifications: args[0].shape = (1, m, 128),args[2].shape = (1, m, 4). Obtained dimension variables: 'm' = {1} from specification 'm' for dimension args[0].shape[1] (= {1}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details."} : (tensor<i1>, tensor<i32>, tensor<i32>) -> ()
    %7 = "func.call"(%3, %arg10, %arg11, %arg12, %arg13) <{callee = @_wrapped_jax_export_main}> : (tensor<i32>, tensor<1x?x128xf8E4M3FN>, tensor<1x64x128xf8E4M3FN>, tensor<1x?x4xf8E8M0FNU>, tensor<1x64x4xf8E8M0FNU>) -> tensor<1x?x64xf32>
    "func.return"(%7) : (tensor<1x?x64xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{jax.global_constant = "m"}, {}, {}, {}, {}], function_type = (tensor<i32>, tensor<1x?x128xf8E4M3FN>, tensor<1x64x128xf8E4M3FN>, tensor<1x?x4xf8E8M0FNU>, tensor<1x64x4xf8E8M0FNU>) -> tensor<1x?x64xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "_wrapped_jax_export_main", sym_visibility = "private"}> ({
  ^bb0(%arg5: tensor<i32>, %arg6: tensor<1x?x128xf8E4M3FN>, %arg7: tensor<1x64x128xf8E4M3FN>, %arg8: tensor<1x?x4xf8E8M0FNU>, %arg9: tensor<1x64x4xf8E8M0FNU>):
    %1 = "func.call"(%arg5, %arg6, %arg7, %arg8, %arg9) <{callee = @_scaled_matmul}> : (tensor<i32>, tensor<1x?x128xf8E4M3FN>, tensor<1x64x128xf8E4M3FN>, tensor<1x?x4xf8E8M0FNU>, tensor<1x64x4xf8E8M0FNU>) -> tensor<1x?x64xf32>
    "func.return"(%1) : (tensor<1x?x64xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{jax.global_constant = "m"}, {}, {}, {}, {}], function_type = (tensor<i32>, tensor<1x?x128xf8E4M3FN>, tensor<1x64x128xf8E4M3FN>, tensor<1x?x4xf8E8M0FNU>, tensor<1x64x4xf8E8M0FNU>) -> tensor<1x?x64xf32>, sym_name = "_scaled_matmul", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<i32>, %arg1: tensor<1x?x128xf8E4M3FN>, %arg2: tensor<1x64x128xf8E4M3FN>, %arg3: tensor<1x?x4xf8E8M0FNU>, %arg4: tensor<1x64x4xf8E8M0FNU>):
    %0 = "stablehlo.custom_call"(%arg1, %arg2, %arg3, %arg4) <{api_version = 2 : i32, backend_config = "{\22scaled_dot_backend_config\22: {\22lhs_batch_dimensions\22: [0], \22rhs_batch_dimensions\22: [0], \22dequantize_type\22: \22F32\22}}", call_target_name = "__op$block_scaled_dot", operand_layouts = [dense<[2, 1, 0]> : tensor<3xindex>, dense<[2, 1, 0]> : tensor<3xindex>, dense<[2, 1, 0]> : tensor<3xindex>, dense<[2, 1, 0]> : tensor<3xindex>], result_layouts = [dense<[2, 1, 0]> : tensor<3xindex>]}> : (tensor<1x?x128xf8E4M3FN>, tensor<1x64x128xf8E4M3FN>, tensor<1x?x4xf8E8M0FNU>, tensor<1x64x4xf8E8M0FNU>) -> tensor<1x?x64xf32>
    "func.return"(%0) : (tensor<1x?x64xf32>) -> ()
  }) : () -> ()
}) {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()

