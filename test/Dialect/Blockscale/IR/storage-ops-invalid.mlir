// Shared and tensor memory where it is not, and roles without warps.

// RUN: blockscale-opt %s -split-input-file -verify-diagnostics

func.func @shared_offset() {
  // expected-error @below {{expected an offset that is a multiple of 1024, found 128}}
  %0 = blockscale.shared_alloc offset(128) : !blockscale.shared<4x128x256xf4E2M1FN, container = 4, swizzle = "128B">
  return
}

// -----

func.func @unswizzled_offset() {
  // expected-error @below {{expected an offset that is a multiple of 128, found 64}}
  %0 = blockscale.shared_alloc offset(64) : !blockscale.shared<1x1xi32, container = 32>
  return
}

// -----

func.func @arrivals() {
  // expected-error @below {{expected 1 to 1048575 arrivals, found 0}}
  %0 = blockscale.barrier_alloc arrivals(0) : !blockscale.barrier<1>
  return
}

// -----

func.func @barrier_offset() {
  // expected-error @below {{expected an offset that is a multiple of 8, found 4}}
  %0 = blockscale.barrier_alloc arrivals(1) offset(4) : !blockscale.barrier<1>
  return
}

// -----

func.func @negative_offset() {
  // expected-error @below {{expected an offset that is a multiple of 8, found -8}}
  %0 = blockscale.barrier_alloc arrivals(1) offset(-8) : !blockscale.barrier<1>
  return
}

// -----

func.func @slot(%s: !blockscale.shared<1x2xi8, container = 8>) {
  // expected-error @below {{expected a slot of at least 4 bytes}}
  blockscale.tmem_alloc %s : !blockscale.shared<1x2xi8, container = 8>
  return
}

// -----

func.func @power_of_two(%s: !blockscale.shared<1x1xi32, container = 32>) {
  // expected-error @below {{tensor memory is allocated in powers of two from 32 to 512 columns; found 96, the next larger is 128}}
  blockscale.tmem_alloc %s columns(96) : !blockscale.shared<1x1xi32, container = 32>
  return
}

// -----

func.func @too_many_columns(%s: !blockscale.shared<1x1xi32, container = 32>) {
  // expected-error @below {{tensor memory has 512 columns, 1024 are asked for}}
  blockscale.tmem_dealloc %s columns(1024) : !blockscale.shared<1x1xi32, container = 32>
  return
}

// -----

func.func @view(%s: !blockscale.shared<1x1xi32, container = 32>) {
  // expected-error @below {{256 columns from column 257 on are not within the 512 columns of tensor memory}}
  %0 = blockscale.tmem_view %s column(257) : !blockscale.shared<1x1xi32, container = 32> -> !blockscale.tmem<2x128x128xf32, #blockscale.tmem_accumulator>
  return
}

// -----

func.func @view_overlap(%s: !blockscale.shared<1x1xi32, container = 32>) {
  // expected-error @below {{464 columns from column 49 on are not within the 512 columns of tensor memory}}
  %0 = blockscale.tmem_view %s column(49) : !blockscale.shared<1x1xi32, container = 32> -> !blockscale.tmem<2x128x256xf32, #blockscale.tmem_accumulator<copy_stride = 208>>
  return
}

// -----

func.func @view_scales(%s: !blockscale.shared<1x1xi32, container = 32>) {
  // expected-error @below {{expected scales at a multiple of 4 columns, found 6}}
  %0 = blockscale.tmem_view %s column(6) : !blockscale.shared<1x1xi32, container = 32> -> !blockscale.tmem<128x4xi8, #blockscale.tmem_scales<word_stride = 4>>
  return
}

// -----

func.func @warps() {
  // expected-error @below {{expected at least one of the warps 0 to 32, found 4 to 4}}
  blockscale.warps "none" 4 to 4 {
  }
  return
}

// -----

func.func @warps_range() {
  // expected-error @below {{expected at least one of the warps 0 to 32, found 0 to 33}}
  blockscale.warps "all" 0 to 33 {
  }
  return
}
