//===- FormatTables.cpp - tables of element codes===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <cmath>
#include <cstring>

#include "Table.h"
#include "blockscale/Formats/Format.h"

namespace blockscale::explain {

using hw::hex;

static std::uint32_t bitsOf(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

static float floatOf(std::uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

namespace {
struct Decoded {
  ElementFormat format;
  float value;
};
} // namespace

static Decoded decodeColumns(Question &q, std::string_view codeColumn) {
  std::optional<ElementFormat> format = parseFormat(q.text("format"));
  if (!format) {
    q.fail("format", "'" + q.text("format") + "' is no element format");
    return {ElementFormat::E2M1, 0};
  }
  std::uint64_t max = (std::uint64_t(1) << formatInfo(*format).bits) - 1;
  std::uint64_t code = q.hexNumber(codeColumn, max);
  return {*format, decode(*format, static_cast<std::uint32_t>(code))};
}

/// The class of a value within its own format.
static std::string classOf(const Decoded &decoded) {
  const FormatInfo &info = formatInfo(decoded.format);
  if (std::isnan(decoded.value))
    return "nan";
  if (std::isinf(decoded.value))
    return "inf";
  if (decoded.value == 0)
    return "zero";
  bool subnormal = info.exponentBits != 0 && info.mantissaBits != 0 &&
                   std::fabs(decoded.value) < std::ldexp(1.0f, 1 - info.bias);
  return subnormal ? "subnormal" : "normal";
}

static RowAnswer answerDecode(Question &q) {
  Decoded decoded = decodeColumns(q, "code_hex");
  std::uint32_t bits =
      std::isnan(decoded.value) ? 0x7fc00000 : bitsOf(decoded.value);
  return std::vector<std::string>{hex(bits, 8).substr(2), classOf(decoded)};
}

static RowAnswer answerDecodeTables(Question &q) {
  Decoded decoded = decodeColumns(q, "code");
  // This form of the table writes every NaN as all ones.
  std::uint32_t bits =
      std::isnan(decoded.value) ? 0x7fffffff : bitsOf(decoded.value);
  return std::vector<std::string>{hex(bits, 8)};
}

//===----------------------------------------------------------------------===//
// Encoding
//===----------------------------------------------------------------------===//

namespace {
/// One answer column of an encoding table.
struct Conversion {
  std::string_view column;
  ElementFormat format;
  Rounding rounding;
  Saturation saturation;
};
} // namespace

using F = ElementFormat;
using R = Rounding;
using S = Saturation;

static constexpr Conversion kConversions[] = {
    {"e2m1_rn", F::E2M1, R::NearestEven, S::Finite},
    {"e2m1_rz", F::E2M1, R::TowardZero, S::Finite},
    {"e2m3_rn", F::E2M3, R::NearestEven, S::Finite},
    {"e2m3_rz", F::E2M3, R::TowardZero, S::Finite},
    {"e3m2_rn", F::E3M2, R::NearestEven, S::Finite},
    {"e3m2_rz", F::E3M2, R::TowardZero, S::Finite},
    {"e4m3_rn_sat", F::E4M3, R::NearestEven, S::Finite},
    {"e4m3_rn_nosat", F::E4M3, R::NearestEven, S::None},
    {"e5m2_rn_sat", F::E5M2, R::NearestEven, S::Finite},
    {"e5m2_rn_nosat", F::E5M2, R::NearestEven, S::None},
    {"ue8m0_rz_sat", F::UE8M0, R::TowardZero, S::Finite},
    {"ue8m0_rz_nosat", F::UE8M0, R::TowardZero, S::None},
    {"ue8m0_rp_sat", F::UE8M0, R::TowardPositive, S::Finite},
    {"ue8m0_rp_nosat", F::UE8M0, R::TowardPositive, S::None},
    {"ue4m3_rn_sat", F::UE4M3, R::NearestEven, S::Finite},
};

static constexpr Conversion kSampleConversions[] = {
    {"e2m1", F::E2M1, R::NearestEven, S::Finite},
    {"e2m3", F::E2M3, R::NearestEven, S::Finite},
    {"e3m2", F::E3M2, R::NearestEven, S::Finite},
    {"e4m3", F::E4M3, R::NearestEven, S::Finite},
    {"e5m2", F::E5M2, R::NearestEven, S::Finite},
    {"ue8m0_round_up", F::UE8M0, R::TowardPositive, S::Finite},
    {"ue8m0_round_down", F::UE8M0, R::TowardZero, S::Finite},
};

static std::uint32_t convert(const Conversion &conversion, std::uint32_t bits) {
  return encode(conversion.format, floatOf(bits), conversion.rounding,
                conversion.saturation);
}

static RowAnswer answerEncode(Question &q) {
  auto bits =
      static_cast<std::uint32_t>(q.hexNumber("f32_bits_hex", 0xffffffffu));
  std::vector<std::string> codes;
  for (const Conversion &conversion : kConversions) {
    // ue4m3 has no conversion of its own and takes no negative input.
    bool none = conversion.format == F::UE4M3 && bits >> 31;
    codes.push_back(none ? "" : hex(convert(conversion, bits), 2).substr(2));
  }
  return codes;
}

static RowAnswer answerEncodeSamples(Question &q) {
  auto bits = static_cast<std::uint32_t>(q.hexNumber("f32_bits", 0xffffffffu));
  std::vector<std::string> codes;
  for (const Conversion &conversion : kSampleConversions)
    codes.push_back(
        hex(convert(conversion, bits), conversion.format == F::E2M1 ? 1 : 2));
  return codes;
}

template <std::size_t N>
static std::vector<Column> encodeColumns(std::string_view question,
                                         const Conversion (&conversions)[N]) {
  std::vector<Column> columns{{question, false}};
  for (const Conversion &conversion : conversions)
    columns.push_back({conversion.column, true});
  return columns;
}

void addFormatTables(std::vector<Table> &tables) {
  std::vector<Column> samples = encodeColumns("f32_bits", kSampleConversions);
  std::vector<Column> decodeTables{
      {"format", false}, {"code", false}, {"f32_bits", true}};
  tables.push_back({"decode",
                    {{"format", false},
                     {"code_hex", false},
                     {"f32_bits_hex", true},
                     {"class", true}},
                    answerDecode});
  tables.push_back({"decode", decodeTables, answerDecodeTables});
  tables.push_back(
      {"encode", encodeColumns("f32_bits_hex", kConversions), answerEncode});
  tables.push_back({"encode", samples, answerEncodeSamples});
  tables.push_back({"decode_tables", decodeTables, answerDecodeTables});
  tables.push_back({"encode_samples", samples, answerEncodeSamples});
}

} // namespace blockscale::explain
