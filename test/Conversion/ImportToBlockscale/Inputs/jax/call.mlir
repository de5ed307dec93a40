"builtin.module"() <{sym_name = "jit_call"}> ({
  "func.func"() <{arg_attrs = [{}, {}, {}, {}, {}, {}], function_type = (tensor<1x48x128xf4E2M1FN>, tensor<1x64x128xf4E2M1FN>, tensor<1x48x8xf8E4M3FN>, tensor<1x64x8xf8E4M3FN>, tensor<f32>, tensor<64xf32>) -> tensor<1x48x64xbf16>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg4: tensor<1x48x128xf4E2M1FN>, %arg5: tensor<1x64x128xf4E2M1FN>, %arg6: tensor<1x48x8xf8E4M3FN>, %arg7: tensor<1x64x8xf8E4M3FN>, %arg8: tensor<f32>, %arg9: tensor<64xf32>):
    %1 = "func.call"(%arg4, %arg5, %arg6, %arg7) <{callee = @_scaled_matmul}> : (tensor<1x48x128xf4E2M1FN>, tensor<1x64x128xf4E2M1FN>, tensor<1x48x8xf8E4M3FN>, tensor<1x64x8xf8E4M3FN>) -> tensor<1x48x64xf32>
    %2 = "stablehlo.broadcast_in_dim"(%arg8) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x48x64xf32>
    %3 = "stablehlo.multiply"(%1, %2) : (tensor<1x48x64xf32>, tensor<1x48x64xf32>) -> tensor<1x48x64xf32>
    %4 = "stablehlo.broadcast_in_dim"(%arg9) <{broadcast_dimensions = array<i64: 2>}> : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %5 = "stablehlo.broadcast_in_dim"(%4) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x1x64xf32>) -> tensor<1x48x64xf32>
    %6 = "stablehlo.add"(%3, %5) : (tensor<1x48x64xf32>, tensor<1x48x64xf32>) -> tensor<1x48x64xf32>
    %7 = "stablehlo.convert"(%6) : (tensor<1x48x64xf32>) -> tensor<1x48x64xbf16>
    "func.return"(%7) : (tensor<1x48x64xbf16>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}, {}], function_type = (tensor<1x48x128xf4E2M1FN>, tensor<1x64x128xf4E2M1FN>, tensor<1x48x8xf8E4M3FN>, tensor<1x64x8xf8E4M3FN>) -> tensor<1x48x64xf32>, res_attrs = [{}], sym_name = "_scaled_matmul", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<1x48x128xf4E2M1FN>, %arg1: tensor<1x64x128xf4E2M1FN>, %arg2: tensor<1x48x8xf8E4M3FN>, %arg3: tensor<1x64x8xf8E4M3FN>):
    %0 = "stablehlo.custom_call"(%arg0, %arg1, %arg2, %arg3) <{api_version = 2 : i32, backend_config = "{\22scaled_dot_backend_config\22: {\22lhs_batch_dimensions\22: [0], \22rhs_batch_dimensions\22: [0], \22dequantize_type\22: \22F32\22}}", call_target_name = "__op$block_scaled_dot", called_computations = [], has_side_effect = false, operand_layouts = [dense<[2, 1, 0]> : tensor<3xindex>, dense<[2, 1, 0]> : tensor<3xindex>, dense<[2, 1, 0]> : tensor<3xindex>, dense<[2, 1, 0]> : tensor<3xindex>], result_layouts = [dense<[2, 1, 0]> : tensor<3xindex>]}> : (tensor<1x48x128xf4E2M1FN>, tensor<1x64x128xf4E2M1FN>, tensor<1x48x8xf8E4M3FN>, tensor<1x64x8xf8E4M3FN>) -> tensor<1x48x64xf32>
    "func.return"(%0) : (tensor<1x48x64xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()

