//===- FloatAlu.cpp - floating-point arithmetic ---------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Approximate functions give the value computed in double and rounded once;
// what their descriptions fix beyond that is kept (divisors too large, the
// lower word of f64). NaN is what an H100 makes of it.
//
//===----------------------------------------------------------------------===//

#include "../Units/HostRounding.h"
#include "Float.h"
#include "Lanes.h"

namespace blockscale::emulator::machine {

Round roundingOf(const Instruction &in) {
  if (in.has(Modifier::Rz) || in.has(Modifier::Rzi))
    return Round::Zero;
  if (in.has(Modifier::Rm) || in.has(Modifier::Rmi))
    return Round::Down;
  if (in.has(Modifier::Rp) || in.has(Modifier::Rpi))
    return Round::Up;
  return in.has(Modifier::Rna) ? Round::Away : Round::Nearest;
}

static int hostMode(Round mode) {
  return mode == Round::Zero   ? FE_TOWARDZERO
         : mode == Round::Down ? FE_DOWNWARD
         : mode == Round::Up   ? FE_UPWARD
                               : FE_TONEAREST;
}

double addDirected(double a, double b, Round mode) {
  HostRounding host(hostMode(mode));
  volatile double x = a, y = b, z = x + y;
  return z;
}
double mulDirected(double a, double b, Round mode) {
  HostRounding host(hostMode(mode));
  volatile double x = a, y = b, z = x * y;
  return z;
}
double fmaDirected(double a, double b, double c, Round mode) {
  HostRounding host(hostMode(mode));
  volatile double x = a, y = b, w = c, z = std::fma(x, y, w);
  return z;
}
double divDirected(double a, double b, Round mode) {
  HostRounding host(hostMode(mode));
  volatile double x = a, y = b, z = x / y;
  return z;
}
double sqrtDirected(double a, Round mode) {
  HostRounding host(hostMode(mode));
  volatile double x = a, z = std::sqrt(x);
  return z;
}

namespace {

/// Record::aux of floating-point handlers.
constexpr uint32_t kRound = 7;
constexpr uint32_t kFtz = 8;
constexpr uint32_t kSat = 16;
constexpr uint32_t kRelu = 32;
constexpr uint32_t kNanWins = 64;
constexpr uint32_t kAbs = 128;
constexpr uint32_t kXorsign = 256;
constexpr uint32_t kBf16 = 512;
constexpr uint32_t kApprox = 1024;
constexpr uint32_t kOob = 2048;

/// What tensor copies fill with, of either sign: a factor that makes the result
/// of fma.oob zero.
bool isFill(uint16_t half) { return (half & 0x7FFF) == 0x7FF7; }

enum class Op : uint8_t {
  Add,
  Sub,
  Mul,
  Fma,
  Min,
  Max,
  Div,
  Rcp,
  Sqrt,
  Rsqrt,
  Ex2,
  Lg2,
  Sin,
  Cos,
  Tanh,
  Neg,
  Abs,
  CopySign,
};

/// Whether a value is less than the smallest normal number after rounding to
/// the precision of a format, as if exponents had no end: that is what is
/// flushed.
bool isTiny(double wide, int mantissa, int emin, Round round) {
  double smallest = std::ldexp(1.0, emin);
  return std::fabs(wide) < smallest &&
         std::fabs(roundTo(wide, mantissa, emin - 1, 1023, round)) < smallest;
}

float finish(uint32_t mode, float value) {
  if (mode & kFtz)
    value = flush(value);
  if (mode & kSat)
    value = std::isnan(value) ? 0.0f : std::fmin(std::fmax(value, 0.0f), 1.0f);
  return canonical(value);
}

template <typename T> T minMax(bool maximum, uint32_t mode, T a, T b) {
  bool sign = std::signbit(a) != std::signbit(b);
  if (mode & kAbs)
    a = std::fabs(a), b = std::fabs(b);
  T result;
  if (std::isnan(a) || std::isnan(b))
    result = mode & kNanWins ? T(NAN) : std::isnan(a) ? b : a;
  else if (a == b)
    result = std::signbit(a) == maximum ? b : a;
  else
    result = (a < b) == maximum ? b : a;
  if (mode & kXorsign && !std::isnan(result))
    result = std::copysign(result, sign ? T(-1) : T(1));
  return result;
}

/// The function's value in double; exact or rounded to odd for the arithmetic
/// ones, so that any narrower format can be rounded from it.
template <Op op> double wideValue(uint32_t mode, double a, double b, double c) {
  switch (op) {
  case Op::Add:
    return addOdd(a, b);
  case Op::Sub:
    return addOdd(a, -b);
  case Op::Mul:
    return a * b;
  case Op::Fma:
    return addOdd(a * b, c);
  case Op::Min:
    return minMax(false, mode, a, b);
  case Op::Max:
    return minMax(true, mode, a, b);
  case Op::Div:
    return a / b;
  case Op::Rcp:
    return 1.0 / a;
  case Op::Sqrt:
    return std::sqrt(a);
  case Op::Rsqrt:
    return 1.0 / std::sqrt(a);
  case Op::Ex2:
    return std::exp2(a);
  case Op::Lg2:
    return std::log2(a);
  case Op::Sin:
    return std::sin(a);
  case Op::Cos:
    return std::cos(a);
  case Op::Tanh:
    return std::tanh(a);
  case Op::Neg:
    return -a;
  case Op::Abs:
    return std::fabs(a);
  case Op::CopySign:
    return std::copysign(b, a);
  }
}

/// A quotient or root in double is not the exact value; this one is rounded to
/// odd, by looking at the sign of the exact remainder.
double oddQuotient(double a, double b) {
  double q = a / b;
  if (!std::isfinite(q) || q == 0)
    return q;
  double remainder = std::fma(-q, b, a);
  if (remainder == 0)
    return q;
  auto bits = bitsAs<uint64_t>(q);
  bool grows = (remainder > 0) == (b > 0) ? q > 0 : q < 0;
  if (!(bits & 1))
    bits += grows ? 1 : -1;
  return bitsAs<double>(bits);
}
double oddRoot(double a) {
  double q = std::sqrt(a);
  if (!std::isfinite(q) || q == 0)
    return q;
  double remainder = std::fma(-q, q, a);
  auto bits = bitsAs<uint64_t>(q);
  if (remainder != 0 && !(bits & 1))
    bits += remainder > 0 ? 1 : -1;
  return bitsAs<double>(bits);
}

template <Op op> struct F32Op {
  float operator()(uint32_t mode, float a, float b = 0, float c = 0) const {
    if (op == Op::Neg || op == Op::Abs) {
      float value = canonical(op == Op::Neg ? -a : std::fabs(a));
      return mode & kFtz ? flush(value) : value;
    }
    // A copy of the sign keeps the bits of NaN.
    if (op == Op::CopySign)
      return std::copysign(b, a);
    if (mode & kFtz)
      a = flush(a), b = flush(b), c = flush(c);
    if (op == Op::Min || op == Op::Max)
      return canonical(minMax(op == Op::Max, mode, a, b));
    if (op == Op::Div && mode & kApprox && std::fabs(b) > 0x1p126f &&
        std::isfinite(b))
      return std::isfinite(a) ? std::copysign(0.0f, a) * std::copysign(1.0f, b)
                              : bitsAs<float>(0x7FFFFFFFu);
    Round round = Round(mode & kRound);
    float value = round == Round::Nearest ? nearest(a, b, c)
                                          : toF32(exact(round, a, b, c), round);
    if (mode & kFtz && std::fabs(value) == 0x1p-126f &&
        isTiny(exact(round, a, b, c), 23, -126, round))
      value = std::copysign(0.0f, value);
    return finish(mode, value);
  }
  /// In double, rounded to odd.
  static double exact(Round round, float a, float b, float c) {
    double wide = op == Op::Div    ? oddQuotient(a, b)
                  : op == Op::Rcp  ? oddQuotient(1, a)
                  : op == Op::Sqrt ? oddRoot(a)
                                   : wideValue<op>(0, a, b, c);
    return wide == 0 ? zeroSign(round, a, b, c, wide) : wide;
  }
  static float nearest(float a, float b, float c) {
    switch (op) {
    case Op::Add:
      return a + b;
    case Op::Sub:
      return a - b;
    case Op::Mul:
      return a * b;
    case Op::Fma:
      return std::fma(a, b, c);
    case Op::Div:
      return a / b;
    case Op::Rcp:
      return 1.0f / a;
    case Op::Sqrt:
      return std::sqrt(a);
    default:
      return float(wideValue<op>(0, a, b, c));
    }
  }
  /// x - x is -0 when rounding down.
  static double zeroSign(Round round, double a, double b, double c,
                         double zero) {
    double first = op == Op::Fma ? a * b : a;
    double second = op == Op::Fma ? c : op == Op::Sub ? -b : b;
    bool sum = op == Op::Fma || op == Op::Add || op == Op::Sub;
    if (sum && std::signbit(first) != std::signbit(second))
      return round == Round::Down ? -0.0 : 0.0;
    return zero;
  }
};

/// The same NaN, quiet.
double quiet(double nan) {
  return bitsAs<double>(bitsAs<uint64_t>(nan) | uint64_t(1) << 51);
}

/// rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64 know upper words alone.
template <Op op> double ofUpperWord(double a) {
  auto upper = [](double x) {
    double value = bitsAs<double>(bitsAs<uint64_t>(x) >> 32 << 32);
    return std::fabs(value) < 0x1p-1022 ? std::copysign(0.0, value) : value;
  };
  double x = upper(a);
  double result = op == Op::Rcp ? 1 / x : x == 0 ? 1 / x : 1 / std::sqrt(x);
  return std::isnan(result) ? bitsAs<double>(uint64_t(0x7FFFFFFF) << 32)
                            : upper(result);
}

template <Op op> struct F64Op {
  double operator()(uint32_t mode, double a, double b = 0, double c = 0) const {
    Round round = Round(mode & kRound);
    if (op == Op::Neg || op == Op::Abs) {
      if (std::isnan(a))
        return quiet(a);
    }
    if (op == Op::Add || op == Op::Sub || op == Op::Mul) {
      // The second operand's NaN before the first's, neither with another sign.
      if (std::isnan(a) || std::isnan(b))
        return quiet(std::isnan(b) ? b : a);
    }
    if (op == Op::Fma && (std::isnan(a) || std::isnan(b) || std::isnan(c)))
      return quiet(std::isnan(b) ? b : std::isnan(c) ? c : a);
    if ((op == Op::Rcp || op == Op::Rsqrt) && mode & kApprox && mode & kFtz)
      return ofUpperWord<op>(a);
    switch (op) {
    case Op::Add:
      return addDirected(a, b, round);
    case Op::Sub:
      return addDirected(a, -b, round);
    case Op::Mul:
      return mulDirected(a, b, round);
    case Op::Fma:
      return fmaDirected(a, b, c, round);
    case Op::Div:
      return divDirected(a, b, round);
    case Op::Rcp:
      return divDirected(1, a, round);
    case Op::Sqrt:
      return sqrtDirected(a, round);
    default:
      return wideValue<op>(mode, a, b, c);
    }
  }
};

template <Op op>
uint16_t halfOp(uint32_t mode, uint16_t a, uint16_t b, uint16_t c) {
  bool bf16 = mode & kBf16;
  if (op == Op::Neg || op == Op::Abs) {
    uint16_t size = a & 0x7FFF;
    if (size > (bf16 ? 0x7F80 : 0x7C00))
      return 0x7FFF;
    if (mode & kFtz && !bf16 && size < 0x400)
      size = 0;
    return op == Op::Abs ? size : uint16_t(size | (~a & 0x8000));
  }
  if (op == Op::CopySign)
    return uint16_t((a & 0x8000) | (b & 0x7FFF));
  if (op == Op::Fma && mode & kOob && (isFill(a) || isFill(b)))
    return 0;
  auto in = [&](uint16_t bits) {
    double value = fromHalf(bits, bf16);
    return mode & kFtz && !bf16 && std::fabs(value) < 0x1p-14
               ? std::copysign(0.0, value)
               : value;
  };
  double wide = wideValue<op>(mode, in(a), in(b), in(c));
  Round round = Round(mode & kRound);
  uint16_t result = toHalf(wide, bf16, round);
  double value = fromHalf(result, bf16);
  if (mode & kFtz && isTiny(wide, bf16 ? 7 : 10, bf16 ? -126 : -14, round))
    result &= 0x8000;
  if (mode & kSat) {
    if (std::isnan(value) || value <= 0)
      result = 0;
    else if (value > 1)
      result = toHalf(1, bf16, Round::Nearest);
  }
  if (mode & kRelu && value < 0)
    result = 0;
  if (mode & kRelu && result == 0x8000)
    result = 0;
  return result;
}

template <Op op> struct HalfOp {
  uint16_t operator()(uint32_t mode, uint16_t a, uint16_t b = 0,
                      uint16_t c = 0) const {
    return halfOp<op>(mode, a, b, c);
  }
};
template <Op op> struct HalfPairOp {
  uint32_t operator()(uint32_t mode, uint32_t a, uint32_t b = 0,
                      uint32_t c = 0) const {
    uint32_t low = halfOp<op>(mode, uint16_t(a), uint16_t(b), uint16_t(c));
    uint32_t high = halfOp<op>(mode, uint16_t(a >> 16), uint16_t(b >> 16),
                               uint16_t(c >> 16));
    return high << 16 | low;
  }
};
template <Op op> struct F32PairOp {
  uint64_t operator()(uint32_t mode, uint64_t a, uint64_t b = 0,
                      uint64_t c = 0) const {
    auto part = [&](unsigned shift) {
      auto value = [&](uint64_t v) {
        return bitsAs<float>(uint32_t(v >> shift));
      };
      return uint64_t(bitsAs<uint32_t>(
                 F32Op<op>()(mode, value(a), value(b), value(c))))
             << shift;
    };
    return part(32) | part(0);
  }
};
/// Mixed add, sub, fma: 16-bit a (and b of fma), f32 for the rest.
template <Op op> struct MixedOp {
  float operator()(uint32_t mode, uint16_t a, float b) const {
    return F32Op<op>()(mode, float(fromHalf(a, mode & kBf16)), b);
  }
  float operator()(uint32_t mode, uint16_t a, uint16_t b, float c) const {
    return F32Op<op>()(mode, float(fromHalf(a, mode & kBf16)),
                       float(fromHalf(b, mode & kBf16)), c);
  }
};

/// The frequent f32 forms without modifiers, compiled for hosts with and
/// without a fused multiply-add; both give the same bits.
#define BLOCKSCALE_PLAIN_F32(Name, Expression)                                 \
  __attribute__((target_clones("arch=x86-64-v3", "default"))) void Name(       \
      float *d, const float *a, const float *b, const float *c) {              \
    for (unsigned i = 0; i != 32; ++i) {                                       \
      float value = Expression;                                                \
      d[i] = value != value ? bitsAs<float>(0x7FFFFFFFu) : value;              \
    }                                                                          \
  }
BLOCKSCALE_PLAIN_F32(plainAdd, a[i] + b[i])
BLOCKSCALE_PLAIN_F32(plainMul, a[i] * b[i])
BLOCKSCALE_PLAIN_F32(plainFma, __builtin_fmaf(a[i], b[i], c[i]))
#undef BLOCKSCALE_PLAIN_F32

template <auto plain, bool three> Step plainF32(Exec &x, const Record &r) {
  const auto &alu = r.as<AluRecord>();
  float result[32];
  const float *a = x.reg<float>(alu.from[0]), *b = x.reg<float>(alu.from[1]);
  plain(result, a, b, three ? x.reg<float>(alu.from[2]) : a);
  float *d = x.reg<float>(alu.to);
  if (x.mask == 0xFFFFFFFFu)
    std::memcpy(d, result, sizeof result);
  else
    forLanes(x.mask, [&](unsigned lane) { d[lane] = result[lane]; });
  return Step::Next;
}

template <Op op, unsigned sources> Handler handlerFor(Type type) {
  switch (type) {
  case Type::F32:
    if constexpr (sources == 1)
      return mapMode<F32Op<op>, float, float>;
    else if constexpr (sources == 2)
      return mapMode<F32Op<op>, float, float, float>;
    else
      return mapMode<F32Op<op>, float, float, float, float>;
  case Type::F64:
    if constexpr (sources == 1)
      return mapMode<F64Op<op>, double, double>;
    else if constexpr (sources == 2)
      return mapMode<F64Op<op>, double, double, double>;
    else
      return mapMode<F64Op<op>, double, double, double, double>;
  case Type::F16:
  case Type::Bf16:
    if constexpr (sources == 1)
      return mapMode<HalfOp<op>, uint16_t, uint16_t>;
    else if constexpr (sources == 2)
      return mapMode<HalfOp<op>, uint16_t, uint16_t, uint16_t>;
    else
      return mapMode<HalfOp<op>, uint16_t, uint16_t, uint16_t, uint16_t>;
  case Type::F16x2:
  case Type::Bf16x2:
    if constexpr (sources == 1)
      return mapMode<HalfPairOp<op>, uint32_t, uint32_t>;
    else if constexpr (sources == 2)
      return mapMode<HalfPairOp<op>, uint32_t, uint32_t, uint32_t>;
    else
      return mapMode<HalfPairOp<op>, uint32_t, uint32_t, uint32_t, uint32_t>;
  case Type::F32x2:
    if constexpr (sources == 1)
      return mapMode<F32PairOp<op>, uint64_t, uint64_t>;
    else if constexpr (sources == 2)
      return mapMode<F32PairOp<op>, uint64_t, uint64_t, uint64_t>;
    else
      return mapMode<F32PairOp<op>, uint64_t, uint64_t, uint64_t, uint64_t>;
  default:
    return nullptr;
  }
}

/// min and max of three.
template <Op op> struct Three {
  float operator()(uint32_t mode, float a, float b, float c) const {
    return F32Op<op>()(mode, F32Op<op>()(mode, a, b), c);
  }
};

uint32_t modeOf(const Instruction &in) {
  Type type = in.types.size() ? in.types[in.types.size() - 1] : Type::None;
  uint32_t mode = uint32_t(roundingOf(in));
  mode |= in.has(Modifier::Ftz) ? kFtz : 0;
  mode |= in.has(Modifier::Sat) ? kSat : 0;
  mode |= in.has(Modifier::Relu) ? kRelu : 0;
  mode |= in.has(Modifier::PropagateNan) ? kNanWins : 0;
  mode |= in.has(Modifier::Xorsign) ? kXorsign | kAbs : 0;
  mode |= in.has(Modifier::Abs) ? kAbs : 0;
  mode |= in.has(Modifier::Approx) ? kApprox : 0;
  mode |= in.has(Modifier::Oob) ? kOob : 0;
  mode |= type == Type::Bf16 || type == Type::Bf16x2 ? kBf16 : 0;
  return mode;
}

bool mixed(Decoder &d, const Instruction &in, Record &r) {
  switch (in.opcode) {
  case Opcode::Add:
    r.fn = mapMode<MixedOp<Op::Add>, float, uint16_t, float>;
    break;
  case Opcode::Sub:
    r.fn = mapMode<MixedOp<Op::Sub>, float, uint16_t, float>;
    break;
  default:
    r.fn = mapMode<MixedOp<Op::Fma>, float, uint16_t, uint16_t, float>;
  }
  return in.operands.size() == 4
             ? mixedOperands(d, in, r, 32, {16, 16, 32}, modeOf(in))
             : mixedOperands(d, in, r, 32, {16, 32}, modeOf(in));
}

template <Op op> bool choose(Decoder &d, const Instruction &in, Record &r) {
  constexpr bool one = op >= Op::Rcp && op <= Op::Abs;
  constexpr unsigned sources = op == Op::Fma ? 3 : one ? 1 : 2;
  Type type = in.type();
  uint32_t mode = modeOf(in);
  r.fn = handlerFor<op, sources>(type);
  if (type == Type::F32 && mode == 0) {
    if (op == Op::Add)
      r.fn = plainF32<plainAdd, false>;
    else if (op == Op::Mul)
      r.fn = plainF32<plainMul, false>;
    else if (op == Op::Fma)
      r.fn = plainF32<plainFma, true>;
  }
  unsigned count = sources;
  if ((op == Op::Min || op == Op::Max) && in.operands.size() == 4) {
    r.fn = mapMode<Three<op>, float, float, float, float>;
    count = 3;
  }
  if (type == Type::F32x2 || type == Type::F16x2 || type == Type::Bf16x2)
    d.flow().path = Flow::Path::EachToItsOwn;
  return r.fn ? plainOperands(d, in, r, bitWidth(type), count, mode)
              : d.refuse("unsupported floating-point type");
}

} // namespace

bool decodeFloat(Decoder &d, const Instruction &in, Record &r) {
  if (!isFloat(in.type()))
    return false;
  if (in.types.size() == 2 &&
      (in.opcode == Opcode::Add || in.opcode == Opcode::Sub ||
       in.opcode == Opcode::Fma))
    return mixed(d, in, r);
  bool half = in.type() != Type::F32 && in.type() != Type::F64 &&
              in.type() != Type::F32x2;
  if (in.opcode == Opcode::Fma && half && roundingOf(in) != Round::Nearest)
    return d.refuse("fma of 16-bit floats rounds by '.rn' alone; what the "
                    "assembler makes of others is no other rounding");
  switch (in.opcode) {
  case Opcode::Add:
    return choose<Op::Add>(d, in, r);
  case Opcode::Sub:
    return choose<Op::Sub>(d, in, r);
  case Opcode::Mul:
    return choose<Op::Mul>(d, in, r);
  case Opcode::Fma:
  case Opcode::Mad:
    return choose<Op::Fma>(d, in, r);
  case Opcode::Min:
    return choose<Op::Min>(d, in, r);
  case Opcode::Max:
    return choose<Op::Max>(d, in, r);
  case Opcode::Div:
    return choose<Op::Div>(d, in, r);
  case Opcode::Rcp:
    return choose<Op::Rcp>(d, in, r);
  case Opcode::Sqrt:
    return choose<Op::Sqrt>(d, in, r);
  case Opcode::Rsqrt:
    return choose<Op::Rsqrt>(d, in, r);
  case Opcode::Ex2:
    return choose<Op::Ex2>(d, in, r);
  case Opcode::Lg2:
    return choose<Op::Lg2>(d, in, r);
  case Opcode::Sin:
    return choose<Op::Sin>(d, in, r);
  case Opcode::Cos:
    return choose<Op::Cos>(d, in, r);
  case Opcode::Tanh:
    return choose<Op::Tanh>(d, in, r);
  case Opcode::Neg:
    return choose<Op::Neg>(d, in, r);
  case Opcode::Abs:
    return choose<Op::Abs>(d, in, r);
  case Opcode::CopySign:
    return choose<Op::CopySign>(d, in, r);
  default:
    return false;
  }
}

} // namespace blockscale::emulator::machine
