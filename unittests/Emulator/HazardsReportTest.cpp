//===- HazardsReportTest.cpp - what the report of a hang says -------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel that hangs ends with who waits for what, the state of that, what has
// come and who is missing.
//
//===----------------------------------------------------------------------===//

#include "HazardKernel.h"

#include <algorithm>

using namespace blockscale::emulator;
using namespace blockscale::emulator::test;

namespace {

/// The findings of a run of `text`, in mapKernel, with `@1@` and so on replaced
/// by the lines that end in `//1` and so on.
struct Hang {
  Hang(const char *text, uint32_t threads, uint32_t ctas = 1,
       Options options = {}) {
    HazardCase c;
    c.text = text;
    c.target = "sm_100a";
    module = mapKernel(c);
    std::vector<uint32_t> out(1024), in(4096);
    Launch launch;
    launch.kernel = "k";
    launch.grid.x = launch.cluster.x = ctas;
    launch.block.x = threads;
    launch.buffers = {bufferOf(out), bufferOf(in)};
    launch.arguments = {BufferArgument{0, 0}, BufferArgument{1, 0},
                        TensorMapArgument{mapOf(c), 1, 0}};
    options.threads = 1;
    result = runText(module, launch, options);
  }

  std::string filled(std::string text) const {
    for (char number = '1'; number != '7'; ++number) {
      std::string mark = std::string("@") + number + "@";
      size_t at = module.find(std::string("//") + number);
      std::string line = std::to_string(
          1 + std::count(module.begin(),
                         module.begin() + long(std::min(at, module.size())),
                         '\n'));
      for (size_t i; (i = text.find(mark)) != std::string::npos;)
        text.replace(i, 3, line);
    }
    return text;
  }

  /// Finding `index` is a deadlock of the rule, there, and says `parts`.
  void expect(size_t index, unsigned hazard, const char *where,
              const std::vector<const char *> &parts) const {
    ASSERT_LT(index, result.findings.size());
    const Finding &f = result.findings[index];
    std::string text = toString(f);
    EXPECT_EQ(f.kind, FindingKind::Deadlock) << text;
    EXPECT_EQ(f.hazard, hazard) << text;
    EXPECT_EQ(text.rfind(filled(where), 0), 0u) << text;
    for (const char *part : parts)
      EXPECT_NE(text.find(filled(part)), std::string::npos)
          << part << " is not in " << text;
  }

  std::string module;
  RunResult result;
};

TEST(HangReport, BytesThatDoNotCome) {
  Hang hang(
      BARRIERS
      "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r10], "
      "384; //1\n@%p1 " BULK(
          "%rd5") " //2\n"
                  "W: mbarrier.try_wait.parity.shared.b64 %p8, [%r10], 0; //3\n"
                  "@!%p8 bra W;",
      64);
  hang.expect(0, 6, "line @3@, cta (0,0,0), warp 0, lane 0",
              {"mbarrier 0x400 (phase 0, expected arrivals 1, pending 0, "
               "transaction bytes 256)",
               "in this phase came warp 0 at line @1@ expecting 384 bytes, "
               "128 bytes of the copy at line @2@"});
  hang.expect(1, 6, "line @3@, cta (0,0,0), warp 1, lane 0", {});
  EXPECT_EQ(hang.result.findings.size(), 2u);
}

// Warp 1 arrives in the first round and exits in the second.
TEST(HangReport, RoleThatLeaves) {
  Hang hang(
      "@%p1 mbarrier.init.shared.b64 [%r10], 2;\nbar.sync 0;\n"
      "@%p1 " ARRIVE "\n"
      "@%p3 " ARRIVE " //1\n" WAIT(
          V, "%r10",
          "0") "@!%p2 exit;\n@%p1 " ARRIVE " //2\n"
               "W: mbarrier.try_wait.parity.shared.b64 %p8, [%r10], 1; //3\n"
               "@!%p8 bra W;\n@%p6 " ARRIVE " //4\n",
      64);
  hang.expect(0, 5, "line @3@, cta (0,0,0), warp 0, lane 0",
              {"(phase 1, expected arrivals 2, pending 1, transaction bytes 0)",
               "in this phase came warp 0 at line @2@;",
               "only in the phase before came warp 1 at line @1@ (has exited)",
               "not executed so far: arrivals at line @4@"});
  EXPECT_EQ(hang.result.findings.size(), 1u);
}

TEST(HangReport, NothingCame) {
  Hang hang(BARRIERS "W: mbarrier.try_wait.parity.shared.b64 %p8, [%r10], 0; "
                     "//3\n@!%p8 bra W;\n",
            32);
  hang.expect(0, 18, "line @3@, cta (0,0,0), warp 0, lane 0",
              {"pending 1", "nothing came in this phase"});
}

TEST(HangReport, WarpsMissingAtABarrier) {
  Hang hang(BARRIERS
            "@%p2 bra A;\n@%p3 bra B;\n"
            "setp.lt.u32 %p9, %r1, 64;\n@%p9 bra B;\nexit;\n"
            "A: bar.sync 1, 96; //1\nexit;\n"
            "B: bar.warp.sync -1;\n"
            "W: mbarrier.try_wait.parity.shared.b64 %p8, [%r10], 0; //2\n"
            "@!%p8 bra W;",
            96);
  hang.expect(0, 79, "line @1@, cta (0,0,0), warp 0, lane 0",
              {"at which 32 threads of 96 have arrived",
               "warp 1 is at line @2@, warp 2 has exited"});
}

// The cause comes before those who wait for the culprit.
TEST(HangReport, ClusterBarrierBehindAnMbarrier) {
  Hang hang(
      BARRIERS EXPECT_BYTES("256") "@%p1 " BULK(
          "%rd5") "\n@%p4 bra E;\n"
                  "W: mbarrier.try_wait.parity.shared.b64 %p8, [%r10], 0; //1\n"
                  "@!%p8 bra W;\nE:\nbarrier.cluster.arrive.aligned;\n"
                  "barrier.cluster.wait.aligned; //2\n",
      32, 2);
  hang.expect(0, 6, "line @1@, cta (1,0,0), warp 0, lane 0",
              {"warp 0 of rank 1 at line"});
  hang.expect(1, 80, "line @2@, cta (0,0,0), warp 0, lane 0",
              {"not arrived: warp 0 of rank 1 is at line @1@"});
}

TEST(HangReport, HoldersOfColumns) {
  Hang hang("@%p2 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 "
            "[%r13], 256; //1\nbar.sync 0;\n@!%p2 tcgen05.alloc.cta_group::1."
            "sync.aligned.shared::cta.b32 [%r13+4], 128; //2\nbar.sync 0;\n"
            "@%p2 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 "
            "[%r13+8], 128;\nbar.sync 0;\n"
            "@%p2 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 "
            "[%r13+8], 32; //3\n",
            64);
  hang.expect(0, 57, "line @3@, cta (0,0,0), warp 0, lane 0",
              {"held are 256 columns from 0 on by warp 0 since the "
               "tcgen05.alloc at line @1@, 128 columns from 256 on by warp 1 "
               "since the tcgen05.alloc at line @2@, 128 columns from 384 on "
               "by warp 0"});
}

TEST(HangReport, ByteCountOfAnAnswer) {
  Hang hang(BARRIERS EXPECT_BYTES("32") TRY_CANCEL
            " //1\n"
            "W: mbarrier.try_wait.parity.shared.b64 %p8, [%r10], 0; //2\n"
            "@!%p8 bra W;",
            32);
  hang.expect(
      0, 84, "line @2@, cta (0,0,0), warp 0, lane 0",
      {"transaction bytes 16", "16 bytes of the try_cancel at line @1@"});
}

// Without strict mode the state of the object is still there.
TEST(HangReport, WithoutStrictMode) {
  Options options;
  options.strict = false;
  Hang hang(
      BARRIERS EXPECT_BYTES("384") "@%p1 " BULK(
          "%rd5") "\n"
                  "W: mbarrier.try_wait.parity.shared.b64 %p8, [%r10], 0; //3\n"
                  "@!%p8 bra W;",
      32, 1, options);
  hang.expect(0, 6, "line @3@, cta (0,0,0), warp 0, lane 0",
              {"(phase 0, expected arrivals 1, pending 0, transaction bytes "
               "256)"});
}

} // namespace
