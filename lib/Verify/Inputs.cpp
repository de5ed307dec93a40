//===- Inputs.cpp - inputs of a kernel, plain and packed ------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Conditions.h"
#include "Groups.h"
#include "InputMaker.h"
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

static uint64_t roundUp(uint64_t value, uint64_t multiple) {
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
    inputs.groupEnds = drawKGroupEnds(problem.batch, problem.k,
                                      plan::stepAlongK(kernel), seed);
    inputs.data.memory[std::string(plan::kOffsetsAlongKRole)] =
        offsetBytes(inputs.groupEnds);
  }
  inputs.isMasked = plan::isMasked(kernel);
  if (inputs.isMasked) {
    inputs.groupEnds = drawRowCounts(problem.batch, problem.m, seed);
    inputs.data.memory[std::string(plan::kRowCountsRole)] =
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
  uint64_t matrices = matricesOf(packing.operand);
  std::vector<uint8_t> tiled =
      *packing::tileMetadata(tensor, matrices, compressed->metadata, kPadding);
  if (harsh)
    drawMetadataPadding(tensor, matrices, operandSeed, tiled);
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

InputMaker::PlannedOperand::PlannedOperand(const plan::Kernel &kernel,
                                           const std::string &name)
    : data(findOperand(kernel.data, name)),
      scales(findOperand(kernel.scales, name)),
      tiles(findOperand(kernel.vectorScales, name)),
      metadata(findOperand(kernel.metadata, name)),
      isTranslated(data && data->source),
      hasRealZeros(findOperand(kernel.zeroTerms, name)) {}

std::optional<Reason>
InputMaker::setFormats(const PlannedOperand &planned,
                       reference::Operand &operand) const {
  const plan::DataPacking &data = *planned.data;
  const std::string &format =
      planned.isTranslated ? data.source->format : data.format;
  bool hasZeros = planned.isTranslated && data.source->zeros;
  bool hasPowers =
      planned.scales || (planned.tiles && planned.tiles->format == "ue8m0");
  if (planned.hasRealZeros && planned.isTranslated)
    operand.elements = reference::Elements::UInt8;
  else if (!parseElements(format, hasPowers, hasZeros, operand))
    return "operand '" + data.operand + "' in format '" + format + "'";
  if (planned.scales)
    if (auto why = setScales(*planned.scales, operand))
      return why;
  // Powers of two are drawn, of which numbers are made.
  if (planned.tiles && planned.tiles->block)
    operand.blockSize = planned.tiles->block;
  return std::nullopt;
}

/// Draws codes and scales, and makes codes what memory can hold.
std::optional<Reason>
InputMaker::drawElements(const PlannedOperand &planned, bool isA,
                         reference::Operand &operand) const {
  const reference::Problem &problem = inputs.problem;
  uint64_t before = isA ? 0 : problem.batch * problem.m;
  auto drawn = [&](uint64_t count) { tell(before + count); };
  uint64_t rows = rowsOf(isA);
  if (auto why =
          fill(operand, matricesOf(isA ? "a" : "b"), rows, seedOf(isA), drawn))
    return why;
  if (!planned.isTranslated)
    return std::nullopt;
  const plan::SourceElements &source = *planned.data->source;
  if (planned.hasRealZeros)
    for (uint8_t &code : operand.codes)
      code = uint8_t(code % source.codes.size());
  makeStorable(source, rows, problem.k, operand.codes);
  return std::nullopt;
}

/// Puts the elements where the kernel reads them, and their metadata.
std::optional<Reason> InputMaker::packElements(const PlannedOperand &planned,
                                               bool isA,
                                               reference::Operand &operand) {
  uint64_t rows = rowsOf(isA);
  std::vector<uint8_t> stored = operand.codes;
  if (planned.metadata)
    if (auto why =
            packSparse(*planned.metadata, rows, seedOf(isA), operand, stored))
      return why;
  uint64_t matrices = matricesOf(isA ? "a" : "b");
  uint64_t storedK = stored.size() / (rows * matrices * operand.codeBytes());
  if (planned.isTranslated)
    if (auto why = translate(*planned.data, stored))
      return why;
  return packData(*planned.data, rows, storedK, operand, std::move(stored));
}

std::optional<Reason> InputMaker::addOperand(bool isA) {
  std::string name = isA ? "a" : "b";
  PlannedOperand planned(kernel, name);
  if (!planned.data)
    return "the plan does not say how operand '" + name + "' is packed";
  reference::Problem &problem = inputs.problem;
  reference::Operand &operand = isA ? problem.a : problem.b;
  if (auto why = setFormats(planned, operand))
    return why;
  if (planned.tiles && !planned.tiles->block)
    planned.tiles = nullptr;
  uint64_t rows = rowsOf(isA);
  // The operand as it is, if rows of it share scales; else of no use.
  reference::Operand own = operand;
  if (auto why = drawElements(planned, isA, operand))
    return why;
  unsigned sharing = planned.sharingRows();
  bool isShared = sharing != 1;
  uint64_t groups = isShared ? scaleRows(sharing, rows) : rows;
  if (isShared)
    if (auto why = fill(own, matricesOf(name), groups, seedOf(isA), {}))
      return why;
  unit *= reference::elementUnit(operand);
  // A NaN of such elements is stored as none; one of their scales is.
  if (harsh && (!planned.isTranslated || operand.blockSize))
    plantNaNs(isShared ? own : operand, groups, planned.metadata);
  if (isShared)
    spreadScales(own, groups, sharing, rows, operand.blocks(problem.k),
                 operand);
  if (planned.tiles)
    if (auto why = addTileScales(*planned.tiles, groups,
                                 isShared ? own : operand, operand))
      return why;
  if (auto why = packElements(planned, isA, operand))
    return why;
  if (!planned.scales)
    return std::nullopt;
  if (isA && tokens) {
    // Those of the product's rows.
    if (auto why = fill(own, 1, problem.m, seedOf(isA), {}))
      return why;
    sortedScales = own.scales;
    return packScales(*planned.scales, problem.m, own);
  }
  return packScales(*planned.scales, rows, isShared ? own : operand);
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

Result<Inputs> verify::makeInputs(const plan::Kernel &kernel,
                                  const plan::Environment &sizes, DataKind kind,
                                  uint64_t seed, Conditions conditions,
                                  const StepProgress &progress) {
  return InputMaker(kernel, sizes, kind, seed, conditions, progress).make();
}
