//===- Replay.cpp - replay events with the throughput model ---------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Replay.h"

#include <algorithm>

using namespace blockscale;
using namespace blockscale::timeline;
using emulator::EventKind;

namespace {

/// Cycles of a warp for an instruction without a unit of its own: the least
/// there is. Nobody measured what the mix of a kernel takes.
constexpr double kInstructionCycles = 1;
/// Cycles of the issuing thread for an asynchronous operation (assumed).
constexpr double kIssueCycles = 4;
/// Cycles of a poll of an mbarrier that succeeds: an arrival and a test take 54
/// together, the arrival 24 (QuickRunCUDA).
constexpr double kPollCycles = 30;
constexpr unsigned kRankShift = 24;

hw::MmaKind kindOf(emulator::MmaKind kind) {
  switch (kind) {
  case emulator::MmaKind::F16:
  // Nobody has published the rate of ti16, whose operands are as large.
  case emulator::MmaKind::TI16:
    return hw::MmaKind::F16;
  case emulator::MmaKind::TF32:
    return hw::MmaKind::TF32;
  case emulator::MmaKind::F8F6F4:
    return hw::MmaKind::F8F6F4;
  case emulator::MmaKind::I8:
    return hw::MmaKind::I8;
  case emulator::MmaKind::MXF8F6F4:
    return hw::MmaKind::MXF8F6F4;
  case emulator::MmaKind::MXF4:
    return hw::MmaKind::MXF4;
  case emulator::MmaKind::MXF4NVF4:
    return hw::MmaKind::MXF4NVF4;
  }
  return hw::MmaKind::F16;
}

std::string shapeName(const emulator::Event &event) {
  return std::string(emulator::name(event.mma)) + " " +
         std::to_string(event.m) + " x " + std::to_string(event.n) + " x " +
         std::to_string(event.k);
}

std::string hexName(uint32_t value) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (; value; value >>= 4)
    text.insert(text.begin(), kDigits[value & 15]);
  return "0x" + (text.empty() ? "0" : text);
}

double &at(UseTimes &times, Use use) { return times[size_t(use)]; }

/// How long the loads of `chip` take, against those of B200. On sm_107 only the
/// round trip of a stage as a whole was fitted, to published kernels; flight
/// and transfer, which make most of it, are taken to be shorter by as much.
double loadShare(hw::Chip chip) {
  constexpr double kStageBytes = 32 << 10;
  return hw::stageRoundTripMicroseconds(chip, kStageBytes) /
         hw::stageRoundTripMicroseconds(kStageBytes);
}

} // namespace

Timeline::Replay::Replay(const Conditions &conditions)
    : conditions(conditions),
      clockGhz(conditions.clockGhz ? conditions.clockGhz
                                   : conditions.part.boostMhz / 1e3) {
  double active =
      std::min<double>(conditions.part.smCount, conditions.gridCtas);
  double l2 = hw::kL2TerabytesPerSecond * 1e3 * conditions.part.smCount /
              hw::kMeasuredSms / active;
  double share = loadShare(conditions.part.chip);
  loadBytesPerCycle =
      std::min(hw::kTmaGigabytesPerSecond / share, l2) / clockGhz;
  bool fitsL2 = conditions.memoryBytes <= hw::kL2OperandBytes;
  loadLatency =
      cyclesOf(fitsL2 ? hw::kTmaL2Latency : hw::kTmaMemoryLatency) * share;
}

void Timeline::Replay::slice(const Event &event, TrackKind track, double start,
                             double end, std::string name, uint32_t index) {
  slices.push_back({event.cta, track, index, event.lanes, start, end,
                    event.line, std::move(name)});
}

//===----------------------------------------------------------------------===//
// Between events
//===----------------------------------------------------------------------===//

/// When what a warp loads from global memory is there. What was prefetched lies
/// in the L2 cache by then, as kernels ask for it long before.
double Timeline::Replay::request(const Event &event, const LaneClock &lane) {
  const emulator::LaneWork &work = event.before;
  uint64_t bytes = work.globalLoadedBytes + work.knownToL2Bytes;
  if (!bytes)
    return lane.now + hw::kL1LatencyCycles;
  bool fitsL2 = conditions.memoryBytes <= hw::kL2OperandBytes;
  double latency = fitsL2 || !work.globalLoadedBytes ? hw::kL2LatencyCycles
                                                     : hw::kMemoryLatencyCycles;
  double cycles = double(bytes) / loadBytesPerCycle;
  double start =
      ports[event.cta].load.reserve(lane.now + latency, cycles, slices.size());
  slice(event, TrackKind::Load, start, start + cycles,
        "ld.global, " + std::to_string(bytes) + " bytes");
  return start + cycles;
}

/// Loads of a warp of the epilogue, or of one that brings numbers for it to
/// shared memory, are under way until their results are used: no other CTA of
/// the SM hides them. Those between two events come together.
void Timeline::Replay::loadRows(const Event &event, LaneClock &lane) {
  WarpState &warp = warpOf(event);
  const emulator::LaneWork &work = event.before;
  if (!conditions.countsRowLoads || !(warp.drains || warp.provides))
    return;
  if (work.lastLoad)
    warp.loadsUnderWay[work.lastLoad] = {work.firstLoad, request(event, lane)};
  auto used = warp.loadsUnderWay.lower_bound(work.usedLoad);
  if (work.usedLoad && used != warp.loadsUnderWay.end() &&
      used->second.first <= work.usedLoad)
    waitUntil(event, lane, {used->second.there, Use::Epilogue},
              "wait for loads");
  for (auto load = warp.loadsUnderWay.begin();
       load != warp.loadsUnderWay.end();)
    load = load->second.there <= lane.now ? warp.loadsUnderWay.erase(load)
                                          : std::next(load);
}

/// Warps of the epilogue on one quarter of an SM issue in turns. What is short
/// finds room among the instructions of the other warp, so what other roles or
/// one lane alone do between two events is not counted either.
void Timeline::Replay::issue(const Event &event, LaneClock &lane) {
  constexpr uint32_t kWholeWarp = 0xFFFFFFFF;
  constexpr double kShort = 32;
  double cycles = double(event.before.instructions) * kInstructionCycles;
  if (cycles < kShort || event.lanes != kWholeWarp || !warpOf(event).drains)
    return;
  SmPorts &port = ports[event.cta];
  lane.now =
      port.issue[event.warp % port.issue.size()].reserve(lane.now, cycles);
}

/// What the warp did on its own: instructions, and pipes that the warps of an
/// SM share. The slowest decides.
void Timeline::Replay::work(const Event &event, LaneClock &lane) {
  const emulator::LaneWork &done = event.before;
  loadRows(event, lane);
  issue(event, lane);
  double start = lane.now;
  lane.now += double(done.instructions) * kInstructionCycles;
  SmPorts &port = ports[event.cta];
  double converting =
      double(done.halfConversions) / hw::kHalfConvertsPerCycle +
      double(done.narrowConversions) / hw::kNarrowConvertsPerCycle;
  if (converting > 0)
    lane.now = std::max(lane.now,
                        port.convert.reserve(start, converting) + converting);
  double reading = double(done.sharedLoadedBytes) / hw::kSharedBytesPerCycle;
  if (reading > 0)
    lane.now =
        std::max(lane.now, port.sharedLoad.reserve(start, reading) + reading);
  if (done.globalStoredBytes == 0)
    return;
  double storing =
      double(done.globalStoredBytes) / hw::kEpilogueStoreBytesPerCycle;
  double first = port.store.reserve(start, storing);
  slice(event, TrackKind::Store, first, first + storing,
        "st.global, " + std::to_string(done.globalStoredBytes) + " bytes");
  lane.now = std::max(lane.now, first + storing);
}

void Timeline::Replay::waitUntil(const Event &event, LaneClock &lane,
                                 const PhaseEnd &end, std::string name) {
  if (end.time <= lane.now)
    return;
  slice(event, TrackKind::Warp, lane.now, end.time, std::move(name),
        event.warp);
  at(lane.waited, end.blame) += end.time - lane.now;
  lane.now = end.time;
}

void Timeline::Replay::lead(const Event &event) {
  WarpState &warp = warpOf(event);
  if (!warp.loads && !warp.multiplies)
    warp.leader = unsigned(__builtin_ctz(event.lanes));
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

void Timeline::Replay::load(const Event &event, LaneClock &lane) {
  lead(event);
  warpOf(event).loads = true;
  lane.now += kIssueCycles;
  double cycles = double(event.bytes) / loadBytesPerCycle;
  double start = ports[event.target].load.reserve(lane.now + loadLatency,
                                                  cycles, slices.size());
  Event target = event;
  target.cta = event.target;
  slice(target, TrackKind::Load, start, start + cycles,
        "load, " + std::to_string(event.bytes) + " bytes");
  lane.async = {start + cycles, Use::Stages};
}

void Timeline::Replay::store(const Event &event, LaneClock &lane) {
  double cycles = double(event.bytes) / hw::kEpilogueStoreBytesPerCycle;
  double start = ports[event.cta].store.reserve(lane.now, cycles);
  slice(event, TrackKind::Store, start, start + cycles,
        "TMA store, " + std::to_string(event.bytes) + " bytes");
  lane.stored = start + cycles;
  lane.now += kIssueCycles;
}

/// The lanes go on when the port has taken what they store.
void Timeline::Replay::storeRemote(const Event &event, LaneClock &lane) {
  double cycles = double(event.bytes) / hw::kRemoteStoreBytesPerCycle;
  double start = ports[event.cta].remoteStore.reserve(lane.now, cycles);
  slice(event, TrackKind::Store, start, start + cycles,
        "st.async, " + std::to_string(event.bytes) + " bytes");
  lane.now = std::max(lane.now + kInstructionCycles, start + cycles);
  lane.async = {start + cycles + hw::kRemoteArriveCycles, Use::Epilogue};
}

//===----------------------------------------------------------------------===//
// The tensor core
//===----------------------------------------------------------------------===//

Core &Timeline::Replay::coreOf(const Event &event) {
  // A pair shares one; its second half never issues.
  return cores[{event.ctaGroup == 2 ? event.cta & ~1u : event.cta, 0}];
}

double Timeline::Replay::occupy(Core &core, LaneClock &lane, double earliest,
                                double cycles) {
  double start = std::max(core.free, earliest);
  double gap = start - core.free, waited = 0;
  for (double time : lane.waited)
    waited += time;
  double share = waited > 0 ? std::min(1.0, gap / waited) : 0;
  for (size_t use = 0; use != kUses; ++use)
    core.times[use] += lane.waited[use] * share;
  at(core.times, Use::Other) += gap - waited * share;
  lane.waited = {};
  core.free = start + cycles;
  return start;
}

void Timeline::Replay::multiply(const Event &event, LaneClock &lane) {
  hw::MmaStep step = hw::mmaStep(kindOf(event.mma), event.k, event.sparse,
                                 event.ctaGroup, event.m, event.n);
  step.aFromTensorMemory = event.aInTensorMemory;
  double interval = hw::mmaIntervalCycles(step);
  double array = hw::mmaArrayCycles(step);
  lead(event);
  warpOf(event).multiplies = true;
  lane.now += kIssueCycles;
  Core &core = coreOf(event);
  double start = occupy(core, lane, std::max(lane.now, core.copied), interval);
  at(core.times, Use::Array) += array;
  at(core.times, hw::mmaLimit(step) == hw::MmaLimit::Issue
                     ? Use::Issue
                     : Use::OperandFetch) += interval - array;
  core.lastStart = start;
  core.lastLatency = hw::mmaLatencyCycles(step);
  core.copiedLast = false;
  slice(event, TrackKind::TensorCore, start, core.free, shapeName(event));
}

/// An SM has four tensor cores for mma.sync; the warps share them by number.
void Timeline::Replay::warpMultiply(const Event &event, LaneClock &lane) {
  constexpr unsigned kCoresPerSm = 4;
  double rate = hw::warpMmaFlopsPerCycle(kindOf(event.mma)) / kCoresPerSm;
  // Sparse instructions skip half of the logical K.
  double flops = 2.0 * event.m * event.n * event.k / (event.sparse ? 2 : 1);
  warpOf(event).multiplies = true;
  uint32_t index = event.warp % kCoresPerSm;
  Core &core = cores[{event.cta, index}];
  double start = occupy(core, lane, lane.now, flops / rate);
  at(core.times, Use::Array) += core.free - start;
  slice(event, TrackKind::TensorCore, start, core.free, shapeName(event),
        index);
  lane.now = core.free;
}

void Timeline::Replay::copyScales(const Event &event, LaneClock &lane) {
  lane.now += kIssueCycles;
  Core &core = coreOf(event);
  double start = std::max(core.copied, lane.now);
  core.copied = start + hw::tensorCopyCycles(double(event.bytes));
  core.copiedLast = true;
  slice(event, TrackKind::TensorCopy, start, core.copied, "tcgen05.cp");
}

/// Arrives when the MMAs and copies before it are done; the latency of an MMA
/// counts from its issue to the thread that is released.
void Timeline::Replay::commit(const Event &event, LaneClock &lane) {
  lane.now += kIssueCycles;
  Core &core = coreOf(event);
  double end = lane.now;
  if (core.lastLatency > 0)
    end = std::max(end, core.lastStart + core.lastLatency + hw::kBurstCycles);
  if (core.copiedLast)
    end = std::max(end, core.copied + hw::kTensorCopyLatencyCycles -
                            hw::tensorCopyCycles(4096));
  lane.async = {end, Use::Stages};
}

void Timeline::Replay::readTensor(const Event &event, LaneClock &lane) {
  warpOf(event).drains = true;
  double start = lane.now, bytes = double(event.bytes);
  double cycles = bytes / hw::kTensorLoadBytesPerCycleOfSm;
  lane.now =
      std::max(ports[event.cta].tensorLoad.reserve(start, cycles) + cycles,
               start + bytes / hw::kTensorLoadBytesPerCycle);
  slice(event, TrackKind::Warp, start, lane.now,
        "tcgen05.ld, " + std::to_string(event.bytes) + " bytes", event.warp);
}

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

void Timeline::Replay::arrive(const Event &event, LaneClock &lane) {
  PhaseEnd &phase = phases[{event.barrier, 0, event.phase}];
  if (event.kind == EventKind::AsyncArrive)
    return phase.reach(std::max(lane.async.time, phase.time), lane.async.blame);
  bool isRemote = event.barrier >> kRankShift != event.cta;
  lane.now += hw::kArriveCycles;
  double flight = isRemote ? hw::kRemoteArriveCycles
                           : hw::kArriveToWaiterCycles - hw::kArriveCycles;
  phase.reach(lane.now + flight,
              warpOf(event).drains ? Use::Epilogue : Use::Other);
}

void Timeline::Replay::wait(const Event &event, LaneClock &lane) {
  auto phase = phases.find({event.barrier, 0, event.phase});
  lane.now += kPollCycles;
  if (phase == phases.end())
    return;
  std::string name = "mbarrier " + hexName(event.barrier & 0xFFFFFF) +
                     " phase " + std::to_string(event.phase);
  slice(event, TrackKind::Barriers, phase->second.time, phase->second.time,
        name);
  waitUntil(event, lane, phase->second, "wait for " + name);
}

/// All warps leave when the last has come.
void Timeline::Replay::barrierWait(const Event &event, LaneClock &lane) {
  bool isCluster = event.barrier == emulator::kClusterBarrier;
  uint32_t cta = isCluster ? 0 : event.cta;
  auto [time, count] = gatherings[{event.barrier, cta, event.phase}];
  double cost =
      isCluster ? hw::kClusterBarrierCycles : hw::barrierCycles(count);
  waitUntil(event, lane, {time + cost, Use::Other},
            isCluster ? "wait for the cluster"
                      : "wait for barrier " + std::to_string(event.barrier));
}

/// Before the warp comes to it: the first numbers that it brings it loads
/// before it writes any.
void Timeline::Replay::foresee(const Event &event) {
  WarpState &warp = warpOf(event);
  warp.willDrain |= event.kind == EventKind::TensorLoad;
  if (!warp.willDrain)
    warp.provides |= event.before.sharedStoredBytes != 0;
}

void Timeline::Replay::add(const Event &event) {
  foresee(event);
  // What comes later than so many events hardly meets what they wait for.
  constexpr size_t kMostHeld = 1 << 16;
  order.hold(event);
  if (order.held() > kMostHeld)
    replayNext();
}

/// Lanes that come together go on when the last of them does.
LaneClock &Timeline::Replay::clockOf(const Event &event) {
  std::array<LaneClock, 32> &lanes = warpOf(event).lanes;
  unsigned last = unsigned(__builtin_ctz(event.lanes));
  for (unsigned i = last; i != 32; ++i)
    if (event.lanes >> i & 1 && lanes[i].now > lanes[last].now)
      last = i;
  return lanes[last];
}

void Timeline::Replay::replayNext() {
  Event event = order.next([&](const Event &e) { return clockOf(e).now; });
  WarpState &warp = warpOf(event);
  LaneClock lane = clockOf(event);
  work(event, lane);
  perform(event, lane);
  for (unsigned i = 0; i != 32; ++i)
    if (event.lanes >> i & 1)
      warp.lanes[i] = lane;
}

void Timeline::Replay::perform(const Event &event, LaneClock &lane) {
  switch (event.kind) {
  case EventKind::Load:
    return load(event, lane);
  case EventKind::Store:
    return store(event, lane);
  case EventKind::RemoteStore:
    return storeRemote(event, lane);
  case EventKind::StoreWait:
    return waitUntil(event, lane,
                     {lane.stored + (event.readOnly || lane.stored == 0
                                         ? 0
                                         : hw::kTmaStoreLatencyCycles),
                      Use::Epilogue},
                     "wait for stores");
  case EventKind::Mma:
    return multiply(event, lane);
  case EventKind::WarpMma:
    return warpMultiply(event, lane);
  case EventKind::TensorCopy:
    return copyScales(event, lane);
  case EventKind::Commit:
    return commit(event, lane);
  case EventKind::TensorLoad:
    return readTensor(event, lane);
  case EventKind::TensorStore:
    lane.now += double(event.bytes) / hw::kTensorStoreBytesPerCycle;
    return;
  case EventKind::TensorWait:
    lane.now += hw::kTensorLoadLatencyCycles;
    return;
  case EventKind::TensorAlloc:
    lane.now += conditions.gridCtas < conditions.part.smCount
                    ? hw::kTensorAllocCycles
                    : hw::kContendedTensorAllocCycles;
    return;
  case EventKind::Cancel:
    lane.now += kIssueCycles;
    lane.async = {lane.now + hw::kTryCancelCycles, Use::Other};
    return;
  case EventKind::Arrive:
  case EventKind::AsyncArrive:
    return arrive(event, lane);
  case EventKind::Wait:
    return wait(event, lane);
  case EventKind::BarrierArrive: {
    bool isCluster = event.barrier == emulator::kClusterBarrier;
    auto &[time, count] =
        gatherings[{event.barrier, isCluster ? 0 : event.cta, event.phase}];
    time = std::max(time, lane.now);
    ++count;
    return;
  }
  case EventKind::BarrierWait:
    return barrierWait(event, lane);
  case EventKind::Exit:
    return;
  }
}
