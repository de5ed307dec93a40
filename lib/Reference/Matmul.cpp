//===- Matmul.cpp - the slow and obvious block-scaled product -------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Sums.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>
#include <thread>
#include <tuple>

using namespace blockscale;
using namespace blockscale::reference;

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// a * b * c, or nothing if it does not fit 63 bits.
static std::optional<uint64_t> product(uint64_t a, uint64_t b, uint64_t c = 1) {
  constexpr uint64_t kLimit = std::numeric_limits<int64_t>::max();
  if (b != 0 && a > kLimit / b)
    return std::nullopt;
  if (c != 0 && a * b > kLimit / c)
    return std::nullopt;
  return a * b * c;
}

static std::optional<Reason> checkSize(const char *name, size_t found,
                                       std::optional<uint64_t> expected) {
  if (!expected)
    return "the size of '" + std::string(name) + "' does not fit 63 bits";
  if (found != *expected)
    return "'" + std::string(name) + "' has " + std::to_string(found) +
           " elements; expected " + std::to_string(*expected);
  return std::nullopt;
}

static bool isInteger(const Operand &operand) {
  return operand.elements == Elements::Int8 ||
         operand.elements == Elements::UInt8;
}

static std::optional<Reason> checkOperand(const Problem &problem,
                                          const Operand &operand, uint64_t rows,
                                          bool isA) {
  bool hasNumbers = !operand.floatScales.empty();
  bool isByte = isInteger(operand) || (operand.elements == Elements::Format &&
                                       formatInfo(operand.format).bits <= 8);
  if (operand.blockSize &&
      (!isByte || (!hasNumbers && formatInfo(operand.scaleFormat).bits > 8)))
    return "elements with scales, and their scales, have formats of at most 8 "
           "bits";
  auto count = product(problem.batch, rows, problem.k);
  if (count)
    count = product(*count, operand.codeBytes());
  if (auto error = checkSize(isA ? "a" : "b", operand.codes.size(), count))
    return error;
  if (!operand.zeros.empty() &&
      (!operand.blockSize ||
       operand.zeros.size() != operand.floatScales.size()))
    return "there are " + std::to_string(operand.zeros.size()) +
           " zero points of '" + (isA ? "a" : "b") + "' for " +
           std::to_string(operand.floatScales.size()) + " scales";
  return checkSize(isA ? "scales of a" : "scales of b",
                   hasNumbers ? operand.floatScales.size()
                              : operand.scales.size(),
                   product(problem.batch, rows, operand.blocks(problem.k)));
}

std::optional<Reason> reference::whyNot(const Problem &problem) {
  if (!problem.m || !problem.n || !problem.k || !problem.batch)
    return "a product with an empty extent";
  bool exact = isInteger(problem.a) && isInteger(problem.b);
  bool plain = problem.alpha == 1 && problem.alphas.empty() &&
               problem.rowScales.empty() && problem.columnScales.empty() &&
               problem.c.empty() && problem.biasKind == BiasKind::None &&
               !problem.formula;
  if (problem.output == OutputType::I32 && !(exact && plain))
    return "an i32 result is the product of integers and nothing else";
  if (problem.pairs && (problem.n % 2 != 0 || !problem.formula))
    return "pairs of columns are those of an even n, and a formula makes one "
           "element of two sums";
  if (auto error = checkOperand(problem, problem.a, problem.m, true))
    return error;
  if (auto error = checkOperand(problem, problem.b, problem.n, false))
    return error;
  if (!problem.c.empty())
    if (auto error = checkSize(
            "c", problem.c.size(),
            product(problem.batch, problem.m, problem.resultColumns())))
      return error;
  if (!problem.alphas.empty())
    if (auto error = checkSize("factors", problem.alphas.size(), problem.batch))
      return error;
  for (auto [name, scales, rows] :
       {std::tuple("row scales", &problem.rowScales, problem.m),
        std::tuple("column scales", &problem.columnScales, problem.n)})
    if (!scales->empty())
      if (auto error =
              checkSize(name, scales->size(), product(problem.batch, rows)))
        return error;
  uint64_t bias = problem.biasKind == BiasKind::None     ? 0
                  : problem.biasKind == BiasKind::Column ? problem.n
                                                         : problem.m;
  return checkSize("bias", problem.bias.size(), bias);
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

unsigned Operand::codeBytes() const {
  if (elements == Elements::TF32)
    return 4;
  return elements == Elements::Format && formatInfo(format).bits > 8 ? 2 : 1;
}

uint32_t Operand::code(uint64_t index) const {
  uint32_t code = 0;
  for (unsigned i = codeBytes(); i-- > 0;)
    code = code << 8 | codes[index * codeBytes() + i];
  return code;
}

void Operand::setCode(uint64_t index, uint32_t code) {
  for (unsigned i = 0; i < codeBytes(); ++i)
    codes[index * codeBytes() + i] = uint8_t(code >> 8 * i);
}

double Operand::scale(uint64_t index) const {
  return floatScales.empty() ? decodeTable(scaleFormat)[scales[index]]
                             : floatScales[index];
}

double reference::elementNumber(const Operand &operand, uint64_t index) {
  uint32_t code = operand.code(index);
  switch (operand.elements) {
  case Elements::Format:
    return operand.unit * (operand.codeBytes() == 1
                               ? decodeTable(operand.format)[code]
                               : decode(operand.format, code));
  case Elements::TF32: {
    constexpr uint32_t kIgnored = (1u << 13) - 1;
    code &= ~kIgnored;
    float value;
    std::memcpy(&value, &code, sizeof(float));
    return value;
  }
  case Elements::Int8:
    return static_cast<int8_t>(code);
  case Elements::UInt8:
    break;
  }
  return code;
}

double reference::elementValue(const Operand &operand, uint64_t k, uint64_t row,
                               uint64_t index) {
  double value = elementNumber(operand, row * k + index);
  if (!operand.blockSize)
    return value;
  uint64_t block = row * operand.blocks(k) + index / operand.blockSize;
  return value * operand.scale(block) - operand.zero(block);
}

//===----------------------------------------------------------------------===//
// What follows the sum
//===----------------------------------------------------------------------===//

float reference::epilogue(const Problem &problem, uint64_t batch, uint64_t row,
                          uint64_t column, float value, float up) {
  uint64_t first = problem.columnOf(column);
  auto scaled = [&](float sum, uint64_t ofProduct) {
    float x = problem.firstFactor(batch, row) * sum;
    return problem.lastFactor(batch, ofProduct) * x;
  };
  auto biasAt = [&](uint64_t ofProduct) {
    return problem.biasKind == BiasKind::None  ? 0
           : problem.biasKind == BiasKind::Row ? problem.bias[row]
                                               : problem.bias[ofProduct];
  };
  float x = scaled(value, first), c = 0, bias = biasAt(first);
  if (!problem.c.empty())
    c = problem.beta *
        problem.c[(batch * problem.m + row) * problem.resultColumns() + column];
  if (problem.pairs)
    return problem.formula->evaluate(Formula::Inputs<float>{
        x, c, bias, scaled(up, first + 1), biasAt(first + 1)});
  if (problem.formula)
    return problem.formula->evaluate(Formula::Inputs<float>{x, c, bias, 0, 0});
  if (!problem.c.empty())
    x = x + c;
  return problem.biasKind == BiasKind::None ? x : x + bias;
}

float reference::roundToOutput(OutputType type, float value) {
  if (type == OutputType::F32 || type == OutputType::I32)
    return value;
  ElementFormat format =
      type == OutputType::BF16 ? ElementFormat::BF16 : ElementFormat::F16;
  return decode(format,
                encode(format, value, Rounding::NearestEven, Saturation::None));
}

//===----------------------------------------------------------------------===//
// Tiles and threads
//===----------------------------------------------------------------------===//

std::vector<Tile> reference::allTiles(const Problem &problem, uint64_t rows,
                                      uint64_t columns) {
  std::vector<Tile> tiles;
  uint64_t width = problem.resultColumns();
  if (!rows || !columns)
    return tiles;
  for (uint64_t batch = 0; batch < problem.batch; ++batch)
    for (uint64_t row = 0; row < problem.m; row += rows)
      for (uint64_t column = 0; column < width; column += columns)
        tiles.push_back({batch, row, column, std::min(rows, problem.m - row),
                         std::min(columns, width - column)});
  return tiles;
}

static void clip(const Problem &problem, Tile &tile) {
  uint64_t width = problem.resultColumns();
  bool outside = tile.batch >= problem.batch || tile.row >= problem.m ||
                 tile.column >= width;
  tile.rows = outside ? 0 : std::min(tile.rows, problem.m - tile.row);
  tile.columns = outside ? 0 : std::min(tile.columns, width - tile.column);
}

/// The sums of both columns of each pair of a tile.
static void computePairs(const Problem &problem, TileResult &result) {
  const Tile &tile = result.tile;
  uint64_t count = tile.rows * tile.columns;
  TileResult wide;
  wide.tile = {tile.batch, tile.row, 2 * tile.column, tile.rows,
               2 * tile.columns};
  wide.sum.resize(2 * count);
  wide.absSum.resize(2 * count);
  computeSums(problem, sumWays().front(), wide);
  result.up.resize(count);
  result.absUp.resize(count);
  for (uint64_t i = 0; i < count; ++i) {
    result.sum[i] = wide.sum[2 * i];
    result.absSum[i] = wide.absSum[2 * i];
    result.up[i] = wide.sum[2 * i + 1];
    result.absUp[i] = wide.absSum[2 * i + 1];
  }
}

static void computeTile(const Problem &problem, TileResult &result) {
  const Tile &tile = result.tile;
  uint64_t count = tile.rows * tile.columns;
  result.sum.resize(count);
  result.absSum.resize(count);
  result.d.resize(count);
  if (problem.pairs)
    computePairs(problem, result);
  else
    computeSums(problem, sumWays().front(), result);
  if (problem.output == OutputType::I32) {
    // The sums are exact in f64; an accumulator keeps their low 32 bits.
    for (uint64_t i = 0; i < count; ++i)
      result.d[i] =
          static_cast<int32_t>(uint32_t(static_cast<int64_t>(result.sum[i])));
    return;
  }
  for (uint64_t i = 0; i < count; ++i) {
    Sums sums = result.sums(i);
    result.d[i] = roundToOutput(
        problem.output,
        epilogue(problem, tile.batch, tile.row + i / tile.columns,
                 tile.column + i % tile.columns, static_cast<float>(sums.sum),
                 static_cast<float>(sums.up)));
  }
}

std::vector<TileResult>
reference::matmul(const Problem &problem, const std::vector<Tile> &tiles,
                  unsigned threads, const std::atomic<bool> *stop,
                  const std::function<void(uint64_t, uint64_t)> &progress) {
  if (whyNot(problem))
    return {};
  std::vector<TileResult> results(tiles.size());
  for (size_t i = 0; i < tiles.size(); ++i) {
    results[i].tile = tiles[i];
    clip(problem, results[i].tile);
  }
  std::atomic<size_t> next{0};
  auto stops = [&] { return stop && stop->load(std::memory_order_relaxed); };
  std::mutex reporting;
  uint64_t done = 0;
  auto work = [&] {
    for (size_t i; !stops() && (i = next++) < results.size();) {
      computeTile(problem, results[i]);
      if (!progress)
        continue;
      std::lock_guard<std::mutex> lock(reporting);
      progress(++done, results.size());
    }
  };
  if (!threads)
    threads = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::thread> pool;
  for (size_t i = 1; i < std::min<size_t>(threads, tiles.size()); ++i)
    pool.emplace_back(work);
  work();
  for (std::thread &thread : pool)
    thread.join();
  if (stops())
    results.clear();
  return results;
}

std::vector<float> reference::matmul(const Problem &problem, unsigned threads) {
  std::vector<float> d;
  std::vector<TileResult> results = matmul(problem, allTiles(problem), threads);
  if (results.empty())
    return d;
  uint64_t width = problem.resultColumns();
  d.resize(problem.batch * problem.m * width);
  for (const TileResult &result : results)
    for (uint64_t row = 0; row < result.tile.rows; ++row)
      std::copy_n(
          result.d.begin() + row * result.tile.columns, result.tile.columns,
          d.begin() +
              (result.tile.batch * problem.m + result.tile.row + row) * width +
              result.tile.column);
  return d;
}
