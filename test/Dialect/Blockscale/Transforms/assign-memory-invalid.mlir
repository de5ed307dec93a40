// RUN: blockscale-opt %s -split-input-file -verify-diagnostics -blockscale-assign-memory

// expected-error @below {{232456 bytes of shared memory do not fit on 'sm_100a': at most 232448 bytes per CTA}}
func.func @shared() attributes {blockscale.kernel = #blockscale.kernel<grid = ()[m, n, k, l, sms, clusters] -> (sms), block = 32>} {
  // expected-note @below {{131072 bytes for '!blockscale.shared<8x128x128xi8, container = 8, swizzle = "128B">'}}
  %0 = blockscale.shared_alloc : !blockscale.shared<8x128x128xi8, container = 8, swizzle = "128B">
  // expected-note @below {{101384 bytes for '!blockscale.shared<1x101384xi8, container = 8>'}}
  %1 = blockscale.shared_alloc : !blockscale.shared<1x101384xi8, container = 8>
  return
}

// -----

// expected-error @below {{needs 516 of the 512 columns of tensor memory}}
func.func @tensor(%slot: !blockscale.shared<1x1xi32, container = 32>) attributes {blockscale.kernel = #blockscale.kernel<grid = ()[m, n, k, l, sms, clusters] -> (sms), block = 32>} {
  // expected-note @below {{4 columns for '!blockscale.tmem<128x4xi8, #blockscale.tmem_scales<word_stride = 4>>'}}
  %0 = blockscale.tmem_view %slot : !blockscale.shared<1x1xi32, container = 32> -> !blockscale.tmem<128x4xi8, #blockscale.tmem_scales<word_stride = 4>>
  // expected-note @below {{512 columns for '!blockscale.tmem<2x128x256xf32, #blockscale.tmem_accumulator>'}}
  %1 = blockscale.tmem_view %slot : !blockscale.shared<1x1xi32, container = 32> -> !blockscale.tmem<2x128x256xf32, #blockscale.tmem_accumulator>
  return
}
