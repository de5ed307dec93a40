//===- QuantizedResultChecker.cpp - judge codes and scales of D -----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "QuantizedResultChecker.h"
#include "QuantizedResultPlan.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace blockscale;
using namespace blockscale::verify;

ResultChecker::ResultChecker(const plan::Kernel &kernel,
                             const plan::Environment &sizes,
                             const Inputs &inputs,
                             reference::Criterion criterion, bool isSampled,
                             Verdict &verdict)
    : problem(inputs.problem), inputs(inputs), criterion(criterion),
      isSampled(isSampled), verdict(verdict), rule(*ruleOf(kernel)),
      size(blockOf(kernel)), rowsOfScale(rowsOf(kernel)),
      tileSize(tileOf(kernel)), isGiven(hasGivenScale(kernel)),
      arePlain(plainOf(kernel)),
      scaleBytes(arePlain ? plan::plainBytes(plainOf(kernel)->format) : 1),
      blocks(problem.resultColumns() / size), atoms((blocks + 3) / 4),
      matrixBytes((problem.m + 127) / 128 * atoms * 512),
      codeBytes(packedBytes(rule.element, size)),
      linePitch(*evaluateSize(ofResult(kernel.data)->linePitch, sizes)),
      batchPitch(*evaluateSize(ofResult(kernel.data)->batchPitch, sizes)),
      codes(inputs.data, "d_data"), scales(inputs.data, "d_scales") {
  auto found = inputs.data.memory.find("tensor_scale");
  if (found == inputs.data.memory.end())
    return;
  factors.resize(matricesOf(inputs));
  std::memcpy(factors.data(),
              found->second.data() + found->second.size() -
                  factors.size() * sizeof(float),
              factors.size() * sizeof(float));
}

uint64_t ResultChecker::placeOf(const ResultBlock &block) const {
  if (isGiven)
    return block.matrix * scaleBytes;
  if (arePlain) {
    uint64_t ofMatrix = (problem.m + rowsOfScale - 1) / rowsOfScale;
    uint64_t line = block.matrix * ofMatrix + block.row / rowsOfScale;
    return (line * blocks + block.number) * scaleBytes;
  }
  return block.matrix * matrixBytes +
         scaleOffset(block.rowOfScales, block.number, atoms);
}

uint32_t ResultChecker::scaleFound(const ResultBlock &block) const {
  uint32_t code = 0;
  for (uint64_t i = 0; i < scaleBytes; ++i)
    code |= uint32_t(scales.found(placeOf(block) + i)) << (8 * i);
  return code;
}

std::optional<reference::TensorScale>
ResultChecker::factorOf(const ResultBlock &block) const {
  if (factors.empty() || isGiven)
    return std::nullopt;
  return reference::TensorScale(factors[block.matrix]);
}

void ResultChecker::note(const ResultBlock &block, const std::string &what) {
  ++verdict.comparison.mismatches;
  if (verdict.diagnosis.empty())
    verdict.diagnosis = "matrix " + std::to_string(block.matrix) + ", row " +
                        std::to_string(block.row) + ", block " +
                        std::to_string(block.number) + ": " + what;
}

std::string ResultChecker::text(uint32_t code) const {
  std::string digits;
  for (uint64_t i = scaleBytes; i-- > 0;)
    digits += hex(code >> (8 * i) & 0xff).substr(2);
  return "0x" + digits;
}

/// How small and how large an element may be before it is quantised.
static reference::Range endsAround(const reference::Problem &product,
                                   reference::Criterion criterion,
                                   uint64_t batch, uint64_t row,
                                   uint64_t column, double value,
                                   const reference::Sums &sums) {
  if (product.formula)
    return reference::legalResults(product, criterion, batch, row, column,
                                   sums);
  double bound =
      reference::errorBound(product, criterion, batch, row, column, sums);
  auto rounded = [&](double number) {
    return bound ? reference::roundToOutput(product.output, float(number))
                 : float(number);
  };
  return {rounded(value - bound), rounded(value + bound), false};
}

ResultBlock ResultChecker::blockAt(const ResultRows &rows,
                                   const reference::TileResult &result,
                                   uint64_t row, uint64_t column) const {
  const reference::Tile &tile = result.tile;
  row += tile.row;
  ResultBlock block;
  block.matrix = rows.matrix + tile.batch;
  block.row = rows.first + row;
  block.rowOfScales = rows.firstOfScales + row;
  block.number = (tile.column + column) / size;
  const reference::Problem &product = rows.product;
  bool isExact = criterion == reference::Criterion::Exact &&
                 (!product.formula || product.formula->isExact());
  for (uint64_t i = 0; i < size; ++i) {
    uint64_t at = (row - tile.row) * tile.columns + column + i;
    double value = result.d[at];
    reference::Range ends = reference::Range::of(value);
    if (!isExact && std::isfinite(value))
      ends = endsAround(product, criterion, tile.batch, row,
                        tile.column + column + i, value, result.sums(at));
    // A NaN has no ends.
    bool isNumber = !std::isnan(value);
    block.values.push_back(float(value));
    block.least.push_back(float(isNumber ? ends.lo : value));
    block.most.push_back(float(isNumber ? ends.hi : value));
  }
  return block;
}

bool ResultChecker::isUntouched(const ResultBlock &block) const {
  for (uint64_t i = 0; hasScale(block) && i < scaleBytes; ++i)
    if (scales.found(placeOf(block) + i) != kBeforeQuantized)
      return false;
  for (uint64_t i = 0; i < codeBytes; ++i)
    if (codes.found(codesOf(block) + i) != kBeforeQuantized)
      return false;
  return true;
}

void ResultChecker::checkExactly(const ResultBlock &block,
                                 const ResultBlock &tile) {
  reference::QuantizedBlock expected;
  if (isGiven)
    expected.scale = reference::givenScale(rule, factors[block.matrix]);
  else
    expected = reference::quantizeBlock(rule, tile.values, factorOf(block),
                                        firstOf(tile));
  if (isGiven || rowsOfScale > 1 || tileSize > size)
    expected.codes = reference::quantizeUnder(
        rule, expected.scale, block.values, factorOf(block), firstOf(block));
  uint64_t first = codesOf(block);
  if (hasScale(block) && scaleFound(block) != expected.scale)
    note(block, "expected scale " + text(expected.scale) + ", found " +
                    text(scaleFound(block)));
  std::vector<uint8_t> packed(codeBytes);
  packElements(rule.element, expected.codes.data(), size, packed.data());
  for (uint64_t i = 0; i < codeBytes; ++i)
    if (codes.found(first + i) != packed[i])
      note(block, "byte " + std::to_string(i) + " of the codes: expected " +
                      hex(packed[i]) + ", found " +
                      hex(codes.found(first + i)));
}

void ResultChecker::checkWithin(const ResultBlock &block,
                                const ResultBlock &tile) {
  uint32_t scale = scaleFound(block);
  if (isGiven) {
    uint32_t given = reference::givenScale(rule, factors[block.matrix]);
    if (hasScale(block) && scale != given)
      note(block, "expected scale " + text(given) + ", found " + text(scale));
    return checkCodesWithin(block, given);
  }
  std::vector<float> low(tile.least.size()), high(tile.least.size());
  for (uint64_t i = 0; i < low.size(); ++i) {
    bool isAround0 = tile.least[i] <= 0 && tile.most[i] >= 0;
    float x = std::fabs(tile.least[i]), y = std::fabs(tile.most[i]);
    low[i] = isAround0 ? 0 : std::min(x, y);
    high[i] = std::max(x, y);
  }
  auto scalesOf = [&](const std::vector<float> &magnitudes) {
    float largest = *std::max_element(magnitudes.begin(), magnitudes.end());
    return reference::candidates(rule, largest, factorOf(block));
  };
  auto least = scalesOf(low), most = scalesOf(high);
  bool isFirst = least.first <= scale && scale <= most.first;
  bool isSecond = least.second <= scale && scale <= most.second;
  if (!isFirst && !isSecond)
    return note(block, "expected a scale of " + text(least.first) + " to " +
                           text(most.second) + ", found " + text(scale));
  checkCodesWithin(block, scale);
}

void ResultChecker::checkCodesWithin(const ResultBlock &block, uint32_t scale) {
  std::vector<uint8_t> found(size);
  std::vector<uint8_t> packed(codeBytes);
  for (uint64_t i = 0; i < codeBytes; ++i)
    packed[i] = codes.found(codesOf(block) + i);
  unpackElements(rule.element, packed.data(), size, found.data());
  auto under = [&](const std::vector<float> &values) {
    return reference::quantizeUnder(rule, scale, values, factorOf(block),
                                    firstOf(block));
  };
  std::vector<uint8_t> from = under(block.least), to = under(block.most);
  for (uint64_t i = 0; i < size; ++i) {
    float number = decode(rule.element, found[i]);
    // A NaN is no larger than another.
    if (found[i] != from[i] && !(number >= decode(rule.element, from[i]) &&
                                 number <= decode(rule.element, to[i])))
      note(block, "element " + std::to_string(i) + ": expected " +
                      hex(from[i]) + " to " + hex(to[i]) + ", found " +
                      hex(found[i]));
  }
}

void ResultChecker::check(const ResultBlock &block, const ResultBlock &tile) {
  if (isSampled && isUntouched(block))
    return;
  // A NaN is one whatever the others are, which a given scale does not become.
  bool hasNaN = std::any_of(tile.values.begin(), tile.values.end(),
                            [](float value) { return std::isnan(value); });
  if ((hasNaN && !isGiven) ||
      (tile.least == tile.values && tile.most == tile.values))
    checkExactly(block, tile);
  else
    checkWithin(block, tile);
  codes.accept(codesOf(block), codeBytes);
  if (hasScale(block))
    scales.accept(placeOf(block), scaleBytes);
  verdict.comparison.compared += size + 1;
}

void ResultChecker::checkTile(const ResultRows &rows,
                              const reference::TileResult &result, uint64_t row,
                              uint64_t column) {
  std::vector<ResultBlock> blocksOfTile;
  uint64_t end = std::min(row + rowsOfScale, result.tile.rows);
  for (uint64_t next = row; next < end; ++next)
    for (uint64_t first = 0; first < tileSize; first += size)
      blocksOfTile.push_back(blockAt(rows, result, next, column + first));
  ResultBlock tile = blocksOfTile.front();
  for (size_t i = 1; i < blocksOfTile.size(); ++i)
    tile.join(blocksOfTile[i]);
  for (const ResultBlock &block : blocksOfTile)
    check(block, tile);
}

/// Tiles hold all rows and columns of a scale.
void ResultChecker::check(const ResultRows &rows, const Multiply &multiply) {
  constexpr uint64_t kColumns = 128;
  uint64_t columns = std::max<uint64_t>(1, kColumns / tileSize) * tileSize;
  for (const reference::TileResult &result : multiply(rows.product, columns))
    for (uint64_t row = 0; row < result.tile.rows; row += rowsOfScale)
      for (uint64_t column = 0; column < result.tile.columns;
           column += tileSize)
        checkTile(rows, result, row, column);
  checkPadding(rows);
}

/// The padding of scales is 0; floats have none.
void ResultChecker::checkPadding(const ResultRows &rows) {
  if (arePlain)
    return;
  for (uint64_t matrix = 0; matrix < rows.product.batch; ++matrix)
    for (uint64_t row = 0; row < rows.ofScales(); ++row)
      for (uint64_t block = 0; block < atoms * 4; ++block) {
        uint64_t at = (rows.matrix + matrix) * matrixBytes +
                      scaleOffset(rows.firstOfScales + row, block, atoms);
        bool isPadding = row >= rows.product.m || block >= blocks;
        bool isThere = !isSampled || scales.found(at) != kBeforeQuantized;
        if (isPadding && isThere)
          *scales.at(at) = 0;
      }
}

/// Nothing else is written.
void ResultChecker::finish() {
  uint64_t wrong = codes.differences() + scales.differences();
  if (!factors.empty() && !isGiven) {
    MemoryImage stored(inputs.data, "d_tensor_scale");
    for (uint64_t i = 0; i < factors.size(); ++i) {
      // Whoever has rows of a matrix writes its scale.
      if (inputs.isMasked && inputs.groupEnds[i] == 0)
        continue;
      float magnitude = std::fabs(factors[i]);
      std::memcpy(stored.at(i * sizeof(float)), &magnitude, sizeof(float));
      if (isSampled)
        stored.accept(i * sizeof(float), sizeof(float));
    }
    wrong += stored.differences();
  }
  verdict.comparison.mismatches += wrong;
  if (wrong && verdict.diagnosis.empty())
    verdict.diagnosis =
        "bytes of the padding, of a tensor scale, or in front of the results "
        "are not what they should be";
}
