//===- QuantizedResult.cpp - check products that quantise D ---------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "QuantizedResult.h"
#include "Groups.h"
#include "QuantizedMemory.h"
#include "blockscale/Formats/Text.h"
#include "blockscale/Reference/Quantize.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace blockscale;
using namespace blockscale::verify;

//===----------------------------------------------------------------------===//
// The plan
//===----------------------------------------------------------------------===//

template <typename T> static const T *ofResult(const std::vector<T> &list) {
  for (const T &entry : list)
    if (entry.operand == "d")
      return &entry;
  return nullptr;
}

static std::optional<reference::OutputType>
typeOf(const plan::Quantization &planned) {
  const std::string type = planned.type.value_or("");
  if (type == "f32")
    return reference::OutputType::F32;
  if (type == "bf16")
    return reference::OutputType::BF16;
  if (type == "f16")
    return reference::OutputType::F16;
  return std::nullopt;
}

static constexpr std::string_view kGrouped = "grouped_128x4";

/// The float scales of D, if it has such: one for each tile.
static const plan::VectorScales *floatsOf(const plan::Kernel &kernel) {
  const plan::VectorScales *floats = ofResult(kernel.vectorScales);
  bool isKnown =
      floats && floats->rows && floats->block && floats->format == "f32";
  return isKnown ? floats : nullptr;
}

/// Elements of a row of D for which memory has a scale; 0 if the plan does not
/// say so.
static uint64_t blockOf(const plan::Kernel &kernel) {
  if (const plan::VectorScales *floats = floatsOf(kernel))
    return floats->block;
  const plan::ScalePacking *scales = ofResult(kernel.scales);
  bool isKnown =
      scales && (scales->layout == "tiled_128x4" || scales->layout == kGrouped);
  return isKnown ? scales->block : 0;
}

/// Rows of D that share a scale, and elements of each.
static uint64_t rowsOf(const plan::Kernel &kernel) {
  if (const plan::VectorScales *floats = floatsOf(kernel))
    return floats->rows;
  const plan::ScalePacking *scales = ofResult(kernel.scales);
  return scales ? std::max<uint64_t>(1, scales->rows) : 1;
}
static uint64_t tileOf(const plan::Kernel &kernel) {
  if (const plan::VectorScales *floats = floatsOf(kernel))
    return floats->block;
  return ofResult(kernel.scales)->ownBlock();
}

static Result<reference::Quantization> ruleOf(const plan::Kernel &kernel) {
  const plan::DataPacking *data = ofResult(kernel.data);
  if (!data || !blockOf(kernel))
    return Reason("a kernel that quantises its product has 'data' and 'scales' "
                  "of 'd', the latter in layout 'tiled_128x4' or '" +
                  std::string(kGrouped) +
                  "', or 'vectorScales' of f32 for each tile");
  std::optional<ElementFormat> element = parseFormat(data->format), scale;
  bool isFloat = floatsOf(kernel);
  std::string format = isFloat ? "f32" : ofResult(kernel.scales)->format;
  if (!isFloat)
    scale = parseFormat(format);
  if (!element || (!isFloat && !scale))
    return Reason("'" + data->format + "' with scales '" + format + "'");
  const plan::Quantization &planned = *kernel.quantization;
  reference::Quantization rule{*element, scale, planned.rule, planned.rounding,
                               0};
  if (!planned.seed.empty()) {
    std::optional<uint64_t> number = parseInteger<uint64_t>(planned.seed);
    if (!number)
      return Reason("the seed '" + planned.seed + "' is no number");
    rule.seed = *number;
  }
  if (auto why = reference::whyNot(rule))
    return *why;
  return rule;
}

/// Whether each group has a matrix of D.
static bool hasMatrices(const Inputs &inputs) {
  return inputs.isMasked || inputs.groupsAlongK;
}

/// Whether the rows of all groups are in one matrix.
static bool areInOne(const Inputs &inputs) {
  return !inputs.groupEnds.empty() && !hasMatrices(inputs);
}

/// The product whose corner tells how large a matrix of D is: of groups in one
/// matrix the first that has rows, else its own. Null if it has none.
static std::optional<reference::Problem> productOf(const Inputs &inputs,
                                                   uint64_t matrix) {
  const std::vector<uint64_t> &ends = inputs.groupEnds;
  if (ends.empty())
    return inputs.problem;
  if (inputs.groupsAlongK)
    return problemOfGroup(inputs, matrix);
  auto first = inputs.isMasked
                   ? ends.begin() + int64_t(matrix)
                   : std::find_if(ends.begin(), ends.end(),
                                  [](uint64_t end) { return end > 0; });
  if (first == ends.end() || *first == 0)
    return std::nullopt;
  return problemOfGroup(inputs, size_t(first - ends.begin()));
}

/// The largest magnitude in a corner of a matrix of D.
static double largestOfCorner(const Inputs &inputs, uint64_t matrix) {
  constexpr uint64_t kCorner = 32;
  std::optional<reference::Problem> product = productOf(inputs, matrix);
  if (!product)
    return 0;
  uint64_t number = inputs.groupEnds.empty() ? matrix : 0;
  reference::Tile corner{number, 0, 0, std::min(product->m, kCorner),
                         std::min(product->resultColumns(), kCorner)};
  double largest = 0;
  for (const reference::TileResult &result :
       reference::matmul(*product, {corner}))
    for (double value : result.d)
      if (std::isfinite(value))
        largest = std::max(largest, std::fabs(value));
  return largest;
}

/// Matrices of D that have a tensor scale each.
static uint64_t matricesOf(const Inputs &inputs) {
  return areInOne(inputs) ? 1 : inputs.problem.batch;
}

/// One factor of each matrix, under which scales take most of their values. A
/// sign does not count.
static std::vector<float> tensorScales(const Inputs &inputs,
                                       const reference::Quantization &rule,
                                       uint64_t seed) {
  constexpr float kMostScale = 448;
  std::vector<float> scales;
  for (uint64_t i = 0; i < matricesOf(inputs); ++i) {
    double factor = largestOfCorner(inputs, i) /
                    (kMostScale * formatInfo(rule.element).largest) *
                    std::ldexp(1 + double((seed * 37 + i * 101) % 256) / 256,
                               int(i % 3) - 1);
    scales.push_back(float(factor > 0 ? factor : 1) * (i % 2 ? -1.0f : 1.0f));
  }
  return scales;
}

template <typename T> static std::vector<uint8_t> bytesOf(const T &values) {
  std::vector<uint8_t> bytes(values.size() * sizeof(values[0]));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

std::optional<Reason> verify::addQuantizedResult(const plan::Kernel &kernel,
                                                 const plan::Environment &sizes,
                                                 uint64_t seed,
                                                 Inputs &inputs) {
  Result<reference::Quantization> rule = ruleOf(kernel);
  if (!rule)
    return rule.why();
  std::optional<reference::OutputType> type = typeOf(*kernel.quantization);
  if (!type)
    return Reason("a product that is quantised as '" +
                  kernel.quantization->type.value_or("") + "'");
  const plan::ScalePacking *scales = ofResult(kernel.scales);
  if (scales && areInOne(inputs) != (scales->layout == kGrouped))
    return Reason("scales of groups in layout '" + scales->layout + "'");
  uint64_t columns = inputs.problem.resultColumns();
  if (columns % tileOf(kernel) != 0)
    return Reason(std::to_string(columns) + " columns of D in blocks of " +
                  std::to_string(tileOf(kernel)));
  inputs.problem.output = *type;
  for (const plan::Parameter &parameter : kernel.parameters) {
    if (parameter.operand == "d") {
      Result<uint64_t> bytes = memoryBytes(kernel, parameter, sizes);
      if (!bytes)
        return bytes.why();
      inputs.data.memory[parameter.role].assign(*bytes, kBeforeQuantized);
    }
    if (parameter.role == "tensor_scale")
      inputs.data.memory[parameter.role] =
          bytesOf(tensorScales(inputs, *rule, seed));
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

namespace {
/// The product that some rows of D are, those of a group or all: the matrix and
/// the row in which they begin, and where their scales do. Rows that are
/// counted have no padding below them.
struct Rows {
  const reference::Problem &product;
  uint64_t matrix = 0, first = 0, firstOfScales = 0;
  bool areCounted = false;

  uint64_t ofScales() const {
    if (areCounted)
      return product.m;
    return (product.m + hw::kAtomRows - 1) / hw::kAtomRows * hw::kAtomRows;
  }
};

/// A block of D: what it should be, and how far each number may be off. Its row
/// counts through all of D.
struct Block {
  uint64_t matrix, row, rowOfScales, number;
  std::vector<float> values, least, most;

  /// Adds the numbers of another block under the same scale.
  void join(const Block &other) {
    auto append = [](std::vector<float> &to, const std::vector<float> &from) {
      to.insert(to.end(), from.begin(), from.end());
    };
    append(values, other.values);
    append(least, other.least);
    append(most, other.most);
  }
};

class ResultChecker {
public:
  ResultChecker(const plan::Kernel &kernel, const plan::Environment &sizes,
                const Inputs &inputs, reference::Criterion criterion,
                bool isSampled, Verdict &verdict);

  void check(const Rows &rows, const Multiply &multiply);
  void finish();

private:
  Block blockAt(const Rows &rows, const reference::TileResult &result,
                uint64_t row, uint64_t column) const;
  void checkTile(const Rows &rows, const reference::TileResult &result,
                 uint64_t row, uint64_t column);
  void checkPadding(const Rows &rows);
  /// A block of a row, of a tile with all of these numbers.
  void check(const Block &block, const Block &tile);
  void checkExactly(const Block &block, const Block &tile);
  void checkWithin(const Block &block, const Block &tile);
  bool isUntouched(const Block &block) const;
  uint64_t placeOf(const Block &block) const;
  /// What memory has as the scale of a block, of which the code has so many
  /// bytes.
  uint32_t scaleFound(const Block &block) const;
  uint64_t scaleBytes() const { return rule.scale ? 1 : sizeof(float); }
  uint64_t codesOf(const Block &block) const {
    return block.matrix * batchPitch + block.row * linePitch +
           block.number * codeBytes;
  }
  std::optional<float> factorOf(const Block &block) const;
  uint64_t firstOf(const Block &block) const {
    return (block.matrix * problem.m + block.row) * problem.resultColumns() +
           block.number * size;
  }
  void note(const Block &block, const std::string &what);
  /// The code of a scale, in hexadecimal digits.
  std::string text(uint32_t code) const;

  const reference::Problem &problem;
  const Inputs &inputs;
  reference::Criterion criterion;
  bool isSampled;
  Verdict &verdict;
  reference::Quantization rule;
  /// Elements of a block, rows and elements that share a scale.
  uint64_t size, rowsOfScale, tileSize;
  uint64_t blocks, atoms, matrixBytes, codeBytes;
  uint64_t linePitch, batchPitch;
  std::vector<float> factors;
  MemoryImage codes, scales;
};
} // namespace

ResultChecker::ResultChecker(const plan::Kernel &kernel,
                             const plan::Environment &sizes,
                             const Inputs &inputs,
                             reference::Criterion criterion, bool isSampled,
                             Verdict &verdict)
    : problem(inputs.problem), inputs(inputs), criterion(criterion),
      isSampled(isSampled), verdict(verdict), rule(*ruleOf(kernel)),
      size(blockOf(kernel)), rowsOfScale(rowsOf(kernel)),
      tileSize(tileOf(kernel)), blocks(problem.resultColumns() / size),
      atoms((blocks + 3) / 4),
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

uint64_t ResultChecker::placeOf(const Block &block) const {
  if (!rule.scale) {
    uint64_t ofMatrix = (problem.m + rowsOfScale - 1) / rowsOfScale;
    uint64_t line = block.matrix * ofMatrix + block.row / rowsOfScale;
    return (line * blocks + block.number) * sizeof(float);
  }
  return block.matrix * matrixBytes +
         scaleOffset(block.rowOfScales, block.number, atoms);
}

uint32_t ResultChecker::scaleFound(const Block &block) const {
  uint32_t code = 0;
  for (uint64_t i = 0; i < scaleBytes(); ++i)
    code |= uint32_t(scales.found(placeOf(block) + i)) << (8 * i);
  return code;
}

std::optional<float> ResultChecker::factorOf(const Block &block) const {
  if (factors.empty())
    return std::nullopt;
  return factors[block.matrix];
}

void ResultChecker::note(const Block &block, const std::string &what) {
  ++verdict.comparison.mismatches;
  if (verdict.diagnosis.empty())
    verdict.diagnosis = "matrix " + std::to_string(block.matrix) + ", row " +
                        std::to_string(block.row) + ", block " +
                        std::to_string(block.number) + ": " + what;
}

std::string ResultChecker::text(uint32_t code) const {
  std::string digits;
  for (uint64_t i = scaleBytes(); i-- > 0;)
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

Block ResultChecker::blockAt(const Rows &rows,
                             const reference::TileResult &result, uint64_t row,
                             uint64_t column) const {
  const reference::Tile &tile = result.tile;
  row += tile.row;
  Block block;
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
    block.values.push_back(float(value));
    block.least.push_back(float(ends.lo));
    block.most.push_back(float(ends.hi));
  }
  return block;
}

bool ResultChecker::isUntouched(const Block &block) const {
  for (uint64_t i = 0; i < scaleBytes(); ++i)
    if (scales.found(placeOf(block) + i) != kBeforeQuantized)
      return false;
  for (uint64_t i = 0; i < codeBytes; ++i)
    if (codes.found(codesOf(block) + i) != kBeforeQuantized)
      return false;
  return true;
}

void ResultChecker::checkExactly(const Block &block, const Block &tile) {
  reference::QuantizedBlock expected = reference::quantizeBlock(
      rule, tile.values, factorOf(block), firstOf(tile));
  if (rowsOfScale > 1 || tileSize > size)
    expected.codes = reference::quantizeUnder(
        rule, expected.scale, block.values, factorOf(block), firstOf(block));
  uint64_t first = codesOf(block);
  if (scaleFound(block) != expected.scale)
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

void ResultChecker::checkWithin(const Block &block, const Block &tile) {
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
  uint32_t scale = scaleFound(block);
  auto least = scalesOf(low), most = scalesOf(high);
  bool isFirst = least.first <= scale && scale <= most.first;
  bool isSecond = least.second <= scale && scale <= most.second;
  if (!isFirst && !isSecond)
    return note(block, "expected a scale of " + text(least.first) + " to " +
                           text(most.second) + ", found " + text(scale));
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
    if (!(number >= decode(rule.element, from[i]) &&
          number <= decode(rule.element, to[i])))
      note(block, "element " + std::to_string(i) + ": expected " +
                      hex(from[i]) + " to " + hex(to[i]) + ", found " +
                      hex(found[i]));
  }
}

void ResultChecker::check(const Block &block, const Block &tile) {
  if (isSampled && isUntouched(block))
    return;
  // A NaN is one whatever the others are.
  bool hasNaN = std::any_of(tile.values.begin(), tile.values.end(),
                            [](float value) { return std::isnan(value); });
  if (hasNaN || (tile.least == tile.values && tile.most == tile.values))
    checkExactly(block, tile);
  else
    checkWithin(block, tile);
  codes.accept(codesOf(block), codeBytes);
  scales.accept(placeOf(block), scaleBytes());
  verdict.comparison.compared += size + 1;
}

void ResultChecker::checkTile(const Rows &rows,
                              const reference::TileResult &result, uint64_t row,
                              uint64_t column) {
  std::vector<Block> blocksOfTile;
  uint64_t end = std::min(row + rowsOfScale, result.tile.rows);
  for (uint64_t next = row; next < end; ++next)
    for (uint64_t first = 0; first < tileSize; first += size)
      blocksOfTile.push_back(blockAt(rows, result, next, column + first));
  Block tile = blocksOfTile.front();
  for (size_t i = 1; i < blocksOfTile.size(); ++i)
    tile.join(blocksOfTile[i]);
  for (const Block &block : blocksOfTile)
    check(block, tile);
}

/// Tiles hold all rows and columns of a scale.
void ResultChecker::check(const Rows &rows, const Multiply &multiply) {
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
void ResultChecker::checkPadding(const Rows &rows) {
  if (!rule.scale)
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
  if (!factors.empty()) {
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

/// The rows of each group that has any, behind those of the group before.
static void checkGroupsOfRows(const Inputs &inputs, const Multiply &multiply,
                              ResultChecker &checker) {
  uint64_t firstOfScales = 0;
  for (size_t group = 0; group < inputs.groupEnds.size(); ++group) {
    auto [begin, end] = rowsOfGroup(inputs, group);
    if (begin == end)
      continue;
    reference::Problem product = problemOfGroup(inputs, group);
    Rows rows{product};
    rows.first = begin;
    rows.firstOfScales = firstOfScales;
    firstOfScales += rows.ofScales();
    checker.check(rows, multiply);
  }
}

/// The matrix of each group, as far as it has rows.
static void checkMatrices(const Inputs &inputs, const Multiply &multiply,
                          ResultChecker &checker) {
  for (size_t group = 0; group < inputs.groupEnds.size(); ++group) {
    reference::Problem product = problemOfGroup(inputs, group);
    Rows rows{product};
    rows.areCounted = inputs.isMasked;
    rows.matrix = group;
    if (product.m > 0)
      checker.check(rows, multiply);
  }
}

void verify::compareQuantized(const plan::Kernel &kernel,
                              const plan::Environment &sizes,
                              const Inputs &inputs, const Multiply &multiply,
                              reference::Criterion criterion, bool isSampled,
                              Verdict &verdict) {
  ResultChecker checker(kernel, sizes, inputs, criterion, isSampled, verdict);
  if (hasMatrices(inputs))
    checkMatrices(inputs, multiply, checker);
  else if (areInOne(inputs))
    checkGroupsOfRows(inputs, multiply, checker);
  else
    checker.check(Rows{inputs.problem}, multiply);
  checker.finish();
}
