//===- ZeroPoints.cpp - elements less their zero points -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ZeroPoints.h"
#include "OperandLines.h"

#include <algorithm>

using namespace blockscale;
using namespace blockscale::runtime;

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

const plan::DataPacking *runtime::dataOf(const plan::Kernel &kernel,
                                         const std::string &role) {
  for (const plan::DataPacking &data : kernel.data)
    if (role == data.operand + "_data")
      return &data;
  return nullptr;
}

std::string runtime::zerosRole(const plan::DataPacking &data) {
  bool hasZeros = data.source && data.source->zeros;
  return hasZeros ? data.operand + "_zeros" : "";
}

std::string runtime::zerosRole(const plan::Kernel &kernel,
                               const std::string &role) {
  const plan::DataPacking *data = dataOf(kernel, role);
  return data ? zerosRole(*data) : "";
}

bool runtime::isZeros(const plan::Kernel &kernel, const std::string &role) {
  return std::any_of(kernel.data.begin(), kernel.data.end(),
                     [&](const plan::DataPacking &data) {
                       return !role.empty() && zerosRole(data) == role;
                     }) ||
         std::any_of(kernel.zeroTerms.begin(), kernel.zeroTerms.end(),
                     [&](const plan::ZeroTerms &terms) {
                       return terms.operand + "_zeros" == role;
                     });
}

uint64_t runtime::compressionOf(const plan::Kernel &kernel,
                                const std::string &operand) {
  constexpr uint64_t kCompression = 2;
  bool isSparse = std::any_of(kernel.metadata.begin(), kernel.metadata.end(),
                              [&](const plan::MetadataPacking &metadata) {
                                return metadata.operand == operand;
                              });
  return isSparse ? kCompression : 1;
}

/// Bytes of a zero point in memory.
static int64_t zeroBytes(const plan::ZeroPoints &zeros) {
  constexpr unsigned kByte = 8;
  int64_t bytes = 1;
  while (bytes * kByte < zeros.bits)
    bytes *= 2;
  return bytes;
}

std::string runtime::whyNotNumbers(const HostOperand &operand, int64_t bytes) {
  const std::string name = "operand '" + operand.role + "' ";
  if (operand.strides.size() != operand.sizes.size())
    return name + "has " + std::to_string(operand.sizes.size()) +
           " sizes and " + std::to_string(operand.strides.size()) + " strides";
  if (operand.elementBytes != bytes)
    return name + "has elements of " + std::to_string(operand.elementBytes) +
           " bytes; expected " + std::to_string(bytes);
  return operand.data || elementsOf(operand) == 0 ? ""
                                                  : name + "has no address";
}

std::string runtime::whyNotZeros(const plan::DataPacking &data,
                                 const HostOperands &operands) {
  auto operand = operands.find(zerosRole(data));
  if (operand == operands.end())
    return "there is no operand '" + zerosRole(data) + "'";
  return whyNotNumbers(operand->second, zeroBytes(*data.source->zeros));
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

ZeroTiles::ZeroTiles(const plan::DataPacking &data, uint64_t lines,
                     uint64_t elements, uint64_t compression)
    : bits(data.source->zeros->bits), lines(lines),
      isKMajor(data.order != "mn_major") {
  const plan::ZeroPoints &points = *data.source->zeros;
  uint64_t allRows = isKMajor ? lines : elements;
  uint64_t k = isKMajor ? elements : lines;
  auto tilesOf = [](uint64_t size, uint64_t tile) {
    return size / tile + (size % tile != 0);
  };
  rows = points.rows ? points.rows : std::max<uint64_t>(allRows, 1);
  // Tiles count what is not stored, too.
  block = points.block ? points.block / compression : std::max<uint64_t>(k, 1);
  groups = tilesOf(allRows, rows);
  blocks = tilesOf(k, block);
}

/// The number of `bits` bits with a sign at `from`.
static int64_t signedNumber(const uint8_t *from, int64_t bytes, unsigned bits) {
  uint64_t value = 0;
  for (int64_t i = bytes; i-- > 0;)
    value = value << 8 | from[i];
  unsigned unused = 64 - bits;
  return int64_t(value << unused) >> unused;
}

void ZeroTiles::read(const HostOperand &zeros) {
  forEachLine(zeros, [&](uint64_t, const uint8_t *line) {
    for (uint64_t i = 0; i < lineElements(zeros); ++i)
      values.push_back(signedNumber(line + int64_t(i) * lineStep(zeros),
                                    zeros.elementBytes, bits));
  });
}

int64_t ZeroTiles::at(uint64_t number, uint64_t place) const {
  uint64_t row = isKMajor ? number % lines : place;
  uint64_t k = isKMajor ? place : number % lines;
  uint64_t group = number / lines * groups + row / rows;
  return values[group * blocks + k / block];
}

std::string ZeroTiles::subtract(const plan::SourceElements &source,
                                uint64_t number, const uint8_t *line,
                                int64_t step,
                                std::vector<uint16_t> &stored) const {
  // The codes of the source are as many as differences from 0 on.
  const int64_t middle = int64_t(source.codes.size() / 2);
  std::string why;
  for (size_t i = 0; i < stored.size(); ++i, line += step) {
    int64_t code = *line & (middle - 1);
    int64_t zero = at(number, i);
    int64_t index = code - zero + middle;
    bool isStored =
        index >= 0 && index < 2 * middle && source.codes[size_t(index)] >= 0;
    stored[i] = isStored ? uint16_t(source.codes[size_t(index)]) : 0;
    if (!isStored && why.empty())
      why = "line " + std::to_string(number) + ", element " +
            std::to_string(i) + ": code " + std::to_string(code) + " of '" +
            source.format + "' less its zero point, " + std::to_string(zero) +
            ", has no exact code in the kernel's format; expected a difference "
            "from " +
            std::to_string(-middle) + " to " + std::to_string(middle - 1);
  }
  return why;
}
