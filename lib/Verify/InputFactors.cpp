//===- InputFactors.cpp - what the epilogue of a kernel reads -------------===//
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
  matrixFactors[scales.operand == "a"].push_back(std::move(values));
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
  // Groups along K have scales of their own, or share one.
  if (inputs.groupsAlongK && (scales.rows || *all != 1))
    matrices = problem.batch;
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
  // Elements less their zero points are those of a sum under no other scale.
  if (findOperand(kernel.zeroTerms, scales.operand)) {
    reference::Operand &operand = isA ? problem.a : problem.b;
    operand.blockSize = problem.k;
    for (uint64_t row = 0; row < rows * matrices; ++row)
      operand.floatScales.push_back(
          values[row / rows * expected + row % rows / group]);
    unit *= values.front();
    return std::nullopt;
  }
  if (!scales.rows) {
    matrixFactors[isA].push_back(values);
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
    if (const auto *terms = findOperand(kernel.zeroTerms, operand))
      if (auto why = setZeros(*terms))
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
      plain.operand == plan::kRowCountsRole ||
      plain.operand == plan::kRowNumbersRole)
    return std::nullopt;
  if (plan::isTerms(plain.operand))
    return addTerms(plain.operand == plan::kTermsOfA, *count);
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
