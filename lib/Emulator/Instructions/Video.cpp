//===- Video.cpp - SIMD video instructions --------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// vadd2, vabsdiff4 and their like on the halves or bytes of whole registers, in
// order (PTX ISA 9.1, "SIMD video instructions"); forms that select parts of
// operands are not here.
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
  return false;
}

} // namespace blockscale::emulator::machine
