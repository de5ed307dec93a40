//===- HazardsTest.cpp - each hazard, and the kernel that avoids it -------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Entries 1 to 39 of the catalogue, and 89.
//
//===----------------------------------------------------------------------===//

#include "HazardCase.h"

using namespace blockscale::emulator;
using namespace blockscale::emulator::test;

namespace {

const char kModule[] = ".shared .align 128 .b64 bar[16];\n"
                       ".shared .align 128 .b8 buf[1024];\n"
                       ".shared .align 128 .b8 map[128];\n"
                       ".shared .align 16 .b32 slot[4];\n"
                       ".global .align 128 .b8 globalMap[128];\n";

/// %rd4 out, %rd5 in, %r10 barrier, %r11 word of the thread in the buffer,
/// %r12 buffer, %r15 second barrier; %p1 thread 0, %p3 thread 32, %p4 warp 0,
/// %p5 CTA 1, %p6 thread 0 of CTA 0, %p9 nobody.
#define P                                                                      \
  "sub.s64 %rd4, %rd1, %rd3;\nsub.s64 %rd5, %rd2, %rd3;\nmov.u32 %r10, bar;\n" \
  "mov.u32 %r12, buf;\nshl.b32 %r11, %r1, 2;\nadd.u32 %r11, %r11, %r12;\n"     \
  "add.u32 %r15, %r10, 8;\nsetp.eq.u32 %p1, %r1, 0;\n"                         \
  "setp.eq.u32 %p3, %r1, 32;\nsetp.lt.u32 %p4, %r1, 32;\n"                     \
  "setp.eq.u32 %p5, %r2, 1;\nsetp.eq.u32 %p6, %r4, 0;\n"                       \
  "setp.gt.u32 %p9, %r1, 5000;\n"
/// The barrier is live with a count.
#define INIT(n) P "@%p1 mbarrier.init.shared.b64 [%r10], " #n ";\nbar.sync 0;\n"
#define INIT2                                                                  \
  P "@%p1 mbarrier.init.shared.b64 [%r10], 1;\n"                               \
    "@%p1 mbarrier.init.shared.b64 [%r15], 1;\nbar.sync 0;\n"
#define ARRIVE "mbarrier.arrive.shared.b64 _, [%r10];"
#define EXPECT(n)                                                              \
  "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r10], " n ";\n"
#define COPY                                                                   \
  "@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "    \
  "[%r12], [%rd5], 128, [%r10];"
#define WAIT(label, parity)                                                    \
  #label ": mbarrier.try_wait.parity.shared.b64 %p2, [%r10], " parity ";\n"    \
         "@!%p2 bra " #label ";\n"
#define READ "ld.shared.b32 %r9, [%r12];"
#define CLUSTER                                                                \
  "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n"
#define FENCE "fence.proxy.async.shared::cta;\n"
#define STORE                                                                  \
  "@%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd4], [%r12], 256;"
#define COMMIT "@%p1 cp.async.bulk.commit_group;\n"
#define DRAIN "@%p1 cp.async.bulk.wait_group 0;\n"
/// The buffer is written and fenced.
#define FILL "st.shared.b32 [%r11], %r1;\n" FENCE "bar.sync 0;\n"
/// Warp 0 copies a tile from the buffer to tensor memory at %r14.
#define TENSOR_COPY                                                            \
  "mov.u32 %r13, slot;\n@%p4 tcgen05.alloc.cta_group::1.sync.aligned."         \
  "shared::cta.b32 [%r13], 32;\nbar.sync 0;\nld.shared.b32 %r14, [%r13];\n"    \
  "cvt.u64.u32 %rd9, %r12;\nand.b64 %rd9, %rd9, 262143;\n"                     \
  "shr.u64 %rd9, %rd9, 4;\nor.b64 %rd9, %rd9, 0x0000400800000000;\n"           \
  "@%p1 tcgen05.cp.cta_group::1.32x128b.warpx4 [%r14], %rd9;\n"
#define FREE                                                                   \
  "bar.sync 0;\n@%p4 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r14, "     \
  "32;\n"
#define TENSOR_COMMIT(bar)                                                     \
  "@%p1 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster."    \
  "b64 [" bar "];\n"
/// The fields of a 1-D map of 64 words, box of 32, by warp 0, copied to global
/// memory at %rd10.
#define FIELD(name, value)                                                     \
  "@%p1 tensormap.replace.tile." name ".shared::cta.b1024.b32 [map], " value   \
  ";\n"
#define MAP                                                                    \
  "mov.u64 %rd10, globalMap;\n"                                                \
  "@%p1 tensormap.replace.tile.global_address.shared::cta.b1024.b64 [map], "   \
  "%rd5;\n" FIELD("rank", "0") FIELD("box_dim", "0, 32")                       \
      FIELD("global_dim", "0, 64") FIELD("element_stride", "0, 1")             \
          FIELD("elemtype", "2") FIELD("interleave_layout",                    \
                                       "0") FIELD("swizzle_mode", "0")         \
              FIELD("fill_mode", "0") "@!%p4 bra E;\nbar.warp.sync -1;\n"      \
                                      "tensormap.cp_fenceproxy.global.shared:" \
                                      ":cta.tensormap::generic.release.gpu."   \
                                      "sync.aligned [%rd10], [map], 128;\n"

HazardCase one(const char *name, unsigned number, const char *text,
               const char *wrong, const char *right) {
  HazardCase c;
  c.name = name;
  c.number = number;
  c.module = kModule;
  c.threads = 64;
  c.text = text;
  c.wrong = wrong;
  c.right = right;
  return c;
}
HazardCase pair(const char *name, unsigned number, const char *text,
                const char *wrong, const char *right) {
  HazardCase c = one(name, number, text, wrong, right);
  c.ctas = c.cluster = 2;
  return c;
}
HazardCase grid(unsigned ctas, HazardCase c) {
  c.ctas = ctas;
  c.threads = 32;
  return c;
}
HazardCase resident(HazardCase c) {
  c.ctas = 3;
  c.resident = 1;
  return c;
}
HazardCase dependent(HazardCase c) {
  c.fromPreviousGrid = true;
  return c;
}
HazardCase latest(HazardCase c) {
  c.only = Completion::Latest;
  return c;
}

const HazardCase kCases[] = {
    // Initialisation needs an edge to the users.
    one("InitNotVisible", 1,
        P "@%p1 mbarrier.init.shared.b64 [%r10], 1;\n$\n"
          "@%p3 " ARRIVE " //! warp 1\n",
        "", "bar.sync 0;"),
    // A relaxed cluster barrier passes on no init without its fence.
    pair("InitNotFencedForCluster", 1,
         P "@%p1 mbarrier.init.shared.b64 [%r10], 2;\n$\n"
           "barrier.cluster.arrive.relaxed.aligned;\n"
           "barrier.cluster.wait.aligned;\n"
           "mapa.shared::cluster.u32 %r16, %r10, 0;\n@%p3 mbarrier.arrive."
           "release.cluster.shared::cluster.b64 _, [%r16]; //! cta 1, warp "
           "1\n" CLUSTER,
         "", "fence.mbarrier_init.release.cluster;"),
    // Behind the fence of other barriers it does in known kernels.
    pair("InitBehindItsFence", 90,
         P "fence.mbarrier_init.release.cluster;\n"
           "@%p1 mbarrier.init.shared.b64 [%r10], 2;\n$\n"
           "barrier.cluster.arrive.relaxed.aligned;\n"
           "barrier.cluster.wait.aligned;\n"
           "mapa.shared::cluster.u32 %r16, %r10, 0;\n@%p3 mbarrier.arrive."
           "release.cluster.shared::cluster.b64 _, [%r16]; //! cta 1, warp "
           "1\n" CLUSTER,
         "", "fence.mbarrier_init.release.cluster;"),
    // An mbarrier that was never initialised.
    one("NeverInitialised", 1, INIT(1) "$\n",
        "@%p1 mbarrier.arrive.shared.b64 _, [%r15]; //!", "@%p1 " ARRIVE),
    // A live mbarrier must be invalidated first.
    one("InitOverLive", 2, INIT(2) "$\n",
        "@%p1 mbarrier.init.shared.b64 [%r10], 2; //!",
        "@%p1 mbarrier.inval.shared.b64 [%r10];\n"
        "@%p1 mbarrier.init.shared.b64 [%r10], 2;"),
    // Counts are 1 to 2^20 - 1.
    one("InitOfZero", 2, P "$\n",
        "@%p1 mbarrier.init.shared.b64 [%r10], 0; //!",
        "@%p1 mbarrier.init.shared.b64 [%r10], 1;"),
    // No stores to the bytes of a live mbarrier.
    one("StoreOverBarrier", 3, INIT(1) "$\n",
        "@%p1 st.shared.b32 [%r10+4], %r1; //!",
        "@%p1 st.shared.b32 [%r12+4], %r1;"),
    // Nor copies.
    one("CopyOverBarrier", 3,
        INIT2 "$\n" EXPECT(
            "128") "@%p1 "
                   "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx:"
                   ":"
                   "bytes [%r9], [%rd5], 128, [%r10]; //!\n" WAIT(W, "0"),
        "mov.b32 %r9, %r10;", "mov.b32 %r9, %r12;"),
    // One elected lane arrives, not all.
    one("TooManyArrivals", 4, INIT(1) "$\n", "@%p4 " ARRIVE " //! lane 1",
        "@%p1 " ARRIVE),
    // Every role must arrive.
    one("TooFewArrivals", 5,
        INIT(2) "@%p1 " ARRIVE "\n$\n"
                "W: mbarrier.try_wait.parity.shared.b64 %p2, [%r10], 0; //!\n"
                "@!%p2 bra W;\n",
        "", "@%p3 " ARRIVE),
    // Bytes expected are bytes delivered.
    one("TooManyBytesExpected", 6,
        INIT(1) "mov.b32 %r9, $;\n" EXPECT("%r9") COPY
        "\nW: mbarrier.try_wait.parity.shared.b64 %p2, [%r10], 0; //!\n"
        "@!%p2 bra W;\n",
        "256", "128"),
    one("TooFewBytesExpected", 7,
        INIT(1) "mov.b32 %r9, $;\n" EXPECT("%r9") COPY " //!\n" WAIT(W, "0"),
        "64", "128"),
    // A phase that ends between two copies of it.
    latest(one("PhaseEndsBetweenCopies", 7,
               INIT(1) "mov.b32 %r9, $;\nsub.u32 %r8, 256, %r9;\n" EXPECT("%r9")
                   COPY
               "\n@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_"
               "tx::bytes [%r12+128], [%rd5], 128, [%r10]; //!\n" WAIT(
                   W, "0") "bar.sync 0;\n" EXPECT("%r8") WAIT(V, "1"),
               "128", "256")),
    // |tx-count| < 2^20.
    one("TransactionRange", 8,
        INIT(1) "mov.b32 %r9, $;\n@%p1 mbarrier.expect_"
                "tx.relaxed.cta.shared.b64 [%r10], %r9; //!\n",
        "2097152", "0"),
    // The consumer starts with parity 0.
    latest(one("ConsumerStartsWithOne", 9,
               INIT(1) EXPECT("128") COPY
               "\nmov.b32 %r8, $;\nnanosleep.u32 20;\n" WAIT(W, "%r8") READ
               " //! warp 1\n",
               "1", "0")),
    // The producer starts with parity 1.
    one("ProducerStartsWithZero", 9,
        INIT2 "mov.b32 %r8, $;\n@!%p4 bra CONSUMER;\n"
              "W: mbarrier.try_wait.parity.shared.b64 %p2, [%r10], %r8; //!\n"
              "@!%p2 bra W;\n@%p1 mbarrier.arrive.shared.b64 _, [%r15];\n"
              "bra E;\nCONSUMER:\n"
              "V: mbarrier.try_wait.parity.shared.b64 %p2, [%r15], 0;\n"
              "@!%p2 bra V;\n@%p3 " ARRIVE "\nE:\n",
        "0", "1"),
    // The parity flips each round.
    latest(one("ParityNotFlipped", 10,
               INIT(1) EXPECT("128") COPY "\n" WAIT(W, "0") READ
               "\nbar.sync 0;\n" EXPECT("128") COPY
               "\nmov.b32 %r8, $;\nnanosleep.u32 20;\n" WAIT(V, "%r8") READ
               " //! warp 1\n",
               "0", "1")),
    // The wait is on the barrier that the copy names.
    one("BarrierOfAnotherStage", 11,
        INIT2 "@%p1 " ARRIVE "\n@%p1 mbarrier.arrive.expect_tx.shared.b64 _, "
              "[%r15], 128;\n"
              "@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx"
              "::bytes [%r12], [%rd5], 128, [%r15];\n"
              "mov.b32 %r8, $;\n"
              "W: mbarrier.try_wait.parity.shared.b64 %p2, [%r8], 0;\n"
              "@!%p2 bra W;\n" READ " //!\n",
        "%r10", "%r15"),
    // Two phases while one waiter polls.
    one("WaiterLags", 12,
        INIT(1) "@!%p4 bra CONSUMER;\nnanosleep.u32 20;\n@%p1 " ARRIVE
                "\n$\nbra E;\nCONSUMER:\n"
                "W: mbarrier.try_wait.parity.shared.b64 %p2, [%r10], 0; //! "
                "warp 1\n"
                "@!%p2 bra W;\nE:\n",
        "@%p1 " ARRIVE, ""),
    // Data of a copy need a wait.
    one("NoWait", 13,
        INIT(1) EXPECT("128") COPY "\nnanosleep.u32 20;\n$\n" READ
                                   " //! warp 1\n",
        "", WAIT(W, "0")),
    // try_wait may return false.
    latest(one("WaitWithoutLoop", 13,
               INIT(1) EXPECT("128") COPY "\n$\n" READ " //! warp 1\n",
               "mbarrier.try_wait.parity.shared.b64 %p2, [%r10], 0;",
               WAIT(W, "0"))),
    latest(one("TestWithoutLoop", 13,
               INIT(1) EXPECT("128") COPY "\n$\n" READ " //! warp 1\n",
               "mbarrier.test_wait.parity.shared.b64 %p2, [%r10], 0;",
               "W: mbarrier.test_wait.parity.shared.b64 %p2, [%r10], 0;\n"
               "@!%p2 bra W;\n")),
    // Arrivals publish with release.
    one("RelaxedArrival", 14,
        INIT(1) "@%p1 st.shared.b32 [%r12], %r1;\n$\n@%p4 bra E;\n" WAIT(W, "0")
            READ " //! warp 1\nE:\n",
        "@%p1 mbarrier.arrive.relaxed.cta.shared::cta.b64 _, [%r10];",
        "@%p1 mbarrier.arrive.release.cta.shared::cta.b64 _, [%r10];"),
    // Waits take over with acquire.
    one("RelaxedWait", 14,
        INIT(1) "@%p1 st.shared.b32 [%r12], %r1;\n@%p1 " ARRIVE
                "\n@%p4 bra E;\n$\n@!%p2 bra W;\n" READ " //! warp 1\nE:\n",
        "W: mbarrier.try_wait.parity.relaxed.cta.shared::cta.b64 %p2, [%r10], "
        "0;",
        "W: mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p2, [%r10], "
        "0;"),
    // A copy's completion is no order for a relaxed wait either.
    one("RelaxedWaitForCopy", 14,
        INIT(1) EXPECT("128") COPY "\n$\n@!%p2 bra W;\n" READ " //!\n",
        "W: mbarrier.try_wait.parity.relaxed.cta.shared::cta.b64 %p2, [%r10], "
        "0;",
        "W: mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p2, [%r10], "
        "0;"),
    // Waits are local.
    pair("RemoteWait", 15,
         INIT(1) CLUSTER "mapa.shared::cluster.u32 %r16, %r10, 1;\n$\n" CLUSTER,
         "mbarrier.test_wait.parity.shared::cta.b64 %p2, [%r16], 1; //!",
         "mbarrier.test_wait.parity.shared::cta.b64 %p2, [%r10], 1;"),
    // A CTA stays until its peers have arrived.
    pair("ArrivalAtExitedCta", 16,
         INIT(2) CLUSTER "mapa.shared::cluster.u32 %r16, %r10, 1;\n$\n" CLUSTER
                         "@%p1 mbarrier.arrive.release.cluster.shared::cluster."
                         "b64 _, [%r16]; //!\n" CLUSTER,
         "@%p5 exit;", ""),
    // The default scope is .cta.
    pair("RemoteArrivalOfCtaScope", 17,
         INIT(2) CLUSTER "mapa.shared::cluster.u32 %r16, %r10, 1;\n$\n" CLUSTER,
         "@%p1 mbarrier.arrive.shared::cluster.b64 _, [%r16]; //!",
         "@%p1 mbarrier.arrive.release.cluster.shared::cluster.b64 _, "
         "[%r16];"),
    // Nobody arrives at all.
    one("NobodyArrives", 18,
        INIT(1) "$\n"
                "W: mbarrier.try_wait.parity.shared.b64 %p2, [%r10], 0; //!\n"
                "@!%p2 bra W;\n",
        "", "@%p1 " ARRIVE),
    // Stores need a proxy fence before the async proxy reads them.
    one("NoProxyFence", 19,
        P "st.shared.b32 [%r11], %r1;\n$\nbar.sync 0;\n" STORE
          " //!\n" COMMIT DRAIN,
        "", FENCE),
    // The tensor core reads through the async proxy as well.
    one("NoProxyFenceBeforeTensorCopy", 19,
        INIT(1) "st.shared.b32 [%r11], %r1;\nst.shared.b32 [%r11+256], %r1;\n$"
                "\nbar.sync 0;\nmov.u32 %r13, slot;\n@%p4 tcgen05.alloc.cta_"
                "group::1.sync.aligned.shared::cta.b32 [%r13], 32;\n"
                "bar.sync 0;\nld.shared.b32 %r14, [%r13];\n"
                "cvt.u64.u32 %rd9, %r12;\nand.b64 %rd9, %rd9, 262143;\n"
                "shr.u64 %rd9, %rd9, 4;\n"
                "or.b64 %rd9, %rd9, 0x0000400800000000;\n"
                "@%p1 tcgen05.cp.cta_group::1.32x128b.warpx4 [%r14], %rd9; //!"
                "\n" TENSOR_COMMIT("%r10") WAIT(W, "0") FREE,
        "", FENCE),
    // cp.async is generic: completion is not enough.
    one("NoProxyFenceAfterCopyAsync", 19,
        P "shl.b32 %r7, %r1, 4;\nadd.u32 %r8, %r12, %r7;\n"
          "cvt.u64.u32 %rd7, %r7;\nadd.s64 %rd7, %rd5, %rd7;\n"
          "@%p1 cp.async.cg.shared.global [%r8], [%rd7], 16;\n"
          "cp.async.wait_all;\n$\nbar.sync 0;\n"
          "@%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd4], [%r12], "
          "16; //!\n" COMMIT DRAIN,
        "", FENCE),
    // The fence belongs into the threads that stored.
    one("FenceOfAnotherThread", 20,
        P "st.shared.b32 [%r11], %r1;\n$\n" STORE " //!\n" COMMIT DRAIN,
        "bar.sync 0;\n@%p1 fence.proxy.async.shared::cta;",
        FENCE "bar.sync 0;"),
    // And after the last store.
    one("FenceBeforeLastStore", 21,
        P "$\nbar.sync 0;\n" STORE " //!\n" COMMIT DRAIN,
        FENCE "st.shared.b32 [%r11], %r1;",
        "st.shared.b32 [%r11], %r1;\n" FENCE),
    // On each path.
    one("FenceSkipped", 22,
        P "st.shared.b32 [%r11], %r1;\n$ fence.proxy.async.shared::cta;\n"
          "bar.sync 0;\n" STORE " //!\n" COMMIT DRAIN,
        "@%p9", "@!%p9"),
    // A stage is free when the commit says so.
    one("ReleasedAtIssue", 23,
        INIT2
        "st.shared.b32 [%r11+256], %r1;\n" FILL TENSOR_COPY
        "$\n" WAIT(W, "0") "st.shared.b32 [%r11], %r1; //!\n" TENSOR_COMMIT(
            "%r15") "V: mbarrier.try_wait.parity.shared.b64 %p2, [%r15], 0;\n"
                    "@!%p2 bra V;\n" FREE,
        "@%p1 " ARRIVE, TENSOR_COMMIT("%r10")),
    // Readers arrive before the next copy.
    one("OverwrittenWhileRead", 24,
        INIT(1) EXPECT("128") COPY
        "\n" WAIT(W, "0") "@%p4 bra S;\n" READ "\nS:\n$\n" EXPECT("128") COPY
        " //!\n" WAIT(V, "1"),
        "nanosleep.u32 20;", "bar.sync 1;"),
    // Formally with a proxy fence.
    one("ReadThenCopyWithoutFence", 25,
        INIT(1) EXPECT("128") COPY "\n" WAIT(W, "0") READ "\n$\n" EXPECT("128")
            COPY " //!\n" WAIT(V, "1"),
        "bar.sync 1;", FENCE "bar.sync 1;"),
    // Answers of try_cancel are read before the next request.
    resident(one(
        "AnswerOverwritten", 26,
        INIT(1) EXPECT(
            "16") "@%p1 "
                  "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::"
                  "complete_tx::bytes.b128 [%r12], [%r10];\n" WAIT(
                      W,
                      "0") "@%p4 bra S;\nld.shared.b128 %q1, "
                           "[%r12];\nS:\n$\n" EXPECT("16") "@%p1 "
                                                           "clusterlaunchcontro"
                                                           "l.try_cancel.async."
                                                           "shared::cta."
                                                           "mbarrier::complete_"
                                                           "tx::bytes.b128 "
                                                           "[%r12], [%r10]; "
                                                           "//!\n" WAIT(V, "1"),
        "nanosleep.u32 20;", FENCE "bar.sync 1;")),
    // The consumers of every receiver must have released the stage.
    pair("StageOfPeer", 27,
         INIT(1) CLUSTER "mov.b16 %h1, 3;\n" EXPECT(
             "128") "@%p6 "
                    "cp.async.bulk.shared::cluster.global.mbarrier::complete_"
                    "tx::"
                    "bytes.multicast::cluster [%r12], [%rd5], 128, [%r10], "
                    "%h1;\n" WAIT(W, "0") READ
         "\n" EXPECT("128") "$\n"
                            "@%p6 "
                            "cp.async.bulk.shared::cluster.global.mbarrier::"
                            "complete_tx::"
                            "bytes.multicast::cluster [%r12], [%rd5], 128, "
                            "[%r10], %h1; //!\n" WAIT(V, "1") CLUSTER,
         "bar.sync 1;\nnanosleep.u32 20;", CLUSTER),
    // Each receiver expects what it gets.
    pair(
        "MulticastNotExpected", 28,
        INIT(1) CLUSTER
        "mov.b16 %h1, 3;\nselp.b32 %r8, $, 128, %p5;\n" EXPECT("%r8") CLUSTER
        "@%p6 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::"
        "bytes.multicast::cluster [%r12], [%rd5], 128, [%r10], %h1; //!\n" WAIT(
            W, "0") CLUSTER,
        "64", "128"),
    // The source is free when its group has been read.
    one("SourceOverwritten", 29,
        P FILL STORE "\n" COMMIT "@%p1 cp.async.bulk.wait_group.read $;\n"
                     "bar.sync 0;\nst.shared.b32 [%r11], %r1; //!\n" DRAIN,
        "1", "0"),
    // A ring of two buffers may keep one group.
    one("RingOfTwo", 29,
        P "st.shared.b32 [%r11+256], %r1;\n" FILL STORE "\n" COMMIT
          "@%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd4+256], "
          "[%r12+256], 256;\n" COMMIT
          "@%p1 cp.async.bulk.wait_group.read $;\nbar.sync 0;\n"
          "st.shared.b32 [%r11], %r1; //!\n" DRAIN,
        "2", "1"),
    // .read says nothing about the destination.
    one("ResultReadTooEarly", 30,
        P FILL STORE "\n" COMMIT "@%p1 cp.async.bulk.wait_group$ 0;\n"
                     "@%p1 ld.global.b32 %r9, [%rd4]; //!\n" DRAIN,
        ".read", ""),
    // The CTA stays until the source is read.
    one("ExitBeforeRead", 31, P FILL STORE " //!\n" COMMIT "$\n", "",
        "@%p1 cp.async.bulk.wait_group.read 0;"),
    // Those who wait for all but the last group rely on hardware.
    one("ExitBeforeLastRead", 91,
        P FILL STORE "\n" COMMIT "@%p1 cp.async.bulk.global.shared::cta."
                     "bulk_group [%rd4+256], [%r12], 256; //!\n" COMMIT
                     "@%p1 cp.async.bulk.wait_group.read $;\n",
        "1", "0"),
    // Groups belong to their thread.
    one("WaitOfAnotherThread", 32,
        P FILL STORE "\n" COMMIT "$ cp.async.bulk.wait_group.read 0;\n"
                     "bar.sync 0;\nst.shared.b32 [%r11], %r1; //!\n" DRAIN,
        "@%p3", "@%p1"),
    // Two CTAs store to one word.
    grid(2, one("GlobalRace", 33, P "$\n",
                "@%p1 st.global.b32 [%rd4], %r2; //! cta 1",
                "@%p1 st.global.b32 [%rd1], %r1;")),
    // Message passing needs release and acquire.
    grid(2, one("FlagWithoutAcquire", 33,
                P "@!%p5 bra PRODUCER;\n"
                  "W: ld.$.gpu.global.u32 %r9, [%rd4+4];\n"
                  "setp.ne.u32 %p2, %r9, 1;\n@%p2 bra W;\n"
                  "ld.global.b32 %r9, [%rd4]; //! cta 1\nbra E;\nPRODUCER:\n"
                  "@%p1 st.global.b32 [%rd4], %r3;\n@%p1 "
                  "st.release.gpu.global.u32 [%rd4+4], 1;\nE:\n",
                "relaxed", "acquire")),
    // A fence makes an acquire of a relaxed load.
    grid(2, one("FlagWithoutFence", 33,
                P "@!%p5 bra PRODUCER;\n"
                  "W: ld.relaxed.gpu.global.u32 %r9, [%rd4+4];\n"
                  "setp.ne.u32 %p2, %r9, 1;\n@%p2 bra W;\n$\n"
                  "ld.global.b32 %r9, [%rd4]; //! cta 1\nbra E;\nPRODUCER:\n"
                  "@%p1 st.global.b32 [%rd4], %r3;\n@%p1 fence.acq_rel.gpu;\n"
                  "@%p1 st.relaxed.gpu.global.b32 [%rd4+4], 1;\nE:\n",
                "", "fence.acq_rel.gpu;")),
    // Atomics of different sizes are no protection.
    grid(2, one("MixedSizes", 33,
                P "@%p5 bra S;\n@%p1 red.global.add.u32 "
                  "[%rd4], 1;\nbra E;\nS:\n$\nE:\n",
                "@%p1 red.global.add.u64 [%rd4], 1; //! cta 1",
                "@%p1 red.global.add.u32 [%rd4], 1;")),
    // .nc is for what the grid only reads.
    one("NonCoherentLoad", 34,
        P "@%p1 st.global.b32 [%rd4], %r1;\nbar.sync 0;\n"
          "ld.global$.b32 %r9, [%rd4]; //! warp 1\n",
        ".nc", ""),
    // A changed map is acquired before use.
    one("TensorMapNotAcquired", 35,
        INIT(1) MAP
        "$\n" EXPECT("128") "mov.b32 %r20, 0;\n@%p1 "
                            "cp.async.bulk.tensor.1d.shared::cta.global."
                            "tile.mbarrier::complete_tx::bytes [%r12], [%rd10, "
                            "{%r20}], [%r10];"
                            " //!\n" WAIT(W, "0") "E:\n",
        "", "fence.proxy.tensormap::generic.acquire.gpu [%rd10], 128;"),
    // A map from a template needs the address of its tensor.
    one("TemplateWithoutAddress", 45,
        INIT(1) "$\n" MAP "fence.proxy.tensormap::generic.acquire.gpu [%rd10], "
                "128;\n" EXPECT("128") "mov.b32 %r20, 0;\n@%p1 "
                                       "cp.async.bulk.tensor.1d.shared::cta."
                                       "global.tile.mbarrier::"
                                       "complete_tx::bytes [%r12], [%rd10, "
                                       "{%r20}], [%r10]; //!\n" WAIT(
                                           W, "0") "E:\n",
        "mov.u64 %rd5, 0;", ""),
    // The grid before is complete when the wait returns.
    dependent(one("PreviousGrid", 36, P "$\nld.global.b32 %r9, [%rd2]; //!\n",
                  "", "griddepcontrol.wait;")),
    // Nothing undefined may reach memory.
    one("Uninitialised", 37,
        P "$\nld.shared.b32 %r9, [%r12];\nst.global.b32 [%rd1], %r9; //!\n", "",
        "@%p1 st.shared.b32 [%r12], %r1;\nbar.sync 0;"),
    one("OutOfBounds", 38, P "@%p1 st.shared.b32 [%r12], %r1;\n$\n",
        "@%p1 ld.shared.b32 %r9, [%r12+65536]; //!",
        "@%p1 ld.shared.b32 %r9, [%r12];"),
    one("Misaligned", 38, P "@%p1 st.shared.b32 [%r12], %r1;\n$\n",
        "@%p1 ld.shared.b32 %r9, [%r12+2]; //!",
        "@%p1 ld.shared.b32 %r9, [%r12];"),
    // A remote store and a copy over it.
    pair("RemoteStoreThenCopy", 39,
         INIT(1) CLUSTER "mapa.shared::cluster.u32 %r16, %r12, 1;\n"
                         "@%p6 st.shared::cluster.b32 [%r16], %r1;\n$\n"
                         "@!%p5 bra S;\n" EXPECT("128") COPY
         " //! cta 1\n" WAIT(W, "0") "S:\n" CLUSTER,
         "nanosleep.u32 20;", "fence.proxy.async;\n" CLUSTER),
    // What one CTA learns from another it passes on to a third.
    grid(3, one("FlagThroughThirdCta", 33,
                P "setp.eq.u32 %p7, %r2, 2;\n@%p7 bra THIRD;\n"
                  "@!%p5 bra PRODUCER;\n"
                  "W: ld.$.gpu.global.u32 %r9, [%rd4+4];\n"
                  "setp.ne.u32 %p2, %r9, 1;\n@%p2 bra W;\n"
                  "st.release.gpu.global.u32 [%rd4+8], 1;\nbra E;\nTHIRD:\n"
                  "V: ld.acquire.gpu.global.u32 %r9, [%rd4+8];\n"
                  "setp.ne.u32 %p2, %r9, 1;\n@%p2 bra V;\n"
                  "ld.global.b32 %r9, [%rd4]; //! cta 2\nbra E;\nPRODUCER:\n"
                  "@%p1 st.global.b32 [%rd4], %r3;\n@%p1 "
                  "st.release.gpu.global.u32 [%rd4+4], 1;\nE:\n",
                "relaxed", "acquire")),
    // One value from several warps is no race, two are.
    one("DifferentValues", 89,
        P "mov.b32 %r9, $;\nst.shared.b32 [%r12], %r9; //! warp 1\n", "%warpid",
        "7"),
    // Bytes of a word are told apart.
    one("ByteOfWord", 89,
        P "mov.b16 %h1, 7;\n@%p1 st.shared.u8 [%r12+1], %h1;\n$\n",
        "@%p3 st.shared.u16 [%r12], %h1; //! warp 1",
        "@%p3 st.shared.u8 [%r12], %h1;"),
    // cp.async is complete after a wait.
    one("CopyAsyncWithoutWait", 89,
        P "@%p1 cp.async.ca.shared.global [%r12], [%rd5], 4;\n"
          "cp.async.commit_group;\n$\n@%p1 " READ " //!\n"
          "cp.async.wait_all;\n",
        "cp.async.wait_group 1;", "cp.async.wait_group 0;"),
    // A relaxed cluster barrier orders nothing.
    one("RelaxedClusterBarrier", 14,
        P "@%p1 st.shared.b32 [%r12], %r1;\nbarrier.cluster.arrive$.aligned;\n"
          "barrier.cluster.wait.aligned;\n" READ " //! warp 1\n",
        ".relaxed", ""),
    // Two warps, one word.
    one("SharedRace", 89,
        P "@%p1 st.shared.b32 [%r12], %r1;\n$\n@%p4 bra E;\n" READ
          " //! warp 1\nE:\n",
        "", "bar.sync 0;"),
};

INSTANTIATE_TEST_SUITE_P(Order, Hazards,
                         testing::ValuesIn(listed(kCases, plainKernel)),
                         nameOf);

/// Old accesses are forgotten only where nothing remembers them.
TEST(HazardMemory, ManyRounds) {
  auto text = [](const char *wait) {
    return std::string(P "setp.ge.u32 %p8, %r1, 64;\n@%p8 bra THIRD;\n"
                         "mov.b32 %r8, 0;\n"
                         "W: st.shared.b32 [%r11+512], %r8;\nbar.sync 1, 64;\n"
                         "ld.shared.b32 %r9, [%r11+512];\nbar.sync 1, 64;\n"
                         "add.u32 %r8, %r8, 1;\nsetp.lt.u32 %p2, %r8, 20000;\n"
                         "@%p2 bra W;\n") +
           wait + "\n" READ "\nbra E;\nTHIRD:\nst.shared.b32 [%r12], %r1;\n" +
           wait + "\nE:\n";
  };
  Options options;
  options.threads = 1;
  Simple s = runBody(text(""), {}, 96, 1, options, 1, kModule);
  ASSERT_EQ(s.result.findings.size(), 1u);
  EXPECT_EQ(s.result.findings.front().hazard, 89u);
  s = runBody(text("bar.sync 2, 96;"), {}, 96, 1, options, 1, kModule);
  expectClean(s.result);
}

} // namespace
