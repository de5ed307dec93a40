//===- Format.h - element and scale formats with their codecs ---*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The number formats that block-scaled matrix instructions read, as data, and
// bit-exact conversions between them and binary32. The rules are those of the
// PTX `cvt` family and of the OCP MX 1.0 and OFP8 documents; docs name the
// places where they differ.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_FORMATS_FORMAT_H
#define BLOCKSCALE_FORMATS_FORMAT_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace blockscale {

/// Formats are named as PTX names them: `E4M3` is the "fn" kind (largest 448,
/// no infinity), unlike the spelling `e4m3` of a scale spec (see NumberSpec.h).
enum class ElementFormat : uint8_t {
  E2M1,
  E2M3,
  E3M2,
  E4M3,
  E5M2,
  UE8M0,
  UE4M3,
  INT8,
  INT4,
  BF16,
  F16,
  UE5M3
};

inline constexpr unsigned kNumElementFormats = 12;

/// Which codes are not finite numbers.
enum class SpecialCodes : uint8_t {
  /// Every code is a finite number (fp4, fp6, integers).
  None,
  /// Only the code with all bits set (sign apart) is special: it is NaN.
  AllOnesNaN,
  /// The top exponent holds infinities and NaNs, as in IEEE 754.
  Ieee
};

/// One row of facts about a format.
struct FormatInfo {
  ElementFormat format;
  /// PTX spelling: `e2m1`, `ue8m0`, `bf16`.
  std::string_view name;
  /// Spelling of the MLIR builtin type; empty where there is none.
  std::string_view mlirType;
  /// Bits of a code that carry information: 4, 6, 7 (ue4m3), 8 or 16.
  unsigned bits;
  /// Bits a code takes in packed memory: `bits`, except 8 for ue4m3.
  unsigned storageBits;
  /// 0 for integers.
  unsigned exponentBits;
  /// Fraction bits; for the MX integers, those behind the binary point (int8
  /// counts in 1/64, int4 in 1/4).
  unsigned mantissaBits;
  int bias;
  bool isSigned;
  SpecialCodes specials;
  /// Exponent of the largest finite value, as in the MX scale rules.
  int emax;
  uint32_t largestCode;
  float largest;
  /// What a NaN becomes. Formats without one turn it into the largest value
  /// (fp4, fp6) or into zero (integers).
  uint32_t nanCode;

  constexpr bool isInteger() const { return exponentBits == 0; }
  /// A power of two per code and nothing else: ue8m0.
  constexpr bool isExponentOnly() const {
    return exponentBits != 0 && mantissaBits == 0;
  }
  constexpr bool hasNaN() const { return specials != SpecialCodes::None; }
  constexpr bool hasInfinity() const { return specials == SpecialCodes::Ieee; }
  /// Bits of a code that `decode` looks at.
  constexpr uint32_t codeMask() const { return (uint32_t(1) << bits) - 1; }
};

/// All formats, in the order of the enum. Sources: OCP MX 1.0 section 5.3, OCP
/// OFP8 1.0 table 1, PTX ISA "alternate floating-point data formats"; ue5m3:
/// the host code of the CUDA 13.5 headers (docs/sources.md, [ue5m3]).
inline constexpr std::array<FormatInfo, kNumElementFormats> kFormats{{
    {ElementFormat::E2M1, "e2m1", "f4E2M1FN", 4, 4, 2, 1, 1, true,
     SpecialCodes::None, 2, 0x7, 6.0f, 0x7},
    {ElementFormat::E2M3, "e2m3", "f6E2M3FN", 6, 6, 2, 3, 1, true,
     SpecialCodes::None, 2, 0x1f, 7.5f, 0x1f},
    {ElementFormat::E3M2, "e3m2", "f6E3M2FN", 6, 6, 3, 2, 3, true,
     SpecialCodes::None, 4, 0x1f, 28.0f, 0x1f},
    {ElementFormat::E4M3, "e4m3", "f8E4M3FN", 8, 8, 4, 3, 7, true,
     SpecialCodes::AllOnesNaN, 8, 0x7e, 448.0f, 0x7f},
    {ElementFormat::E5M2, "e5m2", "f8E5M2", 8, 8, 5, 2, 15, true,
     SpecialCodes::Ieee, 15, 0x7b, 57344.0f, 0x7f},
    {ElementFormat::UE8M0, "ue8m0", "f8E8M0FNU", 8, 8, 8, 0, 127, false,
     SpecialCodes::AllOnesNaN, 127, 0xfe, 0x1p127f, 0xff},
    {ElementFormat::UE4M3, "ue4m3", "", 7, 8, 4, 3, 7, false,
     SpecialCodes::AllOnesNaN, 8, 0x7e, 448.0f, 0x7f},
    {ElementFormat::INT8, "int8", "i8", 8, 8, 0, 6, 0, true, SpecialCodes::None,
     0, 0x7f, 1.984375f, 0x00},
    {ElementFormat::INT4, "int4", "i4", 4, 4, 0, 2, 0, true, SpecialCodes::None,
     0, 0x7, 1.75f, 0x0},
    {ElementFormat::BF16, "bf16", "bf16", 16, 16, 8, 7, 127, true,
     SpecialCodes::Ieee, 127, 0x7f7f, 0x1.fep127f, 0x7fff},
    {ElementFormat::F16, "f16", "f16", 16, 16, 5, 10, 15, true,
     SpecialCodes::Ieee, 15, 0x7bff, 65504.0f, 0x7fff},
    {ElementFormat::UE5M3, "ue5m3", "", 8, 8, 5, 3, 15, false,
     SpecialCodes::AllOnesNaN, 16, 0xfe, 114688.0f, 0xff},
}};

constexpr const FormatInfo &formatInfo(ElementFormat format) {
  return kFormats[static_cast<unsigned>(format)];
}

/// The format's PTX spelling.
constexpr std::string_view formatName(ElementFormat format) {
  return formatInfo(format).name;
}

/// Reads a PTX, OCP or MLIR type name, in any case: `e4m3`, `e4m3fn`,
/// `f8E4M3FN`, `ue8m0`, `e8m0`, `bf16`, ... Number specs with meanings of their
/// own (`e4m3` as IEEE) are the business of parseNumberSpec.
std::optional<ElementFormat> parseFormat(std::string_view name);

/// Direction of rounding. Formats without a sign see the magnitude only, so
/// there TowardPositive is "away from zero".
enum class Rounding : uint8_t { NearestEven, TowardZero, TowardPositive };

/// What becomes of values above the largest finite one.
enum class Saturation : uint8_t {
  /// PTX `.satfinite`: finite values and infinities become the largest value.
  Finite,
  /// They become infinity, or NaN where there is none. Formats without special
  /// codes saturate all the same.
  None
};

/// Converts to the nearest code under `rounding`; the code stands in the low
/// `bits` bits. Agrees with PTX `cvt` where PTX has the form:
/// - NaN gives `nanCode` without a sign;
/// - the sign of zero and of underflown values is kept;
/// - ue8m0, ue4m3 and ue5m3 take the magnitude; ue8m0 has no zero and gives
/// 0x00, that
///   is 2^-127, for everything not above it;
/// - the integers clamp to +-127 and +-7: the most negative code is not made.
uint32_t encode(ElementFormat format, float value,
                Rounding rounding = Rounding::NearestEven,
                Saturation saturation = Saturation::Finite);

/// The exact value of a code; bits above `bits` are ignored. NaN codes give the
/// quiet NaN 0x7fc00000.
float decode(ElementFormat format, uint32_t code);

/// The values of all bytes, bits above `bits` ignored, for a format of at most
/// 8 bits. All entries are NaN for the 16-bit formats, which have no such
/// table. The reference stays valid for ever.
const std::array<float, 256> &decodeTable(ElementFormat format);

/// Bytes that `count` packed elements take: ceil(count * storageBits / 8).
size_t packedBytes(ElementFormat format, size_t count);

/// Packs one code per byte into memory order: two 4-bit codes per byte, the
/// first in the low nibble; 6-bit codes as a little-endian bit stream (16 in 12
/// bytes); 8-bit codes as they are. Unused bits of the last byte become 0.
/// Writes packedBytes(format, count) bytes. False, and nothing written, for a
/// format wider than 8 bits.
bool packElements(ElementFormat format, const uint8_t *codes, size_t count,
                  uint8_t *packed);

/// The inverse of packElements: writes `count` bytes, upper bits zero.
bool unpackElements(ElementFormat format, const uint8_t *packed, size_t count,
                    uint8_t *codes);

} // namespace blockscale

#endif // BLOCKSCALE_FORMATS_FORMAT_H
