//===- Video.cpp - video instructions -------------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// vadd2, vabsdiff4 and their like on the halves or bytes of whole registers, in
// order (PTX ISA 9.1, "SIMD video instructions"; forms that select parts of
// operands are not here), and vadd, vmad and their like on one value ("Scalar
// video instructions"; vmad without scale and plus one).
//
//===----------------------------------------------------------------------===//

#include "Lanes.h"

#include <algorithm>
#include <cstdlib>

namespace blockscale::emulator::machine {
namespace {

enum class Operation : uint8_t { Add, Sub, Average, Difference, Min, Max, Set };

struct VideoRecord {
  Slot to, a, b, c;
  Operation operation = Operation::Add;
  Modifier comparison = Modifier::Unknown; ///< of Set
  uint8_t parts = 4;
  bool signedD = false, signedA = false, signedB = false;
  bool saturates = false, accumulates = false;
};

int64_t partOf(uint32_t word, unsigned i, unsigned bits, bool isSigned) {
  uint32_t part = word >> i * bits & ((1u << bits) - 1);
  return isSigned ? int64_t(int32_t(part << (32 - bits)) >> (32 - bits)) : part;
}

bool compare(Modifier comparison, int64_t a, int64_t b) {
  switch (comparison) {
  case Modifier::Eq:
    return a == b;
  case Modifier::Ne:
    return a != b;
  case Modifier::Lt:
    return a < b;
  case Modifier::Le:
    return a <= b;
  case Modifier::Gt:
    return a > b;
  default:
    return a >= b;
  }
}

int64_t operate(const VideoRecord &v, int64_t a, int64_t b) {
  switch (v.operation) {
  case Operation::Add:
    return a + b;
  case Operation::Sub:
    return a - b;
  case Operation::Average:
    return (a + b + (a + b >= 0)) >> 1;
  case Operation::Difference:
    return std::abs(a - b);
  case Operation::Min:
    return std::min(a, b);
  case Operation::Max:
    return std::max(a, b);
  case Operation::Set:
    return compare(v.comparison, a, b);
  }
  return 0;
}

Step video(Exec &x, const Record &r) {
  const auto &v = r.as<VideoRecord>();
  unsigned bits = 32 / v.parts;
  int64_t low = v.signedD ? -(int64_t(1) << (bits - 1)) : 0;
  int64_t high = low + (int64_t(1) << bits) - 1;
  uint32_t mask = (1u << bits) - 1;
  forLanes(x.mask, [&](unsigned lane) {
    uint32_t a = x.reg<uint32_t>(v.a)[lane], b = x.reg<uint32_t>(v.b)[lane];
    uint32_t result = v.accumulates ? x.reg<uint32_t>(v.c)[lane] : 0;
    for (unsigned i = 0; i != v.parts; ++i) {
      int64_t value = operate(v, partOf(a, i, bits, v.signedA),
                              partOf(b, i, bits, v.signedB));
      if (v.saturates)
        value = std::min(std::max(value, low), high);
      if (v.accumulates)
        result += uint32_t(value);
      else
        result |= (uint32_t(value) & mask) << i * bits;
    }
    x.reg<uint32_t>(v.to)[lane] = result;
  });
  return Step::Next;
}

struct OpcodeRow {
  Opcode two, four;
  Operation operation;
};

constexpr OpcodeRow kRows[] = {
    {Opcode::VAdd2, Opcode::VAdd4, Operation::Add},
    {Opcode::VSub2, Opcode::VSub4, Operation::Sub},
    {Opcode::VAvrg2, Opcode::VAvrg4, Operation::Average},
    {Opcode::VAbsDiff2, Opcode::VAbsDiff4, Operation::Difference},
    {Opcode::VMin2, Opcode::VMin4, Operation::Min},
    {Opcode::VMax2, Opcode::VMax4, Operation::Max},
    {Opcode::VSet2, Opcode::VSet4, Operation::Set},
};

Modifier comparisonOf(const Instruction &in) {
  for (Modifier modifier : {Modifier::Eq, Modifier::Ne, Modifier::Lt,
                            Modifier::Le, Modifier::Gt, Modifier::Ge})
    if (in.has(modifier))
      return modifier;
  return Modifier::Unknown;
}

//===----------------------------------------------------------------------===//
// On one value
//===----------------------------------------------------------------------===//

enum class Scalar : uint8_t {
  Add,
  Sub,
  Difference,
  Min,
  Max,
  Shl,
  Shr,
  Set,
  Mad
};
enum class Second : uint8_t { None, Add, Min, Max };

/// Part 0 to 3 is a byte, 4 and 5 a half, kWholeVector the word.
struct ScalarVideoRecord {
  Slot to, a, b, c;
  Scalar operation = Scalar::Add;
  Second second = Second::None;
  Modifier comparison = Modifier::Unknown;
  uint8_t partD = kWholeVector, partA = kWholeVector, partB = kWholeVector;
  bool signedD = false, signedA = false, signedB = false;
  bool saturates = false, wraps = false, hasC = false;
};

unsigned partBits(uint8_t part) {
  return part == kWholeVector ? 32 : part < 4 ? 8 : 16;
}
unsigned partOffset(uint8_t part) {
  return part == kWholeVector ? 0 : part < 4 ? part * 8 : (part - 4) * 16;
}

int64_t selected(uint32_t word, uint8_t part, bool isSigned) {
  if (part == kWholeVector)
    return isSigned ? int64_t(int32_t(word)) : int64_t(word);
  return partOf(word >> partOffset(part), 0, partBits(part), isSigned);
}

/// Wide enough for a shift by 32, and for a product and a sum.
using Wide = __int128;

Wide operate(const ScalarVideoRecord &v, int64_t a, int64_t b, uint32_t c) {
  switch (v.operation) {
  case Scalar::Add:
    return a + b;
  case Scalar::Sub:
    return a - b;
  case Scalar::Difference:
    return std::abs(a - b);
  case Scalar::Min:
    return std::min(a, b);
  case Scalar::Max:
    return std::max(a, b);
  case Scalar::Shl:
  case Scalar::Shr: {
    int64_t by = v.wraps ? b & 31 : std::min<int64_t>(b, 32);
    // A shift to the left of a negative number is that of its magnitude.
    return v.operation == Scalar::Shr ? Wide(a >> by)
                                      : Wide(a) * (Wide(1) << by);
  }
  case Scalar::Set:
    return compare(v.comparison, a, b);
  case Scalar::Mad:
    return Wide(a) * b + selected(c, kWholeVector, v.signedA || v.signedB);
  }
  return 0;
}

Wide clamped(Wide value, unsigned bits, bool isSigned) {
  Wide low = isSigned ? -(Wide(1) << (bits - 1)) : 0;
  return std::min(std::max(value, low), low + (Wide(1) << bits) - 1);
}

Wide secondOf(Second second, Wide value, Wide c) {
  switch (second) {
  case Second::Add:
    return value + c;
  case Second::Min:
    return std::min(value, c);
  case Second::Max:
    return std::max(value, c);
  case Second::None:
    break;
  }
  return value;
}

Step scalarVideo(Exec &x, const Record &r) {
  const auto &v = r.as<ScalarVideoRecord>();
  forLanes(x.mask, [&](unsigned lane) {
    uint32_t c = v.hasC ? x.reg<uint32_t>(v.c)[lane] : 0;
    Wide value =
        operate(v, selected(x.reg<uint32_t>(v.a)[lane], v.partA, v.signedA),
                selected(x.reg<uint32_t>(v.b)[lane], v.partB, v.signedB), c);
    if (v.saturates)
      value = clamped(value, partBits(v.partD), v.signedD);
    // Sums and whatever is unsigned are cut to 32 bits before they are
    // compared.
    bool sum = v.operation == Scalar::Add || v.operation == Scalar::Sub;
    if (v.second != Second::None && (sum || !v.signedD))
      value = selected(uint32_t(value), kWholeVector, v.signedD);
    value = secondOf(v.second, value, selected(c, kWholeVector, v.signedD));
    auto result = uint32_t(value);
    if (v.partD != kWholeVector) {
      uint32_t mask = ((1u << partBits(v.partD)) - 1) << partOffset(v.partD);
      result = (result << partOffset(v.partD) & mask) | (c & ~mask);
    }
    x.reg<uint32_t>(v.to)[lane] = result;
  });
  return Step::Next;
}

struct ScalarRow {
  Opcode opcode;
  Scalar operation;
};

constexpr ScalarRow kScalarRows[] = {
    {Opcode::VAdd, Scalar::Add},
    {Opcode::VSub, Scalar::Sub},
    {Opcode::VAbsDiff, Scalar::Difference},
    {Opcode::VMin, Scalar::Min},
    {Opcode::VMax, Scalar::Max},
    {Opcode::VShl, Scalar::Shl},
    {Opcode::VShr, Scalar::Shr},
    {Opcode::VSet, Scalar::Set},
    {Opcode::VMad, Scalar::Mad},
};

bool decodeScalarVideo(Decoder &d, const Instruction &in, Record &r) {
  const ScalarRow *row = std::find_if(
      std::begin(kScalarRows), std::end(kScalarRows),
      [&](const ScalarRow &one) { return one.opcode == in.opcode; });
  if (row == std::end(kScalarRows))
    return false;
  bool isSet = row->operation == Scalar::Set;
  bool isMad = row->operation == Scalar::Mad;
  auto &v = d.record<ScalarVideoRecord>(r);
  v.operation = row->operation;
  v.comparison = comparisonOf(in);
  v.second = isMad                   ? Second::None
             : in.has(Modifier::Add) ? Second::Add
             : in.has(Modifier::Min) ? Second::Min
             : in.has(Modifier::Max) ? Second::Max
                                     : Second::None;
  v.signedA = in.type(isSet ? 0 : 1) == Type::S32;
  v.signedB = in.type(isSet ? 1 : 2) == Type::S32;
  // The result of a product has the sign of its operands.
  v.signedD = isMad ? v.signedA || v.signedB : !isSet && in.type() == Type::S32;
  v.saturates = in.has(Modifier::Sat);
  v.wraps = in.has(Modifier::Wrap);
  v.partD = in.operands[0].component;
  v.partA = in.operands[1].component;
  v.partB = in.operands[2].component;
  v.hasC = in.operands.size() == 4;
  bool merges = v.partD != kWholeVector;
  if (v.hasC != (isMad || merges || v.second != Second::None))
    return d.refuse(v.hasC ? "a fourth operand needs a second operation or a "
                             "part of the destination"
                           : "a second operation and a part of the "
                             "destination need a fourth operand");
  if (merges && v.second != Second::None)
    return d.refuse("a second operation writes the whole destination");
  v.to = d.destination(in.operands[0], 32);
  v.a = d.source(in.operands[1], 32);
  v.b = d.source(in.operands[2], 32);
  if (v.hasC)
    v.c = d.source(in.operands[3], 32);
  r.fn = scalarVideo;
  return true;
}

} // namespace

bool decodeVideo(Decoder &d, const Instruction &in, Record &r) {
  for (const OpcodeRow &row : kRows) {
    if (in.opcode != row.two && in.opcode != row.four)
      continue;
    auto &v = d.record<VideoRecord>(r);
    v.operation = row.operation;
    v.parts = in.opcode == row.two ? 2 : 4;
    bool sets = row.operation == Operation::Set;
    v.comparison = comparisonOf(in);
    v.signedD = !sets && in.type() == Type::S32;
    v.signedA = in.type(sets ? 0 : 1) == Type::S32;
    v.signedB = in.type(sets ? 1 : 2) == Type::S32;
    v.saturates = in.has(Modifier::Sat);
    v.accumulates = in.has(Modifier::Add);
    v.to = d.destination(in.operands[0], 32);
    v.a = d.source(in.operands[1], 32);
    v.b = d.source(in.operands[2], 32);
    v.c = d.source(in.operands[3], 32);
    r.fn = video;
    return true;
  }
  return decodeScalarVideo(d, in, r);
}

} // namespace blockscale::emulator::machine
