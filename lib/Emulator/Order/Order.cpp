//===- Order.cpp - edges between warps and asynchronous operations --------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Order.h"
#include "../Instructions/Access.h"

#include "blockscale/Emulator/Hazards.h"

namespace blockscale::emulator::machine {

//===----------------------------------------------------------------------===//
// Edges
//===----------------------------------------------------------------------===//

Order::Order(Cluster &cluster)
    : cluster(cluster), locations(cluster.grid.memoryOrder->rows) {
  parts.push_back({Kind::Previous});
}

void Order::start(Warp &warp) {
  warp.order = std::make_unique<WarpOrder>();
  warp.order->component = Component(parts.size());
  Part part{Kind::Warp};
  part.warp = &warp;
  parts.push_back(part);
  warp.order->clock.raise({warp.order->component, 1});
}

void Order::tick(Warp &warp) {
  Stamp stamp = now(warp);
  warp.order->clock.raise({stamp.component, stamp.time + 1});
}

void Order::release(Warp &warp, Clock &into, bool relaxed) {
  if (relaxed)
    into.joinRelaxed(warp.order->clock);
  else
    into.join(warp.order->clock);
  tick(warp);
}

/// What a warp released comes back to it: its lanes have met there. Which of
/// them released and which acquires is not told apart.
void Order::acquire(Warp &warp, const Clock &from, bool relaxed) {
  WarpOrder &own = *warp.order;
  if (relaxed)
    return own.clock.joinRelaxed(from);
  own.lanes.meetAll(from.at(own.component));
  own.clock.join(from);
}

void Order::acquire(WarpOrder &own, const Message &from) {
  if (from.own && from.cluster == cluster.id)
    own.lanes.meetAll(from.own->at(own.component));
  if (const Times *times = from.happens.of(cluster.id))
    own.lanes.meetAll(times->at(own.component));
  own.clock.join(from, cluster.id);
}

void Order::meetLanes(Warp &warp, uint32_t lanes) {
  WarpOrder &own = *warp.order;
  uint32_t time = now(warp).time;
  if (warp.live & ~lanes)
    own.lanes.meet(time, lanes);
  else
    own.lanes.meetAll(time);
  tick(warp);
}

void LaneOrder::meetAll(uint32_t time) {
  all = std::max(all, time);
  some.erase(std::remove_if(some.begin(), some.end(),
                            [&](Meeting one) { return one.time <= all; }),
             some.end());
}

void LaneOrder::meet(uint32_t time, uint32_t lanes) {
  // Older ones count as met by all: at worst a race goes unseen.
  constexpr size_t kKept = 32;
  if (some.size() == kKept)
    meetAll(some[kKept / 2].time);
  some.push_back({time, lanes});
}

bool LaneOrder::met(LaneCode before, LaneCode now, uint32_t time) const {
  if (allMet(time) || before == now || before == kNoLane || now == kNoLane)
    return true;
  // Of several readers nobody knows which have met.
  if (before == kSeveralLanes || now == kSeveralLanes)
    return !some.empty();
  uint32_t knows = 1u << before;
  for (Meeting one : some)
    if (time <= one.time && knows & one.lanes)
      knows |= one.lanes;
  return knows >> now & 1;
}

bool Order::knows(const Warp &warp, Stamp stamp, View view) const {
  return warp.order->clock.knows(resolve(stamp), view);
}

//===----------------------------------------------------------------------===//
// Queues and transactions
//===----------------------------------------------------------------------===//

Component Order::queue(const Warp &warp, unsigned lane, Queue queue) {
  bool perWarp = queue == Queue::CopyAsync || queue == Queue::TensorLoad ||
                 queue == Queue::TensorStore || queue == Queue::Warpgroup;
  unsigned key = unsigned(queue) << 5 | (perWarp ? 0 : lane);
  auto [it, added] =
      queues.try_emplace({warp.order->component, key}, Component(parts.size()));
  if (added) {
    Part part{Kind::Queue};
    part.warp = &warp;
    part.queue = queue;
    parts.push_back(part);
  }
  return it->second;
}

Stamp Order::issue(const Warp &warp, unsigned lane, Queue kind) {
  Component component = queue(warp, lane, kind);
  return {component, ++parts[component].issued};
}

Stamp Order::last(const Warp &warp, unsigned lane, Queue kind) {
  Component component = queue(warp, lane, kind);
  return {component, parts[component].issued};
}

void Order::observe(Warp &warp, Stamp stamp) { warp.order->clock.raise(stamp); }

std::shared_ptr<const Clock>
Order::covered(Warp &warp, unsigned lane, std::initializer_list<Queue> queues) {
  auto clock = std::make_shared<Clock>();
  clock->joinSome(warp.order->clock, [&](Component component) {
    return parts[component].kind != Kind::Warp;
  });
  for (Queue queue : queues)
    clock->raise(last(warp, lane, queue));
  return clock;
}

Stamp Order::begin(BarrierOrder &barrier, const Origin &origin,
                   BarrierVisit::Kind kind) {
  operations.push_back(
      {{kOperation, 0}, &barrier, barrier.completions, origin, kind});
  return {kOperation, uint32_t(operations.size() - 1)};
}

Stamp Order::predict(Stamp stamp) const {
  if (stamp.component != kOperation)
    return stamp;
  const Operation &op = operations[stamp.time];
  return {op.barrier->component, op.begun + 1};
}

void Order::end(const Origin &origin, Stamp operation,
                BarrierVisit::Kind kind) {
  Operation &op = operations[operation.time];
  bool answers = kind == BarrierVisit::Answer;
  if (op.begun != op.barrier->completions)
    reportHazard(cluster, origin,
                 answers ? Hazard::LaunchControlMisused
                         : Hazard::BytesUnexpected,
                 FindingKind::MBarrier,
                 std::string("the phase of the mbarrier in which the ") +
                     (answers ? "try_cancel" : "copy") +
                     " was issued ended before it was complete" +
                     (answers ? ": it must expect 16 bytes" : ""),
                 op.barrier->offset);
  op.stamp = {op.barrier->component, op.barrier->completions + 1};
}

//===----------------------------------------------------------------------===//
// mbarriers
//===----------------------------------------------------------------------===//

BarrierOrder &Order::barrier(Cta &cta, uint32_t offset) {
  BarrierOrder *&entry = barrierAt[{cta.rank, offset}];
  if (!entry) {
    barriers.emplace_back();
    entry = &barriers.back();
    entry->cta = &cta;
    entry->offset = offset;
    entry->component = Component(parts.size());
    Part part{Kind::Barrier};
    part.barrier = entry;
    parts.push_back(part);
  }
  return *entry;
}

void Order::initialised(Warp &warp, BarrierOrder &barrier, uint32_t line) {
  barrier.init = now(warp);
  barrier.initLine = line;
  barrier.initReported = false;
}

void Order::use(const Origin &origin, Warp &warp, BarrierOrder &barrier) {
  const Clock &clock = warp.order->clock;
  if (barrier.initReported || clock.knows(barrier.init) ||
      clock.knows(barrier.init, View::BarrierInit))
    return;
  barrier.initReported = true;
  // The init happened before, but came after the fence: only the relaxed
  // barriers of a cluster tell.
  if (clock.knows(barrier.init, View::Relaxed) &&
      clock.at(barrier.init.component, View::BarrierInit))
    return reportHazard(
        cluster, origin, Hazard::InitAfterFence, FindingKind::MBarrier,
        "the mbarrier is initialised at line " +
            std::to_string(barrier.initLine) + ", after fence.mbarrier_init",
        barrier.offset);
  reportHazard(cluster, origin, Hazard::InitNotVisible, FindingKind::MBarrier,
               "the mbarrier is used without an edge from its mbarrier.init "
               "at line " +
                   std::to_string(barrier.initLine),
               barrier.offset);
}

void Order::arrived(BarrierOrder &barrier, const Origin &origin,
                    uint32_t bytes) {
  barrier.lastArrival = origin.line;
  if (origin.cta != barrier.cta)
    barrier.remoteArrival = origin.line;
  barrier.visit(BarrierVisit::Arrival, origin, bytes);
  if (arrivalLines.size() <= origin.line)
    arrivalLines.resize(origin.line + 1);
  arrivalLines[origin.line] = true;
}

void Order::passFenced(const Warp &warp, BarrierOrder &barrier, Scope scope) {
  if (const std::optional<Message> &message = warp.order->fenced[size_t(scope)])
    barrier.pending.join(*message, cluster.id);
}

bool BarrierOrder::countsAnswers() const {
  bool answers = false;
  for (const BarrierVisit &one : visits) {
    if (one.kind == BarrierVisit::Copy || one.kind == BarrierVisit::Multicast)
      return false;
    answers |= one.kind == BarrierVisit::Answer;
  }
  return answers;
}

void Order::complete(BarrierOrder &barrier) {
  std::swap(barrier.visits, barrier.visitsBefore);
  barrier.visits.clear();
  barrier.remoteArrivalBefore = std::exchange(barrier.remoteArrival, 0);
  ++barrier.completions;
  barrier.pending.raise({barrier.component, barrier.completions});
  barrier.done = barrier.pending;
}

bool Order::tested(const Origin &origin, Warp &warp, BarrierOrder &barrier,
                   const Test &test) {
  std::vector<WaitNote> &notes = warp.order->waits;
  auto note = std::find_if(notes.begin(), notes.end(), [&](WaitNote &one) {
    return one.barrier == &barrier;
  });
  if (note == notes.end())
    note = notes.insert(notes.end(), WaitNote{&barrier, true});
  bool polling = !note->succeeded && note->parity == test.parity;
  if (polling && barrier.completions >= note->completions + 2)
    reportHazard(cluster, origin, Hazard::TwoPhasesBehind,
                 FindingKind::MBarrier,
                 "the mbarrier has completed " +
                     std::to_string(barrier.completions - note->completions) +
                     " phases while this wait polled for one",
                 barrier.offset);
  if (test.succeeded || !polling)
    note->completions = barrier.completions;
  note->succeeded = test.succeeded;
  note->relaxed = test.relaxed;
  note->parity = test.parity;
  if (!test.succeeded)
    return !polling;
  acquire(warp, barrier.done, test.relaxed);
  if (test.relaxed)
    warp.order->seenOnBarriers.join(barrier.done);
  else if (test.scope == Scope::Cta && barrier.remoteArrivalBefore)
    reportHazard(cluster, origin, Hazard::WaitScope, FindingKind::MBarrier,
                 "wait with scope .cta for a phase in which another CTA "
                 "arrived at line " +
                     std::to_string(barrier.remoteArrivalBefore),
                 barrier.offset);
  return false;
}

//===----------------------------------------------------------------------===//
// Fences and locations
//===----------------------------------------------------------------------===//

void Order::fence(Warp &warp, Scope scope) {
  WarpOrder &own = *warp.order;
  for (size_t i = 0; i <= size_t(scope); ++i)
    acquire(own, std::exchange(own.seen[i], {}));
  acquire(warp, std::exchange(own.seenOnBarriers, {}));
  Message message = own.clock.message(cluster.id, now(warp));
  for (size_t i = 0; i <= size_t(scope); ++i)
    own.fenced[i] = message;
  tick(warp);
}

void Order::fenceProxyAsync(Warp &warp, bool shared, bool global) {
  WarpOrder &own = *warp.order;
  ++own.proxyFences;
  if (shared) {
    Component copies = queue(warp, 0, Queue::CopyAsync);
    own.clock.raise(now(warp), View::FencedShared);
    own.clock.raise({copies, own.clock.at(copies)}, View::FencedShared);
    own.clock.promote(View::ReachedShared);
  }
  if (global)
    own.clock.promote(View::ReachedGlobal);
  tick(warp);
}

void Order::fenceBarrierInit(Warp &warp) {
  WarpOrder &own = *warp.order;
  own.clock.raise(now(warp), View::BarrierInit);
  tick(warp);
}

/// A later acquire of a warp knows what its earlier ones did.
static void keepAcquire(std::vector<MapAcquire> &all, Stamp by,
                        const Clock &clock) {
  for (MapAcquire &one : all)
    if (one.by.component == by.component) {
      one = {by, clock};
      return;
    }
  all.push_back({by, clock});
}

void Order::fenceTensorMap(Warp &warp, bool release, bool acquire,
                           uint64_t address) {
  WarpOrder &own = *warp.order;
  if (release)
    own.clock.raise(now(warp), View::MapReleased);
  if (acquire)
    keepAcquire(mapAcquires[address], now(warp), own.clock);
  tick(warp);
}

void Order::acquireFrom(Warp &warp, const Locations &from, uint64_t address,
                        const Sync &sync) {
  WarpOrder &own = *warp.order;
  uint64_t version = from.version(address);
  WarpOrder::Look &look = own.looks[address / 4 % own.looks.size()];
  if (!version || (look.address == address && look.version == version &&
                   look.acquired == sync.acquires && look.scope == sync.scope))
    return;
  look = {address, version, sync.acquires, sync.scope};
  bool apart = !sync.acquires && cluster.grid.memoryOrder->narrowFences;
  Received found = from.read(address, placeOf(warp), sync.scope, apart);
  for (const Message &message : found)
    if (!message.happens.empty() ||
        (message.own && message.cluster != cluster.id))
      cluster.grid.memoryOrder->meet();
  for (size_t i = 0; i != found.size(); ++i)
    if (sync.acquires)
      acquire(own, found[i]);
    else
      own.seen[i].join(found[i]);
}

void Order::releaseTo(Warp &warp, Locations &to, uint64_t address,
                      const Sync &sync) {
  WarpOrder &own = *warp.order;
  Place place = placeOf(warp);
  if (sync.releases) {
    Message message = own.clock.message(cluster.id, now(warp));
    to.write(address, place, sync.scope, &message, sync.atomic);
    return tick(warp);
  }
  // A fence with a narrow scope makes a narrow release of a wide store. Each
  // wider one came no later, so what it covers is a part of that.
  bool kept = sync.atomic;
  for (size_t i = 0; i <= size_t(sync.scope); ++i) {
    const std::optional<Message> &message = own.fenced[i];
    bool last = i == size_t(sync.scope);
    if (!last && message && own.fenced[i + 1] &&
        message->own == own.fenced[i + 1]->own)
      continue;
    if (message || last)
      to.write(address, place, Scope(i), message ? &*message : nullptr, kept);
    kept |= message.has_value();
  }
}

void Order::synchronise(Warp &warp, Cta *cta, uint64_t address,
                        const Sync &sync) {
  // Shared memory is this cluster's alone.
  std::unique_lock<std::mutex> guard;
  Locations *at = &locations;
  if (!cta) {
    GridOrder::Shard &shard = cluster.grid.memoryOrder->shardOf(address);
    guard = std::unique_lock<std::mutex>(shard.lock);
    at = &shard.locations;
  }
  if (sync.reads)
    acquireFrom(warp, *at, address, sync);
  if (sync.writes)
    releaseTo(warp, *at, address, sync);
}

static bool isNarrowFence(const Record &r) {
  return r.instruction &&
         (r.instruction->opcode == Opcode::Fence ||
          r.instruction->opcode == Opcode::Membar) &&
         scopeOf(*r.instruction) != Scope::Gpu;
}

GridOrder::GridOrder(const Program &program)
    : narrowFences(std::any_of(program.code.begin(), program.code.end(),
                               isNarrowFence)) {
  for (unsigned i = 0; i != kShards; ++i)
    shards.emplace_back(rows);
}

void GridOrder::presetPrevious(uint64_t address, uint64_t bytes) {
  PastAccess event;
  event.stamp = {kPreviousGrids, 1};
  for (Shard &shard : shards)
    shard.shadow.preset(address, bytes, event);
}

//===----------------------------------------------------------------------===//
// Bulk groups
//===----------------------------------------------------------------------===//

void Order::commitGroup(Warp &warp, unsigned lane, bool copies) {
  WarpOrder &own = *warp.order;
  auto &groups = (copies ? own.copies : own.bulk)[lane];
  groups.ends.push_back(
      last(warp, lane, copies ? Queue::CopyAsync : Queue::BulkRead).time);
}

void Order::waitGroup(Warp &warp, unsigned lane, bool copies, size_t keep,
                      bool readOnly, bool all) {
  WarpOrder &own = *warp.order;
  auto &groups = (copies ? own.copies : own.bulk)[lane];
  uint32_t time = 0;
  if (all)
    time = last(warp, lane, Queue::CopyAsync).time;
  else if (groups.ends.size() > keep)
    time = groups.ends[groups.ends.size() - keep - 1];
  groups.emptyWait |= !copies && groups.ends.empty();
  groups.waited |= !groups.ends.empty();
  if (!time)
    return;
  if (copies)
    return observe(warp, {queue(warp, lane, Queue::CopyAsync), time});
  observe(warp, {queue(warp, lane, Queue::BulkRead), time});
  if (!readOnly)
    observe(warp, {queue(warp, lane, Queue::BulkWrite), time});
}

void Order::checkUnawaited(const Cta &cta) {
  if (!cluster.findings.empty())
    return; // said before, by what used the bytes too early
  for (const Operation &op : operations) {
    if (op.barrier->cta != &cta)
      continue;
    bool seen = false;
    for (const auto &warp : cta.warps)
      seen |= warp->order->clock.knows(op.stamp, View::Relaxed);
    if (seen)
      continue;
    bool answer = op.kind == BarrierVisit::Answer;
    reportHazard(cluster, op.origin,
                 answer ? Hazard::LaunchControlMisused : Hazard::ExitedCta,
                 FindingKind::Race,
                 "the CTA of rank " + std::to_string(cta.rank) +
                     " ends, and none of its warps has waited for this " +
                     (answer ? "answer" : "copy into it"),
                 op.barrier->offset);
  }
}

void Order::checkExit(const Cta &cta) {
  checkUnawaited(cta);
  for (const auto &warp : cta.warps)
    for (const auto &[lane, groups] : warp->order->bulk)
      if (Stamp stamp = last(*warp, lane, Queue::BulkRead);
          !knows(*warp, stamp))
        // A thread that waits for earlier groups keeps its buffers apart by
        // that, and relies on the hardware for the last ones.
        reportHazard(
            cluster,
            {const_cast<Cta *>(&cta), int(warp->index), int(lane), groups.line},
            groups.waited ? Hazard::LastBulkUnawaited
                          : Hazard::ExitBeforeBulkRead,
            FindingKind::Race,
            "the CTA ends while this bulk operation may still read "
            "its shared memory: no cp.async.bulk.wait_group followed");
}

void reportHazard(Cluster &cluster, const Origin &origin, Hazard hazard,
                  FindingKind kind, std::string message, uint64_t address) {
  report(cluster, origin, kind, std::move(message), address, hazard);
}

} // namespace blockscale::emulator::machine
