//===- HazardsClustersTest.cpp - order between clusters -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// CTAs of different clusters that pass data on through global memory: flags,
// semaphores, barriers of the whole grid. Each mistake and its clean twin.
//
//===----------------------------------------------------------------------===//

#include "HazardCase.h"

using namespace blockscale::emulator;
using namespace blockscale::emulator::test;

namespace {

const char kModule[] = ".shared .align 128 .b64 bar[16];\n"
                       ".shared .align 128 .b8 buf[1024];\n"
                       ".shared .align 128 .b8 map[128];\n"
                       ".global .align 128 .b8 globalMap[128];\n";

/// %rd4 out, %rd5 in, %r10 barrier, %r12 buffer, %r5 CTAs; %p1 thread 0, %p5
/// CTA 1.
#define P                                                                      \
  "sub.s64 %rd4, %rd1, %rd3;\nsub.s64 %rd5, %rd2, %rd3;\n"                     \
  "mov.u32 %r10, bar;\nmov.u32 %r12, buf;\nmov.u32 %r5, %nctaid.x;\n"          \
  "setp.eq.u32 %p1, %r1, 0;\nsetp.eq.u32 %p5, %r2, 1;\n"
/// Polls a word at an offset of `out` until it has a value.
#define POLL(label, how, at, value)                                            \
  label ": ld." how ".global.u32 %r9, [%rd4+" at "];\n"                        \
        "setp.ne.u32 %p2, %r9, " value ";\n@%p2 bra " label ";\n"
/// Thread 0 of the CTA only.
#define ELECTED(label, text) "@!%p1 bra " label ";\n" text label ":\n"
/// CTA 0 leaves data in word 0 and sets a flag in word 1; one lane of CTA 1
/// sees it and goes on.
#define SEND(set) "@%p5 bra C;\n@%p1 st.global.b32 [%rd4], %r3;\n" set "\n"
#define RECEIVE(poll) "bra E;\nC: @!%p1 bra E;\n" poll
#define READ "ld.global.b32 %r9, [%rd4]; //! cta 1\nE:\n"
#define RELEASED "@%p1 st.release.gpu.global.b32 [%rd4+4], 1;"
#define ACQUIRED POLL("W", "acquire.gpu", "4", "1")
/// All CTAs have arrived at a counter, at %rd13.
#define GRID_BARRIER                                                           \
  "bar.sync 0;\n" ELECTED(                                                     \
      "GE", "fence.acq_rel.gpu;\nred.relaxed.gpu.global.add.u32 [%rd13], 1;\n" \
            "G: ld.relaxed.gpu.global.u32 %r9, [%rd13];\n"                     \
            "setp.lt.u32 %p2, %r9, %r5;\n@%p2 bra G;\n"                        \
            "fence.acq_rel.gpu;\n") "bar.sync 0;\n"
/// A map of 32 of the words of `in`, made by one lane in shared memory.
#define FIELD(name, value)                                                     \
  "tensormap.replace.tile." name ".shared::cta.b1024.b32 [map], " value ";\n"
#define MAP                                                                    \
  "mov.u64 %rd10, globalMap;\n@%p5 bra C;\n@!%p1 bra M;\n"                     \
  "tensormap.replace.tile.global_address.shared::cta.b1024.b64 [map], "        \
  "%rd5;\n" FIELD("rank", "0") FIELD("box_dim", "0, 32")                       \
      FIELD("global_dim", "0, 64") FIELD("element_stride", "0, 1")             \
          FIELD("elemtype", "2") FIELD("interleave_layout", "0")               \
              FIELD("swizzle_mode", "0")                                       \
                  FIELD("fill_mode", "0") "M: bar.warp.sync -1;\n"
#define SEND_MAP                                                               \
  "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release."     \
  "gpu.sync.aligned [%rd10], [map], 128;\n"
/// Plain stores of the same bytes, a word per lane.
#define STORE_MAP                                                              \
  "shl.b32 %r13, %r1, 2;\nmov.u32 %r14, map;\nadd.u32 %r14, %r14, %r13;\n"     \
  "ld.shared.b32 %r15, [%r14];\nadd.s64 %rd11, %rd10, %rd3;\n"                 \
  "st.global.b32 [%rd11], %r15;\n"
#define INIT "mbarrier.init.shared.b64 [%r10], 1;\n"
#define EXPECT "mbarrier.arrive.expect_tx.shared.b64 _, [%r10], 128;\n"
#define COPY                                                                   \
  "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r12], "     \
  "[%rd4], 128, [%r10];"
#define USE_MAP                                                                \
  INIT EXPECT "mov.b32 %r20, 0;\ncp.async.bulk.tensor.1d.shared::cta.global."  \
              "tile.mbarrier::complete_tx::bytes [%r12], [%rd10, {%r20}], "    \
              "[%r10]; //! cta 1\n" ARRIVED "E:\n"
#define ARRIVED                                                                \
  "V: mbarrier.try_wait.parity.shared.b64 %p2, [%r10], 0;\n@!%p2 bra V;\n"

/// `ctas` of one warp.
HazardCase one(unsigned ctas, const char *name, unsigned number,
               const char *text, const char *wrong, const char *right) {
  HazardCase c;
  c.name = name;
  c.number = number;
  c.module = kModule;
  c.text = text;
  c.wrong = wrong;
  c.right = right;
  c.ctas = ctas;
  c.threads = 32;
  return c;
}
/// Same, of two warps.
HazardCase blocks(unsigned ctas, const char *name, unsigned number,
                  const char *text, const char *wrong, const char *right) {
  HazardCase c = one(ctas, name, number, text, wrong, right);
  c.threads = 64;
  return c;
}
HazardCase inOneCluster(HazardCase c) {
  c.cluster = c.ctas;
  return c;
}
HazardCase dependent(HazardCase c) {
  c.fromPreviousGrid = true;
  return c;
}

const HazardCase kCases[] = {
    // Message passing: both sides have to order.
    one(2, "MessageWithoutRelease", 33,
        P SEND("@%p1 st.$.gpu.global.b32 [%rd4+4], 1;") RECEIVE(ACQUIRED) READ,
        "relaxed", "release"),
    one(2, "MessageWithoutAcquire", 33,
        P SEND(RELEASED) RECEIVE(POLL("W", "$.gpu", "4", "1")) READ, "relaxed",
        "acquire"),
    one(2, "AtomicsWithoutRelease", 33,
        P SEND("@%p1 atom.$.gpu.global.exch.b32 %r9, [%rd4+4], 1;")
            RECEIVE("W: atom.acquire.gpu.global.or.b32 %r9, [%rd4+4], 0;\n"
                    "setp.ne.u32 %p2, %r9, 1;\n@%p2 bra W;\n") READ,
        "relaxed", "release"),
    one(2, "AtomicsWithoutAcquire", 33,
        P SEND("@%p1 red.release.gpu.global.add.u32 [%rd4+4], 1;")
            RECEIVE("W: atom.$.gpu.global.or.b32 %r9, [%rd4+4], 0;\n"
                    "setp.ne.u32 %p2, %r9, 1;\n@%p2 bra W;\n") READ,
        "relaxed", "acquire"),
    // Of the readers of what nobody wrote, a few stand for all.
    one(6, "StoreOverWhatManyRead", 33,
        P "setp.eq.u32 %p3, %r2, 5;\nand.pred %p3, %p3, %p1;\n"
          "ld.global.b32 %r9, [%rd4];\n"
          "@%p3 st.global.b32 [%rd4+$], %r2; //! cta 5\n",
        "0", "4"),
    // Of halves of words each has its own.
    one(6, "StoreOverHalfThatManyRead", 33,
        P "setp.eq.u32 %p3, %r2, 5;\nand.pred %p3, %p3, %p1;\n"
          "ld.global.u16 %r9, [%rd4];\nld.global.u16 %r9, [%rd4+2];\n"
          "ld.global.b32 %r9, [%rd4];\n"
          "@%p3 st.global.b16 [%rd4+$], %r2; //! cta 5\n",
        "2", "4"),
    one(6, "StoreBesideHalfThatManyRead", 33,
        P "setp.eq.u32 %p3, %r2, 5;\nand.pred %p3, %p3, %p1;\n"
          "ld.global.u16 %r9, [%rd4];\n"
          "@%p3 st.global.b16 [%rd4+$], %r2; //! cta 5\n",
        "0", "2"),
    cooperative(6, one(6, "StoreOverHalfThatManyReadAgain", 33,
                       P "setp.eq.u32 %p3, %r2, 0;\nand.pred %p3, %p3, %p1;\n"
                         "add.s64 %rd13, %rd4, 256;\n"
                         "ld.global.u16 %r9, [%rd4];\n"
                         "ld.global.u16 %r9, [%rd4+2];\n" GRID_BARRIER
                         "ld.global.u16 %r9, [%rd4+$];\n"
                         "@%p3 st.global.b16 [%rd4+2], %r5; //! cta 0\n",
                       "2", "0")),
    // Those after a barrier of the grid are not those before.
    cooperative(6, one(6, "StoreOverWhatManyReadAgain", 33,
                       P "setp.eq.u32 %p3, %r2, 0;\nand.pred %p3, %p3, %p1;\n"
                         "add.s64 %rd13, %rd4, 256;\n"
                         "ld.global.b32 %r9, [%rd4];\n" GRID_BARRIER
                         "$\n@%p3 st.global.b32 [%rd4], %r5; //! cta 0\n",
                       "ld.global.b32 %r9, [%rd4];", "")),
    // A relaxed store over a released one says nothing.
    one(2, "ReleaseOverwritten", 33,
        P SEND(RELEASED "\n@%p1 st.$.gpu.global.b32 [%rd4+4], 2;\n")
            RECEIVE(POLL("W", "acquire.gpu", "4", "2")) READ,
        "relaxed", "release"),
    // A scope that leaves out the other side.
    one(2, "ReleaseOfCta", 33,
        P SEND("@%p1 st.release.$.global.b32 [%rd4+4], 1;") RECEIVE(ACQUIRED)
            READ,
        "cta", "gpu"),
    one(2, "ReleaseOfCluster", 33,
        P SEND("@%p1 st.release.$.global.b32 [%rd4+4], 1;") RECEIVE(ACQUIRED)
            READ,
        "cluster", "sys"),
    one(2, "AcquireOfCta", 33,
        P SEND(RELEASED) RECEIVE(POLL("W", "acquire.$", "4", "1")) READ, "cta",
        "gpu"),
    one(2, "ReleaseFenceOfCta", 33,
        P SEND("@%p1 fence.acq_rel.$;\n@%p1 st.relaxed.gpu.global.b32 "
               "[%rd4+4], 1;") RECEIVE(ACQUIRED) READ,
        "cta", "gpu"),
    one(2, "AcquireFenceOfCta", 33,
        P SEND(RELEASED)
            RECEIVE(POLL("W", "volatile", "4", "1")) "membar.$;\n" READ,
        "cta", "gl"),
    one(2, "CounterOfCta", 33,
        P "@%p5 bra C;\n@%p1 red.relaxed.gpu.global.add.u32 [%rd4], 1;\n"
          "bra E;\nC: @%p1 $\nE:\n",
        "red.relaxed.cta.global.add.u32 [%rd4], 1; //! cta 1",
        "red.relaxed.gpu.global.add.u32 [%rd4], 1;"),
    // Inside a cluster its scope is enough.
    inOneCluster(one(2, "ReleaseOfCtaInCluster", 33,
                     P SEND("@%p1 st.release.$.global.b32 [%rd4+4], 1;")
                         RECEIVE(POLL("W", "acquire.cluster", "4", "1")) READ,
                     "cta", "cluster")),
    // Warps of one CTA.
    blocks(1, "FlagInCta", 33,
           P "setp.lt.u32 %p3, %r1, 32;\n@!%p3 bra C;\n"
             "@%p1 st.global.b32 [%rd4], %r3;\n"
             "@%p1 fence.acq_rel.cta;\n@%p1 st.relaxed.gpu.global.b32 "
             "[%rd4+4], 1;\nbra E;\nC:\n" POLL(
                 "W", "$.cta", "4",
                 "1") "ld.global.b32 %r9, [%rd4]; //! warp 1\nE:\n",
           "relaxed", "acquire"),
    blocks(1, "FlagAndFenceInCta", 33,
           P "setp.lt.u32 %p3, %r1, 32;\n@!%p3 bra C;\n"
             "@%p1 st.global.b32 [%rd4], %r3;\n"
             "@%p1 st.release.gpu.global.b32 [%rd4+4], 1;\nbra E;\nC:\n" POLL(
                 "W", "relaxed.gpu", "4",
                 "1") "$\nld.global.b32 %r9, [%rd4]; //! warp 1\nE:\n",
           "", "fence.acq_rel.cta;"),
    // Each CTA in its turn adds to a tile.
    blocks(4, "SemaphoreWithoutRelease", 33,
           P ELECTED(
               "S",
               POLL("W", "acquire.gpu", "400",
                    "%r2")) "bar.sync 0;\nmul.wide.u32 %rd6, %r1, 4;\n"
                            "add.s64 %rd6, %rd4, %rd6;\nld.global.b32 %r9, "
                            "[%rd6]; //! cta 1, warp 1\n"
                            "add.u32 %r9, %r9, %r4;\nst.global.b32 [%rd6], "
                            "%r9;\nbar.sync 0;\n"
                            "@%p1 red.$.gpu.global.add.u32 [%rd4+400], 1;\n",
           "relaxed", "release"),
    blocks(
        4,
        "SemaphoreWithoutBarrier", 33,
        P ELECTED(
            "S",
            POLL("W", "acquire.gpu", "400",
                 "%r2")) "bar.sync 0;\nmul.wide.u32 %rd6, %r1, 4;\n"
                         "add.s64 %rd6, %rd4, %rd6;\nld.global.b32 %r9, "
                         "[%rd6]; //! cta 1, warp 1\n"
                         "add.u32 %r9, %r9, %r4;\nst.global.b32 [%rd6], "
                         "%r9;\n$\n"
                         "@%p1 red.release.gpu.global.add.u32 [%rd4+400], 1;\n",
        "", "bar.sync 0;"),
    // CTAs 1 to 3 leave partial tiles, CTA 0 adds them up.
    blocks(
        4,
        "FixUpWithoutBarrier", 33,
        P "setp.eq.u32 %p6, %r2, 0;\n@%p6 bra OWNER;\n"
          "st.global.b32 [%rd1], %r4;\n$\nmul.wide.u32 %rd6, %r2, 4;\n"
          "add.s64 %rd6, %rd4, %rd6;\n"
          "@%p1 st.release.gpu.global.b32 [%rd6], 1;\nbra E;\nOWNER:\n" ELECTED(
              "S", POLL("W1", "acquire.gpu", "4", "1")
                       POLL("W2", "acquire.gpu", "8", "1") POLL(
                           "W3", "acquire.gpu", "12",
                           "1")) "bar.sync 0;\nld.global.b32 %r9, [%rd1+256]; "
                                 "//! warp 1\n"
                                 "ld.global.b32 %r9, "
                                 "[%rd1+512];\nld.global.b32 %r9, [%rd1+768];\n"
                                 "E:\n",
        "", "bar.sync 0;"),
    blocks(
        4,
        "FixUpOfOneWithoutWait", 33,
        P "setp.eq.u32 %p6, %r2, 0;\n@%p6 bra OWNER;\n"
          "st.global.b32 [%rd1], %r4;\nbar.sync 0;\n"
          "mul.wide.u32 %rd6, %r2, 4;\nadd.s64 %rd6, %rd4, %rd6;\n"
          "@%p1 st.release.gpu.global.b32 [%rd6], 1;\nbra E;\nOWNER:\n" ELECTED(
              "S",
              POLL("W1", "acquire.gpu", "4", "1") POLL("W2", "$.gpu", "8", "1")
                  POLL("W3", "acquire.gpu", "12",
                       "1")) "bar.sync 0;\nld.global.b32 %r9, [%rd1+256];\n"
                             "ld.global.b32 %r9, [%rd1+512]; //!\n"
                             "ld.global.b32 %r9, [%rd1+768];\nE:\n",
        "relaxed", "acquire"),
    // Each CTA takes the sum of those before it, and sees the first one's word
    // through all of them.
    one(8, "LookBackWithoutFence", 33,
        P "@!%p1 bra E;\nmov.b32 %r11, 1;\nsetp.eq.u32 %p6, %r2, 0;\n"
          "@%p6 bra F;\n"
          "W: ld.volatile.global.u32 %r9, [%rd1+-124];\n"
          "setp.ne.u32 %p2, %r9, 1;\n@%p2 bra W;\n$\n"
          "ld.global.b32 %r11, [%rd1+-128]; //! cta 1\nadd.u32 %r11, %r11, 1;\n"
          "ld.global.b32 %r9, [%rd4];\n"
          "F: st.global.b32 [%rd1], %r11;\nmembar.gl;\n"
          "st.volatile.global.b32 [%rd1+4], 1;\nE:\n",
        "", "membar.gl;"),
    // A barrier of the grid, and reductions that keep what they find.
    blocks(5, "GridBarrierMissing", 33,
           P "add.s64 %rd13, %rd4, 4;\n@%p1 st.global.b32 [%rd1], %r2; //! cta "
             "1\n$\n"
             "add.u32 %r11, %r2, 1;\nrem.u32 %r11, %r11, %r5;\n"
             "mul.wide.u32 %rd6, %r11, 256;\nadd.s64 %rd6, %rd4, %rd6;\n"
             "@%p1 ld.global.b32 %r9, [%rd6];\n",
           "bar.sync 0;", GRID_BARRIER),
    // Generic stores reach the async proxy after a fence on either side.
    one(2, "ProxyFenceBetweenClusters", 19,
        P SEND(RELEASED) RECEIVE(ACQUIRED) "$\n" INIT EXPECT COPY
                                           " //! cta 1\n" ARRIVED "E:\n",
        "", "fence.proxy.async;"),
    // An asynchronous read is over when its mbarrier says so.
    one(2, "CopiedOver", 33,
        P "@!%p1 bra E;\n@%p5 bra C;\n" INIT EXPECT COPY
          "\n$\nst.relaxed.gpu.global.b32 [%rd4+256], 1;\n" ARRIVED
          "bra E;\nC:\n" POLL("W", "acquire.gpu", "256",
                              "1") "st.global.b32 [%rd4], %r3; //! cta 1\nE:\n",
        "fence.acq_rel.gpu;",
        "U: mbarrier.try_wait.parity.shared.b64 %p2, [%r10], 0;\n"
        "@!%p2 bra U;\nfence.acq_rel.gpu;"),
    // What .nc has read may not change, before or after.
    one(2, "NonCoherentBefore", 34,
        P "@!%p1 bra E;\n@%p5 bra C;\nld.global.nc.b32 %r9, [%rd4];\n"
          "st.release.gpu.global.b32 [%rd4+4], 1;\nbra E;\nC:\n" POLL(
              "W", "$.gpu", "4",
              "1") "st.global.b32 [%rd4], %r3; //! cta 1\nE:\n",
        "relaxed", "acquire"),
    one(2, "NonCoherentAfter", 34,
        P SEND(RELEASED)
            RECEIVE(ACQUIRED) "ld.global$.b32 %r9, [%rd4]; //! cta 1\n"
                              "E:\n",
        ".nc", ""),
    // A map that another cluster has made.
    one(2, "MapWithoutAcquire", 35,
        P MAP SEND_MAP RELEASED "\n" RECEIVE(ACQUIRED) "$\n" USE_MAP, "",
        "fence.proxy.tensormap::generic.acquire.gpu [%rd10], 128;"),
    one(2, "MapWithoutRelease", 35,
        P MAP STORE_MAP "$\nbar.warp.sync -1;\n" RELEASED "\n" RECEIVE(
            ACQUIRED) "fence.proxy.tensormap::generic.acquire.gpu [%rd10], "
                      "128;\n" USE_MAP,
        "", "fence.proxy.tensormap::generic.release.gpu;"),
    // The wait of one CTA for the grid before is good for those after it.
    dependent(
        one(2, "PreviousGridThroughAnother", 36,
            P SEND("@%p1 griddepcontrol.wait;\n@%p1 st.$.gpu.global.b32 "
                   "[%rd4+4], 1;")
                RECEIVE(ACQUIRED) "ld.global.b32 %r9, [%rd5]; //! cta 1\nE:\n",
            "relaxed", "release")),
};

INSTANTIATE_TEST_SUITE_P(Clusters, Hazards,
                         testing::ValuesIn(listed(kCases, plainKernel)),
                         nameOf);

/// Each round every CTA adds up the words of its neighbours in the round
/// before; `skipped` has no barrier after it. Each barrier has its counter: a
/// late look at that of an earlier round must not order what comes after it.
std::string rounds(const char *count, const char *skipped) {
  return P
         "add.s64 %rd13, %rd4, 3072;\nmov.b32 %r21, 0;\nadd.u32 %r11, %r2, 1;\n"
         "rem.u32 %r11, %r11, %r5;\nmul.wide.u32 %rd6, %r2, 4;\n"
         "mul.wide.u32 %rd7, %r11, 4;\nadd.s64 %rd8, %rd4, 1024;\n"
         "add.s64 %rd9, %rd4, 2048;\n"
         "L: add.s64 %rd10, %rd8, %rd7;\nadd.s64 %rd11, %rd8, %rd6;\n"
         "add.s64 %rd12, %rd9, %rd6;\n"
         "@%p1 ld.global.b32 %r13, [%rd10];\n"
         "@%p1 ld.global.b32 %r14, [%rd11];\n"
         "@%p1 add.u32 %r13, %r13, %r14;\n@%p1 add.u32 %r13, %r13, 1;\n"
         "@%p1 st.global.b32 [%rd12], %r13;\n"
         "setp.eq.u32 %p4, %r21, " +
         std::string(skipped) +
         ";\n@%p4 bra SKIP;\n" GRID_BARRIER
         "SKIP: mov.u64 %rd10, %rd8;\nmov.u64 %rd8, %rd9;\n"
         "mov.u64 %rd9, %rd10;\nadd.s64 %rd13, %rd13, 4;\nadd.u32 %r21, %r21, "
         "1;\n"
         "setp.lt.u32 %p4, %r21, " +
         count + ";\n@%p4 bra L;\n";
}

/// Memory with the words of round 0.
std::vector<uint32_t> start(uint32_t ctas) {
  std::vector<uint32_t> out(1024);
  for (uint32_t i = 0; i != ctas; ++i)
    out[256 + i] = i * i % 31;
  return out;
}

RunResult runRounds(const char *count, const char *skipped,
                    std::vector<uint32_t> &out, unsigned threads,
                    uint32_t ctas) {
  Launch launch;
  launch.kernel = "k";
  launch.grid.x = ctas;
  launch.block.x = 64;
  launch.buffers = {bufferOf(out)};
  launch.arguments = {BufferArgument{0, 0}, BufferArgument{0, 0}};
  Options options;
  options.threads = threads;
  return runText(body(rounds(count, skipped), kModule), launch, options);
}

/// What is known of a grid does not grow with its barriers. Sanitizers see it
/// all in fewer of them.
TEST(HazardGrid, ManyBarriers) {
#ifdef BLOCKSCALE_SANITIZED
  constexpr uint32_t kRounds = 20;
#else
  constexpr uint32_t kRounds = 100;
#endif
  constexpr uint32_t kCtas = 64;
  const std::string count = std::to_string(kRounds);
  for (unsigned threads : {1u, 2u}) {
    std::vector<uint32_t> out = start(kCtas), next(kCtas),
                          words(out.begin() + 256, out.begin() + 256 + kCtas);
    expectClean(runRounds(count.c_str(), "1000", out, threads, kCtas));
    for (uint32_t round = 0; round != kRounds; ++round, words = next)
      for (uint32_t i = 0; i != kCtas; ++i)
        next[i] = words[i] + words[(i + 1) % kCtas] + 1;
    for (uint32_t i = 0; i != kCtas; ++i)
      EXPECT_EQ(out[256 + i], words[i]) << i;
  }
}

TEST(HazardGrid, OneBarrierOfManyMissing) {
  std::vector<uint32_t> out = start(16);
  RunResult result = runRounds("100", "57", out, 1, 16);
  ASSERT_FALSE(result.clean());
  EXPECT_EQ(result.findings.front().hazard, 33u)
      << toString(result.findings.front());
}

/// A race of two clusters: what the first and the second do with one word. One
/// host thread runs them in this order; with two either may be the later one.
RunResult raceOf(const std::string &text) {
  Options options;
  options.threads = 1;
  return runBody(text, {}, 1, 2, options).result;
}

/// Both accesses are named, the later one as the place.
TEST(HazardGrid, NamesBothLines) {
  const std::string load = "ld.global.b32 %r9, [%rd4];\n",
                    store = "st.global.b32 [%rd4], 7;\n";
  for (bool storeFirst : {true, false}) {
    const std::string &first = storeFirst ? store : load,
                      &second = storeFirst ? load : store;
    std::string text = "sub.s64 %rd4, %rd1, %rd3;\nsetp.eq.u32 %p5, %r2, 1;\n"
                       "@%p5 bra C;\n" +
                       first + "bra E;\nC: " + second + "E:\n";
    std::string whole = body(text);
    auto lineOf = [&](const std::string &what) {
      auto end = whole.begin() + long(whole.find(what));
      return uint32_t(1 + std::count(whole.begin(), end, '\n'));
    };
    RunResult result = raceOf(text);
    ASSERT_EQ(result.findings.size(), 1u);
    EXPECT_EQ(result.findings[0].hazard, 33u);
    EXPECT_EQ(result.findings[0].line, lineOf(second));
    EXPECT_EQ(result.findings[0].message,
              std::string(storeFirst
                              ? "read of what a thread of cluster 0 wrote"
                              : "write over what a thread of cluster 0 "
                                "read") +
                  " at line " + std::to_string(lineOf(first)) +
                  ", without an edge between the two");
  }
}

/// Warp 1 writes a word and exits; warp 0 reads it behind a cluster barrier
/// that only warps that are left arrive at.
RunResult runExit(const std::string &beforeTheWrite) {
  const std::string meet = "barrier.cluster.arrive;\nbarrier.cluster.wait;\n";
  return runBody(meet + "setp.ge.u32 %p1, %r1, 32;\n@%p1 bra W;\n" + meet +
                     "ld.shared.b32 %r5, [word];\n"
                     "st.global.b32 [%rd1], %r5;\nbra E;\nW:\n" +
                     beforeTheWrite +
                     "setp.eq.u32 %p2, %r1, 32;\n"
                     "@%p2 st.shared.b32 [word], %r1;\nexit;\nE:\n",
                 {}, 64, 2, {}, 2, ".shared .b32 word;\n")
      .result;
}

TEST(HazardsClusters, ExitArrivesAtTheBarrier) {
  // PTX ISA, exit: exiting threads release a barrier that waits for all.
  expectClean(runExit(""));
  // What follows an arrival of one's own is not ordered by it.
  RunResult raced = runExit("barrier.cluster.arrive;\n");
  EXPECT_EQ(firstKind(raced), FindingKind::Race);
}

} // namespace
