//===- Float.h - rounding to the narrow formats, bit for bit ----*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sums are formed in double with the last bit made odd when they are inexact;
// 53 bits are more than twice 24 plus 2, so that a second rounding to f32, f16
// or bf16 gives what one rounding would have given, in every direction.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_INSTRUCTIONS_FLOAT_H
#define BLOCKSCALE_LIB_EMULATOR_INSTRUCTIONS_FLOAT_H

#include "blockscale/Emulator/Ptx.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace blockscale::emulator::machine {

enum class Round : uint8_t { Nearest, Zero, Down, Up, Away };

template <typename To, typename From> inline To bitsAs(From from) {
  static_assert(sizeof(To) == sizeof(From), "same size");
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

/// a + b in double, rounded to odd.
inline double addOdd(double a, double b) {
  double sum = a + b;
  if (!std::isfinite(sum) || !std::isfinite(a) || !std::isfinite(b))
    return sum;
  double bv = sum - a;
  double error = (a - (sum - bv)) + (b - bv);
  if (error == 0)
    return sum;
  auto bits = bitsAs<uint64_t>(sum);
  if (!(bits & 1))
    bits += (error > 0) == (sum > 0) ? 1 : -1;
  return bitsAs<double>(bits);
}

/// Rounds to a binary format with `mantissa` stored bits, smallest normal
/// exponent `emin` and largest exponent `emax`. The result is still a double.
inline double roundTo(double value, int mantissa, int emin, int emax,
                      Round mode) {
  if (!std::isfinite(value) || value == 0)
    return value;
  int exponent = std::ilogb(value);
  int quantum = std::max(exponent, emin) - mantissa;
  double scaled = std::ldexp(std::fabs(value), -quantum);
  double whole = std::floor(scaled), rest = scaled - whole;
  bool negative = std::signbit(value);
  bool up = false;
  switch (mode) {
  case Round::Nearest:
    up = rest > 0.5 || (rest == 0.5 && std::fmod(whole, 2) != 0);
    break;
  case Round::Away:
    up = rest >= 0.5;
    break;
  case Round::Zero:
    break;
  case Round::Down:
    up = negative && rest > 0;
    break;
  case Round::Up:
    up = !negative && rest > 0;
    break;
  }
  double result = std::ldexp(whole + up, quantum);
  double largest = std::ldexp(2.0 - std::ldexp(1.0, -mantissa), emax);
  if (result > largest) {
    bool toInfinity = mode == Round::Nearest || mode == Round::Away ||
                      (mode == Round::Down && negative) ||
                      (mode == Round::Up && !negative);
    result = toInfinity ? std::numeric_limits<double>::infinity() : largest;
  }
  return negative ? -result : result;
}

inline float toF32(double value, Round mode) {
  return mode == Round::Nearest ? float(value)
                                : float(roundTo(value, 23, -126, 127, mode));
}

inline float flush(float value) {
  return std::fabs(value) < 0x1p-126f ? std::copysign(0.0f, value) : value;
}

inline double fromHalf(uint16_t bits, bool bf16) {
  if (bf16)
    return bitsAs<float>(uint32_t(bits) << 16);
  int exponent = bits >> 10 & 31, fraction = bits & 1023;
  double value = exponent == 31  ? (fraction ? NAN : INFINITY)
                 : exponent == 0 ? std::ldexp(fraction, -24)
                                 : std::ldexp(1024 + fraction, exponent - 25);
  return bits & 0x8000 ? -value : value;
}

/// NaN becomes 0x7FFF.
inline uint16_t toHalf(double value, bool bf16, Round mode) {
  if (std::isnan(value))
    return 0x7FFF;
  if (bf16)
    return uint16_t(
        bitsAs<uint32_t>(float(roundTo(value, 7, -126, 127, mode))) >> 16);
  double rounded = roundTo(value, 10, -14, 15, mode);
  uint16_t sign = std::signbit(rounded) ? 0x8000 : 0;
  double magnitude = std::fabs(rounded);
  if (std::isinf(magnitude))
    return sign | 0x7C00;
  if (magnitude < 0x1p-14)
    return sign | uint16_t(std::ldexp(magnitude, 24));
  int exponent = std::ilogb(magnitude);
  auto fraction = uint16_t(std::ldexp(magnitude, 10 - exponent)) & 1023;
  return uint16_t(sign | (exponent + 15) << 10 | fraction);
}

/// PTX's canonical NaN of f32.
inline float canonical(float value) {
  return std::isnan(value) ? bitsAs<float>(0x7FFFFFFFu) : value;
}

/// The rounding modifier of an instruction, to nearest if there is none.
Round roundingOf(const Instruction &instruction);

/// Double arithmetic in a direction other than to nearest.
double addDirected(double a, double b, Round mode);
double mulDirected(double a, double b, Round mode);
double fmaDirected(double a, double b, double c, Round mode);
double divDirected(double a, double b, Round mode);
double sqrtDirected(double a, Round mode);

} // namespace blockscale::emulator::machine

#endif // BLOCKSCALE_LIB_EMULATOR_INSTRUCTIONS_FLOAT_H
