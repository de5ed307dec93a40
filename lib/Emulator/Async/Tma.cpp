//===- Tma.cpp - what bulk and tensor copies share ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tma.h"

namespace blockscale::emulator::machine {

void markRange(Cta &cta, uint32_t address, uint32_t bytes) {
  uint32_t offset = address - kSharedBase;
  if (offset + bytes <= cta.valid.size())
    std::memset(cta.valid.data() + offset, 0xFF, bytes);
}

bool targetsOf(Exec &x, const Record &r, const CopyRecord &copy, unsigned lane,
               uint32_t destination, std::vector<Target> &out) {
  uint32_t barrier = laneShared(x, copy.barrier, lane);
  size_t size = x.cluster->ctas.size();
  uint32_t rank = destination >> kRankShift,
           barrierRank = barrier >> kRankShift;
  auto bad = [&](std::string why, Hazard hazard = Hazard::CopyInWrongCta) {
    x.fault(r, FindingKind::Tma, std::move(why), int(lane), destination,
            hazard);
    return false;
  };
  if (rank >= size || barrierRank >= size)
    return bad("address of a rank outside the cluster", Hazard::ExitedCta);
  if (copy.ownCta && rank != x.cta->rank)
    return bad("shared::cta copy into another CTA");
  uint32_t offset = destination & 0xFFFFFF, barrierOffset = barrier & 0xFFFFFF;
  if (!copy.multicast) {
    bool samePair =
        copy.pair && (rank ^ barrierRank) <= 1 && rank / 2 == barrierRank / 2;
    if (rank != barrierRank && !samePair)
      return bad(
          "the mbarrier is neither in the destination CTA nor in its pair");
    out.push_back({x.cluster->ctas[rank].get(), offset, barrier});
    return true;
  }
  uint32_t ranks = copy.wideMask ? x.reg<uint32_t>(copy.mask)[lane]
                                 : x.reg<uint16_t>(copy.mask)[lane];
  if (!ranks || ranks >> size)
    return bad("multicast mask " + hex(ranks) + " in a cluster of " +
                   std::to_string(size),
               Hazard::ExitedCta);
  for (; ranks; ranks &= ranks - 1) {
    auto one = uint32_t(__builtin_ctz(ranks));
    uint32_t home = copy.pair ? (one & ~1u) | (barrierRank & 1) : one;
    out.push_back({x.cluster->ctas[one].get(), offset,
                   barrierOffset | home << kRankShift});
  }
  return true;
}

bool exitedTarget(Cluster &cluster, const Origin &origin, const Cta &cta) {
  if (!cta.done())
    return false;
  asyncFault(cluster, origin, FindingKind::Tma,
             "copy into a CTA that has exited", 0, Hazard::ExitedCta);
  return true;
}

void tellReport(Cluster &cluster, const Origin &origin, uint32_t barrier,
                DataReport report, bool found) {
  if (report == DataReport::None)
    return;
  cluster.openPoints.add(report == DataReport::Elements
                             ? OpenPoint::ReportElements
                             : OpenPoint::ReportSample);
  reportOn(cluster, origin, barrier, found);
}

Touch loadTouch(Stamp stamp, bool write) {
  Touch touch;
  touch.write = write;
  touch.async = true;
  touch.stamp = stamp;
  return touch;
}

StoreTouches storeTouches(Exec &x, const Record &r, unsigned lane,
                          unsigned reducedBytes) {
  StoreTouches t;
  t.source.async = t.destination.async = t.destination.write = true;
  t.source.flags = t.destination.flags = PastAccess::Bulk;
  t.source.stamp = issue(x, r, lane, Queue::BulkRead).stamp;
  t.destination.stamp = issue(x, r, lane, Queue::BulkWrite).stamp;
  t.destination.strong = reducedBytes != 0;
  t.destination.bytes = uint16_t(reducedBytes);
  return t;
}

bool repeatsFirst(const Exec &x, unsigned lane,
                  std::initializer_list<const AddressOperand *> addresses,
                  Slots coordinates) {
  unsigned first = x.firstLane();
  if (lane == first)
    return false;
  for (const AddressOperand *address : addresses)
    if (laneAddress(x, *address, first) != laneAddress(x, *address, lane))
      return false;
  for (Slot slot : coordinates)
    if (x.reg<uint32_t>(slot)[first] != x.reg<uint32_t>(slot)[lane])
      return false;
  return true;
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

std::optional<TensorMapType> elementType(Type type) {
  switch (type) {
  case Type::U32:
  case Type::B32:
    return TensorMapType::U32;
  case Type::S32:
    return TensorMapType::S32;
  case Type::U64:
  case Type::B64:
    return TensorMapType::U64;
  case Type::S64:
    return TensorMapType::S64;
  case Type::F16:
    return TensorMapType::F16;
  case Type::Bf16:
    return TensorMapType::BF16;
  case Type::F32:
    return TensorMapType::F32;
  case Type::F64:
    return TensorMapType::F64;
  default:
    return std::nullopt;
  }
}

/// What a load looks for in its data.
static DataReport dataReportOf(const Instruction &in) {
  for (Modifier modifier : in.modifiers)
    if (modifier > Modifier::ReportDisabled &&
        modifier <= Modifier::ReportPerElement)
      return DataReport(unsigned(modifier) -
                        unsigned(Modifier::ReportDisabled));
  return DataReport::None;
}

/// The first state space that the mnemonic names is the destination.
static bool toGlobal(const Instruction &in) {
  for (Modifier modifier : in.modifiers) {
    if (modifier == Modifier::Global)
      return true;
    if (modifier == Modifier::SharedCta || modifier == Modifier::SharedCluster)
      return false;
  }
  return false;
}

void decodeForm(const Instruction &in, CopyRecord &copy) {
  copy.store = toGlobal(in);
  copy.pair = in.has(Modifier::CtaGroup2);
  copy.wideMask = in.has(Modifier::MulticastCluster32b);
  copy.multicast = copy.wideMask || in.has(Modifier::MulticastCluster) ||
                   in.has(Modifier::MulticastCluster16b);
  copy.report = dataReportOf(in);
  copy.ownCta = !copy.store && !in.has(Modifier::SharedCluster);
}

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
