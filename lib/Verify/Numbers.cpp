//===- Numbers.cpp - factors of a product, and numbers as bytes -----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Numbers.h"
#include "blockscale/Formats/Format.h"
#include "blockscale/Formats/NumberCodes.h"
#include "blockscale/Verify/Verify.h"

#include <cmath>
#include <cstring>

using namespace blockscale;
using namespace blockscale::verify;

/// A float format of a byte that hardware does not know, as a plan spells it.
static std::optional<NumberSpec> byteFormat(const std::string &type) {
  constexpr unsigned kByte = 8;
  Result<NumberSpec> spec = parseNumberSpec(type);
  if (parseFormat(type) || !spec || spec->kind != NumberKind::Float ||
      spec->bits() != kByte)
    return std::nullopt;
  return *spec;
}

std::optional<std::vector<uint8_t>>
verify::toBytes(const std::vector<float> &values, const std::string &type) {
  std::vector<uint8_t> bytes;
  if (type == "f32") {
    bytes.resize(values.size() * 4);
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
  }
  std::optional<ElementFormat> format = parseFormat(type);
  if (std::optional<NumberSpec> spec = byteFormat(type)) {
    for (float value : values)
      bytes.push_back(uint8_t(codeOfNumber(*spec, value)));
    return bytes;
  }
  if (format && formatInfo(*format).storageBits == 8) {
    for (float value : values)
      bytes.push_back(uint8_t(encode(*format, value)));
    return bytes;
  }
  if (format != ElementFormat::BF16 && format != ElementFormat::F16)
    return std::nullopt;
  bytes.resize(values.size() * 2);
  for (size_t i = 0; i < values.size(); ++i) {
    uint32_t code = encode(*format, values[i]);
    bytes[2 * i] = uint8_t(code);
    bytes[2 * i + 1] = uint8_t(code >> 8);
  }
  return bytes;
}

float verify::asType(float value, const std::string &type) {
  if (std::optional<NumberSpec> spec = byteFormat(type))
    return float(roundTo(*spec, value));
  std::optional<ElementFormat> format = parseFormat(type);
  return format ? decode(*format, encode(*format, value)) : value;
}

float verify::tensorScale(bool isA, bool exact, uint64_t matrix) {
  if (!exact)
    return isA ? 0.013f / float(1 + matrix % 7) : 0.31f / float(1 + matrix % 5);
  return isA ? std::ldexp(0.25f, -int(matrix % 3))
             : std::ldexp(2.0f, -4 * int(matrix % 2));
}

float verify::vectorScale(bool isA, bool powersOfTwo, uint64_t matrix,
                          uint64_t index) {
  if (!powersOfTwo) {
    constexpr uint64_t kSpread = 1021, kStep = 389;
    uint64_t drawn = ((index + 7 * matrix) * kStep + (isA ? 5 : 11)) % kSpread;
    return (isA ? 0.021f : 0.17f) * (1 + float(drawn) / float(kSpread));
  }
  constexpr uint64_t kExponents = 5;
  uint64_t mixed =
      index + 3 * (index / 8) + 2 * (index / 32) + 2 * (index / 128) + matrix;
  return std::ldexp(isA ? 0.5f : 4.0f, -int(mixed % kExponents));
}

float verify::tileFraction(bool isA, uint64_t index) {
  constexpr uint64_t kSpread = 1021, kStep = 389;
  uint64_t drawn = (index * kStep + (isA ? 5 : 11)) % kSpread;
  return 1 + float(drawn) / float(kSpread);
}

std::vector<uint8_t> verify::unwrittenResult(reference::OutputType type,
                                             uint64_t count) {
  unsigned size = outputBytes(type);
  uint32_t code = unwrittenCode(type);
  std::vector<uint8_t> bytes(count * size);
  for (uint64_t i = 0; i < bytes.size(); ++i)
    bytes[i] = uint8_t(code >> i % size * 8);
  return bytes;
}
