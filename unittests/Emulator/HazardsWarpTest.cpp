//===- HazardsWarpTest.cpp - hazards of warps and launches ----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Entries 77 to 88 of the catalogue.
//
//===----------------------------------------------------------------------===//

#include "HazardKernel.h"

using namespace blockscale::emulator;
using namespace blockscale::emulator::test;

namespace {

const HazardCase kWarpCases[] = {
    {77, "BarrierInBothBranches", "$",
     "@%p1 bra A;\nbar.sync 0; //! lane 1\nbra B;\nA: bar.sync 0;\nB:\n",
     "bar.sync 0;\n", 32},
    {77, "GuardOfOneThread",
     "$barrier.cluster.arrive.aligned; //!\nbarrier.cluster.wait.aligned;",
     "@%p1 ", "", 32},
    {77, "BarrierOfOneThread", "$bar.sync 0; //!", "@%p1 ", "", 32},
    {77, "AllocationByOneThread",
     "$tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r13], 32; "
     "//!\n"
     "bar.sync 0;\nld.shared.b32 %r14, [%r13];\n"
     "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r14, 32;",
     "@%p1 ", "", 32},
    {77, "MatrixLoadInABranch",
     FILL "bar.sync 0;\nsetp.ge.u32 %p10, %r1, $;\n@%p10 bra E;\n"
          "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r6}, [%r12]; //!\nE:\n"
          "bar.warp.sync -1;",
     "16", "32", 32},
    {78, "VoteWithoutMember",
     "setp.ge.u32 %p10, %r1, 16;\n@%p10 bra E;\n"
     "vote.sync.all.pred %p8, %p7, $; //!\nE: bar.warp.sync -1;",
     "0x1FFFF", "0xFFFF", 32},
    {78, "MaskOfAllInABranch",
     "@!%p1 bra E;\nshfl.sync.idx.b32 %r6, %r1, 0, 31, $; //!\nE:\n"
     "bar.sync 0;",
     "-1", "1", 32},
    {78, "ShuffleFromOutside",
     "setp.gt.u32 %p10, %r1, 15;\n@%p10 bra E;\n"
     "shfl.sync.idx.b32 %r6, %r1, $, 31, 0xFFFF; //!\nE: bar.warp.sync -1;",
     "20", "7", 32},
    {79, "CountNotReached", "bar.sync 1, $; //!", "96", "64", 64},
    {79, "CountsDiffer",
     "mov.u32 %r6, 64;\n@%p3 mov.u32 %r6, $;\nshfl.sync.idx.b32 %r6, %r6, 0, "
     "31, -1;\nbar.sync 1, %r6; //! warp 1",
     "96", "64", 64},
    {79, "ExitedWarpIsMissed", "$bar.sync 1, 64; //!", "@!%p2 exit;\n", "", 64},
    {79, "OddCount", "bar.sync 1, $; //!", "48", "64", 64},
    {80, "OneRoleOnly",
     BARRIERS
     "@!%p2 bra W;\n$@%p1 mbarrier.arrive.shared.b64 _, [%r10];\n" WAIT(
         W, "%r10", "0"),
     "bar.sync 0; //!\n", "bar.warp.sync -1;\n", 64},
    {80, "ClusterBarrierWithoutArrival",
     "$barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned; //!\n"
     "F: bar.sync 0;",
     "@!%p2 bra F;\n", ""},
    {80, "ClusterBarrierTwice",
     "barrier.cluster.arrive.aligned;\n$"
     "barrier.cluster.arrive.aligned; //!\nbarrier.cluster.wait.aligned;",
     "", "barrier.cluster.wait.aligned;\n"},
    {80, "ClusterWaitFirst", "$barrier.cluster.wait.aligned; //!", "",
     "barrier.cluster.arrive.aligned;\n"},
    {81, "PoolIsEmpty", "setmaxnreg.inc.sync.aligned.u32 $; //! warp 4", "176",
     "168", 384},
    {81, "HalfAWarpgroup", "$setmaxnreg.dec.sync.aligned.u32 24; //! lane none",
     "@%p2 ", ""},
    {81, "OddNumber",
     "setmaxnreg.dec.sync.aligned.u32 $; //! warp none, lane none", "30", "32"},
    {82, "ClusterThatDoesNotRun",
     "@%p1 red.relaxed.gpu.global.add.u32 [%rd4], 1;\n"
     "W: ld.relaxed.gpu.global.u32 %r6, [%rd4]; setp.lt.u32 %p8, %r6, $; "
     "@%p8 bra W; //!",
     "2", "1", 32, 2, 1, 1},
    {84, "TryCancelAfterFailure",
     BARRIERS EXPECT_BYTES("16") TRY_CANCEL "\n" WAIT(W, "%r10", "0") "$",
     TRY_CANCEL " //!\n", ""},
    {84, "CtaOfAFailedAnswer",
     BARRIERS EXPECT_BYTES("16") TRY_CANCEL
     "\n" WAIT(W, "%r10", "0") "ld.shared.b128 %q1, [%r13];\n"
                               "clusterlaunchcontrol.query_cancel.is_canceled."
                               "pred.b128 %p10, %q1;\n"
                               "$clusterlaunchcontrol.query_cancel.get_first_"
                               "ctaid::x.b32.b128 %r6, "
                               "%q1; //!\n",
     "", "@%p10 "},
    {84, "TooManyBytesExpected",
     BARRIERS EXPECT_BYTES("$") TRY_CANCEL
     "\n"
     "W: mbarrier.try_wait.parity.shared.b64 %p8, [%r10], 0; //!\n"
     "@!%p8 bra W;",
     "32", "16"},
    {84, "TooFewBytesExpected",
     BARRIERS EXPECT_BYTES("$") TRY_CANCEL " //!\n" WAIT(W, "%r10", "0"), "8",
     "16"},
    {84, "NoBytesExpected",
     BARRIERS "$" TRY_CANCEL " //!\n" WAIT(W, "%r10", "0"),
     "@%p1 mbarrier.arrive.shared.b64 _, [%r10];\n", EXPECT_BYTES("16")},
    {84, "BytesOfThePeer",
     BARRIERS CLUSTER "selp.b32 %r6, 16, $, %p4;\n" EXPECT_BYTES("%r6") CLUSTER
     "@%p5 clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::"
     "complete_tx::bytes.multicast::cluster::all.b128 [%r13], [%r10];\n"
     "W: mbarrier.try_wait.parity.shared.b64 %p8, [%r10], 0; //! cta 1\n"
     "@!%p8 bra W;\n" CLUSTER,
     "32", "16", 128, 2, 2},
    {84, "AnswerReadBeforeWait",
     BARRIERS EXPECT_BYTES("16") TRY_CANCEL
     "\n$"
     "@%p1 ld.shared.b128 %q1, [%r13]; //!\n" WAIT(W, "%r10", "0"),
     "", WAIT(V, "%r10", "0")},
    {86, "CountsForEver",
     "mov.u32 %r6, 0;\nW: add.u32 %r6, %r6, 1; setp.ne.u32 %p8, %r6, $; "
     "@%p8 bra W; //! lane none",
     "0", "100", 32, 1, 1, 0, "sm_100a", TensorMapType::U8, Swizzle::None, "",
     "", false, false, false, 5000},
    {86, "Endless", "W: bra $; //!\nE:\n", "W", "E", 32},
    {86, "FlagThatNobodySets",
     "W: ld.relaxed.gpu.global.u32 %r6, [%rd4]; setp.ne.u32 %p8, %r6, $; "
     "@%p8 bra W; //!",
     "1", "0", 32},
    {87, "BeyondTheBranchTable",
     "T: .branchtargets A, B;\nbrx.idx $, T; //! lane 2\nA: nanosleep.u32 0;\n"
     "B: bar.warp.sync -1;",
     "%r1", "%r5", 32},
    {87, "DivisionByZero", "div.u32 %r6, %r1, $; //!", "%r5", "3", 32},
    {87, "AddressOfAnotherSpace", "cvta.to.shared.u64 %rd7, $; //!", "%rd5",
     "0", 32},
};

HazardCase launched(const char *name, const char *directives, const char *wrong,
                    const char *right, uint32_t ctas = 1,
                    uint32_t cluster = 1) {
  HazardCase c;
  c.number = 85;
  c.name = name;
  c.directives = directives;
  c.wrong = wrong;
  c.right = right;
  c.threads = 32;
  c.ctas = ctas;
  c.cluster = cluster;
  return c;
}

#define OF_LAUNCH "//! warp none, lane none"

const HazardCase kLaunchCases[] = {
    launched("Block", ".reqntid $ " OF_LAUNCH, "64", "32"),
    launched("BlockTooLarge", ".maxntid $ " OF_LAUNCH, "16", "128"),
    launched("NoCluster", ".reqnctapercluster $ " OF_LAUNCH, "2, 1, 1",
             "1, 1, 1", 2),
    launched("ClusterTooLarge", ".maxclusterrank $ " OF_LAUNCH, "2", "4", 4, 4),
};

/// An instruction that a target lacks, and what it has in its place.
HazardCase forTarget(const char *name, const char *target, const char *wrong,
                     const char *right) {
  HazardCase c;
  c.number = 88;
  c.name = name;
  c.text = "$ //! warp none, lane none";
  c.wrong = wrong;
  c.right = right;
  c.threads = 32;
  c.target = target;
  return c;
}

const HazardCase kTargetCases[] = {
    forTarget("TensorMemoryOfSm120", "sm_120a",
              "tcgen05.fence::after_thread_sync;", "fence.acq_rel.cta;"),
    forTarget("PlainTarget", "sm_100", "tcgen05.fence::after_thread_sync;",
              "fence.acq_rel.cta;"),
    forTarget("FloatReduxOfSm120", "sm_120a",
              ".reg .f32 %f<2>; mov.f32 %f1, 0f00000000; "
              "redux.sync.min.f32 %f1, %f1, -1;",
              "redux.sync.min.u32 %r6, %r1, -1;"),
    forTarget("WgmmaOfHopper", "sm_100a", "wgmma.fence.sync.aligned;",
              "tcgen05.fence::before_thread_sync;"),
};

INSTANTIATE_TEST_SUITE_P(Launch, Hazards,
                         testing::ValuesIn(listed(kLaunchCases, mapKernel)),
                         nameOf);
INSTANTIATE_TEST_SUITE_P(Target, Hazards,
                         testing::ValuesIn(listed(kTargetCases, mapKernel)),
                         nameOf);
INSTANTIATE_TEST_SUITE_P(Warps, Hazards,
                         testing::ValuesIn(listed(kWarpCases, mapKernel)),
                         nameOf);

/// The number of the first finding; 0 if there is none.
unsigned firstHazard(const RunResult &result) {
  return result.findings.empty() ? 0 : result.findings[0].hazard;
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
      if (!result.clean()) {
        EXPECT_EQ(result.findings[0].line, 15u) << toString(result.findings[0]);
      }
      return firstHazard(result);
    };
    for (const char *target : c.with)
      EXPECT_EQ(hazardOn(target), 0u) << c.instruction << " " << target;
    for (const char *target : c.without)
      EXPECT_EQ(hazardOn(target), 88u) << c.instruction << " " << target;
  }
}

} // namespace
