//===- MatrixValues.h - numbers and codes of matrix operands ----*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Small integers, which all types hold exactly, and their codes, made from the
// definitions of the formats and not by the emulator's conversions.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_UNITTESTS_EMULATOR_MATRIXVALUES_H
#define BLOCKSCALE_UNITTESTS_EMULATOR_MATRIXVALUES_H

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace blockscale::emulator::test {

/// A matrix of integers by row and column.
struct Matrix {
  unsigned rows = 0, columns = 0;
  std::vector<int> values;

  Matrix(unsigned rows, unsigned columns)
      : rows(rows), columns(columns), values(size_t(rows) * columns) {}
  int &at(unsigned row, unsigned column) {
    return values[size_t(row) * columns + column];
  }
  int at(unsigned row, unsigned column) const {
    return values[size_t(row) * columns + column];
  }
};

inline unsigned bitsOf(const std::string &type) {
  if (type == "b1")
    return 1;
  if (type == "s4" || type == "u4")
    return 4;
  if (type == "f16" || type == "bf16")
    return 16;
  if (type == "f32" || type == "tf32" || type == "s32")
    return 32;
  return type == "f64" ? 64 : 8;
}

/// A floating-point code of an integer that the mantissa holds.
inline uint32_t floatCode(int value, unsigned mantissa, unsigned exponentBits) {
  if (value == 0)
    return 0;
  unsigned magnitude = unsigned(std::abs(value)), exponent = 0;
  while (magnitude >> (exponent + 1))
    ++exponent;
  unsigned bias = (1u << (exponentBits - 1)) - 1;
  uint32_t fraction = (magnitude ^ 1u << exponent) << mantissa >> exponent;
  return uint32_t(value < 0) << (mantissa + exponentBits) |
         (exponent + bias) << mantissa | fraction;
}

inline uint64_t codeOf(const std::string &type, int value) {
  if (type == "f16")
    return floatCode(value, 10, 5);
  if (type == "bf16")
    return floatCode(value, 7, 8);
  if (type == "f32" || type == "tf32")
    return floatCode(value, 23, 8);
  if (type == "e4m3")
    return floatCode(value, 3, 4);
  if (type == "e5m2")
    return floatCode(value, 2, 5);
  if (type == "f64") {
    double number = value;
    uint64_t bits;
    std::memcpy(&bits, &number, sizeof bits);
    return bits;
  }
  unsigned bits = bitsOf(type);
  return uint32_t(value) & (bits == 32 ? ~0u : (1u << bits) - 1);
}

/// Numbers that look random, the same in each run.
class Numbers {
public:
  explicit Numbers(uint32_t seed) : state(seed * 2654435761u + 12345) {}
  unsigned below(unsigned limit) {
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % limit;
  }
  /// One that `type` holds.
  int of(const std::string &type) {
    if (type == "b1")
      return int(below(2));
    if (type == "s4")
      return int(below(16)) - 8;
    if (type == "u4")
      return int(below(16));
    if (type == "s8")
      return int(below(256)) - 128;
    if (type == "u8")
      return int(below(256));
    if (type == "s32" || type == "f32")
      return int(below(2001)) - 1000;
    return int(below(9)) - 4;
  }
  void fill(Matrix &matrix, const std::string &type) {
    for (int &value : matrix.values)
      value = of(type);
  }

private:
  uint32_t state;
};

/// Sets `bits` bits of a row of bytes.
inline void putBits(std::vector<uint8_t> &bytes, uint64_t bit, unsigned bits,
                    uint64_t code) {
  for (unsigned i = 0; i != bits; ++i)
    if (code >> i & 1)
      bytes[(bit + i) / 8] |= uint8_t(1u << (bit + i) % 8);
}

} // namespace blockscale::emulator::test

#endif // BLOCKSCALE_UNITTESTS_EMULATOR_MATRIXVALUES_H
