//===- Mbarriers.cpp - mbarrier instructions ------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Mbarriers.h"
#include "../Run/Observer.h"

namespace blockscale::emulator::machine {

Hazard hazardOf(MBarrierError error, bool isInit) {
  switch (error) {
  case MBarrierError::None:
    return Hazard::None;
  case MBarrierError::NotInitialised:
    return Hazard::InitNotVisible;
  case MBarrierError::InitOverLive:
    return Hazard::IllegalInit;
  case MBarrierError::CountOutOfRange:
    return isInit ? Hazard::IllegalInit : Hazard::TooManyArrivals;
  case MBarrierError::OverArrival:
  case MBarrierError::NoCompleteCompletes:
    return Hazard::TooManyArrivals;
  case MBarrierError::TxOutOfRange:
    return Hazard::BytesOutOfRange;
  case MBarrierError::TokenNotCurrent:
    return Hazard::TwoPhasesBehind;
  case MBarrierError::BadParity:
    return Hazard::OldPhase;
  case MBarrierError::NoReports:
    return Hazard::IllegalInit;
  }
  return Hazard::None;
}

MBarrier *barrierOf(Exec &x, const Record &r, const MbarrierRecord &m,
                    unsigned lane, Cta *&cta, uint32_t &address, bool create) {
  Where where = m.where;
  uint64_t full = laneAddress(x, m.address, lane);
  if (where == Where::Generic) {
    if (full < kSharedWindow || full - kSharedWindow >= kWindowSize) {
      x.fault(r, FindingKind::BadAddress,
              "generic mbarrier address outside shared memory", int(lane),
              full);
      return nullptr;
    }
    where = Where::SharedCluster;
    address = uint32_t(full - kSharedWindow);
  } else {
    address = laneShared(x, m.address, lane);
  }
  if (where == Where::SharedCta && address >> kRankShift != x.cta->rank &&
      address >> kRankShift < x.cluster->ctas.size()) {
    x.fault(r, FindingKind::BadAddress,
            "shared::cta operation on an mbarrier of rank " +
                std::to_string(address >> kRankShift),
            int(lane), address, Hazard::NotOwnBarrier);
    return nullptr;
  }
  cta = sharedCta(x, r, where, address, lane);
  if (!cta)
    return nullptr;
  uint32_t offset = address & 0xFFFFFF;
  if (offset % 8) {
    x.fault(r, FindingKind::Misaligned,
            "mbarrier address is not a multiple of 8", int(lane), address);
    return nullptr;
  }
  if (offset < kSharedBase || offset - kSharedBase + 8 > cta->shared.size()) {
    x.fault(r, FindingKind::OutOfBounds,
            "mbarrier outside the shared memory of the CTA", int(lane),
            address);
    return nullptr;
  }
  MBarrier *barrier = barrierAt(*cta, offset, create);
  if (!barrier)
    x.fault(r, FindingKind::MBarrier, describe(MBarrierError::NotInitialised),
            int(lane), address, Hazard::InitNotVisible);
  return barrier;
}

void decodeCommon(Decoder &d, const Instruction &in, const Operand &address,
                  MbarrierRecord &m) {
  m.address = d.address(address);
  m.where = whereOf(in);
  m.scope = in.has(Modifier::Cluster) ? Scope::Cluster : Scope::Cta;
  m.relaxed = in.has(Modifier::Relaxed);
}

namespace {

using Verb = MbarrierVerb;

struct UpdateRecord : MbarrierRecord {
  Slot token = kNoSlot; ///< result of an arrival
  Slot count = kNoSlot, bytes = kNoSlot;
  Verb verb = Verb::Init;
  Slot mask = kNoSlot; ///< CTAs of a multicast
  bool expectsTx = false, noComplete = false;
  bool layoutV1 = false; ///< of init: with room for a report

  bool arrives() const { return verb == Verb::Arrive || verb == Verb::Drop; }
  /// A CTA can do it with its own barriers only.
  bool needsOwnCta() const {
    return verb == Verb::Init || verb == Verb::Inval || token != kNoSlot ||
           noComplete;
  }
};

MBarrierArrival perform(const UpdateRecord &u, MBarrier &barrier,
                        uint32_t count, uint32_t bytes) {
  MBarrierArrival result;
  switch (u.verb) {
  case Verb::Init:
    result.error = barrier.init(count, u.layoutV1);
    break;
  case Verb::Inval:
    result.error = barrier.inval();
    break;
  case Verb::Expect:
    result = barrier.expectTx(bytes);
    break;
  case Verb::Complete:
    result = barrier.completeTx(bytes);
    break;
  case Verb::Arrive:
    result = u.expectsTx    ? barrier.arriveExpectTx(bytes, count)
             : u.noComplete ? barrier.arriveNoComplete(count)
                            : barrier.arrive(count);
    break;
  case Verb::Drop:
    result = u.expectsTx ? barrier.arriveDropExpectTx(bytes, count)
                         : barrier.arriveDrop(count, u.noComplete);
    break;
  }
  return result;
}

/// What one lane does to one barrier.
Step updateOne(Exec &x, const Record &r, unsigned lane, bool isFirst, Cta *cta,
               uint32_t address, MBarrier *barrier) {
  const auto &u = r.as<UpdateRecord>();
  bool isInit = u.verb == Verb::Init;
  uint32_t count = u.count == kNoSlot ? 1 : x.reg<uint32_t>(u.count)[lane];
  uint32_t bytes = u.bytes == kNoSlot ? 0 : x.reg<uint32_t>(u.bytes)[lane];
  if (u.layoutV1 && count > MBarrier::kMostWithReports)
    return x.fault(r, FindingKind::MBarrier,
                   "count " + std::to_string(count) +
                       " in layout v1, which takes 1 to 511",
                   int(lane), address, Hazard::IllegalInit);
  uint32_t phase = barrier->phase();
  MBarrierArrival result = perform(u, *barrier, count, bytes);
  if (result.error != MBarrierError::None)
    return x.fault(r, FindingKind::MBarrier, describe(result.error), int(lane),
                   address, hazardOf(result.error, isInit));
  if (isInit) // its bytes now hold something
    std::memset(cta->valid.data() + ((address & 0xFFFFFF) - kSharedBase), 0xFF,
                8);
  if (barrier->expectTxCompleted())
    x.cluster->openPoints.add(OpenPoint::ExpectTxCompletes);
  if (u.token != kNoSlot)
    x.reg<uint64_t>(u.token)[lane] = result.token;
  tell(*x.cluster,
       MbarrierUpdated{x, r, lane, isFirst, u.verb, u.scope, u.relaxed, *cta,
                       (address & 0xFFFFFF) | cta->rank << kRankShift, count,
                       bytes, phase, *barrier, result});
  ++x.cluster->epoch;
  return Step::Next;
}

Step update(Exec &x, const Record &r) {
  const auto &u = r.as<UpdateRecord>();
  for (uint32_t left = x.mask; left; left &= left - 1) {
    auto lane = unsigned(__builtin_ctz(left));
    Cta *cta = nullptr;
    uint32_t address = 0;
    MBarrier *barrier =
        barrierOf(x, r, u, lane, cta, address, u.verb == Verb::Init);
    if (!barrier)
      return Step::Fault;
    if (cta != x.cta && u.needsOwnCta())
      return x.fault(r, FindingKind::MBarrier,
                     "init, inval, noComplete and the result of an arrival "
                     "need an mbarrier of the own CTA",
                     int(lane), address, Hazard::NotOwnBarrier);
    if (updateOne(x, r, lane, left == x.mask, cta, address, barrier) !=
        Step::Next)
      return Step::Fault;
  }
  return Step::Next;
}

/// The same on the barrier at the same offset in each CTA of a mask.
Step updateMany(Exec &x, const Record &r) {
  const auto &u = r.as<UpdateRecord>();
  bool first = true;
  for (uint32_t left = x.mask; left; left &= left - 1) {
    auto lane = unsigned(__builtin_ctz(left));
    uint32_t ranks = x.reg<uint32_t>(u.mask)[lane];
    uint32_t offset = laneShared(x, u.address, lane) & 0xFFFFFF;
    if (!ranks || uint64_t(ranks) >> x.cluster->ctas.size())
      return x.fault(r, FindingKind::BadAddress,
                     "multicast mask " + hex(ranks) + " in a cluster of " +
                         std::to_string(x.cluster->ctas.size()),
                     int(lane), offset, Hazard::ExitedCta);
    for (; ranks; ranks &= ranks - 1, first = false) {
      auto rank = uint32_t(__builtin_ctz(ranks));
      Cta &cta = *x.cluster->ctas[rank];
      if (cta.done())
        return x.fault(r, FindingKind::MBarrier,
                       "arrival on an mbarrier of a CTA that has exited",
                       int(lane), offset, Hazard::ExitedCta);
      bool inside = offset % 8 == 0 && offset >= kSharedBase &&
                    offset - kSharedBase + 8 <= cta.shared.size();
      MBarrier *barrier = inside ? barrierAt(cta, offset, false) : nullptr;
      if (!barrier)
        return x.fault(r, FindingKind::MBarrier,
                       describe(MBarrierError::NotInitialised), int(lane),
                       offset | rank << kRankShift, Hazard::InitNotVisible);
      if (updateOne(x, r, lane, first, &cta, offset | rank << kRankShift,
                    barrier) != Step::Next)
        return Step::Fault;
    }
  }
  return Step::Next;
}

/// The mask of a multicast, the last operand.
bool decodeMask(Decoder &d, const Instruction &in, Record &r, UpdateRecord &u) {
  u.mask = d.source(in.operands.back(), 32);
  r.fn = updateMany;
  return true;
}

bool decodeArrive(Decoder &d, const Instruction &in, Record &r, Verb verb) {
  auto &u = d.record<UpdateRecord>(r);
  u.verb = verb;
  u.expectsTx = in.has(Modifier::ExpectTx);
  u.noComplete = in.has(Modifier::NoComplete);
  size_t next = 0;
  // The old form without a result has the address first.
  if (in.operands[0].kind != OperandKind::Address) {
    if (in.operands[0].kind != OperandKind::Sink)
      u.token = d.destination(in.operands[0], 64);
    next = 1;
  }
  decodeCommon(d, in, in.operands[next++], u);
  bool many = in.has(Modifier::MulticastCluster32b);
  if (next + many < in.operands.size())
    (u.expectsTx ? u.bytes : u.count) = d.source(in.operands[next++], 32);
  r.fn = update;
  if (!many)
    return true;
  if (in.operands[0].kind != OperandKind::Sink)
    return d.refuse("an arrival on several CTAs has no result");
  return decodeMask(d, in, r, u);
}

bool decodeUpdate(Decoder &d, const Instruction &in, Record &r, Verb verb) {
  auto &u = d.record<UpdateRecord>(r);
  u.verb = verb;
  decodeCommon(d, in, in.operands[0], u);
  u.layoutV1 = in.has(Modifier::LayoutV1);
  if (verb == Verb::Init)
    u.count = d.source(in.operands[1], 32);
  else if (verb != Verb::Inval)
    u.bytes = d.source(in.operands[1], 32);
  r.fn = update;
  return !in.has(Modifier::MulticastCluster32b) || decodeMask(d, in, r, u);
}

/// The rule that more bytes than expected break.
Hazard bytesRule(BarrierVisit::Kind kind) {
  return kind == BarrierVisit::Answer      ? Hazard::LaunchControlMisused
         : kind == BarrierVisit::Multicast ? Hazard::MulticastUnexpected
                                           : Hazard::BytesUnexpected;
}

/// What an asynchronous arrival or completion made of the barrier.
void finish(Cluster &cluster, const Origin &origin, uint32_t address,
            const MBarrier &barrier, const MBarrierArrival &result,
            BarrierVisit::Kind kind = BarrierVisit::Copy) {
  bool answer = kind == BarrierVisit::Answer;
  if (result.error != MBarrierError::None)
    asyncFault(cluster, origin, FindingKind::MBarrier, describe(result.error),
               address, hazardOf(result.error, false));
  else if (!result.completed && barrier.pending() == 0 && barrier.tx() < 0)
    reportHazard(cluster, origin, bytesRule(kind), FindingKind::MBarrier,
                 std::string("the ") + (answer ? "answers" : "copies") +
                     " of this phase deliver " + std::to_string(-barrier.tx()) +
                     " bytes more than were expected" +
                     (answer ? ": each try_cancel delivers 16" : ""),
                 address);
}

} // namespace

Ticket beginTransaction(const Exec &x, const Origin &origin, uint32_t address,
                        BarrierVisit::Kind kind) {
  Cluster &cluster = *x.cluster;
  uint32_t rank = address >> kRankShift, offset = address & 0xFFFFFF;
  Ticket ticket;
  if (rank < cluster.ctas.size() && offset % 8 == 0 &&
      barrierAt(*cluster.ctas[rank], offset, false))
    tell(cluster, TransactionBegun{x, origin, address, kind, ticket});
  return ticket;
}

void arriveOn(Cluster &cluster, const Origin &origin, uint32_t address,
              const Ticket &ticket) {
  MBarrier *barrier = asyncBarrier(cluster, origin, address);
  if (!barrier)
    return;
  uint32_t phase = barrier->phase();
  MBarrierArrival result = barrier->arrive(1);
  finish(cluster, origin, address, *barrier, result);
  tell(cluster, AsyncArrived{cluster, origin, address, phase, &result, ticket});
  ++cluster.epoch;
}

void arriveUncounted(Cluster &cluster, const Origin &origin, uint32_t address,
                     const Ticket &ticket) {
  if (MBarrier *barrier = asyncBarrier(cluster, origin, address))
    tell(cluster, AsyncArrived{cluster, origin, address, barrier->phase(),
                               nullptr, ticket});
}

void completeOn(Cluster &cluster, const Origin &origin, uint32_t address,
                uint32_t bytes, const Ticket &ticket, BarrierVisit::Kind kind) {
  uint32_t rank = address >> kRankShift;
  if (kind == BarrierVisit::Answer && cluster.ctas[rank]->done())
    return asyncFault(cluster, origin, FindingKind::MBarrier,
                      "the CTA exits before the answer of this try_cancel: its "
                      "mbarrier must expect 16 bytes and be waited for",
                      address, Hazard::LaunchControlMisused);
  MBarrier *barrier = asyncBarrier(cluster, origin, address);
  if (!barrier)
    return;
  uint32_t phase = barrier->phase();
  MBarrierArrival result = barrier->completeTx(bytes);
  finish(cluster, origin, address, *barrier, result, kind);
  tell(cluster, AsyncCompleted{cluster, origin, address, phase, result, bytes,
                               kind, ticket});
  ++cluster.epoch;
}

void reportOn(Cluster &cluster, const Origin &origin, uint32_t address,
              bool found) {
  MBarrier *barrier = asyncBarrier(cluster, origin, address);
  if (!barrier)
    return;
  if (!barrier->reports())
    return asyncFault(cluster, origin, FindingKind::MBarrier,
                      describe(MBarrierError::NoReports), address,
                      hazardOf(MBarrierError::NoReports, false));
  if (found)
    barrier->report();
}

MBarrier *asyncBarrier(Cluster &cluster, const Origin &origin,
                       uint32_t address) {
  uint32_t rank = address >> kRankShift, offset = address & 0xFFFFFF;
  MBarrier *barrier = rank < cluster.ctas.size()
                          ? barrierAt(*cluster.ctas[rank], offset, false)
                          : nullptr;
  if (!barrier || offset % 8) {
    asyncFault(cluster, origin, FindingKind::MBarrier,
               "no mbarrier was initialised at the address", address,
               Hazard::InitNotVisible);
    return nullptr;
  }
  if (cluster.ctas[rank]->done()) {
    asyncFault(cluster, origin, FindingKind::MBarrier,
               "arrival on an mbarrier of a CTA that has exited", address,
               Hazard::ExitedCta);
    return nullptr;
  }
  return barrier;
}

void asyncFault(Cluster &cluster, const Origin &origin, FindingKind kind,
                std::string message, uint64_t address, Hazard hazard) {
  report(cluster, origin, kind, std::move(message), address, hazard);
  cluster.faulted = true;
}

bool decodeMbarrier(Decoder &d, const Instruction &in, Record &r) {
  switch (in.opcode) {
  case Opcode::MbarrierInit:
    return decodeUpdate(d, in, r, Verb::Init);
  case Opcode::MbarrierInval:
    return decodeUpdate(d, in, r, Verb::Inval);
  case Opcode::MbarrierExpectTx:
    return decodeUpdate(d, in, r, Verb::Expect);
  case Opcode::MbarrierCompleteTx:
    return decodeUpdate(d, in, r, Verb::Complete);
  case Opcode::MbarrierArrive:
    return decodeArrive(d, in, r, Verb::Arrive);
  case Opcode::MbarrierArriveDrop:
    return decodeArrive(d, in, r, Verb::Drop);
  case Opcode::MbarrierTestWait:
  case Opcode::MbarrierTryWait:
  case Opcode::MbarrierCheckLayout:
  case Opcode::MbarrierPendingCount:
    return decodeMbarrierWait(d, in, r);
  default:
    return false;
  }
}

} // namespace blockscale::emulator::machine
