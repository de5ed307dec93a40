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

#include <algorithm>
#include <utility>

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
  /// tcgen05.ld.spcompress: which two of each four words `registers` get.
  Slots metadata;
  Slots all; ///< with them
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
  for (uint32_t i = 0; i != f.fragment.registers(); ++i) {
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

/// The greater of two f32 has the greater rank: -0 is less than 0, and NaN,
/// which is always kept, ranks first in both orders.
int64_t rankOf(const FragmentRecord &f, uint32_t bits) {
  constexpr uint32_t kSign = 0x80000000;
  uint32_t magnitude = bits & ~kSign;
  if (magnitude > 0x7F800000)
    return INT64_MAX;
  int64_t rank =
      bits & kSign && !f.absolute ? -int64_t(magnitude) - 1 : magnitude;
  return f.greatest ? rank : -rank;
}

/// The places of the two words of four that stay, the lower one first. Equal
/// ones stay in the order of their columns.
std::pair<unsigned, unsigned> keptOf(const FragmentRecord &f,
                                     const uint32_t *words, unsigned lane) {
  unsigned order[4] = {0, 1, 2, 3};
  std::sort(order, order + 4, [&](unsigned a, unsigned b) {
    int64_t left = rankOf(f, words[a * 32 + lane]);
    int64_t right = rankOf(f, words[b * 32 + lane]);
    return left != right ? left > right : a < b;
  });
  return std::minmax(order[0], order[1]);
}

/// Codes of two bits of what stays go to the metadata, from the lowest on.
void compressWords(Exec &x, const FragmentRecord &f, const uint32_t *words,
                   unsigned lane) {
  for (Slot slot : f.metadata)
    x.reg<uint32_t>(slot)[lane] = 0;
  for (unsigned i = 0; i != f.registers.size(); i += 2) {
    const uint32_t *four = words + i * 2 * 32;
    auto [first, second] = keptOf(f, four, lane);
    x.reg<uint32_t>(f.registers[i])[lane] = four[first * 32 + lane];
    x.reg<uint32_t>(f.registers[i + 1])[lane] = four[second * 32 + lane];
    x.reg<uint32_t>(f.metadata[i / 16])[lane] |= (first | second << 2)
                                                 << i % 16 * 2;
  }
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

/// The threads whose word `i` of the fragment was never written.
uint32_t unwrittenWord(const Exec &x, const Fragment &fragment,
                       uint32_t address, unsigned i) {
  uint32_t undefined = 0;
  for (unsigned thread = 0; thread != 32; ++thread) {
    unsigned lane, column;
    fragmentPosition(fragment, thread, i, lane, column);
    lane += TensorMemory::laneOf(address);
    column += TensorMemory::columnOf(address);
    if (lane < 128 && column < x.cta->tensor.columns() &&
        !x.cta->tensor.valid(lane, column))
      undefined |= 1u << thread;
  }
  return undefined;
}

/// What depends on words that were never written is undefined.
void markLoaded(Exec &x, const FragmentRecord &f, uint32_t address) {
  uint32_t any = 0, four = 0, group = 0;
  for (unsigned i = 0; i != f.fragment.registers(); ++i) {
    uint32_t undefined = unwrittenWord(x, f.fragment, address, i);
    any |= undefined;
    if (f.metadata.empty()) {
      x.setUndefined(f.registers[i], undefined);
      continue;
    }
    four |= undefined;
    if (i % 4 != 3)
      continue;
    x.setUndefined(f.registers[i / 2 - 1], four);
    x.setUndefined(f.registers[i / 2], four);
    group = i % 32 == 3 ? four : group | four;
    x.setUndefined(f.metadata[i / 32], group);
    four = 0;
  }
  if (f.reduced != kNoSlot)
    x.setUndefined(f.reduced, any);
}

Step loadTensor(Exec &x, const Record &r) {
  uint32_t address;
  if (Step step = begin(x, r, "tcgen05.ld", address); step != Step::Next)
    return step;
  const auto &f = r.as<FragmentRecord>();
  const Fragment &fragment = f.fragment;
  uint32_t words[128 * 32];
  std::optional<uint32_t> never;
  if (auto reason =
          x.cta->tensor.load(fragment, address, x.warp->index, words, never))
    return x.fault(r, FindingKind::TensorMemory, *reason, -1, address,
                   hazardOf(x, fragment, address));
  tell(*x.cluster, FragmentMoved{x, r, fragment, address, f.all, false});
  if (f.metadata.empty())
    for (size_t i = 0; i != f.registers.size(); ++i)
      std::memcpy(x.at(f.registers[i]), words + i * 32, 128);
  else
    forLanes(~0u, [&](unsigned lane) { compressWords(x, f, words, lane); });
  if (f.reduced != kNoSlot)
    forLanes(~0u, [&](unsigned lane) {
      x.reg<uint32_t>(f.reduced)[lane] = reduceWords(f, words, lane);
    });
  if (!f.metadata.empty())
    x.cluster->openPoints.add(OpenPoint::CompressedEquals);
  if (never)
    markLoaded(x, f, address);
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

/// What a load makes of the words of a thread besides storing them, from the
/// operands before and after the words.
void decodeReduction(Decoder &d, const Instruction &in, FragmentRecord &f,
                     std::vector<Slot> &all) {
  bool compresses = in.has(Modifier::SpCompress);
  f.type = in.type();
  f.greatest = in.has(Modifier::Max);
  f.absolute = in.has(Modifier::Abs);
  f.keepsNan = in.has(Modifier::PropagateNan);
  if (compresses) {
    f.metadata = d.slots(in.operands[0], 32, /*write=*/true, d.scratch());
    all.insert(all.end(), f.metadata.begin(), f.metadata.end());
  }
  if (in.has(Modifier::Red)) {
    f.reduced = d.destination(in.operands[compresses ? 2 : 1], 32);
    all.push_back(f.reduced);
  }
}

/// Why the operands do not fit the fragment, if so.
std::optional<std::string> whyNotRegisters(const FragmentRecord &f,
                                           bool compresses) {
  auto expected = [](size_t count, const char *what, size_t found) {
    return "expected " + std::to_string(count) + what + ", found " +
           std::to_string(found);
  };
  unsigned words = f.fragment.registers();
  size_t registers = compresses ? words / 2 : words;
  if (f.registers.size() != registers)
    return expected(registers, " registers", f.registers.size());
  size_t codes = compresses ? (words + 31) / 32 : 0;
  if (f.metadata.size() != codes)
    return expected(codes, " registers of metadata", f.metadata.size());
  return std::nullopt;
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
  bool reduces = in.has(Modifier::Red),
       compresses = in.has(Modifier::SpCompress);
  if (reduces && fragment.num < 2)
    return d.refuse("tcgen05.ld.red needs '.x2' or more");
  fragment.pack16 = in.has(Modifier::Pack16b) || in.has(Modifier::Unpack16b);
  if (!fragment.legal())
    return d.refuse("this repetition does not exist for the shape");
  size_t addressAt = isLoad ? size_t(1) + reduces + compresses : 0;
  const Operand &address = in.operands[addressAt];
  size_t dataAt = isLoad ? compresses : in.operands.size() - 1;
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
  std::vector<Slot> all(f.registers.begin(), f.registers.end());
  decodeReduction(d, in, f, all);
  if (auto reason = whyNotRegisters(f, compresses))
    return d.refuse(*reason);
  f.all = d.list(all);
  d.flow().sink = true;
  r.fn = isLoad ? loadTensor : storeTensor;
  return true;
}

uint64_t fragmentBytes(const Record &r) {
  return uint64_t(r.as<FragmentRecord>().fragment.registers()) * 128;
}

Step waitTensorWarp(Exec &x, const Record &r) {
  if (!wholeWarp(x))
    return Step::Block;
  bool stores = r.instruction->opcode == Opcode::Tcgen05WaitSt;
  tell(*x.cluster, FragmentsAwaited{x, stores});
  return Step::Next;
}

} // namespace blockscale::emulator::machine
