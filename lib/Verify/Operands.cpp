//===- Operands.cpp - what a plan says of an operand ----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Operands.h"
#include "Codebooks.h"

#include <algorithm>

using namespace blockscale;

std::vector<uint8_t> verify::extendRows(const std::vector<uint8_t> &codes,
                                        uint64_t length, uint64_t padded,
                                        uint8_t filler) {
  std::vector<uint8_t> extended;
  extended.reserve(codes.size() / length * padded);
  for (uint64_t at = 0; at < codes.size(); at += length) {
    extended.insert(extended.end(), codes.begin() + at,
                    codes.begin() + at + length);
    extended.resize(extended.size() + padded - length, filler);
  }
  return extended;
}

bool verify::parseElements(const std::string &name, bool scaled, bool hasZeros,
                           reference::Operand &operand) {
  operand.elements = reference::Elements::Format;
  std::optional<ElementFormat> format = parseFormat(name);
  // A bias of one more, so that what is a number in both is half as much.
  bool isHalf = name == "e4m3b8fnuz" || name == "e5m2b16fnuz";
  if (isHalf)
    format = name[1] == '4' ? ElementFormat::E4M3 : ElementFormat::E5M2;
  if (name == "e4m3ieee")
    format = ElementFormat::E4M3;
  // Without powers of two as scales integers mean themselves.
  bool isInt4 = !scaled && format == ElementFormat::INT4;
  operand.unit = isHalf ? 0.5 : isInt4 ? 4 : 1;
  if (Codebook codebook(name); codebook.isOne()) {
    constexpr double kWhole = 64;
    operand.format = ElementFormat::INT8;
    operand.unit = kWhole * codebook.step();
    return true;
  }
  // Less their zero points: whole numbers, of which those of 8 bits are drawn.
  if (hasZeros) {
    constexpr double kWhole = 64;
    operand.format = ElementFormat::INT8;
    operand.unit = kWhole;
    return true;
  }
  if (!scaled && name == "tf32")
    operand.elements = reference::Elements::TF32;
  else if (!scaled && name == "uint8")
    operand.elements = reference::Elements::UInt8;
  else if (!scaled && format == ElementFormat::INT8)
    operand.elements = reference::Elements::Int8;
  else if (!format || (scaled && formatInfo(*format).bits > 8))
    return false;
  operand.format = format.value_or(ElementFormat::E4M3);
  return true;
}

/// Whether a code that was drawn of OCP's format is the same number in the one
/// that operands of the source have.
static bool isSameNumber(const std::string &from, uint8_t code) {
  constexpr uint8_t kNegativeZero = 0x80, kMagnitude = 0x7f;
  if (from == "e4m3ieee")
    return (code & kMagnitude) < 0x78;
  if (from == "e4m3b8fnuz")
    return code != kNegativeZero && (code & kMagnitude) < 0x7f;
  if (from == "e5m2b16fnuz")
    return code != kNegativeZero && (code & kMagnitude) < 0x7c;
  return true;
}

/// Puts zeros where the plan stores no code for what was drawn, or one that the
/// format of which it was drawn has not.
static void dropUnstored(const plan::SourceElements &source,
                         std::vector<uint8_t> &codes) {
  for (uint8_t &code : codes) {
    bool isUnstored = code < source.codes.size() && source.codes[code] < 0;
    if (isUnstored || !isSameNumber(source.format, code))
      code = 0;
  }
}

/// Makes of what was drawn differences that elements and zero points of the
/// source have: each code is one, and those of a tile share a zero point.
static void subtractZeros(const plan::SourceElements &source, uint64_t rows,
                          uint64_t k, std::vector<uint8_t> &codes) {
  const plan::ZeroPoints &zeros = *source.zeros;
  const int last = int(source.codes.size() / 2) - 1;
  uint64_t group = zeros.rows ? zeros.rows : rows;
  uint64_t block = zeros.block ? zeros.block : k;
  for (uint64_t i = 0; i < codes.size(); ++i) {
    uint64_t row = i / k;
    uint64_t tile = row % rows / group + i % k / block + row / rows;
    // Prime to the number of codes, so that neighbours differ.
    constexpr uint64_t kStep = 5;
    int zero = int(tile * kStep % uint64_t(last + 1));
    int code = int8_t(codes[i]) % (last + 1) + zero;
    codes[i] = uint8_t(std::clamp(code, 0, last) - zero);
  }
}

void verify::makeStorable(const plan::SourceElements &source, uint64_t rows,
                          uint64_t k, std::vector<uint8_t> &codes) {
  if (Codebook codebook(source.format); codebook.isOne())
    codebook.makeStorable(codes);
  else if (source.zeros)
    subtractZeros(source, rows, k, codes);
  else
    dropUnstored(source, codes);
}

size_t verify::storedBytes(const plan::DataPacking &packing) {
  constexpr unsigned kByte = 8;
  return std::max(1u, packing.bits / kByte);
}

std::optional<Reason> verify::translate(const plan::DataPacking &packing,
                                        std::vector<uint8_t> &codes) {
  const std::vector<int64_t> &table = packing.source->codes;
  const Codebook codebook(packing.source->format);
  size_t bytes = storedBytes(packing);
  std::vector<uint8_t> stored(codes.size() * bytes);
  for (size_t i = 0; i < codes.size(); ++i) {
    size_t code = codes[i];
    if (codebook.isOne())
      code = codebook.codeOf(codes[i], i);
    if (packing.source->zeros)
      code = size_t(int64_t(table.size() / 2) + int8_t(codes[i]));
    if (code >= table.size() || table[code] < 0)
      return "operand '" + packing.operand + "': the plan stores no code for " +
             std::to_string(codes[i]) + " of '" + packing.source->format + "'";
    for (size_t byte = 0; byte < bytes; ++byte)
      stored[i * bytes + byte] = uint8_t(table[code] >> 8 * byte);
  }
  codes = std::move(stored);
  return std::nullopt;
}

unsigned verify::elementBits(const reference::Operand &operand) {
  if (operand.elements == reference::Elements::Format)
    return formatInfo(operand.format).bits;
  return 8 * operand.codeBytes();
}

hw::HighestBit verify::highestBit(const reference::Operand &operand) {
  bool isFixedPoint = operand.elements == reference::Elements::Format &&
                      formatInfo(operand.format).isInteger();
  bool isInteger = isFixedPoint ||
                   operand.elements == reference::Elements::Int8 ||
                   operand.elements == reference::Elements::UInt8;
  return isInteger ? hw::HighestBit::Number : hw::HighestBit::Sign;
}

const hw::Layout *verify::scaleLayout(const std::string &name) {
  return name == "tiled_128x4" || name == "grouped_128x4" ? &hw::kTiledScales
         : name == "tiled_128x16"                         ? &hw::kRowTiledScales
                                                          : nullptr;
}

std::optional<Reason> verify::setScales(const plan::ScalePacking &packing,
                                        reference::Operand &operand) {
  std::optional<ElementFormat> format = parseFormat(packing.format);
  if (!format)
    return "operand '" + packing.operand + "' with scales '" + packing.format +
           "'";
  operand.scaleFormat = *format;
  operand.blockSize = packing.ownBlock();
  if (operand.blockSize == 0)
    return "operand '" + packing.operand + "' has scale blocks of 0 elements";
  return std::nullopt;
}

uint64_t verify::scaleRows(unsigned group, uint64_t rows) {
  return group ? rows / group + (rows % group != 0) : 1;
}

void verify::spreadScales(const reference::Operand &own, uint64_t groups,
                          uint64_t group, uint64_t rows, uint64_t blocks,
                          reference::Operand &operand) {
  uint64_t matrixRows = operand.scales.size() / blocks;
  for (uint64_t i = 0; i < matrixRows; ++i) {
    uint64_t from = i / rows * groups + (group ? i % rows / group : 0);
    std::copy_n(own.scales.begin() + from * blocks, blocks,
                operand.scales.begin() + i * blocks);
  }
}
