// RUN: blockscale-opt %s -pass-pipeline='builtin.module(gpu.module(convert-blockscale-to-nvvm,canonicalize,cse))' | FileCheck %s

// Descriptors of K = 96: high word 0x40104040 (bit 52 says that the LBO field is
// an address), the start in bits 0 to 13, the next buffer in bits 16 to 29.

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
  // Stages of A are 16384 bytes. 0x88400480 is N = 256 with K = 96 and ids 0.
  // CHECK-LABEL: llvm.func @straddle(
  // CHECK-SAME: %[[A:[a-z0-9]+]]: i32, %[[P:[a-z0-9]+]]: i32, %[[I:[a-z0-9]+]]: i32
  gpu.func @straddle(%a: !a, %p: i32, %i: i32, %acc: !acc, %b: !b, %sfa: !sfa, %sfb: !sfb, %t: i1, %r: !rsf) kernel attributes {blockscale.target = #blockscale.target<sm_103a>, blockscale.kernel = #kernel} {
    // CHECK-DAG: %[[HIGH:.*]] = arith.constant 4616260261676843008 : i64
    // CHECK-DAG: %[[IDESC:.*]] = arith.constant -2009070464 : i32
    // CHECK-DAG: %[[STAGE:.*]] = arith.constant 16384 : i32
    // CHECK-DAG: %[[FIELD:.*]] = arith.constant 16383 : i32
    // CHECK-DAG: %[[C16:.*]] = arith.constant 16 : i32
    // CHECK-DAG: %[[C4:.*]] = arith.constant 4 : i32
    // CHECK-DAG: %[[C6:.*]] = arith.constant 6 : i32
    // CHECK-DAG: %[[C32:.*]] = arith.constant 32 : i32
    // CHECK-DAG: %[[C40:.*]] = arith.constant 40 : i32
    // CHECK-DAG: %[[C8:.*]] = arith.constant 8 : i32
    // CHECK: %[[NEXT:.*]] = arith.muli %[[I]], %[[STAGE]] : i32
    // CHECK: %[[AT_NEXT:.*]] = arith.addi %[[A]], %[[NEXT]] : i32
    // CHECK: %[[OWN:.*]] = arith.muli %[[P]], %[[STAGE]] : i32
    // CHECK: %[[AT_OWN:.*]] = arith.addi %[[A]], %[[OWN]] : i32
    // CHECK: %[[START_UNITS:.*]] = arith.shrui %[[AT_OWN]], %[[C4]] : i32
    // CHECK: %[[START:.*]] = arith.andi %[[START_UNITS]], %[[FIELD]] : i32
    // CHECK: %[[NEXT_UNITS:.*]] = arith.shrui %[[AT_NEXT]], %[[C4]] : i32
    // CHECK: %[[UNITS:.*]] = arith.andi %[[NEXT_UNITS]], %[[FIELD]] : i32
    // CHECK: %[[LBO:.*]] = arith.shli %[[UNITS]], %[[C16]] : i32
    // CHECK: %[[LOW:.*]] = arith.ori %[[START]], %[[LBO]] : i32
    // CHECK: %[[MOVED:.*]] = arith.addi %[[LOW]], %[[C6]] : i32
    // CHECK: %[[WIDE:.*]] = arith.extui %[[MOVED]] : i32 to i64
    // CHECK: %[[D:.*]] = arith.ori %[[WIDE]], %[[HIGH]] : i64
    // CHECK: nvvm.tcgen05.mma.block_scale %{{.*}}, %[[D]], %{{.*}}, %[[IDESC]],
    blockscale.mma #mma %acc[%i], %a, %b stage %i previous %p range <part = 1, begin = 192, end = 288> scales %sfa, %sfb accumulate %t steps [#blockscale.step<a = 96, b = 96, sfa_column = 12, sfa_id = 0, sfb_column = 24, sfb_id = 0>] : !acc, !a, !b scales !sfa, !sfb
    // Words 4 and 5 of the region of 6, then 0 and 1: columns 32, 40, 0, 8.
    // CHECK: arith.addi %[[SF:.*]], %[[C32]] : i32
    // CHECK: nvvm.tcgen05.cp
    // CHECK: arith.addi %[[SF]], %[[C40]] : i32
    // CHECK: nvvm.tcgen05.cp
    // CHECK: nvvm.tcgen05.cp
    // CHECK: arith.addi %[[SF]], %[[C8]] : i32
    // CHECK-COUNT-5: nvvm.tcgen05.cp
    // CHECK-NOT: nvvm.tcgen05.cp
    blockscale.copy_scales %r[%i] to %sfb word 4 : !rsf to !sfb
    gpu.return
  }

  // An instruction of a range is reached if K goes beyond its start.
  // CHECK-LABEL: llvm.func @reached(
  gpu.func @reached(%valid: i32, %acc: !acc, %a: !a, %b: !b, %sfa: !sfa, %sfb: !sfb, %i: i32, %t: i1) kernel attributes {blockscale.target = #blockscale.target<sm_103a>, blockscale.kernel = #kernel} {
    // CHECK-DAG: %[[C384:.*]] = arith.constant 384 : i32
    // CHECK-DAG: %[[C448:.*]] = arith.constant 448 : i32
    // CHECK: arith.cmpi sgt, %{{.*}}, %[[C384]] : i32
    // CHECK: nvvm.tcgen05.mma
    // CHECK: arith.cmpi sgt, %{{.*}}, %[[C448]] : i32
    // CHECK: nvvm.tcgen05.mma
    blockscale.mma #short %acc[%i], %a, %b stage %i range <part = 1, begin = 384, end = 512> scales %sfa, %sfb accumulate %t valid %valid steps [#blockscale.step<a = 64, b = 64, sfa_column = 0, sfa_id = 0, sfb_column = 0, sfb_id = 0>, #blockscale.step<a = 96, b = 96, sfa_column = 4, sfa_id = 0, sfb_column = 8, sfb_id = 0>] : !acc, !a, !b scales !sfa, !sfb
    gpu.return
  }
}
