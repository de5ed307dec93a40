func.func @static(%a: tensor<1x48x128xf8E4M3FN>, %sa: tensor<1x48x4xf8E8M0FNU>, %b: tensor<1x64x128xf8E4M3FN>, %sb: tensor<1x64x4xf8E8M0FNU>) -> tensor<1x48x64xf32> {
  %0 = tosa.matmul_t_block_scaled %a, %sa, %b, %sb {block_size = BLOCK_SIZE_32} : (tensor<1x48x128xf8E4M3FN>, tensor<1x48x4xf8E8M0FNU>, tensor<1x64x128xf8E4M3FN>, tensor<1x64x4xf8E8M0FNU>) -> tensor<1x48x64xf32>
  return %0 : tensor<1x48x64xf32>
}
func.func @shared(%a: tensor<4x?x128xf4E2M1FN>, %sa: tensor<4x?x4xf8E8M0FNU>, %b: tensor<1x64x128xf4E2M1FN>, %sb: tensor<1x64x4xf8E8M0FNU>) -> tensor<4x?x64xf32> {
  %0 = tosa.matmul_t_block_scaled %a, %sa, %b, %sb {block_size = BLOCK_SIZE_32} : (tensor<4x?x128xf4E2M1FN>, tensor<4x?x4xf8E8M0FNU>, tensor<1x64x128xf4E2M1FN>, tensor<1x64x4xf8E8M0FNU>) -> tensor<4x?x64xf32>
  return %0 : tensor<4x?x64xf32>
}
func.func @batch(%a: tensor<4x48x128xf4E2M1FN>, %sa: tensor<4x48x4xf8E8M0FNU>, %b: tensor<4x64x128xf4E2M1FN>, %sb: tensor<4x64x4xf8E8M0FNU>) -> tensor<4x48x64xf32> {
  %0 = tosa.matmul_t_block_scaled %a, %sa, %b, %sb {block_size = BLOCK_SIZE_32} : (tensor<4x48x128xf4E2M1FN>, tensor<4x48x4xf8E8M0FNU>, tensor<4x64x128xf4E2M1FN>, tensor<4x64x4xf8E8M0FNU>) -> tensor<4x48x64xf32>
  return %0 : tensor<4x48x64xf32>
}
func.func @linear(%x: tensor<48x128xf32>, %b: tensor<64x128xf8E4M3FN>, %sb: tensor<64x4xf8E8M0FNU>, %bias: tensor<64xf32>) -> tensor<48x64xbf16> {
  %s3 = tosa.const_shape {values = dense<[1, 48, 128]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %w3 = tosa.const_shape {values = dense<[1, 64, 128]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %ws3 = tosa.const_shape {values = dense<[1, 64, 4]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %b3 = tosa.const_shape {values = dense<[1, 64]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %r2 = tosa.const_shape {values = dense<[48, 64]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %x3 = tosa.reshape %x, %s3 : (tensor<48x128xf32>, !tosa.shape<3>) -> tensor<1x48x128xf32>
  %a, %sa = tosa.cast_to_block_scaled %x3 {block_size = BLOCK_SIZE_32} : (tensor<1x48x128xf32>) -> (tensor<1x48x128xf8E4M3FN>, tensor<1x48x4xf8E8M0FNU>)
  %bb = tosa.reshape %b, %w3 : (tensor<64x128xf8E4M3FN>, !tosa.shape<3>) -> tensor<1x64x128xf8E4M3FN>
  %bs = tosa.reshape %sb, %ws3 : (tensor<64x4xf8E8M0FNU>, !tosa.shape<3>) -> tensor<1x64x4xf8E8M0FNU>
  %0 = tosa.matmul_t_block_scaled %a, %sa, %bb, %bs {block_size = BLOCK_SIZE_32} : (tensor<1x48x128xf8E4M3FN>, tensor<1x48x4xf8E8M0FNU>, tensor<1x64x128xf8E4M3FN>, tensor<1x64x4xf8E8M0FNU>) -> tensor<1x48x64xf32>
  %1 = tosa.reshape %0, %r2 : (tensor<1x48x64xf32>, !tosa.shape<2>) -> tensor<48x64xf32>
  %2 = tosa.reshape %bias, %b3 : (tensor<64xf32>, !tosa.shape<2>) -> tensor<1x64xf32>
  %3 = tosa.add %1, %2 : (tensor<48x64xf32>, tensor<1x64xf32>) -> tensor<48x64xf32>
  %4 = tosa.cast %3 : (tensor<48x64xf32>) -> tensor<48x64xbf16>
  return %4 : tensor<48x64xbf16>
}
func.func @back(%a: tensor<2x3x64xf8E5M2>, %sa: tensor<2x3x2xf8E8M0FNU>) -> tensor<2x3x64xbf16> {
  %0 = tosa.cast_from_block_scaled %a, %sa {block_size = BLOCK_SIZE_32} : (tensor<2x3x64xf8E5M2>, tensor<2x3x2xf8E8M0FNU>) -> tensor<2x3x64xbf16>
  return %0 : tensor<2x3x64xbf16>
}
func.func @cast(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %data, %scale = tosa.cast_to_block_scaled %x {block_size = BLOCK_SIZE_32} : (tensor<64x64xf32>) -> (tensor<64x64xf8E4M3FN>, tensor<64x2xf8E8M0FNU>)
  %result = tosa.cast_from_block_scaled %data, %scale {block_size = BLOCK_SIZE_32} : (tensor<64x64xf8E4M3FN>, tensor<64x2xf8E8M0FNU>) -> tensor<64x64xf32>
  return %result : tensor<64x64xf32>
}
func.func @activated(%a: tensor<1x48x128xf8E4M3FN>, %sa: tensor<1x48x4xf8E8M0FNU>, %b: tensor<1x64x128xf8E4M3FN>, %sb: tensor<1x64x4xf8E8M0FNU>, %bias: tensor<64xf32>) -> tensor<3072xbf16> {
  %b3 = tosa.const_shape {values = dense<[1, 1, 64]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r2 = tosa.const_shape {values = dense<[48, 64]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %flat = tosa.const_shape {values = dense<[3072]> : tensor<1xindex>} : () -> !tosa.shape<1>
  %half = "tosa.const"() <{values = dense<0.5> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.matmul_t_block_scaled %a, %sa, %b, %sb {block_size = BLOCK_SIZE_32} : (tensor<1x48x128xf8E4M3FN>, tensor<1x48x4xf8E8M0FNU>, tensor<1x64x128xf8E4M3FN>, tensor<1x64x4xf8E8M0FNU>) -> tensor<1x48x64xf32>
  %1 = tosa.reshape %bias, %b3 : (tensor<64xf32>, !tosa.shape<3>) -> tensor<1x1x64xf32>
  %2 = tosa.add %0, %1 : (tensor<1x48x64xf32>, tensor<1x1x64xf32>) -> tensor<1x48x64xf32>
  %3 = tosa.clamp %2 {min_val = -40.0 : f32, max_val = 60.0 : f32} : (tensor<1x48x64xf32>) -> tensor<1x48x64xf32>
  %4 = tosa.reshape %3, %r2 : (tensor<1x48x64xf32>, !tosa.shape<2>) -> tensor<48x64xf32>
  %5 = tosa.abs %4 : (tensor<48x64xf32>) -> tensor<48x64xf32>
  %6 = tosa.mul %5, %half, %shift : (tensor<48x64xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<48x64xf32>
  %7 = tosa.sub %4, %6 : (tensor<48x64xf32>, tensor<48x64xf32>) -> tensor<48x64xf32>
  %8 = tosa.negate %7, %zero, %zero : (tensor<48x64xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<48x64xf32>
  %9 = tosa.cast %8 : (tensor<48x64xf32>) -> tensor<48x64xbf16>
  %10 = tosa.reshape %9, %flat : (tensor<48x64xbf16>, !tosa.shape<1>) -> tensor<3072xbf16>
  return %10 : tensor<3072xbf16>
}
