//===- Conversion.cpp - cvt -----------------------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Registers may be wider than the types of cvt: the source is cut to its type,
// the result is extended to the register, by sign for signed types.
//
//===----------------------------------------------------------------------===//

#include "../Units/Convert.h"
#include "Float.h"
#include "Lanes.h"

namespace blockscale::emulator::machine {
namespace {

uint64_t readLane(Exec &x, Slot slot, unsigned bits, unsigned lane) {
  switch (bits) {
  case 8:
    return x.reg<uint8_t>(slot)[lane];
  case 16:
    return x.reg<uint16_t>(slot)[lane];
  case 32:
    return x.reg<uint32_t>(slot)[lane];
  default:
    return x.reg<uint64_t>(slot)[lane];
  }
}
void writeLane(Exec &x, Slot slot, unsigned bits, unsigned lane,
               uint64_t value) {
  switch (bits) {
  case 8:
    x.reg<uint8_t>(slot)[lane] = uint8_t(value);
    break;
  case 16:
    x.reg<uint16_t>(slot)[lane] = uint16_t(value);
    break;
  case 32:
    x.reg<uint32_t>(slot)[lane] = uint32_t(value);
    break;
  default:
    x.reg<uint64_t>(slot)[lane] = value;
  }
}

/// One conversion between scalar types.
struct Spec {
  Type from, to;
  Round round;
  bool integral; ///< rni, rzi, rmi, rpi
  bool ftz, sat, relu, satfinite;
};

int64_t extend(uint64_t value, unsigned bits, bool sign) {
  if (bits >= 64)
    return int64_t(value);
  value &= (uint64_t(1) << bits) - 1;
  if (sign && value >> (bits - 1) & 1)
    value |= ~uint64_t(0) << bits;
  return int64_t(value);
}

double readFloat(const Spec &s, uint64_t raw) {
  switch (s.from) {
  case Type::F16:
    return fromHalf(uint16_t(raw), false);
  case Type::Bf16:
    return fromHalf(uint16_t(raw), true);
  case Type::F64:
    return bitsAs<double>(raw);
  default: {
    float value = bitsAs<float>(uint32_t(raw));
    return s.ftz ? flush(value) : value;
  }
  }
}

/// Formats that keep what fits of a NaN's bits: from f64 to narrower ones, from
/// f16 to f64, and bf16 and f32 to f32 where nothing else happens to them.
std::optional<uint64_t> keptNan(const Spec &s, uint64_t raw) {
  bool plain = !s.sat && !s.relu && !s.satfinite && !s.integral;
  if (s.from == Type::F32 && s.to == Type::F64 && s.ftz && plain)
    return bitsAs<uint64_t>(double(canonical(NAN)));
  if (s.from == Type::F16 && s.to == Type::F64 && plain)
    return (raw >> 15 & 1) << 63 | uint64_t(0x7FF8) << 48 | (raw & 1023) << 42;
  if (s.from == Type::F64 && s.to != Type::F64 && plain) {
    uint64_t sign = raw >> 63;
    if (s.to == Type::F16)
      return sign << 15 | 0x7E00 | (raw >> 42 & 1023);
    uint64_t bits = sign << 31 | 0x7FC00000 | (raw >> 29 & 0x7FFFFF);
    return s.to == Type::Bf16 ? bits >> 16 : bits;
  }
  if (s.to == Type::F32 && plain && !s.ftz && s.from == Type::Bf16)
    return raw << 16;
  if (s.to == Type::F32 && plain && !s.ftz && s.from == Type::F32)
    return raw;
  return std::nullopt;
}

uint64_t writeFloat(const Spec &s, double value) {
  if (s.sat)
    value = std::isnan(value) ? 0 : std::fmin(std::fmax(value, 0.0), 1.0);
  if (s.relu && (value < 0 || (value == 0 && std::signbit(value))))
    value = 0;
  switch (s.to) {
  case Type::F16:
  case Type::Bf16: {
    uint16_t bits = toHalf(value, s.to == Type::Bf16, s.round);
    if (s.satfinite && std::isinf(fromHalf(bits, s.to == Type::Bf16)))
      bits = uint16_t((bits & 0x8000) | (s.to == Type::Bf16 ? 0x7F7F : 0x7BFF));
    return bits;
  }
  case Type::F64:
    return bitsAs<uint64_t>(value);
  default: {
    float result = canonical(toF32(value, s.round));
    return bitsAs<uint32_t>(s.ftz ? flush(result) : result);
  }
  }
}

double roundIntegral(double value, Round round) {
  switch (round) {
  case Round::Zero:
    return std::trunc(value);
  case Round::Down:
    return std::floor(value);
  case Round::Up:
    return std::ceil(value);
  default:
    return std::nearbyint(value);
  }
}

uint64_t floatToInt(const Spec &s, double value) {
  unsigned bits = bitWidth(s.to);
  bool sign = isSigned(s.to);
  if (std::isnan(value))
    return s.from == Type::F64 || bits == 64 ? uint64_t(1) << (bits - 1) : 0;
  double whole = roundIntegral(value, s.round);
  double top = std::ldexp(1.0, int(bits) - (sign ? 1 : 0));
  if (whole >= top)
    return sign ? (uint64_t(1) << (bits - 1)) - 1
                : (bits == 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1);
  if (sign && whole < -top)
    return uint64_t(1) << (bits - 1);
  if (!sign && whole < 0)
    return 0;
  return sign ? uint64_t(int64_t(whole)) : uint64_t(whole);
}

/// 64-bit integers have more bits than double: made odd where cut.
double intToWide(int64_t value, bool sign) {
  bool negative = sign && value < 0;
  uint64_t magnitude = negative ? 0 - uint64_t(value) : uint64_t(value);
  if (magnitude >> 53) {
    unsigned drop = 64 - 53 - __builtin_clzll(magnitude);
    bool rest = magnitude & ((uint64_t(1) << drop) - 1);
    magnitude = (magnitude >> drop | rest) << drop;
  }
  double result = double(magnitude);
  return negative ? -result : result;
}

double intToDouble(int64_t value, bool sign, Round round) {
  bool negative = sign && value < 0;
  uint64_t magnitude = negative ? 0 - uint64_t(value) : uint64_t(value);
  auto high = double(magnitude >> 32) * 0x1p32,
       low = double(magnitude & 0xFFFFFFFF);
  return negative ? addDirected(-high, -low, round)
                  : addDirected(high, low, round);
}

uint64_t convertOne(const Spec &s, uint64_t raw) {
  unsigned fromBits = bitWidth(s.from), toBits = bitWidth(s.to);
  bool fromFloat = isFloat(s.from), toFloat = isFloat(s.to);
  if (!fromFloat && !toFloat) {
    int64_t value = extend(raw, fromBits, isSigned(s.from));
    if (!s.sat)
      return uint64_t(value);
    bool negative = isSigned(s.from) && value < 0;
    if (isSigned(s.to)) {
      int64_t top = toBits == 64 ? INT64_MAX : (int64_t(1) << (toBits - 1)) - 1;
      if (!negative && uint64_t(value) > uint64_t(top))
        return uint64_t(top);
      return negative && value < -top - 1 ? uint64_t(-top - 1)
                                          : uint64_t(value);
    }
    uint64_t top = toBits == 64 ? ~uint64_t(0) : (uint64_t(1) << toBits) - 1;
    return negative ? 0 : std::min(uint64_t(value), top);
  }
  if (!fromFloat) {
    int64_t value = extend(raw, fromBits, isSigned(s.from));
    if (s.to == Type::F64) {
      double wide = intToDouble(value, isSigned(s.from), s.round);
      return s.sat ? writeFloat(s, wide) : bitsAs<uint64_t>(wide);
    }
    return writeFloat(s, intToWide(value, isSigned(s.from)));
  }
  double value = readFloat(s, raw);
  if (!toFloat)
    return floatToInt(s, value);
  if (std::isnan(value))
    if (std::optional<uint64_t> kept = keptNan(s, raw))
      return *kept;
  if (s.integral)
    value = std::copysign(roundIntegral(value, s.round), value);
  return writeFloat(s, value);
}

struct ConvertRecord {
  Slot to, from;
  unsigned fromWidth, toWidth; ///< of the registers
  Spec spec;
};
Step convert(Exec &x, const Record &r) {
  const auto &c = r.as<ConvertRecord>();
  unsigned bits = bitWidth(c.spec.to);
  bool sign = isSigned(c.spec.to);
  forLanes(x.mask, [&](unsigned lane) {
    uint64_t value = convertOne(c.spec, readLane(x, c.from, c.fromWidth, lane));
    writeLane(x, c.to, c.toWidth, lane, uint64_t(extend(value, bits, sign)));
  });
  return Step::Next;
}

struct ResizeOp {
  template <typename T> uint64_t operator()(T a) const {
    return uint64_t(int64_t(a));
  }
};

/// The frequent integer forms whose registers are as wide as the types.
Handler fastResize(Type from, Type to) {
  unsigned a = bitWidth(from), b = bitWidth(to);
  bool sign = isSigned(from);
  if (a == 32 && b == 64)
    return sign ? map<ResizeOp, int64_t, int32_t>
                : map<ResizeOp, uint64_t, uint32_t>;
  if (a == 64 && b == 32)
    return map<ResizeOp, uint32_t, uint64_t>;
  if (a == 32 && b == 16)
    return map<ResizeOp, uint16_t, uint32_t>;
  if (a == 16 && b == 32)
    return sign ? map<ResizeOp, int32_t, int16_t>
                : map<ResizeOp, uint32_t, uint16_t>;
  return nullptr;
}

/// The element of a packed narrow type or of tf32; nothing for other types.
std::optional<Element> elementOf(Type type) {
  std::string_view name = spelling(type);
  if (type != Type::Tf32) {
    if (name.size() < 3 || (name.substr(name.size() - 2) != "x2" &&
                            name.substr(name.size() - 2) != "x4"))
      return std::nullopt;
    name.remove_suffix(2);
  }
  std::optional<Element> element = findElement(name);
  return element == Element::F32 ? std::nullopt : element;
}

/// Conversions between packed narrow elements and wider ones.
struct NarrowRecord {
  Slot to = kNoSlot;
  Slot random = kNoSlot; ///< bits for stochastic rounding
  unsigned width = 0;    ///< of the register with the packed elements
  Element element = Element::F16;
  bool bf16 = false; ///< the wider ones
  ConvertMode mode;
  Slots from;
  Slot scales = kNoSlot;  ///< ue8m0x2 of `.scaled::n2::ue8m0`
  Slot divisor = kNoSlot; ///< ue8m0 of `.scaled::n1::ue8m0`
  OpenPointSet openPoints;
};
/// Source `i` of a lane, 0 the one that becomes the high element, over its
/// scale.
float dividedSource(Exec &x, const NarrowRecord &n, float value, size_t i,
                    unsigned lane) {
  if (n.divisor != kNoSlot)
    return dividedByScale(value, x.reg<uint8_t>(n.divisor)[lane]);
  if (n.scales == kNoSlot)
    return value;
  uint32_t pair = x.reg<uint16_t>(n.scales)[lane];
  return dividedByOwnScale(value, i ? pair : pair >> 8);
}
Step packNarrow(Exec &x, const Record &r) {
  const auto &n = r.as<NarrowRecord>();
  x.cluster->openPoints.add(n.openPoints);
  forLanes(x.mask, [&](unsigned lane) {
    auto value = [&](size_t i) {
      return dividedSource(x, n, x.reg<float>(n.from[i])[lane], i, lane);
    };
    uint32_t random = n.random == kNoSlot ? 0 : x.reg<uint32_t>(n.random)[lane];
    uint32_t bits = n.from.size() == 1 ? encode(n.element, value(0), n.mode)
                    : n.from.size() == 2
                        ? packX2(n.element, value(0), value(1), n.mode, random)
                        : packX4(n.element, value(0), value(1), value(2),
                                 value(3), n.mode, random);
    writeLane(x, n.to, n.width, lane, bits);
  });
  return Step::Next;
}
/// The halves of an f16x2 or bf16x2 source, converted to a narrow pair.
Step packFromHalves(Exec &x, const Record &r) {
  const auto &n = r.as<NarrowRecord>();
  x.cluster->openPoints.add(n.openPoints);
  forLanes(x.mask, [&](unsigned lane) {
    uint32_t pair = x.reg<uint32_t>(n.from[0])[lane];
    auto value = [&](size_t i) {
      uint32_t bits = i ? pair : pair >> 16;
      auto one = float(fromHalf(uint16_t(bits), n.bf16));
      // A subnormal f16 is a normal f32.
      bool tiny = !(bits & (n.bf16 ? 0x7F80 : 0x7C00));
      if (tiny && n.divisor != kNoSlot)
        one = std::copysign(0.0f, one);
      return dividedSource(x, n, one, i, lane);
    };
    writeLane(x, n.to, n.width, lane,
              packX2(n.element, value(0), value(1), n.mode));
  });
  return Step::Next;
}
Step unpackNarrow(Exec &x, const Record &r) {
  const auto &n = r.as<NarrowRecord>();
  forLanes(x.mask, [&](unsigned lane) {
    auto packed = uint32_t(readLane(x, n.from[0], n.width, lane));
    constexpr uint32_t kOnes = 0x7F7F;
    uint32_t scales =
        n.scales == kNoSlot ? kOnes : x.reg<uint16_t>(n.scales)[lane];
    x.reg<uint32_t>(n.to)[lane] =
        n.element == Element::UE8M0 ? unpackUE8M0ToBF16x2(packed)
        : n.bf16 ? unpackToBF16x2(n.element, packed, scales, n.mode)
                 : unpackToF16x2(n.element, packed, n.mode.relu);
  });
  return Step::Next;
}

ConvertMode narrowMode(const Instruction &in) {
  ConvertMode mode;
  mode.rounding = in.has(Modifier::Rs)    ? Rounding::RS
                  : in.has(Modifier::Rna) ? Rounding::RNA
                  : in.has(Modifier::Rm)  ? Rounding::RM
                  : in.has(Modifier::Rp)  ? Rounding::RP
                  : in.has(Modifier::Rz)  ? Rounding::RZ
                                          : Rounding::RN;
  mode.satfinite = in.has(Modifier::Satfinite);
  mode.relu = in.has(Modifier::Relu);
  mode.plusZero = in.has(Modifier::Pzo);
  return mode;
}

bool narrow(Decoder &d, const Instruction &in, Record &r) {
  Type to = in.type(0), from = in.type(1);
  std::optional<Element> toElement = elementOf(to),
                         fromElement = elementOf(from);
  auto &n = d.record<NarrowRecord>(r);
  n.mode = narrowMode(in);
  if (toElement == Element::UE5M3)
    n.openPoints.add(OpenPoint::Ue5m3Sign);
  if (n.mode.plusZero)
    n.openPoints.add(OpenPoint::PlusZeroOfRounding);
  if (n.mode.rounding == Rounding::RS)
    n.openPoints.add(OpenPoint::StochasticAlignment);
  if (toElement && from == Type::F32) {
    n.element = *toElement;
    n.width = bitWidth(to);
    n.to = d.destinationAny(in.operands[0], n.width);
    size_t next = 1;
    if (in.operands[1].kind == OperandKind::Vector) {
      n.from = d.slots(in.operands[1], 32, false);
      next = 2;
    } else {
      std::vector<Slot> sources;
      size_t count = to == Type::Tf32 ? 1 : 2;
      for (; next <= count && next < in.operands.size(); ++next)
        sources.push_back(d.source(in.operands[next], 32));
      n.from = d.list(sources);
    }
    if (in.has(Modifier::ScaledN1Ue8m0))
      n.divisor = d.source(in.operands[next++], 8);
    if (in.has(Modifier::ScaledN2Ue8m0))
      n.scales = d.source(in.operands[next++], 16);
    bool isRandom = next < in.operands.size();
    if (isRandom)
      n.random = d.source(in.operands[next], 32);
    // The first source becomes the high half.
    if ((to == Type::F16x2 || to == Type::Bf16x2) && !isRandom &&
        n.from.size() == 2)
      d.packs(n.from[1], n.from[0]);
    r.fn = packNarrow;
    return true;
  }
  bool toPair = to == Type::F16x2 || to == Type::Bf16x2;
  if (toPair && fromElement) {
    n.element = *fromElement;
    n.width = bitWidth(from);
    n.to = d.destination(in.operands[0], 32);
    n.from = d.list<Slot>({d.sourceAny(in.operands[1], n.width)});
    n.bf16 = to == Type::Bf16x2;
    if (in.has(Modifier::ScaledN2Ue8m0))
      n.scales = d.source(in.operands[2], 16);
    r.fn = unpackNarrow;
    return true;
  }
  if (toElement && (from == Type::F16x2 || from == Type::Bf16x2)) {
    n.element = *toElement;
    n.bf16 = from == Type::Bf16x2;
    n.width = bitWidth(to);
    n.to = d.destinationAny(in.operands[0], n.width);
    n.from = d.slots(in.operands[1], 32, false);
    if (in.has(Modifier::ScaledN1Ue8m0))
      n.divisor = d.source(in.operands[2], 8);
    if (in.has(Modifier::ScaledN2Ue8m0))
      n.scales = d.source(in.operands[2], 16);
    r.fn = packFromHalves;
    return true;
  }
  return d.refuse("unsupported conversion");
}

/// cvt.pack: from[2] is what lies above, if there is something.
Step packSaturated(Exec &x, const Record &r) {
  const auto &alu = r.as<AluRecord>();
  auto to = Type(alu.mode);
  int64_t low = isSigned(to) ? -(int64_t(1) << (bitWidth(to) - 1)) : 0;
  int64_t high = isSigned(to) ? -low - 1 : (int64_t(1) << bitWidth(to)) - 1;
  unsigned bits = bitWidth(to);
  uint64_t mask = (uint64_t(1) << bits) - 1;
  forLanes(x.mask, [&](unsigned lane) {
    auto clamp = [&](Slot slot) {
      int64_t v = x.reg<int32_t>(slot)[lane];
      return uint64_t(std::min(std::max(v, low), high)) & mask;
    };
    Slot above = alu.from[2];
    uint64_t old = above == kNoSlot ? 0 : x.reg<uint32_t>(above)[lane];
    x.reg<uint32_t>(alu.to)[lane] = uint32_t(
        old << (2 * bits) | clamp(alu.from[0]) << bits | clamp(alu.from[1]));
  });
  return Step::Next;
}

} // namespace

bool decodeConvert(Decoder &d, const Instruction &in, Record &r) {
  if (in.opcode == Opcode::CvtPack) {
    r.fn = packSaturated;
    return plainOperands(d, in, r, 32, in.operands.size() > 3 ? 3 : 2,
                         uint32_t(in.type()));
  }
  if (in.opcode != Opcode::Cvt)
    return false;
  if (in.types.size() != 2)
    return d.refuse("cvt needs two types");
  Type to = in.type(0), from = in.type(1);
  if (elementOf(to) || elementOf(from))
    return narrow(d, in, r);
  AluRecord registers;
  unsigned fromWidth = bitWidth(from), toWidth = bitWidth(to);
  registers.to = d.destinationAny(in.operands[0], toWidth);
  registers.from[0] = d.sourceAny(in.operands[1], fromWidth);
  if (!isFloat(from) && !isFloat(to) && !in.has(Modifier::Sat) &&
      fromWidth == bitWidth(from) && toWidth == bitWidth(to))
    if (Handler fast = fastResize(from, to)) {
      d.record<AluRecord>(r) = registers;
      r.fn = fast;
      return true;
    }
  auto &c = d.record<ConvertRecord>(r);
  c.to = registers.to;
  c.from = registers.from[0];
  c.fromWidth = fromWidth;
  c.toWidth = toWidth;
  bool integral = in.has(Modifier::Rni) || in.has(Modifier::Rzi) ||
                  in.has(Modifier::Rmi) || in.has(Modifier::Rpi);
  c.spec = {from,
            to,
            roundingOf(in),
            integral,
            in.has(Modifier::Ftz),
            in.has(Modifier::Sat),
            in.has(Modifier::Relu),
            in.has(Modifier::Satfinite)};
  r.fn = convert;
  return true;
}

} // namespace blockscale::emulator::machine
