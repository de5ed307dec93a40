//===- HazardKernel.h - pieces of kernels with mistakes ---------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Text for mapKernel: %rd4 out, %rd5 in, %rd6 the tensor map; %r10 and %r15 two
// barriers, %r12 a buffer of 32 KiB, %r13 the place of the address; %p1 thread
// 0, %p2 warp 0, %p3 thread 32, %p4 CTA 0, %p5 thread 0 of CTA 0, %p6 false,
// %p7 true.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_UNITTESTS_EMULATOR_HAZARDKERNEL_H
#define BLOCKSCALE_UNITTESTS_EMULATOR_HAZARDKERNEL_H

#include "HazardCase.h"

#define BARRIERS                                                               \
  "@%p1 mbarrier.init.shared.b64 [%r10], 1;\n"                                 \
  "@%p1 mbarrier.init.shared.b64 [%r15], 1;\n"                                 \
  "fence.mbarrier_init.release.cluster;\nbar.sync 0;\n"
#define CLUSTER                                                                \
  "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n"
#define EXPECT_BYTES(bytes)                                                    \
  "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r10], " bytes ";\n"
#define ARRIVE "mbarrier.arrive.shared.b64 _, [%r10];"
#define FENCE "fence.proxy.async.shared::cta;\n"
/// A wait for parity 0 in which the kernel hangs.
#define HANGS(place)                                                           \
  "W: mbarrier.try_wait.parity.shared.b64 %p8, [%r10], 0; //!" place "\n"      \
  "@!%p8 bra W;\n"
#define BULK(from)                                                             \
  "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r12], " \
  "[" from "], 128, [%r10];"
#define TRY_CANCEL                                                             \
  "@%p1 clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::"          \
  "complete_tx::bytes.b128 [%r13], [%r10];"
#define WAIT(label, bar, parity)                                               \
  #label ": mbarrier.try_wait.parity.shared.b64 %p8, [" bar "], " parity ";\n" \
         "@!%p8 bra " #label ";\nbar.warp.sync -1;\n"
#define LOAD_BOX(shared, x, y, barrier)                                        \
  "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::"     \
  "bytes [" shared "], [%rd6, {" x ", " y "}], [" barrier "];"
#define ALLOC                                                                  \
  "@%p2 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r13], "      \
  "64;\nbar.sync 0;\nld.shared.b32 %r14, [%r13];\n"                            \
  "and.b32 %r17, %r1, 96;\nshl.b32 %r17, %r17, 16;\n"                          \
  "add.u32 %r17, %r17, %r14;\nadd.u32 %r18, %r14, 32;\n"                       \
  "add.u32 %r19, %r14, 36;\n"
#define DEALLOC "@%p2 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r14, 64;"
#define FREE "bar.sync 0;\n" DEALLOC "\n"
/// %rd10 and %rd11 describe A of 128 rows and B of 16, 32 bytes each, %rd12
/// a block of scales.
#define DESCRIBED                                                              \
  "shr.u32 %r20, %r12, 4;\nand.b32 %r20, %r20, 16383;\n"                       \
  "cvt.u64.u32 %rd13, %r20;\nor.b64 %rd10, %rd13, 0x0000400800800000;\n"       \
  "or.b64 %rd11, %rd13, 0x0000400800100000;\n"                                 \
  "or.b64 %rd12, %rd13, 0x0000400800000000;\n"                                 \
  "mov.u32 %r16, 0x08040010;\n"
/// Barriers, tensor memory, zeros in the buffer.
#define READY                                                                  \
  "@%p1 st.bulk.weak.shared::cta [%r12], 32768, 0;\n"                          \
  "fence.proxy.async.shared::cta;\n" BARRIERS ALLOC DESCRIBED
/// Each thread writes its 32 bytes of A.
#define FILL                                                                   \
  "mad.lo.u32 %r7, %r1, 32, %r12;\n"                                           \
  "st.shared.v4.b32 [%r7], {%r5, %r5, %r5, %r5};\n"                            \
  "st.shared.v4.b32 [%r7+16], {%r5, %r5, %r5, %r5};\n"
#define MMA_TO(d, enable)                                                      \
  "@%p1 tcgen05.mma.cta_group::1.kind::f16 [" d                                \
  "], %rd10, %rd11, %r16, " enable ";"
#define MMA MMA_TO("%r14", "%p6")
#define SCALED                                                                 \
  "mov.u32 %r16, 0x08840000;\n@%p1 tcgen05.mma.cta_group::1.kind::mxf8f6f4."   \
  "block_scale [%r14], %rd10, %rd11, %r16, [%r18], [%r19], %p6;"
#define SCALES(guard, at)                                                      \
  guard " tcgen05.cp.cta_group::1.32x128b.warpx4 [" at "], %rd12;"
#define COMMIT_BY(guard, group, bar)                                           \
  guard " tcgen05.commit.cta_group::" group                                    \
        ".mbarrier::arrive::one.shared::cluster.b64 [" bar "];"
#define COMMIT COMMIT_BY("@%p1", "1", "%r10") "\n"
#define DONE(label) COMMIT WAIT(label, "%r10", "0")
#define AFTER "tcgen05.fence::after_thread_sync;\n"
#define BEFORE "tcgen05.fence::before_thread_sync;\n"
#define REGISTERS "{%r32, %r33, %r34, %r35, %r36, %r37, %r38, %r39}"
#define LOAD "tcgen05.ld.sync.aligned.32x32b.x8.b32 " REGISTERS ", [%r17];"
#define ZERO                                                                   \
  "mov.u32 %r32, 0;\nmov.u32 %r33, 0;\nmov.u32 %r34, 0;\nmov.u32 %r35, 0;\n"   \
  "mov.u32 %r36, 0;\nmov.u32 %r37, 0;\nmov.u32 %r38, 0;\nmov.u32 %r39, 0;\n"
#define STORE "tcgen05.st.sync.aligned.32x32b.x8.b32 [%r17], " REGISTERS ";"
#define WAIT_LD "tcgen05.wait::ld.sync.aligned;\n"
#define WAIT_ST "tcgen05.wait::st.sync.aligned;\n"
/// All of the last mma is complete before the columns are freed.
#define END(label)                                                             \
  COMMIT_BY("@%p1", "1", "%r15") "\n" WAIT(label, "%r15", "0") FREE

#endif // BLOCKSCALE_UNITTESTS_EMULATOR_HAZARDKERNEL_H
