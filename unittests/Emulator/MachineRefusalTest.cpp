//===- MachineRefusalTest.cpp - what is refused, and what never ends ------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Malformed kernels are refused before the run with their line; resources that
// run out, calls that never meet and registers that nothing writes are found
// during it. Each error has a twin that is clean.
//
//===----------------------------------------------------------------------===//

#include "MachineHarness.h"

using namespace blockscale::emulator;
using namespace blockscale::emulator::test;

namespace {

/// The body's instructions begin on this line of the text.
constexpr uint32_t kFirstLine = 21;

Finding firstOf(const RunResult &result) {
  return result.findings.empty() ? Finding{FindingKind::Launch, "none"}
                                 : result.findings.front();
}

/// One instruction that must be refused, and a part of the reason.
struct Refusal {
  const char *instruction, *reason;
};

const Refusal kRefusals[] = {
    {"add.s32 %rd5, %r5, %r6;", "expected 32"},
    {"add.s64 %rd5, %r5, %rd6;", "expected 64"},
    {"fma.rn.f32 %f1, %f2, %rd3, %f4;", "expected 32"},
    {"ld.global.v4.b32 {%r5, %r6, %r7}, [%rd1];", "vector length"},
    {"st.global.v2.b32 [%rd1], {%r5, %r6, %r7};", "vector length"},
    {"st.global.v2.b32 [%rd1], {%r5, _};", "operand is not a value"},
    {"ld.global.b32 %r5, [%h1];", "address register"},
    {"mbarrier.init.shared::cta.b64 [%r5], %rd6;", "expected 32"},
    {"shfl.sync.idx.b32 %r5, %rd6, 0, 31, -1;", "expected 32"},
    {"atom.global.add.u32 %r5, [%rd1], %rd6;", "expected 32"},
    {"tcgen05.ld.sync.aligned.32x32b.x4.b32 {%r5, %r6, %r7}, [%r8];",
     "expected 4 registers, found 3"},
    {"ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r5, %r6}, [%r8];",
     "expected 4 registers, found 2"},
    {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3}, "
     "{%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f1, %f2, %f3, %f4};",
     "registers"},
    {"setmaxnreg.inc.sync.aligned.u32 257;", "multiple of 8 in 24..256"},
};

TEST(MachineRefusal, MalformedInstructionsNameTheirLine) {
  for (const Refusal &one : kRefusals) {
    Simple s = runBody(one.instruction);
    Finding finding = firstOf(s.result);
    EXPECT_EQ(finding.kind, FindingKind::Unsupported) << one.instruction;
    EXPECT_NE(finding.message.find(one.reason), std::string::npos)
        << one.instruction << ": " << finding.message;
    EXPECT_EQ(finding.line, kFirstLine) << one.instruction;
    EXPECT_EQ(s.result.counters.instructions, 0u);
    EXPECT_EQ(s.out[0], 0xAAAAAAAAu);
  }
}

TEST(MachineRefusal, AddressesWrapAround) {
  Simple s = runBody("ld.shared.u32 %r5, [words+9223372036854775804];", {}, 32,
                     1, {}, 1, ".shared .align 4 .b8 words[16];\n");
  EXPECT_EQ(firstOf(s.result).kind, FindingKind::OutOfBounds);
}

TEST(MachineRefusal, DeclarationsAreBounded) {
  auto refused = [](const std::string &module, const std::string &body) {
    return firstOf(runBody(body, {}, 32, 1, {}, 1, module).result).message;
  };
  EXPECT_EQ(refused(".global .align 4 .b8 big[4294967295];\n", ""),
            "more than 268435456 bytes of global variables");
  EXPECT_EQ(refused(".const .align 4 .b8 big[1000000];\n", ""),
            "more than 655360 bytes of constant memory");
  EXPECT_EQ(refused(".shared .align 4 .b8 big[4000000000];\n", ""),
            "more than 1048576 bytes of shared memory");
  EXPECT_EQ(refused("", ".local .align 4 .b8 big[1000000];\n"),
            "more than 524288 bytes of local memory per thread");
  EXPECT_EQ(refused("", ".reg .b64 %wide<200000>;\n"),
            "the registers of the kernel and its functions take more than "
            "33554432 bytes per warp");
  expectClean(runBody(".local .align 4 .b8 some[65536];\n"
                      ".reg .b64 %wide<1000>;\n",
                      {}, 32, 1, {}, 1, ".global .align 4 .b8 some[65536];\n")
                  .result);
}

TEST(MachineRefusal, GridIsBounded) {
  Launch launch;
  launch.kernel = "k";
  launch.grid = {0x7FFFFFFF, 65535, 65535};
  launch.arguments = {scalar(uint64_t(0)), scalar(uint64_t(0))};
  RunResult result = runText(body(""), launch);
  EXPECT_EQ(firstKind(result), FindingKind::Launch);
}

const char kPrint[] = ".extern .func (.param .b32 r) vprintf"
                      "(.param .b64 f, .param .b64 a);\n";

std::string printed(const std::string &format) {
  std::string bytes, out;
  for (char c : format)
    bytes += std::to_string(int(c)) + ", ";
  Options options;
  options.print = [&](std::string_view text) { out += text; };
  Simple s = runBody(
      ".param .b64 pf;\n.param .b64 pa;\n.param .b32 pr;\n"
      ".local .align 8 .b8 stack[16];\n"
      "mov.u64 %rd9, stack;\ncvta.local.u64 %rd9, %rd9;\n"
      "mov.u32 %r9, 7;\nst.local.b32 [stack], %r9;\n"
      "st.local.b32 [stack+4], %r9;\nmov.u64 %rd10, 7000000000;\n"
      "st.local.b64 [stack+8], %rd10;\n"
      "mov.u64 %rd8, text;\ncvta.global.u64 %rd8, %rd8;\n"
      "st.param.b64 [pf], %rd8;\nst.param.b64 [pa], %rd9;\n"
      "call.uni (pr), vprintf, (pf, pa);\n",
      {}, 1, 1, options, 1,
      std::string(kPrint) + ".global .align 1 .b8 text[" +
          std::to_string(format.size() + 1) + "] = {" + bytes + "0};\n");
  expectClean(s.result);
  return out;
}

TEST(MachineRefusal, FormatsOfThePrintReachTheHostOnlyWhenPlain) {
  EXPECT_EQ(printed("v=%03d;"), "v=007;");
  EXPECT_EQ(printed("%hd %ld"), "7 7000000000");
  // A host's printf would write through the pointer or read a width.
  EXPECT_EQ(printed("%n d"), "%n d");
  EXPECT_EQ(printed("%*d"), "%*d");
  EXPECT_EQ(printed("%999999999d"), "%999999999d");
}

TEST(MachineRefusal, ExternalCallsTakeParametersOnly) {
  Simple s = runBody(".param .b32 pr;\n.param .b64 pf;\n"
                     "call.uni (pr), vprintf, (pf, far);\n",
                     {}, 1, 1, {}, 1,
                     std::string(kPrint) + ".global .align 8 .b8 far[8];\n");
  EXPECT_EQ(firstOf(s.result).kind, FindingKind::Unsupported);
}

//===----------------------------------------------------------------------===//
// Registers that nothing writes
//===----------------------------------------------------------------------===//

TEST(NeverWritten, RegisterStored) {
  Simple s = runBody("add.s32 %r6, %r5, 1;\nst.global.b32 [%rd1], %r6;");
  EXPECT_EQ(firstKind(s.result), FindingKind::Uninitialised);
  EXPECT_EQ(firstOf(s.result).line, kFirstLine + 1);
}

TEST(NeverWritten, RegisterInAnAddress) {
  Simple s = runBody("ld.global.b32 %r6, [%rd9];");
  EXPECT_EQ(firstKind(s.result), FindingKind::Uninitialised);
  EXPECT_EQ(firstOf(s.result).line, kFirstLine);
}

TEST(NeverWritten, Predicate) {
  Simple s = runBody("@%p5 bra L;\nmov.u32 %r5, 1;\nL:");
  EXPECT_EQ(firstKind(s.result), FindingKind::Uninitialised);
}

TEST(NeverWritten, ValueThatNobodyUsesIsNoError) {
  Simple s = runBody("add.s32 %r6, %r5, 1;\nmov.u32 %r7, 3;\n"
                     "st.global.b32 [%rd1], %r7;");
  expectClean(s.result);
  EXPECT_EQ(s.out[31], 3u);
}

TEST(NeverWritten, RegisterWrittenInOneBranchOnlyIsNoError) {
  Simple s = runBody("setp.ge.u32 %p1, %r1, 0;\n@%p1 mov.u32 %r5, 4;\n"
                     "st.global.b32 [%rd1], %r5;");
  expectClean(s.result);
  EXPECT_EQ(s.out[7], 4u);
}

//===----------------------------------------------------------------------===//
// Shared resources
//===----------------------------------------------------------------------===//

TEST(RegisterPool, IncreaseWaitsForDecreases) {
  // 384 threads of 168: the pool is empty until warps 0..3 give back 144 each.
  std::string text = "setp.lt.u32 %p1, %r1, 128;\n@%p1 bra FEW;\n"
                     "setmaxnreg.inc.sync.aligned.u32 240;\nbra DONE;\nFEW:\n"
                     "setmaxnreg.dec.sync.aligned.u32 24;\nDONE:\n"
                     "st.global.b32 [%rd1], %r1;";
  Simple s = runBody(text, {}, 384);
  expectClean(s.result);
  EXPECT_EQ(s.out[383], 383u);
}

TEST(RegisterPool, MoreThanThereIsDeadlocks) {
  std::string text = "setp.lt.u32 %p1, %r1, 128;\n@%p1 bra FEW;\n"
                     "setmaxnreg.inc.sync.aligned.u32 248;\nbra DONE;\nFEW:\n"
                     "setmaxnreg.dec.sync.aligned.u32 24;\nDONE:";
  Simple s = runBody(text, {}, 384);
  EXPECT_EQ(firstKind(s.result), FindingKind::Deadlock);
  EXPECT_NE(firstOf(s.result).message.find("setmaxnreg.inc"),
            std::string::npos);
}

std::string pairText(const std::string &columnsOfRank1, bool both) {
  std::string guard = both ? "" : "@%p1 bra DONE;\n";
  return ".shared .align 4 .b32 slot;\nmov.u32 %r5, slot;\n"
         "mov.u32 %r6, %cluster_ctarank;\nsetp.ne.u32 %p1, %r6, 0;\n"
         "mov.u32 %r7, 64;\n@%p1 mov.u32 %r7, " +
         columnsOfRank1 +
         ";\nbarrier.cluster.arrive.aligned;\n"
         "barrier.cluster.wait.aligned;\n" +
         guard +
         "tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%r5], %r7;\n"
         "ld.shared.b32 %r8, [%r5];\n"
         "tcgen05.dealloc.cta_group::2.sync.aligned.b32 %r8, %r7;\nDONE:\n"
         "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;";
}

TEST(PairAllocation, CallsOfBothCtasMeet) {
  expectClean(runBody(pairText("64", true), {}, 32, 2, {}, 2).result);
}

TEST(PairAllocation, PeerThatNeverCallsIsADeadlock) {
  Simple s = runBody(pairText("64", false), {}, 32, 2, {}, 2);
  EXPECT_EQ(firstKind(s.result), FindingKind::Deadlock);
  EXPECT_NE(firstOf(s.result).message.find("tcgen05.alloc"), std::string::npos);
}

TEST(PairAllocation, DifferentColumnsAreAnError) {
  Simple s = runBody(pairText("128", true), {}, 32, 2, {}, 2);
  EXPECT_EQ(firstKind(s.result), FindingKind::TensorMemory);
  EXPECT_NE(firstOf(s.result).message.find("meets tcgen05.alloc of"),
            std::string::npos);
}

//===----------------------------------------------------------------------===//
// Threads of the host
//===----------------------------------------------------------------------===//

TEST(HostThreads, ResultsAndCountersDoNotDependOnThem) {
  std::string text = "mov.u32 %r5, 0;\nAGAIN:\nmad.lo.u32 %r5, %r5, 5, %r4;\n"
                     "add.u32 %r6, %r6, 1;\nsetp.lt.u32 %p1, %r6, %r4;\n"
                     "@%p1 bra AGAIN;\nst.global.b32 [%rd1], %r5;";
  text = "mov.u32 %r6, 0;\n" + text;
  std::vector<uint32_t> first;
  Counters counters;
  for (unsigned threads : {1u, 2u, 5u}) {
    Options options;
    options.threads = threads;
    Simple s = runBody(text, {}, 64, 24, options, 2);
    expectClean(s.result);
    if (first.empty()) {
      first = s.out;
      counters = s.result.counters;
    }
    EXPECT_EQ(s.out, first);
    EXPECT_EQ(s.result.counters.instructions, counters.instructions);
    EXPECT_EQ(s.result.counters.clusters, 12u);
  }
}

//===----------------------------------------------------------------------===//
// Loops that wait
//===----------------------------------------------------------------------===//

/// CTA 0 polls the word that CTA 1 sets after a while; others do nothing.
std::string flagText(const char *poll, bool set) {
  return std::string("ld.param.u64 %rd5, [out];\nmov.u32 %r9, 0;\n"
                     "setp.eq.u32 %p1, %r2, 0;\n@%p1 bra WAIT;\n"
                     "setp.ne.u32 %p2, %r2, 1;\n@%p2 bra DONE;\n"
                     "WORK:\nadd.u32 %r9, %r9, 1;\n"
                     "setp.lt.u32 %p3, %r9, 300000;\n@%p3 bra WORK;\n") +
         (set ? "mov.u32 %r5, 1;\nst.release.gpu.global.b32 [%rd5], %r5;\n"
              : "") +
         "bra DONE;\nWAIT:\n" + poll +
         "setp.ne.u32 %p4, %r6, 1;\n@%p4 bra WAIT;\nDONE:";
}
const char kLoad[] = "ld.acquire.gpu.global.b32 %r6, [%rd5];\n";
const char kCas[] = "mov.u32 %r7, 1;\n"
                    "atom.global.cas.b32 %r6, [%rd5], %r7, %r7;\n";
const char kSleep[] = "nanosleep.u32 100;\n"
                      "ld.acquire.gpu.global.b32 %r6, [%rd5];\n";

TEST(Spin, FlagOfALaterCtaIsSeenWithAnyNumberOfThreads) {
  for (const char *poll : {kLoad, kCas, kSleep})
    for (unsigned threads : {1u, 2u, 3u}) {
      Options options;
      options.threads = threads;
      Simple s = runBody(flagText(poll, true), {}, 32, 4, options);
      expectClean(s.result);
      EXPECT_EQ(s.result.counters.clusters, 4u);
      EXPECT_EQ(s.out[0], 1u);
    }
}

TEST(Spin, FlagThatNobodySetsIsADeadlock) {
  for (const char *poll : {kLoad, kCas, kSleep})
    for (unsigned threads : {1u, 3u}) {
      Options options;
      options.threads = threads;
      Simple s = runBody(flagText(poll, false), {}, 32, 4, options);
      ASSERT_EQ(firstKind(s.result), FindingKind::Deadlock) << poll;
      EXPECT_EQ(firstOf(s.result).cta[0], 0u);
      EXPECT_EQ(firstOf(s.result).warp, 0);
    }
}

TEST(Spin, LoopThatCountsIsNoDeadlock) {
  Simple s = runBody("mov.u32 %r9, 0;\nWORK:\nadd.u32 %r9, %r9, 1;\n"
                     "setp.lt.u32 %p3, %r9, 2000000;\n@%p3 bra WORK;\n"
                     "st.global.b32 [%rd1], %r9;");
  expectClean(s.result);
  EXPECT_EQ(s.out[0], 2000000u);
}

TEST(HostThreads, FindingsAreOrderedByCluster) {
  for (unsigned threads : {1u, 3u}) {
    Options options;
    options.threads = threads;
    // A tensor-memory leak does not stop the other clusters.
    Simple s = runBody(
        ".shared .align 4 .b32 slot;\nmov.u32 %r5, slot;\n"
        "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r5], 32;",
        {}, 32, 4, options);
    ASSERT_EQ(s.result.findings.size(), 4u);
    for (uint32_t cta = 0; cta != 4; ++cta)
      EXPECT_EQ(s.result.findings[cta].cta[0], cta);
  }
}

} // namespace
