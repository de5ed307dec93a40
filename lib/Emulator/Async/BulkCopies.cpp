//===- BulkCopies.cpp - copies of bytes in a row --------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tma.h"

namespace blockscale::emulator::machine {
namespace {

/// cp.async.bulk and cp.reduce.async.bulk.
struct BulkRecord : CopyRecord {
  AddressOperand to, from;
  Slot size = kNoSlot;
  bool fromShared = false;
  bool byteMask = false; ///< `mask` names the bytes of each 16 that are copied
  TensorMapType type = TensorMapType::U8; ///< of a reduction

  /// Bytes of an element that is reduced, else 0.
  unsigned reducedBytes() const {
    return reduction == Reduction::None ? 0 : globalBits(type) / 8;
  }
};

/// What one lane copies.
struct BulkOp {
  uint64_t to, from;
  uint32_t size;
  uint32_t byteMask; ///< of each 16 bytes
};

/// The bytes that are copied, as ranges relative to the start.
std::vector<Range> copiedRanges(const BulkOp &op) {
  if (op.byteMask == 0xFFFF)
    return {{0, op.size}};
  std::vector<Range> ranges;
  for (uint32_t at = 0; at != op.size; ++at) {
    if (!(op.byteMask >> at % 16 & 1))
      continue;
    if (!ranges.empty() && ranges.back().address + ranges.back().bytes == at)
      ++ranges.back().bytes;
    else
      ranges.push_back({at, 1});
  }
  return ranges;
}

/// Strict mode: the bytes that a store reads and writes.
void orderStore(Exec &x, const Record &r, unsigned lane, const BulkOp &op,
                const Access &source, const std::vector<Range> &copied) {
  StoreTouches t = storeTouches(x, r, lane, r.as<BulkRecord>().reducedBytes());
  std::vector<Range> from, to;
  for (const Range &range : copied) {
    from.push_back({source.offset + range.address, range.bytes});
    if (isTracked(*x.cluster, op.to + range.address, range.bytes))
      to.push_back({op.to + range.address, range.bytes});
  }
  touchRanges(x, r, lane, *source.cta, from, t.source);
  t.destination.origin = x.origin(r, int(lane));
  tell(*x.cluster, GlobalTouched{*x.warp, to.data(), to.size(), t.destination});
}

Step bulkStore(Exec &x, const Record &r, unsigned lane, const BulkOp &op) {
  Access source, target;
  if (!resolve(x, r, Where::SharedCta, op.from, lane, op.size, Use::Read,
               source, 16) ||
      !resolve(x, r, Where::Global, op.to, lane, op.size, Use::Write, target,
               16))
    return Step::Fault;
  Origin origin = x.origin(r, int(lane));
  Cluster *cluster = x.cluster;
  auto open = x.warp->bulk[lane].issue();
  const auto &copy = r.as<BulkRecord>();
  Reduction reduction = copy.reduction;
  TensorMapType type = copy.type;
  std::vector<Range> copied = copiedRanges(op);
  if (cluster->order)
    orderStore(x, r, lane, op, source, copied);
  cluster->post(0, [=] {
    --*open;
    cluster->counters.tmaStoreBytes += op.size;
    tell(*cluster, CopyDone{*cluster, origin, EventKind::Store, op.size,
                            origin.cta->rank});
    for (const Range &range : copied)
      if (std::memchr(source.valid + range.address, 0, range.bytes)) {
        report(*cluster, origin, FindingKind::Uninitialised,
               "a bulk store reads shared memory that was never written",
               op.from + range.address);
        break;
      }
    AccessLocks::Guard guard(cluster->grid.accesses,
                             AccessLocks::of(op.to, op.size));
    if (reduction == Reduction::None)
      for (const Range &range : copied)
        std::memcpy(target.data + range.address, source.data + range.address,
                    range.bytes);
    else if (!reduceElements(reduction, type, target.data, source.data,
                             op.size))
      asyncFault(*cluster, origin, FindingKind::Tma,
                 "no such reduction for the type", op.to);
  });
  return x.cluster->faulted ? Step::Fault : Step::Next;
}

Step bulkLoad(Exec &x, const Record &r, unsigned lane, const BulkOp &op) {
  const auto &copy = r.as<BulkRecord>();
  Access source;
  if (!resolve(x, r, copy.fromShared ? Where::SharedCta : Where::Global,
               op.from, lane, op.size, Use::Read, source, 16))
    return Step::Fault;
  std::vector<Target> targets;
  if (!targetsOf(x, r, copy, lane, uint32_t(op.to), targets))
    return Step::Fault;
  Origin origin = x.origin(r, int(lane));
  Cluster *cluster = x.cluster;
  Reduction reduction = copy.reduction;
  TensorMapType type = copy.type;
  DataReport inspected = copy.report;
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
    BarrierVisit::Kind kind = visitKind(copy);
    Ticket ticket = beginTransaction(x, origin, target.barrier);
    if (cluster->order) {
      touchLane(x, r, lane, source, op.from, op.size,
                loadTouch(ticket.stamp, false));
      std::vector<Range> ranges{{target.address, op.size}};
      Touch written = loadTouch(ticket.stamp, true);
      written.bytes = uint16_t(copy.reducedBytes());
      written.strong = written.bytes != 0;
      touchRanges(x, r, lane, *target.cta, ranges, written);
    }
    cluster->post(0, [=] {
      if (exitedTarget(*cluster, origin, *target.cta))
        return;
      uint8_t *to = target.cta->shared.data() + offset;
      if (reduction != Reduction::None) {
        if (!std::memchr(source.valid, 0, op.size) &&
            std::memchr(target.cta->valid.data() + offset, 0, op.size))
          report(*cluster, origin, FindingKind::Uninitialised,
                 "a bulk reduction adds to shared memory that was never "
                 "written",
                 target.address);
        reduceElements(reduction, type, to, source.data, op.size);
      } else {
        std::memcpy(to, source.data, op.size);
      }
      if (source.valid)
        std::memcpy(target.cta->valid.data() + offset, source.valid, op.size);
      else
        markRange(*target.cta, target.address, op.size);
      cluster->counters.tmaLoadBytes += op.size;
      tell(*cluster, CopyDone{*cluster, origin, EventKind::Load, op.size,
                              target.cta->rank});
      tellReport(*cluster, origin, target.barrier, inspected,
                 isReported(inspected, source.data, op.from, op.size, false));
      completeOn(*cluster, origin, target.barrier, op.size, ticket, kind);
    });
  }
  return x.cluster->faulted ? Step::Fault : Step::Next;
}

Step bulkCopy(Exec &x, const Record &r) {
  const auto &copy = r.as<BulkRecord>();
  adviseRepeats(x, r, [&](unsigned lane) {
    return repeatsFirst(x, lane, {&copy.to, &copy.from, &copy.barrier});
  });
  for (uint32_t left = x.mask; left; left &= left - 1) {
    auto lane = unsigned(__builtin_ctz(left));
    BulkOp op;
    bool store = copy.store;
    op.to =
        store ? laneAddress(x, copy.to, lane) : laneShared(x, copy.to, lane);
    op.from = store || copy.fromShared ? laneShared(x, copy.from, lane)
                                       : laneAddress(x, copy.from, lane);
    op.size = x.reg<uint32_t>(copy.size)[lane];
    op.byteMask = copy.byteMask ? x.reg<uint16_t>(copy.mask)[lane] : 0xFFFF;
    if (op.size % 16 || op.size == 0)
      return x.fault(r, FindingKind::Misaligned,
                     "bulk copy of " + std::to_string(op.size) +
                         " bytes, expected a positive multiple of 16",
                     int(lane), 0, Hazard::BulkSize);
    if (uint64_t odd = op.to % 16 ? op.to : op.from % 16 ? op.from : 0)
      return x.fault(r, FindingKind::Misaligned,
                     "bulk copy at an address that is not a multiple of 16",
                     int(lane), odd, Hazard::BulkSize);
    if (isWatched(*x.cluster))
      tell(*x.cluster, CopyBegun{x, r, lane, [&] {
                                   return std::string("event=bulk direction=") +
                                          (store ? "store" : "load") +
                                          " to=" + hex(op.to) +
                                          " from=" + hex(op.from) +
                                          " bytes=" + std::to_string(op.size);
                                 }});
    if ((store ? bulkStore(x, r, lane, op) : bulkLoad(x, r, lane, op)) ==
        Step::Fault)
      return Step::Fault;
  }
  return Step::Next;
}

} // namespace

bool decodeBulk(Decoder &d, const Instruction &in, Record &r) {
  auto &copy = d.record<BulkRecord>(r);
  decodeForm(in, copy);
  copy.fromShared = !copy.store && !in.has(Modifier::Global);
  copy.to = d.address(in.operands[0]);
  copy.from = d.address(in.operands[1]);
  copy.size = d.source(in.operands[2], 32);
  if (!copy.store) {
    copy.barrier = d.address(in.operands[3]);
    if (copy.multicast)
      copy.mask = d.source(in.operands[4], copy.wideMask ? 32 : 16);
  } else if (in.has(Modifier::CpMask)) {
    copy.byteMask = true;
    copy.mask = d.source(in.operands.back(), 16);
  }
  if (in.opcode == Opcode::CpReduceAsyncBulk) {
    std::optional<TensorMapType> type = elementType(in.type());
    if (!type)
      return d.refuse("unsupported type");
    copy.reduction = reductionOf(in);
    copy.type = *type;
  }
  d.flow().sink = true;
  r.fn = bulkCopy;
  return true;
}

} // namespace blockscale::emulator::machine
