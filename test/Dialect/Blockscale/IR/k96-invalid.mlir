// RUN: blockscale-opt %s -split-input-file -verify-diagnostics

// What instructions of K = 96 read.

#kernel = #blockscale.kernel<grid = ()[m, n, k, l, sms, clusters] -> (sms), block = 192>
#mma = #blockscale.mma<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 256, k = 96>
#short = #blockscale.mma<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 256, k = 64>
!a = !blockscale.shared<4x128x256xf4E2M1FN, container = 4, swizzle = "128B">
!b = !blockscale.shared<4x256x256xf4E2M1FN, container = 4, swizzle = "128B">
!rsf = !blockscale.shared<4x2x4x512xi8, container = 8>
!acc = !blockscale.tmem<1x128x256xf32, #blockscale.tmem_accumulator>
!sfa = !blockscale.tmem<128x24xi8, #blockscale.tmem_scales<word_stride = 4>>
!sfb = !blockscale.tmem<256x24xi8, #blockscale.tmem_scales<word_stride = 8>>
gpu.module @kernels {
  gpu.func @previous_alone(%acc: !acc, %a: !a, %b: !b, %sfa: !sfa, %sfb: !sfb, %i: i32, %p: i32, %t: i1) kernel attributes {blockscale.target = #blockscale.target<sm_103a>, blockscale.kernel = #kernel} {
    // expected-error @below {{expected a 'range' with 'previous'}}
    blockscale.mma #mma %acc[%i], %a, %b stage %i previous %p scales %sfa, %sfb accumulate %t : !acc, !a, !b scales !sfa, !sfb
    gpu.return
  }
}

// -----

#kernel = #blockscale.kernel<grid = ()[m, n, k, l, sms, clusters] -> (sms), block = 192>
#mma = #blockscale.mma<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 256, k = 96>
#short = #blockscale.mma<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 256, k = 64>
!a = !blockscale.shared<4x128x256xf4E2M1FN, container = 4, swizzle = "128B">
!b = !blockscale.shared<4x256x256xf4E2M1FN, container = 4, swizzle = "128B">
!rsf = !blockscale.shared<4x2x4x512xi8, container = 8>
!acc = !blockscale.tmem<1x128x256xf32, #blockscale.tmem_accumulator>
!sfa = !blockscale.tmem<128x24xi8, #blockscale.tmem_scales<word_stride = 4>>
!sfb = !blockscale.tmem<256x24xi8, #blockscale.tmem_scales<word_stride = 8>>
gpu.module @kernels {
  gpu.func @part(%acc: !acc, %a: !a, %b: !b, %sfa: !sfa, %sfb: !sfb, %i: i32, %p: i32, %t: i1) kernel attributes {blockscale.target = #blockscale.target<sm_103a>, blockscale.kernel = #kernel} {
    // expected-error @below {{expected 'part' of 0 to 2, found 3}}
    blockscale.mma #mma %acc[%i], %a, %b stage %i range <part = 3, begin = 768, end = 800> scales %sfa, %sfb accumulate %t : !acc, !a, !b scales !sfa, !sfb
    gpu.return
  }
}

// -----

#kernel = #blockscale.kernel<grid = ()[m, n, k, l, sms, clusters] -> (sms), block = 192>
#mma = #blockscale.mma<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 256, k = 96>
#short = #blockscale.mma<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 256, k = 64>
!a = !blockscale.shared<4x128x256xf4E2M1FN, container = 4, swizzle = "128B">
!b = !blockscale.shared<4x256x256xf4E2M1FN, container = 4, swizzle = "128B">
!rsf = !blockscale.shared<4x2x4x512xi8, container = 8>
!acc = !blockscale.tmem<1x128x256xf32, #blockscale.tmem_accumulator>
!sfa = !blockscale.tmem<128x24xi8, #blockscale.tmem_scales<word_stride = 4>>
!sfb = !blockscale.tmem<256x24xi8, #blockscale.tmem_scales<word_stride = 8>>
gpu.module @kernels {
  gpu.func @begin(%acc: !acc, %a: !a, %b: !b, %sfa: !sfa, %sfb: !sfb, %i: i32, %p: i32, %t: i1) kernel attributes {blockscale.target = #blockscale.target<sm_103a>, blockscale.kernel = #kernel} {
    // expected-error @below {{expected a range that begins at a multiple of 96 and ends by 256, where the stage does; found 48 to 192}}
    blockscale.mma #mma %acc[%i], %a, %b stage %i range <part = 0, begin = 48, end = 192> scales %sfa, %sfb accumulate %t : !acc, !a, !b scales !sfa, !sfb
    gpu.return
  }
}

// -----

#kernel = #blockscale.kernel<grid = ()[m, n, k, l, sms, clusters] -> (sms), block = 192>
#mma = #blockscale.mma<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 256, k = 96>
#short = #blockscale.mma<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 256, k = 64>
!a = !blockscale.shared<4x128x256xf4E2M1FN, container = 4, swizzle = "128B">
!b = !blockscale.shared<4x256x256xf4E2M1FN, container = 4, swizzle = "128B">
!rsf = !blockscale.shared<4x2x4x512xi8, container = 8>
!acc = !blockscale.tmem<1x128x256xf32, #blockscale.tmem_accumulator>
!sfa = !blockscale.tmem<128x24xi8, #blockscale.tmem_scales<word_stride = 4>>
!sfb = !blockscale.tmem<256x24xi8, #blockscale.tmem_scales<word_stride = 8>>
gpu.module @kernels {
  gpu.func @empty(%acc: !acc, %a: !a, %b: !b, %sfa: !sfa, %sfb: !sfb, %i: i32, %p: i32, %t: i1) kernel attributes {blockscale.target = #blockscale.target<sm_103a>, blockscale.kernel = #kernel} {
    // expected-error @below {{expected 'begin' before 'end', found 96 and 96}}
    blockscale.mma #mma %acc[%i], %a, %b stage %i range <part = 0, begin = 96, end = 96> scales %sfa, %sfb accumulate %t : !acc, !a, !b scales !sfa, !sfb
    gpu.return
  }
}

// -----

#kernel = #blockscale.kernel<grid = ()[m, n, k, l, sms, clusters] -> (sms), block = 192>
#mma = #blockscale.mma<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 256, k = 96>
#short = #blockscale.mma<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 256, k = 64>
!a = !blockscale.shared<4x128x256xf4E2M1FN, container = 4, swizzle = "128B">
!b = !blockscale.shared<4x256x256xf4E2M1FN, container = 4, swizzle = "128B">
!rsf = !blockscale.shared<4x2x4x512xi8, container = 8>
!acc = !blockscale.tmem<1x128x256xf32, #blockscale.tmem_accumulator>
!sfa = !blockscale.tmem<128x24xi8, #blockscale.tmem_scales<word_stride = 4>>
!sfb = !blockscale.tmem<256x24xi8, #blockscale.tmem_scales<word_stride = 8>>
gpu.module @kernels {
  gpu.func @behind(%acc: !acc, %a: !a, %b: !b, %sfa: !sfa, %sfb: !sfb, %i: i32, %p: i32, %t: i1) kernel attributes {blockscale.target = #blockscale.target<sm_103a>, blockscale.kernel = #kernel} {
    // expected-error @below {{expected a range that begins at a multiple of 96 and ends by 512, where the stage does; found 288 to 576}}
    blockscale.mma #mma %acc[%i], %a, %b stage %i range <part = 1, begin = 288, end = 576> scales %sfa, %sfb accumulate %t : !acc, !a, !b scales !sfa, !sfb
    gpu.return
  }
}

// -----

#kernel = #blockscale.kernel<grid = ()[m, n, k, l, sms, clusters] -> (sms), block = 192>
#mma = #blockscale.mma<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 256, k = 96>
#short = #blockscale.mma<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 256, k = 64>
!a = !blockscale.shared<4x128x256xf4E2M1FN, container = 4, swizzle = "128B">
!b = !blockscale.shared<4x256x256xf4E2M1FN, container = 4, swizzle = "128B">
!rsf = !blockscale.shared<4x2x4x512xi8, container = 8>
!acc = !blockscale.tmem<1x128x256xf32, #blockscale.tmem_accumulator>
!sfa = !blockscale.tmem<128x24xi8, #blockscale.tmem_scales<word_stride = 4>>
!sfb = !blockscale.tmem<256x24xi8, #blockscale.tmem_scales<word_stride = 8>>
gpu.module @kernels {
  gpu.func @reads_behind(%acc: !acc, %a: !a, %b: !b, %sfa: !sfa, %sfb: !sfb, %i: i32, %p: i32, %t: i1) kernel attributes {blockscale.target = #blockscale.target<sm_103a>, blockscale.kernel = #kernel} {
    // expected-error @below {{the last instruction reads up to element 288, the stage ends at 256}}
    blockscale.mma #mma %acc[%i], %a, %b stage %i range <part = 0, begin = 192, end = 240> scales %sfa, %sfb accumulate %t : !acc, !a, !b scales !sfa, !sfb
    gpu.return
  }
}

// -----

#kernel = #blockscale.kernel<grid = ()[m, n, k, l, sms, clusters] -> (sms), block = 192>
#mma = #blockscale.mma<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 256, k = 96>
#short = #blockscale.mma<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 256, k = 64>
!a = !blockscale.shared<4x128x256xf4E2M1FN, container = 4, swizzle = "128B">
!b = !blockscale.shared<4x256x256xf4E2M1FN, container = 4, swizzle = "128B">
!rsf = !blockscale.shared<4x2x4x512xi8, container = 8>
!acc = !blockscale.tmem<1x128x256xf32, #blockscale.tmem_accumulator>
!sfa = !blockscale.tmem<128x24xi8, #blockscale.tmem_scales<word_stride = 4>>
!sfb = !blockscale.tmem<256x24xi8, #blockscale.tmem_scales<word_stride = 8>>
gpu.module @kernels {
  gpu.func @before(%acc: !acc, %a: !a, %b: !b, %sfa: !sfa, %sfb: !sfb, %i: i32, %p: i32, %t: i1) kernel attributes {blockscale.target = #blockscale.target<sm_103a>, blockscale.kernel = #kernel} {
    // expected-error @below {{element 192 lies in the stage before part 1; expected 'previous'}}
    blockscale.mma #mma %acc[%i], %a, %b stage %i range <part = 1, begin = 192, end = 288> scales %sfa, %sfb accumulate %t : !acc, !a, !b scales !sfa, !sfb
    gpu.return
  }
}

// -----

#kernel = #blockscale.kernel<grid = ()[m, n, k, l, sms, clusters] -> (sms), block = 192>
#mma = #blockscale.mma<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 256, k = 96>
#short = #blockscale.mma<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 256, k = 64>
!a = !blockscale.shared<4x128x256xf4E2M1FN, container = 4, swizzle = "128B">
!b = !blockscale.shared<4x256x256xf4E2M1FN, container = 4, swizzle = "128B">
!rsf = !blockscale.shared<4x2x4x512xi8, container = 8>
!acc = !blockscale.tmem<1x128x256xf32, #blockscale.tmem_accumulator>
!sfa = !blockscale.tmem<128x24xi8, #blockscale.tmem_scales<word_stride = 4>>
!sfb = !blockscale.tmem<256x24xi8, #blockscale.tmem_scales<word_stride = 8>>
gpu.module @kernels {
  gpu.func @two_cross(%acc: !acc, %a: !a, %b: !b, %sfa: !sfa, %sfb: !sfb, %i: i32, %p: i32, %t: i1) kernel attributes {blockscale.target = #blockscale.target<sm_103a>, blockscale.kernel = #kernel} {
    // expected-error @below {{expected one instruction of K = 96 that starts in the stage before part 1 and ends in it, found 192 to 480 with K = 96}}
    blockscale.mma #mma %acc[%i], %a, %b stage %i previous %p range <part = 1, begin = 192, end = 480> scales %sfa, %sfb accumulate %t : !acc, !a, !b scales !sfa, !sfb
    gpu.return
  }
}

// -----

#kernel = #blockscale.kernel<grid = ()[m, n, k, l, sms, clusters] -> (sms), block = 192>
#mma = #blockscale.mma<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 256, k = 96>
#short = #blockscale.mma<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 256, k = 64>
!a = !blockscale.shared<4x128x256xf4E2M1FN, container = 4, swizzle = "128B">
!b = !blockscale.shared<4x256x256xf4E2M1FN, container = 4, swizzle = "128B">
!rsf = !blockscale.shared<4x2x4x512xi8, container = 8>
!acc = !blockscale.tmem<1x128x256xf32, #blockscale.tmem_accumulator>
!sfa = !blockscale.tmem<128x24xi8, #blockscale.tmem_scales<word_stride = 4>>
!sfb = !blockscale.tmem<256x24xi8, #blockscale.tmem_scales<word_stride = 8>>
gpu.module @kernels {
  gpu.func @none_crosses(%acc: !acc, %a: !a, %b: !b, %sfa: !sfa, %sfb: !sfb, %i: i32, %p: i32, %t: i1) kernel attributes {blockscale.target = #blockscale.target<sm_103a>, blockscale.kernel = #kernel} {
    // expected-error @below {{expected one instruction of K = 96 that starts in the stage before part 1 and ends in it, found 288 to 384 with K = 96}}
    blockscale.mma #mma %acc[%i], %a, %b stage %i previous %p range <part = 1, begin = 288, end = 384> scales %sfa, %sfb accumulate %t : !acc, !a, !b scales !sfa, !sfb
    gpu.return
  }
}

// -----

#kernel = #blockscale.kernel<grid = ()[m, n, k, l, sms, clusters] -> (sms), block = 192>
#mma = #blockscale.mma<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 256, k = 96>
#short = #blockscale.mma<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 256, k = 64>
!a = !blockscale.shared<4x128x256xf4E2M1FN, container = 4, swizzle = "128B">
!b = !blockscale.shared<4x256x256xf4E2M1FN, container = 4, swizzle = "128B">
!rsf = !blockscale.shared<4x2x4x512xi8, container = 8>
!acc = !blockscale.tmem<1x128x256xf32, #blockscale.tmem_accumulator>
!sfa = !blockscale.tmem<128x24xi8, #blockscale.tmem_scales<word_stride = 4>>
!sfb = !blockscale.tmem<256x24xi8, #blockscale.tmem_scales<word_stride = 8>>
gpu.module @kernels {
  gpu.func @short_crosses(%acc: !acc, %a: !a, %b: !b, %sfa: !sfa, %sfb: !sfb, %i: i32, %p: i32, %t: i1) kernel attributes {blockscale.target = #blockscale.target<sm_103a>, blockscale.kernel = #kernel} {
    // expected-error @below {{expected one instruction of K = 96 that starts in the stage before part 1 and ends in it, found 192 to 320 with K = 64}}
    blockscale.mma #short %acc[%i], %a, %b stage %i previous %p range <part = 1, begin = 192, end = 320> scales %sfa, %sfb accumulate %t : !acc, !a, !b scales !sfa, !sfb
    gpu.return
  }
}

// -----

#kernel = #blockscale.kernel<grid = ()[m, n, k, l, sms, clusters] -> (sms), block = 192>
#mma = #blockscale.mma<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 256, k = 96>
#short = #blockscale.mma<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 256, k = 64>
!a = !blockscale.shared<4x128x256xf4E2M1FN, container = 4, swizzle = "128B">
!b = !blockscale.shared<4x256x256xf4E2M1FN, container = 4, swizzle = "128B">
!rsf = !blockscale.shared<4x2x4x512xi8, container = 8>
!acc = !blockscale.tmem<1x128x256xf32, #blockscale.tmem_accumulator>
!sfa = !blockscale.tmem<128x24xi8, #blockscale.tmem_scales<word_stride = 4>>
!sfb = !blockscale.tmem<256x24xi8, #blockscale.tmem_scales<word_stride = 8>>
gpu.module @kernels {
  gpu.func @odd_id(%acc: !acc, %a: !a, %b: !b, %sfa: !sfa, %sfb: !sfb, %i: i32, %p: i32, %t: i1) kernel attributes {blockscale.target = #blockscale.target<sm_103a>, blockscale.kernel = #kernel} {
    // expected-error @below {{scale id 1 is not legal for kind 'mxf4nvf4' with blocks of 16}}
    blockscale.mma #mma %acc[%i], %a, %b stage %i range <part = 0, begin = 0, end = 96> scales %sfa, %sfb accumulate %t steps [#blockscale.step<a = 0, b = 0, sfa_column = 0, sfa_id = 1, sfb_column = 0, sfb_id = 0>] : !acc, !a, !b scales !sfa, !sfb
    gpu.return
  }
}

// -----

#kernel = #blockscale.kernel<grid = ()[m, n, k, l, sms, clusters] -> (sms), block = 192>
#mma = #blockscale.mma<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 256, k = 96>
#short = #blockscale.mma<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 256, k = 64>
!a = !blockscale.shared<4x128x256xf4E2M1FN, container = 4, swizzle = "128B">
!b = !blockscale.shared<4x256x256xf4E2M1FN, container = 4, swizzle = "128B">
!rsf = !blockscale.shared<4x2x4x512xi8, container = 8>
!acc = !blockscale.tmem<1x128x256xf32, #blockscale.tmem_accumulator>
!sfa = !blockscale.tmem<128x24xi8, #blockscale.tmem_scales<word_stride = 4>>
!sfb = !blockscale.tmem<256x24xi8, #blockscale.tmem_scales<word_stride = 8>>
gpu.module @kernels {
  gpu.func @next_word(%acc: !acc, %a: !a, %b: !b, %sfa: !sfa, %sfb: !sfb, %i: i32, %p: i32, %t: i1) kernel attributes {blockscale.target = #blockscale.target<sm_103a>, blockscale.kernel = #kernel} {
    // expected-error @below {{the scales of 'sfb' from column 40 on continue behind the region of 48 columns}}
    blockscale.mma #mma %acc[%i], %a, %b stage %i range <part = 0, begin = 0, end = 96> scales %sfa, %sfb accumulate %t steps [#blockscale.step<a = 0, b = 0, sfa_column = 0, sfa_id = 0, sfb_column = 40, sfb_id = 0>] : !acc, !a, !b scales !sfa, !sfb
    gpu.return
  }
}

// -----

#kernel = #blockscale.kernel<grid = ()[m, n, k, l, sms, clusters] -> (sms), block = 192>
#mma = #blockscale.mma<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 256, k = 96>
#short = #blockscale.mma<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 256, k = 64>
!a = !blockscale.shared<4x128x256xf4E2M1FN, container = 4, swizzle = "128B">
!b = !blockscale.shared<4x256x256xf4E2M1FN, container = 4, swizzle = "128B">
!rsf = !blockscale.shared<4x2x4x512xi8, container = 8>
!acc = !blockscale.tmem<1x128x256xf32, #blockscale.tmem_accumulator>
!sfa = !blockscale.tmem<128x24xi8, #blockscale.tmem_scales<word_stride = 4>>
!sfb = !blockscale.tmem<256x24xi8, #blockscale.tmem_scales<word_stride = 12>>
gpu.module @kernels {
  gpu.func @word_stride(%acc: !acc, %a: !a, %b: !b, %sfa: !sfa, %sfb: !sfb, %i: i32, %p: i32, %t: i1) kernel attributes {blockscale.target = #blockscale.target<sm_103a>, blockscale.kernel = #kernel} {
    // expected-error @below {{K = 96 reads the words of 'sfb' 8 columns apart, found a word stride of 12}}
    blockscale.mma #mma %acc[%i], %a, %b stage %i range <part = 0, begin = 0, end = 96> scales %sfa, %sfb accumulate %t steps [#blockscale.step<a = 0, b = 0, sfa_column = 0, sfa_id = 0, sfb_column = 0, sfb_id = 0>] : !acc, !a, !b scales !sfa, !sfb
    gpu.return
  }
}

// -----

#kernel = #blockscale.kernel<grid = ()[m, n, k, l, sms, clusters] -> (sms), block = 192>
#mma = #blockscale.mma<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 256, k = 96>
#short = #blockscale.mma<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 256, k = 64>
!a = !blockscale.shared<4x128x256xf4E2M1FN, container = 4, swizzle = "128B">
!b = !blockscale.shared<4x256x256xf4E2M1FN, container = 4, swizzle = "128B">
!rsf = !blockscale.shared<4x2x4x512xi8, container = 8>
!acc = !blockscale.tmem<1x128x256xf32, #blockscale.tmem_accumulator>
!sfa = !blockscale.tmem<128x24xi8, #blockscale.tmem_scales<word_stride = 4>>
!sfb = !blockscale.tmem<256x24xi8, #blockscale.tmem_scales<word_stride = 8>>
gpu.module @kernels {
  gpu.func @word(%r: !rsf, %t: !sfb, %i: i32) kernel attributes {blockscale.target = #blockscale.target<sm_103a>, blockscale.kernel = #kernel} {
    // expected-error @below {{expected a word from 0 to 5, found 6}}
    blockscale.copy_scales %r[%i] to %t word 6 : !rsf to !sfb
    gpu.return
  }
}

// -----

!map = !blockscale.tensor_map<u4x16_align8b, dims = ()[m, n, k, l] -> (k, m), strides = ()[m, n, k, l] -> (k), box = [256, 128], swizzle = "128B">
gpu.module @kernels {
  gpu.func @one_stage(%m: !map, %d: !blockscale.global<bf16>, %i: i32) kernel attributes {blockscale.target = #blockscale.target<sm_103a>, blockscale.kernel = #blockscale.kernel<grid = ()[m, n, k, l, sms, clusters] -> (sms), block = 192>} {
    // expected-error @below {{instructions of K = 96 read two stages at once: expected at least 2 'stages', found 1}}
    blockscale.kernel_matmul a(%m) b(%m) scales(%m, %m) d(%d) sizes(%i, %i, %i, %i)
      mma <kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 128, k = 96>
      schedule<tile_m = 128, tile_n = 128, tile_k = 256, stages = 1, accumulators = 2, swap_operands = false, group_m = 8, mma_k = 96> : !map, !map, !blockscale.global<bf16> scales !map, !map
    gpu.return
  }
}

// -----

!map = !blockscale.tensor_map<u4x16_align8b, dims = ()[m, n, k, l] -> (k, m), strides = ()[m, n, k, l] -> (k), box = [256, 128], swizzle = "128B">
gpu.module @kernels {
  gpu.func @other_k(%m: !map, %d: !blockscale.global<bf16>, %i: i32) kernel attributes {blockscale.target = #blockscale.target<sm_103a>, blockscale.kernel = #blockscale.kernel<grid = ()[m, n, k, l, sms, clusters] -> (sms), block = 192>} {
    // expected-error @below {{expected an instruction of the schedule's K = 96, found K = 64}}
    blockscale.kernel_matmul a(%m) b(%m) scales(%m, %m) d(%d) sizes(%i, %i, %i, %i)
      mma <kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 128, k = 64>
      schedule<tile_m = 128, tile_n = 128, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8, mma_k = 96> : !map, !map, !blockscale.global<bf16> scales !map, !map
    gpu.return
  }
}
