// RUN: blockscale-opt %s -split-input-file -verify-diagnostics

func.func @scales_as_rows(%ring: !blockscale.shared<2x1x1x512xi8, container = 8>, %i: i32) {
  // expected-error @below {{expected a ring of stages x rows x K}}
  %0:2 = blockscale.load_b_fragments %ring[%i] row %i tile 0 step 0 : !blockscale.shared<2x1x1x512xi8, container = 8>
  return
}

// -----

func.func @bytes_along_rows(%ring: !blockscale.shared<2x1x128x128xf8E4M3FN, container = 8, swizzle = "128B">, %i: i32) {
  // expected-error @below {{expected a ring of stages x rows x K or, of 16 bits, of stages x row groups x K x rows}}
  %0 = blockscale.load_a_fragment %ring[%i] row %i tile 0 step 0 : !blockscale.shared<2x1x128x128xf8E4M3FN, container = 8, swizzle = "128B">
  return
}

// -----

func.func @step_along_rows(%ring: !blockscale.shared<2x2x64x64xbf16, container = 16, swizzle = "128B">, %i: i32) {
  // expected-error @below {{expected step 0 to 3 of 32 bytes in a row of 128 bytes, found 4}}
  %0 = blockscale.load_a_fragment %ring[%i] row %i tile 0 step 4 : !blockscale.shared<2x2x64x64xbf16, container = 16, swizzle = "128B">
  return
}

// -----

func.func @tile_along_rows(%ring: !blockscale.shared<2x2x64x64xbf16, container = 16, swizzle = "128B">, %i: i32) {
  // expected-error @below {{tile 8 of 16 rows is not within a stage of 128 rows}}
  %0:2 = blockscale.load_b_fragments %ring[%i] row %i tile 8 step 0 : !blockscale.shared<2x2x64x64xbf16, container = 16, swizzle = "128B">
  return
}

// -----

func.func @step(%ring: !blockscale.shared<2x64x128xf8E4M3FN, container = 8, swizzle = "128B">, %i: i32) {
  // expected-error @below {{expected step 0 to 3 of 32 bytes in a row of 128 bytes, found 4}}
  %0 = blockscale.load_a_fragment %ring[%i] row %i tile 0 step 4 : !blockscale.shared<2x64x128xf8E4M3FN, container = 8, swizzle = "128B">
  return
}

// -----

func.func @tile(%ring: !blockscale.shared<2x64x128xf8E4M3FN, container = 8, swizzle = "128B">, %i: i32) {
  // expected-error @below {{tile 4 of 16 rows is not within a stage of 64 rows}}
  %0:2 = blockscale.load_b_fragments %ring[%i] row %i tile 4 step 0 : !blockscale.shared<2x64x128xf8E4M3FN, container = 8, swizzle = "128B">
  return
}

// -----

func.func @scale_ring(%ring: !blockscale.shared<2x64x128xf8E4M3FN, container = 8, swizzle = "128B">, %i: i32) {
  // expected-error @below {{expected a ring of stages x row groups x words x 512 bytes without swizzle}}
  %0 = blockscale.load_warp_scales %ring[%i] row %i group 0 word 0 : !blockscale.shared<2x64x128xf8E4M3FN, container = 8, swizzle = "128B">
  return
}

// -----

func.func @scale_groups(%ring: !blockscale.shared<2x2x1x512xi8, container = 8>, %i: i32) {
  // expected-error @below {{expected one group of 128 rows in a stage, found 2}}
  %0 = blockscale.load_warp_scales %ring[%i] row %i group 0 word 0 : !blockscale.shared<2x2x1x512xi8, container = 8>
  return
}

// -----

func.func @scale_group(%ring: !blockscale.shared<2x1x1x512xi8, container = 8>, %i: i32) {
  // expected-error @below {{expected group 0 to 3, found 4}}
  %0 = blockscale.load_warp_scales %ring[%i] row %i group 4 word 0 : !blockscale.shared<2x1x1x512xi8, container = 8>
  return
}

// -----

func.func @scale_word(%ring: !blockscale.shared<2x1x1x512xi8, container = 8>, %i: i32) {
  // expected-error @below {{word 1 of scales is not within a stage of 1}}
  %0 = blockscale.load_warp_scales %ring[%i] row %i group 0 word 1 : !blockscale.shared<2x1x1x512xi8, container = 8>
  return
}

// -----

func.func @metadata_ring(%ring: !blockscale.shared<2x64x128xf8E4M3FN, container = 8, swizzle = "128B">, %i: i32) {
  // expected-error @below {{expected a ring of stages x tiles x 128 rows x 16 bytes without swizzle}}
  %0 = blockscale.load_warp_metadata %ring[%i] row %i tile 0 step 0 : !blockscale.shared<2x64x128xf8E4M3FN, container = 8, swizzle = "128B">
  return
}

// -----

func.func @metadata_step(%ring: !blockscale.shared<2x1x128x16xi8, container = 8>, %i: i32) {
  // expected-error @below {{expected tile 0 to 7 and step 0 to 1, found 0 and 2}}
  %0 = blockscale.load_warp_metadata %ring[%i] row %i tile 0 step 2 : !blockscale.shared<2x1x128x16xi8, container = 8>
  return
}

// -----

#mma = #blockscale.mma<kind = mxf8f6f4, a = e4m3, b = e4m3, scale = ue8m0, block = 32, m = 128, n = 8, k = 32>
func.func @shape(%a: vector<4xi32>, %b: vector<2xi32>, %c: vector<4xf32>, %s: i32) {
  // expected-error @below {{M = 128 is not legal}}
  %0 = blockscale.warp_mma #mma %a, %b, %c scales %s, %s tile 0, 0 step 0
  return
}

// -----

#mma = #blockscale.mma<kind = mxf4, a = e2m1, b = e2m1, scale = ue8m0, block = 32, m = 16, n = 8, k = 32>
func.func @k32(%a: vector<4xi32>, %b: vector<2xi32>, %c: vector<4xf32>, %s: i32) {
  // expected-error @below {{K = 32 is not legal}}
  %0 = blockscale.warp_mma #mma %a, %b, %c scales %s, %s tile 0, 0 step 0
  return
}

// -----

#mma = #blockscale.mma<kind = mxf8f6f4, a = e4m3, b = e4m3, scale = ue8m0, block = 32, m = 16, n = 8, k = 32>
func.func @tcgen05_chip(%a: vector<4xi32>, %b: vector<2xi32>, %c: vector<4xf32>, %s: i32) attributes {blockscale.kernel = #blockscale.kernel<grid = ()[m, n, k, l, sms, clusters] -> (sms), block = 288>} {
  // expected-error @below {{M = 16 is not legal for dense 'mxf8f6f4' with cta_group 1 on 'sm_100a'}}
  %0 = blockscale.warp_mma #mma %a, %b, %c scales %s, %s tile 0, 0 step 0
  return
}

// -----

#mma = #blockscale.mma<kind = mxf8f6f4, a = e4m3, b = e4m3, scale = ue8m0, block = 32, m = 16, n = 8, k = 64, sparse = true>
func.func @no_metadata(%a: vector<4xi32>, %b: vector<2xi32>, %c: vector<4xf32>, %s: i32) {
  // expected-error @below {{expected metadata and two fragments of B with a sparse instruction, and only then}}
  %0 = blockscale.warp_mma #mma %a, %b, %c scales %s, %s tile 0, 0 step 0
  return
}

// -----

#mma = #blockscale.mma<kind = mxf8f6f4, a = e4m3, b = e4m3, scale = ue8m0, block = 32, m = 16, n = 8, k = 32>
func.func @sub_tile(%a: vector<4xi32>, %b: vector<2xi32>, %c: vector<4xf32>, %s: i32) {
  // expected-error @below {{expected tiles and step of 0 or more, found -1}}
  %0 = blockscale.warp_mma #mma %a, %b, %c scales %s, %s tile 0, -1 step 0
  return
}

// -----

#mma = #blockscale.mma<kind = mxf4, a = e2m1, b = e2m1, scale = ue8m0, block = 32, m = 16, n = 8, k = 64>
func.func @byte_2x(%a: vector<4xi32>, %b: vector<2xi32>, %c: vector<4xf32>, %s: i32) {
  // expected-error @below {{byte-id 1 with 2 scales per row; legal are 0 and 2}}
  %0 = blockscale.warp_mma #mma %a, %b, %c scales %s, %s tile 0, 0 step 0 ids <byte = 1, thread = 0>, <byte = 0, thread = 0>
  return
}

// -----

#mma = #blockscale.mma<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 16, n = 8, k = 64>
func.func @byte_4x(%a: vector<4xi32>, %b: vector<2xi32>, %c: vector<4xf32>, %s: i32) {
  // expected-error @below {{byte-id 2 with 4 scales per row; legal are 0}}
  %0 = blockscale.warp_mma #mma %a, %b, %c scales %s, %s tile 0, 0 step 0 ids <byte = 0, thread = 0>, <byte = 2, thread = 0>
  return
}

// -----

#mma = #blockscale.mma<kind = mxf8f6f4, a = e4m3, b = e4m3, scale = ue8m0, block = 32, m = 16, n = 8, k = 32>
func.func @thread_a(%a: vector<4xi32>, %b: vector<2xi32>, %c: vector<4xf32>, %s: i32) {
  // expected-error @below {{thread-id 2; legal are 0 to 1}}
  %0 = blockscale.warp_mma #mma %a, %b, %c scales %s, %s tile 0, 0 step 0 ids <byte = 0, thread = 2>, <byte = 0, thread = 0>
  return
}

// -----

#mma = #blockscale.mma<kind = mxf8f6f4, a = e4m3, b = e4m3, scale = ue8m0, block = 32, m = 16, n = 8, k = 32>
func.func @out_of_range(%a: vector<4xi32>, %b: vector<2xi32>, %c: vector<4xf32>, %s: i32) {
  // expected-error @below {{expected byte and thread ids of 0 to 3, found 0 and 4}}
  %0 = blockscale.warp_mma #mma %a, %b, %c scales %s, %s tile 0, 0 step 0 ids <byte = 0, thread = 0>, <byte = 0, thread = 4>
  return
}

// -----

#mma = #blockscale.mma<kind = mxf8f6f4, a = e4m3, b = e4m3, scale = ue8m0, block = 32, m = 16, n = 8, k = 32>
func.func @one_id(%a: vector<4xi32>, %b: vector<2xi32>, %c: vector<4xf32>, %s: i32) {
  // expected-error @below {{expected 'sfa_id' and 'sfb_id' together}}
  %0 = "blockscale.warp_mma"(%a, %b, %c, %s, %s) <{instruction = #mma, row_tile = 0, column_tile = 0, step = 0, sfa_id = #blockscale.scale_selector<byte = 0, thread = 0>, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 1, 1>}> : (vector<4xi32>, vector<2xi32>, vector<4xf32>, i32, i32) -> vector<4xf32>
  return
}

// -----

#mma = #blockscale.mma<kind = i8, a = s8, b = u8, m = 16, n = 8, k = 32>
func.func @scales_of_integers(%a: vector<4xi32>, %b: vector<2xi32>, %c: vector<4xi32>, %s: i32) {
  // expected-error @below {{expected scales of both operands with a block-scaled kind, and only then}}
  %0 = blockscale.warp_mma #mma %a, %b, %c scales %s, %s tile 0, 0 step 0
  return
}

// -----

#mma = #blockscale.mma<kind = mxf8f6f4, a = e4m3, b = e4m3, scale = ue8m0, block = 32, m = 16, n = 8, k = 32>
func.func @no_scales(%a: vector<4xi32>, %b: vector<2xi32>, %c: vector<4xf32>) {
  // expected-error @below {{expected scales of both operands with a block-scaled kind, and only then}}
  %0 = blockscale.warp_mma #mma %a, %b, %c tile 0, 0 step 0
  return
}

// -----

#mma = #blockscale.mma<kind = i8, a = s8, b = u8, m = 16, n = 8, k = 32>
func.func @float_sums(%a: vector<4xi32>, %b: vector<2xi32>, %c: vector<4xf32>) {
  // expected-error @below {{expected sums of 'vector<4xi32>' of kind 'i8', found 'vector<4xf32>'}}
  %0 = "blockscale.warp_mma"(%a, %b, %c) <{instruction = #mma, row_tile = 0, column_tile = 0, step = 0, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>}> : (vector<4xi32>, vector<2xi32>, vector<4xf32>) -> vector<4xf32>
  return
}

// -----

#mma = #blockscale.mma<kind = f16, a = bf16, b = bf16, m = 16, n = 8, k = 16>
func.func @ids_without_scales(%a: vector<4xi32>, %b: vector<2xi32>, %c: vector<4xf32>) {
  // expected-error @below {{expected no scale ids without scales}}
  %0 = blockscale.warp_mma #mma %a, %b, %c tile 0, 0 step 0 ids <byte = 0, thread = 0>, <byte = 0, thread = 0>
  return
}

// -----

func.func @unequal(%c: vector<4xf32>) {
  // expected-error @below {{inferred type(s) 'vector<4xf32>' are incompatible with return type(s) of operation 'vector<4xf32>', 'vector<4xf32>'}}
  // expected-error @below {{failed to infer returned types}}
  %0:2 = blockscale.finish_fragments %c : vector<4xf32> -> vector<4xf32>, vector<4xf32>
  return
}
