// Fragments, scales in registers and mma.sync.

// RUN: blockscale-opt %s -pass-pipeline='builtin.module(gpu.module(convert-blockscale-to-nvvm))' | FileCheck %s

#kernel = #blockscale.kernel<grid = ()[m, n, k, l, sms, clusters] -> (sms), block = 288>
#mma = #blockscale.mma<kind = mxf8f6f4, a = e2m1, b = e3m2, scale = ue8m0, block = 32, m = 16, n = 8, k = 32>
#nvfp4 = #blockscale.mma<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 16, n = 8, k = 64>
!map = !blockscale.tensor_map<u4x16_align16b, dims = ()[m, n, k, l] -> (k, m), strides = ()[m, n, k, l] -> (k floordiv 2), box = [128, 64], swizzle = "128B">
!padded4 = !blockscale.shared<2x64x128xf4E2M1FN, container = 8, swizzle = "128B">
!padded6 = !blockscale.shared<2x64x128xf6E3M2FN, container = 8, swizzle = "128B">
!nibbles = !blockscale.shared<2x64x256xf4E2M1FN, container = 4, swizzle = "128B">
#sparse = #blockscale.mma<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 16, n = 8, k = 128, sparse = true>
!scales = !blockscale.shared<2x1x1x512xi8, container = 8>
!metadata = !blockscale.shared<2x2x128x16xi8, container = 8>

gpu.module @kernels {
  // 4-bit elements of padded rows move from bits 3 to 0 to bits 5 to 2, and only
  // those.
  // CHECK-LABEL: llvm.func @loads
  gpu.func @loads(%a: !padded4, %b: !padded6, %c: !nibbles, %stage: i32, %row: i32) kernel attributes {blockscale.target = #blockscale.target<sm_120a>, blockscale.kernel = #kernel} {
    // CHECK: nvvm.ldmatrix {{.*}} {eltType = #nvvm.ld_st_matrix_elt_type<b8x16.b4x16_p64>, layout = #nvvm.mma_layout<row>, num = 4 : i32, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 16>}
    // CHECK-COUNT-4: arith.shli {{.*}}, %c2_i32
    %0 = blockscale.load_a_fragment %a[%stage] row %row tile 1 step 2 : !padded4
    // CHECK: nvvm.ldmatrix {{.*}}b8x16.b6x16_p32
    // CHECK-NOT: arith.shli {{.*}}, %c2_i32
    %1:2 = blockscale.load_b_fragments %b[%stage] row %row tile 0 step 0 : !padded6
    // CHECK: nvvm.ldmatrix {{.*}}elt_type<b16>{{.*}}<m = 8, n = 8>
    // CHECK-NOT: arith.shli {{.*}}, %c2_i32
    // CHECK: llvm.return
    %2 = blockscale.load_a_fragment %c[%stage] row %row tile 0 step 0 : !nibbles
    gpu.return
  }

  // CHECK-LABEL: llvm.func @multiply
  gpu.func @multiply(%sf: !scales, %stage: i32, %row: i32, %valid: i32, %a: vector<4xi32>, %b: vector<2xi32>, %c: vector<4xf32>) kernel attributes {blockscale.target = #blockscale.target<sm_120a>, blockscale.kernel = #kernel} {
    // CHECK: %[[SFA:.*]] = llvm.load {{.*}} : !llvm.ptr<3> -> i32
    %sfa = blockscale.load_warp_scales %sf[%stage] row %row group 0 word 0 : !scales
    // CHECK: %[[WORD:.*]] = llvm.load {{.*}} : !llvm.ptr<3> -> i32
    // CHECK: %[[SFB:.*]] = arith.andi %[[WORD]], %{{.*}} : i32
    %sfb = blockscale.load_warp_scales %sf[%stage] row %row group 1 word 0 valid %valid : !scales
    // CHECK-DAG: llvm.mlir.constant(3 : i16) : i16
    // CHECK-DAG: llvm.mlir.constant(1 : i16) : i16
    // CHECK-DAG: llvm.mlir.constant(2 : i16) : i16
    // CHECK: nvvm.mma.block_scale {{.*}}scaleA[%[[SFA]], %{{.*}}, %{{.*}}] scaleB[%[[SFB]], %{{.*}}, %{{.*}}]
    // CHECK-SAME: blockScaleFormat = #nvvm.block_scale_format<ue8m0>, kind = #nvvm.block_scale_kind<mxf8f6f4>, multiplicandAPtxType = #nvvm.mma_type<e2m1>, multiplicandBPtxType = #nvvm.mma_type<e3m2>, scaleVecSize = #nvvm.scale_vec_size<x1>, shape = #nvvm.shape<m = 16, n = 8, k = 32>
    %0 = blockscale.warp_mma #mma %a, %b, %c scales %sfa, %sfb tile 1, 2 step 3 ids <byte = 3, thread = 1>, <byte = 3, thread = 2>
    // CHECK: nvvm.mma.block_scale
    // CHECK-SAME: blockScaleFormat = #nvvm.block_scale_format<ue4m3>, kind = #nvvm.block_scale_kind<mxf4nvf4>,{{.*}}scaleVecSize = #nvvm.scale_vec_size<x4>, shape = #nvvm.shape<m = 16, n = 8, k = 64>
    %1 = blockscale.warp_mma #nvfp4 %a, %b, %0 scales %sfa, %sfb tile 0, 0 step 0 ids <byte = 0, thread = 0>, <byte = 0, thread = 0>
    // CHECK: llvm.inline_asm has_side_effects "", "=f,=f,=f,=f,0,1,2,3"
    %2 = blockscale.finish_fragments %1 : vector<4xf32> -> vector<4xf32>
    gpu.return
  }

  // Eight bytes of metadata per row and step; two steps in a row of a tile.
  // CHECK-LABEL: llvm.func @sparse
  gpu.func @sparse(%meta: !metadata, %stage: i32, %row: i32, %valid: i32, %sfa: i32, %sfb: i32, %a: vector<4xi32>, %b: vector<2xi32>, %c: vector<4xf32>) kernel attributes {blockscale.target = #blockscale.target<sm_120a>, blockscale.kernel = #kernel} {
    // Tile 1 begins behind 16 rows of 16 bytes; step 3 is the second of the
    // second 2048 bytes.
    // CHECK: arith.constant 2312 : i32
    // CHECK: %[[WORD:.*]] = llvm.load {{.*}} : !llvm.ptr<3> -> i32
    %0 = blockscale.load_warp_metadata %meta[%stage] row %row tile 1 step 3 : !metadata
    // CHECK: nvvm.mma.sp.block_scale {{.*}}sparseMetadata[%[[WORD]]]
    // CHECK-SAME: kind = #nvvm.block_scale_kind<mxf4nvf4>,{{.*}}scaleVecSize = #nvvm.scale_vec_size<x4>, shape = #nvvm.shape<m = 16, n = 8, k = 128>
    %1 = blockscale.warp_mma #sparse %a, %b, %c sparse(%b, %0) scales %sfa, %sfb tile 1, 0 step 3 ids <byte = 0, thread = 1>, <byte = 0, thread = 0>
    // Padding in place of metadata is not looked at.
    // CHECK: %[[PADDED:.*]] = llvm.load {{.*}} : !llvm.ptr<3> -> i32
    // CHECK: %[[EMPTY:.*]] = arith.constant 1145324612 : i32
    // CHECK: %[[SAFE:.*]] = arith.select %{{.*}}, %[[PADDED]], %[[EMPTY]] : i32
    // CHECK: nvvm.mma.sp.block_scale {{.*}}sparseMetadata[%[[SAFE]]]
    %2 = blockscale.load_warp_metadata %meta[%stage] row %row tile 1 step 3 valid %valid : !metadata
    %3 = blockscale.warp_mma #sparse %a, %b, %1 sparse(%b, %2) scales %sfa, %sfb tile 1, 0 step 3 ids <byte = 0, thread = 1>, <byte = 0, thread = 0>
    %4 = blockscale.finish_fragments %3 : vector<4xf32> -> vector<4xf32>
    gpu.return
  }

  // 4-bit types do not load into the window of a cluster.
  // CHECK-LABEL: llvm.func @load
  gpu.func @load(%map: !map, %ring: !padded4, %signal: !blockscale.barrier<2>, %stage: i32) kernel attributes {blockscale.target = #blockscale.target<sm_120a>, blockscale.kernel = #kernel} {
    // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}} {isCTAOnly = true} : !llvm.ptr<3>
    blockscale.tma_load %map[%stage, %stage] to %ring signal %signal stage %stage : !map to !padded4, !blockscale.barrier<2>
    gpu.return
  }
}
