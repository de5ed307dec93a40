//===- ScaleData.cpp - what the bytes of scales say -----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScaleData.h"
#include "blockscale/HW/ScaleLayout.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace blockscale;
using namespace blockscale::checkpoint;

static constexpr uint64_t kPieceBytes = uint64_t(1) << 20;
/// Bytes below and above these are exponents that no scale of a model has.
static constexpr double kSmallestByte = 64, kLargestByte = 254;

static void add(ScaleSummary &summary, double value, uint64_t times) {
  summary.count += times;
  if (std::isnan(value)) {
    summary.nans += times;
    return;
  }
  if (std::signbit(value) && value != 0)
    summary.negatives += times;
  if (std::isinf(value)) {
    summary.infinities += times;
    return;
  }
  if (value > 0) {
    summary.smallest = std::min(summary.smallest, value);
    summary.largest = std::max(summary.largest, value);
  }
  int exponent;
  summary.powersOfTwo &= std::frexp(value, &exponent) == 0.5;
  summary.looksLikeBytes &= value >= kSmallestByte && value <= kLargestByte &&
                            value == std::floor(value);
}

/// Counts bytes. Neighbours are counted apart: an equal one would wait for the
/// other's sum.
static void countBytes(const std::vector<uint8_t> &bytes,
                       std::array<uint64_t, 256> &histogram) {
  constexpr size_t kApart = 8;
  std::array<std::array<uint32_t, 256>, kApart> counts{};
  size_t i = 0;
  for (; i + kApart <= bytes.size(); i += kApart)
    for (size_t j = 0; j < kApart; ++j)
      ++counts[j][bytes[i + j]];
  for (; i < bytes.size(); ++i)
    ++counts[0][bytes[i]];
  for (unsigned code = 0; code < 256; ++code)
    for (const auto &each : counts)
      histogram[code] += each[code];
}

/// Bytes are counted, and each of the 256 looked at once.
static void addBytes(ScaleSummary &summary, ElementFormat format,
                     const std::array<uint64_t, 256> &histogram) {
  // e4m3 with a sign is a negative scale, which hardware reads without it.
  ElementFormat read =
      format == ElementFormat::UE4M3 ? ElementFormat::E4M3 : format;
  for (unsigned code = 0; code < 256; ++code)
    if (histogram[code])
      add(summary, decode(read, code), histogram[code]);
}

static double numberAt(const uint8_t *at, DType type) {
  if (type == DType::F32) {
    float value;
    std::memcpy(&value, at, sizeof(value));
    return value;
  }
  if (type == DType::F64) {
    double value;
    std::memcpy(&value, at, sizeof(value));
    return value;
  }
  ElementFormat format = type == DType::BF16  ? ElementFormat::BF16
                         : type == DType::F16 ? ElementFormat::F16
                                              : *elementFormat(type);
  uint32_t code = at[0];
  if (dtypeBits(type) == 16)
    code |= uint32_t(at[1]) << 8;
  return decode(format, code);
}

static bool isNumber(DType type) {
  return type == DType::F32 || type == DType::F64 || type == DType::BF16 ||
         type == DType::F16;
}

Result<ScaleSummary>
checkpoint::summarizeScales(const Checkpoint &checkpoint, const Tensor &tensor,
                            std::optional<ElementFormat> format) {
  bool isBytes = dtypeBits(tensor.dtype) == 8 && format;
  if (!isBytes && !isNumber(tensor.dtype))
    return Reason("scales of type " + std::string(dtypeName(tensor.dtype)) +
                  " are not read");
  ScaleSummary summary;
  std::array<uint64_t, 256> histogram{};
  std::vector<uint8_t> piece(std::min(tensor.bytes, kPieceBytes));
  unsigned width = dtypeBits(tensor.dtype) / 8;
  for (uint64_t done = 0; done < tensor.bytes; done += piece.size()) {
    piece.resize(std::min<uint64_t>(piece.size(), tensor.bytes - done));
    if (std::string error =
            checkpoint.read(tensor, done, piece.data(), piece.size());
        !error.empty())
      return Reason(error);
    if (isBytes)
      countBytes(piece, histogram);
    else
      for (size_t i = 0; i + width <= piece.size(); i += width)
        add(summary, numberAt(&piece[i], tensor.dtype), 1);
  }
  if (isBytes)
    addBytes(summary, *format, histogram);
  return summary;
}

Result<double> checkpoint::readNumber(const Checkpoint &checkpoint,
                                      const Tensor &tensor) {
  if (!isNumber(tensor.dtype) || tensor.bytes == 0)
    return Reason("'" + tensor.name + "' is " +
                  std::string(dtypeName(tensor.dtype)) + " " +
                  printShape(tensor.shape) + ", expected one number of F32");
  uint8_t bytes[8] = {};
  if (std::string error =
          checkpoint.read(tensor, 0, bytes, dtypeBits(tensor.dtype) / 8);
      !error.empty())
    return Reason(error);
  return numberAt(bytes, tensor.dtype);
}

std::string checkpoint::readNumbers(const Checkpoint &checkpoint,
                                    const Tensor &tensor,
                                    std::optional<ElementFormat> format,
                                    std::vector<float> &numbers) {
  std::vector<uint8_t> bytes(tensor.bytes);
  std::string error = checkpoint.read(tensor, 0, bytes.data(), bytes.size());
  if (!error.empty())
    return error;
  unsigned width = dtypeBits(tensor.dtype) / 8;
  bool isBytes = width == 1 && format;
  numbers.resize(bytes.size() / width);
  for (size_t i = 0; i < numbers.size(); ++i)
    numbers[i] =
        isBytes ? decode(*format, bytes[i])
                : static_cast<float>(numberAt(&bytes[i * width], tensor.dtype));
  return "";
}

Result<PaddingOrders> checkpoint::findPadding(const Checkpoint &checkpoint,
                                              const QuantizedTensor &tensor) {
  // Extents of 0 may stand beside any others.
  if (tensor.scales->bytes == 0)
    return PaddingOrders{};
  uint64_t rows = tensor.scaleRows(), columns = tensor.scaleColumns();
  hw::StorageLayout<uint64_t> storage = hw::storageLayout(
      hw::kTiledScales, {{hw::Dim::Row, rows}, {hw::Dim::Block, columns}});
  uint64_t paddedRows = hw::ceilDiv(rows, hw::kAtomRows) * hw::kAtomRows;
  uint64_t paddedColumns = storage.matrixBytes / paddedRows;
  auto place = [&](uint64_t row, uint64_t column) {
    return storage.offset({{hw::Dim::Row, row}, {hw::Dim::Block, column}});
  };
  PaddingOrders orders;
  std::vector<uint8_t> matrix(storage.matrixBytes);
  for (uint64_t batch = 0; batch < tensor.batch(); ++batch) {
    if (std::string error =
            checkpoint.read(*tensor.scales, batch * matrix.size(),
                            matrix.data(), matrix.size());
        !error.empty())
      return Reason(error);
    for (uint64_t row = 0; row < paddedRows; ++row)
      for (uint64_t column = row < rows ? columns : 0; column < paddedColumns;
           ++column) {
        uint64_t once = place(row, column);
        uint64_t twice = place(once / paddedColumns, once % paddedColumns);
        orders.rows &= matrix[row * paddedColumns + column] == 0;
        orders.tiled &= matrix[once] == 0;
        orders.tiledTwice &= matrix[twice] == 0;
      }
  }
  return orders;
}
