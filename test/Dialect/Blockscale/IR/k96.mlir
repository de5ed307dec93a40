// RUN: blockscale-opt %s | blockscale-opt | FileCheck %s
// RUN: blockscale-opt %s -mlir-print-op-generic | blockscale-opt | FileCheck %s

// Instructions of K = 96 read groups of stages.

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
  // CHECK-LABEL: gpu.func @k96(
  gpu.func @k96(%acc: !acc, %a: !a, %b: !b, %sfa: !sfa, %sfb: !sfb, %i: i32, %p: i32, %t: i1, %rsf: !rsf) kernel attributes {blockscale.target = #blockscale.target<sm_103a>, blockscale.kernel = #kernel} {
    // CHECK: blockscale.copy_scales %{{.*}}[%[[I:.*]]] to %{{.*}} word 4 :
    blockscale.copy_scales %rsf[%i] to %sfb word 4 : !rsf to !sfb
    // CHECK: blockscale.mma <{{.*}}k = 96> {{.*}} stage %[[I]] previous %[[P:.*]] range <part = 1, begin = 192, end = 288> scales
    blockscale.mma #mma %acc[%i], %a, %b stage %i previous %p range <part = 1, begin = 192, end = 288> scales %sfa, %sfb accumulate %t : !acc, !a, !b scales !sfa, !sfb
    // CHECK: blockscale.mma <{{.*}}k = 96> {{.*}} stage %[[I]] range <part = 2, begin = 576, end = 688> scales {{.*}} steps [#blockscale.step<a = 32, b = 32, sfa_column = 12, sfa_id = 0, sfb_column = 24, sfb_id = 0>, #blockscale.step<a = 80,
    blockscale.mma #mma %acc[%i], %a, %b stage %i range <part = 2, begin = 576, end = 688> scales %sfa, %sfb accumulate %t steps [#blockscale.step<a = 32, b = 32, sfa_column = 12, sfa_id = 0, sfb_column = 24, sfb_id = 0>, #blockscale.step<a = 80, b = 80, sfa_column = 16, sfa_id = 2, sfb_column = 32, sfb_id = 2>] : !acc, !a, !b scales !sfa, !sfb
    gpu.return
  }
}
