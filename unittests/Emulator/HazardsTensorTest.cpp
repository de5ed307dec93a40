//===- HazardsTensorTest.cpp - hazards of TMA, tensor memory and warps ----===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Entries 40 to 88 of the catalogue. Each kernel has a place `$`: with the
// wrong text there the line marked `//!` is found, under the number of the
// entry and in each order of completion; with the right text nothing is.
//
//===----------------------------------------------------------------------===//

#include "MachineHarness.h"

#include "blockscale/Emulator/Hazards.h"

#include <algorithm>

using namespace blockscale::emulator;
using namespace blockscale::emulator::test;

namespace {

struct Case {
  unsigned number;
  const char *name;
  const char *text, *wrong, *right;
  uint32_t threads = 128, ctas = 1, cluster = 1;
  unsigned resident = 0;
  const char *target = "sm_100a";
  TensorMapType type = TensorMapType::U8;
  Swizzle swizzle = Swizzle::None;
};

void PrintTo(const Case &c, std::ostream *stream) {
  *stream << c.number << ' ' << c.name;
}
std::string nameOf(const testing::TestParamInfo<Case> &information) {
  return std::to_string(information.param.number) + information.param.name;
}

/// %rd4 out, %rd5 in, %rd6 the tensor map; %r10 and %r15 two barriers, %r12 a
/// buffer, %r13 the place of the address; %p1 thread 0, %p2 warp 0, %p3 thread
/// 32, %p4 CTA 0, %p5 thread 0 of CTA 0, %p6 false, %p7 true.
std::string kernel(const Case &c, const char *with) {
  std::string text = c.text;
  text.replace(text.find('$'), 1, with);
  return std::string(".version 9.0\n.target ") + c.target +
         "\n.address_size 64\n"
         ".shared .align 16 .b64 bar[2];\n.shared .align 16 .b32 slot[4];\n"
         ".shared .align 1024 .b8 buf[32768];\n"
         ".visible .entry k(.param .u64 out, .param .u64 in,\n"
         " .param .align 128 .b8 map[128])\n{\n"
         ".reg .pred %p<16>;\n.reg .b32 %r<64>;\n.reg .b64 %rd<32>;\n"
         ".reg .b128 %q<4>;\n"
         "ld.param.u64 %rd4, [out];\nld.param.u64 %rd5, [in];\n"
         "mov.b64 %rd6, map;\ncvta.param.u64 %rd6, %rd6;\n"
         "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\n"
         "mov.u32 %r10, bar;\nadd.u32 %r15, %r10, 8;\nmov.u32 %r12, buf;\n"
         "mov.u32 %r13, slot;\nmov.u32 %r5, 0;\n"
         "setp.eq.u32 %p1, %r1, 0;\nsetp.lt.u32 %p2, %r1, 32;\n"
         "setp.eq.u32 %p3, %r1, 32;\nsetp.eq.u32 %p4, %r2, 0;\n"
         "setp.eq.and.u32 %p5, %r1, 0, %p4;\n"
         "setp.ne.u32 %p6, %r1, %r1;\nsetp.eq.u32 %p7, %r1, %r1;\n" +
         text + "\nret;\n}\n";
}

#define BARRIERS                                                               \
  "@%p1 mbarrier.init.shared.b64 [%r10], 1;\n"                                 \
  "@%p1 mbarrier.init.shared.b64 [%r15], 1;\n"                                 \
  "fence.mbarrier_init.release.cluster;\nbar.sync 0;\n"
#define CLUSTER                                                                \
  "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n"
#define EXPECT_BYTES(bytes)                                                    \
  "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r10], " bytes ";\n"
#define WAIT(label, bar, parity)                                               \
#label ": mbarrier.try_wait.parity.shared.b64 %p8, [" bar "], " parity ";\n"  \
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
/// Barriers, tensor memory, zeros in the buffer; %rd10 and %rd11 describe A of
/// 128 rows and B of 16 rows, 32 bytes each, %rd12 a block of scales.
#define READY                                                                  \
  "@%p1 st.bulk.weak.shared::cta [%r12], 32768, 0;\n"                          \
  "fence.proxy.async.shared::cta;\n" BARRIERS ALLOC                            \
  "shr.u32 %r20, %r12, 4;\nand.b32 %r20, %r20, 16383;\n"                       \
  "cvt.u64.u32 %rd13, %r20;\nor.b64 %rd10, %rd13, 0x0000400800800000;\n"       \
  "or.b64 %rd11, %rd13, 0x0000400800100000;\n"                                 \
  "or.b64 %rd12, %rd13, 0x0000400800000000;\n"                                 \
  "mov.u32 %r16, 0x08040010;\n"
#define MMA_TO(d, enable)                                                      \
  "@%p1 tcgen05.mma.cta_group::1.kind::f16 [" d "], %rd10, %rd11, %r16, "      \
  enable ";"
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
#define REGISTERS                                                              \
  "{%r32, %r33, %r34, %r35, %r36, %r37, %r38, %r39}"
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

const Case kTmaCases[] = {
    {40, "Unaligned",
     BARRIERS EXPECT_BYTES("1024") "add.u32 %r12, %r12, $;\n"
     "@%p1 " LOAD_BOX("%r12", "0", "0", "%r10") " //!\n" WAIT(W, "%r10", "0"),
     "64", "128"},
    {41, "PatternShifted",
     READY "mov.b64 %rd14, 0x4000404000010000;\nadd.u64 %rd13, %rd13, $;\n"
     "or.b64 %rd10, %rd13, %rd14;\n" MMA " //!\n" DONE(W) FREE, "8", "64"},
    {42, "InnerCoordinate",
     BARRIERS EXPECT_BYTES("1024")
     "@%p1 " LOAD_BOX("%r12", "$", "0", "%r10") " //!\n" WAIT(W, "%r10", "0"),
     "8", "16"},
    {43, "PaddedCoordinate",
     BARRIERS EXPECT_BYTES("512")
     "@%p1 " LOAD_BOX("%r12", "$", "0", "%r10") " //!\n" WAIT(W, "%r10", "0"),
     "64", "128", 128, 1, 1, 0, "sm_100a", TensorMapType::U4Align16},
    {44, "NegativeStore",
     READY "@%p1 cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd6, "
     "{0, $}], [%r12]; //!\n@%p1 cp.async.bulk.commit_group;\n"
     "@%p1 cp.async.bulk.wait_group 0;\n" FREE, "-1", "1"},
    {45, "RankOfTheMap",
     BARRIERS EXPECT_BYTES("1024") "@%p1 cp.async.bulk.tensor.$}], [%r10]; "
     "//!\n" WAIT(W, "%r10", "0"),
     "3d.shared::cluster.global.mbarrier::complete_tx::bytes [%r12], [%rd6, "
     "{0, 0, 0",
     "2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r12], [%rd6, "
     "{0, 0"},
    {46, "BarrierElsewhere",
     BARRIERS CLUSTER "@%p5 mbarrier.arrive.expect_tx.shared.b64 _, [%r10], "
     "1024;\nmapa.shared::cluster.u32 %r6, %r10, $;\n"
     "@%p5 " LOAD_BOX("%r12", "0", "0", "%r6") " //!\n@!%p4 bra E;\n"
     WAIT(W, "%r10", "0") "E:\n" CLUSTER, "1", "0", 128, 2, 2},
    {47, "PeerBitKept",
     BARRIERS CLUSTER "@%p5 mbarrier.arrive.expect_tx.shared.b64 _, [%r10], "
     "2048;\nand.b32 %r6, %r10, $;\n@%p1 cp.async.bulk.tensor.2d.cta_group::2."
     "shared::cluster.global.mbarrier::complete_tx::bytes [%r12], [%rd6, {0, "
     "0}], [%r6];\n@!%p4 bra E;\n"
     "W: mbarrier.try_wait.parity.shared.b64 %p8, [%r10], 0; //!\n"
     "@!%p8 bra W;\nE: bar.warp.sync -1;\n" CLUSTER, "0xFFFFFFFF",
     "0xFEFFFFFF", 128, 2, 2},
    {48, "PaddedTypeOnSm120",
     BARRIERS EXPECT_BYTES("512") "@%p1 cp.async.bulk.tensor.2d.shared::$."
     "global.mbarrier::complete_tx::bytes [%r12], [%rd6, {0, 0}], [%r10]; "
     "//!\n" WAIT(W, "%r10", "0"), "cluster", "cta", 128, 1, 1, 0, "sm_120a",
     TensorMapType::U4Align16},
    {49, "BulkSize",
     BARRIERS EXPECT_BYTES("32")
     "@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
     "[%r12], [%rd5], $, [%r10]; //!\n" WAIT(W, "%r10", "0"), "24", "32"},
    {50, "NoElect",
     READY "setp.lt.u32 %p10, %r1, $;\n"
     "@%p10 cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd4], "
     "[%r12], 64; //!\n@%p10 cp.async.bulk.commit_group;\n"
     "@%p10 cp.async.bulk.wait_group 0;\n" FREE, "2", "1"},
    {72, "OtherSwizzle",
     READY EXPECT_BYTES("1024") "add.u32 %r21, %r12, $;\n"
     "@%p1 " LOAD_BOX("%r21", "0", "0", "%r10") "\n" WAIT(W, "%r10", "0")
     "add.u64 %rd11, %rd11, 512;\n" MMA " //!\n" END(V), "0", "16384", 128, 1,
     1, 0, "sm_100a", TensorMapType::U8, Swizzle::B128},
};

const Case kTensorCases[] = {
    {51, "BeyondTheAllocation",
     READY ZERO "tcgen05.st.sync.aligned.32x32b.x8.b32 [%r17+$], " REGISTERS
     "; //!\n" WAIT_ST FREE, "64", "8"},
    {51, "AfterTheFree", READY ZERO "$" STORE " //!\n" WAIT_ST FREE,
     "bar.sync 0;\n" DEALLOC "\nbar.sync 0;\n", ""},
    {52, "FreedWithAnotherSize",
     READY "bar.sync 0;\n@%p2 tcgen05.dealloc.cta_group::1.sync.aligned.b32 "
     "%r14, $; //!", "32", "64"},
    {53, "LoadsInFlight",
     READY MMA "\n" DONE(W) AFTER LOAD "\n$" DEALLOC " //!",
     "bar.sync 0;\n" WAIT_LD, WAIT_LD "bar.sync 0;\n"},
    {53, "MmaInFlight",
     READY MMA "\n" COMMIT "$bar.sync 0;\n" DEALLOC " //!", "",
     WAIT(W, "%r10", "0")},
    {54, "PeerNotKnown",
     "$@%p2 tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%r13], "
     "64; //!\n" CLUSTER "ld.shared.b32 %r14, [%r13];\n" CLUSTER
     "@%p2 tcgen05.dealloc.cta_group::2.sync.aligned.b32 %r14, 64;", "",
     CLUSTER, 128, 2, 2},
    {54, "PeerStillLoads",
     CLUSTER "@%p2 tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 "
     "[%r13], 64;\n" CLUSTER "ld.shared.b32 %r14, [%r13];\nand.b32 %r17, %r1, "
     "96;\nshl.b32 %r17, %r17, 16;\nadd.u32 %r17, %r17, %r14;\n" ZERO STORE
     "\n" WAIT_ST LOAD "\n" WAIT_LD "$"
     "@%p2 tcgen05.dealloc.cta_group::2.sync.aligned.b32 %r14, 64; //!\n"
     CLUSTER, "bar.sync 0;\n", CLUSTER, 128, 2, 2},
    {55, "AfterRelinquish",
     READY "@%p2 tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n$"
     FREE,
     "@%p2 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r13], "
     "32; //!\n", ""},
    {55, "NoPowerOfTwo",
     "@%p2 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r13], $; "
     "//!\nbar.sync 0;\nld.shared.b32 %r14, [%r13];\n" FREE, "48", "64"},
    {56, "NoEdge",
     "@%p2 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r13], "
     "64;\n$ld.shared.b32 %r14, [%r13]; //!\n" FREE, "", "bar.sync 0;\n"},
    {57, "NobodyFrees",
     "@%p2 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r13], "
     "512;\n$bar.sync 0;\nld.shared.b32 %r14, [%r13];\nbar.sync 0;\n"
     "@%p2 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r14, 512;",
     "@%p2 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r13], "
     "512; //!\n", ""},
    {58, "NoWait",
     READY MMA "\n" COMMIT "$@%p2 " LOAD " //!\n" WAIT_LD
     WAIT(V, "%r10", "0") FREE,
     "", WAIT(W, "%r10", "0") AFTER},
    {59, "CommitOfAnotherThread",
     READY MMA "\n$" WAIT(W, "%r10", "0") LOAD " //!\n" WAIT_LD END(V),
     COMMIT_BY("@%p3", "1", "%r10") "\n", COMMIT},
    {60, "CommitTooEarly",
     READY "$" WAIT(W, "%r10", "0") LOAD " //!\n" WAIT_LD END(V),
     COMMIT MMA "\n", MMA "\n" COMMIT},
    {61, "CommitOfAnotherGroup",
     READY MMA "\n$" WAIT(W, "%r10", "0") FREE,
     COMMIT_BY("@%p1", "2", "%r10") " //!\n", COMMIT},
    {62, "NextTileOverwrites",
     READY MMA "\n" DONE(W) AFTER LOAD "\n$" MMA " //!\n" WAIT_LD END(V), "",
     WAIT_LD "bar.sync 0;\n"},
    {63, "StoreInFlight",
     READY ZERO STORE "\nadd.u32 %r17, %r17, 8;\n" STORE "\n$bar.sync 0;\n"
     MMA_TO("%r14", "%p7") " //!\n" WAIT_ST END(V), "", WAIT_ST},
    {64, "NothingToAddTo",
     READY MMA_TO("%r14", "$") " //!\n" END(V), "%p7", "%p6"},
    {65, "OneQuadrantOnly", READY "$" SCALED " //!\n" END(V),
     ZERO "@%p2 tcgen05.st.sync.aligned.32x32b.x8.b32 [%r18], " REGISTERS
     ";\n@%p2 " WAIT_ST,
     SCALES("@%p1", "%r18") "\n" SCALES("@%p1", "%r19") "\n"},
    {66, "ScalesBehindMma",
     READY SCALES("@%p1", "%r18") "\n" SCALES("@%p1", "%r19") "\n" SCALED "\n$"
     SCALES("@%p1", "%r18") " //!\n" END(V), "", DONE(W)},
    {67, "CopyOfAnotherThread",
     READY SCALES("@%p3", "%r18") "\n" SCALES("@%p3", "%r19") "\n"
     "@%p3 mbarrier.arrive.$.cta.shared::cta.b64 _, [%r10];\n"
     WAIT(W, "%r10", "0") SCALED " //!\n"
     COMMIT_BY("@%p3", "1", "%r15") "\n" WAIT(U, "%r15", "0")
     COMMIT_BY("@%p1", "1", "%r10") "\n" WAIT(V, "%r10", "1") FREE,
     "relaxed", "release"},
    {68, "LanesOfAnotherWarp",
     READY ZERO "@%p2 tcgen05.st.sync.aligned.32x32b.x8.b32 [%r14+$], "
     REGISTERS "; //!\n@%p2 " WAIT_ST FREE, "2097152", "0"},
    {69, "LaneOfTheAccumulator",
     READY MMA_TO("%r14+$", "%p6") " //!\n" END(V), "327680", "0"},
    {70, "ReservedBit",
     READY "mov.u32 %r16, $;\n" MMA " //!\n" END(V), "0x08040018",
     "0x08040010"},
    {70, "K96OnSm100",
     READY "mov.u32 %r16, $;\n" SCALES("@%p1", "%r18") "\n"
     SCALES("@%p1", "%r19") "\n@%p1 tcgen05.mma.cta_group::1.kind::mxf4."
     "block_scale.block32 [%r14], %rd10, %rd11, %r16, [%r18], [%r19], %p6; "
     "//!\n" END(V), "0x88840480", "0x08840480"},
    {71, "ConstantBits",
     READY "xor.b64 %rd10, %rd10, $;\n" MMA " //!\n" END(V),
     "0x0000400000000000", "0"},
    {71, "BeyondSharedMemory",
     READY "add.u64 %rd10, %rd10, $;\n" MMA " //!\n" END(V), "2040", "1024"},
    {73, "AddressesDiffer",
     READY ZERO STORE "\n" WAIT_ST "$tcgen05.ld.sync.aligned.32x32b.x8.b32 "
     REGISTERS ", [%r21]; //!\n" WAIT_LD FREE, "add.u32 %r21, %r17, %r1;\n",
     "mov.u32 %r21, %r17;\n"},
    {74, "ReleasedBeforeWait",
     READY MMA "\n" DONE(W) AFTER LOAD "\n$" MMA " //!\n" END(V),
     "bar.sync 0;\n" WAIT_LD, WAIT_LD "bar.sync 0;\n"},
    {75, "NoFence", READY MMA "\n" DONE(W) "$" LOAD " //!\n" WAIT_LD FREE, "",
     AFTER},
    {76, "PeerHasExited",
     READY CLUSTER "@%p4 bra GO;\n$GO:\n" CLUSTER
     "mov.u32 %r16, 0x10080010;\n@%p5 tcgen05.mma.cta_group::2.kind::f16 "
     "[%r14], %rd10, %rd11, %r16, %p6; //!\n"
     COMMIT_BY("@%p5", "2", "%r10") "\n@!%p4 bra E;\n" WAIT(W, "%r10", "0")
     "E:\n" CLUSTER FREE, FREE "exit;\n", "", 128, 2, 2},
    {76, "PeerNotKnown",
     READY "$mov.u32 %r16, 0x10080010;\n@%p5 tcgen05.mma.cta_group::2.kind::"
     "f16 [%r14], %rd10, %rd11, %r16, %p6; //!\n"
     COMMIT_BY("@%p5", "2", "%r10") "\n@!%p4 bra E;\n" WAIT(W, "%r10", "0")
     "E:\n" CLUSTER FREE, "", CLUSTER, 128, 2, 2},
};

const Case kWarpCases[] = {
    {77, "BarrierInBothBranches", "$",
     "@%p1 bra A;\nbar.sync 0; //!\nbra B;\nA: bar.sync 0;\nB:\n",
     "bar.sync 0;\n", 32},
    {78, "MaskOfAllInABranch",
     "@!%p1 bra E;\nshfl.sync.idx.b32 %r6, %r1, 0, 31, $; //!\nE:\n"
     "bar.sync 0;", "-1", "1", 32},
    {78, "ShuffleFromOutside",
     "setp.gt.u32 %p10, %r1, 15;\n@%p10 bra E;\n"
     "shfl.sync.idx.b32 %r6, %r1, $, 31, 0xFFFF; //!\nE: bar.warp.sync -1;",
     "20", "7", 32},
    {79, "CountNotReached", "bar.sync 1, $; //!", "96", "64", 64},
    {79, "OddCount", "bar.sync 1, $; //!", "48", "64", 64},
    {80, "OneRoleOnly",
     BARRIERS "@!%p2 bra W;\n$@%p1 mbarrier.arrive.shared.b64 _, [%r10];\n"
     WAIT(W, "%r10", "0"), "bar.sync 0; //!\n", "bar.warp.sync -1;\n", 64},
    {81, "PoolIsEmpty", "setmaxnreg.inc.sync.aligned.u32 $; //!", "256", "248",
     256},
    {81, "HalfAWarpgroup", "$setmaxnreg.dec.sync.aligned.u32 24; //!", "@%p2 ",
     ""},
    {81, "OddNumber", "setmaxnreg.dec.sync.aligned.u32 $; //!", "30", "32"},
    {82, "ClusterThatDoesNotRun",
     "@%p1 red.relaxed.gpu.global.add.u32 [%rd4], 1;\n"
     "W: ld.relaxed.gpu.global.u32 %r6, [%rd4]; setp.lt.u32 %p8, %r6, $; "
     "@%p8 bra W; //!", "2", "1", 32, 2, 1, 1},
    {84, "TryCancelAfterFailure",
     BARRIERS EXPECT_BYTES("16") "@%p1 clusterlaunchcontrol.try_cancel.async."
     "shared::cta.mbarrier::complete_tx::bytes.b128 [%r13], [%r10];\n"
     WAIT(W, "%r10", "0") "$",
     "@%p1 clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::"
     "complete_tx::bytes.b128 [%r13], [%r10]; //!\n", ""},
    {84, "CtaOfAFailedAnswer",
     BARRIERS EXPECT_BYTES("16") "@%p1 clusterlaunchcontrol.try_cancel.async."
     "shared::cta.mbarrier::complete_tx::bytes.b128 [%r13], [%r10];\n"
     WAIT(W, "%r10", "0") "ld.shared.b128 %q1, [%r13];\n"
     "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p10, %q1;\n"
     "$clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r6, "
     "%q1; //!\n", "", "@%p10 "},
    {86, "Endless", "W: bra $; //!\nE:\n", "W", "E", 32},
    {87, "DivisionByZero", "div.u32 %r6, %r1, $; //!", "%r5", "3", 32},
    {87, "AddressOfAnotherSpace", "cvta.to.shared.u64 %rd7, $; //!", "%rd5",
     "0", 32},
};

class TensorHazards : public testing::TestWithParam<Case> {
protected:
  static RunResult runWith(const char *with, Completion completion) {
    const Case &c = GetParam();
    std::vector<uint32_t> out(64), in(4096);
    TensorMap map;
    map.type = c.type;
    map.rank = 2;
    map.globalDim = {128, 64, 0, 0, 0};
    map.globalStrides = {128ull * globalBits(c.type) / 8, 0, 0, 0};
    map.boxDim = {128, 8, 0, 0, 0};
    map.swizzle = c.swizzle;
    Launch launch;
    launch.kernel = "k";
    launch.grid.x = c.ctas;
    launch.cluster.x = c.cluster;
    launch.block.x = c.threads;
    launch.buffers = {bufferOf(out), bufferOf(in)};
    launch.arguments = {BufferArgument{0, 0}, BufferArgument{1, 0},
                        TensorMapArgument{map, 1, 0}};
    Options options;
    options.threads = 1;
    options.advice = true;
    options.completion = completion;
    options.residentClusters = c.resident;
    return runText(kernel(c, with), launch, options);
  }

  static std::string listing(const RunResult &result) {
    std::string text;
    for (const auto *list : {&result.findings, &result.advice})
      for (const Finding &finding : *list)
        text += toString(finding) + "\n";
    return text;
  }
};

constexpr Completion kCompletions[] = {Completion::Immediate,
                                       Completion::Random, Completion::Latest};

TEST_P(TensorHazards, Found) {
  const Case &c = GetParam();
  const HazardInfo *info = hazardInfo(c.number);
  ASSERT_TRUE(info);
  bool advice = info->grade == Grade::Advice;
  std::string whole = kernel(c, c.wrong);
  size_t mark = whole.find("//!");
  ASSERT_NE(mark, std::string::npos);
  auto line = unsigned(
      1 + std::count(whole.begin(), whole.begin() + long(mark), '\n'));
  for (Completion completion : kCompletions) {
    RunResult result = runWith(c.wrong, completion);
    EXPECT_EQ(result.clean(), advice) << listing(result);
    const auto &list = advice ? result.advice : result.findings;
    bool found = std::any_of(list.begin(), list.end(), [&](const Finding &f) {
      return f.hazard == c.number && f.line == line && !f.message.empty();
    });
    EXPECT_TRUE(found) << "order " << int(completion) << ", line " << line
                       << ":\n"
                       << listing(result);
    // What follows from the mistake may be found too, after it.
    if (!advice && !result.clean())
      EXPECT_EQ(result.findings.front().hazard, c.number) << listing(result);
  }
}

TEST_P(TensorHazards, TwinIsClean) {
  const Case &c = GetParam();
  for (Completion completion : kCompletions) {
    RunResult result = runWith(c.right, completion);
    EXPECT_TRUE(result.clean())
        << "order " << int(completion) << ":\n" << listing(result);
    for (const Finding &finding : result.advice)
      EXPECT_NE(finding.hazard, c.number) << toString(finding);
  }
}

INSTANTIATE_TEST_SUITE_P(Tma, TensorHazards, testing::ValuesIn(kTmaCases),
                         nameOf);
INSTANTIATE_TEST_SUITE_P(Tensor, TensorHazards, testing::ValuesIn(kTensorCases),
                         nameOf);
INSTANTIATE_TEST_SUITE_P(Warps, TensorHazards, testing::ValuesIn(kWarpCases),
                         nameOf);

/// The number of the first finding; 0 if there is none.
unsigned firstHazard(const RunResult &result) {
  return result.findings.empty() ? 0 : result.findings[0].hazard;
}

TEST(HazardsOfLaunch, LeakedTensorMemory) {
  std::string text =
      "mov.u32 %r10, slot;\ntcgen05.alloc.cta_group::1.sync.aligned.shared::"
      "cta.b32 [%r10], 64;\nld.shared.b32 %r11, [%r10];\n",
      free = "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r11, 64;",
      module = ".shared .align 4 .b32 slot;\n";
  EXPECT_EQ(firstHazard(runBody(text, {}, 32, 1, {}, 1, module).result), 52u);
  expectClean(runBody(text + free, {}, 32, 1, {}, 1, module).result);
}

TEST(HazardsOfLaunch, BlockAgainstTheDirectives) {
  std::string text = kHeader + ".visible .entry k() .reqntid 64 { ret; }\n";
  Launch launch;
  launch.kernel = "k";
  launch.block.x = 32;
  EXPECT_EQ(firstHazard(runText(text, launch)), 85u);
  launch.block.x = 64;
  expectClean(runText(text, launch));
}

TEST(HazardsOfLaunch, ClusterAgainstTheDirectives) {
  std::string text =
      kHeader + ".visible .entry k() .reqnctapercluster 2, 1, 1 { ret; }\n";
  Launch launch;
  launch.kernel = "k";
  launch.block.x = 32;
  launch.grid.x = 2;
  EXPECT_EQ(firstHazard(runText(text, launch)), 85u);
  launch.cluster.x = 2;
  expectClean(runText(text, launch));
}

TEST(HazardsOfLaunch, TensorMapAgainstTheEncoder) {
  std::string text = kHeader + ".visible .entry k(.param .align 128 .b8 "
                               "map[128]) { ret; }\n";
  std::vector<uint32_t> in(4096);
  TensorMap map;
  map.type = TensorMapType::U8;
  map.rank = 2;
  map.globalDim = {128, 64, 0, 0, 0};
  map.globalStrides = {8, 0, 0, 0};
  map.boxDim = {128, 8, 0, 0, 0};
  Launch launch;
  launch.kernel = "k";
  launch.block.x = 32;
  launch.buffers = {bufferOf(in)};
  launch.arguments = {TensorMapArgument{map, 0, 0}};
  EXPECT_EQ(firstHazard(runText(text, launch)), 45u);
  map.globalStrides[0] = 128;
  launch.arguments = {TensorMapArgument{map, 0, 0}};
  expectClean(runText(text, launch));
}

TEST(HazardsOfLaunch, StepLimit) {
  // Counts for ever, so no state comes back.
  std::string text = "mov.u32 %r5, 0;\nW: add.u32 %r5, %r5, 1;\n"
                     "setp.ne.u32 %p1, %r5, $;\n@%p1 bra W;",
              endless = text;
  endless.replace(endless.find('$'), 1, "0");
  text.replace(text.find('$'), 1, "100");
  Options options;
  options.stepLimit = 5000;
  RunResult result = runBody(endless, {}, 32, 1, options).result;
  EXPECT_EQ(firstHazard(result), 86u);
  EXPECT_EQ(firstKind(result), FindingKind::StepLimit);
  expectClean(runBody(text, {}, 32, 1, options).result);
}

/// An instruction, targets that have it and targets that have not.
struct TargetCase {
  const char *instruction;
  std::vector<const char *> with, without;
};

TEST(HazardsOfLaunch, InstructionsOfOtherTargets) {
  const TargetCase cases[] = {
      {"elect.sync %r1|%p1, -1;", {"sm_90a", "sm_100a", "sm_120a"}, {}},
      {"redux.sync.min.f32 %f1, %f2, -1;",
       {"sm_100a", "sm_103a", "sm_100f"},
       {"sm_110a", "sm_120a", "sm_90a"}},
      {"tcgen05.fence::after_thread_sync;",
       {"sm_100a", "sm_103f", "sm_110a"},
       {"sm_100", "sm_120a", "sm_121a", "sm_90a"}},
      {"cvt.rs.satfinite.e2m1x4.f32 %h1, {%f1, %f2, %f3, %f4}, %r1;",
       {"sm_100a", "sm_103a"},
       {"sm_110a", "sm_120a", "sm_100f"}},
      {"wgmma.fence.sync.aligned;", {}, {"sm_100a", "sm_120a"}},
  };
  for (const TargetCase &c : cases) {
    auto hazardOn = [&](const char *target) {
      Launch launch;
      launch.kernel = "k";
      launch.block.x = 32;
      RunResult result = runText(
          std::string(".version 9.0\n.target ") + target +
              "\n.address_size 64\n.visible .entry k()\n{\n.reg .pred %p<2>;\n"
              ".reg .b16 %h<2>;\n.reg .b32 %r<2>;\n.reg .f32 %f<5>;\n"
              "mov.f32 %f1, 0f00000000;\nmov.f32 %f2, %f1;\n"
              "mov.f32 %f3, %f1;\nmov.f32 %f4, %f1;\nmov.b32 %r1, 0;\n" +
              c.instruction + "\nret;\n}\n",
          launch);
      if (!result.clean())
        EXPECT_EQ(result.findings[0].line, 15u) << toString(result.findings[0]);
      return firstHazard(result);
    };
    for (const char *target : c.with)
      EXPECT_EQ(hazardOn(target), 0u) << c.instruction << " " << target;
    for (const char *target : c.without)
      EXPECT_EQ(hazardOn(target), 88u) << c.instruction << " " << target;
  }
}

/// Every entry from 40 to 88 but 83, which is no mistake, has a rule.
TEST(HazardCatalogue, IsComplete) {
  for (unsigned number = 40; number != 89; ++number) {
    const HazardInfo *info = hazardInfo(number);
    ASSERT_EQ(info != nullptr, number != 83) << number;
    if (!info)
      continue;
    EXPECT_FALSE(info->name.empty());
    EXPECT_GT(info->explanation.size(), 60u) << number;
    bool advice = number == 50 || number == 66 || number == 72 || number == 75;
    EXPECT_EQ(info->grade, advice ? Grade::Advice : Grade::Error) << number;
  }
}

} // namespace
