//===- TimelineTest.cpp - estimated times of events -----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Timeline/Timeline.h"
#include "gtest/gtest.h"

#include <numeric>

using namespace blockscale;
using namespace blockscale::timeline;
using emulator::Event;
using emulator::EventKind;
using emulator::LaneWork;

namespace {

Conditions oneSm(double clockGhz) {
  Conditions conditions{*hw::parsePart("B200")};
  conditions.clockGhz = clockGhz;
  return conditions;
}

Event eventOf(EventKind kind, uint32_t warp) {
  Event event;
  event.kind = kind;
  event.warp = warp;
  return event;
}

Event barrier(EventKind kind, uint32_t warp, uint32_t address, int64_t phase) {
  Event event = eventOf(kind, warp);
  event.barrier = address;
  event.phase = phase;
  return event;
}

/// A main loop of bf16 tiles of 128 x n x k: warp 0 loads, warp 1 multiplies.
/// Barrier 8 * s says that stage s is full, 1024 + 8 * s that it is empty.
void mainLoop(Timeline &timeline, unsigned n, unsigned k, unsigned stages,
              unsigned tiles) {
  for (unsigned tile = 0; tile != tiles; ++tile) {
    uint32_t full = 8 * (tile % stages), empty = 1024 + full;
    int64_t phase = tile / stages;
    timeline.add(barrier(EventKind::Wait, 0, empty, phase - 1));
    Event load = eventOf(EventKind::Load, 0);
    load.bytes = (128 + n) * k * 2;
    timeline.add(load);
    timeline.add(barrier(EventKind::AsyncArrive, 0, full, phase));
    timeline.add(barrier(EventKind::Wait, 1, full, phase));
    Event mma = eventOf(EventKind::Mma, 1);
    mma.m = 128;
    mma.n = n;
    mma.k = 16;
    for (unsigned step = 0; step != k / 16; ++step)
      timeline.add(mma);
    timeline.add(eventOf(EventKind::Commit, 1));
    timeline.add(barrier(EventKind::AsyncArrive, 1, empty, phase));
  }
}

// Microseconds of one K tile on one SM of a B200 at 1.3 GHz, by stages:
// SemiAnalysisAI/microbench-blackwell, cutlass_gemm_mainloop/results.csv. The
// first tiles' operands lie in the L2 cache, the second's do not.
TEST(Timeline, StagesOfAMainLoop) {
  struct Row {
    unsigned n, k, stages;
    double microseconds;
    uint64_t memoryBytes;
  };
  const Row table[] = {
      {16, 64, 2, 0.327, 1},        {16, 64, 4, 0.165, 1},
      {64, 64, 2, 0.372, 1},        {64, 64, 3, 0.248, 1},
      {64, 64, 4, 0.188, 1},        {64, 128, 2, 0.534, 1},
      {128, 64, 2, 0.568, 1 << 30}, {128, 64, 4, 0.293, 1 << 30},
      {256, 64, 2, 0.751, 1 << 30}, {256, 64, 3, 0.507, 1 << 30}};
  for (const Row &row : table) {
    Conditions conditions = oneSm(1.3);
    conditions.memoryBytes = row.memoryBytes;
    // The second half of the run is steady.
    constexpr unsigned kTiles = 96;
    Timeline half(conditions), whole(conditions);
    mainLoop(half, row.n, row.k, row.stages, kTiles);
    mainLoop(whole, row.n, row.k, row.stages, 2 * kTiles);
    double cycles = (whole.finish().cycles - half.finish().cycles) / kTiles;
    EXPECT_NEAR(cycles / 1300, row.microseconds, 0.06 * row.microseconds)
        << row.n << " x " << row.k << ", " << row.stages << " stages";
  }
}

// Rubin's loads take 0.8 of that time, as the formula has it of a round trip:
// of the 0.751 us above a load's flight of 0.66 us and 48 KiB at 164 GB/s,
// shared by two stages, are 0.48, and 0.096 fall away.
TEST(Timeline, StagesOfRubin) {
  Conditions conditions{*hw::parsePart("VR200")};
  conditions.clockGhz = 1.3;
  conditions.memoryBytes = 1 << 30;
  constexpr unsigned kTiles = 96;
  Timeline half(conditions), whole(conditions);
  mainLoop(half, 256, 64, 2, kTiles);
  mainLoop(whole, 256, 64, 2, 2 * kTiles);
  double cycles = (whole.finish().cycles - half.finish().cycles) / kTiles;
  EXPECT_NEAR(cycles / 1300, 0.751 - 0.096, 0.06 * 0.655);
}

// Enough stages: 4 MMAs of 128 cycles a tile, and nothing else.
TEST(Timeline, ArrayBound) {
  Timeline timeline(oneSm(1.3));
  mainLoop(timeline, 256, 64, 6, 200);
  Estimate estimate = timeline.finish();
  EXPECT_EQ(estimate.bound, "array");
  // Before the first MMA a load: 455 cycles of latency, 48 KiB at 126 bytes a
  // cycle, two polls and three issues.
  EXPECT_NEAR(estimate.cycles, 200 * 512 + 455 + 390 + 38, 5);
  EXPECT_GT(estimate.tensorCoreBusy, 0.97);
}

TEST(Timeline, TooFewStages) {
  Timeline timeline(oneSm(1.3));
  mainLoop(timeline, 64, 64, 2, 200);
  Estimate estimate = timeline.finish();
  EXPECT_EQ(estimate.bound, "stages");
  EXPECT_GT(estimate.shares[size_t(Use::Stages)], 0.5);
}

// At 1.965 GHz 164 GB/s are 83 bytes a cycle: 24 KiB take 294 cycles, their
// four MMAs 192, and eight stages keep the loads going.
TEST(Timeline, BoundByTheTransferOfLoads) {
  Timeline timeline(oneSm(1.965));
  mainLoop(timeline, 64, 64, 8, 200);
  Estimate estimate = timeline.finish();
  EXPECT_EQ(estimate.bound, "array");
  EXPECT_NEAR(estimate.cycles, 200 * 294.5, 1500);
  EXPECT_NEAR(estimate.shares[size_t(Use::L2)], 1 - 192 / 294.5, 0.03);
  EXPECT_DOUBLE_EQ(estimate.shares[size_t(Use::Stages)], 0);
}

// Lanes that run ahead of the one that issues do not hold it up.
TEST(Timeline, DivergedLanes) {
  Timeline timeline(oneSm(1.3));
  Event ahead = eventOf(EventKind::TensorWait, 0);
  ahead.lanes = ~1u;
  ahead.before.instructions = 5000;
  timeline.add(ahead);
  Event mma = eventOf(EventKind::Mma, 0);
  mma.lanes = 1;
  mma.m = 128;
  mma.n = 256;
  mma.k = 16;
  timeline.add(mma);
  Estimate estimate = timeline.finish();
  for (const Slice &slice : estimate.slices)
    if (slice.track == "tensor core") {
      EXPECT_LT(slice.end, 150);
    }
  EXPECT_GE(estimate.cycles, 5000);
}

// 32 bytes of 128 + 96 rows take 56 cycles from shared memory, of which the
// array uses 48.
TEST(Timeline, OperandFetch) {
  Timeline timeline(oneSm(1.3));
  Event mma = eventOf(EventKind::Mma, 0);
  mma.m = 128;
  mma.n = 96;
  mma.k = 16;
  for (unsigned i = 0; i != 100; ++i)
    timeline.add(mma);
  Estimate estimate = timeline.finish();
  EXPECT_NEAR(estimate.cycles, 100 * 56, 5);
  EXPECT_NEAR(estimate.shares[size_t(Use::OperandFetch)], 8.0 / 56, 0.001);
  EXPECT_NEAR(estimate.tensorCoreBusy, 48.0 / 56, 0.001);
  double sum =
      std::accumulate(estimate.shares.begin(), estimate.shares.end(), 0.0);
  EXPECT_NEAR(sum, 1, 1e-9);
}

// One MMA from issue to the thread that its commit releases: 136 + 128 and 12
// of a burst; four take 3 * 128 more.
TEST(Timeline, CommitLatency) {
  for (unsigned count : {1u, 4u}) {
    Timeline timeline(oneSm(1.3));
    Event mma = eventOf(EventKind::Mma, 0);
    mma.m = 128;
    mma.n = 256;
    mma.k = 16;
    for (unsigned i = 0; i != count; ++i)
      timeline.add(mma);
    timeline.add(eventOf(EventKind::Commit, 0));
    timeline.add(barrier(EventKind::AsyncArrive, 0, 8, 0));
    timeline.add(barrier(EventKind::Wait, 1, 8, 0));
    EXPECT_NEAR(timeline.finish().cycles, 264 + 12 + (count - 1) * 128, 10);
  }
}

// An epilogue of 128 x 256 in bf16: 64 KiB at 30 bytes a cycle, whatever the
// number of warps.
TEST(Timeline, EpilogueIsBoundByItsStores) {
  Timeline timeline(oneSm(1.3));
  for (unsigned column = 0; column != 256; column += 32)
    for (uint32_t warp = 0; warp != 4; ++warp) {
      Event load = eventOf(EventKind::TensorLoad, warp);
      load.bytes = 32 * 128;
      load.before.globalStoredBytes = column ? 2048 : 0;
      timeline.add(load);
    }
  for (uint32_t warp = 0; warp != 4; ++warp) {
    Event exit = eventOf(EventKind::Exit, warp);
    exit.before.globalStoredBytes = 2048;
    timeline.add(exit);
  }
  Estimate estimate = timeline.finish();
  EXPECT_NEAR(estimate.cycles, 65536 / 30.0, 120);
  EXPECT_EQ(estimate.bound, "no matrix instruction");
}

/// Loads of rows, numbers `first` to `last` of the warp, whose results are used
/// at once.
LaneWork loaded(uint64_t bytes, uint32_t first = 1, uint32_t last = 1) {
  LaneWork work;
  work.globalLoadedBytes = bytes;
  work.firstLoad = first;
  work.lastLoad = work.usedLoad = last;
  return work;
}

// Rows of C that the threads of an epilogue load come after the 305 cycles of
// the L2 cache (FlashInfer competition) and at TMA's 164 GB/s; what other warps
// load other CTAs hide.
TEST(Timeline, EpilogueWaitsForWhatItLoads) {
  for (bool drains : {true, false}) {
    Timeline timeline(oneSm(1.3));
    Event load =
        eventOf(drains ? EventKind::TensorLoad : EventKind::TensorWait, 0);
    load.bytes = 4096;
    timeline.add(load);
    Event exit = eventOf(EventKind::Exit, 0);
    exit.before = loaded(2048);
    timeline.add(exit);
    double expected = drains ? 4096 / 53.0 + 305 + 2048 * 1.3 / 164 : 40;
    EXPECT_NEAR(timeline.finish().cycles, expected, 1);
  }
}

// A warp that writes numbers to shared memory for the epilogue waits for those
// that it loads.
TEST(Timeline, WhoBringsNumbersWaitsForThem) {
  for (uint64_t stored : {0, 512}) {
    Timeline timeline(oneSm(1.3));
    Event arrival = barrier(EventKind::Arrive, 0, 8, 0), exit;
    arrival.before = loaded(4096);
    arrival.before.sharedStoredBytes = stored;
    timeline.add(arrival);
    timeline.add(exit);
    double there = stored ? 305 + 4096 * 1.3 / 164 : 0;
    EXPECT_NEAR(timeline.finish().cycles, there + 24, 1);
  }
}

// So it does for the first ones, which it loads before it has written any.
TEST(Timeline, WhoBringsNumbersWaitsForTheFirst) {
  for (uint64_t stored : {0, 512}) {
    Timeline timeline(oneSm(1.3));
    Event first = barrier(EventKind::Arrive, 0, 8, 0), second = first, exit;
    first.before = loaded(4096);
    first.before.usedLoad = 0;
    second.before.usedLoad = 1;
    second.before.sharedStoredBytes = stored;
    timeline.add(first);
    timeline.add(second);
    timeline.add(exit);
    double there = stored ? 305 + 4096 * 1.3 / 164 : 24;
    EXPECT_NEAR(timeline.finish().cycles, there + 24, 1);
  }
}

// What is loaded before a wait and used behind it is there when that is over.
TEST(Timeline, LoadsBeforeAWait) {
  for (bool isUsedBefore : {false, true}) {
    Timeline timeline(oneSm(1.3));
    Event load = eventOf(EventKind::TensorLoad, 0);
    load.bytes = 4096;
    timeline.add(load);
    Event arrival = barrier(EventKind::Arrive, 1, 8, 0);
    arrival.before.instructions = 300;
    timeline.add(arrival);
    Event wait = barrier(EventKind::Wait, 0, 8, 0), exit;
    wait.before = loaded(2048);
    if (!isUsedBefore)
      std::swap(wait.before.usedLoad, exit.before.usedLoad);
    timeline.add(wait);
    timeline.add(exit);
    double there = 4096 / 53.0 + 305 + 2048 * 1.3 / 164;
    EXPECT_NEAR(timeline.finish().cycles, isUsedBefore ? there + 30 : 423, 1);
  }
}

// A load takes 707 cycles from memory, 305 from the L2 cache (FlashInfer
// competition, QuickRunCUDA), where what was prefetched lies, and 120 from the
// L1 cache, which brings nothing through the port (docs/hardware.md).
TEST(Timeline, LoadsFromEachCache) {
  constexpr double kPort = 2048 * 1.3 / 164;
  const std::pair<uint64_t LaneWork::*, double> kPlaces[] = {
      {&LaneWork::globalLoadedBytes, 707 + kPort},
      {&LaneWork::knownToL2Bytes, 305 + kPort},
      {&LaneWork::knownToL1Bytes, 120}};
  for (auto [bytes, cycles] : kPlaces) {
    Conditions conditions = oneSm(1.3);
    conditions.memoryBytes = uint64_t(1) << 30;
    Timeline timeline(conditions);
    Event load = eventOf(EventKind::TensorLoad, 0);
    load.bytes = 4096;
    timeline.add(load);
    Event exit = eventOf(EventKind::Exit, 0);
    exit.before = loaded(0);
    exit.before.*bytes = 2048;
    timeline.add(exit);
    EXPECT_NEAR(timeline.finish().cycles, 4096 / 53.0 + cycles, 1);
  }
}

// A warp waits for a load where it uses its result, not for the ones behind
// it, and not where it does something else meanwhile.
TEST(Timeline, LoadsAheadOfTheirUse) {
  Timeline timeline(oneSm(1.3));
  Event load = eventOf(EventKind::TensorLoad, 0);
  load.bytes = 4096;
  timeline.add(load);
  Event asks = eventOf(EventKind::TensorWait, 0);
  asks.before = loaded(2048, 1, 2);
  asks.before.usedLoad = 0;
  timeline.add(asks);
  Event works = eventOf(EventKind::TensorWait, 0);
  works.before.instructions = 600;
  timeline.add(works);
  Event uses = eventOf(EventKind::Exit, 0);
  uses.before = loaded(2048, 3, 4);
  uses.before.usedLoad = 1;
  timeline.add(uses);
  EXPECT_NEAR(timeline.finish().cycles, 4096 / 53.0 + 40 + 600 + 40, 1);
}

// The emulator may run one warp's epilogue to its end before another's; they
// share the ports as if they had run side by side.
TEST(Timeline, OrderOfWarpsDoesNotMatter) {
  Timeline timeline(oneSm(1.3));
  for (uint32_t warp = 0; warp != 4; ++warp)
    for (unsigned i = 0; i != 9; ++i) {
      Event wait = eventOf(EventKind::TensorWait, warp);
      wait.before.instructions = 500;
      wait.before.globalStoredBytes = 2048;
      timeline.add(wait);
    }
  // Nine times 500 instructions and 40 of latency; 69 cycles of stores fit in
  // between, those of the last warp begin three of them later.
  EXPECT_NEAR(timeline.finish().cycles, 9 * 540, 80);
}

// The same where each chunk of a warp waits for the one before: the port, which
// 16 stores of 2048 bytes keep busy for 1092 cycles, never waits, as none of
// the warps is served to its end before the others. The first store comes 77 +
// 40 cycles after the start, the last warp's last load is told behind all
// stores of the others.
TEST(Timeline, WarpsTakeTurnsAtAPort) {
  Timeline timeline(oneSm(1.3));
  for (uint32_t warp = 0; warp != 4; ++warp) {
    for (unsigned chunk = 0; chunk != 4; ++chunk) {
      Event load = eventOf(EventKind::TensorLoad, warp);
      load.bytes = 4096;
      load.before.globalStoredBytes = chunk ? 2048 : 0;
      timeline.add(load);
      timeline.add(eventOf(EventKind::TensorWait, warp));
    }
    Event exit = eventOf(EventKind::Exit, warp);
    exit.before.globalStoredBytes = 2048;
    timeline.add(exit);
  }
  EXPECT_NEAR(timeline.finish().cycles, 16 * 2048 / 30.0 + 77 + 40, 1);
}

// Two warps of the epilogue on one quarter of the SM issue in turns, where
// warps on two quarters do not hinder each other.
TEST(Timeline, WarpsOfTheEpilogueShareAQuarter) {
  for (uint32_t other : {1u, 4u}) {
    Timeline timeline(oneSm(1.3));
    for (uint32_t warp : {0u, other}) {
      Event load = eventOf(EventKind::TensorLoad, warp);
      load.bytes = 2120;
      timeline.add(load);
      for (unsigned i = 0; i != 3; ++i) {
        Event wait = eventOf(EventKind::TensorWait, warp);
        wait.before.instructions = 200;
        timeline.add(wait);
      }
    }
    // 2120 bytes take one warp 40 cycles; a load's latency of 40 is hidden by
    // the other warp's instructions.
    double expected = other == 1 ? 40 + 3 * 240 : 40 + 6 * 200 + 40;
    EXPECT_NEAR(timeline.finish().cycles, expected, 1);
  }
}

// A warp that waits is replayed when all arrivals that were told before are.
TEST(Timeline, ArrivalsComeBeforeTheWait) {
  Timeline timeline(oneSm(1.3));
  Event arrive = barrier(EventKind::Arrive, 0, 8, 0);
  arrive.before.instructions = 500;
  timeline.add(eventOf(EventKind::TensorWait, 0));
  timeline.add(arrive);
  timeline.add(barrier(EventKind::Wait, 1, 8, 0));
  // 123 cycles from the arrival to the thread that it releases.
  EXPECT_DOUBLE_EQ(timeline.finish().cycles, 40 + 500 + 123);
}

// Both warps leave 22 + 2 * 2 cycles after the slower one has come.
TEST(Timeline, CtaBarrier) {
  Timeline timeline(oneSm(1.3));
  for (uint32_t warp : {0u, 1u}) {
    Event arrive = barrier(EventKind::BarrierArrive, warp, 1, 0);
    arrive.before.instructions = warp ? 500 : 10;
    timeline.add(arrive);
  }
  for (uint32_t warp : {0u, 1u})
    timeline.add(barrier(EventKind::BarrierWait, warp, 1, 0));
  Estimate estimate = timeline.finish();
  EXPECT_DOUBLE_EQ(estimate.cycles, 500 + 26);
  ASSERT_EQ(estimate.slices.size(), 2u);
  EXPECT_EQ(estimate.slices[0].track, "warp 0");
  EXPECT_DOUBLE_EQ(estimate.slices[0].start, 10);
  EXPECT_DOUBLE_EQ(estimate.slices[0].end, 526);
}

// The emulator tells ten loads of CTA 0 before the one that CTA 1 sent there at
// the time of the first: it is the second to come, not the last. At 2 GHz a
// load flies 700 cycles, and 82 bytes come in each.
TEST(Timeline, LoadsComeInTheOrderOfTheirTimes) {
  Timeline timeline(oneSm(2.0));
  Event load = eventOf(EventKind::Load, 0);
  load.bytes = 8200;
  for (int i = 0; i != 10; ++i)
    timeline.add(load);
  load.cta = 1;
  timeline.add(load);
  Event arrival = barrier(EventKind::AsyncArrive, 0, 8, 0);
  arrival.cta = 1;
  timeline.add(arrival);
  timeline.add(barrier(EventKind::Wait, 1, 8, 0));
  std::vector<std::pair<double, double>> loads;
  double released = 0;
  for (const Slice &slice : timeline.finish().slices)
    if (slice.track == "TMA loads")
      loads.push_back({slice.start, slice.end});
    else if (slice.track == "warp 1")
      released = slice.end;
  EXPECT_DOUBLE_EQ(released, 904);
  ASSERT_EQ(loads.size(), 11u);
  for (int i = 0; i != 11; ++i) {
    EXPECT_DOUBLE_EQ(loads[i].first, 704 + 100 * i);
    EXPECT_DOUBLE_EQ(loads[i].second, 804 + 100 * i);
  }
}

// 300 CTAs on 148 SMs are three waves; 70 GB through 7 TB/s take 10 ms.
// Two warps of a CTA send 3600 bytes each to another one, at 36 bytes a cycle;
// the last of them are seen there 200 cycles later.
TEST(Timeline, RemoteStoresShareAPort) {
  constexpr uint32_t kFull = 1 << 24;
  Timeline timeline(oneSm(1.3));
  for (uint32_t warp : {0, 1}) {
    Event send = eventOf(EventKind::RemoteStore, warp);
    send.bytes = 3600;
    send.target = 1;
    timeline.add(send);
    timeline.add(barrier(EventKind::AsyncArrive, warp, kFull, 0));
  }
  Event wait = barrier(EventKind::Wait, 0, kFull, 0);
  wait.cta = 1;
  timeline.add(wait);
  EXPECT_NEAR(timeline.finish().cycles, 2 * 100 + 200, 1e-9);
}

// Two warps that load 12800 bytes each from shared memory, 128 a cycle.
TEST(Timeline, SharedLoadsShareAPort) {
  Timeline timeline(oneSm(1.3));
  for (uint32_t warp : {0, 1}) {
    Event exit = eventOf(EventKind::Exit, warp);
    exit.before.sharedLoadedBytes = 12800;
    timeline.add(exit);
  }
  EXPECT_NEAR(timeline.finish().cycles, 200, 1e-9);
}

TEST(Timeline, WavesAndMemory) {
  Conditions conditions = oneSm(2.0);
  conditions.gridCtas = 300;
  Timeline waves(conditions);
  mainLoop(waves, 256, 64, 6, 50);
  Estimate estimate = waves.finish();
  EXPECT_EQ(estimate.waves, 3u);
  EXPECT_NEAR(estimate.microseconds, 3 * estimate.cycles / 2000, 1e-9);
  conditions.memoryBytes = 70'000'000'000;
  Timeline memory(conditions);
  mainLoop(memory, 256, 64, 6, 50);
  estimate = memory.finish();
  // Besides, the flight of the first load, 0.66 us, and 512 cycles of MMAs
  // after the last one, with two polls and issues.
  EXPECT_NEAR(estimate.microseconds, 10000 + 0.66 + 0.29, 0.02);
  EXPECT_EQ(estimate.bound, "memory");
  EXPECT_LT(estimate.tensorCoreBusy, 0.02);
}

// Roles name the tracks.
TEST(Timeline, Tracks) {
  Timeline timeline(oneSm(1.3));
  mainLoop(timeline, 64, 64, 2, 4);
  std::vector<std::string> tracks;
  for (const Slice &slice : timeline.finish().slices)
    if (tracks.empty() || tracks.back() != slice.track)
      tracks.push_back(slice.track);
  EXPECT_EQ(tracks,
            (std::vector<std::string>{"TMA loads", "tensor core", "barriers",
                                      "warp 0 (TMA)", "warp 1 (MMA)"}));
}

} // namespace
