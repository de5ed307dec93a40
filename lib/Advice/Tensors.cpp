//===- Tensors.cpp - what formats and pruning do to weights ---------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Advice/Tensors.h"
#include "blockscale/Checkpoint/Pack.h"
#include "blockscale/Packing/Sparse.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

using namespace blockscale;
using namespace blockscale::advice;
using checkpoint::Region;

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

void ErrorStats::add(double value, double became) {
  double error = std::fabs(value - became);
  ++count;
  signal += value * value;
  noise += error * error;
  largestValue = std::max(largestValue, std::fabs(value));
  largestError = std::max(largestError, error);
  int exponent = error > 0 ? std::ilogb(error) : kLowest;
  ++byExponent[size_t(std::clamp(exponent, kLowest, kHighest) - kLowest)];
}

double ErrorStats::sqnr() const {
  if (noise == 0)
    return std::numeric_limits<double>::infinity();
  return 10 * std::log10(signal / noise);
}

void ErrorStats::finish() {
  bins.fill(0);
  int top = largestValue > 0 ? std::ilogb(largestValue) : 0;
  for (int exponent = kLowest; exponent <= kHighest; ++exponent) {
    int bin = std::clamp(exponent - top + int(kBins) - 1, 0, int(kBins) - 1);
    bins[size_t(bin)] += byExponent[size_t(exponent - kLowest)];
  }
}

//===----------------------------------------------------------------------===//
// Sparsity
//===----------------------------------------------------------------------===//

static packing::PruneRule ruleOf(hw::SparsePattern pattern) {
  hw::SparsePatternInfo info = hw::patternInfo(pattern);
  return {info.stored, info.chunk, info.unit == 2};
}

void advice::countGroups(hw::SparsePattern pattern,
                         const std::vector<float> &values, GroupStats &stats) {
  hw::SparsePatternInfo info = hw::patternInfo(pattern);
  std::vector<bool> kept = packing::keptElements(ruleOf(pattern), values);
  for (size_t first = 0; first + info.chunk <= values.size();
       first += info.chunk) {
    unsigned used = 0;
    for (unsigned unit = 0; unit < info.chunk; unit += info.unit) {
      bool isUsed = false;
      for (unsigned i = 0; i < info.unit; ++i)
        isUsed |= values[first + unit + i] != 0;
      used += isUsed;
    }
    ++stats.groups;
    stats.conforming += used * info.unit <= info.stored;
    for (size_t i = first; i < first + info.chunk; ++i) {
      double square = double(values[i]) * values[i];
      stats.energy += square;
      stats.dropped += kept[i] ? 0 : square;
    }
  }
}

/// Reads a parameter region by region.
static std::string forEachRegion(
    const checkpoint::Checkpoint &checkpoint,
    const checkpoint::QuantizedTensor &tensor,
    const std::function<void(const Region &, std::vector<float> &)> &visit) {
  if (std::string why = checkpoint::ValueReader::whyNot(tensor); !why.empty())
    return why;
  auto reader = checkpoint::ValueReader::open(checkpoint, tensor);
  if (!reader)
    return reader.why().text;
  std::vector<float> values;
  for (const Region &region : checkpoint::regionsOf(tensor)) {
    values.resize(region.rows * region.columns);
    if (std::string error = reader->read(region, values.data()); !error.empty())
      return error;
    visit(region, values);
  }
  return "";
}

Result<SparsityReport>
advice::measureSparsity(const checkpoint::Checkpoint &checkpoint,
                        const checkpoint::QuantizedTensor &tensor) {
  SparsityReport report;
  auto prepare = [&](hw::SparsePattern pattern,
                     std::optional<GroupStats> &stats) {
    if (tensor.columns() % hw::patternInfo(pattern).chunk == 0)
      stats.emplace();
  };
  prepare(hw::SparsePattern::TwoOfFour, report.twoOfFour);
  prepare(hw::SparsePattern::PairsFourOfEight, report.pairs);
  std::string error = forEachRegion(
      checkpoint, tensor, [&](const Region &, std::vector<float> &values) {
        report.count += values.size();
        report.zeros +=
            uint64_t(std::count(values.begin(), values.end(), 0.0f));
        if (report.twoOfFour)
          countGroups(hw::SparsePattern::TwoOfFour, values, *report.twoOfFour);
        if (report.pairs)
          countGroups(hw::SparsePattern::PairsFourOfEight, values,
                      *report.pairs);
      });
  if (!error.empty())
    return Reason(error);
  return report;
}

//===----------------------------------------------------------------------===//
// Formats
//===----------------------------------------------------------------------===//

std::vector<const GemmFormat *> advice::measuredFormats() {
  std::vector<const GemmFormat *> formats;
  for (const GemmFormat &format : gemmFormats())
    if (format.scale && !format.instructionK &&
        format.activations == format.weights)
      formats.push_back(&format);
  return formats;
}

static packing::BlockFormat blocksOf(const GemmFormat &format) {
  return {format.weights, *format.scale, format.block};
}

static hw::SparsePattern patternOf(const GemmFormat &format) {
  return format.weights == ElementFormat::E2M1
             ? hw::SparsePattern::PairsFourOfEight
             : hw::SparsePattern::TwoOfFour;
}

/// Whether rows of that length can be stored.
static bool fits(const GemmFormat &format, uint64_t columns) {
  if (format.sparse)
    return columns % (2 * hw::patternInfo(patternOf(format)).chunk) == 0;
  return columns * formatInfo(format.weights).storageBits % 8 == 0;
}

/// Quantises and compares the values of some rows.
static void addError(const GemmFormat &format, const TensorScale &scale,
                     uint64_t rows, const std::vector<float> &values,
                     ErrorStats &stats) {
  packing::BlockFormat blocks = blocksOf(format);
  std::vector<bool> kept(values.size(), true);
  std::vector<float> stored = values;
  if (format.sparse) {
    kept = packing::keptElements(ruleOf(patternOf(format)), values);
    stored.clear();
    for (size_t i = 0; i < values.size(); ++i)
      if (kept[i])
        stored.push_back(values[i]);
  }
  uint64_t width = stored.size() / rows;
  std::vector<uint8_t> elements(rows * packing::packedRowBytes(blocks, width));
  std::vector<uint8_t> scales(rows * packing::scalesPerRow(blocks, width));
  packing::quantizeRows(blocks, scale, stored.data(), rows, width,
                        elements.data(), scales.data());
  packing::dequantizeRows(blocks, scale.decode, elements.data(), scales.data(),
                          rows, width, stored.data());
  size_t next = 0;
  for (size_t i = 0; i < values.size(); ++i)
    stats.add(values[i], kept[i] ? stored[next++] : 0);
}

Result<std::vector<FormatError>>
advice::measureFormats(const checkpoint::Checkpoint &checkpoint,
                       const checkpoint::QuantizedTensor &tensor) {
  float largest = 0;
  std::string error = forEachRegion(
      checkpoint, tensor, [&](const Region &, std::vector<float> &values) {
        float found = packing::largestMagnitude(values.data(), values.size());
        if (!(found <= largest))
          largest = found;
      });
  if (!error.empty())
    return Reason(error);
  std::vector<FormatError> errors;
  if (!std::isfinite(largest))
    return errors;
  hw::GemmSize rows{0, int64_t(tensor.rows()), int64_t(tensor.columns()),
                    int64_t(tensor.batch())};
  for (const GemmFormat *format : measuredFormats())
    if (fits(*format, tensor.columns())) {
      errors.emplace_back();
      errors.back().format = format;
      errors.back().bytes = gemmBytes(*format, rows).total();
    }
  error = forEachRegion(checkpoint, tensor,
                        [&](const Region &region, std::vector<float> &values) {
                          for (FormatError &each : errors) {
                            TensorScale scale;
                            if (blocksOf(*each.format).hasTensorScale())
                              scale = nvfp4TensorScale(largest);
                            addError(*each.format, scale, region.rows, values,
                                     each.error);
                          }
                        });
  if (!error.empty())
    return Reason(error);
  for (FormatError &each : errors)
    each.error.finish();
  return errors;
}

std::string_view advice::whyLeft(std::string_view name) {
  struct Row {
    std::string_view pattern, why;
  };
  // The lists of layers that are not quantised in the recipes of ModelOpt and
  // llm-compressor.
  static constexpr Row kRows[] = {
      {"*lm_head*", "output head"},
      {"*output_layer*", "output head"},
      {"*embed*", "embedding"},
      {"*router*", "router of experts"},
      {"*mlp.gate.*", "router of experts"},
      {"*block_sparse_moe.gate.*", "router of experts"},
  };
  for (const Row &row : kRows)
    if (checkpoint::matches(name, row.pattern))
      return row.why;
  return "";
}

const FormatError *advice::chooseFormat(const std::vector<FormatError> &errors,
                                        const std::vector<GemmAdvice> &times,
                                        double leastSqnr) {
  const FormatError *best = nullptr;
  double bestTime = times.empty() ? 0 : times.front().prediction.total;
  for (const GemmAdvice &time : times)
    for (const FormatError &each : errors) {
      bool isBetter = each.format == time.format &&
                      time.prediction.total < bestTime &&
                      each.error.sqnr() >= leastSqnr;
      if (!isBetter)
        continue;
      best = &each;
      bestTime = time.prediction.total;
    }
  return best;
}
