// RUN: blockscale-opt %s -split-input-file -verify-diagnostics

// Rules of kernels, loops, buffers and of what is not MX in an instruction.

// expected-error @below {{expected sizes of at least 1, found 0}}
func.func private @size(!blockscale_nki.buffer<0x4xf32, sbuf>)

// -----

// expected-error @below {{expected a size 'batch'}}
blockscale_nki.kernel @sizes target("trn3") sizes {K = 1 : i64, M = 1 : i64, N = 1 : i64} parameters [] {
  "blockscale_nki.return"() : () -> ()
}

// -----

// expected-error @below {{expected an argument for each of 0 parameters, found 1}}
blockscale_nki.kernel @parameters target("trn3") sizes {K = 1 : i64, M = 1 : i64, N = 1 : i64, batch = 1 : i64} parameters [] {
^bb0(%x: !blockscale_nki.buffer<128x4xf32, hbm>):
  "blockscale_nki.return"() : () -> ()
}

// -----

// expected-error @below {{expected arguments in 'hbm', found '!blockscale_nki.buffer<128x4xf32, sbuf>'}}
blockscale_nki.kernel @arguments target("trn3") sizes {K = 1 : i64, M = 1 : i64, N = 1 : i64, batch = 1 : i64} parameters [#blockscale_nki.parameter<"x", plain, "c" : tensor<128x4xf32>>] {
^bb0(%x: !blockscale_nki.buffer<128x4xf32, sbuf>):
  "blockscale_nki.return"() : () -> ()
}

// -----

!d = !blockscale_nki.buffer<128x64x!blockscale_nki.x4<f8E4M3FN>, sbuf>
!s = !blockscale_nki.buffer<128x64xui8, sbuf>
!r = !blockscale_nki.buffer<64x64xf32, psum>
blockscale_nki.kernel @repeated target("trn3") sizes {K = 1024 : i64, M = 64 : i64, N = 64 : i64, batch = 1 : i64} parameters [] {
  %d = blockscale_nki.alloc "d" : !d
  %s = blockscale_nki.alloc "s" : !s
  %r = blockscale_nki.alloc "r" : !r
  blockscale_nki.loop "k" from 0 to 2 step 1 {
  ^bb0(%k: index):
    // expected-error @below {{is repeated by a loop inside its accumulation group: expected its step to be the loop's variable}}
    blockscale_nki.nc_matmul_mx %d scaled %s, %d scaled %s into %r group(0 of 2) : !d, !s, !d, !s, !r
  }
  "blockscale_nki.return"() : () -> ()
}

// -----

!d = !blockscale_nki.buffer<128x64x!blockscale_nki.x4<f8E4M3FN>, sbuf>
!s = !blockscale_nki.buffer<128x64xui8, sbuf>
!r = !blockscale_nki.buffer<64x64xf32, psum>
blockscale_nki.kernel @outer_step target("trn3") sizes {K = 1024 : i64, M = 64 : i64, N = 64 : i64, batch = 1 : i64} parameters [] {
  %d = blockscale_nki.alloc "d" : !d
  %s = blockscale_nki.alloc "s" : !s
  %r = blockscale_nki.alloc "r" : !r
  blockscale_nki.loop "i" from 0 to 2 step 1 {
  ^bb0(%i: index):
    blockscale_nki.loop "k" from 0 to 2 step 1 {
    ^bb0(%k: index):
      // expected-error @below {{expected as step a constant or the variable of the loop that stands beside the tile's 'blockscale_nki.alloc'}}
      blockscale_nki.nc_matmul_mx %d scaled %s, %d scaled %s into %r group(%i of 2) : !d, !s, !d, !s, !r
    }
  }
  "blockscale_nki.return"() : () -> ()
}

// -----

!d = !blockscale_nki.buffer<128x64x!blockscale_nki.x4<f8E4M3FN>, sbuf>
!s = !blockscale_nki.buffer<128x64xui8, sbuf>
!r = !blockscale_nki.buffer<64x64xf32, psum>
!flat = !blockscale_nki.buffer<64x64xf32, psum>
blockscale_nki.kernel @no_alloc target("trn3") sizes {K = 1024 : i64, M = 64 : i64, N = 64 : i64, batch = 1 : i64} parameters [] {
  %d = blockscale_nki.alloc "d" : !d
  %s = blockscale_nki.alloc "s" : !s
  %x = blockscale_nki.alloc "x" : !r
  %r = blockscale_nki.reshape %x : !r to !flat
  // expected-error @below {{expected to write a 'blockscale_nki.alloc'}}
  blockscale_nki.nc_matmul_mx %d scaled %s, %d scaled %s into %r group(0 of 1) : !d, !s, !d, !s, !r
  "blockscale_nki.return"() : () -> ()
}

// -----

func.func @loop_argument() {
  // expected-error @below {{expected one argument of type index}}
  blockscale_nki.loop "k" from 0 to 2 step 1 {
  ^bb0(%k: i32):
  }
  return
}

// -----

func.func @loop_bounds() {
  // expected-error @below {{expected 0 <= lower < upper and a step of at least 1, found 2 to 2 step 1}}
  blockscale_nki.loop "k" from 2 to 2 step 1 {
  ^bb0(%k: index):
  }
  return
}

// -----

func.func @hbm_address() {
  // expected-error @below {{has an address, but lies in 'hbm'}}
  %0 = blockscale_nki.alloc "x" at 0 : !blockscale_nki.buffer<128x4xf32, hbm>
  return
}

// -----

func.func @slice_type(%x: !blockscale_nki.buffer<128x4xf32, sbuf>) {
  // expected-error @below {{expected element type, memory and rank of '!blockscale_nki.buffer<128x4xf32, sbuf>', found '!blockscale_nki.buffer<64x4xbf16, sbuf>'}}
  %0 = blockscale_nki.slice %x[0, 0] : !blockscale_nki.buffer<128x4xf32, sbuf> to !blockscale_nki.buffer<64x4xbf16, sbuf>
  return
}

// -----

func.func @slice_offsets(%x: !blockscale_nki.buffer<128x4xf32, sbuf>) {
  // expected-error @below {{expected 2 offsets, found 1}}
  %0 = blockscale_nki.slice %x[0] : !blockscale_nki.buffer<128x4xf32, sbuf> to !blockscale_nki.buffer<64x4xf32, sbuf>
  return
}

// -----

func.func @access_memory(%x: !blockscale_nki.buffer<128x4xf32, sbuf>, %i: index) {
  // expected-error @below {{expected a pattern over a tensor in 'hbm'}}
  %0 = blockscale_nki.access %x[%i] strides [4, 1] : !blockscale_nki.buffer<128x4xf32, sbuf> to !blockscale_nki.buffer<128x4xf32, hbm>
  return
}

// -----

func.func @access_bits(%x: !blockscale_nki.buffer<128x4xf32, hbm>, %i: index) {
  // expected-error @below {{reads elements of 32 bits as elements of 8}}
  %0 = blockscale_nki.access %x[%i] strides [4, 1] : !blockscale_nki.buffer<128x4xf32, hbm> to !blockscale_nki.buffer<128x4xui8, hbm>
  return
}

// -----

func.func @access_strides(%x: !blockscale_nki.buffer<128x4xf32, hbm>, %i: index) {
  // expected-error @below {{expected 2 strides, found 1}}
  %0 = blockscale_nki.access %x[%i] strides [4] : !blockscale_nki.buffer<128x4xf32, hbm> to !blockscale_nki.buffer<128x4xf32, hbm>
  return
}

// -----

func.func @access_backwards(%x: !blockscale_nki.buffer<128x4xf32, hbm>, %i: index) {
  // expected-error @below {{expected strides of at least 0, found -1}}
  %0 = blockscale_nki.access %x[%i] strides [4, -1] : !blockscale_nki.buffer<128x4xf32, hbm> to !blockscale_nki.buffer<128x4xf32, hbm>
  return
}

// -----

func.func @access_behind(%x: !blockscale_nki.buffer<128x4xf32, hbm>, %i: index) {
  // expected-error @below {{reaches element 638 of 512}}
  %0 = blockscale_nki.access %x[%i] strides [5, 1] : !blockscale_nki.buffer<128x4xf32, hbm> to !blockscale_nki.buffer<128x4xf32, hbm>
  return
}

// -----

func.func @reshape(%x: !blockscale_nki.buffer<128x4x2xf32, sbuf>) {
  // expected-error @below {{expected the partitions and elements of '!blockscale_nki.buffer<128x4x2xf32, sbuf>', found '!blockscale_nki.buffer<128x4xf32, sbuf>'}}
  %0 = blockscale_nki.reshape %x : !blockscale_nki.buffer<128x4x2xf32, sbuf> to !blockscale_nki.buffer<128x4xf32, sbuf>
  return
}

// -----

func.func @copied_type(%x: !blockscale_nki.buffer<128x4xf32, hbm>, %y: !blockscale_nki.buffer<128x4xbf16, sbuf>) {
  // expected-error @below {{expected one element type, found '!blockscale_nki.buffer<128x4xf32, hbm>' and '!blockscale_nki.buffer<128x4xbf16, sbuf>'}}
  blockscale_nki.dma_copy %x to %y : !blockscale_nki.buffer<128x4xf32, hbm> to !blockscale_nki.buffer<128x4xbf16, sbuf>
  return
}

// -----

func.func @copied_shape(%x: !blockscale_nki.buffer<128x4xf32, hbm>, %y: !blockscale_nki.buffer<64x4xf32, sbuf>) {
  // expected-error @below {{expected tiles of one shape, found '!blockscale_nki.buffer<128x4xf32, hbm>' and '!blockscale_nki.buffer<64x4xf32, sbuf>'}}
  blockscale_nki.dma_copy %x to %y : !blockscale_nki.buffer<128x4xf32, hbm> to !blockscale_nki.buffer<64x4xf32, sbuf>
  return
}

// -----

func.func @set_packed(%x: !blockscale_nki.buffer<128x4x!blockscale_nki.x4<f8E4M3FN>, sbuf>) {
  // expected-error @below {{expected value 0 for packed elements, found 1}}
  blockscale_nki.memset %x, 1 : !blockscale_nki.buffer<128x4x!blockscale_nki.x4<f8E4M3FN>, sbuf>
  return
}

// -----

func.func @set_byte(%x: !blockscale_nki.buffer<128x4xui8, sbuf>) {
  // expected-error @below {{value 256 does not fit into 8 bits}}
  blockscale_nki.memset %x, 256 : !blockscale_nki.buffer<128x4xui8, sbuf>
  return
}

// -----

!d = !blockscale_nki.buffer<128x64x!blockscale_nki.x4<f8E4M3FN>, sbuf>
!r = !blockscale_nki.buffer<64x64xf32, psum>
func.func @packed_scales(%d: !d, %r: !r) {
  // expected-error @below {{expected two-dimensional tiles of plain elements as scales and result, found '!blockscale_nki.buffer<128x64x!blockscale_nki.x4<f8E4M3FN>, sbuf>' (NKI API reference, nki.isa.nc_matmul_mx, Data types)}}
  blockscale_nki.nc_matmul_mx %d scaled %d, %d scaled %d into %r group(0 of 1) : !d, !d, !d, !d, !r
  return
}

// -----

!x = !blockscale_nki.buffer<128x64xui8, sbuf>
!r = !blockscale_nki.buffer<64x64xf32, psum>
func.func @plain_data(%x: !x, %r: !r) {
  // expected-error @below {{expected two-dimensional tiles of packed elements, found '!blockscale_nki.buffer<128x64xui8, sbuf>' (NKI API reference, nki.isa.nc_matmul_mx, Data types)}}
  blockscale_nki.nc_matmul_mx %x scaled %x, %x scaled %x into %r group(0 of 1) : !x, !x, !x, !x, !r
  return
}

// -----

!d = !blockscale_nki.buffer<128x64x!blockscale_nki.x4<f8E4M3FN>, sbuf>
!s = !blockscale_nki.buffer<128x64xui8, sbuf>
!r = !blockscale_nki.buffer<64x64xf32, psum>
func.func @two_steps(%d: !d, %s: !s, %r: !r, %i: index) {
  // expected-error @below {{expected one step, a constant or a value}}
  "blockscale_nki.nc_matmul_mx"(%d, %s, %d, %s, %r, %i) <{static_step = 0 : i64, steps = 1 : i64}> : (!d, !s, !d, !s, !r, index) -> ()
  return
}

// -----

!x = !blockscale_nki.buffer<128x64xbf16, sbuf>
!d = !blockscale_nki.buffer<128x32x!blockscale_nki.x4<f8E4M3FN>, sbuf>
!s = !blockscale_nki.buffer<128x32xui8, sbuf>
func.func @quantized_size(%x: !x, %d: !d, %s: !s) {
  // expected-error @below {{dst of free size 32 is not legal for 'quantize_mx' on 'trn3': expected 16, a quarter of the free size of src (NKI API reference, nki.isa.quantize_mx, Tile size)}}
  blockscale_nki.quantize_mx %x to %d, %s : !x to !d, !s
  return
}

// -----

func.func @integers(%x: !blockscale_nki.buffer<128x4xui8, sbuf>) {
  // expected-error @below {{expected tiles of floats, found '!blockscale_nki.buffer<128x4xui8, sbuf>'}}
  blockscale_nki.activation silu %x to %x : !blockscale_nki.buffer<128x4xui8, sbuf> to !blockscale_nki.buffer<128x4xui8, sbuf>
  return
}

// -----

!x = !blockscale_nki.buffer<128x4xf32, sbuf>
!c = !blockscale_nki.buffer<128x1xf32, sbuf>
func.func @two_operands(%x: !x, %c: !c) {
  // expected-error @below {{expected one operand, a column or a constant}}
  "blockscale_nki.tensor_scalar"(%x, %c, %x) <{op = #blockscale_nki<arithmetic add>, constant = 1.0 : f32}> : (!x, !c, !x) -> ()
  return
}

// -----

!x = !blockscale_nki.buffer<128x4xf32, sbuf>
func.func @no_column(%x: !x) {
  // expected-error @below {{expected an operand of 128 partitions by 1 in 'sbuf' or 'psum', found '!blockscale_nki.buffer<128x4xf32, sbuf>' (NKI API reference, nki.isa.tensor_scalar)}}
  blockscale_nki.tensor_scalar add %x, %x to %x : !x, !x to !x
  return
}

// -----

// expected-error @below {{expected to end in 'blockscale_nki.return'}}
blockscale_nki.kernel @no_return target("trn3") sizes {K = 1 : i64, M = 1 : i64, N = 1 : i64, batch = 1 : i64} parameters [] {
  %d = blockscale_nki.alloc "d" : !blockscale_nki.buffer<128x4xf32, sbuf>
}
