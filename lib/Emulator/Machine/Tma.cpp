//===- Tma.cpp - bulk and tensor copies -----------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Access.h"
#include "Async.h"
#include "Events.h"
#include "MapBytes.h"
#include "TensorOrder.h"

namespace blockscale::emulator {

void encodeTensorMap(const TensorMap &map, uint8_t *bytes) {
  machine::writeMap(map, bytes);
}

} // namespace blockscale::emulator

namespace blockscale::emulator::machine {
namespace {

GlobalAccess globalOf(Cluster &cluster, bool write) {
  Memory *memory = &cluster.grid.memory;
  return [memory, write](uint64_t address, uint64_t bytes) -> uint8_t * {
    const Region *region = memory->find(address, bytes);
    return region && (region->writable || !write)
               ? region->data + (address - region->base)
               : nullptr;
  };
}

SharedSpan spanOf(Cta &cta) {
  return {cta.shared.data(), kSharedBase, uint32_t(cta.shared.size())};
}

void markRange(Cta &cta, uint32_t address, uint32_t bytes) {
  uint32_t offset = address - kSharedBase;
  if (offset + bytes <= cta.valid.size())
    std::memset(cta.valid.data() + offset, 0xFF, bytes);
}

bool allValid(const Cta &cta, uint32_t address, uint32_t bytes) {
  uint32_t offset = address - kSharedBase;
  return offset + bytes <= cta.valid.size() &&
         !std::memchr(cta.valid.data() + offset, 0, bytes);
}

/// The tensor map at a generic address; false after a report.
bool mapAt(Exec &x, const Record &r, uint64_t address, unsigned lane,
           TensorMap &map) {
  if (address >= kLocalWindow && address - kLocalWindow < kWindowSize) {
    x.fault(r, FindingKind::Tma, "tensor map in local memory", int(lane),
            address, 35);
    return false;
  }
  Access access;
  if (!resolve(x, r, Where::Generic, address, lane, kMapBytes, Use::Read,
               access, 64))
    return false;
  if (x.cluster->order && access.global)
    x.cluster->order->useTensorMap(x.origin(r, int(lane)), *x.warp, address);
  if (!readMap(access.data, map)) {
    x.fault(r, FindingKind::Tma, "the bytes at the address are no tensor map",
            int(lane), address, 45);
    return false;
  }
  if (auto reason = whyNot(map)) {
    x.fault(r, FindingKind::Tma, "tensor map: " + *reason, int(lane), address,
            45);
    return false;
  }
  return true;
}

enum : uint32_t {
  kStore = 1,
  kGather = 2,
  kPair = 4,
  kMulticast = 8,
  kCtaForm = 16,
  kFromShared = 32,
  kPrefetch = 64,
  kByteMask = 128,
};

struct Target {
  Cta *cta;
  uint32_t address; ///< destination in that CTA, without rank
  uint32_t barrier; ///< with rank
};

/// Destinations of a load; false after a report.
bool targetsOf(Exec &x, const Record &r, unsigned lane, uint32_t destination,
               uint32_t barrier, Slot mask, std::vector<Target> &out) {
  size_t size = x.cluster->ctas.size();
  uint32_t rank = destination >> kRankShift,
           barrierRank = barrier >> kRankShift;
  auto bad = [&](std::string why) {
    x.fault(r, FindingKind::Tma, std::move(why), int(lane), destination, 46);
    return false;
  };
  if (rank >= size || barrierRank >= size)
    return bad("address of a rank outside the cluster");
  if (r.aux & kCtaForm && rank != x.cta->rank)
    return bad("shared::cta copy into another CTA");
  uint32_t offset = destination & 0xFFFFFF, barrierOffset = barrier & 0xFFFFFF;
  if (!(r.aux & kMulticast)) {
    bool samePair = r.aux & kPair && (rank ^ barrierRank) <= 1 &&
                    rank / 2 == barrierRank / 2;
    if (rank != barrierRank && !samePair)
      return bad(
          "the mbarrier is neither in the destination CTA nor in its pair");
    out.push_back({x.cluster->ctas[rank].get(), offset, barrier});
    return true;
  }
  uint32_t ranks = x.reg<uint16_t>(mask)[lane];
  if (!ranks || ranks >> size)
    return bad("multicast mask " + hex(ranks) + " in a cluster of " +
               std::to_string(size));
  for (; ranks; ranks &= ranks - 1) {
    auto one = uint32_t(__builtin_ctz(ranks));
    uint32_t home = r.aux & kPair ? (one & ~1u) | (barrierRank & 1) : one;
    out.push_back({x.cluster->ctas[one].get(), offset,
                   barrierOffset | home << kRankShift});
  }
  return true;
}

void emitCopy(Cluster &cluster, const Origin &origin, EventKind kind,
              uint64_t bytes, uint32_t target) {
  if (!observed(cluster))
    return;
  Event event;
  event.kind = kind;
  event.bytes = bytes;
  event.target = target;
  emit(cluster, origin, event);
}

bool exitedTarget(Cluster &cluster, const Origin &origin, const Cta &cta) {
  if (!cta.done())
    return false;
  asyncFault(cluster, origin, FindingKind::Tma,
             "copy into a CTA that has exited", 0, 16);
  return true;
}

std::string coordinatesText(const int32_t *c, unsigned count) {
  std::string text;
  for (unsigned i = 0; i != count; ++i)
    text += (i ? "," : "") + std::to_string(c[i]);
  return text;
}

/// Strict mode: what a tensor copy touches in shared and global memory.
void orderBox(Exec &x, const Record &r, unsigned lane, const TensorMap &map,
              const Box &box, Cta &cta, uint32_t address, Touch shared,
              Touch global) {
  std::vector<Range> ranges;
  sharedRanges(map, box, address, !shared.write,
               [&](uint32_t at, uint32_t bytes) {
                 if (!ranges.empty() &&
                     ranges.back().address + ranges.back().bytes == at)
                   ranges.back().bytes += bytes;
                 else
                   ranges.push_back({at, bytes});
               });
  touchRanges(x, r, lane, cta, ranges, shared);
  global.origin = x.origin(r, int(lane));
  ranges.clear();
  for (const BoxRun &run : box.runs)
    if (run.globalBytes &&
        x.cluster->order->tracked(run.globalAddress, run.globalBytes))
      ranges.push_back({run.globalAddress, run.globalBytes});
  x.cluster->order->touchGlobal(*x.warp, ranges.data(), ranges.size(), global);
}

/// Strict mode: the accesses of a load into one CTA.
Touch loadTouch(Stamp stamp, bool write) {
  Touch touch;
  touch.write = write;
  touch.async = true;
  touch.stamp = stamp;
  return touch;
}

/// Strict mode: the accesses of a store of a bulk group, which reads its source
/// and writes its destination at different times.
struct StoreTouches {
  Touch source, destination;
};
StoreTouches storeTouches(Exec &x, const Record &r, unsigned lane,
                          unsigned reducedBytes) {
  Order &order = *x.cluster->order;
  StoreTouches t;
  t.source.async = t.destination.async = t.destination.write = true;
  t.source.flags = t.destination.flags = PastAccess::Bulk;
  t.source.stamp = order.issue(*x.warp, lane, Queue::BulkRead);
  t.destination.stamp = order.issue(*x.warp, lane, Queue::BulkWrite);
  t.destination.strong = reducedBytes != 0;
  t.destination.bytes = uint16_t(reducedBytes);
  x.warp->order->bulk[lane].line = r.line;
  return t;
}

void postLoad(Exec &x, const Record &r, unsigned lane, const TensorMap &map,
              std::shared_ptr<Box> box, const Target &target) {
  Origin origin = x.origin(r, int(lane));
  Cluster *cluster = x.cluster;
  Stamp stamp = beginTransaction(x, origin, target.barrier);
  if (cluster->order)
    orderBox(x, r, lane, map, *box, *target.cta, target.address,
             loadTouch(stamp, true), loadTouch(stamp, false));
  cluster->post(0, [=] {
    if (exitedTarget(*cluster, origin, *target.cta))
      return;
    auto fault = loadBox(map, *box, spanOf(*target.cta), target.address,
                         globalOf(*cluster, false),
                         [&](uint32_t address, uint32_t bytes) {
                           markRange(*target.cta, address, bytes);
                         });
    if (fault)
      return asyncFault(*cluster, origin, FindingKind::Tma, fault->message,
                        fault->address);
    cluster->counters.tmaLoadBytes += box->transactionBytes;
    emitCopy(*cluster, origin, EventKind::Load, box->transactionBytes,
             target.cta->rank);
    completeOn(*cluster, origin, target.barrier, box->transactionBytes, stamp);
  });
}

/// Whether the target cannot copy 4- and 6-bit types to shared::cluster.
bool lacksPaddedTypes(const Exec &x) {
  return x.cluster->program().module->target.rfind("sm_12", 0) == 0;
}
bool isSubByte(TensorMapType type) {
  return type == TensorMapType::U4Align8 || type == TensorMapType::U4Align16 ||
         type == TensorMapType::U6Align16;
}

/// Advice if two lanes issue the same copy: equal addresses and coordinates.
void adviseRepeats(Exec &x, const Record &r) {
  if (!x.cluster->grid.options.advice || !(x.mask & (x.mask - 1)))
    return;
  auto first = x.firstLane(),
       second = unsigned(__builtin_ctz(x.mask & (x.mask - 1)));
  for (unsigned i = 0; i != r.detail->b.size(); ++i)
    if (pushedAddress(x, *r.detail, i, first) !=
        pushedAddress(x, *r.detail, i, second))
      return;
  for (Slot slot : r.detail->a)
    if (x.reg<uint32_t>(slot)[first] != x.reg<uint32_t>(slot)[second])
      return;
  reportHazard(*x.cluster, x.origin(r, int(second)), 50, FindingKind::Tma,
               std::to_string(__builtin_popcount(x.mask)) +
                   " lanes issue the same copy");
}

/// Remembers, for advice, with which swizzle the bytes were written.
void noteSwizzle(const Cluster &cluster, Cta &cta, uint32_t address,
                 const Box &box, Swizzle swizzle) {
  if (!cluster.grid.options.advice)
    return;
  cta.swizzles.resize(cta.shared.size() / 128 + 1);
  for (uint32_t at = 0; at < box.sharedBytes; at += 128) {
    size_t row = (address + at - kSharedBase) / 128;
    if (row < cta.swizzles.size())
      cta.swizzles[row] = uint8_t(1 + unsigned(swizzle));
  }
}

/// detail b: addresses {shared, map, barrier}; a: coordinates; op[1] mask;
/// aux2: coordinate count; imm: Reduction.
Step tensorCopy(Exec &x, const Record &r) {
  adviseRepeats(x, r);
  for (uint32_t left = x.mask; left; left &= left - 1) {
    auto lane = unsigned(__builtin_ctz(left));
    TensorMap map;
    if (!mapAt(x, r, pushedAddress(x, *r.detail, 1, lane), lane, map))
      return Step::Fault;
    int32_t c[5] = {};
    auto count = unsigned(r.detail->a.size());
    for (unsigned i = 0; i != count && i < 5; ++i)
      c[i] = x.reg<int32_t>(r.detail->a[i])[lane];
    bool gather = r.aux & kGather, store = r.aux & kStore;
    if (!gather && count != map.rank)
      return x.fault(r, FindingKind::Tma,
                     std::to_string(count) + " coordinates for a map of rank " +
                         std::to_string(map.rank),
                     int(lane), 0, 45);
    auto box = std::make_shared<Box>();
    if (auto fault = resolveBox(
            map, c, gather ? BoxMode::Gather4 : BoxMode::Tile, store, *box))
      return x.fault(r, FindingKind::Tma, fault->message, int(lane), 0,
                     fault->hazard);
    if (!store && !(r.aux & kCtaForm) && isSubByte(map.type) &&
        lacksPaddedTypes(x))
      return x.fault(r, FindingKind::Tma,
                     "4- and 6-bit types need the .shared::cta form on " +
                         x.cluster->program().module->target,
                     int(lane), 0, 48);
    uint32_t shared = pushedShared(x, *r.detail, 0, lane);
    if (shared % 128)
      return x.fault(r, FindingKind::Misaligned,
                     "shared address of a tensor copy is not a multiple of 128",
                     int(lane), shared, 40);
    if (tracing(*x.cluster))
      trace(*x.cluster, x.origin(r, int(lane)),
            std::string("event=tma direction=") + (store ? "store" : "load") +
                " shared=" + hex(shared) + " global=" + hex(map.globalAddress) +
                " coordinates=" + coordinatesText(c, count) +
                " bytes=" + std::to_string(box->transactionBytes) +
                " swizzle=" + std::to_string(unsigned(map.swizzle)));
    if (!store) {
      std::vector<Target> targets;
      if (!targetsOf(x, r, lane, shared, pushedShared(x, *r.detail, 2, lane),
                     r.op[1], targets))
        return Step::Fault;
      for (const Target &target : targets) {
        noteSwizzle(*x.cluster, *target.cta, target.address, *box, map.swizzle);
        if (r.aux & kPair && x.cluster->order)
          x.cluster->tensorOrder->countsForPair(target.barrier);
        postLoad(x, r, lane, map, box, target);
      }
    } else {
      Origin origin = x.origin(r, int(lane));
      Cluster *cluster = x.cluster;
      Cta *cta = x.cta;
      if (shared >> kRankShift != cta->rank)
        return x.fault(r, FindingKind::Tma,
                       "store from the shared memory of another CTA", int(lane),
                       shared);
      auto open = x.warp->bulk[lane].open;
      ++*open;
      auto reduction = Reduction(r.imm);
      if (cluster->order) {
        bool reduces = reduction != Reduction::None;
        StoreTouches t =
            storeTouches(x, r, lane, reduces ? globalBits(map.type) / 8 : 0);
        orderBox(x, r, lane, map, *box, *cta, shared & 0xFFFFFF, t.source,
                 t.destination);
      }
      cluster->post(0, [=] {
        std::unique_lock<std::mutex> lock(cluster->grid.atomics,
                                          std::defer_lock);
        if (reduction != Reduction::None)
          lock.lock();
        uint32_t never = 0;
        auto fault = storeBox(map, *box, spanOf(*cta), shared & 0xFFFFFF,
                              reduction, globalOf(*cluster, true),
                              [&](uint32_t address, uint32_t bytes) {
                                if (!never && !allValid(*cta, address, bytes))
                                  never = address;
                              });
        --*open;
        cluster->counters.tmaStoreBytes += box->transactionBytes;
        emitCopy(*cluster, origin, EventKind::Store, box->transactionBytes,
                 cta->rank);
        if (fault)
          asyncFault(*cluster, origin, FindingKind::Tma, fault->message,
                     fault->address);
        else if (never)
          report(*cluster, origin, FindingKind::Uninitialised,
                 "a tensor store reads shared memory that was never written",
                 never);
      });
    }
    if (x.cluster->faulted)
      return Step::Fault;
  }
  return Step::Next;
}

/// detail b: addresses {destination, source, barrier?}; op[0] size, op[1] mask.
struct BulkOp {
  uint64_t to, from;
  uint32_t size;
};

Step bulkStore(Exec &x, const Record &r, unsigned lane, const BulkOp &op) {
  Access source, target;
  if (!resolve(x, r, Where::SharedCta, op.from, lane, op.size, Use::Read,
               source, 16) ||
      !resolve(x, r, Where::Global, op.to, lane, op.size, Use::Write, target,
               16))
    return Step::Fault;
  Origin origin = x.origin(r, int(lane));
  Cluster *cluster = x.cluster;
  auto open = x.warp->bulk[lane].open;
  ++*open;
  auto reduction = Reduction(r.imm);
  auto type = TensorMapType(r.aux2);
  if (cluster->order) {
    bool reduces = reduction != Reduction::None;
    StoreTouches t =
        storeTouches(x, r, lane, reduces ? globalBits(type) / 8 : 0);
    touchLane(x, r, lane, source, op.from, op.size, t.source);
    touchLane(x, r, lane, target, op.to, op.size, t.destination);
  }
  cluster->post(0, [=] {
    --*open;
    cluster->counters.tmaStoreBytes += op.size;
    emitCopy(*cluster, origin, EventKind::Store, op.size, origin.cta->rank);
    if (std::memchr(source.valid, 0, op.size))
      report(*cluster, origin, FindingKind::Uninitialised,
             "a bulk store reads shared memory that was never written",
             op.from);
    std::lock_guard<std::mutex> lock(cluster->grid.atomics);
    if (reduction == Reduction::None)
      std::memcpy(target.data, source.data, op.size);
    else if (!reduceElements(reduction, type, target.data, source.data,
                             op.size))
      asyncFault(*cluster, origin, FindingKind::Tma,
                 "no such reduction for the type", op.to);
  });
  return x.cluster->faulted ? Step::Fault : Step::Next;
}

Step bulkLoad(Exec &x, const Record &r, unsigned lane, const BulkOp &op) {
  Access source;
  bool fromShared = r.aux & kFromShared;
  if (!resolve(x, r, fromShared ? Where::SharedCta : Where::Global, op.from,
               lane, op.size, Use::Read, source, 16))
    return Step::Fault;
  std::vector<Target> targets;
  if (!targetsOf(x, r, lane, uint32_t(op.to),
                 pushedShared(x, *r.detail, 2, lane), r.op[1], targets))
    return Step::Fault;
  Origin origin = x.origin(r, int(lane));
  Cluster *cluster = x.cluster;
  for (const Target &target : targets) {
    uint32_t offset = target.address - kSharedBase;
    if (target.address < kSharedBase || target.address % 16 ||
        offset + op.size > target.cta->shared.size())
      return x.fault(
          r,
          target.address % 16 ? FindingKind::Misaligned
                              : FindingKind::OutOfBounds,
          "bulk copy to an address that is not 16-byte aligned in the shared "
          "memory of the CTA",
          int(lane), op.to);
    Stamp stamp = beginTransaction(x, origin, target.barrier);
    if (cluster->order) {
      touchLane(x, r, lane, source, op.from, op.size, loadTouch(stamp, false));
      std::vector<Range> ranges{{target.address, op.size}};
      touchRanges(x, r, lane, *target.cta, ranges, loadTouch(stamp, true));
    }
    cluster->post(0, [=] {
      if (exitedTarget(*cluster, origin, *target.cta))
        return;
      std::memcpy(target.cta->shared.data() + offset, source.data, op.size);
      if (source.valid)
        std::memcpy(target.cta->valid.data() + offset, source.valid, op.size);
      else
        markRange(*target.cta, target.address, op.size);
      cluster->counters.tmaLoadBytes += op.size;
      emitCopy(*cluster, origin, EventKind::Load, op.size, target.cta->rank);
      completeOn(*cluster, origin, target.barrier, op.size, stamp);
    });
  }
  return x.cluster->faulted ? Step::Fault : Step::Next;
}

Step bulkCopy(Exec &x, const Record &r) {
  adviseRepeats(x, r);
  for (uint32_t left = x.mask; left; left &= left - 1) {
    auto lane = unsigned(__builtin_ctz(left));
    BulkOp op;
    bool store = r.aux & kStore;
    op.to = store ? pushedAddress(x, *r.detail, 0, lane)
                  : pushedShared(x, *r.detail, 0, lane);
    op.from = store || r.aux & kFromShared
                  ? pushedShared(x, *r.detail, 1, lane)
                  : pushedAddress(x, *r.detail, 1, lane);
    op.size = x.reg<uint32_t>(r.op[0])[lane];
    if (op.size % 16 || op.size == 0)
      return x.fault(r, FindingKind::Misaligned,
                     "bulk copy of " + std::to_string(op.size) +
                         " bytes, expected a positive multiple of 16",
                     int(lane), 0, 49);
    if (uint64_t odd = op.to % 16 ? op.to : op.from % 16 ? op.from : 0)
      return x.fault(r, FindingKind::Misaligned,
                     "bulk copy at an address that is not a multiple of 16",
                     int(lane), odd, 49);
    if (tracing(*x.cluster))
      trace(*x.cluster, x.origin(r, int(lane)),
            std::string("event=bulk direction=") + (store ? "store" : "load") +
                " to=" + hex(op.to) + " from=" + hex(op.from) +
                " bytes=" + std::to_string(op.size));
    if ((store ? bulkStore(x, r, lane, op) : bulkLoad(x, r, lane, op)) ==
        Step::Fault)
      return Step::Fault;
  }
  return Step::Next;
}

Reduction reductionOf(const Instruction &in) {
  for (Modifier modifier : in.modifiers)
    switch (modifier) {
    case Modifier::Add:
      return Reduction::Add;
    case Modifier::Min:
      return Reduction::Min;
    case Modifier::Max:
      return Reduction::Max;
    case Modifier::Inc:
      return Reduction::Inc;
    case Modifier::Dec:
      return Reduction::Dec;
    case Modifier::And:
      return Reduction::And;
    case Modifier::Or:
      return Reduction::Or;
    case Modifier::Xor:
      return Reduction::Xor;
    default:
      break;
    }
  return Reduction::None;
}

/// The first state space that the mnemonic names is the destination.
bool toGlobal(const Instruction &in) {
  for (Modifier modifier : in.modifiers) {
    if (modifier == Modifier::Global)
      return true;
    if (modifier == Modifier::SharedCta || modifier == Modifier::SharedCluster)
      return false;
  }
  return false;
}

uint32_t formFlags(const Instruction &in) {
  return (toGlobal(in) ? kStore : 0) |
         (in.has(Modifier::CtaGroup2) ? kPair : 0) |
         (in.has(Modifier::MulticastCluster) ? kMulticast : 0) |
         (in.has(Modifier::TileGather4) || in.has(Modifier::TileScatter4)
              ? kGather
              : 0);
}

bool decodeTensorCopy(Decoder &d, const Instruction &in, Record &r) {
  for (Modifier modifier : {Modifier::Im2col, Modifier::Im2colW,
                            Modifier::Im2colW128, Modifier::Im2colNoOffs})
    if (in.has(modifier))
      return d.refuse("im2col tensor copies are not supported");
  r.aux = formFlags(in);
  bool store = r.aux & kStore;
  const Operand &map = in.operands[store ? 0 : 1];
  const Operand &shared = in.operands[store ? 1 : 0];
  Detail &detail = d.detail(r);
  pushAddress(d, detail, shared);
  pushAddress(d, detail, map);
  // A parameter's own address is in the parameter space.
  if (map.symbol.scope == SymbolScope::Parameter)
    detail.numbers[2] += int64_t(kParamWindow);
  for (const Operand &coordinate : map.elements)
    detail.a.push_back(d.source(coordinate, 32));
  if (store) {
    r.imm = int64_t(reductionOf(in));
  } else {
    if (in.operands.size() < 3)
      return d.refuse("missing operands");
    pushAddress(d, detail, in.operands[2]);
    if (!in.has(Modifier::SharedCluster))
      r.aux |= kCtaForm;
    if (r.aux & kMulticast)
      r.op[1] = d.source(in.operands[3], 16);
  }
  d.flow().sink = true;
  r.fn = tensorCopy;
  return true;
}

bool decodeBulk(Decoder &d, const Instruction &in, Record &r) {
  if (in.has(Modifier::CpMask))
    return d.refuse("'.cp_mask' is not supported");
  r.aux = formFlags(in);
  bool store = r.aux & kStore, fromGlobal = !store && in.has(Modifier::Global);
  if (!store && !fromGlobal)
    r.aux |= kFromShared;
  if (in.opcode == Opcode::CpReduceAsyncBulk && !store)
    return d.refuse("cp.reduce.async.bulk to shared memory is not supported");
  Detail &detail = d.detail(r);
  pushAddress(d, detail, in.operands[0]);
  pushAddress(d, detail, in.operands[1]);
  r.op[0] = d.source(in.operands[2], 32);
  if (!store) {
    pushAddress(d, detail, in.operands[3]);
    if (!in.has(Modifier::SharedCluster))
      r.aux |= kCtaForm;
    if (r.aux & kMulticast)
      r.op[1] = d.source(in.operands[4], 16);
  } else if (in.opcode == Opcode::CpReduceAsyncBulk) {
    r.imm = int64_t(reductionOf(in));
    switch (in.type()) {
    case Type::U32:
    case Type::B32:
      r.aux2 = uint32_t(TensorMapType::U32);
      break;
    case Type::S32:
      r.aux2 = uint32_t(TensorMapType::S32);
      break;
    case Type::U64:
    case Type::B64:
      r.aux2 = uint32_t(TensorMapType::U64);
      break;
    case Type::S64:
      r.aux2 = uint32_t(TensorMapType::S64);
      break;
    case Type::F16:
      r.aux2 = uint32_t(TensorMapType::F16);
      break;
    case Type::Bf16:
      r.aux2 = uint32_t(TensorMapType::BF16);
      break;
    case Type::F32:
      r.aux2 = uint32_t(TensorMapType::F32);
      break;
    case Type::F64:
      r.aux2 = uint32_t(TensorMapType::F64);
      break;
    default:
      return d.refuse("unsupported type");
    }
  }
  d.flow().sink = true;
  r.fn = bulkCopy;
  return true;
}

} // namespace

bool decodeTma(Decoder &d, const Instruction &in, Record &r) {
  switch (in.opcode) {
  case Opcode::CpAsyncBulkTensor:
  case Opcode::CpReduceAsyncBulkTensor:
    return decodeTensorCopy(d, in, r);
  case Opcode::CpAsyncBulk:
  case Opcode::CpReduceAsyncBulk:
    return decodeBulk(d, in, r);
  default:
    return decodeGroups(d, in, r);
  }
}

} // namespace blockscale::emulator::machine
