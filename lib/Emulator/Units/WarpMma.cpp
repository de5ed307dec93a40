//===- WarpMma.cpp - mma.sync and wmma.mma on arrays of registers ---------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WarpMma.h"
#include "HostRounding.h"

#include <algorithm>
#include <array>
#include <bitset>
#include <cmath>
#include <cstring>
#include <limits>

namespace blockscale::emulator {

using Reason = std::optional<std::string>;

//===----------------------------------------------------------------------===//
// Which forms exist
//===----------------------------------------------------------------------===//

static bool isNarrowFloat(Element type) { return type <= Element::E2M1; }

static bool isByte(Element type) {
  return type == Element::S8 || type == Element::U8;
}

static bool isNibble(Element type) {
  return type == Element::S4 || type == Element::U4;
}

static bool isInteger(Element type) {
  return isByte(type) || isNibble(type) || type == Element::B1;
}

/// Shapes of a type of A, with `|` between them: of mma.sync, of mma.sp and of
/// wmma.
namespace {
struct ShapeRow {
  const char *dense, *sparse, *wmma;
};
} // namespace

static ShapeRow shapesOf(const WarpMmaForm &form) {
  constexpr const char *kBytes = "|m16n16k16|m8n32k16|m32n8k16|";
  if (form.packedFp4)
    return {"|m16n8k64|", "|m16n8k128|", ""};
  if (form.scaleVec)
    return {"|m16n8k32|", "|m16n8k64|", ""};
  switch (form.a) {
  case Element::F16:
    return {"|m8n8k4|m16n8k8|m16n8k16|", "|m16n8k16|m16n8k32|", kBytes};
  case Element::BF16:
    return {"|m16n8k8|m16n8k16|", "|m16n8k16|m16n8k32|", kBytes};
  case Element::TF32:
    return {"|m16n8k4|m16n8k8|", "|m16n8k8|m16n8k16|", "|m16n16k8|"};
  case Element::F64:
    return {"|m8n8k4|m16n8k4|m16n8k8|m16n8k16|", "", "|m8n8k4|"};
  case Element::S8:
  case Element::U8:
    return {"|m8n8k16|m16n8k16|m16n8k32|", "|m16n8k32|m16n8k64|", kBytes};
  case Element::S4:
  case Element::U4:
    return {"|m8n8k32|m16n8k32|m16n8k64|", "|m16n8k64|m16n8k128|", "|m8n8k32|"};
  case Element::B1:
    return {"|m8n8k128|m16n8k128|m16n8k256|", "", "|m8n8k128|"};
  case Element::E4M3:
  case Element::E5M2:
    return {"|m16n8k16|m16n8k32|", "|m16n8k64|", ""};
  default:
    return {"|m16n8k32|", "|m16n8k64|", ""};
  }
}

static Reason whyNotShape(const WarpMmaForm &form) {
  ShapeRow row = shapesOf(form);
  std::string_view legal = form.wmma     ? row.wmma
                           : form.sparse ? row.sparse
                                         : row.dense;
  std::string shape = "m" + std::to_string(form.m) + "n" +
                      std::to_string(form.n) + "k" + std::to_string(form.k);
  if (legal.find("|" + shape + "|") != std::string_view::npos)
    return std::nullopt;
  std::string message = "shape '" + shape + "' does not exist for '" +
                        name(form.a) + "'" +
                        (form.sparse ? " with sparsity" : "");
  while (legal.size() > 1) {
    size_t end = legal.find('|', 1);
    message +=
        (message.find(';') == std::string::npos ? "; there is '" : ", '") +
        std::string(legal.substr(1, end - 1)) + "'";
    legal.remove_prefix(end);
  }
  return message;
}

static Reason whyNotScales(const WarpMmaForm &form) {
  unsigned vec = form.scaleVec;
  if (vec != 1 && vec != 2 && vec != 4)
    return "scale_vec " + std::to_string(vec) + " does not exist";
  if (form.packedFp4 ? vec == 1 : vec != 1)
    return "scale_vec::" + std::to_string(vec) +
           "X does not exist for this kind";
  if (form.accumulator != WarpAccumulator::F32)
    return std::string("block-scaled forms accumulate in f32 only");
  if (form.scale == Element::UE4M3 ? vec != 4 : form.scale != Element::UE8M0)
    return std::string("scale type '") + name(form.scale) +
           "' does not exist with scale_vec::" + std::to_string(vec) + "X";
  return std::nullopt;
}

static Reason whyNotTypes(const WarpMmaForm &form) {
  auto both = [&](bool (*is)(Element)) { return is(form.a) && is(form.b); };
  // The integers of wmma are of one type.
  bool mixed = (both(isNarrowFloat) || both(isByte) || both(isNibble)) &&
               (!form.wmma || form.a == form.b);
  if (!mixed && (form.a != form.b || isNarrowFloat(form.a)))
    return std::string("operand types '") + name(form.a) + "' and '" +
           name(form.b) + "' do not go together";
  if (form.packedFp4 && (form.a != Element::E2M1 || form.b != Element::E2M1))
    return std::string("packed operands must be 'e2m1'");
  if (form.packedFp4 && !form.scaleVec)
    return std::string("packed 'e2m1' operands need scales");
  if (form.scaleVec && !isNarrowFloat(form.a))
    return std::string("scales need 8-, 6- or 4-bit operands");
  return std::nullopt;
}

static Reason whyNotAccumulator(const WarpMmaForm &form) {
  WarpAccumulator d = form.accumulator, c = form.addend.value_or(d);
  bool half = form.a == Element::F16 || isNarrowFloat(form.a);
  auto goesWith = [&](WarpAccumulator type) {
    switch (type) {
    case WarpAccumulator::F16:
      return half;
    case WarpAccumulator::F32:
      return !isInteger(form.a) && form.a != Element::F64;
    case WarpAccumulator::S32:
      return isInteger(form.a);
    case WarpAccumulator::F64:
      return form.a == Element::F64;
    }
    return false;
  };
  // C and D differ in wmma, and where D of m8n8k4 is the wider one.
  bool free = c == d || (form.wmma && half) ||
              (form.isQuadPairs() && d == WarpAccumulator::F32);
  if (goesWith(c) && goesWith(d) && free)
    return std::nullopt;
  return std::string("accumulator type does not go with the operands");
}

/// Bits of metadata of a row.
static unsigned metadataBits(const WarpMmaForm &form) {
  return form.k / chunkOf(form) * 4;
}

static Reason whyNotSelector(const WarpMmaForm &form) {
  unsigned bits = metadataBits(form);
  unsigned most = bits == 16 ? 3 : bits == 32 ? 1 : 0;
  if (form.selector <= most)
    return std::nullopt;
  return "sparsity selector " + std::to_string(form.selector) +
         " is not in 0.." + std::to_string(most);
}

Reason whyNot(const WarpMmaForm &form) {
  if (auto reason = whyNotTypes(form))
    return reason;
  if (auto reason = whyNotShape(form))
    return reason;
  if (auto reason = whyNotAccumulator(form))
    return reason;
  if (auto reason = form.sparse ? whyNotSelector(form) : std::nullopt)
    return reason;
  return form.scaleVec ? whyNotScales(form) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

namespace {

/// A and B as numbers, rows of k elements; of A by row, of B by column.
struct Numbers {
  std::array<double, 32 * 128> a;
  std::array<double, 32 * 128> b;
};

} // namespace

static uint32_t codeAt(const WarpMmaForm &form, Element type,
                       const uint32_t *registers, unsigned lane, unsigned i) {
  unsigned bits = containerBits(form, type), per = 32 / bits;
  uint32_t word = registers[i / per * 32 + lane];
  uint32_t code =
      bits == 32 ? word : word >> i % per * bits & ((1u << bits) - 1);
  // Unpacked fp4 lies in bits 5..2 of its byte.
  return type == Element::E2M1 && bits == 8 ? code >> 2 & 0xf : code;
}

/// Puts the elements of A or B in rows of `length`.
static void gather(const WarpMmaForm &form, WarpOperand operand,
                   const uint32_t *registers, unsigned length, double *out) {
  bool isA = operand == WarpOperand::A;
  Element type = isA ? form.a : form.b;
  unsigned count = (isA ? form.m : form.n) * length / 32;
  unsigned bits = containerBits(form, type), per = std::max(32 / bits, 1u);
  // Unpacked fp4 lies in bits 5..2 of its byte.
  unsigned low = type == Element::E2M1 && bits == 8 ? 2 : 0;
  const float *table = tableOf(type);
  uint32_t mask = (1u << std::min(bitWidth(type), 31u)) - 1;
  const uint16_t *place = placesOf(form, operand, length).data();
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned i = 0; i < count; i += per) {
      uint32_t word = registers[i / per * 32 + lane];
      for (unsigned e = 0; e < per; ++e) {
        uint32_t code = word >> (e * bits + low);
        out[*place++] = table ? table[code & mask] : decode(type, code);
      }
    }
}

/// Where the two units of a chunk lie that are stored, by its metadata.
static Reason positionsOf(const WarpMmaForm &form, unsigned nibble, unsigned m,
                          unsigned &first, unsigned &second) {
  std::string what = "sparsity metadata " + std::to_string(nibble) +
                     " of row " + std::to_string(m) + " is ";
  first = nibble & 3;
  second = nibble >> 2;
  if (form.a == Element::TF32)
    return nibble == 0b0100 || nibble == 0b1110 ? std::nullopt
                                                : Reason(what + "not 4 or 14");
  if (form.ordered ? first < second : first != second)
    return std::nullopt;
  return what + (form.ordered ? "not an ascending pair of positions"
                              : "not a pair of positions");
}

Reason expandSparse(const WarpMmaForm &form, const uint32_t *metadata,
                    const double *stored, double *out,
                    OpenPointSet &openPoints) {
  unsigned chunk = chunkOf(form), half = chunk / 2;
  std::fill(out, out + form.m * form.k, 0.0);
  for (unsigned m = 0; m < form.m; ++m)
    for (unsigned x = 0; x < form.k / chunk; ++x) {
      const double *chosen = stored + m * form.k / 2 + x * half;
      double *to = out + m * form.k + x * chunk;
      unsigned first, second;
      if (auto reason = positionsOf(form, metadataOf(form, metadata, m, x), m,
                                    first, second)) {
        if (std::any_of(chosen, chosen + half, [](double v) { return v != 0; }))
          return reason;
        openPoints.add(OpenPoint::ZeroMetadata);
        continue;
      }
      // An element of tf32 has two positions.
      if (form.a == Element::TF32) {
        to[first / 2] = chosen[0];
        continue;
      }
      unsigned unit = half / 2;
      for (unsigned u = 0; u < unit; ++u) {
        to[first * unit + u] = chosen[u];
        to[second * unit + u] = chosen[unit + u];
      }
    }
  return std::nullopt;
}

static Reason checkIds(const WarpMmaForm &form, WarpScale scale, bool isA) {
  unsigned step = form.scaleVec;
  if (!scale.registers || scale.byteId > 3 || scale.byteId % step)
    return "byte-id " + std::to_string(scale.byteId) +
           " is not legal with scale_vec::" + std::to_string(step) + "X";
  unsigned limit = isA ? 1 : 3;
  if (scale.threadId > limit)
    return "thread-id " + std::to_string(scale.threadId) + " of operand " +
           (isA ? "A" : "B") + " is not in 0.." + std::to_string(limit);
  return std::nullopt;
}

/// The byte with the scale of block `s` of row m of A or column n of B.
static uint32_t scaleOf(const WarpMmaForm &form, WarpScale scale, bool isA,
                        unsigned row, unsigned s) {
  unsigned lane = isA ? row % 8 * 4 + scale.threadId * 2 + row / 8
                      : row * 4 + scale.threadId;
  return scale.registers[lane] >> (scale.byteId + s) * 8 & 0xff;
}

/// Folds the scales into the elements; exact in double. As in the tensor core,
/// a ue4m3 scale with bit 7 may scale zeros alone, and counts as NaN.
static Reason applyScales(const WarpMmaForm &form, WarpScale scale, bool isA,
                          double *values) {
  unsigned rows = isA ? form.m : form.n, block = form.k / form.scaleVec;
  for (unsigned r = 0; r < rows; ++r)
    for (unsigned s = 0; s < form.scaleVec; ++s) {
      uint32_t code = scaleOf(form, scale, isA, r, s);
      double factor = decode(form.scale, code);
      double *from = &values[r * form.k + s * block];
      if (form.scale == Element::UE4M3 && code & 0x80) {
        if (std::any_of(from, from + block, [](double v) { return v != 0; }))
          return "bit 7 is set in the 'ue4m3' scale of block " +
                 std::to_string(s) + " of row " + std::to_string(r) + " of " +
                 (isA ? "A" : "B");
        factor = std::numeric_limits<double>::quiet_NaN();
      }
      for (unsigned i = 0; i < block; ++i)
        from[i] *= factor;
    }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

static uint32_t integerResult(const WarpMmaForm &form, uint32_t c,
                              int64_t sum) {
  int64_t value = int64_t(int32_t(c)) + sum;
  if (form.satfinite)
    value = std::min<int64_t>(std::max<int64_t>(value, INT32_MIN), INT32_MAX);
  return uint32_t(value);
}

/// Element `i` of a fragment of C, of f16 or f32.
static double addendAt(WarpAccumulator type, const uint32_t *c, unsigned lane,
                       unsigned i) {
  return type == WarpAccumulator::F16
             ? decode(Element::F16, c[i / 2 * 32 + lane] >> i % 2 * 16 & 0xffff)
             : decode(Element::F32, c[i * 32 + lane]);
}

static void setResult(WarpAccumulator type, uint32_t *d, unsigned lane,
                      unsigned i, double value) {
  if (type == WarpAccumulator::F32) {
    // One NaN, whatever it came from (measured on an H100).
    d[i * 32 + lane] = std::isnan(value)
                           ? 0x7FFFFFFF
                           : encode(Element::F32, float(value), ConvertMode{});
    return;
  }
  uint32_t &word = d[i / 2 * 32 + lane];
  unsigned shift = i % 2 * 16;
  word = (word & ~(0xffffu << shift)) |
         encode(Element::F16, float(value), ConvertMode{}) << shift;
}

static unsigned elementsD(const WarpMmaForm &form) {
  return form.m * form.n / 32;
}

/// The sums of a tile, in rows of n. Each adds its products in order of K.
static void sumProducts(const WarpMmaForm &form, const Numbers &numbers,
                        double *sums) {
  // Eight columns go together, of which every shape has a multiple: their sums
  // stay in registers, and do not wait for each other.
  constexpr unsigned kTogether = 8;
  for (unsigned first = 0; first < form.n; first += kTogether) {
    double right[128][kTogether];
    for (unsigned n = 0; n < kTogether; ++n)
      for (unsigned k = 0; k < form.k; ++k)
        right[k][n] = numbers.b[(first + n) * form.k + k];
    for (unsigned m = 0; m < form.m; ++m) {
      const double *left = &numbers.a[m * form.k];
      double row[kTogether] = {};
      for (unsigned k = 0; k < form.k; ++k)
        for (unsigned n = 0; n < kTogether; ++n)
          row[n] += left[k] * right[k][n];
      std::copy(row, row + kTogether, sums + m * form.n + first);
    }
  }
}

static void multiplyNumbers(const WarpMmaForm &form, const Numbers &numbers,
                            const uint32_t *c, uint32_t *d) {
  WarpAccumulator addend = form.addend.value_or(form.accumulator);
  std::array<double, 32 * 32> sums;
  sumProducts(form, numbers, sums.data());
  const uint16_t *place = placesOf(form, WarpOperand::C, form.n).data();
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned i = 0; i < elementsD(form); ++i) {
      double sum = sums[*place++];
      if (form.accumulator == WarpAccumulator::S32)
        d[i * 32 + lane] = integerResult(form, c[i * 32 + lane], int64_t(sum));
      else
        setResult(form.accumulator, d, lane, i,
                  addendAt(addend, c, lane, i) + sum);
    }
}

/// 1-bit operands, 32 to a register.
static void multiplyBits(const WarpMmaForm &form, const uint32_t *a,
                         const uint32_t *b, const uint32_t *c, uint32_t *d) {
  constexpr unsigned kMostK = 256;
  std::bitset<kMostK> left[16], right[16];
  auto spread = [&](WarpOperand operand, const uint32_t *registers,
                    unsigned rows, std::bitset<kMostK> *out) {
    for (unsigned lane = 0; lane < 32; ++lane)
      for (unsigned i = 0; i < rows * form.k / 32; ++i) {
        FragmentPlace p = placeOf(form, operand, lane, i);
        out[p.row][p.column] = registers[i / 32 * 32 + lane] >> i % 32 & 1;
      }
  };
  spread(WarpOperand::A, a, form.m, left);
  spread(WarpOperand::B, b, form.n, right);
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned i = 0; i < elementsD(form); ++i) {
      FragmentPlace p = placeOf(form, WarpOperand::C, lane, i);
      const auto &x = left[p.row], &y = right[p.column];
      size_t ones = (form.bits == BitOperation::And ? x & y : x ^ y).count();
      d[i * 32 + lane] = integerResult(form, c[i * 32 + lane], int64_t(ones));
    }
}

static double doubleAt(const uint32_t *words, unsigned lane, unsigned i) {
  uint64_t bits =
      uint64_t(words[(2 * i + 1) * 32 + lane]) << 32 | words[2 * i * 32 + lane];
  double value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

/// f64: each product is added as by fma, in order of K.
static void multiplyDoubles(const WarpMmaForm &form, const uint32_t *a,
                            const uint32_t *b, const uint32_t *c, uint32_t *d) {
  double left[16 * 16], right[8 * 16];
  auto spread = [&](WarpOperand operand, const uint32_t *words, unsigned rows,
                    double *out) {
    for (unsigned lane = 0; lane < 32; ++lane)
      for (unsigned i = 0; i < rows * form.k / 32; ++i) {
        FragmentPlace p = placeOf(form, operand, lane, i);
        out[p.row * form.k + p.column] = doubleAt(words, lane, i);
      }
  };
  spread(WarpOperand::A, a, form.m, left);
  spread(WarpOperand::B, b, form.n, right);
  HostRounding host(form.rounding == Rounding::RZ   ? FE_TOWARDZERO
                    : form.rounding == Rounding::RM ? FE_DOWNWARD
                    : form.rounding == Rounding::RP ? FE_UPWARD
                                                    : FE_TONEAREST);
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned i = 0; i < elementsD(form); ++i) {
      FragmentPlace p = placeOf(form, WarpOperand::C, lane, i);
      volatile double sum = doubleAt(c, lane, i);
      for (unsigned k = 0; k < form.k; ++k) {
        volatile double x = left[p.row * form.k + k],
                        y = right[p.column * form.k + k];
        sum = std::fma(x, y, sum);
      }
      double value = sum;
      uint64_t bits;
      std::memcpy(&bits, &value, sizeof bits);
      d[2 * i * 32 + lane] = uint32_t(bits);
      d[(2 * i + 1) * 32 + lane] = uint32_t(bits >> 32);
    }
}

/// Four products of 8x8x4, each of the lanes 4q to 4q+3 and those 16 beyond.
static void multiplyQuadPairs(const WarpMmaForm &form, const uint32_t *a,
                              const uint32_t *b, const uint32_t *c,
                              uint32_t *d) {
  WarpAccumulator addend = form.addend.value_or(form.accumulator);
  auto wide = [](WarpAccumulator type) { return type == WarpAccumulator::F32; };
  auto eachLane = [](unsigned quad, auto &&visit) {
    for (unsigned t = 0; t < 8; ++t)
      visit(4 * quad + t % 4 + t / 4 * 16);
  };
  for (unsigned quad = 0; quad < 4; ++quad) {
    double left[8][4], right[8][4], sums[8][8];
    eachLane(quad, [&](unsigned lane) {
      for (unsigned i = 0; i < 4; ++i) {
        FragmentPlace p = quadPlaceOf(form, WarpOperand::A, false, lane, i);
        FragmentPlace q = quadPlaceOf(form, WarpOperand::B, false, lane, i);
        left[p.row][p.column] =
            decode(form.a, codeAt(form, form.a, a, lane, i));
        right[q.row][q.column] =
            decode(form.b, codeAt(form, form.b, b, lane, i));
      }
      for (unsigned i = 0; i < 8; ++i) {
        FragmentPlace p =
            quadPlaceOf(form, WarpOperand::C, wide(addend), lane, i);
        sums[p.row][p.column] = addendAt(addend, c, lane, i);
      }
    });
    for (unsigned m = 0; m < 8; ++m)
      for (unsigned n = 0; n < 8; ++n) {
        double sum = 0;
        for (unsigned k = 0; k < 4; ++k)
          sum += left[m][k] * right[n][k];
        sums[m][n] += sum;
      }
    eachLane(quad, [&](unsigned lane) {
      for (unsigned i = 0; i < 8; ++i) {
        FragmentPlace p =
            quadPlaceOf(form, WarpOperand::C, wide(form.accumulator), lane, i);
        setResult(form.accumulator, d, lane, i, sums[p.row][p.column]);
      }
    });
  }
}

/// The forms whose elements are numbers of at most 32 bits.
static Reason multiply(const WarpMmaForm &form, const uint32_t *a,
                       const uint32_t *b, const uint32_t *c,
                       const uint32_t *metadata, WarpScale scaleA,
                       WarpScale scaleB, uint32_t *d,
                       OpenPointSet &openPoints) {
  Numbers numbers;
  if (form.sparse) {
    std::array<double, 16 * 64> stored;
    gather(form, WarpOperand::A, a, form.k / 2, stored.data());
    if (auto reason = expandSparse(form, metadata, stored.data(),
                                   numbers.a.data(), openPoints))
      return reason;
  } else {
    gather(form, WarpOperand::A, a, form.k, numbers.a.data());
  }
  gather(form, WarpOperand::B, b, form.k, numbers.b.data());
  if (form.scaleVec) {
    if (auto reason = applyScales(form, scaleA, true, numbers.a.data()))
      return reason;
    if (auto reason = applyScales(form, scaleB, false, numbers.b.data()))
      return reason;
  }
  multiplyNumbers(form, numbers, c, d);
  return std::nullopt;
}

Reason warpMma(const WarpMmaForm &form, const uint32_t *a, const uint32_t *b,
               const uint32_t *c, const uint32_t *metadata, WarpScale scaleA,
               WarpScale scaleB, uint32_t *d, OpenPointSet &openPoints) {
  if (auto reason = whyNot(form))
    return reason;
  if (form.sparse && !metadata)
    return std::string("sparse form without metadata");
  if (form.scaleVec) {
    if (auto reason = checkIds(form, scaleA, true))
      return reason;
    if (auto reason = checkIds(form, scaleB, false))
      return reason;
  }
  uint32_t result[kFragmentWords * 32];
  unsigned words = form.registersD();
  if (form.a == Element::F64) {
    words *= 2;
    multiplyDoubles(form, a, b, c, result);
  } else if (form.a == Element::B1) {
    multiplyBits(form, a, b, c, result);
  } else if (form.isQuadPairs()) {
    multiplyQuadPairs(form, a, b, c, result);
  } else if (auto reason = multiply(form, a, b, c, metadata, scaleA, scaleB,
                                    result, openPoints)) {
    return reason;
  }
  std::copy(result, result + words * 32, d);
  return std::nullopt;
}

} // namespace blockscale::emulator
