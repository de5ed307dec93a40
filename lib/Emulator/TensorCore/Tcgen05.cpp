//===- Tcgen05.cpp - the tcgen05 instructions -----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// mma, cp, shift and commit go through one queue per CTA (per pair for
// cta_group::2), in which they keep their order. ld and st act at once: their
// effect cannot be seen earlier than a correct program looks.
//
//===----------------------------------------------------------------------===//

#include "../Async/Async.h"
#include "../Instructions/Access.h"
#include "../Run/Observer.h"
#include "Tensor.h"

namespace blockscale::emulator::machine {
namespace {

constexpr uint32_t kPairQueue = 64;

TensorCta viewOf(Cta &cta) {
  TensorCta view;
  view.shared = cta.shared.data();
  view.sharedBase = kSharedBase;
  view.sharedSize = uint32_t(cta.shared.size());
  view.tensor = &cta.tensor;
  view.sharedValid = cta.valid.data();
  return view;
}

} // namespace

uint32_t queueOf(const Exec &x, unsigned group) {
  return group == 2 ? kPairQueue + x.cta->rank / 2 : 1 + x.cta->rank;
}

bool contextOf(Cluster &cluster, const Origin &origin, unsigned group,
               TensorContext &context) {
  context.wideAddresses = cluster.grid.wideMma;
  if (group == 1) {
    context.cta[0] = viewOf(*origin.cta);
    return true;
  }
  uint32_t even = origin.cta->rank & ~1u;
  if (even + 1 >= cluster.ctas.size()) {
    asyncFault(cluster, origin, FindingKind::Descriptor,
               "cta_group::2 in a CTA without a peer", 0,
               Hazard::PeerNotRunning);
    return false;
  }
  for (unsigned i = 0; i != 2; ++i) {
    Cta &cta = *cluster.ctas[even + i];
    if (cta.done()) {
      asyncFault(cluster, origin, FindingKind::TensorMemory,
                 "cta_group::2 operation while a CTA of the pair has exited", 0,
                 Hazard::PeerNotRunning);
      return false;
    }
    context.cta[i] = viewOf(cta);
  }
  return true;
}

void reportIssues(Cluster &cluster, const Origin &origin, unsigned group,
                  const TensorReport &result) {
  cluster.openPoints.add(result.openPoints);
  for (const TensorIssue &issue : result.issues) {
    FindingKind kind =
        issue.kind == TensorIssueKind::IllegalInstruction ||
                issue.kind == TensorIssueKind::Advice
            ? FindingKind::Descriptor
        : issue.kind == TensorIssueKind::OutOfRange  ? FindingKind::OutOfBounds
        : issue.kind == TensorIssueKind::Unallocated ? FindingKind::TensorMemory
        : issue.kind == TensorIssueKind::Inconsistent
            ? FindingKind::TensorMemory
            : FindingKind::Uninitialised;
    Origin where = origin;
    if (group == 2)
      where.cta = cluster.ctas[(origin.cta->rank & ~1u) + issue.cta].get();
    report(cluster, where, kind, issue.message, issue.address, issue.hazard,
           issue.kind == TensorIssueKind::Advice);
  }
  if (result.refused)
    cluster.faulted = true;
}

namespace {

/// Bytes that one tcgen05.cp reads from shared memory.
uint64_t sourceBytes(CopyShape shape) {
  switch (shape) {
  case CopyShape::S128x256b:
    return 4096;
  case CopyShape::S4x256b:
    return 128;
  case CopyShape::S128x128b:
    return 2048;
  case CopyShape::S64x128bWarp02_13:
  case CopyShape::S64x128bWarp01_23:
    return 1024;
  case CopyShape::S32x128bWarp4:
    return 512;
  }
  return 0;
}

/// tcgen05.cp, shift and commit.
struct GroupRecord {
  AddressOperand address; ///< of tensor memory; of commit, the mbarrier
  unsigned group = 1;     ///< .cta_group
};
struct CopyRecord : GroupRecord {
  Slot descriptor = kNoSlot;
  CopyShape shape = CopyShape::S128x256b;
  CopyFormat format = CopyFormat::Plain;
};
struct CommitRecord : GroupRecord {
  Slot mask = kNoSlot;   ///< CTAs of a multicast
  bool wideMask = false; ///< of 32 bits, not 16
  /// Arrives when the earlier mmas have read A from shared memory.
  bool readsA = false;
};

Step copy(Exec &x, const Record &r) {
  const auto &c = r.as<CopyRecord>();
  unsigned group = c.group;
  for (uint32_t left = x.mask; left; left &= left - 1) {
    auto lane = unsigned(__builtin_ctz(left));
    auto address = uint32_t(laneAddress(x, c.address, lane));
    uint64_t descriptor = x.reg<uint64_t>(c.descriptor)[lane];
    Origin origin = x.origin(r, int(lane));
    Cluster *cluster = x.cluster;
    CopyShape shape = c.shape;
    CopyFormat format = c.format;
    const Instruction *in = r.instruction;
    if (isWatched(*cluster))
      tell(*cluster, TensorIssued{x,
                                  r,
                                  lane,
                                  group,
                                  TensorUse::Copy,
                                  [&](const OperandVisit &visit) {
                                    forCopyRanges(shape, format, group,
                                                  descriptor, visit);
                                  },
                                  {areaOf(shape, address)}});
    cluster->post(queueOf(x, group), [=] {
      TensorContext context;
      if (!contextOf(*cluster, origin, group, context))
        return;
      TensorReport result = cluster->core.copy(shape, format, group, address,
                                               descriptor, context);
      reportIssues(*cluster, origin, group, result);
      ++cluster->counters.tensorCopies;
      tell(*cluster, TensorCopyDone{*cluster, origin, *in, group,
                                    sourceBytes(shape), address, descriptor});
    });
    if (x.cluster->faulted)
      return Step::Fault;
  }
  return Step::Next;
}

Step shift(Exec &x, const Record &r) {
  const auto &s = r.as<GroupRecord>();
  unsigned group = s.group;
  auto address = uint32_t(laneAddress(x, s.address, x.firstLane()));
  Origin origin = x.origin(r, int(x.firstLane()));
  Cluster *cluster = x.cluster;
  if (isWatched(*cluster))
    tell(*cluster, TensorIssued{x,
                                r,
                                x.firstLane(),
                                group,
                                TensorUse::Shift,
                                [](const OperandVisit &) {},
                                {areaOfShift(address)}});
  cluster->post(queueOf(x, group), [=] {
    TensorContext context;
    if (!contextOf(*cluster, origin, group, context))
      return;
    for (unsigned i = 0; i != group; ++i)
      if (auto reason =
              context.cta[i].tensor->shiftDown(address, cluster->openPoints))
        asyncFault(
            *cluster, origin, FindingKind::TensorMemory, *reason, address,
            TensorMemory::laneOf(address) % 32 ? Hazard::AccumulatorMisplaced
                                               : Hazard::ColumnsUnallocated);
  });
  return x.cluster->faulted ? Step::Fault : Step::Next;
}

Step commit(Exec &x, const Record &r) {
  const auto &c = r.as<CommitRecord>();
  for (uint32_t left = x.mask; left; left &= left - 1) {
    auto lane = unsigned(__builtin_ctz(left));
    uint32_t address = laneShared(x, c.address, lane);
    uint32_t ranks = c.mask == kNoSlot ? 1u << (address >> kRankShift & 31)
                     : c.wideMask      ? x.reg<uint32_t>(c.mask)[lane]
                                       : x.reg<uint16_t>(c.mask)[lane];
    if (uint64_t(ranks) >> x.cluster->ctas.size())
      return x.fault(r, FindingKind::BadAddress,
                     "commit to CTA mask " + hex(ranks) + " in a cluster of " +
                         std::to_string(x.cluster->ctas.size()),
                     int(lane), address, Hazard::ExitedCta);
    Origin origin = x.origin(r, int(lane));
    Cluster *cluster = x.cluster;
    unsigned group = c.group;
    if (c.readsA)
      cluster->openPoints.add(OpenPoint::ReadCommit);
    Ticket ticket;
    tell(*cluster, CommitIssued{x, origin, lane, group, c.readsA, ticket});
    cluster->post(queueOf(x, group), [=] {
      tell(*cluster, CommitBegun{*cluster, origin, group});
      for (uint32_t rest = ranks; rest; rest &= rest - 1)
        arriveOn(*cluster, origin,
                 (address & 0xFFFFFF) | uint32_t(__builtin_ctz(rest))
                                            << kRankShift,
                 ticket);
      tell(*cluster, CommitDone{*cluster, origin, address, ranks});
    });
    ++x.cluster->counters.commits;
    if (x.cluster->faulted)
      return Step::Fault;
  }
  return Step::Next;
}

unsigned groupOf(const Instruction &in) {
  return in.has(Modifier::CtaGroup2) ? 2 : 1;
}

bool decodeCp(Decoder &d, const Instruction &in, Record &r) {
  auto &c = d.record<CopyRecord>(r);
  CopyShape &shape = c.shape;
  if (in.has(Modifier::Shape128x256b))
    shape = CopyShape::S128x256b;
  else if (in.has(Modifier::Shape4x256b))
    shape = CopyShape::S4x256b;
  else if (in.has(Modifier::Shape128x128b))
    shape = CopyShape::S128x128b;
  else if (in.has(Modifier::Shape32x128b))
    shape = CopyShape::S32x128bWarp4;
  else if (in.has(Modifier::Warpx20213))
    shape = CopyShape::S64x128bWarp02_13;
  else if (in.has(Modifier::Warpx20123))
    shape = CopyShape::S64x128bWarp01_23;
  else
    return d.refuse("tcgen05.cp without a known shape");
  c.format = in.has(Modifier::B4x16P64)   ? CopyFormat::B4x16P64
             : in.has(Modifier::B6x16P32) ? CopyFormat::B6x16P32
                                          : CopyFormat::Plain;
  c.address = d.address(in.operands[0]);
  c.descriptor = d.source(in.operands[1], 64);
  c.group = groupOf(in);
  d.flow().sink = true;
  r.fn = copy;
  return true;
}

Step fence(Exec &x, const Record &r) {
  bool after = r.instruction->opcode == Opcode::Tcgen05FenceAfter;
  tell(*x.cluster,
       Fenced{x, after ? Fenced::TensorAfter : Fenced::TensorBefore});
  return Step::Next;
}

} // namespace

bool decodeTensor(Decoder &d, const Instruction &in, Record &r) {
  switch (in.opcode) {
  case Opcode::Tcgen05Alloc:
  case Opcode::Tcgen05Dealloc:
  case Opcode::Tcgen05Relinquish:
    return decodeTensorAllocation(d, in, r);
  case Opcode::Tcgen05Mma:
    return decodeMma(d, in, r);
  case Opcode::Tcgen05Cp:
    return decodeCp(d, in, r);
  case Opcode::Tcgen05Ld:
    return decodeTensorFragment(d, in, r, true);
  case Opcode::Tcgen05St:
    return decodeTensorFragment(d, in, r, false);
  case Opcode::Tcgen05Shift:
    d.record<GroupRecord>(r) = {d.address(in.operands[0]), groupOf(in)};
    r.fn = shift;
    return true;
  case Opcode::Tcgen05Commit: {
    auto &c = d.record<CommitRecord>(r);
    c.address = d.address(in.operands[0]);
    c.wideMask = in.has(Modifier::MulticastCluster32b);
    c.readsA = in.has(Modifier::SyncRestrictReadMmaA);
    if (in.operands.size() > 1)
      c.mask = d.source(in.operands[1], c.wideMask ? 32 : 16);
    c.group = groupOf(in);
    d.flow().sink = true;
    r.fn = commit;
    return true;
  }
  case Opcode::Tcgen05WaitLd:
  case Opcode::Tcgen05WaitSt:
    r.fn = waitTensorWarp;
    return true;
  case Opcode::Tcgen05FenceAfter:
  case Opcode::Tcgen05FenceBefore:
    r.fn = fence;
    return true;
  default:
    return false;
  }
}

} // namespace blockscale::emulator::machine
