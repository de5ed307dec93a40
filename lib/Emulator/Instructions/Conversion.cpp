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

#include "Float.h"
#include "Lanes.h"

#include "blockscale/Emulator/Convert.h"

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
    if (s.to == Type::F64)
      return bitsAs<uint64_t>(intToDouble(value, isSigned(s.from), s.round));
    return writeFloat(s, intToWide(value, isSigned(s.from)));
  }
  double value = readFloat(s, raw);
  if (!toFloat)
    return floatToInt(s, value);
  if (s.integral)
    value = std::copysign(roundIntegral(value, s.round), value);
  return writeFloat(s, value);
}

Spec specOf(const Record &r) {
  return {Type(r.aux & 255),     Type(r.aux >> 8 & 255), Round(r.aux >> 16 & 7),
          bool(r.aux >> 19 & 1), bool(r.aux >> 20 & 1),  bool(r.aux >> 21 & 1),
          bool(r.aux >> 22 & 1), bool(r.aux >> 23 & 1)};
}

/// aux2: register widths of source and, shifted by 8, of the destination.
Step convert(Exec &x, const Record &r) {
  Spec s = specOf(r);
  unsigned bits = bitWidth(s.to), width = r.aux2 >> 8;
  bool sign = isSigned(s.to);
  forLanes(x.mask, [&](unsigned lane) {
    uint64_t value = convertOne(s, readLane(x, r.op[1], r.aux2 & 255, lane));
    writeLane(x, r.op[0], width, lane, uint64_t(extend(value, bits, sign)));
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

/// The element of a packed narrow type, or nothing.
std::optional<Element> elementOf(Type type) {
  switch (type) {
  case Type::E4m3x2:
  case Type::E4m3x4:
    return Element::E4M3;
  case Type::E5m2x2:
  case Type::E5m2x4:
    return Element::E5M2;
  case Type::E2m3x2:
  case Type::E2m3x4:
    return Element::E2M3;
  case Type::E3m2x2:
  case Type::E3m2x4:
    return Element::E3M2;
  case Type::E2m1x2:
  case Type::E2m1x4:
    return Element::E2M1;
  case Type::Ue8m0x2:
    return Element::UE8M0;
  case Type::F16x2:
    return Element::F16;
  case Type::Bf16x2:
    return Element::BF16;
  case Type::Tf32:
    return Element::TF32;
  default:
    return std::nullopt;
  }
}

ConvertMode modeOf(const Record &r) {
  ConvertMode mode;
  mode.rounding = Rounding(r.aux >> 8 & 7);
  mode.satfinite = r.aux >> 11 & 1;
  mode.relu = r.aux >> 12 & 1;
  return mode;
}
/// d, a, b (, random): detail a; aux: element | mode; aux2: register width.
Step packNarrow(Exec &x, const Record &r) {
  const std::vector<Slot> &s = r.detail->a;
  auto element = Element(r.aux & 255);
  ConvertMode mode = modeOf(r);
  forLanes(x.mask, [&](unsigned lane) {
    auto value = [&](size_t i) { return x.reg<float>(s[i])[lane]; };
    uint32_t random = r.op[3] == kNoSlot ? 0 : x.reg<uint32_t>(r.op[3])[lane];
    uint32_t bits = s.size() == 1 ? encode(element, value(0), mode)
                    : s.size() == 2
                        ? packX2(element, value(0), value(1), mode, random)
                        : packX4(element, value(0), value(1), value(2),
                                 value(3), mode, random);
    writeLane(x, r.op[0], r.aux2, lane, bits);
  });
  return Step::Next;
}
/// The halves of an f16x2 or bf16x2 source, converted to a narrow pair.
Step packFromHalves(Exec &x, const Record &r) {
  auto element = Element(r.aux & 255);
  ConvertMode mode = modeOf(r);
  bool bf16 = r.aux >> 13 & 1;
  forLanes(x.mask, [&](unsigned lane) {
    uint32_t pair = x.reg<uint32_t>(r.op[1])[lane];
    writeLane(x, r.op[0], r.aux2, lane,
              packX2(element, float(fromHalf(uint16_t(pair >> 16), bf16)),
                     float(fromHalf(uint16_t(pair), bf16)), mode));
  });
  return Step::Next;
}
Step unpackNarrow(Exec &x, const Record &r) {
  auto element = Element(r.aux & 255);
  forLanes(x.mask, [&](unsigned lane) {
    auto packed = uint32_t(readLane(x, r.op[1], r.aux2, lane));
    x.reg<uint32_t>(r.op[0])[lane] =
        element == Element::UE8M0
            ? unpackUE8M0ToBF16x2(packed)
            : unpackToF16x2(element, packed, r.aux >> 12 & 1);
  });
  return Step::Next;
}

uint32_t narrowMode(const Instruction &in, Element element) {
  Rounding rounding = Rounding::RN;
  if (in.has(Modifier::Rz))
    rounding = Rounding::RZ;
  if (in.has(Modifier::Rp))
    rounding = Rounding::RP;
  if (in.has(Modifier::Rm))
    rounding = Rounding::RM;
  if (in.has(Modifier::Rna))
    rounding = Rounding::RNA;
  if (in.has(Modifier::Rs))
    rounding = Rounding::RS;
  return uint32_t(element) | uint32_t(rounding) << 8 |
         in.has(Modifier::Satfinite) << 11 | in.has(Modifier::Relu) << 12;
}

bool narrow(Decoder &d, const Instruction &in, Record &r) {
  Type to = in.type(0), from = in.type(1);
  std::optional<Element> toElement = elementOf(to),
                         fromElement = elementOf(from);
  if (toElement && from == Type::F32) {
    r.aux = narrowMode(in, *toElement);
    r.aux2 = bitWidth(to);
    r.op[0] = d.destinationAny(in.operands[0], r.aux2);
    Detail &detail = d.detail(r);
    size_t next = 1;
    if (in.operands[1].kind == OperandKind::Vector) {
      for (const Operand &element : in.operands[1].elements)
        detail.a.push_back(d.source(element, 32));
      next = 2;
    } else {
      size_t count = to == Type::Tf32 ? 1 : 2;
      for (; next <= count && next < in.operands.size(); ++next)
        detail.a.push_back(d.source(in.operands[next], 32));
    }
    bool isRandom = next < in.operands.size();
    if (isRandom)
      r.op[3] = d.source(in.operands[next], 32);
    // The first source becomes the high half.
    if ((to == Type::F16x2 || to == Type::Bf16x2) && !isRandom &&
        detail.a.size() == 2)
      d.packs(detail.a[1], detail.a[0]);
    r.fn = packNarrow;
    return true;
  }
  bool toPair = to == Type::F16x2 || to == Type::Bf16x2;
  if (toPair && fromElement) {
    r.aux = narrowMode(in, *fromElement);
    unsigned bits = bitWidth(from);
    r.op[0] = d.destination(in.operands[0], 32);
    r.op[1] = d.sourceAny(in.operands[1], bits);
    r.aux2 = bits;
    r.fn = unpackNarrow;
    return true;
  }
  if (toElement && (from == Type::F16x2 || from == Type::Bf16x2)) {
    r.aux = narrowMode(in, *toElement) | uint32_t(from == Type::Bf16x2) << 13;
    r.aux2 = bitWidth(to);
    r.op[0] = d.destinationAny(in.operands[0], r.aux2);
    r.op[1] = d.source(in.operands[1], 32);
    r.fn = packFromHalves;
    return true;
  }
  return d.refuse("unsupported conversion");
}

Step packSaturated(Exec &x, const Record &r) {
  auto to = Type(r.aux);
  int64_t low = isSigned(to) ? -(int64_t(1) << (bitWidth(to) - 1)) : 0;
  int64_t high = isSigned(to) ? -low - 1 : (int64_t(1) << bitWidth(to)) - 1;
  unsigned bits = bitWidth(to);
  uint64_t mask = (uint64_t(1) << bits) - 1;
  forLanes(x.mask, [&](unsigned lane) {
    auto clamp = [&](Slot slot) {
      int64_t v = x.reg<int32_t>(slot)[lane];
      return uint64_t(std::min(std::max(v, low), high)) & mask;
    };
    uint64_t old = r.op[3] == kNoSlot ? 0 : x.reg<uint32_t>(r.op[3])[lane];
    x.reg<uint32_t>(r.op[0])[lane] =
        uint32_t(old << (2 * bits) | clamp(r.op[1]) << bits | clamp(r.op[2]));
  });
  return Step::Next;
}

} // namespace

bool decodeConvert(Decoder &d, const Instruction &in, Record &r) {
  if (in.opcode == Opcode::CvtPack) {
    r.aux = uint32_t(in.type());
    r.op[0] = d.destination(in.operands[0], 32);
    r.op[1] = d.source(in.operands[1], 32);
    r.op[2] = d.source(in.operands[2], 32);
    if (in.operands.size() > 3)
      r.op[3] = d.source(in.operands[3], 32);
    r.fn = packSaturated;
    return true;
  }
  if (in.opcode != Opcode::Cvt)
    return false;
  if (in.types.size() != 2)
    return d.refuse("cvt needs two types");
  Type to = in.type(0), from = in.type(1);
  if (elementOf(to) || elementOf(from))
    return narrow(d, in, r);
  unsigned fromWidth = bitWidth(from), toWidth = bitWidth(to);
  r.op[0] = d.destinationAny(in.operands[0], toWidth);
  r.op[1] = d.sourceAny(in.operands[1], fromWidth);
  bool integral = in.has(Modifier::Rni) || in.has(Modifier::Rzi) ||
                  in.has(Modifier::Rmi) || in.has(Modifier::Rpi);
  r.aux = uint32_t(from) | uint32_t(to) << 8 | uint32_t(roundingOf(in)) << 16 |
          integral << 19 | in.has(Modifier::Ftz) << 20 |
          in.has(Modifier::Sat) << 21 | in.has(Modifier::Relu) << 22 |
          in.has(Modifier::Satfinite) << 23;
  r.aux2 = fromWidth | toWidth << 8;
  r.fn = convert;
  if (!isFloat(from) && !isFloat(to) && !in.has(Modifier::Sat) &&
      fromWidth == bitWidth(from) && toWidth == bitWidth(to))
    if (Handler fast = fastResize(from, to))
      r.fn = fast;
  return true;
}

} // namespace blockscale::emulator::machine
