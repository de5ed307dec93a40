// Instructions without scales. The instruction descriptors are put together from
// the table of the PTX ISA, section 9.7.16.4: selector, sparse (4), type of D
// (f32 16, s32 32), of A (bits 7 and up), of B (bits 10 and up), N / 8 = 8 (bit
// 17 and up), M / 16 = 8 (bit 24 and up).

// RUN: blockscale-opt %s -pass-pipeline='builtin.module(gpu.module(convert-blockscale-to-nvvm,canonicalize,cse))' | FileCheck %s

#kernel = #blockscale.kernel<grid = ()[m, n, k, l, sms, clusters] -> (sms), block = 192>
#half = #blockscale.mma<kind = f16, a = bf16, b = bf16, m = 128, n = 64, k = 32, sparse = true>
#single = #blockscale.mma<kind = tf32, a = tf32, b = tf32, m = 128, n = 64, k = 8>
#bytes = #blockscale.mma<kind = f8f6f4, a = e5m2, b = e2m1, m = 128, n = 64, k = 64, sparse = true>
#integer = #blockscale.mma<kind = i8, a = int8, b = uint8, m = 128, n = 64, k = 64, sparse = true>
!a = !blockscale.shared<4x128x64xbf16, container = 16, swizzle = "128B">
!b = !blockscale.shared<4x64x128xbf16, container = 16, swizzle = "128B">
!singleA = !blockscale.shared<4x128x32xtf32, container = 32, swizzle = "128B">
!singleB = !blockscale.shared<4x64x32xtf32, container = 32, swizzle = "128B">
!bytesA = !blockscale.shared<4x128x64xi8, container = 8, swizzle = "64B">
!bytesB = !blockscale.shared<4x64x128xi8, container = 8, swizzle = "128B">
!acc = !blockscale.tmem<2x128x64xf32, #blockscale.tmem_accumulator>
!sum = !blockscale.tmem<2x128x64xi32, #blockscale.tmem_accumulator>
!e = !blockscale.tmem<128x16xi8, #blockscale.tmem_metadata>

gpu.module @kernels {
  // Two instructions read the same two columns with selectors 0 and 1.
  // CHECK-LABEL: llvm.func @half(
  // CHECK-SAME: %[[E:[a-z0-9]+]]: i32,
  gpu.func @half(%e: !e, %acc: !acc, %a: !a, %b: !b, %i: i32, %first: i1)
      kernel attributes {blockscale.kernel = #kernel} {
    // CHECK-DAG: %[[IDESC0:.*]] = arith.constant 135267476 : i32
    // CHECK-DAG: %[[IDESC1:.*]] = arith.constant 135267477 : i32
    // CHECK-DAG: %[[TWO:.*]] = arith.constant 2 : i32
    // CHECK: %[[E0:.*]] = llvm.inttoptr %[[E]] : i32 to !llvm.ptr<6>
    // CHECK: nvvm.tcgen05.mma.sp %{{.*}}, %{{.*}}, %{{.*}}, %[[IDESC0]], %{{.*}}, %[[E0]] {ctaGroup = #nvvm.cta_group<cta_1>, kind = #nvvm.tcgen05_mma_kind<f16>}
    // CHECK: nvvm.tcgen05.mma.sp %{{.*}}, %{{.*}}, %{{.*}}, %[[IDESC1]], %true, %[[E0]]
    // CHECK: %[[E2:.*]] = arith.addi %[[E]], %[[TWO]] : i32
    // CHECK: %[[E2P:.*]] = llvm.inttoptr %[[E2]] : i32 to !llvm.ptr<6>
    // CHECK: nvvm.tcgen05.mma.sp %{{.*}}, %{{.*}}, %{{.*}}, %[[IDESC0]], %true, %[[E2P]]
    blockscale.mma #half %acc[%i], %a, %b stage %i metadata %e accumulate %first
      steps [#blockscale.step<a = 0, b = 0>, #blockscale.step<a = 32, b = 64, selector = 1>, #blockscale.step<a = 64, b = 8192, metadata_column = 2>]
      : !acc, !a, !b metadata !e
    gpu.return
  }

  // CHECK-LABEL: llvm.func @dense(
  gpu.func @dense(%acc: !acc, %a: !singleA, %b: !singleB, %i: i32, %first: i1)
      kernel attributes {blockscale.kernel = #kernel} {
    // CHECK: %[[IDESC:.*]] = arith.constant 135268624 : i32
    // CHECK: nvvm.tcgen05.mma %{{.*}}, %{{.*}}, %{{.*}}, %[[IDESC]], %{{.*}} {ctaGroup = #nvvm.cta_group<cta_1>, kind = #nvvm.tcgen05_mma_kind<tf32>}
    blockscale.mma #single %acc[%i], %a, %b stage %i accumulate %first
      steps [#blockscale.step<a = 32, b = 32>] : !acc, !singleA, !singleB
    gpu.return
  }

  // CHECK-LABEL: llvm.func @bytes(
  gpu.func @bytes(%acc: !acc, %e: !e, %a: !bytesA, %b: !bytesB, %i: i32, %first: i1)
      kernel attributes {blockscale.kernel = #kernel} {
    // CHECK: %[[IDESC:.*]] = arith.constant 135271572 : i32
    // CHECK: nvvm.tcgen05.mma.sp %{{.*}}, %{{.*}}, %{{.*}}, %[[IDESC]], %{{.*}} {ctaGroup = #nvvm.cta_group<cta_1>, kind = #nvvm.tcgen05_mma_kind<f8f6f4>}
    blockscale.mma #bytes %acc[%i], %a, %b stage %i metadata %e accumulate %first
      steps [#blockscale.step<a = 0, b = 0>] : !acc, !bytesA, !bytesB metadata !e
    gpu.return
  }

  // Sums of integers stay as they are.
  // CHECK-LABEL: llvm.func @integer(
  gpu.func @integer(%sum: !sum, %e: !e, %a: !bytesA, %b: !bytesB, %d: !blockscale.global<i32>, %at: i64, %i: i32, %first: i1)
      kernel attributes {blockscale.kernel = #kernel} {
    // CHECK: %[[IDESC:.*]] = arith.constant 135266468 : i32
    // CHECK: nvvm.tcgen05.mma.sp %{{.*}}, %{{.*}}, %{{.*}}, %[[IDESC]], %{{.*}} {ctaGroup = #nvvm.cta_group<cta_1>, kind = #nvvm.tcgen05_mma_kind<i8>}
    blockscale.mma #integer %sum[%i], %a, %b stage %i metadata %e accumulate %first
      steps [#blockscale.step<a = 0, b = 0>] : !sum, !bytesA, !bytesB metadata !e
    // CHECK: nvvm.tcgen05.ld
    // CHECK-NOT: bitcast
    // CHECK: llvm.store %{{.*}} : vector<4xi32>, !llvm.ptr<1>
    %row = blockscale.load_accumulator %sum[%i] column %i : !sum -> vector<4xi32>
    blockscale.store_row %row to %d[%at] count %i : vector<4xi32> to !blockscale.global<i32>
    gpu.return
  }
}
