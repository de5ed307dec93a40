//===- IntegerAlu.cpp - integer and logic instructions --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lanes.h"

#include <algorithm>
#include <type_traits>

namespace blockscale::emulator::machine {
namespace {

/// Wrapping arithmetic in a width that C++ does not promote to int.
template <typename T>
using Wide = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

struct AddOp {
  template <typename T> T operator()(T a, T b) const {
    return T(Wide<T>(a) + Wide<T>(b));
  }
};
struct SubOp {
  template <typename T> T operator()(T a, T b) const {
    return T(Wide<T>(a) - Wide<T>(b));
  }
};
struct MulLoOp {
  template <typename T> T operator()(T a, T b) const {
    return T(Wide<T>(a) * Wide<T>(b));
  }
};
template <typename T>
using Twice = std::conditional_t<
    std::is_signed_v<T>,
    std::conditional_t<sizeof(T) == 2, int32_t,
                       std::conditional_t<sizeof(T) == 4, int64_t, __int128>>,
    std::conditional_t<
        sizeof(T) == 2, uint32_t,
        std::conditional_t<sizeof(T) == 4, uint64_t, unsigned __int128>>>;
template <typename T> Twice<T> product(T a, T b) {
  return Twice<T>(a) * Twice<T>(b);
}
struct MulHiOp {
  template <typename T> T operator()(T a, T b) const {
    return T(product(a, b) >> (8 * sizeof(T)));
  }
};
struct MulWideOp {
  template <typename T> Twice<T> operator()(T a, T b) const {
    return product(a, b);
  }
};
struct MadLoOp {
  template <typename T> T operator()(T a, T b, T c) const {
    return T(Wide<T>(a) * Wide<T>(b) + Wide<T>(c));
  }
};
struct MadHiOp {
  template <typename T> T operator()(T a, T b, T c) const {
    return T(Wide<T>(MulHiOp()(a, b)) + Wide<T>(c));
  }
};
struct MadHiSatOp {
  int32_t operator()(int32_t a, int32_t b, int32_t c) const {
    int64_t sum = int64_t(MulHiOp()(a, b)) + c;
    return int32_t(std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX));
  }
};
struct MadWideOp {
  template <typename T> Twice<T> operator()(T a, T b, Twice<T> c) const {
    using U = std::make_unsigned_t<Twice<T>>;
    return Twice<T>(U(product(a, b)) + U(c));
  }
};
/// Products of the low 24 bits of each operand: 48 bits, of which `lo` gives
/// the low 32 and `hi` the high 32.
template <bool Sign> int64_t product24(uint32_t a, uint32_t b) {
  auto low = [](uint32_t v) {
    return Sign ? int64_t(int32_t(v << 8) >> 8) : int64_t(v & 0xFFFFFF);
  };
  return low(a) * low(b);
}
template <bool Sign, bool High> struct Mul24Op {
  uint32_t operator()(uint32_t a, uint32_t b) const {
    return uint32_t(product24<Sign>(a, b) >> (High ? 16 : 0));
  }
};
template <bool Sign, bool High> struct Mad24Op {
  uint32_t operator()(uint32_t a, uint32_t b, uint32_t c) const {
    return Mul24Op<Sign, High>()(a, b) + c;
  }
};
/// mad24.hi.sat.s32.
struct Mad24SatOp {
  int32_t operator()(int32_t a, int32_t b, int32_t c) const {
    int64_t sum = int64_t(int32_t(Mul24Op<true, true>()(a, b))) + c;
    return int32_t(
        std::min<int64_t>(std::max<int64_t>(sum, INT32_MIN), INT32_MAX));
  }
};
struct DivOp {
  template <typename T> T operator()(T a, T b) const {
    if (b == 0)
      return T(~T(0));
    if (std::is_signed_v<T> && b == T(-1))
      return T(0 - Wide<T>(a));
    return T(a / b);
  }
};
struct RemOp {
  template <typename T> T operator()(T a, T b) const {
    if (b == 0)
      return a;
    if (std::is_signed_v<T> && b == T(-1))
      return 0;
    return T(a % b);
  }
};
struct MinOp {
  template <typename T> T operator()(T a, T b) const { return std::min(a, b); }
};
struct MaxOp {
  template <typename T> T operator()(T a, T b) const { return std::max(a, b); }
};
struct MaxReluOp {
  template <typename T> T operator()(T a, T b) const {
    return std::max({a, b, T(0)});
  }
};
struct MinReluOp {
  template <typename T> T operator()(T a, T b) const {
    return std::max(std::min(a, b), T(0));
  }
};
struct AndOp {
  template <typename T> T operator()(T a, T b) const { return a & b; }
};
struct OrOp {
  template <typename T> T operator()(T a, T b) const { return a | b; }
};
struct XorOp {
  template <typename T> T operator()(T a, T b) const { return a ^ b; }
};
struct NotOp {
  template <typename T> T operator()(T a) const { return T(~a); }
};
struct CnotOp {
  template <typename T> T operator()(T a) const { return a == 0; }
};
struct NegOp {
  template <typename T> T operator()(T a) const { return T(0 - Wide<T>(a)); }
};
struct AbsOp {
  template <typename T> T operator()(T a) const {
    using S = std::make_signed_t<T>;
    return S(a) < 0 ? T(0 - Wide<T>(a)) : a;
  }
};
struct ShlOp {
  template <typename T> T operator()(T a, uint32_t n) const {
    return n >= 8 * sizeof(T) ? T(0) : T(Wide<T>(a) << n);
  }
};
struct ShrOp {
  template <typename T> T operator()(T a, uint32_t n) const {
    if (n >= 8 * sizeof(T))
      return a < 0 ? T(-1) : T(0);
    return T(a >> n);
  }
};
struct SatAddOp {
  int32_t operator()(int32_t a, int32_t b) const {
    return int32_t(std::clamp<int64_t>(int64_t(a) + b, INT32_MIN, INT32_MAX));
  }
};
struct SatSubOp {
  int32_t operator()(int32_t a, int32_t b) const {
    return int32_t(std::clamp<int64_t>(int64_t(a) - b, INT32_MIN, INT32_MAX));
  }
};
struct SadOp {
  template <typename T> T operator()(T a, T b, T c) const {
    return T(Wide<T>(c) +
             (a < b ? Wide<T>(b) - Wide<T>(a) : Wide<T>(a) - Wide<T>(b)));
  }
};
template <typename Base> struct Pairs {
  template <typename T> uint32_t both(uint32_t a, uint32_t b) const {
    auto low = uint16_t(Base()(T(a), T(b)));
    auto high = uint16_t(Base()(T(a >> 16), T(b >> 16)));
    return uint32_t(high) << 16 | low;
  }
};
template <typename Base> struct PairU : Pairs<Base> {
  uint32_t operator()(uint32_t a, uint32_t b) const {
    return this->template both<uint16_t>(a, b);
  }
};
template <typename Base> struct PairS : Pairs<Base> {
  uint32_t operator()(uint32_t a, uint32_t b) const {
    return this->template both<int16_t>(a, b);
  }
};

struct BrevOp {
  template <typename T> T operator()(T a) const {
    T reversed = 0;
    for (unsigned i = 0; i != 8 * sizeof(T); ++i)
      reversed |= (a >> i & 1) << (8 * sizeof(T) - 1 - i);
    return reversed;
  }
};
/// add.cc, addc, sub.cc, subc, mad.cc, madc.
enum CarryMode : uint32_t {
  kPlainSum = 0,
  kSubtract = 1,
  kCarryIn = 2,
  kCarryOut = 4,
  kMultiply = 8,
  kHighHalf = 16,
  kSignedProduct = 32,
};
uint32_t carryMode(const Instruction &in, bool carryIn) {
  return (carryIn ? kCarryIn : kPlainSum) |
         (in.has(Modifier::Cc) ? kCarryOut : kPlainSum);
}
template <typename T> Step carryStep(Exec &x, const Record &r) {
  const auto &alu = r.as<AluRecord>();
  constexpr unsigned kBits = 8 * sizeof(T);
  using S = std::make_signed_t<T>;
  T *d = x.reg<T>(alu.to);
  const T *a = x.reg<T>(alu.from[0]), *b = x.reg<T>(alu.from[1]);
  const T *c = alu.mode & kMultiply ? x.reg<T>(alu.from[2]) : nullptr;
  uint32_t carry = x.warp->carry;
  forLanes(x.mask, [&](unsigned lane) {
    T left = a[lane], right = b[lane];
    if (c) {
      T low = T(Wide<T>(left) * Wide<T>(right));
      T high = alu.mode & kSignedProduct ? T(MulHiOp()(S(left), S(right)))
                                         : MulHiOp()(left, right);
      left = alu.mode & kHighHalf ? high : low;
      right = c[lane];
    }
    unsigned in = alu.mode & kCarryIn ? carry >> lane & 1 : 0;
    unsigned __int128 sum = alu.mode & kSubtract
                                ? (unsigned __int128)left - right - in
                                : (unsigned __int128)left + right + in;
    if (alu.mode & kCarryOut)
      carry = (carry & ~(1u << lane)) | uint32_t(sum >> kBits & 1) << lane;
    d[lane] = T(sum);
  });
  x.warp->carry = carry;
  return Step::Next;
}

/// div and rem: reports a zero divisor, whose result is undefined.
template <typename F, typename T> Step divide(Exec &x, const Record &r) {
  const T *b = x.reg<T>(r.as<AluRecord>().from[1]);
  Step step = Step::Next;
  forLanes(x.mask, [&](unsigned lane) {
    if (b[lane] == 0 && step != Step::Fault)
      step = x.fault(r, FindingKind::Arithmetic, "integer division by zero",
                     lane, 0, Hazard::UndefinedArithmetic);
  });
  return step == Step::Fault ? step : map<F, T, T, T>(x, r);
}
template <typename F> Handler divideFor(unsigned bits, bool isSignedType) {
  switch (bits) {
  case 16:
    return isSignedType ? divide<F, int16_t> : divide<F, uint16_t>;
  case 32:
    return isSignedType ? divide<F, int32_t> : divide<F, uint32_t>;
  case 64:
    return isSignedType ? divide<F, int64_t> : divide<F, uint64_t>;
  }
  return nullptr;
}

template <typename F> Step predicateOp(Exec &x, const Record &r) {
  const auto &alu = r.as<AluRecord>();
  x.setPredicate(alu.to,
                 F()(x.predicate(alu.from[0]), x.predicate(alu.from[1])));
  return Step::Next;
}
Step predicateNot(Exec &x, const Record &r) {
  const auto &alu = r.as<AluRecord>();
  x.setPredicate(alu.to, ~x.predicate(alu.from[0]));
  return Step::Next;
}
using Instr = Instruction;

template <typename F> bool logic(Decoder &d, const Instr &in, Record &r) {
  if (in.type() == Type::Pred) {
    auto &alu = d.record<AluRecord>(r);
    alu.to = d.predicateOut(in.operands[0]);
    alu.from[0] = d.predicate(in.operands[1]);
    alu.from[1] = d.predicate(in.operands[2]);
    r.fn = predicateOp<F>;
    return true;
  }
  unsigned bits = bitWidth(in.type());
  r.fn = binaryBits<F>(bits);
  return r.fn && plainOperands(d, in, r, bits, 2);
}

bool addSub(Decoder &d, const Instr &in, Record &r, bool subtract) {
  Type type = in.type();
  unsigned bits = bitWidth(type);
  bool carryIn = in.opcode == Opcode::AddC || in.opcode == Opcode::SubC;
  if (carryIn || in.has(Modifier::Cc)) {
    r.fn = bits == 64 ? carryStep<uint64_t> : carryStep<uint32_t>;
    return plainOperands(d, in, r, bits, 2,
                         carryMode(in, carryIn) |
                             (subtract ? kSubtract : kPlainSum));
  }
  if (type == Type::U16x2 || type == Type::S16x2)
    r.fn = subtract ? map<PairU<SubOp>, uint32_t, uint32_t, uint32_t>
                    : map<PairU<AddOp>, uint32_t, uint32_t, uint32_t>;
  else if (in.has(Modifier::Sat))
    r.fn = subtract ? map<SatSubOp, int32_t, int32_t, int32_t>
                    : map<SatAddOp, int32_t, int32_t, int32_t>;
  else
    r.fn = subtract ? binaryBits<SubOp>(bits) : binaryBits<AddOp>(bits);
  return r.fn && plainOperands(d, in, r, bits, 2);
}

bool minMax(Decoder &d, const Instr &in, Record &r, bool maximum) {
  Type type = in.type();
  bool relu = in.has(Modifier::Relu);
  unsigned bits = bitWidth(type);
  if (type == Type::U16x2)
    r.fn = maximum ? map<PairU<MaxOp>, uint32_t, uint32_t, uint32_t>
                   : map<PairU<MinOp>, uint32_t, uint32_t, uint32_t>;
  else if (type == Type::S16x2 && relu)
    r.fn = maximum ? map<PairS<MaxReluOp>, uint32_t, uint32_t, uint32_t>
                   : map<PairS<MinReluOp>, uint32_t, uint32_t, uint32_t>;
  else if (type == Type::S16x2)
    r.fn = maximum ? map<PairS<MaxOp>, uint32_t, uint32_t, uint32_t>
                   : map<PairS<MinOp>, uint32_t, uint32_t, uint32_t>;
  else if (relu)
    r.fn = maximum ? map<MaxReluOp, int32_t, int32_t, int32_t>
                   : map<MinReluOp, int32_t, int32_t, int32_t>;
  else
    r.fn = maximum ? binaryTyped<MaxOp>(bits, isSigned(type))
                   : binaryTyped<MinOp>(bits, isSigned(type));
  return r.fn && plainOperands(d, in, r, bits, 2);
}

bool multiply(Decoder &d, const Instr &in, Record &r) {
  Type type = in.type();
  unsigned bits = bitWidth(type);
  bool sign = isSigned(type);
  if (in.has(Modifier::Wide)) {
    if (bits == 16)
      r.fn = sign ? map<MulWideOp, int32_t, int16_t, int16_t>
                  : map<MulWideOp, uint32_t, uint16_t, uint16_t>;
    else if (bits == 32)
      r.fn = sign ? map<MulWideOp, int64_t, int32_t, int32_t>
                  : map<MulWideOp, uint64_t, uint32_t, uint32_t>;
    else
      return d.refuse("mul.wide takes 16- and 32-bit types");
    return mixedOperands(d, in, r, 2 * bits, {bits, bits});
  }
  r.fn = in.has(Modifier::Hi) ? binaryTyped<MulHiOp>(bits, sign)
                              : binaryBits<MulLoOp>(bits);
  return r.fn && plainOperands(d, in, r, bits, 2);
}

template <typename F> Handler ternary(unsigned bits, bool sign) {
  switch (bits) {
  case 16:
    return sign ? map<F, int16_t, int16_t, int16_t, int16_t>
                : map<F, uint16_t, uint16_t, uint16_t, uint16_t>;
  case 32:
    return sign ? map<F, int32_t, int32_t, int32_t, int32_t>
                : map<F, uint32_t, uint32_t, uint32_t, uint32_t>;
  case 64:
    return sign ? map<F, int64_t, int64_t, int64_t, int64_t>
                : map<F, uint64_t, uint64_t, uint64_t, uint64_t>;
  }
  return nullptr;
}

template <bool Sign, bool High> Handler handler24(bool adds) {
  return adds ? map<Mad24Op<Sign, High>, uint32_t, uint32_t, uint32_t, uint32_t>
              : map<Mul24Op<Sign, High>, uint32_t, uint32_t, uint32_t>;
}

bool multiply24(Decoder &d, const Instr &in, Record &r) {
  bool sign = isSigned(in.type()), high = in.has(Modifier::Hi);
  bool adds = in.opcode == Opcode::Mad24;
  if (in.has(Modifier::Sat)) {
    if (!adds || !high || !sign)
      return d.refuse("only mad24.hi.s32 saturates");
    r.fn = map<Mad24SatOp, int32_t, int32_t, int32_t, int32_t>;
  } else if (high) {
    r.fn = sign ? handler24<true, true>(adds) : handler24<false, true>(adds);
  } else {
    r.fn = sign ? handler24<true, false>(adds) : handler24<false, false>(adds);
  }
  return plainOperands(d, in, r, 32, adds ? 3 : 2);
}

bool multiplyAdd(Decoder &d, const Instr &in, Record &r) {
  Type type = in.type();
  unsigned bits = bitWidth(type);
  bool sign = isSigned(type), high = in.has(Modifier::Hi);
  bool carryIn = in.opcode == Opcode::MadC;
  if (carryIn || in.has(Modifier::Cc)) {
    r.fn = bits == 64 ? carryStep<uint64_t> : carryStep<uint32_t>;
    return plainOperands(d, in, r, bits, 3,
                         carryMode(in, carryIn) | kMultiply |
                             (high ? kHighHalf : kPlainSum) |
                             (sign ? kSignedProduct : kPlainSum));
  }
  if (in.has(Modifier::Wide)) {
    if (bits == 16)
      r.fn = sign ? map<MadWideOp, int32_t, int16_t, int16_t, int32_t>
                  : map<MadWideOp, uint32_t, uint16_t, uint16_t, uint32_t>;
    else
      r.fn = sign ? map<MadWideOp, int64_t, int32_t, int32_t, int64_t>
                  : map<MadWideOp, uint64_t, uint32_t, uint32_t, uint64_t>;
    return mixedOperands(d, in, r, 2 * bits, {bits, bits, 2 * bits});
  }
  if (high && in.has(Modifier::Sat))
    r.fn = map<MadHiSatOp, int32_t, int32_t, int32_t, int32_t>;
  else
    r.fn = high ? ternary<MadHiOp>(bits, sign) : ternary<MadLoOp>(bits, false);
  return r.fn && plainOperands(d, in, r, bits, 3);
}

bool shift(Decoder &d, const Instr &in, Record &r, bool left) {
  unsigned bits = bitWidth(in.type());
  bool sign = isSigned(in.type());
  switch (bits) {
  case 16:
    r.fn = left   ? map<ShlOp, uint16_t, uint16_t, uint32_t>
           : sign ? map<ShrOp, int16_t, int16_t, uint32_t>
                  : map<ShrOp, uint16_t, uint16_t, uint32_t>;
    break;
  case 32:
    r.fn = left   ? map<ShlOp, uint32_t, uint32_t, uint32_t>
           : sign ? map<ShrOp, int32_t, int32_t, uint32_t>
                  : map<ShrOp, uint32_t, uint32_t, uint32_t>;
    break;
  case 64:
    r.fn = left   ? map<ShlOp, uint64_t, uint64_t, uint32_t>
           : sign ? map<ShrOp, int64_t, int64_t, uint32_t>
                  : map<ShrOp, uint64_t, uint64_t, uint32_t>;
    break;
  default:
    return d.refuse("unsupported shift width");
  }
  return mixedOperands(d, in, r, bits, {bits, 32});
}

bool notNegAbs(Decoder &d, const Instr &in, Record &r) {
  if (in.type() == Type::Pred) {
    auto &alu = d.record<AluRecord>(r);
    alu.to = d.predicateOut(in.operands[0]);
    alu.from[0] = d.predicate(in.operands[1]);
    r.fn = predicateNot;
    return true;
  }
  unsigned bits = bitWidth(in.type());
  switch (in.opcode) {
  case Opcode::Not:
    r.fn = unaryBits<NotOp>(bits);
    break;
  case Opcode::Cnot:
    r.fn = unaryBits<CnotOp>(bits);
    break;
  case Opcode::Neg:
    r.fn = unaryBits<NegOp>(bits);
    break;
  case Opcode::Abs:
    r.fn = unaryBits<AbsOp>(bits);
    break;
  default:
    r.fn = bits == 64 ? map<BrevOp, uint64_t, uint64_t>
                      : map<BrevOp, uint32_t, uint32_t>;
  }
  return r.fn && plainOperands(d, in, r, bits, 1);
}

} // namespace

bool decodeInteger(Decoder &d, const Instruction &in, Record &r) {
  if (isFloat(in.type()))
    return false;
  Type type = in.type();
  unsigned bits = bitWidth(type);
  switch (in.opcode) {
  case Opcode::Add:
  case Opcode::AddC:
    return addSub(d, in, r, false);
  case Opcode::Sub:
  case Opcode::SubC:
    return addSub(d, in, r, true);
  case Opcode::Mul:
    return multiply(d, in, r);
  case Opcode::Mad:
  case Opcode::MadC:
    return multiplyAdd(d, in, r);
  case Opcode::Mul24:
  case Opcode::Mad24:
    return multiply24(d, in, r);
  case Opcode::Div:
    r.fn = divideFor<DivOp>(bits, isSigned(type));
    return r.fn && plainOperands(d, in, r, bits, 2);
  case Opcode::Rem:
    r.fn = divideFor<RemOp>(bits, isSigned(type));
    return r.fn && plainOperands(d, in, r, bits, 2);
  case Opcode::Min:
    return minMax(d, in, r, false);
  case Opcode::Max:
    return minMax(d, in, r, true);
  case Opcode::And:
    return logic<AndOp>(d, in, r);
  case Opcode::Or:
    return logic<OrOp>(d, in, r);
  case Opcode::Xor:
    return logic<XorOp>(d, in, r);
  case Opcode::Not:
  case Opcode::Cnot:
  case Opcode::Neg:
  case Opcode::Abs:
  case Opcode::Brev:
    return notNegAbs(d, in, r);
  case Opcode::Shl:
    return shift(d, in, r, true);
  case Opcode::Shr:
    return shift(d, in, r, false);
  case Opcode::Sad:
    r.fn = ternary<SadOp>(bits, isSigned(type));
    return r.fn && plainOperands(d, in, r, bits, 3);
  default:
    return decodeBits(d, in, r);
  }
}

} // namespace blockscale::emulator::machine
