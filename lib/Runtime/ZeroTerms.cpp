//===- ZeroTerms.cpp - terms of zero points in real units -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ZeroTerms.h"
#include "OperandLines.h"
#include "PlacedScales.h"
#include "ZeroPoints.h"
#include "blockscale/Formats/Format.h"
#include "blockscale/Formats/NumberCodes.h"

#include <algorithm>
#include <cstring>
#include <limits>

using namespace blockscale;
using namespace blockscale::runtime;

std::string runtime::whyNotZeros(const plan::ZeroTerms &terms,
                                 const HostOperands &operands) {
  auto operand = operands.find(terms.operand + "_zeros");
  if (operand == operands.end())
    return "there is no operand '" + terms.operand + "_zeros'";
  return whyNotNumbers(operand->second,
                       int64_t(plan::plainBytes(terms.format)));
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

/// The little-endian number of `bytes` bytes.
static uint32_t codeAt(const uint8_t *from, int64_t bytes) {
  uint32_t code = 0;
  for (int64_t i = bytes; i-- > 0;)
    code = code << 8 | from[i];
  return code;
}

static float floatOf(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

/// Numbers of a format as plans name those of scales and zero points.
static std::vector<double> numbersOf(const HostOperand &operand,
                                     const std::string &format) {
  std::optional<ElementFormat> known = parseFormat(format);
  Result<NumberSpec> spec = parseNumberSpec(format);
  bool isByte = operand.elementBytes == 1 && !known && spec;
  std::vector<double> numbers;
  forEachLine(operand, [&](uint64_t, const uint8_t *line) {
    for (uint64_t i = 0; i < lineElements(operand); ++i) {
      uint32_t code =
          codeAt(line + int64_t(i) * lineStep(operand), operand.elementBytes);
      numbers.push_back(known    ? decode(*known, code)
                        : isByte ? numberOfCode(*spec, code)
                                 : floatOf(code));
    }
  });
  return numbers;
}

namespace {
/// Numbers of tiles of rows and of K: scales or zero points.
struct TileNumbers {
  std::vector<double> numbers;
  /// Rows and elements along K of a tile, and tiles along them.
  uint64_t rows = 1, block = 1, groups = 1, blocks = 1;

  TileNumbers(std::vector<double> given, uint64_t ofRows, uint64_t ofBlock,
              uint64_t allRows, uint64_t k)
      : numbers(std::move(given)),
        rows(ofRows ? ofRows : std::max<uint64_t>(allRows, 1)),
        block(ofBlock ? ofBlock : std::max<uint64_t>(k, 1)),
        groups(tilesOf(allRows, rows)), blocks(tilesOf(k, block)) {}

  double at(uint64_t matrix, uint64_t row, uint64_t k) const {
    return numbers[(matrix * groups + row / rows) * blocks + k / block];
  }

private:
  static uint64_t tilesOf(uint64_t size, uint64_t tile) {
    return size / tile + (size % tile != 0);
  }
};

/// The values of an operand of a product.
class Values {
public:
  /// `readsElements` says whether they are to be added up.
  Values(const plan::Kernel &kernel, const plan::Environment &sizes,
         const HostOperands &operands, bool isA, bool readsElements);

  /// Why they cannot be read; empty if they can.
  std::string why;
  /// Of a sparse operand `k` is what is stored of a row, one of `compression`
  /// elements: what is not is 0, has no zero point and is no part of a sum.
  uint64_t matrices = 1, rows = 0, k = 0, compression = 1;
  /// Zero points; none if the operand has none in real units.
  std::optional<TileNumbers> zeros;

  /// An element under its scales, less its zero point only where that counts in
  /// steps of them.
  double at(uint64_t matrix, uint64_t row, uint64_t k) const;

private:
  double difference(uint64_t matrix, uint64_t line, uint64_t place,
                    uint32_t code) const;
  void readElements(const plan::DataPacking &packing);
  void readSteps(const plan::DataPacking &packing);
  void readPlaced(const plan::ScalePacking &packing,
                  const plan::Environment &sizes);
  const HostOperand *find(const std::string &part, bool isRead = true);
  std::optional<TileNumbers> readTiles(const std::string &part,
                                       const std::string &format,
                                       uint64_t ofRows, uint64_t ofBlock);

  const HostOperands &operands;
  const std::string name;
  const HostOperand *data = nullptr;
  bool isKMajor = true;
  /// The value of each code of up to 16 bits, or of each difference from a zero
  /// point; of longer ones the bits are those of f32, of which the last ones do
  /// not count.
  std::vector<double> values;
  /// Zero points that count in steps of the scales.
  std::optional<ZeroTiles> steps;
  std::optional<TileNumbers> scales, tensorScales;
  /// Scales that instructions read.
  std::optional<PlacedScales> placed;
};
} // namespace

const HostOperand *Values::find(const std::string &part, bool isRead) {
  auto found = operands.find(name + "_" + part);
  if (found == operands.end()) {
    why = "there is no operand '" + name + "_" + part + "'";
    return nullptr;
  }
  if (isRead && found->second.isOnDevice) {
    why = "operand '" + name + "_" + part +
          "' is on the device; the host makes the terms of zero points in real "
          "units from it, so it must be in host memory, or the launch gives '" +
          name +
          "_terms', the sums that a kernel of 'blockscale.tile_sums' "
          "makes";
    return nullptr;
  }
  return &found->second;
}

std::optional<TileNumbers> Values::readTiles(const std::string &part,
                                             const std::string &format,
                                             uint64_t ofRows,
                                             uint64_t ofBlock) {
  const HostOperand *operand = find(part);
  if (!operand)
    return std::nullopt;
  TileNumbers tiles(numbersOf(*operand, format), ofRows, ofBlock / compression,
                    rows, k);
  uint64_t expected = matrices * tiles.groups * tiles.blocks;
  if (tiles.numbers.size() == expected)
    return tiles;
  why = "operand '" + operand->role + "' has " +
        std::to_string(tiles.numbers.size()) + " elements; expected " +
        std::to_string(expected);
  return std::nullopt;
}

void Values::readElements(const plan::DataPacking &packing) {
  std::optional<ElementFormat> format = parseFormat(packing.format);
  constexpr unsigned kMostBits = 16;
  if (packing.bits > kMostBits)
    return;
  if (!format) {
    why = "elements of '" + packing.format + "' are not added up";
    return;
  }
  size_t count =
      packing.source ? packing.source->codes.size() : size_t(1) << packing.bits;
  for (size_t i = 0; i < count; ++i) {
    int64_t code = packing.source ? packing.source->codes[i] : int64_t(i);
    values.push_back(code < 0 ? std::numeric_limits<double>::quiet_NaN()
                              : double(decode(*format, uint32_t(code))));
  }
}

void Values::readSteps(const plan::DataPacking &packing) {
  const HostOperand *given = find("zeros");
  if (!given)
    return;
  steps.emplace(packing, isKMajor ? rows : k, isKMajor ? k : rows, compression);
  uint64_t expected = matrices * steps->ofMatrix();
  if (elementsOf(*given) == expected)
    return steps->read(*given);
  why = "operand '" + given->role + "' has " +
        std::to_string(elementsOf(*given)) + " elements; expected " +
        std::to_string(expected);
}

void Values::readPlaced(const plan::ScalePacking &packing,
                        const plan::Environment &sizes) {
  const HostOperand *given = find("scales");
  if (!given)
    return;
  // Rows of A in groups have scales that begin anew with each.
  const HostOperand *ends = nullptr;
  auto offsets = operands.find(std::string(plan::kOffsetsRole));
  if (name == "a" && offsets != operands.end())
    ends = &offsets->second;
  if (ends && ends->isOnDevice) {
    why =
        "the ends of the groups are on the device; the host makes the terms of "
        "zero points in real units from them and from the scales of 'a', so "
        "they must be in host memory, or the launch gives 'a_terms'";
    return;
  }
  // Of a sparse operand a block has as many elements as are stored.
  plan::ScalePacking stored = packing;
  stored.block /= compression;
  Result<PlacedScales> read =
      PlacedScales::read(stored, sizes, *given, ends, matrices, rows, k);
  if (read)
    placed = std::move(*read);
  else
    why = read.why().text;
}

Values::Values(const plan::Kernel &kernel, const plan::Environment &sizes,
               const HostOperands &operands, bool isA, bool readsElements)
    : operands(operands), name(isA ? "a" : "b") {
  const plan::DataPacking *packing = dataOf(kernel, name + "_data");
  data = find("data", readsElements);
  if (!data || !packing)
    return;
  isKMajor = packing->order != "mn_major";
  compression = compressionOf(kernel, name);
  size_t rank = data->sizes.size();
  matrices = uint64_t(plan::matricesOf(kernel, name, sizes));
  rows = uint64_t(data->sizes[isKMajor ? rank - 2 : rank - 1]);
  k = uint64_t(data->sizes[isKMajor ? rank - 1 : rank - 2]);
  for (const plan::ZeroTerms &terms : kernel.zeroTerms)
    if (terms.operand == name && why.empty())
      zeros = readTiles("zeros", terms.format, terms.rows, terms.block);
  if (!readsElements || !why.empty())
    return;
  readElements(*packing);
  if (packing->source && packing->source->zeros && why.empty())
    readSteps(*packing);
  for (const plan::VectorScales &vector : kernel.vectorScales)
    if (vector.operand == name && why.empty())
      scales = readTiles("scales", vector.format, vector.rows, vector.block);
  for (const plan::ScalePacking &packing : kernel.scales)
    if (packing.operand == name && why.empty())
      readPlaced(packing, sizes);
  for (const plan::TensorScales &tensor : kernel.tensorScales)
    if (tensor.operand == name && why.empty())
      tensorScales = readTiles("tensor_scale", "f32", 0, 0);
}

double Values::difference(uint64_t matrix, uint64_t line, uint64_t place,
                          uint32_t code) const {
  // From 0 on there are as many as codes.
  const auto middle = int64_t(values.size() / 2);
  uint64_t number = matrix * (isKMajor ? rows : k) + line;
  int64_t index = middle + (code & (middle - 1)) - steps->at(number, place);
  // What packs the elements says of others which they are.
  return index >= 0 && index < 2 * middle
             ? values[size_t(index)]
             : std::numeric_limits<double>::quiet_NaN();
}

double Values::at(uint64_t matrix, uint64_t row, uint64_t element) const {
  size_t rank = data->sizes.size();
  uint64_t line = isKMajor ? row : element, place = isKMajor ? element : row;
  int64_t index = int64_t(line) * data->strides[rank - 2] +
                  int64_t(place) * data->strides[rank - 1];
  if (rank > 2)
    index += int64_t(matrix) * data->strides[0];
  uint32_t code =
      codeAt(data->data + index * data->elementBytes, data->elementBytes);
  constexpr uint32_t kIgnored = (1u << 13) - 1;
  double value = values.empty() ? floatOf(code & ~kIgnored)
                 : steps        ? difference(matrix, line, place, code)
                                : values[code & (values.size() - 1)];
  if (scales)
    value *= scales->at(matrix, row, element);
  if (placed)
    value *= placed->at(matrix, row, element);
  return tensorScales ? value * tensorScales->at(matrix, row, element) : value;
}

//===----------------------------------------------------------------------===//
// Terms
//===----------------------------------------------------------------------===//

namespace {
/// Those of one parameter.
struct Terms {
  const Values &own;
  uint64_t count;
  std::vector<float> numbers;

  float &at(uint64_t matrix, uint64_t term, uint64_t row) {
    return numbers[(matrix * count + term) * own.rows + row];
  }
  void addZeros(uint64_t first, uint64_t tiles, uint64_t block);
  void addSums(uint64_t first, uint64_t tiles, uint64_t block, bool lessZeros);
};
} // namespace

void Terms::addZeros(uint64_t first, uint64_t tiles, uint64_t block) {
  for (uint64_t matrix = 0; matrix < own.matrices; ++matrix)
    for (uint64_t tile = 0; tile < tiles; ++tile)
      for (uint64_t row = 0; row < own.rows; ++row)
        at(matrix, first + tile, row) =
            float(own.zeros->at(matrix, row, tile * block));
}

void Terms::addSums(uint64_t first, uint64_t tiles, uint64_t block,
                    bool lessZeros) {
  for (uint64_t matrix = 0; matrix < own.matrices; ++matrix)
    for (uint64_t row = 0; row < own.rows; ++row)
      for (uint64_t tile = 0; tile < tiles; ++tile) {
        double sum = 0;
        uint64_t end = std::min(own.k, (tile + 1) * block);
        for (uint64_t k = tile * block; k < end; ++k)
          sum += own.at(matrix, row, k) -
                 (lessZeros ? own.zeros->at(matrix, row, k) : 0.0);
        at(matrix, first + tile, row) = float(sum);
      }
}

Result<std::vector<uint8_t>>
runtime::packTerms(const plan::Kernel &kernel, const plan::Environment &sizes,
                   const HostOperands &operands,
                   const plan::Parameter &parameter) {
  Result<uint64_t> expected = plan::memoryBytes(kernel, parameter, sizes);
  if (!expected)
    return expected.why();
  const uint64_t bytes = *expected;
  bool isA = parameter.role == plan::kTermsOfA;
  // Its own zero points are terms as they are.
  bool addsUp = std::any_of(kernel.zeroTerms.begin(), kernel.zeroTerms.end(),
                            [&](const plan::ZeroTerms &terms) {
                              return (terms.operand == "a") != isA;
                            });
  Values own(kernel, sizes, operands, isA, addsUp);
  if (!own.why.empty())
    return Reason(own.why);
  uint64_t count = 0;
  for (const plan::ZeroTerms &terms : kernel.zeroTerms) {
    Result<uint64_t> tiles = plan::evaluateSize(terms.count, sizes);
    if (!tiles)
      return tiles.why();
    count += *tiles;
  }
  uint64_t rows = own.matrices * own.rows;
  if (!rows || bytes % (rows * sizeof(float)) != 0 ||
      bytes / (rows * sizeof(float)) != count)
    return Reason(std::to_string(bytes) + " bytes for " +
                  std::to_string(count) + " terms of " + std::to_string(rows) +
                  " rows");
  Terms result{own, count, std::vector<float>(own.matrices * count * own.rows)};
  for (const plan::ZeroTerms &terms : kernel.zeroTerms) {
    Result<uint64_t> first = plan::evaluateSize(terms.first, sizes);
    uint64_t tiles = *plan::evaluateSize(terms.count, sizes);
    if (!first)
      return first.why();
    uint64_t block = terms.block ? terms.block / own.compression
                                 : std::max<uint64_t>(own.k, 1);
    bool isInside = *first <= count && tiles <= count - *first;
    if (!isInside || tiles > own.k / block + (own.k % block != 0))
      return Reason("the plan's terms of zero points of '" + terms.operand +
                    "' are not those of its tiles along K");
    bool isOfA = terms.operand == "a";
    if (isOfA == isA)
      result.addZeros(*first, tiles, block);
    else
      result.addSums(*first, tiles, block, isOfA && own.zeros.has_value());
  }
  std::vector<uint8_t> memory(bytes);
  std::memcpy(memory.data(), result.numbers.data(), bytes);
  return memory;
}
