//===- MachineEventsTest.cpp - events for a timeline ----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MachineHarness.h"

using namespace blockscale::emulator;
using namespace blockscale::emulator::test;

namespace {

std::vector<Event> eventsOf(const std::string &text, uint32_t threads = 32,
                            uint32_t ctas = 1, uint64_t cluster = 0,
                            const std::string &module = "") {
  std::vector<Event> events;
  Options options;
  options.strict = false; // the programs order nothing but what they show
  options.eventCluster = cluster;
  options.event = [&](const Event &event) { events.push_back(event); };
  Simple s = runBody(text, {}, threads, ctas, options, 1, module);
  expectClean(s.result);
  return events;
}

std::vector<EventKind> kindsOf(const std::vector<Event> &events) {
  std::vector<EventKind> kinds;
  for (const Event &event : events)
    kinds.push_back(event.kind);
  return kinds;
}

const std::string kShared =
    ".shared .align 128 .b8 data[256];\n.shared .align 8 .b64 bar;\n";

// The load and its completion precede the wait that they end; the line is the
// load's own.
TEST(MachineEvents, LoadArriveWait) {
  std::vector<Event> events = eventsOf(R"(
    setp.ne.u32 %p1, %r1, 0;
    mov.u32 %r10, bar;
    mov.u32 %r11, data;
    @%p1 bra WAIT;
    mbarrier.init.shared::cta.b64 [%r10], 1;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r10], 64;
    cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r11], [%rd2], 64, [%r10];
  WAIT:
    bar.warp.sync 0xffffffff;
  POLL:
    mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r10], 0;
    @!%p2 bra POLL;
    ld.shared.u32 %r12, [data];
    st.global.u32 [%rd1], %r12;
  )",
                                       32, 1, 0, kShared);
  ASSERT_EQ(kindsOf(events),
            (std::vector<EventKind>{EventKind::Arrive, EventKind::Load,
                                    EventKind::AsyncArrive, EventKind::Wait,
                                    EventKind::Exit}));
  EXPECT_EQ(events[0].phase, 0);
  EXPECT_EQ(events[1].bytes, 64u);
  EXPECT_EQ(events[1].target, 0u);
  EXPECT_EQ(events[1].line, events[2].line);
  EXPECT_EQ(events[2].phase, 0);
  EXPECT_EQ(events[3].phase, 0);
  for (unsigned i : {2, 3})
    EXPECT_EQ(events[i].barrier, events[0].barrier);
  // One word of 32 lanes after the wait.
  EXPECT_EQ(events[4].before.globalStoredBytes, 128u);
}

// A wait for the parity before the first phase passes at once.
TEST(MachineEvents, WaitBeforeTheFirstPhase) {
  std::vector<Event> events = eventsOf(R"(
    mov.u32 %r10, bar;
    mbarrier.init.shared::cta.b64 [%r10], 1;
    mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r10], 1;
  )",
                                       1, 1, 0, kShared);
  ASSERT_EQ(kindsOf(events),
            (std::vector<EventKind>{EventKind::Wait, EventKind::Exit}));
  EXPECT_EQ(events[0].phase, -1);
}

// A program that looks at the next stage before it is done with this one waits
// where it needs it: a look says no, whatever the emulator's order, and is no
// event. The same look again is a wait.
TEST(MachineEvents, LooksAreNoWaits) {
  std::vector<Event> events = eventsOf(R"(
    mov.u32 %r10, bar;
    mbarrier.init.shared::cta.b64 [%r10], 1;
    mbarrier.arrive.shared::cta.b64 _, [%r10];
    mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r10], 0;
    selp.b32 %r11, 1, 0, %p2;
    bar.sync 3, 32;
    setp.ne.u32 %p3, %r11, 0;
    @%p3 bra DONE;
  POLL:
    mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r10], 0;
    selp.b32 %r11, 1, 0, %p2;
    setp.eq.u32 %p3, %r11, 0;
    @%p3 bra POLL;
  DONE:
  )",
                                       1, 1, 0, kShared);
  EXPECT_EQ(kindsOf(events),
            (std::vector<EventKind>{EventKind::Arrive, EventKind::BarrierArrive,
                                    EventKind::BarrierWait, EventKind::Wait,
                                    EventKind::Exit}));
}

// Both warps arrive before either is released.
TEST(MachineEvents, CtaBarrier) {
  std::vector<Event> events = eventsOf("bar.sync 3, 64;", 64);
  ASSERT_EQ(events.size(), 6u);
  EXPECT_EQ(events[0].kind, EventKind::BarrierArrive);
  EXPECT_EQ(events[1].kind, EventKind::BarrierArrive);
  EXPECT_NE(events[0].warp, events[1].warp);
  unsigned released = 0;
  for (const Event &event : events)
    if (event.kind == EventKind::BarrierWait) {
      EXPECT_EQ(event.barrier, 3u);
      EXPECT_EQ(event.phase, 0);
      ++released;
    }
  EXPECT_EQ(released, 2u);
}

// Ten instructions of `body` and its prologue, one of these the conversion of
// two values a lane, precede the exit; failed polls do not count.
TEST(MachineEvents, WorkBetweenEvents) {
  std::vector<Event> events = eventsOf(R"(
    mov.f32 %f1, 0f3F800000;
    cvt.rn.f16x2.f32 %r10, %f1, %f1;
    cvt.rn.satfinite.e4m3x2.f32 %h1, %f1, %f1;
    st.global.u32 [%rd1], %r10;
  )");
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].before.halfConversions, 64u);
  EXPECT_EQ(events[0].before.narrowConversions, 64u);
  EXPECT_EQ(events[0].before.globalStoredBytes, 128u);
  // Nine of the harness, four here, ret.
  EXPECT_EQ(events[0].before.instructions, 14u);
}

// Loads count where the CTA has not loaded the same sector lately.
TEST(MachineEvents, LoadsFromGlobalMemory) {
  std::vector<Event> events = eventsOf(R"(
    ld.global.u32 %r10, [%rd2];
    ld.param.u64 %rd4, [in];
    ld.global.u32 %r14, [%rd4];
  )");
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].before.globalLoadedBytes, 128u);
}

// What is prefetched lies in the L2 cache, whatever cache was named.
TEST(MachineEvents, PrefetchesFromGlobalMemory) {
  std::vector<Event> events = eventsOf(R"(
    prefetch.global.L1 [%rd2];
    prefetch.global.L1 [%rd2];
    ld.global.u32 %r10, [%rd2];
    ld.global.u32 %r11, [%rd2];
    ld.global.u32 %r12, [%rd1];
  )");
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].before.globalLoadedBytes, 128u);
  EXPECT_EQ(events[0].before.knownToL2Bytes, 128u);
  EXPECT_EQ(events[0].before.knownToL1Bytes, 128u);
}

// A wait that acquires what other SMs wrote empties the L1 cache.
TEST(MachineEvents, WaitsThatEmptyTheCache) {
  for (std::string scope : {"cta", "cluster"}) {
    std::vector<Event> events = eventsOf(R"(
      mov.u32 %r10, bar;
      setp.ne.u32 %p1, %r1, 0;
      @%p1 bra DONE;
      ld.global.u32 %r11, [%rd2];
      mbarrier.init.shared::cta.b64 [%r10], 1;
      mbarrier.arrive.shared::cta.b64 _, [%r10];
      mbarrier.try_wait.parity.acquire.)" + scope +
                                             R"(.shared::cta.b64 %p2, [%r10], 0;
      ld.global.u32 %r11, [%rd2];
    DONE:
    )",
                                         1, 1, 0, kShared);
    ASSERT_EQ(events.size(), 3u);
    bool isEmpty = scope == "cluster";
    EXPECT_EQ(events[2].before.knownToL2Bytes, isEmpty ? 32u : 0u);
    EXPECT_EQ(events[2].before.knownToL1Bytes, isEmpty ? 0u : 32u);
  }
}

// Loads are counted, and the last one whose result is used: taking a pair of
// registers apart is no use, as no instruction does so.
TEST(MachineEvents, UsesOfLoads) {
  std::vector<Event> events = eventsOf(R"(
    ld.param.u64 %rd5, [in];
    ld.global.u32 %r10, [%rd2];
    ld.global.u64 %rd4, [%rd5];
    ld.global.u32 %r11, [%rd2];
    bar.sync 0;
    mov.b64 {%r12, %r13}, %rd4;
    bar.sync 0;
    add.u32 %r14, %r10, 1;
    bar.sync 0;
    add.u32 %r14, %r13, 1;
    ld.global.u32 %r11, [%rd2];
  )",
                                       32);
  std::vector<Event> arrivals;
  for (const Event &event : events)
    if (event.kind != EventKind::BarrierWait)
      arrivals.push_back(event);
  ASSERT_EQ(arrivals.size(), 4u);
  EXPECT_EQ(arrivals[0].before.firstLoad, 1u);
  EXPECT_EQ(arrivals[0].before.lastLoad, 3u);
  EXPECT_EQ(arrivals[0].before.usedLoad, 0u);
  EXPECT_EQ(arrivals[1].before.usedLoad, 0u);
  EXPECT_EQ(arrivals[2].before.usedLoad, 1u);
  // What is loaded again is waited for, too.
  EXPECT_EQ(arrivals[3].before.usedLoad, 3u);
  EXPECT_EQ(arrivals[3].before.firstLoad, 4u);
}

// Lanes that wait for others run on in their own order, with their own work.
TEST(MachineEvents, DivergedLanes) {
  std::vector<Event> events = eventsOf(R"(
    mov.u32 %r10, bar;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra OTHERS;
    mbarrier.init.shared::cta.b64 [%r10], 1;
    mbarrier.arrive.shared::cta.b64 _, [%r10];
    bra DONE;
  OTHERS:
    st.global.u32 [%rd1], %r10;
    mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r10], 0;
  DONE:
  )",
                                       32, 1, 0, kShared);
  ASSERT_GE(events.size(), 2u);
  EXPECT_EQ(events[0].kind, EventKind::Arrive);
  EXPECT_EQ(events[0].lanes, 1u);
  EXPECT_EQ(events[0].before.globalStoredBytes, 0u);
  EXPECT_EQ(events[1].kind, EventKind::Wait);
  EXPECT_EQ(events[1].lanes, 0xFFFFFFFEu);
  EXPECT_EQ(events[1].before.globalStoredBytes, 124u);
}

// Only the cluster that was asked for.
TEST(MachineEvents, OneCluster) {
  EXPECT_EQ(eventsOf("", 32, 4, 2).size(), 1u);
  EXPECT_EQ(eventsOf("", 32, 4, 4).size(), 0u);
}

} // namespace
