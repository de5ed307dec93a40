// RUN: blockscale-opt %s -pass-pipeline='builtin.module(gpu.module(convert-blockscale-to-nvvm))' -split-input-file -verify-diagnostics

#kernel = #blockscale.kernel<grid = ()[m, n, k, l, sms, clusters] -> (sms), block = 192>
gpu.module @kernels {
  gpu.func @ring() kernel attributes {blockscale.kernel = #kernel} {
    // expected-error@+1 {{'blockscale.shared_alloc' op has no offset; run 'blockscale-assign-memory' first}}
    %0 = blockscale.shared_alloc : !blockscale.shared<1x1xi32, container = 32>
    gpu.return
  }
}

// -----

#kernel = #blockscale.kernel<grid = ()[m, n, k, l, sms, clusters] -> (sms), block = 192>
gpu.module @kernels {
  gpu.func @barrier() kernel attributes {blockscale.kernel = #kernel} {
    // expected-error@+1 {{'blockscale.barrier_alloc' op has no offset; run 'blockscale-assign-memory' first}}
    %0 = blockscale.barrier_alloc arrivals(1) : !blockscale.barrier<2>
    gpu.return
  }
}

// -----

#kernel = #blockscale.kernel<grid = ()[m, n, k, l, sms, clusters] -> (sms), block = 192>
gpu.module @kernels {
  gpu.func @alloc(%slot: !blockscale.shared<1x1xi32, container = 32>) kernel attributes {blockscale.kernel = #kernel} {
    // expected-error@+1 {{'blockscale.tmem_alloc' op has no number of columns; run 'blockscale-assign-memory' first}}
    blockscale.tmem_alloc %slot : !blockscale.shared<1x1xi32, container = 32>
    gpu.return
  }
}

// -----

#kernel = #blockscale.kernel<grid = ()[m, n, k, l, sms, clusters] -> (sms), block = 192>
gpu.module @kernels {
  gpu.func @dealloc(%slot: !blockscale.shared<1x1xi32, container = 32>) kernel attributes {blockscale.kernel = #kernel} {
    // expected-error@+1 {{'blockscale.tmem_dealloc' op has no number of columns; run 'blockscale-assign-memory' first}}
    blockscale.tmem_dealloc %slot : !blockscale.shared<1x1xi32, container = 32>
    gpu.return
  }
}

// -----

#kernel = #blockscale.kernel<grid = ()[m, n, k, l, sms, clusters] -> (sms), block = 192>
gpu.module @kernels {
  gpu.func @view(%slot: !blockscale.shared<1x1xi32, container = 32>) kernel attributes {blockscale.kernel = #kernel} {
    // expected-error@+1 {{'blockscale.tmem_view' op has no column; run 'blockscale-assign-memory' first}}
    %0 = blockscale.tmem_view %slot : !blockscale.shared<1x1xi32, container = 32> -> !blockscale.tmem<1x128x8xf32, #blockscale.tmem_accumulator>
    gpu.return
  }
}

// -----

#kernel = #blockscale.kernel<grid = ()[m, n, k, l, sms, clusters] -> (sms), block = 192>
#mma = #blockscale.mma<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 64, k = 64>
!a = !blockscale.shared<4x128x256xf4E2M1FN, container = 4, swizzle = "128B">
!b = !blockscale.shared<4x64x256xf4E2M1FN, container = 4, swizzle = "128B">
!acc = !blockscale.tmem<1x128x64xf32, #blockscale.tmem_accumulator>
!sf = !blockscale.tmem<128x16xi8, #blockscale.tmem_scales<word_stride = 4>>
gpu.module @kernels {
  gpu.func @steps(%acc: !acc, %a: !a, %b: !b, %sf: !sf, %i: i32, %first: i1) kernel attributes {blockscale.kernel = #kernel} {
    // expected-error@+1 {{'blockscale.mma' op has no steps; run 'blockscale-assign-steps' first}}
    blockscale.mma #mma %acc[%i], %a, %b stage %i scales %sf, %sf accumulate %first : !acc, !a, !b scales !sf, !sf
    gpu.return
  }
}

// -----

// Steps of 48 bytes cross from one 128-byte row of the swizzle to the next.
#kernel = #blockscale.kernel<grid = ()[m, n, k, l, sms, clusters] -> (sms), block = 192>
#mma = #blockscale.mma<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 64, k = 96>
!a = !blockscale.shared<4x128x256xf4E2M1FN, container = 4, swizzle = "128B">
!b = !blockscale.shared<4x64x256xf4E2M1FN, container = 4, swizzle = "128B">
!acc = !blockscale.tmem<1x128x64xf32, #blockscale.tmem_accumulator>
!sf = !blockscale.tmem<128x16xi8, #blockscale.tmem_scales<word_stride = 4>>
gpu.module @kernels {
  gpu.func @crossing(%acc: !acc, %a: !a, %b: !b, %sf: !sf, %i: i32, %first: i1) kernel attributes {blockscale.target = #blockscale.target<sm_103a>, blockscale.kernel = #kernel} {
    // expected-error@+1 {{'blockscale.mma' op an instruction that reads 48 bytes from byte 96 on crosses the end of a row of 128 bytes; expected steps within rows, or 'previous'}}
    blockscale.mma #mma %acc[%i], %a, %b stage %i scales %sf, %sf accumulate %first
      steps [#blockscale.step<a = 96, b = 96, sfa_column = 8, sfa_id = 0, sfb_column = 8, sfb_id = 0>] : !acc, !a, !b scales !sf, !sf
    gpu.return
  }
}

// -----

#kernel = #blockscale.kernel<grid = ()[m, n, k, l, sms, clusters] -> (sms), block = 192>
#mma = #blockscale.mma<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 128, k = 64>
#schedule = #blockscale.schedule<tile_m = 128, tile_n = 128, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8>
!data = !blockscale.tensor_map<u4x16_align8b, dims = ()[m, n, k, l] -> (k, m, l), strides = ()[m, n, k, l] -> (k floordiv 2, m * (k floordiv 2)), box = [256, 128, 1], swizzle = "128B">
!scales = !blockscale.tensor_map<u32, dims = ()[m, n, k, l] -> (128, k ceildiv 64, m ceildiv 128, l), strides = ()[m, n, k, l] -> (512, (k ceildiv 64) * 512, (m ceildiv 128) * ((k ceildiv 64) * 512)), box = [128, 4, 1, 1], swizzle = "none">
gpu.module @kernels {
  gpu.func @whole(%a: !data, %sfa: !scales, %b: !data, %sfb: !scales, %d: !blockscale.global<bf16>, %i: i32) kernel attributes {blockscale.kernel = #kernel} {
    // expected-error@+1 {{'blockscale.kernel_matmul' op is not expanded; run 'blockscale-expand-kernels' first}}
    blockscale.kernel_matmul a(%a) b(%b) scales(%sfa, %sfb) d(%d) sizes(%i, %i, %i, %i) mma #mma schedule #schedule : !data, !data, !blockscale.global<bf16> scales !scales, !scales
    gpu.return
  }
}

// -----

#kernel = #blockscale.kernel<grid = ()[m, n, k, l, sms, clusters] -> (sms), block = 192>
gpu.module @kernels {
  // expected-error@+1 {{'gpu.func' op has memory attributions; kernels take shared memory from 'blockscale.shared_alloc'}}
  gpu.func @attributions() workgroup(%w: memref<4xf32, #gpu.address_space<workgroup>>) kernel attributes {blockscale.kernel = #kernel} {
    gpu.return
  }
}

// -----

#kernel = #blockscale.kernel<grid = ()[m, n, k, l, sms, clusters] -> (sms), block = 192>
gpu.module @kernels {
  gpu.func @unknown() kernel attributes {blockscale.kernel = #kernel} {
    // expected-error@+1 {{failed to legalize operation 'gpu.cluster_id'}}
    %0 = gpu.cluster_id x
    gpu.return
  }
}

// -----

#kernel = #blockscale.kernel<grid = ()[m, n, k, l, sms, clusters] -> (sms), block = 192>
gpu.module @kernels {
  gpu.func @product_of_lanes(%x: i32) kernel attributes {blockscale.kernel = #kernel} {
    // expected-error@+1 {{failed to legalize operation 'gpu.subgroup_reduce'}}
    %0 = gpu.subgroup_reduce mul %x uniform : (i32) -> i32
    gpu.return
  }
}

// -----

#kernel = #blockscale.kernel<grid = ()[m, n, k, l, sms, clusters] -> (sms), block = 288>
#mma = #blockscale.mma<kind = mxf8f6f4, a = e4m3, b = e4m3, scale = ue8m0, block = 32, m = 16, n = 8, k = 32>
gpu.module @kernels {
  gpu.func @warp_mma(%a: vector<4xi32>, %b: vector<2xi32>, %c: vector<4xf32>, %s: i32) kernel attributes {blockscale.target = #blockscale.target<sm_120a>, blockscale.kernel = #kernel} {
    // expected-error@+1 {{'blockscale.warp_mma' op has no scale ids; run 'blockscale-assign-steps' first}}
    %0 = blockscale.warp_mma #mma %a, %b, %c scales %s, %s tile 0, 0 step 0
    gpu.return
  }
}
