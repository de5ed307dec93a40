//===- TensorFragments.cpp - tcgen05.ld and tcgen05.st --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Instructions/Access.h"
#include "../Instructions/Warp.h"
#include "../Run/Observer.h"
#include "Tensor.h"

namespace blockscale::emulator::machine {
namespace {

bool wholeWarp(const Exec &x) { return gathered(x, ~0u); }

/// tcgen05.ld and tcgen05.st.
struct FragmentRecord {
  Fragment fragment;
  AddressOperand address;
  Slots registers;
  /// tcgen05.ld.red: what the words of a thread are reduced to, and how.
  Slot reduced = kNoSlot;
  Slots all; ///< with it
  Type type = Type::F32;
  bool greatest = false, absolute = false, keepsNan = false;
};

/// One step of a reduction of f32: the other one where one is NaN, unless NaN
/// is to be kept; -0 is less than 0.
uint32_t reduceFloat(const FragmentRecord &f, uint32_t left, uint32_t right) {
  constexpr uint32_t kNan = 0x7FFFFFFF, kSign = 0x80000000;
  auto isNan = [](uint32_t bits) { return (bits & ~kSign) > 0x7F800000; };
  if (isNan(left) || isNan(right)) {
    bool both = isNan(left) && isNan(right);
    return f.keepsNan || both ? kNan : isNan(left) ? right : left;
  }
  // Sign and magnitude in the order of numbers.
  auto rank = [](uint32_t bits) {
    return bits & kSign ? -int64_t(bits & ~kSign) - 1 : int64_t(bits);
  };
  return (rank(left) < rank(right)) == f.greatest ? right : left;
}

uint32_t reduceWords(const FragmentRecord &f, const uint32_t *words,
                     unsigned lane) {
  uint32_t mask = f.absolute ? 0x7FFFFFFF : ~0u;
  uint32_t result = words[lane] & mask;
  for (uint32_t i = 0; i != f.registers.size(); ++i) {
    uint32_t word = words[i * 32 + lane] & mask;
    if (f.type == Type::F32)
      result = reduceFloat(f, result, word);
    else if (f.type == Type::S32)
      result = (int32_t(result) < int32_t(word)) == f.greatest ? word : result;
    else
      result = (result < word) == f.greatest ? word : result;
  }
  return result;
}

/// One address for all lanes, in the lanes of the warp; false after a report.
bool uniformAddress(Exec &x, const Record &r, uint32_t &address) {
  const AddressOperand &operand = r.as<FragmentRecord>().address;
  address = uint32_t(laneAddress(x, operand, 0));
  bool same = true;
  forLanes(x.mask, [&](unsigned lane) {
    same = same && uint32_t(laneAddress(x, operand, lane)) == address;
  });
  if (!same)
    x.fault(r, FindingKind::TensorMemory,
            "lanes give different tensor-memory addresses", 0, address,
            Hazard::PartialTensorLoad);
  unsigned slice = x.warp->index % 4 * 32;
  if (slice && TensorMemory::laneOf(address) < 32) {
    address += slice << 16;
    x.cluster->openPoints.add(OpenPoint::FragmentLaneZero);
  }
  return same;
}

/// The address of all lanes, if the whole warp is here and agrees on one; what
/// becomes of the instruction otherwise.
Step begin(Exec &x, const Record &r, const char *name, uint32_t &address) {
  if (!wholeWarp(x))
    return Step::Block;
  if (x.mask != ~0u)
    return x.fault(r, FindingKind::Divergence,
                   std::string(name) + " by a part of a warp", -1, 0,
                   Hazard::PartialTensorLoad);
  return uniformAddress(x, r, address) ? Step::Next : Step::Fault;
}

/// Why an access was refused: lanes of another warp, or columns.
Hazard hazardOf(const Exec &x, const Fragment &fragment, uint32_t address) {
  unsigned slice = x.warp->index % 4 * 32, lane = TensorMemory::laneOf(address);
  bool half = fragment.shape != FragmentShape::S32x32b;
  return lane == slice || (half && lane == slice + 16)
             ? Hazard::ColumnsUnallocated
             : Hazard::ForeignLanes;
}

Step loadTensor(Exec &x, const Record &r) {
  uint32_t address;
  if (Step step = begin(x, r, "tcgen05.ld", address); step != Step::Next)
    return step;
  const Fragment &fragment = r.as<FragmentRecord>().fragment;
  uint32_t words[128 * 32];
  std::optional<uint32_t> never;
  if (auto reason =
          x.cta->tensor.load(fragment, address, x.warp->index, words, never))
    return x.fault(r, FindingKind::TensorMemory, *reason, -1, address,
                   hazardOf(x, fragment, address));
  const auto &f = r.as<FragmentRecord>();
  Slots to = f.registers;
  tell(*x.cluster, FragmentMoved{x, r, fragment, address, f.all, false});
  uint32_t undefinedAny = 0;
  for (size_t i = 0; i != to.size(); ++i) {
    std::memcpy(x.at(to[i]), words + i * 32, 128);
    if (!never)
      continue;
    uint32_t undefined = 0;
    for (unsigned thread = 0; thread != 32; ++thread) {
      unsigned lane, column;
      fragmentPosition(fragment, thread, unsigned(i), lane, column);
      lane += TensorMemory::laneOf(address);
      column += TensorMemory::columnOf(address);
      if (lane < 128 && column < x.cta->tensor.columns() &&
          !x.cta->tensor.valid(lane, column))
        undefined |= 1u << thread;
    }
    x.setUndefined(to[i], undefined);
    undefinedAny |= undefined;
  }
  if (f.reduced == kNoSlot)
    return Step::Next;
  forLanes(~0u, [&](unsigned lane) {
    x.reg<uint32_t>(f.reduced)[lane] = reduceWords(f, words, lane);
  });
  if (undefinedAny)
    x.setUndefined(f.reduced, undefinedAny);
  return Step::Next;
}

/// What tcgen05.st stored of undefined registers stays undefined.
void markUndefined(Exec &x, const Fragment &fragment, uint32_t address,
                   Slots from) {
  for (unsigned i = 0; i != from.size(); ++i)
    forLanes(x.undefined(from[i]), [&](unsigned thread) {
      unsigned lane, column;
      fragmentPosition(fragment, thread, i, lane, column);
      x.cta->tensor.markUndefined(TensorMemory::laneOf(address) + lane,
                                  TensorMemory::columnOf(address) + column,
                                  fragment.pack16 ? 2 : 1);
    });
}

Step storeTensor(Exec &x, const Record &r) {
  uint32_t address;
  if (Step step = begin(x, r, "tcgen05.st", address); step != Step::Next)
    return step;
  const Fragment &fragment = r.as<FragmentRecord>().fragment;
  uint32_t words[128 * 32];
  Slots from = r.as<FragmentRecord>().registers;
  for (size_t i = 0; i != from.size(); ++i)
    std::memcpy(words + i * 32, x.at(from[i]), 128);
  if (auto reason =
          x.cta->tensor.store(fragment, address, x.warp->index, words))
    return x.fault(r, FindingKind::TensorMemory, *reason, -1, address,
                   hazardOf(x, fragment, address));
  if (x.warp->tainted)
    markUndefined(x, fragment, address, from);
  tell(*x.cluster, FragmentMoved{x, r, fragment, address, from, true});
  return Step::Next;
}

unsigned repeat(const Instruction &in) {
  for (Modifier modifier : in.modifiers)
    switch (modifier) {
    case Modifier::X1:
      return 1;
    case Modifier::X2:
      return 2;
    case Modifier::X4:
      return 4;
    case Modifier::X8:
      return 8;
    case Modifier::X16:
      return 16;
    case Modifier::X32:
      return 32;
    case Modifier::X64:
      return 64;
    case Modifier::X128:
      return 128;
    default:
      break;
    }
  return 0;
}

} // namespace

bool decodeTensorFragment(Decoder &d, const Instruction &in, Record &r,
                          bool isLoad) {
  auto &f = d.record<FragmentRecord>(r);
  Fragment &fragment = f.fragment;
  if (in.has(Modifier::Shape32x32b))
    fragment.shape = FragmentShape::S32x32b;
  else if (in.has(Modifier::Shape16x64b))
    fragment.shape = FragmentShape::S16x64b;
  else if (in.has(Modifier::Shape16x128b))
    fragment.shape = FragmentShape::S16x128b;
  else if (in.has(Modifier::Shape16x256b))
    fragment.shape = FragmentShape::S16x256b;
  else if (in.has(Modifier::Shape16x32bx2))
    fragment.shape = FragmentShape::S16x32bx2;
  else
    return d.refuse("unknown shape");
  fragment.num = repeat(in);
  bool reduces = in.has(Modifier::Red);
  if (reduces && fragment.num < 2)
    return d.refuse("tcgen05.ld.red needs '.x2' or more");
  fragment.pack16 = in.has(Modifier::Pack16b) || in.has(Modifier::Unpack16b);
  if (!fragment.legal())
    return d.refuse("this repetition does not exist for the shape");
  size_t addressAt = reduces ? 2 : isLoad ? 1 : 0;
  const Operand &address = in.operands[addressAt];
  size_t dataAt = isLoad ? 0 : in.operands.size() - 1;
  if (fragment.shape == FragmentShape::S16x32bx2) {
    if (in.operands.size() != (reduces ? 4 : 3))
      return d.refuse("16x32bx2 needs an offset");
    fragment.halfSplit = unsigned(in.operands[addressAt + 1].value);
  }
  f.address = d.address(address);
  size_t addresses = d.flow().sources.size();
  f.registers = d.slots(in.operands[dataAt], 32, isLoad, d.scratch());
  if (!isLoad)
    d.storesData(addresses);
  if (f.registers.size() != fragment.registers())
    return d.refuse("expected " + std::to_string(fragment.registers()) +
                    " registers, found " + std::to_string(f.registers.size()));
  std::vector<Slot> all(f.registers.begin(), f.registers.end());
  if (reduces) {
    f.type = in.type();
    f.greatest = in.has(Modifier::Max);
    f.absolute = in.has(Modifier::Abs);
    f.keepsNan = in.has(Modifier::PropagateNan);
    f.reduced = d.destination(in.operands[1], 32);
    all.push_back(f.reduced);
  }
  f.all = d.list(all);
  d.flow().sink = true;
  r.fn = isLoad ? loadTensor : storeTensor;
  return true;
}

uint64_t fragmentBytes(const Record &r) {
  return uint64_t(r.as<FragmentRecord>().registers.size()) * 128;
}

Step waitTensorWarp(Exec &x, const Record &r) {
  if (!wholeWarp(x))
    return Step::Block;
  bool stores = r.instruction->opcode == Opcode::Tcgen05WaitSt;
  tell(*x.cluster, FragmentsAwaited{x, stores});
  return Step::Next;
}

} // namespace blockscale::emulator::machine
