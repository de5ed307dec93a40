//===- BulkGroups.cpp - groups of copies, changes of tensor maps ----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Instructions/Access.h"
#include "../Instructions/Lanes.h"
#include "../Run/Observer.h"
#include "MapBytes.h"

namespace blockscale::emulator::machine {
namespace {

/// Groups of cp.async or of bulk copies.
struct GroupsRecord {
  bool copies = false; ///< of cp.async
  bool all = false;    ///< waits for the open group, too
  bool readOnly = false;
  size_t keep = 0; ///< groups that may be pending after a wait
};

Step commitGroup(Exec &x, const Record &r) {
  const auto &g = r.as<GroupsRecord>();
  auto &groups = g.copies ? x.warp->copies : x.warp->bulk;
  forLanes(x.mask, [&](unsigned lane) {
    tell(*x.cluster, GroupCommitted{x, lane, g.copies});
    groups[lane].committed.push_back(std::move(groups[lane].open));
    groups[lane].open = nullptr;
  });
  return Step::Next;
}

Step waitGroup(Exec &x, const Record &r) {
  const auto &g = r.as<GroupsRecord>();
  auto &groups = g.copies ? x.warp->copies : x.warp->bulk;
  bool done = true;
  forLanes(x.mask, [&](unsigned lane) {
    BulkGroups &mine = groups[lane];
    size_t count = mine.committed.size();
    for (size_t i = 0; i + g.keep < count; ++i)
      done = done && BulkGroups::isDone(mine.committed[i]);
    if (g.all)
      done = done && BulkGroups::isDone(mine.open);
    if (done)
      while (!mine.committed.empty() &&
             BulkGroups::isDone(mine.committed.front()))
        mine.committed.erase(mine.committed.begin());
  });
  if (!done)
    return Step::Block;
  forLanes(x.mask, [&](unsigned lane) {
    tell(*x.cluster,
         GroupAwaited{x, lane, g.copies, g.keep, g.readOnly, g.all});
  });
  return Step::Next;
}

/// tensormap.replace.
struct ReplaceRecord {
  AddressOperand map;
  Where where = Where::Generic;
  Modifier field = Modifier::Unknown;
  unsigned index = 0; ///< of the dimension
  Slot value = kNoSlot;
  unsigned bits = 32; ///< of the value
};

/// Sets what tensormap.replace names: `index` is that of a dimension, for
/// fields that have one for each.
void setField(TensorMap &map, Modifier field, unsigned index, uint64_t value) {
  static constexpr TensorMapType kTypes[16] = {
      TensorMapType::U8,        TensorMapType::U16,
      TensorMapType::U32,       TensorMapType::S32,
      TensorMapType::U64,       TensorMapType::S64,
      TensorMapType::F16,       TensorMapType::F32,
      TensorMapType::F32Ftz,    TensorMapType::F64,
      TensorMapType::BF16,      TensorMapType::TF32,
      TensorMapType::TF32Ftz,   TensorMapType::U4Align8,
      TensorMapType::U4Align16, TensorMapType::U6Align16};
  switch (field) {
  case Modifier::GlobalAddress:
    map.globalAddress = value;
    break;
  case Modifier::Rank:
    map.rank = uint32_t(value) + 1;
    break;
  case Modifier::BoxDim:
    map.boxDim[index] = uint32_t(value);
    break;
  case Modifier::GlobalDim:
    map.globalDim[index] = value;
    break;
  case Modifier::GlobalStride:
    map.globalStrides[index] = value;
    break;
  case Modifier::ElementStride:
    map.elementStrides[index] = uint32_t(value);
    break;
  case Modifier::Elemtype:
    map.type = kTypes[value & 15];
    break;
  case Modifier::InterleaveLayout:
    map.interleave = Interleave(value & 3);
    break;
  case Modifier::SwizzleMode: {
    static constexpr Swizzle kModes[5] = {
        Swizzle::None, Swizzle::B32, Swizzle::B64, Swizzle::B128, Swizzle::B96};
    map.swizzle = kModes[std::min<uint64_t>(value, 4)];
    break;
  }
  case Modifier::SwizzleAtomicity: {
    static constexpr Swizzle kAtoms[4] = {Swizzle::B128, Swizzle::B128Atom32,
                                          Swizzle::B128Atom32Flip8,
                                          Swizzle::B128Atom64};
    if (value)
      map.swizzle = kAtoms[value & 3];
    break;
  }
  case Modifier::FillMode:
    map.oobFill = OobFill(value & 1);
    break;
  default:
    break;
  }
}

Step replaceField(Exec &x, const Record &r) {
  const auto &f = r.as<ReplaceRecord>();
  for (uint32_t left = x.mask; left; left &= left - 1) {
    auto lane = unsigned(__builtin_ctz(left));
    uint64_t address = f.where == Where::SharedCta
                           ? laneShared(x, f.map, lane)
                           : laneAddress(x, f.map, lane);
    Access access;
    if (!resolve(x, r, f.where, address, lane, kMapBytes, Use::Write, access,
                 64))
      return Step::Fault;
    Touch touch;
    touch.write = true;
    touchLane(x, r, lane, access, address, kMapBytes, touch);
    TensorMap map;
    if (!readMap(access.data, map)) // a map built from zeros
      map = TensorMap();
    uint64_t value = wordOf(x, f.value, f.bits, lane);
    setField(map, f.field, f.index, value);
    writeMap(map, access.data);
    markWritten(access, kMapBytes, true);
  }
  return Step::Next;
}

/// Copies a map from shared to global memory.
struct CopyMapRecord {
  AddressOperand to, from;
};
Step copyMap(Exec &x, const Record &r) {
  const auto &c = r.as<CopyMapRecord>();
  unsigned lane = x.firstLane();
  Access from, to;
  uint64_t target = laneAddress(x, c.to, lane);
  if (!resolve(x, r, Where::SharedCta, laneShared(x, c.from, lane), lane,
               kMapBytes, Use::Read, from) ||
      !resolve(x, r, Where::Global, target, lane, kMapBytes, Use::Write, to))
    return Step::Fault;
  Touch touch;
  touchLane(x, r, lane, from, 0, kMapBytes, touch);
  touch.write = true;
  touch.flags = PastAccess::MapCopy;
  touchLane(x, r, lane, to, target, kMapBytes, touch);
  std::memcpy(to.data, from.data, kMapBytes);
  return Step::Next;
}

bool decodeReplace(Decoder &d, const Instruction &in, Record &r) {
  static constexpr Modifier kFields[] = {
      Modifier::GlobalAddress, Modifier::Rank,
      Modifier::BoxDim,        Modifier::GlobalDim,
      Modifier::GlobalStride,  Modifier::ElementStride,
      Modifier::Elemtype,      Modifier::InterleaveLayout,
      Modifier::SwizzleMode,   Modifier::SwizzleAtomicity,
      Modifier::FillMode};
  auto &f = d.record<ReplaceRecord>(r);
  for (Modifier field : kFields)
    if (in.has(field))
      f.field = field;
  f.map = d.address(in.operands[0]);
  f.where = whereOf(in);
  f.bits = bitWidth(in.type(1));
  if (in.operands.size() == 3) {
    int64_t index = in.operands[1].value;
    if (index < 0 || index > 4 ||
        (f.field == Modifier::GlobalStride && index > 3))
      return d.refuse("dimension out of range");
    f.index = unsigned(index);
  }
  f.value = d.source(in.operands.back(), f.bits);
  r.fn = replaceField;
  return true;
}

} // namespace

bool decodeGroups(Decoder &d, const Instruction &in, Record &r) {
  switch (in.opcode) {
  case Opcode::CpAsyncBulkCommitGroup:
  case Opcode::CpAsyncCommitGroup:
    d.record<GroupsRecord>(r).copies = in.opcode == Opcode::CpAsyncCommitGroup;
    r.fn = commitGroup;
    return true;
  case Opcode::CpAsyncBulkWaitGroup:
  case Opcode::CpAsyncWaitGroup: {
    auto &g = d.record<GroupsRecord>(r);
    g.copies = in.opcode == Opcode::CpAsyncWaitGroup;
    g.readOnly = in.has(Modifier::Read);
    g.keep = size_t(in.operands[0].value);
    r.fn = waitGroup;
    return true;
  }
  case Opcode::CpAsyncWaitAll: {
    auto &g = d.record<GroupsRecord>(r);
    g.copies = g.all = true;
    r.fn = waitGroup;
    return true;
  }
  case Opcode::TensormapReplace:
    return decodeReplace(d, in, r);
  case Opcode::TensormapCpFenceProxy:
    d.record<CopyMapRecord>(r) = {d.address(in.operands[0]),
                                  d.address(in.operands[1])};
    r.fn = copyMap;
    return true;
  default:
    return false;
  }
}

} // namespace blockscale::emulator::machine
