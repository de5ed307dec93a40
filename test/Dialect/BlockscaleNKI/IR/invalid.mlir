// RUN: blockscale-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{NKI packs no four elements of type 'f32': expected f8E4M3FN, f8E5M2 or f4E2M1FN}}
func.func private @packed(!blockscale_nki.x4<f32>)

// -----

// expected-error @below {{'sbuf' has 128 partitions, found 129 (Trainium3 Architecture Guide for NKI)}}
func.func private @partitions(!blockscale_nki.buffer<129x4xf32, sbuf>)

// -----

// expected-error @below {{'l2' is no memory, expected hbm, sbuf or psum}}
func.func private @memory(!blockscale_nki.buffer<128x4xf32, l2>)

// -----

// expected-error @below {{expected 2 or 3 dimensions, found 1}}
func.func private @rank(!blockscale_nki.buffer<128xf32, sbuf>)

// -----

// expected-error @below {{NKI has no tensors of 'f64'}}
func.func private @element(!blockscale_nki.buffer<128x4xf64, sbuf>)

// -----

func.func @address() {
  // expected-error @below {{bytes 262140 to 262156 of a partition are outside of 'sbuf', which has 262144 (Trainium3 Architecture Guide for NKI)}}
  %0 = blockscale_nki.alloc "x" at 262140 : !blockscale_nki.buffer<128x4xf32, sbuf>
  return
}

// -----

func.func @bank() {
  // expected-error @below {{bytes 1024 to 3072 of a partition are in more than one bank of 2048 bytes}}
  %0 = blockscale_nki.alloc "x" at 1024 : !blockscale_nki.buffer<128x512xf32, psum>
  return
}

// -----

func.func @slice(%x: !blockscale_nki.buffer<128x4xf32, sbuf>) {
  // expected-error @below {{takes 64 from 96 on of 128 in dimension 0}}
  %0 = blockscale_nki.slice %x[96, 0] : !blockscale_nki.buffer<128x4xf32, sbuf> to !blockscale_nki.buffer<64x4xf32, sbuf>
  return
}

// -----

func.func @dma(%x: !blockscale_nki.buffer<128x4xf32, psum>, %y: !blockscale_nki.buffer<128x4xf32, hbm>) {
  // expected-error @below {{'src' is in 'psum': expected 'hbm' or 'sbuf' (NKI API reference, nki.isa.dma_copy)}}
  blockscale_nki.dma_copy %x to %y : !blockscale_nki.buffer<128x4xf32, psum> to !blockscale_nki.buffer<128x4xf32, hbm>
  return
}

// -----

func.func @both_psum(%x: !blockscale_nki.buffer<128x4xf32, psum>, %y: !blockscale_nki.buffer<128x4xf32, sbuf>) {
  // expected-error @below {{'data1' and 'data2' are both in 'psum': expected one of them in 'sbuf' (NKI API reference, nki.isa.tensor_tensor)}}
  blockscale_nki.tensor_tensor add %x, %x to %y : !blockscale_nki.buffer<128x4xf32, psum>, !blockscale_nki.buffer<128x4xf32, psum> to !blockscale_nki.buffer<128x4xf32, sbuf>
  return
}

// -----

!d = !blockscale_nki.buffer<128x64x!blockscale_nki.x4<f8E4M3FN>, sbuf>
!s = !blockscale_nki.buffer<128x64xui8, sbuf>
!r = !blockscale_nki.buffer<64x64xf32, sbuf>
func.func @result(%d: !d, %s: !s, %r: !r) {
  // expected-error @below {{dst in 'sbuf' is not legal for 'nc_matmul_mx' on 'trn3': expected 'psum' (NKI API reference, nki.isa.nc_matmul_mx, Memory types)}}
  blockscale_nki.nc_matmul_mx %d scaled %s, %d scaled %s into %r group(0 of 1) : !d, !s, !d, !s, !r
  return
}

// -----

!d = !blockscale_nki.buffer<128x63x!blockscale_nki.x4<f8E4M3FN>, sbuf>
!s = !blockscale_nki.buffer<128x63xui8, sbuf>
!r = !blockscale_nki.buffer<63x63xf32, psum>
func.func @odd(%d: !d, %s: !s, %r: !r) {
  // expected-error @below {{M = 63 is not legal for 'nc_matmul_mx' on 'trn3'}}
  blockscale_nki.nc_matmul_mx %d scaled %s, %d scaled %s into %r group(0 of 1) : !d, !s, !d, !s, !r
  return
}

// -----

!d = !blockscale_nki.buffer<128x64x!blockscale_nki.x4<f8E4M3FN>, sbuf>
!s = !blockscale_nki.buffer<16x64xui8, sbuf>
!r = !blockscale_nki.buffer<64x64xf32, psum>
func.func @scales(%d: !d, %s: !s, %r: !r) {
  // expected-error @below {{scale tile of 16 partitions is not legal for 'nc_matmul_mx' on 'trn3': expected at least 128 for P = 128}}
  blockscale_nki.nc_matmul_mx %d scaled %s, %d scaled %s into %r group(0 of 1) : !d, !s, !d, !s, !r
  return
}

// -----

!w = !blockscale_nki.buffer<128x64x!blockscale_nki.x4<f8E4M3FN>, sbuf>
!d = !blockscale_nki.buffer<32x64x!blockscale_nki.x4<f8E4M3FN>, sbuf>
!s = !blockscale_nki.buffer<32x64xui8, sbuf>
!r = !blockscale_nki.buffer<64x64xf32, psum>
func.func @row(%w: !w, %s: !s, %r: !r) {
  %d = blockscale_nki.slice %w[32, 0] : !w to !d
  // expected-error @below {{operands from partition 32 is not legal for 'nc_matmul_mx' on 'trn3': expected partition 64, the tile's first row (NKI API reference, nki.isa.nc_matmul_mx, Tiling mode)}}
  blockscale_nki.nc_matmul_mx %d scaled %s, %d scaled %s into %r group(0 of 1) row_tile(32 at 64) : !d, !s, !d, !s, !r
  return
}

// -----

!w = !blockscale_nki.buffer<128x64x!blockscale_nki.x4<f8E4M3FN>, sbuf>
!d = !blockscale_nki.buffer<32x64x!blockscale_nki.x4<f8E4M3FN>, sbuf>
!s = !blockscale_nki.buffer<32x64xui8, sbuf>
!r = !blockscale_nki.buffer<64x64xf32, psum>
func.func @quadrant(%w: !w, %s: !s, %r: !r) {
  %d = blockscale_nki.slice %w[64, 0] : !w to !d
  // expected-error @below {{scale offset -64 is not legal for 'nc_matmul_mx' on 'trn3': expected 0, 4, 8 or 12 from the data (NKI API reference, nki.isa.quantize_mx, Layout); nearest legal: scale offset 0}}
  blockscale_nki.nc_matmul_mx %d scaled %s, %d scaled %s into %r group(0 of 1) row_tile(32 at 64) : !d, !s, !d, !s, !r
  return
}

// -----

!x = !blockscale_nki.buffer<128x64xf32, sbuf>
!d = !blockscale_nki.buffer<128x16x!blockscale_nki.x4<f8E4M3FN>, sbuf>
!s = !blockscale_nki.buffer<128x16xui8, sbuf>
func.func @quantize(%x: !x, %d: !d, %s: !s) {
  // expected-error @below {{src of type 'float32' is not legal for 'quantize_mx' on 'trn3': expected 'float16' or 'bfloat16'}}
  blockscale_nki.quantize_mx %x to %d, %s : !x to !d, !s
  return
}

// -----

!d = !blockscale_nki.buffer<128x64x!blockscale_nki.x4<f8E4M3FN>, sbuf>
!s = !blockscale_nki.buffer<128x64xui8, sbuf>
!r = !blockscale_nki.buffer<64x64xf32, psum>
blockscale_nki.kernel @opened_twice target("trn3") sizes {K = 1024 : i64, M = 64 : i64, N = 64 : i64, batch = 1 : i64} parameters [] {
  %d = blockscale_nki.alloc "d" : !d
  %s = blockscale_nki.alloc "s" : !s
  %r = blockscale_nki.alloc "r" : !r
  blockscale_nki.nc_matmul_mx %d scaled %s, %d scaled %s into %r group(0 of 2) : !d, !s, !d, !s, !r
  // expected-error @below {{is step 0 of its accumulation group where step 1 is due: one instruction opens a group, each adds one step (NKI API reference, nki.isa.nc_matmul_mx, Parameters)}}
  blockscale_nki.nc_matmul_mx %d scaled %s, %d scaled %s into %r group(0 of 2) : !d, !s, !d, !s, !r
  blockscale_nki.return %d : !d
}

// -----

!d = !blockscale_nki.buffer<128x64x!blockscale_nki.x4<f8E4M3FN>, sbuf>
!s = !blockscale_nki.buffer<128x64xui8, sbuf>
!r = !blockscale_nki.buffer<64x64xf32, psum>
blockscale_nki.kernel @not_closed target("trn3") sizes {K = 1024 : i64, M = 64 : i64, N = 64 : i64, batch = 1 : i64} parameters [] {
  %d = blockscale_nki.alloc "d" : !d
  %s = blockscale_nki.alloc "s" : !s
  %r = blockscale_nki.alloc "r" : !r
  blockscale_nki.loop "k" from 0 to 2 step 1 {
  ^bb0(%k: index):
    // expected-error @below {{is in a group of 3 steps, but 2 write its tile: the last one closes the group (NKI API reference, nki.isa.nc_matmul_mx, Parameters)}}
    blockscale_nki.nc_matmul_mx %d scaled %s, %d scaled %s into %r group(%k of 3) : !d, !s, !d, !s, !r
  }
  blockscale_nki.return %d : !d
}

// -----

// expected-error @below {{target 'trn2' is a NeuronCore-v3 without block-scaled instructions}}
blockscale_nki.kernel @target target("trn2") sizes {K = 1 : i64, M = 1 : i64, N = 1 : i64, batch = 1 : i64} parameters [] {
  %d = blockscale_nki.alloc "d" : !blockscale_nki.buffer<2x2xf32, hbm>
  blockscale_nki.return %d : !blockscale_nki.buffer<2x2xf32, hbm>
}

// -----

!packed = !blockscale_nki.buffer<32x16x!blockscale_nki.x4<f8E4M3FN>, sbuf>
!scales = !blockscale_nki.buffer<32x16xui8, sbuf>
func.func @quantize_packed(%packed: !packed, %scales: !scales) {
  // expected-error @below {{expected 'src' of plain, 'dst' of packed and 'dst_scale' of plain elements, found '!blockscale_nki.buffer<32x16x!blockscale_nki.x4<f8E4M3FN>, sbuf>', '!blockscale_nki.buffer<32x16x!blockscale_nki.x4<f8E4M3FN>, sbuf>' and '!blockscale_nki.buffer<32x16xui8, sbuf>' (NKI API reference, nki.isa.quantize_mx, Data types)}}
  blockscale_nki.quantize_mx %packed to %packed, %scales : !packed to !packed, !scales
  return
}

// -----

!plain = !blockscale_nki.buffer<32x64xbf16, sbuf>
!scales = !blockscale_nki.buffer<32x16xui8, sbuf>
func.func @quantize_to_plain(%plain: !plain, %scales: !scales) {
  // expected-error @below {{expected 'src' of plain, 'dst' of packed and 'dst_scale' of plain elements}}
  blockscale_nki.quantize_mx %plain to %plain, %scales : !plain to !plain, !scales
  return
}
