//===- BitAlu.cpp - instructions on bits and bytes of integers ------------===//
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

/// aux: bit 0 = left, bit 1 = clamp.
struct ShfOp {
  uint32_t operator()(uint32_t mode, uint32_t a, uint32_t b, uint32_t c) const {
    unsigned n = mode & 2 ? std::min(c, 32u) : c & 31;
    uint64_t value = uint64_t(b) << 32 | a;
    return mode & 1 ? uint32_t((value << n) >> 32) : uint32_t(value >> n);
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
    unsigned msb = 8 * sizeof(T) - 1;
    // 8 bits of position and length count in 32-bit forms, all of them in
    // others.
    unsigned keep = sizeof(T) == 4 ? 255 : ~0u;
    uint64_t pos = b & keep, len = c & keep;
    if (len == 0)
      return 0;
    bool sign = std::is_signed_v<T> &&
                (U(a) >> std::min<uint64_t>(pos + len - 1, msb) & 1);
    U value = pos > msb ? U(0) : U(U(a) >> pos);
    auto have = unsigned(pos > msb ? 0 : std::min(len, msb - pos + 1));
    U mask = have > msb ? ~U(0) : U((U(1) << have) - 1);
    return T((value & mask) | (sign ? ~mask : U(0)));
  }
};
template <typename T> struct BfiOp {
  T operator()(T a, T b, uint32_t c, uint32_t d) const {
    unsigned bits = 8 * sizeof(T), keep = bits == 32 ? 255 : ~0u;
    unsigned pos = c & keep, len = d & keep;
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

/// lop3 with a boolean result.
struct Lop3Record {
  Slot to, from[3];
  Slot isNonzero; ///< predicate: the result is not 0, and or or `with`
  Slot with;
  uint32_t table;
  bool isOr;
};
Step lop3Bool(Exec &x, const Record &r) {
  const auto &lop3 = r.as<Lop3Record>();
  uint32_t *d = x.reg<uint32_t>(lop3.to);
  const uint32_t *a = x.reg<uint32_t>(lop3.from[0]),
                 *b = x.reg<uint32_t>(lop3.from[1]),
                 *c = x.reg<uint32_t>(lop3.from[2]);
  uint32_t nonzero = 0;
  forLanes(x.mask, [&](unsigned lane) {
    uint32_t value = Lop3Op()(lop3.table, a[lane], b[lane], c[lane]);
    d[lane] = value;
    nonzero |= uint32_t(value != 0) << lane;
  });
  uint32_t q = x.predicate(lop3.with);
  x.setPredicate(lop3.isNonzero, lop3.isOr ? nonzero | q : nonzero & q);
  return Step::Next;
}

/// bfi: `count` bits of `inserted` from bit `position` on.
struct BfiRecord {
  Slot to, inserted, base, position, count;
};
template <typename T> Step insertBits(Exec &x, const Record &r) {
  const auto &bfi = r.as<BfiRecord>();
  T *d = x.reg<T>(bfi.to);
  const T *a = x.reg<T>(bfi.inserted), *b = x.reg<T>(bfi.base);
  const uint32_t *c = x.reg<uint32_t>(bfi.position),
                 *n = x.reg<uint32_t>(bfi.count);
  forLanes(x.mask, [&](unsigned lane) {
    d[lane] = BfiOp<T>()(a[lane], b[lane], c[lane], n[lane]);
  });
  return Step::Next;
}

using Instr = Instruction;

bool bitField(Decoder &d, const Instr &in, Record &r) {
  unsigned bits = bitWidth(in.type());
  bool sign = isSigned(in.type());
  if (in.opcode == Opcode::Bfe) {
    r.fn = bits == 64
               ? (sign ? map<BfeOp, int64_t, int64_t, uint32_t, uint32_t>
                       : map<BfeOp, uint64_t, uint64_t, uint32_t, uint32_t>)
               : (sign ? map<BfeOp, int32_t, int32_t, uint32_t, uint32_t>
                       : map<BfeOp, uint32_t, uint32_t, uint32_t, uint32_t>);
    return mixedOperands(d, in, r, bits, {bits, 32, 32});
  }
  auto &bfi = d.record<BfiRecord>(r);
  bfi.inserted = d.source(in.operands[1], bits);
  bfi.base = d.source(in.operands[2], bits);
  bfi.position = d.source(in.operands[3], 32);
  bfi.count = d.source(in.operands[4], 32);
  bfi.to = d.destination(in.operands[0], bits);
  r.fn = bits == 64 ? insertBits<uint64_t> : insertBits<uint32_t>;
  return true;
}

bool count(Decoder &d, const Instr &in, Record &r) {
  unsigned bits = bitWidth(in.type());
  bool wide = bits == 64, sign = isSigned(in.type());
  uint32_t mode = 0;
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
    mode = in.has(Modifier::Shiftamt);
    if (wide)
      r.fn = sign ? mapMode<BfindOp, uint32_t, int64_t>
                  : mapMode<BfindOp, uint32_t, uint64_t>;
    else
      r.fn = sign ? mapMode<BfindOp, uint32_t, int32_t>
                  : mapMode<BfindOp, uint32_t, uint32_t>;
  }
  return mixedOperands(d, in, r, 32, {bits}, mode);
}

bool lop3(Decoder &d, const Instr &in, Record &r) {
  bool boolean = in.has(Modifier::Or) || in.has(Modifier::And);
  if (in.operands.size() < 5 || !in.operands[4].isImmediate())
    return d.refuse("lop3 needs an immediate table");
  uint32_t table = uint32_t(in.operands[4].bits()) & 255;
  if (!boolean) {
    r.fn = mapMode<Lop3Op, uint32_t, uint32_t, uint32_t, uint32_t>;
    return plainOperands(d, in, r, 32, 3, table);
  }
  const Operand &result = in.operands[0];
  if (result.kind != OperandKind::Pair || in.operands.size() < 6)
    return d.refuse("lop3 with a boolean result needs 'd|p' and a predicate");
  auto &bools = d.record<Lop3Record>(r);
  bools.to = d.destination(result.elements[0], 32);
  for (unsigned i = 0; i != 3; ++i)
    bools.from[i] = d.source(in.operands[1 + i], 32);
  bools.with = d.predicate(in.operands[5]);
  bools.isNonzero = d.predicateOut(result.elements[1]);
  bools.table = table;
  bools.isOr = in.has(Modifier::Or);
  r.fn = lop3Bool;
  return true;
}

bool dotProduct(Decoder &d, const Instr &in, Record &r) {
  uint32_t mode = isSigned(in.type(0)) | isSigned(in.type(1)) * 2 |
                  in.has(Modifier::Hi) * 4;
  r.fn = in.opcode == Opcode::Dp4a
             ? mapMode<Dp4aOp, uint32_t, uint32_t, uint32_t, uint32_t>
             : mapMode<Dp2aOp, uint32_t, uint32_t, uint32_t, uint32_t>;
  return plainOperands(d, in, r, 32, 3, mode);
}

bool permuteAndMask(Decoder &d, const Instr &in, Record &r) {
  switch (in.opcode) {
  case Opcode::Prmt:
    r.fn = mapMode<PrmtOp, uint32_t, uint32_t, uint32_t, uint32_t>;
    return plainOperands(d, in, r, 32, 3,
                         in.modifiers.empty() ? 0 : uint32_t(in.modifiers[0]));
  case Opcode::Shf:
    r.fn = mapMode<ShfOp, uint32_t, uint32_t, uint32_t, uint32_t>;
    return plainOperands(d, in, r, 32, 3,
                         in.has(Modifier::L) | in.has(Modifier::Clamp) * 2);
  case Opcode::Bmsk:
    r.fn = mapMode<BmskOp, uint32_t, uint32_t, uint32_t>;
    return plainOperands(d, in, r, 32, 2, in.has(Modifier::Wrap));
  case Opcode::Szext:
    r.fn = isSigned(in.type()) ? mapMode<SzextOp, int32_t, int32_t, uint32_t>
                               : mapMode<SzextOp, uint32_t, uint32_t, uint32_t>;
    return plainOperands(d, in, r, 32, 2, in.has(Modifier::Wrap));
  default:
    r.fn = map<FnsOp, uint32_t, uint32_t, uint32_t, int32_t>;
    return plainOperands(d, in, r, 32, 3);
  }
}

/// Product of polynomials over two elements, its low or high half.
struct ClmadOp {
  uint64_t operator()(uint32_t high, uint64_t a, uint64_t b, uint64_t c) const {
    uint64_t low = 0, top = 0;
    for (unsigned i = 0; i != 64; ++i) {
      if (!(b >> i & 1))
        continue;
      low ^= a << i;
      top ^= i ? a >> (64 - i) : 0;
    }
    return (high ? top : low) ^ c;
  }
};

} // namespace

bool decodeBits(Decoder &d, const Instruction &in, Record &r) {
  switch (in.opcode) {
  case Opcode::Bfe:
  case Opcode::Bfi:
    return bitField(d, in, r);
  case Opcode::Clmad:
    r.fn = mapMode<ClmadOp, uint64_t, uint64_t, uint64_t, uint64_t>;
    return plainOperands(d, in, r, 64, 3, in.has(Modifier::Hi));
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
