//===- TensorAllocation.cpp - tcgen05.alloc and what belongs to it --------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With cta_group::2 the calls of the two CTAs meet: the n-th call of one goes
// on when the other has made its n-th, which must be the same.
//
//===----------------------------------------------------------------------===//

#include "../Instructions/Access.h"
#include "../Instructions/Warp.h"
#include "../Run/Observer.h"
#include "Tensor.h"

#include <algorithm>

namespace blockscale::emulator::machine {
namespace {

bool wholeWarp(const Exec &x) { return gathered(x, ~0u); }

enum class Call : uint32_t { Allocate, Deallocate, Relinquish };

const char *const kCallNames[] = {"tcgen05.alloc", "tcgen05.dealloc",
                                  "tcgen05.relinquish_alloc_permit"};

/// A tensor-memory allocation call.
struct AllocationRecord {
  AddressOperand result; ///< of alloc: where the address is stored
  Where where = Where::Generic;
  Slot address = kNoSlot; ///< of dealloc
  Slot columns = kNoSlot;
  bool pair = false;      ///< .cta_group::2
  bool exclusive = false; ///< no other allocation lives beside it
};

/// Next when the peer has made the same call (or none is needed), Block until
/// then.
Step meetPeer(Exec &x, const Record &r, Call call, uint32_t columns) {
  if (!r.as<AllocationRecord>().pair)
    return Step::Next;
  bool exclusive = r.as<AllocationRecord>().exclusive;
  auto lane = int(x.firstLane());
  uint32_t peerRank = x.cta->rank ^ 1;
  if (peerRank >= x.cluster->ctas.size())
    return x.fault(r, FindingKind::Descriptor,
                   "cta_group::2 in a CTA without a peer", lane, 0,
                   Hazard::PeerNotRunning);
  Cta &mine = *x.cta, &peer = *x.cluster->ctas[peerRank];
  Group &group = *x.group;
  if (!group.arrived) {
    if (call == Call::Allocate)
      tell(*x.cluster, PeerNeeded{x, r, unsigned(lane), Hazard::PairNotMet});
    group.token = mine.pairCalls.size();
    mine.pairCalls.push_back({uint32_t(call), columns, exclusive});
    group.arrived = true;
    ++x.cluster->epoch;
  }
  if (peer.pairCalls.size() <= group.token) {
    if (peer.done())
      return x.fault(r, FindingKind::TensorMemory,
                     std::string(kCallNames[size_t(call)]) +
                         " with cta_group::2, but the peer CTA has exited",
                     lane, 0, Hazard::PeerNotRunning);
    return Step::Block;
  }
  PairCall other = peer.pairCalls[group.token];
  if (other.call == uint32_t(call) && other.columns == columns &&
      other.exclusive != exclusive)
    return x.fault(r, FindingKind::TensorMemory,
                   std::string(kCallNames[size_t(call)]) +
                       " with cta_group::2 is '.exclusive' in one CTA of the "
                       "pair only",
                   lane, 0, Hazard::PairNotMet);
  if (other.call != uint32_t(call) || other.columns != columns)
    return x.fault(
        r, FindingKind::TensorMemory,
        std::string(kCallNames[size_t(call)]) + " of " +
            std::to_string(columns) + " columns with cta_group::2 meets " +
            kCallNames[other.call] + " of " + std::to_string(other.columns) +
            " columns in the peer CTA",
        lane, 0, Hazard::PairNotMet);
  return Step::Next;
}

Step allocate(Exec &x, const Record &r) {
  if (!wholeWarp(x))
    return Step::Block;
  unsigned lane = x.firstLane();
  const auto &a = r.as<AllocationRecord>();
  uint32_t columns = x.reg<uint32_t>(a.columns)[lane];
  if (Step step = meetPeer(x, r, Call::Allocate, columns); step != Step::Next)
    return step;
  TensorMemory &tensor = x.cta->tensor;
  if (!a.pair && tensor.canAllocate(columns, a.exclusive) == AllocStatus::Ok &&
      !x.cluster->grid.residency.take(*x.cta, columns, a.exclusive, r.line))
    return Step::Block;
  if (a.exclusive)
    x.cluster->openPoints.add(OpenPoint::ExclusiveElsewhere);
  uint32_t address = 0;
  AllocStatus status = tensor.allocate(
      columns, address, x.cluster->grid.options.firstTensorColumn / 32 * 32,
      a.exclusive);
  if (status == AllocStatus::WouldBlock)
    return Step::Block;
  if (status != AllocStatus::Ok)
    return x.fault(r, FindingKind::TensorMemory,
                   describe(status, tensor.columns()) + " (" +
                       std::to_string(columns) + " columns)",
                   int(lane), 0, Hazard::IllegalAllocation);
  Access access;
  if (!resolve(x, r, a.where,
               a.where == Where::Generic ? laneAddress(x, a.result, lane)
                                         : laneShared(x, a.result, lane),
               lane, 4, Use::Write, access))
    return Step::Fault;
  Touch touch;
  touch.write = touch.collective = true;
  touch.flags = PastAccess::Allocation;
  touchLane(x, r, lane, access, access.offset, 4, touch);
  std::memcpy(access.data, &address, 4);
  markWritten(access, 4, true);
  tell(*x.cluster, TensorAllocated{*x.cta, address, columns});
  x.cta->holds.push_back({address, columns, x.origin(r, int(lane))});
  x.group->arrived = false;
  return Step::Next;
}

Step deallocate(Exec &x, const Record &r) {
  if (!wholeWarp(x))
    return Step::Block;
  unsigned lane = x.firstLane();
  const auto &a = r.as<AllocationRecord>();
  uint32_t address = x.reg<uint32_t>(a.address)[lane];
  uint32_t columns = x.reg<uint32_t>(a.columns)[lane];
  if (Step step = meetPeer(x, r, Call::Deallocate, columns); step != Step::Next)
    return step;
  x.group->arrived = false;
  if (auto reason = x.cta->tensor.deallocate(address, columns, a.exclusive))
    return x.fault(r, FindingKind::TensorMemory, *reason, int(lane), address,
                   Hazard::AllocationLeaked);
  std::vector<TensorHold> &holds = x.cta->holds;
  holds.erase(
      std::find_if(holds.begin(), holds.end(), [&](const TensorHold &hold) {
        return hold.column == address;
      }));
  x.cluster->grid.residency.give(*x.cta, columns);
  tell(*x.cluster, TensorFreed{x, r, address, columns, a.pair});
  ++x.cluster->epoch;
  return Step::Next;
}

Step relinquish(Exec &x, const Record &r) {
  if (!wholeWarp(x))
    return Step::Block;
  if (Step step = meetPeer(x, r, Call::Relinquish, 0); step != Step::Next)
    return step;
  x.group->arrived = false;
  x.cta->tensor.relinquish();
  return Step::Next;
}

/// Numbers of columns that the assembler refuses; registers are checked when
/// they are known.
std::optional<std::string> whyNotColumns(const Operand &columns,
                                         bool exclusive) {
  if (columns.kind != OperandKind::Integer)
    return std::nullopt;
  int64_t count = columns.value;
  if (exclusive && (count < 32 || count % 32))
    return "number of columns of an exclusive allocation is not a multiple of "
           "32, found " +
           std::to_string(count);
  if (!exclusive && (count < 32 || count > 512 || (count & (count - 1))))
    return "number of columns is not a power of two in 32..512, found " +
           std::to_string(count);
  return std::nullopt;
}

} // namespace

bool decodeTensorAllocation(Decoder &d, const Instruction &in, Record &r) {
  d.flow().sink = true;
  auto &a = d.record<AllocationRecord>(r);
  a.pair = in.has(Modifier::CtaGroup2);
  a.exclusive = in.has(Modifier::Exclusive);
  if (in.opcode != Opcode::Tcgen05Relinquish)
    if (auto reason = whyNotColumns(in.operands[1], a.exclusive))
      return d.refuse(*reason, Hazard::IllegalAllocation);
  switch (in.opcode) {
  case Opcode::Tcgen05Alloc:
    a.result = d.address(in.operands[0]);
    a.columns = d.source(in.operands[1], 32);
    a.where = whereOf(in);
    r.fn = allocate;
    return true;
  case Opcode::Tcgen05Dealloc:
    a.address = d.source(in.operands[0], 32);
    a.columns = d.source(in.operands[1], 32);
    r.fn = deallocate;
    return true;
  default:
    r.fn = relinquish;
    return true;
  }
}

} // namespace blockscale::emulator::machine
