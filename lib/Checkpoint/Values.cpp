//===- Values.cpp - the numbers that a parameter stands for ---------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Checkpoint/Values.h"
#include "ScaleData.h"
#include "blockscale/HW/ScaleLayout.h"
#include "blockscale/Packing/Storage.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>

using namespace blockscale;
using namespace blockscale::checkpoint;

/// Values of a region.
static constexpr uint64_t kRegionValues = uint64_t(2) << 20;
/// Columns of a region of very long rows: whole atoms of scales, tiles of
/// metadata and bytes of elements.
static constexpr uint64_t kRegionColumns = 16384;

std::vector<Region> checkpoint::regionsOf(const QuantizedTensor &tensor) {
  uint64_t rows = tensor.rows(), columns = tensor.columns();
  std::vector<Region> regions;
  if (rows == 0 || columns == 0)
    return regions;
  uint64_t width =
      columns <= 2 * kRegionValues / hw::kAtomRows ? columns : kRegionColumns;
  uint64_t groups =
      std::max<uint64_t>(1, kRegionValues / (width * hw::kAtomRows));
  uint64_t height = groups * hw::kAtomRows;
  for (uint64_t batch = 0; batch < tensor.batch(); ++batch)
    for (uint64_t row = 0; row < rows; row += height)
      for (uint64_t column = 0; column < columns; column += width)
        regions.push_back({batch, row, std::min(height, rows - row), column,
                           std::min(width, columns - column)});
  return regions;
}

/// Numbers that become binary32 by themselves.
static bool isNumeric(DType type) {
  return type == DType::F32 || type == DType::F64 || type == DType::F16 ||
         type == DType::BF16 || type == DType::F8E4M3 ||
         type == DType::F8E5M2 || type == DType::F6E2M3 ||
         type == DType::F6E3M2 || type == DType::F4;
}

/// Signed bytes with scales.
static bool isInt8(const QuantizedTensor &tensor) {
  return !tensor.element && tensor.packed == 1 &&
         tensor.elements->dtype == DType::I8 && tensor.scales;
}

std::string ValueReader::whyNot(const QuantizedTensor &tensor) {
  std::string name = "'" + tensor.name + "': ";
  if (!tensor.elements)
    return name + "there are no elements";
  for (const Finding &finding : tensor.findings) {
    bool isFatal =
        finding.rule == Rule::MissingScales ||
        finding.rule == Rule::MissingGlobalScale ||
        finding.rule == Rule::ScaleType || finding.rule == Rule::BlockShape ||
        finding.rule == Rule::GroupOrder || finding.rule == Rule::ZeroPoints ||
        finding.rule == Rule::MixedFamilies;
    if (isFatal)
      return name + finding.text;
  }
  unsigned bits = dtypeBits(tensor.elements->dtype);
  if (bits < 8 && tensor.columns() * bits % 8 != 0)
    return name + "rows of " + std::to_string(tensor.columns()) +
           " elements of " + std::to_string(bits) + " bits are no whole bytes";
  if (!tensor.isQuantized())
    return isNumeric(tensor.elements->dtype)
               ? ""
               : name + "values of type " +
                     std::string(dtypeName(tensor.elements->dtype)) +
                     " are no numbers to quantise";
  if (!tensor.element && tensor.packed == 1 && !isInt8(tensor))
    return name + "values of " + tensor.format + " of " +
           std::string(familyName(tensor.family)) + " are not read";
  if (tensor.scales && tensor.placement != ScalePlacement::Rows &&
      tensor.placement != ScalePlacement::Tiled)
    return name + "it is not known where the scales in '" +
           tensor.scales->name + "' lie; 'blockscale check' says more";
  return "";
}

Result<ValueReader> ValueReader::open(const Checkpoint &checkpoint,
                                      const QuantizedTensor &tensor) {
  ValueReader reader(checkpoint, tensor);
  if (!tensor.globalScale)
    return reader;
  Result<double> value = readNumber(checkpoint, *tensor.globalScale);
  if (!value)
    return value.why();
  reader.global = static_cast<float>(*value);
  if (!(reader.global > 0) || !std::isfinite(reader.global))
    return Reason("'" + tensor.globalScale->name +
                  "' is no positive finite number");
  return reader;
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

/// `count` numbers of `type`, packed from a whole byte on.
static void convert(DType type, const uint8_t *from, uint64_t count,
                    float *values) {
  if (type == DType::F32) {
    std::memcpy(values, from, count * sizeof(float));
    return;
  }
  if (type == DType::F64) {
    for (uint64_t i = 0; i < count; ++i) {
      double value;
      std::memcpy(&value, from + 8 * i, sizeof(value));
      values[i] = static_cast<float>(value);
    }
    return;
  }
  if (type == DType::BF16) {
    for (uint64_t i = 0; i < count; ++i) {
      uint32_t bits = (uint32_t(from[2 * i]) | uint32_t(from[2 * i + 1]) << 8)
                      << 16;
      std::memcpy(&values[i], &bits, sizeof(bits));
    }
    return;
  }
  ElementFormat format = *elementFormat(type);
  if (type == DType::F16) {
    for (uint64_t i = 0; i < count; ++i)
      values[i] = decode(format, uint32_t(from[2 * i]) |
                                     uint32_t(from[2 * i + 1]) << 8);
    return;
  }
  std::vector<uint8_t> codes(count);
  unpackElements(format, from, count, codes.data());
  const std::array<float, 256> &table = decodeTable(format);
  for (uint64_t i = 0; i < count; ++i)
    values[i] = table[codes[i]];
}

/// Bits of an element in memory.
static uint64_t elementBits(const QuantizedTensor &tensor) {
  if (!tensor.isQuantized())
    return dtypeBits(tensor.elements->dtype);
  if (isInt8(tensor))
    return 8;
  return tensor.element ? formatInfo(*tensor.element).storageBits
                        : 32 / tensor.packed;
}

/// `count` codes of a quantised tensor.
static void unpackCodes(const QuantizedTensor &tensor, const uint8_t *from,
                        uint64_t count, uint8_t *codes) {
  if (tensor.element && tensor.packed != 2) {
    unpackElements(*tensor.element, from, count, codes);
    return;
  }
  uint64_t bits = elementBits(tensor);
  unsigned first = tensor.highNibbleFirst ? 4 : 0;
  for (uint64_t i = 0; i < count; ++i) {
    unsigned at = unsigned(i * bits % 8) ^ first;
    codes[i] = uint8_t(from[i * bits / 8] >> at & ((1u << bits) - 1));
  }
}

/// `count` numbers of a quantised tensor.
static void decodeElements(const QuantizedTensor &tensor, const uint8_t *from,
                           uint64_t count, float *values) {
  std::vector<uint8_t> codes(count);
  unpackCodes(tensor, from, count, codes.data());
  if (isInt8(tensor)) {
    for (uint64_t i = 0; i < count; ++i)
      values[i] = static_cast<int8_t>(codes[i]);
    return;
  }
  if (!tensor.element) {
    // Unsigned numbers of a word's equal parts, less half their range.
    auto half = static_cast<float>(1u << (elementBits(tensor) - 1));
    for (uint64_t i = 0; i < count; ++i)
      values[i] = float(codes[i]) - half;
    return;
  }
  const std::array<float, 256> &table = decodeTable(*tensor.element);
  for (uint64_t i = 0; i < count; ++i)
    values[i] = table[codes[i]];
}

/// Bytes of the region's elements, row behind row.
std::string ValueReader::readRaw(const Region &region,
                                 std::vector<uint8_t> &raw) const {
  const Tensor &data = *tensor->elements;
  uint64_t matrixRows = tensor->rows();
  // Bytes of a row: of its elements, or of the words that hold them.
  uint64_t lines = tensor->batch() * matrixRows;
  uint64_t rowBytes = lines ? data.bytes / lines : 0;
  uint64_t bits = elementBits(*tensor);
  uint64_t firstByte = region.firstColumn * bits / 8;
  assert(region.firstColumn * bits % 8 == 0 && "a region of whole bytes");
  uint64_t bytes = (region.columns * bits + 7) / 8;
  raw.resize(region.rows * bytes);
  uint64_t line = region.batch * matrixRows + region.firstRow;
  if (bytes == rowBytes)
    return checkpoint->read(data, line * rowBytes, raw.data(), raw.size());
  for (uint64_t row = 0; row < region.rows; ++row)
    if (std::string error =
            checkpoint->read(data, (line + row) * rowBytes + firstByte,
                             &raw[row * bytes], bytes);
        !error.empty())
      return error;
  return "";
}

std::string ValueReader::readElements(const Region &region,
                                      float *values) const {
  std::vector<uint8_t> raw;
  if (std::string error = readRaw(region, raw); !error.empty())
    return error;
  uint64_t bytes = region.rows ? raw.size() / region.rows : 0;
  for (uint64_t row = 0; row < region.rows; ++row) {
    const uint8_t *from = &raw[row * bytes];
    float *to = values + row * region.columns;
    if (tensor->isQuantized())
      decodeElements(*tensor, from, region.columns, to);
    else
      convert(tensor->elements->dtype, from, region.columns, to);
  }
  return "";
}

std::string ValueReader::readCodes(const Region &region, uint8_t *codes) const {
  std::vector<uint8_t> raw;
  if (std::string error = readRaw(region, raw); !error.empty())
    return error;
  uint64_t bytes = region.rows ? raw.size() / region.rows : 0;
  for (uint64_t row = 0; row < region.rows; ++row)
    unpackCodes(*tensor, &raw[row * bytes], region.columns,
                codes + row * region.columns);
  return "";
}

//===----------------------------------------------------------------------===//
// Scales
//===----------------------------------------------------------------------===//

/// Scales that a region's extent along one direction needs: the first and how
/// many. A block of 0 is all.
static std::pair<uint64_t, uint64_t> scalesOf(uint64_t first, uint64_t count,
                                              uint64_t block) {
  if (block == 0)
    return {0, 1};
  uint64_t begin = first / block;
  return {begin, hw::ceilDiv(first + count, block) - begin};
}

/// The atoms of a region are neighbours, row group by row group.
std::string ValueReader::readTiledScales(const Region &region,
                                         std::vector<uint8_t> &bytes) const {
  auto [first, count] =
      scalesOf(region.firstColumn, region.columns, tensor->blockColumns);
  hw::StorageLayout<uint64_t> storage = hw::storageLayout(
      hw::kTiledScales, {{hw::Dim::Row, tensor->rows()},
                         {hw::Dim::Block, tensor->scaleColumns()}});
  bytes.resize(region.rows * count);
  std::vector<uint8_t> atoms;
  for (uint64_t row = 0; row < region.rows; row += hw::kAtomRows) {
    uint64_t rows = std::min<uint64_t>(hw::kAtomRows, region.rows - row);
    packing::ByteMatrices part{1, rows, count};
    atoms.resize(packing::storageBytes(hw::kTiledScales, part));
    uint64_t offset = storage.offset({{hw::Dim::Batch, region.batch},
                                      {hw::Dim::Row, region.firstRow + row},
                                      {hw::Dim::Block, first}});
    if (std::string error = checkpoint->read(*tensor->scales, offset,
                                             atoms.data(), atoms.size());
        !error.empty())
      return error;
    packing::fromStorage(hw::kTiledScales, part, atoms.data(),
                         &bytes[row * count]);
  }
  return "";
}

std::string ValueReader::readScaleBytes(const Region &region,
                                        std::vector<uint8_t> &bytes) const {
  if (tensor->placement == ScalePlacement::Tiled)
    return readTiledScales(region, bytes);
  auto [firstRow, rows] =
      scalesOf(region.firstRow, region.rows, tensor->blockRows);
  auto [first, count] =
      scalesOf(region.firstColumn, region.columns, tensor->blockColumns);
  uint64_t width = dtypeBits(tensor->scales->dtype) / 8;
  uint64_t perRow = tensor->scaleColumns();
  // One scale may serve all matrices.
  uint64_t perMatrix =
      tensor->scales->elementCount() == 1 ? 0 : tensor->scaleRows() * perRow;
  bytes.resize(rows * count * width);
  for (uint64_t row = 0; row < rows; ++row) {
    uint64_t offset =
        region.batch * perMatrix + (firstRow + row) * perRow + first;
    if (std::string error =
            checkpoint->read(*tensor->scales, offset * width,
                             &bytes[row * count * width], count * width);
        !error.empty())
      return error;
  }
  return "";
}

std::string ValueReader::readScales(const Region &region,
                                    std::vector<float> &scales) const {
  std::vector<uint8_t> bytes;
  if (std::string error = readScaleBytes(region, bytes); !error.empty())
    return error;
  DType type = tensor->scales->dtype;
  if (dtypeBits(type) > 8) {
    scales.resize(bytes.size() * 8 / dtypeBits(type));
    convert(type, bytes.data(), scales.size(), scales.data());
    return "";
  }
  scales.resize(bytes.size());
  const std::array<float, 256> &table = decodeTable(*tensor->scaleFormat);
  for (size_t i = 0; i < bytes.size(); ++i)
    scales[i] = table[bytes[i]];
  return "";
}

std::string ValueReader::read(const Region &region, float *values) const {
  if (std::string error = readElements(region, values); !error.empty())
    return error;
  if (!tensor->scales)
    return "";
  std::vector<float> scales;
  if (std::string error = readScales(region, scales); !error.empty())
    return error;
  auto [first, count] =
      scalesOf(region.firstColumn, region.columns, tensor->blockColumns);
  auto [firstRow, rows] =
      scalesOf(region.firstRow, region.rows, tensor->blockRows);
  bool divides = tensor->globalUse == GlobalUse::Divisor;
  for (uint64_t row = 0; row < region.rows; ++row) {
    uint64_t scaleRow =
        tensor->blockRows
            ? (region.firstRow + row) / tensor->blockRows - firstRow
            : 0;
    const float *rowScales = &scales[scaleRow * count];
    float *to = values + row * region.columns;
    for (uint64_t i = 0; i < region.columns; ++i) {
      uint64_t block =
          tensor->blockColumns
              ? (region.firstColumn + i) / tensor->blockColumns - first
              : 0;
      float value = to[i] * rowScales[block];
      to[i] = divides ? value / global : value * global;
    }
  }
  return "";
}
