//===- Copies.cpp - cp.async, st.async, cluster launch control ------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Instructions/Access.h"
#include "../Run/Observer.h"
#include "Async.h"
#include "Tma.h"

#include <algorithm>

namespace blockscale::emulator::machine {
namespace {

/// cp.async.
struct CopyAsyncRecord {
  AddressOperand to, from;
  unsigned size = 0;      ///< bytes that are written
  Slot wanted = kNoSlot;  ///< bytes that are read, or kNoSlot for all
  Slot ignored = kNoSlot; ///< predicate under which none is read
};
Step copyAsync(Exec &x, const Record &r) {
  const auto &c = r.as<CopyAsyncRecord>();
  for (uint32_t left = x.mask; left; left &= left - 1) {
    auto lane = unsigned(__builtin_ctz(left));
    unsigned size = c.size;
    uint32_t wanted =
        c.wanted == kNoSlot ? size : x.reg<uint32_t>(c.wanted)[lane];
    if (c.ignored != kNoSlot && x.predicate(c.ignored) >> lane & 1)
      wanted = 0;
    wanted = std::min(wanted, size);
    Access to, from;
    if (!resolve(x, r, Where::SharedCta, laneShared(x, c.to, lane), lane, size,
                 Use::Write, to))
      return Step::Fault;
    uint64_t source = laneAddress(x, c.from, lane);
    if (wanted && !resolve(x, r, Where::Global, source, lane, wanted, Use::Read,
                           from, size))
      return Step::Fault;
    if (x.cluster->order) {
      Touch touch;
      touch.stamp = issue(x, r, lane, Queue::CopyAsync).stamp;
      if (wanted)
        touchLane(x, r, lane, from, source, wanted, touch);
      touch.write = true;
      touchLane(x, r, lane, to, 0, size, touch);
    }
    auto open = x.warp->copies[lane].issue();
    x.cluster->post(0, [=] {
      if (wanted)
        std::memcpy(to.data, from.data, wanted);
      std::memset(to.data + wanted, 0, size - wanted);
      markWritten(to, size, true);
      --*open;
    });
  }
  return Step::Next;
}

struct ArriveAfterRecord {
  AddressOperand barrier;
  bool counted; ///< .noinc
};

/// Arrives when the thread's earlier cp.async are complete.
Step arriveAfterCopies(Exec &x, const Record &r) {
  for (uint32_t left = x.mask; left; left &= left - 1) {
    auto lane = unsigned(__builtin_ctz(left));
    BulkGroups &mine = x.warp->copies[lane];
    bool done = BulkGroups::isDone(mine.open);
    for (const auto &group : mine.committed)
      done = done && BulkGroups::isDone(group);
    if (!done)
      return Step::Block;
  }
  for (uint32_t left = x.mask; left; left &= left - 1) {
    auto lane = unsigned(__builtin_ctz(left));
    Ticket ticket;
    tell(*x.cluster, QueueCovered{x, lane, Queue::CopyAsync, ticket});
    Origin origin = x.origin(r, int(lane));
    const auto &a = r.as<ArriveAfterRecord>();
    uint32_t address = laneShared(x, a.barrier, lane);
    if (a.counted)
      arriveOn(*x.cluster, origin, address, ticket);
    else
      arriveUncounted(*x.cluster, origin, address, ticket);
  }
  return x.cluster->faulted ? Step::Fault : Step::Next;
}

/// st.async and red.async.
struct StoreAsyncRecord {
  AddressOperand to, barrier;
  Slots values;
  unsigned elementBytes = 0;
  Reduction reduction = Reduction::None;
  TensorMapType type = TensorMapType::U8; ///< of a reduction
};
/// Says how many bytes the lanes store to each CTA.
void tellStores(Exec &x, const Record &r, const StoreAsyncRecord &s) {
  uint32_t left = x.mask;
  while (left) {
    auto first = unsigned(__builtin_ctz(left));
    uint32_t rank = laneShared(x, s.to, first) >> kRankShift;
    uint64_t bytes = 0;
    forLanes(left, [&](unsigned lane) {
      if (laneShared(x, s.to, lane) >> kRankShift != rank)
        return;
      bytes += s.elementBytes * s.values.size();
      left &= ~(1u << lane);
    });
    tell(*x.cluster, CopyDone{*x.cluster, x.origin(r, int(first)),
                              EventKind::RemoteStore, bytes, rank});
  }
}

/// What one lane stores.
struct LaneStore {
  Origin origin;
  Access access;
  std::array<uint8_t, 32> data{};
  uint32_t address, barrier;
  Ticket ticket;
};

void completeStore(Cluster &cluster, const LaneStore &store,
                   const StoreAsyncRecord &s) {
  unsigned bytes = unsigned(s.elementBytes * s.values.size());
  if (s.reduction == Reduction::None) {
    std::memcpy(store.access.data, store.data.data(), bytes);
  } else {
    if (std::memchr(store.access.valid, 0, bytes))
      report(cluster, store.origin, FindingKind::Uninitialised,
             "red.async on shared memory that was never written",
             store.address);
    reduceElements(s.reduction, s.type, store.access.data, store.data.data(),
                   bytes);
  }
  markWritten(store.access, bytes, true);
  completeOn(cluster, store.origin, store.barrier, bytes, store.ticket);
}

/// The stores of the lanes complete together: one by one they would be most of
/// what a cluster waits for.
Step storeAsync(Exec &x, const Record &r) {
  const auto &s = r.as<StoreAsyncRecord>();
  tellStores(x, r, s);
  std::vector<LaneStore> stores;
  for (uint32_t left = x.mask; left; left &= left - 1) {
    auto lane = unsigned(__builtin_ctz(left));
    unsigned element = s.elementBytes, bytes = element * s.values.size();
    uint32_t address = laneShared(x, s.to, lane);
    uint32_t barrier = laneShared(x, s.barrier, lane);
    if (address >> kRankShift != barrier >> kRankShift)
      return x.fault(r, FindingKind::MBarrier,
                     "the mbarrier is not in the CTA that is stored to",
                     int(lane), barrier, Hazard::CopyInWrongCta);
    Access access;
    if (!resolve(x, r, Where::SharedCluster, address, lane, bytes, Use::Write,
                 access))
      return Step::Fault;
    LaneStore &store = stores.emplace_back();
    store.origin = x.origin(r, int(lane));
    store.access = access;
    store.address = address;
    store.barrier = barrier;
    for (size_t i = 0; i != s.values.size(); ++i)
      std::memcpy(store.data.data() + i * element,
                  x.at(s.values[i]) + lane * element, element);
    Touch touch;
    touch.write = true;
    if (s.reduction != Reduction::None) {
      touch.strong = true;
      touch.bytes = uint16_t(bytes);
    }
    store.ticket = beginTransaction(x, store.origin, barrier);
    touch.stamp = store.ticket.stamp;
    touchLane(x, r, lane, access, address, bytes, touch);
    if (x.cluster->faulted)
      return Step::Fault;
  }
  x.cluster->post(0, [cluster = x.cluster, stores = std::move(stores), &s] {
    for (const LaneStore &store : stores)
      if (!cluster->faulted)
        completeStore(*cluster, store, s);
  });
  return x.cluster->faulted ? Step::Fault : Step::Next;
}

struct StoreZerosRecord {
  AddressOperand to;
  Slot size;
};
Step storeZeros(Exec &x, const Record &r) {
  const auto &s = r.as<StoreZerosRecord>();
  for (uint32_t left = x.mask; left; left &= left - 1) {
    auto lane = unsigned(__builtin_ctz(left));
    uint64_t size = x.reg<uint64_t>(s.size)[lane];
    Access access;
    if (size % 8 || size > (1 << 20))
      return x.fault(r, FindingKind::Misaligned,
                     "st.bulk size is not a multiple of 8", int(lane));
    if (!resolve(x, r, Where::SharedCta, laneShared(x, s.to, lane), lane,
                 unsigned(size), Use::Write, access, 8))
      return Step::Fault;
    Touch touch;
    touch.write = true;
    touchLane(x, r, lane, access, 0, unsigned(size), touch);
    std::memset(access.data, 0, size);
    markWritten(access, unsigned(size), true);
  }
  return Step::Next;
}

struct DiscardRecord {
  AddressOperand address;
  Where where;
};

/// Contents become undefined, so they are made wrong.
Step discard(Exec &x, const Record &r) {
  const auto &d = r.as<DiscardRecord>();
  constexpr unsigned kBytes = 128;
  for (uint32_t left = x.mask; left; left &= left - 1) {
    auto lane = unsigned(__builtin_ctz(left));
    uint64_t address = laneAddress(x, d.address, lane);
    Access access;
    if (!resolve(x, r, d.where, address, lane, kBytes, Use::Write, access))
      return Step::Fault;
    if (!access.global)
      return x.fault(r, FindingKind::BadAddress,
                     "discard of memory that is not global", int(lane),
                     address);
    Touch touch;
    touch.write = true;
    touchLane(x, r, lane, access, address, kBytes, touch);
    std::memset(access.data, 0xCD, kBytes);
  }
  return Step::Next;
}

struct TryCancelRecord {
  AddressOperand answer, barrier;
  bool multicast;
};

/// A cluster that has not started is taken from the list and never runs.
/// Response: three words of ctaid, then 1 for success.
Step tryCancel(Exec &x, const Record &r) {
  Cluster *cluster = x.cluster;
  Grid &grid = cluster->grid;
  for (uint32_t left = x.mask; left; left &= left - 1) {
    auto lane = unsigned(__builtin_ctz(left));
    const auto &t = r.as<TryCancelRecord>();
    uint32_t to = laneShared(x, t.answer, lane),
             barrier = laneShared(x, t.barrier, lane);
    if (cluster->cancelFailed)
      return x.fault(r, FindingKind::Barrier,
                     "try_cancel after a failed answer", int(lane), to,
                     Hazard::LaunchControlMisused);
    std::array<uint32_t, 4> answer{};
    if (grid.options.residentClusters) {
      std::lock_guard<std::mutex> lock(grid.schedule);
      if (grid.next < grid.order.size()) {
        uint64_t id = grid.order[grid.next++];
        const Launch &l = grid.launch;
        uint32_t nx = l.grid.x / l.cluster.x, ny = l.grid.y / l.cluster.y;
        answer = {uint32_t(id % nx) * l.cluster.x,
                  uint32_t(id / nx % ny) * l.cluster.y,
                  uint32_t(id / nx / ny) * l.cluster.z, 1};
      }
    }
    cluster->cancelFailed = !answer[3];
    uint32_t ranks =
        t.multicast ? (1u << cluster->ctas.size()) - 1 : 1u << x.cta->rank;
    Origin origin = x.origin(r, int(lane));
    tell(*cluster, CancelAsked{*cluster, origin});
    for (; ranks; ranks &= ranks - 1) {
      uint32_t rank = uint32_t(__builtin_ctz(ranks)) << kRankShift;
      uint32_t target = (to & 0xFFFFFF) | rank,
               home = (barrier & 0xFFFFFF) | rank;
      Access access;
      if (!resolve(x, r, Where::SharedCluster, target, lane, 16, Use::Write,
                   access))
        return Step::Fault;
      Touch touch;
      touch.write = touch.async = true;
      touch.flags = PastAccess::Answer;
      Ticket ticket = beginTransaction(x, origin, home, BarrierVisit::Answer);
      touch.stamp = ticket.stamp;
      touchLane(x, r, lane, access, target, 16, touch);
      cluster->post(0, [=] {
        std::memcpy(access.data, answer.data(), 16);
        markWritten(access, 16, true);
        completeOn(*cluster, origin, home, 16, ticket, BarrierVisit::Answer);
      });
    }
    if (cluster->faulted)
      return Step::Fault;
  }
  return Step::Next;
}

struct Response {
  uint32_t words[4];
};
/// clusterlaunchcontrol.query_cancel.
struct QueryRecord {
  Slot response = kNoSlot;
  Slot success = kNoSlot; ///< predicate of is_canceled
  Slots words;            ///< of get_first_ctaid
  unsigned firstWord = 0;
};
Step queryCancel(Exec &x, const Record &r) {
  const auto &q = r.as<QueryRecord>();
  bool asks = q.success != kNoSlot;
  const Response *responses = x.reg<Response>(q.response);
  Step step = Step::Next;
  uint32_t success = 0;
  forLanes(x.mask, [&](unsigned lane) {
    const Response &one = responses[lane];
    success |= (one.words[3] & 1) << lane;
    if (asks || step == Step::Fault)
      return;
    if (!(one.words[3] & 1)) {
      step =
          x.fault(r, FindingKind::Barrier, "get_first_ctaid of a failed answer",
                  int(lane), 0, Hazard::LaunchControlMisused);
      return;
    }
    for (size_t i = 0; i != q.words.size() && q.firstWord + i < 4; ++i)
      if (q.words[i] != kNoSlot)
        x.reg<uint32_t>(q.words[i])[lane] = one.words[q.firstWord + i];
  });
  if (asks)
    x.setPredicate(q.success, success);
  return step;
}

bool decodeQuery(Decoder &d, const Instruction &in, Record &r) {
  const Operand &to = in.operands[0];
  auto &q = d.record<QueryRecord>(r);
  q.response = d.source(in.operands[1], 128);
  r.fn = queryCancel;
  if (in.has(Modifier::IsCanceled)) {
    q.success = d.predicateOut(to);
    return true;
  }
  if (to.kind != OperandKind::Vector)
    q.firstWord = in.has(Modifier::GetFirstCtaidY)   ? 1
                  : in.has(Modifier::GetFirstCtaidZ) ? 2
                                                     : 0;
  q.words = d.slots(to, 32, /*write=*/true);
  return true;
}

bool decodeCopyAsync(Decoder &d, const Instruction &in, Record &r) {
  auto &c = d.record<CopyAsyncRecord>(r);
  c.to = d.address(in.operands[0]);
  c.from = d.address(in.operands[1]);
  int64_t size = in.operands[2].value;
  if (size != 4 && size != 8 && size != 16)
    return d.refuse("cp.async copies 4, 8 or 16 bytes");
  c.size = unsigned(size);
  if (in.operands.size() > 3) {
    const Operand &fourth = in.operands[3];
    bool isPolicy = in.has(Modifier::L2CacheHint) && in.operands.size() == 4;
    bool isPredicate = fourth.kind == OperandKind::Register &&
                       d.currentFunction().registers[fourth.reg].width() == 1;
    if (isPredicate)
      c.ignored = d.predicate(fourth);
    else if (!isPolicy)
      c.wanted = d.source(fourth, 32);
  }
  d.flow().sink = true;
  r.fn = copyAsync;
  return true;
}

} // namespace

bool decodeCopy(Decoder &d, const Instruction &in, Record &r) {
  switch (in.opcode) {
  case Opcode::CpAsync:
    return decodeCopyAsync(d, in, r);
  case Opcode::CpAsyncMbarrierArrive:
    d.record<ArriveAfterRecord>(r) = {d.address(in.operands[0]),
                                      in.has(Modifier::Noinc)};
    r.fn = arriveAfterCopies;
    return true;
  case Opcode::RedAsync:
  case Opcode::StAsync: {
    auto &s = d.record<StoreAsyncRecord>(r);
    s.to = d.address(in.operands[0]);
    s.barrier = d.address(in.operands[2]);
    unsigned bits = bitWidth(in.type());
    s.elementBytes = bits / 8;
    s.values = d.slots(in.operands[1], bits, /*write=*/false);
    if (in.opcode == Opcode::RedAsync) {
      std::optional<TensorMapType> type = elementType(in.type());
      if (!type)
        return d.refuse("unsupported type");
      s.reduction = reductionOf(in);
      s.type = *type;
    }
    d.flow().sink = true;
    r.fn = storeAsync;
    return true;
  }
  case Opcode::StBulk:
    d.record<StoreZerosRecord>(r) = {d.address(in.operands[0]),
                                     d.source(in.operands[1], 64)};
    r.fn = storeZeros;
    return true;
  case Opcode::Discard:
    if (in.operands[1].value != 128)
      return d.refuse("discard takes 128 bytes");
    d.record<DiscardRecord>(r) = {d.address(in.operands[0]), whereOf(in)};
    r.fn = discard;
    return true;
  case Opcode::ClcTryCancel:
    d.record<TryCancelRecord>(r) = {d.address(in.operands[0]),
                                    d.address(in.operands[1]),
                                    in.has(Modifier::MulticastClusterAll)};
    r.fn = tryCancel;
    return true;
  case Opcode::ClcQueryCancel:
    return decodeQuery(d, in, r);
  default:
    return false;
  }
}

} // namespace blockscale::emulator::machine
