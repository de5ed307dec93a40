// RUN: blockscale-opt %s -blockscale-form-kernels -blockscale-expand-kernels -canonicalize -cse -blockscale-assign-steps -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: FileCheck %s --input-file=%t.mlir --check-prefix=PROTOCOL

// Columns and ids are those of test/oracle/k96_sequence.csv, in a region
// of 6 words: word w lies where word w mod 6 does.

!blocks_of_16_a = !blockscale.tensor<128x1536xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!blocks_of_16_b = !blockscale.tensor<256x1536xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @blocks_of_16(%a: !blocks_of_16_a, %b: !blocks_of_16_b) -> tensor<128x256xf32> {
  %0 = blockscale.matmul %a, %b mma(<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 256, k = 96>) schedule(#blockscale.schedule<tile_m = 128, tile_n = 256, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8, mma_k = 96>) {blockscale.target = #blockscale.target<sm_103a>} : !blocks_of_16_a, !blocks_of_16_b -> tensor<128x256xf32>
  return %0 : tensor<128x256xf32>
}

!blocks_of_32_a = !blockscale.tensor<128x1536xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
!blocks_of_32_b = !blockscale.tensor<128x1536xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
func.func @blocks_of_32(%a: !blocks_of_32_a, %b: !blocks_of_32_b) -> tensor<128x128xf32> {
  %0 = blockscale.matmul %a, %b mma(<kind = mxf4, a = e2m1, b = e2m1, scale = ue8m0, block = 32, m = 128, n = 128, k = 96>) schedule(#blockscale.schedule<tile_m = 128, tile_n = 128, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8, mma_k = 96>) {blockscale.target = #blockscale.target<sm_103a>} : !blocks_of_32_a, !blocks_of_32_b -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// 1280 = 768 + 512: K = 96 four times, then K = 64 twice, each at a whole word.
!short_end_a = !blockscale.tensor<128x1280xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!short_end_b = !blockscale.tensor<256x1280xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @short_end(%a: !short_end_a, %b: !short_end_b) -> tensor<128x256xf32> {
  %0 = blockscale.matmul %a, %b mma(<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 256, k = 96>) schedule(#blockscale.schedule<tile_m = 128, tile_n = 256, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8, mma_k = 96>) {blockscale.target = #blockscale.target<sm_103a>} : !short_end_a, !short_end_b -> tensor<128x256xf32>
  return %0 : tensor<128x256xf32>
}

// 1232 = 768 + 464: the fifth instruction reads 16 elements behind the end, whose
// scales are cleared: scale 13 of the second stage is the first behind it.
!filled_end_a = !blockscale.tensor<128x1232xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!filled_end_b = !blockscale.tensor<256x1232xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @filled_end(%a: !filled_end_a, %b: !filled_end_b) -> tensor<128x256xf32> {
  %0 = blockscale.matmul %a, %b mma(<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 256, k = 96>) schedule(#blockscale.schedule<tile_m = 128, tile_n = 256, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8, mma_k = 96>) {blockscale.target = #blockscale.target<sm_103a>} : !filled_end_a, !filled_end_b -> tensor<128x256xf32>
  return %0 : tensor<128x256xf32>
}

// CHECK-LABEL: gpu.func @blocks_of_16(
// CHECK: blockscale.mma {{.*}} stage %{{[a-z0-9#]+}} range <part = 0, begin = 0, end = 192> {{.*}} steps [#blockscale.step<a = 0, b = 0, sfa_column = 0, sfa_id = 0, sfb_column = 0, sfb_id = 0>, #blockscale.step<a = 48, b = 48, sfa_column = 4, sfa_id = 2, sfb_column = 8, sfb_id = 2>] :
// CHECK: blockscale.mma {{.*}} stage %{{[a-z0-9#]+}} previous %{{[a-z0-9#]+}} range <part = 1, begin = 192, end = 288> {{.*}} steps [#blockscale.step<a = 96, b = 96, sfa_column = 12, sfa_id = 0, sfb_column = 24, sfb_id = 0>] :
// CHECK: blockscale.mma {{.*}} stage %{{[a-z0-9#]+}} range <part = 1, begin = 288, end = 480> {{.*}} steps [#blockscale.step<a = 16, b = 16, sfa_column = 16, sfa_id = 2, sfb_column = 32, sfb_id = 2>, #blockscale.step<a = 64, b = 64, sfa_column = 0, sfa_id = 0, sfb_column = 0, sfb_id = 0>] :
// CHECK: blockscale.mma {{.*}} stage %{{[a-z0-9#]+}} previous %{{[a-z0-9#]+}} range <part = 2, begin = 480, end = 576> {{.*}} steps [#blockscale.step<a = 112, b = 112, sfa_column = 4, sfa_id = 2, sfb_column = 8, sfb_id = 2>] :
// CHECK: blockscale.mma {{.*}} stage %{{[a-z0-9#]+}} range <part = 2, begin = 576, end = 768> {{.*}} steps [#blockscale.step<a = 32, b = 32, sfa_column = 12, sfa_id = 0, sfb_column = 24, sfb_id = 0>, #blockscale.step<a = 80, b = 80, sfa_column = 16, sfa_id = 2, sfb_column = 32, sfb_id = 2>] :

// CHECK-LABEL: gpu.func @blocks_of_32(
// CHECK: blockscale.mma {{.*}} stage %{{[a-z0-9#]+}} range <part = 0, begin = 0, end = 192> {{.*}} steps [#blockscale.step<a = 0, b = 0, sfa_column = 0, sfa_id = 0, sfb_column = 0, sfb_id = 0>, #blockscale.step<a = 48, b = 48, sfa_column = 0, sfa_id = 3, sfb_column = 0, sfb_id = 3>] :
// CHECK: blockscale.mma {{.*}} stage %{{[a-z0-9#]+}} previous %{{[a-z0-9#]+}} range <part = 1, begin = 192, end = 288> {{.*}} steps [#blockscale.step<a = 96, b = 96, sfa_column = 4, sfa_id = 2, sfb_column = 4, sfb_id = 2>] :
// CHECK: blockscale.mma {{.*}} stage %{{[a-z0-9#]+}} range <part = 1, begin = 288, end = 480> {{.*}} steps [#blockscale.step<a = 16, b = 16, sfa_column = 8, sfa_id = 1, sfb_column = 8, sfb_id = 1>, #blockscale.step<a = 64, b = 64, sfa_column = 12, sfa_id = 0, sfb_column = 12, sfb_id = 0>] :
// CHECK: blockscale.mma {{.*}} stage %{{[a-z0-9#]+}} previous %{{[a-z0-9#]+}} range <part = 2, begin = 480, end = 576> {{.*}} steps [#blockscale.step<a = 112, b = 112, sfa_column = 12, sfa_id = 3, sfb_column = 12, sfb_id = 3>] :
// CHECK: blockscale.mma {{.*}} stage %{{[a-z0-9#]+}} range <part = 2, begin = 576, end = 768> {{.*}} steps [#blockscale.step<a = 32, b = 32, sfa_column = 16, sfa_id = 2, sfb_column = 16, sfb_id = 2>, #blockscale.step<a = 80, b = 80, sfa_column = 20, sfa_id = 1, sfb_column = 20, sfb_id = 1>] :

// CHECK-LABEL: gpu.func @short_end(
// CHECK: range <part = 2, begin = 576, end = 768>
// CHECK: range <part = 0, begin = 0, end = 192>
// CHECK: range <part = 1, begin = 192, end = 288>
// CHECK: k = 96> {{.*}} range <part = 1, begin = 288, end = 384>
// CHECK: k = 64> {{.*}} range <part = 1, begin = 384, end = 512> {{.*}} steps [#blockscale.step<a = 64, b = 64, sfa_column = 0, sfa_id = 0, sfb_column = 0, sfb_id = 0>, #blockscale.step<a = 96, b = 96, sfa_column = 4, sfa_id = 0, sfb_column = 8, sfb_id = 0>] :

// CHECK-LABEL: gpu.func @filled_end(
// CHECK: range <part = 2, begin = 576, end = 768>
// CHECK: range <part = 0, begin = 0, end = 192>
// CHECK: blockscale.mask_scales {{.*}} valid %c13_i32
// CHECK: blockscale.mask_scales {{.*}} valid %c13_i32
// CHECK: range <part = 1, begin = 192, end = 288>
// CHECK: range <part = 1, begin = 288, end = 464>
// CHECK-NOT: blockscale.mma

// A stage is waited for before the instructions that end in it and released
// behind the last one that reads it, which may start in it and end in the next.
// PROTOCOL-LABEL: gpu.func @blocks_of_16(
// PROTOCOL: blockscale.warps "mma" 5 to 6
// PROTOCOL: blockscale.tmem_view {{.*}} -> <128x24xi8, #blockscale.tmem_scales<word_stride = 4>>
// PROTOCOL: blockscale.tmem_view {{.*}} -> <256x24xi8, #blockscale.tmem_scales<word_stride = 8>>
// PROTOCOL: blockscale.warps "mma" 5 to 6
// PROTOCOL: scf.for
// PROTOCOL: scf.for
// PROTOCOL: blockscale.wait %[[FULL:.*]][%[[S0:.*]]] parity
// PROTOCOL: blockscale.copy_scales %{{.*}}[%[[S0]]] to %[[SFA:.*]] :
// PROTOCOL: blockscale.copy_scales %{{.*}}[%[[S0]]] to %[[SFB:.*]] :
// PROTOCOL: blockscale.mma {{.*}} stage %[[S0]] range <part = 0,
// PROTOCOL-NOT: blockscale.commit
// PROTOCOL: blockscale.wait %[[FULL]][%[[S1:.*]]] parity
// PROTOCOL: blockscale.copy_scales %{{.*}}[%[[S1]]] to %[[SFA]] word 4 :
// PROTOCOL: blockscale.copy_scales %{{.*}}[%[[S1]]] to %[[SFB]] word 4 :
// PROTOCOL: blockscale.mma {{.*}} stage %[[S1]] previous %[[S0]] range
// PROTOCOL-NEXT: blockscale.commit %[[EMPTY:.*]][%[[S0]]]
// PROTOCOL-NEXT: blockscale.mma {{.*}} stage %[[S1]] range
// PROTOCOL-NOT: blockscale.commit
// PROTOCOL: blockscale.wait %[[FULL]][%[[S2:.*]]] parity
// PROTOCOL: blockscale.copy_scales %{{.*}}[%[[S2]]] to %[[SFA]] word 2 :
// PROTOCOL: blockscale.mma {{.*}} stage %[[S2]] previous %[[S1]] range
// PROTOCOL-NEXT: blockscale.commit %[[EMPTY]][%[[S1]]]
// PROTOCOL-NEXT: blockscale.mma {{.*}} stage %[[S2]] range
// PROTOCOL-NEXT: blockscale.commit %[[EMPTY]][%[[S2]]]
