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
struct Mul24LoOp {
  uint32_t operator()(uint32_t a, uint32_t b) const { return a * b; }
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
/// aux: bit 0 = left, bit 1 = clamp.
struct ShfOp {
  uint32_t operator()(uint32_t mode, uint32_t a, uint32_t b, uint32_t c) const {
    unsigned n = mode & 2 ? std::min(c, 32u) : c & 31;
    uint64_t value = uint64_t(b) << 32 | a;
    return mode & 1 ? uint32_t((value << n) >> 32) : uint32_t(value >> n);
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

struct PopcOp {
  template <typename T> uint32_t operator()(T a) const {
    return __builtin_popcountll(a);
  }
};
struct ClzOp {
  template <typename T> uint32_t operator()(T a) const {
    return a ? __builtin_clzll(a) - (64 - 8 * sizeof(T)) : 8 * sizeof(T);
  }
};
struct BrevOp {
  uint32_t operator()(uint32_t a) const { return __builtin_bitreverse32(a); }
  uint64_t operator()(uint64_t a) const { return __builtin_bitreverse64(a); }
};
/// aux: 1 = shift amount.
struct BfindOp {
  template <typename T> uint32_t operator()(uint32_t shift, T a) const {
    using U = std::make_unsigned_t<T>;
    U bits = a < 0 ? U(~a) : U(a);
    if (!bits)
      return 0xFFFFFFFFu;
    unsigned top = 63 - __builtin_clzll(bits);
    return shift ? 8 * sizeof(T) - 1 - top : top;
  }
};
struct BfeOp {
  template <typename T> T operator()(T a, uint32_t b, uint32_t c) const {
    using U = std::make_unsigned_t<T>;
    unsigned msb = 8 * sizeof(T) - 1, pos = b & 255, len = c & 255;
    if (len == 0)
      return 0;
    bool sign =
        std::is_signed_v<T> && (U(a) >> std::min(pos + len - 1, msb) & 1);
    U value = pos > msb ? U(0) : U(U(a) >> pos);
    unsigned have = pos > msb ? 0 : std::min(len, msb - pos + 1);
    U mask = have > msb ? ~U(0) : U((U(1) << have) - 1);
    return T((value & mask) | (sign ? ~mask : U(0)));
  }
};
template <typename T> struct BfiOp {
  T operator()(T a, T b, uint32_t c, uint32_t d) const {
    unsigned bits = 8 * sizeof(T), pos = c & 255, len = d & 255;
    if (pos >= bits || len == 0)
      return b;
    len = std::min(len, bits - pos);
    T mask = T((len == bits ? ~T(0) : T((T(1) << len) - 1)) << pos);
    return T((b & ~mask) | (T(a << pos) & mask));
  }
};
/// aux: 1 = .wrap.
struct BmskOp {
  uint32_t operator()(uint32_t wrap, uint32_t a, uint32_t b) const {
    if (wrap)
      a &= 31, b &= 31;
    if (a > 31 || b == 0)
      return 0;
    uint32_t ones = b > 31 ? ~0u : (1u << b) - 1;
    return ones << a;
  }
};
struct SzextOp {
  template <typename T> T operator()(uint32_t wrap, T a, uint32_t n) const {
    if (wrap)
      n &= 31;
    if (n == 0)
      return 0;
    if (n > 31)
      return a;
    return T(T(uint32_t(a) << (32 - n)) >> (32 - n));
  }
};
struct PrmtOp {
  uint32_t operator()(uint32_t mode, uint32_t a, uint32_t b, uint32_t c) const {
    uint64_t pool = uint64_t(b) << 32 | a;
    uint32_t result = 0;
    for (unsigned i = 0; i != 4; ++i) {
      unsigned pick = selector(mode, c, i);
      auto byte = uint8_t(pool >> (8 * (pick & 7)));
      if (pick & 8)
        byte = byte & 0x80 ? 0xFF : 0;
      result |= uint32_t(byte) << (8 * i);
    }
    return result;
  }
  static unsigned selector(uint32_t mode, uint32_t c, unsigned i) {
    unsigned n = c & 3;
    switch (Modifier(mode)) {
    case Modifier::F4e:
      return n + i;
    case Modifier::B4e:
      return (n - i) & 7;
    case Modifier::Rc8:
      return n;
    case Modifier::Ecl:
      return std::max(n, i);
    case Modifier::Ecr:
      return std::min(n, i);
    case Modifier::Rc16:
      return 2 * (n & 1) + (i & 1);
    default:
      return c >> (4 * i) & 15;
    }
  }
};
struct Lop3Op {
  uint32_t operator()(uint32_t lut, uint32_t a, uint32_t b, uint32_t c) const {
    uint32_t d = 0;
    for (unsigned i = 0; i != 8; ++i)
      if (lut >> i & 1)
        d |= (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
    return d;
  }
};
/// aux: bit 0 = a signed, bit 1 = b signed, bit 2 = high half (dp2a).
struct Dp4aOp {
  uint32_t operator()(uint32_t mode, uint32_t a, uint32_t b, uint32_t c) const {
    for (unsigned i = 0; i != 4; ++i)
      c += uint32_t(byteOf(a, i, mode & 1) * byteOf(b, i, mode & 2));
    return c;
  }
  static int32_t byteOf(uint32_t value, unsigned i, bool isSigned) {
    auto byte = uint8_t(value >> (8 * i));
    return isSigned ? int8_t(byte) : int32_t(byte);
  }
};
struct Dp2aOp {
  uint32_t operator()(uint32_t mode, uint32_t a, uint32_t b, uint32_t c) const {
    for (unsigned i = 0; i != 2; ++i) {
      auto half = uint16_t(a >> (16 * i));
      int64_t wide = mode & 1 ? int64_t(int16_t(half)) : int64_t(half);
      c += uint32_t(wide * Dp4aOp::byteOf(b, i + (mode & 4 ? 2 : 0), mode & 2));
    }
    return c;
  }
};
struct FnsOp {
  uint32_t operator()(uint32_t value, uint32_t base, int32_t offset) const {
    if (base > 31)
      return 0xFFFFFFFFu;
    int step = offset < 0 ? -1 : 1;
    int left = offset < 0 ? -offset : offset;
    for (int i = int(base); i >= 0 && i < 32; i += step)
      if (value >> i & 1) {
        if (left <= 1)
          return left == 0 && unsigned(i) != base ? 0xFFFFFFFFu : uint32_t(i);
        --left;
      } else if (left == 0) {
        return 0xFFFFFFFFu;
      }
    return 0xFFFFFFFFu;
  }
};

/// add.cc, addc, sub.cc, subc, mad.cc, madc. aux: bit 0 subtract, bit 1 carry
/// in, bit 2 carry out, bit 3 multiply, bit 4 high half, bit 5 signed product.
template <typename T> Step carryStep(Exec &x, const Record &r) {
  constexpr unsigned kBits = 8 * sizeof(T);
  using S = std::make_signed_t<T>;
  T *d = x.reg<T>(r.op[0]);
  const T *a = x.reg<T>(r.op[1]), *b = x.reg<T>(r.op[2]);
  const T *c = r.aux & 8 ? x.reg<T>(r.op[3]) : nullptr;
  uint32_t carry = x.warp->carry;
  forLanes(x.mask, [&](unsigned lane) {
    T left = a[lane], right = b[lane];
    if (c) {
      T low = T(Wide<T>(left) * Wide<T>(right));
      T high =
          r.aux & 32 ? T(MulHiOp()(S(left), S(right))) : MulHiOp()(left, right);
      left = r.aux & 16 ? high : low;
      right = c[lane];
    }
    unsigned in = r.aux & 2 ? carry >> lane & 1 : 0;
    unsigned __int128 sum = r.aux & 1 ? (unsigned __int128)left - right - in
                                      : (unsigned __int128)left + right + in;
    if (r.aux & 4)
      carry = (carry & ~(1u << lane)) | uint32_t(sum >> kBits & 1) << lane;
    d[lane] = T(sum);
  });
  x.warp->carry = carry;
  return Step::Next;
}

/// div and rem: reports a zero divisor, whose result is undefined.
template <typename F, typename T> Step divide(Exec &x, const Record &r) {
  const T *b = x.reg<T>(r.op[2]);
  Step step = Step::Next;
  forLanes(x.mask, [&](unsigned lane) {
    if (b[lane] == 0 && step != Step::Fault)
      step =
          x.fault(r, FindingKind::Arithmetic, "integer division by zero", lane);
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
  x.setPredicate(r.op[0], F()(x.predicate(r.op[1]), x.predicate(r.op[2])));
  return Step::Next;
}
Step predicateNot(Exec &x, const Record &r) {
  x.setPredicate(r.op[0], ~x.predicate(r.op[1]));
  return Step::Next;
}
/// lop3 with a boolean result: op[0] p, detail a = {d, a, b, c, q}; aux lut,
/// aux2 = 1 for .or.
Step lop3Bool(Exec &x, const Record &r) {
  const std::vector<Slot> &s = r.detail->a;
  uint32_t *d = x.reg<uint32_t>(s[0]);
  const uint32_t *a = x.reg<uint32_t>(s[1]), *b = x.reg<uint32_t>(s[2]),
                 *c = x.reg<uint32_t>(s[3]);
  uint32_t nonzero = 0;
  forLanes(x.mask, [&](unsigned lane) {
    uint32_t value = Lop3Op()(r.aux, a[lane], b[lane], c[lane]);
    d[lane] = value;
    nonzero |= uint32_t(value != 0) << lane;
  });
  uint32_t q = x.predicate(s[4]);
  x.setPredicate(r.op[0], r.aux2 ? nonzero | q : nonzero & q);
  return Step::Next;
}

using Instr = Instruction;

template <typename F> bool logic(Decoder &d, const Instr &in, Record &r) {
  if (in.type() == Type::Pred) {
    r.op[0] = d.predicateOut(in.operands[0]);
    r.op[1] = d.predicate(in.operands[1]);
    r.op[2] = d.predicate(in.operands[2]);
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
    r.aux = subtract | carryIn * 2 | in.has(Modifier::Cc) * 4;
    r.fn = bits == 64 ? carryStep<uint64_t> : carryStep<uint32_t>;
    return plainOperands(d, in, r, bits, 2);
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
    r.op[0] = d.destination(in.operands[0], 2 * bits);
    r.op[1] = d.source(in.operands[1], bits);
    r.op[2] = d.source(in.operands[2], bits);
    return true;
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

bool multiplyAdd(Decoder &d, const Instr &in, Record &r) {
  Type type = in.type();
  unsigned bits = bitWidth(type);
  bool sign = isSigned(type), high = in.has(Modifier::Hi);
  bool carryIn = in.opcode == Opcode::MadC;
  if (carryIn || in.has(Modifier::Cc)) {
    r.aux = carryIn * 2 | in.has(Modifier::Cc) * 4 | 8 | high * 16 | sign * 32;
    r.fn = bits == 64 ? carryStep<uint64_t> : carryStep<uint32_t>;
    return plainOperands(d, in, r, bits, 3);
  }
  if (in.has(Modifier::Wide)) {
    if (bits == 16)
      r.fn = sign ? map<MadWideOp, int32_t, int16_t, int16_t, int32_t>
                  : map<MadWideOp, uint32_t, uint16_t, uint16_t, uint32_t>;
    else
      r.fn = sign ? map<MadWideOp, int64_t, int32_t, int32_t, int64_t>
                  : map<MadWideOp, uint64_t, uint32_t, uint32_t, uint64_t>;
    r.op[0] = d.destination(in.operands[0], 2 * bits);
    r.op[1] = d.source(in.operands[1], bits);
    r.op[2] = d.source(in.operands[2], bits);
    r.op[3] = d.source(in.operands[3], 2 * bits);
    return true;
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
  r.op[0] = d.destination(in.operands[0], bits);
  r.op[1] = d.source(in.operands[1], bits);
  r.op[2] = d.source(in.operands[2], 32);
  return true;
}

bool bitField(Decoder &d, const Instr &in, Record &r) {
  unsigned bits = bitWidth(in.type());
  bool sign = isSigned(in.type());
  if (in.opcode == Opcode::Bfe) {
    r.fn = bits == 64
               ? (sign ? map<BfeOp, int64_t, int64_t, uint32_t, uint32_t>
                       : map<BfeOp, uint64_t, uint64_t, uint32_t, uint32_t>)
               : (sign ? map<BfeOp, int32_t, int32_t, uint32_t, uint32_t>
                       : map<BfeOp, uint32_t, uint32_t, uint32_t, uint32_t>);
    r.op[0] = d.destination(in.operands[0], bits);
    r.op[1] = d.source(in.operands[1], bits);
    r.op[2] = d.source(in.operands[2], 32);
    r.op[3] = d.source(in.operands[3], 32);
    return true;
  }
  Detail &detail = d.detail(r);
  detail.a = {d.source(in.operands[1], bits), d.source(in.operands[2], bits),
              d.source(in.operands[3], 32), d.source(in.operands[4], 32)};
  r.op[0] = d.destination(in.operands[0], bits);
  r.aux = bits;
  r.fn = [](Exec &x, const Record &r) {
    const std::vector<Slot> &s = r.detail->a;
    const uint32_t *c = x.reg<uint32_t>(s[2]), *n = x.reg<uint32_t>(s[3]);
    forLanes(x.mask, [&](unsigned l) {
      if (r.aux == 64)
        x.reg<uint64_t>(r.op[0])[l] = BfiOp<uint64_t>()(
            x.reg<uint64_t>(s[0])[l], x.reg<uint64_t>(s[1])[l], c[l], n[l]);
      else
        x.reg<uint32_t>(r.op[0])[l] = BfiOp<uint32_t>()(
            x.reg<uint32_t>(s[0])[l], x.reg<uint32_t>(s[1])[l], c[l], n[l]);
    });
    return Step::Next;
  };
  return true;
}

bool count(Decoder &d, const Instr &in, Record &r) {
  unsigned bits = bitWidth(in.type());
  bool wide = bits == 64, sign = isSigned(in.type());
  switch (in.opcode) {
  case Opcode::Popc:
    r.fn = wide ? map<PopcOp, uint32_t, uint64_t>
                : map<PopcOp, uint32_t, uint32_t>;
    break;
  case Opcode::Clz:
    r.fn =
        wide ? map<ClzOp, uint32_t, uint64_t> : map<ClzOp, uint32_t, uint32_t>;
    break;
  default:
    r.aux = in.has(Modifier::Shiftamt);
    if (wide)
      r.fn = sign ? mapMode<BfindOp, uint32_t, int64_t>
                  : mapMode<BfindOp, uint32_t, uint64_t>;
    else
      r.fn = sign ? mapMode<BfindOp, uint32_t, int32_t>
                  : mapMode<BfindOp, uint32_t, uint32_t>;
  }
  r.op[0] = d.destination(in.operands[0], 32);
  r.op[1] = d.source(in.operands[1], bits);
  return true;
}

bool lop3(Decoder &d, const Instr &in, Record &r) {
  bool boolean = in.has(Modifier::Or) || in.has(Modifier::And);
  if (in.operands.size() < 5 || !in.operands[4].isImmediate())
    return d.refuse("lop3 needs an immediate table");
  r.aux = uint32_t(in.operands[4].bits()) & 255;
  if (!boolean) {
    r.fn = mapMode<Lop3Op, uint32_t, uint32_t, uint32_t, uint32_t>;
    return plainOperands(d, in, r, 32, 3);
  }
  const Operand &result = in.operands[0];
  if (result.kind != OperandKind::Pair || in.operands.size() < 6)
    return d.refuse("lop3 with a boolean result needs 'd|p' and a predicate");
  Detail &detail = d.detail(r);
  detail.a = {d.destination(result.elements[0], 32),
              d.source(in.operands[1], 32), d.source(in.operands[2], 32),
              d.source(in.operands[3], 32), d.predicate(in.operands[5])};
  r.op[0] = d.predicateOut(result.elements[1]);
  r.aux2 = in.has(Modifier::Or);
  r.fn = lop3Bool;
  return true;
}

bool dotProduct(Decoder &d, const Instr &in, Record &r) {
  r.aux = isSigned(in.type(0)) | isSigned(in.type(1)) * 2 |
          in.has(Modifier::Hi) * 4;
  r.fn = in.opcode == Opcode::Dp4a
             ? mapMode<Dp4aOp, uint32_t, uint32_t, uint32_t, uint32_t>
             : mapMode<Dp2aOp, uint32_t, uint32_t, uint32_t, uint32_t>;
  return plainOperands(d, in, r, 32, 3);
}

bool permuteAndMask(Decoder &d, const Instr &in, Record &r) {
  switch (in.opcode) {
  case Opcode::Prmt:
    r.aux = in.modifiers.empty() ? 0 : uint32_t(in.modifiers[0]);
    r.fn = mapMode<PrmtOp, uint32_t, uint32_t, uint32_t, uint32_t>;
    return plainOperands(d, in, r, 32, 3);
  case Opcode::Shf:
    r.aux = in.has(Modifier::L) | in.has(Modifier::Clamp) * 2;
    r.fn = mapMode<ShfOp, uint32_t, uint32_t, uint32_t, uint32_t>;
    return plainOperands(d, in, r, 32, 3);
  case Opcode::Bmsk:
    r.aux = in.has(Modifier::Wrap);
    r.fn = mapMode<BmskOp, uint32_t, uint32_t, uint32_t>;
    return plainOperands(d, in, r, 32, 2);
  case Opcode::Szext:
    r.aux = in.has(Modifier::Wrap);
    r.fn = isSigned(in.type()) ? mapMode<SzextOp, int32_t, int32_t, uint32_t>
                               : mapMode<SzextOp, uint32_t, uint32_t, uint32_t>;
    return plainOperands(d, in, r, 32, 2);
  default:
    r.fn = map<FnsOp, uint32_t, uint32_t, uint32_t, int32_t>;
    return plainOperands(d, in, r, 32, 3);
  }
}

bool notNegAbs(Decoder &d, const Instr &in, Record &r) {
  if (in.type() == Type::Pred) {
    r.op[0] = d.predicateOut(in.operands[0]);
    r.op[1] = d.predicate(in.operands[1]);
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
    r.fn = map<Mul24LoOp, uint32_t, uint32_t, uint32_t>;
    return in.has(Modifier::Hi) ? d.refuse("mul24.hi is not supported")
                                : plainOperands(d, in, r, 32, 2);
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
  case Opcode::Bfe:
  case Opcode::Bfi:
    return bitField(d, in, r);
  case Opcode::Popc:
  case Opcode::Clz:
  case Opcode::Bfind:
    return count(d, in, r);
  case Opcode::Lop3:
    return lop3(d, in, r);
  case Opcode::Dp4a:
  case Opcode::Dp2a:
    return dotProduct(d, in, r);
  case Opcode::Prmt:
  case Opcode::Shf:
  case Opcode::Bmsk:
  case Opcode::Szext:
  case Opcode::Fns:
    return permuteAndMask(d, in, r);
  default:
    return false;
  }
}

} // namespace blockscale::emulator::machine
