//===- Quantize.cpp - rows of numbers to block-scaled operands ------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Packing/Quantize.h"
#include "FastCodes.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

using namespace blockscale;
using namespace blockscale::packing;

//===----------------------------------------------------------------------===//
// Formats by name
//===----------------------------------------------------------------------===//

namespace {
struct NamedFormat {
  std::string_view name;
  BlockFormat format;
};
} // namespace

static constexpr std::array<NamedFormat, 6> kNamed{{
    {"nvfp4", {ElementFormat::E2M1, ElementFormat::UE4M3, 16}},
    {"mxfp8", {ElementFormat::E4M3, ElementFormat::UE8M0, 32}},
    {"mxfp8-e5m2", {ElementFormat::E5M2, ElementFormat::UE8M0, 32}},
    {"mxfp6-e2m3", {ElementFormat::E2M3, ElementFormat::UE8M0, 32}},
    {"mxfp6-e3m2", {ElementFormat::E3M2, ElementFormat::UE8M0, 32}},
    {"mxfp4", {ElementFormat::E2M1, ElementFormat::UE8M0, 32}},
}};

std::optional<BlockFormat> packing::parseBlockFormat(std::string_view name) {
  for (const NamedFormat &each : kNamed)
    if (each.name == name)
      return each.format;
  return std::nullopt;
}

std::string_view packing::blockFormatName(const BlockFormat &format) {
  for (const NamedFormat &each : kNamed)
    if (each.format.element == format.element &&
        each.format.scale == format.scale && each.format.block == format.block)
      return each.name;
  return "";
}

std::string packing::blockFormatNames() {
  std::string names;
  for (const NamedFormat &each : kNamed)
    names += (names.empty() ? "'" : ", '") + std::string(each.name) + "'";
  return names;
}

uint64_t packing::packedRowBytes(const BlockFormat &format, uint64_t columns) {
  return packedBytes(format.element, columns);
}

uint64_t packing::scalesPerRow(const BlockFormat &format, uint64_t columns) {
  return columns / format.block + (columns % format.block != 0);
}

//===----------------------------------------------------------------------===//
// Quantising
//===----------------------------------------------------------------------===//

/// Blocks that are looked at together: enough for vectors, few enough to stay
/// near.
static constexpr unsigned kBatch = 64;
static constexpr unsigned kMaxBlock = 32;

float packing::largestMagnitude(const float *values, uint64_t count) {
  // Numbers in pieces, so that a piece's maximum is that of integers.
  uint32_t bits = 0;
  constexpr uint64_t kPiece = 1 << 16;
  for (uint64_t done = 0; done < count; done += kPiece)
    bits = std::max(
        bits, fast::magnitudeBits(values + done,
                                  uint32_t(std::min(kPiece, count - done))));
  float result = fast::toFloat(bits);
  return std::isnan(result) ? std::numeric_limits<float>::quiet_NaN() : result;
}

/// The scale bytes of blocks from their largest magnitudes, and what their
/// values are multiplied by. True if no product can be NaN; false says nothing.
static bool chooseScales(const BlockFormat &format, const TensorScale &tensor,
                         const float *maxima, unsigned count, uint8_t *scales,
                         float *factors) {
  if (format.scale == ElementFormat::UE5M3) {
    for (unsigned i = 0; i < count; ++i) {
      scales[i] = ue5m3BlockScale(format.element, maxima[i]);
      factors[i] = ue5m3BlockFactor(scales[i]);
    }
    return false;
  }
  if (!format.hasTensorScale()) {
    bool isFast =
        format.rule == ScaleRule::RoundUp &&
        fast::roundUpScales(maxima, count, formatInfo(format.element).largest,
                            scales, factors);
    for (unsigned i = 0; i < count && !isFast; ++i) {
      scales[i] = blockScaleByte(format.rule, format.element, maxima[i]);
      factors[i] = fast::exponentFactor(scales[i]);
    }
    return false;
  }
  // In the order of operations of nvfp4BlockScale().
  float step = tensor.encode * (1.0f / formatInfo(ElementFormat::E2M1).largest);
  if (fast::nvfp4Scales(maxima, count, step, tensor.decode, scales, factors))
    return true;
  for (unsigned i = 0; i < count; ++i) {
    scales[i] = nvfp4BlockScale(maxima[i], tensor);
    factors[i] = nvfp4BlockFactor(scales[i], tensor);
  }
  return false;
}

/// Whole blocks of one row, at most kBatch of them.
static void quantizeBlocks(const BlockFormat &format, const TensorScale &tensor,
                           const float *values, unsigned blocks,
                           uint8_t *elements, uint8_t *scales) {
  float maxima[kBatch], factors[kBatch];
  if (format.block == 16)
    fast::blockMaxima16(values, blocks, maxima);
  else
    fast::blockMaxima32(values, blocks, maxima);
  bool hasNoNaN = chooseScales(format, tensor, maxima, blocks, scales, factors);
  unsigned count = blocks * format.block;
  bool isNvfp4 = format.element == ElementFormat::E2M1 && format.block == 16;
  if (isNvfp4 && hasNoNaN) {
    uint8_t codes[kBatch * kMaxBlock];
    fast::encodeBlocksE2M1(values, factors, blocks, codes);
    fast::packNibbles(codes, count / 2, elements);
    return;
  }
  float product[kBatch * kMaxBlock];
  if (format.block == 16)
    fast::multiply16(values, factors, blocks, product);
  else
    fast::multiply32(values, factors, blocks, product);
  switch (format.element) {
  case ElementFormat::E2M1: {
    uint8_t codes[kBatch * kMaxBlock];
    fast::encodeE2M1(product, count, codes);
    fast::packNibbles(codes, count / 2, elements);
    return;
  }
  case ElementFormat::E4M3:
    fast::encodeE4M3(product, count, elements);
    return;
  case ElementFormat::E5M2:
    fast::encodeE5M2(product, count, elements);
    return;
  case ElementFormat::E2M3:
  case ElementFormat::E3M2: {
    uint8_t codes[kBatch * kMaxBlock];
    if (format.element == ElementFormat::E2M3)
      fast::encodeE2M3(product, count, codes);
    else
      fast::encodeE3M2(product, count, codes);
    packElements(format.element, codes, count, elements);
    return;
  }
  default:
    assert(false && "an element of 4 to 8 bits that is no integer");
  }
}

void packing::quantizeRows(const BlockFormat &format, const TensorScale &tensor,
                           const float *values, uint64_t rows, uint64_t columns,
                           uint8_t *elements, uint8_t *scales) {
  assert((format.block == 16 || format.block == 32) && "a block of hardware");
  uint64_t rowBytes = packedRowBytes(format, columns);
  uint64_t rowScales = scalesPerRow(format, columns);
  uint64_t whole = columns / format.block;
  unsigned rest = unsigned(columns % format.block);
  for (uint64_t row = 0; row < rows; ++row) {
    const float *from = values + row * columns;
    uint8_t *to = elements + row * rowBytes;
    uint8_t *scale = scales + row * rowScales;
    for (uint64_t done = 0; done < whole; done += kBatch) {
      auto count = unsigned(std::min<uint64_t>(kBatch, whole - done));
      quantizeBlocks(format, tensor, from + done * format.block, count,
                     to + packedBytes(format.element, done * format.block),
                     scale + done);
    }
    if (rest == 0)
      continue;
    // Zeros neither change the maximum nor are they kept.
    float padded[kMaxBlock] = {};
    std::copy_n(from + whole * format.block, rest, padded);
    uint8_t last[kMaxBlock];
    quantizeBlocks(format, tensor, padded, 1, last, scale + whole);
    std::copy_n(last, packedBytes(format.element, rest),
                to + packedBytes(format.element, whole * format.block));
  }
}

void packing::dequantizeRows(const BlockFormat &format, float factor,
                             const uint8_t *elements, const uint8_t *scales,
                             uint64_t rows, uint64_t columns, float *values) {
  const std::array<float, 256> &element = decodeTable(format.element);
  const std::array<float, 256> &scale = decodeTable(format.scale);
  uint64_t rowBytes = packedRowBytes(format, columns);
  uint64_t rowScales = scalesPerRow(format, columns);
  std::vector<uint8_t> codes(columns);
  for (uint64_t row = 0; row < rows; ++row) {
    unpackElements(format.element, elements + row * rowBytes, columns,
                   codes.data());
    const uint8_t *rowScale = scales + row * rowScales;
    float *to = values + row * columns;
    for (uint64_t i = 0; i < columns; ++i)
      to[i] = element[codes[i]] * scale[rowScale[i / format.block]] * factor;
  }
}
