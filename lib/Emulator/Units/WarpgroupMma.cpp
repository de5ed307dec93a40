//===- WarpgroupMma.cpp - the part of a warp in wgmma.mma_async -----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WarpgroupMma.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <vector>

namespace blockscale::emulator {

using Reason = std::optional<std::string>;

static constexpr unsigned kRows = 16;     ///< of a warp
static constexpr unsigned kPiece = 16;    ///< bytes that lie together
static constexpr unsigned kRowBytes = 32; ///< of what is stored of A

//===----------------------------------------------------------------------===//
// Which forms exist
//===----------------------------------------------------------------------===//

static bool isByteInteger(Element type) {
  return type == Element::S8 || type == Element::U8;
}

/// K of a dense product.
static unsigned denseK(Element type) { return kRowBytes * 8 / bitWidth(type); }

static Reason whyNotTypes(const WarpMmaForm &p) {
  bool fp8 = (p.a == Element::E4M3 || p.a == Element::E5M2) &&
             (p.b == Element::E4M3 || p.b == Element::E5M2);
  bool integers = isByteInteger(p.a) && isByteInteger(p.b);
  bool equal = p.a == p.b && (p.a == Element::F16 || p.a == Element::BF16 ||
                              p.a == Element::TF32 || p.a == Element::B1);
  if (!fp8 && !integers && !equal)
    return std::string("operand types '") + name(p.a) + "' and '" + name(p.b) +
           "' do not go together";
  WarpAccumulator d = p.accumulator;
  bool whole = integers || p.a == Element::B1;
  bool right =
      whole ? d == WarpAccumulator::S32
            : d == WarpAccumulator::F32 ||
                  (d == WarpAccumulator::F16 && (fp8 || p.a == Element::F16));
  return right ? std::nullopt
               : Reason("accumulator type does not go with the operands");
}

static Reason whyNotShape(const WarpMmaForm &p) {
  unsigned k = denseK(p.a) * (p.sparse ? 2 : 1);
  if (p.k != k || (p.sparse && p.a == Element::B1))
    return "K=" + std::to_string(p.k) + " does not exist for '" + name(p.a) +
           (p.sparse ? "' with sparsity" : "'") + ", expected " +
           std::to_string(k);
  // Integers have the multiples of 16, and 8 and 24.
  bool whole = isByteInteger(p.a) || p.a == Element::B1;
  if (p.n % 8 || p.n < 8 || p.n > 256 || (whole && p.n % 16 && p.n > 24))
    return "N=" + std::to_string(p.n) + " does not exist for '" + name(p.a) +
           "'";
  return std::nullopt;
}

Reason whyNot(const WarpgroupForm &form) {
  const WarpMmaForm &p = form.product;
  if (auto reason = whyNotTypes(p))
    return reason;
  if (auto reason = whyNotShape(p))
    return reason;
  bool half = p.a == Element::F16 || p.a == Element::BF16;
  if ((form.transposeA || form.transposeB) && !half)
    return std::string("only 16-bit operands can be transposed");
  if (form.transposeA && form.aInRegisters)
    return std::string("A in registers cannot be transposed");
  unsigned most = bitWidth(p.a) >= 16 ? 1 : 0;
  if (p.sparse && p.selector > most)
    return "sparsity selector " + std::to_string(p.selector) +
           " is not in 0.." + std::to_string(most);
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Matrices in shared memory
//===----------------------------------------------------------------------===//

SharedDescriptor decodeWarpgroupDescriptor(uint64_t bits) {
  auto field = [&](unsigned offset, unsigned width) {
    return uint32_t(bits >> offset & ((uint64_t(1) << width) - 1));
  };
  // None, 128, 64 and 32 bytes.
  constexpr uint32_t kCodes[] = {0, 2, 4, 6};
  SharedDescriptor result;
  result.bits = bits;
  result.start = field(0, 14) << 4;
  result.leading = field(16, 14) << 4;
  result.stride = field(32, 14) << 4;
  result.baseOffset = field(49, 3);
  result.swizzleCode = kCodes[field(62, 2)];
  return result;
}

namespace {

/// A matrix: rows of A or columns of B, `bytes` along K each.
struct Operand {
  SharedDescriptor descriptor;
  unsigned firstRow, rows, bytes;
  bool transposed;

  /// Visits each piece with its address, and the row and byte that it holds
  /// first: bytes along K, or, transposed, elements along the rows.
  template <typename F> void forPieces(F &&visit) const {
    if (!transposed) {
      for (unsigned row = 0; row != rows; ++row)
        for (unsigned byte = 0; byte != bytes; byte += kPiece)
          visit(addressKMajor(descriptor, firstRow + row, byte), row, byte);
      return;
    }
    constexpr unsigned kElements = kPiece / 2;
    for (unsigned k = 0; k != bytes / 2; ++k)
      for (unsigned row = 0; row < rows; row += kElements)
        visit(addressMNMajor(descriptor, (firstRow + row) * 2, k), row, 2 * k);
  }
};

} // namespace

static Operand operandA(const WarpgroupForm &form,
                        const WarpgroupOperands &operands) {
  return {decodeWarpgroupDescriptor(operands.a), operands.warp * kRows, kRows,
          kRowBytes, form.transposeA};
}

static Operand operandB(const WarpgroupForm &form,
                        const WarpgroupOperands &operands) {
  const WarpMmaForm &p = form.product;
  return {decodeWarpgroupDescriptor(operands.b), 0, p.n,
          p.k * bitWidth(p.b) / 8, form.transposeB};
}

void forWarpgroupPieces(const WarpgroupForm &form,
                        const WarpgroupOperands &operands,
                        const std::function<void(uint32_t, uint32_t)> &visit) {
  auto tell = [&](uint32_t address, unsigned, unsigned) {
    visit(address, kPiece);
  };
  if (!form.aInRegisters)
    operandA(form, operands).forPieces(tell);
  operandB(form, operands).forPieces(tell);
}

/// The bits that hold nothing must be zero.
static Reason whyNotDescriptor(uint64_t bits, char letter) {
  constexpr uint64_t kFields = 0x3FFF | uint64_t(0x3FFF) << 16 |
                               uint64_t(0x3FFF) << 32 | uint64_t(7) << 49 |
                               uint64_t(3) << 62;
  if ((bits & ~kFields) == 0)
    return std::nullopt;
  return std::string("the descriptor of ") + letter +
         " has bits set outside of its fields (0-13, 16-29, 32-45, 49-51, "
         "62-63)";
}

/// Reads an operand into rows of bytes along K.
static std::optional<WarpgroupIssue> read(const Operand &operand, char letter,
                                          const WarpgroupMemory &memory,
                                          std::vector<uint8_t> &out) {
  if (auto reason = whyNotDescriptor(operand.descriptor.bits, letter))
    return WarpgroupIssue{WarpgroupIssue::Descriptor, *reason};
  out.resize(size_t(operand.rows) * operand.bytes);
  std::optional<WarpgroupIssue> issue;
  operand.forPieces([&](uint32_t address, unsigned row, unsigned byte) {
    if (issue)
      return;
    uint32_t at = address - memory.base;
    if (address < memory.base || at + kPiece > memory.size) {
      issue = WarpgroupIssue{WarpgroupIssue::OutOfRange,
                             std::string("matrix ") + letter +
                                 " lies outside the shared memory of the CTA",
                             address};
      return;
    }
    if (std::memchr(memory.valid + at, 0, kPiece))
      issue = WarpgroupIssue{WarpgroupIssue::Uninitialised,
                             std::string("matrix ") + letter +
                                 " has shared memory that was never written",
                             address};
    const uint8_t *piece = memory.data + at;
    if (!operand.transposed) {
      std::memcpy(&out[size_t(row) * operand.bytes + byte], piece, kPiece);
      return;
    }
    for (unsigned i = 0; i != kPiece / 2 && row + i < operand.rows; ++i)
      std::memcpy(&out[size_t(row + i) * operand.bytes + byte], piece + 2 * i,
                  2);
  });
  return issue;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// The values of all codes of a type of at most 16 bits.
static const std::vector<float> &valuesOf(Element type) {
  constexpr size_t kTypes = size_t(Element::F64) + 1;
  static const auto tables = [] {
    std::array<std::vector<float>, kTypes> all;
    for (Element one : {Element::E4M3, Element::E5M2, Element::F16,
                        Element::BF16, Element::S8, Element::U8}) {
      std::vector<float> &table = all[size_t(one)];
      table.resize(size_t(1) << bitWidth(one));
      for (size_t code = 0; code != table.size(); ++code)
        table[code] = decode(one, uint32_t(code));
    }
    return all;
  }();
  return tables[size_t(type)];
}

static float valueAt(Element type, const uint8_t *row, unsigned i) {
  switch (bitWidth(type)) {
  case 8:
    return valuesOf(type)[row[i]];
  case 16: {
    uint16_t code;
    std::memcpy(&code, row + 2 * i, 2);
    return valuesOf(type)[code];
  }
  default: {
    uint32_t code;
    std::memcpy(&code, row + 4 * i, 4);
    return decode(type, code);
  }
  }
}

/// A in registers as rows of bytes, as it would be in shared memory.
static void gatherA(const WarpMmaForm &p, const uint32_t *registers,
                    std::vector<uint8_t> &out) {
  unsigned bits = bitWidth(p.a), per = 32 / bits;
  out.assign(kRows * kRowBytes, 0);
  for (unsigned lane = 0; lane != 32; ++lane)
    for (unsigned r = 0; r != 4; ++r) {
      FragmentPlace at = placeOf(p, WarpOperand::A, lane, r * per);
      std::memcpy(&out[at.row * kRowBytes + at.column * bits / 8],
                  &registers[r * 32 + lane], 4);
    }
}

namespace {

struct Sums {
  const WarpMmaForm &p;
  uint32_t *d;
  bool addToD;

  /// Rounds the sums of a row-major matrix into the accumulators.
  template <typename T> void put(const T *sums) const {
    for (unsigned lane = 0; lane != 32; ++lane)
      for (unsigned i = 0; i != kRows * p.n / 32; ++i) {
        FragmentPlace at = placeOf(p, WarpOperand::C, lane, i);
        add(lane, i, sums[at.row * p.n + at.column]);
      }
  }

private:
  void add(unsigned lane, unsigned i, double sum) const {
    switch (p.accumulator) {
    case WarpAccumulator::F16: {
      uint32_t &word = d[i / 2 * 32 + lane];
      unsigned shift = i % 2 * 16;
      double old = addToD ? decode(Element::F16, word >> shift & 0xffff) : 0;
      word = (word & ~(0xffffu << shift)) |
             encode(Element::F16, float(old + sum), ConvertMode{}) << shift;
      return;
    }
    case WarpAccumulator::S32: {
      uint32_t &word = d[i * 32 + lane];
      int64_t value = (addToD ? int64_t(int32_t(word)) : 0) + int64_t(sum);
      if (p.satfinite)
        value =
            std::min<int64_t>(std::max<int64_t>(value, INT32_MIN), INT32_MAX);
      word = uint32_t(value);
      return;
    }
    default: {
      uint32_t &word = d[i * 32 + lane];
      double old = addToD ? decode(Element::F32, word) : 0;
      word = std::isnan(old + sum)
                 ? 0x7FFFFFFF
                 : encode(Element::F32, float(old + sum), ConvertMode{});
    }
    }
  }
};

} // namespace

/// Ones of the conjunction of each row of A with each column of B.
static void multiplyBits(const Sums &sums, const std::vector<uint8_t> &a,
                         const std::vector<uint8_t> &b) {
  unsigned n = sums.p.n;
  std::vector<double> counts(kRows * n);
  for (unsigned m = 0; m != kRows; ++m)
    for (unsigned column = 0; column != n; ++column)
      for (unsigned i = 0; i != kRowBytes; ++i)
        counts[m * n + column] += __builtin_popcount(a[m * kRowBytes + i] &
                                                     b[column * kRowBytes + i]);
  sums.put(counts.data());
}

/// Numbers of A, sparse rows expanded.
static Reason numbersOfA(const WarpgroupForm &form,
                         const std::vector<uint8_t> &bytes,
                         const uint32_t *metadata, std::vector<double> &out,
                         OpenPointSet &openPoints) {
  const WarpMmaForm &p = form.product;
  unsigned stored = p.sparse ? p.k / 2 : p.k;
  std::vector<double> values(kRows * stored);
  for (unsigned m = 0; m != kRows; ++m)
    for (unsigned i = 0; i != stored; ++i) {
      double value = valueAt(p.a, &bytes[m * kRowBytes], i);
      values[m * stored + i] = form.negateA ? -value : value;
    }
  if (!p.sparse) {
    out = std::move(values);
    return std::nullopt;
  }
  out.resize(kRows * p.k);
  return expandSparse(p, metadata, values.data(), out.data(), openPoints);
}

static void multiplyNumbers(const WarpgroupForm &form, const Sums &sums,
                            const std::vector<double> &a,
                            const std::vector<uint8_t> &b) {
  const WarpMmaForm &p = form.product;
  unsigned rowBytes = p.k * bitWidth(p.b) / 8;
  // B by rows of K, so that a row of sums grows at once.
  std::vector<double> right(size_t(p.k) * p.n), result(size_t(kRows) * p.n);
  for (unsigned n = 0; n != p.n; ++n)
    for (unsigned k = 0; k != p.k; ++k) {
      double value = valueAt(p.b, &b[size_t(n) * rowBytes], k);
      right[size_t(k) * p.n + n] = form.negateB ? -value : value;
    }
  for (unsigned m = 0; m != kRows; ++m) {
    double *row = &result[size_t(m) * p.n];
    for (unsigned k = 0; k != p.k; ++k) {
      double factor = a[m * p.k + k];
      const double *from = &right[size_t(k) * p.n];
      for (unsigned n = 0; n != p.n; ++n)
        row[n] += factor * from[n];
    }
  }
  sums.put(result.data());
}

std::optional<WarpgroupIssue>
multiplyWarpgroup(const WarpgroupForm &form, const WarpgroupOperands &operands,
                  const WarpgroupMemory &memory, const uint32_t *a,
                  const uint32_t *metadata, uint32_t *d, bool addToD,
                  OpenPointSet &openPoints) {
  const WarpMmaForm &p = form.product;
  std::vector<uint8_t> left, right;
  if (form.aInRegisters)
    gatherA(p, a, left);
  else if (auto issue = read(operandA(form, operands), 'A', memory, left))
    return issue;
  if (auto issue = read(operandB(form, operands), 'B', memory, right))
    return issue;
  Sums sums{p, d, addToD};
  if (p.a == Element::B1) {
    multiplyBits(sums, left, right);
    return std::nullopt;
  }
  std::vector<double> numbers;
  if (auto reason = numbersOfA(form, left, metadata, numbers, openPoints))
    return WarpgroupIssue{WarpgroupIssue::Metadata, *reason};
  multiplyNumbers(form, sums, numbers, right);
  return std::nullopt;
}

} // namespace blockscale::emulator
