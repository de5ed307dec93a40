//===- Data.cpp - inputs that show mistakes -------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Reference/Data.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

using namespace blockscale;
using namespace blockscale::reference;

namespace {

/// SplitMix64: the same numbers on every host, unlike <random>'s
/// distributions.
class Generator {
public:
  explicit Generator(uint64_t seed) : state(seed) {}

  uint64_t next() {
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  /// A number below `bound`, which is small.
  uint64_t below(uint64_t bound) { return (next() >> 32) * bound >> 32; }

private:
  uint64_t state;
};

/// Codes of the format whose value is an integer multiple of `unit` of at most
/// `bound` units.
std::vector<uint32_t> exactCodes(ElementFormat format, double unit,
                                 unsigned bound) {
  std::vector<uint32_t> codes;
  for (unsigned code = 0; code <= formatInfo(format).codeMask(); ++code) {
    double units = decode(format, code) / unit;
    if (std::isfinite(units) && units == std::floor(units) &&
        std::fabs(units) <= bound)
      codes.push_back(code);
  }
  return codes;
}

/// Codes of the scales 1 .. bound that the format has.
std::vector<uint8_t> exactScales(ElementFormat format, unsigned bound) {
  std::vector<uint8_t> codes;
  for (uint32_t code : exactCodes(format, 1.0, bound))
    if (decode(format, code) > 0)
      codes.push_back(code);
  return codes;
}

uint32_t bitsOf(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

/// Codes of an operand's integers from -bound to bound, or those of the
/// multiples of its unit that a format has.
std::vector<uint32_t> exactElements(const Operand &operand, int bound) {
  if (operand.elements == Elements::Format)
    return exactCodes(operand.format,
                      reference::elementUnit(operand) / operand.unit,
                      unsigned(bound));
  std::vector<uint32_t> codes;
  for (int value = -bound; value <= bound; ++value)
    if (operand.elements == Elements::TF32)
      codes.push_back(bitsOf(float(value)));
    else if (operand.elements == Elements::Int8 || value >= 0)
      codes.push_back(uint32_t(value) & 0xff);
  return codes;
}

/// Finite codes: of elements both signs, of scales the positive ones.
std::vector<uint8_t> finiteCodes(ElementFormat format, bool positive) {
  std::vector<uint8_t> codes;
  for (unsigned code = 0; code <= formatInfo(format).codeMask(); ++code) {
    float value = decode(format, code);
    if (std::isfinite(value) && (!positive || value > 0))
      codes.push_back(code);
  }
  return codes;
}

std::vector<uint8_t> randomScales(ElementFormat format) {
  if (format != ElementFormat::UE8M0)
    return finiteCodes(format, true);
  std::vector<uint8_t> codes;
  for (unsigned code = 127 - 8; code <= 127 + 8; ++code)
    codes.push_back(code);
  return codes;
}

/// Sets the codes of `rows` rows of `k` elements, one after another.
template <typename Draw>
void drawCodes(Operand &operand, uint64_t rows, uint64_t k,
               const RowProgress &progress, Draw draw) {
  // Of each row, where rows are that long.
  constexpr uint64_t kAtOnce = 1 << 12;
  uint64_t rowsAtOnce =
      std::max<uint64_t>(1, kAtOnce / std::max<uint64_t>(k, 1));
  bool isByte = operand.codeBytes() == 1;
  operand.codes.resize(rows * k * operand.codeBytes());
  for (uint64_t first = 0; first < rows; first += rowsAtOnce) {
    uint64_t end = std::min(rows, first + rowsAtOnce);
    for (uint64_t i = first * k; i < end * k; ++i)
      if (isByte)
        operand.codes[i] = uint8_t(draw());
      else
        operand.setCode(i, draw());
    if (progress)
      progress(end);
  }
}

std::vector<uint8_t> draw(const std::vector<uint8_t> &from, uint64_t count,
                          Generator &generator) {
  std::vector<uint8_t> codes(count);
  for (uint8_t &code : codes)
    code = from[generator.below(from.size())];
  return codes;
}

/// A random code of elements of more than 8 bits, or of integers.
uint32_t drawWide(const Operand &operand, Generator &generator) {
  if (operand.elements == Elements::Int8 || operand.elements == Elements::UInt8)
    return uint32_t(generator.below(256));
  if (operand.elements == Elements::Format &&
      operand.format == ElementFormat::F16) {
    // Any but those of the top exponent.
    uint32_t sign = uint32_t(generator.below(2)) << 15;
    return sign | uint32_t(generator.below(0x7c00));
  }
  // The upper bits of an f32 number; tf32 has three more of the fraction.
  uint32_t sign = uint32_t(generator.below(2)) << 31;
  uint32_t exponent = uint32_t(127 - 8 + generator.below(16)) << 23;
  uint32_t fraction = uint32_t(generator.below(1024)) << 13;
  uint32_t bits = sign | exponent | fraction;
  return operand.elements == Elements::TF32 ? bits : bits >> 16;
}

/// Scales of `rows` rows of `blocks` blocks, no one equal to its neighbours.
std::vector<uint8_t> distinctScales(const std::vector<uint8_t> &from,
                                    uint64_t rows, uint64_t blocks,
                                    Generator &generator) {
  std::vector<uint8_t> level(rows * blocks);
  for (uint64_t row = 0; row < rows; ++row)
    for (uint64_t block = 0; block < blocks; ++block) {
      uint64_t at = row * blocks + block;
      uint64_t value = generator.below(from.size());
      auto taken = [&] {
        return (block > 0 && level[at - 1] == value) ||
               (row > 0 && level[at - blocks] == value) ||
               (row >= 32 && level[at - 32 * blocks] == value);
      };
      // Three neighbours exclude at most three of at least four levels.
      while (taken())
        value = (value + 1) % from.size();
      level[at] = value;
    }
  for (uint8_t &entry : level)
    entry = from[entry];
  return level;
}

} // namespace

double reference::elementUnit(const Operand &operand) {
  if (operand.elements != Elements::Format)
    return 1.0;
  const FormatInfo &info = formatInfo(operand.format);
  if (info.isInteger())
    return std::ldexp(operand.unit, -int(info.mantissaBits));
  // All narrow floats have halves; of those of a byte integers are enough.
  return operand.unit * (info.bits < 8 ? 0.5 : 1.0);
}

std::optional<ExactBounds> reference::exactBounds(uint64_t k, bool scaled) {
  // Four levels of scale are the least that distinctScales can work with; then
  // elements come first, because their spread tells rows and columns apart.
  constexpr std::array<ExactBounds, 8> kScaled{
      {{12, 32}, {12, 16}, {12, 8}, {8, 8}, {6, 8}, {4, 8}, {3, 8}, {2, 8}}};
  constexpr uint64_t kLimit = uint64_t(1) << 23;
  for (ExactBounds bounds : kScaled) {
    if (!scaled)
      bounds.scale = 1;
    uint64_t largest = bounds.element * bounds.scale;
    if (k <= kLimit / (largest * largest))
      return bounds;
  }
  // Signs alone still tell elements apart.
  ExactBounds least{1, scaled ? 8u : 1u};
  if (k <= kLimit / (least.scale * least.scale))
    return least;
  return std::nullopt;
}

std::optional<Reason> reference::fillExact(Operand &operand, uint64_t batch,
                                           uint64_t rows, uint64_t k,
                                           uint64_t seed,
                                           const RowProgress &progress) {
  bool scaled = operand.blockSize != 0;
  std::optional<ExactBounds> bounds = exactBounds(k, scaled);
  if (!bounds)
    return "no exact data for sums of " + std::to_string(k) + " products";
  std::vector<uint32_t> elements = exactElements(operand, int(bounds->element));
  Generator generator(seed);
  drawCodes(operand, batch * rows, k, progress,
            [&] { return elements[generator.below(elements.size())]; });
  operand.scales.clear();
  if (!scaled)
    return std::nullopt;
  std::vector<uint8_t> scales;
  if (formatInfo(operand.scaleFormat).bits <= 8)
    scales = exactScales(operand.scaleFormat, bounds->scale);
  if (scales.size() < 4)
    return "no exact data with scales in format '" +
           std::string(formatName(operand.scaleFormat)) + "'";
  operand.scales =
      distinctScales(scales, batch * rows, operand.blocks(k), generator);
  return std::nullopt;
}

void reference::fillRandom(Operand &operand, uint64_t batch, uint64_t rows,
                           uint64_t k, uint64_t seed,
                           const RowProgress &progress) {
  Generator generator(seed);
  bool narrow =
      operand.elements == Elements::Format && operand.codeBytes() == 1;
  if (narrow) {
    std::vector<uint8_t> codes = finiteCodes(operand.format, false);
    drawCodes(operand, batch * rows, k, progress,
              [&] { return codes[generator.below(codes.size())]; });
  } else {
    drawCodes(operand, batch * rows, k, progress,
              [&] { return drawWide(operand, generator); });
  }
  operand.scales = draw(randomScales(operand.scaleFormat),
                        batch * rows * operand.blocks(k), generator);
}

std::vector<float> reference::exactVector(uint64_t count, double unit,
                                          uint64_t seed) {
  Generator generator(seed);
  std::vector<float> values(count);
  for (float &value : values)
    value = static_cast<float>((double(generator.below(513)) - 256) * unit);
  return values;
}

std::vector<float> reference::randomVector(uint64_t count, uint64_t seed) {
  Generator generator(seed);
  std::vector<float> values(count);
  for (float &value : values)
    value = (float(generator.below(257)) - 128) / 128;
  return values;
}

void reference::sparsify(Operand &operand, uint64_t k, Groups groups,
                         uint64_t seed) {
  Generator generator(seed);
  uint64_t units = groups.units, width = groups.width, group = units * width;
  if (k == 0)
    return;
  uint64_t rows = operand.codes.size() / operand.codeBytes() / k;
  auto drop = [&](uint64_t first, uint64_t unit) {
    for (uint64_t i = 0; i < width; ++i)
      operand.setCode(first + unit * width + i, 0);
  };
  for (uint64_t row = 0; row < rows; ++row)
    for (uint64_t at = 0; at + group <= k; at += group) {
      uint64_t first = row * k + at, one = generator.below(units);
      drop(first, one);
      if (units == 4)
        drop(first, (one + 1 + generator.below(3)) % 4);
    }
}
