//===- Recode.cpp - codes of one format as codes of another ---------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Packing/Recode.h"

#include <array>
#include <cstdio>
#include <optional>

using namespace blockscale;
using namespace blockscale::packing;

/// Formats without a negative zero have a bias of one more than those of OCP.
static constexpr float kHalf = 0.5f;

/// Int4 counts in quarters.
static constexpr float kWhole = 4;

static constexpr Recoding kRecodings[] = {
    {"int4", ElementFormat::E2M3, 1, 1},
    {"int4", ElementFormat::E4M3, 1, 1},
    {"int4", ElementFormat::E4M3, 1, 1, /*isInteger=*/true},
    {"uint4", ElementFormat::E4M3, 1, 1, /*isInteger=*/true, /*hasZeros=*/true},
    {"int8", ElementFormat::E4M3, 2, 1},
    {"e4m3b8fnuz", ElementFormat::E4M3, 1, kHalf},
    {"e5m2b16fnuz", ElementFormat::E5M2, 1, kHalf},
};

const Recoding *packing::findRecoding(std::string_view from, ElementFormat to,
                                      bool isInteger) {
  for (const Recoding &row : kRecodings)
    if (row.from == from && row.to == to && row.isInteger == isInteger)
      return &row;
  return nullptr;
}

/// The code of exactly `value`.
static std::optional<uint8_t> codeOf(ElementFormat format, float value) {
  uint32_t code = encode(format, value);
  return decode(format, code) == value ? std::optional(uint8_t(code))
                                       : std::nullopt;
}

/// The code of a term of an element; empty if there is none.
static std::optional<uint8_t> termOf(const Recoding &recoding, uint8_t code,
                                     unsigned term) {
  if (recoding.from == "int4")
    return codeOf(recoding.to, decode(ElementFormat::INT4, code) *
                                   (recoding.isInteger ? kWhole : 1));
  if (recoding.hasZeros)
    return codeOf(recoding.to, float(int(code) - int(kDifferences / 2)));
  if (recoding.from == "int8") {
    // The low half counts up from the high one, whatever the sign.
    uint8_t half = term == 0 ? code & 0xf0 : code & 0x0f;
    return codeOf(recoding.to, decode(ElementFormat::INT8, half));
  }
  // Of a biased format: the same bits, where they are numbers in both. What is
  // a negative zero in OCP's is the NaN.
  constexpr uint8_t kNaN = 0x80;
  const FormatInfo &info = formatInfo(recoding.to);
  bool isNumber = (code & 0x7f) <= info.largestCode && code != kNaN;
  return isNumber ? std::optional(code) : std::nullopt;
}

/// What becomes of every byte.
using Table = std::array<std::optional<uint8_t>, 256>;

static Table tableOf(const Recoding &recoding, unsigned term) {
  Table table;
  for (unsigned code = 0; code < table.size(); ++code)
    table[code] = termOf(recoding, uint8_t(code), term);
  return table;
}

/// Codes of the source that there are.
static size_t codesOf(const Recoding &recoding) {
  constexpr size_t kCodesOfInt4 = 16, kCodesOfByte = 256;
  if (recoding.hasZeros)
    return kDifferences;
  return recoding.from == "int4" ? kCodesOfInt4 : kCodesOfByte;
}

std::vector<int> packing::storedCodes(const Recoding &recoding) {
  std::vector<int> codes;
  for (unsigned term = 0; term < recoding.terms; ++term) {
    Table table = tableOf(recoding, term);
    for (size_t code = 0; code < codesOf(recoding); ++code)
      codes.push_back(table[code] ? *table[code] : -1);
  }
  return codes;
}

static Reason whyNotCode(const Recoding &recoding, uint64_t row,
                         uint64_t column, uint8_t code) {
  char hex[8];
  std::snprintf(hex, sizeof hex, "0x%02x", code);
  return "row " + std::to_string(row) + ", element " + std::to_string(column) +
         ": code " + hex + " of " + std::string(recoding.from) +
         " has no exact code in " + std::string(formatName(recoding.to)) +
         "; dequantize this operand, or clamp such codes before";
}

Result<std::vector<uint8_t>>
packing::recode(const Recoding &recoding, uint64_t k,
                const std::vector<uint8_t> &codes) {
  if (k == 0 || codes.size() % k != 0)
    return Reason(std::to_string(codes.size()) +
                  " elements are no whole rows of " + std::to_string(k));
  std::vector<uint8_t> stored(codes.size() * recoding.terms);
  for (unsigned term = 0; term < recoding.terms; ++term) {
    Table table = tableOf(recoding, term);
    for (uint64_t i = 0; i < codes.size(); ++i) {
      uint64_t row = i / k, column = i % k;
      std::optional<uint8_t> code = table[codes[i]];
      if (!code)
        return whyNotCode(recoding, row, column, codes[i]);
      stored[(row * recoding.terms + term) * k + column] = *code;
    }
  }
  return stored;
}
