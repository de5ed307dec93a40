//===- BulkGroups.cpp - groups of copies, changes of tensor maps ----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Instructions/Access.h"
#include "../Order/Order.h"
#include "MapBytes.h"

namespace blockscale::emulator::machine {
namespace {

Step commitGroup(Exec &x, const Record &r) {
  auto &groups = r.aux ? x.warp->copies : x.warp->bulk;
  forLanes(x.mask, [&](unsigned lane) {
    if (x.cluster->order)
      x.cluster->order->commitGroup(*x.warp, lane, r.aux);
    groups[lane].committed.push_back(groups[lane].open);
    groups[lane].open = std::make_shared<uint32_t>(0);
  });
  return Step::Next;
}

/// aux: 1 = cp.async's groups; aux2: 1 = all, the open group included,
/// 2 = .read.
Step waitGroup(Exec &x, const Record &r) {
  auto &groups = r.aux ? x.warp->copies : x.warp->bulk;
  bool done = true;
  forLanes(x.mask, [&](unsigned lane) {
    BulkGroups &mine = groups[lane];
    size_t keep = size_t(r.imm), count = mine.committed.size();
    for (size_t i = 0; i + keep < count; ++i)
      done = done && *mine.committed[i] == 0;
    if (r.aux2 == 1)
      done = done && *mine.open == 0;
    if (done)
      while (!mine.committed.empty() && *mine.committed.front() == 0)
        mine.committed.erase(mine.committed.begin());
  });
  if (!done)
    return Step::Block;
  if (x.cluster->order)
    forLanes(x.mask, [&](unsigned lane) {
      x.cluster->order->waitGroup(*x.warp, lane, r.aux, size_t(r.imm),
                                  r.aux2 == 2, r.aux2 == 1);
    });
  return Step::Next;
}

/// aux: Modifier of the field; aux2: bits of the value; op[1] value; imm index.
Step replaceField(Exec &x, const Record &r) {
  for (uint32_t left = x.mask; left; left &= left - 1) {
    auto lane = unsigned(__builtin_ctz(left));
    auto where = Where(r.detail->numbers.back());
    uint64_t address = where == Where::SharedCta
                           ? pushedShared(x, *r.detail, 0, lane)
                           : pushedAddress(x, *r.detail, 0, lane);
    Access access;
    if (!resolve(x, r, where, address, lane, kMapBytes, Use::Write, access, 64))
      return Step::Fault;
    Touch touch;
    touch.write = true;
    touchLane(x, r, lane, access, address, kMapBytes, touch);
    TensorMap map;
    if (!readMap(access.data, map)) // a map built from zeros
      map = TensorMap();
    uint64_t value = r.aux2 == 64 ? x.reg<uint64_t>(r.op[1])[lane]
                                  : x.reg<uint32_t>(r.op[1])[lane];
    auto index = unsigned(r.imm);
    static constexpr TensorMapType kTypes[16] = {
        TensorMapType::U8,        TensorMapType::U16,
        TensorMapType::U32,       TensorMapType::S32,
        TensorMapType::U64,       TensorMapType::S64,
        TensorMapType::F16,       TensorMapType::F32,
        TensorMapType::F32Ftz,    TensorMapType::F64,
        TensorMapType::BF16,      TensorMapType::TF32,
        TensorMapType::TF32Ftz,   TensorMapType::U4Align8,
        TensorMapType::U4Align16, TensorMapType::U6Align16};
    switch (Modifier(r.aux)) {
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
      static constexpr Swizzle kModes[5] = {Swizzle::None, Swizzle::B32,
                                            Swizzle::B64, Swizzle::B128,
                                            Swizzle::B96};
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
    writeMap(map, access.data);
    markWritten(access, kMapBytes, true);
  }
  return Step::Next;
}

/// Copies a map from shared to global memory.
Step copyMap(Exec &x, const Record &r) {
  unsigned lane = x.firstLane();
  Access from, to;
  uint64_t target = pushedAddress(x, *r.detail, 0, lane);
  if (!resolve(x, r, Where::SharedCta, pushedShared(x, *r.detail, 1, lane),
               lane, kMapBytes, Use::Read, from) ||
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
  for (Modifier field : kFields)
    if (in.has(field))
      r.aux = uint32_t(field);
  Detail &detail = d.detail(r);
  pushAddress(d, detail, in.operands[0]);
  r.aux2 = bitWidth(in.type(1));
  if (in.operands.size() == 3) {
    r.imm = in.operands[1].value;
    if (r.imm < 0 || r.imm > 4 ||
        (Modifier(r.aux) == Modifier::GlobalStride && r.imm > 3))
      return d.refuse("dimension out of range");
  }
  r.op[1] = d.source(in.operands.back(), r.aux2);
  detail.numbers.push_back(int64_t(whereOf(in)));
  r.fn = replaceField;
  return true;
}

} // namespace

bool decodeGroups(Decoder &d, const Instruction &in, Record &r) {
  switch (in.opcode) {
  case Opcode::CpAsyncBulkCommitGroup:
  case Opcode::CpAsyncCommitGroup:
    r.aux = in.opcode == Opcode::CpAsyncCommitGroup;
    r.fn = commitGroup;
    return true;
  case Opcode::CpAsyncBulkWaitGroup:
  case Opcode::CpAsyncWaitGroup:
    r.aux = in.opcode == Opcode::CpAsyncWaitGroup;
    r.aux2 = in.has(Modifier::Read) ? 2 : 0;
    r.imm = in.operands[0].value;
    r.fn = waitGroup;
    return true;
  case Opcode::CpAsyncWaitAll:
    r.aux = r.aux2 = 1;
    r.fn = waitGroup;
    return true;
  case Opcode::TensormapReplace:
    return decodeReplace(d, in, r);
  case Opcode::TensormapCpFenceProxy:
    pushAddress(d, d.detail(r), in.operands[0]);
    pushAddress(d, *const_cast<Detail *>(r.detail), in.operands[1]);
    r.fn = copyMap;
    return true;
  default:
    return false;
  }
}

} // namespace blockscale::emulator::machine
