// Kernels for few rows that were written by hand take what the one for any number takes:
// a host packs and aligns operands before it knows which of them is launched.

// RUN: blockscale-opt %s -split-input-file -verify-diagnostics -blockscale-form-kernels

!a = !blockscale.tensor<?x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!b = !blockscale.tensor<128x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
#stores = #blockscale.variant<most_rows = 16, mma = <kind = mxf8f6f4, a = e4m3, b = e4m3, scale = ue8m0, block = 32, m = 128, n = 64, k = 32>, schedule = <tile_m = 128, tile_n = 64, tile_k = 128, stages = 4, accumulators = 2, swap_operands = false, group_m = 8, stores = tma>>
func.func @stores(%a: !a, %b: !b) -> tensor<?x128xbf16> {
  // expected-error @below {{its kernel for up to 16 rows has other 'stores', which want another alignment of D than the one for any number; expected the same of both}}
  %0 = blockscale.matmul %a, %b mma(<kind = mxf8f6f4, a = e4m3, b = e4m3, scale = ue8m0, block = 32, m = 128, n = 64, k = 32>) schedule(#blockscale.schedule<tile_m = 128, tile_n = 64, tile_k = 128, stages = 4, accumulators = 2, swap_operands = false, group_m = 8>) {blockscale.variants = [#stores]} : !a, !b -> tensor<?x128xbf16>
  return %0 : tensor<?x128xbf16>
}

// -----

!a = !blockscale.tensor<?x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!b = !blockscale.tensor<128x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
#loads = #blockscale.variant<most_rows = 16, mma = <kind = mxf8f6f4, a = e4m3, b = e4m3, scale = ue8m0, block = 32, m = 128, n = 64, k = 32>, schedule = <tile_m = 128, tile_n = 64, tile_k = 128, stages = 4, accumulators = 2, swap_operands = false, group_m = 8>>
func.func @loads(%a: !a, %b: !b, %c: tensor<?x128xbf16>) -> tensor<?x128xbf16> {
  // expected-error @below {{its kernel for up to 16 rows has other 'c_loads', which want another alignment of C}}
  %0 = blockscale.matmul %a, %b c(%c) mma(<kind = mxf8f6f4, a = e4m3, b = e4m3, scale = ue8m0, block = 32, m = 128, n = 64, k = 32>) schedule(#blockscale.schedule<tile_m = 128, tile_n = 64, tile_k = 128, stages = 4, accumulators = 2, swap_operands = false, group_m = 8, c_loads = tma>) {blockscale.variants = [#loads]} : !a, !b, tensor<?x128xbf16> -> tensor<?x128xbf16>
  return %0 : tensor<?x128xbf16>
}

// -----

!a = !blockscale.tensor<?x512xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
!b = !blockscale.tensor<128x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
#padded = #blockscale.variant<most_rows = 16, mma = <kind = mxf8f6f4, a = e2m1, b = e4m3, scale = ue8m0, block = 32, m = 128, n = 64, k = 32>, schedule = <tile_m = 128, tile_n = 64, tile_k = 128, stages = 4, accumulators = 2, swap_operands = false, group_m = 8>>
func.func @padded(%a: !a, %b: !b) -> tensor<?x128xbf16> {
  // expected-error @below {{its kernel for up to 16 rows reads elements that are packed otherwise than the one for any number}}
  %0 = blockscale.matmul %a, %b mma(<kind = mxf8f6f4, a = e2m1, b = e4m3, scale = ue8m0, block = 32, m = 128, n = 64, k = 64>) schedule(#blockscale.schedule<tile_m = 128, tile_n = 64, tile_k = 128, stages = 4, accumulators = 2, swap_operands = false, group_m = 8, mma_k = 64>) {blockscale.target = #blockscale.target<sm_107a>, blockscale.variants = [#padded]} : !a, !b -> tensor<?x128xbf16>
  return %0 : tensor<?x128xbf16>
}
