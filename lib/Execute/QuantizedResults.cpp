//===- QuantizedResults.cpp - scales and codes of results -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The bound of a scale is its own: what the largest magnitude of its tile may
// differ by. That is the bound of sums, 2^-18 of the largest number (or 2^-7
// where a number follows from codes of other sums), which CheckFunctions.h
// promises of results that nothing quantises; 2^-18 times the largest sum where
// tanh and the like make another number of it; a step of f16 or bf16 where the
// numbers are rounded to these first; and for a tensor scale that follows from
// the data the last bits of its inverse, which is not stored. The reference's
// rule makes the least and the largest scale of the ends of that range. Rules
// do not fall, so that all between are those of some magnitude between, and no
// other is.
//
//===----------------------------------------------------------------------===//

#include "QuantizedResults.h"
#include "CompareResults.h"
#include "blockscale/Dialect/Blockscale/IR/LayoutOfScales.h"
#include "blockscale/Dialect/Blockscale/IR/Layouts.h"
#include "blockscale/Reference/Quantize.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>
#include <cstring>
#include <iomanip>
#include <limits>
#include <sstream>

using namespace mlir;
using namespace blockscale;
using namespace blockscale::execute;

bool execute::isScale(ScaledTensorType type, size_t part) {
  const ScaleSpec &spec = type.getSpec().getValue();
  return !spec.isUnscaled() && (part == 1 || (part == 2 && spec.tensorScale));
}

Difference execute::differenceOf(QuantizeOp quantizer,
                                 Differences &differences) {
  Difference difference = differences.of(quantizer.getInput());
  if (Value given = quantizer.getTensorScale())
    difference = std::max(difference, differences.of(given));
  return difference;
}

//===----------------------------------------------------------------------===//
// The rule
//===----------------------------------------------------------------------===//

/// How the op quantises; none where the reference does not say.
static std::optional<reference::Quantization> ruleOf(QuantizeOp op) {
  ScaledTensorType type = op.getResult().getType();
  const ScaleSpec &spec = type.getSpec().getValue();
  std::optional<NumberSpec> number = getNumberSpec(type.getElementType());
  bool isKnown = number && !number->isCodebook() && spec.scale && !spec.zero &&
                 !spec.isSparse() && !op.getOffsets() &&
                 !(op.getTensorScale() && !spec.tensorScale) &&
                 isa<FloatType>(op.getInput().getType().getElementType());
  if (!isKnown)
    return std::nullopt;
  std::optional<ElementFormat> element = elementFormat(*number), scale;
  Type scaleType = getTensorParts(type)->scales.getElementType();
  if (!scaleType.isF32()) {
    scale = scaleFormat(*spec.scale);
    if (!scale)
      scale = elementFormat(*spec.scale);
    if (!scale)
      return std::nullopt;
  }
  if (!element)
    return std::nullopt;
  reference::Quantization rule{*element, scale,
                               stringifyScaleRule(op.getRule()).str(),
                               stringifyElementRounding(op.getRounding()).str(),
                               uint64_t(op.getSeed().value_or(0))};
  if (reference::whyNot(rule))
    return std::nullopt;
  return rule;
}

namespace {
/// The first number of a tile.
struct Tile {
  uint64_t matrix, row, column;
};

/// A row of a tile, with the least and the largest that its numbers may be.
struct Row {
  /// The number of the first of them in the row-major order of the input.
  uint64_t first = 0;
  std::vector<float> values, least, most;
};

class Comparison {
public:
  Comparison(QuantizeOp op, reference::Quantization rule, double part,
             const HostArray &numbers, const ScaledParts &parts,
             FunctionVerdict &verdict);

  void compare();

private:
  void compareTensorScales();
  /// With the place of its scale.
  void compareTile(const Tile &tile, uint64_t at);
  /// Whether it is one that the tile may have.
  bool compareScale(const std::vector<Row> &rowsOfScale, uint64_t at,
                    const Tile &tile,
                    std::optional<reference::TensorScale> factor);
  void compareCodes(const Row &row, uint32_t scale,
                    std::optional<reference::TensorScale> factor);
  void compareEqually(size_t part, uint64_t at);
  Row rowAt(uint64_t first, uint64_t count) const;
  std::optional<reference::TensorScale> factorOf(uint64_t matrix) const;
  double valueOf(uint32_t scale) const;
  /// What arrays have of an element, where integers count in 1.
  double codeAsNumber(uint8_t code) const;
  double largestOfMatrix(uint64_t matrix) const;
  uint64_t placeOfElement(uint64_t element) const;
  std::string nameOfBlock(const Tile &tile) const;
  std::string nameOf(size_t part) const {
    return "result " + std::to_string(parts.first + part);
  }

  ScaledTensorType type;
  reference::Quantization rule;
  const HostArray &numbers;
  const ScaledParts &parts;
  FunctionVerdict &verdict;
  /// What a number may be off by, and as a part of itself.
  double bound, step = 0;
  uint64_t rows, k, matrices = 1;
  uint64_t rowsOfTile, lengthOfTile;
};
} // namespace

Comparison::Comparison(QuantizeOp op, reference::Quantization rule, double part,
                       const HostArray &numbers, const ScaledParts &parts,
                       FunctionVerdict &verdict)
    : type(op.getResult().getType()), rule(std::move(rule)), numbers(numbers),
      parts(parts), verdict(verdict), bound(part * largestOf(numbers)),
      rows(uint64_t(numbers.sizes[numbers.sizes.size() - 2])),
      k(uint64_t(numbers.sizes.back())),
      rowsOfTile(type.getRowTile() ? uint64_t(type.getRowTile()) : rows),
      lengthOfTile(type.getKTile() ? uint64_t(type.getKTile()) : k) {
  auto element = cast<FloatType>(numbers.element);
  if (!element.isF32())
    step = relativeStep(element);
  if (rows * k != 0)
    matrices = numbers.count() / (rows * k);
}

//===----------------------------------------------------------------------===//
// Places and numbers
//===----------------------------------------------------------------------===//

uint64_t Comparison::placeOfElement(uint64_t element) const {
  if (type.getOrder() == DataOrder::KMajor)
    return element;
  uint64_t matrix = element / k / rows, row = element / k % rows;
  return (matrix * k + element % k) * rows + row;
}

Row Comparison::rowAt(uint64_t first, uint64_t count) const {
  Row row;
  row.first = first;
  for (uint64_t i = first; i < first + count; ++i) {
    double value = numbers.valueOf(i);
    double distance = bound + step * std::fabs(value);
    row.values.push_back(float(value));
    row.least.push_back(float(value - distance));
    row.most.push_back(float(value + distance));
  }
  return row;
}

std::optional<reference::TensorScale>
Comparison::factorOf(uint64_t matrix) const {
  if (!type.getSpec().getValue().tensorScale)
    return std::nullopt;
  return reference::TensorScale(float(parts.found[2].valueOf(matrix)));
}

double Comparison::valueOf(uint32_t scale) const {
  if (rule.scale)
    return decode(*rule.scale, scale);
  float value;
  std::memcpy(&value, &scale, sizeof(value));
  return value;
}

double Comparison::codeAsNumber(uint8_t code) const {
  bool isInteger = formatInfo(rule.element).isInteger();
  return isInteger ? int8_t(code) : decode(rule.element, code);
}

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

static bool areEqual(double x, double y) {
  return x == y || (std::isnan(x) && std::isnan(y));
}

void Comparison::compareEqually(size_t part, uint64_t at) {
  double expected = parts.expected[part].valueOf(at),
         found = parts.found[part].valueOf(at);
  ++verdict.compared;
  if (areEqual(expected, found))
    return;
  countDifference(verdict, std::numeric_limits<double>::infinity(), [&] {
    return nameOf(part) + ", element " +
           placeOf(parts.expected[part].sizes, at) + ": " +
           textOf(expected, found);
  });
}

double Comparison::largestOfMatrix(uint64_t matrix) const {
  double largest = 0;
  for (uint64_t i = matrix * rows * k; i < (matrix + 1) * rows * k; ++i)
    largest = std::max(largest, std::fabs(numbers.valueOf(i)));
  return largest;
}

/// Each is off by what the largest magnitude of its matrix is, and by a step of
/// its type to either side of a rounding.
void Comparison::compareTensorScales() {
  const HostArray &expected = parts.expected[2];
  double ofType = 2 * relativeStep(cast<FloatType>(expected.element));
  for (uint64_t i = 0; i < matrices; ++i) {
    double x = expected.valueOf(i), y = parts.found[2].valueOf(i);
    ++verdict.compared;
    if (areEqual(x, y))
      continue;
    double relative = ofType + step + bound / largestOfMatrix(i);
    countDifference(verdict, std::fabs(x - y) / (relative * std::fabs(x)), [&] {
      return nameOf(2) + ", matrix " + std::to_string(i) + ": " + textOf(x, y);
    });
  }
}

std::string Comparison::nameOfBlock(const Tile &tile) const {
  std::string matrix =
      matrices > 1 ? std::to_string(tile.matrix) + "x" : std::string();
  return "scale of block " + matrix + std::to_string(tile.row / rowsOfTile) +
         "x" + std::to_string(tile.column / lengthOfTile);
}

/// Where there is one legal scale, it is the one that is expected.
static std::string textOfRange(double least, double most) {
  if (least == most)
    return "";
  std::ostringstream text;
  text << std::setprecision(9) << "; legal from " << least << " to " << most;
  return text.str();
}

/// The least and the largest magnitude that the largest one of a tile may have.
static std::pair<float, float> endsOf(const std::vector<Row> &tile) {
  float least = 0, most = 0;
  for (const Row &row : tile)
    for (auto [low, high] : llvm::zip_equal(row.least, row.most)) {
      bool isAround0 = low <= 0 && high >= 0;
      least = std::max(
          least, isAround0 ? 0 : std::min(std::fabs(low), std::fabs(high)));
      most = std::max({most, std::fabs(low), std::fabs(high)});
    }
  return {least, most};
}

bool Comparison::compareScale(const std::vector<Row> &rowsOfScale, uint64_t at,
                              const Tile &tile,
                              std::optional<reference::TensorScale> factor) {
  // The inverse of a tensor scale is that of what is stored, or what that was
  // the inverse of.
  constexpr float kInverse = 0x1p-21f;
  double expected = parts.expected[1].valueOf(at),
         found = parts.found[1].valueOf(at);
  ++verdict.compared;
  if (areEqual(expected, found))
    return true;
  auto [low, high] = endsOf(rowsOfScale);
  if (factor) {
    low *= 1 - kInverse;
    high *= 1 + kInverse;
  }
  auto least = reference::candidates(rule, low, factor),
       most = reference::candidates(rule, high, factor);
  auto code = uint32_t(parts.found[1].bitsOf(at).getZExtValue());
  bool isLegal = (least.first <= code && code <= most.first) ||
                 (least.second <= code && code <= most.second);
  countDifference(
      verdict, isLegal ? 1 : std::numeric_limits<double>::infinity(), [&] {
        return nameOf(1) + ", " + nameOfBlock(tile) + ": " +
               textOf(expected, found) +
               textOfRange(valueOf(least.first), valueOf(most.second));
      });
  return isLegal;
}

void Comparison::compareCodes(const Row &row, uint32_t scale,
                              std::optional<reference::TensorScale> factor) {
  auto under = [&](const std::vector<float> &values) {
    return reference::quantizeUnder(rule, scale, values, factor, row.first);
  };
  std::vector<uint8_t> middle = under(row.values), least = under(row.least),
                       most = under(row.most);
  for (size_t i = 0; i < middle.size(); ++i) {
    uint64_t at = placeOfElement(row.first + i);
    auto code = uint8_t(parts.found[0].bitsOf(at).getZExtValue());
    auto number = [&](uint8_t one) { return decode(rule.element, one); };
    double found = number(code), expected = number(middle[i]);
    ++verdict.compared;
    if (code == middle[i] || areEqual(found, expected))
      continue;
    double end = number((found > expected ? most : least)[i]);
    countDifference(
        verdict, std::fabs(found - expected) / std::fabs(end - expected), [&] {
          return nameOf(0) + ", element " +
                 placeOf(parts.expected[0].sizes, at) + ": " +
                 textOf(codeAsNumber(middle[i]), codeAsNumber(code));
        });
  }
}

static bool hasNaN(const std::vector<Row> &tile) {
  return llvm::any_of(tile, [](const Row &row) {
    return llvm::any_of(row.values, [](float x) { return std::isnan(x); });
  });
}

void Comparison::compareTile(const Tile &tile, uint64_t at) {
  std::vector<Row> ofTile;
  uint64_t count = std::min(lengthOfTile, k - tile.column);
  uint64_t end = std::min(tile.row + rowsOfTile, rows);
  for (uint64_t row = tile.row; row < end; ++row)
    ofTile.push_back(
        rowAt((tile.matrix * rows + row) * k + tile.column, count));
  // A NaN is one whatever the others are.
  if (hasNaN(ofTile)) {
    compareEqually(1, at);
    for (const Row &row : ofTile)
      for (uint64_t i = 0; i < count; ++i)
        compareEqually(0, placeOfElement(row.first + i));
    return;
  }
  std::optional<reference::TensorScale> factor = factorOf(tile.matrix);
  // No code is right under a wrong scale.
  if (!compareScale(ofTile, at, tile, factor)) {
    verdict.compared += ofTile.size() * count;
    return;
  }
  auto scale = uint32_t(parts.found[1].bitsOf(at).getZExtValue());
  for (const Row &row : ofTile)
    compareCodes(row, scale, factor);
}

void Comparison::compare() {
  if (parts.expected.size() > 2)
    compareTensorScales();
  uint64_t tileRows = llvm::divideCeil(rows, std::max<uint64_t>(rowsOfTile, 1)),
           tiles = llvm::divideCeil(k, std::max<uint64_t>(lengthOfTile, 1));
  auto storage =
      hw::storageLayout(getScaleStorage(getScaleLayout(type)),
                        {{hw::Dim::Row, tileRows}, {hw::Dim::Block, tiles}});
  std::vector<bool> isOfTile(parts.expected[1].count());
  for (uint64_t matrix = 0; matrix < matrices; ++matrix)
    for (uint64_t row = 0; row < tileRows; ++row)
      for (uint64_t column = 0; column < tiles; ++column) {
        uint64_t at = storage.offset({{hw::Dim::Batch, matrix},
                                      {hw::Dim::Row, row},
                                      {hw::Dim::Block, column}});
        isOfTile[at] = true;
        compareTile({matrix, row * rowsOfTile, column * lengthOfTile}, at);
      }
  // What pads the scales.
  for (uint64_t at = 0; at < isOfTile.size(); ++at)
    if (!isOfTile[at])
      compareEqually(1, at);
}

bool execute::compareQuantized(QuantizeOp quantizer, double part,
                               const HostArray &numbers,
                               const ScaledParts &parts,
                               FunctionVerdict &verdict) {
  std::optional<reference::Quantization> rule = ruleOf(quantizer);
  auto haveSizesOf = [](const auto &both) {
    return std::get<0>(both).sizes == std::get<1>(both).sizes;
  };
  bool areAlike =
      llvm::all_of(llvm::zip_equal(parts.expected, parts.found), haveSizesOf);
  if (!rule || !areAlike)
    return false;
  Comparison(quantizer, *rule, part, numbers, parts, verdict).compare();
  return true;
}
