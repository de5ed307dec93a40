//===- EmulatorGemmKernel.h - PTX of an NVFP4 GEMM --------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_BENCHMARKS_EMULATORGEMMKERNEL_H
#define BLOCKSCALE_BENCHMARKS_EMULATORGEMMKERNEL_H

#include <cstdint>
#include <string>

namespace blockscale::benchmarks {

/// Four stages of 128 x 256 and 256 x 256 codes with their scales.
constexpr uint32_t kGemmSharedBytes = 4 * (16384 + 32768 + 2048 + 4096);

/// Kernel `gemm`: one 128 x 256 tile per CTA, K in steps of 256 through a ring
/// of four stages; warp 0 loads, warp 1 multiplies, all four store f32.
/// Parameters: maps of A and B, pointers to scales of A and B and to D, and the
/// size of the square matrices.
inline std::string gemmKernel() {
  std::string text = R"(.version 9.0
.target sm_100a
.address_size 64
.extern .shared .align 1024 .b8 smem[];
.visible .entry gemm(.param .align 128 .b8 mapA[128],
  .param .align 128 .b8 mapB[128], .param .u64 sfa, .param .u64 sfb,
  .param .u64 out, .param .u32 size)
.reqntid 128
{
.reg .pred %p<16>;
.reg .b32 %r<128>;
.reg .b64 %rd<64>;
.shared .align 8 .b64 full[4];
.shared .align 8 .b64 empty[4];
.shared .align 8 .b64 done;
.shared .align 4 .b32 slot;
mov.u32 %r1, %tid.x;
mov.u32 %r2, full;
mov.u32 %r3, empty;
mov.u32 %r4, done;
mov.u32 %r5, slot;
mov.u32 %r6, smem;
ld.param.u32 %r7, [size];
shr.u32 %r8, %r7, 8;
setp.eq.u32 %p1, %r1, 0;
@!%p1 bra READY;
mbarrier.init.shared::cta.b64 [%r2], 1;
mbarrier.init.shared::cta.b64 [%r2+8], 1;
mbarrier.init.shared::cta.b64 [%r2+16], 1;
mbarrier.init.shared::cta.b64 [%r2+24], 1;
mbarrier.init.shared::cta.b64 [%r3], 1;
mbarrier.init.shared::cta.b64 [%r3+8], 1;
mbarrier.init.shared::cta.b64 [%r3+16], 1;
mbarrier.init.shared::cta.b64 [%r3+24], 1;
mbarrier.init.shared::cta.b64 [%r4], 1;
fence.mbarrier_init.release.cluster;
READY:
setp.lt.u32 %p2, %r1, 32;
@%p2 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r5], 512;
@%p2 tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;
tcgen05.fence::before_thread_sync;
bar.sync 0;
tcgen05.fence::after_thread_sync;
ld.shared.b32 %r9, [%r5];
mov.u32 %r10, %ctaid.x;
mov.u32 %r11, %ctaid.y;
@%p1 bra PRODUCER;
setp.eq.u32 %p3, %r1, 32;
@%p3 bra MULTIPLY;
bra EPILOGUE;

PRODUCER:
mov.b64 %rd1, mapA;
cvta.param.u64 %rd1, %rd1;
mov.b64 %rd2, mapB;
cvta.param.u64 %rd2, %rd2;
ld.param.u64 %rd3, [sfa];
ld.param.u64 %rd4, [sfb];
cvta.to.global.u64 %rd3, %rd3;
cvta.to.global.u64 %rd4, %rd4;
shl.b32 %r12, %r11, 7;
shl.b32 %r13, %r10, 8;
// A block of 128 rows has size / 64 tiles of 512 bytes.
shl.b32 %r14, %r7, 3;
mul.wide.u32 %rd5, %r14, %r11;
add.s64 %rd3, %rd3, %rd5;
shl.b32 %r15, %r10, 1;
mul.wide.u32 %rd6, %r14, %r15;
add.s64 %rd4, %rd4, %rd6;
cvt.u64.u32 %rd7, %r14;
mov.u32 %r20, 0;
LOAD:
and.b32 %r21, %r20, 3;
shr.u32 %r22, %r20, 2;
xor.b32 %r22, %r22, 1;
and.b32 %r22, %r22, 1;
shl.b32 %r23, %r21, 3;
add.u32 %r24, %r2, %r23;
add.u32 %r25, %r3, %r23;
FREE:
mbarrier.try_wait.parity.shared::cta.b64 %p4, [%r25], %r22;
@!%p4 bra FREE;
mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r24], 55296;
mad.lo.u32 %r26, %r21, 55296, %r6;
add.u32 %r27, %r26, 16384;
add.u32 %r28, %r27, 32768;
add.u32 %r29, %r28, 2048;
add.u32 %r30, %r29, 2048;
shl.b32 %r31, %r20, 7;
cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r26], [%rd1, {%r31, %r12}], [%r24];
cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r27], [%rd2, {%r31, %r13}], [%r24];
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r28], [%rd3], 2048, [%r24];
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r29], [%rd4], 2048, [%r24];
add.s64 %rd8, %rd4, %rd7;
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r30], [%rd8], 2048, [%r24];
add.s64 %rd3, %rd3, 2048;
add.s64 %rd4, %rd4, 2048;
add.u32 %r20, %r20, 1;
setp.lt.u32 %p5, %r20, %r8;
@%p5 bra LOAD;
bra EPILOGUE;

MULTIPLY:
mov.u32 %r40, 0;
// e2m1 x e2m1, ue4m3, N = 256, M = 128.
mov.u32 %r41, 0x08400480;
setp.ne.u32 %p6, %r40, 0;
STEP:
and.b32 %r42, %r40, 3;
shr.u32 %r43, %r40, 2;
and.b32 %r43, %r43, 1;
shl.b32 %r44, %r42, 3;
add.u32 %r45, %r2, %r44;
add.u32 %r46, %r3, %r44;
FULL:
mbarrier.try_wait.parity.shared::cta.b64 %p7, [%r45], %r43;
@!%p7 bra FULL;
tcgen05.fence::after_thread_sync;
mad.lo.u32 %r47, %r42, 55296, %r6;
shr.u32 %r48, %r47, 4;
cvt.u64.u32 %rd20, %r48;
add.s64 %rd22, %rd20, 3072;
add.s64 %rd24, %rd20, 3200;
or.b64 %rd22, %rd22, 0x0000400800000000;
or.b64 %rd24, %rd24, 0x0000400800000000;
add.s64 %rd21, %rd20, 1024;
or.b64 %rd20, %rd20, 0x4000404000010000;
or.b64 %rd21, %rd21, 0x4000404000010000;
add.u32 %r50, %r9, 256;
add.u32 %r51, %r9, 272;
)";
  for (unsigned step = 0; step != 4; ++step) {
    std::string sfa = std::to_string(256 + 4 * step);
    std::string sfb = std::to_string(272 + 8 * step);
    std::string high = std::to_string(276 + 8 * step);
    std::string offset = std::to_string(32 * step);
    std::string second = std::to_string(128 + 32 * step);
    text += "add.s64 %rd30, %rd22, " + offset + ";\nadd.s64 %rd31, %rd24, " +
            offset + ";\nadd.s64 %rd32, %rd24, " + second + ";\n" +
            "add.u32 %r52, %r9, " + sfa + ";\nadd.u32 %r53, %r9, " + sfb +
            ";\nadd.u32 %r54, %r9, " + high + ";\n";
    text += R"(tcgen05.cp.cta_group::1.32x128b.warpx4 [%r52], %rd30;
tcgen05.cp.cta_group::1.32x128b.warpx4 [%r53], %rd31;
tcgen05.cp.cta_group::1.32x128b.warpx4 [%r54], %rd32;
tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.scale_vec::4X [%r9], %rd20, %rd21, %r41, [%r52], [%r53], %p6;
setp.eq.u32 %p6, %r1, 32;
add.s64 %rd20, %rd20, 2;
add.s64 %rd21, %rd21, 2;
)";
  }
  text +=
      R"(tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r46];
add.u32 %r40, %r40, 1;
setp.lt.u32 %p8, %r40, %r8;
@%p8 bra STEP;
tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r4];

EPILOGUE:
mbarrier.try_wait.parity.shared::cta.b64 %p9, [%r4], 0;
@!%p9 bra EPILOGUE;
bar.warp.sync -1;
tcgen05.fence::after_thread_sync;
ld.param.u64 %rd40, [out];
cvta.to.global.u64 %rd40, %rd40;
shl.b32 %r60, %r11, 7;
add.u32 %r60, %r60, %r1;
mul.wide.u32 %rd41, %r60, %r7;
mul.wide.u32 %rd42, %r10, 256;
add.s64 %rd41, %rd41, %rd42;
shl.b64 %rd41, %rd41, 2;
add.s64 %rd40, %rd40, %rd41;
and.b32 %r61, %r1, 96;
shl.b32 %r61, %r61, 16;
add.u32 %r61, %r61, %r9;
mov.u32 %r62, 0;
STORE:
tcgen05.ld.sync.aligned.32x32b.x32.b32 {)";
  for (unsigned i = 0; i != 32; ++i)
    text += (i ? ", %r" : "%r") + std::to_string(64 + i);
  text += "}, [%r61];\ntcgen05.wait::ld.sync.aligned;\n";
  for (unsigned i = 0; i != 32; i += 4)
    text += "st.global.v4.b32 [%rd40+" + std::to_string(4 * i) + "], {%r" +
            std::to_string(64 + i) + ", %r" + std::to_string(65 + i) + ", %r" +
            std::to_string(66 + i) + ", %r" + std::to_string(67 + i) + "};\n";
  return text + R"(add.s64 %rd40, %rd40, 128;
add.u32 %r61, %r61, 32;
add.u32 %r62, %r62, 1;
setp.lt.u32 %p10, %r62, 8;
@%p10 bra STORE;
tcgen05.fence::before_thread_sync;
bar.sync 0;
@%p2 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r9, 512;
ret;
}
)";
}

} // namespace blockscale::benchmarks

#endif // BLOCKSCALE_BENCHMARKS_EMULATORGEMMKERNEL_H
