//===- OrderMemory.cpp - accesses that nothing orders ---------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Order.h"

#include "blockscale/Emulator/Hazards.h"

namespace blockscale::emulator::machine {

/// Judges one access, and names the rule it breaks.
class AccessCheck : public Judge {
public:
  AccessCheck(Order &order, const Warp &warp, const Touch &touch,
              const PastAccess &event, bool global)
      : order(order), clock(warp.order->clock), own(*warp.order), touch(touch),
        event(event), global(global) {}

  bool before(const PastAccess &e) const override {
    return reached(e, View::Happens);
  }

  bool clustersMet() const override {
    return order.cluster.grid.memoryOrder->met();
  }

  Verdict verdict(const PastAccess &e, bool wrote) const override {
    if (!before(e))
      return mayMeet(e, wrote) ? Verdict::Fine : Verdict::Unordered;
    if (!touch.async || e.is(PastAccess::Async) ||
        e.stamp.component == kPreviousGrids)
      return Verdict::Fine;
    if (global)
      return reached(e, View::ReachedGlobal) ? Verdict::Fine
             : wrote                         ? Verdict::Unfenced
                                             : Verdict::ReadUnfenced;
    if (reached(e, View::FencedShared))
      return Verdict::Fine;
    bool byOther = reached(e, View::ReachedShared);
    if (wrote)
      return byOther ? Verdict::FencedByOther : Verdict::Unfenced;
    return byOther ? Verdict::Fine : Verdict::ReadUnfenced;
  }

  void conflict(const PastAccess &e, bool wrote, Verdict verdict,
                uint64_t address) override {
    Hazard hazard =
        global ? globalRule(e, wrote, verdict) : sharedRule(e, wrote, verdict);
    std::string text = touch.async ? "asynchronous " : "";
    text += touch.write ? "write" : "read";
    text += wrote ? " of what " : " over what ";
    text += order.describe(e);
    text += wrote ? " wrote" : " read";
    if (e.line)
      text += " at line " + std::to_string(e.line);
    text += ending(verdict);
    reportHazard(order.cluster, touch.origin, hazard, FindingKind::Race,
                 std::move(text), address);
  }

  bool sinceLanesMet(const PastAccess &e) const override {
    return e.cluster == order.cluster.id &&
           e.stamp.component == own.component &&
           !own.lanes.allMet(e.stamp.time);
  }

  void lanesConflict(const PastAccess &e, LaneCode before, LaneCode now,
                     bool wrote, uint64_t address) override {
    if (own.lanes.met(before, now, e.stamp.time) || mayMeet(e, wrote))
      return;
    Origin origin = touch.origin;
    origin.lane = now < kSeveralLanes ? int(now) : -1;
    std::string text = touch.write ? "write" : "read";
    text += wrote ? " of what " : " over what ";
    text += before < kSeveralLanes ? "lane " + std::to_string(before)
                                   : std::string("several lanes");
    text += " of the same warp ";
    text += wrote ? "wrote" : "read";
    text += " at line " + std::to_string(e.line) +
            ", without bar.warp.sync (__syncwarp) between the two";
    reportHazard(order.cluster, origin, Hazard::LaneRace, FindingKind::Race,
                 std::move(text), address);
  }

private:
  /// Whether the two may meet without an edge.
  bool mayMeet(const PastAccess &e, bool wrote) const {
    // Kernels let several threads store one value: nobody can tell.
    bool same = event.is(PastAccess::Same) ||
                (wrote && !touch.write && e.is(PastAccess::Same));
    if (same && !touch.async && !e.is(PastAccess::Async))
      return true;
    return bothStrong(e);
  }

  static const char *ending(Verdict verdict) {
    switch (verdict) {
    case Verdict::Unfenced:
      return ", without fence.proxy.async after the write";
    case Verdict::FencedByOther:
      return ", with fence.proxy.async in another thread only";
    case Verdict::ReadUnfenced:
      return ", without fence.proxy.async after the read";
    default:
      return ", without an edge between the two";
    }
  }

  bool reached(const PastAccess &e, View view) const {
    if (e.cluster == order.cluster.id || e.stamp.component == kPreviousGrids)
      return clock.knows(order.resolve(e.stamp), view);
    return clock.knowsOther(e.cluster, e.stamp, view);
  }

  /// Whether both are strong, of one size, and each in the scope of the other.
  bool bothStrong(const PastAccess &e) const {
    if (!e.is(PastAccess::Strong) || !touch.strong || e.bytes != event.bytes)
      return false;
    Scope narrow = std::min(e.scope(), touch.scope);
    if (narrow == Scope::Gpu || e.cluster != order.cluster.id)
      return narrow == Scope::Gpu;
    const Warp *other = e.stamp.component == kOperation
                            ? nullptr
                            : order.parts[e.stamp.component].warp;
    return narrow == Scope::Cluster ||
           (other && other->cta == touch.origin.cta);
  }

  /// The warp that made an access of this cluster, if one did.
  const WarpOrder *authorOf(const PastAccess &e) const {
    if (e.cluster != order.cluster.id || e.stamp.component == kOperation)
      return nullptr;
    const Warp *warp = order.parts[e.stamp.component].warp;
    return warp ? warp->order.get() : nullptr;
  }

  /// A generic write that was not fenced: too early, skipped, or nowhere.
  Hazard unfencedRule(const PastAccess &e) const {
    const WarpOrder *author = authorOf(e);
    if (author && author->proxyFences)
      return Hazard::StoreAfterProxyFence;
    for (const Record &r : order.cluster.program().code)
      if (r.instruction && r.instruction->opcode == Opcode::FenceProxy &&
          r.instruction->has(Modifier::Async))
        return Hazard::ProxyFenceSkipped;
    return Hazard::NoProxyFence;
  }

  /// What the warp did at the mbarrier that it should have waited on.
  Hazard waitRule(const PastAccess &e) const {
    if (e.stamp.component != kOperation || e.cluster != order.cluster.id)
      return Hazard::UntestedWait;
    const BarrierOrder *barrier = order.operations[e.stamp.time].barrier;
    if (clock.knows(order.resolve(e.stamp), View::Relaxed))
      return Hazard::RelaxedOperation;
    for (const WaitNote &note : own.waits)
      if (note.barrier == barrier) {
        if (!note.succeeded)
          return Hazard::UntestedWait;
        if (note.completions == 0)
          return Hazard::WrongStartParity;
        return negativeBytes(*barrier) ? Hazard::BytesUnexpected
                                       : Hazard::OldPhase;
      }
    return own.waits.empty() ? Hazard::UntestedWait : Hazard::OtherBarrier;
  }

  /// The answer of a try_cancel is read again while the next one is on its way,
  /// or was never waited for.
  Hazard answerRule(const PastAccess &e) const {
    Hazard rule = waitRule(e);
    return rule == Hazard::OldPhase           ? Hazard::AnswerOverwritten
           : rule == Hazard::RelaxedOperation ? Hazard::RelaxedOperation
                                              : Hazard::LaunchControlMisused;
  }

  bool inQueue(const PastAccess &e, Queue queue) const {
    if (e.cluster != order.cluster.id || e.stamp.component == kOperation)
      return false;
    const Order::Part &part = order.parts[e.stamp.component];
    return part.kind == Order::Kind::Queue && part.queue == queue;
  }
  bool isTensorRead() const {
    return !touch.write &&
           (inQueue(event, Queue::Tensor1) || inQueue(event, Queue::Tensor2) ||
            inQueue(event, Queue::ReadA1) || inQueue(event, Queue::ReadA2) ||
            inQueue(event, Queue::Warpgroup));
  }

  static bool negativeBytes(const BarrierOrder &barrier) {
    int16_t index = barrier.cta->barrierAt[(barrier.offset - kSharedBase) / 8];
    return index >= 0 && barrier.cta->barriers[size_t(index)].tx() < 0;
  }

  /// The author of the read passed the barrier of this copy before it had
  /// completed any phase.
  bool startedEarly(const PastAccess &e) const {
    const WarpOrder *author = authorOf(e);
    if (!author || event.stamp.component != kOperation)
      return false;
    const BarrierOrder *barrier = order.operations[event.stamp.time].barrier;
    for (const WaitNote &note : author->waits)
      if (note.barrier == barrier && note.succeeded)
        return note.completions == 0;
    return false;
  }

  /// Somebody waited for bulk groups without having committed one.
  bool foreignWait() const {
    for (const auto &warp : touch.origin.cta->warps)
      for (const auto &[lane, groups] : warp->order->bulk)
        if (groups.emptyWait)
          return true;
    return false;
  }

  Hazard sharedRule(const PastAccess &e, bool wrote, Verdict verdict) const {
    if (wrote && e.is(PastAccess::Allocation) && verdict == Verdict::Unordered)
      return Hazard::AddressWithoutEdge;
    if (verdict == Verdict::FencedByOther)
      return Hazard::ProxyFenceElsewhere;
    if (verdict == Verdict::ReadUnfenced)
      return Hazard::NoProxyFenceAfterRead;
    if (verdict == Verdict::Unfenced)
      return isTensorRead() && inQueue(e, Queue::CopyAsync)
                 ? Hazard::NoProxyFenceAfterCopy
                 : unfencedRule(e);
    bool remote = event.is(PastAccess::Remote);
    if (wrote && e.is(PastAccess::Async) && touch.async && touch.write &&
        remote)
      return Hazard::PeerOverwritten;
    if (wrote && e.is(PastAccess::Answer) && !touch.async)
      return answerRule(e);
    if (wrote && (e.is(PastAccess::Async) || e.stamp.component == kOperation))
      return waitRule(e);
    if (!wrote && event.is(PastAccess::Answer))
      return Hazard::AnswerOverwritten;
    if (!wrote && e.is(PastAccess::Async)) {
      if (e.is(PastAccess::Bulk))
        return foreignWait() ? Hazard::ForeignWaitGroup
                             : Hazard::BulkSourceOverwritten;
      return touch.async && remote ? Hazard::PeerOverwritten
                                   : Hazard::OperandOverwritten;
    }
    if (wrote && e.is(PastAccess::Remote) && touch.async)
      return Hazard::RemoteStoreAndCopy;
    if (touch.async) {
      if (!wrote)
        return remote            ? Hazard::PeerOverwritten
               : startedEarly(e) ? Hazard::WrongStartParity
                                 : Hazard::ReadersOverwritten;
      return unfencedRule(e);
    }
    return reached(e, View::Relaxed) ? Hazard::RelaxedOperation
                                     : Hazard::SharedRace;
  }

  Hazard globalRule(const PastAccess &e, bool wrote, Verdict verdict) const {
    if (e.stamp.component == kPreviousGrids)
      return Hazard::PreviousGridUnawaited;
    if (verdict == Verdict::ReadUnfenced)
      return Hazard::NoProxyFenceAfterRead;
    if (verdict == Verdict::Unfenced)
      return unfencedRule(e);
    if (wrote && e.is(PastAccess::Bulk) && !touch.write)
      return Hazard::BulkResultReadEarly;
    if (!wrote && e.is(PastAccess::NonCoherent))
      return Hazard::NonCoherentLoad;
    return Hazard::GlobalRace;
  }

  Order &order;
  const Clock &clock;
  const WarpOrder &own;
  const Touch &touch;
  const PastAccess &event;
  bool global;
};

static PastAccess eventOf(uint64_t cluster, const Warp &warp,
                          const Touch &touch) {
  PastAccess event;
  event.cluster = cluster;
  const WarpOrder &own = *warp.order;
  event.stamp = touch.stamp ? *touch.stamp
                            : Stamp{own.component, own.clock.at(own.component)};
  event.line = touch.origin.line;
  event.flags = uint16_t(touch.flags | (touch.async ? PastAccess::Async : 0) |
                         (touch.nonCoherent ? PastAccess::NonCoherent : 0));
  if (touch.strong) {
    event.flags |= PastAccess::Strong;
    event.setScope(touch.scope);
    event.bytes = touch.bytes;
  }
  return event;
}

void Order::touchShared(Warp &warp, Cta &cta, const Range *ranges, size_t count,
                        const Touch &touch) {
  PastAccess event = eventOf(cluster.id, warp, touch);
  if (touch.origin.cta != &cta)
    event.flags |= PastAccess::Remote;
  if (touch.write && touch.async)
    for (const BarrierOrder &one : barriers) {
      if (one.cta != &cta)
        continue;
      int16_t index = cta.barrierAt[(one.offset - kSharedBase) / 8];
      uint64_t at = uint64_t(cta.rank) << kRankShift | one.offset;
      bool live = index >= 0 && cta.barriers[size_t(index)].live();
      for (size_t i = 0; live && i != count; ++i)
        if (ranges[i].address < at + 8 &&
            at < ranges[i].address + ranges[i].bytes)
          return reportHazard(cluster, touch.origin, Hazard::StoreOverBarrier,
                              FindingKind::MBarrier,
                              "copy over the bytes of a live mbarrier", at);
    }
  AccessCheck check(*this, warp, touch, event, false);
  shadow.touch(ranges, count, event, touch.write, check);
}

/// Reports what .nc may not read, if it is there.
void Order::checkNonCoherent(const Shadow &shadow, const Range &range,
                             const Touch &touch) {
  for (const PastAccess &writer : shadow.writers(range.address, range.bytes))
    if (writer.stamp.component != kPreviousGrids)
      return reportHazard(
          cluster, touch.origin, Hazard::NonCoherentLoad, FindingKind::Race,
          "ld.global.nc of what " + describe(writer) + " wrote at line " +
              std::to_string(writer.line) + " of the same grid",
          range.address);
}

bool GridOrder::isRead(const Region &region, uint64_t offset,
                       uint64_t bytes) const {
  uint64_t at = offset + region.base % (1 << ShadowPage::kShift);
  uint64_t end = at + bytes;
  for (at &= ~uint64_t(3); at < end;) {
    const ShadowPage *page =
        region.shadow[at >> ShadowPage::kShift].load(std::memory_order_acquire);
    if (!page)
      return false;
    uint64_t stop =
        std::min(end, ((at >> ShadowPage::kShift) + 1) << ShadowPage::kShift);
    for (; at < stop; at += 4)
      if (!page->load(at >> 2 & (ShadowPage::kWords - 1)).isRead())
        return false;
  }
  return true;
}

bool GridOrder::isRead(const Memory &memory, const Range *ranges,
                       size_t count) const {
  const Region *region = nullptr;
  for (size_t i = 0; i != count; ++i) {
    const Range &range = ranges[i];
    if (!region || range.address < region->base ||
        range.address - region->base >= region->size)
      region = memory.find(range.address, range.bytes);
    if (!region || !region->shadow ||
        !isRead(*region, range.address - region->base, range.bytes))
      return false;
  }
  return true;
}

void GridOrder::cover(std::vector<Region> &regions) {
  constexpr uint64_t kPage = 1 << ShadowPage::kShift;
  for (Region &region : regions) {
    if (!region.isTracked())
      continue;
    auto count = size_t((region.base % kPage + region.size) / kPage + 1);
    directories.emplace_back(new std::atomic<const ShadowPage *>[count]());
    region.shadow = directories.back().get();
  }
  for (Shard &shard : shards)
    shard.shadow.tell([&regions](uint64_t address, const ShadowPage *page) {
      for (Region &region : regions) {
        uint64_t first = region.base / kPage * kPage;
        if (region.shadow && address >= first &&
            address < region.base + region.size)
          region.shadow[(address - first) / kPage].store(
              page, std::memory_order_release);
      }
    });
}

void Order::touchGlobal(Warp &warp, const Range *ranges, size_t count,
                        const Touch &touch) {
  GridOrder &grid = *cluster.grid.memoryOrder;
  if (!touch.write && !grid.met() &&
      grid.isRead(cluster.grid.memory, ranges, count))
    return;
  PastAccess event = eventOf(cluster.id, warp, touch);
  event.stamp = predict(event.stamp);
  AccessCheck check(*this, warp, touch, event, true);
  constexpr size_t kParts = 64;
  Range parts[kParts];
  size_t filled = 0;
  auto flush = [&] {
    if (!filled)
      return;
    GridOrder::Shard &shard = grid.shardOf(parts[0].address);
    std::lock_guard<std::mutex> guard(shard.lock);
    if (touch.nonCoherent)
      for (size_t i = 0; i != filled; ++i)
        checkNonCoherent(shard.shadow, parts[i], touch);
    shard.shadow.touch(parts, filled, event, touch.write, check);
    filled = 0;
  };
  for (size_t i = 0; i != count; ++i)
    for (Range left = ranges[i]; left.bytes;) {
      uint64_t block = left.address / GridOrder::kBlock;
      uint64_t room = (block + 1) * GridOrder::kBlock - left.address;
      Range part = left.from(left.address,
                             uint32_t(std::min<uint64_t>(left.bytes, room)));
      if (filled == kParts ||
          (filled && parts[0].address / GridOrder::kBlock != block))
        flush();
      parts[filled++] = part;
      left = left.from(left.address + part.bytes, left.bytes - part.bytes);
    }
  flush();
}

void Order::useTensorMap(const Origin &origin, Warp &warp, uint64_t address) {
  constexpr uint32_t kBytes = 128;
  std::vector<PastAccess> writers;
  {
    GridOrder::Shard &shard = cluster.grid.memoryOrder->shardOf(address);
    std::lock_guard<std::mutex> guard(shard.lock);
    writers = shard.shadow.writers(address, kBytes);
  }
  auto known = [&](const Clock &clock, const PastAccess &e, View view) {
    return e.cluster == cluster.id ? clock.knows(e.stamp, view)
                                   : clock.knowsOther(e.cluster, e.stamp, view);
  };
  for (const PastAccess &e : writers) {
    if (e.stamp.component == kPreviousGrids)
      continue;
    bool released = e.is(PastAccess::MapCopy) ||
                    known(warp.order->clock, e, View::MapReleased);
    bool acquired = false;
    for (const MapAcquire &one : mapAcquires[address])
      acquired |= knows(warp, one.by) && known(one.clock, e, View::Happens);
    if (released && acquired)
      continue;
    return reportHazard(
        cluster, origin, Hazard::TensorMapUnfenced, FindingKind::Race,
        "the tensor map was written at line " + std::to_string(e.line) +
            (released ? " and not acquired by fence.proxy.tensormap::generic."
                        "acquire since"
                      : " and not released by fence.proxy.tensormap::generic."
                        "release or tensormap.cp_fenceproxy"),
        address);
  }
}

std::string Order::describe(const PastAccess &e) const {
  if (e.stamp.component == kPreviousGrids)
    return "the previous grid";
  if (e.cluster != cluster.id)
    return "a thread of cluster " + std::to_string(e.cluster);
  if (e.stamp.component == kOperation)
    return e.is(PastAccess::Answer) ? "try_cancel" : "an asynchronous copy";
  const Part &part = parts[e.stamp.component];
  if (part.kind == Kind::Barrier)
    return "an asynchronous copy";
  std::string warp = "warp " + std::to_string(part.warp->index);
  if (cluster.ctas.size() > 1)
    warp += " of rank " + std::to_string(part.warp->cta->rank);
  if (part.kind == Kind::Warp)
    return warp;
  switch (part.queue) {
  case Queue::BulkRead:
  case Queue::BulkWrite:
    return "a bulk group of " + warp;
  case Queue::CopyAsync:
    return "cp.async of " + warp;
  default:
    return "a tensor-core operation of " + warp;
  }
}

} // namespace blockscale::emulator::machine
