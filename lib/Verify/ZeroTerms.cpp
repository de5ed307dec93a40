//===- ZeroTerms.cpp - zero points in real units --------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InputMaker.h"
#include "Numbers.h"
#include "Operands.h"

#include <algorithm>

using namespace blockscale;
using namespace blockscale::verify;

/// A zero point beside the scale `scale`, number `index` of its operand. With
/// exact data it is a few steps of the scale, else anything of that size.
static float zeroPoint(bool isA, bool exact, float scale, uint64_t index) {
  constexpr uint64_t kSteps = 4;
  constexpr float kSize = 3;
  if (exact)
    return scale * float((index + index / kSteps) % kSteps);
  return scale * kSize * tileFraction(!isA, index);
}

std::optional<Reason> InputMaker::setZeros(const plan::ZeroTerms &terms) {
  bool isA = terms.operand == "a";
  reference::Operand &operand = isA ? inputs.problem.a : inputs.problem.b;
  uint64_t rows = rowsOf(isA), blocks = operand.blocks(inputs.problem.k);
  uint64_t group = terms.rows ? terms.rows : rows;
  uint64_t groups = scaleRows(terms.rows, rows);
  uint64_t block = terms.block ? terms.block : inputs.problem.k;
  if (block != operand.blockSize)
    return "zero points of '" + terms.operand +
           "' are for other tiles along K than its scales";
  for (uint64_t row = 0; row < rows * matricesOf(terms.operand); ++row) {
    uint64_t tile = row / rows * groups + row % rows / group;
    for (uint64_t i = 0; i < blocks; ++i)
      operand.zeros.push_back(
          asType(zeroPoint(isA, exact, operand.floatScales[row * blocks + i],
                           tile * blocks + i),
                 terms.format));
  }
  return std::nullopt;
}

/// How much larger an element that is stored for another one is: those of a
/// bias of one less are twice as large.
static double storedFactor(const plan::DataPacking &data) {
  constexpr unsigned kNarrow = 8;
  if (!data.source || data.bits > kNarrow)
    return 1;
  const std::string &from = data.source->format;
  return from == "e4m3b8fnuz" || from == "e5m2b16fnuz" ? 2 : 1;
}

/// An element of an operand as it is stored with all of its scales, its zero
/// point not counted.
double InputMaker::scaledElement(bool isA, uint64_t row, uint64_t k) const {
  const reference::Problem &problem = inputs.problem;
  const reference::Operand &operand = isA ? problem.a : problem.b;
  double value = reference::elementNumber(operand, row * problem.k + k) *
                 storedFactor(*findOperand(kernel.data, isA ? "a" : "b"));
  if (operand.blockSize)
    value *=
        operand.scale(row * operand.blocks(problem.k) + k / operand.blockSize);
  const std::vector<float> &factors =
      isA ? problem.rowScales : problem.columnScales;
  if (!factors.empty())
    value *= factors[row];
  for (const std::vector<float> &ofMatrices : matrixFactors[isA])
    value *= ofMatrices[row / rowsOf(isA)];
  return value;
}

std::optional<Reason> InputMaker::addTerms(bool isA, uint64_t count) {
  const uint64_t k = inputs.problem.k, rows = rowsOf(isA);
  const reference::Operand &operand = isA ? inputs.problem.a : inputs.problem.b;
  const uint64_t all = rows * matricesOf(isA ? "a" : "b");
  if (all == 0 || count % all != 0)
    return std::to_string(count) + " terms of " + std::to_string(all) + " rows";
  std::vector<float> values(count);
  for (const plan::ZeroTerms &terms : kernel.zeroTerms) {
    Result<uint64_t> first = evaluateSize(terms.first, sizes);
    Result<uint64_t> tiles = evaluateSize(terms.count, sizes);
    if (!first || !tiles)
      return (first ? tiles : first).why();
    if (*first + *tiles > count / all)
      return "terms of '" + terms.operand + "' beyond those that there are";
    bool isOfA = terms.operand == "a", isLess = isOfA && !isA;
    uint64_t block = terms.block ? terms.block : k;
    for (uint64_t row = 0; row < all; ++row)
      for (uint64_t tile = 0; tile < *tiles; ++tile) {
        double term = 0;
        if (isOfA == isA)
          term = operand.zeros[row * *tiles + tile];
        for (uint64_t i = tile * block;
             isOfA != isA && i < std::min(k, (tile + 1) * block); ++i) {
          term += scaledElement(isA, row, i);
          if (isLess && !operand.zeros.empty())
            term -=
                operand.zeros[row * operand.blocks(k) + i / operand.blockSize];
        }
        uint64_t line = row / rows * (count / all) + *first + tile;
        values[line * rows + row % rows] = float(term);
      }
  }
  inputs.data.memory[isA ? "a_terms" : "b_terms"] = *toBytes(values, "f32");
  return std::nullopt;
}
