//===- Inputs.cpp - inputs of a kernel, plain and packed ------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Conditions.h"
#include "Groups.h"
#include "Numbers.h"
#include "Operands.h"
#include "QuantizedResult.h"
#include "blockscale/Packing/Operand.h"
#include "blockscale/Packing/Sparse.h"
#include "blockscale/Packing/Tile.h"
#include "blockscale/Reference/Data.h"
#include "blockscale/Verify/Verify.h"

#include <algorithm>
#include <limits>

using namespace blockscale;
using namespace blockscale::verify;

namespace {

/// Fills one Inputs from a plan. Every step returns what is wrong, or nothing.
class InputMaker {
public:
  InputMaker(const plan::Kernel &kernel, const plan::Environment &sizes,
             DataKind kind, uint64_t seed, Conditions conditions,
             const StepProgress &progress)
      : kernel(kernel), sizes(sizes), exact(kind == DataKind::Exact),
        harsh(conditions == Conditions::Harsh), seed(seed), progress(progress),
        step(kernel.name + ", inputs") {}

  Result<Inputs> make();

private:
  std::optional<Reason> addSizes();
  std::optional<Reason> addOperand(bool isA);
  void tell(uint64_t rows) const;
  std::optional<Reason> packData(const plan::DataPacking &packing,
                                 uint64_t rows, uint64_t storedK,
                                 const reference::Operand &operand,
                                 std::vector<uint8_t> codes);
  std::optional<Reason> packSparse(const plan::MetadataPacking &packing,
                                   uint64_t rows, uint64_t operandSeed,
                                   reference::Operand &operand,
                                   std::vector<uint8_t> &stored);
  std::optional<Reason> fill(reference::Operand &operand, uint64_t matrices,
                             uint64_t rows, uint64_t operandSeed,
                             const reference::RowProgress &progress) const;
  std::optional<Reason> packScales(const plan::ScalePacking &packing,
                                   uint64_t rows,
                                   const reference::Operand &operand);
  std::optional<Reason> addTileScales(const plan::VectorScales &tiles,
                                      uint64_t rows,
                                      const reference::Operand &own,
                                      reference::Operand &operand);
  std::optional<Reason> addFactors();
  std::optional<Reason> addPlain();
  std::optional<Reason> addWorkspace();
  std::optional<Reason> addPlainOperand(const plan::PlainOperand &plain);
  void addGroups();
  std::optional<Reason> addRowNumbers();
  /// Rows of an operand in memory.
  uint64_t rowsOf(bool isA) const {
    const reference::Problem &problem = inputs.problem;
    return !isA ? problem.n : tokens ? tokens : problem.m;
  }
  /// Matrices of an operand.
  uint64_t matricesOf(std::string_view operand) const {
    return uint64_t(plan::matricesOf(kernel, operand, sizes));
  }
  bool isSum() const;
  std::optional<Reason> checkInput(const std::string &name) const;
  std::optional<Reason> addFormula();
  void plantNaNs(reference::Operand &operand, uint64_t rows, bool isPruned);

  std::optional<Reason> setTensorScales(const plan::TensorScales &scales);
  std::optional<Reason> setVectorScales(const plan::VectorScales &scales);

  const plan::Kernel &kernel;
  const plan::Environment &sizes;
  bool exact, harsh;
  uint64_t seed;
  Inputs inputs;
  bool hasNaN = false;
  const StepProgress &progress;
  std::string step;
  /// Rows of A that those of the product are gathered from, 0 if they are not;
  /// their numbers, and scales that are not gathered with them.
  uint64_t tokens = 0;
  std::vector<int64_t> rowNumbers;
  std::vector<uint8_t> sortedScales;
  /// Of exact data: what every value of C and the bias is a multiple of.
  double unit = 1;
};

template <typename T>
const T *findOperand(const std::vector<T> &list, std::string_view operand) {
  for (const T &entry : list)
    if (entry.operand == operand)
      return &entry;
  return nullptr;
}

uint64_t roundUp(uint64_t value, uint64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

std::optional<Reason> InputMaker::addSizes() {
  for (const char *name : {"M", "N", "K", "batch"})
    if (!sizes.count(name))
      return "the plan has no size '" + std::string(name) + "'";
  reference::Problem &problem = inputs.problem;
  problem.m = uint64_t(sizes.at("M"));
  problem.n = uint64_t(sizes.at("N"));
  problem.k = uint64_t(sizes.at("K"));
  problem.batch = uint64_t(sizes.at("batch"));
  problem.pairs = kernel.epilogue.pairs;
  return std::nullopt;
}

/// What the kernel finds of groups in memory only.
void InputMaker::addGroups() {
  const reference::Problem &problem = inputs.problem;
  inputs.groupsAlongK = plan::isGroupedAlongK(kernel);
  if (inputs.groupsAlongK) {
    inputs.groupEnds =
        drawKGroupEnds(problem.batch, problem.k, stepAlongK(kernel), seed);
    inputs.data.memory[std::string(plan::kOffsetsAlongKRole)] =
        offsetBytes(inputs.groupEnds);
  }
  if (!plan::isGrouped(kernel))
    return;
  inputs.groupEnds =
      drawGroupEnds(inputs.problem.batch, inputs.problem.m, seed);
  inputs.data.memory[std::string(plan::kOffsetsRole)] =
      offsetBytes(inputs.groupEnds);
}

/// Numbers of the rows of A that the product has.
std::optional<Reason> InputMaker::addRowNumbers() {
  if (!plan::isGathered(kernel))
    return std::nullopt;
  auto size = sizes.find(plan::kTokensSize);
  if (size == sizes.end())
    return "the plan has no size '" + std::string(plan::kTokensSize) + "'";
  tokens = uint64_t(size->second);
  rowNumbers = drawRowNumbers(inputs.problem.m, tokens, seed);
  inputs.data.memory[std::string(plan::kRowNumbersRole)] =
      offsetBytes(rowNumbers);
  return std::nullopt;
}

std::optional<Reason> InputMaker::packData(const plan::DataPacking &packing,
                                           uint64_t rows, uint64_t storedK,
                                           const reference::Operand &operand,
                                           std::vector<uint8_t> codes) {
  Result<uint64_t> pitch = evaluateSize(packing.linePitch, sizes);
  Result<uint64_t> batchPitch = evaluateSize(packing.batchPitch, sizes);
  if (!pitch || !batchPitch)
    return (pitch ? batchPitch : pitch).why();
  packing::OperandLayout layout;
  layout.bits = packing.bits;
  layout.mnMajor = packing.order == "mn_major";
  layout.mn = rows;
  layout.k = storedK;
  if (packing.elementMultiple > 1 && !layout.mnMajor) {
    layout.k = roundUp(layout.k, packing.elementMultiple);
    // Where the plan allows any elements, large ones show whether they reach
    // the sum.
    ElementFormat stored = parseFormat(packing.format).value_or(operand.format);
    uint8_t filler =
        packing.zeroPadding ? 0 : uint8_t(formatInfo(stored).largestCode);
    size_t bytes = packing.source ? storedBytes(packing) : operand.codeBytes();
    codes = extendRows(codes, storedK * bytes, layout.k * bytes, filler);
  }
  layout.batch = matricesOf(packing.operand);
  layout.rowPitch = *pitch;
  layout.batchPitch = *batchPitch;
  if (std::optional<Reason> reason = packing::whyNot(layout))
    return "operand '" + packing.operand + "': " + reason->text;
  inputs.data.memory[packing.operand + "_data"] =
      *packing::packOperand(layout, codes);
  return std::nullopt;
}

/// Prunes the operand at random places and compresses it.
std::optional<Reason>
InputMaker::packSparse(const plan::MetadataPacking &packing, uint64_t rows,
                       uint64_t operandSeed, reference::Operand &operand,
                       std::vector<uint8_t> &stored) {
  std::optional<hw::SparsePattern> pattern = hw::parsePattern(packing.pattern);
  if (packing.layout != "tiled_128x16" || !pattern)
    return "metadata of '" + packing.operand + "' of pattern '" +
           packing.pattern + "' in layout '" + packing.layout +
           "'; expected '2:4', '4:8 in pairs' or '1:2' in 'tiled_128x16'";
  uint64_t k = inputs.problem.k;
  hw::MetadataTensor tensor;
  tensor.pattern = *pattern;
  tensor.m = rows;
  tensor.k = k;
  if (std::optional<Reason> reason = hw::whyNot(tensor))
    return "metadata of '" + packing.operand + "': " + reason->text;
  hw::SparsePatternInfo info = hw::patternInfo(*pattern);
  reference::sparsify(operand, k, {info.chunk / info.unit, info.unit},
                      operandSeed);
  auto compressed = packing::compressOperand(
      *pattern, elementBits(operand), k, operand.codes, highestBit(operand));
  if (!compressed)
    return "operand '" + packing.operand + "': " + compressed.why().text;
  stored = std::move(compressed->stored);
  // Not the value that the plan recommends, but a legal one, as harmless.
  constexpr uint8_t kPadding = 0xee;
  std::vector<uint8_t> tiled = *packing::tileMetadata(
      tensor, inputs.problem.batch, compressed->metadata, kPadding);
  if (harsh)
    drawMetadataPadding(tensor, inputs.problem.batch, operandSeed, tiled);
  inputs.data.memory[packing.operand + "_metadata"] = std::move(tiled);
  return std::nullopt;
}

std::optional<Reason>
InputMaker::packScales(const plan::ScalePacking &packing, uint64_t rows,
                       const reference::Operand &operand) {
  const hw::Layout *layout = scaleLayout(packing.layout);
  if (!layout)
    return "scales of '" + packing.operand + "' in layout '" + packing.layout +
           "'; expected 'tiled_128x4', 'tiled_128x16' or 'grouped_128x4'";
  hw::ScaleTensor tensor{packing.block, rows, inputs.problem.k,
                         matricesOf(packing.operand)};
  if (std::optional<Reason> reason = hw::whyNot(tensor))
    return "scales of '" + packing.operand + "': " + reason->text;
  auto repeated = packing::repeatScales(
      tensor, {packing.rows, packing.ownBlock()}, operand.scales);
  if (!repeated)
    return "scales of '" + packing.operand + "' for " +
           std::to_string(packing.rows) + " rows and " +
           std::to_string(packing.ownBlock()) + " elements in blocks of " +
           std::to_string(packing.block);
  // The plan promises that padding is harmless, so it is made harmful: NaN.
  auto padding = uint8_t(formatInfo(operand.scaleFormat).nanCode);
  if (inputs.groupsAlongK) {
    Result<uint64_t> bytes = evaluateSize(packing.bytes, sizes);
    if (!bytes)
      return bytes.why();
    auto grouped =
        tileKGroups(*repeated, tensor, inputs.groupEnds, *bytes, padding);
    if (!grouped)
      return "scales of '" + packing.operand + "': " + grouped.why().text;
    inputs.data.memory[packing.operand + "_scales"] = std::move(*grouped);
    return std::nullopt;
  }
  if (packing.layout == "grouped_128x4") {
    Result<uint64_t> padded = evaluateSize(packing.paddedRows, sizes);
    if (!padded)
      return padded.why();
    auto grouped = padGroups(*repeated, packing::scalesPerRow(tensor),
                             inputs.groupEnds, *padded, padding);
    if (!grouped)
      return "scales of '" + packing.operand + "': " + grouped.why().text;
    *repeated = std::move(*grouped);
    tensor.mn = *padded;
  }
  std::vector<uint8_t> tiled =
      layOutScales(*layout, tensor, *repeated, padding);
  if (harsh)
    drawScalePadding(*layout, tensor, packing.largestPaddingValue,
                     seed * 2 + (packing.operand == "a" ? 3 : 5), tiled);
  inputs.data.memory[packing.operand + "_scales"] = std::move(tiled);
  return std::nullopt;
}

/// A row of A gives a row of NaNs, one of B a column. Most of the result must
/// stay numbers, so only one of both, and of one matrix, and of few rows none.
void InputMaker::plantNaNs(reference::Operand &operand, uint64_t rows,
                           bool isPruned) {
  constexpr uint64_t kFewRows = 8;
  // What is pruned later is no place for it, but with a scale.
  if (hasNaN || rows < kFewRows || (isPruned && !operand.blockSize))
    return;
  hasNaN = plantNaN(operand, inputs.problem.k, seed % rows, seed * 7);
}

std::optional<Reason>
InputMaker::fill(reference::Operand &operand, uint64_t matrices, uint64_t rows,
                 uint64_t operandSeed,
                 const reference::RowProgress &progress) const {
  const reference::Problem &problem = inputs.problem;
  if (exact)
    return reference::fillExact(operand, matrices, rows, problem.k, operandSeed,
                                progress);
  reference::fillRandom(operand, matrices, rows, problem.k, operandSeed,
                        progress);
  return std::nullopt;
}

/// So many rows of A and B have been drawn; to pack them takes less.
void InputMaker::tell(uint64_t rows) const {
  const reference::Problem &problem = inputs.problem;
  if (progress)
    progress(step, "rows", rows, problem.batch * (problem.m + problem.n));
}

std::optional<Reason> InputMaker::addOperand(bool isA) {
  std::string name = isA ? "a" : "b";
  const plan::DataPacking *data = findOperand(kernel.data, name);
  const plan::ScalePacking *scales = findOperand(kernel.scales, name);
  if (!data)
    return "the plan does not say how operand '" + name + "' is packed";
  reference::Problem &problem = inputs.problem;
  reference::Operand &operand = isA ? problem.a : problem.b;
  const std::string &format =
      data->source ? data->source->format : data->format;
  const plan::VectorScales *tiles = findOperand(kernel.vectorScales, name);
  if (tiles && !tiles->block)
    tiles = nullptr;
  bool hasZeros = data->source && data->source->zeros;
  bool hasPowers = scales || (tiles && tiles->format == "ue8m0");
  if (!parseElements(format, hasPowers, hasZeros, operand))
    return "operand '" + name + "' in format '" + format + "'";
  if (scales)
    if (auto why = setScales(*scales, operand))
      return why;
  // Powers of two are drawn, of which numbers are made.
  if (tiles)
    operand.blockSize = tiles->block;
  uint64_t rows = rowsOf(isA);
  uint64_t operandSeed = seed * 2 + (isA ? 0 : 1);
  uint64_t before = isA ? 0 : problem.batch * problem.m;
  auto drawn = [&](uint64_t count) { tell(before + count); };
  // The operand as it is, if rows of it share scales; else of no use.
  reference::Operand own = operand;
  if (auto why = fill(operand, matricesOf(name), rows, operandSeed, drawn))
    return why;
  if (data->source)
    makeStorable(*data->source, rows, problem.k, operand.codes);
  unsigned shared = scales ? scales->rows : tiles ? tiles->rows : 1;
  bool isShared = shared != 1;
  uint64_t groups = isShared ? scaleRows(shared, rows) : rows;
  if (isShared)
    if (auto why = fill(own, matricesOf(name), groups, operandSeed, {}))
      return why;
  unit *= reference::elementUnit(operand);
  const plan::MetadataPacking *metadata = findOperand(kernel.metadata, name);
  // A NaN of such elements is stored as none; one of their scales is.
  if (harsh && (!data->source || operand.blockSize))
    plantNaNs(isShared ? own : operand, groups, metadata);
  if (isShared)
    spreadScales(own, groups, shared, rows, operand.blocks(problem.k), operand);
  if (tiles)
    if (auto why =
            addTileScales(*tiles, groups, isShared ? own : operand, operand))
      return why;
  std::vector<uint8_t> stored = operand.codes;
  if (metadata)
    if (auto why = packSparse(*metadata, rows, operandSeed, operand, stored))
      return why;
  uint64_t storedK =
      stored.size() / (rows * matricesOf(name) * operand.codeBytes());
  if (data->source)
    if (auto why = translate(*data, stored))
      return why;
  auto why = packData(*data, rows, storedK, operand, std::move(stored));
  if (why || !scales)
    return why;
  if (isA && tokens) {
    // Those of the product's rows.
    if (auto why = fill(own, 1, problem.m, operandSeed, {}))
      return why;
    sortedScales = own.scales;
    return packScales(*scales, problem.m, own);
  }
  return packScales(*scales, rows, isShared ? own : operand);
}

/// Makes numbers of the scales that were drawn: `own`, of `rows` rows, as they
/// lie in memory, and those of each row of `operand`.
std::optional<Reason> InputMaker::addTileScales(const plan::VectorScales &tiles,
                                                uint64_t rows,
                                                const reference::Operand &own,
                                                reference::Operand &operand) {
  uint64_t blocks = operand.blocks(inputs.problem.k);
  Result<uint64_t> count = evaluateSize(tiles.elements, sizes);
  if (!count)
    return count.why();
  uint64_t matrices = matricesOf(tiles.operand);
  if (*count != rows * blocks * matrices)
    return std::to_string(*count) + " scales of '" + tiles.operand +
           "'; expected " + std::to_string(rows * blocks * matrices);
  std::vector<float> values(*count);
  for (uint64_t i = 0; i < values.size(); ++i) {
    float drawn = decode(own.scaleFormat, own.scales[i]);
    values[i] =
        asType(exact ? drawn : drawn * tileFraction(tiles.operand == "a", i),
               tiles.format);
  }
  std::optional<std::vector<uint8_t>> bytes = toBytes(values, tiles.format);
  if (!bytes)
    return "scales of '" + tiles.operand + "' of type '" + tiles.format + "'";
  inputs.data.memory[tiles.operand + "_scales"] = *bytes;
  uint64_t ofMatrix = rowsOf(tiles.operand == "a");
  uint64_t group = tiles.rows ? tiles.rows : ofMatrix;
  for (uint64_t row = 0; row < ofMatrix * matrices; ++row) {
    uint64_t from = row / ofMatrix * rows + row % ofMatrix / group;
    auto first = values.begin() + from * blocks;
    operand.floatScales.insert(operand.floatScales.end(), first,
                               first + blocks);
  }
  return std::nullopt;
}

std::optional<Reason>
InputMaker::setTensorScales(const plan::TensorScales &scales) {
  Result<uint64_t> count = evaluateSize(scales.elements, sizes);
  if (!count)
    return count.why();
  reference::Problem &problem = inputs.problem;
  uint64_t matrices = matricesOf(scales.operand);
  if (*count != matrices)
    return std::to_string(*count) + " tensor scales of '" + scales.operand +
           "' for " + std::to_string(matrices) + " matrices";
  problem.alphas.resize(problem.batch, problem.alpha);
  std::vector<float> values(matrices);
  for (uint64_t i = 0; i < values.size(); ++i)
    values[i] = tensorScale(scales.operand == "a", exact, i);
  for (uint64_t i = 0; i < problem.batch; ++i)
    problem.alphas[i] *= values[i % matrices];
  inputs.data.memory[scales.operand + "_tensor_scale"] =
      *toBytes(values, "f32");
  return std::nullopt;
}

std::optional<Reason>
InputMaker::setVectorScales(const plan::VectorScales &scales) {
  Result<uint64_t> count = evaluateSize(scales.matrixElements, sizes);
  Result<uint64_t> all = evaluateSize(scales.elements, sizes);
  if (!count || !all)
    return (count ? all : count).why();
  reference::Problem &problem = inputs.problem;
  bool isA = scales.operand == "a";
  uint64_t rows = rowsOf(isA);
  uint64_t group = scales.rows ? scales.rows : rows;
  uint64_t expected = rows / group + (rows % group != 0);
  uint64_t matrices = matricesOf(scales.operand);
  if (*count != expected || *all != expected * matrices)
    return std::to_string(*all) + " scales of '" + scales.operand + "', " +
           std::to_string(*count) + " of a matrix; expected " +
           std::to_string(expected * matrices) + " and " +
           std::to_string(expected);
  std::vector<float> values(*all);
  bool powersOfTwo = exact || scales.format == "ue8m0";
  for (uint64_t i = 0; i < values.size(); ++i)
    values[i] =
        asType(vectorScale(isA, powersOfTwo, i / expected, i % expected),
               scales.format);
  std::optional<std::vector<uint8_t>> bytes = toBytes(values, scales.format);
  if (!bytes)
    return "scales of '" + scales.operand + "' of type '" + scales.format + "'";
  inputs.data.memory[scales.operand + "_scales"] = *bytes;
  if (!scales.rows) {
    problem.alphas.resize(problem.batch, problem.alpha);
    for (uint64_t i = 0; i < problem.batch; ++i)
      problem.alphas[i] *= values[i % matrices];
    return std::nullopt;
  }
  std::vector<float> &own = isA ? problem.rowScales : problem.columnScales;
  for (uint64_t matrix = 0; matrix < matrices; ++matrix)
    for (uint64_t row = 0; row < rows; ++row)
      own.push_back(values[matrix * expected + row / group]);
  return std::nullopt;
}

/// Powers of two keep exact data exact; other numbers for random data. The
/// order of the f32 products is the documented one: alpha, a, b.
std::optional<Reason> InputMaker::addFactors() {
  const plan::Epilogue &epilogue = kernel.epilogue;
  if (epilogue.alpha)
    inputs.problem.alpha = inputs.data.scalars["alpha"] = exact ? 0.5f : 0.7f;
  for (const char *operand : {"a", "b"}) {
    if (const auto *scales = findOperand(kernel.tensorScales, operand))
      if (auto why = setTensorScales(*scales))
        return why;
    const auto *scales = findOperand(kernel.vectorScales, operand);
    if (scales && !scales->block)
      if (auto why = setVectorScales(*scales))
        return why;
  }
  // Without a parameter C is added as it is.
  bool scalesC =
      std::any_of(kernel.parameters.begin(), kernel.parameters.end(),
                  [](const plan::Parameter &p) { return p.role == "beta"; });
  if (epilogue.beta && scalesC)
    inputs.problem.beta = inputs.data.scalars["beta"] = exact ? 2.0f : -1.3f;
  else if (epilogue.beta)
    inputs.problem.beta = 1.0f;
  // The first factors are the largest, and the others divide them.
  unit *= inputs.problem.firstFactor(0, 0) * inputs.problem.lastFactor(0, 0);
  return std::nullopt;
}

std::optional<Reason>
InputMaker::addPlainOperand(const plan::PlainOperand &plain) {
  Result<uint64_t> count = evaluateSize(plain.elements, sizes);
  if (!count)
    return count.why();
  reference::Problem &problem = inputs.problem;
  if (plain.operand == plan::kOffsetsRole ||
      plain.operand == plan::kOffsetsAlongKRole ||
      plain.operand == plan::kRowNumbersRole)
    return std::nullopt;
  if (plain.operand == "d") {
    if (plain.type != "f32" && plain.type != "bf16" && plain.type != "f16" &&
        plain.type != "i32")
      return "a result of type '" + plain.type + "'";
    problem.output = plain.type == "f32"    ? reference::OutputType::F32
                     : plain.type == "bf16" ? reference::OutputType::BF16
                     : plain.type == "f16"  ? reference::OutputType::F16
                                            : reference::OutputType::I32;
    inputs.data.memory["d"] = unwrittenResult(problem.output, *count);
    return std::nullopt;
  }
  if (kernel.quantization && plain.operand == "tensor_scale")
    return std::nullopt;
  uint64_t vectorSeed = seed * 2 + (plain.operand == "c" ? 11 : 13);
  std::vector<float> values =
      exact ? reference::exactVector(*count, unit, vectorSeed)
            : reference::randomVector(*count, vectorSeed);
  // One number of the bias where no operand has a NaN.
  if (harsh && !hasNaN && values.size() > 1) {
    values[seed % values.size()] = std::numeric_limits<float>::quiet_NaN();
    hasNaN = true;
  }
  auto bytes = toBytes(values, plain.type);
  if (!bytes)
    return "operand '" + plain.operand + "' of type '" + plain.type + "'";
  inputs.data.memory[plain.operand] = *bytes;
  (plain.operand == "c" ? problem.c : problem.bias) = std::move(values);
  return std::nullopt;
}

/// Whether the steps are no more than the sum of what there is, which has
/// bounds of its own.
bool InputMaker::isSum() const {
  if (kernel.epilogue.pairs)
    return false;
  std::string value = "x";
  for (const plan::EpilogueStep &step : kernel.epilogue.steps) {
    std::string addend = value == "x" && kernel.epilogue.beta ? "c" : "bias";
    if (step.op != "arith.addf" ||
        step.operands != std::vector<std::string>{value, addend})
      return false;
    value = step.name;
  }
  size_t addends = kernel.epilogue.beta + (kernel.epilogue.bias != "none");
  return kernel.epilogue.steps.size() == addends &&
         kernel.epilogue.result == value;
}

/// The epilogue reads only what the kernel has.
std::optional<Reason> InputMaker::checkInput(const std::string &name) const {
  const plan::Epilogue &epilogue = kernel.epilogue;
  bool isBias = name == "bias" || name == "up_bias";
  bool isSecond = name == "up" || name == "up_bias";
  if ((name == "c" && !epilogue.beta) || (isBias && epilogue.bias == "none") ||
      (isSecond && !epilogue.pairs))
    return "epilogue: it reads '" + name + "', which the kernel does not have";
  return std::nullopt;
}

std::optional<Reason> InputMaker::addFormula() {
  if (isSum())
    return std::nullopt;
  reference::Formula formula;
  const plan::Epilogue &epilogue = kernel.epilogue;
  std::optional<Reason> why = checkInput(epilogue.result);
  for (const plan::EpilogueStep &step : epilogue.steps) {
    for (const std::string &operand : step.operands)
      if (!why)
        why = checkInput(operand);
    if (!why)
      why = formula.addStep(step.name, step.op, step.operands, step.type,
                            step.predicate, step.constant);
  }
  if (!why)
    why = formula.setResult(epilogue.result);
  inputs.problem.formula = std::move(formula);
  return why;
}

/// What a launch must not read before it has written it is NaNs.
std::optional<Reason> InputMaker::addWorkspace() {
  if (!kernel.workspace)
    return std::nullopt;
  for (const plan::Parameter &parameter : kernel.parameters) {
    if (parameter.role != plan::kWorkspaceRole)
      continue;
    Result<uint64_t> bytes = memoryBytes(kernel, parameter, sizes);
    if (!bytes)
      return bytes.why();
    std::vector<uint8_t> &memory = inputs.data.memory[parameter.role];
    memory.assign(*bytes, 0xff);
    uint64_t zeros = *evaluateSize(kernel.workspace->zeroBytes, sizes);
    std::fill_n(memory.begin(), zeros, uint8_t(0));
  }
  return std::nullopt;
}

std::optional<Reason> InputMaker::addPlain() {
  const std::string &bias = kernel.epilogue.bias;
  if (bias != "none" && bias != "row" && bias != "column")
    return "a bias along '" + bias + "'";
  inputs.problem.biasKind = bias == "row"      ? reference::BiasKind::Row
                            : bias == "column" ? reference::BiasKind::Column
                                               : reference::BiasKind::None;
  for (const plan::PlainOperand &plain : kernel.operands)
    if (auto why = addPlainOperand(plain))
      return why;
  return std::nullopt;
}

Result<Inputs> InputMaker::make() {
  std::optional<Reason> why = addSizes();
  if (!why) {
    tell(0);
    addGroups();
    why = addRowNumbers();
  }
  for (bool isA : {true, false})
    if (!why)
      why = addOperand(isA);
  if (!why)
    why = addFactors();
  if (!why)
    why = addPlain();
  if (!why)
    why = addWorkspace();
  if (!why)
    why = addFormula();
  if (!why && tokens)
    gatherRows(rowNumbers, sortedScales, inputs.problem);
  if (!why && kernel.quantization)
    why = addQuantizedResult(kernel, sizes, seed, inputs);
  if (!why)
    why = whyNotProduct(inputs);
  if (why)
    return Reason("kernel '" + kernel.name + "': " + why->text);
  if (harsh)
    loosenPointers(kernel, inputs.data);
  return std::move(inputs);
}

} // namespace

Result<Inputs> verify::makeInputs(const plan::Kernel &kernel,
                                  const plan::Environment &sizes, DataKind kind,
                                  uint64_t seed, Conditions conditions,
                                  const StepProgress &progress) {
  return InputMaker(kernel, sizes, kind, seed, conditions, progress).make();
}
