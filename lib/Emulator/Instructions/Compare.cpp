//===- Compare.cpp - setp, set, testp -------------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Float.h"
#include "Lanes.h"

namespace blockscale::emulator::machine {
namespace {

/// Record::aux of comparisons: relation, then flags.
constexpr uint32_t kLess = 1;
constexpr uint32_t kEqual = 2;
constexpr uint32_t kGreater = 4;
constexpr uint32_t kUnordered = 8;
constexpr uint32_t kFtz = 16;
constexpr uint32_t kOr = 32;
constexpr uint32_t kXor = 64;
constexpr uint32_t kAnd = 128;
constexpr uint32_t kBf16 = 256;

uint32_t relation(const Instruction &in) {
  for (Modifier modifier : in.modifiers)
    switch (modifier) {
    case Modifier::Eq:
      return kEqual;
    case Modifier::Ne:
      return kLess | kGreater;
    case Modifier::Lt:
    case Modifier::Lo:
      return kLess;
    case Modifier::Le:
    case Modifier::Ls:
      return kLess | kEqual;
    case Modifier::Gt:
    case Modifier::Hi:
      return kGreater;
    case Modifier::Ge:
    case Modifier::Hs:
      return kGreater | kEqual;
    case Modifier::Equ:
      return kEqual | kUnordered;
    case Modifier::Neu:
      return kLess | kGreater | kUnordered;
    case Modifier::Ltu:
      return kLess | kUnordered;
    case Modifier::Leu:
      return kLess | kEqual | kUnordered;
    case Modifier::Gtu:
      return kGreater | kUnordered;
    case Modifier::Geu:
      return kGreater | kEqual | kUnordered;
    case Modifier::Num:
      return kLess | kEqual | kGreater;
    case Modifier::Nan:
      return kUnordered;
    default:
      break;
    }
  return 0;
}

/// The operand types that are compared after a conversion.
struct HalfBits {
  uint16_t bits;
};

template <typename T> T value(uint32_t, T v) { return v; }
inline float value(uint32_t mode, float v) {
  return mode & kFtz ? flush(v) : v;
}
inline double value(uint32_t mode, HalfBits v) {
  double result = fromHalf(v.bits, mode & kBf16);
  return mode & kFtz && !(mode & kBf16) && std::fabs(result) < 0x1p-14 ? 0
                                                                       : result;
}
template <typename T> bool holds(uint32_t mode, T a, T b) {
  uint32_t is = a < b ? kLess : a == b ? kEqual : a > b ? kGreater : kUnordered;
  return mode & is;
}

/// set and setp.
struct CompareRecord {
  Slot to = kNoSlot;
  Slot inverse = kNoSlot; ///< second predicate of setp; of pairs, the high half
  Slot a = kNoSlot, b = kNoSlot;
  Slot with = kNoSlot; ///< predicate that the result is combined with
  uint32_t mode = 0;
  uint32_t yes = ~0u;  ///< what set writes where the comparison holds
  bool toHalf = false; ///< into a register of 16 bits
};

template <typename T> uint32_t compareLanes(Exec &x, const CompareRecord &c) {
  const T *a = x.reg<T>(c.a), *b = x.reg<T>(c.b);
  uint32_t bits = 0, mode = c.mode;
  forLanes(x.mask, [&](unsigned lane) {
    bits |= uint32_t(holds(mode, value(mode, a[lane]), value(mode, b[lane])))
            << lane;
  });
  return bits;
}

uint32_t combine(Exec &x, const CompareRecord &c, uint32_t bits) {
  if (c.with == kNoSlot)
    return bits;
  uint32_t other = x.predicate(c.with);
  return c.mode & kAnd  ? bits & other
         : c.mode & kOr ? bits | other
                        : bits ^ other;
}

template <typename T> Step setp(Exec &x, const Record &r) {
  const auto &c = r.as<CompareRecord>();
  uint32_t bits = compareLanes<T>(x, c);
  uint32_t p = combine(x, c, bits), q = combine(x, c, ~bits);
  x.setPredicate(c.to, p);
  if (c.inverse != kNoSlot)
    x.setPredicate(c.inverse, q);
  return Step::Next;
}
/// Lanes whose low and whose high halves compare so.
struct HalvesThatHold {
  uint32_t low = 0, high = 0;
};
HalvesThatHold compareHalves(Exec &x, const CompareRecord &c) {
  const uint32_t *a = x.reg<uint32_t>(c.a), *b = x.reg<uint32_t>(c.b);
  HalvesThatHold found;
  forLanes(x.mask, [&](unsigned lane) {
    auto test = [&](unsigned shift) {
      return holds(c.mode, value(c.mode, HalfBits{uint16_t(a[lane] >> shift)}),
                   value(c.mode, HalfBits{uint16_t(b[lane] >> shift)}));
    };
    found.low |= uint32_t(test(0)) << lane;
    found.high |= uint32_t(test(16)) << lane;
  });
  return found;
}
/// Two halves, two predicates.
Step setpPair(Exec &x, const Record &r) {
  const auto &c = r.as<CompareRecord>();
  HalvesThatHold found = compareHalves(x, c);
  x.setPredicate(c.to, combine(x, c, found.low));
  if (c.inverse != kNoSlot)
    x.setPredicate(c.inverse, combine(x, c, found.high));
  return Step::Next;
}
template <typename T> Step set(Exec &x, const Record &r) {
  const auto &c = r.as<CompareRecord>();
  uint32_t bits = combine(x, c, compareLanes<T>(x, c));
  forLanes(x.mask, [&](unsigned lane) {
    uint32_t value = bits >> lane & 1 ? c.yes : 0;
    if (c.toHalf)
      x.reg<uint16_t>(c.to)[lane] = uint16_t(value);
    else
      x.reg<uint32_t>(c.to)[lane] = value;
  });
  return Step::Next;
}
/// Two halves, each with a result in its half.
Step setPair(Exec &x, const Record &r) {
  const auto &c = r.as<CompareRecord>();
  HalvesThatHold found = compareHalves(x, c);
  uint32_t low = combine(x, c, found.low), high = combine(x, c, found.high);
  auto yes = uint16_t(c.yes);
  forLanes(x.mask, [&](unsigned lane) {
    uint32_t value = low >> lane & 1 ? yes : 0;
    value |= high >> lane & 1 ? uint32_t(yes) << 16 : 0;
    x.reg<uint32_t>(c.to)[lane] = value;
  });
  return Step::Next;
}

Handler setpFor(Type type) {
  switch (type) {
  case Type::U16:
  case Type::B16:
    return setp<uint16_t>;
  case Type::S16:
    return setp<int16_t>;
  case Type::U32:
  case Type::B32:
    return setp<uint32_t>;
  case Type::S32:
    return setp<int32_t>;
  case Type::U64:
  case Type::B64:
    return setp<uint64_t>;
  case Type::S64:
    return setp<int64_t>;
  case Type::F32:
    return setp<float>;
  case Type::F64:
    return setp<double>;
  case Type::F16:
  case Type::Bf16:
    return setp<HalfBits>;
  case Type::F16x2:
  case Type::Bf16x2:
    return setpPair;
  default:
    return nullptr;
  }
}
Handler setFor(Type type) {
  switch (type) {
  case Type::U16:
  case Type::B16:
    return set<uint16_t>;
  case Type::S16:
    return set<int16_t>;
  case Type::U32:
  case Type::B32:
    return set<uint32_t>;
  case Type::S32:
    return set<int32_t>;
  case Type::U64:
  case Type::B64:
    return set<uint64_t>;
  case Type::S64:
    return set<int64_t>;
  case Type::F32:
    return set<float>;
  case Type::F64:
    return set<double>;
  case Type::F16:
  case Type::Bf16:
    return set<HalfBits>;
  case Type::F16x2:
  case Type::Bf16x2:
    return setPair;
  default:
    return nullptr;
  }
}

struct TestRecord {
  Slot to, from;
  unsigned bits;
  Modifier property;
};
Step testp(Exec &x, const Record &r) {
  const auto &test = r.as<TestRecord>();
  uint32_t bits = 0;
  forLanes(x.mask, [&](unsigned lane) {
    double value = test.bits == 64 ? x.reg<double>(test.from)[lane]
                                   : double(x.reg<float>(test.from)[lane]);
    double smallest = test.bits == 64 ? 0x1p-1022 : 0x1p-126;
    bool subnormal = value != 0 && std::fabs(value) < smallest;
    bool result = false;
    switch (test.property) {
    case Modifier::Finite:
      result = std::isfinite(value);
      break;
    case Modifier::Infinite:
      result = std::isinf(value);
      break;
    case Modifier::Number:
      result = !std::isnan(value);
      break;
    case Modifier::Notanumber:
      result = std::isnan(value);
      break;
    case Modifier::Normal:
      // Zeros count as normal.
      result = std::isfinite(value) && !subnormal;
      break;
    default:
      result = subnormal;
    }
    bits |= uint32_t(result) << lane;
  });
  x.setPredicate(test.to, bits);
  return Step::Next;
}

uint32_t flagsOf(const Instruction &in, Type compared) {
  uint32_t mode = relation(in);
  mode |= in.has(Modifier::Ftz) ? kFtz : 0;
  mode |= in.has(Modifier::Or) ? kOr : 0;
  mode |= in.has(Modifier::Xor) ? kXor : 0;
  mode |= in.has(Modifier::And) ? kAnd : 0;
  mode |= compared == Type::Bf16 || compared == Type::Bf16x2 ? kBf16 : 0;
  return mode;
}

} // namespace

bool decodeCompare(Decoder &d, const Instruction &in, Record &r) {
  if (in.opcode == Opcode::TestP) {
    auto &test = d.record<TestRecord>(r);
    test.bits = bitWidth(in.type());
    test.to = d.predicateOut(in.operands[0]);
    test.from = d.source(in.operands[1], test.bits);
    test.property = in.modifiers.empty() ? Modifier::Unknown : in.modifiers[0];
    r.fn = testp;
    return true;
  }
  if (in.opcode != Opcode::Setp && in.opcode != Opcode::Set)
    return false;
  bool isSet = in.opcode == Opcode::Set;
  Type compared = isSet ? in.type(1) : in.type();
  unsigned bits = bitWidth(compared);
  auto &c = d.record<CompareRecord>(r);
  c.mode = flagsOf(in, compared);
  if (in.operands.size() == 4)
    c.with = d.predicate(in.operands[3]);
  c.a = d.source(in.operands[1], bits);
  c.b = d.source(in.operands[2], bits);
  if (isSet) {
    constexpr uint32_t kOneF16 = 0x3C00, kOneBf16 = 0x3F80;
    switch (in.type()) {
    case Type::F32:
      c.yes = bitsAs<uint32_t>(1.0f);
      break;
    case Type::F16:
    case Type::F16x2:
      c.yes = kOneF16;
      break;
    case Type::Bf16:
    case Type::Bf16x2:
      c.yes = kOneBf16;
      break;
    default:
      break;
    }
    unsigned width = bitWidth(in.type());
    c.toHalf = width == 16;
    c.to = d.destination(in.operands[0], width);
    r.fn = setFor(compared);
    return r.fn != nullptr;
  }
  const Operand &result = in.operands[0];
  if (result.kind == OperandKind::Pair) {
    c.to = d.predicateOut(result.elements[0]);
    c.inverse = d.predicateOut(result.elements[1]);
  } else {
    c.to = d.predicateOut(result);
  }
  r.fn = setpFor(compared);
  return r.fn != nullptr;
}

} // namespace blockscale::emulator::machine
