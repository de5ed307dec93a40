// RUN: blockscale-opt %s -pass-pipeline='builtin.module(gpu.module(convert-blockscale-to-nvvm,canonicalize,cse))' | FileCheck %s

#kernel = #blockscale.kernel<grid = ()[m, n, k, l, sms, clusters] -> (sms), block = 192>
// The instruction of the second row of the table of worked instruction
// descriptors and its neighbours: mxf4nvf4, N = 64 is 0x08100480.
#nvfp4 = #blockscale.mma<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 64, k = 64>
#mxfp8 = #blockscale.mma<kind = mxf8f6f4, a = e5m2, b = e5m2, scale = ue8m0, block = 32, m = 128, n = 64, k = 32>
#transposed = #blockscale.mma<kind = mxf8f6f4, a = e4m3, b = e4m3, scale = ue8m0, block = 32, m = 128, n = 256, k = 32, a_mn_major = true, b_mn_major = true>
!ringA = !blockscale.shared<4x128x256xf4E2M1FN, container = 4, swizzle = "128B">
!ringB = !blockscale.shared<4x64x256xf4E2M1FN, container = 4, swizzle = "128B">
!ringA8 = !blockscale.shared<4x128x128xf8E5M2, container = 8, swizzle = "128B">
!ringB8 = !blockscale.shared<4x64x128xf8E5M2, container = 8, swizzle = "128B">
!scales = !blockscale.shared<4x2x2x512xi8, container = 8>
!slot = !blockscale.shared<1x1xi32, container = 32>
!acc = !blockscale.tmem<2x128x64xf32, #blockscale.tmem_accumulator>
!overlapping = !blockscale.tmem<2x128x64xf32, #blockscale.tmem_accumulator<copy_stride = 48>>
!sf = !blockscale.tmem<128x16xi8, #blockscale.tmem_scales<word_stride = 4>>
!wideSf = !blockscale.tmem<256x8xi8, #blockscale.tmem_scales<word_stride = 8>>

gpu.module @kernels {
  // CHECK-LABEL: llvm.func @allocate(
  // CHECK-SAME: %[[SLOT:.*]]: i32)
  gpu.func @allocate(%slot: !slot) kernel attributes {blockscale.kernel = #kernel} {
    // CHECK-DAG: %[[COLUMNS:.*]] = llvm.mlir.constant(256 : i32) : i32
    // CHECK: %[[P:.*]] = llvm.inttoptr %[[SLOT]] : i32 to !llvm.ptr<3>
    // CHECK: nvvm.tcgen05.alloc %[[P]], %[[COLUMNS]] : !llvm.ptr<3>, i32
    // CHECK-NEXT: nvvm.tcgen05.relinquish_alloc_permit
    blockscale.tmem_alloc %slot columns(256) : !slot
    // CHECK: %[[ADDRESS:.*]] = llvm.load %{{.*}} : !llvm.ptr<3> -> i32
    // CHECK: %[[T:.*]] = llvm.inttoptr %[[ADDRESS]] : i32 to !llvm.ptr<6>
    // CHECK: nvvm.tcgen05.dealloc %[[T]], %[[COLUMNS]] : !llvm.ptr<6>, i32
    blockscale.tmem_dealloc %slot columns(256) : !slot
    gpu.return
  }

  // CHECK-LABEL: llvm.func @synchronise(
  gpu.func @synchronise(%barrier: !blockscale.barrier<4>, %i: i32) kernel attributes {blockscale.kernel = #kernel} {
    // CHECK-DAG: %[[SIZE:.*]] = arith.constant 8 : i32
    // CHECK-DAG: %[[OFFSET:.*]] = arith.muli %{{.*}}, %[[SIZE]] : i32
    // CHECK: %[[AT:.*]] = arith.addi %{{.*}}, %[[OFFSET]] : i32
    // CHECK: %[[P:.*]] = llvm.inttoptr %[[AT]] : i32 to !llvm.ptr<3>
    // CHECK: nvvm.tcgen05.commit %[[P]] : !llvm.ptr<3>
    blockscale.commit %barrier[%i] : !blockscale.barrier<4>
    // CHECK: nvvm.tcgen05.fence <before>
    blockscale.tensor_fence before
    // CHECK: nvvm.tcgen05.fence <after>
    blockscale.tensor_fence after
    gpu.return
  }

  // Two groups of 128 rows, two words each: columns 0 and 8 for the first
  // group, 4 and 12 for the second. The descriptor's high word is 0x00004008,
  // atoms are 512 bytes (32 units) apart.
  // CHECK-LABEL: llvm.func @copy_scales(
  // CHECK-SAME: %[[SCALES:.*]]: i32, %[[SF:.*]]: i32, %[[STAGE:.*]]: i32)
  gpu.func @copy_scales(%s: !scales, %sf: !wideSf, %i: i32) kernel attributes {blockscale.kernel = #kernel} {
    // CHECK-DAG: %[[HIGH:.*]] = arith.constant 70403103916032 : i64
    // CHECK-DAG: %[[LBO:.*]] = arith.constant 65536 : i32
    // CHECK-DAG: %[[FIELD:.*]] = arith.constant 16383 : i32
    // CHECK-DAG: %[[C2048:.*]] = arith.constant 2048 : i32
    // CHECK-DAG: %[[C32:.*]] = arith.constant 32 : i32
    // CHECK-DAG: %[[C64:.*]] = arith.constant 64 : i32
    // CHECK-DAG: %[[C96:.*]] = arith.constant 96 : i32
    // CHECK-DAG: %[[C4:.*]] = arith.constant 4 : i32
    // CHECK-DAG: %[[C8:.*]] = arith.constant 8 : i32
    // CHECK-DAG: %[[C12:.*]] = arith.constant 12 : i32
    // CHECK: %[[OFFSET:.*]] = arith.muli %[[STAGE]], %[[C2048]] : i32
    // CHECK: %[[START:.*]] = arith.addi %[[SCALES]], %[[OFFSET]] : i32
    // CHECK: %[[SHIFTED:.*]] = arith.shrui %[[START]], %[[C4]] : i32
    // CHECK: %[[UNITS:.*]] = arith.andi %[[SHIFTED]], %[[FIELD]] : i32
    // CHECK: %[[LOW:.*]] = arith.ori %[[UNITS]], %[[LBO]] : i32
    // CHECK: %[[T0:.*]] = llvm.inttoptr %[[SF]] : i32 to !llvm.ptr<6>
    // CHECK: %[[W0:.*]] = arith.extui %[[LOW]] : i32 to i64
    // CHECK: %[[D0:.*]] = arith.ori %[[W0]], %[[HIGH]] : i64
    // CHECK: nvvm.tcgen05.cp %[[T0]], %[[D0]] {multicast = #nvvm.tcgen05_cp_multicast<warpx4>, shape = #nvvm.tcgen05_cp_shape<shape_32x128b>}
    // CHECK: arith.addi %[[SF]], %[[C8]] : i32
    // CHECK: arith.addi %[[LOW]], %[[C32]] : i32
    // CHECK: nvvm.tcgen05.cp
    // CHECK: arith.addi %[[SF]], %[[C4]] : i32
    // CHECK: arith.addi %[[LOW]], %[[C64]] : i32
    // CHECK: nvvm.tcgen05.cp
    // CHECK: arith.addi %[[SF]], %[[C12]] : i32
    // CHECK: arith.addi %[[LOW]], %[[C96]] : i32
    // CHECK: nvvm.tcgen05.cp
    // CHECK-NOT: nvvm.tcgen05.cp
    blockscale.copy_scales %s[%i] to %sf : !scales to !wideSf
    gpu.return
  }

  // Operands swizzled by 128 bytes: high word 0x40004040, LBO field 1. The
  // first instruction obeys `accumulate`, the second always accumulates.
  // CHECK-LABEL: llvm.func @multiply(
  // CHECK-SAME: %[[ACC:[a-z0-9]+]]: i32, %[[A:[a-z0-9]+]]: i32, %[[B:[a-z0-9]+]]: i32, %[[SFA:[a-z0-9]+]]: i32, %[[SFB:[a-z0-9]+]]: i32, %[[COPY:[a-z0-9]+]]: i32, %[[STAGE:[a-z0-9]+]]: i32, %[[FIRST:[a-z0-9]+]]: i1)
  gpu.func @multiply(%acc: !acc, %a: !ringA, %b: !ringB, %sfa: !sf, %sfb: !sf, %copy: i32, %stage: i32, %first: i1)
      kernel attributes {blockscale.kernel = #kernel} {
    // CHECK-DAG: %[[HIGH:.*]] = arith.constant 4611756662049472512 : i64
    // CHECK-DAG: %[[LBO:.*]] = arith.constant 65536 : i32
    // CHECK-DAG: %[[IDESC:.*]] = arith.constant 135267456 : i32
    // CHECK-DAG: %[[ALWAYS:.*]] = arith.constant true
    // CHECK-DAG: %[[STAGE_A:.*]] = arith.constant 16384 : i32
    // CHECK-DAG: %[[STAGE_B:.*]] = arith.constant 8192 : i32
    // CHECK-DAG: %[[COLUMNS:.*]] = arith.constant 64 : i32
    // CHECK-DAG: %[[C2:.*]] = arith.constant 2 : i32
    // CHECK-DAG: %[[C4:.*]] = arith.constant 4 : i32
    // CHECK-DAG: arith.muli %[[STAGE]], %[[STAGE_A]] : i32
    // CHECK-DAG: arith.muli %[[STAGE]], %[[STAGE_B]] : i32
    // CHECK-DAG: arith.muli %[[COPY]], %[[COLUMNS]] : i32
    // CHECK: nvvm.tcgen05.mma.block_scale %[[D:.*]], %{{.*}}, %{{.*}}, %[[IDESC]], %[[FIRST]], %[[SA:.*]], %[[SB:.*]] {blockScale = #nvvm.tcgen05_mma_block_scale<block16>, ctaGroup = #nvvm.cta_group<cta_1>, kind = #nvvm.block_scale_kind<mxf4nvf4>}
    // CHECK: %[[SFA1:.*]] = arith.addi %[[SFA]], %[[C4]] : i32
    // CHECK: %[[SFA1P:.*]] = llvm.inttoptr %[[SFA1]] : i32 to !llvm.ptr<6>
    // CHECK: %[[SFB1:.*]] = arith.addi %[[SFB]], %[[C4]] : i32
    // CHECK: %[[SFB1P:.*]] = llvm.inttoptr %[[SFB1]] : i32 to !llvm.ptr<6>
    // CHECK: %[[A1:.*]] = arith.addi %{{.*}}, %[[C2]] : i32
    // CHECK: %[[A1W:.*]] = arith.extui %[[A1]] : i32 to i64
    // CHECK: %[[A1D:.*]] = arith.ori %[[A1W]], %[[HIGH]] : i64
    // CHECK: %[[B1:.*]] = arith.addi %{{.*}}, %[[C2]] : i32
    // CHECK: %[[B1W:.*]] = arith.extui %[[B1]] : i32 to i64
    // CHECK: %[[B1D:.*]] = arith.ori %[[B1W]], %[[HIGH]] : i64
    // CHECK: nvvm.tcgen05.mma.block_scale %[[D]], %[[A1D]], %[[B1D]], %[[IDESC]], %[[ALWAYS]], %[[SFA1P]], %[[SFB1P]]
    // CHECK-NOT: nvvm.tcgen05.mma
    blockscale.mma #nvfp4 %acc[%copy], %a, %b stage %stage scales %sfa, %sfb accumulate %first
      steps [#blockscale.step<a = 0, b = 0, sfa_column = 0, sfa_id = 0, sfb_column = 0, sfb_id = 0>,
             #blockscale.step<a = 32, b = 32, sfa_column = 4, sfa_id = 0, sfb_column = 4, sfb_id = 0>] : !acc, !ringA, !ringB scales !sf, !sf
    gpu.return
  }

  // The ids are in the instruction descriptor: 0x28900490 has both 1. An
  // instruction behind the end of K is not executed; B's scales are shifted.
  // CHECK-LABEL: llvm.func @ragged(
  // CHECK-SAME: %[[SFB:[a-z0-9]+]]: i32, %[[I:[a-z0-9]+]]: i32, %[[FIRST:[a-z0-9]+]]: i1, %[[VALID:[a-z0-9]+]]: i32, %[[SHIFT:[a-z0-9]+]]: i32)
  gpu.func @ragged(%acc: !overlapping, %a: !ringA8, %b: !ringB8, %sfa: !sf, %sfb: !sf, %i: i32, %first: i1, %valid: i32, %shift: i32)
      kernel attributes {blockscale.kernel = #kernel} {
    // CHECK-DAG: %[[IDESC1:.*]] = arith.constant 680526992 : i32
    // CHECK-DAG: %[[STRIDE:.*]] = arith.constant 48 : i32
    // CHECK-DAG: %[[C32:.*]] = arith.constant 32 : i32
    // CHECK-DAG: arith.muli %[[I]], %[[STRIDE]] : i32
    // CHECK-DAG: %[[SHIFTED:.*]] = arith.addi %[[SFB]], %[[SHIFT]] : i32
    // CHECK-DAG: %[[SB:.*]] = llvm.inttoptr %[[SHIFTED]] : i32 to !llvm.ptr<6>
    // CHECK: nvvm.tcgen05.mma.block_scale {{.*}}, %[[FIRST]], %{{.*}}, %[[SB]] {blockScale = #nvvm.tcgen05_mma_block_scale<block32>, {{.*}}kind = #nvvm.block_scale_kind<mxf8f6f4>}
    // CHECK: %[[REACHED:.*]] = arith.cmpi sgt, %[[VALID]], %[[C32]] : i32
    // CHECK: scf.if %[[REACHED]] {
    // CHECK: nvvm.tcgen05.mma.block_scale {{.*}}, %[[IDESC1]], %true
    // CHECK: }
    blockscale.mma #mxfp8 %acc[%i], %a, %b stage %i scales %sfa, %sfb accumulate %first valid %valid shift %shift
      steps [#blockscale.step<a = 0, b = 0, sfa_column = 0, sfa_id = 0, sfb_column = 0, sfb_id = 0>,
             #blockscale.step<a = 32, b = 32, sfa_column = 0, sfa_id = 1, sfb_column = 0, sfb_id = 1>] : !overlapping, !ringA8, !ringB8 scales !sf, !sf
    gpu.return
  }

  // MN-major operands have bits 15 and 16 of the instruction descriptor. The
  // second group of 128 rows of B lies 16384 bytes behind the first (LBO field
  // 1024); A has one group and LBO 0. Instructions are 32 rows of 128 bytes apart.
  // CHECK-LABEL: llvm.func @mn_major(
  gpu.func @mn_major(%acc: !blockscale.tmem<1x128x256xf32, #blockscale.tmem_accumulator>, %a: !blockscale.shared<2x1x128x128xf8E4M3FN, container = 8, swizzle = "128B">,
      %b: !blockscale.shared<2x2x128x128xf8E4M3FN, container = 8, swizzle = "128B">, %sfa: !blockscale.tmem<128x4xi8, #blockscale.tmem_scales<word_stride = 4>>, %sfb: !blockscale.tmem<256x4xi8, #blockscale.tmem_scales<word_stride = 8>>, %i: i32, %first: i1)
      kernel attributes {blockscale.kernel = #kernel} {
    // CHECK-DAG: %[[HIGH:.*]] = arith.constant 4611756662049472512 : i64
    // CHECK-DAG: %[[LBO_B:.*]] = arith.constant 67108864 : i32
    // CHECK-DAG: %[[IDESC:.*]] = arith.constant 146898944 : i32
    // CHECK-DAG: %[[C256:.*]] = arith.constant 256 : i32
    // CHECK: %[[LOW_B:.*]] = arith.ori %{{.*}}, %[[LBO_B]] : i32
    // CHECK: %[[B1:.*]] = arith.addi %[[LOW_B]], %[[C256]] : i32
    // CHECK: %[[B1W:.*]] = arith.extui %[[B1]] : i32 to i64
    // CHECK: %[[B1D:.*]] = arith.ori %[[B1W]], %[[HIGH]] : i64
    // CHECK: nvvm.tcgen05.mma.block_scale %{{.*}}, %{{.*}}, %[[B1D]], %[[IDESC]], %{{.*}}
    blockscale.mma #transposed %acc[%i], %a, %b stage %i scales %sfa, %sfb accumulate %first
      steps [#blockscale.step<a = 4096, b = 4096, sfa_column = 0, sfa_id = 0, sfb_column = 0, sfb_id = 0>]
      : !blockscale.tmem<1x128x256xf32, #blockscale.tmem_accumulator>, !blockscale.shared<2x1x128x128xf8E4M3FN, container = 8, swizzle = "128B">, !blockscale.shared<2x2x128x128xf8E4M3FN, container = 8, swizzle = "128B">
        scales !blockscale.tmem<128x4xi8, #blockscale.tmem_scales<word_stride = 4>>, !blockscale.tmem<256x4xi8, #blockscale.tmem_scales<word_stride = 8>>
    gpu.return
  }

  // Warp w of four reads lanes 32w and up: bits 5 and 6 of the thread's number
  // are the lane bits of the address. Nothing but an empty piece of assembly
  // behind the wait uses what was loaded.
  // CHECK-LABEL: llvm.func @load_accumulator(
  // CHECK-SAME: %[[ACC:[a-z0-9]+]]: i32, %[[COPY:[a-z0-9]+]]: i32, %[[COLUMN:[a-z0-9]+]]: i32
  gpu.func @load_accumulator(%acc: !acc, %copy: i32, %column: i32, %d: !blockscale.global<f32>, %at: i64, %n: i32)
      kernel attributes {blockscale.kernel = #kernel} {
    // CHECK-DAG: %[[LANES:.*]] = arith.constant 96 : i32
    // CHECK-DAG: %[[SIXTEEN:.*]] = arith.constant 16 : i32
    // CHECK: %[[TID:.*]] = nvvm.read.ptx.sreg.tid.x : i32
    // CHECK: %[[LANE:.*]] = arith.andi %[[TID]], %[[LANES]] : i32
    // CHECK: %[[HIGH:.*]] = arith.shli %[[LANE]], %[[SIXTEEN]] : i32
    // CHECK: %[[ADDRESS:.*]] = arith.addi %{{.*}}, %[[HIGH]] : i32
    // CHECK: %[[P:.*]] = llvm.inttoptr %[[ADDRESS]] : i32 to !llvm.ptr<6>
    // CHECK: %[[WORDS:.*]] = nvvm.tcgen05.ld %[[P]] {shape = #nvvm.tcgen05_ldst_shape<shape_32x32b>} : vector<16xi32>
    // CHECK-NEXT: nvvm.tcgen05.wait <load>
    // CHECK-COUNT-16: vector.extract %[[WORDS]]
    // CHECK-NOT: %[[WORDS]]
    // CHECK: %[[SAME:.*]] = llvm.inline_asm has_side_effects "", "{{(=r,)+}}0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15"
    // CHECK-COUNT-16: llvm.extractvalue %[[SAME]]
    // CHECK: llvm.bitcast %{{.*}} : vector<16xi32> to vector<16xf32>
    %0 = blockscale.load_accumulator %acc[%copy] column %column : !acc -> vector<16xf32>
    blockscale.store_row %0 to %d[%at] count %n : vector<16xf32> to !blockscale.global<f32>
    // CHECK: %[[WORD:.*]] = nvvm.tcgen05.ld %{{.*}} : i32
    // CHECK-NEXT: nvvm.tcgen05.wait <load>
    // CHECK-NEXT: %[[ONE:.*]] = llvm.inline_asm has_side_effects "", "=r,0" %[[WORD]] : (i32) -> i32
    // CHECK-NEXT: llvm.bitcast %[[ONE]] : i32 to vector<1xf32>
    %1 = blockscale.load_accumulator %acc[%copy] column %column : !acc -> vector<1xf32>
    blockscale.store_row %1 to %d[%at] count %n : vector<1xf32> to !blockscale.global<f32>
    gpu.return
  }
}
